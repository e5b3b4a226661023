/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a getopt_long_only() table out of the groups, stores what it finds,
 * prints --help. Single-dash long options ("-inuse_space") are taken because
 * users of pprof and jeprof write them.
 */
#include <config.h>

#include "cli.h"

#include "msg.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* getopt values of long options: above every character. */
#define LONG_BASE 256

/* Columns of --help: where texts start, where lines end. */
#define HELP_INDENT 28
#define HELP_WIDTH 79

struct general {
	bool help;
	bool version;
	bool quiet;
	bool verbose;
	int color; /* enum term_color */
};

static const struct cli_option general_options[] = {
	{ "quiet", 'q', CLI_FLAG, offsetof(struct general, quiet), NULL,
	  "print errors only", 0 },
	{ "verbose", 'v', CLI_FLAG, offsetof(struct general, verbose), NULL,
	  "say what was done", 0 },
	{ "color", 0, CLI_CHOICE, offsetof(struct general, color),
	  "auto|always|never", "colour of messages (auto: on a terminal, "
	  "unless NO_COLOR is set)", 0 },
	{ "help", 'h', CLI_FLAG, offsetof(struct general, help), NULL,
	  "print this help and exit", 0 },
	{ "version", 'V', CLI_FLAG, offsetof(struct general, version), NULL,
	  "print the version and exit", 0 },
	{ NULL, 0, CLI_FLAG, 0, NULL, NULL, 0 }
};

/* An option together with the object that it fills. */
struct row {
	const struct cli_option *option;
	char *base;
};

struct parser {
	const struct cli_tool *tool;
	struct row *rows;
	size_t nr_rows;
	struct option *longs; /* [nr_rows + 1] for getopt */
	char *letters;
};

static const char *tool_name = "pprof";

void cli_usage_error(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	msg_error("%s", text);
	msg_error("try '%s --help'", tool_name);
	exit(CLI_EXIT_TROUBLE);
}

int cli_finish(int status)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) != 0)
		failed = true;
	/* EBADF: the caller closed it, and nothing was written there. */
	if (failed && errno != EBADF) {
		msg_error("standard output: %s",
			  errno ? strerror(errno) : "write failed");
		return CLI_EXIT_TROUBLE;
	}
	return status;
}

void cli_list_add(struct cli_list *list, const char *item)
{
	list->items = msg_xrealloc(list->items, list->nr + 1,
				   sizeof(*list->items));
	list->items[list->nr++] = item;
}

void cli_list_fini(struct cli_list *list)
{
	free(list->items);
	list->items = NULL;
	list->nr = 0;
}

bool cli_u64(const char *text, uint64_t max, uint64_t *ret)
{
	static const char suffixes[] = "KMGT";
	uint64_t value = 0;
	const char *p = text;
	const char *suffix;

	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (p == text)
		return false;
	suffix = *p ? strchr(suffixes, *p) : NULL;
	if (suffix) {
		unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);

		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
		p++;
	}
	if (*p || value > max)
		return false;
	*ret = value;
	return true;
}

bool cli_real(const char *text, double max, double *ret)
{
	char *end;
	/* The locale is never set: the decimal sign is a point. */
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || value > max)
		return false;
	*ret = value;
	return true;
}

/* Index of `word` in "a|b|c", or -1. */
static int find_choice(const char *choices, const char *word)
{
	size_t len = strlen(word);
	int i;

	for (i = 0; choices; i++) {
		size_t nr = strcspn(choices, "|");

		if (nr == len && !strncmp(choices, word, len))
			return i;
		choices = choices[nr] ? choices + nr + 1 : NULL;
	}
	return -1;
}

static bool takes_argument(const struct cli_option *option)
{
	return option->kind != CLI_FLAG && option->kind != CLI_WORD &&
	       option->kind != CLI_SET;
}

static void set_number(const struct cli_option *option, void *target,
		       const char *text)
{
	uint64_t value;

	if (!cli_u64(text, option->value, &value))
		cli_usage_error("--%s: expected a whole number up to %" PRIu64
				", found '%s'", option->name, option->value,
				text);
	*(uint64_t *)target = value;
}

static void set_real(const struct cli_option *option, void *target,
		     const char *text)
{
	double value;

	if (!cli_real(text, (double)option->value, &value))
		cli_usage_error("--%s: expected a number from 0 to %" PRIu64
				", found '%s'", option->name, option->value,
				text);
	if (option->kind == CLI_DIVISOR && !(value > 0))
		cli_usage_error("--%s: expected a number above 0, found '%s'",
				option->name, text);
	*(double *)target = value;
}

/* An empty file name is what a script's unset variable leaves behind. */
static const char *check_text(const struct cli_option *option,
			      const char *text)
{
	if (!*text && (!strcmp(option->arg, "FILE") ||
		       !strcmp(option->arg, "DIR")))
		cli_usage_error("--%s: expected the name of a %s, found ''",
				option->name, *option->arg == 'F' ? "file"
								  : "folder");
	return text;
}

static void set_choice(const struct cli_option *option, void *target,
		       const char *text)
{
	int value = find_choice(option->arg, text);

	if (value < 0)
		cli_usage_error("--%s: expected %s, found '%s'", option->name,
				option->arg, text);
	*(int *)target = value;
}

static void store(const struct row *row, const char *text)
{
	const struct cli_option *option = row->option;
	void *target = row->base + option->offset;

	switch (option->kind) {
	case CLI_FLAG:
		*(bool *)target = true;
		break;
	case CLI_TEXT:
		*(const char **)target = check_text(option, text);
		break;
	case CLI_MAYBE:
		*(const char **)target = text ? text : "";
		break;
	case CLI_WORD:
		*(const char **)target = option->name;
		break;
	case CLI_LIST:
		cli_list_add(target, text);
		break;
	case CLI_NUMBER:
		set_number(option, target, text);
		break;
	case CLI_REAL:
	case CLI_DIVISOR:
		set_real(option, target, text);
		break;
	case CLI_CHOICE:
		set_choice(option, target, text);
		break;
	case CLI_SET:
		*(int *)target = (int)option->value;
		break;
	}
}

static void add_rows(struct parser *parser, const struct cli_option *options,
		     void *base)
{
	for (; options->name; options++) {
		parser->rows = msg_xrealloc(parser->rows, parser->nr_rows + 1,
					    sizeof(*parser->rows));
		parser->rows[parser->nr_rows].option = options;
		parser->rows[parser->nr_rows].base = base;
		parser->nr_rows++;
	}
}

/* The tables of getopt: a long option's value is its row + LONG_BASE. */
static void make_tables(struct parser *parser)
{
	size_t nr = parser->nr_rows;
	char *letter;
	size_t i;

	parser->longs = msg_xrealloc(NULL, nr + 1, sizeof(*parser->longs));
	parser->letters = msg_xrealloc(NULL, 2 * nr + 2, 1);
	letter = parser->letters;
	*letter++ = ':'; /* tell a missing argument apart, print nothing */
	for (i = 0; i < nr; i++) {
		const struct cli_option *option = parser->rows[i].option;
		bool arg = takes_argument(option);

		parser->longs[i].name = option->name;
		parser->longs[i].has_arg = arg ? required_argument
					       : no_argument;
		if (option->kind == CLI_MAYBE)
			parser->longs[i].has_arg = optional_argument;
		parser->longs[i].flag = NULL;
		parser->longs[i].val = (int)i + LONG_BASE;
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		if (arg)
			*letter++ = ':';
	}
	*letter = '\0';
	memset(&parser->longs[nr], 0, sizeof(*parser->longs));
}

static void free_tables(struct parser *parser)
{
	free(parser->rows);
	free(parser->longs);
	free(parser->letters);
}

static const struct row *find_row(const struct parser *parser, int value)
{
	size_t i;

	if (value >= LONG_BASE)
		return &parser->rows[value - LONG_BASE];
	for (i = 0; i < parser->nr_rows; i++) {
		if (parser->rows[i].option->letter == value)
			return &parser->rows[i];
	}
	return NULL;
}

/* Tell what getopt did not like; `code` is what it returned: '?' or ':'. */
__attribute__((noreturn))
static void reject(const struct parser *parser, int code, char **argv)
{
	const char *text = argv[optind - 1];
	const struct row *row = optopt ? find_row(parser, optopt) : NULL;

	if (code == ':' && row)
		cli_usage_error("option --%s needs an argument",
				row->option->name);
	if (row)
		cli_usage_error("option --%s takes no argument",
				row->option->name);
	if (optopt && text[0] == '-' && text[1] != '-')
		cli_usage_error("unknown option '-%c'", optopt);
	cli_usage_error("unknown or ambiguous option '%s'", text);
}

/* Print `text` wrapped between HELP_INDENT and HELP_WIDTH. */
static void print_wrapped(const char *text)
{
	size_t column = HELP_INDENT;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > HELP_INDENT && column + len + 1 > HELP_WIDTH) {
			printf("\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_option(const struct cli_option *option)
{
	const bool is_maybe = option->kind == CLI_MAYBE;
	const bool takes = takes_argument(option);
	char left[128];
	int len;

	if (!option->help)
		return;
	len = snprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s%s",
		       option->letter ? '-' : ' ',
		       option->letter ? option->letter : ' ',
		       option->letter ? ',' : ' ', option->name,
		       is_maybe ? "[" : "", takes ? "=" : "",
		       takes ? option->arg : "", is_maybe ? "]" : "");
	if (len >= HELP_INDENT - 1)
		printf("%s\n%*s", left, HELP_INDENT, "");
	else
		printf("%-*s", HELP_INDENT, left);
	print_wrapped(option->help);
}

static void print_group(const char *title, const struct cli_option *options)
{
	printf("\n%s:\n", title);
	for (; options->name; options++)
		print_option(options);
}

static void print_help(const struct cli_tool *tool)
{
	const struct cli_group *group;

	printf("Usage: %s %s\n%s", tool->name, tool->usage, tool->summary);
	for (group = tool->groups; group->base; group++)
		print_group(group->title, group->options);
	print_group("General", general_options);
	printf("\nExamples:\n%s\nManual: man %s\n", tool->examples,
	       tool->name);
}

/* --help and --version act where they stand; the others once all is read. */
static void act_now(const struct cli_tool *tool, const struct general *general)
{
	if (general->help)
		print_help(tool);
	else if (general->version)
		printf("%s (libpprof) %s\n", tool->name, pprof_version());
	else
		return;
	exit(cli_finish(CLI_EXIT_OK));
}

static void apply_general(const struct general *general)
{
	term_set_color((enum term_color)general->color);
	if (general->quiet)
		msg_set_level(MSG_QUIET);
	else if (general->verbose)
		msg_set_level(MSG_VERBOSE);
}

/*
 * A closed standard descriptor would become the next file opened; give it to
 * /dev/null, opened so that using it is an error.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd < STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int cli_parse(const struct cli_tool *tool, int argc, char **argv)
{
	struct parser parser = { .tool = tool };
	struct general general = { .color = TERM_COLOR_AUTO };
	const struct cli_group *group;
	const struct row *row;
	int code;

	fill_standard_descriptors();
	tool_name = tool->name;
	msg_init(tool->name);
	for (group = tool->groups; group->base; group++)
		add_rows(&parser, group->options, group->base);
	add_rows(&parser, general_options, &general);
	make_tables(&parser);
	for (;;) {
		code = getopt_long_only(argc, argv, parser.letters,
					parser.longs, NULL);
		if (code == -1)
			break;
		row = find_row(&parser, code);
		if (!row)
			reject(&parser, code, argv);
		else
			store(row, optarg);
		act_now(tool, &general);
	}
	free_tables(&parser);
	apply_general(&general);
	return optind;
}
