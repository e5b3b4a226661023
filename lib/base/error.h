/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling struct pprof_error, and counting recoverable oddities. Owns the
 * wording of positions; does not print.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "pprof.h"

/*
 * Fill *err (NULL allowed) and return `status`. `source` NULL means none.
 * Control bytes in the formatted text are shown as \xNN.
 */
__attribute__((format(printf, 6, 7)))
enum pprof_status error_set(struct pprof_error *err, enum pprof_status status,
			    const char *source, enum pprof_unit unit,
			    uint64_t where, const char *format, ...);

/* error_set() without a position. */
__attribute__((format(printf, 4, 5)))
enum pprof_status error_plain(struct pprof_error *err,
			      enum pprof_status status, const char *source,
			      const char *format, ...);

/* PPROF_NOMEM with its standard text. */
enum pprof_status error_nomem(struct pprof_error *err);

/*
 * Copy at most size-1 bytes of a printf result to buf, control bytes, DEL
 * and broken UTF-8 shown as \xNN. Always terminated.
 */
__attribute__((format(printf, 3, 4)))
void format_masked(char *buf, size_t size, const char *format, ...);

/* Most kinds of diagnostics that one run can tell apart. */
#define DIAGS_MAX 32

/* One kind of oddity: `key` is a string literal that identifies it. */
struct diag_row {
	const char *key;
	char message[192]; /* about the first one */
	enum pprof_unit unit;
	uint64_t where;    /* of the first one */
	uint64_t nr;
};

/* Counts oddities by kind while one source is read or written. */
struct diags {
	const char *source; /* borrowed */
	struct diag_row rows[DIAGS_MAX];
	size_t nr_rows;
};

void diags_init(struct diags *diags, const char *source);

/* Count one oddity of the kind `format`; its text is kept for the first. */
__attribute__((format(printf, 4, 5)))
void diag_count(struct diags *diags, enum pprof_unit unit, uint64_t where,
		const char *format, ...);

/* Add `nr` to the row that diag_count() made last; for counted oddities. */
__attribute__((format(printf, 5, 6)))
void diag_count_nr(struct diags *diags, enum pprof_unit unit, uint64_t where,
		   uint64_t nr, const char *format, ...);

/* Tell each row to `fn` (NULL: none) and forget them. */
void diags_flush(struct diags *diags, pprof_diag_fn fn, void *ctx);

/* True and *err filled (PPROF_FORMAT) when a row stands: the strict mode. */
bool diags_as_error(const struct diags *diags, struct pprof_error *err);

#endif
