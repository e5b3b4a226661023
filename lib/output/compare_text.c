/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison as a table for people.
 */
#include <config.h>

#include "output/compare.h"
#include "view/shorten.h"
#include "view/text.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Least cells that a name is shortened to. */
#define NAME_LEAST 16

/* Most cells of a sparkline. */
#define SPARK_CELLS 16

/* The work of one table. */
struct printer {
	const struct pprof_comparison *cm;
	const struct compare *compare;
	const struct changes *changes;
	const char *to;  /* unit of what is printed */
	struct shortener shortener;
	struct buf name; /* masked */
	struct buf cell;
	struct buf out;
};

/* Put the cell at the right end of `width` columns. */
static void end_cell(struct printer *t, size_t width)
{
	size_t cells = text_cells(t->cell.data, t->cell.len);

	for (; cells < width; cells++)
		buf_byte(&t->out, ' ');
	buf_add(&t->out, t->cell.data, t->cell.len);
	buf_reset(&t->cell);
}

static void add_value(struct printer *t, int64_t value)
{
	units_value(&t->cell, value, t->compare->unit, t->to);
}

static int64_t clamp_delta(__int128 delta)
{
	if (delta > INT64_MAX)
		return INT64_MAX;
	return delta < INT64_MIN ? INT64_MIN : (int64_t)delta;
}

static void add_signed(struct printer *t, __int128 delta)
{
	if (delta > 0)
		buf_byte(&t->cell, '+');
	add_value(t, clamp_delta(delta));
}

/* A number with `decimals` digits after the point, signed when asked. */
static void add_number(struct printer *t, double value, unsigned decimals,
		       bool with_sign)
{
	double scaled = value * pow(10, decimals);

	if (fabs(scaled) >= 9e15) {
		buf_str(&t->cell, value > 0 ? ">1e12" : "<-1e12");
		return;
	}
	if (with_sign && llround(scaled) > 0)
		buf_byte(&t->cell, '+');
	units_fixed(&t->cell, llround(scaled), decimals);
}

static void add_p(struct printer *t, double p)
{
	if (p < 0.001)
		buf_str(&t->cell, "<0.001");
	else
		add_number(t, p, 3, false);
}

static void add_share(struct printer *t, const struct change *change)
{
	double before = fabs((double)change->before);

	if (change->mark == CHANGE_NEW) {
		buf_str(&t->cell, "new");
		return;
	}
	if (change->mark == CHANGE_GONE) {
		buf_str(&t->cell, "gone");
		return;
	}
	add_number(t, (double)change->delta / before * 100, 1, true);
	buf_byte(&t->cell, '%');
}

/* ----------------------------------------------------------------- header */

static void add_input(struct printer *t, const char *label,
		      const struct compare_input *input)
{
	buf_str(&t->out, label);
	text_mask(&t->out, input->name, strlen(input->name));
	if (input->sampling == SAMPLING_HEAP_BYTES ||
	    input->sampling == SAMPLING_HEAP_COUNT) {
		buf_str(&t->out, ", sampled every ");
		units_value(&t->out, llround(input->rate), "bytes",
			    UNIT_AUTO);
	}
	buf_byte(&t->out, '\n');
}

static void add_inputs(struct printer *t)
{
	const struct compare *c = t->compare;

	add_input(t, t->changes->is_series ? "First: " : "Base: ",
		  &c->inputs[0]);
	add_input(t, t->changes->is_series ? "Last: " : "New: ",
		  &c->inputs[c->nr_inputs - 1]);
	buf_str(&t->out, "Type: ");
	text_mask(&t->out, c->type, strlen(c->type));
	buf_byte(&t->out, '\n');
	if (!t->changes->is_series)
		return;
	buf_printf(&t->out, "Series: %zu profiles over ", c->nr_inputs);
	if (t->changes->by_time)
		units_value(&t->out,
			    llround(t->changes->x[c->nr_inputs - 1] * 1e9),
			    "nanoseconds", UNIT_AUTO);
	else
		buf_str(&t->out, "an unknown time; slopes are by profile");
	buf_byte(&t->out, '\n');
}

static void add_total(struct printer *t)
{
	const struct compare *c = t->compare;
	struct change total = { .before = c->inputs[0].total,
				.after = c->inputs[c->nr_inputs - 1].total,
				.z = t->changes->z };

	total.delta = (__int128)total.after - total.before;
	buf_str(&t->cell, "Total: ");
	add_value(t, total.before);
	buf_str(&t->cell, " -> ");
	add_value(t, total.after);
	buf_str(&t->cell, ", ");
	add_signed(t, total.delta);
	if (total.before) {
		buf_str(&t->cell, " (");
		add_share(t, &total);
		buf_byte(&t->cell, ')');
	}
	if (t->changes->is_exact) {
		buf_str(&t->cell, ", exact");
	} else {
		buf_str(&t->cell, ", z ");
		add_number(t, total.z, 1, true);
		buf_str(&t->cell, ", p ");
		add_p(t, trend_p_of_z(total.z));
	}
	end_cell(t, 0);
	buf_byte(&t->out, '\n');
}

static void add_left_out(struct printer *t)
{
	const struct changes *ch = t->changes;

	if (!ch->nr_unchanged && !ch->nr_other)
		return;
	buf_printf(&t->out, "Showing %zu of %zu: %zu did not change", ch->nr,
		   ch->nr + ch->nr_unchanged + ch->nr_other,
		   ch->nr_unchanged);
	if (ch->nr_other)
		buf_printf(&t->out, ", %zu are left out", ch->nr_other);
	buf_byte(&t->out, '\n');
}

static void add_columns(struct printer *t)
{
	buf_str(&t->out, "    before      after      delta   delta%");
	if (t->changes->is_series)
		buf_str(&t->out, t->changes->by_time ? "    slope/s"
						     : " slope/dump");
	else if (!t->changes->is_exact)
		buf_str(&t->out, "       z");
	if (t->changes->is_series || !t->changes->is_exact)
		buf_str(&t->out, "       p");
	if (t->changes->is_series && t->cm->opts.sparkline)
		buf_str(&t->out, "  trend           ");
	buf_str(&t->out, "  function\n");
}

/* ------------------------------------------------------------------- rows */

/* One of eight heights for value i of `cells` over the series. */
static void add_spark(struct printer *t, const struct change *change)
{
	static const char *const levels[] = {
		"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
		"\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
		"\xe2\x96\x87", "\xe2\x96\x88"
	};
	size_t nr = t->compare->nr_inputs, i;
	size_t cells = nr < SPARK_CELLS ? nr : SPARK_CELLS;
	const int64_t *values = t->changes->values + change->row * nr;
	double least = (double)values[0], most = least, share;

	for (i = 1; i < nr; i++) {
		least = fmin(least, (double)values[i]);
		most = fmax(most, (double)values[i]);
	}
	buf_str(&t->out, "  ");
	for (i = 0; i < cells; i++) {
		size_t at = cells > 1 ? i * (nr - 1) / (cells - 1) : 0;

		share = most > least ? ((double)values[at] - least) /
					       (most - least)
				     : 0;
		buf_str(&t->out, levels[(size_t)(share * 7.0 + 0.5)]);
	}
	for (; i < SPARK_CELLS; i++)
		buf_byte(&t->out, ' ');
}

static void add_name(struct printer *t, const struct change *change,
		     size_t used)
{
	unsigned width = t->cm->opts.width;
	size_t cells = SIZE_MAX, len;
	const char *name = compare_name(t->compare, change->row, &len);

	if (width)
		cells = width > used + NAME_LEAST ? width - used : NAME_LEAST;
	buf_reset(&t->name);
	text_mask(&t->name, name, len);
	if (!buf_ok(&t->name)) {
		t->out.failed = true;
		return;
	}
	shorten_fit(&t->shortener, &t->out, t->name.data ? t->name.data : "",
		    t->name.len, cells, SHORTEN_CUT_START);
}

/* What follows the differences; returns the columns that it takes. */
static size_t add_certainty(struct printer *t, const struct change *change)
{
	if (t->changes->is_series) {
		if (change->slope > 0)
			buf_byte(&t->cell, '+');
		if (fabs(change->slope) < 9e18)
			add_value(t, llround(change->slope));
		end_cell(t, 11);
		add_p(t, change->p);
		end_cell(t, 8);
		if (!t->cm->opts.sparkline)
			return 19;
		add_spark(t, change);
		return 19 + 2 + SPARK_CELLS;
	}
	if (t->changes->is_exact)
		return 0;
	add_number(t, change->z, 1, true);
	end_cell(t, 8);
	add_p(t, change->p);
	end_cell(t, 8);
	return 16;
}

static void add_row(struct printer *t, const struct change *change)
{
	size_t used = 10 + 11 + 11 + 9;

	add_value(t, change->before);
	end_cell(t, 10);
	add_value(t, change->after);
	end_cell(t, 11);
	add_signed(t, change->delta);
	end_cell(t, 11);
	/* A series may rise and fall back: then there is nothing to divide. */
	if (change->before || change->after)
		add_share(t, change);
	end_cell(t, 9);
	used += add_certainty(t, change) + 2;
	buf_str(&t->out, "  ");
	add_name(t, change, used);
	buf_byte(&t->out, '\n');
}

/* One unit for all values that are shown, or each its own. */
static void choose_unit(struct printer *t)
{
	const struct compare *c = t->compare;
	int64_t least = 0, size;
	size_t i;

	t->to = UNIT_AUTO;
	if (t->cm->opts.unit == PPROF_UNIT_EXACT)
		t->to = c->unit;
	if (t->cm->opts.unit != PPROF_UNIT_MINIMUM)
		return;
	for (i = 0; i < t->changes->nr; i++) {
		size = clamp_delta(t->changes->rows[i].delta);
		size = size < 0 ? (size == INT64_MIN ? INT64_MAX : -size)
				: size;
		if (size && (!least || size < least))
			least = size;
	}
	t->to = units_minimum(least, c->inputs[0].total, c->unit);
}

static enum pprof_status print_rows(struct printer *t,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < t->changes->nr; i++) {
		add_row(t, &t->changes->rows[i]);
		if (t->out.len >= CHUNK_BYTES)
			status = sink_take_buf(sink, &t->out, err);
	}
	return status ? status : sink_take_buf(sink, &t->out, err);
}

enum pprof_status compare_write_text(const struct pprof_comparison *cm,
				     const struct changes *changes,
				     struct pprof_sink *sink,
				     struct pprof_error *err)
{
	struct printer t = { .cm = cm, .compare = &cm->compare,
			     .changes = changes };
	enum pprof_status status;

	shortener_init(&t.shortener);
	buf_init(&t.name, PTRDIFF_MAX);
	buf_init(&t.cell, PTRDIFF_MAX);
	buf_init(&t.out, PTRDIFF_MAX);
	choose_unit(&t);
	add_inputs(&t);
	add_total(&t);
	add_left_out(&t);
	add_columns(&t);
	status = print_rows(&t, sink, err);
	shortener_fini(&t.shortener);
	buf_fini(&t.name);
	buf_fini(&t.cell);
	buf_fini(&t.out);
	return status;
}
