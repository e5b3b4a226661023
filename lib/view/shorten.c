/* SPDX-License-Identifier: Apache-2.0
 *
 * Structural shortening of C++, Rust, Go, Java and plain C names. Works on
 * the text alone: brackets that do not match are taken as plain characters.
 */
#include <config.h>

#include "view/shorten.h"
#include "view/text.h"

#include <string.h>

/* Brackets inside brackets that are followed. */
#define MAX_NESTING 64

/* U+2026 in UTF-8. */
#define ELLIPSIS "\xe2\x80\xa6"

void shortener_init(struct shortener *shortener)
{
	buf_init(&shortener->short_name, UINT32_MAX);
}

void shortener_fini(struct shortener *shortener)
{
	buf_fini(&shortener->short_name);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n) &&
	       (len == n || !is_word(text[len - n - 1]));
}

/* The bracket that closes `c`, or 0. */
static char closer_of(char c)
{
	switch (c) {
	case '(':
		return ')';
	case '<':
		return '>';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return 0;
	}
}

/* Index after the bracket that closes the one at `at`; 0 when none does. */
static size_t match_bracket(const char *text, size_t len, size_t at)
{
	char open[MAX_NESTING];
	size_t nr = 0, i;

	for (i = at; i < len; i++) {
		char c = text[i], closer = closer_of(c);

		if (c == '<' && ends_with(text, i, "operator"))
			closer = 0;
		if (closer) {
			if (nr == MAX_NESTING)
				return 0;
			open[nr++] = closer;
			continue;
		}
		/* It began at "operator<", which is no bracket. */
		if (!nr)
			return 0;
		if (!strchr(")>]}", c) || !c)
			continue;
		/* "->" and comparisons are no brackets. */
		if (c == '>' && (text[i - 1] == '-' || open[nr - 1] != '>'))
			continue;
		if (c != open[nr - 1])
			return 0;
		if (!--nr)
			return i + 1;
	}
	return 0;
}

/* "f(int)" has parameters; "(*T)", "operator()" and "a (b)" have none. */
static bool is_parameters(const char *text, size_t at, size_t end)
{
	char before = at ? text[at - 1] : ' ';

	if (end == at + 2 && ends_with(text, at, "operator"))
		return false;
	return is_word(before) || strchr(">])}=+-*/%^&|~!<,", before);
}

/*
 * "f<int>" and Go's "f[int]" have arguments, so has Rust's "f::<T>"; in
 * "<T as U>::f" and "m::<impl U for T>::f" it is a scope.
 */
static bool is_arguments(const char *text, size_t at, size_t end)
{
	if (!at || text[at] == '{')
		return false;
	if (is_word(text[at - 1]))
		return true;
	if (text[at] != '<')
		return false;
	if (ends_with(text, at, "operator()"))
		return true;
	return at > 2 && text[at - 1] == ':' && is_word(text[at - 3]) &&
	       strncmp(text + at, "<impl ", 6) != 0 &&
	       !memmem(text + at, end - at, " as ", 4);
}

/* Append the name without parameters and, if told, without arguments. */
static void add_stripped(struct buf *out, const char *text, size_t len,
			 bool arguments)
{
	size_t i = 0, end;

	while (i < len) {
		end = 0;
		if (closer_of(text[i]) &&
		    !(text[i] == '<' && ends_with(text, i, "operator")))
			end = match_bracket(text, len, i);
		if (!end) {
			buf_byte(out, text[i++]);
			continue;
		}
		if (text[i] == '(' && is_parameters(text, i, end)) {
			/* What qualifies the function goes with them. */
			if (end + 1 >= len || text[end] != ':')
				return;
		} else if (text[i] == '(' || !arguments ||
			   !is_arguments(text, i, end)) {
			buf_add(out, text + i, end - i);
		} else if (text[i - 1] == ':' && out->len > 2) {
			out->len -= 2;
		}
		i = end;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Suffixes that compilers give to clones of a function. */
static bool is_clone_suffix(const char *text, size_t len)
{
	static const char *const words[] = {
		"cold", "constprop", "isra", "part", "llvm", "lto_priv",
		"localalias", "clone", "so", "exe", "dll"
	};
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		n = strlen(words[i]);
		if (len >= n && !memcmp(text, words[i], n) &&
		    (len == n || !is_word(text[n])))
			return true;
	}
	/* Go numbers the closures of a function: "f.func1.2". */
	if (len > 4 && !memcmp(text, "func", 4))
		return is_digit(text[4]);
	return len && is_digit(text[0]);
}

/* What separates scopes in a name. */
struct scopes {
	bool spaces;       /* blanks do, too: before it stands a type */
	size_t last_slash; /* points only do behind: "host.org/pkg.F" */
};

/* Bytes of a scope separator at text[i], or 0. */
static size_t separator_at(const char *text, size_t len, size_t i,
			   const struct scopes *scopes)
{
	if (i + 2 < len && text[i] == ':' && text[i + 1] == ':')
		return 2;
	if (i + 1 >= len || !i)
		return 0;
	if (text[i] == '/' && text[i + 1] != ' ')
		return 1;
	if (text[i] == '.' && i > scopes->last_slash &&
	    (is_word(text[i + 1]) || text[i + 1] == '(') &&
	    text[i - 1] != ' ' &&
	    !is_clone_suffix(text + i + 1, len - i - 1))
		return 1;
	/* A return type before the name of a template's instance. */
	if (scopes->spaces && text[i] == ' ' && is_word(text[i + 1]) &&
	    !ends_with(text, i, "operator"))
		return 1;
	return 0;
}

/* Where the next smaller form starts, or 0 when there is none. */
static size_t next_scope(const char *text, size_t len, size_t from,
			 const struct scopes *scopes)
{
	size_t i = from, n;

	while (i < len) {
		n = closer_of(text[i]) ? match_bracket(text, len, i) : 0;
		if (n) {
			i = n;
			continue;
		}
		n = separator_at(text, len, i, scopes);
		if (n)
			return i + n;
		i++;
	}
	return 0;
}

/* Place of the last '/' outside of brackets, 0 when there is none. */
static size_t last_slash(const char *text, size_t len)
{
	size_t at = 0, i = 0, n;

	while (i < len) {
		n = closer_of(text[i]) ? match_bracket(text, len, i) : 0;
		if (!n && text[i] == '/')
			at = i;
		i = n ? n : i + 1;
	}
	return at;
}

static void add_cut(struct buf *out, const char *text, size_t len,
		    size_t cells, enum shorten_cut cut)
{
	size_t at;

	if (!cells)
		return;
	if (cut == SHORTEN_CUT_END) {
		buf_add(out, text, text_head(text, len, cells - 1));
		buf_str(out, ELLIPSIS);
		return;
	}
	at = text_tail(text, len, cells - 1);
	buf_str(out, ELLIPSIS);
	buf_add(out, text + at, len - at);
}

/* Drop leading scopes until the rest fits; cut the last one. */
static void add_scoped(struct buf *out, const struct buf *form, bool spaces,
		       size_t cells, enum shorten_cut cut)
{
	const char *text = form->data;
	size_t len = form->len, left = text_cells(text, len);
	struct scopes scopes = { spaces, last_slash(text, len) };
	size_t start = 0, next;

	while (left > cells) {
		next = next_scope(text, len, start, &scopes);
		if (!next) {
			add_cut(out, text + start, len - start, cells, cut);
			return;
		}
		left -= text_cells(text + start, next - start);
		start = next;
	}
	buf_add(out, text + start, len - start);
}

void shorten_fit(struct shortener *shortener, struct buf *out,
		 const char *name, size_t len, size_t cells,
		 enum shorten_cut cut)
{
	struct buf *form = &shortener->short_name;

	if (text_cells(name, len) <= cells) {
		buf_add(out, name, len);
		return;
	}
	buf_reset(form);
	add_stripped(form, name, len, false);
	if (text_cells(form->data, form->len) > cells) {
		buf_reset(form);
		add_stripped(form, name, len, true);
	}
	if (!buf_ok(form))
		out->failed = true;
	else
		/* Only what has parameters or arguments has a return type. */
		add_scoped(out, form, form->len < len, cells, cut);
}

void shorten_strip(struct buf *out, const char *name, size_t len)
{
	add_stripped(out, name, len, true);
}

void shorten_plain(struct buf *out, const char *text, size_t len,
		   size_t cells)
{
	if (text_cells(text, len) <= cells)
		buf_add(out, text, len);
	else
		add_cut(out, text, len, cells, SHORTEN_CUT_END);
}
