/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of a filter: what can be read of standard input is answered in
 * one go, and written out before more is waited for.
 */
#include <config.h>

#include "answer.h"

#include "msg.h"
#include "term.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of lines that are answered together at most. */
#define BATCH_BYTES ((size_t)4 << 20)

/* What is looked at to tell addresses from a profile. */
#define PEEK_BYTES 256

/* Longest line that is an address with blanks around it. */
#define ADDRESS_BYTES 64

struct work {
	const struct answer *answer;
	struct pprof_symbolizer *symbolizer;
	const char *binary;         /* NULL with maps */
	struct pprof_profile *maps; /* NULL: link-time addresses */
	struct pprof_sink *sink;
	uint64_t *addresses;
	bool *are_bad;     /* [nr]: the line is no address */
	size_t nr, cap;
	size_t next;       /* of the answers */
	uint64_t nr_bad, nr_unnamed;
};

/* The number in text[len], blanks around it; false when it is none. */
static bool parse_address(const char *text, size_t len, uint64_t *ret)
{
	uint64_t value = 0;
	size_t nr_digits = 0;

	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		len -= 2;
	}
	for (; len && isxdigit((unsigned char)*text); text++, len--) {
		const unsigned char c = (unsigned char)*text;

		if (value >> 60)
			return false;
		value = value << 4 |
			(unsigned)(isdigit(c) ? c - '0'
					      : (c | 0x20) - 'a' + 10);
		nr_digits++;
	}
	*ret = value;
	return nr_digits && !len;
}

/* Copy what stands first in standard input, leaving it there. */
static ssize_t peek(char *data, size_t size)
{
	ssize_t nr = -1;
	int ends[2];
	off_t at;
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0)
		return -1;
	if (S_ISREG(st.st_mode)) {
		at = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return at < 0 ? -1 : pread(STDIN_FILENO, data, size, at);
	}
	if (S_ISSOCK(st.st_mode))
		return recv(STDIN_FILENO, data, size, MSG_PEEK);
	if (!S_ISFIFO(st.st_mode) || pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	nr = tee(STDIN_FILENO, ends[1], size, 0);
	if (nr > 0)
		nr = read(ends[0], data, (size_t)nr);
	close(ends[0]);
	close(ends[1]);
	return nr;
}

static bool peek_address(void)
{
	char data[PEEK_BYTES];
	const char *line_end;
	uint64_t address;
	ssize_t nr;

	if (term_is_tty(STDIN_FILENO))
		return true;
	nr = peek(data, sizeof(data));
	if (nr <= 0)
		return false;
	line_end = memchr(data, '\n', (size_t)nr);
	return parse_address(data, line_end ? (size_t)(line_end - data)
					    : (size_t)nr, &address);
}

bool answer_is_wanted(const struct answer *answer, char **arguments, int nr)
{
	uint64_t address;
	int i;

	if (answer->is_json || answer->is_vaddr)
		return true;
	if (!nr)
		return answer->symbol->binaries.nr && !answer->output &&
		       peek_address();
	for (i = 0; i < nr; i++) {
		if (!parse_address(arguments[i], strlen(arguments[i]),
				   &address) ||
		    access(arguments[i], F_OK) == 0)
			return false;
	}
	return answer->symbol->binaries.nr || answer->input->maps;
}

/* The mappings of --maps as a profile; NULL after a message. */
static struct pprof_profile *read_maps(const struct opt_input *input)
{
	/* A reader needs something to read: maps alone are no profile. */
	static const char line[] = "0x1\n";
	struct pprof_profile *profile = NULL;
	struct pprof_read_opts opts;
	struct pprof_error err;

	opt_input_take(input, &opts);
	opts.format = NULL;
	if (pprof_profile_read_memory(line, sizeof(line) - 1, input->maps,
				      &opts, &profile, &err) != PPROF_OK) {
		msg_pprof_error(&err);
		return NULL;
	}
	return profile;
}

/* -------------------------------------------------------------- answering */

static void add_address(struct work *work, uint64_t address, bool is_bad)
{
	if (work->nr == work->cap) {
		work->cap = work->cap ? 2 * work->cap : 64;
		work->addresses = msg_xrealloc(work->addresses, work->cap,
					       sizeof(*work->addresses));
		work->are_bad = msg_xrealloc(work->are_bad, work->cap,
					     sizeof(*work->are_bad));
	}
	work->addresses[work->nr] = address;
	work->are_bad[work->nr++] = is_bad;
	work->nr_bad += is_bad;
}

static enum pprof_status take_answer(void *ctx,
				     const struct pprof_resolved *resolved,
				     struct pprof_error *err)
{
	struct work *work = ctx;
	struct pprof_resolved shown = *resolved;

	if (work->are_bad[work->next++])
		shown.nr_frames = 0;
	else if (!shown.nr_frames)
		work->nr_unnamed++;
	return pprof_resolved_write(&shown, work->answer->is_json, work->sink,
				    err);
}

/* Answer what was collected and write it out; false after a message. */
static bool answer_batch(struct work *work)
{
	const struct answer *answer = work->answer;
	enum pprof_status status;
	struct pprof_error err;

	if (!work->nr)
		return true;
	work->next = 0;
	if (work->maps)
		status = pprof_symbolizer_resolve_mapped(
			work->symbolizer, work->maps, work->addresses,
			work->nr, take_answer, work, &err);
	else
		status = pprof_symbolizer_resolve(
			work->symbolizer, work->binary, work->addresses,
			work->nr, take_answer, work, &err);
	work->nr = 0;
	/* On a file nothing is published before the end. */
	if (status == PPROF_OK &&
	    (!answer->output || !strcmp(answer->output, "-")))
		status = pprof_sink_commit(work->sink, &err);
	if (status != PPROF_OK)
		msg_pprof_error(&err);
	return status == PPROF_OK;
}

/* Make ready what addresses are looked up in; false after a message. */
static bool start(struct work *work, const struct answer *answer)
{
	const bool is_mapped = answer->input->maps && !answer->is_vaddr;
	struct pprof_error err;

	memset(work, 0, sizeof(*work));
	work->answer = answer;
	if (is_mapped)
		work->maps = read_maps(answer->input);
	else
		work->binary = answer->symbol->binaries.items[0];
	if (!is_mapped || work->maps)
		work->symbolizer = opt_symbol_new(answer->symbol);
	if (!work->symbolizer)
		return false;
	if (pprof_sink_open(answer->output ? answer->output : "-",
			    &work->sink, &err) == PPROF_OK)
		return true;
	msg_pprof_error(&err);
	return false;
}

static int finish(struct work *work, bool is_good)
{
	struct pprof_error err;

	if (is_good && pprof_sink_commit(work->sink, &err) != PPROF_OK) {
		msg_pprof_error(&err);
		is_good = false;
	}
	pprof_sink_close(work->sink);
	pprof_symbolizer_free(work->symbolizer);
	pprof_profile_free(work->maps);
	free(work->addresses);
	free(work->are_bad);
	if (work->nr_bad)
		msg_warning("lines that are no addresses: %llu",
			    (unsigned long long)work->nr_bad);
	if (!is_good)
		return CLI_EXIT_TROUBLE;
	return work->answer->input->strict && work->nr_bad + work->nr_unnamed
		       ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

static bool answer_arguments(struct work *work, char **arguments, int nr)
{
	uint64_t address;
	int i;

	for (i = 0; i < nr; i++) {
		if (!parse_address(arguments[i], strlen(arguments[i]),
				   &address))
			cli_usage_error("an address expected, found '%s'",
					arguments[i]);
		add_address(work, address, false);
	}
	return answer_batch(work);
}

/* --------------------------------------------------------- standard input */

/* Take the lines of data[len]; returns the bytes of whole ones. */
static size_t take_lines(struct work *work, const char *data, size_t len,
			 bool is_end)
{
	size_t at = 0, line_len;
	const char *end;
	uint64_t address;

	while (at < len) {
		end = memchr(data + at, '\n', len - at);
		if (!end && !is_end)
			break;
		line_len = end ? (size_t)(end - data) - at : len - at;
		if (line_len <= ADDRESS_BYTES &&
		    parse_address(data + at, line_len, &address))
			add_address(work, address, false);
		else
			add_address(work, 0, true);
		at += line_len + (end ? 1 : 0);
	}
	return at;
}

static bool has_more(void)
{
	struct pollfd ready = { STDIN_FILENO, POLLIN, 0 };

	return poll(&ready, 1, 0) > 0 && ready.revents & POLLIN;
}

/* Read what is there, waiting for the first byte. -1 after a message. */
static ssize_t read_some(char *data, size_t size)
{
	size_t len = 0;
	ssize_t nr;

	do {
		nr = read(STDIN_FILENO, data + len, size - len);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0) {
			msg_error("standard input: %s", strerror(errno));
			return -1;
		}
		len += (size_t)nr;
	} while (nr && len < size && has_more());
	return (ssize_t)len;
}

static bool answer_stdin(struct work *work)
{
	char *data = msg_xrealloc(NULL, BATCH_BYTES, 1);
	size_t len = 0, used;
	bool is_good;
	ssize_t nr;

	do {
		nr = read_some(data + len, BATCH_BYTES - len);
		if (nr > 0)
			len += (size_t)nr;
		/* A line that fills the whole buffer is no address. */
		used = take_lines(work, data, len, !nr || len == BATCH_BYTES);
		memmove(data, data + used, len - used);
		len -= used;
		is_good = nr >= 0 && answer_batch(work);
	} while (is_good && nr > 0);
	free(data);
	return is_good;
}

int answer_run(const struct answer *answer, char **arguments, int nr)
{
	struct work work;
	bool is_good;

	if (answer->symbol->binaries.nr != 1 &&
	    (!answer->input->maps || answer->is_vaddr))
		cli_usage_error("one BINARY expected (-e) whose addresses "
				"are to be named, or --maps");
	is_good = start(&work, answer);
	if (is_good)
		is_good = nr ? answer_arguments(&work, arguments, nr)
			     : answer_stdin(&work);
	return finish(&work, is_good);
}
