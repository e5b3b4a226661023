/* SPDX-License-Identifier: Apache-2.0
 *
 * libdebuginfod at run time: a symbolizer that does not ask for it pulls in
 * no HTTP client. The calls are those of elfutils/debuginfod.h.
 */
#include <config.h>

#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*begin_fn)(void);
typedef void (*end_fn)(void *client);

/* build_id_len 0: build_id is a string of hex. The file, or -errno. */
typedef int (*find_fn)(void *client, const unsigned char *build_id,
		       int build_id_len, char **path);

/* A function of the library into *fn; ISO C has no cast for that. */
static bool find_symbol(void *library, const char *name, void *fn,
			size_t size)
{
	void *symbol = dlsym(library, name);

	if (!symbol || size != sizeof(symbol))
		return false;
	memcpy(fn, &symbol, size);
	return true;
}

static bool open_client(struct debuginfod *d, struct diags *diags)
{
	begin_fn begin;

	if (d->is_tried)
		return d->client;
	d->is_tried = true;
	d->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (d->library && find_symbol(d->library, "debuginfod_begin", &begin,
				      sizeof(begin)))
		d->client = begin();
	if (!d->client && diags)
		diag_count(diags, PPROF_UNIT_NONE, 0,
			   "debuginfod was asked for, but libdebuginfod.so.1 "
			   "cannot be used");
	return d->client;
}

bool debuginfod_find(struct debuginfod *d, const char *build_id,
		     enum debuginfod_kind kind, struct diags *diags,
		     struct buf *ret_path)
{
	char *path = NULL;
	find_fn find;
	int fd;

	if (!d->is_wanted || !build_id[0] || !open_client(d, diags) ||
	    !find_symbol(d->library, kind == DEBUGINFOD_DEBUG
			 ? "debuginfod_find_debuginfo"
			 : "debuginfod_find_executable", &find, sizeof(find)))
		return false;
	fd = find(d->client, (const unsigned char *)build_id, 0, &path);
	if (fd < 0)
		return false;
	close(fd);
	buf_reset(ret_path);
	if (path)
		buf_str(ret_path, path);
	free(path); /* libdebuginfod's own */
	return ret_path->len && buf_ok(ret_path);
}

void debuginfod_fini(struct debuginfod *d)
{
	end_fn end;

	if (d->client && find_symbol(d->library, "debuginfod_end", &end,
				     sizeof(end)))
		end(d->client);
	if (d->library)
		dlclose(d->library);
}
