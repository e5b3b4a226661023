/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins two pre-order walks whose siblings come in the order of names; see
 * difftree.h.
 */
#include <config.h>

#include "base/mem.h"
#include "view/difftree.h"

#include <math.h>
#include <string.h>

/* Weights are values times this power of two, or less where sums are big. */
#define MOST_SHIFT 20

/* Bits that the sum of all weights may take. */
#define WEIGHT_BITS 61

/* Bound on the bytes of all names. */
#define MAX_NAME_BYTES ((uint64_t)64 << 30)

/* One side on the way. */
struct side_walk {
	struct walk walk;
	struct walk_node node;  /* next one, its row in the common frames */
	const uint32_t *row;
	bool open;              /* there is a next one */
};

/* The two walks under way. */
struct joint {
	struct side_walk base, now;
	const struct diff_opts *opts;
	double unit;       /* weight of a value of 1 */
	uint32_t gone_top; /* depth where the subtree that B lacks starts */
};

/* Row of the common frames for frame `row` of a side. */
static bool add_row(struct frames *to, const struct frames *from,
		    uint32_t row)
{
	const struct frame *frame = &from->rows[row];
	struct frame *added = &to->rows[to->nr++];

	added->kind = frame->kind;
	added->name = strtab_add(&to->strings, frame_name(from, row),
				 frame_name_len(from, row));
	added->module = strtab_add(&to->strings,
				   strtab_text(&from->strings, frame->module),
				   strtab_len(&from->strings, frame->module));
	return added->name != STR_NONE && added->module != STR_NONE;
}

static int compare_names(const struct frames *a, uint32_t i,
			 const struct frames *b, uint32_t j)
{
	size_t na = frame_name_len(a, i), nb = frame_name_len(b, j);
	int order = memcmp(frame_name(a, i), frame_name(b, j),
			   na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

/* Merge the two lists of names, which are in order. */
static bool join_frames(struct diff *diff)
{
	const struct frames *a = &diff->base_frames, *b = &diff->now_frames;
	struct frames *f = &diff->frames;
	uint32_t i = 0, j = 0;
	int order;

	if (!strtab_init(&f->strings, MAX_NAME_BYTES))
		return false;
	f->rows = mem_alloc(a->nr + b->nr, sizeof(*f->rows));
	diff->base_row = mem_alloc(a->nr, sizeof(*diff->base_row));
	diff->now_row = mem_alloc(b->nr, sizeof(*diff->now_row));
	if (!f->rows || !diff->base_row || !diff->now_row)
		return false;
	while (i < a->nr || j < b->nr) {
		order = i == a->nr ? 1 : j == b->nr ? -1
				   : compare_names(a, i, b, j);
		if (order <= 0)
			diff->base_row[i] = (uint32_t)f->nr;
		if (order >= 0)
			diff->now_row[j] = (uint32_t)f->nr;
		if (!(order < 0 ? add_row(f, a, i) : add_row(f, b, j)))
			return false;
		if (!order)
			f->rows[f->nr - 1].kind |= a->rows[i].kind;
		i += order <= 0;
		j += order >= 0;
	}
	f->no_stack = diff->now_row[b->no_stack];
	return true;
}

/* Sum of the magnitudes of one side. */
static enum pprof_status sum_side(const struct diff_side *side,
				  const struct frames *frames, double *ret_sum,
				  struct pprof_error *err)
{
	struct walk_opts opts = { .sample_type = side->sample_type,
				  .side = side->side };
	enum pprof_status status;
	struct walk walk;
	size_t i;

	status = walk_init(&walk, frames, side->profile, &opts, err);
	if (status)
		return status;
	*ret_sum = 0;
	for (i = 0; i < side->profile->stacks.nr; i++)
		*ret_sum += (double)magnitude_i64(walk.worth.values[i]);
	walk_fini(&walk);
	return PPROF_OK;
}

enum pprof_status diff_init(struct diff *diff, const struct diff_side *base,
			    const struct diff_side *now,
			    const struct frames_opts *frames,
			    struct pprof_error *err)
{
	enum pprof_status status;

	memset(diff, 0, sizeof(*diff));
	diff->base = *base;
	diff->now = *now;
	status = frames_init(&diff->base_frames, base->profile, frames, err);
	if (!status)
		status = frames_init(&diff->now_frames, now->profile, frames,
				     err);
	if (!status && !join_frames(diff))
		status = error_nomem(err);
	if (!status)
		status = sum_side(&diff->base, &diff->base_frames,
				  &diff->base_sum, err);
	if (!status)
		status = sum_side(&diff->now, &diff->now_frames,
				  &diff->now_sum, err);
	return status;
}

void diff_fini(struct diff *diff)
{
	frames_fini(&diff->base_frames);
	frames_fini(&diff->now_frames);
	frames_fini(&diff->frames);
	mem_free(diff->base_row);
	mem_free(diff->now_row);
	memset(diff, 0, sizeof(*diff));
}

static void step(struct side_walk *side)
{
	side->open = walk_next(&side->walk, &side->node);
	if (side->open)
		side->node.row = side->row[side->node.row];
}

/* Which comes next: below 0 A's node, above B's, 0 both are the same one. */
static int compare_next(const struct joint *joint)
{
	const struct side_walk *a = &joint->base, *b = &joint->now;

	if (!a->open || !b->open)
		return a->open ? -1 : 1;
	/* The deeper one is below what was given last. */
	if (a->node.depth != b->node.depth)
		return a->node.depth > b->node.depth ? -1 : 1;
	return (a->node.row > b->node.row) - (a->node.row < b->node.row);
}

static uint64_t weigh(const struct joint *joint, const struct walk_node *node)
{
	double now = fabs((double)node->self);
	double base = fabs((double)node->base_self) * joint->opts->scale;
	double width;

	if (joint->opts->gone)
		return (uint64_t)(base * joint->unit + 0.5);
	switch (joint->opts->widths) {
	case PPROF_WIDTHS_BASE:
		width = base;
		break;
	case PPROF_WIDTHS_UNION:
		width = fmax(now, base);
		break;
	case PPROF_WIDTHS_DELTA:
		width = fabs((double)node->self - (double)node->base_self *
						  joint->opts->scale);
		break;
	default:
		width = now;
	}
	return (uint64_t)(width * joint->unit + 0.5);
}

/* Take the next node of one or of both sides. */
static void take(struct joint *joint, int order, struct walk_node *node)
{
	const struct walk_node *a = &joint->base.node;

	if (order < 0) {
		*node = *a;
		node->self = 0;
		node->var = 0;
	} else {
		*node = joint->now.node;
		node->base_self = 0;
		node->base_var = 0;
	}
	if (order <= 0) {
		node->base_self = a->self;
		node->base_var = a->var;
		node->inlined = node->inlined || a->inlined;
		node->called = node->called || a->called;
		node->clamped = node->clamped || a->clamped;
		step(&joint->base);
	}
	if (order >= 0)
		step(&joint->now);
	node->weight = weigh(joint, node);
}

/* Keep what only A has; its topmost frames become the first row. */
static bool keep_gone(struct joint *joint, int order, struct walk_node *node)
{
	if (order >= 0) {
		joint->gone_top = 0;
		return false;
	}
	if (!joint->gone_top || node->depth < joint->gone_top)
		joint->gone_top = node->depth;
	node->depth -= joint->gone_top - 1;
	return true;
}

static bool next_joint(void *source, struct walk_node *node)
{
	struct joint *joint = source;
	int order;

	while (joint->base.open || joint->now.open) {
		order = compare_next(joint);
		take(joint, order, node);
		if (!joint->opts->gone || keep_gone(joint, order, node))
			return true;
	}
	return false;
}

static enum pprof_status open_side(struct side_walk *side,
				   const struct diff_side *from,
				   const struct frames *frames,
				   const uint32_t *row,
				   const struct walk_opts *opts,
				   struct pprof_error *err)
{
	struct walk_opts walk = *opts;
	enum pprof_status status;

	walk.sample_type = from->sample_type;
	walk.side = from->side;
	walk.with_noise = true;
	side->row = row;
	status = walk_init(&side->walk, frames, from->profile, &walk, err);
	if (!status)
		step(side);
	return status;
}

static enum pprof_status open_joint(struct joint *joint,
				    const struct diff *diff,
				    const struct diff_opts *opts,
				    struct pprof_error *err)
{
	double sum = diff->now_sum + diff->base_sum * opts->scale;
	enum pprof_status status;
	int exponent;

	memset(joint, 0, sizeof(*joint));
	joint->opts = opts;
	frexp(sum, &exponent);
	exponent = WEIGHT_BITS - exponent;
	joint->unit = ldexp(1, exponent < MOST_SHIFT ? exponent : MOST_SHIFT);
	status = open_side(&joint->base, &diff->base, &diff->base_frames,
			   diff->base_row, &opts->tree.walk, err);
	if (!status)
		status = open_side(&joint->now, &diff->now, &diff->now_frames,
				   diff->now_row, &opts->tree.walk, err);
	return status;
}

/* OK, or NOMEM when a walk ended early. */
static enum pprof_status close_joint(struct joint *joint,
				     struct pprof_error *err)
{
	bool failed = joint->base.walk.failed || joint->now.walk.failed;

	walk_fini(&joint->base.walk);
	walk_fini(&joint->now.walk);
	return failed ? error_nomem(err) : PPROF_OK;
}

/* The exact sum of all weights. */
static enum pprof_status weigh_all(const struct diff *diff,
				   const struct diff_opts *opts,
				   uint64_t *ret_weight,
				   struct pprof_error *err)
{
	enum pprof_status status;
	struct walk_node node;
	struct joint joint;

	status = open_joint(&joint, diff, opts, err);
	*ret_weight = 0;
	while (!status && next_joint(&joint, &node))
		*ret_weight += node.weight;
	if (status) {
		close_joint(&joint, NULL);
		return status;
	}
	return close_joint(&joint, err);
}

enum pprof_status difftree_init(struct tree *tree, const struct diff *diff,
				const struct diff_opts *opts,
				struct pprof_error *err)
{
	enum pprof_status status;
	struct joint joint;
	uint64_t weight;

	memset(tree, 0, sizeof(*tree));
	status = weigh_all(diff, opts, &weight, err);
	if (status)
		return status;
	status = open_joint(&joint, diff, opts, err);
	if (!status)
		status = tree_build(tree, &diff->frames, next_joint, &joint,
				    weight, &opts->tree, err);
	if (status) {
		close_joint(&joint, NULL);
		return status;
	}
	status = close_joint(&joint, err);
	if (status)
		tree_fini(tree);
	return status;
}
