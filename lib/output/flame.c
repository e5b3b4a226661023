/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs: options, then tree, layout, colours, words and document.
 */
#include <config.h>

#include "base/sha256.h"
#include "base/sink.h"
#include "output/flame.h"
#include "base/opts.h"

#include <string.h>

/* Bounds of options, px. */
#define WIDTH_LEAST 120
#define WIDTH_MOST 100000
#define FONT_LEAST 4
#define FONT_MOST 100

/* "#rrggbb", light enough for our ink. */
static bool is_background(const char *color)
{
	static const char digits[] = "0123456789abcdef";
	unsigned sum = 0, i;
	const char *at;

	for (i = 0; i < 7 && color[i]; i++) {
		at = strchr(digits, color[i] | 0x20);
		if (i ? !at : color[i] != '#')
			return false;
		/* High digits only: red, green, blue weigh 2, 7 and 1. */
		if (i & 1)
			sum += (unsigned)(at - digits) * (i == 1 ? 2
							  : i == 3 ? 7 : 1);
	}
	return i == 7 && !color[7] && sum >= 100;
}

static enum pprof_status check_looks(const struct pprof_flame_opts *opts,
				     struct pprof_error *err)
{
	const char *font = opts->font;

	if (font && (!*font || strspn(font, "abcdefghijklmnopqrstuvwxyz"
					    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789 -_") != strlen(font)))
		return error_plain(err, PPROF_USAGE, NULL,
				   "font '%s': expected letters, digits and "
				   "blanks", font);
	if (opts->background && !is_background(opts->background))
		return error_plain(err, PPROF_USAGE, NULL,
				   "background '%s': expected #rrggbb, light "
				   "enough for dark text", opts->background);
	if (opts->row_height && (opts->row_height < FONT_LEAST ||
				 opts->row_height > 4 * FONT_MOST))
		return error_plain(err, PPROF_USAGE, NULL,
				   "rows of %u px: %d to %d are possible",
				   opts->row_height, FONT_LEAST,
				   4 * FONT_MOST);
	return PPROF_OK;
}

enum pprof_status flame_take_opts(struct pprof_flame_opts *taken,
				  const struct pprof_flame_opts *opts,
				  struct pprof_error *err)
{
	enum pprof_status status = opts_take(taken, sizeof(*taken), opts, err);

	if (!status)
		status = check_looks(taken, err);
	if (status)
		return status;
	if (!taken->font_size)
		taken->font_size = 12;
	/* Written so that what is not a number is the default, too. */
	if (!(taken->min_width >= 0))
		taken->min_width = 0.3;
	if (!taken->max_frames)
		taken->max_frames = 20000;
	if (!taken->max_depth)
		taken->max_depth = 2000;
	if (!(taken->min_delta >= 0))
		taken->min_delta = 0.001;
	if (taken->min_width > WIDTH_MOST)
		return error_plain(err, PPROF_USAGE, NULL,
				   "least width of a frame above %d px",
				   WIDTH_MOST);
	if ((unsigned)taken->granularity > PPROF_BY_MODULE ||
	    (unsigned)taken->colors > PPROF_COLORS_ORANGE ||
	    (unsigned)taken->theme > PPROF_THEME_DARK ||
	    (unsigned)taken->widths > PPROF_WIDTHS_DELTA ||
	    (unsigned)taken->normalize > PPROF_NORMALIZE_RATE)
		return error_plain(err, PPROF_USAGE, NULL,
				   "granularity, colors, theme, widths or "
				   "normalization unknown");
	if (taken->width && (taken->width < WIDTH_LEAST ||
			     taken->width > WIDTH_MOST))
		return error_plain(err, PPROF_USAGE, NULL,
				   "width of %u px: %d to %d are possible",
				   taken->width, WIDTH_LEAST, WIDTH_MOST);
	if (taken->font_size < FONT_LEAST || taken->font_size > FONT_MOST)
		return error_plain(err, PPROF_USAGE, NULL,
				   "font of %u px: %d to %d are possible",
				   taken->font_size, FONT_LEAST, FONT_MOST);
	return PPROF_OK;
}

/* Sample type of A that goes with B's. */
static enum pprof_status find_base_type(const struct flame *flame,
					const struct pprof_profile *base,
					size_t *ret_type,
					struct pprof_error *err)
{
	const char *type = "", *unit = "";
	size_t i;

	for (i = 0; i < base->nr_types; i++) {
		type = profile_str(base, base->types[i].type);
		unit = profile_str(base, base->types[i].unit);
		if (!strcmp(type, flame->type))
			break;
	}
	/* What has no samples at all is no contradiction. */
	*ret_type = i < base->nr_types ? i : 0;
	if (!base->nr_types || !flame->profile->nr_types)
		return PPROF_OK;
	if (i == base->nr_types)
		return error_plain(err, PPROF_MISMATCH, NULL,
				   "the base has no sample type %s",
				   flame->type);
	if (strcmp(unit, flame->unit) != 0)
		return error_plain(err, PPROF_MISMATCH, NULL,
				   "%s is in %s, in the base in %s",
				   flame->type, flame->unit, unit);
	return PPROF_OK;
}

static enum pprof_status make_diff(struct flame *flame, size_t type,
				   double share,
				   const struct frames_opts *frames_opts,
				   const struct tree_opts *tree_opts,
				   struct pprof_error *err)
{
	struct diff_side base = { flame->base, 0, WALK_ALL };
	struct diff_side now = { flame->profile, type, WALK_ALL };
	enum pprof_status status;

	if (base.profile) {
		status = find_base_type(flame, base.profile,
					&base.sample_type, err);
		if (status)
			return status;
	} else {
		base = now;
		base.side = WALK_BASE;
		now.side = WALK_NEW;
	}
	return flame_diff_trees(flame, &base, &now, share, frames_opts,
				tree_opts, err);
}

static enum pprof_status make_tree(struct flame *flame, size_t type,
				   double share, struct pprof_error *err)
{
	const struct pprof_flame_opts *opts = flame->opts;
	struct frames_opts frames_opts = {
		.granularity = opts->granularity,
		.no_inlines = opts->no_inlines,
		.with_files = opts->colors == PPROF_COLORS_FILE
	};
	struct tree_opts tree_opts = {
		.walk = { .sample_type = type, .reverse = opts->reverse,
			  .join_repeats = opts->granularity ==
					  PPROF_BY_MODULE },
		.min_share = share, .max_depth = opts->max_depth
	};
	enum pprof_status status;

	if (flame->diff) {
		status = make_diff(flame, type, share, &frames_opts,
				   &tree_opts, err);
	} else {
		status = frames_init(&flame->frames, flame->profile,
				     &frames_opts, err);
		if (!status)
			status = tree_init(&flame->tree, &flame->frames,
					   flame->profile, &tree_opts, err);
	}
	if (!status)
		status = tree_limit(&flame->tree, opts->max_frames,
				    &flame->cut, err);
	if (!status && opts->by_value)
		status = tree_sort(&flame->tree, err);
	return status;
}

/* The same picture has the same id, others hardly ever (FNV-1a). */
static void set_id(struct flame *flame)
{
	uint64_t hash = 0xcbf29ce484222325ULL, part;
	size_t i, j;

	for (i = 0; i < flame->title.len; i++)
		hash = (hash ^ (unsigned char)flame->title.data[i]) *
		       0x100000001b3ULL;
	for (i = 0; i < flame->layout.nr_boxes; i++) {
		const struct flame_box *box = &flame->layout.boxes[i];

		part = flame->tree.nodes[box->node].weight ^
		       (uint64_t)box->x0 << 32 ^
		       flame->tree.nodes[box->node].row;
		for (j = 0; j < 64; j += 8)
			hash = (hash ^ (part >> j & 0xff)) *
			       0x100000001b3ULL;
	}
	hash ^= (uint64_t)flame->opts->colors << 8 ^ flame->opts->theme;
	memcpy(flame->id, "fg", 2);
	for (i = 0; i < 8; i++)
		flame->id[2 + i] = "0123456789abcdef"[hash >> (60 - 4 * i) &
						      15];
	flame->id[10] = '\0';
}

/* Place what is only in A, at the scale of the graph if it fits. */
static enum pprof_status lay_out_gone(struct flame *flame,
				      struct pprof_error *err)
{
	struct flame_diff *diff = flame->diff;
	struct flame_size *size = &flame->layout.size;
	double whole = (double)flame->tree.nodes[0].weight;
	double gone = (double)diff->gone.nodes[0].weight, px;
	enum pprof_status status;

	status = flame_layout_init(&diff->gone_layout, &diff->gone, 1, err);
	if (status)
		return status;
	diff->gone_layout.icicle = true;
	diff->gone_layout.size = *size;
	diff->gone_shrink = whole > 0 && gone > whole ? gone / whole : 1;
	px = whole > gone ? size->graph * gone / whole : size->graph;
	diff->gone_layout.size.graph = px > 1 ? (unsigned)(px + 0.5) : 1;
	if (!diff->gone_layout.nr_boxes)
		return PPROF_OK;
	/* Below the graph: a heading, then the rows but that of the root. */
	size->band = size->footer;
	size->footer += 2 * size->font + size->font / 2 +
			(unsigned)(diff->gone_layout.nr_rows - 1) * size->row;
	return PPROF_OK;
}

static enum pprof_status lay_out(struct flame *flame, double share,
				 struct pprof_error *err)
{
	const struct pprof_flame_opts *opts = flame->opts;
	uint64_t whole = flame->tree.nodes[0].weight;
	enum pprof_status status;

	status = flame_layout_init(&flame->layout, &flame->tree,
				   tree_share_weight(whole, share), err);
	if (status)
		return status;
	flame->layout.icicle = opts->icicle;
	flame_layout_measure(&flame->layout, opts,
			     !opts->title || *opts->title,
			     flame->diff ||
				     (opts->subtitle && *opts->subtitle));
	if (flame->diff && flame->diff->gone.nr)
		status = lay_out_gone(flame, err);
	return status;
}

static enum pprof_status pick_colors(struct flame *flame,
				     struct pprof_error *err)
{
	enum pprof_colors strip = flame_auto_colors(flame->type, flame->unit);
	enum pprof_colors colors = flame->opts->colors;

	if (flame->diff) {
		flame_diff_tint(flame);
		return flame_palette_diff(&flame->palette, strip, err);
	}
	if (colors == PPROF_COLORS_AUTO)
		colors = strip;
	return flame_palette_init(&flame->palette, colors, strip,
				  &flame->frames, &flame->tree, err);
}

/* The hashes by which a policy allows this picture's style and script. */
static void write_policy(struct buf *out, const struct flame *flame,
			 const struct buf *svg)
{
	buf_str(out, "Content-Security-Policy: ");
	if (!flame->opts->no_script) {
		buf_str(out, "script-src ");
		sha256_source(out, svg->data + flame->script,
			      flame->script_end - flame->script);
		buf_str(out, "; ");
	}
	buf_str(out, "style-src ");
	sha256_source(out, svg->data + flame->style,
		      flame->style_end - flame->style);
	buf_byte(out, '\n');
}

static enum pprof_status draw(struct flame *flame, double share,
			      struct buf *out, struct pprof_error *err)
{
	enum pprof_status status = lay_out(flame, share, err);
	struct buf svg;

	if (!status)
		status = pick_colors(flame, err);
	if (status)
		return status;
	if (!flame_compose(flame))
		return error_nomem(err);
	if (flame->opts->columns) {
		flame_terminal(out, flame);
		return PPROF_OK;
	}
	set_id(flame);
	if (!flame->opts->csp) {
		flame_svg(out, flame);
		return PPROF_OK;
	}
	buf_init(&svg, PTRDIFF_MAX);
	flame_svg(&svg, flame);
	if (buf_ok(&svg))
		write_policy(out, flame, &svg);
	else
		out->failed = true;
	buf_fini(&svg);
	return PPROF_OK;
}

/* What the picture folds is told to the caller as well. */
static void tell_diags(const struct flame *flame)
{
	struct diags diags;

	diags_init(&diags, "flame graph");
	if (flame->cut.weight)
		diag_count_nr(&diags, PPROF_UNIT_NONE, 0,
			      flame->tree.nr_frames - flame_nr_drawn(flame),
			      "frame pruned to keep to the limit on frames");
	if (flame->tree.deepest > flame->opts->max_depth)
		diag_count(&diags, PPROF_UNIT_NONE, 0,
			   "stacks of up to %u frames cut at row %u",
			   flame->tree.deepest, flame->opts->max_depth);
	if (flame->tree.nr_negative)
		diag_count_nr(&diags, PPROF_UNIT_NONE, 0,
			      flame->tree.nr_negative,
			      "negative stack drawn by its size");
	if (flame->tree.shift)
		diag_count(&diags, PPROF_UNIT_NONE, 0,
			   "sums exceed 64 bits, widths are scaled");
	diags_flush(&diags, flame->opts->diag, flame->opts->diag_ctx);
}

static void fini(struct flame *flame)
{
	frames_fini(&flame->frames);
	tree_fini(&flame->tree);
	flame_layout_fini(&flame->layout);
	flame_palette_fini(&flame->palette);
	buf_fini(&flame->title);
	flame_lines_fini(&flame->notes);
	if (flame->diff)
		flame_diff_fini(flame->diff);
}

/* Everything but the options. */
static enum pprof_status run(struct flame *flame, struct buf *out,
			     struct pprof_error *err)
{
	const struct pprof_flame_opts *opts = flame->opts;
	const struct pprof_profile *profile = flame->profile;
	enum pprof_status status;
	double share;
	size_t type;

	status = profile_pick_type(profile, opts->sample_type, &type, err);
	if (status)
		return status;
	if (profile->nr_types) {
		flame->type = profile_str(profile, profile->types[type].type);
		flame->unit = profile_str(profile, profile->types[type].unit);
	}
	flame->noun = flame->type;
	if (opts->count_name) {
		flame->noun = opts->count_name;
		flame->unit = "count";
	}
	buf_init(&flame->title, PTRDIFF_MAX);
	buf_init(&flame->notes.text, PTRDIFF_MAX);
	share = opts->min_width /
		((opts->width ? opts->width : 1200) - 2 * FLAME_PAD);
	/* Nothing narrower than a unit can be placed. */
	if (share < 1.0 / FLAME_UNITS)
		share = 1.0 / FLAME_UNITS;
	status = make_tree(flame, type, share, err);
	if (!status)
		status = draw(flame, share, out, err);
	if (!status)
		tell_diags(flame);
	fini(flame);
	return status;
}

/*
 * Append the picture; `base` NULL: of one profile, or of one that holds both
 * sides. As a part its top is *part_y, which moves to below it.
 */
static enum pprof_status add_flame(struct buf *out,
				   const struct pprof_flame_part *part,
				   const struct pprof_flame_opts *opts,
				   unsigned *part_y, struct pprof_error *err)
{
	struct flame flame = { .profile = part->profile, .base = part->base,
			       .opts = opts, .type = "", .unit = "" };
	struct flame_diff diff;
	enum pprof_status status;

	if (part_y) {
		flame.is_part = true;
		flame.part_y = *part_y;
	}
	if (part->base || opts->split || walk_has_base(part->profile)) {
		memset(&diff, 0, sizeof(diff));
		buf_init(&diff.subtitle, PTRDIFF_MAX);
		flame.diff = &diff;
	}
	status = run(&flame, out, err);
	if (part_y)
		*part_y += flame.height;
	return status;
}

static enum pprof_status write_flame(const struct pprof_profile *base,
				     const struct pprof_profile *profile,
				     const struct pprof_flame_opts *opts,
				     struct pprof_sink *sink,
				     struct pprof_error *err)
{
	struct pprof_flame_opts taken = PPROF_FLAME_OPTS_INIT;
	struct pprof_flame_part part = { base, profile, opts };
	enum pprof_status status = flame_take_opts(&taken, opts, err);
	struct buf out;

	if (status)
		return status;
	buf_init(&out, PTRDIFF_MAX);
	status = add_flame(&out, &part, &taken, NULL, err);
	if (!status)
		status = sink_take_buf(sink, &out, err);
	buf_fini(&out);
	return status;
}

enum pprof_status pprof_flame_write(const struct pprof_profile *profile,
				    const struct pprof_flame_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	return write_flame(NULL, profile, opts, sink, err);
}

enum pprof_status pprof_flame_diff_write(const struct pprof_profile *base,
					 const struct pprof_profile *profile,
					 const struct pprof_flame_opts *opts,
					 struct pprof_sink *sink,
					 struct pprof_error *err)
{
	return write_flame(base, profile, opts, sink, err);
}

/* Append all parts; *ret_size is the picture's. */
static enum pprof_status add_parts(struct buf *out,
				   const struct pprof_flame_part *parts,
				   size_t nr, unsigned *ret_width,
				   unsigned *ret_height,
				   struct pprof_error *err)
{
	enum pprof_status status;
	size_t i;

	for (i = 0; i < nr; i++) {
		struct pprof_flame_opts taken = PPROF_FLAME_OPTS_INIT;

		status = flame_take_opts(&taken, parts[i].opts, err);
		if (!status && (taken.csp || taken.columns))
			status = error_plain(err, PPROF_USAGE, NULL,
					     "parts of a picture are SVG");
		if (!status && !i)
			*ret_width = taken.width ? taken.width : 1200;
		taken.width = *ret_width;
		if (!status)
			status = add_flame(out, &parts[i], &taken, ret_height,
					   err);
		if (status)
			return status;
	}
	return PPROF_OK;
}

enum pprof_status pprof_flame_parts_write(const struct pprof_flame_part *parts,
					  size_t nr, struct pprof_sink *sink,
					  struct pprof_error *err)
{
	unsigned width = 1200, height = 0;
	enum pprof_status status;
	struct buf body, out;

	buf_init(&body, PTRDIFF_MAX);
	buf_init(&out, PTRDIFF_MAX);
	status = add_parts(&body, parts, nr, &width, &height, err);
	if (!status) {
		buf_printf(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<svg xmlns=\"http://www.w3.org/2000/svg\" "
			   "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
			   "role=\"group\">\n", width, height, width,
			   height);
		buf_add(&out, body.data, body.len);
		buf_str(&out, "</svg>\n");
		out.failed = out.failed || body.failed;
		status = sink_take_buf(sink, &out, err);
	}
	buf_fini(&body);
	buf_fini(&out);
	return status;
}
