/* SPDX-License-Identifier: Apache-2.0
 *
 * pick_addresses calls NR FUNCTIONS FILE: at most NR addresses inside the
 * call instructions of FUNCTIONS random functions, in random order.
 * pick_addresses any NR 0 FILE: NR random addresses inside functions.
 *
 * FILE is a 64-bit little-endian ELF file with a symbol table. Calls are
 * found on x86-64: a byte e8 whose displacement leads to the start of a
 * function. The file is trusted: this is for benchmarks only.
 */
#include <config.h>

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"

#define CALL_BYTES 5

/* Functions this short have few calls. */
#define LEAST_BYTES 64

struct function {
	uint64_t start;
	uint64_t size;
};

struct program {
	const uint8_t *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	unsigned nr_sections;
	struct function *functions; /* by start, one for each */
	size_t nr;
};

struct list {
	uint64_t *rows;
	size_t nr;
};

static void die(const char *what)
{
	fprintf(stderr, "pick_addresses: %s\n", what);
	exit(1);
}

static void add(struct list *list, uint64_t address)
{
	if (!(list->nr & (list->nr - 1))) {
		size_t cap = list->nr ? 2 * list->nr : 1;

		list->rows = realloc(list->rows, cap * sizeof(*list->rows));
		if (!list->rows)
			die("out of memory");
	}
	list->rows[list->nr++] = address;
}

static void open_program(struct program *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *header;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die("cannot open the file");
	p->size = (size_t)st.st_size;
	p->bytes = mmap(NULL, p->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p->bytes == MAP_FAILED || p->size < sizeof(*header))
		die("cannot map the file");
	header = (const void *)p->bytes;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64)
		die("expected a 64-bit ELF file");
	p->sections = (const void *)(p->bytes + header->e_shoff);
	p->nr_sections = header->e_shnum;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void read_functions(struct program *p)
{
	const Elf64_Sym *symbols = NULL;
	size_t nr = 0, i, kept = 0;

	for (i = 0; i < p->nr_sections; i++) {
		if (p->sections[i].sh_type != SHT_SYMTAB)
			continue;
		symbols = (const void *)(p->bytes + p->sections[i].sh_offset);
		nr = p->sections[i].sh_size / sizeof(*symbols);
	}
	p->functions = malloc((nr + 1) * sizeof(*p->functions));
	if (!p->functions)
		die("out of memory");
	for (i = 0; i < nr; i++) {
		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC ||
		    !symbols[i].st_size || !symbols[i].st_shndx)
			continue;
		p->functions[p->nr].start = symbols[i].st_value;
		p->functions[p->nr++].size = symbols[i].st_size;
	}
	if (!p->nr)
		die("no functions in the symbol table");
	qsort(p->functions, p->nr, sizeof(*p->functions), compare_functions);
	for (i = 0; i < p->nr; i++)
		if (!kept || p->functions[kept - 1].start !=
		    p->functions[i].start)
			p->functions[kept++] = p->functions[i];
	p->nr = kept;
}

/* The last function that starts at or before the address, or NULL. */
static const struct function *find(const struct program *p, uint64_t address)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->functions[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &p->functions[low - 1] : NULL;
}

/* Bytes of the file behind an address range, or NULL. */
static const uint8_t *code_at(const struct program *p, uint64_t start,
			      uint64_t size)
{
	unsigned i;

	for (i = 0; i < p->nr_sections; i++) {
		const Elf64_Shdr *s = &p->sections[i];

		if (s->sh_type == SHT_PROGBITS &&
		    s->sh_flags & SHF_EXECINSTR && start >= s->sh_addr &&
		    size <= s->sh_size &&
		    start - s->sh_addr <= s->sh_size - size)
			return p->bytes + s->sh_offset + (start - s->sh_addr);
	}
	return NULL;
}

static void add_calls(const struct program *p, const struct function *f,
		      struct list *list)
{
	const uint8_t *code = code_at(p, f->start, f->size);
	const struct function *target;
	int32_t distance;
	uint64_t i, to;

	for (i = 0; code && i + CALL_BYTES <= f->size; i++) {
		if (code[i] != 0xe8)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		to = f->start + i + CALL_BYTES + (uint64_t)(int64_t)distance;
		target = find(p, to);
		if (target && target->start == to)
			add(list, f->start + i + CALL_BYTES - 1);
	}
}

static void pick_calls(const struct program *p, struct rng *rng,
		       unsigned long nr_functions, struct list *list)
{
	const struct function *f;
	unsigned long i, tries = 0;
	size_t before, k, other;
	uint64_t swap;

	for (i = 0; i < nr_functions && tries < 100 * nr_functions; tries++) {
		f = &p->functions[rng_below(rng, (uint32_t)p->nr)];
		before = list->nr;
		if (f->size >= LEAST_BYTES)
			add_calls(p, f, list);
		i += list->nr != before;
	}
	for (k = list->nr; k > 1; k--) {
		other = rng_below(rng, (uint32_t)k);
		swap = list->rows[k - 1];
		list->rows[k - 1] = list->rows[other];
		list->rows[other] = swap;
	}
}

static void pick_any(const struct program *p, struct rng *rng,
		     unsigned long nr, struct list *list)
{
	const struct function *last = &p->functions[p->nr - 1], *f;
	uint64_t low = p->functions[0].start, address;
	uint64_t span = last->start + last->size - low;

	while (list->nr < nr) {
		address = low + rng_next(rng) % span;
		f = find(p, address);
		if (f && address - f->start < f->size)
			add(list, address);
	}
}

int main(int argc, char **argv)
{
	struct rng rng = { 88172645463325252u };
	struct program program = { .bytes = NULL };
	struct list list = { .rows = NULL };
	unsigned long nr, nr_functions;
	size_t i;

	if (argc != 5)
		die("usage: pick_addresses calls|any NR FUNCTIONS FILE");
	nr = strtoul(argv[2], NULL, 10);
	nr_functions = strtoul(argv[3], NULL, 10);
	open_program(&program, argv[4]);
	read_functions(&program);
	if (!strcmp(argv[1], "calls"))
		pick_calls(&program, &rng, nr_functions, &list);
	else
		pick_any(&program, &rng, nr, &list);
	for (i = 0; i < list.nr && i < nr; i++)
		printf("0x%" PRIx64 "\n", list.rows[i]);
	return fflush(stdout) ? 1 : 0;
}
