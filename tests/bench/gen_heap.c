/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_heap STACKS [DEPTH]: a jemalloc heap dump on standard output, with
 * about that many different stacks of at most DEPTH frames (default: 44, which
 * makes 40 on average), two threads, and memory maps of files that do not
 * exist.
 */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

#define NR_LOCATIONS 60000
#define BASE UINT64_C(0x7f3a10000000)
#define DEPTH_MAX 4096

/* Addresses of calls lie a few bytes to some hundred apart. */
static uint64_t address_of(uint32_t location)
{
	return BASE + UINT64_C(0x29000) + location * UINT64_C(0x95) +
	       location % 7;
}

static void put_stack(const uint32_t *frames, uint32_t depth, struct rng *rng)
{
	uint64_t nr = 1 + rng_below(rng, 50);
	uint64_t bytes = nr * (16u << rng_below(rng, 14));
	uint32_t i;

	putchar('@');
	for (i = depth; i--;)
		printf(" 0x%" PRIx64, address_of(frames[i]));
	printf("\n  t*: %" PRIu64 ": %" PRIu64 " [0: 0]\n", nr, bytes);
	printf("  t%u: %" PRIu64 ": %" PRIu64 " [0: 0]\n",
	       (unsigned)rng_below(rng, 2) + 3, nr, bytes);
}

static void put_maps(void)
{
	printf("\nMAPPED_LIBRARIES:\n"
	       "%" PRIx64 "-%" PRIx64 " r--p 00000000 08:01 77"
	       "                         /opt/bench/bin/server\n"
	       "%" PRIx64 "-%" PRIx64 " r-xp 00028000 08:01 77"
	       "                         /opt/bench/bin/server\n"
	       "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0"
	       "                          [stack]\n",
	       BASE, BASE + 0x28000, BASE + 0x28000, BASE + 0x2000000);
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long max = argc > 2 ? strtoul(argv[2], NULL, 10) : 44;
	static uint32_t frames[DEPTH_MAX];
	struct rng rng = { 88172645463325252u };
	unsigned long i;

	if (!nr || max < 5 || max > DEPTH_MAX) {
		fprintf(stderr, "usage: gen_heap STACKS [DEPTH]\n");
		return 2;
	}
	printf("heap_v2/524288\n  t*: %lu: %lu [0: 0]\n"
	       "  t3: 1: 1 [0: 0] main\n  t4: 1: 1 [0: 0] worker\n",
	       nr * 25, nr * 25 * 4096);
	for (i = 0; i < nr; i++) {
		uint32_t depth = (uint32_t)max -
				 rng_below(&rng, (uint32_t)max / 5 + 1);
		uint32_t k;

		frames[0] = 1;
		for (k = 1; k < depth; k++)
			frames[k] = tree_step(&rng, frames[k - 1], k,
					      NR_LOCATIONS);
		put_stack(frames, depth, &rng);
	}
	put_maps();
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
