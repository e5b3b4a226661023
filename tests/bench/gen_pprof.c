/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_pprof SAMPLES [RUN]: an uncompressed pprof profile on standard output,
 * with names, of another run of the program for each RUN: stacks of 21 to 30
 * frames out of 60,000 locations and 20,000 functions, a fifth of the
 * locations with an inlined call, two values a sample.
 *
 * gen_pprof --addresses FILE LIST: the profile of a program that was mapped
 * from FILE at its link-time addresses, one sample for each address in LIST
 * (hexadecimal, one a line), without names.
 */
#include <config.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define NR_LOCATIONS 60000u
#define NR_FUNCTIONS 20000u
#define NR_FILES 1201u
#define DEPTH_MAX 30u
#define BASE UINT64_C(0x555555554000)

/* One message under construction; more than any record here needs. */
struct message {
	unsigned char bytes[1024];
	size_t len;
};

static void put_varint(struct message *m, uint64_t value)
{
	while (value > 127) {
		m->bytes[m->len++] = (unsigned char)(value | 128);
		value >>= 7;
	}
	m->bytes[m->len++] = (unsigned char)value;
}

static void put_scalar(struct message *m, unsigned field, uint64_t value)
{
	put_varint(m, field << 3);
	put_varint(m, value);
}

static void put_message(struct message *m, unsigned field,
			const struct message *inner)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, inner->len);
	memcpy(m->bytes + m->len, inner->bytes, inner->len);
	m->len += inner->len;
}

/* A record of the outermost message. */
static void emit(unsigned field, const struct message *record)
{
	struct message head = { .len = 0 };

	put_varint(&head, field << 3 | 2);
	put_varint(&head, record->len);
	fwrite(head.bytes, 1, head.len, stdout);
	fwrite(record->bytes, 1, record->len, stdout);
}

static void emit_scalar(unsigned field, uint64_t value)
{
	struct message m = { .len = 0 };

	put_scalar(&m, field, value);
	fwrite(m.bytes, 1, m.len, stdout);
}

static void emit_string(const char *text)
{
	struct message m = { .len = strlen(text) };

	memcpy(m.bytes, text, m.len);
	emit(6, &m);
}

static void emit_type(unsigned field, uint64_t type, uint64_t unit)
{
	struct message m = { .len = 0 };

	put_scalar(&m, 1, type);
	put_scalar(&m, 2, unit);
	emit(field, &m);
}

/* Indexes of the strings that stand first. */
enum {
	STR_OBJECTS = 1,
	STR_COUNT,
	STR_SPACE,
	STR_BYTES,
	STR_BINARY,
	STR_BUILD_ID,
	STR_FIRST_FUNCTION
};

static void emit_strings(const char *binary, const char *build_id)
{
	emit_string("");
	emit_string("inuse_objects");
	emit_string("count");
	emit_string("inuse_space");
	emit_string("bytes");
	emit_string(binary);
	emit_string(build_id);
}

static void emit_sample(struct rng *rng, uint32_t depth)
{
	struct message m = { .len = 0 }, packed = { .len = 0 };
	uint64_t nr = 1 + rng_below(rng, 1000);
	uint32_t path[DEPTH_MAX], i;

	path[0] = 1;
	for (i = 1; i < depth; i++)
		path[i] = tree_step(rng, path[i - 1], i, NR_LOCATIONS);
	for (i = depth; i--;)
		put_varint(&packed, path[i]);
	put_message(&m, 1, &packed);
	packed.len = 0;
	put_varint(&packed, nr);
	put_varint(&packed, nr * (UINT64_C(16) << rng_below(rng, 12)));
	put_message(&m, 2, &packed);
	emit(2, &m);
}

static void emit_mapping(uint64_t start, uint64_t limit, bool has_names)
{
	struct message m = { .len = 0 };
	unsigned field;

	put_scalar(&m, 1, 1);
	put_scalar(&m, 2, start);
	put_scalar(&m, 3, limit);
	put_scalar(&m, 5, STR_BINARY);
	put_scalar(&m, 6, STR_BUILD_ID);
	for (field = 7; has_names && field <= 10; field++)
		put_scalar(&m, field, 1);
	emit(3, &m);
}

static void emit_location(uint32_t id, uint64_t base)
{
	struct message m = { .len = 0 }, line;
	uint32_t k, nr_lines = id % 5 ? 1 : 2;

	put_scalar(&m, 1, id);
	put_scalar(&m, 2, 1);
	put_scalar(&m, 3, base + 0x1000 + id * UINT64_C(16));
	for (k = 0; k < nr_lines; k++) {
		line.len = 0;
		put_scalar(&line, 1, (id * 7 + k * 13) % NR_FUNCTIONS + 1);
		put_scalar(&line, 2, 10 + id % 900);
		put_message(&m, 4, &line);
	}
	emit(4, &m);
}

/* Three strings a function: name, mangled name; files come after all. */
static void emit_function(uint32_t id)
{
	struct message m = { .len = 0 };

	put_scalar(&m, 1, id);
	put_scalar(&m, 2, STR_FIRST_FUNCTION + 2 * (id - 1));
	put_scalar(&m, 3, STR_FIRST_FUNCTION + 2 * (id - 1) + 1);
	put_scalar(&m, 4, STR_FIRST_FUNCTION + 2 * NR_FUNCTIONS +
		   id % NR_FILES);
	put_scalar(&m, 5, 10 + id % 500);
	emit(5, &m);
}

static void emit_names(void)
{
	char text[128];
	uint32_t id;

	for (id = 1; id <= NR_FUNCTIONS; id++) {
		snprintf(text, sizeof(text),
			 "app::module%u::Class%u<std::string>::method_%u",
			 id % 97, id % NR_FILES, id);
		emit_string(text);
		snprintf(text, sizeof(text),
			 "_ZN3app8module%02u9Class%04uE9method_%05uEv",
			 id % 97, id % NR_FILES, id);
		emit_string(text);
	}
	for (id = 0; id < NR_FILES; id++) {
		snprintf(text, sizeof(text),
			 "/build/src/app/module%u/file%u.cc", id % 97, id);
		emit_string(text);
	}
}

static void make_named(unsigned long nr, unsigned long run)
{
	struct rng rng = { 88172645463325252u + run * 0x9e3779b97f4a7c15u };
	uint64_t base = BASE + ((uint64_t)run << 20);
	unsigned long i;
	uint32_t id;

	emit_type(1, STR_OBJECTS, STR_COUNT);
	emit_type(1, STR_SPACE, STR_BYTES);
	for (i = 0; i < nr; i++)
		emit_sample(&rng, DEPTH_MAX - rng_below(&rng, 10));
	emit_mapping(base, base + 0x4000000, true);
	for (id = 1; id <= NR_LOCATIONS; id++)
		emit_location(id, base);
	for (id = 1; id <= NR_FUNCTIONS; id++)
		emit_function(id);
	emit_strings("/opt/bench/bin/server",
		     "deadbeefcafebabe0123456789abcdef01234567");
	emit_names();
	emit_scalar(9, UINT64_C(1700000000000000000));
	emit_type(11, STR_SPACE, STR_BYTES);
	emit_scalar(12, 524288);
}

static int make_addresses(const char *binary, const char *path)
{
	FILE *list = fopen(path, "r");
	struct message m, inner;
	uint64_t address, id = 0;

	if (!list) {
		perror(path);
		return 1;
	}
	emit_type(1, STR_OBJECTS, STR_COUNT);
	while (fscanf(list, "%" SCNx64, &address) == 1) {
		m.len = 0;
		put_scalar(&m, 1, ++id);
		put_scalar(&m, 2, 1);
		put_scalar(&m, 3, address);
		emit(4, &m);
		m.len = inner.len = 0;
		put_varint(&inner, id);
		put_message(&m, 1, &inner);
		inner.len = 0;
		put_varint(&inner, 1);
		put_message(&m, 2, &inner);
		emit(2, &m);
	}
	fclose(list);
	/* From 0 to the end at offset 0: link-time addresses already. */
	emit_mapping(0, UINT64_MAX, false);
	emit_strings(binary, "");
	return 0;
}

int main(int argc, char **argv)
{
	bool is_named = argc == 2 || argc == 3;
	unsigned long nr = is_named ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long run = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int code = 0;

	if (argc == 4 && !strcmp(argv[1], "--addresses")) {
		code = make_addresses(argv[2], argv[3]);
	} else if (nr) {
		make_named(nr, run);
	} else {
		fprintf(stderr, "usage: gen_pprof SAMPLES [RUN]\n"
			"       gen_pprof --addresses BINARY LIST\n");
		return 2;
	}
	return code || fflush(stdout) || ferror(stdout) ? 1 : 0;
}
