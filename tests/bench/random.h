/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generators share: a small random number generator (xorshift64*)
 * with a fixed seed, so that two runs measure the same bytes, and a random
 * call tree in which a stack is a walk.
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

struct rng {
	uint64_t state; /* never 0 */
};

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545f4914f6cdd1dULL;
}

static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	return (uint32_t)((rng_next(rng) >> 33) % bound);
}

/*
 * A callee of `caller` at this depth, from 1 to nr: one of four, of which
 * the first are called more often. The tree is the same in every run.
 */
static inline uint32_t tree_step(struct rng *rng, uint32_t caller,
				 uint32_t depth, uint32_t nr)
{
	uint32_t choice = rng_below(rng, 4);
	uint64_t hash;

	if (choice > 1)
		choice = rng_below(rng, 3);
	hash = caller * 0x9e3779b97f4a7c15ULL +
	       choice * 0xbf58476d1ce4e5b9ULL + depth;
	hash = (hash ^ hash >> 29) * 0x94d049bb133111ebULL;
	return 1 + (uint32_t)((hash ^ hash >> 32) % nr);
}

#endif
