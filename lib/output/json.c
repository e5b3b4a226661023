/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON text, value by value; see json.h.
 */
#include <config.h>

#include "output/json.h"

#include "view/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void json_out_init(struct json_out *json, struct buf *out)
{
	json->out = out;
	json->needs_comma = false;
}

static void start_value(struct json_out *json)
{
	if (json->needs_comma)
		buf_byte(json->out, ',');
	json->needs_comma = true;
}

void json_put_open(struct json_out *json, char bracket)
{
	start_value(json);
	buf_byte(json->out, bracket);
	json->needs_comma = false;
}

void json_put_close(struct json_out *json, char bracket)
{
	buf_byte(json->out, bracket);
	json->needs_comma = true;
}

void json_put_key(struct json_out *json, const char *name)
{
	json_put_str(json, name);
	buf_byte(json->out, ':');
	json->needs_comma = false;
}

/* Beyond the basic plane a character is two (RFC 8259, 7). */
static void add_escape(struct buf *out, uint32_t code)
{
	if (code == UINT32_MAX)
		code = 0xfffd;
	if (code > 0xffff) {
		code -= 0x10000;
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (code >> 10),
			   0xdc00 + (code & 0x3ff));
	} else {
		buf_printf(out, "\\u%04x", code);
	}
}

void json_put_text(struct json_out *json, const char *text, size_t len)
{
	struct buf *out = json->out;
	size_t i, n, plain = 0;
	uint32_t code;

	start_value(json);
	buf_byte(out, '"');
	for (i = 0; i < len; i += n) {
		n = text_decode(text + i, len - i, &code);
		if (!text_is_hidden(code) && code != '"' && code != '\\')
			continue;
		buf_add(out, text + plain, i - plain);
		plain = i + n;
		if (code == '"')
			buf_str(out, "\\\"");
		else if (code == '\\')
			buf_str(out, "\\\\");
		else
			add_escape(out, code);
	}
	buf_add(out, text + plain, len - plain);
	buf_byte(out, '"');
}

void json_put_str(struct json_out *json, const char *text)
{
	json_put_text(json, text, strlen(text));
}

void json_put_u64(struct json_out *json, uint64_t value)
{
	start_value(json);
	buf_u64(json->out, value);
}

void json_put_i64(struct json_out *json, int64_t value)
{
	start_value(json);
	buf_i64(json->out, value);
}

/* The point of a locale, which stands in one place, is put right. */
void json_put_real(struct json_out *json, double value)
{
	char text[48];
	char *p;

	start_value(json);
	if (!isfinite(value)) {
		buf_str(json->out, "null");
		return;
	}
	snprintf(text, sizeof(text), "%.8e", value);
	for (p = text; *p; p++)
		if (!strchr("0123456789-+e", *p))
			*p = '.';
	buf_str(json->out, text);
}

void json_put_bool(struct json_out *json, bool value)
{
	start_value(json);
	buf_str(json->out, value ? "true" : "false");
}

void json_put_hex(struct json_out *json, uint64_t value)
{
	start_value(json);
	buf_str(json->out, "\"0x");
	buf_hex(json->out, value);
	buf_byte(json->out, '"');
}
