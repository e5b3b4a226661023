/* SPDX-License-Identifier: Apache-2.0
 *
 * The call graph for Graphviz: a box for each function, as large as its flat
 * value, an arrow for each call, dotted where it passes over functions that
 * are left out. Which of them are drawn is as with `go tool pprof -dot`.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/report_rows.h"
#include "view/graph.h"
#include "view/text.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps that may be spent on arrows another way makes needless. */
#define STEPS_MAX ((uint64_t)1 << 28)

/* Sizes of type, in points. */
#define SMALL_TYPE 8
#define TYPE_GROWTH 16

struct dot {
	struct report_rows rows;
	struct graph graph;
	uint8_t *parts;      /* [frames.nr] enum graph_part */
	uint32_t *number;    /* [frames.nr] of its box, from 1; 0: none */
	uint32_t *queue;     /* [frames.nr] */
	struct buf name;
};

/* A row by how much its calls differ: what is worth to be looked at. */
struct scored {
	uint64_t score;
	struct table_row row;
};

/* Entropy of what goes along calls, and of `self`, in bits. */
static double entropy(const struct graph_edge *edges, size_t nr, int64_t self)
{
	double total = (double)self, bits = 0, part;
	size_t i;

	if (!nr)
		return 1;
	for (i = 0; i < nr; i++)
		total += (double)edges[i].weight;
	if (total == 0)
		return 0;
	for (i = 0; i < nr; i++) {
		part = fabs((double)edges[i].weight / total);
		bits -= part > 0 ? part * log2(part) : 0;
	}
	part = (double)self / fabs(total);
	return self > 0 ? bits - part * log2(part) : bits;
}

static int compare_scored(const void *a, const void *b)
{
	const struct scored *sa = a, *sb = b;

	if (sa->score != sb->score)
		return sa->score < sb->score ? 1 : -1;
	return (sa->row.row > sb->row.row) - (sa->row.row < sb->row.row);
}

/* False when out of memory. */
static bool sort_rows(struct dot *dot)
{
	struct table *table = &dot->rows.table;
	struct scored *scored = mem_alloc(table->nr + 1, sizeof(*scored));
	const struct graph_edge *edges;
	struct table_row *row;
	double bits;
	size_t nr, i;

	if (!scored)
		return false;
	for (i = 0; i < table->nr; i++) {
		row = &table->rows[i];
		edges = graph_calls_to(&dot->graph, row->row, &nr);
		bits = entropy(edges, nr, 0);
		edges = graph_calls_from(&dot->graph, row->row, &nr);
		bits += entropy(edges, nr, row->flat);
		bits = fmin(fabs(trunc(bits * (double)row->cum) +
				 (double)row->flat), 0x1p63);
		scored[i].score = (uint64_t)bits;
		scored[i].row = *row;
	}
	qsort(scored, table->nr, sizeof(*scored), compare_scored);
	for (i = 0; i < table->nr; i++)
		table->rows[i] = scored[i].row;
	mem_free(scored);
	return true;
}

/* The calls among the rows as they are now, which are then put in order. */
static enum pprof_status make_graph(struct dot *dot, struct pprof_error *err)
{
	struct report_rows *rows = &dot->rows;
	enum pprof_status status;
	size_t i;

	memset(dot->parts, 0, rows->frames.nr);
	for (i = 0; i < rows->table.nr; i++)
		dot->parts[rows->table.rows[i].row] = GRAPH_WHOLE;
	graph_fini(&dot->graph);
	status = graph_init(&dot->graph, &rows->table, &rows->frames,
			    rows->profile, dot->parts, err);
	if (!status && !sort_rows(dot))
		status = error_nomem(err);
	return status;
}

/* Another way leads to where the edge leads from where it comes. */
static bool is_needless(struct dot *dot, const struct graph_edge *edge)
{
	const struct graph_edge *calls;
	size_t nr_queue = 0, at, nr, i;
	bool found = false;

	dot->queue[nr_queue++] = edge->callee;
	dot->parts[edge->callee] = 0;
	for (at = 0; !found && at < nr_queue; at++) {
		calls = graph_calls_to(&dot->graph, dot->queue[at], &nr);
		for (i = 0; !found && i < nr; i++) {
			if (&calls[i] == edge || calls[i].gone ||
			    !dot->parts[calls[i].caller])
				continue;
			found = calls[i].caller == edge->caller;
			dot->parts[calls[i].caller] = 0;
			dot->queue[nr_queue++] = calls[i].caller;
		}
	}
	while (nr_queue)
		dot->parts[dot->queue[--nr_queue]] = GRAPH_WHOLE;
	return found;
}

/* Least first, and none that is heavier than a call that passes over none. */
static void drop_needless(struct dot *dot)
{
	const struct table *table = &dot->rows.table;
	const struct graph_edge *calls;
	struct graph_edge *edge;
	uint64_t steps = 0;
	size_t row, nr;

	for (row = table->nr; row--;) {
		calls = graph_calls_to(&dot->graph, table->rows[row].row, &nr);
		while (nr && calls[nr - 1].residual) {
			edge = &dot->graph.in[(size_t)(calls - dot->graph.in)
					      + --nr];
			steps += dot->graph.nr;
			if (steps > STEPS_MAX)
				return;
			edge->gone = is_needless(dot, edge);
		}
	}
}

/* Append masked text for between quotes. */
static void add_quoted(struct buf *out, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			buf_byte(out, '\\');
		buf_byte(out, text[i]);
	}
}

static void mask_name(struct dot *dot, uint32_t row)
{
	const struct frames *frames = &dot->rows.frames;

	buf_reset(&dot->name);
	text_mask(&dot->name, frame_name(frames, row),
		  frame_name_len(frames, row));
	if (!buf_ok(&dot->name))
		dot->rows.out.failed = true;
}

static void add_name(struct dot *dot, uint32_t row)
{
	mask_name(dot, row);
	add_quoted(&dot->rows.out, dot->name.data, dot->name.len);
}

/* The name with a line for each scope that it is in. */
static void add_name_lines(struct dot *dot, uint32_t row)
{
	struct buf *out = &dot->rows.out;
	const char *text;
	size_t i, start = 0;
	int depth = 0;

	mask_name(dot, row);
	text = dot->name.data;
	for (i = 0; i + 1 < dot->name.len; i++) {
		depth += !!strchr("<([{", text[i]);
		depth -= depth > 0 && strchr(">)]}", text[i]);
		if (depth || text[i] != ':' || text[i + 1] != ':')
			continue;
		add_quoted(out, text + start, i - start);
		buf_str(out, "\\n");
		start = ++i + 1;
	}
	add_quoted(out, text + start, dot->name.len - start);
	buf_str(out, "\\n");
}

static uint8_t shade(double light)
{
	return (uint8_t)(light * 255);
}

/*
 * Grey for nothing, red for what is there, green for what is less: `name` of
 * the attribute, `light` and `depth` of the colour at the whole total.
 */
static void add_color(struct buf *out, const char *name, int64_t value,
		      int64_t total, double light, double depth)
{
	double share = total ? (double)value / fabs((double)total) : 0;
	double size = fmin(fabs(share), 1), main_part = light, other;

	if (size < 0.2)
		depth *= size / 0.2;
	/* Small shares are to be told from none. */
	other = light * (1 - depth * pow(size, 0.3));
	buf_printf(out, " %s=\"#%02x%02x%02x\"", name,
		   shade(share < 0 ? other : main_part),
		   shade(share < 0 ? main_part : other),
		   shade(light * (1 - depth)));
}

static void add_share(struct dot *dot, int64_t value)
{
	struct report_rows *rows = &dot->rows;

	report_rows_add_bare(rows, value);
	buf_str(&rows->out, " (");
	report_rows_add_percent(rows, value, rows->table.total);
	buf_byte(&rows->out, ')');
}

static int type_size(int64_t flat, uint64_t largest)
{
	if (!flat)
		return SMALL_TYPE;
	return SMALL_TYPE +
	       (int)ceil(TYPE_GROWTH * sqrt((double)magnitude_i64(flat) /
					    (double)largest));
}

static void add_box(struct dot *dot, const struct table_row *row,
		    uint64_t largest)
{
	struct buf *out = &dot->rows.out;
	uint32_t number = dot->number[row->row];

	buf_printf(out, "N%u [label=\"", number);
	add_name_lines(dot, row->row);
	if (row->flat)
		add_share(dot, row->flat);
	else
		buf_byte(out, '0');
	if (row->cum != row->flat) {
		buf_str(out, row->flat ? "\\nof " : " of ");
		add_share(dot, row->cum);
	}
	buf_printf(out, "\" id=\"node%u\" fontsize=%d shape=box tooltip=\"",
		   number, type_size(row->flat, largest));
	add_name(dot, row->row);
	buf_str(out, " (");
	report_rows_add_bare(&dot->rows, row->cum);
	buf_str(out, ")\"");
	add_color(out, "color", row->cum, dot->rows.table.total, 0.7, 1);
	add_color(out, "fillcolor", row->cum, dot->rows.table.total, 0.93,
		  0.1);
	buf_str(out, "]\n");
}

/* 1 to 1 + `most`, by the share of the value. */
static int grade(int64_t value, int64_t total, int most)
{
	double grade = total ? fabs((double)value / (double)total) * most : 0;

	return 1 + (int)fmin(grade, most);
}

static void add_arrow(struct dot *dot, const struct graph_edge *edge)
{
	struct buf *out = &dot->rows.out;
	int64_t total = dot->rows.table.total;

	buf_printf(out, "N%u -> N%u [label=\" ", dot->number[edge->caller],
		   dot->number[edge->callee]);
	report_rows_add_bare(&dot->rows, edge->weight);
	buf_printf(out, "%s\" weight=%d penwidth=%d",
		   edge->called ? "" : "\\n (inline)",
		   grade(edge->weight, total, 100),
		   grade(edge->weight, total, 5));
	add_color(out, "color", edge->weight, total, 0.7, 1);
	buf_str(out, " tooltip=\"");
	add_name(dot, edge->caller);
	buf_str(out, edge->residual ? " ... " : " -> ");
	add_name(dot, edge->callee);
	buf_str(out, " (");
	report_rows_add_bare(&dot->rows, edge->weight);
	buf_printf(out, ")\"%s]\n", edge->residual ? " style=\"dotted\"" : "");
}

/* What stands above other reports, as a box; its lines are left-aligned. */
static void add_legend(struct dot *dot)
{
	struct buf *out = &dot->rows.out;
	struct buf head;
	const char *line, *end;

	buf_init(&head, PTRDIFF_MAX);
	report_rows_add_head(&dot->rows);
	buf_add(&head, out->data, out->len);
	buf_reset(out);
	buf_str(out, "digraph profile {\n"
		     "node [style=filled fillcolor=\"#f8f8f8\"]\n"
		     "subgraph cluster_legend { legend [shape=box "
		     "fontsize=16 label=\"");
	for (line = head.data; line && line < head.data + head.len;
	     line = end + 1) {
		end = memchr(line, '\n',
			     (size_t)(head.data + head.len - line));
		if (!end)
			break;
		add_quoted(out, line, (size_t)(end - line));
		buf_str(out, "\\l");
	}
	buf_str(out, "\"] }\n");
	if (!buf_ok(&head))
		out->failed = true;
	buf_fini(&head);
}

static int compare_arrows(const void *a, const void *b)
{
	const struct graph_edge *ea = a, *eb = b;
	uint64_t wa = magnitude_i64(ea->weight), wb = magnitude_i64(eb->weight);

	if (wa != wb)
		return wa < wb ? 1 : -1;
	if (ea->caller != eb->caller)
		return ea->caller < eb->caller ? -1 : 1;
	return (ea->callee > eb->callee) - (ea->callee < eb->callee);
}

static enum pprof_status write_dot(struct dot *dot, struct pprof_sink *sink,
				   struct pprof_error *err)
{
	const struct table *table = &dot->rows.table;
	struct graph *graph = &dot->graph;
	uint64_t largest = 0, flat;
	size_t i;

	add_legend(dot);
	for (i = 0; i < table->nr; i++) {
		dot->number[table->rows[i].row] = (uint32_t)i + 1;
		flat = magnitude_i64(table->rows[i].flat);
		largest = flat > largest ? flat : largest;
	}
	for (i = 0; i < table->nr; i++)
		add_box(dot, &table->rows[i], largest);
	if (graph->nr)
		qsort(graph->in, graph->nr, sizeof(*graph->in),
		      compare_arrows);
	for (i = 0; i < graph->nr; i++)
		if (!graph->in[i].gone)
			add_arrow(dot, &graph->in[i]);
	buf_str(&dot->rows.out, "}\n");
	return sink_take_buf(sink, &dot->rows.out, err);
}

static enum pprof_status draw(struct dot *dot, struct pprof_sink *sink,
			      struct pprof_error *err)
{
	struct report_rows *rows = &dot->rows;
	enum pprof_status status;
	size_t nr = rows->frames.nr;

	if (rows->opts.mean)
		return error_plain(err, PPROF_USAGE, NULL,
				   "calls between functions have no mean");
	dot->parts = mem_zalloc(nr, 1);
	dot->number = mem_zalloc(nr, sizeof(*dot->number));
	dot->queue = mem_zalloc(nr, sizeof(*dot->queue));
	if (!dot->parts || !dot->number || !dot->queue)
		return error_nomem(err);
	status = make_graph(dot, err);
	report_rows_limit(rows);
	if (!status && rows->table.nr < rows->nr_whole)
		status = make_graph(dot, err);
	if (status)
		return status;
	rows->nr_calls_dropped = report_rows_trim_calls(rows, &dot->graph);
	drop_needless(dot);
	return write_dot(dot, sink, err);
}

enum pprof_status pprof_report_dot(const struct pprof_profile *profile,
				   const struct pprof_top_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct dot dot;
	enum pprof_status status;

	memset(&dot, 0, sizeof(dot));
	buf_init(&dot.name, PTRDIFF_MAX);
	status = report_rows_init(&dot.rows, profile, opts, err);
	if (!status)
		status = draw(&dot, sink, err);
	graph_fini(&dot.graph);
	mem_free(dot.parts);
	mem_free(dot.number);
	mem_free(dot.queue);
	buf_fini(&dot.name);
	report_rows_fini(&dot.rows);
	return status;
}
