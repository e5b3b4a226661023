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

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A base below this shows nothing, with --raw. */
#define RAW_FLOOR 1000000

#define FLOOR_UNSET UINT64_MAX

/* Percent, unless given. */
#define CONFIDENCE 99

/* A dump below this share of its base was reset. */
#define RESET_SHARE 1000

struct check {
	const char *base;
	const char *max_growth;
	const char *max_shrink;
	double confidence; /* percent */
	uint64_t floor;    /* FLOOR_UNSET: as the check has it */
	bool raw;
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
	  "a base with a total below N cannot be judged (default: 0; "
	  "with --raw 1000000)", INT64_MAX },
	{ "raw", 0, CLI_FLAG, offsetof(struct check, raw), NULL,
	  "compare the sums of the bytes that the heap dumps themselves "
	  "have, not scaled up; half must be left unless --max-shrink is "
	  "given", 0 },
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

/* value * factor, down to whole bytes; factors are whole millionths. */
static uint64_t share_of(uint64_t value, double factor)
{
	const uint64_t million = 1000000;
	uint64_t millionths = (uint64_t)(factor * (double)million + 0.5);
	unsigned __int128 product = (unsigned __int128)value * millionths;

	product /= million;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static int read_sum(const struct options *o, const char *path,
		    struct pprof_dump_sum *ret)
{
	struct pprof_error err;

	if (pprof_dump_sum(path, &o->input.limits, msg_diag, NULL, ret,
			   &err)) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	return CLI_EXIT_OK;
}

static void print_sum(const char *name, const struct pprof_dump_sum *sum)
{
	printf("%s: %" PRIu64 " bytes in %" PRIu64 " stack%s\n", name,
	       sum->nr_bytes, sum->nr_stacks,
	       sum->nr_stacks == 1 ? "" : "s");
}

/* One bound on the new sum. */
static bool is_kept(const char *name, uint64_t limit, bool is_least,
		    uint64_t found)
{
	bool ok = is_least ? found >= limit : found <= limit;

	printf("%s  %s: at %s %" PRIu64 " bytes\n", ok ? "pass" : "FAIL",
	       name, is_least ? "least" : "most", limit);
	return ok;
}

/* The sums of the dumps as they stand, to the byte, without a model. */
static int judge_raw(const struct options *o, const struct pprof_dump_sum *a,
		     const struct pprof_dump_sum *b)
{
	const double shrink = o->check.max_shrink ? o->opts.max_shrink : 0.5;
	uint64_t floor = o->check.floor == FLOOR_UNSET ? RAW_FLOOR :
			 o->check.floor;
	bool ok = true;

	print_sum("base", a);
	print_sum("new", b);
	if (a->nr_bytes < floor || !a->nr_stacks) {
		printf("cannot judge: nothing was captured: the base must "
		       "have %" PRIu64 " bytes at least\n", floor);
		return PPROF_CHECK_UNKNOWN;
	}
	if (o->check.max_shrink || !o->check.max_growth)
		ok = is_kept("max-shrink", share_of(a->nr_bytes, 1 - shrink),
			     true, b->nr_bytes);
	if (o->check.max_growth &&
	    !is_kept("max-growth",
		     share_of(a->nr_bytes, 1 + o->opts.max_growth), false,
		     b->nr_bytes))
		ok = false;
	if (b->nr_bytes < a->nr_bytes / RESET_SHARE)
		printf("next to nothing is left: this looks like prof.reset, "
		       "which forgets all that was sampled; prof.active=false "
		       "only pauses\n");
	return ok ? PPROF_CHECK_PASS : PPROF_CHECK_FAIL;
}

static int run_raw(const struct options *o, const char *path)
{
	struct pprof_dump_sum base, new;

	if (read_sum(o, o->check.base, &base) || read_sum(o, path, &new))
		return CLI_EXIT_TROUBLE;
	return judge_raw(o, &base, &new);
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
	if (o->check.raw && (o->check.confidence >= 0 || o->view.sample_type ||
			     opt_symbol_wanted(&o->symbol)))
		cli_usage_error("--raw reads the dump's own numbers: "
				"without --confidence, --sample-type and "
				"options of names");
	if (o->check.confidence < 0)
		o->check.confidence = CONFIDENCE;
	if (!(o->check.confidence > 0 && o->check.confidence < 100))
		cli_usage_error("--confidence: above 0 and below 100 "
				"expected");
	o->opts.confidence = o->check.confidence / 100;
	o->opts.floor = o->check.floor == FLOOR_UNSET ? 0 :
			(double)o->check.floor;
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
	struct options o = { .check = { .confidence = -1,
					.floor = FLOOR_UNSET },
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
		"after.heap\n"
		"  pprof-check --raw --base before.heap after.heap\n",
		.groups = groups
	};
	int first, code;

	first = cli_parse(&tool, argc, argv);
	check(&o, argc - first);
	code = o.check.raw ? run_raw(&o, argv[first]) : run(&o, argv[first]);
	opt_input_fini(&o.input);
	opt_symbol_fini(&o.symbol);
	return cli_finish(code);
}
