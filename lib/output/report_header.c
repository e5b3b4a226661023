/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines above each report for people; see report_header.h.
 */
#include <config.h>

#include "base/opts.h"
#include "output/report_header.h"
#include "view/text.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

/* Text of the profile, one line of the header. */
static void add_masked(struct buf *out, const char *label, const char *text)
{
	buf_str(out, label);
	text_mask(out, text, strlen(text));
	buf_byte(out, '\n');
}

static void add_binary(struct buf *out, const struct pprof_profile *p,
		       const char *title)
{
	const struct mapping *map = profile_main_mapping(p);
	const char *file, *slash;

	if (!map && p->nr_mappings > 1)
		map = &p->mappings[1];
	file = map ? profile_str(p, map->file) : "";
	slash = strrchr(file, '/');
	if (slash && slash[1])
		file = slash + 1;
	if (!*file && title)
		file = title;
	if (*file)
		add_masked(out, "File: ", file);
	if (map && map->build_id)
		add_masked(out, "Build ID: ",
			   profile_str(p, map->build_id));
}

/* Year, month and day of a day count since 1970-01-01 (Gregorian). */
static void add_date(struct buf *out, int64_t days)
{
	/* Count from 0000-03-01, so that leap days end the year. */
	int64_t from_march = days + 719468;
	int64_t era = (from_march >= 0 ? from_march : from_march - 146096) /
		      146097;
	int64_t day_of_era = from_march - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 +
			       day_of_era / 36524 - day_of_era / 146096) /
			      365;
	int64_t day = day_of_era - (365 * year_of_era + year_of_era / 4 -
				    year_of_era / 100);
	int64_t month = (5 * day + 2) / 153;

	day -= (153 * month + 2) / 5 - 1;
	month += month < 10 ? 3 : -9;
	buf_printf(out, "%04lld-%02d-%02d",
		   (long long)(year_of_era + era * 400 + (month <= 2)),
		   (int)month, (int)day);
}

void report_time_add(struct buf *out, int64_t time_ns)
{
	int64_t seconds, second_of_day;

	seconds = time_ns / 1000000000 - (time_ns % 1000000000 < 0);
	second_of_day = seconds % 86400;
	second_of_day += second_of_day < 0 ? 86400 : 0;
	add_date(out, (seconds - second_of_day) / 86400);
	buf_printf(out, " %02d:%02d:%02d", (int)(second_of_day / 3600),
		   (int)(second_of_day / 60 % 60), (int)(second_of_day % 60));
}

static void add_time(struct buf *out, int64_t time_ns)
{
	if (!time_ns)
		return;
	buf_str(out, "Time: ");
	report_time_add(out, time_ns);
	buf_str(out, " UTC\n");
}

static void add_duration(struct buf *out, int64_t duration_ns,
			 const struct report_values *values, int64_t total)
{
	const char *unit;
	double total_ns;

	if (!duration_ns)
		return;
	buf_str(out, "Duration: ");
	units_value(out, duration_ns, "nanoseconds", UNIT_AUTO);
	buf_str(out, ", Total samples = ");
	units_value(out, total, values->unit, values->to);
	buf_byte(out, ' ');
	total_ns = units_scale(total, values->unit, "nanoseconds", &unit);
	if (!strcmp(unit, "ns") && total_ns >= 1 && total_ns < 9e18) {
		buf_byte(out, '(');
		units_percent(out, (int64_t)total_ns, duration_ns);
		buf_byte(out, ')');
	}
	buf_byte(out, '\n');
}

static void add_comments(struct buf *out, const struct pprof_profile *p)
{
	const char *comment;
	size_t i;

	for (i = 0; i < p->nr_comments; i++) {
		comment = profile_str(p, p->comments[i]);
		/* A leading '#' hides it from reports (pprof semantics). */
		if (*comment != '#')
			add_masked(out, "", comment);
	}
}

/* As `go tool pprof` has them: at most 80 characters of each. */
static void add_filters(struct buf *out, const char *const *filters,
			size_t nr)
{
	struct buf name;
	size_t len, i;

	if (nr)
		buf_str(out, "Active filters:\n");
	buf_init(&name, PTRDIFF_MAX);
	for (i = 0; i < nr; i++) {
		buf_reset(&name);
		text_mask(&name, filters[i], strlen(filters[i]));
		len = text_head(name.data, name.len, 80);
		buf_str(out, "   ");
		buf_add(out, name.data, len);
		if (len < name.len)
			buf_str(out, "\xe2\x80\xa6");
		buf_byte(out, '\n');
	}
	if (!buf_ok(&name))
		out->failed = true;
	buf_fini(&name);
}

void report_header_add(struct buf *out, const struct pprof_profile *profile,
		       const struct pprof_top_opts *opts,
		       const struct report_values *values, int64_t total)
{
	add_binary(out, profile, opts->title);
	add_comments(out, profile);
	if (*values->type)
		add_masked(out, opts->mean ? "Type: mean_" : "Type: ",
			   values->type);
	if (profile->doc_url)
		add_masked(out, "Doc: ",
			   profile_str(profile, profile->doc_url));
	add_time(out, profile->time_ns);
	add_duration(out, profile->duration_ns, values, total);
	add_filters(out, opts->filters, opts->nr_filters);
}

int64_t report_divided(int64_t value, double by)
{
	return by > 0 ? (int64_t)fmin(fmax((double)value / by, -0x1p62),
				      0x1p62)
		      : value;
}

void report_add_right(struct buf *out, const struct buf *cell)
{
	size_t cells = text_cells(cell->data, cell->len);

	for (; cells < REPORT_VALUE_CELLS; cells++)
		buf_byte(out, ' ');
	buf_add(out, cell->data, cell->len);
}

enum pprof_status report_take(struct report_values *values,
			      struct pprof_top_opts *taken,
			      const struct pprof_profile *profile,
			      const struct pprof_top_opts *opts,
			      struct pprof_error *err)
{
	enum pprof_status status = opts_take(taken, sizeof(*taken), opts, err);
	const struct value_type *type;

	if (!status && (unsigned)taken->granularity > PPROF_BY_MODULE)
		status = error_plain(err, PPROF_USAGE, NULL,
				     "granularity unknown");
	if (!status)
		status = profile_pick_type(profile, taken->sample_type,
					   &values->column, err);
	if (status)
		return status;
	values->type = "";
	values->unit = "";
	if (profile->nr_types) {
		type = &profile->types[values->column];
		values->type = profile_str(profile, type->type);
		values->unit = profile_str(profile, type->unit);
	}
	values->to = taken->unit == PPROF_UNIT_EXACT ? values->unit
						     : UNIT_AUTO;
	return PPROF_OK;
}
