/* SPDX-License-Identifier: Apache-2.0
 *
 * Two rules: the leading frames in an allocator's library go, whatever their
 * names; and near the leaf everything up to the last frame with an
 * allocator's name goes. One table gives both the names that are matched
 * here and the expression that viewers match (google/pprof profile/prune.go:
 * whole name, cut at the parameters).
 */
#include <config.h>

#include "base/mem.h"
#include "symbolize/allocator.h"
#include "symbolize/demangle.h"

#include <string.h>

/* Frames from the leaf in which names count, without a library found. */
#define LEADING_FRAMES 16

/* Frames above the allocator's library: operator new and its kin. */
#define FRAMES_ABOVE_LIBRARY 4

/*
 * Plain names, with any number of leading underscores and an optional
 * prefix. free() and its kin are left out: they never lead to a sample, and
 * an application's own function may be called so.
 */
static const char *const plain_names[] = {
	/* C, POSIX and BSD entry points. */
	"malloc", "calloc", "realloc", "reallocarray", "memalign",
	"posix_memalign", "aligned_alloc", "valloc", "pvalloc",
	/* jemalloc's, and its functions inside (src/jemalloc.c, src/prof*.c,
	 * src/jemalloc_cpp.cpp from 3.0 to 5.3.1). */
	"mallocx", "rallocx", "xallocx", "smallocx", "smallocx_body",
	"malloc_default", "imalloc", "imalloc_body", "imalloc_sample",
	"imalloc_no_sample", "imalloc_prof", "imalloc_prof_sample",
	"imallocx", "imallocx_prof", "imallocx_prof_sample", "ialloc_body",
	"ialloc_prof", "ialloc_prof_sample", "icalloc_prof",
	"icalloc_prof_sample", "imemalign", "imemalign_prof",
	"imemalign_prof_sample", "irealloc_prof", "irealloc_prof_sample",
	"irallocx_prof", "irallocx_prof_sample", "ixallocx_prof",
	"ixallocx_prof_sample", "do_rallocx", "do_realloc_nonnull_zero",
	"prof_alloc_prep", "prof_backtrace", "prof_backtrace_impl",
	"prof_tctx_create", "prof_lookup", "fallback_impl",
	"fallbackNewImpl", "newImpl", "alignedNewImpl",
	/* tcmalloc (gperftools src/tcmalloc.cc). */
	"tc_malloc", "tc_malloc_skip_new_handler", "tc_calloc", "tc_realloc",
	"tc_memalign", "tc_posix_memalign", "tc_valloc", "tc_pvalloc",
	"tc_new", "tc_newarray", "tc_new_nothrow", "tc_newarray_nothrow",
	"tc_new_aligned", "tc_newarray_aligned", "tc_new_aligned_nothrow",
	"tc_newarray_aligned_nothrow", "do_malloc", "do_malloc_pages",
	"do_malloc_small", "do_malloc_or_cpp_alloc", "do_calloc",
	"do_realloc", "do_realloc_with_callback", "do_memalign",
	"do_memalign_or_cpp_memalign", "do_memalign_pages",
	"do_sampled_allocation", "DoSampledAllocation", "cpp_alloc",
	"cpp_memalign",
	/* macOS. */
	"malloc_zone_malloc", "malloc_zone_calloc", "malloc_zone_realloc",
	"malloc_zone_valloc", "malloc_zone_memalign",
	/* Old C++ runtimes. */
	"builtin_new", "builtin_vec_new",
};

#define NR_PLAIN (sizeof(plain_names) / sizeof(*plain_names))

/* Prefixes that builds of jemalloc and glibc give, longest first. */
static const char *const prefixes[] = {
	"rjem_je_", "rjem_", "libc_", "je_",
};

/* Names that one rule covers; `expression` says the same to viewers. */
static const struct {
	const char *start;      /* the name starts so, */
	const char *expression;
	bool is_whole;          /* or is that and nothing more */
} special_names[] = {
	{ "operator new", "operator new", true },
	{ "operator new[]", "operator new\\[\\]", true },
	/* The same mangled (Itanium C++ ABI 5.1.5). */
	{ "_Znwm", "_Znwm.*", false },
	{ "_Znam", "_Znam.*", false },
	{ "_Znwj", "_Znwj.*", false },
	{ "_Znaj", "_Znaj.*", false },
	{ "_rjem_", "_rjem_.*", false },
	{ "tcmalloc::", "tcmalloc::.*", false },
	{ "TCMalloc", "TCMalloc.*", false },
};

#define NR_SPECIAL (sizeof(special_names) / sizeof(*special_names))
#define NR_NAMES (NR_PLAIN + NR_SPECIAL)
#define NO_NAME SIZE_MAX

static const char anonymous[] = "(anonymous namespace)";

static bool skip(const char **pos, const char *end, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(end - *pos) < len || memcmp(*pos, word, len))
		return false;
	*pos += len;
	return true;
}

/* Length up to the parameters, as google/pprof's simplifyFunc() cuts. */
static size_t cut_parameters(const char *name, size_t len)
{
	const char *p = name, *end = name + len;

	while (p < end) {
		if (skip(&p, end, "operator()") || skip(&p, end, anonymous))
			continue;
		if (*p == '(')
			break;
		p++;
	}
	return (size_t)(p - name);
}

/* Name itself, then nothing or template arguments. */
static bool is_rest(const char *p, const char *end, const char *name)
{
	return skip(&p, end, name) &&
	       (p == end || (end - p >= 2 && *p == '<' && end[-1] == '>'));
}

/* Index of the plain name behind return type, scope and prefix. */
static size_t find_plain(const char *p, const char *end)
{
	const char *after = p;
	size_t i;

	if (skip(&after, end, "void")) {
		skip(&after, end, " ");
		if (skip(&after, end, "*")) {
			skip(&after, end, " ");
			p = after;
		}
	}
	after = p;
	if (skip(&after, end, anonymous) && skip(&after, end, "::"))
		p = after;
	while (p < end && *p == '_')
		p++;
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (skip(&p, end, prefixes[i]))
			break;
	for (i = 0; i < NR_PLAIN; i++)
		if (is_rest(p, end, plain_names[i]))
			return i;
	return NO_NAME;
}

/* Index of the rule that takes the name as a viewer sees it, or NO_NAME. */
static size_t find_name(const char *name, size_t len)
{
	const char *p = name, *end;
	size_t i;

	if (len && *p == '.')
		p++;
	end = p + cut_parameters(p, len - (size_t)(p - name));
	for (i = 0; i < NR_SPECIAL; i++) {
		const char *after = p;

		if (skip(&after, end, special_names[i].start) &&
		    (!special_names[i].is_whole || after == end))
			return NR_PLAIN + i;
	}
	return find_plain(p, end);
}

/* allocator_is_name(); *full is set when out of memory. */
static bool judge_name(const char *name, size_t len, bool *full)
{
	struct buf readable;
	bool is_name;

	if (find_name(name, len) != NO_NAME)
		return true;
	if (len < 2 || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    memchr(name, '\0', len))
		return false;
	buf_init(&readable, DEMANGLE_MAX_BYTES * 16);
	if (!buf_reserve(&readable, 1))
		*full = true;
	/* Too long a name is none of the allocator's. */
	demangle(name, PPROF_NAMES_SHORT, &readable);
	is_name = buf_ok(&readable) &&
		  find_name(readable.data, readable.len) != NO_NAME;
	buf_fini(&readable);
	return is_name;
}

bool allocator_is_name(const char *name, size_t len)
{
	bool full = false;

	return judge_name(name, len, &full);
}

bool allocator_applies(const struct pprof_profile *profile)
{
	const char *type;
	size_t i;

	for (i = 0; i < profile->nr_types; i++) {
		type = profile_str(profile, profile->types[i].type);
		if (!strncmp(type, "inuse_", 6) ||
		    !strncmp(type, "alloc_", 6) || !strcmp(type, "objects") ||
		    !strcmp(type, "space"))
			return true;
	}
	return false;
}

/* --------------------------------------------------------------- dropping */

enum yes_no { UNKNOWN = 0, NO, YES };

struct dropper {
	struct pprof_profile *profile;
	uint8_t *functions; /* [nr_functions] enum yes_no: allocator's name */
	uint8_t *mappings;  /* [nr_mappings] enum yes_no: its library */
	loc_id *trimmed;    /* [nr_old_locations] copy without inner frames */
	size_t nr_old_locations;
	bool is_full;       /* out of memory */
};

/* libjemalloc*.so*, libtcmalloc*.so*, tcmalloc*.so* */
static bool is_allocator_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path, *after;

	after = base + (strncmp(base, "lib", 3) ? 0 : 3);
	if (strncmp(after, "tcmalloc", 8) &&
	    strncmp(base, "libjemalloc", 11))
		return false;
	return strstr(after, ".so");
}

static bool in_library(struct dropper *d, const struct location *loc)
{
	const struct pprof_profile *p = d->profile;
	uint8_t *known = &d->mappings[loc->mapping];

	if (*known == UNKNOWN)
		*known = loc->mapping &&
			 is_allocator_library(profile_str(p,
				p->mappings[loc->mapping].file)) ? YES : NO;
	return *known == YES;
}

static bool is_allocator(struct dropper *d, func_id func)
{
	const struct pprof_profile *p = d->profile;
	uint8_t *known = &d->functions[func];
	str_id name = p->functions[func].name;

	if (*known == UNKNOWN)
		*known = judge_name(profile_str(p, name),
				    strtab_len(&p->strings, name),
				    &d->is_full) ? YES : NO;
	return *known == YES;
}

/* Number of inner lines up to the outermost one of the allocator. */
static uint32_t allocator_lines(struct dropper *d, const struct location *loc)
{
	uint32_t i;

	for (i = loc->nr_lines; i; i--)
		if (is_allocator(d, d->profile->lines[loc->lines + i - 1].func))
			return i;
	return 0;
}

/* The location without its first `nr` lines; 0 when out of memory. */
static loc_id trim(struct dropper *d, loc_id id, uint32_t nr)
{
	struct pprof_profile *p = d->profile;
	struct location *loc;

	if (id < d->nr_old_locations && d->trimmed[id])
		return d->trimmed[id];
	if (id >= d->nr_old_locations ||
	    !mem_grow(p->locations, p->cap_locations, p->nr_locations + 1,
		      UINT32_MAX - 1)) {
		d->is_full = true;
		return 0;
	}
	loc = &p->locations[p->nr_locations];
	*loc = p->locations[id];
	loc->lines += nr;
	loc->nr_lines -= nr;
	d->trimmed[id] = (loc_id)p->nr_locations++;
	return d->trimmed[id];
}

static void cut_stack(void *ctx, const loc_id *leaf_first, size_t nr,
		      struct restack_cut *cut)
{
	struct dropper *d = ctx;
	size_t run = 0, window, i;

	while (run < nr &&
	       in_library(d, &d->profile->locations[leaf_first[run]]))
		run++;
	cut->nr_drop = run;
	window = run ? run + FRAMES_ABOVE_LIBRARY : LEADING_FRAMES;
	for (i = run; i < nr && i < window; i++) {
		const struct location *loc =
			&d->profile->locations[leaf_first[i]];
		const uint32_t lines = allocator_lines(d, loc);

		if (!lines)
			continue;
		cut->nr_drop = i + (lines == loc->nr_lines);
		cut->leaf = lines == loc->nr_lines
				    ? 0 : trim(d, leaf_first[i], lines);
	}
	if (cut->nr_drop >= nr) {
		cut->nr_drop = nr - 1;
		cut->leaf = 0;
	}
}

static bool dropper_init(struct dropper *d, struct pprof_profile *profile)
{
	d->profile = profile;
	d->nr_old_locations = profile->nr_locations;
	d->functions = mem_zalloc(profile->nr_functions, 1);
	d->mappings = mem_zalloc(profile->nr_mappings, 1);
	d->trimmed = mem_zalloc(profile->nr_locations, sizeof(loc_id));
	return d->functions && d->mappings && d->trimmed;
}

static void dropper_fini(struct dropper *d)
{
	mem_free(d->functions);
	mem_free(d->mappings);
	mem_free(d->trimmed);
}

/* ---------------------------------------------------------------- pattern */

/* What a viewer would do with the kept locations. */
struct kept {
	const struct pprof_profile *profile;
	const struct stacks *stacks;
	uint8_t *outer;        /* [nr_locations] 1 + rule of its outermost */
	bool is_unsafe[NR_NAMES]; /* the rule would take a kept frame */
	bool has_outer;
	loc_id *leaf_first;    /* scratch */
	size_t cap_leaf_first;
};

_Static_assert(NR_NAMES < UINT8_MAX, "a rule does not fit into a byte");

static size_t rule_of(const struct pprof_profile *p, func_id func)
{
	str_id name = p->functions[func].name;

	return find_name(profile_str(p, name), strtab_len(&p->strings, name));
}

/* Inner frames that match would be cut wherever they stand. */
static void look_at_location(struct kept *k, loc_id id)
{
	const struct pprof_profile *p = k->profile;
	const struct location *loc = &p->locations[id];
	uint32_t i;
	size_t rule;

	for (i = 0; i < loc->nr_lines; i++) {
		rule = rule_of(p, p->lines[loc->lines + i].func);
		if (rule == NO_NAME)
			continue;
		if (i + 1 < loc->nr_lines) {
			k->is_unsafe[rule] = true;
			continue;
		}
		k->outer[id] = (uint8_t)(rule + 1);
		k->has_outer = true;
	}
}

/* From the root, frames are cut after the first that does not match. */
static bool look_at_stack(struct kept *k, stack_id id)
{
	size_t depth = stacks_depth(k->stacks, id), i;
	bool met_user = false;

	if (!mem_grow(k->leaf_first, k->cap_leaf_first, depth, UINT32_MAX))
		return false;
	stacks_leaf_first(k->stacks, id, k->leaf_first);
	for (i = depth; i; i--) {
		const uint8_t rule = k->outer[k->leaf_first[i - 1]];

		if (!rule)
			met_user = true;
		else if (met_user)
			k->is_unsafe[rule - 1] = true;
	}
	return true;
}

static bool find_unsafe(struct kept *k, const struct restacked *restacked)
{
	uint8_t *seen = mem_zalloc(k->profile->nr_locations, 1);
	bool ok;
	size_t i;

	k->outer = mem_zalloc(k->profile->nr_locations, 1);
	ok = seen && k->outer;
	for (i = 0; ok && i < k->stacks->nr_locs; i++) {
		const loc_id id = k->stacks->locs[i];

		if (!seen[id])
			look_at_location(k, id);
		seen[id] = 1;
	}
	for (i = 0; ok && k->has_outer && i < restacked->nr_samples; i++)
		ok = look_at_stack(k, restacked->sample_stack[i]);
	mem_free(seen);
	mem_free(k->outer);
	mem_free(k->leaf_first);
	return ok;
}

static void write_pattern(const struct kept *k, struct buf *out)
{
	size_t i, nr = 0;

	for (i = 0; i < NR_PLAIN; i++) {
		if (k->is_unsafe[i])
			continue;
		buf_str(out, nr++ ? "|" : "(void ?\\* ?)?(\\(anonymous "
			"namespace\\)::)?_*(rjem_je_|rjem_|libc_|je_)?(");
		buf_str(out, plain_names[i]);
	}
	if (nr)
		buf_str(out, ")(<.*>)?");
	for (i = 0; i < NR_SPECIAL; i++) {
		if (k->is_unsafe[NR_PLAIN + i])
			continue;
		if (nr++)
			buf_byte(out, '|');
		buf_str(out, special_names[i].expression);
	}
}

enum pprof_status allocator_drop(struct pprof_profile *profile,
				 struct diags *diags,
				 struct restacked *ret_restacked,
				 struct buf *pattern,
				 struct pprof_error *err)
{
	struct dropper d = { .profile = profile };
	struct kept kept = { .profile = profile };
	struct restacked restacked;
	enum pprof_status status;

	if (!dropper_init(&d, profile)) {
		dropper_fini(&d);
		return error_nomem(err);
	}
	status = profile_restack(profile, cut_stack, &d, diags, &restacked,
				 err);
	dropper_fini(&d);
	if (status)
		return status;
	kept.stacks = &restacked.stacks;
	if (d.is_full || !find_unsafe(&kept, &restacked)) {
		restacked_fini(&restacked);
		return error_nomem(err);
	}
	write_pattern(&kept, pattern);
	*ret_restacked = restacked;
	return PPROF_OK;
}
