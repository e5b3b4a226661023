/* SPDX-License-Identifier: Apache-2.0
 *
 * Options on how a flame graph looks: those of pprof-flame, with the words
 * that flamegraph.pl has for them.
 */
#ifndef TOOLS_OPT_PICTURE_H
#define TOOLS_OPT_PICTURE_H

#include "cli.h"

#include <pprof.h>

enum picture_to {
	PICTURE_AUTO = 0, /* by the ending of the output's name */
	PICTURE_SVG,
	PICTURE_HTML
};

struct opt_picture {
	const char *output;
	int to;                 /* enum picture_to */
	const char *source_url;
	bool compress;
	const char *title;
	const char *subtitle;
	struct cli_list notes;
	uint64_t width;
	uint64_t row_height;
	uint64_t font_size;
	const char *font;
	const char *min_width;  /* "N" px or "N%" */
	uint64_t max_frames;
	uint64_t max_depth;
	const char *colors;
	const char *background;
	const char *count_name;
	const char *name_type;
	int theme;              /* enum pprof_theme */
	int sort;               /* 1: by value */
	bool icicle;
	bool reverse;
	bool no_script;
	bool csp;
	bool text;
	const char *sandwich;
	const char *group_by;
	const char *base;       /* file */
	bool split;
	bool both;
	int widths;             /* enum pprof_diff_widths */
	const char *normalize;
	int delta;              /* 1: self */
	bool negate;
	bool ignored;           /* --hash: done anyway */
	bool random;
	bool chart;
};

extern const struct cli_option opt_picture_options[];
extern const struct cli_option opt_picture_diff_options[];

/* Options of the picture; ends the tool when they are wrong. */
struct pprof_flame_opts opt_picture_take(const struct opt_picture *picture);

/* True when the result is an HTML report. */
bool opt_picture_is_html(const struct opt_picture *picture);
void opt_picture_fini(struct opt_picture *picture);

#endif
