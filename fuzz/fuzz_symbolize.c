/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: an ELF file with its debug information, opened by path and
 * in memory, asked for addresses all over it.
 */
#include <config.h>

#include "common.h"
#include "symbolize/module.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Addresses asked in one batch, at most. */
#define ADDRESSES_MAX 512

/* Addresses spread over each section or segment. */
#define SPREAD 24

struct addresses {
	uint64_t rows[ADDRESSES_MAX];
	size_t nr;
};

static void add_address(struct addresses *addresses, uint64_t vaddr)
{
	if (addresses->nr < ADDRESSES_MAX)
		addresses->rows[addresses->nr++] = vaddr;
}

static void add_range(struct addresses *addresses, uint64_t start,
		      uint64_t size)
{
	uint64_t i;

	for (i = 0; i <= SPREAD; i++)
		add_address(addresses, start + size / SPREAD * i);
	add_address(addresses, start + 1);
	add_address(addresses, start + size - 1);
	add_address(addresses, start + size);
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void sort_unique(struct addresses *addresses)
{
	size_t i, nr = 0;

	qsort(addresses->rows, addresses->nr, sizeof(*addresses->rows),
	      compare_u64);
	for (i = 0; i < addresses->nr; i++)
		if (!nr || addresses->rows[nr - 1] != addresses->rows[i])
			addresses->rows[nr++] = addresses->rows[i];
	addresses->nr = nr;
}

/* Flag bits of program and section headers (System V gABI). */
#define FLAG_PF_X 1
#define FLAG_SHF_EXECINSTR 4

static void pick_addresses(const struct elf_file *elf,
			   struct addresses *addresses)
{
	const struct elf_section *sections;
	const struct elf_segment *segments;
	size_t nr, i;

	add_address(addresses, 0);
	add_address(addresses, UINT64_MAX);
	sections = elf_file_sections(elf, &nr);
	for (i = 0; i < nr; i++)
		if (sections[i].flags & FLAG_SHF_EXECINSTR)
			add_range(addresses, sections[i].vaddr,
				  sections[i].size);
	segments = elf_file_segments(elf, &nr);
	for (i = 0; i < nr; i++)
		if (segments[i].flags & FLAG_PF_X)
			add_range(addresses, segments[i].vaddr,
				  segments[i].memsz);
	sort_unique(addresses);
}

/* Everything that the handle tells. */
static void visit_elf(const struct elf_file *elf)
{
	const struct elf_section *sections;
	const char *text, *build_id = "";
	struct elf_bytes bytes;
	uint32_t crc = 0;
	size_t nr, i;

	fuzz_use(strlen(elf_file_path(elf)) + strlen(elf_file_build_id(elf)));
	fuzz_use(elf_file_type(elf) + elf_file_machine(elf));
	fuzz_use(elf_file_is_64(elf) ^ elf_file_has_dwarf(elf) ^
		 elf_file_has_symtab(elf) ^ elf_file_is_debug_only(elf));
	text = elf_file_debuglink(elf, &crc);
	fuzz_use(text ? strlen(text) + crc : 0);
	text = elf_file_debugaltlink(elf, &build_id);
	fuzz_use(text ? strlen(text) + strlen(build_id) : 0);
	sections = elf_file_sections(elf, &nr);
	for (i = 0; i < nr; i++) {
		fuzz_use(strlen(sections[i].name));
		bytes = elf_file_plain_section(elf, i);
		fuzz_use(fuzz_sum(bytes.data, bytes.size));
	}
}

static void visit_answers(const struct answers *answers, size_t nr,
			  bool no_inlines)
{
	const struct answer_frame *frame;
	size_t i, k;

	fuzz_assert(answers->nr == nr);
	for (i = 0; i < nr; i++) {
		fuzz_assert(answers->start[i] <= answers->start[i + 1]);
		fuzz_assert(answers->start[i + 1] <= answers->nr_frames);
		fuzz_assert((answers->source[i] == ANSWER_NONE) ==
			    (answers->start[i] == answers->start[i + 1]));
		fuzz_assert(!no_inlines || answers->start[i + 1] -
			    answers->start[i] <= 1);
		for (k = answers->start[i]; k < answers->start[i + 1]; k++) {
			frame = &answers->frames[k];
			fuzz_assert(frame->name &&
				    frame->name < answers->strings.nr);
			fuzz_use(strlen(strtab_text(&answers->strings,
						    frame->name)) +
				 strlen(strtab_text(&answers->strings,
						    frame->system_name)) +
				 strlen(strtab_text(&answers->strings,
						    frame->file)));
		}
	}
}

/* Resolve the addresses with these files, which the module takes over. */
static void resolve(struct elf_file *binary, struct elf_file *debug,
		    struct elf_file *alt, const struct addresses *addresses,
		    struct module_opts *opts)
{
	struct pprof_error err = { .status = PPROF_OK };
	struct module *module = NULL;
	enum pprof_status status;
	struct answers answers;
	struct diags diags;

	diags_init(&diags, "fuzz");
	opts->diags = &diags;
	opts->nr_threads = 1;
	status = module_new(binary, debug, alt, opts, &module, &err);
	fuzz_status(status, &err);
	if (!status) {
		status = module_resolve(module, addresses->rows, addresses->nr,
					&answers, &err);
		fuzz_status(status, &err);
		if (!status)
			visit_answers(&answers, addresses->nr,
				      opts->no_inlines);
		answers_fini(&answers);
		module_free(module);
	}
	diags_flush(&diags, fuzz_diag, NULL);
}

/* In memory, where one byte too far is seen; NULL when it is no ELF file. */
static struct elf_file *open_memory(const uint8_t *data, size_t size)
{
	struct pprof_error err = { .status = PPROF_OK };
	uint8_t *image = mem_alloc(size, 1);
	struct elf_file *elf = NULL;
	enum pprof_status status;

	if (!image)
		return NULL;
	if (size)
		memcpy(image, data, size);
	status = elf_file_open_memory("fuzz", image, size, &elf, &err);
	fuzz_status(status, &err);
	if (status)
		mem_free(image);
	return elf;
}

/* By path, as a user's file is opened; NULL likewise. */
static struct elf_file *open_path(const uint8_t *data, size_t size)
{
	struct pprof_error err = { .status = PPROF_OK };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_file *elf = NULL;
	char path[64];

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		fuzz_status(elf_file_open(path, &elf, &err), &err);
	close(fd);
	return elf;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module_opts opts = { .names = PPROF_NAMES_FULL };
	struct elf_file *memory = open_memory(data, size), *path, *alt;
	struct addresses addresses;

	if (!memory)
		return 0;
	addresses.nr = 0;
	visit_elf(memory);
	pick_addresses(memory, &addresses);
	resolve(memory, NULL, NULL, &addresses, &opts);
	path = open_path(data, size);
	memory = open_memory(data, size);
	alt = open_memory(data, size);
	opts.names = PPROF_NAMES_SHORT;
	opts.no_inlines = true;
	resolve(path, memory, alt, &addresses, &opts);
	return 0;
}
