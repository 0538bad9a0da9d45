/*
 * The format of recordings (camp.1, docs/recording.md), which the writer and the reader share.
 * These functions decide which rows are written and which columns move to a second table.
 *
 * A row is idle if its whole time is in one state and each of its counters is 0 or equals that
 * time. A sleeping thread is an example. The writer stores only the first of several equal idle
 * rows, with a flag. The reader restores the others until the next row of the entity; each restored
 * row has the length of its interval.
 */
#pragma once

#include "ledger/frame.h"

#define RECORDING_SCHEMA "camp.1"
#define RECORDING_APPLICATION_ID 0x63616d70 /* the text "camp" */
#define RECORDING_VERSION 2                 /* In version 1, all counters of idle rows are 0. */

enum recording_fact {
    RECORDING_SOURCE, /* the value of the option --from */
    RECORDING_KIND,
    RECORDING_TIER,
    RECORDING_HOST,
    RECORDING_KERNEL,
    RECORDING_CAMP,
    RECORDING_FORMAT,
    RECORDING_TABLE,
    RECORDING_BESIDE,
    RECORDING_NOTE,
    RECORDING_INTERVAL,
    RECORDING_FACT_COUNT
};

extern const char *const recording_fact_names[RECORDING_FACT_COUNT];

/* These three macros list columns of the tables that every file has, in order. RECORDING_TICK has
 * the columns of the table of intervals, after its column `tick`, the number of the interval. */
#define RECORDING_TICK(column)                                                                     \
    column(start_ns) column(end_ns) column(wall_clock_ns) column(unseen) column(lost)              \
        column(unread_ns) column(partial) column(key)
/* The columns of an entity's identity, after the columns entity, since_tick and table_name. */
#define RECORDING_IDENTITY(column)                                                                 \
    column(id) column(pid) column(parent) column(uid) column(cgroup) column(kernel)
/* The columns that describe a column of a table, after the columns table_name and position. */
#define RECORDING_COLUMN(column)                                                                   \
    column(name) column(column_name) column(title) column(help) column(kind) column(provenance)

/* Each of these macros turns a column name into a part of an SQL statement. */
#define SQL_INTEGER(name) ", " #name " INTEGER NOT NULL"
#define SQL_TEXT(name) ", " #name " TEXT NOT NULL"
#define SQL_NAME(name) ", " #name
#define SQL_PARAMETER(name) ", ?"

/* The names of enum column_kind, in the order of its values. */
extern const char *const recording_kinds[3];

/* Every 60th interval is a key interval. All rows of a key interval are written, so that a reader
 * can start there. */
#define RECORDING_KEY_EVERY 60

/* Flags of a row. The first two have the values of enum entity_flag. */
enum recording_flag {
    RECORDING_NEW = ENTITY_NEW,
    RECORDING_ENDED = ENTITY_ENDED,
    /* the name, parent or another part of the identity changed in this interval */
    RECORDING_CHANGED = 1u << 2,
    RECORDING_IDLE = 1u << 3, /* The entity stays idle until its next row. */
    RECORDING_GONE = 1u << 4  /* The entity has no rows after this row. */
};

struct idle_row {
    /* The only state of the row, or 0 if the schema has no states. A negative value means that the
     * row is not idle. */
    int32_t state;
    /* The time of the row divided by the length of the interval. A row for a group of 3 threads has
     * 3. */
    uint32_t times;
    uint64_t repeated; /* Bit i is set if column i is a counter that equals the time of the row. */
};

extern const struct idle_row not_idle;

/* Describes whether a row is idle. Its time may differ from a whole number of intervals by a
 * hundredth, because a snapshot does not read all threads at the same moment. */
struct idle_row idle_row_of(const struct frame *frame, size_t row);

/* Tells whether the column is a counter that equals the time of the idle row. */
bool idle_row_repeats(struct idle_row idle, size_t column);

/* Each row has these two values after the columns of the schema. */
enum recording_extra { RECORDING_COUNT, RECORDING_UNACCOUNTED, RECORDING_EXTRA_COUNT };

/* Returns the value of a column of the schema. For column_count + RECORDING_COUNT and column_count
 * + RECORDING_UNACCOUNTED, returns these two values. The unaccounted time may be negative
 * (int64_t). */
uint64_t recording_value(const struct frame *frame, size_t row, size_t column);

/* Returns the value that a column has in most rows: 1 for RECORDING_COUNT, otherwise 0. */
uint64_t recording_usual(const struct schema *schema, size_t column);

/* Selects the columns that move to a second table (NAME_seldom). This table has a row only if one
 * of its columns differs from recording_usual(). The selection takes the least space for rows like
 * those of the frame. ret_seldom has column_count + RECORDING_EXTRA_COUNT elements. */
void recording_plan(const struct frame *frame, bool *ret_seldom);
