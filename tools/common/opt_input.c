/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns --format, --maps, --time, ... into struct pprof_read_opts.
 */
#include <config.h>

#include "opt_input.h"

#include "infile.h"
#include "msg.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000

/* A tick of less than a nanosecond is none. */
#define HZ_MAX NS_PER_S

const struct cli_option opt_input_options[] = {
	{ "format", 0, CLI_TEXT, offsetof(struct opt_input, format), "NAME",
	  "format of the input (default: found out)", 0 },
	{ "list-formats", 0, CLI_FLAG,
	  offsetof(struct opt_input, list_formats), NULL,
	  "print the formats that are read and written, and exit", 0 },
	{ "maps", 0, CLI_TEXT, offsetof(struct opt_input, maps), "FILE",
	  "use this copy of /proc/PID/maps", 0 },
	{ "root-first", 0, CLI_FLAG, offsetof(struct opt_input, root_first),
	  NULL, "lines of raw addresses begin with the root, not the leaf",
	  0 },
	{ "hz", 0, CLI_TEXT, offsetof(struct opt_input, hz_text), "N",
	  "the profiler looked N times a second: gives time to a CPU "
	  "profile that only counts samples", 0 },
	{ "raw-counts", 0, CLI_FLAG, offsetof(struct opt_input, raw_counts),
	  NULL, "keep the numbers of the file, do not scale samples up", 0 },
	{ "threads", 0, CLI_FLAG, offsetof(struct opt_input, threads), NULL,
	  "keep threads apart, as labels", 0 },
	{ "time", 0, CLI_TEXT, offsetof(struct opt_input, time), "TIME",
	  "when it was taken: seconds since 1970, or "
	  "2024-05-31T12:00:00Z (default: the input's, else the file's)", 0 },
	{ "strict", 0, CLI_FLAG, offsetof(struct opt_input, strict), NULL,
	  "warnings about the input are errors; missing names exit 1", 0 },
	{ "max", 0, CLI_LIST, offsetof(struct opt_input, max), "LIMIT=N",
	  "raise or lower a limit that a message named", 0 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* Members of struct pprof_limits by name. */
struct limit_row {
	const char *name;
	size_t offset;
	bool is_wide; /* uint64_t, not uint32_t */
};

static const struct limit_row limit_rows[] = {
	{ "input_bytes", offsetof(struct pprof_limits, input_bytes), true },
	{ "inflated_bytes", offsetof(struct pprof_limits, inflated_bytes),
	  true },
	{ "inflate_ratio", offsetof(struct pprof_limits, inflate_ratio),
	  true },
	{ "string_bytes", offsetof(struct pprof_limits, string_bytes), true },
	{ "strings_bytes", offsetof(struct pprof_limits, strings_bytes),
	  true },
	{ "line_bytes", offsetof(struct pprof_limits, line_bytes), true },
	{ "samples", offsetof(struct pprof_limits, samples), false },
	{ "locations", offsetof(struct pprof_limits, locations), false },
	{ "frames", offsetof(struct pprof_limits, frames), false },
	{ "labels", offsetof(struct pprof_limits, labels), false },
	{ "mappings", offsetof(struct pprof_limits, mappings), false }
};

#define NR_LIMIT_ROWS (sizeof(limit_rows) / sizeof(*limit_rows))

static const struct limit_row *find_limit(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < NR_LIMIT_ROWS; i++) {
		if (strlen(limit_rows[i].name) == len &&
		    !strncmp(limit_rows[i].name, text, len))
			return &limit_rows[i];
	}
	return NULL;
}

static void set_limit(struct pprof_limits *limits, const char *text)
{
	size_t len = strcspn(text, "=");
	const struct limit_row *row = find_limit(text, len);
	uint64_t value;
	char *member;

	if (!row)
		cli_usage_error("--max: no limit is called '%.*s'", (int)len,
				text);
	if (!text[len] ||
	    !cli_u64(text + len + 1, row->is_wide ? UINT64_MAX : UINT32_MAX,
		     &value) || !value)
		cli_usage_error("--max: expected %s=N, found '%s'", row->name,
				text);
	member = (char *)limits + row->offset;
	if (row->is_wide)
		memcpy(member, &value, sizeof(value));
	else
		*(uint32_t *)(void *)member = (uint32_t)value;
}

/* Nanoseconds since 1970 from seconds or an RFC 3339 time in UTC. */
static bool parse_time(const char *text, int64_t *ret_ns)
{
	struct tm tm;
	uint64_t seconds;
	const char *end;
	time_t when;

	if (cli_u64(text, INT64_MAX / NS_PER_S, &seconds)) {
		*ret_ns = (int64_t)seconds * NS_PER_S;
		return true;
	}
	memset(&tm, 0, sizeof(tm));
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end)
		return false;
	when = timegm(&tm);
	if (when < 0 || when > INT64_MAX / NS_PER_S)
		return false;
	*ret_ns = (int64_t)when * NS_PER_S;
	return true;
}

static void list_formats(void)
{
	const char *name, *text;
	bool is_binary;
	size_t i;

	printf("Read (--format):\n");
	for (i = 0; pprof_reader_info(i, &name, &text); i++)
		printf("  %-12s %s\n", name, text);
	printf("Written (--to):\n");
	for (i = 0; pprof_writer_info(i, &name, &text, &is_binary); i++)
		printf("  %-12s %s\n", name, text);
	exit(cli_finish(CLI_EXIT_OK));
}

static bool is_reader(const char *format)
{
	const char *name, *text;
	size_t i;

	for (i = 0; pprof_reader_info(i, &name, &text); i++) {
		if (!strcmp(name, format))
			return true;
	}
	return false;
}

void opt_input_check(struct opt_input *input)
{
	int64_t time_ns;
	size_t i;

	if (input->list_formats)
		list_formats();
	if (input->format && !is_reader(input->format))
		cli_usage_error("--format: '%s' is not known; see "
				"--list-formats", input->format);
	if (input->hz_text && (!cli_u64(input->hz_text, HZ_MAX, &input->hz) ||
			       !input->hz))
		cli_usage_error("--hz: expected a number from 1 to %d, found "
				"'%s'", HZ_MAX, input->hz_text);
	if (input->time && !parse_time(input->time, &time_ns))
		cli_usage_error("--time: expected seconds or "
				"YYYY-MM-DDTHH:MM:SSZ, found '%s'",
				input->time);
	pprof_limits_init(&input->limits);
	for (i = 0; i < input->max.nr; i++)
		set_limit(&input->limits, input->max.items[i]);
}

void opt_input_fini(struct opt_input *input)
{
	cli_list_fini(&input->max);
}

void opt_input_take(const struct opt_input *input,
		    struct pprof_read_opts *ret_opts)
{
	struct pprof_read_opts opts = PPROF_READ_OPTS_INIT;

	opts.format = input->format;
	opts.maps_path = input->maps;
	opts.root_first = input->root_first;
	opts.hz = (uint32_t)input->hz;
	opts.raw_counts = input->raw_counts;
	opts.threads = input->threads;
	opts.strict = input->strict;
	opts.limits = &input->limits;
	opts.diag = msg_diag;
	if (input->time)
		(void)parse_time(input->time, &opts.time_ns);
	*ret_opts = opts;
}

bool opt_input_read(const struct opt_input *input, const char *path,
		    struct pprof_profile **ret_profile)
{
	struct pprof_read_opts opts;
	struct pprof_error err;
	enum pprof_status status;

	opt_input_take(input, &opts);
	progress_start("reading", infile_name(path));
	status = pprof_profile_read(path, &opts, ret_profile, &err);
	progress_stop();
	if (status != PPROF_OK)
		msg_pprof_error(&err);
	return status == PPROF_OK;
}
