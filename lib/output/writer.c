/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of writers, and writing by name.
 */
#include <config.h>

#include "base/opts.h"
#include "output/writer.h"

#include <string.h>

static const struct writer *const writers[] = {
	&writer_pprof,
	&writer_folded,
	&writer_jeprof,
	&writer_pem,
	&writer_cbor,
	&writer_json,
	&writer_callgrind,
	&writer_speedscope,
	&writer_csv,
	&writer_tsv
};

#define NR_WRITERS (sizeof(writers) / sizeof(*writers))

const struct writer *writer_at(size_t i)
{
	return i < NR_WRITERS ? writers[i] : NULL;
}

bool pprof_writer_info(size_t i, const char **ret_name,
		       const char **ret_description, bool *ret_is_binary)
{
	const struct writer *writer = writer_at(i);

	if (!writer)
		return false;
	*ret_name = writer->name;
	*ret_description = writer->description;
	*ret_is_binary = writer->is_binary;
	return true;
}

enum pprof_status pprof_profile_write(const struct pprof_profile *profile,
				      const char *writer,
				      const struct pprof_write_opts *opts,
				      struct pprof_sink *sink,
				      struct pprof_error *err)
{
	struct pprof_write_opts taken = PPROF_WRITE_OPTS_INIT;
	enum pprof_status status = opts_take(&taken, sizeof(taken), opts, err);
	size_t i;

	if (status)
		return status;
	for (i = 0; i < NR_WRITERS; i++)
		if (!strcmp(writers[i]->name, writer))
			return writers[i]->write(profile, &taken, sink, err);
	return error_plain(err, PPROF_NOTFOUND, NULL, "no writer \"%s\"",
			   writer);
}
