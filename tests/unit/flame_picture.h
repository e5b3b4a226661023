/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graphs of small profiles as text, for the tests that look into them.
 */
#ifndef TESTS_UNIT_FLAME_PICTURE_H
#define TESTS_UNIT_FLAME_PICTURE_H

#include "base/mem.h"

#include "view_profile.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* The picture of `p`; free it. */
static inline char *draw(const struct pprof_profile *p,
		  const struct pprof_flame_opts *opts)
{
	struct pprof_sink *sink;
	struct pprof_error err;
	const void *data;
	char *text;
	size_t nr;

	assert_int_equal(pprof_sink_open_memory(&sink, &err), PPROF_OK);
	assert_int_equal(pprof_flame_write(p, opts, sink, &err), PPROF_OK);
	data = pprof_sink_memory(sink, &nr);
	text = mem_strndup(data, nr);
	assert_non_null(text);
	pprof_sink_close(sink);
	return text;
}

static inline char *draw_folded(const char *folded,
			 const struct pprof_flame_opts *opts)
{
	struct pprof_profile *p = folded_profile(folded);
	char *text = draw(p, opts);

	pprof_profile_free(p);
	return text;
}

static inline void assert_says(const char *svg, const char *words)
{
	if (!strstr(svg, words))
		print_error("\"%s\" is not in\n%s\n", words, svg);
	assert_non_null(strstr(svg, words));
}

/* Number after `name` in the tag at `tag`. */
static inline long attribute(const char *tag, const char *name)
{
	const char *at = strstr(tag, name);

	assert_non_null(at);
	assert_true(at < strchr(tag, '>'));
	return strtol(at + strlen(name), NULL, 10);
}

#endif
