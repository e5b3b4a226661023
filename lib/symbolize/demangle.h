/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbol names as people write them: C++ and Rust through libiberty.
 */
#ifndef SYMBOLIZE_DEMANGLE_H
#define SYMBOLIZE_DEMANGLE_H

#include "base/buf.h"
#include "pprof.h"

/*
 * Longest mangled name that is tried, longer ones stay as they are: bounds
 * libiberty's recursion, which grows with the length, to a few MiB of stack.
 */
#define DEMANGLE_MAX_BYTES ((size_t)8 << 10)

/* Longest readable form; substitutions could blow it up without end. */
#define DEMANGLE_MAX_OUTPUT ((size_t)1 << 20)

/*
 * Append the readable form of `symbol` to `out`: a version suffix (@VER) and
 * clone suffixes (.constprop.0, .cold, .llvm.123, ...) go, Rust hashes go.
 * Names in no known scheme are appended as they are, byte for byte, without
 * those suffixes. PPROF_NAMES_MANGLED only takes the version away.
 */
void demangle(const char *symbol, enum pprof_names names, struct buf *out);

/*
 * Cut parameters, template arguments and return type from a demangled name
 * (operators, lambdas, "(anonymous namespace)" and "<impl X for Y>" stay
 * whole). Appends to `out`.
 */
void demangle_shorten(const char *name, struct buf *out);

/* Length of `symbol` without its version (@VER, @@VER). */
size_t demangle_unversioned(const char *symbol);

#endif
