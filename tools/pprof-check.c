/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-check: has a profile grown against its base? For build jobs.
 */
#include <config.h>

#include "common/cli.h"
#include "common/load.h"
#include "common/msg.h"
#include "common/opt_view.h"
#include "common/outfile.h"

#include <pprof.h>

#include <stdlib.h>
#include <string.h>

struct check {
	const char *base;
	const char *max_growth;
	const char *max_shrink;
	double confidence; /* percent */
	uint64_t floor;
};

/* All groups of options. */
struct options {
	struct check check;
	struct opt_input input;
	struct opt_symbol symbol;
	struct opt_view view;
	struct pprof_check_opts opts;
};

/* What outfile_write() hands to write_check(). */
struct job {
	const struct pprof_profile *base;
	const struct pprof_profile *profile;
	const struct pprof_check_opts *opts;
	enum pprof_check_result *ret_verdict;
};

static const struct cli_option check_options[] = {
	{ "base", 0, CLI_TEXT, offsetof(struct check, base), "FILE",
	  "profile to compare with", 0 },
	{ "max-growth", 0, CLI_TEXT, offsetof(struct check, max_growth),
	  "PERCENT", "growth of the total that is allowed, as 5% (default: "
	  "none beyond the noise, of the total and of each function)", 0 },
	{ "max-shrink", 0, CLI_TEXT, offsetof(struct check, max_shrink),
	  "PERCENT", "loss of the total that is allowed, as 50%", 0 },
	{ "confidence", 0, CLI_REAL, offsetof(struct check, confidence),
	  "PERCENT", "how certain a verdict must be (default: 99)", 100 },
	{ "floor", 0, CLI_NUMBER, offsetof(struct check, floor), "N",
	  "a base with a total below N cannot be judged", INT64_MAX },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

static enum pprof_status write_check(const void *ctx, struct pprof_sink *sink,
				     struct pprof_error *err)
{
	const struct job *job = ctx;

	return pprof_check(job->base, job->profile, job->opts, sink,
			   job->ret_verdict, err);
}

static int run(struct options *o, const char *path)
{
	struct pprof_profile *base = NULL, *profile = NULL;
	enum pprof_check_result verdict = PPROF_CHECK_UNKNOWN;
	struct job job = { .opts = &o->opts, .ret_verdict = &verdict };
	int code;

	code = load_profile(&o->input, &o->symbol, o->check.base, &base);
	if (code == CLI_EXIT_OK)
		code = load_profile(&o->input, &o->symbol, path, &profile);
	if (code == CLI_EXIT_OK) {
		job.base = base;
		job.profile = profile;
		code = outfile_write(NULL, "checking", write_check, &job);
		if (code == CLI_EXIT_OK)
			code = (int)verdict;
	} else {
		code = CLI_EXIT_TROUBLE;
	}
	pprof_profile_free(base);
	pprof_profile_free(profile);
	return code;
}

/* "5%" or "5" as 0.05, at most `max` percent. */
static double parse_percent(const char *option, const char *text, double max)
{
	size_t len = strlen(text);
	char digits[32];
	double percent;

	if (len && text[len - 1] == '%')
		len--;
	if (len < sizeof(digits)) {
		memcpy(digits, text, len);
		digits[len] = '\0';
		if (cli_real(digits, max, &percent))
			return percent / 100;
	}
	cli_usage_error("--%s: expected a percentage from 0 to %.0f, found "
			"'%s'", option, max, text);
}

static void check(struct options *o, int nr_files)
{
	opt_input_check(&o->input);
	opt_symbol_check(&o->symbol);
	if (!o->check.base)
		cli_usage_error("--base=FILE is missing");
	if (nr_files != 1)
		cli_usage_error("one profile expected, found %d", nr_files);
	if (!(o->check.confidence > 0 && o->check.confidence < 100))
		cli_usage_error("--confidence: above 0 and below 100 "
				"expected");
	o->opts.confidence = o->check.confidence / 100;
	o->opts.floor = (double)o->check.floor;
	o->opts.sample_type = o->view.sample_type;
	if (o->check.max_growth)
		o->opts.max_growth = parse_percent("max-growth",
						   o->check.max_growth, 1e9);
	if (o->check.max_shrink)
		o->opts.max_shrink = parse_percent("max-shrink",
						   o->check.max_shrink, 100);
}

int main(int argc, char **argv)
{
	struct options o = { .check = { .confidence = 99 },
			     .opts = PPROF_CHECK_OPTS_INIT };
	const struct cli_group groups[] = {
		{ "Check", check_options, &o.check },
		{ "View", opt_view_type_options, &o.view },
		{ "Input", opt_input_options, &o.input },
		{ "Names", opt_symbol_options, &o.symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-check",
		.usage = "[OPTION]... --base=BASE NEW",
		.summary = "Tell whether a profile grew beyond what its base "
			   "allows.\n"
			   "Exits with 0 (no), 1 (yes), 2 (trouble) or 3 "
			   "(cannot judge).\n",
		.examples =
		"  pprof-check --base before.heap after.heap\n"
		"  pprof-check --base before.heap --max-growth 5% "
		"after.heap\n"
		"  pprof-check --base before.heap --max-shrink 50% "
		"after.heap\n",
		.groups = groups
	};
	int first, code;

	first = cli_parse(&tool, argc, argv);
	check(&o, argc - first);
	code = run(&o, argv[first]);
	opt_input_fini(&o.input);
	opt_symbol_fini(&o.symbol);
	return cli_finish(code);
}
