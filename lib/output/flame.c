/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs: options, then tree, layout, colours, words and document.
 */
#include <config.h>

#include "base/sink.h"
#include "output/flame.h"
#include "base/opts.h"

#include <string.h>

/* Bounds of options, px. */
#define WIDTH_LEAST 120
#define WIDTH_MOST 100000
#define FONT_LEAST 4
#define FONT_MOST 100

static enum pprof_status take_opts(struct pprof_flame_opts *taken,
				   const struct pprof_flame_opts *opts,
				   struct pprof_error *err)
{
	enum pprof_status status = opts_take(taken, sizeof(*taken), opts, err);

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
	if (taken->min_width > WIDTH_MOST)
		return error_plain(err, PPROF_USAGE, NULL,
				   "least width of a frame above %d px",
				   WIDTH_MOST);
	if ((unsigned)taken->granularity > PPROF_BY_MODULE ||
	    (unsigned)taken->colors > PPROF_COLORS_MONO ||
	    (unsigned)taken->theme > PPROF_THEME_DARK)
		return error_plain(err, PPROF_USAGE, NULL,
				   "granularity, colors or theme unknown");
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

static enum pprof_status make_tree(struct flame *flame, size_t type,
				   double share, struct pprof_error *err)
{
	const struct pprof_flame_opts *opts = flame->opts;
	struct frames_opts frames_opts = { .granularity = opts->granularity,
					   .no_inlines = opts->no_inlines };
	struct tree_opts tree_opts = {
		.walk = { .sample_type = type, .reverse = opts->reverse,
			  .join_repeats = opts->granularity ==
					  PPROF_BY_MODULE },
		.min_share = share, .max_depth = opts->max_depth
	};
	enum pprof_status status;

	status = frames_init(&flame->frames, flame->profile, &frames_opts,
			     err);
	if (!status)
		status = tree_init(&flame->tree, &flame->frames,
				   flame->profile, &tree_opts, err);
	if (!status)
		status = tree_limit(&flame->tree, opts->max_frames,
				    &flame->cut, err);
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

static enum pprof_status draw(struct flame *flame, double share,
			      struct pprof_sink *sink, struct pprof_error *err)
{
	const struct pprof_flame_opts *opts = flame->opts;
	enum pprof_colors strip = flame_auto_colors(flame->type, flame->unit);
	enum pprof_colors colors = opts->colors;
	enum pprof_status status;
	struct buf out;

	status = flame_layout_init(&flame->layout, &flame->tree,
				   tree_share_weight(
					   flame->tree.nodes[0].weight, share),
				   err);
	if (status)
		return status;
	flame->layout.icicle = opts->icicle;
	if (colors == PPROF_COLORS_AUTO)
		colors = strip;
	status = flame_palette_init(&flame->palette, colors, strip,
				    &flame->frames, &flame->tree, err);
	if (status)
		return status;
	flame_layout_measure(&flame->layout, opts->width ? opts->width : 1200,
			     opts->font_size,
			     !opts->title || *opts->title,
			     opts->subtitle && *opts->subtitle);
	if (!flame_compose(flame))
		return error_nomem(err);
	set_id(flame);
	buf_init(&out, PTRDIFF_MAX);
	flame_svg(&out, flame);
	status = sink_take_buf(sink, &out, err);
	buf_fini(&out);
	return status;
}

/* What the picture folds is told to the caller as well. */
static void tell_diags(const struct flame *flame)
{
	struct diags diags;

	diags_init(&diags, "flame graph");
	if (flame->cut.weight)
		diag_count_nr(&diags, PPROF_UNIT_NONE, 0,
			      flame->tree.nr_frames - flame->layout.nr_drawn,
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
}

enum pprof_status pprof_flame_write(const struct pprof_profile *profile,
				    const struct pprof_flame_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct pprof_flame_opts taken = PPROF_FLAME_OPTS_INIT;
	struct flame flame = { .profile = profile, .opts = &taken,
			       .type = "", .unit = "" };
	enum pprof_status status;
	double share;
	size_t type;

	status = take_opts(&taken, opts, err);
	if (!status)
		status = profile_pick_type(profile, taken.sample_type, &type,
					   err);
	if (status)
		return status;
	if (profile->nr_types) {
		flame.type = profile_str(profile, profile->types[type].type);
		flame.unit = profile_str(profile, profile->types[type].unit);
	}
	buf_init(&flame.title, PTRDIFF_MAX);
	buf_init(&flame.notes.text, PTRDIFF_MAX);
	share = taken.min_width /
		((taken.width ? taken.width : 1200) - 2 * FLAME_PAD);
	/* Nothing narrower than a unit can be placed. */
	if (share < 1.0 / FLAME_UNITS)
		share = 1.0 / FLAME_UNITS;
	status = make_tree(&flame, type, share, err);
	if (!status)
		status = draw(&flame, share, sink, err);
	if (!status)
		tell_diags(&flame);
	fini(&flame);
	return status;
}
