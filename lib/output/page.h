/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the HTML report share. The page is constant: style,
 * elements and script are the same in each; data is text beside them that
 * the script unpacks.
 */
#ifndef OUTPUT_PAGE_H
#define OUTPUT_PAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "output/flame_color.h"
#include "view/forest.h"

/* One profile of the report, or a side of one. */
struct page_side {
	const struct pprof_profile *profile;
	const char *name;
	enum walk_side side;
};

struct page {
	const struct pprof_page_opts *opts;
	const struct pprof_flame_opts *flame; /* no defaults left in it */
	struct page_side *sides; /* [nr_sides] */
	size_t nr_sides;
	size_t *types;           /* [nr_sides * nr_types] */
	size_t nr_types;
	size_t first_type;       /* that is shown first */
	size_t nr_left_out;      /* types that not all profiles have */
	bool is_diff;            /* begins with B against A: last, first */
	struct forest forest;
	struct forest_column const *first; /* that of last side, first type */
};

/* How the values of a column are written. */
struct page_scale {
	uint64_t unit;  /* each is a multiple of it */
	unsigned shift; /* or it is rounded to multiples of 2^shift */
	bool is_signed;
};

/* page_data.c: the packed tree. */

struct page_scale page_scale_of(const struct forest *forest,
				const struct forest_column *column);

/* True when the variance of each value is *ret_rate times its size. */
bool page_has_rate(const struct forest *forest,
		   const struct forest_column *column, double *ret_rate);

/* Append names and tree. */
void page_data(struct buf *out, const struct page *page);

/* Append JSON as an element can hold it: without "<". */
void page_json(struct buf *out, const struct buf *json);

/* page_meta.c: what the report knows beside its tree. */

/* Append its JSON. OK, NOMEM. */
enum pprof_status page_meta(struct buf *out, struct page *page,
			    struct pprof_error *err);

/* [frames.nr] self of each frame in a column, to be freed; NULL: no memory. */
int64_t *page_sum_rows(const struct forest *forest,
		       const struct forest_column *column);

/* Name of type `type` and what it counts. */
const char *page_type(const struct page *page, size_t type);
const char *page_unit(const struct page *page, size_t type);

/* Append the heading, masked. */
void page_title(struct buf *out, const struct page *page);

#endif
