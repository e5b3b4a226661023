/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8, masking and cell widths; see text.h.
 */
#include <config.h>

#include "view/text.h"

/* Inclusive ranges, ascending. */
struct code_range {
	uint32_t first;
	uint32_t last;
};

/*
 * East Asian Wide and Fullwidth, and emoji shown as pictures (Unicode 14,
 * EastAsianWidth.txt). Coarse where whole blocks agree: a cell too many
 * shortens a label, one too few would let it run over.
 */
static const struct code_range wide[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a },
	{ 0x23e9, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 }, { 0x267f, 0x267f }, { 0x2693, 0x2693 },
	{ 0x26a1, 0x26a1 }, { 0x26aa, 0x26ab }, { 0x26bd, 0x26be },
	{ 0x26c4, 0x26c5 }, { 0x26ce, 0x26ce }, { 0x26d4, 0x26d4 },
	{ 0x26ea, 0x26ea }, { 0x26f2, 0x26f5 }, { 0x26fa, 0x26fd },
	{ 0x2705, 0x2705 }, { 0x270a, 0x270b }, { 0x2728, 0x2728 },
	{ 0x274c, 0x274e }, { 0x2753, 0x2757 }, { 0x2795, 0x2797 },
	{ 0x27b0, 0x27bf }, { 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b55 },
	{ 0x2e80, 0x303e }, { 0x3041, 0x4dbf }, { 0x4e00, 0xa4cf },
	{ 0xa960, 0xa97f }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	{ 0xfe10, 0xfe19 }, { 0xfe30, 0xfe6f }, { 0xff01, 0xff60 },
	{ 0xffe0, 0xffe6 }, { 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f19a },
	{ 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1faff },
	{ 0x20000, 0x3fffd }
};

/* Marks that are drawn over the character before them. */
static const struct code_range combining[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
	{ 0x0610, 0x061a }, { 0x064b, 0x065f }, { 0x06d6, 0x06dc },
	{ 0x06df, 0x06e4 }, { 0x0730, 0x074a }, { 0x0900, 0x0902 },
	{ 0x093c, 0x093c }, { 0x0941, 0x0948 }, { 0x094d, 0x094d },
	{ 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff },
	{ 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0x1f3fb, 0x1f3ff }, { 0xe0100, 0xe01ef }
};

/* What a reader cannot see, or what reorders what he sees. */
static const struct code_range hidden[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x00ad, 0x00ad },
	{ 0x034f, 0x034f }, { 0x061c, 0x061c }, { 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 }, { 0x180b, 0x180e }, { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
	{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
	{ 0xfdd0, 0xfdef }, { 0xfffe, 0xffff }, { 0xe0000, 0xe007f },
	{ 0x10fffe, UINT32_MAX }
};

static bool is_in(const struct code_range *ranges, size_t nr, uint32_t code)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

#define IN(ranges, code) \
	is_in(ranges, sizeof(ranges) / sizeof((ranges)[0]), code)

size_t text_decode(const char *text, size_t len, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t need = 1, i;
	uint32_t code = p[0];

	*ret_code = code;
	if (code < 0x80)
		return 1;
	*ret_code = UINT32_MAX;
	if (code >= 0xf0 && code < 0xf8)
		need = 4;
	else if (code >= 0xe0 && code < 0xf0)
		need = 3;
	else if (code >= 0xc0 && code < 0xe0)
		need = 2;
	if (need == 1 || need > len)
		return 1;
	code &= 0x7fu >> need;
	for (i = 1; i < need; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[need] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 1;
	*ret_code = code;
	return need;
}

bool text_is_hidden(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false;
	/* The last two of every plane are noncharacters. */
	return IN(hidden, code) || (code & 0xfffe) == 0xfffe;
}

static void add_hex(struct buf *out, uint32_t value, int digits)
{
	while (digits--)
		buf_byte(out,
			 "0123456789abcdef"[value >> (4 * digits) & 15]);
}

static void mask_one(struct buf *out, unsigned char byte, uint32_t code)
{
	if (code == UINT32_MAX || code < 0x80) {
		buf_str(out, "\\x");
		add_hex(out, byte, 2);
	} else if (code < 0x10000) {
		buf_str(out, "\\u");
		add_hex(out, code, 4);
	} else {
		buf_str(out, "\\U");
		add_hex(out, code, 8);
	}
}

void text_mask(struct buf *out, const char *text, size_t len)
{
	size_t i, n, plain = 0;
	uint32_t code;

	for (i = 0; i < len; i += n) {
		n = text_decode(text + i, len - i, &code);
		if (!text_is_hidden(code))
			continue;
		buf_add(out, text + plain, i - plain);
		mask_one(out, (unsigned char)text[i], code);
		plain = i + n;
	}
	buf_add(out, text + plain, len - plain);
}

unsigned text_cells_of(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (IN(combining, code))
		return 0;
	return IN(wide, code) ? 2 : 1;
}

size_t text_cells(const char *text, size_t len)
{
	size_t cells = 0, i = 0;
	uint32_t code;

	while (i < len) {
		i += text_decode(text + i, len - i, &code);
		cells += text_cells_of(code);
	}
	return cells;
}

size_t text_head(const char *text, size_t len, size_t cells)
{
	size_t used = 0, i = 0, n;
	uint32_t code;

	while (i < len) {
		n = text_decode(text + i, len - i, &code);
		used += text_cells_of(code);
		if (used > cells)
			break;
		i += n;
	}
	return i;
}

size_t text_tail(const char *text, size_t len, size_t cells)
{
	size_t all = text_cells(text, len), used = 0, i = 0;
	uint32_t code;

	while (i < len) {
		size_t n = text_decode(text + i, len - i, &code);

		/* A mark at the cut belongs to what was cut away. */
		if (all - used <= cells && text_cells_of(code))
			break;
		used += text_cells_of(code);
		i += n;
	}
	return i;
}
