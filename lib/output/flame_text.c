/* SPDX-License-Identifier: Apache-2.0
 *
 * What a flame graph says in words: title, tooltips, notes on what was left
 * out, summary and metadata.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame.h"
#include "output/xml.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Footer lines that are shown. */
#define MAX_NOTE_LINES 6

/* Functions that the summary names. */
#define NR_TOP 5

/* U+2026 in UTF-8. */
#define ELLIPSIS "\xe2\x80\xa6"

void flame_lines_fini(struct flame_lines *lines)
{
	buf_fini(&lines->text);
	mem_free(lines->ends);
	lines->ends = NULL;
	lines->nr = 0;
}

static bool end_line(struct flame_lines *lines)
{
	if (!buf_ok(&lines->text) ||
	    !mem_grow(lines->ends, lines->cap, lines->nr + 1,
		      SIZE_MAX / sizeof(*lines->ends)))
		return false;
	lines->ends[lines->nr++] = lines->text.len;
	return true;
}

static void add_count(struct buf *out, uint64_t nr, const char *noun)
{
	units_grouped(out, nr);
	buf_byte(out, ' ');
	buf_str(out, noun);
	if (nr != 1)
		buf_byte(out, 's');
}

void flame_value(struct buf *out, const struct flame *flame,
		 const struct tree_node *node)
{
	__int128 total = flame->tree.total;

	if (!node->clamped) {
		units_words(out, node->total, flame->noun, flame->unit);
		return;
	}
	if (node->kind == NODE_ROOT) {
		if (total < 0)
			buf_byte(out, '-');
		units_grouped(out, (unsigned __int128)(total < 0 ? -total
								 : total));
		buf_byte(out, ' ');
		buf_str(out, units_noun(flame->noun, flame->unit));
		return;
	}
	buf_str(out, node->total < 0 ? "at most " : "at least ");
	units_words(out, node->total, flame->noun, flame->unit);
}

/* Name of a frame without its annotation, masked, cut to a tooltip's size. */
static void add_frame_name(struct buf *out, const struct frames *frames,
			   uint32_t row)
{
	const char *name = frame_name(frames, row);
	size_t len = frame_bare_len(name, frame_name_len(frames, row));

	if (len <= FLAME_NAME_BYTES) {
		text_mask(out, name, len);
		return;
	}
	text_mask(out, name, text_head(name, FLAME_NAME_BYTES, SIZE_MAX));
	buf_str(out, ELLIPSIS);
}

void flame_node_name(struct buf *out, const struct flame *flame,
		     const struct tree_node *node)
{
	switch (node->kind) {
	case NODE_ROOT:
		buf_str(out, "all");
		break;
	case NODE_LIGHT:
		add_count(out, node->row, "smaller frame");
		if (node->nr_below == node->row)
			break;
		buf_str(out, ", ");
		add_count(out, node->nr_below, "frame");
		buf_str(out, flame->opts->reverse ? " with their callers"
						  : " with their callees");
		break;
	case NODE_DEEP:
		buf_str(out, ELLIPSIS " +");
		add_count(out, node->nr_below, "deeper frame");
		break;
	default:
		add_frame_name(out, &flame->frames, node->row);
	}
}

const char *flame_binary_name(const struct pprof_profile *p)
{
	const struct mapping *map = profile_main_mapping(p);
	const char *file, *slash;

	if (!map)
		return "";
	file = profile_str(p, map->file);
	slash = strrchr(file, '/');
	/* "[vdso]" and the like are no files. */
	if (*file == '[')
		return "";
	return slash && slash[1] ? slash + 1 : file;
}

static void compose_title(struct flame *flame)
{
	const char *binary = flame_binary_name(flame->profile);

	if (flame->opts->title) {
		buf_str(&flame->title, flame->opts->title);
		return;
	}
	buf_str(&flame->title, *binary ? binary : "Flame graph");
	if (!*flame->type)
		return;
	buf_str(&flame->title, ": ");
	buf_str(&flame->title, flame->type);
	if (flame->diff)
		buf_str(&flame->title, ", B against A");
}

/* A differential picture always says what is compared. */
static bool compose_subtitle(struct flame *flame)
{
	const char *given = flame->opts->subtitle;
	struct buf *out;

	if (!flame->diff)
		return true;
	out = &flame->diff->subtitle;
	if (given && *given) {
		buf_str(out, given);
		buf_str(out, "; ");
	}
	flame_diff_subtitle(out, flame);
	return buf_ok(out);
}

/* A weight as px of the graph. */
static void add_px(struct buf *out, const struct flame *flame, uint64_t weight)
{
	uint64_t whole = flame->tree.nodes[0].weight;
	unsigned __int128 milli = (unsigned __int128)weight * 1000 *
				  flame->layout.size.graph;

	units_fixed(out, (int64_t)((milli + whole / 2) / whole), 3);
	buf_str(out, " px");
}

/* Frames that were folded for being light. */
static uint64_t count_light(const struct tree *tree)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; i < tree->nr; i++)
		if (tree->nodes[i].kind == NODE_LIGHT)
			nr += tree->nodes[i].nr_below;
	return nr;
}

uint64_t flame_nr_drawn(const struct flame *flame)
{
	uint64_t nr = flame->layout.nr_drawn;

	return flame->diff ? nr + flame->diff->gone_layout.nr_drawn : nr;
}

static void note_pruned(struct buf *out, const struct flame *flame)
{
	const struct tree *tree = &flame->tree;

	units_grouped(out, flame_nr_drawn(flame));
	buf_str(out, " of ");
	add_count(out, tree->nr_frames, "frame");
	buf_str(out, " drawn");
	if (!count_light(tree))
		return;
	buf_str(out, "; those under ");
	if (flame->cut.weight)
		add_px(out, flame, flame->cut.weight);
	else
		units_fixed(out, (int64_t)(flame->opts->min_width * 1000 +
					   0.5), 3);
	buf_str(out, flame->cut.weight ? " (limit on frames)" : " px");
	buf_str(out, " are joined into grey slivers");
}

static void note_negative(struct buf *out, const struct flame *flame)
{
	add_count(out, flame->tree.nr_negative, "negative stack");
	buf_str(out, " drawn by size and hatched; the net total is ");
	flame_value(out, flame, &flame->tree.nodes[0]);
}

static void note_depth(struct buf *out, const struct flame *flame)
{
	buf_str(out, "frames below row ");
	units_grouped(out, flame->opts->max_depth);
	buf_str(out, " are joined; the deepest stack has ");
	add_count(out, flame->tree.deepest, "frame");
}

static void note_scale(struct buf *out, const struct flame *flame)
{
	buf_str(out, "sums exceed 64 bits: widths are drawn at 1/");
	units_grouped(out, (unsigned __int128)1 << flame->tree.shift);
	buf_str(out, " scale, inner sums are shown up to ");
	units_grouped(out, INT64_MAX);
}

/* Break one note at the graph's width; at blanks where there are any. */
static bool wrap_note(struct flame *flame, const struct buf *note)
{
	const struct flame_size *size = &flame->layout.size;
	size_t cells = (size_t)(size->graph / (size->advance * size->small));
	size_t at = 0;
	size_t nr, cut;

	do {
		nr = text_head(note->data + at, note->len - at,
			       cells ? cells : 1);
		cut = nr;
		while (at + nr < note->len && cut &&
		       note->data[at + cut] != ' ')
			cut--;
		/* Also when not even one wide character fits. */
		nr = cut ? cut : nr ? nr : note->len - at;
		if (flame->notes.nr == MAX_NOTE_LINES) {
			flame->nr_notes_left++;
			return true;
		}
		buf_add(&flame->notes.text, note->data + at, nr);
		if (!end_line(&flame->notes))
			return false;
		at += nr;
		at += at < note->len && note->data[at] == ' ';
	} while (at < note->len);
	return true;
}

static bool is_pruned(const struct flame *flame)
{
	return flame_nr_drawn(flame) < flame->tree.nr_frames;
}

/* What the picture does not show, then what the caller wants said. */
static bool compose_notes(struct flame *flame)
{
	static void (*const notes[])(struct buf *, const struct flame *) = {
		flame_diff_note, note_pruned, note_depth, note_negative,
		note_scale
	};
	const bool apply[] = {
		flame->diff, is_pruned(flame),
		flame->tree.deepest > flame->opts->max_depth,
		flame->tree.nr_negative > 0, flame->tree.shift > 0
	};
	struct buf note;
	bool ok = true;
	size_t i;

	if (!flame->tree.nodes[0].weight)
		return true;
	buf_init(&note, PTRDIFF_MAX);
	for (i = 0; ok && i < sizeof(notes) / sizeof(*notes); i++) {
		if (!apply[i])
			continue;
		buf_reset(&note);
		notes[i](&note, flame);
		ok = buf_ok(&note) && wrap_note(flame, &note);
	}
	for (i = 0; ok && i < flame->opts->nr_notes; i++) {
		buf_reset(&note);
		text_mask(&note, flame->opts->notes[i],
			  strlen(flame->opts->notes[i]));
		ok = buf_ok(&note) && wrap_note(flame, &note);
	}
	buf_fini(&note);
	return ok;
}

bool flame_compose(struct flame *flame)
{
	compose_title(flame);
	return buf_ok(&flame->title) && compose_subtitle(flame) &&
	       compose_notes(flame);
}

/* Rows of the largest |self|, largest first; returns how many. */
static size_t find_top(const struct flame *flame, uint32_t *top)
{
	const int64_t *self = flame->tree.row_self;
	size_t nr = 0, i, j;

	for (i = 0; i < flame->frames.nr; i++) {
		if (!self[i] ||
		    (nr == NR_TOP && magnitude_i64(self[top[nr - 1]]) >=
					     magnitude_i64(self[i])))
			continue;
		j = nr < NR_TOP ? nr++ : nr - 1;
		while (j && magnitude_i64(self[top[j - 1]]) <
				    magnitude_i64(self[i])) {
			top[j] = top[j - 1];
			j--;
		}
		top[j] = (uint32_t)i;
	}
	return nr;
}

void flame_nothing(struct buf *out, const struct flame *flame)
{
	buf_str(out, flame->diff ? "No samples in B: " : "No samples: ");
	if (!flame->profile->nr_samples) {
		buf_str(out, "the profile is empty");
		return;
	}
	buf_str(out, "every value of ");
	text_mask(out, flame->type, strlen(flame->type));
	buf_str(out, " is 0 (");
	add_count(out, flame->profile->nr_samples, "stack");
	buf_byte(out, ')');
}

static void summarize_diff(struct buf *out, const struct flame *flame)
{
	buf_str(out, "Differential flame graph of ");
	text_mask(out, flame->type, strlen(flame->type));
	buf_str(out, ": ");
	flame_diff_subtitle(out, flame);
	buf_str(out, "; ");
	flame_diff_note(out, flame);
	buf_str(out, "; ");
	units_grouped(out, flame_nr_drawn(flame));
	buf_str(out, " of ");
	add_count(out, flame->tree.nr_frames, "frame");
	buf_str(out, " drawn.");
}

void flame_summary(struct buf *out, const struct flame *flame)
{
	const struct tree *tree = &flame->tree;
	uint64_t whole = tree->nodes[0].weight;
	uint32_t top[NR_TOP];
	size_t nr, i;

	if (!whole) {
		flame_nothing(out, flame);
		return;
	}
	if (flame->diff) {
		summarize_diff(out, flame);
		return;
	}
	buf_str(out, flame->opts->icicle ? "Icicle graph of " :
					   "Flame graph of ");
	flame_value(out, flame, &tree->nodes[0]);
	if (strcmp(units_noun(flame->noun, flame->unit), flame->type) != 0) {
		buf_str(out, ", ");
		text_mask(out, flame->type, strlen(flame->type));
	}
	buf_str(out, flame->opts->reverse ? ", callers of each function; "
					  : "; ");
	units_grouped(out, flame_nr_drawn(flame));
	buf_str(out, " of ");
	add_count(out, tree->nr_frames, "frame");
	buf_str(out, " drawn.");
	nr = find_top(flame, top);
	for (i = 0; i < nr; i++) {
		buf_str(out, i ? ", " : " Largest by self: ");
		add_frame_name(out, &flame->frames, top[i]);
		buf_byte(out, ' ');
		units_share(out, magnitude_i64(tree->row_self[top[i]]) >>
				 tree->shift, whole);
	}
	buf_str(out, nr ? "." : "");
}

static void add_member(struct buf *out, const char *key)
{
	if (out->len && out->data[out->len - 1] != '{')
		buf_byte(out, ',');
	xml_json(out, key);
	buf_byte(out, ':');
}

static void add_text_member(struct buf *out, const char *key,
			    const char *text)
{
	add_member(out, key);
	xml_json(out, text);
}

static void add_number_member(struct buf *out, const char *key,
			      uint64_t value)
{
	add_member(out, key);
	buf_u64(out, value);
}

static void add_flag_member(struct buf *out, const char *key, bool value)
{
	add_member(out, key);
	buf_str(out, value ? "true" : "false");
}

static void add_array_member(struct buf *out, const char *key,
			     const char *const *texts, size_t nr)
{
	size_t i;

	add_member(out, key);
	buf_byte(out, '[');
	for (i = 0; i < nr; i++) {
		if (i)
			buf_byte(out, ',');
		xml_json(out, texts[i]);
	}
	buf_byte(out, ']');
}

static const char *granularity_name(enum pprof_granularity granularity)
{
	static const char *const names[] = {
		[PPROF_BY_FUNCTION] = "function",
		[PPROF_BY_FILEFUNCTION] = "filefunction",
		[PPROF_BY_LINE] = "line", [PPROF_BY_FILE] = "file",
		[PPROF_BY_ADDRESS] = "address", [PPROF_BY_MODULE] = "module"
	};

	return names[granularity];
}

void flame_metadata(struct buf *out, const struct flame *flame)
{
	const struct pprof_flame_opts *opts = flame->opts;
	const struct tree *tree = &flame->tree;

	buf_byte(out, '{');
	add_text_member(out, "generator", "libpprof");
	add_text_member(out, "sample_type", flame->type);
	add_text_member(out, "unit", flame->unit);
	add_member(out, "total");
	buf_i64(out, tree->nodes[0].total);
	add_text_member(out, "granularity",
			granularity_name(opts->granularity));
	add_flag_member(out, "inlines", !opts->no_inlines);
	add_flag_member(out, "reverse", opts->reverse);
	add_flag_member(out, "icicle", opts->icicle);
	add_member(out, "min_width");
	units_fixed(out, (int64_t)(opts->min_width * 1000 + 0.5), 3);
	add_number_member(out, "max_frames", opts->max_frames);
	add_number_member(out, "max_depth", opts->max_depth);
	add_number_member(out, "frames", tree->nr_frames);
	add_number_member(out, "drawn", flame_nr_drawn(flame));
	add_number_member(out, "deepest", tree->deepest);
	add_number_member(out, "negative_stacks", tree->nr_negative);
	if (flame->diff) {
		add_member(out, "base_total");
		buf_i64(out, flame->tree.nodes[0].base_total);
		add_member(out, "base_factor");
		buf_printf(out, "%.17g", flame->diff->scale);
		add_number_member(out, "widths", opts->widths);
	}
	add_array_member(out, "notes", opts->notes, opts->nr_notes);
	buf_byte(out, '}');
}
