/* SPDX-License-Identifier: Apache-2.0
 *
 * Picks the input out of the arguments.
 */
#include <config.h>

#include "infile.h"

#include "term.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the regular file `path` begin as ELF does? */
static bool is_elf(const char *path)
{
	static const char magic[4] = { 0x7f, 'E', 'L', 'F' };
	char head[sizeof(magic)];
	struct stat st;
	bool found;
	int fd;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	found = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		!memcmp(head, magic, sizeof(magic));
	close(fd);
	return found;
}

int infile_first(int argc, char **argv, int first,
		 struct cli_list *binaries)
{
	if (argc - first > 1 && is_elf(argv[first]))
		cli_list_add(binaries, argv[first++]);
	if (first == argc && term_is_tty(STDIN_FILENO))
		cli_usage_error("no FILE given, and standard input is a "
				"terminal");
	return first;
}

const char *infile_one(int argc, char **argv, int first,
		       struct cli_list *binaries)
{
	first = infile_first(argc, argv, first, binaries);
	if (argc - first > 1)
		cli_usage_error("one FILE expected, found another: '%s'; "
				"pprof-merge makes one of many",
				argv[first + 1]);
	return first < argc ? argv[first] : "-";
}

const char *infile_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

const char *infile_title(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strcmp(path, "-"))
		return NULL;
	return slash ? slash + 1 : path;
}
