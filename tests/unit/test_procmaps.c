/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory maps: every shape of line, what becomes of a whole text, and which
 * mapping an address gets.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "input/procmaps.h"
#include "input/ranges.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *line;
	bool is_map;
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
	const char *path;
	const char *build_id;
	bool is_code;
} lines[] = {
	/* proc(5) */
	{ "55e0-66f0 r-xp 00002000 fe:00 100          /bin/prog",
	  true, 0x55e0, 0x66f0, 0x2000, "/bin/prog", "", true },
	{ "55e0-66f0 rw-s ff 00:0c 7 /dev/zero (deleted)",
	  true, 0x55e0, 0x66f0, 0xff, "/dev/zero (deleted)", "", false },
	{ "55e0-66f0 r-xp 0 00:00 0", true, 0x55e0, 0x66f0, 0, "", "", true },
	{ "55e0-66f0 r-xp 0 00:00 0 \r", true, 0x55e0, 0x66f0, 0, "", "",
	  true },
	{ "  55E0-66F0 --xp 0 00:00 0   [vsyscall]",
	  true, 0x55e0, 0x66f0, 0, "[vsyscall]", "", true },
	{ "1-2 r-xp 0 fe:00 1 /my  app (x)/li b.so \r",
	  true, 1, 2, 0, "/my  app (x)/li b.so ", "", true },
	{ "1-2 r-xp 0 fe:00 1 /a (@10) b",
	  true, 1, 2, 0, "/a (@10) b", "", true },
	{ "ffffffffff600000-ffffffffffffffff r-xp ffffffffffffffff 0:0 0",
	  true, 0xffffffffff600000, UINT64_MAX, UINT64_MAX, "", "", true },
	{ "0x1-0x2 r-xp 0x3 fe:00 1 /a", true, 1, 2, 3, "/a", "", true },
	{ "2-1 r-xp 0 fe:00 1 /a", true, 2, 1, 0, "/a", "", true },
	/* cooked */
	{ "0000000000401000-0000000000402000: /usr/bin/prog",
	  true, 0x401000, 0x402000, 0, "/usr/bin/prog", "", true },
	{ "401000-402000: $build/prog",
	  true, 0x401000, 0x402000, 0, "$build/prog", "", true },
	{ "401000-402000:", true, 0x401000, 0x402000, 0, "", "", true },
	{ "401000-402000: r--p /a b",
	  true, 0x401000, 0x402000, 0, "/a b", "", false },
	/* Go's brief form */
	{ "0x401000-0x402000 /go/prog (@1f0) 0123abCD",
	  true, 0x401000, 0x402000, 0x1f0, "/go/prog", "0123abCD", true },
	{ "0x401000-0x402000 /go/my prog (@0x10)",
	  true, 0x401000, 0x402000, 0x10, "/go/my prog", "", true },
	{ "401000-402000 r-xp /go/prog (@0)  ",
	  true, 0x401000, 0x402000, 0, "/go/prog", "", true },
	{ "401000-402000 /go/prog", true, 0x401000, 0x402000, 0, "/go/prog",
	  "", true },
	{ "401000-402000 /go/(@zz)/p (@5) nothex", true, 0x401000, 0x402000,
	  0, "/go/(@zz)/p (@5) nothex", "", true },
	/* FreeBSD's /proc/PID/map */
	{ "0x8048000 0x8049000 1 0 0xc1a2b3c4 r-x 1 0 0x0 COW NC vnode "
	  "/usr/local/bin/my prog NCH -1",
	  true, 0x8048000, 0x8049000, 0, "/usr/local/bin/my prog", "", true },
	{ "0x8048000 0x8049000 1 0 0xc1a2b3c4 rw- 1 0 0x3000 COW NNC default "
	  "- CH 1001", true, 0x8048000, 0x8049000, 0, "", "", false },
	{ "0x8048000 0x8049000 1 0 0xc1a2b3c4 r-x 1 0 0x0 COW NC vnode /a",
	  true, 0x8048000, 0x8049000, 0, "/a", "", true },
	/* none of them */
	{ "", false, 0, 0, 0, NULL, NULL, false },
	{ "hello world", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-66f0", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-66f0 r-xp", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-66f0 r-xp 000020", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-66f0 r-xp 000020 fe:", false, 0, 0, 0, NULL, NULL, false },
	{ "55e0-66f0 r-xp 000020 fe:00", false, 0, 0, 0, NULL, NULL, false },
	{ "12345678901234567-2 r-xp 0 0:0 0", false, 0, 0, 0, NULL, NULL,
	  false },
	{ "55e0-66f0/bin/prog", false, 0, 0, 0, NULL, NULL, false },
	{ "0x1 0x2 3 4 5", false, 0, 0, 0, NULL, NULL, false },
	{ "0x1 0x2 3 4 5 abc 1 0 0 COW NC vnode /a", false, 0, 0, 0, NULL,
	  NULL, false },
};

static void expect_text(const char *text, size_t len, const char *expected)
{
	assert_int_equal(len, strlen(expected));
	if (len)
		assert_memory_equal(text, expected, len);
}

static void test_lines(void **state)
{
	struct procmaps_entry got;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(lines); i++) {
		print_message("# %s\n", lines[i].line);
		assert_int_equal(procmaps_parse_line(lines[i].line,
						     strlen(lines[i].line),
						     &got), lines[i].is_map);
		if (!lines[i].is_map)
			continue;
		assert_int_equal(got.start, lines[i].start);
		assert_int_equal(got.limit, lines[i].limit);
		assert_int_equal(got.offset, lines[i].offset);
		assert_int_equal(got.is_code, lines[i].is_code);
		expect_text(got.path, got.path_len, lines[i].path);
		expect_text(got.build_id, got.build_id_len,
			    lines[i].build_id);
	}
}

/* No prefix of a line reads beyond it (sanitizers watch). */
static void test_prefixes(void **state)
{
	struct procmaps_entry got;
	size_t i, len;
	char *copy;

	(void)state;
	for (i = 0; i < NR_OF(lines); i++) {
		for (len = 0; len <= strlen(lines[i].line); len++) {
			copy = mem_alloc(len, 1);
			assert_non_null(copy);
			memcpy(copy, lines[i].line, len);
			if (procmaps_parse_line(copy, len, &got))
				assert_in_range(got.path_len, 0, len);
			mem_free(copy);
		}
	}
}

/* A mapping as one line: "start-limit offset file [build-id] flags". */
static const char *show_mappings(const struct builder *builder,
				 struct buf *text)
{
	const struct pprof_profile *p = builder->profile;
	const struct mapping *map;
	size_t i;

	for (i = 1; i < p->nr_mappings; i++) {
		map = &p->mappings[i];
		buf_printf(text, "%llx-%llx %llx %s%s%s%s%s\n",
			   (unsigned long long)map->start,
			   (unsigned long long)map->limit,
			   (unsigned long long)map->offset,
			   profile_str(p, map->file),
			   map->build_id ? " id " : "",
			   profile_str(p, map->build_id),
			   map->flags & MAP_MAIN ? " main" : "",
			   map->flags & MAP_NOT_CODE ? " not code" : "");
	}
	return buf_cstr(text);
}

static const struct {
	const char *name;
	const char *maps;
	const char *expected;
	size_t nr_diags;
} texts[] = {
	{ "an ordinary program",
	  "\n"
	  "1000-2000 r--p 0 fe:00 1 /bin/redis-check-rdb\n"
	  "2000-3000 r-xp 1000 fe:00 1 /bin/redis-check-rdb\n"
	  "3000-4000 rw-p 0 00:00 0 [heap]\n"
	  "4000-5000 rw-p 0 00:00 0\n"
	  "5000-6000 r--p 0 fe:00 2 /usr/lib/locale/C.utf8\n"
	  "6000-7000 r-xp 0 fe:00 3 /lib/libc.so.6\n"
	  "7000-8000 r-xp 0 00:00 0 [vdso]\n",
	  "1000-2000 0 /bin/redis-check-rdb not code\n"
	  "2000-3000 1000 /bin/redis-check-rdb main\n"
	  "6000-7000 0 /lib/libc.so.6\n"
	  "7000-8000 0 [vdso]\n", 0 },
	{ "started by the loader",
	  "1000-2000 r-xp 0 fe:00 1 /lib64/ld-linux-x86-64.so.2\n"
	  "2000-3000 r-xp 0 fe:00 1 /lib/ld-musl-x86_64.so.1\n"
	  "3000-4000 r-xp 0 fe:00 1 /lib/libm-2.31.so\n"
	  "4000-5000 r-xp 0 fe:00 1 /lib/libstdc++.so.6.0.30\n"
	  "5000-6000 r-xp 0 fe:00 1 /memfd:jit (deleted)\n"
	  "6000-7000 r-xp 0 fe:00 1 /lib/libx.so (deleted)\n"
	  "7000-8000 r-xp 0 fe:00 1 //anon\n"
	  "8000-9000 r-xp 0 fe:00 1 /opt/x/app.software (deleted)\n"
	  "9000-a000 r-xp 0 fe:00 1 /opt/x/second\n",
	  "1000-2000 0 /lib64/ld-linux-x86-64.so.2\n"
	  "2000-3000 0 /lib/ld-musl-x86_64.so.1\n"
	  "3000-4000 0 /lib/libm-2.31.so\n"
	  "4000-5000 0 /lib/libstdc++.so.6.0.30\n"
	  "5000-6000 0 /memfd:jit (deleted)\n"
	  "6000-7000 0 /lib/libx.so (deleted)\n"
	  "7000-8000 0 //anon\n"
	  "8000-9000 0 /opt/x/app.software (deleted) main\n"
	  "9000-a000 0 /opt/x/second\n", 0 },
	{ "unsorted, CRLF, a second marker",
	  "3000-4000 r-xp 0 fe:00 2 /b\r\n"
	  "MAPPED_LIBRARIES:\r\n"
	  "1000-2000 r-xp 0 fe:00 1 /a\r\n",
	  "1000-2000 0 /a main\n3000-4000 0 /b\n", 0 },
	{ "the later line wins an overlap",
	  "1000-9000 r-xp 0 fe:00 1 /a\n"
	  "3000-5000 r-xp 0 fe:00 2 /b\n"
	  "4000-6000 r-xp 100 fe:00 3 /c\n",
	  "1000-3000 0 /a main\n3000-4000 0 /b\n4000-6000 100 /c\n"
	  "6000-9000 5000 /a\n", 0 },
	{ "twice the same",
	  "1000-9000 r-xp 0 fe:00 1 /a\n"
	  "1000-9000 r-xp 0 fe:00 1 /a\n", "1000-9000 0 /a main\n", 0 },
	{ "odd ranges and foreign lines",
	  "1000-1000 r-xp 0 fe:00 1 /a\n"
	  "3000-2000 r-xp 0 fe:00 1 /a\n"
	  "hello world\n"
	  "4000-5000 r-xp 0 fe:00 1 /b\n"
	  "5000-60", "4000-5000 0 /b main\n", 5 },
	{ "a path cut at the end of the input",
	  "4000-5000 r-xp 0 fe:00 1 /opt/ser",
	  "4000-5000 0 /opt/ser main\n", 1 },
	{ "text on huge pages",
	  "400000-600000 r-xp 0 08:03 9 /srv/prog\n"
	  "600000-1000000 r-xp 0 00:00 0\n"
	  "1000000-2000000 r-xp c00000 08:03 9 /srv/prog\n",
	  "400000-2000000 0 /srv/prog main\n", 0 },
	{ "all text on huge pages, in two pieces",
	  "400000-600000 r--p 0 08:03 9 /srv/prog\n"
	  "600000-800000 r-xp 0 00:00 0 /anon_hugepage (deleted)\n"
	  "800000-1000000 r-xp 0 00:00 0 [anon:text]\n"
	  "1000000-2000000 r--p a00000 08:03 9 /srv/prog\n",
	  "400000-1000000 0 /srv/prog main\n"
	  "1000000-2000000 a00000 /srv/prog not code\n", 0 },
	{ "JIT between two files, and between two loads of one",
	  "1000-2000 r-xp 0 fe:00 1 /a\n"
	  "2000-3000 rwxp 0 00:00 0\n"
	  "3000-4000 r-xp 0 fe:00 1 /b.so\n"
	  "4000-5000 r-xp 0 00:00 0\n"
	  "5000-6000 r-xp 0 fe:00 1 /b.so\n",
	  "1000-2000 0 /a main\n2000-3000 0 \n3000-4000 0 /b.so\n"
	  "4000-5000 0 \n5000-6000 0 /b.so\n", 0 },
	{ "adjoining ranges",
	  "1000-2000 r-xp 0 fe:00 1 /a\n"
	  "2000-3000 r-xp 1000 fe:00 1 /a\n"
	  "3000-4000 r-xp 5000 fe:00 1 /a\n"
	  "5000-6000 r-xp 7000 fe:00 1 /a\n",
	  "1000-3000 0 /a main\n3000-4000 5000 /a\n5000-6000 7000 /a\n", 0 },
	{ "variables, LF in a path, a dollar that is none",
	  "build=/src/out\n"
	  "builder=/other\n"
	  "1000-2000: $build/prog\n"
	  "2000-3000 /x\\012y (@40) ABcd\n"
	  "3000-4000 $builder/$none/$\n",
	  "1000-2000 0 /src/out/prog main\n"
	  "2000-3000 40 /x\ny id abcd\n"
	  "3000-4000 0 /other/$none/$\n", 0 },
	{ "nothing", "", "", 0 },
	{ "all of memory",
	  "0-ffffffffffffffff r-xp 0 fe:00 1 /all\n",
	  "0-ffffffffffffffff 0 /all main\n", 0 },
};

static uint64_t count_diags(const struct diags *diags)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; i < diags->nr_rows; i++)
		nr += diags->rows[i].nr;
	return nr;
}

static void test_texts(void **state)
{
	struct pprof_limits limits;
	struct builder builder;
	struct cursor in;
	struct diags diags;
	struct buf shown;
	size_t i;

	(void)state;
	pprof_limits_init(&limits);
	buf_init(&shown, SIZE_MAX);
	for (i = 0; i < NR_OF(texts); i++) {
		print_message("# %s\n", texts[i].name);
		diags_init(&diags, "maps");
		buf_reset(&shown);
		assert_true(builder_init(&builder, &limits, &diags));
		cursor_init_memory(&in, "maps", texts[i].maps,
				   strlen(texts[i].maps));
		assert_int_equal(procmaps_read(&in, &builder), PPROF_OK);
		assert_string_equal(show_mappings(&builder, &shown),
				    texts[i].expected);
		assert_int_equal(count_diags(&diags), texts[i].nr_diags);
		cursor_fini(&in);
		builder_fini(&builder);
	}
	buf_fini(&shown);
}

static const char address_maps[] =
	"1000-2000 r--p 0 fe:00 1 /a\n"
	"2000-3000 r-xp 1000 fe:00 1 /a\n"
	"5000-6000 r-xp 0 fe:00 2 /b\n"
	"8000-9000 r-xp 0 00:00 0\n"
	"fffffffffffff000-ffffffffffffffff --xp 0 00:00 0 [vsyscall]\n";

static const struct {
	uint64_t address;
	const char *file; /* NULL: in no mapping */
} addresses[] = {
	{ 0, NULL }, { 1, NULL }, { 0xfff, NULL }, { 0x1000, NULL },
	{ 0x1fff, NULL }, { 0x2000, "/a" }, { 0x2fff, "/a" },
	{ 0x3000, NULL }, { 0x5000, "/b" }, { 0x5fff, "/b" },
	{ 0x6000, NULL }, { 0x8000, "" }, { 0x2800, "/a" },
	{ 0xfffffffffffff000, "[vsyscall]" }, { UINT64_MAX, NULL },
	{ UINT64_MAX - 1, "[vsyscall]" },
};

static void test_addresses(void **state)
{
	struct pprof_limits limits;
	const struct pprof_profile *p;
	struct builder builder;
	struct cursor in;
	map_id map;
	size_t i;

	(void)state;
	pprof_limits_init(&limits);
	assert_true(builder_init(&builder, &limits, NULL));
	p = builder.profile;
	for (i = 0; i < NR_OF(addresses); i++)
		assert_int_equal(builder_location(&builder,
						  addresses[i].address, 0,
						  false, NULL, 0), i + 1);
	cursor_init_memory(&in, "maps", address_maps,
			   sizeof(address_maps) - 1);
	assert_int_equal(procmaps_read(&in, &builder), PPROF_OK);
	for (i = 0; i < NR_OF(addresses); i++) {
		map = p->locations[i + 1].mapping;
		assert_int_equal(map != 0, addresses[i].file != NULL);
		if (map)
			assert_string_equal(profile_str(p, p->mappings[map].
							file),
					    addresses[i].file);
	}
	cursor_fini(&in);
	builder_fini(&builder);
}

static enum pprof_status read_text(const char *text,
				   const struct pprof_limits *limits,
				   struct pprof_error *err)
{
	enum pprof_status status;
	struct builder builder;
	struct cursor in;

	if (!builder_init(&builder, limits, NULL))
		return PPROF_NOMEM;
	cursor_init_memory(&in, "maps", text, strlen(text));
	status = procmaps_read(&in, &builder);
	cursor_status(&in, err);
	cursor_fini(&in);
	builder_fini(&builder);
	return status;
}

static void test_failures(void **state)
{
	struct pprof_limits limits;
	struct pprof_error err;
	enum pprof_status status;
	uint64_t n;

	(void)state;
	pprof_limits_init(&limits);
	assert_int_equal(read_text("1-2 r-xp 0 0:0 0 /a\nheap_v2/1\n",
				   &limits, &err), PPROF_FORMAT);
	assert_int_equal(err.where, 2);
	assert_non_null(strstr(err.message, "second profile"));
	for (n = 1; n < 100; n++) {
		mem_fail_nth(n, true);
		status = read_text(address_maps, &limits, &err);
		mem_fail_nth(0, false);
		if (!status)
			break;
		assert_int_equal(status, PPROF_NOMEM);
	}
	assert_in_range(n, 3, 99);
	limits.mappings = 2;
	assert_int_equal(read_text(address_maps, &limits, &err), PPROF_LIMIT);
	assert_non_null(strstr(err.message, "mappings"));
}

#define PAINTED 64 /* addresses of the overlap test */

/* Random ranges painted one after the other are what settling gives. */
static void test_overlaps(void **state)
{
	uint32_t seed = 7, painted[PAINTED], round, nr, i, place, a, b;
	const struct range *found;
	struct ranges ranges;

	(void)state;
	for (round = 0; round < 2000; round++) {
		memset(painted, 0, sizeof(painted));
		seed = seed * 1103515245 + 12345;
		nr = (seed >> 16) % 12;
		ranges.rows = mem_zalloc(nr, sizeof(*ranges.rows));
		assert_non_null(ranges.rows);
		ranges.nr = nr;
		ranges.cap = nr;
		for (i = 0; i < nr; i++) {
			seed = seed * 1103515245 + 12345;
			a = (seed >> 16) % (PAINTED - 1);
			seed = seed * 1103515245 + 12345;
			b = a + 1 + (seed >> 16) % (PAINTED - 1 - a);
			ranges.rows[i].start = a;
			ranges.rows[i].limit = b;
			ranges.rows[i].offset = 1000 * i + a;
			ranges.rows[i].map = i + 1;
			for (place = a; place < b; place++)
				painted[place] = i + 1;
		}
		assert_true(ranges_settle(&ranges));
		for (place = 0; place < PAINTED; place++) {
			found = ranges_find(&ranges, place);
			assert_int_equal(found ? found->map : 0,
					 painted[place]);
			if (found)
				assert_int_equal(found->offset + place -
						 found->start, 1000 *
						 (found->map - 1) + place);
		}
		mem_free(ranges.rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
