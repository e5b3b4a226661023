/* SPDX-License-Identifier: Apache-2.0
 *
 * Lazy translation of row numbers from one profile to another.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/import.h"

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

static uint32_t *unknown_rows(size_t nr)
{
	uint32_t *rows = mem_alloc(nr, sizeof(*rows));

	if (rows)
		memset(rows, 0xff, nr * sizeof(*rows));
	return rows;
}

bool import_init(struct import *import, const struct pprof_profile *src,
		 struct builder *dst)
{
	memset(import, 0, sizeof(*import));
	import->src = src;
	import->dst = dst;
	import->strings = unknown_rows(src->strings.nr);
	import->functions = unknown_rows(src->nr_functions);
	import->lsets = unknown_rows(src->nr_lsets);
	return import->strings && import->functions && import->lsets;
}

void import_fini(struct import *import)
{
	mem_free(import->strings);
	mem_free(import->functions);
	mem_free(import->lsets);
	mem_free(import->lines);
	mem_free(import->labels);
	memset(import, 0, sizeof(*import));
}

static uint32_t fail_nomem(struct import *import)
{
	if (!import->dst->status) {
		import->dst->status = PPROF_NOMEM;
		format_masked(import->dst->message,
			      sizeof(import->dst->message), "out of memory");
	}
	return ID_FAILED;
}

str_id import_str(struct import *import, str_id id)
{
	const struct strtab *strings = &import->src->strings;

	if (import->strings[id] == ID_FAILED)
		import->strings[id] = builder_str(import->dst,
						  strtab_text(strings, id),
						  strtab_len(strings, id));
	return import->strings[id];
}

func_id import_function(struct import *import, func_id id)
{
	const struct function *src = &import->src->functions[id];
	struct function func = { 0 };

	if (import->functions[id] != ID_FAILED)
		return import->functions[id];
	func.start_line = src->start_line;
	func.name = import_str(import, src->name);
	func.system_name = import_str(import, src->system_name);
	func.file = import_str(import, src->file);
	import->functions[id] = builder_function(import->dst, &func);
	return import->functions[id];
}

lset_id import_lset(struct import *import, lset_id id)
{
	const struct lset *set = &import->src->lsets[id];
	const struct label *src = import->src->labels + set->labels;
	struct label *labels;
	size_t nr = set->nr, i;

	if (import->lsets[id] != ID_FAILED)
		return import->lsets[id];
	if (!mem_grow(import->labels, import->cap_labels, nr + 1, MAX_ROWS))
		return fail_nomem(import);
	labels = import->labels;
	for (i = 0; i < nr; i++) {
		labels[i] = src[i];
		labels[i].key = import_str(import, src[i].key);
		labels[i].str = import_str(import, src[i].str);
		labels[i].unit = import_str(import, src[i].unit);
	}
	if (import->extra)
		labels[nr++] = *import->extra;
	import->lsets[id] = builder_lset(import->dst, labels, nr);
	return import->lsets[id];
}

const struct line *import_lines(struct import *import,
				const struct location *loc)
{
	const struct line *src = import->src->lines + loc->lines;
	uint32_t i;

	if (!mem_grow(import->lines, import->cap_lines,
		      (size_t)loc->nr_lines + 1, MAX_ROWS)) {
		fail_nomem(import);
		return NULL;
	}
	for (i = 0; i < loc->nr_lines; i++) {
		import->lines[i] = src[i];
		import->lines[i].func = import_function(import, src[i].func);
	}
	return import->dst->status ? NULL : import->lines;
}
