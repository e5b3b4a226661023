/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters under the names that pprof and jeprof have for them.
 */
#include <config.h>

#include "opt_filter.h"

#include "msg.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(name, member, arg, help) \
	{ name, 0, CLI_TEXT, offsetof(struct opt_filter, member), arg, help, \
	  0 }
#define FLAG(name, member, help) \
	{ name, 0, CLI_FLAG, offsetof(struct opt_filter, member), NULL, \
	  help, 0 }

const struct cli_option opt_filter_options[] = {
	TEXT("focus", focus, "RE", "keep stacks with a frame that matches"),
	TEXT("ignore", ignore, "RE", "leave out stacks with one that matches"),
	TEXT("hide", hide, "RE", "leave out frames that match; also "
	     "--exclude"),
	TEXT("exclude", hide, "RE", NULL),
	TEXT("show", show, "RE", "keep only frames that match; also "
	     "--retain"),
	TEXT("retain", show, "RE", NULL),
	TEXT("show-from", show_from, "RE", "leave out the callers of the "
	     "outermost frame that matches"),
	TEXT("show_from", show_from, "RE", NULL),
	TEXT("prune-from", prune_from, "RE", "leave out the callees of the "
	     "innermost function that matches"),
	TEXT("prune_from", prune_from, "RE", NULL),
	TEXT("tagfocus", tagfocus, "[KEY=]WHAT", "keep samples by label: "
	     "expressions divided by commas, or a range as 4mb:64mb"),
	TEXT("tagignore", tagignore, "[KEY=]WHAT", "leave them out"),
	TEXT("tagshow", tagshow, "RE", "keep only labels whose key matches"),
	TEXT("taghide", taghide, "RE", "leave out labels whose key matches"),
	TEXT("tagroot", tagroot, "KEY,...", "labels as frames at the root"),
	TEXT("tagleaf", tagleaf, "KEY,...", "labels as frames at the leaf"),
	TEXT("thread", thread, "RE", "keep threads by name or number"),
	FLAG("collapse-recursion", collapse_recursion,
	     "calls of a function to itself are one frame"),
	FLAG("drop-negative", drop_negative, "leave out what shrank"),
	FLAG("drop_negative", drop_negative, NULL),
	{ "divide-by", 0, CLI_DIVISOR, offsetof(struct opt_filter, divide_by),
	  "N", "divide all values", UINT32_MAX },
	{ "divide_by", 0, CLI_DIVISOR, offsetof(struct opt_filter, divide_by),
	  "N", NULL, UINT32_MAX },
	FLAG("relative-percentages", relative_percentages,
	     "percentages of what is kept, not of the whole"),
	FLAG("relative_percentages", relative_percentages, NULL),
	FLAG("drop-frames", drop_frames,
	     "leave out frames that the profile marks as of no interest"),
	FLAG("all-frames", all_frames, "keep them"),
	FLAG("all_frames", all_frames, NULL),
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

void opt_filter_fini(struct opt_filter *filter)
{
	cli_list_fini(&filter->stated);
	free(filter->text);
	filter->text = NULL;
}

/* "name=value" lines for the header of reports, in pprof's order. */
static void state_filters(struct opt_filter *f)
{
	const struct {
		const char *name;
		const char *value;
	} all[] = {
		{ "focus", f->focus },
		{ "ignore", f->ignore },
		{ "prune_from", f->prune_from },
		{ "hide", f->hide },
		{ "show", f->show },
		{ "show_from", f->show_from },
		{ "tagfocus", f->tagfocus },
		{ "tagignore", f->tagignore },
		{ "tagshow", f->tagshow },
		{ "taghide", f->taghide },
		{ "tagroot", f->tagroot },
		{ "tagleaf", f->tagleaf },
		{ "thread", f->thread },
		{ "collapse_recursion", f->collapse_recursion ? "true" : NULL }
	};
	size_t nr = sizeof(all) / sizeof(*all), need = 1, i;
	char *at;

	for (i = 0; i < nr; i++)
		if (all[i].value && *all[i].value)
			need += strlen(all[i].name) + strlen(all[i].value) + 2;
	f->text = msg_xrealloc(f->text, need, 1);
	at = f->text;
	for (i = 0; i < nr; i++) {
		if (!all[i].value || !*all[i].value)
			continue;
		cli_list_add(&f->stated, at);
		at += snprintf(at, need - (size_t)(at - f->text), "%s=%s",
			       all[i].name, all[i].value) + 1;
	}
}

/* What percentages refer to; 0: what is left. */
static int64_t total_before(const struct opt_filter *f,
			    const struct pprof_profile *profile,
			    int sample_type,
			    const struct pprof_filter_result *result)
{
	size_t type = sample_type >= 0
			      ? (size_t)sample_type
			      : pprof_profile_default_sample_type(profile);

	if (f->relative_percentages ||
	    !pprof_profile_nr_sample_types(profile))
		return 0;
	if (f->mean && result->totals[0])
		return result->totals[type] / result->totals[0];
	return result->totals[type];
}

bool opt_filter_run(struct opt_filter *f, struct pprof_profile *profile,
		    int sample_type, int64_t *ret_total)
{
	struct pprof_filter_opts opts = PPROF_FILTER_OPTS_INIT;
	struct pprof_filter_result result;
	enum pprof_status status;
	struct pprof_error err;

	opts.focus = f->focus;
	opts.ignore = f->ignore;
	opts.hide = f->hide;
	opts.show = f->show;
	opts.show_from = f->show_from;
	opts.prune_from = f->prune_from;
	opts.tagfocus = f->tagfocus;
	opts.tagignore = f->tagignore;
	opts.tagshow = f->tagshow;
	opts.taghide = f->taghide;
	opts.tagroot = f->tagroot;
	opts.tagleaf = f->tagleaf;
	opts.thread = f->thread;
	opts.drop_frames = f->drop_frames && !f->all_frames;
	opts.collapse_recursion = f->collapse_recursion;
	opts.drop_negative = f->drop_negative;
	opts.sample_type = sample_type;
	opts.divide_by = f->divide_by;
	opts.diag = msg_diag;
	if (!f->text)
		state_filters(f);
	progress_start("filtering", "the profile");
	status = pprof_profile_filter(profile, &opts, &result, &err);
	progress_stop();
	if (status != PPROF_OK) {
		msg_pprof_error(&err);
		return false;
	}
	if (ret_total)
		*ret_total = total_before(f, profile, sample_type, &result);
	return true;
}
