/* SPDX-License-Identifier: Apache-2.0
 *
 * A heap dump added up as it stands: no scaling, no model. What a check of a
 * few lines of script does, for verdicts that must be the same as its.
 */
#include <config.h>

#include "base/cursor.h"
#include "input/input.h"
#include "input/text.h"

/* Longest piece of a line that a message shows. */
#define SHOWN_MAX 40

/* The third word of "t*: OBJECTS: BYTES [...]". */
static enum pprof_status add_bytes(struct cursor *in, const char *p,
				   const char *end, uint64_t number,
				   struct pprof_dump_sum *sum)
{
	const char *first;
	uint64_t value;
	int i;

	for (i = 0; i < 2; i++) {
		while (p < end && !is_space(*p))
			p++;
		p = skip_blanks(p, end);
	}
	first = p;
	if (!text_u64(&p, end, &value) || (p < end && !is_space(*p)))
		return cursor_fail_at(in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      number, "expected the bytes of a "
				      "stack, found '%.*s'",
				      (int)(end - first > SHOWN_MAX ?
					    SHOWN_MAX : end - first), first);
	if (__builtin_add_overflow(sum->nr_bytes, value, &sum->nr_bytes))
		return cursor_fail_at(in, PPROF_LIMIT, PPROF_UNIT_LINE,
				      number, "the sum of bytes is "
				      "beyond 64 bits");
	return PPROF_OK;
}

static enum pprof_status add_lines(struct cursor *in,
				   struct pprof_dump_sum *sum)
{
	enum pprof_status status = PPROF_OK;
	bool is_pending = false;
	struct cursor_line line;

	while (!status && cursor_next_line(in, &line)) {
		const char *end = line.text + line.len;
		const char *p = skip_blanks(line.text, end);

		end = trim_end(p, end);
		if (starts(p, end, "@")) {
			sum->nr_stacks++;
			is_pending = true;
		} else if (is_pending && starts(p, end, "t*:")) {
			is_pending = false;
			status = add_bytes(in, p, end, line.number, sum);
		}
	}
	return status;
}

enum pprof_status pprof_dump_sum(const char *path,
				 const struct pprof_limits *limits,
				 pprof_diag_fn diag, void *diag_ctx,
				 struct pprof_dump_sum *ret_sum,
				 struct pprof_error *err)
{
	struct pprof_dump_sum sum = { 0, 0 };
	struct pprof_limits defaults;
	struct input *input = NULL;
	enum pprof_status status;
	struct diags diags;

	diags_init(&diags, path);
	pprof_limits_init(&defaults);
	status = input_open(path, limits ? limits : &defaults, &diags, &input,
			    err);
	if (!status) {
		(void)add_lines(input_cursor(input), &sum);
		status = cursor_status(input_cursor(input), err);
		input_close(input);
	}
	diags_flush(&diags, diag, diag_ctx);
	if (!status)
		*ret_sum = sum;
	return status;
}
