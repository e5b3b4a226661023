/* SPDX-License-Identifier: Apache-2.0
 *
 * The only caller of malloc and friends. Sizes are checked products; a test
 * hook makes the n-th allocation fail.
 */
#include <config.h>

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Countdown to the failing allocation; 0 is off. Set by tests only. */
static uint64_t fail_countdown;
static bool fail_sticky;

void mem_fail_nth(uint64_t n, bool sticky)
{
	fail_countdown = n;
	fail_sticky = sticky;
}

static bool must_fail(void)
{
	if (!fail_countdown)
		return false;
	if (fail_countdown > 1) {
		fail_countdown--;
		return false;
	}
	if (!fail_sticky)
		fail_countdown = 0;
	return true;
}

/* Bytes of nr * size, at least 1; false on overflow. */
static bool product(size_t nr, size_t size, size_t *ret)
{
	if (__builtin_mul_overflow(nr, size, ret) || *ret > PTRDIFF_MAX)
		return false;
	if (!*ret)
		*ret = 1;
	return true;
}

/* Blocks from this size on are their own mapping, on huge pages if we may. */
#define HUGE_BYTES ((size_t)8 << 20)

/*
 * Large tables are read at random: huge pages save faults and TLB misses.
 * The advice is for all pages of the block: for some of them it would split
 * the mapping, which mremap(2) refuses to move, and realloc() had to copy.
 */
static void *advise_huge(void *ptr, size_t bytes)
{
	uintptr_t start = (uintptr_t)ptr, end = start + bytes, page;

	if (!ptr || bytes < HUGE_BYTES)
		return ptr;
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	start &= ~(page - 1);
	end = (end + page - 1) & ~(page - 1);
	/* Advice only: what the kernel says to it changes nothing. */
	(void)madvise((char *)ptr - ((uintptr_t)ptr - start), end - start,
		      MADV_HUGEPAGE);
	return ptr;
}

void *mem_alloc(size_t nr, size_t size)
{
	size_t bytes;

	if (!product(nr, size, &bytes) || must_fail())
		return NULL;
	return advise_huge(malloc(bytes), bytes);
}

void *mem_zalloc(size_t nr, size_t size)
{
	size_t bytes;

	if (!product(nr, size, &bytes) || must_fail())
		return NULL;
	return advise_huge(calloc(1, bytes), bytes);
}

void *mem_realloc(void *ptr, size_t nr, size_t size)
{
	size_t bytes;

	if (!product(nr, size, &bytes) || must_fail())
		return NULL;
	return advise_huge(realloc(ptr, bytes), bytes);
}

void mem_free(void *ptr)
{
	free(ptr);
}

char *mem_strndup(const char *text, size_t nr_bytes)
{
	char *copy;

	if (nr_bytes == SIZE_MAX)
		return NULL;
	copy = mem_alloc(nr_bytes + 1, 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, nr_bytes);
	copy[nr_bytes] = '\0';
	return copy;
}

/* Smallest capacity that an array starts with, in elements. */
#define FIRST_CAP 16

bool mem_grow_(void **array, size_t *cap, size_t need, size_t size,
	       size_t max)
{
	size_t wanted;
	void *bigger;

	if (need <= *cap)
		return true;
	if (need > max)
		return false;
	wanted = *cap + *cap / 2;
	if (wanted < FIRST_CAP)
		wanted = FIRST_CAP;
	if (wanted < need)
		wanted = need;
	if (wanted > max)
		wanted = max;
	bigger = mem_realloc(*array, wanted, size);
	if (!bigger)
		return false;
	*array = bigger;
	*cap = wanted;
	return true;
}
