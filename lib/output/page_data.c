/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree of a report as text: numbers of five bits a character, the
 * lowest first, from "?" on; a character from "_" on says that more
 * follow. Lines of names, of nodes in pre-order, of columns.
 */
#include <config.h>

#include "base/mem.h"
#include "output/json.h"
#include "output/page.h"
#include "view/text.h"

#include <math.h>

/* First of the 64 characters: none of them is "<", "&" or a quote. */
#define FIRST_CHAR '?'

/* Doubles are exact up to here; the page adds up in them. */
#define EXACT_SUM ((unsigned __int128)1 << 53)

/* Most characters that a name shares with the one before. */
#define MOST_SHARED 63

/* Bits of a float that are left out. */
#define VAR_SHIFT 12

static void put_number(struct buf *out, uint64_t value)
{
	char text[16];
	size_t nr = 0;

	for (; value >= 32; value >>= 5)
		text[nr++] = (char)(FIRST_CHAR + 32 + (int)(value & 31));
	text[nr++] = (char)(FIRST_CHAR + (int)value);
	buf_add(out, text, nr);
}

void page_json(struct buf *out, const struct buf *json)
{
	size_t i, plain = 0;

	/* It only stands in strings. */
	for (i = 0; i < json->len; i++) {
		if (json->data[i] != '<')
			continue;
		buf_add(out, json->data + plain, i - plain);
		buf_str(out, "\\u003c");
		plain = i + 1;
	}
	buf_add(out, json->data + plain, json->len - plain);
	out->failed = out->failed || json->failed;
}

/* Characters, all ASCII, with which both texts begin. */
static size_t count_shared(const struct buf *a, const struct buf *b)
{
	size_t most = a->len < b->len ? a->len : b->len, i;

	if (most > MOST_SHARED)
		most = MOST_SHARED;
	for (i = 0; i < most; i++)
		if (a->data[i] != b->data[i] || a->data[i] & 0x80)
			break;
	return i;
}

/* A list of texts: each is how much it shares with the last, and the rest. */
struct text_list {
	struct buf json;
	struct json_out put;
	struct buf last;
	struct buf text;
};

static void list_open(struct text_list *list)
{
	buf_init(&list->json, PTRDIFF_MAX);
	buf_init(&list->last, PTRDIFF_MAX);
	buf_init(&list->text, PTRDIFF_MAX);
	json_out_init(&list->put, &list->json);
	json_put_open(&list->put, '[');
}

static void list_add(struct text_list *list, const char *text, size_t len)
{
	struct buf swap = list->last;
	size_t shared;
	char head;

	buf_reset(&list->text);
	text_mask(&list->text, text, len);
	shared = count_shared(&list->last, &list->text);
	buf_reset(&swap);
	head = (char)(FIRST_CHAR + (int)shared);
	buf_byte(&swap, head);
	buf_add(&swap, list->text.data + shared, list->text.len - shared);
	json_put_text(&list->put, swap.data, swap.len);
	list->json.failed = list->json.failed || swap.failed;
	list->last = list->text;
	list->text = swap;
}

static void list_close(struct text_list *list, struct buf *out)
{
	json_put_close(&list->put, ']');
	page_json(out, &list->json);
	buf_byte(out, '\n');
	buf_fini(&list->json);
	buf_fini(&list->last);
	buf_fini(&list->text);
}

static void put_names(struct buf *out, const struct frames *frames)
{
	struct text_list list;
	const char *name;
	size_t i;

	list_open(&list);
	for (i = 0; i < frames->nr; i++) {
		name = frame_name(frames, (uint32_t)i);
		list_add(&list, name,
			 frame_bare_len(name, frame_name_len(frames,
							     (uint32_t)i)));
	}
	list_close(&list, out);
}

enum row_text { ROW_MODULE, ROW_FILE };

static str_id row_text(const struct frame *row, enum row_text which)
{
	return which == ROW_MODULE ? row->module : row->file;
}

/* The modules or files of all frames, each once; index[] by string. */
static void put_texts(struct buf *out, const struct frames *frames,
		      enum row_text which, uint32_t *index)
{
	struct text_list list;
	uint32_t nr = 0;
	str_id text;
	size_t i;

	list_open(&list);
	for (i = 0; i < frames->nr; i++) {
		text = row_text(&frames->rows[i], which);
		if (!text || index[text])
			continue;
		index[text] = ++nr;
		list_add(&list, strtab_text(&frames->strings, text),
			 strtab_len(&frames->strings, text));
	}
	list_close(&list, out);
}

/* For each frame: kind, and module, file and line, 0 for none. */
static void put_frames(struct buf *out, const struct forest *forest)
{
	const struct frames *f = &forest->frames;
	size_t nr = f->strings.nr, i;
	uint32_t *modules = mem_zalloc(nr, sizeof(*modules));
	uint32_t *files = mem_zalloc(nr, sizeof(*files));

	if (modules && files) {
		put_names(out, f);
		put_texts(out, f, ROW_MODULE, modules);
		put_texts(out, f, ROW_FILE, files);
		for (i = 0; i < f->nr; i++) {
			put_number(out, f->rows[i].kind);
			put_number(out, modules[f->rows[i].module]);
			put_number(out, files[f->rows[i].file]);
			put_number(out, (uint64_t)forest->line[i]);
		}
		buf_byte(out, '\n');
	} else {
		out->failed = true;
	}
	mem_free(modules);
	mem_free(files);
}

static bool has_self(const struct forest *forest, size_t node)
{
	return forest->flags[node] & FOREST_SELF;
}

/* How far the next node is above a child of the last; whether it has self. */
static void put_nodes(struct buf *out, const struct forest *forest)
{
	uint32_t up;
	size_t i;

	put_number(out, has_self(forest, 0));
	for (i = 1; i < forest->nr; i++) {
		up = forest->depth[i - 1] + 1 - forest->depth[i];
		put_number(out, (uint64_t)up << 1 | has_self(forest, i));
		put_number(out, forest->row[i]);
	}
	buf_byte(out, '\n');
}

/* How many; steps from one inlined node to the next, and if also called. */
static void put_inlined(struct buf *out, const struct forest *forest)
{
	size_t last = 0, nr = 0, i;

	for (i = 1; i < forest->nr; i++)
		nr += (forest->flags[i] & FOREST_INLINED) != 0;
	put_number(out, nr);
	for (i = 1; i < forest->nr; i++) {
		if (!(forest->flags[i] & FOREST_INLINED))
			continue;
		put_number(out, (uint64_t)(i - last) << 1 |
					(forest->flags[i] & FOREST_CALLED));
		last = i;
	}
	buf_byte(out, '\n');
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	uint64_t rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

struct page_scale page_scale_of(const struct forest *forest,
				const struct forest_column *column)
{
	struct page_scale scale = { 0, 0, false };
	unsigned __int128 sum = 0;
	uint64_t size;
	size_t i;

	for (i = 0; i < forest->nr; i++) {
		size = magnitude_i64(column->self[i]);
		sum += size;
		scale.is_signed |= column->self[i] < 0;
		if (size && scale.unit != 1)
			scale.unit = greatest_divisor(size, scale.unit);
	}
	while (sum >> scale.shift >= EXACT_SUM)
		scale.shift++;
	if (!scale.unit || scale.shift)
		scale.unit = 1;
	return scale;
}

static void put_column(struct buf *out, const struct forest *forest,
		       const struct forest_column *column)
{
	struct page_scale scale = page_scale_of(forest, column);
	uint64_t half = scale.shift ? (uint64_t)1 << (scale.shift - 1) : 0;
	uint64_t size;
	size_t i;

	for (i = 0; i < forest->nr; i++) {
		if (!has_self(forest, i))
			continue;
		size = magnitude_i64(column->self[i]);
		size = scale.shift ? (size >> scale.shift) +
					     (size & half ? 1 : 0)
				   : size / scale.unit;
		if (scale.is_signed)
			size = size << 1 | (column->self[i] < 0);
		put_number(out, size);
	}
	buf_byte(out, '\n');
}

bool page_has_rate(const struct forest *forest,
		   const struct forest_column *column, double *ret_rate)
{
	double size;
	size_t i;

	*ret_rate = 0;
	if (!column->var)
		return true;
	for (i = 0; i < forest->nr; i++) {
		size = (double)magnitude_i64(column->self[i]);
		if (size > 0 && !(*ret_rate > 0))
			*ret_rate = column->var[i] / size;
		if (fabs(column->var[i] - *ret_rate * size) >
		    1e-9 * column->var[i])
			return false;
	}
	return true;
}

/* Variances as floats without sign and lowest bits. */
static void put_vars(struct buf *out, const struct forest *forest,
		     const struct forest_column *column)
{
	uint32_t bits;
	float var;
	size_t i;

	for (i = 0; i < forest->nr; i++) {
		if (!has_self(forest, i))
			continue;
		var = (float)column->var[i];
		if (!isfinite(var))
			var = 0;
		memcpy(&bits, &var, sizeof(bits));
		bits += (uint32_t)1 << (VAR_SHIFT - 1);
		put_number(out, bits >> VAR_SHIFT);
	}
	buf_byte(out, '\n');
}

void page_data(struct buf *out, const struct page *page)
{
	const struct forest *forest = &page->forest;
	double rate;
	size_t i;

	put_frames(out, forest);
	put_nodes(out, forest);
	put_inlined(out, forest);
	for (i = 0; i < forest->nr_sides * forest->nr_types; i++) {
		put_column(out, forest, &forest->columns[i]);
		if (!page_has_rate(forest, &forest->columns[i], &rate))
			put_vars(out, forest, &forest->columns[i]);
	}
}
