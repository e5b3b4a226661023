/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a profile more than its base allows? Decided on the interval, never on
 * the point; what cannot be judged is said to be so.
 */
#include <config.h>

#include "base/opts.h"
#include "base/sink.h"
#include "profile/stats.h"
#include "view/compare.h"
#include "view/text.h"
#include "view/trend.h"
#include "view/units.h"

#include <math.h>

#define OUT_MAX ((size_t)64 << 20)

/* A new total below this share of the base is no sign of thrift. */
#define RESET_SHARE 1e-3

/* The work of one pprof_check(). */
struct check {
	struct pprof_check_opts opts;
	struct compare compare;
	double z; /* two-sided, of the totals */
	enum pprof_check_result verdict;
	struct buf out;
};

/* The z beyond which a normal variable is with probability `p`. */
static double z_of_p(double p)
{
	double low = 0, high = 40;
	int i;

	for (i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (trend_p_of_z(middle) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static enum pprof_check_result cannot_judge(struct check *c, const char *why)
{
	buf_printf(&c->out, "cannot judge: %s\n", why);
	return PPROF_CHECK_UNKNOWN;
}

/* Why the two do not say anything about each other, or NULL. */
static const char *incomparable(const struct check *c)
{
	const struct compare_input *a = &c->compare.inputs[0];
	const struct compare_input *b = &c->compare.inputs[1];

	if (a->sampling != b->sampling || fabs(a->rate - b->rate) > 0)
		return "the two were not sampled at the same rate";
	if (!a->nr || a->total <= 0)
		return "the base has no samples";
	if ((double)a->total < c->opts.floor)
		return "the base is below the floor";
	if (!b->nr)
		return "the new profile has no samples";
	if (c->opts.max_shrink < 0 &&
	    (double)b->total < RESET_SHARE * (double)a->total)
		return "next to nothing is left of the base: a profile that "
		       "was reset (prof.reset), or another process? With "
		       "--max-shrink that is judged";
	return NULL;
}

static void add_amount(struct check *c, double value)
{
	units_brief(&c->out, (int64_t)fmin(fmax(value, -0x1p62), 0x1p62),
		    c->compare.type, c->compare.unit);
}

/*
 * One bound on the total: `excess` beyond it, with the half width of its
 * interval. Beyond it for certain is a failure; where `is_limit`, within it
 * for certain is a pass, and anything else is no verdict.
 */
static void judge_bound(struct check *c, const char *name, double excess,
			double half, bool is_limit)
{
	const struct compare_input *a = &c->compare.inputs[0];
	const struct compare_input *b = &c->compare.inputs[1];
	enum pprof_check_result verdict = PPROF_CHECK_PASS;

	if (excess - half > 0)
		verdict = PPROF_CHECK_FAIL;
	else if (is_limit && excess + half > 0)
		verdict = PPROF_CHECK_UNKNOWN;
	buf_str(&c->out, verdict == PPROF_CHECK_PASS ? "pass  " :
		verdict == PPROF_CHECK_FAIL ? "FAIL  " : "cannot judge  ");
	buf_printf(&c->out, "%s: total ", name);
	add_amount(c, (double)a->total);
	buf_str(&c->out, " -> ");
	add_amount(c, (double)b->total);
	buf_printf(&c->out, " (%+.4g%%), ",
		   100 * ((double)b->total / (double)a->total - 1));
	add_amount(c, fabs(excess));
	buf_str(&c->out, excess > 0 ? " beyond" : " short of");
	buf_str(&c->out, " the bound, +- ");
	add_amount(c, half);
	buf_byte(&c->out, '\n');
	if (c->verdict != PPROF_CHECK_FAIL && verdict != PPROF_CHECK_PASS)
		c->verdict = verdict;
}

static void judge_total(struct check *c)
{
	const struct compare_input *a = &c->compare.inputs[0];
	const struct compare_input *b = &c->compare.inputs[1];
	double most = 1 + fmax(c->opts.max_growth, 0);
	double least = 1 - c->opts.max_shrink;
	bool has_most = c->opts.max_growth >= 0;
	bool has_least = c->opts.max_shrink >= 0;

	if (has_most || !has_least)
		judge_bound(c, has_most ? "max-growth" : "no growth",
			    (double)b->total - most * (double)a->total,
			    c->z * sqrt(b->variance +
					most * most * a->variance),
			    has_most);
	if (has_least)
		judge_bound(c, "max-shrink",
			    least * (double)a->total - (double)b->total,
			    c->z * sqrt(b->variance +
					least * least * a->variance), true);
}

/* Functions beyond the noise; the bound holds for all of them together. */
static bool judge_functions(struct check *c)
{
	const struct compare_input *a = &c->compare.inputs[0];
	const struct compare_input *b = &c->compare.inputs[1];
	double z = z_of_p((1 - c->opts.confidence) /
			  (double)c->compare.nr_rows);
	bool has_failed = false;
	size_t i, j = 0, len;

	for (i = 0; i < b->nr; i++) {
		const struct compare_cell *cell = &b->cells[i];
		double before = 0, variance = cell->variance[0], growth;
		const char *name;

		while (j < a->nr && a->cells[j].row < cell->row)
			j++;
		if (j < a->nr && a->cells[j].row == cell->row) {
			before = (double)a->cells[j].value[0];
			variance += a->cells[j].variance[0];
		}
		growth = (double)cell->value[0] - before;
		if (!(growth > z * sqrt(variance)))
			continue;
		has_failed = true;
		name = compare_name(&c->compare, cell->row, &len);
		buf_str(&c->out, "FAIL  function: ");
		add_amount(c, before);
		buf_str(&c->out, " -> ");
		add_amount(c, (double)cell->value[0]);
		buf_str(&c->out, ", noise explains at most ");
		add_amount(c, z * sqrt(variance));
		buf_str(&c->out, ": ");
		text_mask(&c->out, name, len);
		buf_byte(&c->out, '\n');
	}
	return has_failed;
}

static void judge(struct check *c)
{
	const char *why = incomparable(c);

	if (why) {
		c->verdict = cannot_judge(c, why);
		return;
	}
	c->z = z_of_p(1 - c->opts.confidence);
	judge_total(c);
	if (c->opts.max_growth < 0 && c->opts.max_shrink < 0) {
		buf_printf(&c->out, "functions looked at: %zu\n",
			   c->compare.nr_rows);
		if (judge_functions(c))
			c->verdict = PPROF_CHECK_FAIL;
	}
	buf_printf(&c->out, "confidence: %.6g%%, base sampling: %s\n",
		   c->opts.confidence * 100,
		   c->compare.inputs[0].sampling ? "sampled" : "exact");
}

static enum pprof_status run_check(struct check *c,
				   const struct pprof_profile *base,
				   const struct pprof_profile *profile,
				   struct pprof_error *err)
{
	struct compare_opts opts = { .sample_type = c->opts.sample_type };
	enum pprof_status status;

	status = compare_add(&c->compare, base, &opts, "base", -1, err);
	if (!status)
		status = compare_add(&c->compare, profile, &opts, "profile",
				     -1, err);
	if (!status)
		judge(c);
	return status;
}

enum pprof_status pprof_check(const struct pprof_profile *base,
			      const struct pprof_profile *profile,
			      const struct pprof_check_opts *opts,
			      struct pprof_sink *sink,
			      enum pprof_check_result *ret_verdict,
			      struct pprof_error *err)
{
	struct check c = { .opts = PPROF_CHECK_OPTS_INIT };
	enum pprof_status status;

	status = opts_take(&c.opts, sizeof(c.opts), opts, err);
	if (!status && !(c.opts.confidence > 0 && c.opts.confidence < 1))
		status = error_plain(err, PPROF_USAGE, NULL, "the confidence "
				     "must be above 0 and below 1");
	if (status)
		return status;
	if (!compare_init(&c.compare))
		return error_nomem(err);
	buf_init(&c.out, OUT_MAX);
	status = run_check(&c, base, profile, err);
	if (!status)
		status = sink_take_buf(sink, &c.out, err);
	buf_fini(&c.out);
	compare_fini(&c.compare);
	if (!status)
		*ret_verdict = c.verdict;
	return status;
}
