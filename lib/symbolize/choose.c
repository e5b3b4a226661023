/* SPDX-License-Identifier: Apache-2.0
 *
 * Which file stands for which image, and the proof: the build ID where the
 * profile has one, else the ranges of the mappings. A file that fails is
 * refused, unless the caller forces it.
 */
#include <config.h>

#include "symbolize/symbolize.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "symbolize/allocator.h"
#include "symbolize/calls.h"

const char *image_name(const struct run *run, size_t image)
{
	return profile_str(run->profile, run->images.images[image].file);
}

struct elf_layout binary_layout(const struct binary *binary)
{
	const struct elf_layout layout = {
		.segments = binary->segments,
		.nr_segments = binary->nr_segments,
		.type = binary->type,
		.no_offsets = binary->is_debug_only,
	};

	return layout;
}

/*
 * The image's build ID in lower case, "" when it is none: profiles of Go
 * programs hold other things there.
 */
static void get_build_id(const struct run *run, uint32_t image,
			 char id[2 * BUILD_ID_MAX + 1])
{
	const char *text = profile_str(run->profile,
				       run->images.images[image].build_id);
	size_t len = strlen(text), i;

	id[0] = '\0';
	if (len < 4 || len % 2)
		return;
	for (i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return;
	if (len > 2 * BUILD_ID_MAX)
		len = 2 * BUILD_ID_MAX;
	for (i = 0; i < len; i++)
		id[i] = (char)tolower((unsigned char)text[i]);
	id[len] = '\0';
}

/* Equal, or one of them filled up with zeros (perf makes all 20 bytes). */
static bool is_same_id(const char *a, const char *b)
{
	size_t common = 0;

	while (a[common] && a[common] == b[common])
		common++;
	if (common < 8)
		return !a[common] && !b[common];
	return (!a[common] && !b[common + strspn(b + common, "0")]) ||
	       (!b[common] && !a[common + strspn(a + common, "0")]);
}

__attribute__((format(printf, 2, 3)))
static void set_reason(struct target *target, const char *format, ...)
{
	char text[REASON_BYTES];
	va_list ap;

	if (target->reason[0])
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	format_masked(target->reason, sizeof(target->reason), "%s", text);
}

/* The build IDs do not contradict each other; *ret_equal: they are equal. */
static bool check_id(struct run *run, uint32_t image,
		     const struct binary *binary, bool *ret_equal)
{
	char id[2 * BUILD_ID_MAX + 1];

	get_build_id(run, image, id);
	*ret_equal = id[0] && is_same_id(id, binary->build_id);
	if (!id[0] || *ret_equal)
		return true;
	/* Paths last: long ones are cut. */
	set_reason(&run->targets[image], "build ID %s is not the profile's "
		   "%s: %s", binary->build_id[0] ? binary->build_id : "(none)",
		   id, binary->path);
	return false;
}

/* Addresses that must be there before their calls prove anything. */
#define MIN_CALLS 8

/* How far a candidate is to be trusted. */
enum trust {
	FOUND = 0, /* by us, at the path or by name */
	GIVEN,     /* by the user */
	FORCED     /* by the user, against all proof */
};

/*
 * In a heap profile addresses lie in calls. False when those of this image
 * would not if the file lay so.
 */
static bool check_calls(const struct run *run, uint32_t image,
			const struct binary *binary,
			const struct placement *placement)
{
	const struct target *target = &run->targets[image];
	const size_t step = target->nr_asks / CALLS_MAX + 1;
	uint64_t vaddrs[CALLS_MAX];
	size_t nr = 0, i;

	if (!allocator_applies(run->profile))
		return true;
	for (i = 0; i < target->nr_asks; i += step) {
		const struct ask *ask = &run->asks[target->first_ask + i];
		uint32_t bias;

		if (!ask->map || ask->is_signed)
			continue;
		bias = placement->row_bias[run->images.row_of_map[ask->map]];
		if (bias != BIAS_NONE)
			vaddrs[nr++] = ask->address - placement->biases[bias];
	}
	return nr < MIN_CALLS || calls_agree(binary, vaddrs, nr);
}

/*
 * What fits only by its ranges may be another build that fills the same
 * pages. That is doubt, and proof where the mapped file is known to be gone.
 */
static bool check_build(struct run *run, uint32_t image,
			const struct binary *binary, enum trust trust,
			struct placement *placement)
{
	const char *name = image_name(run, image);

	if (check_calls(run, image, binary, placement))
		return true;
	if (trust == FOUND && name[path_undeleted_len(name)] &&
	    !binary->path[path_undeleted_len(binary->path)]) {
		format_masked(placement->reason, sizeof(placement->reason),
			      "does not fit: no calls before the profile's "
			      "return addresses");
		return false;
	}
	diag_count(&run->symbolizer->diags, PPROF_UNIT_NONE, 0,
		   "no calls before most return addresses in %s: it may be "
		   "another build of what was mapped", binary->path);
	return true;
}

/* Try the binary in the image; *ret_taken: it is the target's from now on. */
static enum pprof_status try_binary(struct run *run, uint32_t image,
				    struct binary *binary, enum trust trust,
				    bool *ret_taken)
{
	const struct elf_layout layout = binary_layout(binary);
	struct target *target = &run->targets[image];
	struct placement placement;
	enum pprof_status status;
	bool is_equal, is_fit;

	*ret_taken = false;
	if (binary->status) {
		set_reason(target, "%s: %s", binary->path,
			   binary->err.message);
		return PPROF_OK;
	}
	if (!check_id(run, image, binary, &is_equal) && trust != FORCED)
		return PPROF_OK;
	status = images_place(&run->images, image, &layout,
			      is_equal || trust == FORCED, &placement, &is_fit,
			      run->err);
	if (status)
		return status;
	if (is_fit && !is_equal && trust != FORCED)
		is_fit = check_build(run, image, binary, trust, &placement);
	if (!is_fit) {
		set_reason(target, "%s: %s", placement.reason, binary->path);
		placement_fini(&placement);
		return PPROF_OK;
	}
	placement_fini(&target->placement);
	target->placement = placement;
	target->binary = binary;
	target->is_forced = trust == FORCED;
	*ret_taken = true;
	return PPROF_OK;
}

/* ------------------------------------------------------- given by the user */

static enum pprof_status open_given(struct run *run, const char *path,
				    struct binary **ret_binary)
{
	enum pprof_status status;
	struct stat st;

	status = finder_open(&run->symbolizer->finder, path, ret_binary,
			     run->err);
	if (status)
		return status;
	if (!*ret_binary)
		return error_plain(run->err, PPROF_IO, path, "%s",
				   stat(path, &st) ? strerror(errno)
						   : "not a regular file");
	if ((*ret_binary)->status)
		return error_plain(run->err, PPROF_IO, path, "%s",
				   (*ret_binary)->err.message);
	return PPROF_OK;
}

/* Images with the binary's build ID; *ret_met when there is one. */
static enum pprof_status give_by_id(struct run *run, struct binary *binary,
				    bool *ret_met)
{
	enum pprof_status status = PPROF_OK;
	char id[2 * BUILD_ID_MAX + 1];
	bool is_taken;
	uint32_t i;

	*ret_met = false;
	for (i = 0; !status && i < run->images.nr; i++) {
		get_build_id(run, i, id);
		if (!id[0] || run->targets[i].binary ||
		    !is_same_id(id, binary->build_id))
			continue;
		*ret_met = true;
		status = try_binary(run, i, binary, GIVEN, &is_taken);
	}
	return status;
}

static bool has_name(const struct run *run, uint32_t image, const char *path)
{
	const char *mapped = image_name(run, image), *a, *b;
	const size_t len = path_base(path, false, &a);
	unsigned strip;

	for (strip = 0; strip < 2; strip++)
		if (path_base(mapped, strip, &b) == len && len &&
		    !memcmp(a, b, len))
			return true;
	return false;
}

/* Length of a reason without the file at its end: the error names it. */
static int reason_len(const char *reason, const char *path)
{
	size_t len = strlen(reason), path_len = strlen(path);

	if (len > path_len + 2 && !strcmp(reason + len - path_len, path) &&
	    !memcmp(reason + len - path_len - 2, ": ", 2))
		len -= path_len + 2;
	return (int)len;
}

static enum pprof_status refuse_given(struct run *run, const char *path,
				      uint32_t image)
{
	const char *reason = run->targets[image].reason;

	return error_plain(run->err, PPROF_MISMATCH, path,
			   "%.*s (mapped as %s)", reason_len(reason, path),
			   reason, image_name(run, image));
}

/*
 * Images of the same base name. It is an error when there are some and the
 * binary is none of them.
 */
static enum pprof_status give_by_name(struct run *run, struct binary *binary,
				      const char *path, bool *ret_met)
{
	uint32_t refused = IMAGE_NONE, i;
	enum pprof_status status;
	bool is_taken, taken = false;

	*ret_met = false;
	for (i = 0; i < run->images.nr; i++) {
		struct target *target = &run->targets[i];

		if (run->images.images[i].is_pseudo || !has_name(run, i, path))
			continue;
		*ret_met = true;
		if (target->binary)
			continue;
		target->reason[0] = '\0';
		status = try_binary(run, i, binary, GIVEN, &is_taken);
		if (!status && !is_taken && run->symbolizer->opts.force)
			status = try_binary(run, i, binary, FORCED, &is_taken);
		if (status)
			return status;
		taken |= is_taken;
		if (!is_taken && target->nr_wanted)
			refused = i;
	}
	if (taken || refused == IMAGE_NONE)
		return PPROF_OK;
	return refuse_given(run, path, refused);
}

/* The main image as marked, and the one that most addresses are in. */
static void find_roles(const struct run *run, uint32_t roles[2])
{
	size_t most = 0;
	uint32_t i;

	roles[0] = IMAGE_NONE;
	roles[1] = IMAGE_NONE;
	for (i = 0; i < run->images.nr; i++) {
		if (run->images.images[i].is_pseudo)
			continue;
		if (run->images.images[i].is_main && roles[0] == IMAGE_NONE)
			roles[0] = i;
		if (run->targets[i].nr_wanted > most) {
			most = run->targets[i].nr_wanted;
			roles[1] = i;
		}
	}
	if (roles[1] == roles[0])
		roles[1] = IMAGE_NONE;
}

/* A binary that no mapping names is the program itself, renamed. */
static enum pprof_status give_by_role(struct run *run, struct binary *binary,
				      const char *path)
{
	const bool force = run->symbolizer->opts.force;
	uint32_t roles[2], first = IMAGE_NONE;
	enum pprof_status status;
	bool is_taken = false;
	unsigned i;

	find_roles(run, roles);
	for (i = 0; i < 4; i++) {
		const uint32_t image = roles[i % 2];

		if (image == IMAGE_NONE || (i >= 2 && !force))
			continue;
		if (run->targets[image].binary)
			return PPROF_OK; /* another one was given for it */
		if (first == IMAGE_NONE)
			first = image;
		run->targets[image].reason[0] = '\0';
		status = try_binary(run, image, binary, i < 2 ? GIVEN : FORCED,
				    &is_taken);
		if (status || is_taken)
			return status;
	}
	if (first != IMAGE_NONE)
		return refuse_given(run, path, first);
	return error_plain(run->err, PPROF_MISMATCH, path,
			   "fits no mapping: the profile names no file that "
			   "was mapped");
}

static enum pprof_status give_binary(struct run *run, const char *path)
{
	enum pprof_status status;
	struct binary *binary;
	bool is_met;

	status = open_given(run, path, &binary);
	if (!status)
		status = give_by_id(run, binary, &is_met);
	if (!status && !is_met)
		status = give_by_name(run, binary, path, &is_met);
	if (!status && !is_met)
		status = give_by_role(run, binary, path);
	return status;
}

/* ---------------------------------------------------------- found by us */

/* Of one image, while candidates are looked at. */
struct judge {
	struct run *run;
	uint32_t image;
	enum trust trust;
};

static enum pprof_status judge_binary(void *ctx, struct binary *binary,
				      bool *ret_taken,
				      struct pprof_error *err)
{
	struct judge *judge = ctx;

	(void)err; /* the run's own */
	return try_binary(judge->run, judge->image, binary, judge->trust,
			  ret_taken);
}

static enum pprof_status search_image(struct run *run, uint32_t image)
{
	struct judge judge = { .run = run, .image = image };
	struct finder *finder = &run->symbolizer->finder;
	struct target *target = &run->targets[image];
	char id[2 * BUILD_ID_MAX + 1];
	enum pprof_status status;

	target->reason[0] = '\0';
	get_build_id(run, image, id);
	status = finder_search(finder, image_name(run, image), id,
			       judge_binary, &judge, run->err);
	if (status || target->binary || !run->symbolizer->opts.force)
		return status;
	judge.trust = FORCED;
	return finder_search(finder, image_name(run, image), id, judge_binary,
			     &judge, run->err);
}

enum pprof_status choose_files(struct run *run)
{
	const struct name_list *given = &run->symbolizer->finder.binaries;
	enum pprof_status status = PPROF_OK;
	size_t i;

	for (i = 0; !status && i < given->nr; i++)
		status = give_binary(run, given->names[i]);
	for (i = 0; !status && i < run->images.nr; i++) {
		if (run->targets[i].nr_wanted && !run->targets[i].binary &&
		    !run->images.images[i].is_pseudo)
			status = search_image(run, (uint32_t)i);
	}
	return status;
}
