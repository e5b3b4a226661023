/* SPDX-License-Identifier: Apache-2.0
 *
 * What all fuzz targets share: tight limits, statuses that no input may
 * cause, and a walk over every byte of a profile. Only static functions, no
 * state.
 */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H

#include "base/cursor.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* Every target defines it; libFuzzer or standalone.c calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Abort unless `claim`, a property of the library, holds. */
static inline void fuzz_assert(bool claim)
{
	if (!claim)
		abort();
}

/* Bounds that a small input reaches long before memory or time run out. */
static inline void fuzz_limits(struct pprof_limits *limits)
{
	limits->input_bytes = (uint64_t)8 << 20;
	limits->inflated_bytes = (uint64_t)16 << 20;
	limits->inflate_ratio = 2000;
	limits->string_bytes = (uint64_t)64 << 10;
	limits->strings_bytes = (uint64_t)16 << 20;
	limits->line_bytes = (uint64_t)1 << 20;
	limits->samples = 64u << 10;
	limits->locations = 64u << 10;
	limits->frames = 4096;
	limits->labels = 32;
	limits->mappings = 4096;
}

/*
 * Abort when input alone made the library say that its caller is wrong, or
 * when a failure comes without its sentence.
 */
static inline void fuzz_status(enum pprof_status status,
			       const struct pprof_error *err)
{
	fuzz_assert(status != PPROF_USAGE);
	if (!status)
		return;
	fuzz_assert(err->status == status && err->message[0]);
	fuzz_assert(memchr(err->message, '\0', sizeof(err->message)) &&
		    memchr(err->source, '\0', sizeof(err->source)));
}

/* Keep the compiler from dropping reads whose result nobody needs. */
static inline void fuzz_use(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline uint64_t fuzz_sum(const void *data, size_t nr_bytes)
{
	const uint8_t *bytes = data;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < nr_bytes; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/* A pprof_diag_fn that reads what it is told. */
static inline void fuzz_diag(void *ctx, const struct pprof_diag *diag)
{
	(void)ctx;
	fuzz_assert(diag->nr >= 1 && diag->message[0]);
	fuzz_use(fuzz_sum(diag->message, strlen(diag->message)) +
		 fuzz_sum(diag->source, strlen(diag->source)));
}

static inline void fuzz_visit_string(const struct pprof_profile *profile,
				     str_id id)
{
	fuzz_assert(id < profile->strings.nr);
	fuzz_use(fuzz_sum(profile_str(profile, id),
			  strtab_len(&profile->strings, id) + 1));
}

static inline void fuzz_visit_rows(const struct pprof_profile *profile)
{
	size_t i;

	for (i = 1; i < profile->nr_mappings; i++) {
		fuzz_visit_string(profile, profile->mappings[i].file);
		fuzz_visit_string(profile, profile->mappings[i].build_id);
	}
	for (i = 1; i < profile->nr_functions; i++) {
		fuzz_visit_string(profile, profile->functions[i].name);
		fuzz_visit_string(profile, profile->functions[i].system_name);
		fuzz_visit_string(profile, profile->functions[i].file);
	}
	for (i = 1; i < profile->nr_locations; i++)
		if (profile->locations[i].nr_lines)
			fuzz_use(fuzz_sum(&profile->lines
					  [profile->locations[i].lines],
					  profile->locations[i].nr_lines *
					  sizeof(*profile->lines)));
	for (i = 0; i < profile->nr_labels; i++) {
		fuzz_visit_string(profile, profile->labels[i].key);
		fuzz_visit_string(profile, profile->labels[i].str);
		fuzz_visit_string(profile, profile->labels[i].unit);
	}
}

/* A stack and its parents, to the root: no cycle, no hole. */
static inline void fuzz_visit_stack(const struct stacks *stacks, stack_id id)
{
	size_t depth = stacks_depth(stacks, id), i, steps = 0;
	loc_id *frames = mem_alloc(depth + 1, sizeof(*frames));

	if (!frames)
		return;
	stacks_leaf_first(stacks, id, frames);
	for (i = 0; i < depth; i++)
		fuzz_assert(frames[i] != 0);
	fuzz_use(fuzz_sum(frames, depth * sizeof(*frames)));
	mem_free(frames);
	for (; id; id = stacks->nodes[id].parent)
		fuzz_assert(steps++ < stacks->nr);
}

static inline void fuzz_visit_samples(const struct pprof_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_samples; i++)
		fuzz_visit_stack(&profile->stacks, profile->sample_stack[i]);
	for (i = 0; i < profile->nr_types; i++)
		fuzz_use(fuzz_sum(profile->values[i], profile->nr_samples *
				  sizeof(*profile->values[i])));
}

/* Every byte that the public functions and the tables tell. */
static inline void fuzz_visit(const struct pprof_profile *profile)
{
	struct pprof_error err = { .status = PPROF_OK };
	const char *type, *unit;
	size_t i, found;

	fuzz_status(profile_check(profile, "fuzz", &err), &err);
	fuzz_assert(err.status == PPROF_OK);
	for (i = 0; i < pprof_profile_nr_sample_types(profile); i++) {
		pprof_profile_sample_type(profile, i, &type, &unit);
		fuzz_use(fuzz_sum(type, strlen(type)) +
			 fuzz_sum(unit, strlen(unit)) +
			 (uint64_t)pprof_profile_total(profile, i));
		fuzz_assert(!pprof_profile_find_sample_type(profile, type,
							    &found, &err));
	}
	for (i = 0; i < pprof_profile_nr_comments(profile); i++)
		fuzz_use(strlen(pprof_profile_comment(profile, i)));
	fuzz_visit_rows(profile);
	fuzz_visit_samples(profile);
}

/*
 * The profile in `data`, or NULL. `opts` is borrowed; limits and
 * diagnostics are set here.
 */
static inline struct pprof_profile *fuzz_read(const uint8_t *data, size_t size,
					      struct pprof_read_opts opts)
{
	struct pprof_profile *profile = NULL;
	struct pprof_limits limits;
	struct pprof_error err = { .status = PPROF_OK };
	enum pprof_status status;

	fuzz_limits(&limits);
	opts.limits = &limits;
	opts.diag = fuzz_diag;
	status = pprof_profile_read_memory(data, size, "fuzz", &opts,
					   &profile, &err);
	fuzz_status(status, &err);
	fuzz_assert(!status == (profile != NULL));
	return profile;
}

/* The profile written by `writer`, uncompressed, as a memory sink. */
static inline struct pprof_sink *fuzz_write(const struct pprof_profile *profile,
					    const char *writer)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink = NULL;

	opts.level = 0;
	opts.diag = fuzz_diag;
	fuzz_assert(!pprof_sink_open_memory(&sink, &err));
	fuzz_assert(!pprof_profile_write(profile, writer, &opts, sink, &err));
	fuzz_assert(!pprof_sink_commit(sink, &err));
	return sink;
}

static inline struct pprof_sink *fuzz_top(const struct pprof_profile *profile)
{
	struct pprof_top_opts opts = PPROF_TOP_OPTS_INIT;
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink = NULL;

	opts.width = 80;
	fuzz_assert(!pprof_sink_open_memory(&sink, &err));
	fuzz_assert(!pprof_report_top(profile, &opts, sink, &err));
	return sink;
}

/* Visit the profile and everything that can be written of it; frees it. */
static inline void fuzz_consume(struct pprof_profile *profile)
{
	if (!profile)
		return;
	fuzz_visit(profile);
	pprof_sink_close(fuzz_write(profile, "pprof"));
	pprof_sink_close(fuzz_write(profile, "folded"));
	pprof_sink_close(fuzz_top(profile));
	pprof_profile_free(profile);
}

/* A cursor_refill_fn that gives a memory area in small, uneven pieces. */
struct fuzz_feed {
	const uint8_t *data;
	size_t size;
	size_t step;
};

static inline size_t fuzz_feed_read(void *ctx, void *dst, size_t cap,
				    struct pprof_error *err)
{
	struct fuzz_feed *feed = ctx;
	size_t nr = feed->size;

	(void)err;
	feed->step = feed->step % 61 + 7;
	if (nr > feed->step)
		nr = feed->step;
	if (nr > cap)
		nr = cap;
	if (nr)
		memcpy(dst, feed->data, nr);
	feed->data += nr;
	feed->size -= nr;
	return nr;
}

#endif
