/* SPDX-License-Identifier: Apache-2.0
 *
 * The line number machine (DWARF 5, 6.2), streaming: when an address is
 * passed, the row before it is its answer. A sequence whose addresses go
 * backwards is run again with its rows kept and sorted.
 */
#include <config.h>

#include "symbolize/lines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbolize/dwarf_die.h"

/* Rows of one unsorted sequence that are kept. */
#define MAX_KEPT_ROWS ((size_t)1 << 24)

/* Content formats of one table entry: a byte counts them. */
#define MAX_FORMATS 255

struct format {
	uint64_t content; /* DW_LNCT_* */
	uint64_t form;
};

static enum pprof_status add_dir(struct line_table *table, const char *dir)
{
	if (!mem_grow(table->dirs, table->cap_dirs, table->nr_dirs + 1,
		      UINT32_MAX))
		return PPROF_NOMEM;
	table->dirs[table->nr_dirs++] = dir;
	return PPROF_OK;
}

static enum pprof_status add_file(struct line_table *table, const char *name,
				  uint64_t dir)
{
	struct line_file file = { name, dir };

	if (!mem_grow(table->files, table->cap_files, table->nr_files + 1,
		      UINT32_MAX))
		return PPROF_NOMEM;
	table->files[table->nr_files++] = file;
	return PPROF_OK;
}

/* name, directory, time and length, after the name was read. */
static enum pprof_status read_old_file(struct line_table *table,
				       struct dwarf_cursor *cursor,
				       const char *name)
{
	uint64_t dir = dwarf_uleb(cursor);

	dwarf_skip_leb(cursor);
	dwarf_skip_leb(cursor);
	return add_file(table, name, dir);
}

static enum pprof_status read_old_tables(struct line_table *table,
					 struct dwarf_cursor *cursor)
{
	enum pprof_status status = PPROF_OK;
	const char *text;

	while (!status && *(text = dwarf_text(cursor)))
		status = add_dir(table, text);
	while (!status && *(text = dwarf_text(cursor)))
		status = read_old_file(table, cursor, text);
	return status;
}

/* One directory or file of DWARF 5, described by its formats. */
static void read_entry(struct line_table *table, struct dwarf_cursor *cursor,
		       const struct format *formats, size_t nr,
		       struct line_file *file)
{
	struct dwarf_value value;
	size_t i;

	file->name = "";
	file->dir = 0;
	for (i = 0; i < nr; i++) {
		if (formats[i].form > UINT16_MAX) {
			dwarf_fail(cursor);
			return;
		}
		dwarf_read_form(&table->unit, (uint16_t)formats[i].form,
				cursor, &value);
		if (formats[i].content == DW_LNCT_path)
			file->name = dwarf_value_text(&table->unit, &value);
		else if (formats[i].content == DW_LNCT_directory_index)
			file->dir = value.u;
	}
}

static enum pprof_status read_entries(struct line_table *table,
				      struct dwarf_cursor *cursor,
				      bool are_dirs)
{
	struct format formats[MAX_FORMATS];
	enum pprof_status status = PPROF_OK;
	struct line_file file;
	uint64_t nr_entries, i;
	size_t nr, k;

	nr = dwarf_u8(cursor);
	for (k = 0; k < nr; k++) {
		formats[k].content = dwarf_uleb(cursor);
		formats[k].form = dwarf_uleb(cursor);
	}
	nr_entries = dwarf_uleb(cursor);
	/* An entry takes a byte at least. */
	if (nr_entries > dwarf_left(cursor))
		dwarf_fail(cursor);
	for (i = 0; i < nr_entries && !cursor->failed && !status; i++) {
		read_entry(table, cursor, formats, nr, &file);
		status = are_dirs ? add_dir(table, file.name)
				  : add_file(table, file.name, file.dir);
	}
	return status;
}

static enum pprof_status read_header(struct line_table *table,
				     struct dwarf_cursor *cursor)
{
	struct dwarf_unit *unit = &table->unit;
	enum pprof_status status;
	const uint8_t *program;
	uint64_t length;

	table->version = dwarf_u16(cursor);
	if (table->version < 2 || table->version > 5)
		return PPROF_FORMAT;
	if (table->version >= 5) {
		unit->addr_size = dwarf_u8(cursor);
		dwarf_skip(cursor, 1); /* segment selector size */
	}
	length = dwarf_uint(cursor, unit->off_size);
	if (length > dwarf_left(cursor))
		return PPROF_FORMAT;
	program = cursor->p + length;
	table->min_length = dwarf_u8(cursor);
	table->max_ops = table->version >= 4 ? dwarf_u8(cursor) : 1;
	dwarf_skip(cursor, 1); /* default_is_stmt */
	table->line_base = (int8_t)dwarf_u8(cursor);
	table->line_range = dwarf_u8(cursor);
	table->opcode_base = dwarf_u8(cursor);
	table->lengths = cursor->p;
	if (table->opcode_base)
		dwarf_skip(cursor, table->opcode_base - 1u);
	if (table->version < 5) {
		status = read_old_tables(table, cursor);
	} else {
		status = read_entries(table, cursor, true);
		if (!status)
			status = read_entries(table, cursor, false);
	}
	table->program.p = program;
	if (!status && cursor->failed)
		status = PPROF_FORMAT;
	return status;
}

enum pprof_status lines_init(struct line_table *table,
			     const struct dwarf_unit *unit)
{
	struct dwarf_cursor cursor;
	enum pprof_status status;
	uint64_t length;

	memset(table, 0, sizeof(*table));
	table->unit = *unit;
	if (!unit->has_stmt_list)
		return PPROF_FORMAT;
	cursor = dwarf_section_at(unit->file, DWARF_LINE, unit->stmt_list);
	length = dwarf_initial_length(&cursor, &table->unit.off_size);
	if (cursor.failed || length > dwarf_left(&cursor))
		return PPROF_FORMAT;
	cursor.end = cursor.p + length;
	table->program = cursor;
	status = read_header(table, &cursor);
	if (status)
		lines_fini(table);
	return status;
}

void lines_fini(struct line_table *table)
{
	mem_free(table->dirs);
	mem_free(table->files);
	table->dirs = NULL;
	table->files = NULL;
}

/* The machine's registers, as far as anybody asks for them. */
struct machine {
	uint64_t address;
	uint32_t op_index;
	uint32_t file, line, column;
};

struct kept_row {
	struct machine now;
	uint32_t order;
};

struct run {
	struct line_table *table;
	const struct text_areas *text;
	const uint64_t *vaddrs;
	size_t nr;
	struct line_row *rows;
	uint32_t sequence;    /* number of the present one, from 1 */
	uint64_t wanted;      /* vaddrs[next], or the maximum for none */
	size_t next;
	bool is_backward;     /* addresses went down */
	bool is_keeping;
	struct kept_row *kept;
	size_t nr_kept, cap_kept;
	/* What special opcodes add; only the line on VLIW machines. */
	uint32_t special_address[256];
	int32_t special_line[256];
};

static void seek_target(struct run *run, size_t next)
{
	run->next = next;
	run->wanted = next < run->nr ? run->vaddrs[next] : UINT64_MAX;
}

/* Give the row to the targets below `limit`, first come first served. */
static void assign(struct run *run, struct machine row, uint64_t limit)
{
	while (run->next < run->nr && run->vaddrs[run->next] < limit) {
		struct line_row *target = &run->rows[run->next++];

		if (target->sequence && target->sequence != run->sequence)
			continue;
		target->sequence = run->sequence;
		target->file = row.file;
		target->line = row.line;
		target->column = row.column;
	}
	seek_target(run, run->next);
}

static void start_sequence(struct run *run, uint64_t address)
{
	if (text_areas_contain(run->text, address))
		seek_target(run, vaddrs_lower_bound(run->vaddrs, run->nr,
						    address));
	else
		seek_target(run, run->nr);
}

static enum pprof_status keep_row(struct run *run, struct machine now)
{
	struct kept_row *kept;

	if (run->nr_kept == MAX_KEPT_ROWS)
		return PPROF_FORMAT;
	if (!mem_grow(run->kept, run->cap_kept, run->nr_kept + 1,
		      MAX_KEPT_ROWS))
		return PPROF_NOMEM;
	kept = &run->kept[run->nr_kept];
	kept->order = (uint32_t)run->nr_kept++;
	kept->now = now;
	return PPROF_OK;
}

static inline void advance(const struct line_table *table, struct machine *now,
			   uint64_t nr_ops)
{
	if (table->max_ops <= 1) {
		now->address += nr_ops * table->min_length;
		return;
	}
	/* VLIW: DWARF 5, 6.2.5.1. */
	nr_ops += now->op_index;
	now->address += nr_ops / table->max_ops * table->min_length;
	now->op_index = (uint32_t)(nr_ops % table->max_ops);
}

static uint32_t clamp_u32(uint64_t value)
{
	return value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* An extended opcode that moves the machine, or moves nothing. */
struct extended {
	uint8_t opcode;   /* 0 unless one of the two below */
	uint64_t address; /* DW_LNE_set_address */
};

static enum pprof_status read_extended(struct run *run,
				       struct dwarf_cursor *cursor,
				       struct extended *ret)
{
	uint64_t length = dwarf_uleb(cursor);
	struct dwarf_cursor operands = *cursor;
	const char *name;

	ret->opcode = 0;
	ret->address = 0;
	dwarf_skip(cursor, length);
	if (cursor->failed || !length)
		return PPROF_OK;
	operands.end = cursor->p;
	switch (dwarf_u8(&operands)) {
	case DW_LNE_end_sequence:
		ret->opcode = DW_LNE_end_sequence;
		break;
	case DW_LNE_set_address:
		ret->opcode = DW_LNE_set_address;
		ret->address = dwarf_uint(&operands, length > 9 ? 0 :
					  (unsigned)(length - 1));
		break;
	case DW_LNE_define_file:
		/* Not while a sequence is run again. */
		name = dwarf_text(&operands);
		if (!run->is_keeping && !operands.failed)
			return read_old_file(run->table, &operands, name);
		break;
	default:
		break;
	}
	return PPROF_OK;
}

/* Registers after an extended opcode; true at the end of a sequence. */
static inline bool run_extended(const struct extended *op, struct machine *now)
{
	if (op->opcode == DW_LNE_set_address) {
		now->address = op->address;
		now->op_index = 0;
	}
	return op->opcode == DW_LNE_end_sequence;
}

static inline void skip_operands(const struct line_table *table,
			  struct dwarf_cursor *cursor, uint8_t opcode)
{
	uint8_t nr = table->lengths[opcode - 1];

	while (nr--)
		dwarf_skip_leb(cursor);
}

/* Standard opcodes but DW_LNS_copy. */
static inline void run_standard(const struct line_table *table,
				struct machine *now,
				struct dwarf_cursor *cursor, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_advance_pc:
		advance(table, now, dwarf_uleb(cursor));
		break;
	case DW_LNS_advance_line:
		now->line += (uint32_t)dwarf_sleb(cursor);
		break;
	case DW_LNS_set_file:
		now->file = clamp_u32(dwarf_uleb(cursor));
		break;
	case DW_LNS_set_column:
		now->column = clamp_u32(dwarf_uleb(cursor));
		break;
	case DW_LNS_const_add_pc:
		advance(table, now, (255u - table->opcode_base) /
			table->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		now->address += dwarf_u16(cursor);
		now->op_index = 0;
		break;
	default:
		skip_operands(table, cursor, opcode);
		break;
	}
}

static void prepare_specials(struct run *run)
{
	const struct line_table *table = run->table;
	uint32_t opcode, adjusted;

	for (opcode = table->opcode_base; opcode < 256; opcode++) {
		adjusted = opcode - table->opcode_base;
		run->special_line[opcode] = table->line_base +
			(int32_t)(adjusted % table->line_range);
		run->special_address[opcode] = adjusted / table->line_range;
		if (table->max_ops <= 1)
			run->special_address[opcode] *= table->min_length;
	}
}

static inline void run_special(const struct run *run, struct machine *now,
			       uint8_t opcode, bool is_vliw)
{
	now->line += (uint32_t)run->special_line[opcode];
	if (!is_vliw)
		now->address += run->special_address[opcode];
	else
		advance(run->table, now, run->special_address[opcode]);
}

/*
 * Run up to the end of a sequence, or of the program. The registers and the
 * cursor are local, so that they live in the processor's.
 */
static enum pprof_status run_sequence(struct run *run,
				      struct dwarf_cursor *in)
{
	struct machine now = { 0, 0, 1, 1, 0 }, last = now;
	const uint8_t opcode_base = run->table->opcode_base;
	const bool is_vliw = run->table->max_ops > 1;
	struct dwarf_cursor cursor = *in;
	enum pprof_status status = PPROF_OK;
	bool is_end = false, is_started = false;
	struct extended extended;

	run->is_backward = false;
	while (!is_end && !status && cursor.p < cursor.end) {
		uint8_t opcode = *cursor.p++;

		if (opcode >= opcode_base) {
			run_special(run, &now, opcode, is_vliw);
		} else if (!opcode) {
			*in = cursor;
			status = read_extended(run, in, &extended);
			cursor.p = in->p;
			is_end = run_extended(&extended, &now);
			if (!is_end)
				continue;
		} else if (opcode != DW_LNS_copy) {
			run_standard(run->table, &now, &cursor, opcode);
			continue;
		}
		/* A row of the matrix is complete. */
		if (run->is_keeping && !status)
			status = keep_row(run, now);
		if (now.address > run->wanted && is_started)
			assign(run, last, now.address);
		if (!is_started)
			start_sequence(run, now.address);
		else if (now.address < last.address)
			run->is_backward = true;
		is_started = true;
		last = now;
	}
	in->p = cursor.p;
	in->failed |= cursor.failed;
	return status;
}

static int compare_kept(const void *a, const void *b)
{
	const struct kept_row *x = a, *y = b;

	if (x->now.address != y->now.address)
		return x->now.address < y->now.address ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Run a backward sequence again from `cursor`, keeping and sorting rows. */
static enum pprof_status run_kept(struct run *run, struct dwarf_cursor cursor)
{
	enum pprof_status status;
	size_t i;

	run->is_keeping = true;
	run->nr_kept = 0;
	status = run_sequence(run, &cursor);
	run->is_keeping = false;
	if (status || !run->nr_kept)
		return status;
	qsort(run->kept, run->nr_kept, sizeof(*run->kept), compare_kept);
	start_sequence(run, run->kept[0].now.address);
	for (i = 1; i < run->nr_kept; i++)
		assign(run, run->kept[i - 1].now, run->kept[i].now.address);
	return PPROF_OK;
}

enum pprof_status lines_run(struct line_table *table,
			    const struct text_areas *text,
			    const uint64_t *vaddrs, size_t nr,
			    struct line_row *rows)
{
	struct dwarf_cursor cursor = table->program, start;
	enum pprof_status status = PPROF_OK;
	struct run run;

	memset(&run, 0, sizeof(run));
	run.table = table;
	run.text = text;
	run.vaddrs = vaddrs;
	run.nr = nr;
	run.rows = rows;
	if (!table->line_range || !table->opcode_base)
		return PPROF_FORMAT;
	prepare_specials(&run);
	while (!status && cursor.p < cursor.end) {
		start = cursor;
		run.sequence++;
		status = run_sequence(&run, &cursor);
		if (!status && run.is_backward)
			status = run_kept(&run, start);
	}
	mem_free(run.kept);
	return !status && cursor.failed ? PPROF_FORMAT : status;
}

static bool is_absolute(const char *path)
{
	/* Also C:\ and C:/, which cross compilers write. */
	return path[0] == '/' || path[0] == '\\' ||
	       (path[0] && path[1] == ':' &&
		(path[2] == '\\' || path[2] == '/'));
}

static void append_component(struct buf *out, size_t start, const char *part)
{
	if (!*part)
		return;
	if (out->len > start && out->data[out->len - 1] != '/')
		buf_byte(out, '/');
	buf_str(out, part);
}

/*
 * Directory `index`; *ret_joins tells whether a relative one stands below
 * the compilation directory. DWARF 5: directory 0 is that directory.
 */
static const char *find_dir(const struct line_table *table, uint64_t index,
			    bool *ret_joins)
{
	const char *dir = "";

	*ret_joins = true;
	if (table->version >= 5) {
		*ret_joins = index;
		if (index < table->nr_dirs)
			dir = table->dirs[index];
		/* Some producers repeat directory 0 under another number. */
		if (index && table->nr_dirs && !strcmp(dir, table->dirs[0]))
			*ret_joins = false;
	} else if (index && index - 1 < table->nr_dirs) {
		dir = table->dirs[index - 1];
	}
	return dir;
}

void lines_path(const struct line_table *table, uint64_t file, struct buf *out)
{
	const size_t start = out->len;
	const struct line_file *entry;
	const char *dir;
	bool joins;

	/* Files count from 1 before DWARF 5; 0 is none there. */
	if (table->version < 5)
		file--;
	if (file >= table->nr_files)
		return;
	entry = &table->files[file];
	if (!is_absolute(entry->name)) {
		dir = find_dir(table, entry->dir, &joins);
		if (joins && !is_absolute(dir))
			append_component(out, start, table->unit.comp_dir);
		append_component(out, start, dir);
	}
	append_component(out, start, entry->name);
}
