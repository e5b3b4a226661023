/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the symbolizer over a profile, shared by the files that carry
 * it out: symbolize.c collects the addresses and has them answered, choose.c
 * picks the files, report.c says what came of it.
 */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include "symbolize/finder.h"
#include "symbolize/images.h"
#include "symbolize/place.h"

/* Longest reason in a report, and text of all reports of one run. */
#define REASON_BYTES 512
#define REPORT_TEXT_MAX ((uint64_t)256 << 20)

struct pprof_symbolizer {
	struct pprof_symbolize_opts opts; /* its lists are finder's copies */
	struct module_opts module_opts;
	struct finder finder;
	struct diags diags;
	/* Of the last run. */
	struct arena strings;
	struct pprof_image_report *reports;
	size_t nr_reports, cap_reports;
	enum pprof_verdict verdict;
};

/* An address that wants a name. */
struct ask {
	uint64_t address; /* run-time; without signature bits */
	uint64_t vaddr;   /* link-time, when bias is known */
	loc_id loc;
	uint32_t image;   /* IMAGE_NONE: in none */
	uint32_t bias;    /* index in the target's placement, or BIAS_NONE */
	uint32_t above;   /* of an address in a hole: the image above it */
	map_id map;       /* mapping to look through; 0: a hole */
	uint8_t source;   /* enum answer_source, when resolved */
	bool is_signed;   /* a pointer whose signature was taken off */
	bool is_dropped;  /* a frame of the allocator, in no stack any more */
};

/* What was chosen for an image. */
struct target {
	struct binary *binary; /* NULL: no file */
	struct placement placement;
	size_t first_ask;      /* run.asks once sorted */
	size_t nr_asks;
	size_t nr_wanted;      /* addresses that make a file worth finding */
	bool has_named;        /* a location had its names before */
	bool is_forced;
	char reason[REASON_BYTES]; /* why a file was refused, or "" */
};

struct run {
	struct pprof_symbolizer *symbolizer;
	struct pprof_profile *profile;
	struct images images;
	struct target *targets; /* [images.nr] */
	struct ask *asks;
	size_t nr_asks, cap_asks;
	size_t nr_named;        /* locations that got names */
	struct pprof_error *err;
};

/*
 * Pick the file of each image that is wanted: given binaries first. OK,
 * NOMEM, IO (a given binary cannot be read), MISMATCH (it does not fit).
 */
enum pprof_status choose_files(struct run *run);

/* Fill the symbolizer's reports from a run that is through. OK or NOMEM. */
enum pprof_status report_run(struct run *run);

/* Layout of a binary for place.h. */
struct elf_layout binary_layout(const struct binary *binary);

/*
 * Answer ascending link-time addresses from the binary's symbols, debug
 * information or symbol file. OK, NOMEM, LIMIT, FORMAT (a file of no use).
 * answers_fini() after OK.
 */
enum pprof_status binary_resolve(struct pprof_symbolizer *symbolizer,
				 struct binary *binary, const uint64_t *vaddrs,
				 size_t nr, struct answers *ret_answers,
				 struct pprof_error *err);

/* Threads to work with when `wanted` were asked for; 0: the default. */
unsigned symbolizer_threads(unsigned wanted);

/* Name of an image for messages. */
const char *image_name(const struct run *run, size_t image);

#endif
