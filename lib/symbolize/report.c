/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of each image of a run: rows for people and tools.
 */
#include <config.h>

#include "symbolize/symbolize.h"

#include <string.h>

#include "base/mem.h"

/* Counts of one instance of an image. */
struct tally {
	uint64_t nr_asked, nr_dwarf, nr_symbol;
	uint64_t nr_gone; /* without a name, but in no stack any more */
};

static const char *keep_text(struct pprof_symbolizer *s, const char *text)
{
	return arena_strndup(&s->strings, text, strlen(text));
}

static enum pprof_verdict judge_tally(const struct tally *tally)
{
	const uint64_t nr_named = tally->nr_dwarf + tally->nr_symbol;

	if (tally->nr_asked == tally->nr_gone)
		return PPROF_VERDICT_SKIPPED;
	if (nr_named == tally->nr_asked - tally->nr_gone)
		return PPROF_VERDICT_OK;
	return nr_named ? PPROF_VERDICT_PARTIAL : PPROF_VERDICT_FAILED;
}

/* A report with its texts copied; false when out of memory. */
static bool add_report(struct pprof_symbolizer *s,
		       const struct pprof_image_report *report)
{
	struct pprof_image_report *row;

	if (!mem_grow(s->reports, s->cap_reports, s->nr_reports + 1,
		      UINT32_MAX))
		return false;
	row = &s->reports[s->nr_reports];
	*row = *report;
	row->path = keep_text(s, report->path);
	row->file = keep_text(s, report->file);
	row->debug_file = keep_text(s, report->debug_file);
	row->build_id = keep_text(s, report->build_id);
	row->reason = keep_text(s, report->reason);
	if (!row->path || !row->file || !row->debug_file || !row->build_id ||
	    !row->reason)
		return false;
	s->nr_reports++;
	return true;
}

/* Why addresses of an image stayed bare. */
static void explain(const struct run *run, size_t image,
		    const struct pprof_image_report *report, bool is_placed,
		    char reason[REASON_BYTES])
{
	const struct target *target = &run->targets[image];
	const struct binary *binary = target->binary;
	const char *text, *note;

	if (run->images.images[image].is_pseudo)
		text = report->nr_unresolved ? "no file stands behind it" : "";
	else if (!report->nr_addresses)
		text = "named already";
	else if (report->verdict == PPROF_VERDICT_SKIPPED)
		text = "the allocator's own frames, dropped";
	else if (!binary)
		text = target->reason[0] ? target->reason : "no file found";
	else if (binary->status)
		text = binary->err.message;
	else if (!is_placed)
		text = "the range is no part of the file's segments";
	else if (report->verdict == PPROF_VERDICT_OK)
		text = "";
	else if (!binary->debug_path[0])
		text = "no debug information, and some addresses are in no "
		       "symbol";
	else
		text = "some addresses are in no function and no symbol";
	note = binary && is_placed ? binary->note : "";
	format_masked(reason, REASON_BYTES, "%s%s%s", text,
		      note[0] && text[0] ? "; " : "", note);
}

static bool report_tally(struct run *run, size_t image,
			 const struct tally *tally, bool is_placed)
{
	const struct binary *binary = run->targets[image].binary;
	char reason[REASON_BYTES];
	struct pprof_image_report report = {
		.path = image_name(run, image),
		.file = binary ? binary->path : "",
		.debug_file = binary ? binary->debug_path : "",
		.build_id = binary ? binary->build_id : profile_str(
			run->profile, run->images.images[image].build_id),
		.nr_addresses = tally->nr_asked,
		.nr_dwarf = tally->nr_dwarf,
		.nr_symbol = tally->nr_symbol,
		.verdict = judge_tally(tally),
		.reason = reason,
	};

	report.nr_unresolved = report.nr_addresses - report.nr_dwarf -
			       report.nr_symbol;
	if (run->images.images[image].is_pseudo &&
	    report.verdict != PPROF_VERDICT_OK)
		report.verdict = PPROF_VERDICT_SKIPPED;
	explain(run, image, &report, is_placed, reason);
	return add_report(run->symbolizer, &report);
}

static void count_ask(struct tally *tally, const struct ask *ask)
{
	tally->nr_asked++;
	tally->nr_dwarf += ask->source == ANSWER_DWARF;
	tally->nr_symbol += ask->source == ANSWER_SYMBOL;
	tally->nr_gone += ask->source == ANSWER_NONE && ask->is_dropped;
}

/* A row for each instance, and one for ranges that are none. */
static bool report_image(struct run *run, size_t image)
{
	const struct target *target = &run->targets[image];
	const size_t nr_biases = target->placement.nr_biases;
	struct tally *tallies;
	bool ok = true;
	size_t i;

	if (!target->nr_asks && !target->has_named)
		return true;
	tallies = mem_zalloc(nr_biases + 1, sizeof(*tallies));
	if (!tallies)
		return false;
	for (i = 0; i < target->nr_asks; i++) {
		const struct ask *ask = &run->asks[target->first_ask + i];

		count_ask(&tallies[ask->bias == BIAS_NONE ? nr_biases
							  : ask->bias], ask);
	}
	for (i = 0; ok && i <= nr_biases; i++)
		if (tallies[i].nr_asked)
			ok = report_tally(run, image, &tallies[i],
					  i < nr_biases);
	if (ok && !target->nr_asks)
		ok = report_tally(run, image, &tallies[0], false);
	mem_free(tallies);
	return ok;
}

/* Code that no file can name: the vdso, what a JIT compiler made. */
static bool has_no_file(const struct run *run, const struct ask *ask)
{
	if (ask->source != ANSWER_NONE)
		return false;
	if (ask->image == IMAGE_NONE)
		return run->profile->locations[ask->loc].mapping;
	return run->images.images[ask->image].is_pseudo;
}

/* A row for addresses that are in no file. */
static bool report_loose(struct run *run, const struct tally *tally,
			 const char *path, const char *reason, bool is_skipped)
{
	struct pprof_image_report report = {
		.path = path, .file = "", .debug_file = "", .build_id = "",
		.nr_addresses = tally->nr_asked,
		.nr_symbol = tally->nr_symbol,
		.nr_unresolved = tally->nr_asked - tally->nr_symbol,
		.verdict = judge_tally(tally),
	};

	if (!tally->nr_asked)
		return true;
	if (is_skipped && report.verdict != PPROF_VERDICT_OK)
		report.verdict = PPROF_VERDICT_SKIPPED;
	report.reason = report.nr_unresolved ? reason : "";
	return add_report(run->symbolizer, &report);
}

/* Addresses in no mapping at all, or in code of no file. */
static bool report_unmapped(struct run *run)
{
	struct tally nowhere = { 0, 0, 0, 0 }, jit = { 0, 0, 0, 0 };
	size_t i;

	for (i = 0; i < run->nr_asks; i++) {
		const struct ask *ask = &run->asks[i];

		if (ask->image == IMAGE_NONE)
			count_ask(run->profile->locations[ask->loc].mapping
					  ? &jit : &nowhere, ask);
	}
	return report_loose(run, &nowhere, "[unmapped]", "in no mapping",
			    false) &&
	       report_loose(run, &jit, "[anonymous]",
			    "code that is in no file", true);
}

enum pprof_status report_run(struct run *run)
{
	struct tally all = { 0, 0, 0, 0 };
	size_t i;

	for (i = 0; i < run->images.nr; i++)
		if (!report_image(run, i))
			return error_nomem(run->err);
	if (!report_unmapped(run))
		return error_nomem(run->err);
	for (i = 0; i < run->nr_asks; i++)
		if (!has_no_file(run, &run->asks[i]))
			count_ask(&all, &run->asks[i]);
	run->symbolizer->verdict = judge_tally(&all);
	return PPROF_OK;
}

size_t pprof_symbolizer_nr_images(const struct pprof_symbolizer *symbolizer)
{
	return symbolizer->nr_reports;
}

const struct pprof_image_report *
pprof_symbolizer_image(const struct pprof_symbolizer *symbolizer, size_t i)
{
	return &symbolizer->reports[i];
}

enum pprof_verdict
pprof_symbolizer_verdict(const struct pprof_symbolizer *symbolizer)
{
	return symbolizer->verdict;
}
