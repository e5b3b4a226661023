/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_folded LINES: folded stacks on standard output, about that many
 * different ones, 12 to 40 frames deep, out of 24,000 invented names; each
 * stack keeps most of the one before it, as lines in order do.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "random.h"

#define NR_NAMES 24000
#define DEPTH_MIN 12
#define DEPTH_MAX 40

static void put_name(uint32_t id)
{
	static const char *const spaces[] = {
		"net", "db", "cache", "json", "rpc", "codec", "sched", "log",
	};
	static const char *const verbs[] = {
		"read", "write", "parse", "push", "visit", "flush", "merge",
		"poll",
	};
	const char *space = spaces[id % 8], *verb = verbs[id / 8 % 8];

	switch (id % 5) {
	case 0:
		printf("%s_%s_%u", space, verb, id);
		break;
	case 1:
		printf("%s::%s_page%u", space, verb, id);
		break;
	case 2:
		printf("%s::Table<%s::Key>::%s%u", space, verb, verb, id);
		break;
	case 3:
		printf("app/%s.(*Conn).%s%u", space, verb, id);
		break;
	default:
		printf("%s_%u_[k]", verb, id);
	}
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, i;
	struct rng rng = { 88172645463325252u };
	uint32_t path[DEPTH_MAX] = { 1 }, depth = 1, keep, k;

	if (!nr) {
		fprintf(stderr, "usage: gen_folded LINES\n");
		return 2;
	}
	for (i = 0; i < nr; i++) {
		keep = 1 + rng_below(&rng, depth);
		/* Now and then from far up, mostly near the leaf. */
		if (rng_below(&rng, 8) && keep < depth / 2)
			keep = depth / 2;
		depth = keep + 1 + rng_below(&rng, 6);
		if (depth < DEPTH_MIN)
			depth = DEPTH_MIN;
		if (depth > DEPTH_MAX)
			depth = DEPTH_MAX;
		for (k = keep < depth ? keep : depth - 1; k < depth; k++)
			path[k] = tree_step(&rng, path[k - 1], k, NR_NAMES);
		for (k = 0; k < depth; k++) {
			if (k)
				putchar(';');
			put_name(path[k]);
		}
		printf(" %u\n", 1 + rng_below(&rng, 1u <<
					      rng_below(&rng, 12)));
	}
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
