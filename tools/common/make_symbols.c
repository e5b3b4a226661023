/* SPDX-License-Identifier: Apache-2.0
 *
 * DIR/BUILD-ID.sym of every binary; see make_symbols.h.
 */
#include <config.h>

#include "make_symbols.h"

#include "msg.h"
#include "outdir.h"
#include "outfile.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pprof_status write_symbols(const void *ctx,
				       struct pprof_sink *sink,
				       struct pprof_error *err)
{
	return pprof_symbols_write(ctx, sink, err);
}

static int make_one(const struct pprof_symbolize_opts *opts,
		    const char *binary, const char *dir)
{
	struct pprof_symbols *symbols = NULL;
	enum pprof_status status;
	struct pprof_error err;
	const char *name;
	size_t size;
	char *path;
	int code;

	progress_start("reading", binary);
	status = pprof_symbols_make(binary, opts, &symbols, &err);
	progress_stop();
	if (status != PPROF_OK) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	name = pprof_symbols_name(symbols);
	size = strlen(dir) + strlen(name) + sizeof("/");
	path = msg_xrealloc(NULL, size, 1);
	snprintf(path, size, "%s%s%s", dir,
		 dir[strlen(dir) - 1] == '/' ? "" : "/", name);
	code = outfile_write(path, "writing", write_symbols, symbols);
	if (code == CLI_EXIT_OK)
		msg_note("%s: symbols in %s", binary, path);
	free(path);
	pprof_symbols_free(symbols);
	return code;
}

int make_symbols(const struct opt_symbol *symbol, char **binaries, int nr,
		 const char *dir)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;
	int worst = CLI_EXIT_OK;
	int i, code;

	if (!outdir_make(dir))
		return CLI_EXIT_TROUBLE;
	opt_symbol_take(symbol, &opts);
	for (i = 0; i < nr; i++) {
		code = make_one(&opts, binaries[i], dir);
		if (code > worst)
			worst = code;
	}
	return worst;
}
