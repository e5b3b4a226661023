/* SPDX-License-Identifier: Apache-2.0
 *
 * String interner: equal bytes, equal id. Id 0 is the empty string. Bytes
 * are kept as they are (NUL and invalid UTF-8 included), stable in memory
 * and followed by a NUL that is not part of the string.
 */
#ifndef BASE_STRTAB_H
#define BASE_STRTAB_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t str_id;

struct strtab_row {
	const char *text;
	uint32_t len;
	uint32_t hash; /* low half of XXH3 */
};

struct strtab {
	struct arena arena;
	struct strtab_row *rows; /* [nr], row 0 is "" */
	size_t nr;
	size_t cap;
	uint32_t *slots;         /* open addressing over ids, 0 = free */
	size_t nr_slots;         /* power of two */
};

/* False when out of memory. `max_bytes` bounds the bytes of all strings. */
__attribute__((warn_unused_result))
bool strtab_init(struct strtab *strtab, uint64_t max_bytes);
void strtab_fini(struct strtab *strtab);

/* Id of the string, added when new; UINT32_MAX when full or out of memory. */
#define STR_NONE UINT32_MAX
__attribute__((warn_unused_result))
str_id strtab_add(struct strtab *strtab, const char *text, size_t len);

/* The hash that the table keeps of a string. */
uint32_t strtab_hash(const char *text, size_t len);

/* Id of the string, or STR_NONE when it was never added. */
str_id strtab_find(const struct strtab *strtab, const char *text, size_t len);

static inline const char *strtab_text(const struct strtab *strtab, str_id id)
{
	return strtab->rows[id].text;
}

static inline size_t strtab_len(const struct strtab *strtab, str_id id)
{
	return strtab->rows[id].len;
}

/* Byte order of two strings, shorter first when one starts the other. */
int strtab_compare(const struct strtab *strtab, str_id a, str_id b);

#endif
