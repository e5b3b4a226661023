/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-flame: a profile as a flame graph in one SVG file.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/load.h"
#include "common/msg.h"
#include "common/opt_view.h"
#include "common/outfile.h"

#include <pprof.h>

struct flame {
	const char *output;
	const char *title;
	const char *subtitle;
	struct cli_list notes;
	uint64_t width;
	uint64_t font_size;
	double min_width;
	uint64_t max_frames;
	uint64_t max_depth;
	int colors; /* enum pprof_colors */
	int theme;  /* enum pprof_theme */
	bool icicle;
	bool reverse;
};

static const struct cli_option flame_options[] = {
	{ "output", 'o', CLI_TEXT, offsetof(struct flame, output), "FILE",
	  "write here, not to standard output", 0 },
	{ "title", 0, CLI_TEXT, offsetof(struct flame, title), "TEXT",
	  "heading (default: made from the profile)", 0 },
	{ "subtitle", 0, CLI_TEXT, offsetof(struct flame, subtitle), "TEXT",
	  "second heading", 0 },
	{ "notes", 0, CLI_LIST, offsetof(struct flame, notes), "TEXT",
	  "a line at the foot; repeat for more", 0 },
	{ "width", 0, CLI_NUMBER, offsetof(struct flame, width), "PX",
	  "width of the picture (default: 1200)", 100000 },
	{ "font-size", 0, CLI_NUMBER, offsetof(struct flame, font_size),
	  "PX", "size of the text (default: 12)", 100 },
	{ "fontsize", 0, CLI_NUMBER, offsetof(struct flame, font_size), "PX",
	  NULL, 100 },
	{ "min-width", 0, CLI_REAL, offsetof(struct flame, min_width), "PX",
	  "leave out what is narrower (default: 0.3)", 100000 },
	{ "minwidth", 0, CLI_REAL, offsetof(struct flame, min_width), "PX",
	  NULL, 100000 },
	{ "max-frames", 0, CLI_NUMBER, offsetof(struct flame, max_frames),
	  "N", "draw at most N frames (default: 20000)", UINT32_MAX },
	{ "max-depth", 0, CLI_NUMBER, offsetof(struct flame, max_depth), "N",
	  "draw at most N rows (default: 2000)", UINT32_MAX },
	{ "colors", 0, CLI_CHOICE, offsetof(struct flame, colors),
	  "auto|hot|mem|io|module|mono", "palette (auto: by the value)", 0 },
	{ "theme", 0, CLI_CHOICE, offsetof(struct flame, theme),
	  "auto|light|dark", "background (auto: as the viewer likes it)", 0 },
	{ "icicle", 0, CLI_FLAG, offsetof(struct flame, icicle), NULL,
	  "root at the top; also --inverted", 0 },
	{ "inverted", 0, CLI_FLAG, offsetof(struct flame, icicle), NULL,
	  NULL, 0 },
	{ "reverse", 0, CLI_FLAG, offsetof(struct flame, reverse), NULL,
	  "merge stacks from the leaf: who calls it", 0 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

static struct pprof_flame_opts picture(const struct flame *flame,
				       const struct opt_view *view,
				       bool no_inlines, int sample_type)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

	opts.sample_type = sample_type;
	opts.granularity = (enum pprof_granularity)view->by;
	opts.no_inlines = no_inlines;
	opts.icicle = flame->icicle;
	opts.reverse = flame->reverse;
	opts.width = (unsigned)flame->width;
	opts.font_size = (unsigned)flame->font_size;
	opts.min_width = flame->min_width;
	opts.max_frames = (size_t)flame->max_frames;
	opts.max_depth = (unsigned)flame->max_depth;
	opts.colors = (enum pprof_colors)flame->colors;
	opts.theme = (enum pprof_theme)flame->theme;
	opts.title = flame->title;
	opts.subtitle = flame->subtitle;
	opts.notes = flame->notes.items;
	opts.nr_notes = flame->notes.nr;
	opts.diag = msg_diag;
	return opts;
}

struct drawing {
	const struct pprof_profile *profile;
	struct pprof_flame_opts opts;
};

static enum pprof_status draw(const void *ctx, struct pprof_sink *sink,
			      struct pprof_error *err)
{
	const struct drawing *drawing = ctx;

	return pprof_flame_write(drawing->profile, &drawing->opts, sink, err);
}

static int run(const struct flame *flame, const struct opt_input *input,
	       const struct opt_symbol *symbol, const struct opt_view *view,
	       const char *path)
{
	struct pprof_profile *profile = NULL;
	int code = load_profile(input, symbol, path, &profile);
	struct drawing drawing = { .profile = profile };
	int drawn = CLI_EXIT_TROUBLE;
	int sample_type;

	if (code == CLI_EXIT_TROUBLE)
		return code;
	if (opt_view_sample_type(view, profile, &sample_type)) {
		drawing.opts = picture(flame, view, symbol->no_inlines,
				       sample_type);
		drawn = outfile_write(flame->output, "drawing", draw,
				      &drawing);
	}
	pprof_profile_free(profile);
	return drawn == CLI_EXIT_OK ? code : drawn;
}

int main(int argc, char **argv)
{
	struct flame flame = { .min_width = -1 };
	struct opt_input input = { .format = NULL };
	struct opt_symbol symbol = { .symbolize = false };
	struct opt_view view = { .sample_type = NULL };
	const struct cli_group groups[] = {
		{ "Picture", flame_options, &flame },
		{ "View", opt_view_options, &view },
		{ "Input", opt_input_options, &input },
		{ "Names", opt_symbol_options, &symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-flame",
		.usage = "[OPTION]... [BINARY] [FILE]",
		.summary = "Draw a profile, from FILE or standard input, as a "
			   "flame graph (SVG).\n",
		.examples =
		"  pprof-flame -o heap.svg heap.pb.gz\n"
		"  pprof-flame -s --names=short -o heap.svg "
		"jeprof.1.0.f.heap\n",
		.groups = groups
	};
	const char *path;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	opt_input_check(&input);
	opt_symbol_check(&symbol);
	path = infile_one(argc, argv, first, &symbol.binaries);
	code = run(&flame, &input, &symbol, &view, path);
	cli_list_fini(&flame.notes);
	opt_input_fini(&input);
	opt_symbol_fini(&symbol);
	return cli_finish(code);
}
