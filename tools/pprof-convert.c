/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-convert: any profile to pprof or folded stacks, symbolized on the
 * way when asked.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/load.h"
#include "common/msg.h"
#include "common/opt_filter.h"
#include "common/opt_view.h"
#include "common/outfile.h"

#include <pprof.h>

#include <string.h>

struct convert {
	const char *to;
	const char *output;
	uint64_t level;
	int by; /* enum pprof_granularity, or BY_UNSET */
	bool is_binary;
};

/* No compression level is this high: the writer's own is meant. */
#define LEVEL_UNSET UINT64_MAX

/* Frames stay as fine as they are. */
#define BY_UNSET (-1)

static const struct cli_option convert_options[] = {
	{ "to", 't', CLI_TEXT, offsetof(struct convert, to), "NAME",
	  "format to write; see --list-formats (default: pprof)", 0 },
	{ "output", 'o', CLI_TEXT, offsetof(struct convert, output), "FILE",
	  "write here, not to standard output", 0 },
	/* In the order of enum pprof_granularity. */
	{ "by", 0, CLI_CHOICE, offsetof(struct convert, by),
	  "function|filefunction|line|file|address|module",
	  "make frames that are alike so far one (default: all is kept)", 0 },
	{ "level", 0, CLI_NUMBER, offsetof(struct convert, level), "N",
	  "compression from 0 (none) to 9 (smallest)", 9 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

static void check_writer(struct convert *convert)
{
	const char *name, *text;
	bool is_binary;
	size_t i;

	for (i = 0; pprof_writer_info(i, &name, &text, &is_binary); i++) {
		if (!strcmp(name, convert->to)) {
			convert->is_binary = is_binary;
			return;
		}
	}
	cli_usage_error("--to: '%s' is not known; see --list-formats",
			convert->to);
}

static int write_profile(const struct convert *convert, bool no_inlines,
			 int sample_type, const struct pprof_profile *profile)
{
	struct outfile_profile out = { .profile = profile,
				       .writer = convert->to,
				       .opts = PPROF_WRITE_OPTS_INIT };

	if (convert->level != LEVEL_UNSET)
		out.opts.level = (int)convert->level;
	out.opts.sample_type = sample_type;
	out.opts.no_inlines = no_inlines;
	out.opts.diag = msg_diag;
	return outfile_write(convert->output, "writing",
			     outfile_write_profile, &out);
}

/* Forget what is finer than --by; false after a message. */
static bool aggregate(const struct convert *convert, bool no_inlines,
		      struct pprof_profile *profile)
{
	enum pprof_granularity by = convert->by == BY_UNSET
					    ? PPROF_BY_ADDRESS
					    : (enum pprof_granularity)
						      convert->by;
	struct pprof_error err;

	if (convert->by == BY_UNSET && !no_inlines)
		return true;
	if (pprof_profile_aggregate(profile, by, no_inlines, &err) ==
	    PPROF_OK)
		return true;
	msg_pprof_error(&err);
	return false;
}

static int run(const struct convert *convert, const struct opt_input *input,
	       const struct opt_symbol *symbol, const struct opt_view *view,
	       struct opt_filter *filter, const char *path)
{
	struct pprof_profile *profile = NULL;
	int code = load_profile(input, symbol, path, &profile);
	int written = CLI_EXIT_TROUBLE;
	int sample_type;

	if (code == CLI_EXIT_TROUBLE)
		return code;
	if (opt_view_sample_type(view, profile, &sample_type) &&
	    opt_filter_run(filter, profile, sample_type, NULL) &&
	    aggregate(convert, symbol->no_inlines, profile))
		written = write_profile(convert, symbol->no_inlines,
					sample_type, profile);
	pprof_profile_free(profile);
	return written == CLI_EXIT_OK ? code : written;
}

int main(int argc, char **argv)
{
	struct convert convert = { .to = "pprof", .level = LEVEL_UNSET,
				   .by = BY_UNSET };
	struct opt_input input = { .format = NULL };
	struct opt_symbol symbol = { .symbolize = false };
	struct opt_view view = { .sample_type = NULL };
	struct opt_filter filter = { .drop_frames = false };
	const struct cli_group groups[] = {
		{ "Output", convert_options, &convert },
		{ "Value, for formats that hold one", opt_view_type_options,
		  &view },
		{ "Filter", opt_filter_options, &filter },
		{ "Input", opt_input_options, &input },
		{ "Names", opt_symbol_options, &symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-convert",
		.usage = "[OPTION]... [BINARY] [FILE]",
		.summary = "Convert a profile, from FILE or standard input, "
			   "to pprof or folded stacks.\n",
		.examples =
		"  pprof-convert -s -o heap.pb.gz jeprof.1.0.f.heap\n"
		"  pprof-convert --to=folded heap.pb.gz | sort\n",
		.groups = groups
	};
	const char *path;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	opt_input_check(&input);
	opt_symbol_check(&symbol);
	check_writer(&convert);
	path = infile_one(argc, argv, first, &symbol.binaries);
	outfile_refuse_terminal(convert.output,
				convert.is_binary);
	code = run(&convert, &input, &symbol, &view, &filter, path);
	opt_filter_fini(&filter);
	opt_input_fini(&input);
	opt_symbol_fini(&symbol);
	return cli_finish(code);
}
