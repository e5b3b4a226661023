/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels as frames: --tagroot and --tagleaf (google/pprof,
 * internal/driver/tagroot.go). A sample without the label has the frame
 * "<no KEY>"; where that is "thread", its number names it if it has one.
 */
#include <config.h>

#include "base/buf.h"
#include "base/mem.h"
#include "transform/adder.h"
#include "transform/family.h"
#include "transform/filter.h"
#include "transform/resample.h"

/* Most keys on one side. */
#define KEYS_MAX 32

/* Keys of one side, outermost first. */
struct tag_keys {
	str_id keys[KEYS_MAX];
	size_t nr;
};

struct tag_framer {
	struct pprof_profile *profile;
	struct adder adder;
	struct tag_keys root, leaf;
	loc_id *frames; /* [nr_lsets][root.nr + leaf.nr] 0: not made yet */
	bool *matched;  /* [root.nr + leaf.nr] some sample has the label */
	struct buf name;
};

static enum pprof_status parse_keys(struct tag_keys *keys,
				    struct strtab *strings, const char *text,
				    struct pprof_error *err)
{
	size_t len;

	while (text && *text) {
		len = strcspn(text, ",");
		if (keys->nr == KEYS_MAX)
			return error_plain(err, PPROF_LIMIT, NULL,
					   "more than %d keys as frames",
					   KEYS_MAX);
		keys->keys[keys->nr] = strtab_add(strings, text, len);
		if (keys->keys[keys->nr++] == STR_NONE)
			return error_nomem(err);
		text += len;
		text += *text == ',';
	}
	return PPROF_OK;
}

/* Append "value,value" of the labels with this key; false: there is none. */
static bool add_values(struct tag_framer *f, lset_id set, str_id key)
{
	const struct pprof_profile *p = f->profile;
	const struct lset *lset = &p->lsets[set];
	bool any = false;
	uint32_t i;

	for (i = 0; i < lset->nr; i++) {
		const struct label *label = &p->labels[lset->labels + i];

		if (label->key != key)
			continue;
		if (any)
			buf_byte(&f->name, ',');
		any = true;
		if (label->is_num)
			unit_format(&f->name, label->num,
				    profile_str(p, label->unit));
		else
			buf_add(&f->name, profile_str(p, label->str),
				strtab_len(&p->strings, label->str));
	}
	return any;
}

/* A thread without a name goes by its number. */
static bool add_thread_id(struct tag_framer *f, lset_id set)
{
	str_id key = strtab_find(&f->profile->strings, "thread_id", 9);

	buf_str(&f->name, "thread ");
	if (key != STR_NONE && add_values(f, set, key))
		return true;
	buf_reset(&f->name);
	return false;
}

/* The name of the frame; false when no label gave it one. */
static bool name_frame(struct tag_framer *f, lset_id set, str_id key)
{
	const char *text = profile_str(f->profile, key);

	buf_reset(&f->name);
	if (add_values(f, set, key) ||
	    (!strcmp(text, "thread") && add_thread_id(f, set)))
		return true;
	buf_printf(&f->name, "<no %s>", text);
	return false;
}

static loc_id make_frame(struct tag_framer *f, lset_id set, str_id key,
			 bool *matched)
{
	struct pprof_profile *p = f->profile;
	struct location loc = { 0 };
	struct function func = { 0 };
	struct line line = { 0 };

	if (name_frame(f, set, key))
		*matched = true;
	if (!buf_ok(&f->name))
		return ID_FAILED;
	func.name = strtab_add(&p->strings, f->name.data, f->name.len);
	func.file = key;
	if (func.name == STR_NONE)
		return ID_FAILED;
	line.func = adder_function(&f->adder, &func);
	if (line.func == ID_FAILED)
		return ID_FAILED;
	return adder_location(&f->adder, &loc, &line, 1);
}

/* The frames of a label set: those of the root, then those of the leaf. */
static const loc_id *frames_of(struct tag_framer *f, lset_id set)
{
	size_t nr = f->root.nr + f->leaf.nr, i;
	loc_id *frames = f->frames + set * nr;

	if (frames[0])
		return frames;
	for (i = 0; i < nr; i++) {
		str_id key = i < f->root.nr ? f->root.keys[i]
					    : f->leaf.keys[i - f->root.nr];

		frames[i] = make_frame(f, set, key, &f->matched[i]);
		if (frames[i] == ID_FAILED)
			return NULL;
	}
	return frames;
}

/* Add the samples of one old stack, each below and above its own frames. */
static bool add_samples(struct tag_framer *f, struct resample *r)
{
	size_t nr = r->nr_frames, more = f->root.nr + f->leaf.nr, i;
	const loc_id *frames, *old = r->descent.path;
	lset_id set;

	if (!resample_reserve(r, nr + more))
		return false;
	for (i = 0; i < r->nr_samples; i++) {
		set = sample_lset(f->profile, r->samples[i]);
		frames = frames_of(f, set);
		if (!frames)
			return false;
		memcpy(r->frames, frames, f->root.nr * sizeof(*frames));
		memcpy(r->frames + f->root.nr, old, nr * sizeof(*old));
		memcpy(r->frames + f->root.nr + nr, frames + f->root.nr,
		       f->leaf.nr * sizeof(*frames));
		r->nr_frames = nr + more;
		r->stack = STACK_NONE;
		resample_add(r, r->samples[i], set);
	}
	return true;
}

static void tell_unmatched(const struct tag_framer *f, struct diags *diags)
{
	size_t i;

	for (i = 0; i < f->root.nr + f->leaf.nr; i++)
		if (!f->matched[i])
			diag_count(diags, PPROF_UNIT_NONE, 0,
				   "no sample has a label '%s'",
				   profile_str(f->profile, i < f->root.nr ?
					       f->root.keys[i] :
					       f->leaf.keys[i - f->root.nr]));
}

static enum pprof_status run_framer(struct tag_framer *f, struct diags *diags,
				    struct pprof_error *err)
{
	size_t nr = f->root.nr + f->leaf.nr;
	enum pprof_status status;
	struct resample r;

	f->frames = mem_zalloc(f->profile->nr_lsets * nr, sizeof(loc_id));
	f->matched = mem_zalloc(nr, sizeof(*f->matched));
	if (!f->frames || !f->matched || !adder_init(&f->adder, f->profile))
		return error_nomem(err);
	status = resample_init(&r, f->profile, diags, err);
	while (!status && resample_next(&r))
		if (!add_samples(f, &r))
			status = error_nomem(err);
	if (!status)
		status = resample_finish(&r, err);
	resample_fini(&r);
	if (!status)
		tell_unmatched(f, diags);
	return status;
}

enum pprof_status filter_add_tag_frames(struct pprof_profile *profile,
					const char *root, const char *leaf,
					struct diags *diags,
					struct pprof_error *err)
{
	struct tag_framer f = { .profile = profile };
	enum pprof_status status;

	status = parse_keys(&f.root, &profile->strings, root, err);
	if (!status)
		status = parse_keys(&f.leaf, &profile->strings, leaf, err);
	if (status || !(f.root.nr + f.leaf.nr))
		return status;
	buf_init(&f.name, PTRDIFF_MAX);
	status = run_framer(&f, diags, err);
	buf_fini(&f.name);
	adder_fini(&f.adder);
	mem_free(f.frames);
	mem_free(f.matched);
	return status;
}
