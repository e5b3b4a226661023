/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters by name, decided location by location.
 */
#include <config.h>

#include "base/mem.h"
#include "transform/frame_rules.h"

/* A location under work: its lines, innermost first, as they are so far. */
struct edited {
	struct location loc;
	struct line *lines;
	uint32_t nr;
	uint8_t marks;
};

/* --------------------------------------------------------------- matching */

static bool match_line(const struct pprof_profile *p, struct matcher *m,
		       const struct line *line)
{
	const struct function *func = &p->functions[line->func];

	return matcher_ask(m, func->name) || matcher_ask(m, func->file);
}

static bool match_file(const struct pprof_profile *p, struct matcher *m,
		       const struct edited *e)
{
	return e->loc.mapping &&
	       matcher_ask(m, p->mappings[e->loc.mapping].file);
}

/* Any of its lines, or the mapped file. */
static bool match_any(const struct pprof_profile *p, struct matcher *m,
		      const struct edited *e)
{
	uint32_t i;

	if (!matcher_is_set(m))
		return false;
	for (i = 0; i < e->nr; i++)
		if (match_line(p, m, &e->lines[i]))
			return true;
	return match_file(p, m, e);
}

/* Keep the lines whose match with `m` is `wanted`. */
static void keep_lines(const struct pprof_profile *p, struct matcher *m,
		       struct edited *e, bool wanted)
{
	uint32_t i, nr = 0;

	for (i = 0; i < e->nr; i++)
		if (match_line(p, m, &e->lines[i]) == wanted)
			e->lines[nr++] = e->lines[i];
	e->nr = nr;
}

static void apply_focus(struct frame_rules *r, struct edited *e)
{
	if (match_any(r->profile, &r->ignore, e)) {
		r->ignore.matched = true;
		e->marks |= FRAME_IGNORED;
	} else if (match_any(r->profile, &r->focus, e)) {
		r->focus.matched = true;
		e->marks |= FRAME_FOCUSED;
	}
}

static void apply_hide(struct frame_rules *r, struct edited *e)
{
	if (!match_any(r->profile, &r->hide, e))
		return;
	r->hide.matched = true;
	if (match_file(r->profile, &r->hide, e))
		e->nr = 0;
	else
		keep_lines(r->profile, &r->hide, e, false);
	if (!e->nr)
		e->marks |= FRAME_HIDDEN;
}

/* Frames without a name stay where their file is to be shown. */
static void apply_show(struct frame_rules *r, struct edited *e)
{
	bool file;

	if (!matcher_is_set(&r->show) || e->marks & FRAME_HIDDEN)
		return;
	file = match_file(r->profile, &r->show, e);
	if (!file)
		keep_lines(r->profile, &r->show, e, true);
	if (e->nr || file)
		r->show.matched = true;
	else
		e->marks |= FRAME_HIDDEN;
}

static void apply_show_from(struct frame_rules *r, struct edited *e)
{
	uint32_t i;

	if (!matcher_is_set(&r->show_from) || e->marks & FRAME_HIDDEN)
		return;
	if (match_file(r->profile, &r->show_from, e)) {
		e->marks |= FRAME_STARTS;
		r->show_from.matched = true;
		return;
	}
	for (i = e->nr; i; i--) {
		if (!match_line(r->profile, &r->show_from, &e->lines[i - 1]))
			continue;
		e->nr = i;
		e->marks |= FRAME_STARTS;
		r->show_from.matched = true;
		return;
	}
}

/* Take off the first `nr` lines, the innermost ones. */
static void cut_lines(struct edited *e, uint32_t nr)
{
	e->nr -= nr;
	memmove(e->lines, e->lines + nr, e->nr * sizeof(*e->lines));
}

static void apply_prune_from(struct frame_rules *r, struct edited *e)
{
	const struct function *func;
	uint32_t i;

	if (!matcher_is_set(&r->prune_from) || e->marks & FRAME_HIDDEN)
		return;
	for (i = 0; i < e->nr; i++) {
		func = &r->profile->functions[e->lines[i].func];
		if (!func->name || !matcher_ask(&r->prune_from, func->name))
			continue;
		cut_lines(e, i);
		e->marks |= FRAME_ENDS;
		r->prune_from.matched = true;
		return;
	}
}

static bool is_dropped(struct frame_rules *r, const struct line *line)
{
	const struct strtab *strings = &r->profile->strings;
	str_id id = r->profile->functions[line->func].name;
	const char *name = strtab_text(strings, id);
	size_t len = strtab_len(strings, id);

	if (!id)
		return false;
	simplify_function(&name, &len);
	return pattern_match(&r->drop, name, len) &&
	       !(pattern_is_set(&r->keep) &&
		 pattern_match(&r->keep, name, len));
}

/* From the outermost line inwards: the first droppable one and what is in. */
static void apply_drop(struct frame_rules *r, struct edited *e)
{
	uint32_t i;

	for (i = e->nr; i; i--) {
		if (!is_dropped(r, &e->lines[i - 1]))
			continue;
		if (i == e->nr) {
			e->marks |= FRAME_DROPS;
		} else {
			cut_lines(e, i);
			e->marks |= FRAME_DROPS_REST;
		}
		return;
	}
}

static bool edit_location(struct frame_rules *r, size_t id)
{
	struct pprof_profile *p = r->profile;
	struct edited e = { .loc = p->locations[id] };

	if (!mem_grow(r->lines, r->cap_lines, (size_t)e.loc.nr_lines + 1,
		      UINT32_MAX))
		return false;
	e.lines = r->lines;
	e.nr = e.loc.nr_lines;
	if (e.nr)
		memcpy(e.lines, p->lines + e.loc.lines,
		       e.nr * sizeof(*e.lines));
	if (pattern_is_set(&r->drop)) {
		apply_drop(r, &e);
	} else {
		apply_focus(r, &e);
		apply_hide(r, &e);
		apply_show(r, &e);
		apply_show_from(r, &e);
		apply_prune_from(r, &e);
	}
	r->marks[id] = e.marks;
	r->becomes[id] = (loc_id)id;
	if (e.nr < e.loc.nr_lines && !(e.marks & FRAME_HIDDEN))
		r->becomes[id] = adder_location(&r->adder, &e.loc, e.lines,
						e.nr);
	return r->becomes[id] != ID_FAILED;
}

/* ------------------------------------------------------------------ tables */

static enum pprof_status edit_locations(struct frame_rules *r,
					struct pprof_error *err)
{
	size_t i;

	r->nr = r->profile->nr_locations;
	r->marks = mem_zalloc(r->nr, sizeof(*r->marks));
	r->becomes = mem_zalloc(r->nr, sizeof(*r->becomes));
	if (!r->marks || !r->becomes || !adder_init(&r->adder, r->profile))
		return error_nomem(err);
	for (i = 1; i < r->nr; i++)
		if (!edit_location(r, i))
			return error_nomem(err);
	return PPROF_OK;
}

enum pprof_status frame_rules_init(struct frame_rules *r,
				   struct pprof_profile *profile,
				   const struct frame_opts *opts,
				   struct pprof_error *err)
{
	struct {
		struct matcher *matcher;
		const char *option;
		const char *text;
	} all[] = {
		{ &r->focus, "focus", opts->focus },
		{ &r->ignore, "ignore", opts->ignore },
		{ &r->hide, "hide", opts->hide },
		{ &r->show, "show", opts->show },
		{ &r->show_from, "show-from", opts->show_from },
		{ &r->prune_from, "prune-from", opts->prune_from }
	};
	enum pprof_status status = PPROF_OK;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->profile = profile;
	for (i = 0; !status && i < sizeof(all) / sizeof(*all); i++)
		status = matcher_init(all[i].matcher, all[i].option,
				      all[i].text, profile, err);
	r->prune_from.simplified = true;
	if (!status)
		status = edit_locations(r, err);
	for (i = 0; !status && i < sizeof(all) / sizeof(*all); i++)
		status = matcher_check(all[i].matcher, err);
	return status;
}

enum pprof_status frame_rules_init_drop(struct frame_rules *r,
					struct pprof_profile *profile,
					struct pprof_error *err)
{
	const struct strtab *strings = &profile->strings;
	enum pprof_status status;

	memset(r, 0, sizeof(*r));
	r->profile = profile;
	status = pattern_init(&r->drop, "drop_frames of the profile",
			      strtab_text(strings, profile->drop_frames),
			      strtab_len(strings, profile->drop_frames), true,
			      err);
	if (!status && profile->keep_frames)
		status = pattern_init(&r->keep, "keep_frames of the profile",
				      strtab_text(strings,
						  profile->keep_frames),
				      strtab_len(strings,
						 profile->keep_frames),
				      true, err);
	if (!status)
		status = edit_locations(r, err);
	if (!status && (r->drop.gave_up || r->keep.gave_up))
		status = error_plain(err, PPROF_LIMIT, NULL,
				     "drop_frames of the profile takes too "
				     "many steps on some name");
	return status;
}

void frame_rules_fini(struct frame_rules *r)
{
	matcher_fini(&r->focus);
	matcher_fini(&r->ignore);
	matcher_fini(&r->hide);
	matcher_fini(&r->show);
	matcher_fini(&r->show_from);
	matcher_fini(&r->prune_from);
	pattern_fini(&r->drop);
	pattern_fini(&r->keep);
	adder_fini(&r->adder);
	mem_free(r->marks);
	mem_free(r->becomes);
	mem_free(r->lines);
	memset(r, 0, sizeof(*r));
}

/* ------------------------------------------------------------------ stacks */

static bool is_wanted(const struct frame_rules *r, const loc_id *stack,
		      size_t nr)
{
	uint8_t marks = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		marks |= r->marks[stack[i]];
	if (marks & FRAME_IGNORED)
		return false;
	return !matcher_is_set(&r->focus) || marks & FRAME_FOCUSED;
}

/*
 * After the first frame of the user's own, cut at the first that drops its
 * callees (profile/prune.go, Prune).
 */
static size_t drop_callees(const struct frame_rules *r, const loc_id *stack,
			   size_t nr)
{
	bool met_user = false;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint8_t marks = r->marks[stack[i]] &
				(FRAME_DROPS | FRAME_DROPS_REST);

		if (!marks)
			met_user = true;
		else if (met_user)
			return marks & FRAME_DROPS ? i : i + 1;
	}
	return nr;
}

/* Frames [first, *nr) of the stack are shown; false: none is. */
static bool find_range(const struct frame_rules *r, const loc_id *stack,
		       size_t *ret_first, size_t *nr)
{
	size_t first = 0, end = *nr;

	if (matcher_is_set(&r->show_from)) {
		while (first < end && !(r->marks[stack[first]] & FRAME_STARTS))
			first++;
		if (first == end)
			return false;
	}
	if (matcher_is_set(&r->prune_from)) {
		while (end > first && !(r->marks[stack[end - 1]] & FRAME_ENDS))
			end--;
		if (end == first)
			end = *nr;
	}
	*ret_first = first;
	*nr = end;
	return true;
}

bool frame_rules_apply(const struct frame_rules *r, loc_id *stack, size_t *nr)
{
	size_t shown = 0, first = 0, i;

	if (!is_wanted(r, stack, *nr))
		return false;
	if (pattern_is_set(&r->drop))
		*nr = drop_callees(r, stack, *nr);
	for (i = 0; i < *nr; i++)
		if (!(r->marks[stack[i]] & FRAME_HIDDEN))
			stack[shown++] = stack[i];
	if (!find_range(r, stack, &first, &shown))
		return false;
	*nr = shown - first;
	for (i = 0; i < *nr; i++)
		stack[i] = r->becomes[stack[first + i]];
	return true;
}
