/* SPDX-License-Identifier: Apache-2.0
 *
 * One job: walk the units, run their line program once, and put names,
 * files and lines together to frames.
 */
#include <config.h>

#include "symbolize/join_unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "symbolize/lines.h"
#include "symbolize/split.h"

/* Frames of one batch in one thread. */
#define MAX_FRAMES ((size_t)1 << 26)

/* Arrays by pair, in the order of the job's pairs. */
struct work {
	struct join_worker *worker;
	struct join_job *job;
	uint64_t *vaddrs;
	struct dwarf_scope **scopes;
	uint64_t *sizes;
	struct line_row *rows;
	struct line_table lines;
	bool has_lines;
	struct split_file **splits; /* opened for this job */
	size_t nr_splits, cap_splits;
	str_id *files;      /* by file number; STR_NONE: not asked yet */
	size_t nr_files;
};

static const struct dwarf_unit *unit_of(const struct work *work, size_t i)
{
	return &work->worker->input->file->units[work->job->pairs[i].unit];
}

static bool init_work(struct work *work, struct join_worker *worker,
		      struct join_job *job)
{
	const size_t nr = job->nr_pairs;
	size_t i;

	memset(work, 0, sizeof(*work));
	work->worker = worker;
	work->job = job;
	work->vaddrs = mem_alloc(nr, sizeof(*work->vaddrs));
	work->scopes = mem_zalloc(nr, sizeof(*work->scopes));
	work->sizes = mem_zalloc(nr, sizeof(*work->sizes));
	work->rows = mem_zalloc(nr, sizeof(*work->rows));
	if (!work->vaddrs || !work->scopes || !work->sizes || !work->rows)
		return false;
	for (i = 0; i < nr; i++)
		work->vaddrs[i] = worker->input->vaddrs[job->pairs[i].target];
	return true;
}

static void close_splits(struct work *work)
{
	size_t i;

	for (i = 0; i < work->nr_splits; i++) {
		dwarf_abbrev_cache_drop(&work->worker->abbrevs,
					&work->splits[i]->dwarf);
		split_close(work->splits[i]);
	}
	mem_free(work->splits);
}

static void fini_work(struct work *work)
{
	close_splits(work);
	if (work->has_lines)
		lines_fini(&work->lines);
	mem_free(work->vaddrs);
	mem_free(work->scopes);
	mem_free(work->sizes);
	mem_free(work->rows);
	mem_free(work->files);
}

/* The unit with the entries: a skeleton's lie elsewhere. */
static enum pprof_status find_entries(struct work *work,
				      const struct dwarf_unit **unit)
{
	struct join_worker *worker = work->worker;
	const struct dwarf_unit *split_unit = NULL;
	enum pprof_status status;
	struct split_file *split;

	if ((*unit)->split) {
		*unit = (*unit)->split;
		return PPROF_OK;
	}
	if (!split_is_needed(*unit))
		return PPROF_OK;
	if (!mem_grow(work->splits, work->cap_splits, work->nr_splits + 1,
		      UINT32_MAX))
		return PPROF_NOMEM;
	status = split_open_dwo(*unit, worker->input->path,
				worker->next_file_id++, &split, &split_unit);
	if (status)
		return status;
	if (split_unit) {
		work->splits[work->nr_splits++] = split;
		*unit = split_unit;
	} else {
		work->job->is_split_missing = true;
		work->job->missing_split = (*unit)->offset;
	}
	return PPROF_OK;
}

/* Walk one unit with the pairs [first, first + nr). */
static enum pprof_status walk_unit(struct work *work, size_t first, size_t nr)
{
	const struct dwarf_unit *unit = unit_of(work, first);
	struct dwarf_targets targets = {
		work->vaddrs + first, work->scopes + first,
		work->sizes + first, nr
	};
	enum pprof_status status;

	status = find_entries(work, &unit);
	if (status)
		return status;
	/* DWARF 2 does not tell where else its functions reach. */
	status = dwarf_walk(&work->worker->walker, unit,
			    work->job->is_first || unit->version == 2,
			    &targets);
	if (status == PPROF_FORMAT) {
		work->job->is_unit_broken = true;
		work->job->broken_unit = unit->offset;
		return PPROF_OK;
	}
	return status;
}

static enum pprof_status walk_units(struct work *work)
{
	const struct claim *pairs = work->job->pairs;
	const size_t nr = work->job->nr_pairs;
	enum pprof_status status = PPROF_OK;
	size_t first = 0, i;

	for (i = 1; i <= nr && !status; i++) {
		if (i < nr && pairs[i].unit == pairs[first].unit)
			continue;
		status = walk_unit(work, first, i - first);
		first = i;
	}
	return status;
}

/* An address of the job and where it stands there. */
struct placed {
	uint64_t vaddr;
	size_t pair;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* The addresses of several units, merged for their one line program. */
static enum pprof_status run_merged(struct work *work)
{
	const size_t nr = work->job->nr_pairs;
	enum pprof_status status = PPROF_NOMEM;
	struct line_row *rows = mem_zalloc(nr, sizeof(*rows));
	struct placed *placed = mem_alloc(nr, sizeof(*placed));
	uint64_t *vaddrs = mem_alloc(nr, sizeof(*vaddrs));
	size_t i;

	if (!rows || !placed || !vaddrs)
		goto out;
	for (i = 0; i < nr; i++) {
		placed[i].vaddr = work->vaddrs[i];
		placed[i].pair = i;
	}
	qsort(placed, nr, sizeof(*placed), compare_placed);
	for (i = 0; i < nr; i++)
		vaddrs[i] = placed[i].vaddr;
	status = lines_run(&work->lines, work->worker->input->text, vaddrs,
			   nr, rows);
	for (i = 0; i < nr; i++)
		work->rows[placed[i].pair] = rows[i];
out:
	mem_free(rows);
	mem_free(placed);
	mem_free(vaddrs);
	return status;
}

static bool is_ascending(const struct work *work)
{
	size_t i;

	for (i = 1; i < work->job->nr_pairs; i++) {
		if (work->vaddrs[i - 1] >= work->vaddrs[i])
			return false;
	}
	return true;
}

static enum pprof_status run_lines(struct work *work)
{
	const struct dwarf_unit *unit = unit_of(work, 0);
	enum pprof_status status;
	size_t i;

	if (!unit->has_stmt_list)
		return PPROF_OK;
	status = lines_init(&work->lines, unit);
	if (!status) {
		work->has_lines = true;
		if (is_ascending(work))
			status = lines_run(&work->lines,
					   work->worker->input->text,
					   work->vaddrs, work->job->nr_pairs,
					   work->rows);
		else
			status = run_merged(work);
	}
	if (status == PPROF_FORMAT) {
		work->job->are_lines_broken = true;
		work->job->broken_lines = unit->stmt_list;
		status = PPROF_OK;
	}
	if (status || !work->has_lines)
		return status;
	work->nr_files = work->lines.nr_files + 1;
	work->files = mem_alloc(work->nr_files, sizeof(*work->files));
	if (!work->files)
		return PPROF_NOMEM;
	for (i = 0; i < work->nr_files; i++)
		work->files[i] = STR_NONE;
	return PPROF_OK;
}

static enum pprof_status file_name(struct work *work, uint32_t file,
				   str_id *ret)
{
	struct buf *path = &work->worker->path;
	str_id id;

	*ret = 0;
	if (file >= work->nr_files)
		return PPROF_OK;
	if (work->files[file] == STR_NONE) {
		buf_reset(path);
		lines_path(&work->lines, file, path);
		if (!buf_ok(path))
			return PPROF_OK;
		id = strtab_add(&work->worker->namer.strings,
				path->len ? path->data : "", path->len);
		if (id == STR_NONE)
			return PPROF_NOMEM;
		work->files[file] = id;
	}
	*ret = work->files[file];
	return PPROF_OK;
}

static enum pprof_status add_frame(struct join_worker *worker,
				   const struct answer_frame *frame)
{
	if (worker->nr_frames == MAX_FRAMES)
		return PPROF_LIMIT;
	if (!mem_grow(worker->frames, worker->cap_frames,
		      worker->nr_frames + 1, MAX_FRAMES))
		return PPROF_NOMEM;
	worker->frames[worker->nr_frames++] = *frame;
	return PPROF_OK;
}

static void start_answer(struct join_worker *worker, size_t target,
			 enum answer_source source)
{
	struct join_answer *answer = &worker->answers[target];

	answer->worker = worker->index;
	answer->first_frame = worker->nr_frames;
	answer->nr_frames = 0;
	answer->source = (uint8_t)source;
}

/* Place in the source; of a row of the program, or of a call. */
struct place {
	uint32_t file, line, column;
};

static enum pprof_status set_place(struct work *work,
				   const struct place *place,
				   struct answer_frame *frame)
{
	frame->line = place->line;
	frame->column = place->column;
	return file_name(work, place->file, &frame->file);
}

static struct place place_of_row(const struct line_row *row)
{
	struct place place = { UINT32_MAX, 0, 0 };

	if (row->sequence) {
		place.file = row->file;
		place.line = row->line;
		place.column = row->column;
	}
	return place;
}

/* Name one scope; the function itself also by the symbol over it. */
static enum pprof_status set_name(struct work *work,
				  const struct dwarf_scope *scope,
				  size_t target, struct answer_frame *frame)
{
	struct join_worker *worker = work->worker;
	const struct symbol_hit *hit = &worker->input->hits[target];
	const struct namer_function *function;

	function = &worker->namer.functions[scope->function];
	frame->start_line = function->start_line;
	frame->name = function->name;
	frame->system_name = function->system_name;
	if (scope->outer || function->has_linkage_name || !hit->name ||
	    (!hit->size && function->is_named))
		return PPROF_OK;
	return namer_symbol(&worker->namer, hit->name, &frame->name,
			    &frame->system_name);
}

static enum pprof_status answer_scopes(struct work *work, size_t i)
{
	struct join_worker *worker = work->worker;
	const size_t target = work->job->pairs[i].target;
	struct place place = place_of_row(&work->rows[i]);
	const struct dwarf_scope *scope;
	enum pprof_status status = PPROF_OK;

	start_answer(worker, target, ANSWER_DWARF);
	for (scope = work->scopes[i]; scope && !status; scope = scope->outer) {
		struct answer_frame frame = { 0 };

		if (!worker->input->no_inlines || !scope->outer) {
			status = set_place(work, &place, &frame);
			if (!status)
				status = set_name(work, scope, target, &frame);
			if (!status)
				status = add_frame(worker, &frame);
			worker->answers[target].nr_frames++;
		}
		place.file = scope->call_file;
		place.line = scope->call_line;
		place.column = scope->call_column;
	}
	return status;
}

static enum pprof_status answer_symbol(struct join_worker *worker,
				       size_t target,
				       struct answer_frame *frame)
{
	const struct symbol_hit *hit = &worker->input->hits[target];
	enum pprof_status status;

	start_answer(worker, target, ANSWER_SYMBOL);
	status = namer_symbol(&worker->namer, hit->name, &frame->name,
			      &frame->system_name);
	if (!status)
		status = add_frame(worker, frame);
	worker->answers[target].nr_frames = 1;
	return status;
}

enum pprof_status join_answer_symbol(struct join_worker *worker, size_t target)
{
	struct answer_frame frame = { 0 };

	return answer_symbol(worker, target, &frame);
}

/* The unit has a line for the address, but only a symbol names it. */
static enum pprof_status answer_line(struct work *work, size_t i)
{
	const struct place place = place_of_row(&work->rows[i]);
	struct answer_frame frame = { 0 };
	enum pprof_status status;

	status = set_place(work, &place, &frame);
	return status ? status : answer_symbol(work->worker,
					       work->job->pairs[i].target,
					       &frame);
}

static enum pprof_status answer_all(struct work *work)
{
	const struct symbol_hit *hits = work->worker->input->hits;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; i < work->job->nr_pairs && !status; i++) {
		if (work->scopes[i])
			status = answer_scopes(work, i);
		else if (work->job->is_first &&
			 hits[work->job->pairs[i].target].name)
			status = answer_line(work, i);
	}
	return status;
}

/* Have the functions of all scopes named in one go. */
static enum pprof_status name_scopes(struct work *work)
{
	struct namer *namer = &work->worker->namer;
	enum pprof_status status = PPROF_OK;
	struct dwarf_scope *scope;
	size_t i;

	for (i = 0; i < work->job->nr_pairs; i++) {
		const uint16_t language = unit_of(work, i)->language;

		/* A scope that has its row has been through with the outer. */
		for (scope = work->scopes[i];
		     scope && scope->function == UINT32_MAX && !status;
		     scope = scope->outer)
			status = namer_add(namer, &scope->die, language,
					   &scope->function);
	}
	return status ? status : namer_flush(namer);
}

static bool is_found(const struct work *work)
{
	size_t i;

	for (i = 0; i < work->job->nr_pairs; i++) {
		if (work->scopes[i])
			return true;
	}
	return work->job->is_first;
}

enum pprof_status join_run_job(struct join_worker *worker,
			       struct join_job *job)
{
	enum pprof_status status = PPROF_NOMEM;
	struct work work;

	if (init_work(&work, worker, job))
		status = walk_units(&work);
	if (!status && is_found(&work)) {
		status = run_lines(&work);
		if (!status)
			status = name_scopes(&work);
		if (!status)
			status = answer_all(&work);
	}
	fini_work(&work);
	return status;
}
