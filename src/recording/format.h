/*
 * The format of recordings (camp.1, docs/recording.md), for the writer and the reader.
 *
 * A row is idle if all its time is in one state, and each of its counters is 0 or equals that time.
 * The row of a sleeping thread is an example. While the rows of an entity stay idle and equal, the
 * writer stores only the first of them, with the flag RECORDING_IDLE. In each later interval, until
 * the entity's next stored row, the reader restores a row with the length of that interval.
 */
#pragma once

#include "ledger/frame.h"

#define RECORDING_SCHEMA "camp.1"
#define RECORDING_APPLICATION_ID 0x63616d70 /* the text "camp" */
/* Version 2 allows counters other than 0 in idle rows. Version 3 has the rest of columns that have
 * parts. Version 4 numbers the rows and the names of labels: `tick` has the rows of each interval,
 * so that no row has the number of its interval. */
#define RECORDING_VERSION 4

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
    RECORDING_SERVER_CPUS, /* from_facts.server_cpus; absent if it is unknown */
    RECORDING_FACT_COUNT
};

extern const char *const recording_fact_names[RECORDING_FACT_COUNT];

/* Calls column(NAME) for each column of the tables `tick` and `tick_beside`, except for the
 * first. */
#define RECORDING_TICK(column)                                                                     \
    column(start_ns) column(end_ns) column(wall_clock_ns) column(unseen) column(lost)              \
        column(unread_ns) column(partial) column(key)
/* Like RECORDING_TICK for the last columns of these tables, which files have since version 4. */
#define RECORDING_RANGE(column) column(first_row) column(row_count)
/* Like RECORDING_TICK for the table `identity`, from its 4th column to the last but one. */
#define RECORDING_IDENTITY(column)                                                                 \
    column(id) column(pid) column(parent) column(uid) column(cgroup) column(kernel)
/* Like RECORDING_TICK for the table `column_info`, from its 3rd column to the last but one. */
#define RECORDING_COLUMN(column)                                                                   \
    column(name) column(column_name) column(title) column(help) column(kind) column(provenance)

/* Like RECORDING_COLUMN for the last columns of the table `column_info`. */
#define RECORDING_PLACE(column) column(seldom) column(part_of)

/* Arguments for the macros above. Each makes a part of an SQL statement from the name of a
 * column. */
#define SQL_INTEGER(name) ", " #name " INTEGER NOT NULL"
#define SQL_TEXT(name) ", " #name " TEXT NOT NULL"
#define SQL_NAME(name) ", " #name
#define SQL_PARAMETER(name) ", ?"

/* The names of enum column_kind, in the order of its values. */
extern const char *const recording_kinds[3];

/* Every 60th interval is a key interval. All rows of a key interval are written, so that a reader
 * can start there. */
#define RECORDING_KEY_EVERY 60

/* Bits in the column `flags` of a row. */
enum recording_flag {
    RECORDING_NEW = ENTITY_NEW,
    RECORDING_ENDED = ENTITY_ENDED,
    /* the name, parent or another part of the identity changed in this interval */
    RECORDING_CHANGED = 1u << 2,
    RECORDING_IDLE = 1u << 3, /* The reader restores this row until the next row of the entity. */
    /* The reader stops restoring the entity's idle row. A row with this flag has no values. */
    RECORDING_GONE = 1u << 4,
    RECORDING_UNTHROTTLED = ENTITY_UNTHROTTLED
};

struct idle_row {
    /* index of the state that has all the time, or 0 if the schema has no states; negative if the
     * row is not idle */
    int32_t state;
    /* The time of the row divided by the length of the interval: 3 for 3 sleeping threads. */
    uint32_t times;
    uint64_t repeated; /* Bit i is set if column i is a counter that equals the time of the row. */
};

extern const struct idle_row not_idle;

/* Returns not_idle for a row that is not idle. The time of an idle row may differ from a multiple
 * of the interval by a hundredth, because a snapshot does not read all threads at the same
 * moment. */
struct idle_row idle_row_of(const struct frame *frame, size_t row);

/* Returns whether the column is a counter that equals the time of the idle row. */
bool idle_row_repeats(struct idle_row idle, size_t column);

/* Each row has these two values after the columns of the schema. */
enum recording_extra { RECORDING_COUNT, RECORDING_UNACCOUNTED, RECORDING_EXTRA_COUNT };

/* The columns that are parts of another column: from `first` to `end`, without `end`. The file has
 * only the rest of that column. Counters are parts of a state: idle_client_ns of idle_ns, whose
 * rest is 0 if its parts add up to it. A state may be a part of what the database reports of it:
 * reported_idle_ns is mostly a little more than idle_ns. */
struct recording_parts {
    size_t first, end;
};

/* Finds the parts of each column. Sets ret[column_count + RECORDING_EXTRA_COUNT]. A state is a part
 * of what is reported of it if rows like those of the frame then take less space. */
void recording_find_parts(const struct frame *frame, struct recording_parts *ret);

/* Returns the value that the file has of a column of the schema: if it has parts, the rest. Column
 * column_count + RECORDING_COUNT is the row's `count`. Column column_count + RECORDING_UNACCOUNTED
 * is its unaccounted time. The rest and the unaccounted time are an int64_t. */
uint64_t recording_value(const struct frame *frame, size_t row, size_t column,
                         const struct recording_parts *parts);

/* Returns the value that a column has in most rows: 1 for RECORDING_COUNT, otherwise 0. */
uint64_t recording_usual(const struct schema *schema, size_t column);

/* Selects the columns of the second table (NAME_seldom), so that rows like those of the frame take
 * the least space. The second table has a row only if one of its columns differs from
 * recording_usual(). Sets ret_seldom[column_count + RECORDING_EXTRA_COUNT]. */
void recording_plan(const struct frame *frame, const struct recording_parts *parts,
                    bool *ret_seldom);
