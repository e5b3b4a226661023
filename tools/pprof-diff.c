/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-diff: what changed between two profiles, or along a series.
 */
#include <config.h>

#include "common/cli.h"
#include "common/inlist.h"
#include "common/msg.h"
#include "common/opt_filter.h"
#include "common/opt_input.h"
#include "common/opt_symbol.h"
#include "common/opt_view.h"
#include "common/outfile.h"
#include "common/progress.h"
#include "common/term.h"

#include <pprof.h>

#include <string.h>
#include <unistd.h>

/* No compression level is this high: the writer's own is meant. */
#define LEVEL_UNSET UINT64_MAX

/* What is written. */
enum form { FORM_TABLE, FORM_JSON, FORM_PPROF };

struct diff {
	const char *output;
	const char *files0;
	uint64_t limit;
	uint64_t level;
	int form;  /* enum form */
	int sort;  /* enum pprof_change_sort */
	int only;  /* enum pprof_change_only */
	int unit;  /* enum pprof_value_unit */
	bool cancel;
	bool normalize;
	bool by_cum;
	bool match_base_names;
	bool unrelated;
};

/* All groups of options. */
struct options {
	struct diff diff;
	struct opt_input input;
	struct opt_symbol symbol;
	struct opt_view view;
	struct opt_filter filter;
	struct pprof_symbolizer *symbolizer; /* or NULL */
};

static const struct cli_option diff_options[] = {
	{ "table", 0, CLI_SET, offsetof(struct diff, form), NULL,
	  "print the functions that changed (default)", FORM_TABLE },
	{ "json", 0, CLI_SET, offsetof(struct diff, form), NULL,
	  "the same for programs", FORM_JSON },
	{ "proto", 0, CLI_SET, offsetof(struct diff, form), NULL,
	  "write a profile of the difference, both halves told apart",
	  FORM_PPROF },
	{ "cancel", 0, CLI_FLAG, offsetof(struct diff, cancel), NULL,
	  "with --proto: subtract, so that what is equal vanishes", 0 },
	{ "normalize", 0, CLI_FLAG, offsetof(struct diff, normalize), NULL,
	  "scale to the total of the base first", 0 },
	{ "cum", 0, CLI_FLAG, offsetof(struct diff, by_cum), NULL,
	  "values with callees, not without", 0 },
	{ "sort", 0, CLI_CHOICE, offsetof(struct diff, sort),
	  "significance|delta|name", "order of the rows (default: what is "
	  "least likely to be chance first)", 0 },
	{ "growth", 0, CLI_SET, offsetof(struct diff, only), NULL,
	  "only what grew", PPROF_CHANGES_GROWTH },
	{ "shrink", 0, CLI_SET, offsetof(struct diff, only), NULL,
	  "only what shrank", PPROF_CHANGES_SHRINK },
	{ "limit", 'n', CLI_NUMBER, offsetof(struct diff, limit), "N",
	  "print at most N rows (default: all)", UINT32_MAX },
	{ "unit", 0, CLI_CHOICE, offsetof(struct diff, unit),
	  "minimum|auto|exact", "unit of values: one for the table, each its "
	  "own (default), or as in the profile", 0 },
	{ "match-base-names", 0, CLI_FLAG,
	  offsetof(struct diff, match_base_names), NULL,
	  "with --proto: mapped files without build ID are one if their base "
	  "names are", 0 },
	{ "unrelated", 0, CLI_FLAG, offsetof(struct diff, unrelated), NULL,
	  "with --proto: also programs that have no file in common", 0 },
	{ "files0-from", 0, CLI_TEXT, offsetof(struct diff, files0), "FILE",
	  "read also the files named in FILE, each ended by a NUL", 0 },
	{ "output", 'o', CLI_TEXT, offsetof(struct diff, output), "FILE",
	  "write here, not to standard output", 0 },
	{ "level", 0, CLI_NUMBER, offsetof(struct diff, level), "N",
	  "compression of a profile from 0 (none) to 9 (smallest)", 9 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* Read, symbolize and filter one input; *ret_code only ever rises. */
static struct pprof_profile *load(struct options *o, const char *path,
				  int *ret_code)
{
	struct pprof_profile *profile = NULL;
	int code = CLI_EXIT_OK, type;

	if (!opt_input_read(&o->input, path, &profile)) {
		*ret_code = CLI_EXIT_TROUBLE;
		return NULL;
	}
	if (o->symbolizer)
		code = opt_symbol_run(o->symbolizer, o->input.strict, path,
				      profile);
	if (code == CLI_EXIT_TROUBLE ||
	    !opt_view_sample_type(&o->view, profile, &type) ||
	    !opt_filter_run(&o->filter, profile, type, NULL)) {
		pprof_profile_free(profile);
		*ret_code = CLI_EXIT_TROUBLE;
		return NULL;
	}
	if (code > *ret_code)
		*ret_code = code;
	return profile;
}

/* -------------------------------------------------------------------- table */

static struct pprof_comparison *new_comparison(const struct options *o)
{
	struct pprof_comparison_opts opts = PPROF_COMPARISON_OPTS_INIT;
	struct pprof_comparison *comparison = NULL;
	bool to_stdout = !o->diff.output || !strcmp(o->diff.output, "-");
	struct pprof_error err;

	opts.sample_type = o->view.sample_type;
	opts.granularity = (enum pprof_granularity)o->view.by;
	opts.no_inlines = o->symbol.no_inlines;
	opts.by_cum = o->diff.by_cum;
	opts.normalize = o->diff.normalize;
	opts.sort = (enum pprof_change_sort)o->diff.sort;
	opts.only = (enum pprof_change_only)o->diff.only;
	opts.unit = (enum pprof_value_unit)o->diff.unit;
	opts.limit = (size_t)o->diff.limit;
	opts.width = to_stdout ? term_width(STDOUT_FILENO) : 0;
	opts.sparkline = to_stdout && term_is_tty(STDOUT_FILENO);
	opts.json = o->diff.form == FORM_JSON;
	if (pprof_comparison_new(&opts, &comparison, &err) != PPROF_OK)
		msg_pprof_error(&err);
	return comparison;
}

static bool add_input(struct options *o, struct pprof_comparison *comparison,
		      const char *path, int *ret_code)
{
	struct pprof_profile *profile = load(o, path, ret_code);
	struct dump_name name;
	struct pprof_error err;
	enum pprof_status status;
	int64_t sequence = -1;

	if (!profile)
		return false;
	if (inlist_parse_dump(path, &name) && name.sequence <= INT64_MAX)
		sequence = (int64_t)name.sequence;
	status = pprof_comparison_add(comparison, profile, path, sequence,
				      &err);
	pprof_profile_free(profile);
	if (status == PPROF_OK)
		return true;
	msg_pprof_error(&err);
	*ret_code = CLI_EXIT_TROUBLE;
	return false;
}

static enum pprof_status write_comparison(const void *ctx,
					  struct pprof_sink *sink,
					  struct pprof_error *err)
{
	struct pprof_comparison *const *comparison = ctx;

	return pprof_comparison_write(*comparison, sink, err);
}

static int compare(struct options *o, const struct inlist *list)
{
	struct pprof_comparison *comparison = new_comparison(o);
	int code = CLI_EXIT_OK, written;
	size_t i;

	if (!comparison)
		return CLI_EXIT_TROUBLE;
	for (i = 0; i < list->nr; i++)
		if (!add_input(o, comparison, list->paths[i], &code))
			break;
	if (i == list->nr) {
		written = outfile_write(o->diff.output, "comparing",
					write_comparison, &comparison);
		code = written == CLI_EXIT_OK ? code : written;
	}
	pprof_comparison_free(comparison);
	return code;
}

/* ------------------------------------------------------------------ profile */

static int write_diff(const struct options *o,
		      const struct pprof_profile *profile)
{
	struct outfile_profile out = { .profile = profile,
				       .writer = "pprof",
				       .opts = PPROF_WRITE_OPTS_INIT };

	if (o->diff.level != LEVEL_UNSET)
		out.opts.level = (int)o->diff.level;
	out.opts.diag = msg_diag;
	return outfile_write(o->diff.output, "writing", outfile_write_profile,
			     &out);
}

static int subtract(const struct options *o, const struct pprof_profile *base,
		    const struct pprof_profile *profile,
		    const char *const *names)
{
	struct pprof_diff_opts opts = PPROF_DIFF_OPTS_INIT;
	struct pprof_profile *diff = NULL;
	enum pprof_status status;
	struct pprof_error err;
	int code;

	opts.mode = o->diff.cancel ? PPROF_DIFF_CANCELLED
				   : PPROF_DIFF_LABELLED;
	opts.normalize = o->diff.normalize;
	opts.match_base_names = o->diff.match_base_names;
	opts.allow_unrelated = o->diff.unrelated;
	opts.limits = &o->input.limits;
	opts.diag = msg_diag;
	progress_start("subtracting", names[0]);
	status = pprof_profile_diff(base, profile, names, &opts, &diff, &err);
	progress_stop();
	if (status != PPROF_OK) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	code = write_diff(o, diff);
	pprof_profile_free(diff);
	return code;
}

static int make_profile(struct options *o, const struct inlist *list)
{
	struct pprof_profile *base, *profile = NULL;
	int code = CLI_EXIT_OK, written;

	base = load(o, list->paths[0], &code);
	if (base)
		profile = load(o, list->paths[1], &code);
	if (profile) {
		written = subtract(o, base, profile, list->paths);
		code = written == CLI_EXIT_OK ? code : written;
	}
	pprof_profile_free(base);
	pprof_profile_free(profile);
	return code;
}

static int run(struct options *o, const struct inlist *list)
{
	int code;

	if (opt_symbol_wanted(&o->symbol)) {
		o->symbolizer = opt_symbol_new(&o->symbol);
		if (!o->symbolizer)
			return CLI_EXIT_TROUBLE;
	}
	code = o->diff.form == FORM_PPROF ? make_profile(o, list)
					  : compare(o, list);
	pprof_symbolizer_free(o->symbolizer);
	return code;
}

static void check(struct options *o, const struct inlist *list)
{
	opt_input_check(&o->input);
	opt_symbol_check(&o->symbol);
	if (list->nr < 2)
		cli_usage_error("two profiles expected, BASE and NEW");
	/* One flag that makes no table means the profile. */
	if (o->diff.cancel)
		o->diff.form = FORM_PPROF;
	if (o->diff.form != FORM_PPROF)
		return;
	if (list->nr > 2)
		cli_usage_error("a profile is the difference of two, found "
				"a third: '%s'", list->paths[2]);
	outfile_refuse_terminal(o->diff.output, true);
}

int main(int argc, char **argv)
{
	struct options o = { .diff = { .level = LEVEL_UNSET,
				       .unit = PPROF_UNIT_AUTO },
			     .filter = { .drop_frames = true } };
	const struct cli_group groups[] = {
		{ "Difference", diff_options, &o.diff },
		{ "View", opt_view_options, &o.view },
		{ "Filter", opt_filter_options, &o.filter },
		{ "Input", opt_input_options, &o.input },
		{ "Names", opt_symbol_options, &o.symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-diff",
		.usage = "[OPTION]... BASE NEW...",
		.summary = "Tell what changed from one profile to another, "
			   "and what of it is no chance.\n"
			   "More than two are a series: what goes up "
			   "steadily?\n",
		.examples =
		"  pprof-diff --growth before.pb.gz after.pb.gz\n"
		"  pprof-diff -s jeprof.4711.*.heap\n"
		"  pprof-diff --proto -o diff.pb.gz before.pb.gz "
		"after.pb.gz\n",
		.groups = groups
	};
	struct inlist list;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	inlist_init(&list, argc, argv, first, o.diff.files0);
	check(&o, &list);
	code = run(&o, &list);
	inlist_fini(&list);
	opt_filter_fini(&o.filter);
	opt_input_fini(&o.input);
	opt_symbol_fini(&o.symbol);
	return cli_finish(code);
}
