/* SPDX-License-Identifier: Apache-2.0
 *
 * The one model: tables of unique rows named by 32-bit ids over one string
 * table, a tree of stacks, samples in columns. Mirrors profile.proto. Id 0
 * is "none" in every table. Built by a builder, passes profile_check(), then
 * is const (the symbolizer alone replaces lines and functions).
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/error.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "profile/stacks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t map_id;
typedef uint32_t func_id;
typedef uint32_t lset_id;

/* Most sample types that one profile can have. */
#define SAMPLE_TYPES_MAX 32

/* No row: out of memory or a limit; builder.status tells. */
#define ID_FAILED UINT32_MAX

enum map_flags {
	MAP_HAS_FUNCTIONS = 1 << 0,
	MAP_HAS_FILENAMES = 1 << 1,
	MAP_HAS_LINE_NUMBERS = 1 << 2,
	MAP_HAS_INLINE_FRAMES = 1 << 3,
	MAP_MAIN = 1 << 4, /* the main binary: written first */
	/* Not every range of the file that the process had mapped as code. */
	MAP_NOT_CODE = 1 << 5
};

/* One mapped range of a file. */
struct mapping {
	uint64_t start;    /* run-time address of the first byte */
	uint64_t limit;    /* one past the last */
	uint64_t offset;   /* file offset of the first byte */
	str_id file;       /* as the system named it */
	str_id build_id;   /* lower-case hex, or 0 */
	uint32_t flags;    /* enum map_flags */
	uint32_t reserved; /* 0: keeps rows comparable as bytes */
};

struct function {
	int64_t start_line; /* 0 unknown */
	str_id name;        /* for people */
	str_id system_name; /* as in the symbol table, or 0 */
	str_id file;
	uint32_t reserved;  /* 0 */
};

/* One line of source: a location has one a frame, innermost first. */
struct line {
	int64_t line;   /* 0 unknown */
	func_id func;   /* never 0 */
	int32_t column; /* 0 unknown */
};

struct location {
	uint64_t address;   /* inside the call: return address - 1 */
	map_id mapping;     /* 0: in none */
	uint32_t lines;     /* index of the first in profile.lines */
	uint32_t nr_lines;  /* 0: not symbolized */
	uint32_t is_folded; /* 0 or 1: several functions share the code */
};

struct label {
	int64_t num;  /* when str is 0 and is_num */
	str_id key;
	str_id str;
	str_id unit;  /* of num, or 0 */
	uint32_t is_num;
};

/* A sorted run of labels in profile.labels. */
struct lset {
	uint32_t labels; /* index of the first */
	uint32_t nr;
};

struct value_type {
	str_id type;
	str_id unit;
};

struct pprof_profile {
	struct strtab strings;

	struct mapping *mappings;   /* [nr_mappings], row 0 unused */
	struct function *functions; /* row 0 unused */
	struct location *locations; /* row 0 unused */
	struct line *lines;         /* runs named by locations; may have gaps */
	struct label *labels;
	struct lset *lsets;         /* row 0: the empty set */
	size_t nr_mappings, cap_mappings;
	size_t nr_functions, cap_functions;
	size_t nr_locations, cap_locations;
	size_t nr_lines, cap_lines;
	size_t nr_labels, cap_labels;
	size_t nr_lsets, cap_lsets;

	struct stacks stacks;

	/* Samples: unique (stack, label set). */
	stack_id *sample_stack;     /* [nr_samples] */
	lset_id *sample_lset;       /* NULL while every set is 0 */
	int64_t *values[SAMPLE_TYPES_MAX]; /* [nr_types][nr_samples] */
	size_t nr_samples, cap_samples;

	/* Header. */
	struct value_type types[SAMPLE_TYPES_MAX];
	size_t nr_types;
	struct value_type period_type;
	int64_t period;       /* R for sampled heaps, in period_type's unit */
	int64_t time_ns;      /* since the epoch; 0 unknown */
	int64_t duration_ns;
	str_id default_type;  /* a types[].type, or 0: the last */
	str_id drop_frames;   /* regular expression, or 0 */
	str_id keep_frames;
	str_id doc_url;
	str_id *comments;     /* [nr_comments] in order */
	size_t nr_comments, cap_comments;
};

static inline const char *profile_str(const struct pprof_profile *profile,
				      str_id id)
{
	return strtab_text(&profile->strings, id);
}

static inline bool location_equal(const struct location *a,
				  const struct location *b,
				  const struct line *lines)
{
	return a->address == b->address && a->mapping == b->mapping &&
	       a->is_folded == b->is_folded && a->nr_lines == b->nr_lines &&
	       (!a->nr_lines || a->lines == b->lines ||
		!memcmp(lines + a->lines, lines + b->lines,
			a->nr_lines * sizeof(*lines)));
}

/*
 * Check the invariants that every writer and view relies on: ids in range,
 * strings present, sample columns complete. FORMAT with the first breach.
 */
enum pprof_status profile_check(const struct pprof_profile *profile,
				const char *source, struct pprof_error *err);

/* Sum of a column; saturates, *ret_saturated (NULL allowed) tells. */
int64_t profile_column_total(const struct pprof_profile *profile, size_t type,
			     bool *ret_saturated);

/* Index of the type that default_type names, else the last; 0 if none. */
size_t profile_default_type(const struct pprof_profile *profile);

/* The mapping of the main binary; NULL when none is known to be it. */
const struct mapping *
profile_main_mapping(const struct pprof_profile *profile);

/* Resolve an option's sample type: -1 the default; clamps nothing. */
enum pprof_status profile_pick_type(const struct pprof_profile *profile,
				    int option, size_t *ret_type,
				    struct pprof_error *err);

#endif
