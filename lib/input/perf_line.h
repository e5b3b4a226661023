/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of `perf script`: headers of samples, frames, memory map records.
 */
#ifndef INPUT_PERF_LINE_H
#define INPUT_PERF_LINE_H

#include "base/cursor.h"

/* "comm pid/tid [cpu] time: period event: ..." Texts point into the line. */
struct perf_header {
	const char *comm;
	size_t comm_len;
	uint64_t pid;
	uint64_t tid;
	uint64_t time_ns;
	uint64_t period;
	bool has_time;
	bool has_period;
	const char *event;
	size_t event_len;
	const char *rest; /* behind the event: a frame, or fields of it */
};

/* "  address symbol+0xoffset (dso)" */
struct perf_frame {
	uint64_t address;
	const char *name;  /* NULL: unknown */
	size_t name_len;
	const char *dso;   /* NULL: unknown */
	size_t dso_len;
	bool is_inlined;
};

/* "PERF_RECORD_MMAP2 pid/tid: [start(length) @ offset ...]: r-xp path" */
struct perf_map {
	uint64_t start, length, offset;
	const char *path;
	size_t path_len;
	const char *build_id; /* NULL: not told */
	size_t build_id_len;
	bool is_code;
};

bool perf_parse_header(const char *p, const char *end,
		       struct perf_header *ret);
bool perf_parse_frame(const char *p, const char *end, struct perf_frame *ret);
bool perf_parse_map(const char *p, const char *end, struct perf_map *ret);

#endif
