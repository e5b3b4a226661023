/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions with their callers and callees; see report_tree.h.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/report_rows.h"
#include "output/report_tree.h"
#include "view/graph.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

#define SEPARATOR \
	"----------------------------------------------------------+---------" \
	"----\n"
#define LEGEND REPORT_FIGURES "   calls calls% + context \t \t \n"

struct tree {
	struct report_rows rows;
	struct graph graph;
	uint8_t *parts;          /* [frames.nr] enum graph_part */
	struct pprof_sink *sink;
};

static void add_name(struct tree *tree, uint32_t row)
{
	const struct frames *frames = &tree->rows.frames;

	text_mask(&tree->rows.out, frame_name(frames, row),
		  frame_name_len(frames, row));
}

/* What went along a call, beside `cum` of the function it is shown at. */
static void add_call(struct tree *tree, const struct graph_edge *edge,
		     uint32_t other, int64_t cum)
{
	static const char blanks[] =
		"                                        ";
	struct buf *out = &tree->rows.out;

	buf_add(out, blanks, sizeof(blanks) - 1);
	report_rows_add_value(&tree->rows, edge->weight);
	buf_byte(out, ' ');
	units_percent(out, edge->weight, cum);
	buf_str(out, " |   ");
	add_name(tree, other);
	if (!edge->called)
		buf_str(out, " (inline)");
	buf_byte(out, '\n');
}

static void add_function(struct tree *tree, const struct table_row *row,
			 __int128 sum)
{
	const struct graph_edge *edges;
	size_t nr, i;

	buf_str(&tree->rows.out, SEPARATOR);
	edges = graph_calls_to(&tree->graph, row->row, &nr);
	for (i = 0; i < nr; i++)
		add_call(tree, &edges[i], edges[i].caller, row->cum);
	report_rows_add_figures(&tree->rows, row, sum);
	buf_str(&tree->rows.out, "                | ");
	add_name(tree, row->row);
	buf_byte(&tree->rows.out, '\n');
	edges = graph_calls_from(&tree->graph, row->row, &nr);
	for (i = 0; i < nr; i++)
		add_call(tree, &edges[i], edges[i].callee, row->cum);
}

static enum pprof_status add_functions(struct tree *tree,
				       struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct report_rows *rows = &tree->rows;
	const struct table_row *row;
	__int128 sum = 0;
	size_t i;

	for (i = 0; !status && i < rows->table.nr; i++) {
		row = &rows->table.rows[i];
		if (!(tree->parts[row->row] & GRAPH_CALLS_TO))
			continue;
		sum += row->flat;
		add_function(tree, row, sum);
		if (rows->out.len >= CHUNK_BYTES)
			status = sink_take_buf(tree->sink, &rows->out, err);
	}
	return status;
}

/* Mark what is shown, and of which of it the calls. Returns how many. */
static size_t select_rows(struct tree *tree, report_select_fn select,
			  void *ctx)
{
	const struct report_rows *rows = &tree->rows;
	size_t nr = 0, i;
	uint32_t row;

	for (i = 0; i < rows->table.nr; i++) {
		row = rows->table.rows[i].row;
		tree->parts[row] = GRAPH_SHOWN;
		if (select && !select(ctx, frame_name(&rows->frames, row),
				      frame_name_len(&rows->frames, row)))
			continue;
		tree->parts[row] = GRAPH_WHOLE;
		nr++;
	}
	return nr;
}

static enum pprof_status write_tree(struct tree *tree,
				    struct pprof_error *err)
{
	struct report_rows *rows = &tree->rows;
	enum pprof_status status;

	status = graph_init(&tree->graph, &rows->table, &rows->frames,
			    rows->profile, tree->parts, err);
	if (status)
		return status;
	report_rows_trim_calls(rows, &tree->graph);
	report_rows_add_head(rows);
	buf_str(&rows->out, SEPARATOR LEGEND);
	status = add_functions(tree, err);
	if (rows->table.nr)
		buf_str(&rows->out, SEPARATOR);
	if (!status)
		status = sink_take_buf(tree->sink, &rows->out, err);
	graph_fini(&tree->graph);
	return status;
}

static enum pprof_status run(struct tree *tree, report_select_fn select,
			     void *ctx, size_t *ret_nr,
			     struct pprof_error *err)
{
	size_t nr;

	/* A mean along a call would not be that of either function. */
	if (tree->rows.opts.mean)
		return error_plain(err, PPROF_USAGE, NULL,
				   "calls between functions have no mean");
	tree->parts = mem_zalloc(tree->rows.frames.nr, 1);
	if (!tree->parts)
		return error_nomem(err);
	report_rows_limit(&tree->rows);
	nr = select_rows(tree, select, ctx);
	if (ret_nr)
		*ret_nr = nr;
	return select && !nr ? PPROF_OK : write_tree(tree, err);
}

enum pprof_status report_tree(const struct pprof_profile *profile,
			      const struct pprof_top_opts *opts,
			      report_select_fn select, void *ctx,
			      size_t *ret_nr, struct pprof_sink *sink,
			      struct pprof_error *err)
{
	struct tree tree = { .sink = sink };
	enum pprof_status status = report_rows_init(&tree.rows, profile, opts,
						    err);

	if (!status)
		status = run(&tree, select, ctx, ret_nr, err);
	mem_free(tree.parts);
	report_rows_fini(&tree.rows);
	return status;
}

enum pprof_status pprof_report_tree(const struct pprof_profile *profile,
				    const struct pprof_top_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	return report_tree(profile, opts, NULL, NULL, NULL, sink, err);
}
