/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison as JSON: exact numbers in the profile's own unit.
 */
#include <config.h>

#include "output/compare.h"
#include "output/json.h"

#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

static void add_inputs(struct json_out *json, const struct compare *c)
{
	size_t i;

	json_put_key(json, "profiles");
	json_put_open(json, '[');
	for (i = 0; i < c->nr_inputs; i++) {
		const struct compare_input *input = &c->inputs[i];

		json_put_open(json, '{');
		json_put_key(json, "name");
		json_put_str(json, input->name);
		json_put_key(json, "time_ns");
		json_put_i64(json, input->time_ns);
		json_put_key(json, "total");
		json_put_i64(json, input->total);
		json_put_key(json, "sampled");
		json_put_bool(json, input->sampling != SAMPLING_EXACT);
		json_put_close(json, '}');
	}
	json_put_close(json, ']');
}

static void add_values(struct json_out *json, const int64_t *values, size_t nr)
{
	size_t i;

	json_put_key(json, "values");
	json_put_open(json, '[');
	for (i = 0; i < nr; i++)
		json_put_i64(json, values[i]);
	json_put_close(json, ']');
}

/* A difference of two 64-bit numbers may need one bit more. */
static int64_t clamp_delta(__int128 delta)
{
	if (delta > INT64_MAX)
		return INT64_MAX;
	return delta < INT64_MIN ? INT64_MIN : (int64_t)delta;
}

static void add_change(struct json_out *json, const struct compare *c,
		       const struct changes *changes,
		       const struct change *change)
{
	static const char *const marks[] = { "", "new", "gone" };
	size_t len;
	const char *name = compare_name(c, change->row, &len);

	json_put_open(json, '{');
	json_put_key(json, "name");
	json_put_text(json, name, len);
	json_put_key(json, "before");
	json_put_i64(json, change->before);
	json_put_key(json, "after");
	json_put_i64(json, change->after);
	json_put_key(json, "delta");
	json_put_i64(json, clamp_delta(change->delta));
	json_put_key(json, "mark");
	json_put_str(json, marks[change->mark]);
	if (!changes->is_exact) {
		json_put_key(json, "z");
		json_put_real(json, change->z);
	}
	if (changes->is_series) {
		json_put_key(json, "slope");
		json_put_real(json, change->slope);
		add_values(json, changes->values +
			   change->row * c->nr_inputs, c->nr_inputs);
	}
	if (changes->is_series || !changes->is_exact) {
		json_put_key(json, "p");
		json_put_real(json, change->p);
	}
	json_put_close(json, '}');
}

static void add_head(struct json_out *json,
		     const struct pprof_comparison *cm,
		     const struct changes *changes)
{
	const struct compare *c = &cm->compare;

	json_put_key(json, "type");
	json_put_str(json, c->type);
	json_put_key(json, "unit");
	json_put_str(json, c->unit);
	json_put_key(json, "value");
	json_put_str(json, cm->opts.by_cum ? "cum" : "flat");
	if (changes->is_series) {
		json_put_key(json, "slope_per");
		json_put_str(json, changes->by_time ? "second" : "profile");
	}
	add_inputs(json, c);
	json_put_key(json, "unchanged");
	json_put_u64(json, changes->nr_unchanged);
	json_put_key(json, "left_out");
	json_put_u64(json, changes->nr_other);
	if (!changes->is_exact) {
		json_put_key(json, "total_z");
		json_put_real(json, changes->z);
	}
}

enum pprof_status compare_write_json(const struct pprof_comparison *cm,
				     const struct changes *changes,
				     struct pprof_sink *sink,
				     struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct json_out json;
	struct buf out;
	size_t i;

	buf_init(&out, PTRDIFF_MAX);
	json_out_init(&json, &out);
	json_put_open(&json, '{');
	add_head(&json, cm, changes);
	json_put_key(&json, "changes");
	json_put_open(&json, '[');
	for (i = 0; !status && i < changes->nr; i++) {
		add_change(&json, &cm->compare, changes, &changes->rows[i]);
		if (out.len >= CHUNK_BYTES)
			status = sink_take_buf(sink, &out, err);
	}
	json_put_close(&json, ']');
	json_put_close(&json, '}');
	buf_byte(&out, '\n');
	if (!status)
		status = sink_take_buf(sink, &out, err);
	buf_fini(&out);
	return status;
}
