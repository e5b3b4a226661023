/* SPDX-License-Identifier: Apache-2.0
 *
 * Load biases by vote: every range that a segment could have been mapped to
 * proposes a bias, and the bias with the most ranges behind it wins. Ranges
 * left over may belong to further instances of the same file.
 *
 * Linux maps a PT_LOAD at pagedown(bias + p_vaddr) from file offset
 * pagedown(p_offset), and both are congruent modulo the page size, so
 * bias = start - offset - (p_vaddr - p_offset) whatever the page size is
 * (fs/binfmt_elf.c elf_map(), glibc elf/dl-load.c).
 */
#include <config.h>

#include "base/mem.h"
#include "symbolize/place.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Segments looked at; linkers make fewer than a dozen. */
#define MAX_SPANS 128

#define MIN_PAGE_BYTES UINT64_C(4096)

/* Fits looked at; a thousand merged processes make some ten thousand. */
#define MAX_FITS ((size_t)1 << 20)

/* Searches for the range that fills a hole, each over all mappings. */
#define MAX_HOLE_SEARCHES 64

/* Segments that the kernel maps as one range, or a single one. */
struct span {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t filesz;
	uint64_t size; /* the larger of filesz and memsz */
	uint32_t flags;
};

/* Range `row` of the image could be a part of span `span` at `bias`. */
struct fit {
	uint64_t bias;
	uint32_t row;
	uint32_t span;
	bool is_code; /* range and span are both executable */
};

/* All fits with one bias. */
struct vote {
	uint64_t bias;
	size_t first; /* in placer.fits */
	size_t nr;
	size_t nr_code, nr_rows;
};

struct placer {
	const struct images *images;
	const struct image *image;
	struct span spans[MAX_SPANS];
	size_t nr_spans;
	struct fit *fits;
	size_t nr_fits, cap_fits;
	struct vote *votes;
	size_t nr_votes, cap_votes;
	struct placement out;
	uint64_t page;       /* slack of rounded boundaries */
	unsigned type;
	bool is_aligned;     /* boundaries are multiples of a page */
	bool no_offsets;
	bool is_trusted;
	unsigned nr_searches;
};

static const struct mapping *row_at(const struct placer *p, size_t row)
{
	return &p->images->profile
			->mappings[p->images->rows[p->image->first + row]];
}

static bool row_is_code(const struct placer *p, size_t row)
{
	return !(row_at(p, row)->flags & MAP_NOT_CODE);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Neighbours with the same rights and offset difference share a VMA. */
static void merge_spans(struct placer *p)
{
	size_t nr = 0, i;

	qsort(p->spans, p->nr_spans, sizeof(*p->spans), compare_spans);
	for (i = 0; i < p->nr_spans; i++) {
		struct span *last = nr ? &p->spans[nr - 1] : NULL;
		const struct span *span = &p->spans[i];

		if (last && last->flags == span->flags &&
		    last->vaddr - last->offset == span->vaddr - span->offset &&
		    last->filesz == last->size &&
		    span->vaddr - last->vaddr < last->filesz + p->page) {
			last->filesz = span->vaddr - last->vaddr +
				       span->filesz;
			last->size = span->vaddr - last->vaddr + span->size;
			continue;
		}
		p->spans[nr++] = *span;
	}
	p->nr_spans = nr;
}

static void take_segments(struct placer *p, const struct elf_layout *layout)
{
	size_t i;

	for (i = 0; i < layout->nr_segments && p->nr_spans < MAX_SPANS; i++) {
		const struct elf_segment *segment = &layout->segments[i];
		struct span *span = &p->spans[p->nr_spans];

		span->vaddr = segment->vaddr;
		span->offset = p->no_offsets ? 0 : segment->offset;
		span->filesz = p->no_offsets ? segment->memsz
					     : segment->filesz;
		span->size = segment->memsz > segment->filesz
				     ? segment->memsz : segment->filesz;
		span->flags = segment->flags;
		/* Spans that wrap around are nonsense, and would overflow. */
		if (!span->filesz || span->size > UINT64_MAX / 4 ||
		    span->vaddr > UINT64_MAX - span->size - 2 * p->page ||
		    span->offset > UINT64_MAX - span->size - 2 * p->page)
			continue;
		p->nr_spans++;
	}
	if (!p->no_offsets)
		merge_spans(p);
}

/* Whole pages, and none at all for a program of fixed addresses. */
static bool is_possible(const struct placer *p, uint64_t bias)
{
	if (p->is_aligned && bias % MIN_PAGE_BYTES)
		return false;
	return p->type != ET_EXEC || !bias;
}

/* The bias under which the range is a part of the span, if there is one. */
static bool find_bias(const struct placer *p, const struct mapping *map,
		      bool is_code, const struct span *span,
		      uint64_t *ret_bias)
{
	const uint64_t length = map->limit - map->start, page = p->page;

	if (map->limit <= map->start || length > span->size + 2 * page)
		return false;
	/* Old kernels mapped data as code for some; never the reverse. */
	if (!is_code && span->flags & PF_X)
		return false;
	if (p->no_offsets) {
		if (is_code && !(span->flags & PF_X))
			return false;
		*ret_bias = map->start - (span->vaddr & -page);
	} else {
		if (map->offset > UINT64_MAX - length ||
		    map->offset + page <= span->offset ||
		    map->offset >= span->offset + span->filesz ||
		    map->offset + length >= span->offset + span->size + page)
			return false;
		*ret_bias = map->start - map->offset -
			    (span->vaddr - span->offset);
	}
	return is_possible(p, *ret_bias);
}

/*
 * Last span that a code range from the first page of span `first` covers to
 * its end: readers join the range of text that moved to huge pages with its
 * neighbours in the same file. `first` when it is no such range.
 */
static size_t chain_end(const struct placer *p, const struct mapping *map,
			size_t first)
{
	const struct span *span = &p->spans[first];
	const uint64_t delta = span->vaddr - span->offset, page = p->page;
	const uint64_t end = map->offset + (map->limit - map->start);
	size_t i;

	if (p->no_offsets || map->limit <= map->start || end < map->offset ||
	    map->offset > span->offset || span->offset - map->offset >= page)
		return first;
	for (i = first + 1; i < p->nr_spans; i++) {
		const struct span *last = &p->spans[i];

		if (last->vaddr - last->offset != delta)
			break;
		if (end >= last->offset + last->filesz &&
		    end - (last->offset + last->filesz) < page)
			return i;
	}
	return first;
}

static int compare_fits(const void *a, const void *b)
{
	const struct fit *x = a, *y = b;

	if (x->bias != y->bias)
		return x->bias < y->bias ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->is_code != y->is_code)
		return x->is_code ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static bool add_fit(struct placer *p, uint64_t bias, size_t row, size_t span)
{
	struct fit *fit;

	if (p->nr_fits == MAX_FITS)
		return true;
	if (!mem_grow(p->fits, p->cap_fits, p->nr_fits + 1, MAX_FITS))
		return false;
	fit = &p->fits[p->nr_fits++];
	fit->bias = bias;
	fit->row = (uint32_t)row;
	fit->span = (uint32_t)span;
	fit->is_code = row_is_code(p, row) && p->spans[span].flags & PF_X;
	return true;
}

/* Fits of one range, in one span or in several that it covers whole. */
static bool find_row_fits(struct placer *p, size_t row)
{
	const struct mapping *map = row_at(p, row);
	const bool is_code = row_is_code(p, row);
	size_t first, last, i;
	uint64_t bias;

	for (first = 0; first < p->nr_spans; first++) {
		const struct span *span = &p->spans[first];

		last = is_code ? chain_end(p, map, first) : first;
		if (last > first) {
			bias = map->start - map->offset -
			       (span->vaddr - span->offset);
			if (!is_possible(p, bias))
				continue;
		} else if (!find_bias(p, map, is_code, span, &bias)) {
			continue;
		}
		for (i = first; i <= last; i++)
			if (!add_fit(p, bias, row, i))
				return false;
	}
	return true;
}

static bool find_fits(struct placer *p)
{
	size_t row;

	for (row = 0; row < p->image->nr_rows; row++)
		if (!find_row_fits(p, row))
			return false;
	if (p->nr_fits)
		qsort(p->fits, p->nr_fits, sizeof(*p->fits), compare_fits);
	return true;
}

/* Most code first, then most ranges, then the lowest bias. */
static int compare_votes(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;

	if (x->nr_code != y->nr_code)
		return x->nr_code > y->nr_code ? -1 : 1;
	if (x->nr_rows != y->nr_rows)
		return x->nr_rows > y->nr_rows ? -1 : 1;
	return (x->bias > y->bias) - (x->bias < y->bias);
}

static bool count_votes(struct placer *p)
{
	struct vote *vote = NULL;
	const struct fit *fit;
	size_t i;

	for (i = 0; i < p->nr_fits; i++) {
		fit = &p->fits[i];
		if (!vote || vote->bias != fit->bias) {
			if (!mem_grow(p->votes, p->cap_votes, p->nr_votes + 1,
				      UINT32_MAX))
				return false;
			vote = &p->votes[p->nr_votes++];
			memset(vote, 0, sizeof(*vote));
			vote->bias = fit->bias;
			vote->first = i;
		}
		vote->nr++;
		if (vote->nr == 1 || p->fits[i - 1].row != fit->row) {
			vote->nr_rows++;
			vote->nr_code += fit->is_code;
		}
	}
	if (p->nr_votes)
		qsort(p->votes, p->nr_votes, sizeof(*p->votes),
		      compare_votes);
	return true;
}

/*
 * A range of no file reaches from `low` to `high`: text that a program moved
 * to huge pages. Both ends may be within a page of what is asked.
 */
static bool is_moved_text(struct placer *p, uint64_t low, uint64_t high)
{
	const struct pprof_profile *profile = p->images->profile;
	size_t i;

	if (p->nr_searches++ >= MAX_HOLE_SEARCHES)
		return false;
	for (i = 1; i < profile->nr_mappings; i++) {
		const struct mapping *map = &profile->mappings[i];
		uint32_t image = p->images->of_map[i];

		if (image != IMAGE_NONE && !p->images->images[image].is_pseudo)
			continue;
		if (map->start <= low && map->limit >= high)
			return true;
	}
	return false;
}

/* The free ranges of this vote in `span` are the whole of it. */
static bool covers_span(struct placer *p, const struct vote *vote,
			size_t span_index, bool *ret_is_met)
{
	const struct span *span = &p->spans[span_index];
	const uint64_t start = vote->bias + span->vaddr;
	const uint64_t end = start + span->filesz;
	uint64_t low = UINT64_MAX, high = 0;
	size_t i;

	for (i = vote->first; i < vote->first + vote->nr; i++) {
		const struct fit *fit = &p->fits[i];
		const struct mapping *map = row_at(p, fit->row);

		if (fit->span != span_index ||
		    p->out.row_bias[fit->row] != BIAS_NONE)
			continue;
		if (map->start < low)
			low = map->start;
		if (map->limit > high)
			high = map->limit;
	}
	*ret_is_met = high != 0;
	if (!high && span->flags & PF_X)
		*ret_is_met = is_moved_text(p, start, end);
	if (!high)
		return *ret_is_met || !(span->flags & PF_X);
	if (low > start && !is_moved_text(p, start, low))
		return false;
	return high >= end || is_moved_text(p, high, end);
}

static bool is_whole(struct placer *p, const struct vote *vote)
{
	bool is_met, met_code = false;
	size_t i;

	for (i = 0; i < p->nr_spans; i++) {
		if (!covers_span(p, vote, i, &is_met))
			return false;
		if (is_met && p->spans[i].flags & PF_X)
			met_code = true;
	}
	return met_code;
}

/* Add a bias; BIAS_NONE when out of memory. */
static uint32_t add_bias(struct placer *p, uint64_t bias)
{
	struct placement *out = &p->out;

	if (!mem_grow(out->biases, out->cap_biases, out->nr_biases + 1,
		      UINT32_MAX))
		return BIAS_NONE;
	out->biases[out->nr_biases] = bias;
	return (uint32_t)out->nr_biases++;
}

/* Free code ranges of a vote, or all when the image has no code. */
static bool has_free_rows(const struct placer *p, const struct vote *vote)
{
	size_t i;

	for (i = vote->first; i < vote->first + vote->nr; i++) {
		const struct fit *fit = &p->fits[i];

		if (p->out.row_bias[fit->row] == BIAS_NONE &&
		    (fit->is_code || !p->image->has_code))
			return true;
	}
	return false;
}

static bool accept_votes(struct placer *p)
{
	const struct vote *vote;
	uint32_t bias;
	size_t i, j;

	for (i = 0; i < p->nr_votes; i++) {
		vote = &p->votes[i];
		if (!has_free_rows(p, vote))
			continue;
		if ((!p->is_trusted || p->out.nr_biases) && !is_whole(p, vote))
			continue;
		bias = add_bias(p, vote->bias);
		if (bias == BIAS_NONE)
			return false;
		for (j = vote->first; j < vote->first + vote->nr; j++)
			if (p->out.row_bias[p->fits[j].row] == BIAS_NONE)
				p->out.row_bias[p->fits[j].row] = bias;
	}
	return true;
}

/* Ranges that name link-time addresses have no bias to be found. */
static bool place_normalised(struct placer *p)
{
	uint32_t bias = BIAS_NONE;
	size_t row;

	for (row = 0; row < p->image->nr_rows; row++) {
		if (!mapping_is_normalised(row_at(p, row)))
			continue;
		if (bias == BIAS_NONE)
			bias = add_bias(p, 0);
		if (bias == BIAS_NONE)
			return false;
		p->out.row_bias[row] = bias;
	}
	return true;
}

/*
 * A range within an instance that is no part of a segment: this is another
 * file. The unused rest of glibc's first reservation is none: it continues
 * the offsets of the first segment (elf/dl-map-segments.h before 2.35).
 */
static bool contradicts(const struct placer *p, const struct mapping *map,
			uint64_t bias)
{
	const struct span *first = &p->spans[0];
	const struct span *last = &p->spans[p->nr_spans - 1];
	const uint64_t low = (bias + first->vaddr) & -p->page;
	const uint64_t high = bias + last->vaddr + last->filesz;

	if (map->start < low || map->start >= high)
		return false;
	return !(map->flags & MAP_NOT_CODE) ||
	       map->start - map->offset !=
		       bias + (first->vaddr - first->offset);
}

static bool is_contradicted(const struct placer *p)
{
	size_t row, i;

	if (p->is_trusted || p->no_offsets || !p->nr_spans)
		return false;
	for (row = 0; row < p->image->nr_rows; row++) {
		if (p->out.row_bias[row] != BIAS_NONE)
			continue;
		/* Many instances are many processes, whose ranges overlap. */
		for (i = 0; i < p->out.nr_biases && i < 16; i++)
			if (contradicts(p, row_at(p, row), p->out.biases[i]))
				return true;
	}
	return false;
}

/* One sentence with both sides: the first code range, the largest code. */
static void explain(struct placer *p)
{
	const struct mapping *map = NULL;
	const struct span *code = NULL;
	size_t i;

	for (i = 0; i < p->image->nr_rows && !map; i++)
		if (row_is_code(p, i))
			map = row_at(p, i);
	for (i = 0; i < p->nr_spans; i++)
		if (p->spans[i].flags & PF_X &&
		    (!code || p->spans[i].filesz > code->filesz))
			code = &p->spans[i];
	if (!code || !map) {
		format_masked(p->out.reason, sizeof(p->out.reason),
			      "does not fit: %s has no code",
			      code ? "the mapping" : "the file");
		return;
	}
	format_masked(p->out.reason, sizeof(p->out.reason),
		      "does not fit: mapped were 0x%" PRIx64 " bytes of code "
		      "from offset 0x%" PRIx64 ", the file has 0x%" PRIx64
		      " at 0x%" PRIx64, map->limit - map->start, map->offset,
		      code->filesz, code->offset);
}

static bool place_all(struct placer *p, const struct elf_layout *layout)
{
	p->nr_spans = 0;
	p->nr_fits = 0;
	p->nr_votes = 0;
	take_segments(p, layout);
	return find_fits(p) && count_votes(p) && accept_votes(p);
}

/* True when no range tells its file offset, as in maps of some systems. */
static bool lacks_offsets(const struct placer *p)
{
	size_t row;

	for (row = 0; row < p->image->nr_rows; row++)
		if (row_at(p, row)->offset)
			return false;
	return true;
}

static bool is_placed(const struct placer *p)
{
	return p->out.nr_biases && !is_contradicted(p);
}

static void forget(struct placer *p)
{
	size_t row;

	for (row = 0; row < p->image->nr_rows; row++)
		p->out.row_bias[row] = BIAS_NONE;
	p->out.nr_biases = 0;
}

static bool run_placer(struct placer *p, const struct elf_layout *layout,
		       bool *ret_fits)
{
	forget(p);
	if (!place_normalised(p))
		return false;
	*ret_fits = p->out.nr_biases;
	if (*ret_fits)
		return true;
	if (!place_all(p, layout))
		return false;
	*ret_fits = is_placed(p);
	if (*ret_fits || p->no_offsets || !lacks_offsets(p))
		return true;
	forget(p);
	p->no_offsets = true;
	if (!place_all(p, layout))
		return false;
	*ret_fits = is_placed(p);
	return true;
}

enum pprof_status images_place(const struct images *images, uint32_t image,
			       const struct elf_layout *layout,
			       bool is_trusted, struct placement *ret_placement,
			       bool *ret_fits, struct pprof_error *err)
{
	struct placer p = { .images = images, .type = layout->type,
			    .image = &images->images[image],
			    .no_offsets = layout->no_offsets,
			    .is_trusted = is_trusted };
	bool ok;

	p.is_aligned = images->page_bytes >= MIN_PAGE_BYTES;
	p.page = p.is_aligned ? images->page_bytes : MIN_PAGE_BYTES;
	p.out.row_bias = mem_alloc(p.image->nr_rows, sizeof(uint32_t));
	ok = p.out.row_bias && run_placer(&p, layout, ret_fits);
	mem_free(p.fits);
	mem_free(p.votes);
	if (!ok) {
		placement_fini(&p.out);
		return error_nomem(err);
	}
	if (!*ret_fits)
		explain(&p);
	*ret_placement = p.out;
	return PPROF_OK;
}

void placement_fini(struct placement *placement)
{
	mem_free(placement->biases);
	mem_free(placement->row_bias);
	memset(placement, 0, sizeof(*placement));
}

bool layout_has_code(const struct elf_layout *layout, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < layout->nr_segments; i++) {
		const struct elf_segment *segment = &layout->segments[i];

		if (segment->flags & PF_X &&
		    vaddr - segment->vaddr < segment->memsz)
			return true;
	}
	return false;
}
