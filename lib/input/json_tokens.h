/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of JSON as a stream, tolerant of strings that were written without
 * any escaping: a quote ends a string only where something that may follow
 * a string does.
 */
#ifndef INPUT_JSON_TOKENS_H
#define INPUT_JSON_TOKENS_H

#include "base/buf.h"
#include "base/cursor.h"

enum json_token {
	JSON_END,    /* of the input, or the cursor failed */
	JSON_BEGIN_OBJECT, JSON_END_OBJECT, JSON_BEGIN_ARRAY, JSON_END_ARRAY,
	JSON_COLON, JSON_COMMA,
	JSON_STRING, /* its bytes in json->text */
	JSON_NUMBER, /* in json->text and, when whole, json->number */
	JSON_WORD    /* true, false, null: in json->text */
};

struct json {
	struct cursor *in;
	struct diags *diags;
	struct buf text;
	uint64_t number;      /* of a JSON_NUMBER */
	bool is_whole;        /* it is a whole one that fits 64 bits */
	enum json_token token; /* the present one */
	uint64_t offset;      /* of it */
	bool is_cut;          /* a failure is the input's early end */
};

void json_init(struct json *json, struct cursor *in, struct diags *diags,
	       size_t max_string);
void json_fini(struct json *json);

/* Move to the next token and return it. */
enum json_token json_next(struct json *json);

/* Move over the value that begins at the present token. */
enum pprof_status json_skip(struct json *json);

/* The text of the token equals `word`. */
bool json_is(struct json *json, const char *word);

/* Fail the cursor: `expected`, and what stands here. */
enum pprof_status json_fail(struct json *json, const char *expected);

#endif
