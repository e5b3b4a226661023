/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof_profile_filter(): the order of the filters, and those that look at
 * label sets and values. What names do is in frame_rules.c.
 */
#include <config.h>

#include "base/mem.h"
#include "base/opts.h"
#include "profile/total.h"
#include "transform/filter.h"
#include "transform/frame_rules.h"
#include "transform/resample.h"
#include "transform/scale.h"
#include "transform/tags.h"

#include <math.h>

/* What is known of a label set. */
enum lset_state { LSET_UNKNOWN = 0, LSET_OUT, LSET_IN };

/* The work of one pass over the samples. */
struct filter {
	struct pprof_profile *profile;
	const struct pprof_filter_opts *opts;
	struct diags *diags;
	struct frame_rules frames;
	struct tag_filter tagfocus, tagignore;
	struct tag_units units;
	struct matcher tagshow, taghide;
	struct pattern thread;
	bool thread_matched;
	uint8_t *state;   /* [nr_lsets] enum lset_state */
	lset_id *becomes; /* [nr_lsets] of those that are in */
	struct label *labels; /* scratch */
	size_t cap_labels;
	size_t type;      /* whose sign --drop-negative looks at */
};

/* ----------------------------------------------------------------- labels */

/* Labels "thread" (a name) and "thread_id". */
static bool match_thread(struct filter *f, lset_id id)
{
	const struct pprof_profile *p = f->profile;
	const struct lset *set = &p->lsets[id];
	char number[24];
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		const struct label *label = &p->labels[set->labels + i];
		const char *key = profile_str(p, label->key);

		if (strcmp(key, "thread") != 0 && strcmp(key, "thread_id") &&
		    strcmp(key, "thread_name") != 0)
			continue;
		if (label->is_num)
			snprintf(number, sizeof(number), "%lld",
				 (long long)label->num);
		if (label->is_num
			    ? pattern_match(&f->thread, number, strlen(number))
			    : pattern_match(&f->thread,
					    profile_str(p, label->str),
					    strtab_len(&p->strings,
						       label->str)))
			return true;
	}
	return false;
}

static bool is_lset_in(struct filter *f, lset_id id)
{
	const struct pprof_profile *p = f->profile;
	bool in = true;

	if (pattern_is_set(&f->thread)) {
		in = match_thread(f, id);
		f->thread_matched |= in;
	}
	if (f->tagfocus.is_set) {
		bool met = tag_filter_match(&f->tagfocus, p, &f->units, id);

		f->tagfocus.matched |= met;
		in = in && met;
	}
	if (f->tagignore.is_set) {
		bool met = tag_filter_match(&f->tagignore, p, &f->units, id);

		f->tagignore.matched |= met;
		in = in && !met;
	}
	return in;
}

/* The set without the labels that are not to be shown. */
static bool relabel(struct filter *f, struct resample *r, lset_id id)
{
	const struct pprof_profile *p = f->profile;
	const struct lset *set = &p->lsets[id];
	size_t nr = 0, i;

	if (!mem_grow(f->labels, f->cap_labels, (size_t)set->nr + 1,
		      UINT32_MAX))
		return false;
	for (i = 0; i < set->nr; i++) {
		const struct label *label = &p->labels[set->labels + i];

		if (matcher_is_set(&f->tagshow) &&
		    !matcher_ask(&f->tagshow, label->key))
			continue;
		f->tagshow.matched = true;
		if (matcher_ask(&f->taghide, label->key)) {
			f->taghide.matched = true;
			continue;
		}
		f->labels[nr++] = *label;
	}
	f->becomes[id] = resample_lset(r, f->labels, nr);
	return f->becomes[id] != ID_FAILED;
}

/* Look at a label set once; false on failure. */
static bool judge_lset(struct filter *f, struct resample *r, lset_id id)
{
	if (f->state[id])
		return true;
	f->state[id] = is_lset_in(f, id) ? LSET_IN : LSET_OUT;
	f->becomes[id] = id;
	if (f->state[id] == LSET_OUT || !r->relabels)
		return true;
	return relabel(f, r, id);
}

/* ---------------------------------------------------------------- samples */

/* True when two locations show the same functions. */
static bool same_functions(const struct pprof_profile *p, loc_id a, loc_id b)
{
	const struct location *la = &p->locations[a], *lb = &p->locations[b];
	uint32_t i;

	if (a == b)
		return true;
	if (la->nr_lines != lb->nr_lines || !la->nr_lines)
		return false;
	for (i = 0; i < la->nr_lines; i++)
		if (p->functions[p->lines[la->lines + i].func].name !=
		    p->functions[p->lines[lb->lines + i].func].name)
			return false;
	return true;
}

/* Of frames that call themselves the innermost stays. */
static void collapse_recursion(const struct pprof_profile *p,
			       struct resample *r)
{
	size_t nr = 0, i;

	for (i = 0; i < r->nr_frames; i++) {
		if (nr && same_functions(p, r->frames[nr - 1], r->frames[i]))
			nr--;
		r->frames[nr++] = r->frames[i];
	}
	r->nr_frames = nr;
}

static bool filter_stack(struct filter *f, struct resample *r)
{
	const struct pprof_profile *p = f->profile;
	lset_id lset;
	size_t i;

	if (!frame_rules_apply(&f->frames, r->frames, &r->nr_frames))
		return true;
	if (f->opts->collapse_recursion)
		collapse_recursion(p, r);
	for (i = 0; i < r->nr_samples; i++) {
		lset = sample_lset(p, r->samples[i]);
		if (!judge_lset(f, r, lset))
			return false;
		if (f->state[lset] == LSET_OUT ||
		    (f->opts->drop_negative &&
		     p->values[f->type][r->samples[i]] < 0))
			continue;
		resample_add(r, r->samples[i], f->becomes[lset]);
	}
	return true;
}

static enum pprof_status run_pass(struct filter *f, struct pprof_error *err)
{
	enum pprof_status status;
	struct resample r;

	status = resample_init(&r, f->profile, f->diags, err);
	if (status) {
		resample_fini(&r);
		return status;
	}
	r.relabels = matcher_is_set(&f->tagshow) ||
		     matcher_is_set(&f->taghide);
	while (!status && resample_next(&r))
		if (!filter_stack(f, &r))
			status = error_nomem(err);
	if (!status)
		status = resample_finish(&r, err);
	resample_fini(&r);
	return status;
}

/* ----------------------------------------------------------------- set-up */

static enum pprof_status init_labels(struct filter *f,
				     struct pprof_error *err)
{
	const struct pprof_filter_opts *o = f->opts;
	struct pprof_profile *p = f->profile;
	enum pprof_status status;

	f->state = mem_zalloc(p->nr_lsets, sizeof(*f->state));
	f->becomes = mem_zalloc(p->nr_lsets, sizeof(*f->becomes));
	if (!f->state || !f->becomes || !tag_units_init(&f->units, p))
		return error_nomem(err);
	status = tag_filter_init(&f->tagfocus, "tagfocus", o->tagfocus, err);
	if (!status)
		status = tag_filter_init(&f->tagignore, "tagignore",
					 o->tagignore, err);
	if (!status)
		status = matcher_init(&f->tagshow, "tagshow", o->tagshow, p,
				      err);
	if (!status)
		status = matcher_init(&f->taghide, "taghide", o->taghide, p,
				      err);
	if (!status && o->thread && *o->thread)
		status = pattern_init(&f->thread, "thread", o->thread,
				      strlen(o->thread), false, err);
	return status;
}

static void fini_filter(struct filter *f)
{
	frame_rules_fini(&f->frames);
	tag_filter_fini(&f->tagfocus);
	tag_filter_fini(&f->tagignore);
	tag_units_fini(&f->units);
	matcher_fini(&f->tagshow);
	matcher_fini(&f->taghide);
	pattern_fini(&f->thread);
	mem_free(f->state);
	mem_free(f->becomes);
	mem_free(f->labels);
}

static void tell_unmatched(const struct filter *f)
{
	const struct {
		const char *option;
		bool is_set;
		bool matched;
	} all[] = {
#define ROW(name, matcher) { name, matcher_is_set(&(matcher)), \
			     (matcher).matched }
		ROW("focus", f->frames.focus),
		ROW("ignore", f->frames.ignore),
		ROW("hide", f->frames.hide),
		ROW("show", f->frames.show),
		ROW("show-from", f->frames.show_from),
		ROW("prune-from", f->frames.prune_from),
		ROW("tagshow", f->tagshow),
		ROW("taghide", f->taghide),
#undef ROW
		{ "tagfocus", f->tagfocus.is_set, f->tagfocus.matched },
		{ "tagignore", f->tagignore.is_set, f->tagignore.matched },
		{ "thread", pattern_is_set(&f->thread), f->thread_matched }
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].is_set && !all[i].matched)
			diag_count(f->diags, PPROF_UNIT_NONE, i,
				   "%s expression matched no samples",
				   all[i].option);
	if (f->tagfocus.is_range || f->tagignore.is_range)
		diag_count(f->diags, PPROF_UNIT_NONE, 0,
			   "%s: the value is taken as a range of numbers, "
			   "not as an expression",
			   f->tagfocus.is_range ? "tagfocus" : "tagignore");
}

static bool is_set(const char *text)
{
	return text && *text;
}

/* Does any option ask for the main pass? */
static bool needs_pass(const struct pprof_filter_opts *o)
{
	return is_set(o->focus) || is_set(o->ignore) || is_set(o->hide) ||
	       is_set(o->show) || is_set(o->show_from) ||
	       is_set(o->prune_from) || is_set(o->tagfocus) ||
	       is_set(o->tagignore) || is_set(o->tagshow) ||
	       is_set(o->taghide) || is_set(o->thread) ||
	       o->collapse_recursion || o->drop_negative;
}

static enum pprof_status main_pass(struct pprof_profile *profile,
				   const struct pprof_filter_opts *opts,
				   struct diags *diags,
				   struct pprof_error *err)
{
	struct filter f = { .profile = profile, .opts = opts,
			    .diags = diags };
	struct frame_opts frames = { opts->focus, opts->ignore, opts->hide,
				     opts->show, opts->show_from,
				     opts->prune_from };
	enum pprof_status status;

	status = profile_pick_type(profile, opts->sample_type, &f.type, err);
	if (!status)
		status = frame_rules_init(&f.frames, profile, &frames, err);
	if (!status)
		status = init_labels(&f, err);
	if (!status)
		status = run_pass(&f, err);
	if (!status)
		status = matcher_check(&f.tagshow, err);
	if (!status)
		status = matcher_check(&f.taghide, err);
	if (!status)
		tell_unmatched(&f);
	fini_filter(&f);
	return status;
}

/*
 * Frames that the profile itself wants dropped. Its expression may be one
 * that does not compile here: then the frames stay, and it is said.
 */
static enum pprof_status drop_pass(struct pprof_profile *profile,
				   struct diags *diags,
				   struct pprof_error *err)
{
	struct filter f = { .profile = profile };
	struct pprof_filter_opts none = PPROF_FILTER_OPTS_INIT;
	enum pprof_status status;
	struct pprof_error mistake;

	f.opts = &none;
	f.diags = diags;
	status = frame_rules_init_drop(&f.frames, profile, &mistake);
	if (!status)
		status = init_labels(&f, &mistake);
	if (!status)
		status = run_pass(&f, &mistake);
	fini_filter(&f);
	if (status == PPROF_USAGE || status == PPROF_LIMIT) {
		diag_count(diags, PPROF_UNIT_NONE, 0, "%s; no frames are "
			   "dropped", mistake.message);
		return PPROF_OK;
	}
	if (status && err)
		*err = mistake;
	return status;
}

static void take_totals(const struct pprof_profile *profile,
			struct pprof_filter_result *result)
{
	size_t i;

	if (!result)
		return;
	for (i = 0; i < profile->nr_types; i++)
		result->totals[i] = profile_shown_total(profile, i, NULL);
}

_Static_assert(PPROF_SAMPLE_TYPES_MAX == SAMPLE_TYPES_MAX,
	       "pprof.h has the number of sample types");

enum pprof_status pprof_profile_filter(struct pprof_profile *profile,
				       const struct pprof_filter_opts *opts,
				       struct pprof_filter_result *ret_result,
				       struct pprof_error *err)
{
	struct pprof_filter_opts o = PPROF_FILTER_OPTS_INIT;
	enum pprof_status status = opts_take(&o, sizeof(o), opts, err);
	struct diags diags;
	size_t i;

	if (status)
		return status;
	if (o.divide_by < 0 || isnan(o.divide_by))
		return error_plain(err, PPROF_USAGE, NULL,
				   "divide-by: expected a number above 0");
	diags_init(&diags, NULL);
	if (o.drop_frames && profile->drop_frames)
		status = drop_pass(profile, &diags, err);
	if (!status)
		status = filter_add_tag_frames(profile, o.tagroot, o.tagleaf,
					       &diags, err);
	if (status)
		return status;
	take_totals(profile, ret_result);
	if (needs_pass(&o))
		status = main_pass(profile, &o, &diags, err);
	if (status)
		return status;
	for (i = 0; o.divide_by > 0 && i < profile->nr_types; i++)
		scale_column(profile, i, 1 / o.divide_by, &diags);
	diags_flush(&diags, o.diag, o.diag_ctx);
	return PPROF_OK;
}
