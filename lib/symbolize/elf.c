/* SPDX-License-Identifier: Apache-2.0
 *
 * ELF files through libelf: headers are read once at opening, sections are
 * handed out as views of the mapped file, or inflated when first asked for.
 * Offsets and sizes are checked here, against the file's real size.
 */
#include <config.h>

#include "symbolize/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbolize/inflate.h"

/* Most program headers that are looked at; real files have a dozen. */
#define MAX_SEGMENTS 65536

/* .zdebug_*: "ZLIB" and the big-endian size before the data. */
#define ZDEBUG_HEAD 12

struct elf_file {
	char *path;
	int fd;              /* -1 for memory */
	Elf *elf;
	uint8_t *image;      /* owned copy; NULL for a mapped file */
	struct elf_bytes raw; /* the whole file */
	struct elf_segment *segments;
	size_t nr_segments, cap_segments;
	struct elf_section *sections;
	size_t nr_sections;
	unsigned type, machine;
	bool is_64, is_swapped;
	char build_id[2 * BUILD_ID_MAX + 1];
	char alt_id[2 * BUILD_ID_MAX + 1];
};

/* nr bytes at offset, or size 0 when they are not all in the file. */
static struct elf_bytes slice(const struct elf_file *file, uint64_t offset,
			      uint64_t nr)
{
	struct elf_bytes bytes = { NULL, 0 };

	if (offset > file->raw.size || nr > file->raw.size - offset)
		return bytes;
	bytes.data = file->raw.data + offset;
	bytes.size = nr;
	return bytes;
}

static uint32_t get_u32(const struct elf_file *file, const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return file->is_swapped ? __builtin_bswap32(value) : value;
}

static uint64_t get_u64(const struct elf_file *file, const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return file->is_swapped ? __builtin_bswap64(value) : value;
}

static uint64_t get_be64(const uint8_t *p)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < sizeof(value); i++)
		value = value << 8 | p[i];
	return value;
}

static void format_hex(char *out, const uint8_t *data, size_t nr)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	if (nr > BUILD_ID_MAX)
		nr = BUILD_ID_MAX;
	for (i = 0; i < nr; i++) {
		out[2 * i] = digits[data[i] >> 4];
		out[2 * i + 1] = digits[data[i] & 15];
	}
	out[2 * nr] = '\0';
}

/* Look for NT_GNU_BUILD_ID among the notes; gABI, "Note Section". */
static bool find_build_id(struct elf_file *file, struct elf_bytes notes,
			  uint64_t align)
{
	const uint64_t mask = align == 8 ? 7 : 3;
	uint64_t pos = 0;

	while (notes.size - pos >= 12) {
		const uint8_t *p = notes.data + pos;
		uint64_t namesz = get_u32(file, p);
		uint64_t descsz = get_u32(file, p + 4);
		uint64_t desc = (pos + 12 + namesz + mask) & ~mask;
		uint64_t next = (desc + descsz + mask) & ~mask;

		if (desc + descsz > notes.size)
			return false;
		if (get_u32(file, p + 8) == NT_GNU_BUILD_ID && namesz == 4 &&
		    descsz && !memcmp(p + 12, "GNU", 4)) {
			format_hex(file->build_id, notes.data + desc, descsz);
			return true;
		}
		if (next > notes.size)
			return false;
		pos = next;
	}
	return false;
}

static enum pprof_status read_segments(struct elf_file *file,
				       struct pprof_error *err)
{
	size_t nr = 0, i;

	if (elf_getphdrnum(file->elf, &nr))
		return PPROF_OK; /* none that can be trusted */
	for (i = 0; i < nr && i < MAX_SEGMENTS; i++) {
		struct elf_segment *segment;
		GElf_Phdr phdr;

		if (!gelf_getphdr(file->elf, (int)i, &phdr))
			break;
		if (phdr.p_type == PT_NOTE && !file->build_id[0])
			find_build_id(file, slice(file, phdr.p_offset,
						  phdr.p_filesz),
				      phdr.p_align);
		if (phdr.p_type != PT_LOAD)
			continue;
		if (!mem_grow(file->segments, file->cap_segments,
			      file->nr_segments + 1, MAX_SEGMENTS))
			return error_nomem(err);
		segment = &file->segments[file->nr_segments++];
		segment->vaddr = phdr.p_vaddr;
		segment->offset = phdr.p_offset;
		segment->filesz = phdr.p_filesz;
		segment->memsz = phdr.p_memsz;
		segment->align = phdr.p_align;
		segment->flags = phdr.p_flags;
	}
	return PPROF_OK;
}

/* NUL-terminated name at `offset` of the section name table, or "". */
static const char *section_name(struct elf_bytes names, uint64_t offset)
{
	if (offset >= names.size ||
	    !memchr(names.data + offset, '\0', names.size - offset))
		return "";
	return (const char *)names.data + offset;
}

static void take_section(struct elf_section *section, const GElf_Shdr *shdr)
{
	section->vaddr = shdr->sh_addr;
	section->offset = shdr->sh_offset;
	section->size = shdr->sh_size;
	section->flags = shdr->sh_flags;
	section->entsize = shdr->sh_entsize;
	section->type = shdr->sh_type;
	section->link = shdr->sh_link;
}

static enum pprof_status read_sections(struct elf_file *file,
				       struct pprof_error *err)
{
	struct elf_bytes names = { NULL, 0 };
	size_t nr = 0, names_index = 0, i;
	GElf_Shdr shdr;

	if (elf_getshdrnum(file->elf, &nr) || !nr ||
	    elf_getshdrstrndx(file->elf, &names_index))
		return PPROF_OK;
	file->sections = mem_zalloc(nr, sizeof(*file->sections));
	if (!file->sections)
		return error_nomem(err);
	if (names_index < nr &&
	    gelf_getshdr(elf_getscn(file->elf, names_index), &shdr) &&
	    shdr.sh_type != SHT_NOBITS)
		names = slice(file, shdr.sh_offset, shdr.sh_size);
	for (i = 0; i < nr; i++) {
		if (!gelf_getshdr(elf_getscn(file->elf, i), &shdr))
			break;
		take_section(&file->sections[i], &shdr);
		file->sections[i].name = section_name(names, shdr.sh_name);
		if (shdr.sh_type == SHT_NOTE && !file->build_id[0])
			find_build_id(file, slice(file, shdr.sh_offset,
						  shdr.sh_size),
				      shdr.sh_addralign);
	}
	file->nr_sections = i;
	return PPROF_OK;
}

static enum pprof_status read_headers(struct elf_file *file,
				      struct pprof_error *err)
{
	enum pprof_status status;
	GElf_Ehdr ehdr;
	size_t size = 0;
	char *raw;

	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF ||
	    !gelf_getehdr(file->elf, &ehdr))
		return error_plain(err, PPROF_FORMAT, file->path,
				   "not an ELF file");
	raw = elf_rawfile(file->elf, &size);
	if (!raw)
		return error_plain(err, PPROF_IO, file->path, "%s",
				   elf_errmsg(-1));
	file->raw.data = (const uint8_t *)raw;
	file->raw.size = size;
	file->type = ehdr.e_type;
	file->machine = ehdr.e_machine;
	file->is_64 = ehdr.e_ident[EI_CLASS] == ELFCLASS64;
	file->is_swapped = ehdr.e_ident[EI_DATA] ==
		(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2MSB
							   : ELFDATA2LSB);
	/* Sections first: a debug file's segments have invented offsets. */
	status = read_sections(file, err);
	return status ? status : read_segments(file, err);
}

static enum pprof_status new_file(const char *path, struct elf_file **ret_file,
				  struct pprof_error *err)
{
	struct elf_file *file = mem_zalloc(1, sizeof(*file));

	if (!file)
		return error_nomem(err);
	file->fd = -1;
	file->path = mem_strndup(path, strlen(path));
	if (!file->path) {
		mem_free(file);
		return error_nomem(err);
	}
	*ret_file = file;
	return PPROF_OK;
}

static enum pprof_status open_regular(struct elf_file *file,
				      struct pprof_error *err)
{
	struct stat st;

	/* O_NONBLOCK: opening a fifo must not wait for a writer. */
	file->fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC |
			O_NOCTTY);
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return error_plain(err, PPROF_IO, file->path, "%s",
				   strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_plain(err, PPROF_FORMAT, file->path,
				   "not a regular file");
	return PPROF_OK;
}

enum pprof_status elf_file_open(const char *path, struct elf_file **ret_file,
				struct pprof_error *err)
{
	struct elf_file *file = NULL;
	enum pprof_status status;

	status = new_file(path, &file, err);
	if (status)
		return status;
	status = open_regular(file, err);
	if (status)
		goto out;
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	status = read_headers(file, err);
out:
	if (status)
		elf_file_close(file);
	else
		*ret_file = file;
	return status;
}

enum pprof_status elf_file_open_memory(const char *name, uint8_t *image,
				       size_t nr_bytes,
				       struct elf_file **ret_file,
				       struct pprof_error *err)
{
	struct elf_file *file = NULL;
	enum pprof_status status;

	status = new_file(name, &file, err);
	if (status)
		return status;
	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)image, nr_bytes);
	status = read_headers(file, err);
	if (status) {
		elf_file_close(file);
		return status;
	}
	file->image = image;
	*ret_file = file;
	return PPROF_OK;
}

void elf_file_close(struct elf_file *file)
{
	size_t i;

	if (!file)
		return;
	for (i = 0; i < file->nr_sections; i++)
		mem_free(file->sections[i].inflated);
	mem_free(file->sections);
	mem_free(file->segments);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	mem_free(file->image);
	mem_free(file->path);
	mem_free(file);
}

const char *elf_file_path(const struct elf_file *file)
{
	return file->path;
}

unsigned elf_file_type(const struct elf_file *file)
{
	return file->type;
}

unsigned elf_file_machine(const struct elf_file *file)
{
	return file->machine;
}

bool elf_file_is_64(const struct elf_file *file)
{
	return file->is_64;
}

bool elf_file_is_swapped(const struct elf_file *file)
{
	return file->is_swapped;
}

const struct elf_segment *elf_file_segments(const struct elf_file *file,
					    size_t *ret_nr)
{
	*ret_nr = file->nr_segments;
	return file->segments;
}

const struct elf_section *elf_file_sections(const struct elf_file *file,
					    size_t *ret_nr)
{
	*ret_nr = file->nr_sections;
	return file->sections;
}

const char *elf_file_build_id(const struct elf_file *file)
{
	return file->build_id;
}

/* True when the names are equal but for a 'z' after the dot of `actual`. */
static bool name_matches(const char *actual, const char *name)
{
	if (!strcmp(actual, name))
		return true;
	return actual[0] == '.' && actual[1] == 'z' && name[0] == '.' &&
	       !strncmp(name, ".debug_", 7) && !strcmp(actual + 2, name + 1);
}

static struct elf_section *find_section(const struct elf_file *file,
					const char *name)
{
	size_t i;

	for (i = 0; i < file->nr_sections; i++) {
		struct elf_section *section = &file->sections[i];

		if (section->type != SHT_NOBITS &&
		    section->type != SHT_NULL && section->size &&
		    name_matches(section->name, name))
			return section;
	}
	return NULL;
}

bool elf_file_has_dwarf(const struct elf_file *file)
{
	return find_section(file, ".debug_info");
}

bool elf_file_has_symtab(const struct elf_file *file)
{
	const uint64_t entry = file->is_64 ? sizeof(Elf64_Sym)
					   : sizeof(Elf32_Sym);
	size_t i;

	for (i = 0; i < file->nr_sections; i++) {
		/* The first entry is always the null symbol. */
		if (file->sections[i].type == SHT_SYMTAB &&
		    file->sections[i].size >= 2 * entry)
			return true;
	}
	return false;
}

bool elf_file_is_debug_only(const struct elf_file *file)
{
	bool is_absent = false;
	size_t i;

	for (i = 0; i < file->nr_sections; i++) {
		if (!(file->sections[i].flags & SHF_ALLOC) ||
		    !(file->sections[i].flags & SHF_EXECINSTR))
			continue;
		if (file->sections[i].type != SHT_NOBITS)
			return false;
		is_absent = true;
	}
	return is_absent;
}

/* Leading NUL-terminated text of a section; NULL unless terminated. */
static const char *leading_text(struct elf_bytes bytes, size_t *ret_len)
{
	const uint8_t *nul;

	if (!bytes.size)
		return NULL;
	nul = memchr(bytes.data, '\0', bytes.size);
	if (!nul || nul == bytes.data)
		return NULL;
	*ret_len = (size_t)(nul - bytes.data);
	return (const char *)bytes.data;
}

const char *elf_file_debuglink(const struct elf_file *file, uint32_t *ret_crc)
{
	const struct elf_section *section;
	struct elf_bytes bytes;
	const char *name;
	size_t len, at;

	section = find_section(file, ".gnu_debuglink");
	if (!section)
		return NULL;
	bytes = slice(file, section->offset, section->size);
	name = leading_text(bytes, &len);
	if (!name)
		return NULL;
	/* The CRC stands at the next multiple of four; GDB manual. */
	at = (len + 1 + 3) & ~(size_t)3;
	if (at > bytes.size || bytes.size - at < sizeof(*ret_crc))
		return NULL;
	*ret_crc = get_u32(file, bytes.data + at);
	return name;
}

/* .debug_sup, DWARF 5, 7.3.6: version, flag, file name, ULEB length, sum. */
static const char *read_debug_sup(struct elf_file *file)
{
	const size_t head = 3;
	const struct elf_section *section = find_section(file, ".debug_sup");
	struct elf_bytes bytes;
	const char *name;
	size_t len = 0, at, nr;

	if (!section)
		return NULL;
	bytes = slice(file, section->offset, section->size);
	/* The flag is set in the supplementary file itself. */
	if (bytes.size <= head || bytes.data[2])
		return NULL;
	bytes.data += head;
	bytes.size -= head;
	name = leading_text(bytes, &len);
	at = len + 1;
	if (!name || at >= bytes.size)
		return name;
	nr = bytes.data[at++];
	/* A length of more than one byte is no build ID. */
	if (nr < 0x80 && nr <= bytes.size - at)
		format_hex(file->alt_id, bytes.data + at, nr);
	return name;
}

const char *elf_file_debugaltlink(const struct elf_file *file,
				  const char **ret_build_id)
{
	/* The one lazily made string; a handle belongs to one thread. */
	struct elf_file *self = (struct elf_file *)(uintptr_t)file;
	const struct elf_section *section;
	struct elf_bytes bytes;
	const char *name;
	size_t len = 0;

	*ret_build_id = file->alt_id;
	section = find_section(file, ".gnu_debugaltlink");
	if (!section)
		return read_debug_sup(self);
	bytes = slice(file, section->offset, section->size);
	name = leading_text(bytes, &len);
	if (name)
		format_hex(self->alt_id, bytes.data + len + 1,
			   bytes.size - len - 1);
	return name;
}

/* SHF_COMPRESSED: an Elf32_Chdr or Elf64_Chdr stands before the data. */
static enum pprof_status inflate_chdr(const struct elf_file *file,
				      struct elf_section *section,
				      struct elf_bytes in,
				      struct pprof_error *err)
{
	const size_t head = file->is_64 ? sizeof(Elf64_Chdr)
					: sizeof(Elf32_Chdr);
	uint32_t kind;
	uint64_t size;

	if (in.size < head)
		return error_plain(err, PPROF_FORMAT, file->path,
				   "%s: no compression header", section->name);
	kind = get_u32(file, in.data);
	size = file->is_64 ? get_u64(file, in.data + 8)
			   : get_u32(file, in.data + 4);
	in.data += head;
	in.size -= head;
	section->inflated_size = size;
	if (kind == 1) /* ELFCOMPRESS_ZLIB */
		return inflate_zlib(in, size, file->path, &section->inflated,
				    err);
	if (kind == 2) /* ELFCOMPRESS_ZSTD */
		return inflate_zstd(in, size, file->path, &section->inflated,
				    err);
	return error_plain(err, PPROF_UNSUPPORTED, file->path,
			   "%s: compression type %u", section->name, kind);
}

static enum pprof_status inflate_zdebug(const struct elf_file *file,
					struct elf_section *section,
					struct elf_bytes in,
					struct pprof_error *err)
{
	if (in.size < ZDEBUG_HEAD || memcmp(in.data, "ZLIB", 4))
		return error_plain(err, PPROF_FORMAT, file->path,
				   "%s: no compression header", section->name);
	section->inflated_size = get_be64(in.data + 4);
	in.data += ZDEBUG_HEAD;
	in.size -= ZDEBUG_HEAD;
	return inflate_zlib(in, section->inflated_size, file->path,
			    &section->inflated, err);
}

static bool is_zdebug(const struct elf_section *section)
{
	return !strncmp(section->name, ".zdebug_", 8);
}

static enum pprof_status get_section(const struct elf_file *file,
				     struct elf_section *section,
				     struct elf_bytes *ret_bytes,
				     struct pprof_error *err)
{
	enum pprof_status status;
	struct elf_bytes in;

	if (!section->inflated) {
		in = slice(file, section->offset, section->size);
		if (!in.size)
			return error_plain(err, PPROF_FORMAT, file->path,
					   "%s reaches beyond the end of the "
					   "file", section->name);
		if (section->flags & SHF_COMPRESSED) {
			status = inflate_chdr(file, section, in, err);
		} else if (is_zdebug(section)) {
			status = inflate_zdebug(file, section, in, err);
		} else {
			*ret_bytes = in;
			return PPROF_OK;
		}
		if (status)
			return status;
	}
	ret_bytes->data = section->inflated;
	ret_bytes->size = section->inflated_size;
	return PPROF_OK;
}

enum pprof_status elf_file_section(struct elf_file *file, const char *name,
				   struct elf_bytes *ret_bytes,
				   struct pprof_error *err)
{
	struct elf_section *section = find_section(file, name);

	if (!section) {
		ret_bytes->data = NULL;
		ret_bytes->size = 0;
		return PPROF_OK;
	}
	return get_section(file, section, ret_bytes, err);
}

struct elf_bytes elf_file_plain_section(const struct elf_file *file,
					size_t index)
{
	const struct elf_section *section;
	struct elf_bytes none = { NULL, 0 };

	if (index >= file->nr_sections)
		return none;
	section = &file->sections[index];
	if (section->type == SHT_NOBITS || section->flags & SHF_COMPRESSED)
		return none;
	return slice(file, section->offset, section->size);
}

/* Sections waiting for a thread that inflates them. */
struct prefetch {
	const struct elf_file *file;
	struct elf_section **sections; /* biggest first */
	size_t nr;
	size_t next;                   /* atomic */
};

static void *run_prefetch(void *arg)
{
	struct prefetch *job = arg;
	struct elf_bytes bytes;
	size_t i;

	for (;;) {
		i = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
		if (i >= job->nr)
			return NULL;
		/* A failure is found again, and told, on use. */
		(void)!get_section(job->file, job->sections[i], &bytes, NULL);
	}
}

static size_t pick_compressed(const struct elf_file *file,
			      const char *const *names, size_t nr,
			      struct elf_section **list)
{
	size_t nr_list = 0, i, at;

	for (i = 0; i < nr; i++) {
		struct elf_section *section = find_section(file, names[i]);

		if (!section || section->inflated ||
		    !(section->flags & SHF_COMPRESSED || is_zdebug(section)))
			continue;
		for (at = nr_list++; at && list[at - 1]->size < section->size;
		     at--)
			list[at] = list[at - 1];
		list[at] = section;
	}
	return nr_list;
}

void elf_file_prefetch(struct elf_file *file, const char *const *names,
		       size_t nr, unsigned nr_threads)
{
	enum { MAX_NAMES = 16, MAX_THREADS = 8 };
	struct elf_section *list[MAX_NAMES];
	struct prefetch job = { file, list, 0, 0 };
	pthread_t threads[MAX_THREADS];
	unsigned nr_started = 0, i;

	job.nr = pick_compressed(file, names, nr < MAX_NAMES ? nr : MAX_NAMES,
				 list);
	while (nr_started + 1 < nr_threads && nr_started + 1 < job.nr &&
	       nr_started < MAX_THREADS) {
		if (pthread_create(&threads[nr_started], NULL, run_prefetch,
				   &job))
			break;
		nr_started++;
	}
	run_prefetch(&job);
	for (i = 0; i < nr_started; i++)
		pthread_join(threads[i], NULL);
}
