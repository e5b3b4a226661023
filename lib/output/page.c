/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML report: which values it holds, and its document. See page.h.
 */
#include <config.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/opts.h"
#include "base/sha256.h"
#include "base/sink.h"
#include "output/flame.h"
#include "output/gzip.h"
#include "output/page.h"
#include "output/page_body.h"
#include "output/page_css.h"
#include "output/page_js.h"
#include "output/xml.h"
#include "view/units.h"

#include <stdlib.h>
#include <string.h>

/* Data of more bytes is packed; unpacking costs the reader some time. */
#define PLAIN_BYTES ((size_t)4 << 20)

/* Compression of packed data. */
#define PACK_LEVEL 6

/* Functions that the page shows without script. */
#define NR_TOP 30

/* Type of `p` that has the name and unit of type `type` of `like`. */
static bool find_like(const struct pprof_profile *p,
		      const struct pprof_profile *like, size_t type,
		      size_t *ret_type)
{
	size_t i;

	for (i = 0; i < p->nr_types; i++)
		if (!strcmp(profile_str(p, p->types[i].type),
			    profile_str(like, like->types[type].type)) &&
		    !strcmp(profile_str(p, p->types[i].unit),
			    profile_str(like, like->types[type].unit)))
			break;
	*ret_type = i;
	/* What has no types at all is no contradiction. */
	if (!p->nr_types)
		*ret_type = 0;
	return i < p->nr_types || !p->nr_types;
}

/* types[] of all sides for one type of the last profile; false: not common. */
static bool add_type(struct page *page, size_t type, size_t most)
{
	const struct page_side *sides = page->sides;
	const struct pprof_profile *last = sides[page->nr_sides - 1].profile;
	size_t i;

	for (i = 0; i < page->nr_sides; i++)
		if (!find_like(sides[i].profile, last, type,
			       &page->types[i * most + page->nr_types]))
			return false;
	page->nr_types++;
	return true;
}

/* What the report says in its notes is told to the caller as well. */
static void tell_diags(const struct page *page)
{
	const struct forest *forest = &page->forest;
	uint64_t nr_negative = 0;
	bool rounded = false, clamped = false;
	struct diags diags;
	size_t i;

	for (i = 0; i < forest->nr_sides * forest->nr_types; i++) {
		const struct forest_column *column = &forest->columns[i];

		nr_negative += column->nr_negative;
		clamped |= column->clamped;
		rounded |= page_scale_of(forest, column).shift > 0;
	}
	diags_init(&diags, "report");
	if (page->nr_left_out)
		diag_count_nr(&diags, PPROF_UNIT_NONE, 0, page->nr_left_out,
			      "sample type left out: not in every profile");
	if (nr_negative)
		diag_count_nr(&diags, PPROF_UNIT_NONE, 0, nr_negative,
			      "negative stack drawn by its size");
	if (rounded)
		diag_count(&diags, PPROF_UNIT_NONE, 0,
			   "sums exceed 53 bits, values are rounded");
	if (clamped)
		diag_count(&diags, PPROF_UNIT_NONE, 0,
			   "sums exceed 64 bits, some stay at the limit");
	diags_flush(&diags, page->flame->diag, page->flame->diag_ctx);
}

/* The sample types that all profiles have. */
static enum pprof_status pick_types(struct page *page,
				    struct pprof_error *err)
{
	const struct pprof_profile *last =
		page->sides[page->nr_sides - 1].profile;
	size_t most = last->nr_types ? last->nr_types : 1, first, i, j;
	enum pprof_status status;

	status = profile_pick_type(last, page->flame->sample_type, &first,
				   err);
	if (status)
		return status;
	page->types = mem_zalloc(page->nr_sides * most,
				 sizeof(*page->types));
	if (!page->types)
		return error_nomem(err);
	for (i = 0; i < last->nr_types; i++) {
		if (i == first)
			page->first_type = page->nr_types;
		if (!add_type(page, i, most) && i == first)
			return error_plain(err, PPROF_MISMATCH, NULL,
					   "not every profile has the sample "
					   "type %s in %s",
					   profile_str(last,
						       last->types[i].type),
					   profile_str(last,
						       last->types[i].unit));
	}
	page->nr_left_out = last->nr_types - page->nr_types;
	if (!last->nr_types)
		page->nr_types = 1;
	for (i = 0; i < page->nr_sides; i++)
		for (j = 0; j < page->nr_types; j++)
			page->types[i * page->nr_types + j] =
				page->types[i * most + j];
	return PPROF_OK;
}

/* One or two sides a profile. */
static bool list_sides(struct page *page,
		       const struct pprof_page_input *inputs, size_t nr)
{
	struct page_side *side;
	size_t i;
	bool both;

	page->sides = mem_zalloc(2 * nr, sizeof(*page->sides));
	for (i = 0; page->sides && i < nr; i++) {
		both = page->flame->split || walk_has_base(inputs[i].profile);
		page->is_diff = page->is_diff || both;
		side = &page->sides[page->nr_sides];
		side[0].profile = side[1].profile = inputs[i].profile;
		side[0].name = side[1].name = inputs[i].name;
		side[0].side = both ? WALK_BASE : WALK_ALL;
		side[1].side = WALK_NEW;
		page->nr_sides += both ? 2 : 1;
	}
	return page->sides;
}

static enum pprof_status make_forest(struct page *page,
				     struct pprof_error *err)
{
	struct frames_opts opts = {
		.granularity = page->flame->granularity,
		.no_inlines = page->flame->no_inlines, .with_files = true
	};
	struct forest_side *sides = mem_alloc(page->nr_sides,
					      sizeof(*sides));
	enum pprof_status status;
	size_t i;

	if (!sides)
		return error_nomem(err);
	for (i = 0; i < page->nr_sides; i++) {
		sides[i].profile = page->sides[i].profile;
		sides[i].side = page->sides[i].side;
	}
	status = forest_init(&page->forest, sides, page->nr_sides,
			     page->types, page->nr_types, &opts, err);
	mem_free(sides);
	page->first = page->forest.columns +
		      (page->nr_sides - 1) * page->nr_types +
		      page->first_type;
	return status;
}

/* Replace the data by its packed form. */
static enum pprof_status pack(struct buf *data, struct pprof_error *err)
{
	struct pprof_sink *sink = NULL;
	struct gzip_writer writer;
	enum pprof_status status;
	const void *packed;
	size_t nr;

	status = pprof_sink_open_memory(&sink, err);
	if (status)
		return status;
	gzip_writer_init(&writer, sink, PACK_LEVEL);
	buf_add(gzip_writer_buf(&writer), data->data, data->len);
	status = gzip_writer_finish(&writer, err);
	gzip_writer_fini(&writer);
	packed = pprof_sink_memory(sink, &nr);
	buf_reset(data);
	if (!status)
		base64_add(data, packed, nr);
	pprof_sink_close(sink);
	return status;
}

static enum pprof_status put_data(struct buf *out, const struct page *page,
				  struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct buf data;
	bool packed;

	buf_init(&data, PTRDIFF_MAX);
	page_data(&data, page);
	packed = page->opts->compress || data.len > PLAIN_BYTES;
	if (packed && buf_ok(&data))
		status = pack(&data, err);
	buf_str(out, packed ? "<script type=\"text/plain\" id=\"data\" "
			      "data-packed=\"gzip\">\n"
			    : "<script type=\"text/plain\" id=\"data\">\n");
	buf_add(out, data.data, data.len);
	buf_str(out, "</script>\n");
	out->failed = out->failed || data.failed;
	buf_fini(&data);
	return status;
}

/* Frames by what they are themselves, for readers without script. */
struct top {
	int64_t *self; /* [frames.nr] */
	uint32_t rows[NR_TOP];
	size_t nr;
};

static void find_top(struct top *top, const struct page *page)
{
	const int64_t *self = top->self;
	size_t i, j;

	for (i = 0; i < page->forest.frames.nr; i++) {
		if (!self[i] || (top->nr == NR_TOP &&
				 magnitude_i64(self[top->rows[NR_TOP - 1]]) >=
					 magnitude_i64(self[i])))
			continue;
		j = top->nr < NR_TOP ? top->nr++ : NR_TOP - 1;
		for (; j && magnitude_i64(self[top->rows[j - 1]]) <
				    magnitude_i64(self[i]); j--)
			top->rows[j] = top->rows[j - 1];
		top->rows[j] = (uint32_t)i;
	}
}

static void put_words(struct buf *out, const struct page *page, int64_t value)
{
	const char *noun = page->flame->count_name;
	const char *type = page_type(page, page->first_type);
	const char *unit = page_unit(page, page->first_type);
	struct buf words;

	buf_init(&words, PTRDIFF_MAX);
	units_words(&words, value, noun ? noun : type, noun ? "count" : unit);
	xml_text(out, words.data, words.len);
	out->failed = out->failed || words.failed;
	buf_fini(&words);
}

static void put_top_rows(struct buf *out, const struct page *page,
			 const struct top *top)
{
	const struct frames *f = &page->forest.frames;
	size_t i;

	for (i = 0; i < top->nr; i++) {
		buf_str(out, "<tr><td>");
		put_words(out, page, top->self[top->rows[i]]);
		buf_str(out, "</td><td>");
		xml_text(out, frame_name(f, top->rows[i]),
			 frame_name_len(f, top->rows[i]));
		buf_str(out, "</td></tr>\n");
	}
}

/* What the report says where scripts are not run. */
static void put_noscript(struct buf *out, const struct page *page)
{
	const char *type = page_type(page, page->first_type);
	struct top top = { .nr = 0 };

	top.self = page_sum_rows(&page->forest, page->first);
	if (!top.self) {
		out->failed = true;
		return;
	}
	find_top(&top, page);
	buf_str(out, "<noscript>\n<p>This report draws with a script, which "
		     "is not allowed to run here. In all: ");
	put_words(out, page, clamp_i64(page->first->total));
	buf_str(out, " of ");
	xml_text(out, type, strlen(type));
	buf_str(out, ".</p>\n");
	if (top.nr) {
		buf_str(out, "<table>\n<caption>Largest by self</caption>\n"
			     "<thead><tr><th scope=\"col\">Self</th>"
			     "<th scope=\"col\">Function</th></tr></thead>\n"
			     "<tbody>\n");
		put_top_rows(out, page, &top);
		buf_str(out, "</tbody>\n</table>\n");
	}
	buf_str(out, "</noscript>\n");
	mem_free(top.self);
}

/* The sources that style and script of every report have. */
static void put_policy(struct buf *out)
{
	buf_str(out, "script-src ");
	sha256_source(out, page_js_text, sizeof(page_js_text) - 1);
	buf_str(out, "; style-src ");
	sha256_source(out, page_css_text, sizeof(page_css_text) - 1);
}

static void put_head(struct buf *out, const struct page *page)
{
	struct buf title;

	buf_init(&title, PTRDIFF_MAX);
	page_title(&title, page);
	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		     "<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, "
		     "initial-scale=1\">\n"
		     "<meta name=\"generator\" content=\"libpprof "
		     PACKAGE_VERSION "\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" "
		     "content=\"default-src 'none'; img-src data: blob:; "
		     "base-uri 'none'; form-action 'none'; ");
	put_policy(out);
	buf_str(out, "\">\n<title>");
	xml_text(out, title.data, title.len);
	buf_str(out, "</title>\n<style>");
	buf_add(out, page_css_text, sizeof(page_css_text) - 1);
	buf_str(out, "</style>\n</head>\n");
	out->failed = out->failed || title.failed;
	buf_fini(&title);
}

static enum pprof_status put_document(struct buf *out, struct page *page,
				      struct pprof_error *err)
{
	enum pprof_status status;

	put_head(out, page);
	buf_str(out, "<body>\n");
	put_noscript(out, page);
	buf_add(out, page_body_text, sizeof(page_body_text) - 1);
	buf_str(out, "<script type=\"application/json\" id=\"meta\">\n");
	status = page_meta(out, page, err);
	buf_str(out, "\n</script>\n");
	if (!status)
		status = put_data(out, page, err);
	buf_str(out, "<script>");
	buf_add(out, page_js_text, sizeof(page_js_text) - 1);
	buf_str(out, "</script>\n</body>\n</html>\n");
	return status;
}

static void page_fini(struct page *page)
{
	forest_fini(&page->forest);
	mem_free(page->sides);
	mem_free(page->types);
}

static enum pprof_status check_source_url(const char *url,
					  struct pprof_error *err)
{
	static const char *const schemes[] = { "https://", "http://",
					       "file:///", "vscode://",
					       "idea://", "txmt://" };
	size_t i;

	if (!url)
		return PPROF_OK;
	for (i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (!strncmp(url, schemes[i], strlen(schemes[i])))
			break;
	if (i == sizeof(schemes) / sizeof(*schemes) ||
	    (!strncmp(url, "http", 4) && url[strlen(schemes[i])] == '{'))
		return error_plain(err, PPROF_USAGE, NULL,
				   "source URL '%s': expected https://, "
				   "http://, file:///, vscode://, idea:// or "
				   "txmt:// and a place", url);
	if (!strstr(url, "{file}"))
		return error_plain(err, PPROF_USAGE, NULL,
				   "source URL '%s': no {file} in it", url);
	return PPROF_OK;
}

enum pprof_status pprof_page_write(const struct pprof_page_input *inputs,
				   size_t nr,
				   const struct pprof_page_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct pprof_flame_opts flame = PPROF_FLAME_OPTS_INIT;
	struct pprof_page_opts taken = PPROF_PAGE_OPTS_INIT;
	struct page page = { .opts = &taken, .flame = &flame };
	enum pprof_status status;
	struct buf out;

	if (!nr)
		return error_plain(err, PPROF_USAGE, NULL,
				   "a report of no profile");
	status = opts_take(&taken, sizeof(taken), opts, err);
	if (!status)
		status = flame_take_opts(&flame, taken.flame, err);
	if (!status)
		status = check_source_url(taken.source_url, err);
	if (status)
		return status;
	buf_init(&out, PTRDIFF_MAX);
	page.is_diff = taken.diff && nr > 1;
	if (flame.csp) {
		buf_str(&out, "Content-Security-Policy: ");
		put_policy(&out);
		buf_byte(&out, '\n');
	} else {
		status = list_sides(&page, inputs, nr) ? pick_types(&page, err)
						       : error_nomem(err);
		if (!status)
			status = make_forest(&page, err);
		if (!status)
			status = put_document(&out, &page, err);
		if (!status)
			tell_diags(&page);
	}
	if (!status)
		status = sink_take_buf(sink, &out, err);
	page_fini(&page);
	buf_fini(&out);
	return status;
}
