/* SPDX-License-Identifier: Apache-2.0
 *
 * The finished profile: invariants, totals, and the public accessors that
 * only read it. Building is builder.c's.
 */
#include <config.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <string.h>

void pprof_profile_free(struct pprof_profile *profile)
{
	size_t i;

	if (!profile)
		return;
	strtab_fini(&profile->strings);
	mem_free(profile->mappings);
	mem_free(profile->functions);
	mem_free(profile->locations);
	mem_free(profile->lines);
	mem_free(profile->labels);
	mem_free(profile->lsets);
	stacks_fini(&profile->stacks);
	mem_free(profile->sample_stack);
	mem_free(profile->sample_lset);
	for (i = 0; i < SAMPLE_TYPES_MAX; i++)
		mem_free(profile->values[i]);
	mem_free(profile->comments);
	mem_free(profile);
}

static enum pprof_status breach(const char *source, struct pprof_error *err,
				const char *what, size_t row)
{
	return error_plain(err, PPROF_FORMAT, source,
			   "profile is not consistent: %s of row %zu is out "
			   "of range", what, row);
}

static enum pprof_status check_functions(const struct pprof_profile *p,
					 const char *source,
					 struct pprof_error *err)
{
	const struct function *f;
	size_t i;

	for (i = 1; i < p->nr_functions; i++) {
		f = &p->functions[i];
		if (f->name >= p->strings.nr || f->system_name >=
		    p->strings.nr || f->file >= p->strings.nr)
			return breach(source, err, "function string", i);
	}
	return PPROF_OK;
}

static enum pprof_status check_locations(const struct pprof_profile *p,
					 const char *source,
					 struct pprof_error *err)
{
	const struct location *loc;
	size_t i, j;

	for (i = 1; i < p->nr_locations; i++) {
		loc = &p->locations[i];
		if (loc->mapping && loc->mapping >= p->nr_mappings)
			return breach(source, err, "location mapping", i);
		if (loc->nr_lines > p->nr_lines ||
		    loc->lines > p->nr_lines - loc->nr_lines)
			return breach(source, err, "location lines", i);
		for (j = 0; j < loc->nr_lines; j++) {
			func_id func = p->lines[loc->lines + j].func;

			if (!func || func >= p->nr_functions)
				return breach(source, err, "line function", i);
		}
	}
	return PPROF_OK;
}

static enum pprof_status check_labels(const struct pprof_profile *p,
				      const char *source,
				      struct pprof_error *err)
{
	size_t i;

	for (i = 0; i < p->nr_lsets; i++)
		if (p->lsets[i].nr > p->nr_labels ||
		    p->lsets[i].labels > p->nr_labels - p->lsets[i].nr)
			return breach(source, err, "label set", i);
	for (i = 0; i < p->nr_labels; i++)
		if (p->labels[i].key >= p->strings.nr ||
		    p->labels[i].str >= p->strings.nr ||
		    p->labels[i].unit >= p->strings.nr)
			return breach(source, err, "label string", i);
	return PPROF_OK;
}

static enum pprof_status check_samples(const struct pprof_profile *p,
				       const char *source,
				       struct pprof_error *err)
{
	size_t i;

	if (p->nr_samples && !p->nr_types)
		return error_plain(err, PPROF_FORMAT, source,
				   "samples without a sample type");
	for (i = 0; i < p->nr_samples; i++) {
		if (p->sample_stack[i] >= p->stacks.nr)
			return breach(source, err, "sample stack", i);
		if (p->sample_lset && p->sample_lset[i] >= p->nr_lsets)
			return breach(source, err, "sample label set", i);
	}
	return PPROF_OK;
}

enum pprof_status profile_check(const struct pprof_profile *profile,
				const char *source, struct pprof_error *err)
{
	enum pprof_status status;
	size_t i;

	for (i = 1; i < profile->nr_mappings; i++)
		if (profile->mappings[i].file >= profile->strings.nr ||
		    profile->mappings[i].build_id >= profile->strings.nr)
			return breach(source, err, "mapping string", i);
	for (i = 0; i < profile->stacks.nr_locs; i++)
		if (!profile->stacks.locs[i] ||
		    profile->stacks.locs[i] >= profile->nr_locations)
			return breach(source, err, "stack location", i);
	status = check_functions(profile, source, err);
	if (!status)
		status = check_locations(profile, source, err);
	if (!status)
		status = check_labels(profile, source, err);
	if (!status)
		status = check_samples(profile, source, err);
	return status;
}

int64_t profile_column_total(const struct pprof_profile *profile, size_t type,
			     bool *ret_saturated)
{
	const int64_t *values = profile->values[type];
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < profile->nr_samples; i++)
		sum += values[i];
	if (ret_saturated)
		*ret_saturated = sum > INT64_MAX || sum < INT64_MIN;
	if (sum > INT64_MAX)
		return INT64_MAX;
	return sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

size_t profile_default_type(const struct pprof_profile *profile)
{
	size_t i;

	for (i = 0; profile->default_type && i < profile->nr_types; i++)
		if (profile->types[i].type == profile->default_type)
			return i;
	return profile->nr_types ? profile->nr_types - 1 : 0;
}

const struct mapping *
profile_main_mapping(const struct pprof_profile *profile)
{
	size_t i;

	for (i = 1; i < profile->nr_mappings; i++)
		if (profile->mappings[i].flags & MAP_MAIN)
			return &profile->mappings[i];
	return NULL;
}

enum pprof_status profile_pick_type(const struct pprof_profile *profile,
				    int option, size_t *ret_type,
				    struct pprof_error *err)
{
	if (option < 0) {
		*ret_type = profile_default_type(profile);
		return PPROF_OK;
	}
	if ((size_t)option >= profile->nr_types)
		return error_plain(err, PPROF_USAGE, NULL,
				   "sample type %d of %zu", option,
				   profile->nr_types);
	*ret_type = (size_t)option;
	return PPROF_OK;
}

size_t pprof_profile_nr_sample_types(const struct pprof_profile *profile)
{
	return profile->nr_types;
}

void pprof_profile_sample_type(const struct pprof_profile *profile, size_t i,
			       const char **ret_type, const char **ret_unit)
{
	*ret_type = profile_str(profile, profile->types[i].type);
	*ret_unit = profile_str(profile, profile->types[i].unit);
}

size_t pprof_profile_default_sample_type(const struct pprof_profile *profile)
{
	return profile_default_type(profile);
}

size_t pprof_profile_nr_samples(const struct pprof_profile *profile)
{
	return profile->nr_samples;
}

int64_t pprof_profile_total(const struct pprof_profile *profile, size_t i)
{
	return profile_column_total(profile, i, NULL);
}

size_t pprof_profile_nr_comments(const struct pprof_profile *profile)
{
	return profile->nr_comments;
}

const char *pprof_profile_comment(const struct pprof_profile *profile,
				  size_t i)
{
	return profile_str(profile, profile->comments[i]);
}

/* "inuse_space" also answers to "space", as in go tool pprof. */
static bool type_answers_to(const char *type, const char *name)
{
	return !strcmp(type, name) ||
	       (!strncmp(type, "inuse_", 6) && !strcmp(type + 6, name)) ||
	       (!strncmp(name, "inuse_", 6) && !strcmp(name + 6, type));
}

static void list_types(const struct pprof_profile *profile, struct buf *buf)
{
	size_t i;

	for (i = 0; i < profile->nr_types; i++) {
		if (i)
			buf_str(buf, ", ");
		buf_str(buf, profile_str(profile, profile->types[i].type));
	}
}

enum pprof_status
pprof_profile_find_sample_type(const struct pprof_profile *profile,
			       const char *name, size_t *ret_index,
			       struct pprof_error *err)
{
	const char *pos = name, *end = name + strlen(name);
	enum pprof_status status;
	struct buf buf;
	uint64_t number;
	size_t i;

	for (i = 0; i < profile->nr_types; i++) {
		if (type_answers_to(profile_str(profile,
						profile->types[i].type),
				    name)) {
			*ret_index = i;
			return PPROF_OK;
		}
	}
	if (text_u64(&pos, end, &number) && pos == end &&
	    number < profile->nr_types) {
		*ret_index = (size_t)number;
		return PPROF_OK;
	}
	buf_init(&buf, 4096);
	list_types(profile, &buf);
	status = error_plain(err, PPROF_NOTFOUND, NULL,
			     "no sample type '%s'; the profile has %s", name,
			     buf_cstr(&buf));
	buf_fini(&buf);
	return status;
}
