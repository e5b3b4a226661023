/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges of all units streamed past sorted addresses. Several units may
 * claim one address: copies of an inline function that the linker merged.
 * The one that comes first in the section is kept first, as the linker kept
 * the first copy.
 */
#include <config.h>

#include "symbolize/claims.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbolize/dwarf_die.h"

/* Later claims on one address that are of use. */
#define MAX_CLAIMS 8

/* Visits of addresses in all: ranges that overlap on purpose end here. */
#define MAX_VISITS ((uint64_t)1 << 28)

struct gather {
	struct claims *claims;
	const struct text_areas *text;
	const uint64_t *vaddrs;
	size_t nr;
	uint8_t *counts;  /* [nr] claims on each address so far */
	uint32_t *latest; /* [nr] unit of the latest one */
	uint64_t nr_visits;
};

static enum pprof_status add_range(struct gather *gather, uint32_t unit,
				   uint64_t low, uint64_t high)
{
	struct claims *claims = gather->claims;
	size_t i;

	i = vaddrs_lower_bound(gather->vaddrs, gather->nr, low);
	for (; i < gather->nr && gather->vaddrs[i] < high; i++) {
		gather->nr_visits++;
		if (gather->counts[i] == MAX_CLAIMS ||
		    (gather->counts[i] && gather->latest[i] == unit))
			continue;
		if (!mem_grow(claims->rows, claims->cap, claims->nr + 1,
			      SIZE_MAX / sizeof(*claims->rows)))
			return PPROF_NOMEM;
		claims->rows[claims->nr].target = (uint32_t)i;
		claims->rows[claims->nr++].unit = unit;
		gather->counts[i]++;
		gather->latest[i] = unit;
	}
	return PPROF_OK;
}

static enum pprof_status add_unit(struct gather *gather,
				  const struct dwarf_unit *unit,
				  uint32_t index)
{
	struct claims *claims = gather->claims;
	enum pprof_status status = PPROF_OK;
	struct dwarf_ranges ranges;
	uint64_t low, high;

	/*
	 * DWARF 2 cannot tell several ranges: a pair is that of the main
	 * section alone when functions went to sections of their own.
	 */
	if (!unit->has_ranges && (!unit->has_high || unit->version == 2)) {
		if (!mem_grow(claims->unknown, claims->cap_unknown,
			      claims->nr_unknown + 1, UINT32_MAX))
			return PPROF_NOMEM;
		claims->unknown[claims->nr_unknown++] = index;
	}
	dwarf_ranges_init_unit(&ranges, unit);
	while (!status && gather->nr_visits < MAX_VISITS &&
	       dwarf_ranges_next(&ranges, &low, &high)) {
		gather->nr_visits++;
		if (text_areas_contain(gather->text, low))
			status = add_range(gather, index, low, high);
	}
	return status;
}

static bool has_code(const struct dwarf_unit *unit)
{
	return unit->is_readable && (unit->type == DW_UT_compile ||
				     unit->type == DW_UT_skeleton);
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

enum pprof_status claims_init(struct claims *claims,
			      const struct dwarf_file *file,
			      const struct text_areas *text,
			      const uint64_t *vaddrs, size_t nr,
			      struct diags *diags)
{
	struct gather gather = { claims, text, vaddrs, nr, NULL, NULL, 0 };
	enum pprof_status status = PPROF_OK;
	size_t i;

	memset(claims, 0, sizeof(*claims));
	gather.counts = mem_zalloc(nr, sizeof(*gather.counts));
	gather.latest = mem_alloc(nr, sizeof(*gather.latest));
	if (!gather.counts || !gather.latest)
		status = PPROF_NOMEM;
	for (i = 0; i < file->nr_units && !status; i++) {
		if (has_code(&file->units[i]))
			status = add_unit(&gather, &file->units[i],
					  (uint32_t)i);
	}
	if (gather.nr_visits >= MAX_VISITS)
		diag_count(diags, PPROF_UNIT_NONE, 0,
			   "address ranges of debug units overlap too much");
	mem_free(gather.counts);
	mem_free(gather.latest);
	if (!status && claims->nr)
		qsort(claims->rows, claims->nr, sizeof(*claims->rows),
		      compare_claims);
	return status;
}

void claims_fini(struct claims *claims)
{
	mem_free(claims->rows);
	mem_free(claims->unknown);
}
