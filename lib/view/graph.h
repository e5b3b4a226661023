/* SPDX-License-Identifier: Apache-2.0
 *
 * Who calls whom among the rows of a table, and how much of the values goes
 * along each call. Frames that are not shown are passed over: the nearest
 * shown frame on the way to the root counts as the caller.
 */
#ifndef VIEW_GRAPH_H
#define VIEW_GRAPH_H

#include "view/table.h"

/* What of a frame is in the graph. */
enum graph_part {
	GRAPH_SHOWN = 1 << 0,
	GRAPH_CALLS_TO = 1 << 1,   /* edges from any shown frame to it */
	GRAPH_CALLS_FROM = 1 << 2, /* and from it */
	GRAPH_WHOLE = GRAPH_SHOWN | GRAPH_CALLS_TO | GRAPH_CALLS_FROM
};

struct graph_edge {
	uint32_t caller; /* rows of the frames; never equal */
	uint32_t callee;
	int64_t weight;  /* of stacks with this call, each once; clamped */
	bool called;     /* some of the calls were no inlined code */
	bool residual;   /* some of them passed over frames */
	bool on_path;    /* while the graph is made */
	bool gone;       /* false; for those who draw some only */
};

struct graph {
	struct graph_edge *in;  /* [nr] by callee, then |weight| falling */
	struct graph_edge *out; /* [nr] by caller, then |weight| falling */
	size_t nr;
};

/*
 * The edges among frames by `parts`, [frames.nr] of enum graph_part.
 * `table`, whose walk is used, as table_init() left it for these frames.
 * OK, NOMEM; graph_fini() after OK.
 */
enum pprof_status graph_init(struct graph *graph, struct table *table,
			     const struct frames *frames,
			     const struct pprof_profile *profile,
			     const uint8_t *parts, struct pprof_error *err);
void graph_fini(struct graph *graph);

/* Drop edges whose |weight| is below `cutoff`. Returns how many. */
size_t graph_trim(struct graph *graph, uint64_t cutoff);

/* The calls to a frame, or from it; largest first, then by name. */
const struct graph_edge *graph_calls_to(const struct graph *graph,
					uint32_t row, size_t *ret_nr);
const struct graph_edge *graph_calls_from(const struct graph *graph,
					  uint32_t row, size_t *ret_nr);

/*
 * Set how the table's rows, as they are now, come to be called: by the rules
 * of go tool pprof, where calls between two functions count as inlined when
 * all of them are. `frames` and `profile` as in table_init(). OK, NOMEM.
 */
enum pprof_status graph_mark_inlined(struct table *table,
				     const struct frames *frames,
				     const struct pprof_profile *profile,
				     struct pprof_error *err);

#endif
