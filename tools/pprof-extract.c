/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof-extract: profiles out of logs, where programs put them as PEM
 * blocks; one file a block, or converted on the way.
 */
#include <config.h>

#include "common/cli.h"
#include "common/infile.h"
#include "common/msg.h"
#include "common/opt_input.h"
#include "common/progress.h"

#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Files of one name that are tried: NAME, NAME.1, ... */
#define NAMES_MAX 10000

struct extract {
	const char *directory;
	const char *to;
	bool list;
	/* What became of the blocks. */
	const struct opt_input *input;
	uint64_t nr_good;
	uint64_t nr_damaged;
};

static const struct cli_option extract_options[] = {
	{ "directory", 'C', CLI_TEXT, offsetof(struct extract, directory),
	  "DIR", "write the files there (default: the present one)", 0 },
	{ "to", 't', CLI_TEXT, offsetof(struct extract, to), "NAME",
	  "convert each profile on the way; see --list-formats", 0 },
	{ "list", 'l', CLI_FLAG, offsetof(struct extract, list), NULL,
	  "only list the blocks, write nothing", 0 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* Suffixes of converted files; other writers' names are their own. */
static const char *suffix_of(const char *writer)
{
	return !strcmp(writer, "pprof") ? "pb.gz" : writer;
}

/* "PPROF MEM" as "pprof_mem". */
static void make_stem(char *stem, size_t size, const char *type)
{
	size_t i;

	for (i = 0; type[i] && i + 1 < size; i++) {
		if (type[i] >= 'A' && type[i] <= 'Z')
			stem[i] = (char)(type[i] - 'A' + 'a');
		else if ((type[i] >= 'a' && type[i] <= 'z') ||
			 (type[i] >= '0' && type[i] <= '9'))
			stem[i] = type[i];
		else
			stem[i] = '_';
	}
	if (!i)
		stem[i++] = '_';
	stem[i] = '\0';
}

/* Reserve a file name that was free; false after a message. */
static bool reserve_name(const struct extract *extract, const char *type,
			 const char *suffix, char *path, size_t size)
{
	const char *directory = extract->directory;
	char stem[160], number[16] = "";
	unsigned i;
	int fd, len;

	make_stem(stem, sizeof(stem), type);
	for (i = 0; i < NAMES_MAX; i++) {
		if (i)
			snprintf(number, sizeof(number), ".%u", i);
		len = snprintf(path, size, "%s%s%s%s.%s",
			       directory ? directory : "",
			       directory ? "/" : "", stem, number, suffix);
		if (len < 0 || (size_t)len >= size) {
			msg_error("the name of the directory is too long");
			return false;
		}
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  0666);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		if (errno != EEXIST) {
			msg_error("%s: cannot create: %s", path,
				  strerror(errno));
			return false;
		}
	}
	msg_error("%s: %d files of this name are there already", path,
		  NAMES_MAX);
	return false;
}

static enum pprof_status put_profile(const struct extract *extract,
				     const struct pprof_block *block,
				     struct pprof_sink *sink,
				     struct pprof_error *err)
{
	struct pprof_write_opts write_opts = PPROF_WRITE_OPTS_INIT;
	struct pprof_read_opts read_opts;
	struct pprof_profile *profile = NULL;
	enum pprof_status status;

	opt_input_take(extract->input, &read_opts);
	write_opts.diag = msg_diag;
	status = pprof_profile_read_memory(block->data, block->nr_bytes,
					   block->type, &read_opts, &profile,
					   err);
	if (!status)
		status = pprof_profile_write(profile, extract->to,
					     &write_opts, sink, err);
	pprof_profile_free(profile);
	return status;
}

static enum pprof_status write_block(const struct extract *extract,
				     const struct pprof_block *block,
				     const char *path,
				     struct pprof_error *err)
{
	struct pprof_sink *sink = NULL;
	enum pprof_status status = pprof_sink_open(path, &sink, err);

	if (status)
		return status;
	if (extract->to)
		status = put_profile(extract, block, sink, err);
	else
		status = pprof_sink_write(sink, block->data, block->nr_bytes,
					  err);
	if (!status)
		status = pprof_sink_commit(sink, err);
	pprof_sink_close(sink);
	return status;
}

/* A row a block: file, type, lines, bytes, format, what is wrong. */
static void print_row(const struct pprof_block *block, const char *path,
		      const char *trouble)
{
	printf("%s\t%s\t%llu-%llu\t%zu\t%s\t%s%s%s\n", path, block->type,
	       (unsigned long long)block->first_line,
	       (unsigned long long)block->last_line, block->nr_bytes,
	       *block->format ? block->format : "-",
	       *block->damage ? block->damage : *trouble ? "" : "ok",
	       *block->damage && *trouble ? "; " : "", trouble);
}

static enum pprof_status take_block(void *ctx, const struct pprof_block *block,
				    struct pprof_error *err)
{
	struct extract *extract = ctx;
	struct pprof_error fault = { .message = "" };
	enum pprof_status status = PPROF_OK;
	char path[4096] = "-";

	if (!extract->list && block->nr_bytes) {
		if (!reserve_name(extract, block->type, extract->to ?
				  suffix_of(extract->to) : block->suffix,
				  path, sizeof(path))) {
			if (err) {
				err->status = PPROF_IO;
				err->message[0] = '\0';
			}
			return PPROF_IO;
		}
		status = write_block(extract, block, path, &fault);
	}
	if (status) {
		unlink(path);
		memcpy(path, "-", 2);
	}
	if (status == PPROF_IO || status == PPROF_NOMEM) {
		if (err)
			*err = fault;
		return status;
	}
	print_row(block, path, fault.message);
	if (status || *block->damage)
		extract->nr_damaged++;
	else
		extract->nr_good++;
	return PPROF_OK;
}

static bool extract_file(struct extract *extract, const char *path)
{
	struct pprof_error err = { .message = "" };
	enum pprof_status status;

	progress_start("searching", infile_name(path));
	status = pprof_extract(path, &extract->input->limits, take_block,
			       extract, &err);
	progress_stop();
	if (status && err.message[0])
		msg_pprof_error(&err);
	return status == PPROF_OK;
}

static int extract_all(struct extract *extract, char **paths, int nr)
{
	bool has_failed = false;
	int i;

	if (!nr && isatty(STDIN_FILENO))
		cli_usage_error("no FILE, and standard input is a terminal");
	if (!nr)
		has_failed = !extract_file(extract, "-");
	for (i = 0; i < nr; i++)
		has_failed |= !extract_file(extract, paths[i]);
	if (has_failed)
		return CLI_EXIT_TROUBLE;
	if (!extract->nr_good && !extract->nr_damaged) {
		msg_error("no PEM block found");
		return CLI_EXIT_TROUBLE;
	}
	return extract->nr_damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

static void check_writer(const char *to)
{
	const char *name, *text;
	bool is_binary;
	size_t i;

	for (i = 0; pprof_writer_info(i, &name, &text, &is_binary); i++) {
		if (!strcmp(name, to))
			return;
	}
	cli_usage_error("--to: '%s' is not known; see --list-formats", to);
}

int main(int argc, char **argv)
{
	struct extract extract = { .directory = NULL };
	struct opt_input input = { .format = NULL };
	const struct cli_group groups[] = {
		{ "Output", extract_options, &extract },
		{ "Profiles, with --to", opt_input_options, &input },
		{ NULL, NULL, NULL }
	};
	const struct cli_tool tool = {
		.name = "pprof-extract",
		.usage = "[OPTION]... [FILE]...",
		.summary = "Find profiles that programs wrote into their logs "
			   "as PEM blocks,\nand write each to a file.\n",
		.examples =
		"  pprof-extract server.log\n"
		"  pprof-extract --to=folded server.log\n",
		.groups = groups
	};
	int first, code;

	first = cli_parse(&tool, argc, argv);
	opt_input_check(&input);
	if (extract.to)
		check_writer(extract.to);
	extract.input = &input;
	code = extract_all(&extract, argv + first, argc - first);
	opt_input_fini(&input);
	return cli_finish(code);
}
