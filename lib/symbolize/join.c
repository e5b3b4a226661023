/* SPDX-License-Identifier: Apache-2.0
 *
 * Dividing sorted addresses among units, running the units' jobs on several
 * threads, and asking further units where the first one knew no function.
 * Which unit answers never depends on the threads.
 */
#include <config.h>

#include "symbolize/join.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbolize/claims.h"
#include "symbolize/join_unit.h"

#define MAX_THREADS 64

/* Scopes of one thread. */
#define MAX_SCOPE_BYTES ((uint64_t)4 << 30)
#define MAX_PATH_BYTES ((size_t)1 << 20)

/* Jobs of one round, shared by the threads. */
struct round {
	struct join *join;
	struct join_job *jobs;
	size_t nr_jobs, cap_jobs;
	struct claim *pairs;   /* what the jobs have to do */
	size_t nr_pairs;
	size_t next;           /* atomic */
};

static enum pprof_status init_worker(struct join_worker *worker,
				     const struct join *join, uint32_t index)
{
	const struct dwarf_file *file = join->input.file;
	size_t i;

	worker->input = &join->input;
	worker->answers = join->answers;
	worker->index = index;
	worker->next_file_id = JOIN_FIRST_FILE_ID;
	arena_init(&worker->arena, MAX_SCOPE_BYTES);
	buf_init(&worker->path, MAX_PATH_BYTES);
	worker->walker.arena = &worker->arena;
	worker->walker.abbrevs = &worker->abbrevs;
	worker->walker.text = join->input.text;
	/* Shared lists are read again and again, but not without end. */
	worker->walker.nr_ranges_left = 1 << 20;
	for (i = 0; file && i < DWARF_NR_SECTIONS; i++)
		worker->walker.nr_ranges_left += file->sections[i].size * 8;
	return namer_init(&worker->namer, join->input.names,
			  &worker->abbrevs) ? PPROF_OK : PPROF_NOMEM;
}

static void fini_worker(struct join_worker *worker)
{
	namer_fini(&worker->namer);
	dwarf_walker_fini(&worker->walker);
	dwarf_abbrev_cache_fini(&worker->abbrevs);
	buf_fini(&worker->path);
	arena_fini(&worker->arena);
	mem_free(worker->frames);
}

static enum pprof_status init_workers(struct join *join, size_t nr)
{
	enum pprof_status status = PPROF_OK;

	join->workers = mem_zalloc(nr, sizeof(*join->workers));
	if (!join->workers)
		return PPROF_NOMEM;
	while (join->nr_workers < nr && !status) {
		status = init_worker(&join->workers[join->nr_workers], join,
				     (uint32_t)join->nr_workers);
		join->nr_workers++;
	}
	return status;
}

void join_fini(struct join *join)
{
	size_t i;

	for (i = 0; i < join->nr_workers; i++)
		fini_worker(&join->workers[i]);
	mem_free(join->workers);
	mem_free(join->answers);
}

static void *run_worker(void *arg)
{
	struct join_worker *worker = arg;
	struct round *round = worker->round;
	size_t i;

	while (!worker->status) {
		i = __atomic_fetch_add(&round->next, 1, __ATOMIC_RELAXED);
		if (i >= round->nr_jobs)
			break;
		worker->status = join_run_job(worker, &round->jobs[i]);
	}
	return NULL;
}

/* Run the jobs on all workers, the first of them in this thread. */
static enum pprof_status run_jobs(struct round *round)
{
	struct join *join = round->join;
	pthread_t threads[MAX_THREADS];
	size_t nr_started = 0, i;

	for (i = 0; i < join->nr_workers; i++)
		join->workers[i].round = round;
	while (nr_started + 1 < join->nr_workers &&
	       nr_started + 1 < round->nr_jobs) {
		if (pthread_create(&threads[nr_started], NULL, run_worker,
				   &join->workers[nr_started + 1]))
			break;
		nr_started++;
	}
	run_worker(&join->workers[0]);
	for (i = 0; i < nr_started; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < join->nr_workers; i++) {
		if (join->workers[i].status)
			return join->workers[i].status;
	}
	return PPROF_OK;
}

static const struct dwarf_unit *unit_of(const struct join *join,
					const struct claim *pair)
{
	return &join->input.file->units[pair->unit];
}

/* Units of one line program stand together; it is run once for all. */
static int compare_pairs(const void *a, const void *b, void *ctx)
{
	const struct claim *x = a, *y = b;
	const struct dwarf_unit *u = unit_of(ctx, x), *v = unit_of(ctx, y);

	if (u->has_stmt_list != v->has_stmt_list)
		return u->has_stmt_list < v->has_stmt_list ? -1 : 1;
	if (u->has_stmt_list && u->stmt_list != v->stmt_list)
		return u->stmt_list < v->stmt_list ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

static bool is_same_job(const struct join *join, const struct claim *a,
			const struct claim *b)
{
	const struct dwarf_unit *u = unit_of(join, a), *v = unit_of(join, b);

	return u == v || (u->has_stmt_list && v->has_stmt_list &&
			  u->stmt_list == v->stmt_list);
}

/* Longest first, so that no thread is left with a long one at the end. */
static int compare_jobs(const void *a, const void *b)
{
	const struct join_job *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->pairs > y->pairs) - (x->pairs < y->pairs);
}

static enum pprof_status make_jobs(struct round *round)
{
	struct join *join = round->join;
	struct join_job *job;
	size_t i;

	qsort_r(round->pairs, round->nr_pairs, sizeof(*round->pairs),
		compare_pairs, join);
	for (i = 0; i < round->nr_pairs; i++) {
		struct claim *pair = &round->pairs[i];

		if (!i || !is_same_job(join, pair - 1, pair)) {
			if (!mem_grow(round->jobs, round->cap_jobs,
				      round->nr_jobs + 1, UINT32_MAX))
				return PPROF_NOMEM;
			job = &round->jobs[round->nr_jobs++];
			memset(job, 0, sizeof(*job));
			job->pairs = pair;
		}
		job = &round->jobs[round->nr_jobs - 1];
		if (!job->nr_pairs || pair[-1].unit != pair->unit)
			job->weight += unit_of(join, pair)->size;
		job->nr_pairs++;
	}
	if (round->nr_jobs)
		qsort(round->jobs, round->nr_jobs, sizeof(*round->jobs),
		      compare_jobs);
	return PPROF_OK;
}

/* Tell what jobs found broken, in an order that no thread decides. */
static void tell_damage(const struct round *round, struct diags *diags)
{
	size_t i;

	for (i = 0; i < round->nr_jobs; i++) {
		const struct join_job *job = &round->jobs[i];

		if (job->is_unit_broken)
			diag_count(diags, PPROF_UNIT_BYTE, job->broken_unit,
				   "debug unit with broken entries");
		if (job->is_split_missing)
			diag_count(diags, PPROF_UNIT_BYTE, job->missing_split,
				   "split debug file not found");
		if (job->are_lines_broken)
			diag_count(diags, PPROF_UNIT_BYTE, job->broken_lines,
				   "broken line number program");
	}
}

static enum pprof_status run_round(struct round *round, bool is_first,
				   struct diags *diags)
{
	enum pprof_status status;
	size_t i;

	status = make_jobs(round);
	for (i = 0; i < round->nr_jobs; i++)
		round->jobs[i].is_first = is_first;
	if (!status)
		status = run_jobs(round);
	tell_damage(round, diags);
	mem_free(round->jobs);
	return status;
}

/* Rounds: the owner of each address, then further claimants if needed. */
static enum pprof_status run_claims(struct join *join,
				    const struct claims *claims,
				    struct diags *diags)
{
	enum pprof_status status = PPROF_OK;
	struct claim *pairs;
	uint32_t order = 0, rank;
	size_t i;

	pairs = mem_alloc(claims->nr, sizeof(*pairs));
	if (!pairs)
		return PPROF_NOMEM;
	for (; !status; order++) {
		struct round round = { join, NULL, 0, 0, pairs, 0, 0 };

		for (i = 0, rank = 0; i < claims->nr; i++) {
			const struct claim *row = &claims->rows[i];

			rank = i && row[-1].target == row->target ? rank + 1
								  : 0;
			if (rank == order && join->answers[row->target].source
					     != ANSWER_DWARF)
				pairs[round.nr_pairs++] = *row;
		}
		if (!round.nr_pairs)
			break;
		status = run_round(&round, !order, diags);
	}
	mem_free(pairs);
	return status;
}

/* Ask units that do not tell their addresses, in their order. */
static enum pprof_status run_unknown(struct join *join,
				     const struct claims *claims,
				     struct diags *diags)
{
	enum pprof_status status = PPROF_OK;
	struct claim *pairs;
	size_t i, k;

	if (!claims->nr_unknown)
		return PPROF_OK;
	pairs = mem_alloc(join->input.nr, sizeof(*pairs));
	if (!pairs)
		return PPROF_NOMEM;
	for (i = 0; i < claims->nr_unknown && !status; i++) {
		struct round round = { join, NULL, 0, 0, pairs, 0, 0 };

		for (k = 0; k < join->input.nr; k++) {
			if (join->answers[k].source == ANSWER_DWARF)
				continue;
			pairs[round.nr_pairs].target = (uint32_t)k;
			pairs[round.nr_pairs++].unit = claims->unknown[i];
		}
		if (!round.nr_pairs)
			break;
		status = run_round(&round, false, diags);
	}
	mem_free(pairs);
	return status;
}

/* Addresses that no unit knows: symbols alone. */
static enum pprof_status run_symbols(struct join *join)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; i < join->input.nr && !status; i++) {
		if (!join->answers[i].nr_frames && join->input.hits[i].name)
			status = join_answer_symbol(&join->workers[0], i);
	}
	return status;
}

static enum pprof_status run_all(struct join *join, struct diags *diags)
{
	const struct join_input *input = &join->input;
	enum pprof_status status;
	struct claims claims;

	if (!input->file)
		return run_symbols(join);
	status = claims_init(&claims, input->file, input->text, input->vaddrs,
			     input->nr, diags);
	if (!status)
		status = run_claims(join, &claims, diags);
	if (!status)
		status = run_unknown(join, &claims, diags);
	claims_fini(&claims);
	return status ? status : run_symbols(join);
}

enum pprof_status join_run(struct join *join, const struct join_input *input,
			   struct diags *diags, struct pprof_error *err)
{
	size_t nr_workers = input->nr_threads;
	enum pprof_status status;

	if (!nr_workers)
		nr_workers = 1;
	if (nr_workers > MAX_THREADS)
		nr_workers = MAX_THREADS;
	join->input = *input;
	join->answers = mem_zalloc(input->nr, sizeof(*join->answers));
	if (!join->answers)
		return error_nomem(err);
	status = init_workers(join, nr_workers);
	if (!status)
		status = run_all(join, diags);
	if (status == PPROF_LIMIT)
		return error_plain(err, status, NULL,
				   "too many frames in one batch");
	return status ? error_nomem(err) : PPROF_OK;
}
