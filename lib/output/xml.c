/* SPDX-License-Identifier: Apache-2.0
 *
 * Escaping; see xml.h.
 */
#include <config.h>

#include "output/xml.h"
#include "view/text.h"

#include <string.h>

/* The entity for `c`, or NULL. */
static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Append text[0..len), nothing hidden in it. */
static void add_escaped(struct buf *out, const char *text, size_t len)
{
	const char *entity;
	size_t i, plain = 0;

	for (i = 0; i < len; i++) {
		entity = entity_of(text[i]);
		if (!entity)
			continue;
		buf_add(out, text + plain, i - plain);
		buf_str(out, entity);
		plain = i + 1;
	}
	buf_add(out, text + plain, len - plain);
}

void xml_text(struct buf *out, const char *text, size_t len)
{
	size_t i, n, plain = 0;
	uint32_t code;

	for (i = 0; i < len; i += n) {
		n = text_decode(text + i, len - i, &code);
		if (!text_is_hidden(code))
			continue;
		add_escaped(out, text + plain, i - plain);
		/* A masked character is plain ASCII without markup. */
		text_mask(out, text + i, n);
		plain = i + n;
	}
	add_escaped(out, text + plain, len - plain);
}

void xml_str(struct buf *out, const char *text)
{
	xml_text(out, text, strlen(text));
}

void xml_json(struct buf *out, const char *text)
{
	size_t len = strlen(text), i, n, plain = 0;
	uint32_t code;

	buf_byte(out, '"');
	for (i = 0; i < len; i += n) {
		n = text_decode(text + i, len - i, &code);
		if (!text_is_hidden(code) && code != '"' && code != '\\')
			continue;
		add_escaped(out, text + plain, i - plain);
		/* A mask shows as itself: its backslash is one of the text. */
		buf_byte(out, '\\');
		if (code == '"')
			buf_str(out, "&quot;");
		else
			text_mask(out, text + i, n);
		plain = i + n;
	}
	add_escaped(out, text + plain, len - plain);
	buf_byte(out, '"');
}
