/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact bytes of what is written, kept in tests/golden. UPDATE_GOLDEN=1 in
 * the environment writes them anew, to be reviewed as a difference.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

#define MAX_BYTES ((size_t)1 << 20)

enum kind { SVG, DIFF, FOLDED, TOP };

/* Of folded text, or of heap_profile() where there is none. */
static const struct {
	const char *golden, *folded;
	const char *base; /* of a difference */
	enum kind kind;
	struct pprof_flame_opts flame;
	struct pprof_top_opts top;
} rows[] = {
	{ .golden = "heap.svg", .kind = SVG,
	  .flame = PPROF_FLAME_OPTS_INIT },
	{ .golden = "heap-modules.svg", .kind = SVG,
	  .flame = { .size = sizeof(struct pprof_flame_opts),
		     .sample_type = 0, .min_width = -1, .icicle = true,
		     .colors = PPROF_COLORS_MODULE, .width = 800,
		     .theme = PPROF_THEME_DARK, .title = "Heap <of> \"us\"",
		     .subtitle = "before & after" } },
	{ .golden = "heap-callers.svg", .kind = SVG,
	  .flame = { .size = sizeof(struct pprof_flame_opts),
		     .sample_type = -1, .min_width = -1, .reverse = true,
		     .max_depth = 2 } },
	{ .golden = "odd-names.svg", .kind = SVG,
	  .folded = "main;std::vector<std::pair<std::string,int>>::push_back("
		    "std::pair<std::string,int>&&) 40\n"
		    "main;github.com/acme/app/pkg/http.(*Server).ServeHTTP 40\n"
		    "main;operator&&<\"x\">' 40\nmain;\x1b[0m 40\n"
		    "main;\xe2\x80\xaegnp.exe 40\nmain;\xe6\x97\xa5 40\n"
		    "main;do_syscall_64_[k] 40\nmain;gone -20\n"
		    "main;tiny1 0.001\nmain;tiny2 0.001\n",
	  .flame = PPROF_FLAME_OPTS_INIT },
	{ .golden = "diff.svg", .kind = DIFF,
	  .folded = "m;kept 1010\nm;grow 400\nm;shrink;leaf 200\n"
		    "m;brandnew 150\nparent;first 300\nparent;second 30\n",
	  .base = "m;gone;deep 100\nm;kept 1000\nm;grow 100\n"
		  "m;shrink;leaf 800\nparent;first 10\nparent;second 10\n",
	  .flame = PPROF_FLAME_OPTS_INIT },
	{ .golden = "heap.flame", .kind = SVG,
	  .flame = { .size = sizeof(struct pprof_flame_opts),
		     .sample_type = -1, .min_width = 0, .min_delta = -1,
		     .columns = 80 } },
	{ .golden = "heap.folded", .kind = FOLDED },
	{ .golden = "heap.top", .kind = TOP, .top = PPROF_TOP_OPTS_INIT },
	{ .golden = "heap-lines.top", .kind = TOP,
	  .top = { .size = sizeof(struct pprof_top_opts), .sample_type = 0,
		   .granularity = PPROF_BY_LINE, .by_cum = true } }
};

/* Path of a golden file in the source tree. */
static void set_path(struct buf *path, const char *name)
{
	const char *top = getenv("top_srcdir");

	buf_reset(path);
	buf_printf(path, "%s/tests/golden/%s", top ? top : ".", name);
}

static void read_golden(const char *path, struct buf *text)
{
	FILE *file = fopen(path, "rb");
	size_t nr;

	if (!file)
		print_error("%s: cannot open\n", path);
	assert_non_null(file);
	assert_true(buf_reserve(text, MAX_BYTES));
	nr = fread(text->data, 1, MAX_BYTES, file);
	text->len = nr;
	fclose(file);
}

static void write_row(size_t i, struct pprof_sink *sink)
{
	struct pprof_profile *p = rows[i].folded
					  ? folded_profile(rows[i].folded)
					  : heap_profile();
	enum pprof_status status;
	struct pprof_flame_opts flame = rows[i].flame;
	struct pprof_profile *base;
	struct pprof_error err;

	/* The script has tests of its own, in browsers. */
	flame.no_script = true;
	switch (rows[i].kind) {
	case SVG:
		status = pprof_flame_write(p, &flame, sink, &err);
		break;
	case DIFF:
		base = folded_profile(rows[i].base);
		status = pprof_flame_diff_write(base, p, &flame, sink, &err);
		pprof_profile_free(base);
		break;
	case FOLDED:
		status = pprof_profile_write(p, "folded", NULL, sink, &err);
		break;
	default:
		status = pprof_report_top(p, &rows[i].top, sink, &err);
	}
	assert_int_equal(status, PPROF_OK);
	pprof_profile_free(p);
}

static void test_golden(void **state)
{
	struct pprof_sink *sink;
	struct buf path, expected;
	const char *data;
	size_t i, nr;

	(void)state;
	buf_init(&path, 4096);
	buf_init(&expected, MAX_BYTES + 1);
	for (i = 0; i < NR_OF(rows); i++) {
		set_path(&path, rows[i].golden);
		assert_int_equal(getenv("UPDATE_GOLDEN")
				 ? pprof_sink_open(buf_cstr(&path), &sink, NULL)
				 : pprof_sink_open_memory(&sink, NULL),
				 PPROF_OK);
		write_row(i, sink);
		if (getenv("UPDATE_GOLDEN")) {
			assert_int_equal(pprof_sink_commit(sink, NULL),
					 PPROF_OK);
			pprof_sink_close(sink);
			continue;
		}
		buf_reset(&expected);
		read_golden(buf_cstr(&path), &expected);
		data = pprof_sink_memory(sink, &nr);
		assert_int_equal(nr, expected.len);
		assert_memory_equal(data, expected.data, nr);
		pprof_sink_close(sink);
	}
	buf_fini(&path);
	buf_fini(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
