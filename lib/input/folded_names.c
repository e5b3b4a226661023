/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-up of the frames of folded stacks; see folded_names.h.
 */
#include <config.h>

#include "base/mem.h"
#include "input/folded_names.h"

#include <string.h>

/* Name of empty frames, as in "a;;b". */
#define EMPTY_FRAME "[empty]"

/* Places by hash, and the names that each holds. */
#define NR_PLACES ((size_t)1 << 15)
#define WAYS 2

#define MAX_ROWS ((size_t)UINT32_MAX - 1)

bool folded_names_init(struct folded_names *names, struct builder *out)
{
	memset(names, 0, sizeof(*names));
	names->out = out;
	names->known = mem_zalloc(NR_PLACES * WAYS, sizeof(*names->known));
	return names->known;
}

void folded_names_fini(struct folded_names *names)
{
	mem_free(names->known);
	mem_free(names->loc_of_str);
	memset(names, 0, sizeof(*names));
}

loc_id folded_names_add(struct folded_names *names, str_id name)
{
	struct function func = { .name = name };
	struct line line = { .line = 0 };
	size_t old = names->cap_locs;

	if (name < old && names->loc_of_str[name])
		return names->loc_of_str[name];
	if (name == ID_FAILED)
		return ID_FAILED;
	if (name >= old) {
		if (!mem_grow(names->loc_of_str, names->cap_locs,
			      (size_t)name + 1, MAX_ROWS))
			return ID_FAILED;
		memset(names->loc_of_str + old, 0,
		       (names->cap_locs - old) * sizeof(*names->loc_of_str));
	}
	line.func = builder_function(names->out, &func);
	names->loc_of_str[name] = builder_location(names->out, 0, 0, false,
						   &line, 1);
	return names->loc_of_str[name];
}

static bool same_word(const char *a, const char *b)
{
	return !memcmp(a, b, sizeof(uint64_t));
}

/* memcmp() without a call for names of common length. */
static bool same_text(const char *a, const char *b, size_t len)
{
	const size_t word = sizeof(uint64_t);
	const char *end_a, *end_b;

	if (len < word || len > 4 * word)
		return !memcmp(a, b, len);
	end_a = a + len - word;
	end_b = b + len - word;
	if (!same_word(a, b) || !same_word(end_a, end_b))
		return false;
	return len <= 2 * word || (same_word(a + word, b + word) &&
				   same_word(end_a - word, end_b - word));
}

static bool is_known(const struct known_name *known,
		     const struct folded_name *name)
{
	return known->len == name->len && known->loc &&
	       same_text(known->text, name->text, name->len);
}

loc_id folded_names_location(struct folded_names *names,
			     const struct folded_name *name)
{
	struct known_name *known = name->known;
	loc_id loc;
	size_t i;

	for (i = 0; i < WAYS; i++)
		if (is_known(&known[i], name))
			return known[i].loc;
	loc = folded_names_add(names, builder_str(names->out, name->text,
						 name->len));
	if (name->len <= sizeof(known->text)) {
		known[1] = known[0];
		known[0].len = (uint32_t)name->len;
		known[0].loc = loc;
		memcpy(known[0].text, name->text, name->len);
	}
	return loc;
}

void folded_names_meet(const struct folded_names *names,
		       struct folded_name *name, const char *text, size_t len)
{
	uint32_t hash;

	name->text = len ? text : EMPTY_FRAME;
	name->len = len ? len : strlen(EMPTY_FRAME);
	hash = strtab_hash(name->text, name->len);
	name->known = &names->known[hash % NR_PLACES * WAYS];
	__builtin_prefetch(name->known);
	__builtin_prefetch(name->known + 1);
}
