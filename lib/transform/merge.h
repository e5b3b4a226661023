/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of struct pprof_merger: one profile under construction that inputs
 * are added to, one after the other. Whatever is chosen between inputs is
 * chosen by content (a least or a largest one), so that neither their order
 * nor their grouping shows in the result. Exceptions, all of them where an
 * input does not say what it is: a mapping without build ID whose path
 * several builds have; sums beyond 64 bits; and, between inputs with
 * different sample types, which of the dropped columns' samples placed an
 * image.
 *
 * What is one row:
 * - a mapped range: its build ID (else path), file offset and size. A range
 *   without build ID joins the one build that has its path, offset and size;
 *   where there are several builds it stays apart. Ranges without a file are
 *   told apart by their addresses.
 * - a location in a range with build ID: its offset in the file. Its lines
 *   come from whichever input has them: more lines first, then more files
 *   and line numbers, then the smaller in byte order.
 * - a location in a range without build ID: its offset in the file and its
 *   lines. One without lines joins the one that has them.
 * - any other location: its address and its lines.
 * Ranges stand at the smallest address at which they were sampled.
 */
#ifndef TRANSFORM_MERGE_H
#define TRANSFORM_MERGE_H

#include "profile/builder.h"
#include "transform/family.h"
#include "transform/import.h"

/* How addresses in a range are told apart. */
enum row_kind {
	ROW_PLAIN = 0, /* by address and lines: no file, or no code */
	ROW_PATH,      /* by file offset and lines: no build ID */
	ROW_BUILD      /* by file offset */
};

/* One range of one file over all inputs. */
struct merged_row {
	str_id file;         /* smallest path of those seen; 0 none */
	str_id build_id;
	str_id key_file;     /* of ROW_PATH: what it is known by */
	uint32_t kind;       /* enum row_kind */
	uint64_t offset;
	uint64_t size_pages; /* size in bytes, rounded up; the key */
	uint64_t size;       /* largest of those seen */
	uint64_t plain_start; /* of ROW_PLAIN: part of the key; else 0 */
	uint64_t start;      /* smallest with a sample; UINT64_MAX: none */
	uint64_t main_start; /* smallest as main binary; UINT64_MAX: never */
	bool is_code;        /* of some input it may be */
	bool is_normalised;  /* addresses are those in the file */
};

/* A sample type that all inputs so far have. */
struct merged_type {
	str_id name;  /* "inuse_space" rather than "space" when both occur */
	str_id stem;  /* see type_stem() */
	str_id unit;  /* the finest so far */
	double factor; /* of the unit in its family */
};

struct pprof_merger {
	struct builder builder; /* locations are kept by us, see `kinds` */
	struct pprof_limits limits;
	struct diags diags;
	struct pprof_merge_opts opts;
	char *label_key;       /* copy of opts.label_key, or NULL */
	size_t nr_inputs;
	char *first_name;      /* of the first input, for messages */

	struct merged_type types[SAMPLE_TYPES_MAX];
	size_t nr_types;
	str_id default_stem;   /* what all inputs show by default */
	bool defaults_differ;

	struct merged_row *rows; /* row 0 unused */
	size_t nr_rows, cap_rows;
	struct idmap row_index;
	uint8_t *kinds;        /* [nr_locations] enum row_kind of locations */
	size_t cap_kinds;
	struct idmap loc_index;

	/* Which inputs share a program: a forest over string ids. */
	str_id *image_parent;  /* [nr_images] 0: not an image */
	str_id *image_input;   /* [nr_images] at roots: name of one input */
	size_t nr_images, cap_images;

	struct idmap comment_index;
	str_id period_type;    /* 0 with has_period: typeless */
	bool has_period;
	double period_factor;

	int64_t *largest[SAMPLE_TYPES_MAX]; /* PPROF_MERGE_MAX: over inputs */
	size_t nr_largest, cap_largest;
};

/* One input and what is to be done to it. */
struct merge_input {
	const struct pprof_profile *profile;
	const char *name;         /* for messages and --label */
	const double *scale;      /* [profile->nr_types], or NULL: all 1 */
	const struct label *extra; /* label with strings of the merger */
	const uint8_t *names_only; /* [nr_mappings] 1: by names; or NULL */
};

enum pprof_status merger_add(struct pprof_merger *merger,
			     const struct merge_input *input,
			     struct pprof_error *err);

/* String of the merger's profile; ID_FAILED after a failure. */
str_id merger_str(struct pprof_merger *merger, const char *text);

/* ------------------------------------------------------- merge_rows.c */

/* Row of a mapping (0: none), added when new; ID_FAILED. */
map_id merger_row(struct pprof_merger *merger, struct import *import,
		  const struct mapping *map);

/*
 * The location that stands for `loc`, which lies in `row`, added when new;
 * ID_FAILED. Its lines come from `lines` when they say more.
 */
loc_id merger_location(struct pprof_merger *merger, map_id row,
		       const struct mapping *map, const struct location *loc,
		       const struct line *lines);

/* Join the images of an input; false: out of memory. */
bool merger_join_images(struct pprof_merger *merger,
			const struct merge_input *input);

/*
 * The same for a location whose address is as `kind` has it: an offset in
 * the file, or for ROW_PLAIN an address.
 */
loc_id merger_intern(struct pprof_merger *merger, enum row_kind kind,
		     map_id row, const struct location *loc,
		     const struct line *lines);

#endif
