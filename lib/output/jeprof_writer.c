/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles with their symbols as jeprof and google-pprof read them without
 * the binary: "--- symbol", the names, "---", then a heap, contention or CPU
 * profile of gperftools. They subtract 1 from return addresses before they
 * look them up; what is written here makes up for that.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"
#include "output/ordered.h"
#include "output/writer.h"

#include <endian.h>

/* Bytes collected before they go to the sink. */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Distance of addresses made up for locations that have none of their own. */
#define MADE_UP_STEP 16

/* No such column. */
#define NO_COLUMN SIZE_MAX

enum kind { KIND_HEAP, KIND_CONTENTION, KIND_CPU };

struct jeprof {
	const struct pprof_profile *profile;
	const struct pprof_write_opts *opts;
	struct pprof_sink *sink;
	struct ordered ordered;
	struct buf out;
	enum kind kind;
	/* Columns: objects and bytes, or count and delay, or the count. */
	size_t columns[2];
	size_t alloc[2];      /* of heaps; NO_COLUMN */
	uint64_t *addresses;  /* [nr_locations] written, in the call */
	uint8_t *is_leaf;     /* [nr_locations] */
	struct idmap used;    /* rows are locations, by written address */
	uint64_t made_up;     /* the next one */
	struct diags diags;
};

/* ------------------------------------------------------------- columns */

static size_t find_column(const struct pprof_profile *profile,
			  const char *type)
{
	size_t i;

	for (i = 0; i < profile->nr_types; i++) {
		if (!strcmp(profile_str(profile, profile->types[i].type),
			    type))
			return i;
	}
	return NO_COLUMN;
}

static bool find_pair(const struct pprof_profile *profile, const char *first,
		      const char *second, size_t *ret)
{
	ret[0] = find_column(profile, first);
	ret[1] = find_column(profile, second);
	return ret[0] != NO_COLUMN && ret[1] != NO_COLUMN;
}

static enum pprof_status choose_kind(struct jeprof *j,
				     struct pprof_error *err)
{
	const struct pprof_profile *profile = j->profile;

	if (!find_pair(profile, "alloc_objects", "alloc_space", j->alloc))
		j->alloc[0] = NO_COLUMN;
	j->kind = KIND_HEAP;
	if (find_pair(profile, "inuse_objects", "inuse_space", j->columns) ||
	    find_pair(profile, "objects", "space", j->columns))
		return PPROF_OK;
	j->kind = KIND_CONTENTION;
	if (find_pair(profile, "contentions", "delay", j->columns))
		return PPROF_OK;
	j->kind = KIND_CPU;
	j->columns[0] = find_column(profile, "samples");
	if (j->opts->sample_type < 0 && j->columns[0] != NO_COLUMN)
		return PPROF_OK;
	return profile_pick_type(profile, j->opts->sample_type,
				 &j->columns[0], err);
}

/* ----------------------------------------------------------- addresses */

static uint64_t hash_location(const void *ctx, uint32_t id)
{
	const struct jeprof *j = ctx;

	return hash_u64(j->addresses[id]);
}

/* Whether a location before has this address, or the one behind it. */
static bool is_used(const struct jeprof *j, uint64_t address)
{
	uint32_t id;
	size_t i;

	i = idmap_first(&j->used, hash_u64(address));
	for (; (id = j->used.slots[i]) != IDMAP_FREE;
	     i = idmap_next(&j->used, i)) {
		if (j->addresses[id] == address)
			return true;
	}
	return false;
}

/* A leaf of other than CPU stacks is looked up one byte further on. */
static bool is_free(const struct jeprof *j, uint64_t address)
{
	if (!address || address == UINT64_MAX || is_used(j, address))
		return false;
	return j->kind == KIND_CPU ||
	       (!is_used(j, address + 1) && !is_used(j, address - 1));
}

/* Each location gets an address that no other has. */
static bool place_location(struct jeprof *j, loc_id id)
{
	uint64_t address = j->profile->locations[id].address;

	if (!idmap_reserve(&j->used, hash_location, j))
		return false;
	if (!is_free(j, address)) {
		while (!is_free(j, j->made_up))
			j->made_up += MADE_UP_STEP;
		if (address)
			diag_count(&j->diags, PPROF_UNIT_NONE, 0, "two "
				   "locations have one address, or nearly: "
				   "another one is made up");
		address = j->made_up;
		j->made_up += MADE_UP_STEP;
	}
	j->addresses[id] = address;
	idmap_put(&j->used, hash_u64(address), id);
	return true;
}

static bool place_locations(struct jeprof *j)
{
	size_t nr = j->profile->nr_locations, i;

	j->addresses = mem_zalloc(nr, sizeof(*j->addresses));
	j->is_leaf = mem_zalloc(nr, 1);
	if (!j->addresses || !j->is_leaf)
		return false;
	j->made_up = 4096;
	for (i = 0; i < j->ordered.canon.nr_locs; i++) {
		if (!place_location(j, j->ordered.canon.loc_order[i]))
			return false;
	}
	for (i = 0; i < j->profile->nr_samples; i++) {
		const struct stacks *stacks = &j->profile->stacks;
		const struct stack_node *node =
			&stacks->nodes[j->profile->sample_stack[i]];

		if (node->nr_locs)
			j->is_leaf[stacks->locs[node->run + node->nr_locs -
						1]] = 1;
	}
	return true;
}

/* ------------------------------------------------------------- symbols */

static enum pprof_status flush(struct jeprof *j, size_t above,
			       struct pprof_error *err)
{
	if (!buf_ok(&j->out))
		return error_nomem(err);
	if (j->out.len < above)
		return PPROF_OK;
	return sink_take_buf(j->sink, &j->out, err);
}

static void put_binary(struct jeprof *j)
{
	const struct canon *canon = &j->ordered.canon;
	const struct mapping *map;

	buf_str(&j->out, "--- symbol\nbinary=");
	if (canon->nr_maps) {
		map = &j->profile->mappings[canon->map_order[0]];
		ordered_put_line(&j->out, profile_str(j->profile, map->file));
	}
	buf_byte(&j->out, '\n');
}

/* "0xADDR outer--inlined--innermost" */
static void put_symbol(struct jeprof *j, uint64_t address,
		       const struct location *loc)
{
	const char *name;
	uint32_t i;

	buf_str(&j->out, "0x");
	buf_hex(&j->out, address);
	for (i = loc->nr_lines; i; i--) {
		name = ordered_func_name(j->profile, j->profile->lines[
					 loc->lines + i - 1].func);
		buf_str(&j->out, i == loc->nr_lines ? " " : "--");
		ordered_put_line(&j->out, *name ? name : "??");
		if (j->opts->no_inlines)
			break;
	}
	buf_byte(&j->out, '\n');
}

/*
 * Where a leaf is looked up otherwise: jeprof subtracts 1 from those of CPU
 * stacks too, and from no other.
 */
static void put_leaf_symbol(struct jeprof *j, loc_id id,
			    const struct location *loc)
{
	uint64_t address = j->addresses[id];

	address += j->kind == KIND_CPU ? UINT64_MAX : 1;
	if (!is_used(j, address))
		put_symbol(j, address, loc);
}

static enum pprof_status put_symbols(struct jeprof *j, struct pprof_error *err)
{
	const struct canon *canon = &j->ordered.canon;
	enum pprof_status status = PPROF_OK;
	const struct location *loc;
	size_t i;
	loc_id id;

	put_binary(j);
	for (i = 0; !status && i < canon->nr_locs; i++) {
		id = canon->loc_order[i];
		loc = &j->profile->locations[id];
		if (!loc->nr_lines)
			continue;
		put_symbol(j, j->addresses[id], loc);
		if (j->is_leaf[id])
			put_leaf_symbol(j, id, loc);
		status = flush(j, CHUNK_BYTES, err);
	}
	buf_str(&j->out, "---\n");
	return status;
}

/* ------------------------------------------------------------- samples */

static int64_t value_of(const struct jeprof *j, size_t column)
{
	return column == NO_COLUMN ? 0 :
	       j->profile->values[column][j->ordered.sample];
}

static int64_t total_of(const struct jeprof *j, size_t column)
{
	return column == NO_COLUMN ? 0 :
	       profile_column_total(j->profile, column, NULL);
}

static void put_addresses(struct jeprof *j)
{
	size_t i;

	buf_str(&j->out, " @");
	for (i = 0; i < j->ordered.nr_frames; i++) {
		buf_str(&j->out, " 0x");
		buf_hex(&j->out, j->addresses[j->ordered.frames[i]] + 1);
	}
	buf_byte(&j->out, '\n');
}

static void put_heap_counts(struct jeprof *j,
			    int64_t (*get)(const struct jeprof *j, size_t i))
{
	bool has_alloc = j->alloc[0] != NO_COLUMN;

	buf_printf(&j->out, "%lld: %lld [%lld: %lld]",
		   (long long)get(j, j->columns[0]),
		   (long long)get(j, j->columns[1]),
		   (long long)get(j, has_alloc ? j->alloc[0] : NO_COLUMN),
		   (long long)get(j, has_alloc ? j->alloc[1] : NO_COLUMN));
}

static void put_heap_head(struct jeprof *j)
{
	buf_str(&j->out, "--- heap\nheap profile: ");
	put_heap_counts(j, total_of);
	buf_str(&j->out, " @ heapprofile\n");
}

static void put_heap(struct jeprof *j)
{
	put_heap_counts(j, value_of);
	put_addresses(j);
}

static void put_contention(struct jeprof *j)
{
	int64_t count = value_of(j, j->columns[0]);
	int64_t delay = value_of(j, j->columns[1]);

	if (count < 0 || delay < 0) {
		diag_count(&j->diags, PPROF_UNIT_NONE, 0,
			   "sample with a negative value is left out");
		return;
	}
	buf_printf(&j->out, "%lld %lld", (long long)delay, (long long)count);
	put_addresses(j);
}

static void put_word(struct jeprof *j, uint64_t word)
{
	word = htole64(word);
	buf_add(&j->out, &word, sizeof(word));
}

/* Microseconds between samples, at least 1. */
static uint64_t period_us(const struct pprof_profile *profile)
{
	const char *unit = profile_str(profile, profile->period_type.unit);

	if (strcmp(unit, "nanoseconds") || profile->period < 1000)
		return 1;
	return (uint64_t)profile->period / 1000;
}

static void put_cpu_head(struct jeprof *j)
{
	buf_str(&j->out, "--- profile\n");
	put_word(j, 0);
	put_word(j, 3);
	put_word(j, 0);
	put_word(j, period_us(j->profile));
	put_word(j, 0);
}

static void put_cpu(struct jeprof *j)
{
	int64_t count = value_of(j, j->columns[0]);
	size_t i;

	if (count <= 0) {
		if (count)
			diag_count(&j->diags, PPROF_UNIT_NONE, 0, "sample "
				   "with a negative value is left out");
		return;
	}
	put_word(j, (uint64_t)count);
	put_word(j, j->ordered.nr_frames);
	for (i = 0; i < j->ordered.nr_frames; i++)
		put_word(j, j->addresses[j->ordered.frames[i]] + (i != 0));
}

static void put_sample(struct jeprof *j)
{
	if (ordered_lset(&j->ordered)->nr)
		diag_count(&j->diags, PPROF_UNIT_NONE, 0,
			   "the format has no labels: left out");
	if (j->kind == KIND_HEAP)
		put_heap(j);
	else if (j->kind == KIND_CONTENTION)
		put_contention(j);
	else
		put_cpu(j);
}

static enum pprof_status put_samples(struct jeprof *j, struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;

	if (j->kind == KIND_HEAP)
		put_heap_head(j);
	else if (j->kind == KIND_CPU)
		put_cpu_head(j);
	else
		buf_str(&j->out, "--- contention:\ncycles/second = "
			"1000000000\nsampling period = 1\n");
	while (!status && ordered_next(&j->ordered)) {
		put_sample(j);
		status = flush(j, CHUNK_BYTES, err);
	}
	if (!status && j->ordered.failed)
		return error_nomem(err);
	if (j->kind == KIND_CPU) {
		put_word(j, 0);
		put_word(j, 1);
		put_word(j, 0);
	}
	return status ? status : flush(j, 0, err);
}

/* --------------------------------------------------------------- maps */

static bool is_process_range(const struct mapping *map)
{
	return map->limit && map->limit != UINT64_MAX;
}

static void put_maps(struct jeprof *j)
{
	const struct canon *canon = &j->ordered.canon;
	const struct mapping *map;
	bool is_first = true;
	size_t i;

	for (i = 0; i < canon->nr_maps; i++) {
		map = &j->profile->mappings[canon->map_order[i]];
		if (!is_process_range(map))
			continue;
		if (is_first && j->kind != KIND_CPU)
			buf_str(&j->out, "\nMAPPED_LIBRARIES:\n");
		is_first = false;
		buf_printf(&j->out, "%08llx-%08llx %s %08llx 00:00 0 ",
			   (unsigned long long)map->start,
			   (unsigned long long)map->limit,
			   map->flags & MAP_NOT_CODE ? "r--p" : "r-xp",
			   (unsigned long long)map->offset);
		ordered_put_line(&j->out, profile_str(j->profile, map->file));
		buf_byte(&j->out, '\n');
	}
}

/* ------------------------------------------------------------- writing */

static enum pprof_status write_parts(struct jeprof *j,
				     struct pprof_error *err)
{
	enum pprof_status status = choose_kind(j, err);

	if (status)
		return status;
	if (!place_locations(j))
		return error_nomem(err);
	status = put_symbols(j, err);
	if (!status)
		status = put_samples(j, err);
	if (!status) {
		put_maps(j);
		status = flush(j, 0, err);
	}
	return status;
}

static enum pprof_status write_jeprof(const struct pprof_profile *profile,
				      const struct pprof_write_opts *opts,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	struct jeprof j = { .profile = profile, .opts = opts, .sink = sink };
	enum pprof_status status;

	diags_init(&j.diags, "jeprof output");
	buf_init(&j.out, PTRDIFF_MAX);
	status = ordered_init(&j.ordered, profile, err);
	if (!status)
		status = write_parts(&j, err);
	if (!status)
		diags_flush(&j.diags, opts->diag, opts->diag_ctx);
	ordered_fini(&j.ordered);
	buf_fini(&j.out);
	mem_free(j.addresses);
	mem_free(j.is_leaf);
	idmap_fini(&j.used);
	return status;
}

const struct writer writer_jeprof = {
	.name = "jeprof",
	.description = "with symbols, for jeprof and google-pprof without "
		       "the binary",
	.is_binary = true,
	.write = write_jeprof
};
