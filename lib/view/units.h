/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and shares as text: with the units, the scaling and the digits of
 * `go tool pprof` for tables, with binary prefixes and exact figures for
 * pictures. No locale takes part.
 */
#ifndef VIEW_UNITS_H
#define VIEW_UNITS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* What pprof calls units that it chooses itself. */
#define UNIT_AUTO "auto"
#define UNIT_MINIMUM "minimum"

/*
 * Value in `to` of a value in `from`. `to` is a unit of from's family, or
 * UNIT_AUTO. Sets the name of the unit that came out; "" for counts.
 */
double units_scale(int64_t value, const char *from, const char *to,
		   const char **ret_unit);

/* Append the scaled value with at most two decimals and its unit. */
void units_value(struct buf *out, int64_t value, const char *from,
		 const char *to);

/*
 * The one unit for a table whose least value other than 0 is `least` and
 * whose total is `total`; `from` itself where there is nothing to choose.
 */
const char *units_minimum(int64_t least, int64_t total, const char *from);

/* Append |value / total| as a percentage, at least five characters wide. */
void units_percent(struct buf *out, int64_t value, int64_t total);

/* A unit of a family, as pictures have it. */
struct unit_step {
	const char *word;
	double factor; /* in the unit that was asked about */
};

/* Most units of a family. */
#define UNIT_STEPS_MAX 16

/* The family of `unit`, rising; returns how many, 0 when it is in none. */
size_t units_steps(const char *unit, struct unit_step *ret_steps);

/* What a value counts: its unit, or for counts what `type` names. */
const char *units_noun(const char *type, const char *unit);

/* Append digits grouped by commas. */
void units_grouped(struct buf *out, unsigned __int128 value);

/*
 * Append a value in words: "1.23 MiB (1,290,384 bytes)", "1,234 objects",
 * "1.5 s (1,500,000,000 ns)". `type` names what a count counts.
 */
void units_words(struct buf *out, int64_t value, const char *type,
		 const char *unit);

/* The first part of that: "1.23 MiB", "1,234 objects". */
void units_brief(struct buf *out, int64_t value, const char *type,
		 const char *unit);

/* Append value / total as "12.34%", rounded; "0%" of nothing. */
void units_share(struct buf *out, uint64_t value, uint64_t total);

/* Decimals of values in `unit`, as 3 of "count/1000"; 0 of other units. */
unsigned units_decimals(const char *unit);

/* Append value * 10^-decimals, without trailing zeros. */
void units_fixed(struct buf *out, int64_t value, unsigned decimals);

#endif
