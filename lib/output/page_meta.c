/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report knows beside its tree, as JSON: how to begin, units, inputs
 * with their build IDs and how well they are symbolized, colours.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame.h"
#include "output/json.h"
#include "output/page.h"
#include "profile/sampling.h"
#include "view/text.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

/* Entries of a legend. */
#define MOST_LEGEND 12

/* Comments of a profile that are shown. */
#define MOST_COMMENTS 20

/* The work of one page_meta(). */
struct metas {
	struct page *page;
	struct buf out;
	struct json_out json;
	struct buf text; /* scratch */
	enum pprof_status status;
};

static const struct pprof_profile *last_profile(const struct page *page)
{
	return page->sides[page->nr_sides - 1].profile;
}

const char *page_type(const struct page *page, size_t type)
{
	const struct pprof_profile *p = last_profile(page);
	size_t at = page->types[(page->nr_sides - 1) * page->nr_types + type];

	return p->nr_types ? profile_str(p, p->types[at].type) : "";
}

const char *page_unit(const struct page *page, size_t type)
{
	const struct pprof_profile *p = last_profile(page);
	size_t at = page->types[(page->nr_sides - 1) * page->nr_types + type];

	return p->nr_types ? profile_str(p, p->types[at].unit) : "";
}

void page_title(struct buf *out, const struct page *page)
{
	const char *binary = flame_binary_name(last_profile(page));
	const char *title = page->flame->title;

	if (!title || !*title)
		title = *binary ? binary : "Profile";
	text_mask(out, title, strlen(title));
}

/* Text as it may be shown. */
static void put_masked(struct metas *m, const char *text, size_t len)
{
	buf_reset(&m->text);
	text_mask(&m->text, text, len);
	json_put_text(&m->json, m->text.data, m->text.len);
	m->out.failed = m->out.failed || m->text.failed;
}

static void put_text(struct metas *m, const char *key, const char *text)
{
	json_put_key(&m->json, key);
	put_masked(m, text, strlen(text));
}

static void put_id(struct metas *m, const char *key,
		   const struct pprof_profile *p, str_id id)
{
	json_put_key(&m->json, key);
	put_masked(m, profile_str(p, id), strtab_len(&p->strings, id));
}

static void put_count(struct metas *m, const char *key, uint64_t value)
{
	json_put_key(&m->json, key);
	json_put_u64(&m->json, value);
}

static void put_flag(struct metas *m, const char *key, bool value)
{
	json_put_key(&m->json, key);
	json_put_bool(&m->json, value);
}

/* As text: beyond 53 bits numbers of JSON are not exact in browsers. */
static void put_exact(struct metas *m, const char *key, __int128 value)
{
	buf_reset(&m->text);
	if (value < 0)
		buf_byte(&m->text, '-');
	units_grouped(&m->text,
		      (unsigned __int128)(value < 0 ? -value : value));
	json_put_key(&m->json, key);
	json_put_text(&m->json, m->text.data, m->text.len);
}

static void put_steps(struct metas *m, const char *unit)
{
	struct unit_step steps[UNIT_STEPS_MAX];
	size_t nr = units_steps(unit, steps), i;

	json_put_key(&m->json, "steps");
	json_put_open(&m->json, '[');
	for (i = 0; i < nr; i++) {
		json_put_open(&m->json, '[');
		if (steps[i].factor >= 1)
			json_put_u64(&m->json, (uint64_t)steps[i].factor);
		else
			json_put_real(&m->json, steps[i].factor);
		json_put_str(&m->json, steps[i].word);
		json_put_close(&m->json, ']');
	}
	json_put_close(&m->json, ']');
}

static void put_types(struct metas *m)
{
	const struct page *page = m->page;
	const char *type, *unit, *noun = page->flame->count_name;
	size_t i;

	json_put_key(&m->json, "types");
	json_put_open(&m->json, '[');
	for (i = 0; i < page->nr_types; i++) {
		type = page_type(page, i);
		unit = page_unit(page, i);
		json_put_open(&m->json, '{');
		put_text(m, "name", type);
		put_text(m, "unit", unit);
		put_text(m, "noun", noun ? noun : units_noun(type, unit));
		put_steps(m, noun ? "" : unit);
		json_put_close(&m->json, '}');
	}
	json_put_close(&m->json, ']');
	put_count(m, "type", page->first_type);
}

/* Locations of the mappings of one file with one build ID. */
struct map_group {
	uint32_t first; /* mapping that stands for the group */
	uint32_t named;
	uint32_t nr;
};

/* Index by file: most files have one build ID; others stay apart. */
static bool group_mappings(const struct pprof_profile *p,
			   struct map_group *groups)
{
	uint32_t *by_file = mem_zalloc(p->strings.nr, sizeof(*by_file));
	const struct mapping *maps = p->mappings;
	struct map_group *group;
	uint32_t first;
	size_t i;

	for (i = 1; by_file && i < p->nr_mappings; i++) {
		first = by_file[maps[i].file];
		if (first && maps[first].build_id == maps[i].build_id) {
			groups[i].first = first;
			continue;
		}
		groups[i].first = (uint32_t)i;
		by_file[maps[i].file] = (uint32_t)i;
	}
	for (i = 1; by_file && i < p->nr_locations; i++) {
		group = &groups[groups[p->locations[i].mapping].first];
		group->nr++;
		group->named += p->locations[i].nr_lines > 0;
	}
	mem_free(by_file);
	return by_file;
}

static void put_mappings(struct metas *m, const struct pprof_profile *p)
{
	struct map_group *groups = mem_zalloc(p->nr_mappings + 1,
					      sizeof(*groups));
	size_t i;

	json_put_key(&m->json, "mappings");
	json_put_open(&m->json, '[');
	if (!groups || !group_mappings(p, groups))
		m->status = PPROF_NOMEM;
	for (i = 0; !m->status && i < p->nr_mappings; i++) {
		if (!groups[i].nr)
			continue;
		json_put_open(&m->json, '{');
		put_id(m, "file", p, i ? p->mappings[i].file : 0);
		put_id(m, "build_id", p, i ? p->mappings[i].build_id : 0);
		put_count(m, "addresses", groups[i].nr);
		put_count(m, "named", groups[i].named);
		json_put_close(&m->json, '}');
	}
	json_put_close(&m->json, ']');
	mem_free(groups);
}

static void put_comments(struct metas *m, const struct pprof_profile *p)
{
	size_t i;

	json_put_key(&m->json, "comments");
	json_put_open(&m->json, '[');
	for (i = 0; i < p->nr_comments && i < MOST_COMMENTS; i++)
		put_masked(m, profile_str(p, p->comments[i]),
			   strtab_len(&p->strings, p->comments[i]));
	json_put_close(&m->json, ']');
	put_count(m, "more_comments", p->nr_comments - i);
}

static void put_column(struct metas *m, size_t side, size_t type)
{
	static const char *const kinds[] = {
		[SAMPLING_EXACT] = "exact",
		[SAMPLING_HEAP_BYTES] = "heap",
		[SAMPLING_HEAP_COUNT] = "heap",
		[SAMPLING_TICKS] = "ticks"
	};
	const struct page *page = m->page;
	const struct pprof_profile *p = page->sides[side].profile;
	size_t at = side * page->nr_types + type;
	const struct forest_column *column = &page->forest.columns[at];
	struct page_scale scale = page_scale_of(&page->forest, column);
	struct sampling sampling = sampling_of(p, page->types[at]);
	double rate;

	json_put_open(&m->json, '{');
	put_exact(m, "total", column->total);
	put_exact(m, "unit", (__int128)scale.unit << scale.shift);
	put_count(m, "shift", scale.shift);
	put_flag(m, "signed", scale.is_signed);
	put_flag(m, "clamped", column->clamped);
	put_count(m, "negative", column->nr_negative);
	put_text(m, "sampling", kinds[sampling.kind]);
	json_put_key(&m->json, "rate");
	json_put_real(&m->json, sampling.rate);
	/* null: variances are a column of their own. */
	json_put_key(&m->json, "variance");
	if (page_has_rate(&page->forest, column, &rate))
		json_put_real(&m->json, rate);
	else
		json_put_real(&m->json, (double)INFINITY);
	json_put_close(&m->json, '}');
}

static void put_side(struct metas *m, size_t i)
{
	const struct page_side *side = &m->page->sides[i];
	const struct pprof_profile *p = side->profile;
	size_t type;

	json_put_open(&m->json, '{');
	put_text(m, "name", side->name);
	put_text(m, "side", side->side == WALK_BASE  ? "A"
			    : side->side == WALK_NEW ? "B"
						     : "");
	put_exact(m, "time_ns", p->time_ns);
	put_exact(m, "duration_ns", p->duration_ns);
	put_count(m, "samples", p->nr_samples);
	put_exact(m, "period", p->period);
	put_id(m, "period_type", p, p->period_type.type);
	put_id(m, "period_unit", p, p->period_type.unit);
	put_comments(m, p);
	put_mappings(m, p);
	json_put_key(&m->json, "columns");
	json_put_open(&m->json, '[');
	for (type = 0; type < m->page->nr_types; type++)
		put_column(m, i, type);
	json_put_close(&m->json, ']');
	json_put_close(&m->json, '}');
}

static void put_notes(struct metas *m)
{
	const struct pprof_flame_opts *opts = m->page->flame;
	size_t i;

	json_put_key(&m->json, "notes");
	json_put_open(&m->json, '[');
	for (i = 0; i < opts->nr_notes; i++)
		put_masked(m, opts->notes[i], strlen(opts->notes[i]));
	json_put_close(&m->json, ']');
}

/* With what the report begins. */
static void put_start(struct metas *m)
{
	static const char *const widths[] = { "b", "a", "union", "delta" };
	static const char *const norms[] = { "auto", "none", "total",
					     "rate" };
	static const char *const themes[] = { "auto", "light", "dark" };
	static const char *const by[] = { "function", "filefunction", "line",
					  "file", "address", "module" };
	const struct pprof_page_opts *page = m->page->opts;
	const struct pprof_flame_opts *opts = m->page->flame;

	put_flag(m, "diff", m->page->is_diff);
	put_text(m, "view", page->sandwich  ? "sandwich"
			    : opts->reverse ? "callers"
					    : "calls");
	put_text(m, "pivot", page->sandwich ? page->sandwich : "");
	put_text(m, "sort", opts->by_value ? "value" : "name");
	put_text(m, "widths", widths[opts->widths]);
	put_text(m, "normalize", norms[opts->normalize]);
	json_put_key(&m->json, "factor");
	json_put_real(&m->json, opts->base_factor);
	json_put_key(&m->json, "min_delta");
	json_put_real(&m->json, opts->min_delta);
	put_flag(m, "delta_self", opts->delta_self);
	put_flag(m, "negate", opts->negate);
	put_text(m, "theme", themes[opts->theme]);
	put_text(m, "by", by[opts->granularity]);
	put_flag(m, "inlines", !opts->no_inlines);
	put_text(m, "source_url", page->source_url ? page->source_url : "");
}

static void put_colors(struct metas *m, const char *key,
		       const uint32_t *colors)
{
	size_t i;

	json_put_key(&m->json, key);
	json_put_open(&m->json, '[');
	for (i = 0; i < FLAME_NR_CLASSES; i++)
		json_put_u64(&m->json, colors[i]);
	json_put_close(&m->json, ']');
}

static void put_legend(struct metas *m, const struct flame_palette *palette)
{
	const struct strtab *strings = &m->page->forest.frames.strings;
	size_t i;

	json_put_key(&m->json, "legend");
	json_put_open(&m->json, '[');
	for (i = 0; i < palette->nr_legend && i < MOST_LEGEND; i++) {
		const struct flame_legend *entry = &palette->legend[i];

		if (!palette->is_diff && !entry->weight)
			break;
		json_put_open(&m->json, '[');
		if (entry->words)
			json_put_str(&m->json, entry->words);
		else
			put_masked(m, strtab_text(strings, entry->name),
				   strtab_len(strings, entry->name));
		json_put_u64(&m->json, entry->bucket);
		json_put_close(&m->json, ']');
	}
	json_put_close(&m->json, ']');
	put_count(m, "more", palette->nr_legend - i);
}

static void put_palette(struct metas *m, const char *name,
			const struct flame_palette *palette)
{
	size_t i;

	json_put_open(&m->json, '{');
	put_text(m, "name", name);
	put_colors(m, "light", palette->light);
	put_colors(m, "dark", palette->dark);
	buf_reset(&m->text);
	for (i = 0; palette->bucket && i < m->page->forest.frames.nr; i++)
		buf_byte(&m->text, (char)('?' + palette->bucket[i]));
	json_put_key(&m->json, "classes");
	json_put_text(&m->json, m->text.data, m->text.len);
	m->out.failed = m->out.failed || m->text.failed;
	put_legend(m, palette);
	json_put_close(&m->json, '}');
}

int64_t *page_sum_rows(const struct forest *forest,
		       const struct forest_column *column)
{
	int64_t *sums = mem_zalloc(forest->frames.nr, sizeof(*sums));
	size_t i;

	for (i = 1; sums && i < forest->nr; i++)
		sums[forest->row[i]] =
			clamp_i64((__int128)sums[forest->row[i]] +
				  column->self[i]);
	return sums;
}

static void add_palette(struct metas *m, const char *name,
			enum pprof_colors colors, const struct tree *tree)
{
	struct flame_palette palette;

	if (m->status)
		return;
	m->status = flame_palette_init(&palette, colors, colors,
				       &m->page->forest.frames, tree, NULL);
	if (!m->status)
		put_palette(m, name, &palette);
	flame_palette_fini(&palette);
}

/* The one that was asked for comes first. */
static void put_palettes(struct metas *m)
{
	static const struct {
		const char *name;
		enum pprof_colors colors;
	} others[] = {
		{ "by package", PPROF_COLORS_PACKAGE },
		{ "by module", PPROF_COLORS_MODULE },
		{ "by folder", PPROF_COLORS_FILE },
		{ "by kind", PPROF_COLORS_KIND },
		{ "by package, colour-blind safe", PPROF_COLORS_CVD },
		{ "by share of self", PPROF_COLORS_SELF },
		{ "none", PPROF_COLORS_MONO }
	};
	struct page *page = m->page;
	enum pprof_colors colors = page->flame->colors;
	const char *name = "by name";
	struct tree tree = { .nr = 0 };
	size_t i;

	if (colors == PPROF_COLORS_AUTO)
		colors = flame_auto_colors(page_type(page, page->first_type),
					   page_unit(page, page->first_type));
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].colors == colors)
			name = others[i].name;
	if (colors == PPROF_COLORS_DEPTH)
		name = "by depth";
	/* What the legends weigh frames by. */
	tree.row_self = page_sum_rows(&page->forest, page->first);
	if (!tree.row_self)
		m->status = PPROF_NOMEM;
	json_put_key(&m->json, "palettes");
	json_put_open(&m->json, '[');
	add_palette(m, name, colors, &tree);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].colors != colors)
			add_palette(m, others[i].name, others[i].colors,
				    &tree);
	json_put_close(&m->json, ']');
	mem_free(tree.row_self);
}

static void put_diff_palette(struct metas *m)
{
	struct flame_palette palette;

	json_put_key(&m->json, "changes");
	if (!m->status)
		m->status = flame_palette_diff(&palette, PPROF_COLORS_HOT,
					       NULL);
	if (m->status)
		return;
	put_palette(m, "by change", &palette);
	flame_palette_fini(&palette);
}

enum pprof_status page_meta(struct buf *out, struct page *page,
			    struct pprof_error *err)
{
	struct metas m = { .page = page };
	size_t i;

	buf_init(&m.out, PTRDIFF_MAX);
	buf_init(&m.text, PTRDIFF_MAX);
	json_out_init(&m.json, &m.out);
	json_put_open(&m.json, '{');
	put_count(&m, "version", 1);
	put_text(&m, "generator", "libpprof " PACKAGE_VERSION);
	buf_reset(&m.text);
	page_title(&m.text, page);
	json_put_key(&m.json, "title");
	json_put_text(&m.json, m.text.data, m.text.len);
	put_text(&m, "subtitle",
		 page->flame->subtitle ? page->flame->subtitle : "");
	put_notes(&m);
	put_start(&m);
	put_types(&m);
	put_count(&m, "nodes", page->forest.nr);
	put_count(&m, "frames", page->forest.frames.nr);
	put_count(&m, "deepest", page->forest.deepest);
	json_put_key(&m.json, "profiles");
	json_put_open(&m.json, '[');
	for (i = 0; i < page->nr_sides; i++)
		put_side(&m, i);
	json_put_close(&m.json, ']');
	put_palettes(&m);
	put_diff_palette(&m);
	json_put_close(&m.json, '}');
	page_json(out, &m.out);
	buf_fini(&m.out);
	buf_fini(&m.text);
	return m.status ? error_nomem(err) : PPROF_OK;
}
