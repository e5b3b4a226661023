/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines: one table of options a group, from which the parser and
 * --help are made. Knows no option by name except --help and --version.
 */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, as each man page has them. */
enum cli_exit {
	CLI_EXIT_OK = 0,
	CLI_EXIT_FAILED = 1, /* a check failed */
	CLI_EXIT_TROUBLE = 2 /* usage, unreadable input, wrong binary, I/O */
};

/* What an option does to the member at `offset` of its group's base. */
enum cli_kind {
	CLI_FLAG,   /* bool: true */
	CLI_TEXT,   /* const char *: the argument */
	CLI_MAYBE,  /* const char *: the argument behind '=', or "" */
	CLI_WORD,   /* const char *: the option's own name */
	CLI_LIST,   /* struct cli_list: the argument is added */
	CLI_NUMBER, /* uint64_t: at most `value` */
	CLI_REAL,   /* double: 0 to `value` */
	CLI_DIVISOR, /* double: above 0 to `value` */
	CLI_CHOICE, /* int: index of the argument in arg, "a|b|c" */
	CLI_SET     /* int: `value` */
};

struct cli_option {
	const char *name;   /* long, without dashes */
	char letter;        /* short, or 0 */
	enum cli_kind kind;
	size_t offset;
	const char *arg;    /* name of the argument, or the choices */
	const char *help;   /* NULL: another spelling, not shown */
	uint64_t value;
};

/* Options that fill the same object, under one heading of --help. */
struct cli_group {
	const char *title;
	const struct cli_option *options; /* up to one with name NULL */
	void *base;
};

/* Repeated arguments, in order. Borrowed from argv. */
struct cli_list {
	const char **items; /* [nr] */
	size_t nr;
};

struct cli_tool {
	const char *name;
	const char *usage;   /* after the name, as "[OPTION]... [FILE]" */
	const char *summary; /* what it does; lines end with \n */
	const char *examples;
	const struct cli_group *groups; /* up to one with base NULL */
};

/*
 * Take the options off argv; what is left are files: argv[i] for i from the
 * returned index. Ends the program for --help, --version and mistakes.
 */
int cli_parse(const struct cli_tool *tool, int argc, char **argv);

/* Say what is wrong with the arguments, point at --help, exit 2. */
__attribute__((format(printf, 1, 2), noreturn))
void cli_usage_error(const char *format, ...);

/*
 * The exit status of a tool that is done: `status`, or 2 with a message when
 * standard output could not be written to the end.
 */
int cli_finish(int status);

void cli_list_add(struct cli_list *list, const char *item);
void cli_list_fini(struct cli_list *list);

/*
 * A whole number with an optional suffix K, M, G, T (powers of 1024).
 * False when it is not one or above `max`.
 */
bool cli_u64(const char *text, uint64_t max, uint64_t *ret);

/* A decimal number from 0 to `max`. False when it is not one. */
bool cli_real(const char *text, double max, double *ret);

#endif
