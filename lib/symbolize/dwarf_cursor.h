/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded reading of debug sections, either byte order. Failure is sticky:
 * after the first read beyond the end everything gives 0.
 */
#ifndef SYMBOLIZE_DWARF_CURSOR_H
#define SYMBOLIZE_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool is_swapped;
	bool failed;
};

static inline uint64_t dwarf_left(const struct dwarf_cursor *cursor)
{
	return (uint64_t)(cursor->end - cursor->p);
}

static inline void dwarf_fail(struct dwarf_cursor *cursor)
{
	cursor->p = cursor->end;
	cursor->failed = true;
}

static inline void dwarf_skip(struct dwarf_cursor *cursor, uint64_t nr)
{
	if (nr > dwarf_left(cursor))
		dwarf_fail(cursor);
	else
		cursor->p += nr;
}

static inline uint8_t dwarf_u8(struct dwarf_cursor *cursor)
{
	if (cursor->p == cursor->end) {
		cursor->failed = true;
		return 0;
	}
	return *cursor->p++;
}

static inline uint16_t dwarf_u16(struct dwarf_cursor *cursor)
{
	uint16_t value;

	if (dwarf_left(cursor) < sizeof(value)) {
		dwarf_fail(cursor);
		return 0;
	}
	memcpy(&value, cursor->p, sizeof(value));
	cursor->p += sizeof(value);
	return cursor->is_swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t dwarf_u32(struct dwarf_cursor *cursor)
{
	uint32_t value;

	if (dwarf_left(cursor) < sizeof(value)) {
		dwarf_fail(cursor);
		return 0;
	}
	memcpy(&value, cursor->p, sizeof(value));
	cursor->p += sizeof(value);
	return cursor->is_swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t dwarf_u64(struct dwarf_cursor *cursor)
{
	uint64_t value;

	if (dwarf_left(cursor) < sizeof(value)) {
		dwarf_fail(cursor);
		return 0;
	}
	memcpy(&value, cursor->p, sizeof(value));
	cursor->p += sizeof(value);
	return cursor->is_swapped ? __builtin_bswap64(value) : value;
}

/* Three bytes: DW_FORM_strx3, DW_FORM_addrx3. */
static inline uint32_t dwarf_u24(struct dwarf_cursor *cursor)
{
	uint32_t a = dwarf_u8(cursor), b = dwarf_u8(cursor);
	uint32_t c = dwarf_u8(cursor);
	const bool is_big = cursor->is_swapped !=
		(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	return is_big ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
}

/* An offset or address of 4 or 8 bytes; 2 for small machines. */
static inline uint64_t dwarf_uint(struct dwarf_cursor *cursor, unsigned size)
{
	if (size == 8)
		return dwarf_u64(cursor);
	if (size == 4)
		return dwarf_u32(cursor);
	if (size == 2)
		return dwarf_u16(cursor);
	if (size == 1)
		return dwarf_u8(cursor);
	dwarf_fail(cursor);
	return 0;
}

/* LEB128 of any length; bits beyond the 64th are dropped. */
static inline uint64_t dwarf_uleb_long(struct dwarf_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = dwarf_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline uint64_t dwarf_uleb(struct dwarf_cursor *cursor)
{
	if (cursor->p < cursor->end && *cursor->p < 0x80)
		return *cursor->p++;
	return dwarf_uleb_long(cursor);
}

static inline int64_t dwarf_sleb(struct dwarf_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = dwarf_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

static inline void dwarf_skip_leb(struct dwarf_cursor *cursor)
{
	while (dwarf_u8(cursor) & 0x80)
		;
}

/* A NUL-terminated string, or "" after a failure. */
static inline const char *dwarf_text(struct dwarf_cursor *cursor)
{
	const uint8_t *start = cursor->p;
	const uint8_t *nul = cursor->p == cursor->end ? NULL :
		memchr(start, '\0', (size_t)dwarf_left(cursor));

	if (!nul) {
		dwarf_fail(cursor);
		return "";
	}
	cursor->p = nul + 1;
	return (const char *)start;
}

/* unit_length or header_length: sets *ret_off_size to 4 or 8. */
static inline uint64_t dwarf_initial_length(struct dwarf_cursor *cursor,
					    uint8_t *ret_off_size)
{
	uint64_t length = dwarf_u32(cursor);

	*ret_off_size = 4;
	if (length == 0xffffffff) {
		*ret_off_size = 8;
		return dwarf_u64(cursor);
	}
	if (length >= 0xfffffff0)
		dwarf_fail(cursor); /* reserved, DWARF 5, 7.4 */
	return length;
}

#endif
