/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pprof file has said so far, in the file's own ids and string
 * indexes: numbered at first sight, resolved into a profile at the end.
 */
#ifndef INPUT_PPROF_STAGE_H
#define INPUT_PPROF_STAGE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "profile/builder.h"

#include <protobuf-c/protobuf-c.h>

struct staged_mapping {
	uint64_t id;
	int64_t file, build_id; /* string indexes */
	struct mapping map;     /* strings not yet set */
};

struct staged_function {
	uint64_t id;
	int64_t name, system_name, file, start_line;
	uint64_t offset;   /* record, or first reference while undefined */
	bool is_defined;
};

struct staged_location {
	uint64_t id;
	uint64_t address;  /* or offset of the first reference */
	uint64_t mapping;  /* file id */
	uint32_t lines;    /* index into stage.lines */
	uint32_t nr_lines;
	bool is_folded;
	bool is_defined;
};

/* File ids to numbers: an array for small ids, a hash for the rest. */
struct id_table {
	uint32_t *dense;   /* number by id, 0 none */
	size_t nr_dense;
	struct idmap rest;
};

struct stage {
	struct cursor *in;
	struct builder *out;
	struct diags *diags;
	struct arena scratch;           /* of protobuf-c, reset a record */
	ProtobufCAllocator allocator;
	bool no_memory;                 /* while a record was decoded */

	str_id *strings;                /* by file index */
	size_t nr_strings, cap_strings;
	bool has_equal_strings;         /* two indexes, one string */

	struct staged_mapping *mappings; /* row 0 unused */
	size_t nr_mappings, cap_mappings;
	struct staged_function *functions;
	size_t nr_functions, cap_functions;
	struct staged_location *locations;
	size_t nr_locations, cap_locations;
	struct line *lines;             /* func is a staged number */
	size_t nr_lines, cap_lines;
	struct id_table mapping_ids;
	struct id_table function_ids;
	struct id_table location_ids;

	int64_t types[SAMPLE_TYPES_MAX][2]; /* type, unit */
	size_t nr_types;
	int64_t period_type, period_unit;
	int64_t drop_frames, keep_frames, default_type, doc_url;
	int64_t *comments;
	size_t nr_comments, cap_comments;
	bool has_samples;
	bool has_time;

	/* Scratch of the sample at hand. */
	loc_id *frames;
	size_t cap_frames;
	struct label *labels;
	size_t cap_labels;
};

/* Frees everything but in, out and diags. */
void pb_stage_fini(struct stage *stage);

/* Each fails the cursor or the builder and returns the status. */
enum pprof_status pb_stage_string(struct stage *stage, const char *text,
			       size_t len, uint64_t offset);
enum pprof_status pb_stage_type(struct stage *stage, int64_t type, int64_t unit,
			     uint64_t offset);
enum pprof_status pb_stage_mapping(struct stage *stage,
				const struct staged_mapping *row,
				uint64_t offset);
enum pprof_status pb_stage_function(struct stage *stage,
				 const struct staged_function *row,
				 uint64_t offset);
enum pprof_status pb_stage_location(struct stage *stage,
				 const struct staged_location *row,
				 uint64_t offset);
enum pprof_status pb_stage_time(struct stage *stage, int64_t time_ns,
			     uint64_t offset);
enum pprof_status pb_stage_comment(struct stage *stage, int64_t index);
bool pb_stage_line(struct stage *stage, const struct line *line);

/* The column as 32 bits; what does not fit is 0 and counted. */
int32_t pb_stage_column(struct stage *stage, int64_t column, uint64_t offset);

/* Number of a file id, given now if it is new. ID_FAILED after failing. */
func_id pb_stage_function_number(struct stage *stage, uint64_t id,
			      uint64_t offset);
loc_id pb_stage_location_number(struct stage *stage, uint64_t id,
			     uint64_t offset);

/* The same, in place for an id that was seen before: nearly every call. */
static inline loc_id pb_stage_frame(struct stage *stage, uint64_t id,
				    uint64_t offset)
{
	const struct id_table *ids = &stage->location_ids;

	if (id < ids->nr_dense && ids->dense[id])
		return ids->dense[id];
	return pb_stage_location_number(stage, id, offset);
}

/* The first sample fixes the number of columns. */
void pb_stage_first_sample(struct stage *stage, size_t nr_values);

/* Resolve everything into stage->out. */
enum pprof_status pb_stage_finish(struct stage *stage);

#endif
