/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-symbolize: adds functions, inlined calls, files and lines to one or
 * more profiles, keeping binaries open between them.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/msg.h"
#include "common/opt_input.h"
#include "common/opt_symbol.h"
#include "common/outfile.h"

#include <pprof.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct job {
	const char *output;
	uint64_t level;
	struct opt_input input;
	struct opt_symbol symbol;
	char **made; /* [nr_made] outputs below a directory */
	size_t nr_made;
};

/* No compression level is this high: the writer's own is meant. */
#define LEVEL_UNSET UINT64_MAX

static const struct cli_option job_options[] = {
	{ "output", 'o', CLI_TEXT, offsetof(struct job, output), "FILE",
	  "write here, not to standard output; DIR/ for several inputs: "
	  "DIR/NAME.pb.gz each", 0 },
	{ "level", 0, CLI_NUMBER, offsetof(struct job, level), "N",
	  "compression from 0 (none) to 9 (smallest)", 9 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

static bool is_directory(const char *path)
{
	size_t len = path ? strlen(path) : 0;
	struct stat st;

	if (!len)
		return false;
	return path[len - 1] == '/' ||
	       (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t nr = strlen(end);

	return len > nr && !memcmp(text + len - nr, end, nr);
}

/* DIR/NAME.pb.gz for input `path`; .gz and .pb are not doubled. */
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

/*
 * Remember `output`, owned from now on; false after a message when an input
 * had it already.
 */
static bool claim_output(struct job *job, char *output)
{
	size_t i;

	for (i = 0; i < job->nr_made; i++) {
		if (!strcmp(job->made[i], output)) {
			msg_error("two inputs would both become %s", output);
			free(output);
			return false;
		}
	}
	job->made = msg_xrealloc(job->made, job->nr_made + 1,
				 sizeof(*job->made));
	job->made[job->nr_made++] = output;
	return true;
}

static int write_profile(const struct job *job, const char *output,
			 const struct pprof_profile *profile)
{
	struct outfile_profile out = { .profile = profile, .writer = "pprof",
				       .opts = PPROF_WRITE_OPTS_INIT };

	if (job->level != LEVEL_UNSET)
		out.opts.level = (int)job->level;
	out.opts.diag = msg_diag;
	return outfile_write(output, "writing", outfile_write_profile, &out);
}

static int symbolize_file(const struct job *job,
			  struct pprof_symbolizer *symbolizer,
			  const char *path, const char *output)
{
	struct pprof_profile *profile = NULL;
	int code, written;

	if (!opt_input_read(&job->input, path, &profile))
		return CLI_EXIT_TROUBLE;
	code = opt_symbol_run(symbolizer, job->input.strict, path, profile);
	if (code != CLI_EXIT_TROUBLE) {
		written = write_profile(job, output, profile);
		if (written != CLI_EXIT_OK)
			code = written;
	}
	pprof_profile_free(profile);
	return code;
}

/* Make the directory "DIR/" unless it is there; false after a message. */
static bool make_directory(const char *path)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return true;
	msg_error("%s: cannot create: %s", path, strerror(errno));
	return false;
}

static int symbolize_into_directory(struct job *job,
				    struct pprof_symbolizer *symbolizer,
				    const char *const *paths, int nr)
{
	int worst = CLI_EXIT_OK;
	int i, code;

	if (!make_directory(job->output))
		return CLI_EXIT_TROUBLE;
	for (i = 0; i < nr; i++) {
		char *output = output_below(job->output, paths[i]);

		if (!claim_output(job, output)) {
			worst = CLI_EXIT_TROUBLE;
			continue;
		}
		code = symbolize_file(job, symbolizer, paths[i], output);
		if (code > worst)
			worst = code;
	}
	return worst;
}

static void free_job(struct job *job)
{
	size_t i;

	for (i = 0; i < job->nr_made; i++)
		free(job->made[i]);
	free(job->made);
	opt_input_fini(&job->input);
	opt_symbol_fini(&job->symbol);
}

static int run(struct job *job, int argc, char **argv, int first)
{
	bool into_directory = is_directory(job->output);
	const char *const *paths = (const char *const *)argv + first;
	struct pprof_symbolizer *symbolizer;
	const char *path = NULL;
	int nr = argc - first;
	int code;

	if (!into_directory || !nr) {
		path = infile_one(argc, argv, first, &job->symbol.binaries);
		paths = &path;
		nr = 1;
	}
	if (!into_directory)
		outfile_refuse_terminal(job->output, true);
	symbolizer = opt_symbol_new(&job->symbol);
	if (!symbolizer)
		return CLI_EXIT_TROUBLE;
	if (into_directory)
		code = symbolize_into_directory(job, symbolizer, paths, nr);
	else
		code = symbolize_file(job, symbolizer, path, job->output);
	pprof_symbolizer_free(symbolizer);
	return code;
}

int main(int argc, char **argv)
{
	struct job job = { .level = LEVEL_UNSET };
	const struct cli_group groups[] = {
		{ "Output", job_options, &job },
		{ "Names", opt_symbol_options + 1, &job.symbol },
		{ "Input", opt_input_options, &job.input },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-symbolize",
		.usage = "[OPTION]... [BINARY] [FILE]\n"
			 "  or:  pprof-symbolize [OPTION]... -o DIR/ FILE...",
		.summary = "Add functions, inlined calls, files and lines to "
			   "profiles; writes pprof.\n"
			   "-v tells, for each mapped file, where names came "
			   "from and how many.\n",
		.examples =
		"  pprof-symbolize -o heap.pb.gz jeprof.1.0.f.heap\n"
		"  pprof-symbolize -e ./server --debug-dir dbg -v "
		"-o out/ *.heap\n",
		.groups = groups
	};
	int first, code;

	first = cli_parse(&tool, argc, argv);
	opt_input_check(&job.input);
	opt_symbol_check(&job.symbol);
	code = run(&job, argc, argv, first);
	free_job(&job);
	return cli_finish(code);
}
