/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of `perf script`: a header a sample, then its frames, leaf first,
 * then a blank line. Addresses are taken as printed: perf has moved return
 * addresses into their calls where it knew better, and prints those of a
 * file relative to it.
 */
#include <config.h>

#include "input/reader.h"

#include "base/mem.h"
#include "input/addresses.h"
#include "input/columns.h"
#include "input/perf_line.h"
#include "input/text.h"

/* Inlined functions at one address. */
#define CHAIN_MAX 64

struct perf_range {
	uint64_t start, limit, offset;
	map_id map;  /* made when an address needs it, or 0 */
	str_id file;
};

/* An event, and its column. */
struct perf_event {
	str_id name;
	size_t column; /* 0: none but that of all samples */
};

struct perf {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;
	struct addresses addresses;  /* the stack of the sample at hand */
	struct strtab texts;         /* of frames, to their locations */
	loc_id *loc_of_text;
	size_t cap_locs;
	struct line lines[CHAIN_MAX]; /* of inlined frames that wait */
	size_t nr_lines;
	bool has_inlined;
	uint64_t inlined_address;
	map_id *map_of_str;
	size_t cap_maps;
	struct perf_range *ranges;
	size_t nr_ranges, cap_ranges;
	struct perf_event events[SAMPLE_TYPES_MAX];
	size_t nr_events;
	/* The sample at hand. */
	bool in_sample;
	uint64_t sample_line;
	size_t event;
	uint64_t period;
	lset_id lset;
	uint64_t first_ns, last_ns;
	uint64_t nr_samples;
	uint64_t nr_bad, first_bad;
};

/* ------------------------------------------------------------ sniffing */

static int sniff_perf_script(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr, *eol;
	struct perf_header header;
	struct perf_frame frame;
	struct perf_map map;
	bool was_header = false;

	if (memchr(head, 0, nr))
		return 0;
	for (; p < end; p = eol + 1) {
		eol = line_end(p, end);
		if (perf_parse_map(p, eol, &map))
			return 64;
		if (was_header && is_space(*p))
			return perf_parse_frame(p, eol, &frame) ? 64 : 0;
		was_header = perf_parse_header(p, eol, &header);
		if (was_header && perf_parse_frame(header.rest, eol, &frame))
			return 64;
		if (!was_header && *p != '#' && trim_end(p, eol) > p)
			return 0;
	}
	return 0;
}

/* ------------------------------------------------------------ mappings */

static enum pprof_status fail_nomem(struct perf *s)
{
	return reader_fail(s->out, s->in, PPROF_UNIT_LINE);
}

/* Mapping of a file's own addresses; 0: failed. */
static map_id whole_map(struct perf *s, str_id file)
{
	struct mapping map = { .limit = UINT64_MAX, .file = file };
	size_t old = s->cap_maps;
	map_id id;

	if (file == ID_FAILED)
		return 0;
	if (file >= old) {
		if (!mem_grow(s->map_of_str, s->cap_maps, (size_t)file + 1,
			      UINT32_MAX))
			return 0;
		memset(s->map_of_str + old, 0,
		       (s->cap_maps - old) * sizeof(*s->map_of_str));
	}
	if (!s->map_of_str[file]) {
		id = builder_mapping(s->out, &map);
		s->map_of_str[file] = id == ID_FAILED ? 0 : id;
	}
	return s->map_of_str[file];
}

/* Mapping of a frame: of the process where its address is one. */
static map_id find_map(struct perf *s, const struct perf_frame *frame)
{
	str_id file = builder_str(s->out, frame->dso, frame->dso_len);
	const struct perf_range *range;
	struct mapping map;
	size_t i;

	for (i = s->nr_ranges; i--;) {
		range = &s->ranges[i];
		if (range->file != file || frame->address < range->start ||
		    frame->address >= range->limit)
			continue;
		if (range->map)
			return range->map;
		memset(&map, 0, sizeof(map));
		map.start = range->start;
		map.limit = range->limit;
		map.offset = range->offset;
		map.file = file;
		s->ranges[i].map = builder_mapping(s->out, &map);
		return s->ranges[i].map == ID_FAILED ? 0 : s->ranges[i].map;
	}
	return whole_map(s, file);
}

static enum pprof_status take_map(struct perf *s, const struct perf_map *map)
{
	struct perf_range *range;
	map_id whole;

	if (!map->is_code || !map->path_len || !map->length)
		return PPROF_OK;
	if (!mem_grow(s->ranges, s->cap_ranges, s->nr_ranges + 1,
		      s->out->limits->mappings))
		return cursor_fail(s->in, PPROF_LIMIT, PPROF_UNIT_LINE,
				   "more than %u mappings (limit mappings)",
				   s->out->limits->mappings);
	range = &s->ranges[s->nr_ranges];
	memset(range, 0, sizeof(*range));
	range->start = map->start;
	range->offset = map->offset;
	if (__builtin_add_overflow(map->start, map->length, &range->limit))
		range->limit = UINT64_MAX;
	range->file = builder_str(s->out, map->path, map->path_len);
	/* A file mapped at its own addresses (the kernel) needs no range. */
	s->nr_ranges += map->offset != map->start;
	whole = whole_map(s, range->file);
	if (!whole)
		return fail_nomem(s);
	if (map->build_id && !s->out->profile->mappings[whole].build_id)
		s->out->profile->mappings[whole].build_id =
			builder_str(s->out, map->build_id,
				    map->build_id_len);
	return s->out->status ? fail_nomem(s) : PPROF_OK;
}

/* -------------------------------------------------------------- frames */

/* The line of a named frame. */
static bool add_line(struct perf *s, const struct perf_frame *frame)
{
	struct function func = { .start_line = 0 };
	struct line *line;

	if (!frame->name || s->nr_lines == CHAIN_MAX)
		return true;
	func.name = builder_str(s->out, frame->name, frame->name_len);
	line = &s->lines[s->nr_lines++];
	memset(line, 0, sizeof(*line));
	line->func = builder_function(s->out, &func);
	return line->func != ID_FAILED;
}

/* Room for what location the text `id` has. */
static bool grow_locs(struct perf *s, str_id id)
{
	size_t old = s->cap_locs;

	if (id < old)
		return true;
	if (!mem_grow(s->loc_of_text, s->cap_locs, (size_t)id + 1,
		      UINT32_MAX))
		return false;
	memset(s->loc_of_text + old, 0,
	       (s->cap_locs - old) * sizeof(*s->loc_of_text));
	return true;
}

/* The location of the frame, whose inlined ones came before. */
static bool make_location(struct perf *s, const struct perf_frame *frame,
			  loc_id *ret)
{
	map_id map = 0;

	if (frame->dso) {
		map = find_map(s, frame);
		if (!map)
			return false;
	}
	if (!add_line(s, frame))
		return false;
	*ret = builder_location(s->out, frame->address, map, false, s->lines,
				s->nr_lines);
	s->nr_lines = 0;
	return *ret != ID_FAILED;
}

/* Inlined frames whose outer one was not printed stand for themselves. */
static bool flush_inlined(struct perf *s)
{
	loc_id loc;

	if (!s->has_inlined)
		return true;
	s->has_inlined = false;
	loc = builder_location(s->out, s->inlined_address, 0, false, s->lines,
			       s->nr_lines);
	s->nr_lines = 0;
	return addresses_push_loc(&s->addresses, loc);
}

/* A frame as it was printed before, after none that is inlined in it. */
static bool push_known(struct perf *s, const char *p, const char *end,
		       bool *ret_known)
{
	str_id text = strtab_find(&s->texts, p, (size_t)(end - p));

	*ret_known = text != STR_NONE && text < s->cap_locs &&
		     s->loc_of_text[text];
	return !*ret_known ||
	       addresses_push_loc(&s->addresses, s->loc_of_text[text]);
}

static bool push_frame(struct perf *s, const struct perf_frame *frame,
		       const char *p, const char *end)
{
	bool is_alone;
	str_id text;
	loc_id loc;

	if (s->has_inlined && s->inlined_address != frame->address &&
	    !flush_inlined(s))
		return false;
	if (frame->is_inlined) {
		s->has_inlined = true;
		s->inlined_address = frame->address;
		return add_line(s, frame);
	}
	is_alone = !s->has_inlined;
	s->has_inlined = false;
	if (!make_location(s, frame, &loc) ||
	    !addresses_push_loc(&s->addresses, loc))
		return false;
	if (!is_alone)
		return true;
	text = strtab_add(&s->texts, p, (size_t)(end - p));
	if (text == STR_NONE || !grow_locs(s, text))
		return false;
	s->loc_of_text[text] = loc;
	return true;
}

static enum pprof_status take_frame(struct perf *s, const char *p,
				    const char *end, uint64_t number)
{
	struct perf_frame frame;
	bool is_known = false;

	if (!s->has_inlined && !push_known(s, p, end, &is_known))
		return fail_nomem(s);
	if (is_known)
		return PPROF_OK;
	if (!perf_parse_frame(p, end, &frame)) {
		diag_count(s->diags, PPROF_UNIT_LINE, number,
			   "frame not understood; it is left out");
		return PPROF_OK;
	}
	if (!push_frame(s, &frame, p, end))
		return fail_nomem(s);
	return addresses_check_depth(&s->addresses, s->in, PPROF_UNIT_LINE,
				     number);
}

/* -------------------------------------------------------------- samples */

static bool is_clock(const char *event, size_t len)
{
	return equals(event, event + len, "cpu-clock") ||
	       equals(event, event + len, "task-clock") ||
	       starts(event, event + len, "cpu-clock:") ||
	       starts(event, event + len, "task-clock:");
}

static bool add_column(struct perf *s, struct perf_event *event)
{
	const char *name = profile_str(s->out->profile, event->name);
	size_t len = strlen(name);

	if (s->out->profile->nr_types == SAMPLE_TYPES_MAX) {
		diag_count(s->diags, PPROF_UNIT_LINE, s->sample_line,
			   "more events than can be kept apart");
		return true;
	}
	event->column = s->out->profile->nr_types;
	return columns_append(s->out, name, len,
			      is_clock(name, len) ? "nanoseconds" : "count");
}

/* Of one event without periods the samples told all; now there are more. */
static bool split_first_event(struct perf *s)
{
	struct pprof_profile *profile = s->out->profile;

	if (s->events[0].column)
		return true;
	if (!add_column(s, &s->events[0]))
		return false;
	memcpy(profile->values[1], profile->values[0],
	       profile->nr_samples * sizeof(**profile->values));
	return true;
}

/* Number of the event, new or not; SIZE_MAX: out of memory. */
static size_t find_event(struct perf *s, const struct perf_header *header)
{
	str_id name = builder_str(s->out, header->event, header->event_len);
	struct perf_event *event;
	size_t i;

	for (i = 0; i < s->nr_events; i++) {
		if (s->events[i].name == name)
			break;
	}
	if (name == ID_FAILED)
		return SIZE_MAX;
	if (i == SAMPLE_TYPES_MAX)
		return 0;
	event = &s->events[i];
	if (i == s->nr_events) {
		s->nr_events++;
		event->name = name;
		event->column = 0;
		if (i == 1 && !split_first_event(s))
			return SIZE_MAX;
		if (i && !add_column(s, event))
			return SIZE_MAX;
	}
	if (header->has_period && !event->column && !add_column(s, event))
		return SIZE_MAX;
	return i;
}

static lset_id thread_labels(struct perf *s, const struct perf_header *header)
{
	struct label labels[2];

	if (!s->opts->threads)
		return 0;
	memset(labels, 0, sizeof(labels));
	labels[0].key = builder_cstr(s->out, "thread");
	labels[0].str = builder_str(s->out, header->comm, header->comm_len);
	labels[1].key = builder_cstr(s->out, "thread_id");
	labels[1].num = header->tid > INT64_MAX ? INT64_MAX :
			(int64_t)header->tid;
	labels[1].is_num = 1;
	return builder_lset(s->out, labels, 2);
}

/* The sample at hand is complete. */
static enum pprof_status flush_sample(struct perf *s)
{
	int64_t values[SAMPLE_TYPES_MAX] = { 1 };
	size_t column;

	if (!s->in_sample)
		return PPROF_OK;
	s->in_sample = false;
	if (!flush_inlined(s))
		return fail_nomem(s);
	column = s->events[s->event].column;
	if (column)
		values[column] = s->period > INT64_MAX ? INT64_MAX :
				 (int64_t)s->period;
	s->nr_samples++;
	builder_add(s->out, s->addresses.frames, s->addresses.nr_frames,
		    s->lset, values, PPROF_UNIT_LINE, s->sample_line);
	return s->out->status ? fail_nomem(s) : PPROF_OK;
}

static enum pprof_status start_sample(struct perf *s,
				      const struct perf_header *header,
				      const char *end, uint64_t number)
{
	struct perf_frame frame;

	s->sample_line = number;
	s->event = find_event(s, header);
	if (s->event == SIZE_MAX || !addresses_start(&s->addresses, 64))
		return fail_nomem(s);
	s->in_sample = true;
	s->period = header->has_period ? header->period : 1;
	s->lset = thread_labels(s, header);
	if (s->lset == ID_FAILED)
		return fail_nomem(s);
	if (header->has_time) {
		if (!s->first_ns || header->time_ns < s->first_ns)
			s->first_ns = header->time_ns;
		if (header->time_ns > s->last_ns)
			s->last_ns = header->time_ns;
	}
	/* Without call chains the one frame stands on the line. */
	if (perf_parse_frame(header->rest, end, &frame))
		return take_frame(s, header->rest, trim_end(header->rest,
							    end), number);
	return PPROF_OK;
}

/* -------------------------------------------------------------- reading */

/* A line with blanks in front: a frame, or the source line of the last. */
static enum pprof_status take_indented(struct perf *s, const char *p,
				       const char *end, uint64_t number)
{
	struct perf_frame frame;

	if (!s->in_sample) {
		diag_count(s->diags, PPROF_UNIT_LINE, number,
			   "frame belongs to no sample; it is left out");
		return PPROF_OK;
	}
	p = skip_blanks(p, end);
	/* "-F srcline" puts "file.c:12" on a line of its own. */
	if (!perf_parse_frame(p, end, &frame) &&
	    memchr(p, ':', (size_t)(end - p)))
		return PPROF_OK;
	return take_frame(s, p, end, number);
}

static enum pprof_status take_line(struct perf *s,
				   const struct cursor_line *line)
{
	const char *p = line->text, *end = trim_end(p, p + line->len);
	struct perf_header header;
	enum pprof_status status;
	struct perf_map map;

	if (p < end && is_space(*p))
		return take_indented(s, p, end, line->number);
	status = flush_sample(s);
	if (status || p == end || *p == '#')
		return status;
	if (memmem(p, (size_t)(end - p), "PERF_RECORD_", 12))
		return perf_parse_map(p, end, &map) ? take_map(s, &map) :
		       PPROF_OK;
	if (perf_parse_header(p, end, &header))
		return start_sample(s, &header, end, line->number);
	if (!s->nr_bad++)
		s->first_bad = line->number;
	diag_count(s->diags, PPROF_UNIT_LINE, line->number,
		   "line not understood; it is left out");
	return PPROF_OK;
}

static enum pprof_status read_lines(struct perf *s)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;

	while (!status && cursor_next_line(s->in, &line))
		status = take_line(s, &line);
	if (!status)
		status = flush_sample(s);
	if (status || s->in->status)
		return status ? status : s->in->status;
	if (!s->nr_samples && s->nr_bad)
		return cursor_fail_at(s->in, PPROF_FORMAT, PPROF_UNIT_LINE,
				      s->first_bad, "expected a sample of perf "
				      "script, \"comm pid time: event:\"");
	if (s->last_ns > s->first_ns &&
	    s->last_ns - s->first_ns <= INT64_MAX)
		s->out->profile->duration_ns = (int64_t)(s->last_ns -
							 s->first_ns);
	return PPROF_OK;
}

static enum pprof_status read_perf(struct cursor *in,
				   const struct read_ctx *ctx,
				   struct pprof_error *err)
{
	const struct pprof_limits *limits = ctx->out->limits;
	struct perf s = { .in = in, .out = ctx->out, .diags = ctx->diags,
			  .opts = ctx->opts };
	enum pprof_status status;

	if (!strtab_init(&s.texts, limits->strings_bytes))
		return error_nomem(err);
	addresses_init(&s.addresses, ctx->out);
	builder_type(s.out, builder_cstr(s.out, "samples"),
		     builder_cstr(s.out, "count"));
	status = read_lines(&s);
	if (status)
		cursor_status(in, err);
	strtab_fini(&s.texts);
	addresses_fini(&s.addresses);
	mem_free(s.loc_of_text);
	mem_free(s.map_of_str);
	mem_free(s.ranges);
	return status;
}

const struct reader reader_perf_script = {
	.name = "perf-script",
	.description = "output of perf script (text)",
	.sniff = sniff_perf_script,
	.read = read_perf,
};
