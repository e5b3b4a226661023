/* SPDX-License-Identifier: Apache-2.0
 *
 * The public symbolizer: collects the addresses of a profile, has files
 * chosen for them, asks each file once for all its addresses, and reports.
 */
#include <config.h>

#include "symbolize/symbolize.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbolize/allocator.h"
#include "symbolize/draft.h"
#include "symbolize/perf_map.h"

#define MAX_THREADS 8

/* Instances of one file among which a hole is looked for. */
#define MAX_HOLE_BIASES 64

/* ------------------------------------------------------------- new and free */

/* Bytes of opts beyond what this library knows must be 0. */
static bool has_unknown_tail(const struct pprof_symbolize_opts *opts)
{
	const unsigned char *bytes = (const unsigned char *)opts;
	size_t i;

	for (i = sizeof(*opts); i < opts->size; i++)
		if (bytes[i])
			return true;
	return false;
}

unsigned symbolizer_threads(unsigned wanted)
{
	long online;

	if (wanted)
		return wanted;
	online = sysconf(_SC_NPROCESSORS_ONLN);
	if (online < 1)
		return 1;
	return online > MAX_THREADS ? MAX_THREADS : (unsigned)online;
}

enum pprof_status
pprof_symbolizer_new(const struct pprof_symbolize_opts *opts,
		     struct pprof_symbolizer **ret_symbolizer,
		     struct pprof_error *err)
{
	struct pprof_symbolizer *s;
	enum pprof_status status;

	if (opts && has_unknown_tail(opts))
		return error_plain(err, PPROF_USAGE, NULL, "options have "
				   "members that this library does not know");
	s = mem_zalloc(1, sizeof(*s));
	if (!s)
		return error_nomem(err);
	if (opts)
		memcpy(&s->opts, opts, opts->size < sizeof(s->opts)
					       ? opts->size : sizeof(s->opts));
	diags_init(&s->diags, "symbols");
	arena_init(&s->strings, REPORT_TEXT_MAX);
	s->module_opts.names = s->opts.names;
	s->module_opts.no_inlines = s->opts.no_inlines;
	s->module_opts.nr_threads = symbolizer_threads(s->opts.nr_threads);
	s->module_opts.diags = &s->diags;
	status = finder_init(&s->finder, &s->opts, err);
	s->finder.diags = &s->diags;
	if (status) {
		pprof_symbolizer_free(s);
		return status;
	}
	*ret_symbolizer = s;
	return PPROF_OK;
}

void pprof_symbolizer_free(struct pprof_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	finder_fini(&symbolizer->finder);
	arena_fini(&symbolizer->strings);
	mem_free(symbolizer->reports);
	mem_free(symbolizer);
}

/* --------------------------------------------------- collecting addresses */

/* Code of no file, which text moved to huge pages looks like as well. */
static bool may_be_hole(const struct run *run, map_id map)
{
	const uint32_t image = run->images.of_map[map];
	const char *name;

	if (!map || image == IMAGE_NONE)
		return true;
	if (!run->images.images[image].is_pseudo)
		return false;
	name = image_name(run, image);
	return !strncmp(name, "[anon", 5) || !strncmp(name, "//anon", 6) ||
	       !strncmp(name, "/anon_hugepage", 14);
}

/*
 * A return address that its function signed (aarch64 PAC): the mapping that
 * holds it without the signature, whose place depends on the address space.
 */
static map_id find_signed(const struct run *run, uint64_t address,
			  uint64_t *ret_plain)
{
	static const unsigned widths[] = { 52, 48, 47, 42, 39 };
	uint64_t plain;
	map_id map;
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		plain = address & ((UINT64_C(1) << widths[i]) - 1);
		if (plain == address)
			continue;
		map = images_find(&run->images, plain);
		if (map && !(run->profile->mappings[map].flags &
			     MAP_NOT_CODE)) {
			*ret_plain = plain;
			return map;
		}
	}
	return 0;
}

/* An address outside every file: a hole, a signed pointer, or nothing. */
static void look_outside(struct run *run, struct ask *ask)
{
	uint32_t below;

	ask->map = run->profile->locations[ask->loc].mapping
			   ? 0 : find_signed(run, ask->address, &ask->address);
	if (ask->map) {
		ask->is_signed = true;
		ask->image = run->images.of_map[ask->map];
		run->targets[ask->image].nr_wanted++;
		return;
	}
	images_neighbours(&run->images, ask->address, &below, &ask->above);
	ask->image = below;
	if (below != IMAGE_NONE && below == ask->above)
		run->targets[below].nr_wanted++;
}

static bool collect_location(struct run *run, loc_id id)
{
	const struct location *loc = &run->profile->locations[id];
	const uint32_t image = run->images.of_map[loc->mapping];
	struct ask *ask;

	if (loc->nr_lines && !run->symbolizer->opts.redo) {
		if (image != IMAGE_NONE)
			run->targets[image].has_named = true;
		return true;
	}
	if (!loc->address)
		return true;
	if (!mem_grow(run->asks, run->cap_asks, run->nr_asks + 1, UINT32_MAX))
		return false;
	ask = &run->asks[run->nr_asks++];
	memset(ask, 0, sizeof(*ask));
	ask->address = loc->address;
	ask->loc = id;
	ask->bias = BIAS_NONE;
	ask->above = IMAGE_NONE;
	if (may_be_hole(run, loc->mapping)) {
		look_outside(run, ask);
		return true;
	}
	ask->map = loc->mapping;
	ask->image = image;
	run->targets[image].nr_wanted++;
	return true;
}

static enum pprof_status collect(struct run *run)
{
	size_t i;

	for (i = 1; i < run->profile->nr_locations; i++)
		if (!collect_location(run, (loc_id)i))
			return error_nomem(run->err);
	return PPROF_OK;
}

/* -------------------------------------------------- run time to link time */

static bool is_inside(const struct mapping *map, uint64_t address)
{
	return mapping_is_normalised(map) ||
	       (address >= map->start && address < map->limit);
}

/* Link-time address of an address in a mapping of its file. */
static void translate(struct run *run, struct ask *ask)
{
	const struct target *target = &run->targets[ask->image];
	const uint32_t row = run->images.row_of_map[ask->map];

	if (!target->binary ||
	    !is_inside(&run->profile->mappings[ask->map], ask->address) ||
	    (ask->is_signed && target->binary->machine != EM_AARCH64)) {
		if (ask->is_signed)
			ask->image = IMAGE_NONE;
		return;
	}
	ask->bias = target->placement.row_bias[row];
	if (ask->bias != BIAS_NONE)
		ask->vaddr = ask->address -
			     target->placement.biases[ask->bias];
}

/* Mapping with code of this instance, to take an address from a hole. */
static map_id code_mapping(const struct run *run, uint32_t image,
			   uint32_t bias)
{
	const struct image *rows = &run->images.images[image];
	const struct target *target = &run->targets[image];
	map_id found = 0, map;
	uint32_t i;

	for (i = 0; i < rows->nr_rows; i++) {
		if (target->placement.row_bias[i] != bias)
			continue;
		map = run->images.rows[rows->first + i];
		if (!(run->profile->mappings[map].flags & MAP_NOT_CODE))
			return map;
		if (!found)
			found = map;
	}
	return found;
}

/* The address is in executable code of the image, whatever lies there. */
static bool claim_hole(struct run *run, struct ask *ask, uint32_t image)
{
	const struct target *target;
	struct elf_layout layout;
	uint64_t vaddr;
	uint32_t i;

	if (image == IMAGE_NONE || !run->targets[image].binary)
		return false;
	target = &run->targets[image];
	layout = binary_layout(target->binary);
	for (i = 0; i < target->placement.nr_biases && i < MAX_HOLE_BIASES;
	     i++) {
		vaddr = ask->address - target->placement.biases[i];
		if (!layout_has_code(&layout, vaddr))
			continue;
		ask->image = image;
		ask->bias = i;
		ask->vaddr = vaddr;
		ask->map = code_mapping(run, image, i);
		return true;
	}
	return false;
}

static int compare_asks(const void *a, const void *b)
{
	const struct ask *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return (x->loc > y->loc) - (x->loc < y->loc);
}

/* Group by image, and within by link-time address where known. */
static void sort_asks(struct run *run)
{
	struct target *target;
	size_t i;

	for (i = 0; i < run->images.nr; i++)
		run->targets[i].nr_asks = 0;
	if (run->nr_asks)
		qsort(run->asks, run->nr_asks, sizeof(*run->asks),
		      compare_asks);
	for (i = run->nr_asks; i; i--) {
		if (run->asks[i - 1].image == IMAGE_NONE)
			continue;
		target = &run->targets[run->asks[i - 1].image];
		target->first_ask = i - 1;
		target->nr_asks++;
	}
}

static void translate_all(struct run *run)
{
	struct ask *ask;
	size_t i;

	for (i = 0; i < run->nr_asks; i++) {
		ask = &run->asks[i];
		if (ask->map) {
			if (!run->images.images[ask->image].is_pseudo)
				translate(run, ask);
		} else if (!claim_hole(run, ask, ask->image) &&
			   !claim_hole(run, ask, ask->above)) {
			ask->image = IMAGE_NONE;
		}
	}
}

/* --------------------------------------------------------------- resolving */

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorted distinct link-time addresses of all images of one binary. */
static uint64_t *gather(const struct run *run, const struct binary *binary,
			size_t *ret_nr)
{
	uint64_t *vaddrs = NULL;
	size_t cap = 0, nr = 0, i, j, kept = 0;

	for (i = 0; i < run->images.nr; i++) {
		const struct target *target = &run->targets[i];

		if (target->binary != binary)
			continue;
		if (!mem_grow(vaddrs, cap, nr + target->nr_asks + 1,
			      SIZE_MAX / sizeof(*vaddrs))) {
			mem_free(vaddrs);
			return NULL;
		}
		for (j = 0; j < target->nr_asks; j++) {
			const struct ask *ask =
				&run->asks[target->first_ask + j];

			if (ask->bias != BIAS_NONE)
				vaddrs[nr++] = ask->vaddr;
		}
	}
	if (nr)
		qsort(vaddrs, nr, sizeof(*vaddrs), compare_addresses);
	for (i = 0; i < nr; i++)
		if (!i || vaddrs[i] != vaddrs[kept - 1])
			vaddrs[kept++] = vaddrs[i];
	*ret_nr = kept;
	return vaddrs;
}

/* Index of `vaddr`, which is among the sorted vaddrs[nr]. */
static size_t find_vaddr(const uint64_t *vaddrs, size_t nr, uint64_t vaddr)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (vaddrs[middle] < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum pprof_status name_image(struct run *run, struct draft *draft,
				     const struct target *target,
				     const uint64_t *vaddrs,
				     const struct answers *answers)
{
	enum pprof_status status = PPROF_OK;
	size_t i, answer;

	for (i = 0; !status && i < target->nr_asks; i++) {
		struct ask *ask = &run->asks[target->first_ask + i];

		if (ask->bias == BIAS_NONE)
			continue;
		answer = find_vaddr(vaddrs, answers->nr, ask->vaddr);
		if (answers->start[answer] == answers->start[answer + 1])
			continue;
		ask->source = answers->source[answer];
		run->nr_named++;
		status = draft_frames(draft, ask->loc, ask->map, answers,
				      answer, run->err);
	}
	return status;
}

/* Fill in the build ID of the mappings that this file was proved to be. */
static enum pprof_status fill_build_id(struct run *run, struct draft *draft,
					size_t image)
{
	const struct image *rows = &run->images.images[image];
	const struct target *target = &run->targets[image];
	const char *id = target->binary->build_id;
	str_id text;
	uint32_t i;

	if (!id[0] || target->is_forced || !target->nr_asks)
		return PPROF_OK;
	text = draft_text(draft, id, strlen(id), run->err);
	if (text == STR_NONE)
		return PPROF_NOMEM;
	for (i = 0; i < rows->nr_rows; i++) {
		struct mapping *map =
			&draft->next.mappings[run->images.rows[rows->first +
							       i]];

		if (!map->build_id &&
		    target->placement.row_bias[i] != BIAS_NONE)
			map->build_id = text;
	}
	return PPROF_OK;
}

static enum pprof_status note_force(struct run *run, struct draft *draft,
				     size_t image)
{
	const struct target *target = &run->targets[image];
	const char *mapped = profile_str(run->profile,
		run->images.images[image].build_id);
	char text[1024];

	if (!target->is_forced || !target->nr_asks)
		return PPROF_OK;
	format_masked(text, sizeof(text), "symbolized by force: %s (build ID "
		      "%s) for %s (build ID %s)", target->binary->path,
		      target->binary->build_id[0] ? target->binary->build_id
						  : "none",
		      image_name(run, image), *mapped ? mapped : "unknown");
	return draft_comment(draft, text, run->err);
}

/* All images of one binary, from its answers. */
static enum pprof_status name_binary(struct run *run, struct draft *draft,
				      const struct binary *binary,
				      const uint64_t *vaddrs,
				      const struct answers *answers)
{
	enum pprof_status status;
	size_t i;

	status = draft_answers(draft, answers, run->err);
	for (i = 0; !status && i < run->images.nr; i++) {
		if (run->targets[i].binary != binary)
			continue;
		status = name_image(run, draft, &run->targets[i], vaddrs,
				     answers);
		if (!status)
			status = fill_build_id(run, draft, i);
		if (!status)
			status = note_force(run, draft, i);
	}
	return status;
}

enum pprof_status binary_resolve(struct pprof_symbolizer *symbolizer,
				 struct binary *binary, const uint64_t *vaddrs,
				 size_t nr, struct answers *ret_answers,
				 struct pprof_error *err)
{
	enum pprof_status status;

	if (binary->symfile)
		return symfile_resolve(binary->symfile, binary->path, vaddrs,
				       nr, &symbolizer->module_opts,
				       ret_answers, err);
	status = finder_load(&symbolizer->finder, binary,
			     &symbolizer->module_opts, err);
	return status ? status : module_resolve(binary->module, vaddrs, nr,
						ret_answers, err);
}

static enum pprof_status resolve_binary(struct run *run, struct draft *draft,
					struct binary *binary)
{
	enum pprof_status status = PPROF_OK;
	struct answers answers;
	uint64_t *vaddrs;
	size_t nr = 0;

	vaddrs = gather(run, binary, &nr);
	if (!vaddrs)
		return error_nomem(run->err);
	if (nr)
		status = binary_resolve(run->symbolizer, binary, vaddrs, nr,
					&answers, run->err);
	if (!status && nr) {
		status = name_binary(run, draft, binary, vaddrs, &answers);
		answers_fini(&answers);
	}
	mem_free(vaddrs);
	/* A file of no use leaves its addresses as they are. */
	return status == PPROF_NOMEM || status == PPROF_LIMIT ? status
							      : PPROF_OK;
}

/* Each binary once, though several images may have it. */
static enum pprof_status resolve_all(struct run *run, struct draft *draft)
{
	enum pprof_status status = PPROF_OK;
	size_t i, j;

	for (i = 0; !status && i < run->images.nr; i++) {
		struct binary *binary = run->targets[i].binary;

		for (j = 0; j < i && binary; j++)
			if (run->targets[j].binary == binary)
				binary = NULL;
		if (binary)
			status = resolve_binary(run, draft, binary);
	}
	return status;
}

/* Note whose locations left every stack. */
static enum pprof_status mark_dropped(struct run *run,
				      const struct draft *draft)
{
	const struct stacks *stacks = &draft->restacked.stacks;
	uint8_t *used = mem_zalloc(draft->next.nr_locations, 1);
	size_t i;

	if (!used)
		return error_nomem(run->err);
	for (i = 0; i < stacks->nr_locs; i++)
		used[stacks->locs[i]] = 1;
	for (i = 0; i < run->nr_asks; i++)
		run->asks[i].is_dropped = !used[run->asks[i].loc];
	mem_free(used);
	return PPROF_OK;
}

/*
 * Allocator frames go when names came, or at the first attempt: a second one
 * could take an application's frames for the allocator's.
 */
static enum pprof_status drop_allocator(struct run *run, struct draft *draft)
{
	struct pprof_symbolizer *s = run->symbolizer;
	enum pprof_status status;

	if (s->opts.keep_allocator_frames || !run->nr_asks ||
	    (!run->nr_named && run->profile->drop_frames) ||
	    !allocator_applies(run->profile))
		return PPROF_OK;
	status = draft_drop_allocator(draft, &s->diags, run->err);
	return status ? status : mark_dropped(run, draft);
}

/* ------------------------------------------------------------------ running */

static enum pprof_status run_init(struct run *run)
{
	enum pprof_status status;

	status = images_init(&run->images, run->profile, run->err);
	if (status)
		return status;
	run->targets = mem_zalloc(run->images.nr, sizeof(*run->targets));
	return run->targets ? PPROF_OK : error_nomem(run->err);
}

static void run_fini(struct run *run)
{
	size_t i;

	for (i = 0; run->targets && i < run->images.nr; i++)
		placement_fini(&run->targets[i].placement);
	mem_free(run->targets);
	mem_free(run->asks);
	images_fini(&run->images);
}

/* Everything that can fail, and then the swap of tables, which cannot. */
static enum pprof_status work(struct run *run, struct draft *draft)
{
	enum pprof_status status;

	status = resolve_all(run, draft);
	if (!status)
		status = perf_maps_name(run, draft);
	if (!status)
		status = drop_allocator(run, draft);
	if (!status)
		status = report_run(run);
	if (!status)
		draft_commit(draft);
	return status;
}

enum pprof_status
pprof_symbolizer_run(struct pprof_symbolizer *symbolizer,
		     struct pprof_profile *profile, struct pprof_error *err)
{
	struct run run = { .symbolizer = symbolizer, .profile = profile,
			   .err = err };
	enum pprof_status status;
	struct draft draft;

	arena_reset(&symbolizer->strings);
	symbolizer->nr_reports = 0;
	symbolizer->verdict = PPROF_VERDICT_SKIPPED;
	status = run_init(&run);
	if (!status)
		status = collect(&run);
	if (!status && run.nr_asks) {
		sort_asks(&run);
		status = choose_files(&run);
	}
	if (!status) {
		translate_all(&run);
		sort_asks(&run);
		status = draft_init(&draft, profile, err);
		if (!status)
			status = work(&run, &draft);
		draft_fini(&draft);
	}
	if (status)
		symbolizer->nr_reports = 0;
	run_fini(&run);
	diags_flush(&symbolizer->diags, symbolizer->opts.diag,
		    symbolizer->opts.diag_ctx);
	return status;
}
