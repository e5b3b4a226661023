/* SPDX-License-Identifier: Apache-2.0
 *
 * Palettes: which class a frame gets, and what colours classes have.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame_color.h"

#include <string.h>

/* 137.508 degrees: neighbours in rank are far apart in hue. */
#define GOLDEN_ANGLE 137.508

/* Hues from first to last, one saturation, five steps of lightness. */
struct ramp {
	double first_hue, last_hue; /* degrees */
	double light_s, light_l;    /* percent; lightness of the first step */
	double dark_s, dark_l;
	double step_l;              /* rise of each of the steps */
};

/*
 * Chosen so that FLAME_INK has a contrast of 4.5 or more on each (WCAG 2.1,
 * 1.4.3); a unit test computes it for every class.
 */
static const struct ramp ramps[] = {
	[PPROF_COLORS_HOT] = { 8, 54, 88, 62, 62, 57, 2 },
	[PPROF_COLORS_MEM] = { 95, 180, 55, 62, 40, 54, 2 },
	[PPROF_COLORS_IO] = { 195, 255, 70, 70, 50, 66, 1.5 },
	[PPROF_COLORS_MODULE] = { 0, 0, 52, 74, 38, 63, 0 },
	[PPROF_COLORS_MONO] = { 0, 0, 0, 82, 0, 66, 1.5 },
	[PPROF_COLORS_PACKAGE] = { 0, 0, 52, 74, 38, 63, 0 },
	[PPROF_COLORS_FILE] = { 0, 0, 52, 74, 38, 63, 0 },
	[PPROF_COLORS_KIND] = { 0, 0, 52, 74, 38, 63, 0 },
	[PPROF_COLORS_CVD] = { 0, 0, 52, 74, 38, 63, 0 },
	[PPROF_COLORS_SELF] = { 14, 14, 85, 0, 62, 0, 0 },
	[PPROF_COLORS_DEPTH] = { 0, 0, 0, 78, 0, 64, 0 },
	[PPROF_COLORS_RED] = { 350, 370, 80, 70, 55, 64, 2 },
	[PPROF_COLORS_GREEN] = { 95, 140, 50, 60, 38, 54, 2 },
	[PPROF_COLORS_BLUE] = { 200, 230, 75, 72, 50, 66, 1.5 },
	[PPROF_COLORS_YELLOW] = { 48, 60, 70, 58, 50, 52, 2 },
	[PPROF_COLORS_PURPLE] = { 270, 310, 55, 74, 40, 67, 1.5 },
	[PPROF_COLORS_AQUA] = { 165, 195, 50, 62, 38, 56, 2 },
	[PPROF_COLORS_ORANGE] = { 22, 42, 90, 62, 65, 57, 2 }
};

/* Okabe and Ito's colours, but black, a third of the way to white. */
static const uint32_t safe_hues[] = { 0xedbc59, 0x91cded, 0x59beA1, 0xf5ec93,
				      0x599ecb, 0xe39759, 0xdcaac5, 0xb8b8b8 };

/* Kinds of code, as flame_scheme.c numbers them. */
static const uint32_t kind_hues[] = { 0xf2a65a, 0xe8d36b, 0x9ccf8a,
				      0x8fc9dd, 0xc3aede, 0xd2d2d2 };

static double hue_part(double hue, double low, double high)
{
	while (hue < 0)
		hue += 360;
	while (hue >= 360)
		hue -= 360;
	if (hue < 60)
		return low + (high - low) * hue / 60;
	if (hue < 180)
		return high;
	if (hue < 240)
		return low + (high - low) * (240 - hue) / 60;
	return low;
}

/* HSL (CSS Color 3, section 4.2.4) to 0xrrggbb. */
static uint32_t from_hsl(double hue, double s_percent, double l_percent)
{
	double s = s_percent / 100, l = l_percent / 100;
	double high = l <= 0.5 ? l * (s + 1) : l + s - l * s;
	double low = 2 * l - high;
	uint32_t red = (uint32_t)(hue_part(hue + 120, low, high) * 255 + 0.5);
	uint32_t green = (uint32_t)(hue_part(hue, low, high) * 255 + 0.5);
	uint32_t blue = (uint32_t)(hue_part(hue - 120, low, high) * 255 + 0.5);

	return red << 16 | green << 8 | blue;
}

static double ramp_hue(enum pprof_colors colors, unsigned i)
{
	const struct ramp *ramp = &ramps[colors];

	if (ramp->first_hue == 0 && ramp->last_hue == 0)
		return i * GOLDEN_ANGLE - (int)(i * GOLDEN_ANGLE / 360) * 360;
	return ramp->first_hue + (ramp->last_hue - ramp->first_hue) * i /
					 (FLAME_BUCKETS - 1);
}

static void set_colors(struct flame_palette *palette)
{
	const struct ramp *ramp = &ramps[palette->colors];
	unsigned i;

	for (i = 0; i < FLAME_BUCKETS; i++) {
		double hue = ramp_hue(palette->colors, i);
		/* Lightness does not follow the hue: near hues differ. */
		double step = ramp->step_l * (i * 7 % 5);

		palette->light[i] = from_hsl(hue, ramp->light_s,
					     ramp->light_l + step);
		palette->dark[i] = from_hsl(hue, ramp->dark_s,
					    ramp->dark_l + step);
	}
}

static uint32_t mix(uint32_t a, uint32_t b, unsigned i, unsigned nr)
{
	uint32_t color = 0;
	int shift, from, to;

	for (shift = 16; shift >= 0; shift -= 8) {
		from = (int)(a >> shift & 0xff);
		to = (int)(b >> shift & 0xff);
		color = color << 8 |
			(uint32_t)(from + (to - from) * (int)i / (int)nr);
	}
	return color;
}

/* Schemes with colours of their own, and the classes all of them share. */
static void set_fixed(struct flame_palette *palette)
{
	unsigned i;

	for (i = 0; i < FLAME_BUCKETS; i++) {
		if (palette->colors == PPROF_COLORS_CVD)
			palette->light[i] = palette->dark[i] =
				safe_hues[i % 8];
		if (palette->colors == PPROF_COLORS_KIND)
			palette->light[i] = palette->dark[i] =
				kind_hues[i % 6];
		if (palette->colors == PPROF_COLORS_SELF) {
			palette->light[i] = mix(0xf3ece6, 0xea6a4b, i % 16,
						15);
			palette->dark[i] = mix(0x8f8a86, 0xea6a4b, i % 16,
					       15);
		}
		if (palette->colors == PPROF_COLORS_DEPTH && i & 1) {
			palette->light[i] = 0xe2e2e2;
			palette->dark[i] = 0xb4b4b4;
		}
	}
	palette->light[FLAME_ROOT] = 0xd8dce3;
	palette->dark[FLAME_ROOT] = 0x9aa1ad;
	palette->light[FLAME_UNKNOWN] = 0xd2d2d2;
	palette->dark[FLAME_UNKNOWN] = 0x9c9c9c;
	palette->light[FLAME_PRUNED] = 0xb9bec7;
	palette->dark[FLAME_PRUNED] = 0x848b97;
	palette->light[FLAME_NEGATIVE] = 0xc9d3ea;
	palette->dark[FLAME_NEGATIVE] = 0xa3b0cf;
}

static void set_tints(uint32_t *colors, uint32_t neutral)
{
	unsigned i;

	for (i = 0; i < TINT_STEPS; i++) {
		colors[TINT_GREW + i] = mix(neutral, 0xe35b4a, i + 1,
					    TINT_STEPS);
		colors[TINT_SHRANK + i] = mix(neutral, 0x5b93d6, i + 1,
					      TINT_STEPS);
	}
	colors[TINT_SAME] = neutral;
	colors[TINT_NEW] = 0xffd84d;
	colors[TINT_GONE] = 0xb9a3e3;
}

static void set_all(struct flame_palette *palette, enum pprof_colors colors,
		    enum pprof_colors strip)
{
	memset(palette, 0, sizeof(*palette));
	palette->colors = colors;
	palette->strip = strip;
	set_colors(palette);
	set_fixed(palette);
}

enum pprof_status flame_palette_init(struct flame_palette *palette,
				     enum pprof_colors colors,
				     enum pprof_colors strip,
				     struct frames *frames,
				     const struct tree *tree,
				     struct pprof_error *err)
{
	set_all(palette, colors, strip);
	if (flame_scheme_init(palette, frames, tree))
		return PPROF_OK;
	flame_palette_fini(palette);
	return error_nomem(err);
}

/* Legend of a differential picture. */
static const struct flame_legend diff_legend[] = {
	{ 0, "\xe2\x96\xb2 grew", TINT_GREW + 5, 0 },
	{ 0, "\xe2\x96\xbc shrank", TINT_SHRANK + 5, 0 },
	{ 0, "new", TINT_NEW, 0 },
	{ 0, "no change beyond noise", TINT_SAME, 0 },
	{ 0, "gone", TINT_GONE, 0 }
};

enum pprof_status flame_palette_diff(struct flame_palette *palette,
				     enum pprof_colors strip,
				     struct pprof_error *err)
{
	set_all(palette, strip, strip);
	palette->is_diff = true;
	set_tints(palette->light, 0xeeeeee);
	set_tints(palette->dark, 0x8c8c8c);
	palette->legend = mem_alloc(1, sizeof(diff_legend));
	if (!palette->legend)
		return error_nomem(err);
	memcpy(palette->legend, diff_legend, sizeof(diff_legend));
	palette->nr_legend = sizeof(diff_legend) / sizeof(*diff_legend);
	return PPROF_OK;
}

void flame_palette_fini(struct flame_palette *palette)
{
	mem_free(palette->bucket);
	mem_free(palette->legend);
	palette->bucket = NULL;
	palette->legend = NULL;
	palette->nr_legend = 0;
}

void flame_class_name(struct buf *out, const struct flame_palette *palette,
		      unsigned class_id)
{
	static const char *const words[] = {
		[TINT_SAME] = "e", [TINT_NEW] = "new", [TINT_GONE] = "gone"
	};

	if (class_id >= FLAME_BUCKETS) {
		buf_byte(out, "ruzn"[class_id - FLAME_BUCKETS]);
		return;
	}
	if (!palette->is_diff) {
		buf_byte(out, 'h');
		buf_u64(out, class_id);
	} else if (class_id < TINT_SAME) {
		buf_byte(out, class_id < TINT_SHRANK ? 'p' : 'n');
		buf_u64(out, class_id % TINT_STEPS + 1);
	} else {
		buf_str(out, words[class_id]);
	}
}

static uint32_t strip_color(enum pprof_colors colors, bool dark)
{
	const struct ramp *ramp = &ramps[colors];
	double hue = (ramp->first_hue + ramp->last_hue) / 2;

	return dark ? from_hsl(hue, ramp->dark_s, ramp->dark_l)
		    : from_hsl(hue, ramp->light_s, ramp->light_l - 12);
}

static void add_color(struct buf *out, uint32_t color)
{
	int shift;

	buf_byte(out, '#');
	for (shift = 20; shift >= 0; shift -= 4)
		buf_byte(out, "0123456789abcdef"[color >> shift & 15]);
}

static void add_fill(struct buf *out, uint32_t color)
{
	buf_str(out, "{fill:");
	add_color(out, color);
	buf_str(out, "}\n");
}

static void add_scoped(struct buf *out, const char *id, const char *rule)
{
	buf_byte(out, '#');
	buf_str(out, id);
	buf_str(out, rule);
}

static void add_rule(struct buf *out, const char *id, const char *selector,
		     uint32_t color)
{
	add_scoped(out, id, selector);
	add_fill(out, color);
}

/* Rules that differ between light and dark. */
static void add_theme(struct buf *out, const struct flame_palette *palette,
		      bool script, const char *id, bool dark)
{
	const uint32_t *colors = dark ? palette->dark : palette->light;
	unsigned i;

	add_scoped(out, id, dark ? "{background:#16181d}\n"
				 : "{background:#fff}\n");
	add_rule(out, id, " .bg", dark ? 0x16181d : 0xffffff);
	add_rule(out, id, " text", dark ? 0xe6e8ec : FLAME_INK);
	add_rule(out, id, " .st", dark ? 0xb4b8c0 : 0x555555);
	add_rule(out, id, " .hint", dark ? 0xb4b8c0 : 0x555555);
	add_rule(out, id, " .labels text", FLAME_INK);
	/* Rows that were zoomed past, and what a search did not find. */
	if (script)
		add_rule(out, id, " .rows .d rect", dark ? 0x878c96
							 : 0xe4e4e4);
	if (script && !palette->is_diff)
		add_rule(out, id, " .rows.s rect:not(.m)", dark ? 0x878c96
								: 0xe4e4e4);
	add_rule(out, id, " .ps",
		 strip_color(palette->strip, dark));
	for (i = 0; i < FLAME_NR_CLASSES; i++) {
		if (!palette->used[i])
			continue;
		buf_byte(out, '#');
		buf_str(out, id);
		buf_str(out, " .");
		flame_class_name(out, palette, i);
		/* The pattern of the negative ones has this background. */
		if (i == FLAME_NEGATIVE)
			buf_byte(out, 'b');
		add_fill(out, colors[i]);
	}
}

/* Rules that are the same in every theme. */
static void add_constant(struct buf *out, const struct flame_palette *palette,
			 const struct pprof_flame_opts *opts, const char *id,
			 const struct flame_size *size)
{
	add_scoped(out, id, "{font-family:");
	if (opts->font) {
		buf_byte(out, '"');
		buf_str(out, opts->font);
		buf_str(out, flame_is_monospace(opts->font)
				     ? "\"," : "\",Verdana,\"DejaVu Sans\","
						"sans-serif,");
	}
	buf_str(out, "ui-monospace,Menlo,Consolas,"
			    "\"DejaVu Sans Mono\",\"Liberation Mono\","
			    "monospace;font-size:");
	buf_u64(out, size->font);
	buf_str(out, "px}\n");
	add_scoped(out, id, " text{white-space:pre}\n");
	add_scoped(out, id, " .tt{text-anchor:middle;font-size:");
	buf_u64(out, size->font + 5);
	buf_str(out, "px}\n");
	add_scoped(out, id, " .st{text-anchor:middle}\n");
	add_scoped(out, id, " .foot text{font-size:");
	buf_u64(out, size->small);
	buf_str(out, "px}\n");
	add_scoped(out, id, " .labels text{pointer-events:none}\n");
	add_scoped(out, id, " .labels .u{font-style:italic}\n");
	add_scoped(out, id, " .il{stroke:#1a1a1a;stroke-opacity:.55}\n");
	if (!palette->used[FLAME_NEGATIVE])
		return;
	add_scoped(out, id, " .n{fill:url(#");
	buf_str(out, id);
	buf_str(out, "-n)}\n");
	add_scoped(out, id, " .nl{stroke:#1a1a1a;stroke-opacity:.2}\n");
}

/* Boxes as outlines in the system's own colours. */
static void add_forced(struct buf *out, const char *id, bool hatched)
{
	buf_str(out, "@media (forced-colors:active){\n");
	add_scoped(out, id, " .bg{fill:Canvas}\n");
	add_scoped(out, id, " .rows rect{fill:Canvas;stroke:CanvasText;"
			    "vector-effect:non-scaling-stroke}\n");
	add_scoped(out, id, " text,");
	add_scoped(out, id, " .st,");
	add_scoped(out, id, " .labels text{fill:CanvasText}\n");
	if (hatched) {
		add_scoped(out, id, " .rows .n{fill:url(#");
		buf_str(out, id);
		buf_str(out, "-n)}\n");
		add_scoped(out, id, " .nb{fill:Canvas}\n");
		add_scoped(out, id, " .nl{stroke:CanvasText}\n");
	}
	buf_str(out, "}\n");
}

void flame_css(struct buf *out, const struct flame_palette *palette,
	       const struct pprof_flame_opts *opts, const char *id,
	       const struct flame_size *size)
{
	enum pprof_theme theme = opts->theme;
	bool script = !opts->no_script;

	add_constant(out, palette, opts, id, size);
	add_theme(out, palette, script, id, theme == PPROF_THEME_DARK);
	if (opts->background && theme != PPROF_THEME_DARK) {
		add_scoped(out, id, " .bg{fill:");
		buf_str(out, opts->background);
		buf_str(out, "}\n");
	}
	if (theme == PPROF_THEME_AUTO) {
		buf_str(out, "@media screen and (prefers-color-scheme:dark){"
			     "\n");
		add_theme(out, palette, script, id, true);
		buf_str(out, "}\n");
	} else if (theme == PPROF_THEME_DARK) {
		buf_str(out, "@media print{\n");
		add_theme(out, palette, script, id, false);
		buf_str(out, "}\n");
	}
	add_forced(out, id, palette->used[FLAME_NEGATIVE]);
}
