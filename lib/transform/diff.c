/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof_profile_diff(): a merge of the profile and of the base times -1.
 */
#include <config.h>

#include "base/mem.h"
#include "base/opts.h"
#include "profile/total.h"
#include "transform/merge.h"
#include "transform/types.h"

/* The work of one subtraction. */
struct diff {
	const struct pprof_profile *base;
	const struct pprof_profile *profile;
	const char *const *names;
	struct pprof_diff_opts opts;
	struct pprof_merger *merger;
	double base_scale[SAMPLE_TYPES_MAX];
	double profile_scale[SAMPLE_TYPES_MAX];
	uint8_t *base_names_only;    /* [nr_mappings], or NULL: nowhere */
	uint8_t *profile_names_only;
};

/* ----------------------------------------------------------- other builds */

/* The build ID that `p` has for a file, "" for none. */
static const char *build_of(const struct pprof_profile *p, const char *file)
{
	size_t i;

	for (i = 1; i < p->nr_mappings; i++)
		if (p->mappings[i].build_id &&
		    !strcmp(profile_str(p, p->mappings[i].file), file))
			return profile_str(p, p->mappings[i].build_id);
	return "";
}

static bool has_build(const struct pprof_profile *p, const char *build_id)
{
	size_t i;

	for (i = 1; i < p->nr_mappings; i++)
		if (!strcmp(profile_str(p, p->mappings[i].build_id),
			    build_id))
			return true;
	return false;
}

/*
 * Mark the mappings whose file is another build in `other`; how many. A
 * profile has few files, however many ranges: each is looked up once in a
 * row.
 */
static size_t mark_rebuilt(const struct pprof_profile *p,
			   const struct pprof_profile *other, uint8_t *marks,
			   const char **ret_file)
{
	const struct mapping *map, *last = NULL;
	size_t nr = 0, i;

	for (i = 1; i < p->nr_mappings; i++) {
		map = &p->mappings[i];
		if (last && last->file == map->file &&
		    last->build_id == map->build_id) {
			marks[i] = marks[i - 1];
			nr += marks[i];
			continue;
		}
		last = map;
		if (!map->build_id || !map->file ||
		    has_build(other, profile_str(p, map->build_id)) ||
		    !*build_of(other, profile_str(p, map->file)))
			continue;
		marks[i] = 1;
		nr++;
		*ret_file = profile_str(p, map->file);
	}
	return nr;
}

/* Where builds differ, addresses say nothing: go by names there. */
static bool find_rebuilt(struct diff *d)
{
	const char *file = "";
	size_t nr;

	d->base_names_only = mem_zalloc(d->base->nr_mappings, 1);
	d->profile_names_only = mem_zalloc(d->profile->nr_mappings, 1);
	if (!d->base_names_only || !d->profile_names_only)
		return false;
	nr = mark_rebuilt(d->base, d->profile, d->base_names_only, &file);
	nr += mark_rebuilt(d->profile, d->base, d->profile_names_only, &file);
	if (nr)
		diag_count(&d->merger->diags, PPROF_UNIT_NONE, 0,
			   "%s is another build in each: its frames are "
			   "matched by function and file", file);
	return true;
}

/* ------------------------------------------------------------------- halves */

/* Factors that give each type of the profile the total of the base. */
static void set_scales(struct diff *d)
{
	const struct pprof_profile *p = d->profile, *base = d->base;
	double have, want;
	size_t i, other;

	for (i = 0; i < base->nr_types; i++)
		d->base_scale[i] = -1;
	for (i = 0; i < p->nr_types; i++) {
		const char *unit = profile_str(p, p->types[i].unit);
		const char *base_unit;

		d->profile_scale[i] = 1;
		other = type_find(base, type_stem(p, i), unit);
		if (!d->opts.normalize || other == TYPE_NONE)
			continue;
		base_unit = profile_str(base, base->types[other].unit);
		have = (double)profile_column_total(p, i, NULL) *
		       unit_size_of(unit, strlen(unit)).factor;
		want = (double)profile_column_total(base, other, NULL) *
		       unit_size_of(base_unit, strlen(base_unit)).factor;
		d->profile_scale[i] = have > 0 || have < 0 ? want / have : 0;
	}
}

static enum pprof_status add_halves(struct diff *d, struct pprof_error *err)
{
	struct label label = { 0 };
	struct merge_input base = { .profile = d->base,
				    .name = d->names[0],
				    .scale = d->base_scale,
				    .names_only = d->base_names_only };
	struct merge_input profile = { .profile = d->profile,
				       .name = d->names[1],
				       .scale = d->profile_scale,
				       .names_only = d->profile_names_only };
	enum pprof_status status;

	if (d->opts.mode == PPROF_DIFF_LABELLED) {
		label.key = merger_str(d->merger, BASE_KEY);
		label.str = merger_str(d->merger, "true");
		base.extra = &label;
	}
	status = merger_add(d->merger, &base, err);
	return status ? status : merger_add(d->merger, &profile, err);
}

static enum pprof_status run_diff(struct diff *d,
				  struct pprof_profile **ret_diff,
				  struct pprof_error *err)
{
	struct pprof_profile *diff = NULL;
	enum pprof_status status = PPROF_OK;

	set_scales(d);
	if (d->opts.mode == PPROF_DIFF_CANCELLED && !find_rebuilt(d))
		status = error_nomem(err);
	if (!status)
		status = add_halves(d, err);
	if (!status)
		status = pprof_merger_finish(d->merger, &diff, err);
	if (status)
		return status;
	/* It tells of the new profile; the base is what it is held against. */
	diff->time_ns = d->profile->time_ns;
	diff->duration_ns = d->profile->duration_ns;
	*ret_diff = diff;
	return PPROF_OK;
}

enum pprof_status pprof_profile_diff(const struct pprof_profile *base,
				     const struct pprof_profile *profile,
				     const char *const *names,
				     const struct pprof_diff_opts *opts,
				     struct pprof_profile **ret_diff,
				     struct pprof_error *err)
{
	struct diff d = { .base = base, .profile = profile, .names = names };
	struct pprof_merge_opts merge = PPROF_MERGE_OPTS_INIT;
	enum pprof_status status;

	d.opts.size = sizeof(d.opts);
	status = opts_take(&d.opts, sizeof(d.opts), opts, err);
	if (!status && (unsigned)d.opts.mode > PPROF_DIFF_CANCELLED)
		status = error_plain(err, PPROF_USAGE, NULL,
				     "mode of the difference unknown");
	if (status)
		return status;
	merge.match_base_names = d.opts.match_base_names;
	merge.allow_unrelated = d.opts.allow_unrelated;
	merge.limits = d.opts.limits;
	merge.diag = d.opts.diag;
	merge.diag_ctx = d.opts.diag_ctx;
	status = pprof_merger_new(&merge, &d.merger, err);
	if (!status)
		status = run_diff(&d, ret_diff, err);
	pprof_merger_free(d.merger);
	mem_free(d.base_names_only);
	mem_free(d.profile_names_only);
	return status;
}
