/* SPDX-License-Identifier: Apache-2.0
 *
 * Random profiles for property tests: what a profile says, as plain arrays
 * of this file's own, and two ways to make a real one of it, each in any
 * order. PROP_SEED=N in the environment repeats a run.
 */
#ifndef TESTS_PROP_GEN_H
#define TESTS_PROP_GEN_H

#include "base/buf.h"
#include "profile/profile.h"

#define GEN_TYPES 4
#define GEN_MAPS 4
#define GEN_FUNCS 16
#define GEN_LOCS 24
#define GEN_LINES 3
#define GEN_SAMPLES 80
#define GEN_FRAMES 12
#define GEN_LABELS 3
#define GEN_COMMENTS 3

/* A small fast generator (splitmix64); any state is a good one. */
struct gen_random {
	uint64_t state;
};

uint64_t gen_next(struct gen_random *random);
uint32_t gen_below(struct gen_random *random, uint32_t nr);
double gen_unit(struct gen_random *random); /* in (0, 1] */

/* Shuffle order[nr], which is filled with 0..nr-1 first. */
void gen_shuffle(struct gen_random *random, uint32_t *order, uint32_t nr);

/* PROP_SEED, or a fixed one; printed as a TAP comment. */
uint64_t gen_seed(void);

/* Strings are indexes into a table of odd and common ones. */
struct gen_map {
	uint64_t start, limit, offset;
	uint32_t file, build_id, flags;
};

struct gen_func {
	uint32_t name, system_name, file;
	int64_t start_line;
};

struct gen_line {
	uint32_t func;
	int64_t line;
	int32_t column;
};

struct gen_loc {
	uint64_t address;
	uint32_t map; /* number + 1, 0 none */
	bool is_folded;
	uint32_t nr_lines;
	struct gen_line lines[GEN_LINES];
};

struct gen_label {
	uint32_t key, str; /* str 0: a number */
	int64_t num;
	uint32_t unit;
};

struct gen_sample {
	uint32_t nr_frames;
	uint32_t frames[GEN_FRAMES]; /* locations, leaf first */
	uint32_t nr_labels;
	struct gen_label labels[GEN_LABELS];
	int64_t values[GEN_TYPES];
};

struct gen_profile {
	uint32_t nr_types, nr_maps, nr_funcs, nr_locs, nr_samples;
	uint32_t nr_comments;
	uint32_t types[GEN_TYPES][2];
	struct gen_map maps[GEN_MAPS]; /* 0 is the main binary */
	struct gen_func funcs[GEN_FUNCS];
	struct gen_loc locs[GEN_LOCS];
	struct gen_sample samples[GEN_SAMPLES];
	uint32_t comments[GEN_COMMENTS];
	uint32_t period_type[2], default_type, drop_frames, doc_url;
	int64_t period, time_ns, duration_ns;
};

/* Fill *gen from a seed. `positive`: no value below 0. */
void gen_profile(struct gen_profile *gen, uint64_t seed, bool positive);

/* Sum of a type's values. */
int64_t gen_total(const struct gen_profile *gen, uint32_t type);

/*
 * Build it with rows added in the order that the seed `order` gives, every
 * sample `times` times. Never NULL; free with pprof_profile_free().
 */
struct pprof_profile *gen_build(const struct gen_profile *gen, uint64_t order,
				unsigned times);

/*
 * Encode it as a profile.proto message: records of all fields interleaved,
 * rows, ids, packing and spelling of numbers as the seed `order` gives them.
 */
void gen_encode(const struct gen_profile *gen, uint64_t order,
		struct buf *out);

/* All bytes that the writer makes of a profile; level 0. */
void gen_write(const struct pprof_profile *profile, const char *writer,
	       int sample_type, struct buf *out);

#endif
