/* SPDX-License-Identifier: Apache-2.0
 *
 * jemalloc's JSON: the last allocations ("experimental.prof_recent.
 * alloc_dump", src/prof_recent.c) and allocation logs ("prof.log_stop",
 * src/prof_log.c). Each allocation is a sample of known size, so its weight
 * 1 / (1 - e^(-size/R)) is exact. Both lack maps: --maps gives them.
 */
#include <config.h>

#include "input/reader.h"

#include "base/mem.h"
#include "input/addresses.h"
#include "input/json_tokens.h"
#include "input/text.h"
#include "profile/stats.h"

/* Neither kind has indexes beyond this. */
#define MAX_ROWS ((size_t)UINT32_MAX - 1)

/* Columns: all allocations, those that live, time from one to the other. */
enum column {
	ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, LIFETIME,
	NR_COLUMNS
};

struct log_thread {
	uint64_t uid;
	str_id name;
};

/* One allocation; members that were not told are UINT64_MAX. */
struct allocation {
	uint64_t usize;
	uint64_t alloc_time, free_time;
	uint64_t thread;      /* uid, or index into the log's threads */
	uint64_t trace;       /* index into the log's traces */
	str_id thread_name;
	bool is_released;
	stack_id stack;       /* STACK_NONE: not told */
};

struct json_heap {
	struct json json;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;
	struct addresses addresses;
	uint64_t interval;    /* R; 0 unknown */
	bool is_log;
	bool has_types;
	stack_id *traces;     /* of a log */
	size_t nr_traces, cap_traces;
	struct log_thread *threads;
	size_t nr_threads, cap_threads;
	struct allocation row;
	uint64_t nr_rows;
	int saturated;
};

/* ------------------------------------------------------------ sniffing */

static int sniff_json(const uint8_t *head, size_t nr)
{
	static const char *const keys[] = {
		"\"sample_interval\"", "\"recent_alloc_max\"",
		"\"lg_sample_rate\"", "\"prof_time_resolution\"",
		"\"stack_traces\"",
	};
	const char *p = (const char *)head, *end = p + nr;
	int score = 0;
	size_t i;

	while (p < end && (is_space(*p) || *p == '\n' || *p == '\r'))
		p++;
	if (p == end || *p != '{')
		return 0;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		score += find_text(p, end, keys[i]) ? 16 : 0;
	return score;
}

/* ------------------------------------------------------------- objects */

/* A taker of the member whose key is named; the token is its value. */
typedef enum pprof_status (*member_fn)(struct json_heap *h, const char *key);

/* Each member of the object at hand to `take`. */
static enum pprof_status each_member(struct json_heap *h, member_fn take)
{
	struct json *json = &h->json;
	enum pprof_status status;
	char key[32];
	size_t len;

	if (json->token != JSON_BEGIN_OBJECT)
		return json_fail(json, "an object");
	json_next(json);
	while (json->token != JSON_END_OBJECT) {
		if (json->token != JSON_STRING)
			return json_fail(json, "a key");
		len = json->text.len < sizeof(key) ? json->text.len :
		      sizeof(key) - 1;
		if (len) /* not buf_cstr(): that may have no room for its end */
			memcpy(key, json->text.data, len);
		key[len] = '\0';
		if (json_next(json) != JSON_COLON)
			return json_fail(json, "':' behind a key");
		json_next(json);
		status = take(h, key);
		if (status)
			return status;
		if (json_next(json) == JSON_COMMA)
			json_next(json);
		else if (json->token != JSON_END_OBJECT)
			return json_fail(json, "',' or '}'");
	}
	return PPROF_OK;
}

/* Each element of the array at hand to `take`. */
static enum pprof_status each_element(struct json_heap *h,
				      enum pprof_status (*take)(
						struct json_heap *h))
{
	struct json *json = &h->json;
	enum pprof_status status;

	if (json->token != JSON_BEGIN_ARRAY)
		return json_fail(json, "an array");
	json_next(json);
	while (json->token != JSON_END_ARRAY) {
		status = take(h);
		if (status)
			return status;
		if (json_next(json) == JSON_COMMA)
			json_next(json);
		else if (json->token != JSON_END_ARRAY)
			return json_fail(json, "',' or ']'");
	}
	return PPROF_OK;
}

static enum pprof_status take_number(struct json_heap *h, uint64_t *ret)
{
	if (h->json.token != JSON_NUMBER || !h->json.is_whole)
		return json_fail(&h->json, "a whole number of 64 bits");
	*ret = h->json.number;
	return PPROF_OK;
}

static enum pprof_status fail_nomem(struct json_heap *h)
{
	return reader_fail(h->out, h->json.in, PPROF_UNIT_BYTE);
}

/* -------------------------------------------------------------- traces */

/* One "0x..." of a trace. */
static enum pprof_status take_address(struct json_heap *h)
{
	const char *p = buf_cstr(&h->json.text), *end = p + h->json.text.len;
	uint64_t pc;

	if (h->json.token != JSON_STRING || !addresses_parse(&p, end, &pc) ||
	    p != end)
		return json_fail(&h->json, "an address as \"0x...\"");
	if (!addresses_push(&h->addresses, pc, false, PPROF_UNIT_BYTE,
			    h->json.offset))
		return fail_nomem(h);
	return addresses_check_depth(&h->addresses, h->json.in,
				     PPROF_UNIT_BYTE, h->json.offset);
}

static enum pprof_status take_trace(struct json_heap *h, stack_id *ret)
{
	enum pprof_status status;

	if (!addresses_start(&h->addresses, 64))
		return fail_nomem(h);
	status = each_element(h, take_address);
	if (status)
		return status;
	*ret = builder_stack(h->out, h->addresses.frames,
			     h->addresses.nr_frames);
	return *ret == STACK_NONE ? fail_nomem(h) : PPROF_OK;
}

static enum pprof_status take_log_trace(struct json_heap *h)
{
	if (!mem_grow(h->traces, h->cap_traces, h->nr_traces + 1, MAX_ROWS))
		return fail_nomem(h);
	return take_trace(h, &h->traces[h->nr_traces++]);
}

/* ------------------------------------------------------------- samples */

static void add_types(struct json_heap *h)
{
	static const char *const types[NR_COLUMNS][2] = {
		{ "alloc_objects", "count" }, { "alloc_space", "bytes" },
		{ "inuse_objects", "count" }, { "inuse_space", "bytes" },
		{ "lifetime", "nanoseconds" },
	};
	struct pprof_profile *profile = h->out->profile;
	size_t i;

	h->has_types = true;
	for (i = 0; i < NR_COLUMNS; i++) {
		/* A log holds what was freed only. */
		if (h->is_log && (i == INUSE_OBJECTS || i == INUSE_SPACE))
			continue;
		builder_type(h->out, builder_cstr(h->out, types[i][0]),
			     builder_cstr(h->out, types[i][1]));
	}
	profile->default_type = builder_cstr(h->out, h->is_log ?
					     "alloc_space" : "inuse_space");
	profile->period_type.type = builder_cstr(h->out, "space");
	profile->period_type.unit = builder_cstr(h->out, "bytes");
	profile->period = h->interval > INT64_MAX ? INT64_MAX :
			  h->interval ? (int64_t)h->interval : 1;
}

static lset_id thread_labels(struct json_heap *h)
{
	struct label labels[2];
	size_t nr = 0;
	uint64_t uid = h->row.thread;
	str_id name = h->row.thread_name;

	if (!h->opts->threads || uid == UINT64_MAX)
		return 0;
	if (h->is_log) {
		if (uid >= h->nr_threads)
			return 0;
		name = h->threads[uid].name;
		uid = h->threads[uid].uid;
	}
	memset(labels, 0, sizeof(labels));
	if (name) {
		labels[nr].key = builder_cstr(h->out, "thread");
		labels[nr++].str = name;
	}
	labels[nr].key = builder_cstr(h->out, "thread_id");
	labels[nr].num = uid > INT64_MAX ? INT64_MAX : (int64_t)uid;
	labels[nr++].is_num = 1;
	return builder_lset(h->out, labels, nr);
}

/* Weight 1 at its size, scaled up unless raw numbers are asked for. */
static double weight_of(const struct json_heap *h, double *ret_bytes)
{
	double count = 1;

	*ret_bytes = (double)h->row.usize;
	if (!h->opts->raw_counts)
		stats_unsample(&count, ret_bytes, (double)h->interval);
	return count;
}

static enum pprof_status add_sample(struct json_heap *h)
{
	const struct allocation *row = &h->row;
	int64_t all[NR_COLUMNS] = { 0 }, values[NR_COLUMNS];
	double bytes, count = weight_of(h, &bytes);
	size_t i, nr = 0;
	lset_id lset;

	all[ALLOC_OBJECTS] = stats_round(count, &h->saturated);
	all[ALLOC_SPACE] = stats_round(bytes, &h->saturated);
	if (!row->is_released) {
		all[INUSE_OBJECTS] = all[ALLOC_OBJECTS];
		all[INUSE_SPACE] = all[ALLOC_SPACE];
	} else if (row->free_time != UINT64_MAX &&
		   row->free_time >= row->alloc_time) {
		all[LIFETIME] = stats_round(count * (double)(row->free_time -
					    row->alloc_time), &h->saturated);
	}
	for (i = 0; i < NR_COLUMNS; i++) {
		if (!h->is_log || (i != INUSE_OBJECTS && i != INUSE_SPACE))
			values[nr++] = all[i];
	}
	lset = thread_labels(h);
	if (lset != ID_FAILED)
		builder_sample(h->out, row->stack, lset, values,
			       PPROF_UNIT_BYTE, h->json.offset);
	h->nr_rows++;
	return h->out->status ? fail_nomem(h) : PPROF_OK;
}

/* What an allocation must tell. */
static enum pprof_status finish_row(struct json_heap *h)
{
	struct allocation *row = &h->row;

	if (!h->has_types)
		add_types(h);
	if (h->is_log && row->trace != UINT64_MAX) {
		if (row->trace >= h->nr_traces)
			return json_fail(&h->json, "\"alloc_trace\" to be "
					 "the index of a stack trace");
		row->stack = h->traces[row->trace];
	}
	if (row->usize == UINT64_MAX || row->stack == STACK_NONE) {
		diag_count(h->diags, PPROF_UNIT_BYTE, h->json.offset,
			   "allocation without a size or a trace is left "
			   "out");
		return PPROF_OK;
	}
	if (h->is_log)
		row->is_released = true;
	return add_sample(h);
}

static enum pprof_status take_released(struct json_heap *h)
{
	if (h->json.token != JSON_WORD)
		return json_fail(&h->json, "true or false");
	h->row.is_released = json_is(&h->json, "true");
	return PPROF_OK;
}

/* A member that is nearly all of an allocation's text comes first. */
static enum pprof_status allocation_member(struct json_heap *h,
					   const char *key)
{
	struct allocation *row = &h->row;
	const struct {
		const char *name;
		uint64_t *number;
	} numbers[] = {
		{ "usize", &row->usize },
		{ "alloc_time", &row->alloc_time },
		{ "alloc_timestamp", &row->alloc_time },
		{ "dalloc_time", &row->free_time },
		{ "free_timestamp", &row->free_time },
		{ "alloc_thread_uid", &row->thread },
		{ "alloc_thread", &row->thread },
	};
	size_t i;

	if (!strcmp(key, "alloc_trace"))
		return h->is_log ? take_number(h, &row->trace) :
		       take_trace(h, &row->stack);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!strcmp(key, numbers[i].name))
			return take_number(h, numbers[i].number);
	}
	if (!strcmp(key, "released"))
		return take_released(h);
	if (!strcmp(key, "alloc_thread_name") &&
	    h->json.token == JSON_STRING) {
		row->thread_name = builder_str(h->out, h->json.text.data,
					       h->json.text.len);
		return h->out->status ? fail_nomem(h) : PPROF_OK;
	}
	return json_skip(&h->json);
}

static enum pprof_status take_allocation(struct json_heap *h)
{
	enum pprof_status status;

	memset(&h->row, 0, sizeof(h->row));
	h->row.usize = UINT64_MAX;
	h->row.alloc_time = UINT64_MAX;
	h->row.free_time = UINT64_MAX;
	h->row.thread = UINT64_MAX;
	h->row.trace = UINT64_MAX;
	h->row.stack = STACK_NONE;
	status = each_member(h, allocation_member);
	return status ? status : finish_row(h);
}

/* -------------------------------------------------------- the whole file */

static enum pprof_status thread_member(struct json_heap *h, const char *key)
{
	struct log_thread *thread = &h->threads[h->nr_threads - 1];

	if (!strcmp(key, "thr_uid"))
		return take_number(h, &thread->uid);
	if (strcmp(key, "thr_name") || h->json.token != JSON_STRING)
		return json_skip(&h->json);
	thread->name = builder_str(h->out, h->json.text.data,
				   h->json.text.len);
	return h->out->status ? fail_nomem(h) : PPROF_OK;
}

static enum pprof_status take_thread(struct json_heap *h)
{
	if (!mem_grow(h->threads, h->cap_threads, h->nr_threads + 1,
		      MAX_ROWS))
		return fail_nomem(h);
	memset(&h->threads[h->nr_threads++], 0, sizeof(*h->threads));
	return each_member(h, thread_member);
}

static enum pprof_status info_member(struct json_heap *h, const char *key)
{
	enum pprof_status status;
	uint64_t number = 0;

	if (!strcmp(key, "lg_sample_rate")) {
		status = take_number(h, &number);
		if (!status && number > 62)
			return json_fail(&h->json, "\"lg_sample_rate\" of at "
					 "most 62");
		h->interval = status ? 0 : (uint64_t)1 << number;
		return status;
	}
	if (!strcmp(key, "duration")) {
		status = take_number(h, &number);
		if (!status && number <= INT64_MAX)
			h->out->profile->duration_ns = (int64_t)number;
		return status;
	}
	return json_skip(&h->json);
}

static enum pprof_status file_member(struct json_heap *h, const char *key)
{
	if (!strcmp(key, "sample_interval"))
		return take_number(h, &h->interval);
	if (!strcmp(key, "recent_alloc"))
		return each_element(h, take_allocation);
	if (!strcmp(key, "info"))
		return each_member(h, info_member);
	if (!strcmp(key, "threads"))
		return each_element(h, take_thread);
	if (!strcmp(key, "stack_traces"))
		return each_element(h, take_log_trace);
	if (!strcmp(key, "allocations")) {
		h->is_log = true;
		return each_element(h, take_allocation);
	}
	return json_skip(&h->json);
}

static enum pprof_status read_all(struct json_heap *h)
{
	enum pprof_status status;

	json_next(&h->json);
	status = each_member(h, file_member);
	/* A cut file keeps what came before the cut. */
	if (status == PPROF_FORMAT && h->nr_rows && h->json.is_cut) {
		diag_count(h->diags, PPROF_UNIT_BYTE, h->json.offset,
			   "input is truncated: its last allocation is cut");
		h->json.in->status = PPROF_OK;
		status = PPROF_OK;
	}
	if (status)
		return status;
	if (!h->has_types)
		add_types(h);
	addresses_tell(&h->addresses, h->diags);
	if (!h->interval)
		diag_count(h->diags, PPROF_UNIT_NONE, 0, "no sampling "
			   "interval is told: counts are not unsampled");
	if (h->saturated)
		diag_count(h->diags, PPROF_UNIT_NONE, 0, "an unsampled count "
			   "does not fit 64 bits; it stays at the limit");
	if (!h->opts->maps_path && h->nr_rows)
		diag_count(h->diags, PPROF_UNIT_NONE, 0, "the format has no "
			   "memory maps; give them by --maps: a copy of "
			   "/proc/PID/maps, or a heap dump of the process");
	return PPROF_OK;
}

static enum pprof_status read_jemalloc_json(struct cursor *in,
					    const struct read_ctx *ctx,
					    struct pprof_error *err)
{
	struct json_heap h = { .out = ctx->out, .diags = ctx->diags,
			       .opts = ctx->opts };
	enum pprof_status status;

	json_init(&h.json, in, ctx->diags, ctx->out->limits->string_bytes);
	addresses_init(&h.addresses, ctx->out);
	status = read_all(&h);
	if (status)
		cursor_status(in, err);
	json_fini(&h.json);
	addresses_fini(&h.addresses);
	mem_free(h.traces);
	mem_free(h.threads);
	return status;
}

const struct reader reader_jemalloc_json = {
	.name = "jemalloc-json",
	.description = "jemalloc's last allocations (prof_recent) and "
		       "allocation logs (prof_log)",
	.sniff = sniff_json,
	.read = read_jemalloc_json,
};
