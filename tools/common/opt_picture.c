/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of picture options and what they mean to the library.
 */
#include <config.h>

#include "opt_picture.h"

#include "msg.h"
#include "term.h"

#include <string.h>
#include <unistd.h>

/* Columns of --text where there is no terminal. */
#define TEXT_COLUMNS 100

/* Graph of the default picture, px: what a percentage refers to. */
#define GRAPH_PX(width) (((width) ? (double)(width) : 1200.0) - 20)

#define PICTURE(member) offsetof(struct opt_picture, member)
#define TEXT_ROW(name, member, arg, help) \
	{ name, 0, CLI_TEXT, PICTURE(member), arg, help, 0 }
#define FLAG_ROW(name, member, help) \
	{ name, 0, CLI_FLAG, PICTURE(member), NULL, help, 0 }
#define NUMBER_ROW(name, member, arg, help, most) \
	{ name, 0, CLI_NUMBER, PICTURE(member), arg, help, most }

const struct cli_option opt_picture_options[] = {
	{ "output", 'o', CLI_TEXT, PICTURE(output), "FILE",
	  "write here, not to standard output", 0 },
	{ "to", 0, CLI_CHOICE, PICTURE(to), "auto|svg|html",
	  "a picture, or a report to explore (default: HTML for a FILE that "
	  "ends in .html)", 0 },
	TEXT_ROW("title", title, "TEXT",
		 "heading (default: made from the profile)"),
	TEXT_ROW("subtitle", subtitle, "TEXT", "second heading"),
	{ "notes", 0, CLI_LIST, PICTURE(notes), "TEXT",
	  "a line at the foot; repeat for more", 0 },
	FLAG_ROW("icicle", icicle, "root at the top; also --inverted"),
	FLAG_ROW("inverted", icicle, NULL),
	FLAG_ROW("reverse", reverse,
		 "merge stacks from the leaf: who calls it"),
	TEXT_ROW("sandwich", sandwich, "RE", "callers above and callees "
		 "below the functions that match"),
	TEXT_ROW("group-by", group_by, "KEY",
		 "a first row with the values of this label, as thread"),
	{ "sort", 0, CLI_CHOICE, PICTURE(sort), "name|value",
	  "order of siblings (default: name)", 0 },
	FLAG_ROW("text", text, "draw with characters, for a terminal"),
	TEXT_ROW("colors", colors, "PALETTE",
		 "auto, hot, mem, io, module, package, file, kind, self, "
		 "cvd, depth, mono or a colour of flamegraph.pl"),
	{ "theme", 0, CLI_CHOICE, PICTURE(theme), "auto|light|dark",
	  "background (auto: as the viewer likes it)", 0 },
	TEXT_ROW("background", background, "COLOR",
		 "of the light theme, as #fffbe6; also --bgcolors"),
	TEXT_ROW("bgcolors", background, "COLOR", NULL),
	NUMBER_ROW("width", width, "PX",
		   "width of the picture (default: 1200)", 100000),
	NUMBER_ROW("row-height", row_height, "PX",
		   "height of a row (default: 16); also --height", 400),
	NUMBER_ROW("height", row_height, "PX", NULL, 400),
	NUMBER_ROW("font-size", font_size, "PX",
		   "size of the text (default: 12)", 100),
	NUMBER_ROW("fontsize", font_size, "PX", NULL, 100),
	TEXT_ROW("font", font, "NAME",
		 "font (default: the viewer's monospace)"),
	TEXT_ROW("fonttype", font, "NAME", NULL),
	TEXT_ROW("min-width", min_width, "PX",
		 "leave out what is narrower; N% of the graph is possible "
		 "(default: 0.3)"),
	TEXT_ROW("minwidth", min_width, "PX", NULL),
	NUMBER_ROW("max-frames", max_frames, "N",
		   "draw at most N frames (default: 20000)", UINT32_MAX),
	NUMBER_ROW("max-depth", max_depth, "N",
		   "draw at most N rows (default: 2000)", UINT32_MAX),
	TEXT_ROW("count-name", count_name, "TEXT",
		 "what values count (default: their unit)"),
	TEXT_ROW("countname", count_name, "TEXT", NULL),
	TEXT_ROW("name-type", name_type, "TEXT",
		 "what stands before a name in the details line"),
	TEXT_ROW("nametype", name_type, "TEXT", NULL),
	FLAG_ROW("no-script", no_script, "the picture alone"),
	FLAG_ROW("csp", csp, "print the policy that allows the picture's "
		 "script and style"),
	TEXT_ROW("source-url", source_url, "URL",
		 "HTML: where sources are, with {file} and {line}"),
	FLAG_ROW("compress", compress,
		 "HTML: pack the data, whatever its size"),
	FLAG_ROW("hash", ignored, NULL),
	FLAG_ROW("random", random, NULL),
	FLAG_ROW("flamechart", chart, NULL),
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

const struct cli_option opt_picture_diff_options[] = {
	TEXT_ROW("diff-base", base, "FILE",
		 "draw the difference to this profile (A); also "
		 "--base-profile"),
	TEXT_ROW("diff_base", base, "FILE", NULL),
	TEXT_ROW("base-profile", base, "FILE", NULL),
	FLAG_ROW("split", split, "take values below 0 as those of A"),
	{ "widths", 0, CLI_CHOICE, PICTURE(widths), "b|a|union|delta",
	  "what widths show (default: b)", 0 },
	TEXT_ROW("normalize", normalize, "HOW",
		 "what A is multiplied by: auto, none, total, rate or N:M"),
	{ "delta", 0, CLI_CHOICE, PICTURE(delta), "total|self",
	  "what colours show (default: total)", 0 },
	FLAG_ROW("both", both, "widths of A above those of B"),
	FLAG_ROW("negate", negate,
		 "swap the colours of growth and shrinkage"),
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* Palettes; flamegraph.pl's languages are what tells their code apart. */
static const struct {
	const char *name;
	enum pprof_colors colors;
} palettes[] = {
	{ "auto", PPROF_COLORS_AUTO },
	{ "hot", PPROF_COLORS_HOT },
	{ "mem", PPROF_COLORS_MEM },
	{ "io", PPROF_COLORS_IO },
	{ "module", PPROF_COLORS_MODULE },
	{ "package", PPROF_COLORS_PACKAGE },
	{ "file", PPROF_COLORS_FILE },
	{ "kind", PPROF_COLORS_KIND },
	{ "self", PPROF_COLORS_SELF },
	{ "cvd", PPROF_COLORS_CVD },
	{ "depth", PPROF_COLORS_DEPTH },
	{ "mono", PPROF_COLORS_MONO },
	{ "red", PPROF_COLORS_RED },
	{ "green", PPROF_COLORS_GREEN },
	{ "blue", PPROF_COLORS_BLUE },
	{ "yellow", PPROF_COLORS_YELLOW },
	{ "purple", PPROF_COLORS_PURPLE },
	{ "aqua", PPROF_COLORS_AQUA },
	{ "orange", PPROF_COLORS_ORANGE },
	{ "java", PPROF_COLORS_KIND },
	{ "js", PPROF_COLORS_KIND },
	{ "perl", PPROF_COLORS_KIND },
	{ "python", PPROF_COLORS_PACKAGE },
	{ "rust", PPROF_COLORS_PACKAGE },
	{ "wakeup", PPROF_COLORS_AQUA },
	{ "chain", PPROF_COLORS_BLUE }
};

static enum pprof_colors find_palette(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(palettes) / sizeof(*palettes); i++)
		if (!strcmp(palettes[i].name, name))
			return palettes[i].colors;
	if (name)
		cli_usage_error("--colors: no palette '%s'", name);
	return PPROF_COLORS_AUTO;
}

/* flamegraph.pl's backgrounds, without their gradients. */
static const char *find_background(const char *name)
{
	static const char *const named[][2] = {
		{ "yellow", "#fdf8dc" }, { "blue", "#e8eefa" },
		{ "green", "#e9f6e9" }, { "grey", "#f2f2f2" }
	};
	size_t i;

	for (i = 0; name && i < sizeof(named) / sizeof(*named); i++)
		if (!strcmp(named[i][0], name))
			return named[i][1];
	return name;
}

static double find_min_width(const struct opt_picture *picture)
{
	const char *text = picture->min_width;
	size_t len = text ? strlen(text) : 0;
	bool percent = len && text[len - 1] == '%';
	char number[32];
	double value;

	if (!text)
		return -1;
	len -= percent;
	if (len >= sizeof(number))
		len = sizeof(number) - 1;
	memcpy(number, text, len);
	number[len] = '\0';
	if (!cli_real(number, percent ? 100 : 100000, &value))
		cli_usage_error("--min-width: expected px or N%%, found '%s'",
				text);
	return percent ? value / 100 * GRAPH_PX(picture->width) : value;
}

/* "N:M": A times M / N. */
static double find_ratio(const char *text)
{
	const char *colon = strchr(text, ':');
	double base, now;
	char number[32];

	if (colon && (size_t)(colon - text) < sizeof(number)) {
		memcpy(number, text, (size_t)(colon - text));
		number[colon - text] = '\0';
		if (cli_real(number, UINT32_MAX, &base) &&
		    cli_real(colon + 1, UINT32_MAX, &now) && base > 0 &&
		    now > 0)
			return now / base;
	}
	cli_usage_error("--normalize: expected auto, none, total, rate or "
			"N:M, found '%s'", text);
}

static void set_normalize(struct pprof_flame_opts *opts, const char *how)
{
	static const char *const words[] = { "auto", "none", "total",
					     "rate" };
	size_t i;

	if (!how)
		return;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], how)) {
			opts->normalize = (enum pprof_normalize)i;
			return;
		}
	opts->base_factor = find_ratio(how);
}

/* Characters instead of px. */
static void set_text(struct pprof_flame_opts *opts,
		     const struct opt_picture *picture)
{
	bool to_file = picture->output && strcmp(picture->output, "-") != 0;
	unsigned columns = (unsigned)picture->width;

	if (!columns && !to_file)
		columns = term_width(STDOUT_FILENO);
	if (!columns)
		columns = TEXT_COLUMNS;
	opts->columns = columns < 20 ? 20 : columns;
	opts->width = 0;
	opts->ansi = term_has_color(to_file ? -1 : STDOUT_FILENO);
	if (!picture->min_width)
		opts->min_width = GRAPH_PX(0) / 2 / opts->columns;
}

struct pprof_flame_opts opt_picture_take(const struct opt_picture *picture)
{
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

	opts.icicle = picture->icicle;
	opts.reverse = picture->reverse;
	opts.width = (unsigned)picture->width;
	opts.row_height = (unsigned)picture->row_height;
	opts.font_size = (unsigned)picture->font_size;
	opts.font = picture->font;
	opts.min_width = find_min_width(picture);
	opts.max_frames = (size_t)picture->max_frames;
	opts.max_depth = (unsigned)picture->max_depth;
	opts.colors = find_palette(picture->colors);
	opts.background = find_background(picture->background);
	opts.theme = (enum pprof_theme)picture->theme;
	opts.title = picture->title;
	opts.subtitle = picture->subtitle;
	opts.notes = picture->notes.items;
	opts.nr_notes = picture->notes.nr;
	opts.count_name = picture->count_name;
	opts.name_type = picture->name_type;
	opts.by_value = picture->sort == 1;
	opts.no_script = picture->no_script;
	opts.csp = picture->csp;
	opts.split = picture->split;
	opts.widths = (enum pprof_diff_widths)picture->widths;
	opts.delta_self = picture->delta == 1;
	opts.negate = picture->negate;
	set_normalize(&opts, picture->normalize);
	if (picture->text)
		set_text(&opts, picture);
	if (picture->random)
		msg_warning("--random: colours stay the same from picture to "
			    "picture");
	if (picture->chart)
		msg_warning("--flamechart: a profile adds up equal stacks and "
			    "keeps no order in time; this is a flame graph");
	opts.diag = msg_diag;
	return opts;
}

bool opt_picture_is_html(const struct opt_picture *picture)
{
	const char *name = picture->output ? picture->output : "";
	const char *point = strrchr(name, '.');

	if (picture->to != PICTURE_AUTO || picture->text)
		return picture->to == PICTURE_HTML;
	return point && (!strcmp(point, ".html") || !strcmp(point, ".htm"));
}

void opt_picture_fini(struct opt_picture *picture)
{
	cli_list_fini(&picture->notes);
}
