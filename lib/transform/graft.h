/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of one profile put onto the tree of another, node by node: each run
 * of frames is looked up once, below where the one above it has come to,
 * however many stacks share it.
 */
#ifndef TRANSFORM_GRAFT_H
#define TRANSFORM_GRAFT_H

#include "profile/builder.h"

/*
 * Add the stacks of `from` that are wanted[from->nr] to the builder's
 * profile. A wanted node's parents are wanted, and locs[] has the builder's
 * row of each location on their runs. ret_targets[from->nr] gets what they
 * have become, for wanted nodes only. False when the builder has failed.
 */
bool graft_stacks(const struct stacks *from, const uint8_t *wanted,
		  const loc_id *locs, struct builder *builder,
		  stack_id *ret_targets);

#endif
