/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread dumps of gperftools-style servers: "--- threadz 1 ---", then
 * "--- Thread ID (name: NAME/PID) stack: ---" and the stack of each. The
 * leaf ("PC:") is where the thread stands; all other addresses, those of
 * its creator included, are return addresses.
 */
#include <config.h>

#include "input/reader.h"

#include "input/addr_names.h"
#include "input/addresses.h"
#include "input/procmaps.h"
#include "input/text.h"

struct threads {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	const struct pprof_read_opts *opts;
	struct addresses addresses; /* the stack of the thread at hand */
	struct addr_names names;
	bool has_marker;   /* a line "--- thread..." */
	bool in_thread;
	bool is_same;      /* "[same as previous thread]" */
	bool has_previous; /* a thread with a stack came before */
	uint64_t line;     /* of the thread's first */
	uint64_t leaf;     /* its first address */
	size_t nr_taken;   /* addresses of its stack so far */
	str_id name;
	int64_t pid;
};

static int sniff_threads(const uint8_t *head, size_t nr)
{
	const char *p = (const char *)head, *end = p + nr;

	while (p < end && (is_space(*p) || *p == '\n' || *p == '\r'))
		p++;
	return starts(p, end, "--- threadz ") ||
	       starts(p, end, "--- Thread ") ? 96 : 0;
}

static lset_id thread_labels(struct threads *t)
{
	struct label labels[2];
	size_t nr = 0;

	if (!t->opts->threads)
		return 0;
	memset(labels, 0, sizeof(labels));
	if (t->name) {
		labels[nr].key = builder_cstr(t->out, "thread");
		labels[nr++].str = t->name;
	}
	labels[nr].key = builder_cstr(t->out, "thread_id");
	labels[nr].num = t->pid;
	labels[nr++].is_num = 1;
	return builder_lset(t->out, labels, nr);
}

/* The thread at hand is complete. */
static enum pprof_status flush_thread(struct threads *t)
{
	static const int64_t one = 1;
	lset_id lset;

	if (!t->in_thread)
		return PPROF_OK;
	t->in_thread = false;
	if (!t->nr_taken && !t->is_same) {
		diag_count(t->diags, PPROF_UNIT_LINE, t->line,
			   "thread without a stack; it is left out");
		return PPROF_OK;
	}
	if (t->is_same && !t->has_previous) {
		diag_count(t->diags, PPROF_UNIT_LINE, t->line, "thread has "
			   "the stack of the one before, and is the first");
		return PPROF_OK;
	}
	t->has_previous = true;
	lset = thread_labels(t);
	if (lset != ID_FAILED)
		builder_add(t->out, t->addresses.frames,
			    t->addresses.nr_frames, lset, &one,
			    PPROF_UNIT_LINE, t->line);
	return t->out->status;
}

/* "--- Thread ID (name: NAME/PID) stack: ---" */
static void start_thread(struct threads *t, const char *p, const char *end,
			 uint64_t line)
{
	const char *name = find_text(p, end, "(name: "), *close, *slash;
	uint64_t pid = 0;

	t->in_thread = true;
	t->is_same = false;
	t->nr_taken = 0;
	t->line = line;
	t->name = 0;
	t->pid = 0;
	if (!name)
		return;
	name += strlen("(name: ");
	close = memrchr(name, ')', (size_t)(end - name));
	slash = close ? memrchr(name, '/', (size_t)(close - name)) : NULL;
	if (!slash)
		return;
	t->name = builder_str(t->out, name, (size_t)(slash - name));
	slash++;
	if (text_u64(&slash, close, &pid) && pid <= INT64_MAX)
		t->pid = (int64_t)pid;
}

/* ": name" behind an address: it is called so. */
static bool take_name(struct threads *t, uint64_t pc, const char **pos,
		      const char *end)
{
	const char *p = *pos;
	struct line line;

	if (p == end || *p != ':')
		return true;
	p = skip_blanks(p + 1, end);
	*pos = end;
	if (p == end)
		return true;
	line = addr_names_line(&t->names, p, (size_t)(end - p), p, 0, 0);
	return line.func != ID_FAILED &&
	       addr_names_add(&t->names, t->nr_taken == 1 ? pc : pc - 1,
			      &line, 1);
}

/* One more address of the thread's stack. */
static bool take_address(struct threads *t, uint64_t pc, uint64_t line)
{
	if (!t->nr_taken && !addresses_start(&t->addresses, 64))
		return false;
	t->nr_taken++;
	/* The unwinder may meet the leaf a second time. */
	if (t->nr_taken == 2 && pc == t->leaf)
		return true;
	if (t->nr_taken == 1)
		t->leaf = pc;
	return addresses_push(&t->addresses, pc, t->nr_taken == 1,
			      PPROF_UNIT_LINE, line);
}

/* All "0x..." of a line, with the name behind the last. */
static bool take_addresses(struct threads *t, const char *p, const char *end,
			   uint64_t line)
{
	const char *q;
	uint64_t pc;

	while ((p = find_text(p, end, "0x"))) {
		q = p + 2;
		p += 2;
		if (!text_hex(&q, end, &pc))
			continue;
		p = q;
		if (!take_address(t, pc, line) || !take_name(t, pc, &p, end))
			return false;
	}
	return true;
}

static enum pprof_status take_line(struct threads *t, const char *p,
				   const char *end,
				   const struct cursor_line *line)
{
	enum pprof_status status;

	if (starts(p, end, "---")) {
		t->has_marker |= starts(p, end, "--- threadz") ||
				 starts(p, end, "--- Thread");
		status = flush_thread(t);
		if (starts(p, end, "--- Thread "))
			start_thread(t, p, end, line->number);
		return status ? status : t->out->status;
	}
	if (!t->in_thread) {
		diag_count(t->diags, PPROF_UNIT_LINE, line->number,
			   "line belongs to no thread; it is left out");
		return PPROF_OK;
	}
	if (find_text(p, end, "same as previous thread")) {
		t->is_same = true;
		return PPROF_OK;
	}
	if (!take_addresses(t, p, end, line->number))
		return reader_fail(t->out, t->in, PPROF_UNIT_LINE);
	return addresses_check_depth(&t->addresses, t->in, PPROF_UNIT_LINE,
				     line->number);
}

static enum pprof_status read_lines(struct threads *t)
{
	enum pprof_status status = PPROF_OK;
	struct cursor_line line;
	const char *p, *end;

	while (!status && cursor_next_line(t->in, &line)) {
		end = trim_end(line.text, line.text + line.len);
		p = skip_blanks(line.text, end);
		if (text_is_maps_marker(p, end))
			break;
		if (p < end)
			status = take_line(t, p, end, &line);
	}
	if (!status)
		status = flush_thread(t);
	if (status || t->in->status)
		return status ? status : t->in->status;
	if (t->has_marker)
		return PPROF_OK;
	return cursor_fail(t->in, PPROF_FORMAT, PPROF_UNIT_LINE,
			   "expected a line like '--- threadz 1 ---'");
}

static void add_types(struct builder *out)
{
	struct value_type type;

	type.type = builder_cstr(out, "thread");
	type.unit = builder_cstr(out, "count");
	builder_type(out, type.type, type.unit);
	out->profile->period_type = type;
	out->profile->period = 1;
}

static enum pprof_status read_threads(struct cursor *in,
				      const struct read_ctx *ctx,
				      struct pprof_error *err)
{
	struct threads t = { .in = in, .out = ctx->out, .diags = ctx->diags,
			     .opts = ctx->opts };
	enum pprof_status status;

	addresses_init(&t.addresses, ctx->out);
	addr_names_init(&t.names, ctx->out);
	add_types(ctx->out);
	status = read_lines(&t);
	if (!status)
		status = procmaps_read(in, ctx->out);
	if (!status)
		status = addr_names_apply(&t.names, false);
	addresses_tell(&t.addresses, ctx->diags);
	if (status)
		cursor_status(in, err);
	addr_names_fini(&t.names);
	addresses_fini(&t.addresses);
	return status;
}

const struct reader reader_threads = {
	.name = "threads",
	.description = "thread dumps, \"--- threadz 1 ---\" (text)",
	.sniff = sniff_threads,
	.read = read_threads,
};
