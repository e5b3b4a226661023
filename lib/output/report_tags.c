/* SPDX-License-Identifier: Apache-2.0
 *
 * What the samples of each label's values add up to, laid out as `go tool
 * pprof -tags` does.
 */
#include <config.h>

#include "base/buf.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sink.h"
#include "output/report_header.h"
#include "profile/tag_units.h"
#include "profile/total.h"
#include "view/stack_values.h"
#include "view/text.h"
#include "view/units.h"

#include <stdlib.h>
#include <string.h>

/* One value of one key. */
struct tag {
	str_id key;
	str_id text;    /* as printed, in tags.texts */
	__int128 value;
};

struct tags {
	const struct pprof_profile *profile;
	const struct pprof_top_opts *opts;
	struct tag_units units;
	struct report_values values;
	int64_t total;
	struct strtab texts;
	struct tag *tags;
	size_t nr, cap;
	struct idmap index;
	struct buf cell;
	struct buf out;
};

static uint64_t hash_tag(const void *ctx, uint32_t id)
{
	const struct tag *tag = (const struct tag *)ctx + id;

	return hash_u64((uint64_t)tag->key << 32 | tag->text);
}

static bool add_tag(struct tags *t, const struct tag *tag)
{
	uint64_t hash = hash_tag(tag, 0);
	struct tag *old;
	size_t slot;

	if (!idmap_reserve(&t->index, hash_tag, t->tags))
		return false;
	for (slot = idmap_first(&t->index, hash);
	     t->index.slots[slot] != IDMAP_FREE;
	     slot = idmap_next(&t->index, slot)) {
		old = &t->tags[t->index.slots[slot]];
		if (old->key == tag->key && old->text == tag->text) {
			old->value += tag->value;
			return true;
		}
	}
	if (!mem_grow(t->tags, t->cap, t->nr + 1, UINT32_MAX))
		return false;
	idmap_put(&t->index, hash, (uint32_t)t->nr);
	t->tags[t->nr++] = *tag;
	return true;
}

static bool take_label(struct tags *t, const struct label *label,
		       int64_t value)
{
	const struct pprof_profile *p = t->profile;
	struct tag tag = { .key = label->key, .value = value };

	buf_reset(&t->cell);
	if (label->is_num)
		units_value(&t->cell, label->num,
			    tag_units_of(&t->units, p, label), UNIT_AUTO);
	else
		text_mask(&t->cell, profile_str(p, label->str),
			  strlen(profile_str(p, label->str)));
	if (!buf_ok(&t->cell))
		return false;
	tag.text = strtab_add(&t->texts, t->cell.data, t->cell.len);
	return tag.text != STR_NONE && add_tag(t, &tag);
}

static bool take_samples(struct tags *t)
{
	const struct pprof_profile *p = t->profile;
	const struct lset *lset;
	uint32_t j;
	size_t i;

	for (i = 0; p->sample_lset && p->nr_types && i < p->nr_samples; i++) {
		lset = &p->lsets[p->sample_lset[i]];
		for (j = 0; j < lset->nr; j++)
			if (!take_label(t, &p->labels[lset->labels + j],
					p->values[t->values.column][i]))
				return false;
	}
	return true;
}

/* Keys by name; of each the largest values first. */
static int compare_tags(const void *a, const void *b, void *ctx)
{
	const struct tag *ta = a, *tb = b;
	const struct tags *t = ctx;
	__int128 ma = ta->value < 0 ? -ta->value : ta->value;
	__int128 mb = tb->value < 0 ? -tb->value : tb->value;

	if (ta->key != tb->key)
		return strtab_compare(&t->profile->strings, ta->key, tb->key);
	if (ma != mb)
		return ma < mb ? 1 : -1;
	return strtab_compare(&t->texts, ta->text, tb->text);
}

/* "4MB (99.65%)" in t->cell. */
static void set_cell(struct tags *t, int64_t value)
{
	buf_reset(&t->cell);
	units_value(&t->cell, value, t->values.unit, t->values.to);
	buf_str(&t->cell, " (");
	units_percent(&t->cell, value, t->total);
	buf_str(&t->cell, "):");
}

static void add_blanks(struct buf *out, size_t nr)
{
	for (; nr; nr--)
		buf_byte(out, ' ');
}

static void add_key_line(struct tags *t, const struct tag *tags, size_t nr)
{
	const char *key = profile_str(t->profile, tags->key);
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += tags[i].value;
	buf_byte(&t->out, ' ');
	text_mask(&t->out, key, strlen(key));
	buf_str(&t->out, ": Total ");
	units_value(&t->out, clamp_i64(sum), t->values.unit, t->values.to);
	buf_str(&t->out, " of ");
	units_value(&t->out, t->total, t->values.unit, t->values.to);
	buf_str(&t->out, " (");
	units_percent(&t->out, clamp_i64(sum), t->total);
	buf_str(&t->out, ")\n");
}

/* The values of one key. */
static void add_key(struct tags *t, const struct tag *tags, size_t nr)
{
	const char *key = profile_str(t->profile, tags->key);
	size_t indent, width = 0, i;

	buf_reset(&t->cell);
	text_mask(&t->cell, key, strlen(key));
	indent = text_cells(t->cell.data, t->cell.len) + 2;
	for (i = 0; i < nr; i++) {
		set_cell(t, clamp_i64(tags[i].value));
		if (t->cell.len > width)
			width = t->cell.len;
	}
	add_key_line(t, tags, nr);
	for (i = 0; i < nr; i++) {
		set_cell(t, clamp_i64(tags[i].value));
		add_blanks(&t->out, indent + 1 + width - t->cell.len);
		buf_add(&t->out, t->cell.data, t->cell.len);
		buf_byte(&t->out, ' ');
		buf_add(&t->out, strtab_text(&t->texts, tags[i].text),
			strtab_len(&t->texts, tags[i].text));
		buf_byte(&t->out, '\n');
	}
	buf_byte(&t->out, '\n');
}

static enum pprof_status run(struct tags *t, struct pprof_sink *sink,
			     struct pprof_error *err)
{
	size_t i, next;
	bool clamped;

	t->total = t->opts->total ? t->opts->total :
		   profile_shown_total(t->profile, t->values.column, &clamped);
	if (!strtab_init(&t->texts, UINT32_MAX) ||
	    !tag_units_init(&t->units, t->profile) || !take_samples(t))
		return error_nomem(err);
	if (t->nr)
		qsort_r(t->tags, t->nr, sizeof(*t->tags), compare_tags, t);
	for (i = 0; i < t->nr; i = next) {
		for (next = i + 1; next < t->nr &&
		     t->tags[next].key == t->tags[i].key; next++)
			;
		add_key(t, t->tags + i, next - i);
	}
	return sink_take_buf(sink, &t->out, err);
}

enum pprof_status pprof_report_tags(const struct pprof_profile *profile,
				    const struct pprof_top_opts *opts,
				    struct pprof_sink *sink,
				    struct pprof_error *err)
{
	struct pprof_top_opts taken = PPROF_TOP_OPTS_INIT;
	struct tags t = { .profile = profile, .opts = &taken };
	enum pprof_status status = report_take(&t.values, &taken, profile,
					       opts, err);

	if (status)
		return status;
	buf_init(&t.cell, PTRDIFF_MAX);
	buf_init(&t.out, PTRDIFF_MAX);
	status = run(&t, sink, err);
	buf_fini(&t.cell);
	buf_fini(&t.out);
	strtab_fini(&t.texts);
	tag_units_fini(&t.units);
	idmap_fini(&t.index);
	mem_free(t.tags);
	return status;
}
