/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokenizer of JSON that jemalloc's emitter writes: no escapes, names as
 * they are (jemalloc include/jemalloc/internal/emitter.h).
 */
#include <config.h>

#include "input/json_tokens.h"

#include <string.h>

#include "input/text.h"

/* Values within values that json_skip() follows. */
#define DEPTH_MAX 64

/* Bytes behind a quote that are looked at. */
#define AHEAD_BYTES 16

void json_init(struct json *json, struct cursor *in, struct diags *diags,
	       size_t max_string)
{
	memset(json, 0, sizeof(*json));
	json->in = in;
	json->diags = diags;
	buf_init(&json->text, max_string);
}

void json_fini(struct json *json)
{
	buf_fini(&json->text);
}

static bool is_white(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_white(struct json *json)
{
	struct cursor *in = json->in;

	while (cursor_fill(in, 1)) {
		while (in->p < in->end && is_white(*in->p))
			in->p++;
		if (in->p < in->end)
			return true;
	}
	return false;
}

/* Whether the quote at p[0] is the end of its string. */
static bool ends_string(const uint8_t *p, const uint8_t *end)
{
	for (p++; p < end && is_white(*p); p++)
		;
	return p == end || *p == ',' || *p == ':' || *p == '}' || *p == ']';
}

/* Append to the token's text; false after failing the cursor. */
static bool add_text(struct json *json, const void *data, size_t nr)
{
	bool fits = nr <= json->text.max - json->text.len;

	if (fits)
		buf_add(&json->text, data, nr);
	if (fits && buf_ok(&json->text))
		return true;
	if (fits)
		cursor_fail(json->in, PPROF_NOMEM, PPROF_UNIT_BYTE,
			    "out of memory");
	else
		cursor_fail_at(json->in, PPROF_LIMIT, PPROF_UNIT_BYTE,
			       json->offset, "text of more than %zu bytes "
			       "(limit string_bytes)", json->text.max);
	return false;
}

/* The rest of a string behind its first quote. */
static enum json_token take_string(struct json *json)
{
	struct cursor *in = json->in;
	bool is_odd = false;

	while (cursor_fill(in, AHEAD_BYTES)) {
		const uint8_t *p = in->p, *quote;

		quote = memchr(p, '"', (size_t)(in->end - p));
		if (!add_text(json, p, (size_t)((quote ? quote : in->end) -
						p)))
			return JSON_END;
		if (!quote) {
			in->p = in->end;
			continue;
		}
		in->p = quote;
		cursor_fill(in, AHEAD_BYTES);
		in->p++;
		if (ends_string(in->p - 1, in->end)) {
			if (is_odd)
				diag_count(json->diags, PPROF_UNIT_BYTE,
					   json->offset, "string with a quote "
					   "in it, which is not escaped: "
					   "repaired");
			return JSON_STRING;
		}
		is_odd = true;
		if (!add_text(json, "\"", 1))
			return JSON_END;
	}
	json->is_cut = !in->status;
	if (!in->status)
		cursor_fail_at(in, PPROF_FORMAT, PPROF_UNIT_BYTE,
			       json->offset, "string without an end");
	return JSON_END;
}

static bool is_word_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}

static enum json_token take_word(struct json *json)
{
	struct cursor *in = json->in;
	const char *p, *end;

	while (cursor_fill(in, 1) && is_word_char(*in->p)) {
		if (!add_text(json, in->p, 1))
			return JSON_END;
		in->p++;
	}
	if (!json->text.len) {
		json_fail(json, "a JSON value");
		return JSON_END;
	}
	p = json->text.data;
	end = p + json->text.len;
	if (!is_digit(*p) && *p != '-')
		return JSON_WORD;
	json->is_whole = text_u64(&p, end, &json->number) && p == end;
	return JSON_NUMBER;
}

/* The token that is one character, JSON_END when it is none. */
static enum json_token mark_token(uint8_t c)
{
	switch (c) {
	case '{':
		return JSON_BEGIN_OBJECT;
	case '}':
		return JSON_END_OBJECT;
	case '[':
		return JSON_BEGIN_ARRAY;
	case ']':
		return JSON_END_ARRAY;
	case ':':
		return JSON_COLON;
	case ',':
		return JSON_COMMA;
	default:
		return JSON_END;
	}
}

enum json_token json_next(struct json *json)
{
	uint8_t c;

	buf_reset(&json->text);
	json->token = JSON_END;
	if (!skip_white(json))
		return JSON_END;
	json->offset = cursor_offset(json->in);
	c = *json->in->p;
	json->token = mark_token(c);
	if (json->token != JSON_END) {
		json->in->p++;
	} else if (c == '"') {
		json->in->p++;
		json->token = take_string(json);
	} else {
		json->token = take_word(json);
	}
	return json->token;
}

enum pprof_status json_skip(struct json *json)
{
	size_t depth = 0;

	for (;;) {
		switch (json->token) {
		case JSON_BEGIN_OBJECT:
		case JSON_BEGIN_ARRAY:
			if (depth++ == DEPTH_MAX)
				return json_fail(json, "values nested less "
						 "deeply");
			break;
		case JSON_END_OBJECT:
		case JSON_END_ARRAY:
			if (!depth)
				return json_fail(json, "a JSON value");
			depth--;
			break;
		case JSON_END:
			return json_fail(json, "a JSON value");
		default:
			break;
		}
		if (!depth)
			return PPROF_OK;
		json_next(json);
	}
}

bool json_is(struct json *json, const char *word)
{
	return json->text.len == strlen(word) &&
	       !memcmp(buf_cstr(&json->text), word, json->text.len);
}

enum pprof_status json_fail(struct json *json, const char *expected)
{
	struct cursor *in = json->in;
	size_t nr;

	if (in->status)
		return in->status;
	nr = cursor_fill(in, 1);
	json->is_cut = !nr && !in->status;
	if (!nr && json->token == JSON_END)
		return cursor_fail(in, PPROF_FORMAT, PPROF_UNIT_BYTE,
				   "expected %s, found the end of the input",
				   expected);
	return cursor_fail_at(in, PPROF_FORMAT, PPROF_UNIT_BYTE, json->offset,
			      "expected %s", expected);
}
