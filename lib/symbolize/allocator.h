/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's own frames at the leaf end of heap profiles: they say how
 * malloc works, not who called it.
 */
#ifndef SYMBOLIZE_ALLOCATOR_H
#define SYMBOLIZE_ALLOCATOR_H

#include "base/buf.h"
#include "profile/profile.h"
#include "profile/restack.h"

/* True when the sample types are those of a heap profile. */
bool allocator_applies(const struct pprof_profile *profile);

/*
 * True when the function called name[len] belongs to an allocator. Its
 * parameters, template arguments and return type do not count.
 */
bool allocator_is_name(const char *name, size_t len);

/*
 * Shorten the stacks of `profile` by their allocator frames. Adds locations
 * (for allocator code inlined into its caller) to profile->locations, which
 * must be the caller's to keep or drop; nothing else changes. `pattern` gets
 * the expression for drop_frames: it matches no frame that was kept and
 * that a viewer would drop. OK or NOMEM; restacked_fini() after OK.
 */
enum pprof_status allocator_drop(struct pprof_profile *profile,
				 struct diags *diags,
				 struct restacked *ret_restacked,
				 struct buf *pattern,
				 struct pprof_error *err);

#endif
