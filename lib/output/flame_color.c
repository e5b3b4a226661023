/* SPDX-License-Identifier: Apache-2.0
 *
 * Palettes: which class a frame gets, and what colours classes have.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame_color.h"

#include <stdlib.h>
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
	[PPROF_COLORS_MONO] = { 0, 0, 0, 82, 0, 66, 1.5 }
};

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

	if (colors == PPROF_COLORS_MODULE)
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
	palette->light[FLAME_ROOT] = 0xd8dce3;
	palette->dark[FLAME_ROOT] = 0x9aa1ad;
	palette->light[FLAME_UNKNOWN] = 0xd2d2d2;
	palette->dark[FLAME_UNKNOWN] = 0x9c9c9c;
	palette->light[FLAME_PRUNED] = 0xb9bec7;
	palette->dark[FLAME_PRUNED] = 0x848b97;
	palette->light[FLAME_NEGATIVE] = 0xc9d3ea;
	palette->dark[FLAME_NEGATIVE] = 0xa3b0cf;
}

static bool contains(const char *text, const char *const *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

#define CONTAINS(text, words) \
	contains(text, words, sizeof(words) / sizeof(*(words)))

enum pprof_colors flame_auto_colors(const char *type, const char *unit)
{
	static const char *const waits[] = { "off", "block", "wait", "lock",
					     "mutex", "contention", "delay" };
	static const char *const heaps[] = { "alloc", "inuse", "space",
					     "objects", "heap" };

	if (!strcmp(unit, "bytes") || CONTAINS(type, heaps))
		return PPROF_COLORS_MEM;
	return CONTAINS(type, waits) ? PPROF_COLORS_IO : PPROF_COLORS_HOT;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

static bool is_separator(const char *name, size_t len)
{
	return (len == 1 && name[0] == '-') ||
	       (len == 2 && name[0] == '-' && name[1] == '-');
}

static uint8_t name_class(const struct flame_palette *palette,
			  const struct frames *frames, uint32_t row)
{
	const struct frame *frame = &frames->rows[row];
	const char *name = frame_name(frames, row);
	size_t len = frame_name_len(frames, row);

	if (frame->kind & (FRAME_UNKNOWN | FRAME_SYNTHETIC) ||
	    is_separator(name, len))
		return FLAME_UNKNOWN;
	if (palette->colors == PPROF_COLORS_MONO)
		return 0;
	/* Mixed, as FNV leaves the last bytes of a name in the low bits. */
	return (uint8_t)(hash_u64(hash_bytes(name, len)) >> 59);
}

/* A module while modules are being ordered. */
struct module_key {
	uint64_t hash;
	str_id module;
};

static int compare_modules(const void *a, const void *b, void *ctx)
{
	const struct module_key *ka = a, *kb = b;

	if (ka->hash != kb->hash)
		return ka->hash < kb->hash ? -1 : 1;
	return strtab_compare(ctx, ka->module, kb->module);
}

static int compare_weights(const void *a, const void *b)
{
	const struct flame_legend *la = a, *lb = b;

	if (la->weight != lb->weight)
		return la->weight > lb->weight ? -1 : 1;
	return (la->bucket > lb->bucket) - (la->bucket < lb->bucket);
}

/* The modules, each once, by hash: the order does not depend on weights. */
static struct module_key *list_modules(const struct frames *frames,
				       uint32_t *index, size_t *ret_nr)
{
	struct module_key *keys = mem_alloc(frames->strings.nr, sizeof(*keys));
	size_t nr = 0, i;

	for (i = 0; keys && i < frames->nr; i++) {
		str_id module = frames->rows[i].module;

		if (!module || index[module])
			continue;
		index[module] = 1;
		keys[nr].module = module;
		keys[nr++].hash = hash_bytes(
			strtab_text(&frames->strings, module),
			strtab_len(&frames->strings, module));
	}
	if (keys)
		qsort_r(keys, nr, sizeof(*keys), compare_modules,
			(void *)(uintptr_t)&frames->strings);
	*ret_nr = nr;
	return keys;
}

static void weigh_modules(struct flame_palette *palette,
			  const struct frames *frames,
			  const struct tree *tree, const uint32_t *index)
{
	uint64_t *weight, self;
	size_t i;

	for (i = 0; i < frames->nr; i++) {
		if (!frames->rows[i].module) {
			palette->bucket[i] = FLAME_UNKNOWN;
			continue;
		}
		weight = &palette->legend[index[frames->rows[i].module]]
				  .weight;
		palette->bucket[i] = (uint8_t)(
			index[frames->rows[i].module] % FLAME_BUCKETS);
		self = magnitude_i64(tree->row_self[i]);
		if (__builtin_add_overflow(*weight, self, weight))
			*weight = UINT64_MAX;
	}
}

static bool color_modules(struct flame_palette *palette,
			  const struct frames *frames,
			  const struct tree *tree)
{
	uint32_t *index = mem_zalloc(frames->strings.nr, sizeof(*index));
	struct module_key *keys = NULL;
	size_t nr = 0, i;

	if (index)
		keys = list_modules(frames, index, &nr);
	palette->legend = mem_zalloc(nr, sizeof(*palette->legend));
	if (!keys || !palette->legend) {
		mem_free(index);
		mem_free(keys);
		return false;
	}
	for (i = 0; i < nr; i++) {
		index[keys[i].module] = (uint32_t)i;
		palette->legend[i].module = keys[i].module;
		palette->legend[i].bucket = (unsigned)(i % FLAME_BUCKETS);
	}
	palette->nr_legend = nr;
	weigh_modules(palette, frames, tree, index);
	qsort(palette->legend, nr, sizeof(*palette->legend), compare_weights);
	mem_free(index);
	mem_free(keys);
	return true;
}

enum pprof_status flame_palette_init(struct flame_palette *palette,
				     enum pprof_colors colors,
				     enum pprof_colors strip,
				     const struct frames *frames,
				     const struct tree *tree,
				     struct pprof_error *err)
{
	bool ok = true;
	size_t i;

	memset(palette, 0, sizeof(*palette));
	palette->colors = colors;
	palette->strip = strip;
	set_colors(palette);
	palette->bucket = mem_alloc(frames->nr, sizeof(*palette->bucket));
	if (!palette->bucket)
		return error_nomem(err);
	if (colors == PPROF_COLORS_MODULE)
		ok = color_modules(palette, frames, tree);
	for (i = 0; colors != PPROF_COLORS_MODULE && i < frames->nr; i++)
		palette->bucket[i] = name_class(palette, frames, (uint32_t)i);
	if (ok)
		return PPROF_OK;
	flame_palette_fini(palette);
	return error_nomem(err);
}

void flame_palette_fini(struct flame_palette *palette)
{
	mem_free(palette->bucket);
	mem_free(palette->legend);
	palette->bucket = NULL;
	palette->legend = NULL;
	palette->nr_legend = 0;
}

unsigned flame_class_of(struct flame_palette *palette,
			const struct tree_node *node)
{
	unsigned class_id = FLAME_PRUNED;

	if (node->kind == NODE_ROOT)
		class_id = FLAME_ROOT;
	else if (node->kind == NODE_FRAME && node->total < 0)
		class_id = FLAME_NEGATIVE;
	else if (node->kind == NODE_FRAME)
		class_id = palette->bucket[node->row];
	palette->used[class_id] = true;
	return class_id;
}

void flame_class_name(struct buf *out, unsigned class_id)
{
	if (class_id < FLAME_BUCKETS) {
		buf_byte(out, 'h');
		buf_u64(out, class_id);
		return;
	}
	buf_byte(out, "ruzn"[class_id - FLAME_BUCKETS]);
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
		      const char *id, bool dark)
{
	const uint32_t *colors = dark ? palette->dark : palette->light;
	unsigned i;

	add_rule(out, id, " .bg", dark ? 0x16181d : 0xffffff);
	add_rule(out, id, " text", dark ? 0xe6e8ec : FLAME_INK);
	add_rule(out, id, " .st", dark ? 0xb4b8c0 : 0x555555);
	add_rule(out, id, " .labels text", FLAME_INK);
	add_rule(out, id, " .ps",
		 strip_color(palette->strip, dark));
	for (i = 0; i < FLAME_NR_CLASSES; i++) {
		if (!palette->used[i])
			continue;
		buf_byte(out, '#');
		buf_str(out, id);
		buf_str(out, " .");
		flame_class_name(out, i);
		/* The pattern of the negative ones has this background. */
		if (i == FLAME_NEGATIVE)
			buf_byte(out, 'b');
		add_fill(out, colors[i]);
	}
}

/* Rules that are the same in every theme. */
static void add_constant(struct buf *out, const struct flame_palette *palette,
			 const char *id,
			 const struct flame_size *size)
{
	add_scoped(out, id, "{font-family:ui-monospace,Menlo,Consolas,"
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
	       enum pprof_theme theme, const char *id,
	       const struct flame_size *size)
{
	add_constant(out, palette, id, size);
	add_theme(out, palette, id, theme == PPROF_THEME_DARK);
	if (theme == PPROF_THEME_AUTO) {
		buf_str(out, "@media screen and (prefers-color-scheme:dark){"
			     "\n");
		add_theme(out, palette, id, true);
		buf_str(out, "}\n");
	} else if (theme == PPROF_THEME_DARK) {
		buf_str(out, "@media print{\n");
		add_theme(out, palette, id, false);
		buf_str(out, "}\n");
	}
	add_forced(out, id, palette->used[FLAME_NEGATIVE]);
}
