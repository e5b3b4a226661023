/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-merge: many profiles to one.
 */
#include <config.h>

#include "common/cli.h"
#include "common/inlist.h"
#include "common/msg.h"
#include "common/opt_input.h"
#include "common/opt_symbol.h"
#include "common/outfile.h"

#include <pprof.h>

#include <stdlib.h>
#include <string.h>

/* No compression level is this high: the writer's own is meant. */
#define LEVEL_UNSET UINT64_MAX

/* Values of --sum and so on: enum pprof_merge_mode, and one of our own. */
#define MODE_LAST (PPROF_MERGE_MAX + 1)

struct merge {
	const char *output;
	const char *files0;
	const char *label;
	uint64_t level;
	int mode;
	bool keep_going;
	bool match_base_names;
	bool unrelated;
};

static const struct cli_option merge_options[] = {
	{ "sum", 0, CLI_SET, offsetof(struct merge, mode), NULL,
	  "add up the values of equal stacks (default)", PPROF_MERGE_SUM },
	{ "avg", 0, CLI_SET, offsetof(struct merge, mode), NULL,
	  "their sum over the number of inputs", PPROF_MERGE_AVG },
	{ "max", 0, CLI_SET, offsetof(struct merge, mode), NULL,
	  "for each stack its largest value", PPROF_MERGE_MAX },
	{ "last", 0, CLI_SET, offsetof(struct merge, mode), NULL,
	  "of the dumps of one process only the last; then the sum",
	  MODE_LAST },
	{ "label", 0, CLI_TEXT, offsetof(struct merge, label), "KEY",
	  "label the samples of each input with its name", 0 },
	{ "match-base-names", 0, CLI_FLAG,
	  offsetof(struct merge, match_base_names), NULL,
	  "mapped files without build ID are one if their base names are",
	  0 },
	{ "unrelated", 0, CLI_FLAG, offsetof(struct merge, unrelated), NULL,
	  "merge profiles of programs that have no file in common, too", 0 },
	{ "files0-from", 0, CLI_TEXT, offsetof(struct merge, files0), "FILE",
	  "read also the files named in FILE, each ended by a NUL", 0 },
	{ "keep-going", 'k', CLI_FLAG, offsetof(struct merge, keep_going),
	  NULL, "leave out inputs that cannot be read; exit 2 all the same",
	  0 },
	{ "output", 'o', CLI_TEXT, offsetof(struct merge, output), "FILE",
	  "write here, not to standard output", 0 },
	{ "level", 0, CLI_NUMBER, offsetof(struct merge, level), "N",
	  "compression from 0 (none) to 9 (smallest)", 9 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* Say when adding up is hardly what is wanted. */
static void look_at_names(const struct merge *merge, struct inlist *list)
{
	const char *a, *b;
	size_t nr;

	if (merge->mode == MODE_LAST) {
		nr = inlist_keep_last(list);
		if (nr)
			msg_note("left out %zu dumps that are not the last of "
				 "their process", nr);
	} else if (merge->mode == PPROF_MERGE_SUM &&
		   inlist_find_snapshots(list, &a, &b)) {
		msg_warning("%s and %s are dumps of one process: their sum "
			    "counts what lives on twice; see --last and "
			    "pprof-diff", a, b);
	}
}

static struct pprof_merger *new_merger(const struct merge *merge,
				       const struct opt_input *input)
{
	struct pprof_merge_opts opts = PPROF_MERGE_OPTS_INIT;
	struct pprof_merger *merger = NULL;
	struct pprof_error err;

	if (merge->mode != MODE_LAST)
		opts.mode = (enum pprof_merge_mode)merge->mode;
	opts.label_key = merge->label;
	opts.match_base_names = merge->match_base_names;
	opts.allow_unrelated = merge->unrelated;
	opts.limits = &input->limits;
	opts.diag = msg_diag;
	if (pprof_merger_new(&opts, &merger, &err) != PPROF_OK)
		msg_pprof_error(&err);
	return merger;
}

/* Add one input; false after a message. */
static bool add_input(struct pprof_merger *merger, const char *path,
		      const struct opt_input *input)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	enum pprof_status status;

	if (!opt_input_read(input, path, &profile))
		return false;
	status = pprof_merger_add(merger, profile, path, &err);
	if (status != PPROF_OK)
		msg_pprof_error(&err);
	pprof_profile_free(profile);
	return status == PPROF_OK;
}

/* Add all inputs; how many are left out: all of them when one may not be. */
static size_t add_inputs(const struct merge *merge,
			 struct pprof_merger *merger,
			 const struct inlist *list,
			 const struct opt_input *input)
{
	size_t nr_failed = 0, i;

	for (i = 0; i < list->nr; i++) {
		if (add_input(merger, list->paths[i], input))
			continue;
		nr_failed++;
		if (!merge->keep_going)
			return list->nr;
	}
	if (nr_failed)
		msg_warning("%zu of %zu inputs left out", nr_failed,
			    list->nr);
	return nr_failed;
}

static int write_merged(const struct merge *merge,
			const struct pprof_profile *profile)
{
	struct outfile_profile out = { .profile = profile,
				       .writer = "pprof",
				       .opts = PPROF_WRITE_OPTS_INIT };

	if (merge->level != LEVEL_UNSET)
		out.opts.level = (int)merge->level;
	out.opts.diag = msg_diag;
	return outfile_write(merge->output, "writing", outfile_write_profile,
			     &out);
}

/* Names are looked up once, for all inputs. */
static int symbolize(const struct opt_input *input,
		     const struct opt_symbol *symbol,
		     struct pprof_profile *profile)
{
	struct pprof_symbolizer *symbolizer;
	int code;

	if (!opt_symbol_wanted(symbol))
		return CLI_EXIT_OK;
	symbolizer = opt_symbol_new(symbol);
	if (!symbolizer)
		return CLI_EXIT_TROUBLE;
	code = opt_symbol_run(symbolizer, input->strict, "merged profile",
			      profile);
	pprof_symbolizer_free(symbolizer);
	return code;
}

static int finish(const struct merge *merge, struct pprof_merger *merger,
		  const struct opt_input *input,
		  const struct opt_symbol *symbol)
{
	struct pprof_profile *profile = NULL;
	struct pprof_error err;
	int code, written;

	if (pprof_merger_finish(merger, &profile, &err) != PPROF_OK) {
		msg_pprof_error(&err);
		return CLI_EXIT_TROUBLE;
	}
	code = symbolize(input, symbol, profile);
	if (code != CLI_EXIT_TROUBLE) {
		written = write_merged(merge, profile);
		code = written == CLI_EXIT_OK ? code : written;
	}
	pprof_profile_free(profile);
	return code;
}

static int run(const struct merge *merge, const struct inlist *list,
	       const struct opt_input *input, const struct opt_symbol *symbol)
{
	struct pprof_merger *merger = new_merger(merge, input);
	int code = CLI_EXIT_TROUBLE;
	size_t nr_failed;

	if (!merger)
		return code;
	nr_failed = add_inputs(merge, merger, list, input);
	if (nr_failed < list->nr)
		code = finish(merge, merger, input, symbol);
	pprof_merger_free(merger);
	return nr_failed ? CLI_EXIT_TROUBLE : code;
}

int main(int argc, char **argv)
{
	struct merge merge = { .level = LEVEL_UNSET };
	struct opt_input input = { .format = NULL };
	struct opt_symbol symbol = { .symbolize = false };
	const struct cli_group groups[] = {
		{ "Merge", merge_options, &merge },
		{ "Input", opt_input_options, &input },
		{ "Names", opt_symbol_options, &symbol },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-merge",
		.usage = "[OPTION]... FILE...",
		.summary = "Merge profiles into one, which is written in "
			   "pprof format. Neither their order\n"
			   "nor that of merging merges shows in the "
			   "result.\n",
		.examples =
		"  pprof-merge -o all.pb.gz host1/heap.pb.gz "
		"host2/heap.pb.gz\n"
		"  find . -name '*.pb.gz' -print0 | "
		"pprof-merge --files0-from=- -o all.pb.gz\n",
		.groups = groups
	};
	struct inlist list;
	int first, code;

	first = cli_parse(&tool, argc, argv);
	inlist_init(&list, argc, argv, first, merge.files0);
	opt_input_check(&input);
	opt_symbol_check(&symbol);
	if (!list.nr)
		cli_usage_error("no FILE given");
	outfile_refuse_terminal(merge.output, true);
	look_at_names(&merge, &list);
	code = run(&merge, &list, &input, &symbol);
	inlist_fini(&list);
	opt_input_fini(&input);
	opt_symbol_fini(&symbol);
	return cli_finish(code);
}
