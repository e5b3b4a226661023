/* SPDX-License-Identifier: Apache-2.0
 *
 * --sample-type and --by, with the words that pprof and jeprof have for them.
 */
#include <config.h>

#include "opt_view.h"

#include "msg.h"

/* Spellings of one sample type as an option of its own. */
#define TYPE_WORD(name) \
	{ name, 0, CLI_WORD, offsetof(struct opt_view, sample_type), NULL, \
	  NULL, 0 }
#define TYPE_ROWS \
	{ "sample-type", 0, CLI_TEXT, \
	  offsetof(struct opt_view, sample_type), "TYPE", \
	  "which value; also --inuse_space, --inuse_objects, --alloc_space, " \
	  "--alloc_objects (default: the profile's)", 0 }, \
	{ "sample_index", 0, CLI_TEXT, \
	  offsetof(struct opt_view, sample_type), "TYPE", NULL, 0 }, \
	TYPE_WORD("inuse_space"), \
	TYPE_WORD("inuse_objects"), \
	TYPE_WORD("alloc_space"), \
	TYPE_WORD("alloc_objects")

#define BY_WORD(name, granularity) \
	{ name, 0, CLI_SET, offsetof(struct opt_view, by), NULL, NULL, \
	  granularity }

const struct cli_option opt_view_type_options[] = {
	TYPE_ROWS,
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

const struct cli_option opt_view_options[] = {
	TYPE_ROWS,
	/* In the order of enum pprof_granularity. */
	{ "by", 0, CLI_CHOICE, offsetof(struct opt_view, by),
	  "function|filefunction|line|file|address|module",
	  "what is one entry (default: function)", 0 },
	BY_WORD("functions", PPROF_BY_FUNCTION),
	BY_WORD("filefunctions", PPROF_BY_FILEFUNCTION),
	BY_WORD("lines", PPROF_BY_LINE),
	BY_WORD("files", PPROF_BY_FILE),
	BY_WORD("addresses", PPROF_BY_ADDRESS),
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

bool opt_view_sample_type(const struct opt_view *view,
			  const struct pprof_profile *profile, int *ret_index)
{
	struct pprof_error err;
	size_t index;

	if (!view->sample_type) {
		*ret_index = -1;
		return true;
	}
	if (pprof_profile_find_sample_type(profile, view->sample_type, &index,
					   &err) != PPROF_OK) {
		msg_pprof_error(&err);
		return false;
	}
	*ret_index = (int)index;
	return true;
}
