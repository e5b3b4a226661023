/* SPDX-License-Identifier: Apache-2.0
 *
 * PCRE2 with limits: expressions come from the command line and from the
 * profiles themselves.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Steps of one match; an expression of good nature takes thousands. */
#define MATCH_LIMIT 2000000

/* Nesting of one match, and its memory in KiB. */
#define DEPTH_LIMIT 1000000
#define HEAP_KIB 65536

/* Longest expression. */
#define PATTERN_BYTES_MAX 65536

static enum pprof_status tell_mistake(const char *option, int code,
				      size_t offset, struct pprof_error *err)
{
	PCRE2_UCHAR text[128];

	if (pcre2_get_error_message(code, text, sizeof(text)) < 0)
		text[0] = '\0';
	return error_plain(err, PPROF_USAGE, NULL,
			   "%s: mistake in the expression after %zu "
			   "characters: %s", option, offset,
			   (const char *)text);
}

static enum pprof_status compile(struct pattern *pattern, const char *option,
				 const char *text, size_t len, bool whole,
				 struct pprof_error *err)
{
	uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF |
			 PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
	PCRE2_SIZE offset;
	int code;

	if (whole)
		flags |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
	pattern->code = pcre2_compile((PCRE2_SPTR)text, len, flags, &code,
				      &offset, NULL);
	if (!pattern->code)
		return tell_mistake(option, code, offset, err);
	/* Where there is no just-in-time compiler it goes without. */
	(void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
	return PPROF_OK;
}

enum pprof_status pattern_init(struct pattern *pattern, const char *option,
			       const char *text, size_t len, bool whole,
			       struct pprof_error *err)
{
	enum pprof_status status;
	pcre2_match_context *context;

	memset(pattern, 0, sizeof(*pattern));
	if (len > PATTERN_BYTES_MAX)
		return error_plain(err, PPROF_LIMIT, NULL,
				   "%s: the expression is longer than %d "
				   "bytes", option, PATTERN_BYTES_MAX);
	status = compile(pattern, option, text, len, whole, err);
	if (status)
		return status;
	context = pcre2_match_context_create(NULL);
	pattern->context = context;
	pattern->data = pcre2_match_data_create(1, NULL);
	if (!context || !pattern->data) {
		pattern_fini(pattern);
		return error_nomem(err);
	}
	pcre2_set_match_limit(context, MATCH_LIMIT);
	pcre2_set_depth_limit(context, DEPTH_LIMIT);
	pcre2_set_heap_limit(context, HEAP_KIB);
	return PPROF_OK;
}

void pattern_fini(struct pattern *pattern)
{
	pcre2_code_free(pattern->code);
	pcre2_match_data_free(pattern->data);
	pcre2_match_context_free(pattern->context);
	memset(pattern, 0, sizeof(*pattern));
}

bool pattern_match(struct pattern *pattern, const char *text, size_t len)
{
	int code = pcre2_match(pattern->code, (PCRE2_SPTR)text, len, 0, 0,
			       pattern->data, pattern->context);

	/* Compiled code has 32 KiB of stack, the interpreter all it may. */
	if (code == PCRE2_ERROR_JIT_STACKLIMIT)
		code = pcre2_match(pattern->code, (PCRE2_SPTR)text, len, 0,
				   PCRE2_NO_JIT, pattern->data,
				   pattern->context);
	if (code >= 0)
		return true;
	if (code != PCRE2_ERROR_NOMATCH)
		pattern->gave_up = true;
	return false;
}

enum pprof_status matcher_init(struct matcher *matcher, const char *option,
			       const char *text,
			       const struct pprof_profile *profile,
			       struct pprof_error *err)
{
	enum pprof_status status;

	memset(matcher, 0, sizeof(*matcher));
	matcher->option = option;
	matcher->strings = &profile->strings;
	if (!text || !*text)
		return PPROF_OK;
	status = pattern_init(&matcher->pattern, option, text, strlen(text),
			      false, err);
	if (status)
		return status;
	matcher->nr = profile->strings.nr;
	matcher->of = mem_zalloc(matcher->nr, 1);
	return matcher->of ? PPROF_OK : error_nomem(err);
}

void matcher_fini(struct matcher *matcher)
{
	pattern_fini(&matcher->pattern);
	mem_free(matcher->of);
	matcher->of = NULL;
}

bool matcher_ask(struct matcher *matcher, str_id id)
{
	const char *text = strtab_text(matcher->strings, id);
	size_t len = strtab_len(matcher->strings, id);
	bool yes;

	if (!matcher_is_set(matcher))
		return false;
	if (id < matcher->nr && matcher->of[id])
		return matcher->of[id] == 2;
	if (matcher->simplified)
		simplify_function(&text, &len);
	yes = pattern_match(&matcher->pattern, text, len);
	if (id < matcher->nr)
		matcher->of[id] = (uint8_t)(1 + yes);
	return yes;
}

enum pprof_status matcher_check(const struct matcher *matcher,
				struct pprof_error *err)
{
	if (!matcher->pattern.gave_up)
		return PPROF_OK;
	return error_plain(err, PPROF_LIMIT, NULL,
			   "%s: the expression takes too many steps on some "
			   "name", matcher->option);
}

/* Length of `word` when text starts with it, else 0. */
static size_t starts_with(const char *text, size_t len, const char *word)
{
	size_t nr = strlen(word);

	return len >= nr && !memcmp(text, word, nr) ? nr : 0;
}

void simplify_function(const char **name, size_t *len)
{
	const char *text = *name;
	size_t nr = *len, i, skip;

	if (nr && *text == '.') {
		text++;
		nr--;
	}
	for (i = 0; i < nr; i++) {
		skip = starts_with(text + i, nr - i, "(anonymous namespace)");
		if (!skip)
			skip = starts_with(text + i, nr - i, "operator()");
		if (skip)
			i += skip - 1;
		else if (text[i] == '(')
			nr = i;
	}
	*name = text;
	*len = nr;
}
