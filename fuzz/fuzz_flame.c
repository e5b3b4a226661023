/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any profile as a flame graph, in several shapes, and as an
 * HTML report. Names are the input's, so the picture is checked to be
 * well-formed XML: balanced tags, quoted attributes, known entities, nothing
 * but text between; and the report to have the elements that it always has.
 */
#include <config.h>

#include "common.h"

/* Deeper than any element of a picture is nested. */
#define DEPTH_MAX 64

struct xml {
	const char *p;
	const char *end;
	struct {
		const char *name;
		size_t len;
	} open[DEPTH_MAX];
	size_t depth;
	size_t nr_roots;
};

static bool starts_with(const struct xml *xml, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(xml->end - xml->p) >= len &&
	       !memcmp(xml->p, text, len);
}

/* Move behind the next `text`. */
static void skip_past(struct xml *xml, const char *text)
{
	const char *at = memmem(xml->p, (size_t)(xml->end - xml->p), text,
				strlen(text));

	fuzz_assert(at);
	xml->p = at + strlen(text);
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == ':' || c == '-' || c == '_';
}

static size_t take_name(struct xml *xml, const char **ret_name)
{
	*ret_name = xml->p;
	while (xml->p < xml->end && is_name(*xml->p))
		xml->p++;
	fuzz_assert(xml->p > *ret_name);
	return (size_t)(xml->p - *ret_name);
}

static void skip_blanks(struct xml *xml)
{
	while (xml->p < xml->end && memchr(" \t\n", *xml->p, 3))
		xml->p++;
}

/* A reference, at its ampersand. */
static void check_reference(struct xml *xml)
{
	static const char *const known[] = {
		"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#",
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (starts_with(xml, known[i])) {
			xml->p += strlen(known[i]);
			return;
		}
	}
	fuzz_assert(false);
}

/* One byte of text; which characters XML 1.0 has not at all: section 2.2. */
static void check_text_byte(struct xml *xml)
{
	unsigned char c = (unsigned char)*xml->p;

	fuzz_assert(c >= 0x20 || c == '\t' || c == '\n');
	/* What only ill-formed UTF-8 has. */
	fuzz_assert(c != 0x7f && c != 0xc0 && c != 0xc1 && c < 0xf5);
	if (c == '&')
		check_reference(xml);
	else
		xml->p++;
}

static void check_attribute(struct xml *xml)
{
	const char *name;
	char quote;

	take_name(xml, &name);
	fuzz_assert(starts_with(xml, "=\"") || starts_with(xml, "='"));
	quote = xml->p[1];
	xml->p += 2;
	while (xml->p < xml->end && *xml->p != quote) {
		fuzz_assert(*xml->p != '<');
		check_text_byte(xml);
	}
	fuzz_assert(xml->p < xml->end);
	xml->p++;
}

static void check_start_tag(struct xml *xml)
{
	const char *name;
	size_t len;

	xml->p++;
	len = take_name(xml, &name);
	xml->nr_roots += !xml->depth;
	for (skip_blanks(xml); !starts_with(xml, ">") &&
	     !starts_with(xml, "/>"); skip_blanks(xml))
		check_attribute(xml);
	if (*xml->p == '/') {
		xml->p += 2;
		return;
	}
	xml->p++;
	fuzz_assert(xml->depth < DEPTH_MAX);
	xml->open[xml->depth].name = name;
	xml->open[xml->depth++].len = len;
}

static void check_end_tag(struct xml *xml)
{
	const char *name;
	size_t len;

	xml->p += 2;
	len = take_name(xml, &name);
	fuzz_assert(xml->depth);
	xml->depth--;
	fuzz_assert(len == xml->open[xml->depth].len &&
		    !memcmp(name, xml->open[xml->depth].name, len));
	fuzz_assert(starts_with(xml, ">"));
	xml->p++;
}

static void check_xml(const char *text, size_t len)
{
	struct xml xml = { .p = text, .end = text + len };

	while (xml.p < xml.end) {
		if (starts_with(&xml, "<!--"))
			skip_past(&xml, "-->");
		else if (starts_with(&xml, "<![CDATA["))
			skip_past(&xml, "]]>");
		else if (starts_with(&xml, "<?"))
			skip_past(&xml, "?>");
		else if (starts_with(&xml, "<!"))
			skip_past(&xml, ">");
		else if (starts_with(&xml, "</"))
			check_end_tag(&xml);
		else if (*xml.p == '<')
			check_start_tag(&xml);
		else
			check_text_byte(&xml);
	}
	fuzz_assert(!xml.depth && xml.nr_roots == 1);
}

static void draw(const struct pprof_profile *profile,
		 const struct pprof_flame_opts *opts)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink = NULL;
	const char *bytes;
	size_t nr_bytes;

	fuzz_assert(!pprof_sink_open_memory(&sink, &err));
	fuzz_assert(!pprof_flame_write(profile, opts, sink, &err));
	bytes = pprof_sink_memory(sink, &nr_bytes);
	check_xml(bytes, nr_bytes);
	pprof_sink_close(sink);
}

/* Elements that scripts and styles could be brought in by. */
static void check_page(const char *text, size_t len)
{
	static const char end[] = "</script>\n</body>\n</html>\n";
	size_t nr = 0, i;

	fuzz_assert(len > sizeof(end) - 1 &&
		    !memcmp(text + len - (sizeof(end) - 1), end,
			    sizeof(end) - 1));
	for (i = 0; i + 7 < len; i++) {
		fuzz_assert((unsigned char)text[i] >= 0x20 ||
			    text[i] == '\n');
		fuzz_assert(text[i] != 0x7f);
		nr += !memcmp(text + i, "<script", 7);
		fuzz_assert(memcmp(text + i, "<!--", 4) != 0);
	}
	fuzz_assert(nr == 3);
}

static void write_page(const struct pprof_profile *profile,
		       const struct pprof_flame_opts *looks, bool packed)
{
	struct pprof_page_input inputs[2] = { { profile, "a" },
					      { profile, "b" } };
	struct pprof_page_opts opts = PPROF_PAGE_OPTS_INIT;
	struct pprof_error err = { .status = PPROF_OK };
	struct pprof_sink *sink = NULL;
	const char *bytes;
	size_t nr_bytes;

	opts.flame = looks;
	opts.compress = packed;
	fuzz_assert(!pprof_sink_open_memory(&sink, &err));
	fuzz_assert(!pprof_page_write(inputs, packed ? 2 : 1, &opts, sink,
				      &err));
	bytes = pprof_sink_memory(sink, &nr_bytes);
	check_page(bytes, nr_bytes);
	pprof_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pprof_read_opts read_opts = PPROF_READ_OPTS_INIT;
	struct pprof_profile *profile = fuzz_read(data, size, read_opts);
	struct pprof_flame_opts opts = PPROF_FLAME_OPTS_INIT;

	if (!profile)
		return 0;
	opts.diag = fuzz_diag;
	draw(profile, &opts);
	write_page(profile, &opts, false);
	opts.icicle = true;
	opts.reverse = true;
	opts.no_inlines = true;
	opts.granularity = PPROF_BY_LINE;
	opts.colors = PPROF_COLORS_MODULE;
	opts.theme = PPROF_THEME_DARK;
	opts.width = 300;
	opts.max_frames = 16;
	opts.max_depth = 8;
	draw(profile, &opts);
	write_page(profile, &opts, true);
	opts.granularity = PPROF_BY_MODULE;
	opts.min_width = 0;
	opts.width = 3000;
	draw(profile, &opts);
	pprof_profile_free(profile);
	return 0;
}
