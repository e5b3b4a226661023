/* SPDX-License-Identifier: Apache-2.0
 *
 * Random profiles; see gen.h. The encoder of profile.proto here is its own,
 * so that reader and writer do not only agree with each other.
 */
#include <config.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen.h"
#include "profile/builder.h"

#define DEFAULT_SEED 20240229

/* Text and length; the first one is "". */
#define TEXT(t) { t, sizeof(t) - 1 }
static const struct text {
	const char *text;
	size_t len;
} texts[] = {
	TEXT(""), TEXT("main"), TEXT("alloc_leaf"), TEXT("a;b"),
	TEXT("operator<<"), TEXT("std::vector<int, std::allocator<int> >"),
	TEXT("gr\303\266\303\237e"), TEXT("bad \377\376 bytes"),
	TEXT("two\nlines"), TEXT("tab\there"), TEXT("\"quoted\" & <tag>"),
	TEXT("nul\0inside"), TEXT("[kernel]"), TEXT(" lead"), TEXT("trail "),
	TEXT("/usr/lib/libc.so.6"), TEXT("/bin/prog (deleted)"),
	TEXT("src/main.c"), TEXT("inuse_space"), TEXT("inuse_objects"),
	TEXT("bytes"), TEXT("count"), TEXT("0123456789abcdef"),
	TEXT("thread"), TEXT("# comment"), TEXT("x 17"), TEXT("main_[k]"),
	TEXT("f"), TEXT("ff"), TEXT("F"), TEXT("-"),
};
#define NR_TEXTS ((uint32_t)(sizeof(texts) / sizeof(*texts)))

uint64_t gen_next(struct gen_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t gen_below(struct gen_random *random, uint32_t nr)
{
	return (uint32_t)(((gen_next(random) >> 32) * nr) >> 32);
}

double gen_unit(struct gen_random *random)
{
	return ((double)(gen_next(random) >> 11) + 1) * 0x1p-53;
}

void gen_shuffle(struct gen_random *random, uint32_t *order, uint32_t nr)
{
	uint32_t i, j, swap;

	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr; i > 1; i--) {
		j = gen_below(random, i);
		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}

uint64_t gen_seed(void)
{
	const char *text = getenv("PROP_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : DEFAULT_SEED;

	printf("# PROP_SEED=%" PRIu64 "\n", seed);
	return seed;
}

/* ------------------------------------------------------- what it says */

static uint32_t any_text(struct gen_random *r)
{
	return gen_below(r, NR_TEXTS);
}

/* One of a few mostly, so that rows differ in one member only. */
static uint32_t few_texts(struct gen_random *r, uint32_t nr)
{
	return gen_below(r, gen_below(r, 8) ? nr : NR_TEXTS);
}

static int64_t any_number(struct gen_random *r, bool positive)
{
	static const int64_t odd[] = { 0, 1, 127, 128, 16384, -1, -128 };
	int64_t value;

	if (gen_below(r, 3))
		value = odd[gen_below(r, 7)];
	else
		value = (int64_t)(gen_next(r) >> (24 + gen_below(r, 40))) -
			(gen_below(r, 4) ? 0 : INT64_C(1) << 30);
	return positive && value < 0 ? -value : value;
}

static void fill_locs(struct gen_profile *gen, struct gen_random *r)
{
	uint32_t i, j;

	for (i = 0; i < gen->nr_locs; i++) {
		struct gen_loc *loc = &gen->locs[i];

		/* Few addresses, so that some locations are equal. */
		loc->address = gen_below(r, 4) ? 0x1000 + gen_below(r, 12) :
			       gen_next(r) >> gen_below(r, 64);
		loc->map = gen_below(r, gen->nr_maps + 1);
		loc->is_folded = !gen_below(r, 8);
		loc->nr_lines = gen->nr_funcs ? gen_below(r, GEN_LINES + 1) :
				0;
		for (j = 0; j < loc->nr_lines; j++) {
			loc->lines[j].func = gen_below(r, gen->nr_funcs);
			loc->lines[j].line = any_number(r, false);
			loc->lines[j].column = (int32_t)gen_below(r, 3);
		}
	}
}

static void fill_samples(struct gen_profile *gen, struct gen_random *r,
			 bool positive)
{
	uint32_t i, j;

	for (i = 0; i < gen->nr_samples; i++) {
		struct gen_sample *sample = &gen->samples[i];

		sample->nr_frames = gen->nr_locs ?
				    gen_below(r, GEN_FRAMES + 1) : 0;
		for (j = 0; j < sample->nr_frames; j++)
			sample->frames[j] = gen_below(r, gen->nr_locs);
		sample->nr_labels = gen_below(r, 3) ? 0 :
				    gen_below(r, GEN_LABELS + 1);
		for (j = 0; j < sample->nr_labels; j++) {
			struct gen_label *label = &sample->labels[j];

			label->key = gen_below(r, 4);
			label->str = gen_below(r, 2) ? any_text(r) : 0;
			if (label->str)
				continue;
			label->num = any_number(r, false);
			label->unit = gen_below(r, 2) ? any_text(r) : 0;
		}
		for (j = 0; j < gen->nr_types; j++)
			sample->values[j] = any_number(r, positive);
	}
}

static void fill_header(struct gen_profile *gen, struct gen_random *r)
{
	uint32_t i;

	for (i = 0; i < gen->nr_types; i++) {
		gen->types[i][0] = any_text(r);
		gen->types[i][1] = any_text(r);
	}
	for (i = 0; i < gen->nr_comments; i++)
		gen->comments[i] = any_text(r);
	gen->period_type[0] = gen_below(r, 2) ? any_text(r) : 0;
	gen->period_type[1] = any_text(r);
	gen->default_type = gen_below(r, 2) ? gen->types[0][0] : 0;
	gen->drop_frames = gen_below(r, 2) ? any_text(r) : 0;
	gen->doc_url = gen_below(r, 2) ? any_text(r) : 0;
	gen->period = any_number(r, false);
	gen->time_ns = any_number(r, false);
	gen->duration_ns = any_number(r, false);
}

void gen_profile(struct gen_profile *gen, uint64_t seed, bool positive)
{
	struct gen_random random = { seed }, *r = &random;
	uint32_t i;

	memset(gen, 0, sizeof(*gen));
	gen->nr_types = 1 + gen_below(r, GEN_TYPES);
	gen->nr_maps = gen_below(r, GEN_MAPS + 1);
	gen->nr_funcs = gen_below(r, GEN_FUNCS + 1);
	gen->nr_locs = gen_below(r, GEN_LOCS + 1);
	gen->nr_samples = gen_below(r, GEN_SAMPLES + 1);
	gen->nr_comments = gen_below(r, GEN_COMMENTS + 1);
	for (i = 0; i < gen->nr_maps; i++) {
		struct gen_map *map = &gen->maps[i];

		map->start = (uint64_t)(i + 1) << 20;
		map->limit = map->start + 4096 * (1 + gen_below(r, 9));
		map->offset = 4096 * (uint64_t)gen_below(r, 9);
		map->file = few_texts(r, 3);
		map->build_id = gen_below(r, 4) ? 0 : any_text(r);
		map->flags = gen_below(r, 16);
	}
	for (i = 0; i < gen->nr_funcs; i++) {
		gen->funcs[i].name = few_texts(r, 6);
		gen->funcs[i].system_name = few_texts(r, 2);
		gen->funcs[i].file = few_texts(r, 2);
		gen->funcs[i].start_line = gen_below(r, 3);
	}
	fill_locs(gen, r);
	fill_samples(gen, r, positive);
	fill_header(gen, r);
}

int64_t gen_total(const struct gen_profile *gen, uint32_t type)
{
	int64_t sum = 0;
	uint32_t i;

	for (i = 0; i < gen->nr_samples; i++)
		sum += gen->samples[i].values[type];
	return sum;
}

/* ------------------------------------------------- by way of a builder */

static str_id add_text(struct builder *b, uint32_t text)
{
	return builder_str(b, texts[text].text, texts[text].len);
}

/* Ids of the rows that were added, by number. */
struct built {
	map_id maps[GEN_MAPS];
	func_id funcs[GEN_FUNCS];
	loc_id locs[GEN_LOCS];
};

static void build_maps(struct builder *b, const struct gen_profile *gen,
		       struct gen_random *r, struct built *ids)
{
	uint32_t order[GEN_MAPS], i;

	gen_shuffle(r, order, gen->nr_maps);
	for (i = 0; i < gen->nr_maps; i++) {
		const struct gen_map *map = &gen->maps[order[i]];
		struct mapping row = { .start = map->start,
				       .limit = map->limit,
				       .offset = map->offset,
				       .flags = map->flags };

		row.file = add_text(b, map->file);
		row.build_id = add_text(b, map->build_id);
		if (!order[i])
			row.flags |= MAP_MAIN;
		ids->maps[order[i]] = builder_mapping(b, &row);
	}
}

static void build_funcs(struct builder *b, const struct gen_profile *gen,
			struct gen_random *r, struct built *ids)
{
	uint32_t order[GEN_FUNCS], i;

	gen_shuffle(r, order, gen->nr_funcs);
	for (i = 0; i < gen->nr_funcs; i++) {
		const struct gen_func *func = &gen->funcs[order[i]];
		struct function row = { .start_line = func->start_line };

		row.name = add_text(b, func->name);
		row.system_name = add_text(b, func->system_name);
		row.file = add_text(b, func->file);
		ids->funcs[order[i]] = builder_function(b, &row);
	}
}

static void build_locs(struct builder *b, const struct gen_profile *gen,
		       struct gen_random *r, struct built *ids)
{
	uint32_t order[GEN_LOCS], i, j;

	gen_shuffle(r, order, gen->nr_locs);
	for (i = 0; i < gen->nr_locs; i++) {
		const struct gen_loc *loc = &gen->locs[order[i]];
		struct line lines[GEN_LINES];

		memset(lines, 0, sizeof(lines));
		for (j = 0; j < loc->nr_lines; j++) {
			lines[j].func = ids->funcs[loc->lines[j].func];
			lines[j].line = loc->lines[j].line;
			lines[j].column = loc->lines[j].column;
		}
		ids->locs[order[i]] = builder_location(b, loc->address,
			loc->map ? ids->maps[loc->map - 1] : 0,
			loc->is_folded, lines, loc->nr_lines);
	}
}

static void build_sample(struct builder *b, const struct gen_profile *gen,
			 const struct gen_sample *sample, struct gen_random *r,
			 const struct built *ids)
{
	uint32_t order[GEN_LABELS], i;
	struct label labels[GEN_LABELS];
	loc_id frames[GEN_FRAMES];

	(void)gen;
	memset(labels, 0, sizeof(labels));
	gen_shuffle(r, order, sample->nr_labels);
	for (i = 0; i < sample->nr_labels; i++) {
		const struct gen_label *label = &sample->labels[order[i]];

		labels[i].key = add_text(b, label->key);
		labels[i].str = add_text(b, label->str);
		labels[i].num = label->num;
		labels[i].unit = add_text(b, label->unit);
		labels[i].is_num = !label->str;
	}
	for (i = 0; i < sample->nr_frames; i++)
		frames[i] = ids->locs[sample->frames[i]];
	builder_sample(b, builder_stack(b, frames, sample->nr_frames),
		       builder_lset(b, labels, sample->nr_labels),
		       sample->values, PPROF_UNIT_NONE, 0);
}

static void build_header(struct builder *b, const struct gen_profile *gen)
{
	struct pprof_profile *p = b->profile;
	uint32_t i;

	for (i = 0; i < gen->nr_comments; i++)
		builder_comment(b, add_text(b, gen->comments[i]));
	p->period_type.type = add_text(b, gen->period_type[0]);
	p->period_type.unit = add_text(b, gen->period_type[1]);
	p->default_type = add_text(b, gen->default_type);
	p->drop_frames = add_text(b, gen->drop_frames);
	p->doc_url = add_text(b, gen->doc_url);
	p->period = gen->period;
	p->time_ns = gen->time_ns;
	p->duration_ns = gen->duration_ns;
}

struct pprof_profile *gen_build(const struct gen_profile *gen, uint64_t order,
				unsigned times)
{
	struct gen_random random = { order }, *r = &random;
	struct pprof_profile *profile = NULL;
	uint32_t samples[GEN_SAMPLES], i;
	struct pprof_limits limits;
	struct pprof_error err;
	struct builder b;
	struct built ids;
	struct diags diags;

	pprof_limits_init(&limits);
	diags_init(&diags, "gen");
	memset(&ids, 0, sizeof(ids));
	assert_true(builder_init(&b, &limits, &diags));
	if (order & 1)
		build_header(&b, gen);
	for (i = 0; i < gen->nr_types; i++)
		builder_type(&b, add_text(&b, gen->types[i][0]),
			     add_text(&b, gen->types[i][1]));
	build_maps(&b, gen, r, &ids);
	build_funcs(&b, gen, r, &ids);
	build_locs(&b, gen, r, &ids);
	for (; times; times--) {
		gen_shuffle(r, samples, gen->nr_samples);
		for (i = 0; i < gen->nr_samples; i++)
			build_sample(&b, gen, &gen->samples[samples[i]], r,
				     &ids);
	}
	if (!(order & 1))
		build_header(&b, gen);
	if (builder_finish(&b, "gen", &profile, &err))
		fail_msg("%s", err.message);
	builder_fini(&b);
	return profile;
}

/* ------------------------------------------------ by way of an encoder */

/* Records of one field wait in their order; fields are mixed at the end. */
enum queue {
	QUEUE_TYPES,
	QUEUE_SAMPLES,
	QUEUE_MAPS,
	QUEUE_LOCS,
	QUEUE_FUNCS,
	QUEUE_STRINGS,
	QUEUE_SCALARS,
	NR_QUEUES
};

#define QUEUE_RECORDS 2048

struct encoder {
	const struct gen_profile *gen;
	struct gen_random random;
	struct buf queues[NR_QUEUES];
	size_t ends[NR_QUEUES][QUEUE_RECORDS];
	size_t nr[NR_QUEUES];
	struct buf record;
	bool big_ids;
	bool sloppy; /* repeats strings, spells numbers too long */
	uint64_t nr_strings;
	uint64_t first[NR_TEXTS]; /* index of a text's entry, plus 1 */
};

/* At least `nr_bytes` long. */
static void put_long_varint(struct buf *out, uint64_t value, unsigned nr_bytes)
{
	for (; value > 0x7f || nr_bytes > 1; value >>= 7) {
		buf_byte(out, (char)(value | 0x80));
		nr_bytes -= nr_bytes > 1;
	}
	buf_byte(out, (char)value);
}

static void put_varint(struct buf *out, uint64_t value)
{
	put_long_varint(out, value, 1);
}

static void put_scalar(struct encoder *e, struct buf *out, unsigned field,
		       uint64_t value)
{
	if (!value && gen_below(&e->random, 4))
		return; /* the default need not be there */
	put_varint(out, field << 3);
	/* Protocol buffers allow leading zeros in numbers. */
	put_long_varint(out, value, e->sloppy && !gen_below(&e->random, 20) ?
			10 : 1);
}

static void put_bytes(struct buf *out, unsigned field, const char *data,
		      size_t nr)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, nr);
	buf_add(out, data, nr);
}

static void end_record(struct encoder *e, enum queue queue)
{
	assert_true(e->nr[queue] < QUEUE_RECORDS);
	e->ends[queue][e->nr[queue]++] = e->queues[queue].len;
}

/* e->record as a message of the field, at the end of a queue. */
static void put_record(struct encoder *e, enum queue queue, unsigned field)
{
	/* A field from the future. */
	if (e->sloppy && !gen_below(&e->random, 10))
		put_scalar(e, &e->record, 99, 1);
	put_bytes(&e->queues[queue], field, e->record.data, e->record.len);
	buf_reset(&e->record);
	end_record(e, queue);
}

static uint64_t string_index(struct encoder *e, uint32_t text)
{
	if (e->first[text] && !(e->sloppy && !gen_below(&e->random, 3)))
		return e->first[text] - 1;
	put_bytes(&e->queues[QUEUE_STRINGS], 6, texts[text].text,
		  texts[text].len);
	end_record(e, QUEUE_STRINGS);
	e->first[text] = ++e->nr_strings;
	return e->nr_strings - 1;
}

static uint64_t id_of(const struct encoder *e, uint32_t number)
{
	return e->big_ids ? UINT64_MAX - number * UINT64_C(0x123456789) :
	       number + 1;
}

static void put_numbers(struct encoder *e, unsigned field,
			const uint64_t *numbers, uint32_t nr)
{
	bool is_packed = gen_below(&e->random, 2);
	struct buf packed;
	uint32_t i;

	buf_init(&packed, 1 << 16);
	for (i = 0; i < nr; i++) {
		if (!is_packed)
			put_varint(&e->record, field << 3);
		put_varint(is_packed ? &packed : &e->record, numbers[i]);
	}
	if (is_packed && nr)
		put_bytes(&e->record, field, packed.data, packed.len);
	buf_fini(&packed);
}

static void encode_label(struct encoder *e, const struct gen_label *label)
{
	struct buf body;

	buf_init(&body, 1 << 16);
	put_scalar(e, &body, 1, string_index(e, label->key));
	put_scalar(e, &body, 2, string_index(e, label->str));
	put_scalar(e, &body, 3, (uint64_t)label->num);
	put_scalar(e, &body, 4, string_index(e, label->unit));
	put_bytes(&e->record, 3, body.data, body.len);
	buf_fini(&body);
}

static void encode_samples(struct encoder *e)
{
	uint32_t order[GEN_SAMPLES], labels[GEN_LABELS], i, j;
	uint64_t numbers[GEN_FRAMES + GEN_TYPES];

	gen_shuffle(&e->random, order, e->gen->nr_samples);
	for (i = 0; i < e->gen->nr_samples; i++) {
		const struct gen_sample *s = &e->gen->samples[order[i]];

		for (j = 0; j < s->nr_frames; j++)
			numbers[j] = id_of(e, s->frames[j]);
		put_numbers(e, 1, numbers, s->nr_frames);
		for (j = 0; j < e->gen->nr_types; j++)
			numbers[j] = (uint64_t)s->values[j];
		put_numbers(e, 2, numbers, e->gen->nr_types);
		gen_shuffle(&e->random, labels, s->nr_labels);
		for (j = 0; j < s->nr_labels; j++)
			encode_label(e, &s->labels[labels[j]]);
		put_record(e, QUEUE_SAMPLES, 2);
	}
}

static void encode_map(struct encoder *e, uint32_t number)
{
	const struct gen_map *map = &e->gen->maps[number];
	unsigned i;

	put_scalar(e, &e->record, 1, id_of(e, number));
	put_scalar(e, &e->record, 2, map->start);
	put_scalar(e, &e->record, 3, map->limit);
	put_scalar(e, &e->record, 4, map->offset);
	put_scalar(e, &e->record, 5, string_index(e, map->file));
	put_scalar(e, &e->record, 6, string_index(e, map->build_id));
	for (i = 0; i < 4; i++)
		put_scalar(e, &e->record, 7 + i, map->flags >> i & 1);
	put_record(e, QUEUE_MAPS, 3);
}

static void encode_rows(struct encoder *e)
{
	const struct gen_profile *gen = e->gen;
	uint32_t order[GEN_LOCS], i, j;

	/* The main binary is the first mapping, the others in any order. */
	if (gen->nr_maps)
		encode_map(e, 0);
	gen_shuffle(&e->random, order, gen->nr_maps);
	for (i = 0; i < gen->nr_maps; i++)
		if (order[i])
			encode_map(e, order[i]);
	gen_shuffle(&e->random, order, gen->nr_funcs);
	for (i = 0; i < gen->nr_funcs; i++) {
		const struct gen_func *f = &gen->funcs[order[i]];

		put_scalar(e, &e->record, 5, (uint64_t)f->start_line);
		put_scalar(e, &e->record, 4, string_index(e, f->file));
		put_scalar(e, &e->record, 3, string_index(e, f->system_name));
		put_scalar(e, &e->record, 2, string_index(e, f->name));
		put_scalar(e, &e->record, 1, id_of(e, order[i]));
		put_record(e, QUEUE_FUNCS, 5);
	}
	gen_shuffle(&e->random, order, gen->nr_locs);
	for (i = 0; i < gen->nr_locs; i++) {
		const struct gen_loc *loc = &gen->locs[order[i]];
		struct buf line;

		buf_init(&line, 1 << 16);
		put_scalar(e, &e->record, 1, id_of(e, order[i]));
		if (loc->map)
			put_scalar(e, &e->record, 2, id_of(e, loc->map - 1));
		put_scalar(e, &e->record, 3, loc->address);
		for (j = 0; j < loc->nr_lines; j++) {
			buf_reset(&line);
			put_scalar(e, &line, 1, id_of(e, loc->lines[j].func));
			put_scalar(e, &line, 2, (uint64_t)loc->lines[j].line);
			put_scalar(e, &line, 3,
				   (uint64_t)loc->lines[j].column);
			put_bytes(&e->record, 4, line.data, line.len);
		}
		put_scalar(e, &e->record, 5, loc->is_folded);
		put_record(e, QUEUE_LOCS, 4);
		buf_fini(&line);
	}
}

static void encode_header(struct encoder *e)
{
	const struct gen_profile *gen = e->gen;
	struct buf *scalars = &e->queues[QUEUE_SCALARS];
	uint32_t i;

	for (i = 0; i < gen->nr_types; i++) {
		put_scalar(e, &e->record, 1, string_index(e,
							  gen->types[i][0]));
		put_scalar(e, &e->record, 2, string_index(e,
							  gen->types[i][1]));
		put_record(e, QUEUE_TYPES, 1);
	}
	put_scalar(e, scalars, 7, string_index(e, gen->drop_frames));
	put_scalar(e, scalars, 9, (uint64_t)gen->time_ns);
	put_scalar(e, scalars, 10, (uint64_t)gen->duration_ns);
	end_record(e, QUEUE_SCALARS);
	put_scalar(e, &e->record, 1, string_index(e, gen->period_type[0]));
	put_scalar(e, &e->record, 2, string_index(e, gen->period_type[1]));
	put_record(e, QUEUE_SCALARS, 11);
	put_scalar(e, scalars, 12, (uint64_t)gen->period);
	for (i = 0; i < gen->nr_comments; i++) {
		put_varint(scalars, 13 << 3);
		put_varint(scalars, string_index(e, gen->comments[i]));
	}
	end_record(e, QUEUE_SCALARS);
	put_scalar(e, scalars, 14, string_index(e, gen->default_type));
	put_scalar(e, scalars, 15, string_index(e, gen->doc_url));
	end_record(e, QUEUE_SCALARS);
}

/* Take records off the queues, each time from one that chance picks. */
static void mix(struct encoder *e, struct buf *out)
{
	size_t at[NR_QUEUES] = { 0 }, done[NR_QUEUES] = { 0 };
	uint32_t left, pick, i;

	for (;;) {
		left = 0;
		for (i = 0; i < NR_QUEUES; i++)
			left += (uint32_t)(e->nr[i] - done[i]);
		if (!left)
			return;
		pick = gen_below(&e->random, left);
		for (i = 0; pick >= e->nr[i] - done[i]; i++)
			pick -= (uint32_t)(e->nr[i] - done[i]);
		buf_add(out, e->queues[i].data + at[i],
			e->ends[i][done[i]] - at[i]);
		at[i] = e->ends[i][done[i]++];
	}
}

void gen_encode(const struct gen_profile *gen, uint64_t order, struct buf *out)
{
	static struct encoder encoder;
	struct encoder *e = &encoder;
	uint32_t i;

	memset(e, 0, sizeof(*e));
	e->gen = gen;
	e->random.state = order;
	e->big_ids = gen_below(&e->random, 2);
	e->sloppy = gen_below(&e->random, 2);
	buf_init(&e->record, 1 << 20);
	for (i = 0; i < NR_QUEUES; i++)
		buf_init(&e->queues[i], 1 << 24);
	string_index(e, 0);
	encode_samples(e);
	encode_rows(e);
	encode_header(e);
	mix(e, out);
	buf_fini(&e->record);
	for (i = 0; i < NR_QUEUES; i++) {
		assert_true(buf_ok(&e->queues[i]));
		buf_fini(&e->queues[i]);
	}
}

void gen_write(const struct pprof_profile *profile, const char *writer,
	       int sample_type, struct buf *out)
{
	struct pprof_write_opts opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_sink *sink = NULL;
	struct pprof_error err;
	const void *bytes;
	size_t nr;

	opts.level = 0;
	opts.sample_type = sample_type;
	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	if (pprof_profile_write(profile, writer, &opts, sink, &err))
		fail_msg("%s", err.message);
	bytes = pprof_sink_memory(sink, &nr);
	buf_reset(out);
	buf_add(out, bytes, nr);
	assert_true(buf_ok(out));
	pprof_sink_close(sink);
}
