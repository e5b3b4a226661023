/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines above each report for people; see report_header.h.
 */
#include <config.h>

#include "output/report_header.h"
#include "view/text.h"
#include "view/units.h"

#include <string.h>

/* Text of the profile, one line of the header. */
static void add_masked(struct buf *out, const char *label, const char *text)
{
	buf_str(out, label);
	text_mask(out, text, strlen(text));
	buf_byte(out, '\n');
}

/* The main binary's mapping, else the first, else NULL. */
static const struct mapping *main_mapping(const struct pprof_profile *p)
{
	size_t i;

	for (i = 1; i < p->nr_mappings; i++)
		if (p->mappings[i].flags & MAP_MAIN)
			return &p->mappings[i];
	return p->nr_mappings > 1 ? &p->mappings[1] : NULL;
}

static void add_binary(const struct report_header *h, struct buf *out)
{
	const struct mapping *map = main_mapping(h->profile);
	const char *file = map ? profile_str(h->profile, map->file) : "";
	const char *slash = strrchr(file, '/');

	if (slash && slash[1])
		file = slash + 1;
	if (!*file && h->title)
		file = h->title;
	if (*file)
		add_masked(out, "File: ", file);
	if (map && map->build_id)
		add_masked(out, "Build ID: ",
			   profile_str(h->profile, map->build_id));
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

static void add_time(const struct report_header *h, struct buf *out)
{
	int64_t time_ns = h->profile->time_ns, seconds, second_of_day;

	if (!time_ns)
		return;
	seconds = time_ns / 1000000000 - (time_ns % 1000000000 < 0);
	second_of_day = seconds % 86400;
	second_of_day += second_of_day < 0 ? 86400 : 0;
	buf_str(out, "Time: ");
	add_date(out, (seconds - second_of_day) / 86400);
	buf_printf(out, " %02d:%02d:%02d UTC\n",
		   (int)(second_of_day / 3600),
		   (int)(second_of_day / 60 % 60), (int)(second_of_day % 60));
}

static void add_duration(const struct report_header *h, struct buf *out)
{
	int64_t duration_ns = h->profile->duration_ns;
	const char *unit;
	double total_ns;

	if (!duration_ns)
		return;
	buf_str(out, "Duration: ");
	units_value(out, duration_ns, "nanoseconds", UNIT_AUTO);
	buf_str(out, ", Total samples = ");
	units_value(out, h->total, h->unit, h->to);
	buf_byte(out, ' ');
	total_ns = units_scale(h->total, h->unit, "nanoseconds",
			       &unit);
	if (!strcmp(unit, "ns") && total_ns >= 1 && total_ns < 9e18) {
		buf_byte(out, '(');
		units_percent(out, (int64_t)total_ns, duration_ns);
		buf_byte(out, ')');
	}
	buf_byte(out, '\n');
}

static void add_profile(const struct report_header *h, struct buf *out)
{
	const struct pprof_profile *p = h->profile;
	const char *comment;
	size_t i;

	add_binary(h, out);
	for (i = 0; i < p->nr_comments; i++) {
		comment = profile_str(p, p->comments[i]);
		/* A leading '#' hides it from reports (pprof semantics). */
		if (*comment != '#')
			add_masked(out, "", comment);
	}
	if (*h->type)
		add_masked(out, h->mean ? "Type: mean_" : "Type: ",
			   h->type);
	if (p->doc_url)
		add_masked(out, "Doc: ", profile_str(p, p->doc_url));
	add_time(h, out);
	add_duration(h, out);
}

/* As `go tool pprof` has them: at most 80 characters of each. */
static void add_filters(const struct report_header *h, struct buf *out)
{
	struct buf name;
	size_t len, i;

	if (h->nr_filters)
		buf_str(out, "Active filters:\n");
	buf_init(&name, PTRDIFF_MAX);
	for (i = 0; i < h->nr_filters; i++) {
		buf_reset(&name);
		text_mask(&name, h->filters[i], strlen(h->filters[i]));
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

void report_header_add(const struct report_header *h, struct buf *out)
{
	add_profile(h, out);
	add_filters(h, out);
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
