/* SPDX-License-Identifier: Apache-2.0
 *
 * Single addresses instead of a profile: of one file as it was linked, or of
 * a process through its mappings.
 */
#include <config.h>

#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/builder.h"

/* Who is to be told, and the frames that are shown. */
struct teller {
	pprof_resolved_fn fn;
	void *ctx;
	struct pprof_frame *frames;
	size_t cap_frames;
	struct pprof_error *err;
};

static enum pprof_status tell(struct teller *teller, uint64_t address,
			      size_t nr_frames, bool is_symbol)
{
	const struct pprof_resolved resolved = {
		.address = address,
		.frames = teller->frames,
		.nr_frames = nr_frames,
		.is_symbol = is_symbol,
	};

	return teller->fn(teller->ctx, &resolved, teller->err);
}

static bool reserve(struct teller *teller, size_t nr)
{
	return mem_grow(teller->frames, teller->cap_frames, nr + 1,
			UINT32_MAX);
}

/* --------------------------------------------------- link-time addresses */

/* An address and where it stands among those asked. */
struct wanted {
	uint64_t vaddr;
	size_t place;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/*
 * Sort addresses[nr] into vaddrs without repeats; answer_of[i] is where the
 * i-th one went.
 */
static bool sort_addresses(const uint64_t *addresses, size_t nr,
			   uint64_t *vaddrs, size_t *answer_of,
			   size_t *ret_nr)
{
	struct wanted *wanted = mem_alloc(nr, sizeof(*wanted));
	size_t kept = 0, i;

	if (!wanted)
		return false;
	for (i = 0; i < nr; i++) {
		wanted[i].vaddr = addresses[i];
		wanted[i].place = i;
	}
	if (nr)
		qsort(wanted, nr, sizeof(*wanted), compare_wanted);
	for (i = 0; i < nr; i++) {
		if (!i || wanted[i].vaddr != wanted[i - 1].vaddr)
			vaddrs[kept++] = wanted[i].vaddr;
		answer_of[wanted[i].place] = kept - 1;
	}
	mem_free(wanted);
	*ret_nr = kept;
	return true;
}

static enum pprof_status tell_answer(struct teller *teller, uint64_t address,
				     const struct answers *answers, size_t at)
{
	const size_t first = answers->start[at];
	const size_t nr = answers->start[at + 1] - first;
	size_t i;

	if (!reserve(teller, nr))
		return error_nomem(teller->err);
	for (i = 0; i < nr; i++) {
		const struct answer_frame *from = &answers->frames[first + i];
		struct pprof_frame *to = &teller->frames[i];

		to->name = strtab_text(&answers->strings, from->name);
		to->system_name = strtab_text(&answers->strings,
					      from->system_name);
		to->file = strtab_text(&answers->strings, from->file);
		to->line = from->line;
		to->column = from->column;
		to->start_line = from->start_line;
	}
	return tell(teller, address, nr,
		    answers->source[at] == ANSWER_SYMBOL);
}

static enum pprof_status resolve_sorted(struct pprof_symbolizer *symbolizer,
					struct binary *binary,
					const uint64_t *addresses, size_t nr,
					const uint64_t *vaddrs,
					size_t nr_vaddrs,
					const size_t *answer_of,
					struct teller *teller)
{
	struct answers answers;
	enum pprof_status status;
	size_t i;

	status = binary_resolve(symbolizer, binary, vaddrs, nr_vaddrs,
				&answers, teller->err);
	if (status)
		return status;
	for (i = 0; i < nr && !status; i++)
		status = tell_answer(teller, addresses[i], &answers,
				     answer_of[i]);
	answers_fini(&answers);
	return status;
}

enum pprof_status
pprof_symbolizer_resolve(struct pprof_symbolizer *symbolizer,
			 const char *path, const uint64_t *addresses,
			 size_t nr, pprof_resolved_fn fn, void *ctx,
			 struct pprof_error *err)
{
	struct teller teller = { .fn = fn, .ctx = ctx, .err = err };
	struct binary *binary = NULL;
	enum pprof_status status;
	size_t *answer_of = NULL;
	uint64_t *vaddrs = NULL;
	size_t nr_vaddrs;

	status = finder_get(&symbolizer->finder, path, &binary, err);
	if (status)
		return status;
	vaddrs = mem_alloc(nr, sizeof(*vaddrs));
	answer_of = mem_alloc(nr, sizeof(*answer_of));
	if (vaddrs && answer_of &&
	    sort_addresses(addresses, nr, vaddrs, answer_of, &nr_vaddrs))
		status = resolve_sorted(symbolizer, binary, addresses, nr,
					vaddrs, nr_vaddrs, answer_of, &teller);
	else
		status = error_nomem(err);
	mem_free(vaddrs);
	mem_free(answer_of);
	mem_free(teller.frames);
	diags_flush(&symbolizer->diags, symbolizer->opts.diag,
		    symbolizer->opts.diag_ctx);
	return status;
}

/* ---------------------------------------------------- run-time addresses */

/* Copy a mapping with its texts into another profile. */
static bool copy_mapping(struct builder *builder,
			 const struct pprof_profile *from, size_t i)
{
	struct mapping map = from->mappings[i];
	const char *file = profile_str(from, map.file);
	const char *id = profile_str(from, map.build_id);

	map.file = builder_cstr(builder, file);
	map.build_id = builder_cstr(builder, id);
	return builder_mapping(builder, &map) != ID_FAILED;
}

static bool add_locations(struct builder *builder, const uint64_t *addresses,
			  size_t nr, loc_id *locs)
{
	struct pprof_error why;
	struct images images;
	bool is_done;
	size_t i;

	is_done = !images_init(&images, builder->profile, &why);
	for (i = 0; i < nr && is_done; i++) {
		locs[i] = builder_location(builder, addresses[i],
					   images_find(&images, addresses[i]),
					   false, NULL, 0);
		is_done = locs[i] != ID_FAILED;
	}
	images_fini(&images);
	return is_done;
}

/* A profile of nothing but the mappings and the addresses. */
static enum pprof_status make_profile(const struct pprof_profile *maps,
				      const uint64_t *addresses, size_t nr,
				      struct diags *diags, loc_id *locs,
				      struct pprof_profile **ret_profile,
				      struct pprof_error *err)
{
	enum pprof_status status;
	struct pprof_limits limits;
	struct builder builder;
	bool is_good = true;
	size_t i;

	pprof_limits_init(&limits);
	if (!builder_init(&builder, &limits, diags))
		return error_nomem(err);
	builder_type(&builder, builder_cstr(&builder, "samples"),
		     builder_cstr(&builder, "count"));
	for (i = 1; i < maps->nr_mappings && is_good; i++)
		is_good = copy_mapping(&builder, maps, i);
	if (is_good)
		is_good = add_locations(&builder, addresses, nr, locs);
	if (is_good || builder.status)
		status = builder_finish(&builder, NULL, ret_profile, err);
	else
		status = error_nomem(err);
	builder_fini(&builder);
	return status;
}

static enum pprof_status tell_location(struct teller *teller,
				       uint64_t address,
				       const struct pprof_profile *profile,
				       loc_id id)
{
	const struct location *loc = &profile->locations[id];
	const struct line *lines = profile->lines + loc->lines;
	size_t i;

	if (!reserve(teller, loc->nr_lines))
		return error_nomem(teller->err);
	for (i = 0; i < loc->nr_lines; i++) {
		const struct function *function =
			&profile->functions[lines[i].func];
		struct pprof_frame *frame = &teller->frames[i];

		frame->name = profile_str(profile, function->name);
		frame->system_name = profile_str(profile,
						 function->system_name);
		frame->file = profile_str(profile, function->file);
		frame->line = (uint32_t)lines[i].line;
		frame->column = (uint32_t)lines[i].column;
		frame->start_line = (uint32_t)function->start_line;
	}
	/* DWARF names a function with its file. */
	return tell(teller, address, loc->nr_lines,
		    loc->nr_lines && !*teller->frames[0].file);
}

enum pprof_status
pprof_symbolizer_resolve_mapped(struct pprof_symbolizer *symbolizer,
				const struct pprof_profile *maps,
				const uint64_t *addresses, size_t nr,
				pprof_resolved_fn fn, void *ctx,
				struct pprof_error *err)
{
	struct teller teller = { .fn = fn, .ctx = ctx, .err = err };
	struct pprof_profile *profile = NULL;
	enum pprof_status status;
	loc_id *locs;
	size_t i;

	locs = mem_zalloc(nr, sizeof(*locs));
	if (!locs)
		return error_nomem(err);
	status = make_profile(maps, addresses, nr, &symbolizer->diags, locs,
			      &profile, err);
	if (!status)
		status = pprof_symbolizer_run(symbolizer, profile, err);
	for (i = 0; i < nr && !status; i++)
		status = tell_location(&teller, addresses[i], profile,
				       locs[i]);
	pprof_profile_free(profile);
	mem_free(teller.frames);
	mem_free(locs);
	return status;
}
