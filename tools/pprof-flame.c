/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-flame: a profile, or the difference of two, as a flame graph.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/inlist.h"
#include "common/load.h"
#include "common/msg.h"
#include "common/opt_filter.h"
#include "common/opt_picture.h"
#include "common/opt_view.h"
#include "common/outfile.h"

#include <pprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parts that one picture can have. */
#define MAX_PARTS 2

/* All that the options say. */
struct options {
	struct opt_picture picture;
	struct opt_input input;
	struct opt_symbol symbol;
	struct opt_view view;
	struct opt_filter filter;
};

struct drawing {
	struct pprof_flame_part parts[MAX_PARTS];
	struct pprof_flame_opts opts[MAX_PARTS];
	size_t nr;
};

static enum pprof_status draw(const void *ctx, struct pprof_sink *sink,
			      struct pprof_error *err)
{
	const struct drawing *drawing = ctx;
	const struct pprof_flame_part *part = &drawing->parts[0];

	if (drawing->nr > 1)
		return pprof_flame_parts_write(drawing->parts, drawing->nr,
					       sink, err);
	if (part->base)
		return pprof_flame_diff_write(part->base, part->profile,
					      part->opts, sink, err);
	return pprof_flame_write(part->profile, part->opts, sink, err);
}

/* Read, name and filter `path`; CLI_EXIT_TROUBLE after a message. */
static int load(struct options *o, const char *path, int *ret_type,
		struct pprof_profile **ret_profile)
{
	int code = load_profile(&o->input, &o->symbol, path, ret_profile);

	if (code == CLI_EXIT_TROUBLE)
		return code;
	if (opt_view_sample_type(&o->view, *ret_profile, ret_type) &&
	    opt_filter_run(&o->filter, *ret_profile, *ret_type, NULL))
		return code;
	pprof_profile_free(*ret_profile);
	*ret_profile = NULL;
	return CLI_EXIT_TROUBLE;
}

/* A copy of which only the stacks with `pivot` are left, cut there. */
static struct pprof_profile *cut_at(const struct pprof_profile *profile,
				    const char *pivot, bool callers)
{
	struct pprof_filter_opts opts = PPROF_FILTER_OPTS_INIT;
	struct pprof_profile *copy = NULL;
	enum pprof_status status;
	struct pprof_sink *sink = NULL;
	struct pprof_error err;
	const void *data;
	size_t nr;

	opts.focus = pivot;
	opts.show_from = callers ? NULL : pivot;
	opts.prune_from = callers ? pivot : NULL;
	opts.diag = callers ? NULL : msg_diag;
	status = pprof_sink_open_memory(&sink, &err);
	if (!status)
		status = pprof_profile_write(profile, "pprof", NULL, sink,
					     &err);
	if (!status) {
		data = pprof_sink_memory(sink, &nr);
		status = pprof_profile_read_memory(data, nr, "profile", NULL,
						   &copy, &err);
	}
	if (!status)
		status = pprof_profile_filter(copy, &opts, NULL, &err);
	pprof_sink_close(sink);
	if (!status)
		return copy;
	msg_pprof_error(&err);
	pprof_profile_free(copy);
	return NULL;
}

/* Callers above, callees below; both begin with the pivot. */
static int draw_sandwich(const struct options *o, struct drawing *drawing)
{
	const struct pprof_profile *profile = drawing->parts[0].profile;
	struct pprof_profile *above, *below = NULL;
	int code = CLI_EXIT_TROUBLE;

	above = cut_at(profile, o->picture.sandwich, true);
	if (above)
		below = cut_at(profile, o->picture.sandwich, false);
	if (below) {
		drawing->parts[0].profile = above;
		drawing->parts[1].profile = below;
		drawing->opts[1] = drawing->opts[0];
		drawing->opts[0].reverse = true;
		drawing->opts[0].icicle = false;
		drawing->opts[1].icicle = true;
		drawing->opts[1].reverse = false;
		drawing->opts[0].subtitle = "callers";
		drawing->opts[1].subtitle = "callees";
		drawing->opts[1].title = "";
		drawing->nr = 2;
		code = outfile_write(o->picture.output, "drawing", draw,
				     drawing);
	}
	pprof_profile_free(above);
	pprof_profile_free(below);
	return code;
}

static void add_both(struct drawing *drawing)
{
	drawing->parts[1].base = drawing->parts[0].base;
	drawing->parts[1].profile = drawing->parts[0].profile;
	drawing->opts[1] = drawing->opts[0];
	drawing->opts[0].widths = PPROF_WIDTHS_BASE;
	drawing->opts[1].widths = PPROF_WIDTHS_NEW;
	drawing->nr = 2;
}

/* What was filtered is said in the picture. */
static void add_notes(struct options *o)
{
	size_t i;

	for (i = 0; i < o->filter.stated.nr; i++)
		cli_list_add(&o->picture.notes, o->filter.stated.items[i]);
}

static int run(struct options *o, const char *path)
{
	struct pprof_profile *profile = NULL, *base = NULL;
	struct drawing drawing = { .nr = 1 };
	int code, drawn, type, base_type;

	code = load(o, path, &type, &profile);
	if (code == CLI_EXIT_TROUBLE)
		return code;
	add_notes(o);
	drawing.opts[0] = opt_picture_take(&o->picture);
	drawing.opts[0].sample_type = type;
	drawing.opts[0].granularity = (enum pprof_granularity)o->view.by;
	drawing.opts[0].no_inlines = o->symbol.no_inlines;
	drawing.parts[0].opts = &drawing.opts[0];
	drawing.parts[1].opts = &drawing.opts[1];
	drawing.parts[0].profile = profile;
	drawn = CLI_EXIT_OK;
	if (o->picture.base)
		drawn = load(o, o->picture.base, &base_type, &base);
	drawing.parts[0].base = base;
	if (o->picture.both)
		add_both(&drawing);
	if (drawn != CLI_EXIT_TROUBLE)
		drawn = o->picture.sandwich
				? draw_sandwich(o, &drawing)
				: outfile_write(o->picture.output, "drawing",
						draw, &drawing);
	pprof_profile_free(base);
	pprof_profile_free(profile);
	return drawn == CLI_EXIT_OK ? code : drawn;
}

/* Profiles of a report, as they were read. */
struct report {
	struct pprof_page_input *inputs; /* [nr]; profiles are ours */
	size_t nr;
	struct pprof_page_opts opts;
	struct pprof_flame_opts looks;
};

static enum pprof_status write_report(const void *ctx,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	const struct report *report = ctx;

	return pprof_page_write(report->inputs, report->nr, &report->opts,
				sink, err);
}

/* Add what `path` holds; CLI_EXIT_TROUBLE after a message. */
static int add_input(struct options *o, struct report *report,
		     const char *path, int *ret_type)
{
	struct pprof_profile *profile = NULL;
	int code = load(o, path, ret_type, &profile);

	if (code == CLI_EXIT_TROUBLE)
		return code;
	report->inputs[report->nr].profile = profile;
	report->inputs[report->nr++].name = infile_name(path);
	return code;
}

static int fill_report(struct options *o, struct report *report,
		       const struct inlist *list)
{
	int code = CLI_EXIT_OK, type = -1;
	size_t i;

	if (o->picture.base)
		code = add_input(o, report, o->picture.base, &type);
	for (i = 0; i < list->nr && !(code & CLI_EXIT_TROUBLE); i++)
		code |= add_input(o, report, list->paths[i], &type);
	if (!list->nr && !(code & CLI_EXIT_TROUBLE))
		code |= add_input(o, report, "-", &type);
	report->looks.sample_type = type;
	return code & CLI_EXIT_TROUBLE ? CLI_EXIT_TROUBLE : code;
}

static int run_report(struct options *o, const struct inlist *list)
{
	struct report report = { .opts = PPROF_PAGE_OPTS_INIT };
	int code, written;
	size_t i;

	report.inputs = msg_xrealloc(NULL, list->nr + 2,
				     sizeof(*report.inputs));
	report.looks = opt_picture_take(&o->picture);
	report.looks.granularity = (enum pprof_granularity)o->view.by;
	report.looks.no_inlines = o->symbol.no_inlines;
	report.opts.flame = &report.looks;
	report.opts.diff = o->picture.base || list->nr == 2;
	report.opts.source_url = o->picture.source_url;
	report.opts.sandwich = o->picture.sandwich;
	report.opts.compress = o->picture.compress;
	code = fill_report(o, &report, list);
	if (code != CLI_EXIT_TROUBLE) {
		add_notes(o);
		report.looks.notes = o->picture.notes.items;
		report.looks.nr_notes = o->picture.notes.nr;
		written = outfile_write(o->picture.output, "writing",
					write_report, &report);
		code = written == CLI_EXIT_OK ? code : written;
	}
	for (i = 0; i < report.nr; i++)
		pprof_profile_free((struct pprof_profile *)(uintptr_t)
				   report.inputs[i].profile);
	free(report.inputs);
	return code;
}

static void check_html(const struct opt_picture *picture)
{
	if (picture->text || picture->no_script || picture->both)
		cli_usage_error("--text, --no-script and --both are not for "
				"HTML");
}

static void check(struct options *o)
{
	const struct opt_picture *picture = &o->picture;

	opt_input_check(&o->input);
	opt_symbol_check(&o->symbol);
	if (opt_picture_is_html(picture))
		check_html(picture);
	else if (picture->source_url || picture->compress)
		cli_usage_error("--source-url and --compress are for HTML");
	else if (picture->sandwich && (picture->base || picture->both))
		cli_usage_error("--sandwich and --diff-base exclude each "
				"other");
	if (picture->both && !picture->base)
		cli_usage_error("--both needs --diff-base");
	if (!opt_picture_is_html(picture) &&
	    (picture->csp || picture->text) &&
	    (picture->sandwich || picture->both))
		cli_usage_error("--csp and --text draw one graph at a time");
	if (!picture->group_by)
		return;
	/* The row next to the root, whichever side that is. */
	if (picture->reverse)
		o->filter.tagleaf = picture->group_by;
	else
		o->filter.tagroot = picture->group_by;
}

int main(int argc, char **argv)
{
	struct options o = { .filter = { .drop_frames = true } };
	const struct cli_group groups[] = {
		{ "Picture", opt_picture_options, &o.picture },
		{ "Difference", opt_picture_diff_options, &o.picture },
		{ "View", opt_view_options, &o.view },
		{ "Filter", opt_filter_options, &o.filter },
		{ "Input", opt_input_options, &o.input },
		{ "Names", opt_symbol_options, &o.symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-flame",
		.usage = "[OPTION]... [BINARY] [FILE]...",
		.summary = "Draw a profile, from FILE or standard input, as a "
			   "flame graph (SVG), or make\na report to explore "
			   "(HTML) of one or several.\n",
		.examples =
		"  pprof-flame -o heap.svg heap.pb.gz\n"
		"  pprof-flame -s --names=short -o heap.svg "
		"jeprof.1.0.f.heap\n"
		"  pprof-flame --diff-base=heap.pb.gz -o diff.svg "
		"heap.pb.gz\n"
		"  pprof-flame -o heap.html heap.pb.gz\n"
		"  pprof-flame --text heap.pb.gz\n",
		.groups = groups
	};
	struct inlist list;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	check(&o);
	if (opt_picture_is_html(&o.picture)) {
		first = infile_first(argc, argv, first, &o.symbol.binaries);
		inlist_init(&list, argc, argv, first, NULL);
		inlist_sort_dumps(&list);
		code = run_report(&o, &list);
		inlist_fini(&list);
	} else {
		code = run(&o, infile_one(argc, argv, first,
					  &o.symbol.binaries));
	}
	opt_picture_fini(&o.picture);
	opt_filter_fini(&o.filter);
	opt_input_fini(&o.input);
	opt_symbol_fini(&o.symbol);
	return cli_finish(code);
}
