/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions as JSON: exact numbers in the profile's own unit.
 */
#include <config.h>

#include "base/sink.h"
#include "output/json.h"
#include "output/report_rows.h"

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

static void add_head(struct json_out *json, const struct report_rows *rows)
{
	const struct pprof_profile *p = rows->profile;
	const struct value_type *type = &p->types[rows->values.column];

	json_put_key(json, "type");
	json_put_str(json, p->nr_types ? profile_str(p, type->type) : "");
	json_put_key(json, "unit");
	json_put_str(json, p->nr_types ? profile_str(p, type->unit) : "");
	json_put_key(json, "mean");
	json_put_bool(json, rows->opts.mean);
	json_put_key(json, "total");
	json_put_i64(json, rows->table.total);
	json_put_key(json, "sum_flat");
	json_put_i64(json, rows->sum_flat);
	json_put_key(json, "left_out");
	json_put_u64(json, rows->nr_dropped + rows->nr_whole -
			   rows->table.nr);
}

static void add_row(struct json_out *json, const struct report_rows *rows,
		    const struct table_row *row)
{
	json_put_open(json, '{');
	json_put_key(json, "name");
	json_put_text(json, frame_name(&rows->frames, row->row),
		      frame_name_len(&rows->frames, row->row));
	json_put_key(json, "flat");
	json_put_i64(json, row->flat);
	json_put_key(json, "cum");
	json_put_i64(json, row->cum);
	json_put_key(json, "inlined");
	json_put_str(json, !row->inlined ? "no" :
		     row->called ? "partly" : "yes");
	json_put_close(json, '}');
}

static enum pprof_status write_rows(struct report_rows *rows,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct json_out json;
	size_t i;

	json_out_init(&json, &rows->out);
	json_put_open(&json, '{');
	add_head(&json, rows);
	json_put_key(&json, "rows");
	json_put_open(&json, '[');
	for (i = 0; !status && i < rows->table.nr; i++) {
		add_row(&json, rows, &rows->table.rows[i]);
		if (rows->out.len >= CHUNK_BYTES)
			status = sink_take_buf(sink, &rows->out, err);
	}
	if (status)
		return status;
	json_put_close(&json, ']');
	json_put_close(&json, '}');
	buf_byte(&rows->out, '\n');
	return sink_take_buf(sink, &rows->out, err);
}

enum pprof_status pprof_report_top_json(const struct pprof_profile *profile,
					const struct pprof_top_opts *opts,
					struct pprof_sink *sink,
					struct pprof_error *err)
{
	struct report_rows rows;
	enum pprof_status status = report_rows_init(&rows, profile, opts, err);

	if (!status && rows.opts.divide_by > 0)
		status = error_plain(err, PPROF_USAGE, NULL,
				     "JSON holds exact values: none are "
				     "divided");
	if (!status) {
		report_rows_limit(&rows);
		status = graph_mark_inlined(&rows.table, &rows.frames,
					    profile, err);
	}
	if (!status)
		status = write_rows(&rows, sink, err);
	report_rows_fini(&rows);
	return status;
}
