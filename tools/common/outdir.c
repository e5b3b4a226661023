/* SPDX-License-Identifier: Apache-2.0
 *
 * DIR/NAME.pb.gz for every input; see outdir.h.
 */
#include <config.h>

#include "outdir.h"

#include "infile.h"
#include "msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool outdir_is_directory(const char *path)
{
	size_t len = path ? strlen(path) : 0;
	struct stat st;

	if (!len)
		return false;
	return path[len - 1] == '/' ||
	       (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

bool outdir_make(const char *dir)
{
	if (mkdir(dir, 0777) == 0 || errno == EEXIST)
		return true;
	msg_error("%s: cannot create: %s", dir, strerror(errno));
	return false;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t nr = strlen(end);

	return len > nr && !memcmp(text + len - nr, end, nr);
}

static char *output_below(const char *dir, const char *path)
{
	const char *name = infile_title(path);
	size_t dir_len = strlen(dir);
	size_t len, size;
	char *out;

	if (!name)
		name = "stdin";
	len = strlen(name);
	if (ends_with(name, len, ".gz"))
		len -= strlen(".gz");
	if (ends_with(name, len, ".pb"))
		len -= strlen(".pb");
	size = dir_len + len + sizeof("/.pb.gz");
	out = msg_xrealloc(NULL, size, 1);
	snprintf(out, size, "%s%s%.*s.pb.gz", dir,
		 dir[dir_len - 1] == '/' ? "" : "/", (int)len, name);
	return out;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !strcmp(a, b) ||
	       (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino);
}

/* An input with its output, to be put in the order of the outputs. */
struct made {
	const char *path, *output;
	size_t place;
};

static int compare_made(const void *a, const void *b)
{
	const struct made *x = a, *y = b;
	int order = strcmp(x->output, y->output);

	return order ? order
		     : (x->place > y->place) - (x->place < y->place);
}

/*
 * Of inputs made[nr] with one output at most one may be a source of it: the
 * others are the output itself, from an earlier time. False after a message.
 */
static bool judge_group(struct outdir *outdir, const struct made *made,
			size_t nr)
{
	size_t nr_sources = 0, i;

	if (nr == 1)
		return true;
	for (i = 0; i < nr; i++) {
		if (!is_same_file(made[i].path, made[i].output))
			nr_sources++;
	}
	if (nr_sources > 1) {
		msg_error("two inputs would both become %s", made->output);
		return false;
	}
	/* Without a source all are one file, named more than once. */
	for (i = !nr_sources; i < nr; i++) {
		if (!is_same_file(made[i].path, made[i].output))
			continue;
		msg_note("%s: skipped, an output of an earlier run",
			 made[i].path);
		free(outdir->outputs[made[i].place]);
		outdir->outputs[made[i].place] = NULL;
	}
	return true;
}

bool outdir_init(struct outdir *outdir, const char *dir,
		 const char *const *paths, size_t nr)
{
	struct made *made = msg_xrealloc(NULL, nr, sizeof(*made));
	bool is_good = true;
	size_t i, first = 0;

	outdir->outputs = msg_xrealloc(NULL, nr, sizeof(*outdir->outputs));
	outdir->nr = nr;
	for (i = 0; i < nr; i++) {
		outdir->outputs[i] = output_below(dir, paths[i]);
		made[i].path = paths[i];
		made[i].output = outdir->outputs[i];
		made[i].place = i;
	}
	qsort(made, nr, sizeof(*made), compare_made);
	for (i = 1; i <= nr && is_good; i++) {
		if (i < nr && !strcmp(made[i].output, made[first].output))
			continue;
		is_good = judge_group(outdir, made + first, i - first);
		first = i;
	}
	free(made);
	return is_good;
}

void outdir_fini(struct outdir *outdir)
{
	size_t i;

	for (i = 0; i < outdir->nr; i++)
		free(outdir->outputs[i]);
	free(outdir->outputs);
}
