/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-report: a profile as text for people.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/load.h"
#include "common/opt_filter.h"
#include "common/opt_view.h"
#include "common/outfile.h"
#include "common/term.h"

#include <pprof.h>

#include <string.h>
#include <unistd.h>

/* Limit when none is given. */
#define LIMIT_UNSET UINT64_MAX

/* Functions in a tree or graph, as go tool pprof has them. */
#define TREE_LIMIT 80

struct report {
	const char *output;
	const char *kind; /* name of a row of kinds[] */
	const char *peek; /* expression, or NULL */
	uint64_t limit;   /* LIMIT_UNSET: as the kind has it */
	double min_percent;
	int unit; /* enum pprof_value_unit */
	int by_cum;
	bool mean;
	bool json;
};

static const struct cli_option report_options[] = {
	{ "top", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "the functions with the largest values (default)", 0 },
	{ "text", 0, CLI_WORD, offsetof(struct report, kind), NULL, NULL, 0 },
	{ "tree", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "each function between its callers and its callees", 0 },
	{ "peek", 0, CLI_TEXT, offsetof(struct report, peek), "RE",
	  "the same of functions that match RE, nothing left out", 0 },
	{ "dot", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "the call graph, for Graphviz", 0 },
	{ "callgrind", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "the call graph, for KCachegrind", 0 },
	{ "traces", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "every sample with its labels and stack", 0 },
	{ "tags", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "what the samples of each label's values add up to", 0 },
	{ "raw", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "samples, locations and mappings as they are", 0 },
	{ "comments", 0, CLI_WORD, offsetof(struct report, kind), NULL,
	  "the profile's comments", 0 },
	{ "cum", 0, CLI_SET, offsetof(struct report, by_cum), NULL,
	  "sort by cum (with callees), not by flat", 1 },
	{ "flat", 0, CLI_SET, offsetof(struct report, by_cum), NULL, NULL,
	  0 },
	{ "limit", 'n', CLI_NUMBER, offsetof(struct report, limit), "N",
	  "print at most N rows (default: all; tree, dot: 80)", UINT32_MAX },
	{ "nodecount", 0, CLI_NUMBER, offsetof(struct report, limit), "N",
	  NULL, UINT32_MAX },
	{ "min-percent", 0, CLI_REAL, offsetof(struct report, min_percent),
	  "P", "leave out rows below P % of the total (default: 0.5)", 100 },
	{ "unit", 0, CLI_CHOICE, offsetof(struct report, unit),
	  "minimum|auto|exact", "unit of values: one for the table, each its "
	  "own, or as in the profile", 0 },
	{ "mean", 0, CLI_FLAG, offsetof(struct report, mean), NULL,
	  "values over those of the first sample type: bytes an object", 0 },
	{ "show_bytes", 0, CLI_SET, offsetof(struct report, unit), NULL,
	  NULL, PPROF_UNIT_EXACT },
	{ "json", 0, CLI_FLAG, offsetof(struct report, json), NULL,
	  "top as JSON, with exact values", 0 },
	{ "output", 'o', CLI_TEXT, offsetof(struct report, output), "FILE",
	  "write here, not to standard output", 0 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

static struct pprof_top_opts table(const struct report *report,
				   const struct opt_view *view,
				   bool no_inlines, int sample_type)
{
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;

	opts.sample_type = sample_type;
	opts.granularity = (enum pprof_granularity)view->by;
	opts.unit = (enum pprof_value_unit)report->unit;
	opts.by_cum = report->by_cum != 0;
	opts.no_inlines = no_inlines;
	if (report->limit != LIMIT_UNSET)
		opts.limit = (size_t)report->limit;
	else if (!strcmp(report->kind, "tree") ||
		 !strcmp(report->kind, "dot"))
		opts.limit = TREE_LIMIT;
	opts.min_fraction = report->min_percent / 100;
	if (!strcmp(report->kind, "peek")) {
		opts.limit = 0;
		opts.min_fraction = 0;
	}
	opts.mean = report->mean;
	if (!report->output || !strcmp(report->output, "-"))
		opts.width = term_width(STDOUT_FILENO);
	return opts;
}

struct printing {
	const struct pprof_profile *profile;
	struct pprof_top_opts opts;
	const char *peek;
};

static enum pprof_status print_top(const void *ctx, struct pprof_sink *sink,
				   struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_top(printing->profile, &printing->opts, sink, err);
}

static enum pprof_status print_tree(const void *ctx, struct pprof_sink *sink,
				    struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_tree(printing->profile, &printing->opts, sink,
				 err);
}

static enum pprof_status print_dot(const void *ctx, struct pprof_sink *sink,
				   struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_dot(printing->profile, &printing->opts, sink, err);
}

static enum pprof_status print_callgrind(const void *ctx,
					 struct pprof_sink *sink,
					 struct pprof_error *err)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	const struct printing *printing = ctx;

	opts.sample_type = printing->opts.sample_type;
	opts.no_inlines = printing->opts.no_inlines;
	return pprof_profile_write(printing->profile, "callgrind", &opts, sink,
				   err);
}

static enum pprof_status print_peek(const void *ctx, struct pprof_sink *sink,
				    struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_peek(printing->profile, printing->peek,
				 &printing->opts, sink, err);
}

static enum pprof_status print_json(const void *ctx, struct pprof_sink *sink,
				    struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_top_json(printing->profile, &printing->opts, sink,
				     err);
}

static enum pprof_status print_traces(const void *ctx, struct pprof_sink *sink,
				      struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_traces(printing->profile, &printing->opts, sink,
				   err);
}

static enum pprof_status print_tags(const void *ctx, struct pprof_sink *sink,
				    struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_tags(printing->profile, &printing->opts, sink,
				 err);
}

static enum pprof_status print_raw(const void *ctx, struct pprof_sink *sink,
				   struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_raw(printing->profile, sink, err);
}

static enum pprof_status print_comments(const void *ctx,
					struct pprof_sink *sink,
					struct pprof_error *err)
{
	const struct printing *printing = ctx;

	return pprof_report_comments(printing->profile, sink, err);
}

static const struct kind {
	const char *name;
	outfile_fn print;
} kinds[] = {
	{ "top", print_top },
	{ "text", print_top },
	{ "tree", print_tree },
	{ "peek", print_peek },
	{ "dot", print_dot },
	{ "callgrind", print_callgrind },
	{ "traces", print_traces },
	{ "tags", print_tags },
	{ "raw", print_raw },
	{ "comments", print_comments },
};

/* The kind of that name, or NULL. */
static const struct kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Kinds that print whole profiles or no values at all. */
static bool has_no_mean(const char *kind)
{
	return !strcmp(kind, "callgrind") || !strcmp(kind, "raw") ||
	       !strcmp(kind, "comments");
}

static int run(const struct report *report, const struct opt_input *input,
	       const struct opt_symbol *symbol, const struct opt_view *view,
	       struct opt_filter *filter, const char *path)
{
	struct pprof_profile *profile = NULL;
	int code = load_profile(input, symbol, path, &profile);
	struct printing printing = { .profile = profile,
				     .peek = report->peek };
	int printed = CLI_EXIT_TROUBLE;
	int sample_type;
	int64_t total;
	bool drop_negative;
	double divide_by;

	if (code == CLI_EXIT_TROUBLE)
		return code;
	/* Here it is rows that are meant, and sums that are divided. */
	drop_negative = filter->drop_negative;
	divide_by = filter->divide_by;
	filter->drop_negative = false;
	filter->divide_by = 0;
	filter->mean = report->mean;
	if (opt_view_sample_type(view, profile, &sample_type) &&
	    opt_filter_run(filter, profile, sample_type, &total)) {
		printing.opts = table(report, view, symbol->no_inlines,
				      sample_type);
		printing.opts.total = total;
		printing.opts.filters = filter->stated.items;
		printing.opts.nr_filters = filter->stated.nr;
		printing.opts.drop_negative = drop_negative;
		printing.opts.divide_by = divide_by;
		printing.opts.title = infile_title(path);
		printed = outfile_write(report->output, "counting",
					report->json ? print_json :
					find_kind(report->kind)->print,
					&printing);
	}
	pprof_profile_free(profile);
	return printed == CLI_EXIT_OK ? code : printed;
}

/*
 * The kind's word may stand before or after FILE; alone it is the word, unless
 * a file is called so. The expression of peek follows its word.
 */
static void take_kind_word(int *argc, char **argv, int *first,
			   struct report *report)
{
	int nr = *argc - *first;

	if (report->peek) {
		report->kind = "peek";
	} else if (nr > 1 && !strcmp(argv[*first], "peek")) {
		report->kind = argv[*first];
		report->peek = argv[*first + 1];
		*first += 2;
	} else if (nr > 2 && !strcmp(argv[*argc - 2], "peek")) {
		report->kind = argv[*argc - 2];
		report->peek = argv[*argc - 1];
		*argc -= 2;
	} else if (nr > 1 && find_kind(argv[*argc - 1])) {
		report->kind = argv[--*argc];
	} else if (nr > 0 && find_kind(argv[*first]) &&
		   (nr > 1 || access(argv[*first], F_OK) != 0)) {
		report->kind = argv[(*first)++];
	}
	if (!strcmp(report->kind, "peek") && !report->peek)
		cli_usage_error("peek: which functions? "
				"(an expression is missing)");
}

int main(int argc, char **argv)
{
	struct report report = { .kind = "top", .min_percent = 0.5,
				 .limit = LIMIT_UNSET };
	struct opt_input input = { .format = NULL };
	struct opt_symbol symbol = { .symbolize = false };
	struct opt_view view = { .sample_type = NULL };
	struct opt_filter filter = { .drop_frames = true };
	const struct cli_group groups[] = {
		{ "Table", report_options, &report },
		{ "View", opt_view_options, &view },
		{ "Filter", opt_filter_options, &filter },
		{ "Input", opt_input_options, &input },
		{ "Names", opt_symbol_options, &symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-report",
		.usage = "[OPTION]... [top|tree|peek RE|dot|callgrind|"
			 "traces|tags|raw|comments] [BINARY] [FILE]",
		.summary = "Print a profile, from FILE or standard input, as "
			   "text: its functions with\n"
			   "their values, flat (their own) and cum (with what "
			   "they called), or what\n"
			   "another kind of report shows.\n",
		.examples =
		"  pprof-report -n 10 heap.pb.gz\n"
		"  pprof-report --cum --inuse_objects -s jeprof.1.0.f.heap\n"
		"  pprof-report --json heap.pb.gz | jq '.rows[0]'\n"
		"  pprof-report traces --focus=parse heap.pb.gz\n",
		.groups = groups
	};
	const char *path;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	opt_input_check(&input);
	opt_symbol_check(&symbol);
	take_kind_word(&argc, argv, &first, &report);
	if (report.mean && has_no_mean(report.kind))
		cli_usage_error("--mean is not for %s", report.kind);
	if (report.json && find_kind(report.kind)->print != print_top)
		cli_usage_error("--json is for top");
	if (report.json && filter.divide_by > 0)
		cli_usage_error("--json has exact values: without "
				"--divide-by");
	path = infile_one(argc, argv, first, &symbol.binaries);
	code = run(&report, &input, &symbol, &view, &filter, path);
	opt_filter_fini(&filter);
	opt_input_fini(&input);
	opt_symbol_fini(&symbol);
	return cli_finish(code);
}
