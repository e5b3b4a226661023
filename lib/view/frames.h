/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of a profile: what each location shows at a granularity, as rows
 * numbered in byte order of their names. Two frames with one name are one.
 */
#ifndef VIEW_FRAMES_H
#define VIEW_FRAMES_H

#include "profile/profile.h"

/* Kinds of frame, as bits. */
enum frame_kind {
	FRAME_UNKNOWN = 1 << 0,   /* not symbolized: module or address */
	FRAME_KERNEL = 1 << 1,
	FRAME_JIT = 1 << 2,
	FRAME_SYNTHETIC = 1 << 3, /* [no stack] */
	FRAME_INLINED = 1 << 4    /* so the input says by name: NAME_[i] */
};

struct frame {
	str_id name;   /* in frames.strings; never "" */
	str_id module; /* base name of the mapped file, or 0 */
	str_id file;   /* of the source, or 0 */
	uint32_t kind; /* enum frame_kind */
};

struct frames {
	struct strtab strings;
	struct frame *rows;   /* [nr], in byte order of the names */
	size_t nr;            /* at least 1 */
	uint32_t no_stack;    /* row that stands for the empty stack */
	uint32_t *loc_start;  /* [nr_locations + 1] into loc_steps */
	uint32_t *loc_steps;  /* STEP(row, inlined), outermost first */
};

/* A frame of a location: row << 1, and 1 when the code was inlined. */
#define STEP_ROW(step) ((step) >> 1)
#define STEP_INLINED(step) ((step) & 1)

struct frames_opts {
	enum pprof_granularity granularity;
	bool no_inlines;     /* outermost frame only */
	bool merge_unknown;  /* bare addresses of one file are one frame */
	bool folded;         /* names as folded text can hold them */
	bool with_files;     /* fill frame.file */
};

/* OK, NOMEM or LIMIT; frames_fini() after either. */
enum pprof_status frames_init(struct frames *frames,
			      const struct pprof_profile *profile,
			      const struct frames_opts *opts,
			      struct pprof_error *err);
void frames_fini(struct frames *frames);

static inline const char *frame_name(const struct frames *frames,
				     uint32_t row)
{
	return strtab_text(&frames->strings, frames->rows[row].name);
}

static inline size_t frame_name_len(const struct frames *frames, uint32_t row)
{
	return strtab_len(&frames->strings, frames->rows[row].name);
}

/* Have the row of a name in the cache by the time it is asked for. */
__attribute__((always_inline))
static inline void frame_prefetch_name(const struct frames *frames,
				       uint32_t row)
{
	__builtin_prefetch(&frames->strings.rows[frames->rows[row].name]);
}

/* Length of NAME without a kind annotation such as "_[k]". */
size_t frame_bare_len(const char *name, size_t len);

#endif
