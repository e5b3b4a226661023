/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening inputs: what may be read, which containers are around it, and the
 * cursor over what is inside. Plain files are read through a window, never
 * mapped: mapped pages would count as this process's memory.
 */
#include <config.h>

#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/gz.h"
#include "input/unzstd.h"

/* Compressed within compressed within ...: as deep as anyone means it. */
#define MAX_LAYERS 4

/* Enough for every magic, that of tar at 257 included. */
#define HEAD_BYTES 512

/* Inflated pages are given back in steps of this, a multiple of pages. */
#define DROP_BYTES ((size_t)1 << 20)

/* Bytes of one container, its first ones looked at before the rest. */
struct layer {
	cursor_refill_fn pull;
	void *pull_ctx;
	size_t nr_head; /* bytes in head */
	size_t given;   /* of those, given on already */
	uint8_t head[HEAD_BYTES];
};

struct input {
	char *source;         /* owned copy */
	int fd;               /* -1: memory */
	bool owns_fd;
	int64_t mtime_ns;
	const uint8_t *mem;   /* memory input: bytes not yet given */
	size_t nr_mem;
	uint64_t raw_bytes;   /* read from outside so far */
	struct pprof_limits limits;
	struct diags *diags;  /* borrowed */
	struct layer layers[MAX_LAYERS + 1];
	struct gz *gz[MAX_LAYERS]; /* gz[i] inflates layers[i], or */
	struct unzstd *unzstd[MAX_LAYERS]; /* unzstd[i] does */
	size_t nr_gz;              /* layers inflated by either */
	void *pages;          /* of gz_inflate_whole(), or NULL */
	size_t nr_dropped;    /* of their bytes given back already */
	size_t nr_pages_bytes;
	struct cursor cursor;
	bool has_cursor;
};

/* Containers that are known but not opened here. */
struct refused {
	size_t offset;
	size_t nr;
	const char *magic;
	const char *name;
	const char *remedy;
	/* What else tells it, where the magic alone may stand in a text. */
	bool (*holds)(const uint8_t head[HEAD_BYTES]);
};

#define TAR_SUM 148 /* POSIX.1-1988 ustar: octal, in eight bytes */
#define TAR_SUM_BYTES 8

/* The sum of the header's bytes, its own field taken as blanks. */
static bool is_tar(const uint8_t head[HEAD_BYTES])
{
	unsigned sum = 0, want = 0;
	size_t i;

	for (i = 0; i < HEAD_BYTES; i++)
		sum += i - TAR_SUM < TAR_SUM_BYTES ? (uint8_t)' ' : head[i];
	for (i = TAR_SUM; i < TAR_SUM + TAR_SUM_BYTES; i++)
		if (head[i] >= '0' && head[i] <= '7')
			want = want << 3 | (unsigned)(head[i] - '0');
	return sum == want;
}

static bool is_bzip2(const uint8_t head[HEAD_BYTES])
{
	return !memcmp(head, "BZh", 3) && head[3] >= '1' && head[3] <= '9';
}

static const struct refused refused[] = {
	{ 0, 4, "\x28\xb5\x2f\xfd", "zstd-compressed", "zstd -d", NULL },
	{ 0, 6, "\xfd" "7zXZ\0", "xz-compressed", "xz -d", NULL },
	/* "BZh" and a digit, then the head of a block, or of the end. */
	{ 4, 6, "1AY&SY", "bzip2-compressed", "bzip2 -d", is_bzip2 },
	{ 4, 6, "\x17\x72\x45\x38\x50\x90", "bzip2-compressed", "bzip2 -d",
	  is_bzip2 },
	{ 0, 4, "\x04\x22\x4d\x18", "lz4-compressed", "lz4 -d", NULL },
	{ 0, 4, "PK\3\4", "a zip archive", "unzip -p", NULL },
	{ 257, 8, "ustar\0" "00", "a tar archive", "tar -xO", is_tar },
	{ 257, 8, "ustar  \0", "a tar archive", "tar -xO", is_tar }, /* GNU */
	{ 0, 2, "\xff\xfe", "UTF-16 text", "iconv -f UTF-16 -t UTF-8", NULL },
	{ 0, 2, "\xfe\xff", "UTF-16 text", "iconv -f UTF-16 -t UTF-8", NULL },
};

static enum pprof_status refuse_known(const struct input *input,
				      const struct layer *layer,
				      struct pprof_error *err)
{
	const struct refused *row;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		row = &refused[i];
		if (layer->nr_head < row->offset + row->nr ||
		    memcmp(layer->head + row->offset, row->magic, row->nr))
			continue;
		if (row->holds && !row->holds(layer->head))
			continue;
		return error_plain(err, PPROF_UNSUPPORTED, input->source,
				   "is %s, which is not read; "
				   "unpack it first: %s", row->name,
				   row->remedy);
	}
	return PPROF_OK;
}

static enum pprof_status fail_errno(struct pprof_error *err,
				    const char *source, const char *what)
{
	return error_plain(err, PPROF_IO, source, "%s: %s", what,
			   strerror(errno));
}

/* cursor_refill_fn over the file descriptor. */
static size_t pull_fd(void *ctx, void *dst, size_t cap,
		      struct pprof_error *err)
{
	struct input *input = ctx;
	ssize_t nr;

	do {
		nr = read(input->fd, dst, cap < SSIZE_MAX ? cap : SSIZE_MAX);
	} while (nr < 0 && errno == EINTR);
	if (nr < 0) {
		fail_errno(err, input->source, "cannot read");
		return SIZE_MAX;
	}
	input->raw_bytes += (size_t)nr;
	if (input->raw_bytes > input->limits.input_bytes) {
		error_plain(err, PPROF_LIMIT, input->source,
			    "is longer than %llu bytes (limit input_bytes)",
			    (unsigned long long)input->limits.input_bytes);
		return SIZE_MAX;
	}
	return (size_t)nr;
}

/* cursor_refill_fn over the memory. */
static size_t pull_mem(void *ctx, void *dst, size_t cap,
		       struct pprof_error *err)
{
	struct input *input = ctx;
	size_t nr = cap < input->nr_mem ? cap : input->nr_mem;

	(void)err;
	if (nr)
		memcpy(dst, input->mem, nr);
	input->mem += nr;
	input->nr_mem -= nr;
	return nr;
}

/* cursor_refill_fn over a layer: what was looked at, then the rest. */
static size_t pull_layer(void *ctx, void *dst, size_t cap,
			 struct pprof_error *err)
{
	struct layer *layer = ctx;
	size_t nr = layer->nr_head - layer->given;

	if (!nr)
		return layer->pull(layer->pull_ctx, dst, cap, err);
	if (nr > cap)
		nr = cap;
	memcpy(dst, layer->head + layer->given, nr);
	layer->given += nr;
	return nr;
}

/* Start layer `depth` on `pull` and fill its head. */
static enum pprof_status start_layer(struct input *input, size_t depth,
				     cursor_refill_fn pull, void *pull_ctx,
				     struct pprof_error *err)
{
	struct layer *layer = &input->layers[depth];
	struct pprof_error fault;
	size_t nr;

	layer->pull = pull;
	layer->pull_ctx = pull_ctx;
	layer->nr_head = 0;
	layer->given = 0;
	while (layer->nr_head < HEAD_BYTES) {
		nr = pull(pull_ctx, layer->head + layer->nr_head,
			  HEAD_BYTES - layer->nr_head, &fault);
		if (nr == SIZE_MAX) {
			if (err)
				*err = fault;
			return fault.status;
		}
		if (!nr)
			break;
		layer->nr_head += nr;
	}
	return PPROF_OK;
}

/* Read nr bytes of a regular file from `offset`, without moving in it. */
static bool read_at(int fd, uint8_t *dst, size_t nr, off_t offset)
{
	ssize_t got;

	while (nr) {
		got = pread(fd, dst, nr, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		dst += got;
		nr -= (size_t)got;
		offset += got;
	}
	return true;
}

/* Inflate the rest of a regular file from `start` at once, if that fits. */
static bool inflate_file(struct input *input, off_t start)
{
	uint8_t trailer[4], *data;
	struct stat st;
	size_t nr, claim;
	bool done;

	if (fstat(input->fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size - start < (off_t)sizeof(trailer) ||
	    (uint64_t)(st.st_size - start) > input->limits.input_bytes ||
	    st.st_size - start > (off_t)GZ_WHOLE_MAX)
		return false;
	nr = (size_t)(st.st_size - start);
	if (!read_at(input->fd, trailer, sizeof(trailer),
		     st.st_size - (off_t)sizeof(trailer)) ||
	    !gz_whole_fits(trailer, nr, &input->limits, &claim))
		return false;
	data = mem_alloc(nr, 1);
	if (!data)
		return false;
	done = read_at(input->fd, data, nr, start) &&
	       gz_inflate_whole(data, nr, &input->limits, &input->pages,
				&input->nr_pages_bytes);
	mem_free(data);
	if (done)
		input->raw_bytes = nr;
	return done;
}

/*
 * The fast way for the outermost gzip: the layer then reads the inflated
 * pages. False leaves everything as it was.
 */
static bool inflate_at_once(struct input *input)
{
	struct layer *layer = &input->layers[0];
	off_t here;

	if (input->pages)
		return false;
	if (input->fd < 0)
		return gz_inflate_whole(input->mem - layer->nr_head,
					input->nr_mem + layer->nr_head,
					&input->limits, &input->pages,
					&input->nr_pages_bytes);
	here = lseek(input->fd, 0, SEEK_CUR);
	return here >= (off_t)layer->nr_head &&
	       inflate_file(input, here - (off_t)layer->nr_head);
}

static enum pprof_status check_depth(const struct input *input,
				     struct pprof_error *err)
{
	if (input->nr_gz + (input->pages != NULL) < MAX_LAYERS)
		return PPROF_OK;
	return error_plain(err, PPROF_LIMIT, input->source,
			   "is compressed more than %d times over",
			   MAX_LAYERS);
}

static enum pprof_status push_unzstd(struct input *input,
				     struct pprof_error *err)
{
	enum pprof_status status = check_depth(input, err);
	size_t i = input->nr_gz;

	if (status)
		return status;
	status = unzstd_new(input->source, pull_layer, &input->layers[i],
			    &input->raw_bytes, &input->limits, input->diags,
			    &input->unzstd[i], err);
	if (status)
		return status;
	input->nr_gz++;
	return start_layer(input, input->nr_gz, unzstd_read,
			   input->unzstd[i], err);
}

static enum pprof_status push_gz(struct input *input, enum gz_kind kind,
				 struct pprof_error *err)
{
	struct gz_source source = {
		.kind = kind,
		.name = input->source,
		.pull = pull_layer,
		.pull_ctx = &input->layers[input->nr_gz],
		.raw_bytes = &input->raw_bytes,
		.limits = &input->limits,
		.diags = input->diags,
	};
	enum pprof_status status;

	status = check_depth(input, err);
	if (status)
		return status;
	status = gz_new(&source, &input->gz[input->nr_gz], err);
	if (status)
		return status;
	input->nr_gz++;
	return start_layer(input, input->nr_gz, gz_read,
			   input->gz[input->nr_gz - 1], err);
}

/* Take off every container; the innermost layer is layers[nr_gz]. */
static enum pprof_status take_off_containers(struct input *input,
					     struct pprof_error *err)
{
	enum pprof_status status;
	struct layer *layer;
	enum gz_kind kind;

	status = start_layer(input, 0, input->fd < 0 ? pull_mem : pull_fd,
			     input, err);
	while (!status) {
		layer = &input->layers[input->nr_gz];
		if (unzstd_detect(layer->head, layer->nr_head)) {
			status = push_unzstd(input, err);
			continue;
		}
		status = refuse_known(input, layer, err);
		if (status)
			break;
		kind = gz_detect(layer->head, layer->nr_head);
		if (kind == GZ_NONE)
			break;
		if (kind == GZ_GZIP && !input->nr_gz &&
		    inflate_at_once(input)) {
			input->mem = input->pages;
			input->nr_mem = input->nr_pages_bytes;
			status = start_layer(input, 0, pull_mem, input, err);
			continue;
		}
		status = push_gz(input, kind, err);
	}
	return status;
}

/* The inflated pages that were read are not needed any more. */
static void drop_pages(void *ctx, const uint8_t *upto)
{
	struct input *input = ctx;
	uint8_t *start = input->pages;
	size_t nr = (size_t)(upto - start) & ~(DROP_BYTES - 1);

	if (nr > input->nr_dropped) {
		madvise(start + input->nr_dropped, nr - input->nr_dropped,
			MADV_DONTNEED);
		input->nr_dropped = nr;
	}
}

static void start_cursor(struct input *input)
{
	static const uint8_t bom[] = { 0xef, 0xbb, 0xbf };
	struct layer *layer = &input->layers[input->nr_gz];
	size_t skip = 0;

	if (layer->nr_head >= sizeof(bom) &&
	    !memcmp(layer->head, bom, sizeof(bom)))
		skip = sizeof(bom);
	if (layer->pull == pull_mem) {
		input->mem -= layer->nr_head;
		input->nr_mem += layer->nr_head;
		cursor_init_memory(&input->cursor, input->source,
				   input->mem + skip, input->nr_mem - skip);
		if (input->pages)
			cursor_set_release(&input->cursor, drop_pages, input);
	} else {
		layer->given = skip;
		cursor_init_stream(&input->cursor, input->source, pull_layer,
				   layer, input->limits.line_bytes);
	}
	input->cursor.base = skip; /* positions count the byte order mark */
	input->has_cursor = true;
}

/* NULL when out of memory. */
static struct input *new_input(const char *source,
			       const struct pprof_limits *limits,
			       struct diags *diags)
{
	struct input *input = mem_zalloc(1, sizeof(*input));

	if (!input)
		return NULL;
	input->fd = -1;
	input->limits = *limits;
	input->diags = diags;
	input->source = mem_strndup(source, strlen(source));
	if (input->source)
		return input;
	input_close(input);
	return NULL;
}

/* Containers and cursor; closes the input when it fails. */
static enum pprof_status finish_open(struct input *input,
				     struct input **ret_input,
				     struct pprof_error *err)
{
	enum pprof_status status = take_off_containers(input, err);

	if (status) {
		input_close(input);
		return status;
	}
	start_cursor(input);
	*ret_input = input;
	return PPROF_OK;
}

/* Open the path and refuse what holds no profile by its kind. */
static enum pprof_status open_fd(struct input *input, const char *path,
				 struct pprof_error *err)
{
	struct stat st;

	if (!strcmp(path, "-")) {
		input->fd = STDIN_FILENO;
	} else {
		input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		input->owns_fd = true;
	}
	if (input->fd < 0)
		return fail_errno(err, path, "cannot open");
	if (fstat(input->fd, &st))
		return fail_errno(err, path, "cannot open");
	if (S_ISDIR(st.st_mode))
		return error_plain(err, PPROF_IO, path,
				   "is a directory, expected a file");
	if (isatty(input->fd))
		return error_plain(err, PPROF_IO, path,
				   "is a terminal, expected a file or a pipe");
	if (S_ISREG(st.st_mode))
		input->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
				  st.st_mtim.tv_nsec;
	return PPROF_OK;
}

enum pprof_status input_open(const char *path,
			     const struct pprof_limits *limits,
			     struct diags *diags, struct input **ret_input,
			     struct pprof_error *err)
{
	enum pprof_status status;
	struct input *input = new_input(path, limits, diags);

	if (!input)
		return error_nomem(err);
	status = open_fd(input, path, err);
	if (status) {
		input_close(input);
		return status;
	}
	return finish_open(input, ret_input, err);
}

enum pprof_status input_open_memory(const char *source, const void *data,
				    size_t nr_bytes,
				    const struct pprof_limits *limits,
				    struct diags *diags,
				    struct input **ret_input,
				    struct pprof_error *err)
{
	static const uint8_t nothing[1];
	struct input *input;

	if (nr_bytes > limits->input_bytes)
		return error_plain(err, PPROF_LIMIT, source,
				   "is longer than %llu bytes "
				   "(limit input_bytes)",
				   (unsigned long long)limits->input_bytes);
	input = new_input(source, limits, diags);
	if (!input)
		return error_nomem(err);
	input->mem = nr_bytes ? data : nothing;
	input->nr_mem = nr_bytes;
	input->raw_bytes = nr_bytes;
	return finish_open(input, ret_input, err);
}

void input_close(struct input *input)
{
	size_t i;

	if (!input)
		return;
	if (input->has_cursor)
		cursor_fini(&input->cursor);
	for (i = 0; i < input->nr_gz; i++) {
		gz_free(input->gz[i]);
		unzstd_free(input->unzstd[i]);
	}
	gz_free_whole(input->pages, input->nr_pages_bytes);
	if (input->owns_fd && input->fd >= 0)
		close(input->fd);
	mem_free(input->source);
	mem_free(input);
}

struct cursor *input_cursor(struct input *input)
{
	return &input->cursor;
}

int64_t input_mtime_ns(const struct input *input)
{
	return input->mtime_ns;
}

bool input_was_truncated(const struct input *input)
{
	size_t i;

	for (i = 0; i < input->nr_gz; i++) {
		if (input->gz[i] ? gz_was_truncated(input->gz[i]) :
		    unzstd_was_truncated(input->unzstd[i]))
			return true;
	}
	return false;
}
