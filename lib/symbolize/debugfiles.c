/* SPDX-License-Identifier: Apache-2.0
 *
 * Debug files of a chosen binary: found as gdb finds them ("Separate Debug
 * Files" in its manual), accepted by build ID, else by the CRC-32 of
 * .gnu_debuglink. A file that differs is never taken.
 */
#include <config.h>

#include "symbolize/debugfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

/* Bytes read at a time for a CRC. */
#define CRC_CHUNK ((size_t)256 << 10)

/* Reversed polynomial of CRC-32 (ISO-HDLC), as .gnu_debuglink has it. */
#define CRC_POLYNOMIAL 0xedb88320u

/* Everything about one load. */
struct load {
	struct finder *finder;
	struct binary *binary;
	struct elf_file *debug; /* NULL: the binary has its own, or none */
	struct elf_file *alt;
	struct buf path;        /* candidate under construction; filled
				 * without allocating */
	struct pprof_error *err;
};

void debug_path_by_id(struct buf *out, const char *dir, const char *build_id,
		      const char *suffix)
{
	buf_str(out, dir);
	buf_str(out, "/.build-id/");
	buf_add(out, build_id, 2);
	buf_byte(out, '/');
	buf_str(out, build_id + 2);
	buf_str(out, suffix);
}

/* Append the i-th directory laid out like /usr/lib/debug. */
static bool debug_dir_at(const struct finder *finder, size_t i,
			 struct buf *out)
{
	if (i < finder->debug_dirs.nr) {
		buf_str(out, finder->debug_dirs.names[i]);
		return true;
	}
	i -= finder->debug_dirs.nr;
	if (i < finder->sysroots.nr)
		buf_str(out, finder->sysroots.names[i]);
	else if (i > finder->sysroots.nr)
		return false;
	buf_str(out, SYSTEM_DEBUG_DIR);
	return true;
}

bool debug_path_candidate(const struct finder *finder, size_t i,
			  const char *build_id, const char *base,
			  size_t base_len, struct buf *out)
{
	const size_t nr_dirs = finder->debug_dirs.nr + finder->sysroots.nr + 1;
	const struct name_list *search = &finder->search_dirs;

	if (strlen(build_id) < 3)
		return false;
	if (i < nr_dirs) {
		debug_dir_at(finder, i, out);
		debug_path_by_id(out, "", build_id, ".debug");
		return true;
	}
	i -= nr_dirs;
	if (i >= 2 * search->nr)
		return false;
	if (i % 2) {
		debug_path_by_id(out, search->names[i / 2], build_id,
				 ".debug");
		return true;
	}
	buf_str(out, search->names[i / 2]);
	buf_byte(out, '/');
	buf_str(out, build_id);
	buf_byte(out, '/');
	buf_add(out, base, base_len);
	buf_str(out, ".debug");
	return true;
}

/* Keep the first reason why a debug file was not taken. */
__attribute__((format(printf, 2, 3)))
static void note(struct binary *binary, const char *format, ...)
{
	char text[sizeof(binary->note)];
	va_list ap;

	if (binary->note[0])
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	format_masked(binary->note, sizeof(binary->note), "%s", text);
}

/* ------------------------------------------------------------------- CRC */

static void make_crc_table(uint32_t table[8][256])
{
	uint32_t crc, i, bit;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
		table[0][i] = crc;
	}
	for (i = 0; i < 256; i++)
		for (bit = 1; bit < 8; bit++)
			table[bit][i] = table[bit - 1][i] >> 8 ^
					table[0][table[bit - 1][i] & 0xff];
}

/* Eight bytes a step ("slicing by 8"): debug files have gigabytes. */
static uint32_t update_crc(uint32_t table[8][256], uint32_t crc,
			   const uint8_t *p, size_t nr)
{
	for (; nr >= 8; nr -= 8, p += 8) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
		      table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
		      table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^
		      table[0][p[7]];
	}
	for (; nr; nr--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

/* CRC-32 of a regular file; false when it cannot be read. */
static bool crc_of_file(const char *path, uint32_t *ret_crc)
{
	uint32_t table[8][256], crc = UINT32_MAX;
	uint8_t *chunk = mem_alloc(CRC_CHUNK, 1);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	ssize_t nr = -1;

	make_crc_table(table);
	while (chunk && fd >= 0) {
		nr = read(fd, chunk, CRC_CHUNK);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			break;
		crc = update_crc(table, crc, chunk, (size_t)nr);
	}
	if (fd >= 0)
		close(fd);
	mem_free(chunk);
	*ret_crc = ~crc;
	return !nr;
}

/* ------------------------------------------------------------- candidates */

static bool is_same_file(const struct binary *binary, const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == binary->dev &&
	       st.st_ino == binary->ino;
}

/* Open l->path if it is an ELF file other than the binary; else NULL. */
static enum pprof_status open_candidate(struct load *l,
					struct elf_file **ret_file)
{
	enum pprof_status status;
	struct stat st;

	*ret_file = NULL;
	if (!buf_ok(&l->path) ||
	    memchr(l->path.data, '\0', l->path.len) ||
	    stat(buf_cstr(&l->path), &st) || !S_ISREG(st.st_mode) ||
	    is_same_file(l->binary, buf_cstr(&l->path)))
		return PPROF_OK;
	status = elf_file_open(buf_cstr(&l->path), ret_file, NULL);
	if (status == PPROF_NOMEM)
		return error_nomem(l->err);
	if (status)
		note(l->binary, "%s is no ELF file", buf_cstr(&l->path));
	return PPROF_OK;
}

/* True when the file adds names to what the binary has. */
static bool is_useful(const struct load *l, const struct elf_file *file)
{
	return elf_file_has_dwarf(file) ||
	       (elf_file_has_symtab(file) &&
		!elf_file_has_symtab(l->binary->elf));
}

/* Same build ID, or without one on either side the CRC (NULL: none). */
static bool belongs(struct load *l, const struct elf_file *file,
		    const uint32_t *crc)
{
	const char *id = elf_file_build_id(file);
	const char *path = elf_file_path(file);
	uint32_t real;

	if (l->binary->build_id[0] && id[0]) {
		if (!strcmp(l->binary->build_id, id))
			return true;
		note(l->binary, "debug file %s refused: its build ID is %s",
		     path, id);
		return false;
	}
	if (!crc)
		return false;
	if (crc_of_file(path, &real) && real == *crc)
		return true;
	note(l->binary, "debug file %s refused: its CRC-32 is not the one in "
	     ".gnu_debuglink", path);
	return false;
}

/* Take the file at l->path as debug file if it belongs and helps. */
static enum pprof_status try_debug(struct load *l, const uint32_t *crc)
{
	enum pprof_status status;
	struct elf_file *file;

	status = open_candidate(l, &file);
	if (status || !file)
		return status;
	if (belongs(l, file, crc) && is_useful(l, file))
		l->debug = file;
	else
		elf_file_close(file);
	return PPROF_OK;
}

static enum pprof_status find_by_id(struct load *l)
{
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t i, len;

	len = path_base(l->binary->path, false, &base);
	for (i = 0; !status && !l->debug; i++) {
		buf_reset(&l->path);
		if (!debug_path_candidate(l->finder, i, l->binary->build_id,
					  base, len, &l->path))
			break;
		status = try_debug(l, NULL);
	}
	return status;
}

/* DIR/NAME and DIR/.debug/NAME, DIR being dir[len]. */
static enum pprof_status try_link_beside(struct load *l, const char *dir,
					 size_t len, const char *name,
					 uint32_t crc)
{
	static const char *const below[] = { "", ".debug/" };
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && !l->debug && i < 2; i++) {
		buf_reset(&l->path);
		buf_add(&l->path, dir, len);
		buf_str(&l->path, below[i]);
		buf_str(&l->path, name);
		status = try_debug(l, &crc);
	}
	return status;
}

/* DEBUGDIR/DIR/NAME for every debug directory; dir[len] is absolute. */
static enum pprof_status try_link_below(struct load *l, const char *dir,
					size_t len, const char *name,
					uint32_t crc)
{
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && !l->debug; i++) {
		buf_reset(&l->path);
		if (!debug_dir_at(l->finder, i, &l->path))
			break;
		buf_add(&l->path, dir, len);
		buf_str(&l->path, name);
		status = try_debug(l, &crc);
	}
	return status;
}

/* Bytes of `path` that are one of the sysroots, slash not counted. */
static size_t sysroot_len(const struct finder *finder, const char *path)
{
	size_t i, len;

	for (i = 0; i < finder->sysroots.nr; i++) {
		const char *root = finder->sysroots.names[i];

		len = strlen(root);
		while (len && root[len - 1] == '/')
			len--;
		if (!strncmp(path, root, len) && path[len] == '/')
			return len;
	}
	return 0;
}

/* By .gnu_debuglink, from the directory of `path`. */
static enum pprof_status find_by_link(struct load *l, const char *path,
				      const char *name, uint32_t crc)
{
	const size_t root = sysroot_len(l->finder, path);
	enum pprof_status status;
	const char *base;
	size_t dir_len;

	path_base(path, false, &base);
	dir_len = (size_t)(base - path);
	status = try_link_beside(l, path, dir_len, name, crc);
	if (!status && !l->debug && root)
		status = try_link_below(l, path + root, dir_len - root, name,
					crc);
	if (!status && !l->debug && path[0] == '/')
		status = try_link_below(l, path, dir_len, name, crc);
	return status;
}

static enum pprof_status find_local_debug(struct load *l)
{
	struct binary *binary = l->binary;
	enum pprof_status status = PPROF_OK;
	char real[PATH_MAX];
	const char *name;
	uint32_t crc = 0;

	if (elf_file_has_dwarf(binary->elf) || binary->is_debug_only)
		return PPROF_OK;
	if (binary->build_id[0])
		status = find_by_id(l);
	name = elf_file_debuglink(binary->elf, &crc);
	if (status || l->debug || !name || !*name || strchr(name, '/'))
		return status;
	status = find_by_link(l, binary->path, name, crc);
	if (!status && !l->debug && realpath(binary->path, real) &&
	    strcmp(real, binary->path))
		status = find_by_link(l, real, name, crc);
	return status;
}

/* On this machine, or else from a debuginfod server if that is wanted. */
static enum pprof_status find_debug(struct load *l)
{
	const struct binary *binary = l->binary;
	struct finder *finder = l->finder;
	enum pprof_status status = find_local_debug(l);

	if (status || l->debug || elf_file_has_dwarf(binary->elf) ||
	    binary->is_debug_only ||
	    !debuginfod_find(&finder->debuginfod, binary->build_id,
			     DEBUGINFOD_DEBUG, finder->diags, &l->path))
		return status;
	return try_debug(l, NULL);
}

/* ---------------------------------------------------- supplementary file */

/* Take the file at l->path if it has the build ID that dwz recorded. */
static enum pprof_status try_alt(struct load *l, const char *build_id)
{
	enum pprof_status status;
	struct elf_file *file;

	status = open_candidate(l, &file);
	if (status || !file)
		return status;
	if (!strcmp(elf_file_build_id(file), build_id)) {
		l->alt = file;
		return PPROF_OK;
	}
	note(l->binary, "supplementary file %s refused: its build ID is not "
	     "%s", elf_file_path(file), build_id);
	elf_file_close(file);
	return PPROF_OK;
}

/* `link` as the file at `from` means it: relative to its directory. */
static enum pprof_status try_alt_link(struct load *l, const char *from,
				      const char *link, const char *build_id)
{
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t i;

	for (i = 0; link[0] == '/' && !status && !l->alt &&
		    i < l->finder->sysroots.nr; i++) {
		buf_reset(&l->path);
		buf_str(&l->path, l->finder->sysroots.names[i]);
		buf_str(&l->path, link);
		status = try_alt(l, build_id);
	}
	if (status || l->alt)
		return status;
	buf_reset(&l->path);
	if (link[0] != '/') {
		path_base(from, false, &base);
		buf_add(&l->path, from, (size_t)(base - from));
	}
	buf_str(&l->path, link);
	return try_alt(l, build_id);
}

/* By build ID, and by name in the .dwz directory of the debug directories. */
static enum pprof_status try_alt_dirs(struct load *l, const char *link,
				      const char *build_id)
{
	enum pprof_status status = PPROF_OK;
	const char *base;
	size_t i, len;

	len = path_base(link, false, &base);
	for (i = 0; !status && !l->alt; i++) {
		buf_reset(&l->path);
		if (!debug_path_candidate(l->finder, i, build_id, base, len,
					  &l->path))
			break;
		status = try_alt(l, build_id);
	}
	for (i = 0; !status && !l->alt; i++) {
		buf_reset(&l->path);
		if (!debug_dir_at(l->finder, i, &l->path))
			break;
		buf_str(&l->path, "/.dwz/");
		buf_add(&l->path, base, len);
		status = try_alt(l, build_id);
	}
	return status;
}

static enum pprof_status find_alt(struct load *l)
{
	const struct elf_file *file = l->debug ? l->debug : l->binary->elf;
	const char *build_id = NULL, *link, *path = elf_file_path(file);
	enum pprof_status status;
	char real[PATH_MAX];

	link = elf_file_debugaltlink(file, &build_id);
	if (!link || !*link || !build_id)
		return PPROF_OK;
	status = try_alt_link(l, path, link, build_id);
	if (!status && !l->alt && realpath(path, real) && strcmp(real, path))
		status = try_alt_link(l, real, link, build_id);
	if (!status && !l->alt)
		status = try_alt_dirs(l, link, build_id);
	if (!status && !l->alt)
		note(l->binary, "supplementary file %s of dwz not found",
		     link);
	return status;
}

/* ---------------------------------------------------------------- module */

/* The file that brings the DWARF, or "". */
static bool keep_debug_path(struct load *l)
{
	const struct elf_file *file = l->debug ? l->debug : l->binary->elf;
	const char *path = elf_file_path(file);

	if (!l->debug && !elf_file_has_dwarf(file))
		return true;
	l->binary->debug_path = arena_strndup(&l->finder->arena, path,
					      strlen(path));
	return l->binary->debug_path;
}

static enum pprof_status make_module(struct load *l,
				     const struct module_opts *opts)
{
	struct binary *binary = l->binary;
	struct elf_file *main_file = binary->elf;

	if (binary->is_debug_only) {
		l->debug = main_file;
		main_file = NULL;
	}
	/* The module owns the files from here on. */
	binary->elf = NULL;
	binary->status = module_new(main_file, l->debug, l->alt, opts,
				    &binary->module, &binary->err);
	l->debug = NULL;
	l->alt = NULL;
	if (binary->status && l->err)
		*l->err = binary->err;
	return binary->status;
}

enum pprof_status finder_load(struct finder *finder, struct binary *binary,
			      const struct module_opts *opts,
			      struct pprof_error *err)
{
	struct load l = { .finder = finder, .binary = binary, .err = err };
	enum pprof_status status;

	if (binary->module)
		return PPROF_OK;
	if (binary->status) {
		if (err)
			*err = binary->err;
		return binary->status;
	}
	buf_init(&l.path, FINDER_PATH_MAX);
	status = buf_reserve(&l.path, FINDER_PATH_MAX) ? find_debug(&l)
						       : error_nomem(err);
	if (!status)
		status = find_alt(&l);
	if (!status && !keep_debug_path(&l))
		status = error_nomem(err);
	if (!status)
		status = make_module(&l, opts);
	elf_file_close(l.debug);
	elf_file_close(l.alt);
	buf_fini(&l.path);
	return status;
}
