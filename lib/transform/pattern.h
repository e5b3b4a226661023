/* SPDX-License-Identifier: Apache-2.0
 *
 * Regular expressions, bounded in time and memory, and what they say about
 * the strings of a profile: each string is asked about once. The one home of
 * PCRE2.
 */
#ifndef TRANSFORM_PATTERN_H
#define TRANSFORM_PATTERN_H

#include "base/buf.h"
#include "profile/profile.h"

/* A compiled expression; all zero is none. */
struct pattern {
	void *code;
	void *data;
	void *context;
	bool gave_up; /* a match went over the limits: the answer was no */
};

/*
 * Compile text[len], unanchored unless `whole`. USAGE with the place of the
 * mistake; `option` names the expression in messages. NOMEM.
 */
enum pprof_status pattern_init(struct pattern *pattern, const char *option,
			       const char *text, size_t len, bool whole,
			       struct pprof_error *err);
void pattern_fini(struct pattern *pattern);

static inline bool pattern_is_set(const struct pattern *pattern)
{
	return pattern->code != NULL;
}

/* Does it match somewhere in text[len]? */
bool pattern_match(struct pattern *pattern, const char *text, size_t len);

/* An expression with its answers. */
struct matcher {
	struct pattern pattern;
	const char *option;   /* its name; borrowed */
	const struct strtab *strings;
	uint8_t *of;          /* [nr] 0: not asked yet, else 1 + answer */
	size_t nr;
	bool simplified;      /* ask about the simplified function name */
	bool matched;         /* it said yes to something that counts */
};

/*
 * Compile `text` (NULL or "": no expression, everything else is a no) for
 * the strings of `profile`. As pattern_init().
 */
enum pprof_status matcher_init(struct matcher *matcher, const char *option,
			       const char *text,
			       const struct pprof_profile *profile,
			       struct pprof_error *err);
void matcher_fini(struct matcher *matcher);

static inline bool matcher_is_set(const struct matcher *matcher)
{
	return pattern_is_set(&matcher->pattern);
}

/* Does it match this string? */
bool matcher_ask(struct matcher *matcher, str_id id);

/* LIMIT when an expression was too costly to be answered. */
enum pprof_status matcher_check(const struct matcher *matcher,
				struct pprof_error *err);

/*
 * The part of a function's name that expressions on what to prune see:
 * without a leading dot and from the first parenthesis on that opens
 * parameters (google/pprof, profile/prune.go, simplifyFunc).
 */
void simplify_function(const char **name, size_t *len);

#endif
