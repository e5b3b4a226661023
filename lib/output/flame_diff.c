/* SPDX-License-Identifier: Apache-2.0
 *
 * Differential flame graphs: what A is scaled by, the two trees, a tint for
 * each node by its change, and the words for it.
 */
#include <config.h>

#include "output/flame.h"
#include "profile/stats.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

/* Standard errors that a change must exceed to have a colour. */
#define NOISE_ERRORS 2

/* Totals that differ by more make AUTO scale samples and times. */
#define AUTO_DIFFERENCE 0.02

/* Change of a node: B and A as they are compared. */
struct change {
	double base, now; /* base: scaled */
	double noise;     /* |now - base| up to this says nothing */
};

static bool is_amount(const struct flame *flame)
{
	return !strcmp(flame->unit, "bytes") ||
	       strstr(flame->type, "objects");
}

static double pick_scale(const struct flame *flame, const struct diff *sides)
{
	const struct pprof_flame_opts *opts = flame->opts;
	double ratio = sides->base_sum > 0 && sides->now_sum > 0
			       ? sides->now_sum / sides->base_sum
			       : 1;
	double base_ns = (double)sides->base.profile->duration_ns;
	double now_ns = (double)sides->now.profile->duration_ns;

	if (opts->base_factor > 0)
		return opts->base_factor;
	switch (opts->normalize) {
	case PPROF_NORMALIZE_TOTAL:
		return ratio;
	case PPROF_NORMALIZE_RATE:
		return base_ns > 0 && now_ns > 0 ? now_ns / base_ns : 1;
	case PPROF_NORMALIZE_AUTO:
		return is_amount(flame) || fabs(ratio - 1) <= AUTO_DIFFERENCE
			       ? 1
			       : ratio;
	default:
		return 1;
	}
}

static enum pprof_status make_gone(struct flame *flame, double share,
				   const struct diff_opts *shared,
				   struct pprof_error *err)
{
	struct flame_diff *diff = flame->diff;
	struct diff_opts opts = *shared;
	struct tree_cut cut, light = { 0, UINT32_MAX };
	double base_sum = diff->sides.base_sum * diff->scale;
	uint64_t whole = flame->tree.nodes[0].weight;
	enum pprof_status status;

	opts.gone = true;
	opts.tree.min_share = base_sum > diff->sides.now_sum
				      ? share * diff->sides.now_sum / base_sum
				      : share;
	status = difftree_init(&diff->gone, &diff->sides, &opts, err);
	if (status)
		return status;
	/* As wide as in the graph: at the same scale. */
	if (!whole)
		whole = diff->gone.nodes[0].weight;
	light.weight = tree_share_weight(whole, share);
	tree_prune(&diff->gone, light);
	return tree_limit(&diff->gone, flame->opts->max_frames, &cut, err);
}

enum pprof_status flame_diff_trees(struct flame *flame,
				   const struct diff_side *base,
				   const struct diff_side *now, double share,
				   const struct frames_opts *frames_opts,
				   const struct tree_opts *tree_opts,
				   struct pprof_error *err)
{
	struct flame_diff *diff = flame->diff;
	struct diff_opts opts = { .frames = *frames_opts, .tree = *tree_opts,
				  .widths = flame->opts->widths };
	enum pprof_status status;

	status = diff_init(&diff->sides, base, now, frames_opts, err);
	if (status)
		return status;
	diff->scale = pick_scale(flame, &diff->sides);
	opts.scale = diff->scale;
	status = difftree_init(&flame->tree, &diff->sides, &opts, err);
	if (!status && opts.widths == PPROF_WIDTHS_NEW)
		status = make_gone(flame, share, &opts, err);
	flame->frames = diff->sides.frames;
	memset(&diff->sides.frames, 0, sizeof(diff->sides.frames));
	return status;
}

void flame_diff_fini(struct flame_diff *diff)
{
	diff_fini(&diff->sides);
	tree_fini(&diff->gone);
	flame_layout_fini(&diff->gone_layout);
	buf_fini(&diff->subtitle);
}

/* Least change that has a colour, of the larger total. */
static double least_change(const struct flame *flame)
{
	const struct flame_diff *diff = flame->diff;

	return flame->opts->min_delta *
	       fmax(diff->sides.now_sum, diff->sides.base_sum * diff->scale);
}

static struct change change_of(const struct flame *flame,
			       const struct tree_node *node, bool self)
{
	double scale = flame->diff->scale;
	struct change change;
	double var, sum;

	change.now = (double)(self ? node->self : node->total);
	change.base = (double)(self ? node->base_self : node->base_total) *
		      scale;
	var = node->var + node->base_var * scale * scale;
	sum = fabs((double)node->total) +
	      fabs((double)node->base_total) * scale;
	/* Of the error of a total self has its share. */
	if (self && sum > 0)
		var *= fabs(change.now + change.base) / sum;
	change.noise = fmax(least_change(flame),
			    NOISE_ERRORS * sqrt(fmax(var, 0)));
	return change;
}

static bool is_noise(const struct flame *flame, const struct change *change)
{
	double delta = fabs(change->now - change->base);

	/* Against nothing everything is new. */
	if (!(flame->diff->sides.base_sum > 0))
		return !(delta > 0);
	return !(delta > 0) || delta < change->noise;
}

static uint8_t tint_of(const struct flame *flame, const struct change *change,
		       double most)
{
	double delta = change->now - change->base;
	bool grew = delta > 0;
	int step;

	if (is_noise(flame, change))
		return TINT_SAME;
	if (!(fabs(change->base) > 0))
		return TINT_NEW;
	if (!(fabs(change->now) > 0))
		return TINT_GONE;
	step = (int)ceil(sqrt(fabs(delta) / most) * TINT_STEPS);
	step = step < 1 ? 1 : step > TINT_STEPS ? TINT_STEPS : step;
	if (flame->opts->negate)
		grew = !grew;
	return (uint8_t)((grew ? TINT_GREW : TINT_SHRANK) + step - 1);
}

void flame_diff_tint(struct flame *flame)
{
	bool self = flame->opts->delta_self;
	struct tree_node *nodes = flame->tree.nodes;
	double most = 0;
	size_t i;

	for (i = 0; i < flame->tree.nr; i++) {
		struct change change = change_of(flame, &nodes[i], self);

		if (nodes[i].kind == NODE_FRAME && !is_noise(flame, &change))
			most = fmax(most, fabs(change.now - change.base));
	}
	for (i = 0; i < flame->tree.nr; i++) {
		struct change change = change_of(flame, &nodes[i], self);

		nodes[i].tint = tint_of(flame, &change, most);
	}
	for (i = 0; i < flame->diff->gone.nr; i++)
		flame->diff->gone.nodes[i].tint = TINT_GONE;
}

/* A value of either side; scaled ones may have a fraction. */
static void add_amount(struct buf *out, const struct flame *flame,
		       double value)
{
	int saturated = 0;
	int64_t nearest = stats_round(value, &saturated);

	if (fabs(value) < 1000 && fabs(value - (double)nearest) > 0.0005) {
		units_fixed(out, stats_round(value * 1000, &saturated), 3);
		buf_byte(out, ' ');
		buf_str(out, units_noun(flame->noun, flame->unit));
		return;
	}
	units_words(out, nearest, flame->noun, flame->unit);
}

/* Percent with two decimals and, if told, a sign. */
static void add_percent(struct buf *out, double share, bool sign)
{
	int saturated = 0;

	if (sign && share >= 0)
		buf_byte(out, '+');
	units_fixed(out, stats_round(share * 10000, &saturated), 2);
}

static double share_of(double value, double sum)
{
	return sum > 0 ? value / sum : 0;
}

/* "B 1.2 MiB (1,258,291 bytes), 12%, self 12 bytes". */
static void add_side(struct buf *out, const struct flame *flame, char letter,
		     double total, double self, double sum)
{
	bool brackets;

	buf_byte(out, letter);
	buf_byte(out, ' ');
	add_amount(out, flame, total);
	brackets = out->len && out->data[out->len - 1] == ')';
	buf_str(out, brackets ? ", " : " (");
	add_percent(out, share_of(total, sum), false);
	buf_str(out, brackets ? "%" : "%)");
	if (!(fabs(self) > 0))
		return;
	if (self >= total && self <= total) {
		buf_str(out, ", all self");
		return;
	}
	buf_str(out, ", self ");
	add_amount(out, flame, self);
}

/* "+50% of A", "new", "gone". */
static void add_relative(struct buf *out, const struct change *change)
{
	int saturated = 0;
	double ratio;

	if (!(fabs(change->base) > 0)) {
		buf_str(out, "new");
		return;
	}
	if (!(fabs(change->now) > 0)) {
		buf_str(out, "gone");
		return;
	}
	ratio = (change->now - change->base) / fabs(change->base);
	if (ratio >= 0)
		buf_byte(out, '+');
	units_fixed(out, stats_round(ratio * 1000, &saturated), 1);
	buf_byte(out, '%');
}

static bool is_relative(const struct change *change)
{
	return fabs(change->base) > 0 && fabs(change->now) > 0;
}

static void add_change(struct buf *out, const struct flame *flame,
		       const struct change *change)
{
	const struct diff *sides = &flame->diff->sides;
	double delta = change->now - change->base;

	if (!(fabs(delta) > 0)) {
		buf_str(out, "no change");
		return;
	}
	if (is_noise(flame, change))
		buf_str(out, "within noise: ");
	if (delta > 0)
		buf_byte(out, '+');
	add_amount(out, flame, delta);
	buf_str(out, " (");
	add_relative(out, change);
	buf_str(out, is_relative(change) ? " of A; " : "; ");
	add_percent(out,
		    share_of(change->now, sides->now_sum) -
			    share_of(change->base,
				     sides->base_sum * flame->diff->scale),
		    true);
	buf_str(out, " points)");
}

void flame_diff_words(struct buf *out, const struct flame *flame,
		      const struct tree_node *node)
{
	const struct diff *sides = &flame->diff->sides;
	double scale = flame->diff->scale;
	struct change change = change_of(flame, node,
					 flame->opts->delta_self);
	bool base_first = flame->opts->widths == PPROF_WIDTHS_BASE;
	int i;

	for (i = 0; i < 2; i++) {
		if ((i == 0) == base_first)
			add_side(out, flame, 'A',
				 (double)node->base_total * scale,
				 (double)node->base_self * scale,
				 sides->base_sum * scale);
		else
			add_side(out, flame, 'B', (double)node->total,
				 (double)node->self, sides->now_sum);
		buf_byte(out, '\n');
	}
	if (flame->opts->delta_self)
		buf_str(out, "self: ");
	add_change(out, flame, &change);
}

void flame_diff_suffix(struct buf *out, const struct flame *flame,
		       const struct tree_node *node)
{
	struct change change = change_of(flame, node,
					 flame->opts->delta_self);

	if (is_noise(flame, &change))
		return;
	buf_str(out, change.now > change.base ? "  \xe2\x96\xb2 "
					      : "  \xe2\x96\xbc ");
	add_relative(out, &change);
}

void flame_diff_subtitle(struct buf *out, const struct flame *flame)
{
	const struct flame_diff *diff = flame->diff;
	struct change change = change_of(flame, &flame->tree.nodes[0], false);

	buf_str(out, "B ");
	add_amount(out, flame, change.now);
	buf_str(out, " against A ");
	add_amount(out, flame, change.base / diff->scale);
	if (diff->scale < 1 || diff->scale > 1) {
		buf_str(out, ", A scaled \xc3\x97");
		buf_printf(out, "%.4g", diff->scale);
		return;
	}
	buf_str(out, ", not scaled: ");
	add_change(out, flame, &change);
}

void flame_diff_note(struct buf *out, const struct flame *flame)
{
	static const char *const widths[] = {
		[PPROF_WIDTHS_NEW] = "B",
		[PPROF_WIDTHS_BASE] = "A",
		[PPROF_WIDTHS_UNION] = "the larger of A and B",
		[PPROF_WIDTHS_DELTA] = "growth plus shrinkage"
	};

	buf_str(out, "widths show ");
	buf_str(out, widths[flame->opts->widths]);
	buf_str(out, "; colours show the change of ");
	buf_str(out, flame->opts->delta_self ? "self" : "the total");
	buf_str(out, ", neutral below ");
	add_percent(out, flame->opts->min_delta, false);
	buf_str(out, "% of all and within ");
	buf_u64(out, NOISE_ERRORS);
	buf_str(out, " standard errors of the sampling");
}

void flame_diff_heading(struct buf *out, const struct flame *flame)
{
	const struct flame_diff *diff = flame->diff;
	double gone = (double)diff->gone.base_total * diff->scale;

	buf_str(out, "only in A (gone): ");
	add_amount(out, flame, gone);
	buf_str(out, ", ");
	add_percent(out, share_of(gone, diff->sides.base_sum * diff->scale),
		    false);
	buf_str(out, "% of A");
	if (diff->gone_shrink > 1) {
		buf_str(out, ", drawn at 1/");
		buf_printf(out, "%.4g", diff->gone_shrink);
		buf_str(out, " of the graph's scale");
	}
}
