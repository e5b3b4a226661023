/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of input files, and jemalloc's names of dumps (src/prof_sys.c,
 * prof_dump_filename: "%s.%d.%PRIu64.%c%PRId64.heap").
 */
#include <config.h>

#include "inlist.h"

#include "cli.h"
#include "infile.h"
#include "msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest list of names that is taken. */
#define LIST_BYTES_MAX ((size_t)1 << 30)

static void add_path(struct inlist *list, const char *path)
{
	/* Grow by doubling whenever the number is a power of two. */
	if (!(list->nr & (list->nr - 1)))
		list->paths = msg_xrealloc(list->paths,
					   list->nr ? 2 * list->nr : 1,
					   sizeof(*list->paths));
	list->paths[list->nr++] = path;
}

static char *read_all(FILE *file, const char *path, size_t *ret_len)
{
	size_t len = 0, cap = 1 << 16, nr;
	char *text = msg_xrealloc(NULL, cap + 1, 1);

	do {
		if (len == cap) {
			cap *= 2;
			text = msg_xrealloc(text, cap + 1, 1);
		}
		nr = fread(text + len, 1, cap - len, file);
		len += nr;
	} while (nr && len <= LIST_BYTES_MAX);
	if (ferror(file) || len > LIST_BYTES_MAX) {
		msg_error("%s: %s", infile_name(path),
			  ferror(file) ? strerror(errno)
				       : "the list is too long");
		exit(CLI_EXIT_TROUBLE);
	}
	text[len] = '\0';
	*ret_len = len;
	return text;
}

static void add_list(struct inlist *list, const char *list_path)
{
	bool is_stdin = !strcmp(list_path, "-");
	FILE *file = is_stdin ? stdin : fopen(list_path, "rb");
	size_t len, at;

	if (!file) {
		msg_error("%s: %s", list_path, strerror(errno));
		exit(CLI_EXIT_TROUBLE);
	}
	list->text = read_all(file, list_path, &len);
	if (!is_stdin)
		fclose(file);
	for (at = 0; at < len; at += strlen(list->text + at) + 1) {
		if (!list->text[at])
			cli_usage_error("%s: empty file name in the list",
					infile_name(list_path));
		add_path(list, list->text + at);
	}
}

void inlist_init(struct inlist *list, int argc, char **argv, int first,
		 const char *list_path)
{
	memset(list, 0, sizeof(*list));
	for (; first < argc; first++)
		add_path(list, argv[first]);
	if (list_path)
		add_list(list, list_path);
}

void inlist_fini(struct inlist *list)
{
	free(list->paths);
	free(list->text);
	memset(list, 0, sizeof(*list));
}

/* Step back over digits before text[end]; where they start. */
static size_t digits_before(const char *text, size_t end)
{
	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end;
}

/* Take ".PID.SEQUENCE." apart that ends at the dot path[dot]. */
static bool parse_numbers(const char *path, size_t dot,
			  struct dump_name *ret_name)
{
	size_t sequence = digits_before(path, dot), pid, i;
	uint64_t number = 0;

	if (sequence == dot || sequence < 2 || path[sequence - 1] != '.')
		return false;
	pid = digits_before(path, sequence - 1);
	if (pid == sequence - 1 || !pid || path[pid - 1] != '.')
		return false;
	for (i = sequence; i < dot; i++) {
		if (number > UINT64_MAX / 10 - 1)
			return false;
		number = number * 10 + (uint64_t)(path[i] - '0');
	}
	ret_name->process_len = sequence - 1;
	ret_name->sequence = number;
	return true;
}

bool inlist_parse_dump(const char *path, struct dump_name *ret_name)
{
	const char *slash = strrchr(path, '/');
	const char *heap = strstr(slash ? slash : path, ".heap");
	size_t end, dot;

	if (!heap)
		return false;
	/* WHY is i, m, u or f and, but for f, a number. */
	end = (size_t)(heap - path);
	dot = digits_before(path, end);
	if (dot < 2 || !strchr("imuf", path[dot - 1]) ||
	    path[dot - 2] != '.')
		return false;
	return parse_numbers(path, dot - 2, ret_name);
}

/* A path with what its name tells. */
struct named {
	const char *path;
	struct dump_name name;
	size_t place; /* in the list */
};

static int compare_process(const struct named *a, const struct named *b)
{
	size_t len = a->name.process_len < b->name.process_len
			     ? a->name.process_len
			     : b->name.process_len;
	int order = memcmp(a->path, b->path, len);

	return order ? order
		     : (a->name.process_len > b->name.process_len) -
			       (a->name.process_len < b->name.process_len);
}

static int compare_named(const void *a, const void *b)
{
	const struct named *na = a, *nb = b;
	int order = compare_process(na, nb);

	if (!order)
		order = (na->name.sequence > nb->name.sequence) -
			(na->name.sequence < nb->name.sequence);
	return order ? order
		     : (na->place > nb->place) - (na->place < nb->place);
}

/* The inputs that are named as dumps, by process and sequence. */
static struct named *sort_dumps(const struct inlist *list, size_t *ret_nr)
{
	struct named *dumps = msg_xrealloc(NULL, list->nr + 1,
					   sizeof(*dumps));
	size_t nr = 0, i;

	for (i = 0; i < list->nr; i++) {
		if (!inlist_parse_dump(list->paths[i], &dumps[nr].name))
			continue;
		dumps[nr].path = list->paths[i];
		dumps[nr++].place = i;
	}
	qsort(dumps, nr, sizeof(*dumps), compare_named);
	*ret_nr = nr;
	return dumps;
}

bool inlist_find_snapshots(const struct inlist *list, const char **ret_a,
			   const char **ret_b)
{
	size_t nr, i;
	struct named *dumps = sort_dumps(list, &nr);
	bool found = false;

	for (i = 1; i < nr && !found; i++) {
		found = !compare_process(&dumps[i - 1], &dumps[i]);
		*ret_a = dumps[i - 1].path;
		*ret_b = dumps[i].path;
	}
	free(dumps);
	return found;
}

size_t inlist_keep_last(struct inlist *list)
{
	size_t nr, i, kept = 0;
	struct named *dumps = sort_dumps(list, &nr);
	size_t before = list->nr;

	for (i = 1; i < nr; i++)
		if (!compare_process(&dumps[i - 1], &dumps[i]))
			list->paths[dumps[i - 1].place] = NULL;
	for (i = 0; i < before; i++)
		if (list->paths[i])
			list->paths[kept++] = list->paths[i];
	list->nr = kept;
	free(dumps);
	return before - kept;
}

static int compare_sequences(const void *a, const void *b)
{
	struct dump_name na, nb;

	if (!inlist_parse_dump(*(const char *const *)a, &na) ||
	    !inlist_parse_dump(*(const char *const *)b, &nb))
		return 0;
	return (na.sequence > nb.sequence) - (na.sequence < nb.sequence);
}

void inlist_sort_dumps(struct inlist *list)
{
	struct dump_name first, name;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		if (!inlist_parse_dump(list->paths[i], &name))
			return;
		if (!i)
			first = name;
		if (name.process_len != first.process_len ||
		    memcmp(list->paths[i], list->paths[0],
			   first.process_len) != 0)
			return;
	}
	if (list->nr)
		qsort(list->paths, list->nr, sizeof(*list->paths),
		      compare_sequences);
}
