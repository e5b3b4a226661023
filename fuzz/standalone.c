/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over files without libFuzzer, for make check and for
 * looking at one crash: each file is a test, told in TAP.
 *
 *   fuzz_WHAT [FILE | DIRECTORY]...
 *
 * Without arguments: the files of $top_srcdir/fuzz/corpus/WHAT.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct list {
	char **paths;
	size_t nr;
};

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(99);
}

static void add_path(struct list *list, const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = malloc(size);

	list->paths = realloc(list->paths,
			      (list->nr + 1) * sizeof(*list->paths));
	if (!path || !list->paths)
		die("memory");
	snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name);
	list->paths[list->nr++] = path;
}

static void add_folder(struct list *list, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		die(folder);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_path(list, folder, entry->d_name);
	closedir(dir);
}

static void add_argument(struct list *list, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path);
	if (S_ISDIR(st.st_mode))
		add_folder(list, path);
	else
		add_path(list, "", path);
}

/* The seeds of this program: its name is fuzz_WHAT, or lt-fuzz_WHAT. */
static void add_corpus(struct list *list, const char *program)
{
	const char *top = getenv("top_srcdir");
	const char *what = strstr(program, "fuzz_");
	const char *next;
	char folder[4096];

	while (what && (next = strstr(what + 1, "fuzz_")))
		what = next;
	if (!what)
		return;
	snprintf(folder, sizeof(folder), "%s/fuzz/corpus/%s", top ? top : ".",
		 what + strlen("fuzz_"));
	add_folder(list, folder);
}

static int compare_paths(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* In a block of just its size, so that a byte too far is seen. */
static void run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t size;

	if (!file || fstat(fileno(file), &st))
		die(path);
	size = (size_t)st.st_size;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, file) != size)
		die(path);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	struct list list = { .paths = NULL };
	size_t i;
	int arg;

	for (arg = 1; arg < argc; arg++)
		add_argument(&list, argv[arg]);
	if (argc == 1)
		add_corpus(&list, argv[0]);
	if (list.nr)
		qsort(list.paths, list.nr, sizeof(*list.paths), compare_paths);
	printf("1..%zu\n", list.nr + 1);
	fflush(stdout);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	printf("ok 1 - no bytes\n");
	for (i = 0; i < list.nr; i++) {
		fflush(stdout);
		run_file(list.paths[i]);
		printf("ok %zu - %s\n", i + 2, list.paths[i]);
		free(list.paths[i]);
	}
	free(list.paths);
	return 0;
}
