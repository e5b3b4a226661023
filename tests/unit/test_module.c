/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers against the truth: a program, compiled in many ways, tells for
 * each of its calls the functions and lines that it stands in.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbolize/module.h"

#include "elf_maker.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))
#define MAX_CALLS 64

static char root[64];

/*
 * Functions of one line each, so that a frame's line is also the line where
 * its function starts. probe() prints the address of the call to it, and the
 * names and lines around it, innermost first.
 */
static const char probe_h[] =
"#define INLINE static inline __attribute__((always_inline))\n"
"#define ALONE __attribute__((noinline))\n"
"extern volatile int sink;\n"
"void probe(const char *text, int a, int b, int c);\n"
"INLINE void leaf(const char *t, int b, int c)"
" { probe(t, __LINE__, b, c); sink++; }\n"
"INLINE void middle(const char *t, int c)"
" { leaf(t, __LINE__, c); sink++; }\n";

static const char main_c[] =
"#include <stdio.h>\n"
"#include \"probe.h\"\n"
"volatile int sink;\n"
"void other(void);\n"
"ALONE void probe(const char *t, int a, int b, int c) {"
" printf(\"%lx \", (unsigned long)__builtin_return_address(0) - 1);"
" printf(t, a, b, c); printf(\"\\n\"); sink++; }\n"
"ALONE void outer(void)"
" { middle(\"leaf:%d middle:%d outer:%d\", __LINE__); sink++; }\n"
"ALONE static void plain(void)"
" { probe(\"plain:%d\", __LINE__, 0, 0); sink++; }\n"
"INLINE void twice(void)"
" { leaf(\"leaf:%d twice:%d caller:9\", __LINE__, 0); sink++; }\n"
"ALONE static void caller(void) { if (sink) twice(); twice(); }\n"
"\n"
"ALONE void after_gap(void)"
" { probe(\"after_gap:%d\", __LINE__, 0, 0); sink++; }\n"
"int main(void) {"
" outer(); plain(); caller(); other(); after_gap(); return 0; }\n";

static const char other_c[] =
"#include \"probe.h\"\n"
"\n"
"ALONE static void hidden(void)"
" { probe(\"hidden:%d\", __LINE__, 0, 0); sink++; }\n"
"void other(void);\n"
"ALONE void other(void)"
" { middle(\"leaf:%d middle:%d other:%d\", __LINE__); hidden(); sink++; }\n";

/* How a program is built; what is left of the frames then. */
enum detail {
	ALL,      /* everything */
	NO_START, /* no lines where functions start */
	NO_CALLS, /* no lines of calls, either: DWARF 2 has no word for them */
	SYMBOLS,  /* the outermost name alone */
	NOTHING
};

static const struct {
	const char *name;
	const char *compiler; /* NULL: the one that is configured */
	const char *flags;
	enum detail detail;
	bool must_build;
} builds[] = {
	{ "O0", NULL, "-O0 -g", ALL, true },
	{ "O1", NULL, "-O1 -g", ALL, true },
	{ "O2", NULL, "-O2 -g", ALL, true },
	{ "O3", NULL, "-O3 -g", ALL, true },
	{ "DWARF 2", NULL, "-O2 -g -gdwarf-2", ALL, true },
	{ "DWARF 3", NULL, "-O2 -g -gdwarf-3", ALL, true },
	{ "DWARF 4", NULL, "-O2 -g -gdwarf-4", ALL, true },
	{ "DWARF 5", NULL, "-O2 -g -gdwarf-5", ALL, true },
	{ "strict DWARF 2", NULL, "-O0 -g -gdwarf-2 -gstrict-dwarf",
	  NO_CALLS, false },
	{ "64-bit DWARF", NULL, "-O2 -g -gdwarf-5 -gdwarf64", ALL, false },
	{ "types apart", NULL, "-O2 -g -gdwarf-4 -fdebug-types-section", ALL,
	  false },
	{ "sections", NULL, "-O2 -g -ffunction-sections -Wl,--gc-sections",
	  ALL, true },
	{ "lines only", NULL, "-O2 -g1", NO_START, true },
	{ "compressed", NULL, "-O2 -g -gz=zlib", ALL, false },
	{ "compressed, old way", NULL, "-O2 -g -gz=zlib-gnu", ALL, false },
	{ "split 4", NULL, "-O2 -g -gdwarf-4 -gsplit-dwarf", ALL, false },
	{ "split 5", NULL, "-O2 -g -gdwarf-5 -gsplit-dwarf", ALL, false },
	{ "link-time", NULL, "-O2 -g -flto", ALL, false },
	{ "static", NULL, "-O2 -g -static", ALL, false },
	{ "32 bit", NULL, "-O2 -g -m32", ALL, false },
	{ "symbols alone", NULL, "-O2 -g0", SYMBOLS, true },
	{ "stripped", NULL, "-O2 -g0 -s", NOTHING, true },
	{ "clang, DWARF 4", "clang", "-O2 -g -gdwarf-4", ALL, false },
	{ "clang, DWARF 5", "clang", "-O2 -g -gdwarf-5", ALL, false },
	{ "clang, O0", "clang", "-O0 -g", ALL, false },
	{ "clang, split", "clang", "-O2 -g -gdwarf-5 -gsplit-dwarf", ALL,
	  false },
	{ "clang, lines only", "clang", "-O2 -gline-tables-only", NO_START,
	  false },
};

/* One call as the program told it. */
struct call {
	uint64_t vaddr;
	char frames[128]; /* "leaf:5 middle:6 outer:6" */
};

struct program {
	char path[128];
	struct call calls[MAX_CALLS];
	size_t nr;
};

static int run(const char *command)
{
	int rc = -1;
	FILE *pipe = popen(command, "r");

	if (pipe)
		rc = pclose(pipe);
	return rc;
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Have the program tell its calls, sorted, each once. */
static void read_calls(struct program *program)
{
	FILE *pipe = popen(program->path, "r");
	struct call *call;
	size_t i, kept = 0;

	assert_non_null(pipe);
	program->nr = 0;
	for (;;) {
		unsigned long vaddr;

		call = &program->calls[program->nr];
		if (fscanf(pipe, "%lx %127[^\n]", &vaddr, call->frames) != 2)
			break;
		call->vaddr = vaddr;
		program->nr++;
		assert_true(program->nr < MAX_CALLS);
	}
	assert_int_equal(pclose(pipe), 0);
	qsort(program->calls, program->nr, sizeof(*program->calls),
	      compare_calls);
	for (i = 0; i < program->nr; i++) {
		if (!kept || program->calls[kept - 1].vaddr !=
			     program->calls[i].vaddr)
			program->calls[kept++] = program->calls[i];
	}
	program->nr = kept;
}

/* False when the compiler cannot build it that way. */
static bool build(struct program *program, const char *compiler,
		  const char *flags)
{
	static unsigned counter;
	char command[1024];
	const char *cc = compiler ? compiler : getenv("CC");

	if (!cc || !*cc)
		cc = "cc";
	snprintf(program->path, sizeof(program->path), "%s/program%u", root,
		 counter++);
	/* Objects stay: with split information they are part of it. */
	snprintf(command, sizeof(command),
		 "cd %s && for unit in main other; do %s %s -fno-pie -c "
		 "-o %s-$unit.o $unit.c || exit 1; done 2>/dev/null && "
		 "%s %s -no-pie -o %s %s-main.o %s-other.o 2>/dev/null", root,
		 cc, flags, program->path, cc, flags, program->path,
		 program->path, program->path);
	if (run(command))
		return false;
	read_calls(program);
	assert_true(program->nr >= 6);
	return true;
}

static struct module *open_module(const struct program *program,
				  const struct module_opts *opts)
{
	struct module *module = NULL;
	struct elf_file *file = NULL;

	assert_int_equal(elf_file_open(program->path, &file, NULL), PPROF_OK);
	assert_int_equal(module_new(file, NULL, NULL, opts, &module, NULL),
			 PPROF_OK);
	return module;
}

/* "name:line" of all frames of answer i, as the program prints them. */
static void format_frames(const struct answers *answers, size_t i,
			  enum detail detail, struct buf *out)
{
	uint32_t at;

	for (at = answers->start[i]; at < answers->start[i + 1]; at++) {
		const struct answer_frame *frame = &answers->frames[at];
		const char *file = strtab_text(&answers->strings,
					       frame->file);

		if (at > answers->start[i])
			buf_byte(out, ' ');
		buf_str(out, strtab_text(&answers->strings, frame->name));
		buf_printf(out, ":%u", frame->line);
		if (detail <= NO_START) {
			assert_int_equal(file[0], '/');
			assert_true(strstr(file, root));
		}
		if (detail == ALL)
			assert_int_equal(frame->start_line, frame->line);
	}
}

/* What the frames become when only the symbol is left. */
static void expect_symbol(const char *frames, char out[128])
{
	const char *last = strrchr(frames, ' ');

	last = last ? last + 1 : frames;
	snprintf(out, 128, "%.*s:0", (int)strcspn(last, ":"), last);
}

/* "leaf:5 middle:0 outer:0": the lines of calls are lost. */
static void expect_no_calls(const char *frames, char out[128])
{
	bool is_inner = true, is_digit = false;
	size_t nr = 0;

	for (; *frames; frames++) {
		if (*frames == ' ')
			is_inner = false;
		if (is_inner || *frames < '0' || *frames > '9') {
			is_digit = false;
			out[nr++] = *frames;
		} else if (!is_digit) {
			is_digit = true;
			out[nr++] = '0';
		}
	}
	out[nr] = '\0';
}

static void check_calls(const struct program *program, const char *name,
			enum detail detail, const struct answers *answers)
{
	static const uint8_t sources[] = { ANSWER_DWARF, ANSWER_DWARF,
					   ANSWER_DWARF, ANSWER_SYMBOL,
					   ANSWER_NONE };
	char expected[128];
	struct buf out;
	size_t i;

	for (i = 0; i < program->nr; i++) {
		buf_init(&out, 4096);
		format_frames(answers, i, detail, &out);
		snprintf(expected, sizeof(expected), "%s",
			 program->calls[i].frames);
		if (detail == NO_CALLS)
			expect_no_calls(program->calls[i].frames, expected);
		if (detail == SYMBOLS)
			expect_symbol(program->calls[i].frames, expected);
		if (detail == NOTHING)
			expected[0] = '\0';
		if (strcmp(buf_cstr(&out), expected))
			print_message("build: %s\n", name);
		assert_string_equal(buf_cstr(&out), expected);
		/* clang's tables of lines leave most functions out. */
		if (detail != NO_START)
			assert_int_equal(answers->source[i], sources[detail]);
		buf_fini(&out);
	}
}

static void list_vaddrs(const struct program *program, uint64_t *vaddrs)
{
	size_t i;

	for (i = 0; i < program->nr; i++)
		vaddrs[i] = program->calls[i].vaddr;
}

static void test_builds(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	uint64_t vaddrs[MAX_CALLS];
	struct program program;
	struct answers answers;
	struct module *module;
	size_t i;

	(void)state;
	for (i = 0; i < NR_OF(builds); i++) {
		if (!build(&program, builds[i].compiler, builds[i].flags)) {
			print_message("# cannot build: %s\n", builds[i].name);
			assert_false(builds[i].must_build);
			continue;
		}
		module = open_module(&program, &opts);
		list_vaddrs(&program, vaddrs);
		assert_int_equal(module_resolve(module, vaddrs, program.nr,
						&answers, NULL), PPROF_OK);
		assert_int_equal(answers.nr, program.nr);
		check_calls(&program, builds[i].name, builds[i].detail,
			    &answers);
		answers_fini(&answers);
		module_free(module);
	}
}

/* Frames of one answer with all that they say, to compare answers. */
static void dump_answer(const struct answers *answers, size_t i,
			struct buf *out)
{
	const struct strtab *strings = &answers->strings;
	uint32_t at;

	buf_printf(out, "%u", answers->source[i]);
	for (at = answers->start[i]; at < answers->start[i + 1]; at++) {
		const struct answer_frame *frame = &answers->frames[at];

		buf_printf(out, " %s|%s|%s|%u|%u|%u",
			   strtab_text(strings, frame->name),
			   strtab_text(strings, frame->system_name),
			   strtab_text(strings, frame->file), frame->line,
			   frame->column, frame->start_line);
	}
	buf_byte(out, '\n');
}

static void dump_all(struct module *module, const uint64_t *vaddrs, size_t nr,
		     struct buf *out)
{
	struct answers answers;
	size_t i;

	assert_int_equal(module_resolve(module, vaddrs, nr, &answers, NULL),
			 PPROF_OK);
	for (i = 0; i < nr; i++)
		dump_answer(&answers, i, out);
	answers_fini(&answers);
}

/* Every address around the code: threads and batches change nothing. */
static void test_threads_and_batches(void **state)
{
	enum { NR = 2048 };
	const struct module_opts one = { .nr_threads = 1 };
	const struct module_opts many = { .nr_threads = 4 };
	struct module *first, *second;
	struct buf together, threaded, apart;
	struct program program;
	uint64_t vaddrs[NR];
	size_t i;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	for (i = 0; i < NR; i++)
		vaddrs[i] = program.calls[0].vaddr - NR / 2 + i;
	buf_init(&together, 1 << 24);
	buf_init(&threaded, 1 << 24);
	buf_init(&apart, 1 << 24);
	first = open_module(&program, &one);
	second = open_module(&program, &many);
	dump_all(first, vaddrs, NR, &together);
	dump_all(second, vaddrs, NR, &threaded);
	for (i = 0; i < NR; i++)
		dump_all(first, &vaddrs[i], 1, &apart);
	assert_true(buf_ok(&together) && together.len > NR);
	assert_string_equal(buf_cstr(&together), buf_cstr(&threaded));
	assert_string_equal(buf_cstr(&together), buf_cstr(&apart));
	buf_fini(&together);
	buf_fini(&threaded);
	buf_fini(&apart);
	module_free(first);
	module_free(second);
}

/* Addresses of data, stubs, nothing: no name at all. */
static void test_no_wrong_name(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	const struct elf_section *sections;
	struct program program;
	struct elf_file *file;
	struct module *module;
	struct answers answers;
	uint64_t vaddr;
	size_t nr, i, k, nr_asked = 0;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	module = open_module(&program, &opts);
	assert_int_equal(elf_file_open(program.path, &file, NULL), PPROF_OK);
	sections = elf_file_sections(file, &nr);
	for (i = 0; i < nr; i++) {
		if (!(sections[i].flags & SHF_ALLOC) ||
		    (sections[i].flags & SHF_EXECINSTR &&
		     strncmp(sections[i].name, ".plt", 4)))
			continue;
		for (k = 0; k < sections[i].size; k += 5) {
			vaddr = sections[i].vaddr + k;
			assert_int_equal(module_resolve(module, &vaddr, 1,
							&answers, NULL),
					 PPROF_OK);
			assert_int_equal(answers.source[0], ANSWER_NONE);
			assert_int_equal(answers.nr_frames, 0);
			answers_fini(&answers);
			nr_asked++;
		}
	}
	assert_true(nr_asked > 20);
	elf_file_close(file);
	module_free(module);
}

static void test_extreme_addresses(void **state)
{
	const uint64_t vaddrs[] = { 0, 1, 0x1000, UINT32_MAX,
				    UINT64_MAX - 1, UINT64_MAX };
	const struct module_opts opts = { .nr_threads = 1 };
	struct program program;
	struct module *module;
	struct answers answers;
	size_t i;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	module = open_module(&program, &opts);
	assert_int_equal(module_resolve(module, vaddrs, NR_OF(vaddrs),
					&answers, NULL), PPROF_OK);
	for (i = 0; i < NR_OF(vaddrs); i++)
		assert_int_equal(answers.source[i], ANSWER_NONE);
	answers_fini(&answers);
	assert_int_equal(module_resolve(module, vaddrs, 0, &answers, NULL),
			 PPROF_OK);
	assert_int_equal(answers.start[0], 0);
	answers_fini(&answers);
	module_free(module);
}

static void test_no_inlines(void **state)
{
	const struct module_opts opts = { .nr_threads = 1,
					  .no_inlines = true };
	uint64_t vaddrs[MAX_CALLS];
	struct program program;
	struct answers answers;
	struct module *module;
	struct buf out;
	size_t i;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	module = open_module(&program, &opts);
	list_vaddrs(&program, vaddrs);
	assert_int_equal(module_resolve(module, vaddrs, program.nr, &answers,
					NULL), PPROF_OK);
	for (i = 0; i < program.nr; i++) {
		const char *last = strrchr(program.calls[i].frames, ' ');

		buf_init(&out, 4096);
		format_frames(&answers, i, ALL, &out);
		assert_string_equal(buf_cstr(&out), last ? last + 1 :
				    program.calls[i].frames);
		buf_fini(&out);
	}
	answers_fini(&answers);
	module_free(module);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Spoil some bytes behind the loaded part, where debug sections stand. */
static void spoil(uint8_t *image, size_t nr, size_t from, uint32_t seed)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint32_t nr_spoilt = 1 + next_random(&seed) % 40;

	while (nr_spoilt--)
		image[from + next_random(&seed) % (nr - from)] =
			values[next_random(&seed) % NR_OF(values)];
}

static void read_image(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	char block[4096];
	size_t nr;

	assert_non_null(file);
	buf_init(out, (size_t)64 << 20);
	while ((nr = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(out, block, nr);
	assert_true(buf_ok(out) && out->len > 4096);
	fclose(file);
}

/* Where the first debug section starts. */
static size_t debug_start(const struct program *program)
{
	const struct elf_section *sections;
	struct elf_file *file;
	size_t nr, i, start = 0;

	assert_int_equal(elf_file_open(program->path, &file, NULL), PPROF_OK);
	sections = elf_file_sections(file, &nr);
	for (i = 0; i < nr && !start; i++) {
		if (!strncmp(sections[i].name, ".debug_", 7))
			start = sections[i].offset;
	}
	elf_file_close(file);
	assert_true(start);
	return start;
}

/* Broken debug information: an answer or a status, never a crash. */
static void test_spoilt(void **state)
{
	struct module_opts opts = { .nr_threads = 1 };
	uint64_t vaddrs[MAX_CALLS], nr_told = 0;
	struct program program;
	struct answers answers;
	struct module *module;
	struct elf_file *file;
	struct diags diags;
	struct buf image;
	uint8_t *copy;
	size_t start;
	uint32_t seed;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	start = debug_start(&program);
	read_image(program.path, &image);
	list_vaddrs(&program, vaddrs);
	opts.diags = &diags;
	for (seed = 1; seed < 600; seed++) {
		copy = mem_alloc(image.len, 1);
		assert_non_null(copy);
		memcpy(copy, image.data, image.len);
		spoil(copy, image.len, start, seed);
		if (elf_file_open_memory("spoilt", copy, image.len, &file,
					 NULL)) {
			mem_free(copy);
			continue;
		}
		diags_init(&diags, "spoilt");
		assert_int_equal(module_new(file, NULL, NULL, &opts, &module,
					    NULL), PPROF_OK);
		assert_int_equal(module_resolve(module, vaddrs, program.nr,
						&answers, NULL), PPROF_OK);
		assert_int_equal(answers.nr, program.nr);
		nr_told += diags.nr_rows;
		answers_fini(&answers);
		module_free(module);
	}
	assert_true(nr_told > 0);
	buf_fini(&image);
}

static void test_out_of_memory(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	enum pprof_status status = PPROF_NOMEM;
	uint64_t vaddrs[MAX_CALLS], nth;
	struct program program;
	struct answers answers;
	struct module *module;

	(void)state;
	assert_true(build(&program, NULL, "-O2 -g"));
	list_vaddrs(&program, vaddrs);
	for (nth = 1; status; nth++) {
		module = open_module(&program, &opts);
		mem_fail_nth(nth, true);
		status = module_resolve(module, vaddrs, program.nr, &answers,
					NULL);
		mem_fail_nth(0, false);
		if (status) {
			/* It can be asked again when there is memory. */
			assert_int_equal(status, PPROF_NOMEM);
			assert_int_equal(module_resolve(module, vaddrs,
							program.nr, &answers,
							NULL), PPROF_OK);
		}
		check_calls(&program, "O2", ALL, &answers);
		answers_fini(&answers);
		module_free(module);
		assert_true(nth < 10000);
	}
	assert_true(nth > 50);
}

static void test_no_file(void **state)
{
	const struct module_opts opts = { .nr_threads = 1 };
	struct module *module = NULL;

	(void)state;
	assert_int_equal(module_new(NULL, NULL, NULL, &opts, &module, NULL),
			 PPROF_FORMAT);
	assert_null(module);
	module_free(NULL);
}

static int make_root(void **state)
{
	const struct {
		const char *name, *text;
	} files[] = {
		{ "probe.h", probe_h }, { "main.c", main_c },
		{ "other.c", other_c }
	};
	char path[128];
	size_t i;

	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_module.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (i = 0; i < NR_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i].name);
		write_file(path, files[i].text, strlen(files[i].text));
	}
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	remove_tree(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builds),
		cmocka_unit_test(test_threads_and_batches),
		cmocka_unit_test(test_no_wrong_name),
		cmocka_unit_test(test_extreme_addresses),
		cmocka_unit_test(test_no_inlines),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
