/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles that bring their symbols: "--- symbol", "binary=PATH", lines
 * "0xADDR outer--inlined", "---", then any of gperftools' profiles behind a
 * line "--- heap", "--- profile", ... (jeprof --raw, ClickHouse). The rest
 * is read by the reader it belongs to, then its locations get the names.
 */
#include <config.h>

#include "input/reader.h"

#include "input/addr_names.h"
#include "input/text.h"

/* Inlined functions that one line may tell. */
#define CHAIN_MAX 256

struct symbolized {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct addr_names names;
};

/* Lines that only say what follows and belong to no format themselves. */
static const char *const headings[] = {
	"--- heap", "--- growth", "--- profile", "--- cpu",
};

static bool is_heading(const char *p, const char *end)
{
	size_t i;

	end = trim_end(p, end);
	for (i = 0; i < sizeof(headings) / sizeof(*headings); i++) {
		if (equals(p, end, headings[i]))
			return true;
	}
	return false;
}

static int sniff_symbolized(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *eol;

	eol = line_end(p, end);
	if (equals(p, trim_end(p, eol), "--- symbol"))
		return 112;
	return is_heading(p, eol) && eol < end ? 72 : 0;
}

/* End of the piece at p: the next "--" that is no operator's. */
static const char *piece_end(const char *p, const char *end)
{
	const char *at = p;

	while ((at = find_text(at, end, "--"))) {
		if (!ends(p, at, "operator"))
			return at;
		at += 2;
	}
	return end;
}

/* "outer--inlined--innermost": lines, innermost first. False: no memory. */
static bool take_chain(struct symbolized *s, uint64_t address, const char *p,
		       const char *end)
{
	struct line lines[CHAIN_MAX];
	size_t nr = 0;
	const char *cut;

	for (;;) {
		cut = piece_end(p, end);
		if (cut > p && nr < CHAIN_MAX) {
			nr++;
			lines[CHAIN_MAX - nr] = addr_names_line(&s->names, p,
				(size_t)(cut - p), end, 0, 0);
			if (lines[CHAIN_MAX - nr].func == ID_FAILED)
				return false;
		}
		if (cut == end)
			break;
		p = cut + 2;
	}
	return !nr || addr_names_add(&s->names, address,
				     lines + CHAIN_MAX - nr, nr);
}

static void take_binary(struct symbolized *s, const char *p, const char *end)
{
	char text[1024];

	if (p == end)
		return;
	snprintf(text, sizeof(text), "# binary: %.*s", (int)(end - p), p);
	builder_comment(s->out, builder_cstr(s->out, text));
}

static enum pprof_status take_symbol(struct symbolized *s,
				     const struct cursor_line *line)
{
	const char *end = trim_end(line->text, line->text + line->len);
	const char *p = skip_blanks(line->text, end);
	uint64_t address;

	if (p == end)
		return PPROF_OK;
	if (starts(p, end, "binary=")) {
		take_binary(s, p + strlen("binary="), end);
		return PPROF_OK;
	}
	if (starts(p, end, "0x"))
		p += 2;
	if (!text_hex(&p, end, &address) || p == end || !is_space(*p)) {
		diag_count(s->diags, PPROF_UNIT_LINE, line->number,
			   "expected \"0xADDRESS name\": line ignored");
		return PPROF_OK;
	}
	p = skip_blanks(p, end);
	/* What a symbolizer had no name for, it shows as "??" or a number. */
	if (equals(p, end, "??") || starts(p, end, "0x"))
		return PPROF_OK;
	if (take_chain(s, address, p, end))
		return s->out->status;
	return reader_fail(s->out, s->in, PPROF_UNIT_LINE);
}

/* The symbol section, if there is one, to the line behind it. */
static enum pprof_status read_symbols(struct symbolized *s)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;
	const char *end;

	if (!cursor_peek_line(s->in, &line) ||
	    !equals(line.text, trim_end(line.text, line.text + line.len),
		    "--- symbol"))
		return s->in->status;
	cursor_skip_peeked(s->in, &line);
	while (!status && cursor_next_line(s->in, &line)) {
		end = trim_end(line.text, line.text + line.len);
		if (equals(line.text, end, "---"))
			return s->in->status;
		status = take_symbol(s, &line);
	}
	if (status || s->in->status)
		return status ? status : s->in->status;
	return cursor_fail(s->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			   "expected a line '---' after the symbols, found the "
			   "end");
}

/* Skip blank lines and headings before the profile itself. */
static enum pprof_status skip_headings(struct symbolized *s)
{
	struct cursor_line line;
	const char *end;
	bool is_last;

	while (cursor_fill(s->in, 1) && (*s->in->p == '-' ||
	       *s->in->p == '\n' || *s->in->p == '\r')) {
		if (!cursor_peek_line(s->in, &line))
			break;
		end = trim_end(line.text, line.text + line.len);
		is_last = is_heading(line.text, end);
		if (end > line.text && !is_last)
			break;
		cursor_skip_peeked(s->in, &line);
		if (is_last)
			break;
	}
	return s->in->status;
}

/* The reader of what follows, or NULL. */
static const struct reader *choose(struct cursor *in)
{
	const struct reader *best = NULL, *reader;
	size_t nr = cursor_fill(in, SNIFF_BYTES), i;
	int score, best_score = 0;

	if (nr > SNIFF_BYTES)
		nr = SNIFF_BYTES;
	for (i = 0; (reader = reader_at(i)); i++) {
		if (reader == &reader_symbolized || !reader->read)
			continue;
		score = reader->sniff(in->p, nr);
		if (score > best_score) {
			best = reader;
			best_score = score;
		}
	}
	return best;
}

static enum pprof_status read_rest(struct symbolized *s,
				   const struct read_ctx *ctx,
				   struct pprof_error *err)
{
	const struct reader *reader = choose(s->in);
	enum pprof_status status;

	if (s->in->status)
		return s->in->status;
	if (!reader)
		return cursor_fail(s->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				   "expected a profile after the symbols, "
				   "found nothing that is known");
	status = reader->read(s->in, ctx, err);
	/* jeprof looks the first address of all but CPU stacks up as it is. */
	if (!status)
		status = addr_names_apply(&s->names, reader != &reader_cpu);
	return status;
}

static enum pprof_status read_symbolized(struct cursor *in,
					 const struct read_ctx *ctx,
					 struct pprof_error *err)
{
	struct symbolized s = { .in = in, .out = ctx->out,
				.diags = ctx->diags };
	enum pprof_status status;

	addr_names_init(&s.names, ctx->out);
	status = read_symbols(&s);
	if (!status)
		status = skip_headings(&s);
	if (!status)
		status = read_rest(&s, ctx, err);
	if (in->status)
		cursor_status(in, err);
	addr_names_fini(&s.names);
	return status;
}

const struct reader reader_symbolized = {
	.name = "symbolized",
	.description = "profiles with their symbols, \"--- symbol\" (jeprof "
		       "--raw)",
	.sniff = sniff_symbolized,
	.read = read_symbolized,
};
