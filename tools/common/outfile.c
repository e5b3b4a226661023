/* SPDX-License-Identifier: Apache-2.0
 *
 * Thin cover over the library's sink: messages, and the terminal check.
 */
#include <config.h>

#include "outfile.h"

#include "cli.h"
#include "msg.h"
#include "progress.h"
#include "term.h"

#include <string.h>
#include <unistd.h>

void outfile_refuse_terminal(const char *path, bool is_binary)
{
	if (path && strcmp(path, "-") != 0)
		return;
	if (is_binary && term_is_tty(STDOUT_FILENO))
		cli_usage_error("the result is binary and standard output a "
				"terminal: give -o FILE");
}

int outfile_write(const char *path, const char *verb, outfile_fn write,
		  const void *ctx)
{
	struct pprof_sink *sink = NULL;
	struct pprof_error err;
	enum pprof_status status;

	if (!path)
		path = "-";
	status = pprof_sink_open(path, &sink, &err);
	if (status == PPROF_OK) {
		progress_start(verb, strcmp(path, "-") ? path
						       : "standard output");
		status = write(ctx, sink, &err);
		progress_stop();
	}
	if (status == PPROF_OK)
		status = pprof_sink_commit(sink, &err);
	if (status != PPROF_OK)
		msg_pprof_error(&err);
	pprof_sink_close(sink);
	return status == PPROF_OK ? CLI_EXIT_OK : CLI_EXIT_TROUBLE;
}

enum pprof_status outfile_write_profile(const void *ctx,
					struct pprof_sink *sink,
					struct pprof_error *err)
{
	const struct outfile_profile *out = ctx;

	return pprof_profile_write(out->profile, out->writer, &out->opts, sink,
				   err);
}
