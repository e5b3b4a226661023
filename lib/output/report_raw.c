/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile as it is, for people who look for a fault: header, samples,
 * locations and mappings, laid out as `go tool pprof -raw` does. And its
 * comments alone.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/report_header.h"
#include "view/text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

struct raw {
	const struct pprof_profile *profile;
	struct pprof_sink *sink;
	uint32_t *number;  /* [nr_locations] as printed; 0: in no stack */
	loc_id *stack;
	size_t cap_stack;
	str_id *keys;      /* of a label set, sorted */
	size_t cap_keys;
	struct buf out;
};

static void add_text(struct raw *raw, str_id id)
{
	const char *text = profile_str(raw->profile, id);

	text_mask(&raw->out, text, strlen(text));
}

static void add_line(struct raw *raw, const char *title, str_id text)
{
	if (!text)
		return;
	buf_str(&raw->out, title);
	add_text(raw, text);
	buf_byte(&raw->out, '\n');
}

static void add_head(struct raw *raw)
{
	const struct pprof_profile *p = raw->profile;
	size_t i;

	for (i = 0; i < p->nr_comments; i++)
		add_line(raw, "Comment: ", p->comments[i]);
	add_line(raw, "Doc: ", p->doc_url);
	if (p->period_type.type || p->period_type.unit) {
		buf_str(&raw->out, "PeriodType: ");
		add_text(raw, p->period_type.type);
		buf_byte(&raw->out, ' ');
		add_text(raw, p->period_type.unit);
		buf_byte(&raw->out, '\n');
	}
	buf_printf(&raw->out, "Period: %lld\n", (long long)p->period);
	if (p->time_ns) {
		buf_str(&raw->out, "Time: ");
		report_time_add(&raw->out, p->time_ns);
		buf_str(&raw->out, " +0000 UTC\n");
	}
	if (p->duration_ns)
		buf_printf(&raw->out, "Duration: %.4gs\n",
			   (double)p->duration_ns / 1e9);
	buf_str(&raw->out, "Samples:\n");
	for (i = 0; i < p->nr_types; i++) {
		if (i)
			buf_byte(&raw->out, ' ');
		add_text(raw, p->types[i].type);
		buf_byte(&raw->out, '/');
		add_text(raw, p->types[i].unit);
		if (p->default_type && p->types[i].type == p->default_type)
			buf_str(&raw->out, "[dflt]");
	}
	buf_byte(&raw->out, '\n');
}

static int compare_keys(const void *a, const void *b, void *ctx)
{
	return strtab_compare(ctx, *(const str_id *)a, *(const str_id *)b);
}

static void add_value(struct raw *raw, const struct label *label)
{
	if (!label->is_num) {
		add_text(raw, label->str);
		return;
	}
	buf_i64(&raw->out, label->num);
	if (!label->unit)
		return;
	buf_byte(&raw->out, ' ');
	add_text(raw, label->unit);
}

/* One key and its values. */
static void add_key(struct raw *raw, const struct label *labels, size_t nr,
		    str_id key, uint32_t is_num)
{
	bool first = true;
	size_t i;

	add_text(raw, key);
	buf_str(&raw->out, ":[");
	for (i = 0; i < nr; i++) {
		if (labels[i].key != key || labels[i].is_num != is_num)
			continue;
		if (!first)
			buf_byte(&raw->out, ' ');
		first = false;
		add_value(raw, &labels[i]);
	}
	buf_byte(&raw->out, ']');
}

/* A line for the texts of a set or for its numbers, if it has any. */
static bool add_labels(struct raw *raw, const struct lset *lset,
		       uint32_t is_num)
{
	const struct label *labels = raw->profile->labels + lset->labels;
	size_t nr = 0, i;

	if (!mem_grow(raw->keys, raw->cap_keys, lset->nr, UINT32_MAX))
		return false;
	for (i = 0; i < lset->nr; i++)
		if (labels[i].is_num == is_num)
			raw->keys[nr++] = labels[i].key;
	if (!nr)
		return true;
	qsort_r(raw->keys, nr, sizeof(*raw->keys), compare_keys,
		(void *)(uintptr_t)&raw->profile->strings);
	buf_str(&raw->out, "                ");
	for (i = 0; i < nr; i++) {
		if (i && raw->keys[i] == raw->keys[i - 1])
			continue;
		if (i)
			buf_byte(&raw->out, ' ');
		add_key(raw, labels, lset->nr, raw->keys[i], is_num);
	}
	buf_byte(&raw->out, '\n');
	return true;
}

static bool add_sample(struct raw *raw, size_t sample)
{
	const struct pprof_profile *p = raw->profile;
	stack_id stack = p->sample_stack[sample];
	size_t nr = stacks_depth(&p->stacks, stack), i;
	const struct lset *lset;

	if (!mem_grow(raw->stack, raw->cap_stack, nr,
		      SIZE_MAX / sizeof(loc_id)))
		return false;
	stacks_leaf_first(&p->stacks, stack, raw->stack);
	for (i = 0; i < p->nr_types; i++)
		buf_printf(&raw->out, " %10lld",
			   (long long)p->values[i][sample]);
	buf_str(&raw->out, ": ");
	for (i = 0; i < nr; i++)
		buf_printf(&raw->out, "%u ", raw->number[raw->stack[i]]);
	buf_byte(&raw->out, '\n');
	if (!p->sample_lset)
		return true;
	lset = &p->lsets[p->sample_lset[sample]];
	return add_labels(raw, lset, 0) && add_labels(raw, lset, 1);
}

static enum pprof_status add_samples(struct raw *raw, struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < raw->profile->nr_samples; i++) {
		if (!add_sample(raw, i))
			return error_nomem(err);
		if (raw->out.len >= CHUNK_BYTES)
			status = sink_take_buf(raw->sink, &raw->out, err);
	}
	return status;
}

static void add_source_line(struct raw *raw, const struct line *line)
{
	const struct function *func = &raw->profile->functions[line->func];

	add_text(raw, func->name);
	buf_byte(&raw->out, ' ');
	add_text(raw, func->file);
	buf_printf(&raw->out, ":%lld:%d s=%lld", (long long)line->line,
		   (int)line->column, (long long)func->start_line);
	if (func->system_name && func->system_name != func->name) {
		buf_byte(&raw->out, '(');
		add_text(raw, func->system_name);
		buf_byte(&raw->out, ')');
	}
}

static void add_location(struct raw *raw, loc_id id)
{
	const struct pprof_profile *p = raw->profile;
	const struct location *loc = &p->locations[id];
	uint32_t i;

	buf_printf(&raw->out, "%6u: 0x%llx ", raw->number[id],
		   (unsigned long long)loc->address);
	if (loc->mapping)
		buf_printf(&raw->out, "M=%u ", loc->mapping);
	if (loc->is_folded)
		buf_str(&raw->out, "[F] ");
	if (!loc->nr_lines)
		buf_byte(&raw->out, '\n');
	for (i = 0; i < loc->nr_lines; i++) {
		if (i)
			buf_str(&raw->out, "             ");
		add_source_line(raw, &p->lines[loc->lines + i]);
		buf_byte(&raw->out, '\n');
	}
}

static void add_mapping(struct raw *raw, map_id id)
{
	static const struct {
		uint32_t flag;
		const char *mark;
	} marks[] = {
		{ MAP_HAS_FUNCTIONS, "[FN]" },
		{ MAP_HAS_FILENAMES, "[FL]" },
		{ MAP_HAS_LINE_NUMBERS, "[LN]" },
		{ MAP_HAS_INLINE_FRAMES, "[IN]" },
	};
	const struct mapping *map = &raw->profile->mappings[id];
	size_t i;

	buf_printf(&raw->out, "%u: 0x%llx/0x%llx/0x%llx ", id,
		   (unsigned long long)map->start,
		   (unsigned long long)map->limit,
		   (unsigned long long)map->offset);
	add_text(raw, map->file);
	buf_byte(&raw->out, ' ');
	add_text(raw, map->build_id);
	buf_byte(&raw->out, ' ');
	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (map->flags & marks[i].flag)
			buf_str(&raw->out, marks[i].mark);
	buf_byte(&raw->out, '\n');
}

static enum pprof_status add_tables(struct raw *raw, struct pprof_error *err)
{
	const struct pprof_profile *p = raw->profile;
	enum pprof_status status = PPROF_OK;
	size_t i;

	buf_str(&raw->out, "Locations\n");
	for (i = 1; !status && i < p->nr_locations; i++) {
		if (!raw->number[i])
			continue;
		add_location(raw, (loc_id)i);
		if (raw->out.len >= CHUNK_BYTES)
			status = sink_take_buf(raw->sink, &raw->out, err);
	}
	buf_str(&raw->out, "Mappings\n");
	for (i = 1; i < p->nr_mappings; i++)
		add_mapping(raw, (map_id)i);
	return status ? status : sink_take_buf(raw->sink, &raw->out, err);
}

/* Number the locations that some stack leads to. */
static bool number_locations(struct raw *raw)
{
	const struct pprof_profile *p = raw->profile;
	uint32_t nr = 0;
	size_t i;

	raw->number = mem_zalloc(p->nr_locations, sizeof(*raw->number));
	if (!raw->number)
		return false;
	for (i = 0; i < p->stacks.nr_locs; i++)
		raw->number[p->stacks.locs[i]] = 1;
	for (i = 1; i < p->nr_locations; i++)
		if (raw->number[i])
			raw->number[i] = ++nr;
	return true;
}

enum pprof_status pprof_report_raw(const struct pprof_profile *profile,
				   struct pprof_sink *sink,
				   struct pprof_error *err)
{
	struct raw raw = { .profile = profile, .sink = sink };
	enum pprof_status status = PPROF_OK;

	buf_init(&raw.out, PTRDIFF_MAX);
	if (!number_locations(&raw))
		status = error_nomem(err);
	if (!status) {
		add_head(&raw);
		status = add_samples(&raw, err);
	}
	if (!status)
		status = add_tables(&raw, err);
	buf_fini(&raw.out);
	mem_free(raw.number);
	mem_free(raw.stack);
	mem_free(raw.keys);
	return status;
}

enum pprof_status pprof_report_comments(const struct pprof_profile *profile,
					struct pprof_sink *sink,
					struct pprof_error *err)
{
	struct raw raw = { .profile = profile, .sink = sink };
	enum pprof_status status;
	size_t i;

	buf_init(&raw.out, PTRDIFF_MAX);
	for (i = 0; i < profile->nr_comments; i++)
		add_line(&raw, "", profile->comments[i]);
	status = sink_take_buf(sink, &raw.out, err);
	buf_fini(&raw.out);
	return status;
}
