/* SPDX-License-Identifier: Apache-2.0
 *
 * One job of the join: the units that share a line program, with the
 * addresses given to them.
 */
#ifndef SYMBOLIZE_JOIN_UNIT_H
#define SYMBOLIZE_JOIN_UNIT_H

#include "symbolize/claims.h"
#include "symbolize/join.h"

struct join_job {
	const struct claim *pairs; /* by unit, then by target */
	size_t nr_pairs;
	uint64_t weight;           /* bytes of its units */
	bool is_first;             /* these units own their addresses */

	/* What was broken; told when all jobs are done. */
	bool is_unit_broken, are_lines_broken, is_split_missing;
	uint64_t broken_unit, broken_lines, missing_split; /* offsets */
};

/* Answer the job's addresses as far as they are found. OK, NOMEM, LIMIT. */
enum pprof_status join_run_job(struct join_worker *worker,
			       struct join_job *job);

/* Answer address `target` by its symbol alone. OK, NOMEM, LIMIT. */
enum pprof_status join_answer_symbol(struct join_worker *worker,
				     size_t target);

#endif
