/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of one stack, leaf() called by root(), in one mapped file: what
 * tests of merging and subtracting put together.
 */
#ifndef TESTS_UNIT_SMALL_PROFILE_H
#define TESTS_UNIT_SMALL_PROFILE_H

#include "base/buf.h"
#include "profile/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may differ from one input to another; all zero is a default. */
struct small {
	const char *types;    /* "name/unit name/unit"; NULL: one, bytes */
	int64_t values[4];
	const char *file;     /* NULL: /opt/app */
	const char *build_id; /* NULL: none */
	uint64_t start;       /* 0: 0x400000 */
	uint64_t offset;
	const char *symbols;  /* prefix of the names; NULL: no lines */
	int32_t column;
	const char *label;    /* value of "thread", or NULL */
	const char *comment;
	const char *drop_frames;
	int64_t time_ns;
	int64_t period;
	const char *period_unit; /* NULL: bytes */
	const char *default_type;
	bool unmapped;        /* no mapping at all */
	bool is_empty;        /* no sample */
};

static inline void small_types(struct builder *b, const char *types)
{
	size_t len, slash;

	while (*types) {
		len = strcspn(types, " ");
		slash = strcspn(types, "/");
		builder_type(b, builder_str(b, types, slash),
			     builder_str(b, types + slash + 1,
					 len - slash - 1));
		types += len;
		types += *types == ' ';
	}
}

static inline loc_id small_location(struct builder *b, const struct small *s,
				    map_id map, uint64_t address,
				    const char *name)
{
	struct function func = { 0 };
	struct line line = { 0 };
	char full[64];

	if (!s->symbols)
		return builder_location(b, address, map, false, NULL, 0);
	snprintf(full, sizeof(full), "%s%s", s->symbols, name);
	func.name = builder_cstr(b, full);
	func.file = builder_cstr(b, "a.c");
	line.func = builder_function(b, &func);
	line.line = 7;
	line.column = s->column;
	return builder_location(b, address, map, false, &line, 1);
}

static inline void small_header(struct builder *b, const struct small *s)
{
	struct pprof_profile *p = b->profile;

	p->time_ns = s->time_ns;
	p->period = s->period;
	if (s->period) {
		p->period_type.type = builder_cstr(b, "space");
		p->period_type.unit = builder_cstr(
			b, s->period_unit ? s->period_unit : "bytes");
	}
	if (s->comment)
		builder_comment(b, builder_cstr(b, s->comment));
	if (s->drop_frames)
		p->drop_frames = builder_cstr(b, s->drop_frames);
	if (s->default_type)
		p->default_type = builder_cstr(b, s->default_type);
}

static inline struct pprof_profile *small_profile(const struct small *s)
{
	struct pprof_profile *profile = NULL;
	struct mapping map = { 0 };
	struct label label = { 0 };
	struct pprof_limits limits;
	struct pprof_error err;
	struct diags diags;
	struct builder b;
	map_id id = 0;
	loc_id stack[2];

	pprof_limits_init(&limits);
	diags_init(&diags, "small");
	assert_true(builder_init(&b, &limits, &diags));
	small_types(&b, s->types ? s->types : "inuse_space/bytes");
	small_header(&b, s);
	map.start = s->start ? s->start : 0x400000;
	map.limit = map.start + 0x10000;
	map.offset = s->offset;
	map.file = builder_cstr(&b, s->file ? s->file : "/opt/app");
	map.build_id = builder_cstr(&b, s->build_id ? s->build_id : "");
	map.flags = MAP_MAIN;
	if (!s->unmapped)
		id = builder_mapping(&b, &map);
	stack[0] = small_location(&b, s, id,
				  s->unmapped ? 0 : map.start + 0x100,
				  "leaf");
	stack[1] = small_location(&b, s, id,
				  s->unmapped ? 0 : map.start + 0x200,
				  "root");
	label.key = builder_cstr(&b, "thread");
	if (s->label)
		label.str = builder_cstr(&b, s->label);
	if (!s->is_empty)
		builder_sample(&b, builder_stack(&b, stack, 2),
			       s->label ? builder_lset(&b, &label, 1) : 0,
			       s->values, PPROF_UNIT_NONE, 0);
	assert_int_equal(builder_finish(&b, "small", &profile, &err),
			 PPROF_OK);
	builder_fini(&b);
	return profile;
}

/*
 * A profile in words: types, header where it says something, mappings that
 * are in use, samples. In canonical order, by way of the folded form of each
 * location: "name@address".
 */
static inline void small_stack(struct buf *out, const struct pprof_profile *p,
			       stack_id id)
{
	loc_id frames[64];
	size_t nr = stacks_depth(&p->stacks, id), i;

	assert_true(nr <= 64);
	stacks_leaf_first(&p->stacks, id, frames);
	for (i = nr; i; i--) {
		const struct location *loc = &p->locations[frames[i - 1]];
		uint32_t j;

		if (i < nr)
			buf_byte(out, ';');
		for (j = loc->nr_lines; j; j--) {
			const struct line *line = &p->lines[loc->lines + j -
							    1];

			buf_str(out, profile_str(p, p->functions[line->func]
							    .name));
			if (j > 1)
				buf_byte(out, '>');
		}
		if (loc->address) {
			buf_byte(out, '@');
			buf_hex(out, loc->address);
		}
	}
}

static inline void small_labels(struct buf *out,
				const struct pprof_profile *p, lset_id id)
{
	const struct lset *set = &p->lsets[id];
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		const struct label *label = &p->labels[set->labels + i];

		buf_printf(out, " %s=%s", profile_str(p, label->key),
			   profile_str(p, label->str));
	}
}

/* "TYPES | stack labels values, ..." in the order that the profile has. */
static inline const char *small_words(struct buf *out,
				      const struct pprof_profile *p)
{
	size_t i, j;

	buf_reset(out);
	for (i = 0; i < p->nr_types; i++)
		buf_printf(out, "%s%s/%s", i ? " " : "",
			   profile_str(p, p->types[i].type),
			   profile_str(p, p->types[i].unit));
	for (i = 0; i < p->nr_samples; i++) {
		buf_str(out, i ? ", " : " | ");
		small_stack(out, p, p->sample_stack[i]);
		small_labels(out, p, p->sample_lset ? p->sample_lset[i] : 0);
		for (j = 0; j < p->nr_types; j++)
			buf_printf(out, " %lld", (long long)p->values[j][i]);
	}
	return buf_cstr(out);
}

static inline int small_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The samples of small_words(), sorted: their order is of no interest. */
static inline void small_sort(struct buf *out)
{
	char *parts[16], *text = out->data, *next;
	struct buf sorted;
	size_t nr = 0, i;

	next = strstr(text, " | ");
	if (!next)
		return;
	*next = '\0';
	for (next += 3; next; nr++) {
		parts[nr] = next;
		next = strstr(next, ", ");
		if (next) {
			*next = '\0';
			next += 2;
		}
	}
	qsort(parts, nr, sizeof(*parts), small_compare);
	buf_init(&sorted, 1 << 16);
	buf_printf(&sorted, "%s | ", text);
	for (i = 0; i < nr; i++)
		buf_printf(&sorted, "%s%s", i ? ", " : "", parts[i]);
	buf_reset(out);
	buf_add(out, sorted.data, sorted.len);
	buf_fini(&sorted);
}

static inline const char *small_sorted_words(struct buf *out,
					     const struct pprof_profile *p)
{
	small_words(out, p);
	small_sort(out);
	return buf_cstr(out);
}

#endif
