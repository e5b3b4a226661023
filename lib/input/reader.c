/* SPDX-License-Identifier: Apache-2.0
 *
 * Registry of readers, choice by content, and the public entry points that
 * read: open, sniff, read, finish, tell. Formats that are known but not read
 * have rows too, so that the message can name them.
 */
#include <config.h>

#include "input/reader.h"

#include <string.h>
#include <strings.h>

#include "input/cpu_time.h"
#include "input/input.h"
#include "input/procmaps.h"
#include "input/text.h"

#define NR_OF(array) (sizeof(array) / sizeof(*(array)))

/* Bytes of unknown content that a message shows. */
#define SHOWN_BYTES 24

/* ------------------------------------------- known, but not read */

static int match_magic(const uint8_t *head, size_t nr, const char *magic,
		       size_t nr_magic)
{
	if (nr < nr_magic || memcmp(head, magic, nr_magic))
		return 0;
	return (int)nr_magic * 8;
}

static int sniff_elf(const uint8_t *head, size_t nr)
{
	return match_magic(head, nr, "\177ELF", 4);
}

static int sniff_perf(const uint8_t *head, size_t nr)
{
	return match_magic(head, nr, "PERFILE2", 8);
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int sniff_html(const uint8_t *head, size_t nr)
{
	static const char *const starts[] = {
		"<!doctype", "<html", "<head", "<body", "<?xml", "<svg",
	};
	size_t i, len;

	while (nr && is_blank(*head)) {
		head++;
		nr--;
	}
	for (i = 0; i < NR_OF(starts); i++) {
		len = strlen(starts[i]);
		if (nr >= len && !strncasecmp((const char *)head, starts[i],
					      len))
			return (int)len * 8;
	}
	return 0;
}

static const struct reader known_elf = {
	.name = "elf",
	.description = "is an ELF binary, expected a profile; "
		       "name the binary with -e",
	.sniff = sniff_elf,
};

static const struct reader known_html = {
	.name = "html",
	.description = "is a web page or an XML file, expected a profile; "
		       "was an error page saved?",
	.sniff = sniff_html,
};

static const struct reader known_perf = {
	.name = "perf",
	.description = "is a perf.data file, which is not read; make text "
		       "of it first: perf script",
	.sniff = sniff_perf,
};

static const struct reader *const readers[] = {
	&reader_jemalloc, &reader_pprof, &reader_folded, &reader_cpu,
	&reader_contention, &reader_counts, &reader_threads,
	&reader_symbolized, &reader_pem, &reader_raw, &reader_cbor,
	&reader_jemalloc_json, &reader_perf_script,
	&known_elf, &known_html, &known_perf,
};

const struct reader *reader_at(size_t i)
{
	return i < NR_OF(readers) ? readers[i] : NULL;
}

bool pprof_reader_info(size_t i, const char **ret_name,
		       const char **ret_description)
{
	size_t k;

	for (k = 0; k < NR_OF(readers); k++) {
		if (!readers[k]->read || i--)
			continue;
		*ret_name = readers[k]->name;
		*ret_description = readers[k]->description;
		return true;
	}
	return false;
}

/* ------------------------------------------------------- choosing one */

/* "jemalloc, pprof, folded": what can be read. */
static void list_names(char *text, size_t size)
{
	size_t i, used = 0;

	text[0] = '\0';
	for (i = 0; i < NR_OF(readers) && used < size; i++) {
		if (readers[i]->read)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%s", used ? ", " : "",
						 readers[i]->name);
	}
}

static enum pprof_status find_named(const char *name, const char *source,
				    const struct reader **ret,
				    struct pprof_error *err)
{
	char names[256];
	size_t i;

	for (i = 0; i < NR_OF(readers); i++) {
		if (!readers[i]->read || strcmp(readers[i]->name, name))
			continue;
		*ret = readers[i];
		return PPROF_OK;
	}
	list_names(names, sizeof(names));
	return error_plain(err, PPROF_NOTFOUND, source,
			   "no input format is called \"%s\", expected one "
			   "of: %s", name, names);
}

/* The first bytes as a message can show them. */
static void show_head(char *text, size_t size, const uint8_t *head, size_t nr)
{
	size_t i, used = 0;
	bool is_text = true;

	if (nr > SHOWN_BYTES)
		nr = SHOWN_BYTES;
	for (i = 0; i < nr && head[i] != '\n' && head[i] != '\r'; i++)
		is_text &= head[i] >= 0x20 && head[i] < 0x7f;
	if (is_text && i) {
		snprintf(text, size, "\"%.*s\"", (int)i, (const char *)head);
		return;
	}
	for (i = 0; i < nr && i < 8 && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%02x",
					 i ? " " : "", head[i]);
}

/* Nothing at all, or nothing but white space, is no format's. */
static enum pprof_status refuse_blank(const struct cursor *in, size_t nr,
				      struct pprof_error *err)
{
	size_t i;

	for (i = 0; i < nr && is_blank(in->p[i]); i++)
		;
	if (!nr)
		return error_plain(err, PPROF_FORMAT, in->source,
				   "is empty, expected a profile");
	if (i == nr)
		return error_plain(err, PPROF_FORMAT, in->source,
				   "holds nothing but white space, expected "
				   "a profile");
	return PPROF_OK;
}

static enum pprof_status fail_unknown(const struct cursor *in, size_t nr,
				      struct pprof_error *err)
{
	char names[256], shown[96];

	list_names(names, sizeof(names));
	show_head(shown, sizeof(shown), in->p, nr);
	return error_plain(err, PPROF_FORMAT, in->source,
			   "begins with %s: no format that is read (%s)",
			   shown, names);
}

/* The reader whose sniff is surest of the content. */
static enum pprof_status choose(struct cursor *in, const char *name,
				const struct reader **ret,
				struct pprof_error *err)
{
	const struct reader *best = NULL;
	enum pprof_status status;
	int score, best_score = 0;
	size_t i, nr = cursor_fill(in, SNIFF_BYTES);

	if (in->status)
		return cursor_status(in, err);
	if (nr > SNIFF_BYTES)
		nr = SNIFF_BYTES;
	status = refuse_blank(in, nr, err);
	if (status)
		return status;
	if (name)
		return find_named(name, in->source, ret, err);
	for (i = 0; i < NR_OF(readers); i++) {
		score = readers[i]->sniff(in->p, nr);
		if (score <= best_score)
			continue;
		best = readers[i];
		best_score = score;
	}
	if (!best)
		return fail_unknown(in, nr, err);
	if (!best->read)
		return error_plain(err, PPROF_UNSUPPORTED, in->source, "%s",
				   best->description);
	*ret = best;
	return PPROF_OK;
}

/* ------------------------------------------------------------ running */

/* Read to the very end: a checksum there may still fail. */
static void drain(struct cursor *in)
{
	while (cursor_fill(in, 1))
		in->p = in->end;
}

enum pprof_status reader_fail(const struct builder *out, struct cursor *in,
			      enum pprof_unit unit)
{
	if (out->status)
		return cursor_fail(in, out->status, unit, "%s", out->message);
	return cursor_fail(in, PPROF_NOMEM, unit, "%s",
			   pprof_status_text(PPROF_NOMEM));
}

/* Whether a map could still tell the file of some address. */
static bool needs_maps(const struct pprof_profile *profile)
{
	size_t i;

	for (i = 1; i < profile->nr_locations; i++) {
		if (profile->locations[i].address &&
		    !profile->locations[i].mapping)
			return true;
	}
	return false;
}

/* A heap dump in place of maps: move to the maps in it. */
static void skip_dump(struct cursor *in)
{
	struct cursor_line line;
	const char *end;

	if (!cursor_peek_line(in, &line))
		return;
	end = line.text + line.len;
	if (!starts(line.text, end, "heap_v2/") &&
	    !starts(line.text, end, "heap profile:"))
		return;
	while (cursor_next_line(in, &line)) {
		if (text_is_maps_marker(line.text, line.text + line.len))
			return;
	}
}

/* Read the maps that the caller gave for an input without its own. */
static enum pprof_status use_maps(const struct read_ctx *ctx,
				  struct pprof_error *err)
{
	enum pprof_status status;
	struct input *maps;

	if (!needs_maps(ctx->out->profile)) {
		diag_count(ctx->diags, PPROF_UNIT_NONE, 0,
			   "no address without a mapping: the maps given "
			   "were not used");
		return PPROF_OK;
	}
	status = input_open(ctx->opts->maps_path, ctx->out->limits,
			    ctx->diags, &maps, err);
	if (status)
		return status;
	skip_dump(input_cursor(maps));
	status = procmaps_read(input_cursor(maps), ctx->out);
	if (status && !cursor_status(input_cursor(maps), err))
		error_plain(err, status, ctx->opts->maps_path, "%s",
			    pprof_status_text(status));
	input_close(maps);
	return status;
}

static enum pprof_status read_chosen(const struct reader *reader,
				     struct cursor *in,
				     const struct read_ctx *ctx,
				     struct pprof_error *err)
{
	struct pprof_error fault = { .status = PPROF_OK };
	enum pprof_status status;

	status = reader->read(in, ctx, &fault);
	/* Heap dumps come with maps: their reader knows which count. */
	if (!status && ctx->opts->maps_path && reader != &reader_jemalloc)
		status = use_maps(ctx, &fault);
	if (!status)
		drain(in);
	/* A failed input explains better what the reader stumbled over. */
	if (in->status)
		return cursor_status(in, err);
	if (status && !fault.status)
		error_plain(&fault, status, in->source, "%s",
			    ctx->out->status ? ctx->out->message :
			    pprof_status_text(status));
	if (status && err)
		*err = fault;
	return status;
}

static enum pprof_status finish(struct cursor *in, int64_t mtime_ns,
				const struct read_ctx *ctx,
				struct pprof_profile **ret_profile,
				struct pprof_error *err)
{
	struct pprof_profile *profile = ctx->out->profile;
	enum pprof_status status;

	if (ctx->opts->time_ns)
		profile->time_ns = ctx->opts->time_ns;
	else if (!profile->time_ns)
		profile->time_ns = mtime_ns;
	status = builder_finish(ctx->out, in->source, &profile, err);
	if (status)
		return status;
	if (ctx->opts->hz)
		status = cpu_time_add(profile, ctx->opts->hz, ctx->diags,
				      in->source, err);
	if (!status && ctx->opts->strict && diags_as_error(ctx->diags, err))
		status = PPROF_FORMAT;
	if (status) {
		pprof_profile_free(profile);
		return status;
	}
	*ret_profile = profile;
	return PPROF_OK;
}

enum pprof_status reader_run(struct cursor *in, int64_t mtime_ns,
			     const struct pprof_read_opts *opts,
			     struct diags *diags,
			     struct pprof_profile **ret_profile,
			     struct pprof_error *err)
{
	struct pprof_limits limits;
	const struct reader *reader = NULL;
	struct builder builder;
	struct read_ctx ctx = {
		.opts = opts, .out = &builder, .diags = diags,
	};
	enum pprof_status status;

	status = choose(in, opts->format, &reader, err);
	if (status)
		goto out;
	pprof_limits_init(&limits);
	if (!builder_init(&builder, opts->limits ? opts->limits : &limits,
			  diags)) {
		status = error_nomem(err);
		goto out;
	}
	status = read_chosen(reader, in, &ctx, err);
	if (!status)
		status = finish(in, reader->has_time ? 0 : mtime_ns, &ctx,
				ret_profile, err);
	builder_fini(&builder);
out:
	diags_flush(diags, opts->diag, opts->diag_ctx);
	return status;
}

/*
 * The caller's options as this library knows them: a shorter struct is of
 * an older caller, a longer one is of a newer and must ask nothing unknown.
 */
static enum pprof_status take_opts(const struct pprof_read_opts *opts,
				   struct pprof_read_opts *ret,
				   struct pprof_error *err)
{
	const struct pprof_read_opts defaults = PPROF_READ_OPTS_INIT;
	const unsigned char *tail = (const unsigned char *)opts;
	size_t i;

	*ret = defaults;
	if (!opts)
		return PPROF_OK;
	for (i = sizeof(*ret); i < opts->size; i++) {
		if (tail[i])
			return error_plain(err, PPROF_USAGE, NULL,
					   "read options hold members that "
					   "this library does not know");
	}
	memcpy(ret, opts, opts->size < sizeof(*ret) ? opts->size :
	       sizeof(*ret));
	ret->size = sizeof(*ret);
	return PPROF_OK;
}

/* Read what was opened, or tell why it was not. Closes the input. */
static enum pprof_status run_opened(struct input *input,
				    enum pprof_status status,
				    const struct pprof_read_opts *opts,
				    struct diags *diags,
				    struct pprof_profile **ret_profile,
				    struct pprof_error *err)
{
	if (status) {
		diags_flush(diags, opts->diag, opts->diag_ctx);
		return status;
	}
	status = reader_run(input_cursor(input), input_mtime_ns(input), opts,
			    diags, ret_profile, err);
	input_close(input);
	return status;
}

enum pprof_status
pprof_profile_read(const char *path, const struct pprof_read_opts *opts,
		   struct pprof_profile **ret_profile, struct pprof_error *err)
{
	struct pprof_read_opts known;
	struct pprof_limits limits;
	struct input *input = NULL;
	struct diags diags;
	enum pprof_status status;

	status = take_opts(opts, &known, err);
	if (status)
		return status;
	diags_init(&diags, path);
	pprof_limits_init(&limits);
	status = input_open(path, known.limits ? known.limits : &limits,
			    &diags, &input, err);
	return run_opened(input, status, &known, &diags, ret_profile, err);
}

enum pprof_status
pprof_profile_read_memory(const void *data, size_t nr_bytes,
			  const char *source,
			  const struct pprof_read_opts *opts,
			  struct pprof_profile **ret_profile,
			  struct pprof_error *err)
{
	struct pprof_read_opts known;
	struct pprof_limits limits;
	struct input *input = NULL;
	struct diags diags;
	enum pprof_status status;

	status = take_opts(opts, &known, err);
	if (status)
		return status;
	diags_init(&diags, source);
	pprof_limits_init(&limits);
	status = input_open_memory(source, data, nr_bytes,
				   known.limits ? known.limits : &limits,
				   &diags, &input, err);
	return run_opened(input, status, &known, &diags, ret_profile, err);
}
