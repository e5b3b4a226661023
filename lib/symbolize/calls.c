/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the few bytes before return addresses and looks for calls: a dump
 * without build IDs names its files by path alone, and a rebuilt program
 * often fills the same pages with other code.
 */
#include <config.h>

#include "symbolize/calls.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Bytes before the return address; x86 has calls of up to 7. */
#define BYTES 8

/*
 * FF /2 with its ModRM byte at bytes[at + 1], exactly up to the end (Intel
 * SDM volume 2, 2.1.5). Prefixes before do not matter.
 */
static bool is_indirect_call(const uint8_t bytes[BYTES], size_t at)
{
	const uint8_t modrm = bytes[at + 1];
	const unsigned mod = modrm >> 6, rm = modrm & 7;
	size_t length = 2;

	if (bytes[at] != 0xff || (modrm >> 3 & 7) != 2)
		return false;
	if (mod != 3 && rm == 4) {
		if (at + 2 >= BYTES)
			return false;
		length++;
		if (!mod && (bytes[at + 2] & 7) == 5)
			length += 4;
	}
	if (mod == 1)
		length++;
	else if (mod == 2 || (!mod && rm == 5))
		length += 4;
	return at + length == BYTES;
}

static bool is_x86_call(const uint8_t bytes[BYTES])
{
	size_t at;

	if (bytes[BYTES - 5] == 0xe8)
		return true;
	for (at = BYTES - 7; at + 2 <= BYTES; at++)
		if (is_indirect_call(bytes, at))
			return true;
	return false;
}

/* BL, BLR and BLRAA/BLRAB (Arm ARM, C4.1). */
static bool is_aarch64_call(const uint8_t bytes[BYTES])
{
	const uint32_t word = (uint32_t)bytes[4] | (uint32_t)bytes[5] << 8 |
			      (uint32_t)bytes[6] << 16 |
			      (uint32_t)bytes[7] << 24;

	return (word & 0xfc000000u) == 0x94000000u ||
	       (word & 0xfffffc1fu) == 0xd63f0000u ||
	       (word & 0xfefff800u) == 0xd63f0800u;
}

static bool is_known(unsigned machine)
{
	return machine == EM_X86_64 || machine == EM_386 ||
	       machine == EM_AARCH64;
}

bool calls_end_before(unsigned machine, const uint8_t bytes[BYTES])
{
	return machine == EM_AARCH64 ? is_aarch64_call(bytes)
				     : is_x86_call(bytes);
}

/* Offset in the file of the 8 bytes before `vaddr`; false: not there. */
static bool find_bytes(const struct binary *binary, uint64_t vaddr,
		       uint64_t *ret_offset)
{
	size_t i;

	for (i = 0; i < binary->nr_segments; i++) {
		const struct elf_segment *segment = &binary->segments[i];
		const uint64_t at = vaddr - BYTES - segment->vaddr;

		if (!(segment->flags & PF_X) || at > segment->filesz ||
		    segment->filesz - at < BYTES)
			continue;
		*ret_offset = segment->offset + at;
		return *ret_offset >= at && *ret_offset <= INT64_MAX - BYTES;
	}
	return false;
}

/* The profile's convention may be the return address itself. */
static bool is_call_at(const struct binary *binary, int fd, uint64_t vaddr)
{
	uint8_t bytes[BYTES];
	uint64_t offset;
	unsigned after;

	for (after = 0; after < 2; after++) {
		if (!find_bytes(binary, vaddr + 1 - after, &offset))
			continue;
		if (pread(fd, bytes, BYTES, (off_t)offset) == BYTES &&
		    calls_end_before(binary->machine, bytes))
			return true;
	}
	return false;
}

bool calls_agree(const struct binary *binary, const uint64_t *vaddrs,
		 size_t nr)
{
	size_t nr_calls = 0, i;
	int fd;

	if (!is_known(binary->machine) || binary->is_debug_only ||
	    binary->symfile || !nr)
		return true;
	fd = open(binary->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	for (i = 0; i < nr; i++)
		nr_calls += is_call_at(binary, fd, vaddrs[i]);
	close(fd);
	return 2 * nr_calls >= nr;
}
