/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of Java frames: "name (file:line)", "name (path)", or a name alone.
 */
#include <config.h>

#include "input/java_names.h"

#include "input/addr_names.h"
#include "input/text.h"

/* "name (inside)": true and the inside when the line ends so. */
static bool cut_inside(const char *p, const char **end, const char **ret,
		       const char **ret_end)
{
	const char *open = *end;

	if (open == p || open[-1] != ')')
		return false;
	for (open--; open > p && *open != '('; open--)
		;
	if (open == p || !is_space(open[-1]))
		return false;
	*ret = open + 1;
	*ret_end = *end - 1;
	*end = trim_end(p, open);
	return true;
}

/* "file:12": moves *end to the colon. */
static int64_t cut_number(const char *file, const char **end)
{
	const char *p = *end, *q;
	uint64_t line;

	while (p > file && is_digit(p[-1]))
		p--;
	q = p;
	if (p - file < 2 || p[-1] != ':' || !text_u64(&q, *end, &line) ||
	    line > INT32_MAX)
		return 0;
	*end = p - 1;
	return (int64_t)line;
}

/* False when out of memory. */
static bool take_line(struct addr_names *names, struct diags *diags,
		      const struct cursor_line *text)
{
	const char *p = text->text, *end = trim_end(p, p + text->len);
	const char *file = end, *file_end = end;
	struct line line;
	int64_t number = 0;
	uint64_t id;

	p = skip_blanks(p, end);
	if (p == end)
		return true;
	if (!starts(p, end, "0x") || (p += 2, !text_hex(&p, end, &id)) ||
	    p == end || !is_space(*p)) {
		diag_count(diags, PPROF_UNIT_LINE, text->number,
			   "expected \"0xID name (file:line)\": line ignored");
		return true;
	}
	p = skip_blanks(p, end);
	if (cut_inside(p, &end, &file, &file_end))
		number = cut_number(file, &file_end);
	line = addr_names_line(names, p, (size_t)(end - p), file,
			       (size_t)(file_end - file), number);
	return line.func != ID_FAILED &&
	       addr_names_add(names, id, &line, 1);
}

/* What has a name now needs no id. */
static void forget_ids(struct pprof_profile *profile)
{
	size_t i;

	for (i = 1; i < profile->nr_locations; i++) {
		if (profile->locations[i].nr_lines)
			profile->locations[i].address = 0;
	}
}

enum pprof_status java_names_read(struct cursor *in, struct builder *out,
				  struct diags *diags)
{
	enum pprof_status status;
	struct addr_names names;
	struct cursor_line line;
	bool going = true;

	addr_names_init(&names, out);
	while (going && cursor_next_line(in, &line))
		going = take_line(&names, diags, &line);
	if (!going)
		cursor_fail(in, out->status ? out->status : PPROF_NOMEM,
			    PPROF_UNIT_NONE, "out of memory");
	status = in->status;
	builder_flush(out);
	if (!status)
		status = addr_names_apply(&names, false);
	if (!status)
		forget_ids(out->profile);
	addr_names_fini(&names);
	return status;
}
