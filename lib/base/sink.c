/* SPDX-License-Identifier: Apache-2.0
 *
 * Where output bytes go. A file appears under its name only when complete.
 */
#include <config.h>

#include "base/mem.h"
#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes collected before a write(2). */
#define FLUSH_BYTES ((size_t)256 << 10)

/* Names that are tried for the file beside. */
#define TEMP_TRIES 100

static struct pprof_sink *sink_new(void)
{
	struct pprof_sink *sink = mem_zalloc(1, sizeof(*sink));

	if (sink) {
		buf_init(&sink->buf, PTRDIFF_MAX);
		sink->fd = -1;
	}
	return sink;
}

/* Refuse what a rename would replace: a device or pipe is opened as it is. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) &&
	       !S_ISDIR(st.st_mode);
}

/* Symbolic links that are followed; the kernel's own bound (MAXSYMLINKS). */
#define LINKS_MAX 40

/* Where the link at `path` points, or NULL: no link, or out of memory. */
static char *read_link(const char *path)
{
	char target[4096];
	ssize_t len = readlink(path, target, sizeof(target));
	const char *slash = strrchr(path, '/');
	struct buf buf;
	char *copy;

	if (len <= 0 || (size_t)len == sizeof(target))
		return NULL;
	buf_init(&buf, (size_t)64 << 10);
	if (target[0] != '/' && slash)
		buf_add(&buf, path, (size_t)(slash - path) + 1);
	buf_add(&buf, target, (size_t)len);
	copy = buf_ok(&buf) ? mem_strndup(buf.data, buf.len) : NULL;
	buf_fini(&buf);
	return copy;
}

/* The file behind all links, so that the rename keeps the links in place. */
static char *resolve_path(const char *path)
{
	char *resolved = mem_strndup(path, strlen(path)), *target;
	int links;

	for (links = 0; resolved && links < LINKS_MAX; links++) {
		target = read_link(resolved);
		if (!target)
			break;
		mem_free(resolved);
		resolved = target;
	}
	return resolved;
}

/* File descriptor that a name stands for, or -1: "-", "/dev/fd/N" and so. */
static int named_fd(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *digits;
	size_t i;
	int fd;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		if (strncmp(path, dirs[i], strlen(dirs[i])))
			continue;
		digits = path + strlen(dirs[i]);
		for (fd = 0; *digits >= '0' && *digits <= '9' && fd < 1000000;
		     digits++)
			fd = fd * 10 + (*digits - '0');
		if (!*digits && digits[-1] != '/')
			return fd;
	}
	return -1;
}

/* Create PATH.tmpPID-N; sets sink->fd and sink->temp_path. */
static enum pprof_status open_beside(struct pprof_sink *sink,
				     struct pprof_error *err)
{
	struct buf name;
	int try;

	buf_init(&name, (size_t)64 << 10);
	for (try = 0; try < TEMP_TRIES && sink->fd < 0; try++) {
		buf_reset(&name);
		buf_printf(&name, "%s.tmp%ld-%d", sink->path, (long)getpid(),
			   try);
		if (!buf_ok(&name))
			break;
		sink->fd = open(buf_cstr(&name), O_WRONLY | O_CREAT | O_EXCL |
				O_CLOEXEC, 0666);
		if (sink->fd < 0 && errno != EEXIST)
			break;
	}
	if (sink->fd >= 0)
		sink->temp_path = mem_strndup(name.data, name.len);
	if (sink->fd < 0) {
		int error = buf_ok(&name) ? errno : ENOMEM;

		buf_fini(&name);
		if (error == ENOMEM)
			return error_nomem(err);
		return error_plain(err, PPROF_IO, sink->path,
				   "cannot create: %s", strerror(error));
	}
	if (!sink->temp_path) {
		unlink(buf_cstr(&name));
		buf_fini(&name);
		return error_nomem(err);
	}
	buf_fini(&name);
	return PPROF_OK;
}

static enum pprof_status open_path(struct pprof_sink *sink, const char *path,
				   struct pprof_error *err)
{
	struct stat st;

	sink->fd = named_fd(path);
	if (sink->fd >= 0) {
		sink->name = sink->fd == STDOUT_FILENO ? "standard output" :
			     "inherited file";
		sink->is_borrowed = true;
		return PPROF_OK;
	}
	sink->path = resolve_path(path);
	if (!sink->path)
		return error_nomem(err);
	sink->name = sink->path;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return error_plain(err, PPROF_IO, path, "is a directory");
	if (!is_special(path))
		return open_beside(sink, err);
	sink->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (sink->fd < 0)
		return error_plain(err, PPROF_IO, path, "cannot open: %s",
				   strerror(errno));
	return PPROF_OK;
}

enum pprof_status pprof_sink_open(const char *path,
				  struct pprof_sink **ret_sink,
				  struct pprof_error *err)
{
	struct pprof_sink *sink = sink_new();
	enum pprof_status status;

	if (!sink)
		return error_nomem(err);
	status = open_path(sink, path, err);
	if (status) {
		pprof_sink_close(sink);
		return status;
	}
	*ret_sink = sink;
	return PPROF_OK;
}

enum pprof_status pprof_sink_open_memory(struct pprof_sink **ret_sink,
					 struct pprof_error *err)
{
	struct pprof_sink *sink = sink_new();

	if (!sink)
		return error_nomem(err);
	sink->is_memory = true;
	sink->name = "memory";
	*ret_sink = sink;
	return PPROF_OK;
}

const void *pprof_sink_memory(const struct pprof_sink *sink,
			      size_t *ret_nr_bytes)
{
	*ret_nr_bytes = sink->buf.len;
	return sink->buf.len ? sink->buf.data : "";
}

static enum pprof_status fail(struct pprof_sink *sink,
			      enum pprof_status status,
			      struct pprof_error *err)
{
	if (!sink->status) {
		sink->status = status;
		if (status == PPROF_NOMEM)
			error_nomem(&sink->err);
		else
			error_plain(&sink->err, status, sink->name,
				    "cannot write: %s", strerror(errno));
	}
	if (err)
		*err = sink->err;
	return sink->status;
}

static enum pprof_status write_all(struct pprof_sink *sink, const char *data,
				   size_t nr, struct pprof_error *err)
{
	ssize_t done;

	while (nr) {
		done = write(sink->fd, data, nr);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return fail(sink, PPROF_IO, err);
		data += done;
		nr -= (size_t)done;
	}
	return PPROF_OK;
}

static enum pprof_status flush(struct pprof_sink *sink,
			       struct pprof_error *err)
{
	enum pprof_status status = write_all(sink, sink->buf.data,
					     sink->buf.len, err);

	sink->buf.len = 0;
	return status;
}

enum pprof_status pprof_sink_write(struct pprof_sink *sink, const void *data,
				   size_t nr_bytes, struct pprof_error *err)
{
	enum pprof_status status;

	if (sink->status)
		return fail(sink, sink->status, err);
	if (!sink->is_memory && sink->buf.len + nr_bytes > FLUSH_BYTES) {
		status = flush(sink, err);
		if (status)
			return status;
		if (nr_bytes >= FLUSH_BYTES)
			return write_all(sink, data, nr_bytes, err);
	}
	buf_add(&sink->buf, data, nr_bytes);
	return buf_ok(&sink->buf) ? PPROF_OK : fail(sink, PPROF_NOMEM, err);
}

enum pprof_status sink_take_buf(struct pprof_sink *sink, struct buf *buf,
				struct pprof_error *err)
{
	enum pprof_status status;

	if (!buf_ok(buf))
		return fail(sink, PPROF_NOMEM, err);
	status = pprof_sink_write(sink, buf->data, buf->len, err);
	buf_reset(buf);
	return status;
}

/* Give the file the mode that it had, or that a new one gets. */
static void keep_mode(const struct pprof_sink *sink)
{
	struct stat st;

	if (!stat(sink->path, &st) && S_ISREG(st.st_mode))
		(void)!fchmod(sink->fd, st.st_mode & 07777);
}

enum pprof_status pprof_sink_commit(struct pprof_sink *sink,
				    struct pprof_error *err)
{
	enum pprof_status status = PPROF_OK;

	if (sink->status)
		return fail(sink, sink->status, err);
	if (sink->is_memory)
		return PPROF_OK;
	status = flush(sink, err);
	if (status)
		return status;
	if (!sink->temp_path)
		return PPROF_OK;
	keep_mode(sink);
	if (close(sink->fd)) {
		sink->fd = -1;
		return fail(sink, PPROF_IO, err);
	}
	sink->fd = -1;
	if (rename(sink->temp_path, sink->path))
		return fail(sink, PPROF_IO, err);
	sink->committed = true;
	return PPROF_OK;
}

void pprof_sink_close(struct pprof_sink *sink)
{
	if (!sink)
		return;
	if (sink->fd >= 0 && !sink->is_borrowed)
		close(sink->fd);
	if (sink->temp_path && !sink->committed)
		unlink(sink->temp_path);
	mem_free(sink->temp_path);
	mem_free(sink->path);
	buf_fini(&sink->buf);
	mem_free(sink);
}
