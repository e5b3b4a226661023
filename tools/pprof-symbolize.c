/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-symbolize: adds functions, inlined calls, files and lines to one or
 * more profiles, keeping binaries open between them.
 */
#include <config.h>

#include "common/answer.h"
#include "common/cli.h"
#include "common/infile.h"
#include "common/make_symbols.h"
#include "common/msg.h"
#include "common/opt_input.h"
#include "common/opt_symbol.h"
#include "common/outdir.h"
#include "common/outfile.h"

#include <pprof.h>

struct job {
	const char *output;
	const char *stats;
	uint64_t level;
	bool is_json;
	bool is_vaddr;
	bool makes_symbols;
	struct opt_input input;
	struct opt_symbol symbol;
	struct pprof_sink *stats_sink;
};

/* No compression level is this high: the writer's own is meant. */
#define LEVEL_UNSET UINT64_MAX

static const struct cli_option job_options[] = {
	{ "output", 'o', CLI_TEXT, offsetof(struct job, output), "FILE",
	  "write here, not to standard output; DIR/ for several inputs: "
	  "DIR/NAME.pb.gz each", 0 },
	{ "stats", 0, CLI_TEXT, offsetof(struct job, stats), "FILE",
	  "write what became of each mapped file, a line of JSON a profile",
	  0 },
	{ "json", 0, CLI_FLAG, offsetof(struct job, is_json), NULL,
	  "answer each address with a line of JSON", 0 },
	{ "vaddr", 0, CLI_FLAG, offsetof(struct job, is_vaddr), NULL,
	  "addresses are those of the binary, as it was linked", 0 },
	{ "make-symbols", 0, CLI_FLAG, offsetof(struct job, makes_symbols),
	  NULL, "write DIR/BUILD-ID.sym of each BINARY, for --symbols", 0 },
	{ "level", 0, CLI_NUMBER, offsetof(struct job, level), "N",
	  "compression from 0 (none) to 9 (smallest)", 9 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

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

/* Add the report on the profile at `path`; false after a message. */
static bool write_stats(const struct job *job, const char *path,
			const struct pprof_symbolizer *symbolizer)
{
	struct pprof_error err;

	if (!job->stats_sink ||
	    pprof_symbolizer_write_stats(symbolizer, path, job->stats_sink,
					 &err) == PPROF_OK)
		return true;
	msg_pprof_error(&err);
	return false;
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
	if (code != CLI_EXIT_TROUBLE &&
	    !write_stats(job, infile_name(path), symbolizer))
		code = CLI_EXIT_TROUBLE;
	if (code != CLI_EXIT_TROUBLE) {
		written = write_profile(job, output, profile);
		if (written != CLI_EXIT_OK)
			code = written;
	}
	pprof_profile_free(profile);
	return code;
}

static int symbolize_into_directory(const struct job *job,
				    struct pprof_symbolizer *symbolizer,
				    const char *const *paths, int nr)
{
	int worst = CLI_EXIT_TROUBLE;
	struct outdir outdir;
	int i, code;

	if (!outdir_make(job->output))
		return CLI_EXIT_TROUBLE;
	if (outdir_init(&outdir, job->output, paths, (size_t)nr)) {
		worst = CLI_EXIT_OK;
		for (i = 0; i < nr; i++) {
			if (!outdir.outputs[i])
				continue;
			code = symbolize_file(job, symbolizer, paths[i],
					      outdir.outputs[i]);
			if (code > worst)
				worst = code;
		}
	}
	outdir_fini(&outdir);
	return worst;
}

static int symbolize_profiles(struct job *job, int argc, char **argv,
			      int first)
{
	bool into_directory = outdir_is_directory(job->output);
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

/* The same with the file of --stats around it. */
static int symbolize(struct job *job, int argc, char **argv, int first)
{
	struct pprof_error err;
	int code;

	if (job->stats && pprof_sink_open(job->stats, &job->stats_sink,
					  &err) != PPROF_OK) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	code = symbolize_profiles(job, argc, argv, first);
	if (job->stats_sink &&
	    pprof_sink_commit(job->stats_sink, &err) != PPROF_OK) {
		msg_pprof_error(&err);
		code = CLI_EXIT_TROUBLE;
	}
	pprof_sink_close(job->stats_sink);
	return code;
}

static int run(struct job *job, int argc, char **argv, int first)
{
	const struct answer answer = {
		.input = &job->input, .symbol = &job->symbol,
		.output = job->output, .is_json = job->is_json,
		.is_vaddr = job->is_vaddr
	};

	if (job->makes_symbols) {
		if (first == argc)
			cli_usage_error("--make-symbols: BINARY expected");
		if (!outdir_is_directory(job->output))
			cli_usage_error("--make-symbols: a directory expected "
					"for the output (-o DIR/)");
		return make_symbols(&job->symbol, argv + first, argc - first,
				    job->output);
	}
	if (answer_is_wanted(&answer, argv + first, argc - first))
		return answer_run(&answer, argv + first, argc - first);
	return symbolize(job, argc, argv, first);
}

static void free_job(struct job *job)
{
	opt_input_fini(&job->input);
	opt_symbol_fini(&job->symbol);
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
			 "  or:  pprof-symbolize [OPTION]... -o DIR/ FILE...\n"
			 "  or:  pprof-symbolize [OPTION]... -e BINARY "
			 "[ADDRESS]...\n"
			 "  or:  pprof-symbolize --make-symbols -o DIR/ "
			 "BINARY...",
		.summary = "Add functions, inlined calls, files and lines to "
			   "profiles; writes pprof.\n"
			   "-v tells, for each mapped file, where names came "
			   "from and how many.\n"
			   "Addresses alone, as arguments or lines of standard "
			   "input, are answered as by\naddr2line -f -i -C.\n",
		.examples =
		"  pprof-symbolize -o heap.pb.gz jeprof.1.0.f.heap\n"
		"  pprof-symbolize -e ./server --debug-dir dbg -v "
		"-o out/ *.heap\n"
		"  pprof-symbolize -e ./server 0x1f40 0x2a10\n",
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
