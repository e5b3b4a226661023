/* SPDX-License-Identifier: Apache-2.0
 *
 * Demangling through libiberty's callback interface, which allocates
 * nothing, and shortening of its output. The only includer of libiberty's
 * own demangle.h.
 */
#include <config.h>

#include "symbolize/demangle.h"

#include "base/cursor.h"

#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

size_t demangle_unversioned(const char *symbol)
{
	const char *at = strchr(symbol, '@');

	return at && at != symbol ? (size_t)(at - symbol) : strlen(symbol);
}

/* Suffixes that compilers give to copies and pieces of a function. */
static const char *const clone_suffixes[] = {
	".constprop", ".isra", ".part", ".cold", ".llvm", ".lto_priv",
	".localalias", ".clone", ".__uniq", ".resume", ".destroy",
	".cleanup", ".warm", ".unlikely", ".content", ".specialized"
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True when text[0..len) ends with a clone suffix; its start in *ret_at. */
static bool ends_with_clone(const char *text, size_t len, bool is_mangled,
			    size_t *ret_at)
{
	size_t end = len, i;

	while (end && is_digit(text[end - 1]))
		end--;
	if (end < len && end > 1 && text[end - 1] == '.') {
		end--;
		*ret_at = end;
	} else {
		end = len;
	}
	for (i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes);
	     i++) {
		size_t nr = strlen(clone_suffixes[i]);

		if (end > nr &&
		    !memcmp(text + end - nr, clone_suffixes[i], nr)) {
			*ret_at = end - nr;
			return true;
		}
	}
	/* ".5" alone: a copy in mangled names, a real name in Go and C. */
	return is_mangled && end < len;
}

static bool is_mangled(const char *text)
{
	return (text[0] == '_' && (text[1] == 'Z' || text[1] == 'R')) ||
	       !strncmp(text, "___Z", 4) || !strncmp(text, "__Z", 3);
}

/* Length without version and clone suffixes. */
static size_t plain_length(const char *symbol)
{
	size_t len = demangle_unversioned(symbol), at = len;
	const bool mangled = is_mangled(symbol);

	while (len && ends_with_clone(symbol, len, mangled, &at))
		len = at;
	return len;
}

/* Receives libiberty's output piece by piece. */
struct collector {
	struct buf *out;
	size_t start;    /* out->len before the name */
	jmp_buf too_long;
};

static void collect(const char *text, size_t len, void *opaque)
{
	struct collector *collector = opaque;
	struct buf *out = collector->out;

	/* libiberty holds no heap memory here: leaving it is safe. */
	if (len > DEMANGLE_MAX_OUTPUT - (out->len - collector->start))
		longjmp(collector->too_long, 1);
	buf_add(out, text, len);
}

/* "_ZN...17h", sixteen digits, "E": what rustc called its old scheme. */
static bool may_be_rust(const char *mangled)
{
	const size_t len = strlen(mangled);

	return mangled[1] == 'R' ||
	       (len > 20 && !memcmp(mangled + len - 20, "17h", 3));
}

/* Write the code point at `to` as UTF-8; returns the bytes, 0 for none. */
static size_t put_utf8(char *to, uint64_t code)
{
	if (code < 0x80 || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/*
 * libiberty leaves "$uXX$" beyond ASCII in rustc's old scheme as it is.
 * The character is never longer than its escape, so this works in place.
 */
static void decode_rust_escapes(struct buf *out, size_t start)
{
	const char *p = out->data + start, *end = out->data + out->len;
	char *to = out->data + start;
	const char *digits;
	uint64_t code;
	size_t len;

	while (p < end) {
		digits = p + 2;
		if (end - p > 4 && p[0] == '$' && p[1] == 'u' &&
		    text_hex(&digits, end, &code) && digits < end &&
		    *digits == '$' && digits - p > 3) {
			len = put_utf8(to, code);
			if (len) {
				to += len;
				p = digits + 1;
				continue;
			}
		}
		*to++ = *p++;
	}
	out->len = (size_t)(to - out->data);
}

static bool try_schemes(const char *mangled, struct collector *collector)
{
	const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO |
			    DMGL_NO_RECURSE_LIMIT;
	const size_t start = collector->start;

	/* Rust first: its legacy names are valid C++ ones too. */
	if (may_be_rust(mangled) &&
	    rust_demangle_callback(mangled, DMGL_PARAMS | DMGL_ANSI |
				   DMGL_AUTO, collect, collector)) {
		decode_rust_escapes(collector->out, start);
		return true;
	}
	collector->out->len = start;
	if (mangled[0] == '_' && mangled[1] == 'R')
		return false;
	return cplus_demangle_v3_callback(mangled, options, collect,
					  collector);
}

/* Append the demangled form; false with `out` unchanged when there is none. */
static bool append_demangled(const char *mangled, struct buf *out)
{
	struct collector collector;
	const size_t start = out->len;

	collector.out = out;
	collector.start = start;
	if (!setjmp(collector.too_long) && try_schemes(mangled, &collector) &&
	    out->len > start)
		return true;
	out->len = start;
	return false;
}

static void append_readable(const char *mangled, enum pprof_names names,
			    struct buf *out)
{
	struct buf full;

	if (names != PPROF_NAMES_SHORT) {
		if (!append_demangled(mangled, out))
			buf_str(out, mangled);
		return;
	}
	buf_init(&full, DEMANGLE_MAX_OUTPUT + 1);
	if (append_demangled(mangled, &full) && buf_ok(&full))
		demangle_shorten(buf_cstr(&full), out);
	else
		buf_str(out, mangled);
	if (full.failed)
		out->failed = true;
	buf_fini(&full);
}

void demangle(const char *symbol, enum pprof_names names, struct buf *out)
{
	char mangled[DEMANGLE_MAX_BYTES + 1];
	size_t len;

	if (names == PPROF_NAMES_MANGLED) {
		buf_add(out, symbol, demangle_unversioned(symbol));
		return;
	}
	len = plain_length(symbol);
	if (len > DEMANGLE_MAX_BYTES || !is_mangled(symbol)) {
		buf_add(out, symbol, len);
		return;
	}
	memcpy(mangled, symbol, len);
	mangled[len] = '\0';
	append_readable(mangled, names, out);
}

/* ---- shortening: one left-to-right scan over balanced groups ---- */

/* Deepest nesting of brackets that is followed; deeper text is kept. */
#define MAX_NESTING 256

struct scan {
	const char *p;
	struct buf *out;
	size_t name; /* out->len where the name starts, after any prefix */
	bool done;
};

static bool starts(const char *p, const char *word)
{
	return !strncmp(p, word, strlen(word));
}

static bool is_word_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* True when the keyword "operator" stands at p, within a text from `start`. */
static bool is_operator(const char *p, const char *start)
{
	return *p == 'o' && starts(p, "operator") && !is_word_char(p[8]) &&
	       (p == start || !is_word_char(p[-1]));
}

/* Length of the operator's symbol at p, 0 for a word. */
static size_t operator_length(const char *p)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>",
		"<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=",
		"*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*",
		"/", "%", "^", "&", "|", "~", "!", "=", ",", "\"\" ", "\"\""
	};
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		if (starts(p, symbols[i]))
			return strlen(symbols[i]);
	}
	return 0;
}

/* Close `c` on the stack of open brackets; '>' may be a mere operator. */
static size_t close_bracket(const char *stack, size_t depth, char c)
{
	const char open = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' :
			  '<';
	size_t at = depth;

	if (c == '>')
		return depth && stack[depth - 1] == '<' ? depth - 1 : depth;
	while (at && stack[at - 1] != open)
		at--;
	return at ? at - 1 : depth;
}

/* End of the bracketed group that opens at `start`; or the text's end. */
static const char *group_end(const char *start)
{
	char stack[MAX_NESTING];
	const char *p = start;
	size_t depth = 0;

	for (; *p; p++) {
		if (is_operator(p, start)) {
			p += strlen("operator");
			p += operator_length(p);
			p--;
		} else if (strchr("(<[{", *p)) {
			if (depth == MAX_NESTING)
				break;
			stack[depth++] = *p;
		} else if (strchr(")]}", *p) || (*p == '>' && p[-1] != '-')) {
			depth = close_bracket(stack, depth, *p);
			if (!depth)
				return p + 1;
		}
	}
	return p + strlen(p);
}

static void copy_to(struct scan *scan, const char *end)
{
	buf_add(scan->out, scan->p, (size_t)(end - scan->p));
	scan->p = end;
}

static bool after_colons(const struct scan *scan)
{
	const struct buf *out = scan->out;

	return out->len >= scan->name + 2 && out->data[out->len - 1] == ':';
}

/*
 * Rust: the method of a type, "<a::B<C>>::f", reads "a::B::f". False when the
 * group at the start is something else.
 */
static bool scan_inherent(struct scan *scan, const char *end)
{
	const char *inner = scan->p + 1;
	struct buf type;

	if (!starts(end, "::") || !is_word_char(*inner) ||
	    memchr(inner, ' ', (size_t)(end - inner)))
		return false;
	buf_init(&type, DEMANGLE_MAX_OUTPUT);
	buf_add(&type, inner, (size_t)(end - inner) - 1);
	/* It starts with a word and has no blank: this cannot recur. */
	demangle_shorten(buf_cstr(&type), scan->out);
	if (!buf_ok(&type))
		scan->out->failed = true;
	buf_fini(&type);
	scan->p = end;
	return true;
}

static void scan_angle(struct scan *scan)
{
	const char *end = group_end(scan->p);

	if (scan->out->len == scan->name && scan_inherent(scan, end))
		return;
	/* Rust: "<T as Trait>::f", "<impl X for Y>"; but "f::<T>" is cut. */
	if (scan->out->len == scan->name ||
	    (after_colons(scan) && starts(scan->p, "<impl "))) {
		copy_to(scan, end);
		return;
	}
	if (after_colons(scan))
		scan->out->len -= 2;
	scan->p = end;
}

/* Past " const", " &&" and the like. */
static const char *skip_qualifiers(const char *p)
{
	static const char *const words[] = {
		" const", " volatile", " &&", " &", " noexcept"
	};
	size_t i = 0;

	while (i < sizeof(words) / sizeof(*words)) {
		if (starts(p, words[i])) {
			p += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return p;
}

static void scan_paren(struct scan *scan)
{
	const char *end = group_end(scan->p);
	const struct buf *out = scan->out;
	const size_t len = out->len - scan->name;

	if (starts(scan->p, "(anonymous ")) {
		copy_to(scan, end);
	} else if (!len || (len == 8 && !memcmp(out->data + scan->name,
						"decltype", 8))) {
		scan->p = end; /* a return type */
	} else {
		/* Parameters: a local entity may follow, or the end. */
		scan->p = skip_qualifiers(end);
		scan->done = !starts(scan->p, "::");
	}
}

/* "operator" and its symbol or type, up to the parameters. */
static void scan_operator(struct scan *scan)
{
	const char *p = scan->p + strlen("operator");
	const size_t len = operator_length(p);

	if (len) {
		copy_to(scan, p + len);
		if (starts(scan->p, " <"))
			scan->p++;
		return;
	}
	while (*p && *p != '(')
		p = *p == '<' ? group_end(p) : p + 1;
	copy_to(scan, p);
}

/* Copy what stands before the name in special symbols. */
static void scan_prefix(struct scan *scan)
{
	static const char *const prefixes[] = {
		"non-virtual thunk to ", "virtual thunk to ",
		"covariant return thunk to ", "TLS init function for ",
		"TLS wrapper function for ", "transaction clone for ",
		"non-transaction clone for ", "guard variable for "
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (starts(scan->p, prefixes[i])) {
			copy_to(scan, scan->p + strlen(prefixes[i]));
			break;
		}
	}
	scan->name = scan->out->len;
}

static void scan_step(struct scan *scan, const char *start)
{
	switch (*scan->p) {
	case '<':
		scan_angle(scan);
		break;
	case '(':
		scan_paren(scan);
		break;
	case '{':
	case '[':
		copy_to(scan, group_end(scan->p));
		break;
	case ' ':
		/* What came so far was a return type. */
		scan->out->len = scan->name;
		scan->p++;
		break;
	default:
		if (is_operator(scan->p, start))
			scan_operator(scan);
		else
			copy_to(scan, scan->p + 1);
		break;
	}
}

void demangle_shorten(const char *name, struct buf *out)
{
	const size_t start = out->len;
	struct scan scan = { name, out, start, false };

	scan_prefix(&scan);
	/* A function that returns a function pointer: left whole. */
	while (*scan.p && !scan.done && buf_ok(out) && !starts(scan.p, "(*"))
		scan_step(&scan, name);
	if (buf_ok(out) && (out->len == scan.name ||
			    (!scan.done && starts(scan.p, "(*")))) {
		out->len = start;
		buf_str(out, name);
	}
}
