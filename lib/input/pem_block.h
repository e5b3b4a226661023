/* SPDX-License-Identifier: Apache-2.0
 *
 * One open PEM block: which lines are its own, what they decode to, and
 * what is wrong with it.
 */
#ifndef INPUT_PEM_BLOCK_H
#define INPUT_PEM_BLOCK_H

#include "input/base64.h"
#include "base/cursor.h"

#define PEM_TYPE_MAX 128

/* Short lines that may be the last of the block, or foreign. */
#define PEM_SHORT_MAX 8

struct pem_short {
	char text[128];
	size_t len;
};

struct pem_block {
	char type[PEM_TYPE_MAX];
	struct buf prefix;     /* before BEGIN on its line */
	struct buf suffix;     /* behind it */
	struct buf data;       /* decoded so far */
	struct base64 base64;
	size_t width;          /* characters of a full line; 0 not yet known */
	struct pem_short shorts[PEM_SHORT_MAX];
	size_t nr_shorts;
	uint64_t first_line;   /* of BEGIN */
	uint64_t last_line;    /* of END, or of the last data */
	uint64_t nr_foreign;   /* lines in it that are not its own */
	uint64_t foreign_run;  /* of these, since its last own one */
	uint64_t nr_extra;     /* data lines behind the padding */
	bool is_shared;        /* another block has the same prefix */
	bool is_at_limit;      /* larger than may be */
	bool is_out_of_memory; /* some of it could not be kept */
};

/* How a block ended. */
enum pem_end {
	PEM_END,       /* by its END */
	PEM_END_OTHER, /* by the END of another type */
	PEM_END_NONE   /* by the end of the input, or long nothing */
};

void pem_block_init(struct pem_block *block, uint64_t max_bytes);
void pem_block_fini(struct pem_block *block);

/*
 * Where data begin on a line that starts with the block's prefix, numbers
 * in it other than those of the BEGIN line allowed; NULL: it does not.
 */
const char *pem_block_skip_prefix(const struct pem_block *block,
				  const char *p, const char *end);

/*
 * Take the base64 at p up to `end` if the block takes it for its own;
 * `text` is scratch. False: it is foreign.
 */
bool pem_block_take(struct pem_block *block, const char *p, const char *end,
		    struct buf *text);

/*
 * The full line of the block that stands at the end of [p, end) behind a
 * prefix of another shape, or NULL.
 */
const char *pem_block_find_full(const struct pem_block *block, const char *p,
				const char *end);

/*
 * Before the block has data: its lines may have another prefix than BEGIN,
 * which stood in the middle of a line. Takes what stands before a last word
 * of base64 for it and returns that word, or NULL.
 */
const char *pem_block_learn_prefix(struct pem_block *block, const char *p,
				   const char *end);

/* The block's lines have the prefix that stands before `at` on this one. */
void pem_block_set_prefix(struct pem_block *block, const char *line,
			  const char *at);

/*
 * The last line is chosen, and what is wrong is told in damage[size]. False
 * when out of memory.
 */
bool pem_block_finish(struct pem_block *block, enum pem_end how,
		      const struct pprof_limits *limits, char *damage,
		      size_t size);

#endif
