/* SPDX-License-Identifier: Apache-2.0
 *
 * One sweep settles overlaps of any number in n log n steps; lookups are
 * binary searches.
 */
#include <config.h>

#include "input/ranges.h"

#include <stdlib.h>

#include "base/mem.h"

static int compare_start(const void *a, const void *b)
{
	const struct range *ra = *(const struct range *const *)a;
	const struct range *rb = *(const struct range *const *)b;

	if (ra->start != rb->start)
		return ra->start < rb->start ? -1 : 1;
	return ra < rb ? -1 : ra > rb;
}

/* Max-heap of the ranges over the sweep's place, the last read on top. */
struct heap {
	const struct range **rows;
	size_t nr;
};

static void heap_push(struct heap *heap, const struct range *row)
{
	size_t i = heap->nr++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (heap->rows[up] > row)
			break;
		heap->rows[i] = heap->rows[up];
	}
	heap->rows[i] = row;
}

static void heap_pop(struct heap *heap)
{
	const struct range *row = heap->rows[--heap->nr];
	size_t i = 0, down;

	for (;;) {
		down = 2 * i + 1;
		if (down >= heap->nr)
			break;
		if (down + 1 < heap->nr &&
		    heap->rows[down + 1] > heap->rows[down])
			down++;
		if (row > heap->rows[down])
			break;
		heap->rows[i] = heap->rows[down];
		i = down;
	}
	heap->rows[i] = row;
}

/* Append the part [start, limit) of `row`, or lengthen what it left last. */
static void emit_part(struct ranges *parts, const struct range **last,
		      const struct range *row, uint64_t start, uint64_t limit)
{
	struct range *part = parts->rows + parts->nr;

	if (*last == row && part[-1].limit == start) {
		part[-1].limit = limit;
		return;
	}
	*part = *row;
	part->offset += start - row->start;
	part->start = start;
	part->limit = limit;
	parts->nr++;
	*last = row;
}

/* Sweep over the rows by start; of those over a place the last read wins. */
static void sweep(const struct range *const *sorted, size_t nr,
		  struct heap *heap, struct ranges *parts)
{
	const struct range *last = NULL, *top;
	uint64_t place = 0, limit;
	size_t next = 0;

	while (next < nr || heap->nr) {
		if (!heap->nr)
			place = sorted[next]->start;
		while (next < nr && sorted[next]->start == place)
			heap_push(heap, sorted[next++]);
		top = heap->rows[0];
		limit = top->limit;
		if (next < nr && sorted[next]->start < limit)
			limit = sorted[next]->start;
		emit_part(parts, &last, top, place, limit);
		place = limit;
		while (heap->nr && heap->rows[0]->limit <= place)
			heap_pop(heap);
	}
}

/* At most two parts a row: each begins at a row's start or limit. */
bool ranges_settle(struct ranges *ranges)
{
	const struct range **sorted = NULL;
	struct ranges parts = { NULL, 0, 0 };
	struct heap heap = { NULL, 0 };
	size_t nr = ranges->nr, i;

	sorted = mem_alloc(nr, sizeof(*sorted));
	heap.rows = mem_alloc(nr, sizeof(*heap.rows));
	parts.rows = mem_alloc(2 * nr, sizeof(*parts.rows));
	parts.cap = 2 * nr;
	if (sorted && heap.rows && parts.rows) {
		for (i = 0; i < nr; i++)
			sorted[i] = &ranges->rows[i];
		if (nr)
			qsort(sorted, nr, sizeof(*sorted), compare_start);
		sweep(sorted, nr, &heap, &parts);
		mem_free(ranges->rows);
		*ranges = parts;
		parts.rows = NULL;
		nr = 0;
	}
	mem_free(parts.rows);
	mem_free(heap.rows);
	mem_free(sorted);
	return !nr;
}

/*
 * A hole that ends with `last` lies inside one image when the same file is
 * mapped below and, with a larger offset, above it: text moved to huge
 * pages. The mapping below then covers it.
 */
static bool fill_hole(struct range *below, const struct range *last,
		      const struct range *above)
{
	if (below->is_hole || below->file != above->file ||
	    below->offset >= above->offset)
		return false;
	below->limit = last->limit;
	below->is_code = true;
	return true;
}

/* Whether `next` goes on where `row` ends, in memory and in the file. */
static bool goes_on(const struct range *row, const struct range *next)
{
	return row->is_code && next->is_code && !row->is_hole &&
	       row->file == next->file && row->build_id == next->build_id &&
	       row->limit == next->start &&
	       row->offset + (row->limit - row->start) == next->offset;
}

void ranges_tidy(struct ranges *ranges)
{
	struct range *rows = ranges->rows;
	size_t nr = ranges->nr, kept = 0, i, end;

	for (i = 0; i < nr; i = end) {
		end = i + 1;
		if (!rows[i].is_hole) {
			if (kept && goes_on(&rows[kept - 1], &rows[i]))
				rows[kept - 1].limit = rows[i].limit;
			else
				rows[kept++] = rows[i];
			continue;
		}
		while (end < nr && rows[end].is_hole)
			end++;
		if (kept && end < nr &&
		    fill_hole(&rows[kept - 1], &rows[end - 1], &rows[end]))
			continue;
		for (; i < end; i++)
			rows[kept++] = rows[i];
	}
	ranges->nr = kept;
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->nr, middle;
	const struct range *row;

	while (low < high) {
		middle = low + (high - low) / 2;
		row = &ranges->rows[middle];
		if (address < row->start)
			high = middle;
		else if (address >= row->limit)
			low = middle + 1;
		else
			return row;
	}
	return NULL;
}
