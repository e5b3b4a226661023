/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON (RFC 8259) appended to a buf, exact: whole 64-bit numbers, and text
 * that any parser gives back as it was. Commas are put in here; that the
 * calls make a document is the caller's to see to.
 */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include "base/buf.h"

struct json_out {
	struct buf *out;  /* borrowed */
	bool needs_comma; /* a value stands before what comes next */
};

void json_out_init(struct json_out *json, struct buf *out);

/* `bracket` is '{' or '['; closing takes '}' or ']'. */
void json_put_open(struct json_out *json, char bracket);
void json_put_close(struct json_out *json, char bracket);

/* Name of the member that comes next. */
void json_put_key(struct json_out *json, const char *name);

/*
 * A string. What must not be shown raw (see text_is_hidden()) is \uNNNN; a
 * byte that is not UTF-8 is U+FFFD.
 */
void json_put_text(struct json_out *json, const char *text, size_t len);
void json_put_str(struct json_out *json, const char *text);

void json_put_u64(struct json_out *json, uint64_t value);
void json_put_i64(struct json_out *json, int64_t value);
/* At most 9 digits; null for what is no number. */
void json_put_real(struct json_out *json, double value);
void json_put_bool(struct json_out *json, bool value);

/* A string "0x1f" : numbers of this size are not exact everywhere. */
void json_put_hex(struct json_out *json, uint64_t value);

#endif
