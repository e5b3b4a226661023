/* SPDX-License-Identifier: Apache-2.0
 *
 * Making symbol files: every address of a binary's code is asked, batch by
 * batch, and equal neighbours become one range. What the file answers later
 * is therefore what the binary answers now, whatever its debug information
 * looks like.
 */
#include <config.h>

#include "symbolize/symbolize.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opts.h"
#include "symbolize/symfile_make.h"

/* Addresses of one batch: bounds the memory that its answers take. */
#define BATCH ((size_t)1 << 19)

/* Code that is asked byte by byte. */
#define MAX_CODE_BYTES ((uint64_t)4 << 30)

#define MAX_STRING_BYTES ((uint64_t)4 << 30)
#define MAX_FILE_BYTES ((size_t)8 << 30)

struct pprof_symbols {
	char *name;
	struct buf bytes;
};

/* ----------------------------------------------------------- collecting */

static uint64_t hash_function(const void *ctx, uint32_t id)
{
	const struct maker *m = ctx;
	const struct made_function *f = &m->functions[id];

	return hash_u64((uint64_t)f->names[0] << 32 | f->system_name) ^
	       f->start_line;
}

static uint64_t hash_scope(const void *ctx, uint32_t id)
{
	const struct maker *m = ctx;
	const struct made_scope *s = &m->scopes[id];

	return hash_u64(hash_u64((uint64_t)s->function << 32 | s->outer) ^
			hash_u64((uint64_t)s->file << 32 | s->line) ^
			s->column);
}

/* The batch's string among all strings; STR_NONE: out of memory. */
static str_id take_string(struct maker *m, str_id id)
{
	const struct strtab *from = &m->answers->strings;

	if (m->ids[id] == STR_NONE)
		m->ids[id] = strtab_add(&m->strings, strtab_text(from, id),
					strtab_len(from, id));
	return m->ids[id];
}

/* Number of the function of a frame, UINT32_MAX when out of memory. */
static uint32_t take_function(struct maker *m,
			      const struct answer_frame *frame,
			      uint64_t vaddr, uint32_t depth)
{
	struct made_function *function;
	uint64_t hash;
	uint32_t id;
	size_t i;

	if (!mem_grow(m->functions, m->cap_functions, m->nr_functions + 1,
		      UINT32_MAX - 1) ||
	    !idmap_reserve(&m->by_name, hash_function, m))
		return UINT32_MAX;
	function = &m->functions[m->nr_functions];
	memset(function, 0, sizeof(*function));
	function->names[0] = take_string(m, frame->name);
	function->system_name = take_string(m, frame->system_name);
	function->start_line = frame->start_line;
	function->vaddr = vaddr;
	function->depth = depth;
	if (function->names[0] == STR_NONE ||
	    function->system_name == STR_NONE)
		return UINT32_MAX;
	hash = hash_function(m, (uint32_t)m->nr_functions);
	for (i = idmap_first(&m->by_name, hash);
	     (id = m->by_name.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&m->by_name, i))
		if (m->functions[id].names[0] == function->names[0] &&
		    m->functions[id].system_name == function->system_name &&
		    m->functions[id].start_line == function->start_line)
			return id;
	idmap_put(&m->by_name, hash, (uint32_t)m->nr_functions);
	return (uint32_t)m->nr_functions++;
}

/* The same of a scope. */
static uint32_t take_scope(struct maker *m, const struct made_scope *scope)
{
	uint64_t hash;
	uint32_t id;
	size_t i;

	if (!mem_grow(m->scopes, m->cap_scopes, m->nr_scopes + 1,
		      UINT32_MAX - 1) ||
	    !idmap_reserve(&m->by_scope, hash_scope, m))
		return UINT32_MAX;
	m->scopes[m->nr_scopes] = *scope;
	hash = hash_scope(m, (uint32_t)m->nr_scopes);
	for (i = idmap_first(&m->by_scope, hash);
	     (id = m->by_scope.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&m->by_scope, i))
		if (!memcmp(&m->scopes[id], scope, sizeof(*scope)))
			return id;
	idmap_put(&m->by_scope, hash, (uint32_t)m->nr_scopes);
	return (uint32_t)m->nr_scopes++;
}

/* The scopes of answer `at` from the outermost in; false: out of memory. */
static bool take_frames(struct maker *m, uint64_t vaddr, size_t at,
			struct made_range *range)
{
	const struct answers *answers = m->answers;
	const size_t first = answers->start[at];
	size_t i = answers->start[at + 1];
	uint32_t outer = 0, scope = 0;

	while (i-- > first) {
		const struct answer_frame *frame = &answers->frames[i];
		struct made_scope wanted = { .outer = outer };

		wanted.function = take_function(m, frame, vaddr,
						(uint32_t)(i - first));
		if (outer) {
			wanted.file = take_string(m, frame[1].file);
			wanted.line = frame[1].line;
			wanted.column = frame[1].column;
		}
		if (wanted.function == UINT32_MAX || wanted.file == STR_NONE)
			return false;
		scope = take_scope(m, &wanted);
		if (scope == UINT32_MAX)
			return false;
		outer = scope + 1;
	}
	range->scope = scope;
	range->file = take_string(m, answers->frames[first].file);
	range->line = answers->frames[first].line;
	range->column = answers->frames[first].column;
	return range->file != STR_NONE;
}

static bool is_same_answer(const struct answers *answers, size_t a, size_t b)
{
	const size_t nr = answers->start[a + 1] - answers->start[a];

	return answers->source[a] == answers->source[b] &&
	       nr == answers->start[b + 1] - answers->start[b] &&
	       (!nr || !memcmp(&answers->frames[answers->start[a]],
			       &answers->frames[answers->start[b]],
			       nr * sizeof(*answers->frames)));
}

/* From here on the answer is `at`'s (SIZE_MAX: none). */
static bool add_range(struct maker *m, uint64_t vaddr, size_t at)
{
	struct made_range range = { .start = vaddr };
	const struct made_range *last;

	if (at != SIZE_MAX && m->answers->start[at] <
			      m->answers->start[at + 1]) {
		range.source = m->answers->source[at];
		if (!take_frames(m, vaddr, at, &range))
			return false;
	}
	last = m->nr_ranges ? &m->ranges[m->nr_ranges - 1] : NULL;
	if (last ? last->source == range.source &&
		   last->scope == range.scope && last->file == range.file &&
		   last->line == range.line && last->column == range.column
		 : !range.source)
		return true;
	if (!mem_grow(m->ranges, m->cap_ranges, m->nr_ranges + 1,
		      UINT32_MAX - 1))
		return false;
	m->ranges[m->nr_ranges++] = range;
	return true;
}

/* Point the maker at a batch of answers; false: out of memory. */
static bool start_answers(struct maker *m, const struct answers *answers)
{
	size_t i;

	m->answers = answers;
	m->ids = mem_alloc(answers->strings.nr, sizeof(*m->ids));
	for (i = 0; m->ids && i < answers->strings.nr; i++)
		m->ids[i] = STR_NONE;
	return m->ids;
}

static void end_answers(struct maker *m)
{
	mem_free(m->ids);
	m->ids = NULL;
	m->answers = NULL;
}

static enum pprof_status take_batch(struct maker *m, const uint64_t *vaddrs,
				    size_t nr, const struct answers *answers,
				    struct pprof_error *err)
{
	bool is_good = start_answers(m, answers);
	size_t i;

	for (i = 0; i < nr && is_good; i++) {
		if (!i || !is_same_answer(answers, i - 1, i))
			is_good = add_range(m, vaddrs[i], i);
	}
	end_answers(m);
	return is_good ? PPROF_OK : error_nomem(err);
}

/* A stretch of code: link-time addresses. */
struct stretch {
	uint64_t start, end;
};

static enum pprof_status take_stretch(struct maker *m, struct module *module,
				      const struct stretch *stretch,
				      uint64_t *vaddrs,
				      struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	uint64_t vaddr = stretch->start;
	struct answers answers;
	size_t nr;

	while (!status && vaddr < stretch->end) {
		for (nr = 0; nr < BATCH && vaddr < stretch->end; nr++)
			vaddrs[nr] = vaddr++;
		status = module_resolve(module, vaddrs, nr, &answers, err);
		if (status)
			return status;
		status = take_batch(m, vaddrs, nr, &answers, err);
		answers_fini(&answers);
	}
	/* Whatever lies behind it has no name. */
	if (!status && !add_range(m, vaddr, SIZE_MAX))
		status = error_nomem(err);
	return status;
}

static int compare_stretches(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Executable segments, ascending and apart. NULL: out of memory. */
static struct stretch *find_code(const struct binary *binary, size_t *ret_nr,
				 uint64_t *ret_bytes)
{
	struct stretch *code = mem_alloc(binary->nr_segments, sizeof(*code));
	uint64_t end = 0;
	size_t nr = 0, i;

	*ret_bytes = 0;
	for (i = 0; code && i < binary->nr_segments; i++) {
		const struct elf_segment *segment = &binary->segments[i];

		if (!(segment->flags & PF_X) ||
		    segment->memsz > UINT64_MAX - segment->vaddr)
			continue;
		code[nr].start = segment->vaddr;
		code[nr++].end = segment->vaddr + segment->memsz;
	}
	if (nr)
		qsort(code, nr, sizeof(*code), compare_stretches);
	for (i = 0; i < nr; i++) {
		if (code[i].start < end)
			code[i].start = end;
		if (code[i].end < code[i].start)
			code[i].end = code[i].start;
		end = code[i].end;
		/* No sum of parts of the address space is beyond it. */
		*ret_bytes += code[i].end - code[i].start;
	}
	*ret_nr = nr;
	return code;
}

static enum pprof_status take_code(struct maker *m, struct binary *binary,
				   struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct stretch *code;
	uint64_t *vaddrs;
	uint64_t nr_bytes;
	size_t nr, i;

	code = find_code(binary, &nr, &nr_bytes);
	vaddrs = mem_alloc(BATCH, sizeof(*vaddrs));
	if (!code || !vaddrs)
		status = error_nomem(err);
	else if (nr_bytes > MAX_CODE_BYTES)
		status = error_plain(err, PPROF_LIMIT, binary->path,
				     "more than 4 GiB of code");
	for (i = 0; !status && i < nr; i++)
		status = take_stretch(m, binary->module, &code[i], vaddrs,
				      err);
	mem_free(code);
	mem_free(vaddrs);
	return status;
}

/* -------------------------------------------------- other forms of names */

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static const uint64_t *find_address(const uint64_t *vaddrs, size_t nr,
				    uint64_t vaddr)
{
	return nr ? bsearch(&vaddr, vaddrs, nr, sizeof(*vaddrs),
			    compare_addresses) : NULL;
}

/* Name the functions whose addresses are in the batch. */
static bool take_names(struct maker *m, enum pprof_names form,
		       const uint64_t *vaddrs, size_t nr,
		       const struct answers *answers)
{
	bool is_good = start_answers(m, answers);
	size_t i;

	for (i = 0; i < m->nr_functions && is_good; i++) {
		struct made_function *f = &m->functions[i];
		const uint64_t *found = find_address(vaddrs, nr, f->vaddr);
		size_t at, frame;

		if (!found)
			continue;
		at = (size_t)(found - vaddrs);
		frame = answers->start[at] + f->depth;
		/* Names alone differ between the forms. */
		f->names[form] = frame < answers->start[at + 1]
			? take_string(m, answers->frames[frame].name)
			: f->names[0];
		is_good = f->names[form] != STR_NONE;
	}
	end_answers(m);
	return is_good;
}

static enum pprof_status name_functions(struct maker *m,
					struct module *module,
					enum pprof_names form,
					struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;
	struct answers answers;
	uint64_t *vaddrs;
	size_t nr = 0, i, first, some;

	vaddrs = mem_alloc(m->nr_functions, sizeof(*vaddrs));
	if (!vaddrs)
		return error_nomem(err);
	for (i = 0; i < m->nr_functions; i++)
		vaddrs[i] = m->functions[i].vaddr;
	if (m->nr_functions)
		qsort(vaddrs, m->nr_functions, sizeof(*vaddrs),
		      compare_addresses);
	for (i = 0; i < m->nr_functions; i++)
		if (!nr || vaddrs[i] != vaddrs[nr - 1])
			vaddrs[nr++] = vaddrs[i];
	for (first = 0; first < nr && !status; first += some) {
		some = nr - first < BATCH ? nr - first : BATCH;
		status = module_resolve(module, vaddrs + first, some, &answers,
					err);
		if (status)
			break;
		if (!take_names(m, form, vaddrs + first, some, &answers))
			status = error_nomem(err);
		answers_fini(&answers);
	}
	mem_free(vaddrs);
	return status;
}

/* ------------------------------------------------------------- the public */

/* Open the file and its debug information for names of one form. */
static enum pprof_status open_as(struct finder *finder,
				 const struct pprof_symbolize_opts *opts,
				 const char *path, enum pprof_names form,
				 struct diags *diags,
				 struct binary **ret_binary,
				 struct pprof_error *err)
{
	struct module_opts module_opts = { .names = form, .diags = diags };
	enum pprof_status status;

	module_opts.nr_threads = symbolizer_threads(opts->nr_threads);
	status = finder_init(finder, opts, err);
	finder->diags = diags;
	if (!status)
		status = finder_get(finder, path, ret_binary, err);
	if (!status && (*ret_binary)->symfile)
		status = error_plain(err, PPROF_FORMAT, path,
				     "a symbol file already");
	if (!status)
		status = finder_load(finder, *ret_binary, &module_opts, err);
	return status;
}

/* Everything in one form of names; the first form also fills the ranges. */
static enum pprof_status collect_form(struct maker *m,
				      const struct pprof_symbolize_opts *opts,
				      const char *path, enum pprof_names form,
				      struct diags *diags,
				      struct pprof_error *err)
{
	struct binary *binary = NULL;
	enum pprof_status status;
	struct finder finder;

	status = open_as(&finder, opts, path, form, diags, &binary, err);
	if (!status && !form)
		status = take_code(m, binary, err);
	else if (!status)
		status = name_functions(m, binary->module, form, err);
	finder_fini(&finder);
	return status;
}

/* Pack it, with what the file's own header tells. */
static enum pprof_status finish(struct maker *m,
				const struct pprof_symbolize_opts *opts,
				const char *path, struct pprof_symbols *symbols,
				struct pprof_error *err)
{
	struct binary *binary = NULL;
	enum pprof_status status;
	struct finder finder;
	struct buf name;
	const char *base;

	status = finder_init(&finder, opts, err);
	if (!status)
		status = finder_get(&finder, path, &binary, err);
	if (!status) {
		buf_init(&name, FINDER_PATH_MAX);
		path_base(binary->path, false, &base);
		buf_str(&name, binary->build_id[0] ? binary->build_id : base);
		buf_str(&name, ".sym");
		symbols->name = mem_strndup(buf_cstr(&name), name.len);
		buf_fini(&name);
		if (!symbols->name ||
		    !symfile_pack(m, binary, &symbols->bytes))
			status = error_nomem(err);
	}
	finder_fini(&finder);
	return status;
}

static void maker_fini(struct maker *m)
{
	strtab_fini(&m->strings);
	idmap_fini(&m->by_name);
	idmap_fini(&m->by_scope);
	mem_free(m->functions);
	mem_free(m->scopes);
	mem_free(m->ranges);
}

enum pprof_status pprof_symbols_make(const char *path,
				     const struct pprof_symbolize_opts *opts,
				     struct pprof_symbols **ret_symbols,
				     struct pprof_error *err)
{
	struct pprof_symbolize_opts taken = PPROF_SYMBOLIZE_OPTS_INIT;
	struct pprof_symbols *symbols;
	struct maker maker = { .nr_functions = 0 };
	enum pprof_status status;
	struct diags diags;
	unsigned form;

	status = opts_take(&taken, sizeof(taken), opts, err);
	if (status)
		return status;
	symbols = mem_zalloc(1, sizeof(*symbols));
	if (!symbols)
		return error_nomem(err);
	buf_init(&symbols->bytes, MAX_FILE_BYTES);
	diags_init(&diags, path);
	if (!strtab_init(&maker.strings, MAX_STRING_BYTES))
		status = error_nomem(err);
	for (form = 0; form < SYMFILE_NR_NAMES && !status; form++) {
		status = collect_form(&maker, &taken, path,
				      (enum pprof_names)form, &diags, err);
		/* The same oddities come up in every form. */
		diags_flush(&diags, form ? NULL : taken.diag, taken.diag_ctx);
	}
	if (!status)
		status = finish(&maker, &taken, path, symbols, err);
	maker_fini(&maker);
	if (status)
		pprof_symbols_free(symbols);
	else
		*ret_symbols = symbols;
	return status;
}

const char *pprof_symbols_name(const struct pprof_symbols *symbols)
{
	return symbols->name;
}

enum pprof_status pprof_symbols_write(const struct pprof_symbols *symbols,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	return pprof_sink_write(sink, symbols->bytes.data, symbols->bytes.len,
				err);
}

void pprof_symbols_free(struct pprof_symbols *symbols)
{
	if (!symbols)
		return;
	buf_fini(&symbols->bytes);
	mem_free(symbols->name);
	mem_free(symbols);
}
