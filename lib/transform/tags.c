/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions on labels; semantics of google/pprof,
 * internal/driver/driver_focus.go, except that a number without a unit is
 * compared with the number that the label has.
 */
#include <config.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "transform/tags.h"

#include <math.h>

/* ---------------------------------------------------------------- parsing */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number with an optional unit at *pos; false when there is none. */
static bool parse_quantity(const char **pos, const char *end, double *ret,
			   const char **ret_unit, size_t *ret_unit_len)
{
	const char *p = *pos;
	bool negative = p < end && *p == '-';
	uint64_t number;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (!text_u64(&p, end, &number))
		return false;
	*ret = negative ? -(double)number : (double)number;
	*ret_unit = p;
	while (p < end && is_letter(*p))
		p++;
	*ret_unit_len = (size_t)(p - *ret_unit);
	*pos = p;
	return true;
}

/* The second half of "12kb:64mb", in units of the first half's family. */
static bool parse_high(struct tag_filter *f, const char **pos,
		       const char *end)
{
	struct unit_size size;
	const char *unit;
	size_t len;

	if (!parse_quantity(pos, end, &f->high, &unit, &len))
		return false;
	size = unit_size_of(unit, len);
	f->high *= size.factor;
	return size.family == f->family &&
	       (size.family || (len == f->unit_len &&
				!memcmp(unit, f->unit, len)));
}

/* The whole of text[len] as a range of numbers, or false. */
static bool parse_range(struct tag_filter *f, const char *text, size_t len)
{
	const char *pos = text, *end = text + len;
	bool below = len && *text == ':';
	struct unit_size size;

	pos += below;
	if (!parse_quantity(&pos, end, &f->low, &f->unit, &f->unit_len))
		return false;
	size = unit_size_of(f->unit, f->unit_len);
	f->family = size.family;
	f->low *= size.factor;
	f->high = f->low;
	if (below)
		f->low = -(double)INFINITY;
	if (pos == end)
		return true;
	if (below || *pos++ != ':')
		return false;
	f->high = (double)INFINITY;
	return pos == end || (parse_high(f, &pos, end) && pos == end);
}

static enum pprof_status parse_patterns(struct tag_filter *f,
					const char *text,
					struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	size_t len;

	for (;;) {
		if (f->nr_patterns == TAG_PATTERNS_MAX)
			return error_plain(err, PPROF_LIMIT, NULL,
					   "%s: more than %d expressions",
					   f->option, TAG_PATTERNS_MAX);
		len = strcspn(text, ",");
		status = pattern_init(&f->patterns[f->nr_patterns],
				      f->option, text, len, false, err);
		if (status)
			return status;
		f->nr_patterns++;
		if (!text[len])
			return PPROF_OK;
		text += len + 1;
	}
}

enum pprof_status tag_filter_init(struct tag_filter *f, const char *option,
				  const char *text, struct pprof_error *err)
{
	const char *equals;

	memset(f, 0, sizeof(*f));
	f->option = option;
	buf_init(&f->text, PTRDIFF_MAX);
	if (!text || !*text)
		return PPROF_OK;
	f->is_set = true;
	equals = strchr(text, '=');
	if (equals) {
		f->key = text;
		f->key_len = (size_t)(equals - text);
		text = equals + 1;
	}
	f->is_range = parse_range(f, text, strlen(text));
	return f->is_range ? PPROF_OK : parse_patterns(f, text, err);
}

void tag_filter_fini(struct tag_filter *f)
{
	size_t i;

	for (i = 0; i < f->nr_patterns; i++)
		pattern_fini(&f->patterns[i]);
	buf_fini(&f->text);
}

/* --------------------------------------------------------------- matching */

static bool has_key(const struct tag_filter *f, const struct pprof_profile *p,
		    const struct label *label)
{
	return !f->key_len ||
	       (strtab_len(&p->strings, label->key) == f->key_len &&
		!memcmp(profile_str(p, label->key), f->key, f->key_len));
}

static bool in_range(const struct tag_filter *f, const struct label *label,
		     const char *unit)
{
	size_t len = strlen(unit);
	struct unit_size size = unit_size_of(unit, len);
	double value = (double)label->num;
	char own[32];

	if (!f->unit_len)
		return value >= f->low && value <= f->high;
	if (size.family != f->family)
		return false;
	if (!f->family) {
		if (f->unit_len >= sizeof(own))
			return false;
		memcpy(own, f->unit, f->unit_len);
		own[f->unit_len] = '\0';
		if (!units_fit(own, unit))
			return false;
	}
	value *= size.factor;
	return value >= f->low && value <= f->high;
}

static bool match_range(const struct tag_filter *f,
			const struct pprof_profile *p,
			const struct tag_units *units,
			const struct label *labels, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (labels[i].is_num && has_key(f, p, &labels[i]) &&
		    in_range(f, &labels[i],
			      tag_units_of(units, p, &labels[i])))
			return true;
	return false;
}

/* Does one expression match a value (or "key:value") of some label? */
static bool match_pattern(struct tag_filter *f, struct pattern *pattern,
			  const struct pprof_profile *p,
			  const struct label *labels, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		const struct label *label = &labels[i];

		if (label->is_num || !has_key(f, p, label))
			continue;
		buf_reset(&f->text);
		if (!f->key) {
			buf_add(&f->text, profile_str(p, label->key),
				strtab_len(&p->strings, label->key));
			buf_byte(&f->text, ':');
		}
		buf_add(&f->text, profile_str(p, label->str),
			strtab_len(&p->strings, label->str));
		if (pattern_match(pattern, f->text.data ? f->text.data : "",
				  f->text.len))
			return true;
	}
	return false;
}

/* With a key any expression will do, without one all must match. */
static bool match_patterns(struct tag_filter *f,
			   const struct pprof_profile *p,
			   const struct label *labels, uint32_t nr)
{
	size_t i;

	for (i = 0; i < f->nr_patterns; i++)
		if (match_pattern(f, &f->patterns[i], p, labels, nr) ==
		    (f->key != NULL))
			return f->key != NULL;
	return f->key == NULL;
}

bool tag_filter_match(struct tag_filter *f, const struct pprof_profile *p,
		      const struct tag_units *units, lset_id id)
{
	const struct label *labels = p->labels + p->lsets[id].labels;
	uint32_t nr = p->lsets[id].nr;

	return f->is_range ? match_range(f, p, units, labels, nr)
			   : match_patterns(f, p, labels, nr);
}
