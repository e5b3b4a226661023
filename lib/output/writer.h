/* SPDX-License-Identifier: Apache-2.0
 *
 * Registry of writers of whole profiles.
 */
#ifndef OUTPUT_WRITER_H
#define OUTPUT_WRITER_H

#include "profile/profile.h"

struct writer {
	const char *name;        /* as in --to=NAME */
	const char *description; /* one line */
	bool is_binary;          /* not for a terminal */
	enum pprof_status (*write)(const struct pprof_profile *profile,
				   const struct pprof_write_opts *opts,
				   struct pprof_sink *sink,
				   struct pprof_error *err);
};

extern const struct writer writer_pprof;
extern const struct writer writer_folded;
extern const struct writer writer_callgrind;
extern const struct writer writer_cbor;
extern const struct writer writer_csv;
extern const struct writer writer_jeprof;
extern const struct writer writer_json;
extern const struct writer writer_pem;
extern const struct writer writer_speedscope;
extern const struct writer writer_tsv;

/* Writer `i`, or NULL past the last. */
const struct writer *writer_at(size_t i);

#endif
