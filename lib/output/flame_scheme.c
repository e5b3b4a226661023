/* SPDX-License-Identifier: Apache-2.0
 *
 * Which colour class a frame gets: by a hash of its name, by a key that
 * several share (module, package, folder), or by what the node is.
 */
#include <config.h>

#include "base/mem.h"
#include "output/flame_color.h"
#include "view/shorten.h"

#include <stdlib.h>
#include <string.h>

static bool contains(const char *text, const char *const *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

#define CONTAINS(text, words) \
	contains(text, words, sizeof(words) / sizeof(*(words)))

enum pprof_colors flame_auto_colors(const char *type, const char *unit)
{
	static const char *const waits[] = { "off", "block", "wait", "lock",
					     "mutex", "contention", "delay" };
	static const char *const heaps[] = { "alloc", "inuse", "space",
					     "objects", "heap" };

	if (!strcmp(unit, "bytes") || CONTAINS(type, heaps))
		return PPROF_COLORS_MEM;
	return CONTAINS(type, waits) ? PPROF_COLORS_IO : PPROF_COLORS_HOT;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

static bool is_separator(const char *name, size_t len)
{
	return (len == 1 && name[0] == '-') ||
	       (len == 2 && name[0] == '-' && name[1] == '-');
}

static uint8_t name_class(const struct flame_palette *palette,
			  const struct frames *frames, uint32_t row)
{
	const struct frame *frame = &frames->rows[row];
	const char *name = frame_name(frames, row);
	size_t len = frame_name_len(frames, row);

	if (frame->kind & (FRAME_UNKNOWN | FRAME_SYNTHETIC) ||
	    is_separator(name, len))
		return FLAME_UNKNOWN;
	if (palette->colors == PPROF_COLORS_MONO)
		return 0;
	/* Mixed, as FNV leaves the last bytes of a name in the low bits. */
	return (uint8_t)(hash_u64(hash_bytes(name, len)) >> 59);
}

/* Kinds of code, in the order of their colours. */
enum code_kind {
	KIND_KERNEL = 0,
	KIND_USER,
	KIND_INLINED,
	KIND_JIT,
	KIND_RUNTIME, /* the language's and the system's own */
	KIND_UNKNOWN,
	KIND_NR
};

static bool starts_with(const char *text, const char *const *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

#define STARTS_WITH(text, words) \
	starts_with(text, words, sizeof(words) / sizeof(*(words)))

static enum code_kind row_kind(const struct frames *frames, uint32_t row)
{
	static const char *const modules[] = {
		"libc.", "libc-", "ld-", "ld.", "libpthread", "libm.",
		"libm-", "libstdc++", "libc++", "libgcc_s", "libjvm",
		"libgo.", "[vdso]"
	};
	static const char *const names[] = {
		"std::", "core::", "alloc::", "__libc_", "runtime.",
		"java.", "System.", "__cxa_", "_start", "__gnu_cxx::"
	};
	const struct frame *frame = &frames->rows[row];

	if (frame->kind & FRAME_KERNEL)
		return KIND_KERNEL;
	if (frame->kind & FRAME_JIT)
		return KIND_JIT;
	if (frame->kind & FRAME_INLINED)
		return KIND_INLINED;
	if (STARTS_WITH(strtab_text(&frames->strings, frame->module),
			modules) ||
	    STARTS_WITH(frame_name(frames, row), names))
		return KIND_RUNTIME;
	return frame->kind & (FRAME_UNKNOWN | FRAME_SYNTHETIC) ? KIND_UNKNOWN
							       : KIND_USER;
}

/* End of the first scope of "a::b", or of both of "std::b::c". */
static size_t scope_end(const char *name, size_t len)
{
	const char *end = memmem(name, len, "::", 2), *next;
	size_t first = end ? (size_t)(end - name) : 0;

	if (!first || !((first == 3 && !memcmp(name, "std", 3)) ||
			(first == 4 && !memcmp(name, "core", 4)) ||
			(first == 5 && !memcmp(name, "alloc", 5))))
		return first;
	next = memmem(end + 2, len - first - 2, "::", 2);
	return next ? (size_t)(next - name) : first;
}

/* Compilers' names for parts of a function: "f.cold", "f.part.0". */
static size_t without_clones(const char *name, size_t len)
{
	static const char *const words[] = { ".cold", ".constprop.", ".isra.",
					     ".part.", ".llvm.", ".lto_priv" };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		at = memmem(name, len, words[i], strlen(words[i]));
		if (at && at > name)
			len = (size_t)(at - name);
	}
	return len;
}

/* Bytes of the package that leads a name with points; 0: none does. */
static size_t point_end(const char *name, size_t len)
{
	const char *slash = memrchr(name, '/', len), *point, *last;

	len = without_clones(name, len);
	if (slash) {
		/* Go: up to the first point behind the last slash. */
		point = memchr(slash, '.', len - (size_t)(slash - name));
		return point ? (size_t)(point - name) : 0;
	}
	/* Java: all but class and method; "main.main" has just one. */
	last = memrchr(name, '.', len);
	if (!last || last == name)
		return 0;
	point = memrchr(name, '.', (size_t)(last - name));
	return (size_t)((point && point > name ? point : last) - name);
}

/* Package of a frame into `out`; nothing: there is none. */
static void find_package(struct buf *out, const struct frames *frames,
			 uint32_t row)
{
	struct buf name;
	size_t skip = 0, len, i;
	const char *as;

	if (frames->rows[row].kind & FRAME_KERNEL) {
		buf_str(out, "[kernel]");
		return;
	}
	buf_init(&name, UINT32_MAX);
	shorten_strip(&name, frame_name(frames, row),
		      frame_bare_len(frame_name(frames, row),
				     frame_name_len(frames, row)));
	/* "<&T as U>::f" belongs to T's package. */
	while (skip < name.len && strchr("<&* ", name.data[skip]))
		skip++;
	as = name.len ? memmem(name.data, name.len, " as ", 4) : NULL;
	if (as)
		name.len = (size_t)(as - name.data);
	len = skip < name.len ? scope_end(name.data + skip, name.len - skip)
			      : 0;
	/* A return type stands before the name of a template's instance. */
	for (i = skip; i < skip + len; i++)
		if (name.data[i] == ' ' &&
		    !memchr(name.data + skip, '<', i - skip) &&
		    !memchr(name.data + skip, '(', i - skip)) {
			len -= i + 1 - skip;
			skip = i + 1;
		}
	if (!len && !as && skip < name.len &&
	    !memmem(name.data, name.len, "::", 2))
		len = point_end(name.data + skip, name.len - skip);
	buf_add(out, name.data + skip, len);
	out->failed = out->failed || name.failed;
	buf_fini(&name);
}

static void find_folder(struct buf *out, const struct frames *frames,
			uint32_t row)
{
	str_id file = frames->rows[row].file;
	const char *text = strtab_text(&frames->strings, file);
	const char *slash = memrchr(text, '/',
				    strtab_len(&frames->strings, file));

	if (slash)
		buf_add(out, text, slash > text ? (size_t)(slash - text) : 1);
	else if (file)
		buf_byte(out, '.');
}

/* What the frame shares its colour with; 0: nothing, STR_NONE: no memory. */
static str_id find_key(const struct flame_palette *palette,
		       struct frames *frames, uint32_t row, struct buf *buf)
{
	const struct frame *frame = &frames->rows[row];

	if (palette->colors == PPROF_COLORS_MODULE)
		return frame->module;
	if (frame->kind & FRAME_SYNTHETIC)
		return 0;
	buf_reset(buf);
	if (palette->colors == PPROF_COLORS_FILE)
		find_folder(buf, frames, row);
	else if (!(frame->kind & FRAME_UNKNOWN))
		find_package(buf, frames, row);
	if (!buf_ok(buf))
		return STR_NONE;
	if (!buf->len)
		return palette->colors == PPROF_COLORS_FILE ? 0
							    : frame->module;
	return strtab_add(&frames->strings, buf->data, buf->len);
}

/* A key while keys are being ordered. */
struct color_key {
	uint64_t hash;
	str_id name;
};

static int compare_color_keys(const void *a, const void *b, void *ctx)
{
	const struct color_key *ka = a, *kb = b;

	if (ka->hash != kb->hash)
		return ka->hash < kb->hash ? -1 : 1;
	return strtab_compare(ctx, ka->name, kb->name);
}

static int compare_weights(const void *a, const void *b)
{
	const struct flame_legend *la = a, *lb = b;

	if (la->weight != lb->weight)
		return la->weight > lb->weight ? -1 : 1;
	return (la->bucket > lb->bucket) - (la->bucket < lb->bucket);
}

static str_id *find_keys(const struct flame_palette *palette,
			 struct frames *frames)
{
	str_id *of_row = mem_alloc(frames->nr, sizeof(*of_row));
	struct buf buf;
	size_t i;

	buf_init(&buf, UINT32_MAX);
	for (i = 0; of_row && i < frames->nr; i++) {
		of_row[i] = find_key(palette, frames, (uint32_t)i, &buf);
		if (of_row[i] != STR_NONE)
			continue;
		mem_free(of_row);
		of_row = NULL;
	}
	buf_fini(&buf);
	return of_row;
}

/* The keys, each once, by hash: the order does not depend on weights. */
static struct color_key *list_keys(const struct frames *frames,
				   const str_id *of_row, uint32_t *index,
				   size_t *ret_nr)
{
	struct color_key *keys = mem_alloc(frames->strings.nr, sizeof(*keys));
	size_t nr = 0, i;

	for (i = 0; keys && i < frames->nr; i++) {
		str_id name = of_row[i];

		if (!name || index[name])
			continue;
		index[name] = 1;
		keys[nr].name = name;
		keys[nr++].hash = hash_bytes(
			strtab_text(&frames->strings, name),
			strtab_len(&frames->strings, name));
	}
	if (keys)
		qsort_r(keys, nr, sizeof(*keys), compare_color_keys,
			(void *)(uintptr_t)&frames->strings);
	*ret_nr = nr;
	return keys;
}

static void add_weight(struct flame_legend *entry, int64_t self)
{
	if (__builtin_add_overflow(entry->weight, magnitude_i64(self),
				   &entry->weight))
		entry->weight = UINT64_MAX;
}

/* Of eight colours some may be shared by several keys. */
static unsigned bucket_of(const struct flame_palette *palette, size_t i)
{
	return (unsigned)(i % (palette->colors == PPROF_COLORS_CVD
				       ? 8
				       : FLAME_BUCKETS));
}

static void weigh_keys(struct flame_palette *palette,
		       const struct frames *frames, const struct tree *tree,
		       const str_id *of_row, const uint32_t *index)
{
	size_t i;

	for (i = 0; i < frames->nr; i++) {
		if (!of_row[i]) {
			palette->bucket[i] =
				frames->rows[i].kind & (FRAME_UNKNOWN |
							FRAME_SYNTHETIC)
					? FLAME_UNKNOWN
					: FLAME_ROOT;
			continue;
		}
		palette->bucket[i] = (uint8_t)bucket_of(palette,
							index[of_row[i]]);
		add_weight(&palette->legend[index[of_row[i]]],
			   tree->row_self[i]);
	}
}

static bool color_keys(struct flame_palette *palette, struct frames *frames,
		       const struct tree *tree)
{
	str_id *of_row = find_keys(palette, frames);
	uint32_t *index = mem_zalloc(frames->strings.nr, sizeof(*index));
	struct color_key *keys = NULL;
	size_t nr = 0, i;

	if (of_row && index)
		keys = list_keys(frames, of_row, index, &nr);
	palette->legend = mem_zalloc(nr, sizeof(*palette->legend));
	if (keys && palette->legend) {
		for (i = 0; i < nr; i++) {
			index[keys[i].name] = (uint32_t)i;
			palette->legend[i].name = keys[i].name;
			palette->legend[i].bucket = bucket_of(palette, i);
		}
		palette->nr_legend = nr;
		weigh_keys(palette, frames, tree, of_row, index);
		qsort(palette->legend, nr, sizeof(*palette->legend),
		      compare_weights);
	}
	mem_free(of_row);
	mem_free(index);
	mem_free(keys);
	return palette->nr_legend == nr && keys;
}

static bool color_kinds(struct flame_palette *palette,
			const struct frames *frames, const struct tree *tree)
{
	static const char *const words[] = {
		[KIND_KERNEL] = "kernel", [KIND_USER] = "user",
		[KIND_INLINED] = "inlined", [KIND_JIT] = "jit",
		[KIND_RUNTIME] = "runtime", [KIND_UNKNOWN] = "no name"
	};
	unsigned i;
	size_t j;

	palette->legend = mem_zalloc(KIND_NR, sizeof(*palette->legend));
	if (!palette->legend)
		return false;
	palette->nr_legend = KIND_NR;
	for (i = 0; i < KIND_NR; i++) {
		palette->legend[i].words = words[i];
		palette->legend[i].bucket = i;
	}
	for (j = 0; j < frames->nr; j++) {
		palette->bucket[j] = (uint8_t)row_kind(frames, (uint32_t)j);
		add_weight(&palette->legend[palette->bucket[j]],
			   tree->row_self[j]);
	}
	qsort(palette->legend, KIND_NR, sizeof(*palette->legend),
	      compare_weights);
	return true;
}

bool flame_scheme_init(struct flame_palette *palette, struct frames *frames,
		       const struct tree *tree)
{
	size_t i;

	palette->bucket = mem_alloc(frames->nr, sizeof(*palette->bucket));
	if (!palette->bucket)
		return false;
	switch (palette->colors) {
	case PPROF_COLORS_MODULE:
	case PPROF_COLORS_PACKAGE:
	case PPROF_COLORS_FILE:
	case PPROF_COLORS_CVD:
		return color_keys(palette, frames, tree);
	case PPROF_COLORS_KIND:
		return color_kinds(palette, frames, tree);
	default:
		break;
	}
	for (i = 0; i < frames->nr; i++)
		palette->bucket[i] = name_class(palette, frames, (uint32_t)i);
	return true;
}

/* Class that follows from what the node is, not from its frame alone. */
static unsigned node_class(const struct flame_palette *palette,
			   const struct tree_node *node)
{
	unsigned class_id = palette->bucket[node->row];
	double share;

	switch (palette->colors) {
	case PPROF_COLORS_KIND:
		return class_id == KIND_USER && node->inlined && !node->called
			       ? KIND_INLINED
			       : class_id;
	case PPROF_COLORS_SELF:
		share = node->total ? (double)node->self / (double)node->total
				    : 0;
		return share > 1 ? 15 : share > 0 ? (unsigned)(share * 15)
						  : 0;
	case PPROF_COLORS_DEPTH:
		return node->depth & 1;
	default:
		return class_id;
	}
}

unsigned flame_class_of(struct flame_palette *palette,
			const struct tree_node *node)
{
	unsigned class_id = FLAME_PRUNED;

	if (node->kind == NODE_ROOT)
		class_id = FLAME_ROOT;
	else if (node->kind == NODE_FRAME && palette->is_diff)
		class_id = node->tint;
	else if (node->kind == NODE_FRAME && node->total < 0)
		class_id = FLAME_NEGATIVE;
	else if (node->kind == NODE_FRAME)
		class_id = node_class(palette, node);
	palette->used[class_id] = true;
	return class_id;
}
