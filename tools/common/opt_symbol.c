/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns -e, --sysroot, ... into a symbolizer, and its report into messages.
 */
#include <config.h>

#include "opt_symbol.h"

#include "infile.h"
#include "msg.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More threads than this never pays. */
#define MAX_JOBS 256

const struct cli_option opt_symbol_options[] = {
	{ "symbolize", 's', CLI_FLAG, offsetof(struct opt_symbol, symbolize),
	  NULL, "add functions, inlined calls, files and lines (implied by "
	  "-e and by the options on where to look)", 0 },
	{ "binary", 'e', CLI_LIST, offsetof(struct opt_symbol, binaries),
	  "FILE", "a program or library that was mapped; repeat for more", 0 },
	{ "sysroot", 0, CLI_LIST, offsetof(struct opt_symbol, sysroots),
	  "DIR", "look below DIR for the mapped paths", 0 },
	{ "search-dir", 0, CLI_LIST, offsetof(struct opt_symbol, search_dirs),
	  "DIR", "look in DIR by build ID, then by name", 0 },
	{ "debug-dir", 0, CLI_LIST, offsetof(struct opt_symbol, debug_dirs),
	  "DIR", "look here before /usr/lib/debug", 0 },
	{ "path-map", 0, CLI_LIST, offsetof(struct opt_symbol, path_maps),
	  "OLD=NEW", "replace the front of mapped paths", 0 },
	{ "debuginfod", 0, CLI_MAYBE, offsetof(struct opt_symbol, debuginfod),
	  "URL", "ask debuginfod servers for what is not here; without URL "
	  "those in DEBUGINFOD_URLS", 0 },
	{ "symbols", 0, CLI_LIST, offsetof(struct opt_symbol, symbols),
	  "DIR|FILE", "take names from symbol files, before all else", 0 },
	{ "perf-map", 0, CLI_LIST, offsetof(struct opt_symbol, perf_maps),
	  "FILE", "names of code made at run time, as in "
	  "/tmp/perf-PID.map", 0 },
	{ "names", 0, CLI_CHOICE, offsetof(struct opt_symbol, names),
	  "full|short|mangled", "how functions are written; short leaves out "
	  "parameters and template arguments", 0 },
	{ "no-inlines", 0, CLI_FLAG, offsetof(struct opt_symbol, no_inlines),
	  NULL, "leave out inlined calls", 0 },
	{ "noinlines", 0, CLI_FLAG, offsetof(struct opt_symbol, no_inlines),
	  NULL, NULL, 0 },
	{ "keep-allocator-frames", 0, CLI_FLAG,
	  offsetof(struct opt_symbol, keep_allocator_frames), NULL,
	  "keep malloc's own frames", 0 },
	{ "force", 0, CLI_FLAG, offsetof(struct opt_symbol, force), NULL,
	  "take a binary whose build ID differs", 0 },
	{ "force-symbolize", 0, CLI_FLAG, offsetof(struct opt_symbol, redo),
	  NULL, "symbolize again what has names already", 0 },
	{ "jobs", 'j', CLI_NUMBER, offsetof(struct opt_symbol, jobs), "N",
	  "threads to work with (default: one a processor, at most 8)",
	  MAX_JOBS },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

void opt_symbol_fini(struct opt_symbol *symbol)
{
	cli_list_fini(&symbol->binaries);
	cli_list_fini(&symbol->sysroots);
	cli_list_fini(&symbol->search_dirs);
	cli_list_fini(&symbol->debug_dirs);
	cli_list_fini(&symbol->path_maps);
	cli_list_fini(&symbol->symbols);
	cli_list_fini(&symbol->perf_maps);
}

bool opt_symbol_wanted(const struct opt_symbol *symbol)
{
	return symbol->symbolize || symbol->redo || symbol->binaries.nr ||
	       symbol->sysroots.nr || symbol->search_dirs.nr ||
	       symbol->debug_dirs.nr || symbol->path_maps.nr ||
	       symbol->symbols.nr || symbol->perf_maps.nr ||
	       symbol->debuginfod;
}

void opt_symbol_check(const struct opt_symbol *symbol)
{
	const struct cli_list *maps = &symbol->path_maps;
	size_t i;

	/* The only way to tell libdebuginfod. */
	if (symbol->debuginfod && *symbol->debuginfod &&
	    setenv("DEBUGINFOD_URLS", symbol->debuginfod, 1) != 0)
		cli_usage_error("--debuginfod: %s", strerror(errno));
	for (i = 0; i < maps->nr; i++) {
		const char *equals = strchr(maps->items[i], '=');

		if (!equals || equals == maps->items[i])
			cli_usage_error("--path-map: expected OLD=NEW, found "
					"'%s'", maps->items[i]);
	}
}

void opt_symbol_take(const struct opt_symbol *symbol,
		     struct pprof_symbolize_opts *ret_opts)
{
	struct pprof_symbolize_opts opts = PPROF_SYMBOLIZE_OPTS_INIT;

	opts.binaries = symbol->binaries.items;
	opts.nr_binaries = symbol->binaries.nr;
	opts.sysroots = symbol->sysroots.items;
	opts.nr_sysroots = symbol->sysroots.nr;
	opts.debug_dirs = symbol->debug_dirs.items;
	opts.nr_debug_dirs = symbol->debug_dirs.nr;
	opts.search_dirs = symbol->search_dirs.items;
	opts.nr_search_dirs = symbol->search_dirs.nr;
	opts.path_maps = symbol->path_maps.items;
	opts.nr_path_maps = symbol->path_maps.nr;
	opts.symbols = symbol->symbols.items;
	opts.nr_symbols = symbol->symbols.nr;
	opts.perf_maps = symbol->perf_maps.items;
	opts.nr_perf_maps = symbol->perf_maps.nr;
	opts.debuginfod = symbol->debuginfod;
	opts.names = (enum pprof_names)symbol->names;
	opts.no_inlines = symbol->no_inlines;
	opts.keep_allocator_frames = symbol->keep_allocator_frames;
	opts.force = symbol->force;
	opts.redo = symbol->redo;
	opts.nr_threads = (unsigned)symbol->jobs;
	opts.diag = msg_diag;
	*ret_opts = opts;
}

struct pprof_symbolizer *opt_symbol_new(const struct opt_symbol *symbol)
{
	struct pprof_symbolizer *symbolizer = NULL;
	struct pprof_symbolize_opts opts;
	struct pprof_error err;

	opt_symbol_take(symbol, &opts);
	if (pprof_symbolizer_new(&opts, &symbolizer, &err) != PPROF_OK) {
		msg_pprof_error(&err);
		return NULL;
	}
	return symbolizer;
}

static const char *verdict_name(enum pprof_verdict verdict)
{
	switch (verdict) {
	case PPROF_VERDICT_OK:
		return "OK";
	case PPROF_VERDICT_PARTIAL:
		return "PARTIAL";
	case PPROF_VERDICT_FAILED:
		return "FAILED";
	case PPROF_VERDICT_SKIPPED:
		return "SKIPPED";
	}
	return "?";
}

/* Verbose: a row an image, and below it which files were used, and why. */
static void note_image(const struct pprof_image_report *image)
{
	msg_note("%-8s %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
		 "  %s%s%s", verdict_name(image->verdict),
		 image->nr_addresses, image->nr_dwarf, image->nr_symbol,
		 image->nr_unresolved, image->path,
		 *image->build_id ? " " : "", image->build_id);
	if (*image->file)
		msg_note("%-8s file %s", "", image->file);
	if (*image->debug_file)
		msg_note("%-8s debug information in %s", "",
			 image->debug_file);
	if (*image->reason)
		msg_note("%-8s %s", "", image->reason);
}

/* Verbose: the sums over all images. */
static void note_overall(const struct pprof_symbolizer *symbolizer)
{
	size_t nr = pprof_symbolizer_nr_images(symbolizer), i;
	uint64_t nr_asked = 0, nr_dwarf = 0, nr_symbol = 0, nr_none = 0;

	for (i = 0; i < nr; i++) {
		const struct pprof_image_report *image =
			pprof_symbolizer_image(symbolizer, i);

		nr_asked += image->nr_addresses;
		nr_dwarf += image->nr_dwarf;
		nr_symbol += image->nr_symbol;
		nr_none += image->nr_unresolved;
	}
	msg_note("%-8s %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
		 "  overall",
		 verdict_name(pprof_symbolizer_verdict(symbolizer)),
		 nr_asked, nr_dwarf, nr_symbol, nr_none);
}

/* Otherwise: a line for each image that lacks names. */
static void warn_image(const struct pprof_image_report *image)
{
	if (image->verdict != PPROF_VERDICT_PARTIAL &&
	    image->verdict != PPROF_VERDICT_FAILED)
		return;
	msg_warning("%s: %" PRIu64 " of %" PRIu64 " addresses have no name%s%s",
		    *image->path ? image->path : "[no mapping]",
		    image->nr_unresolved, image->nr_addresses,
		    *image->reason ? ": " : "", image->reason);
}

static void tell_images(const struct pprof_symbolizer *symbolizer)
{
	size_t nr = pprof_symbolizer_nr_images(symbolizer);
	bool is_verbose = msg_level() == MSG_VERBOSE;
	size_t i;

	if (is_verbose && nr)
		msg_note("%-8s %9s %8s %8s %8s  %s", "verdict", "addresses",
			 "dwarf", "symbol", "none", "image");
	for (i = 0; i < nr; i++) {
		if (is_verbose)
			note_image(pprof_symbolizer_image(symbolizer, i));
		else
			warn_image(pprof_symbolizer_image(symbolizer, i));
	}
	if (is_verbose)
		note_overall(symbolizer);
}

int opt_symbol_run(struct pprof_symbolizer *symbolizer, bool strict,
		   const char *path, struct pprof_profile *profile)
{
	struct pprof_error err;
	enum pprof_verdict verdict;
	enum pprof_status status;

	progress_start("symbolizing", infile_name(path));
	status = pprof_symbolizer_run(symbolizer, profile, &err);
	progress_stop();
	if (status != PPROF_OK) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	tell_images(symbolizer);
	verdict = pprof_symbolizer_verdict(symbolizer);
	if (strict && (verdict == PPROF_VERDICT_PARTIAL ||
		       verdict == PPROF_VERDICT_FAILED))
		return CLI_EXIT_FAILED;
	return CLI_EXIT_OK;
}
