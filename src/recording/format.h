/*
 * The format of recordings (camp.1, docs/recording.md), which their writer and their reader share,
 * and the two decisions behind a small file: which rows are written, and which columns are seldom
 * other than zero. Pure arithmetic.
 *
 * A row is idle when its whole time is in one state, and its counters are 0 or count that time
 * again: a thread that sleeps, a session whose idle_client_ns and reported_idle_ns repeat its
 * idle_ns. Only the first of an entity's idle rows is written, with a flag. Until the entity's next
 * row the reader restores the others, each with the length of its interval.
 */
#pragma once

#include "ledger/frame.h"

#define RECORDING_SCHEMA "camp.1"
#define RECORDING_APPLICATION_ID 0x63616d70 /* "camp" */
#define RECORDING_VERSION 2                 /* 1: all counters of idle rows are 0 */

/* The facts of a file: the keys of its table `camp`. */
enum recording_fact {
    RECORDING_SOURCE, /* as --from names it */
    RECORDING_KIND,
    RECORDING_TIER,
    RECORDING_HOST,
    RECORDING_KERNEL,
    RECORDING_CAMP, /* its version */
    RECORDING_FORMAT,
    RECORDING_TABLE,
    RECORDING_BESIDE,
    RECORDING_NOTE,
    RECORDING_INTERVAL, /* in ns */
    RECORDING_FACT_COUNT
};

extern const char *const recording_fact_names[RECORDING_FACT_COUNT];

/* The columns of the tables that each file has, in their order. These columns of an interval follow
 * its number `tick`. */
#define RECORDING_TICK(column)                                                                     \
    column(start_ns) column(end_ns) column(wall_clock_ns) column(unseen) column(lost)              \
        column(unread_ns) column(partial) column(key)
/* The columns of an entity's identity, which follow entity, since_tick and table_name. */
#define RECORDING_IDENTITY(column)                                                                 \
    column(id) column(pid) column(parent) column(uid) column(cgroup) column(kernel)
/* The columns that describe a column of a table, which follow table_name and position. */
#define RECORDING_COLUMN(column)                                                                   \
    column(name) column(column_name) column(title) column(help) column(kind) column(provenance)

/* Each of these columns in SQL: ", NAME INTEGER NOT NULL" and the like. */
#define SQL_INTEGER(name) ", " #name " INTEGER NOT NULL"
#define SQL_TEXT(name) ", " #name " TEXT NOT NULL"
#define SQL_NAME(name) ", " #name
#define SQL_PARAMETER(name) ", ?"

/* Names, by enum column_kind. */
extern const char *const recording_kinds[3];

/* One interval in so many is a key: all its rows are written, so that a reader can start there. */
#define RECORDING_KEY_EVERY 60

/* The column `flags` of a row. The first two are those of enum entity_flag. */
enum recording_flag {
    RECORDING_NEW = ENTITY_NEW,
    RECORDING_ENDED = ENTITY_ENDED,
    RECORDING_CHANGED = 1u << 2, /* the identity (name, parent, ...) changed in this interval */
    RECORDING_IDLE = 1u << 3,    /* the entity is idle until its next row */
    RECORDING_GONE = 1u << 4     /* the entity has no row from here on */
};

/* Whether and how a row is idle. */
struct idle_row {
    int32_t state;  /* its only state; 0 where the schema has none. Below 0: the row is not idle */
    uint32_t times; /* the row's time in intervals: a group of 3 has the time of 3 */
    uint64_t repeated; /* bit i: column i is a counter with the same time */
};

extern const struct idle_row not_idle;

/* The idle row's time, and that of a counter that repeats it, may differ from whole intervals by a
 * hundredth, because a snapshot reads each of many threads at its own moment. */
struct idle_row idle_row_of(const struct frame *frame, size_t row);

/* Does a counter repeat the time of the state? */
bool idle_row_repeats(struct idle_row idle, size_t column);

/* Besides the schema's columns a row has these two. */
enum recording_extra { RECORDING_COUNT, RECORDING_UNACCOUNTED, RECORDING_EXTRA_COUNT };

/* The value of a row's column: a column of the schema, or after them enum recording_extra.
 * Unaccounted time may be below 0. */
uint64_t recording_value(const struct frame *frame, size_t row, size_t column);

/* The column's value in most rows: 1 for RECORDING_COUNT, otherwise 0. */
uint64_t recording_usual(const struct schema *schema, size_t column);

/* Selects the columns (ret_seldom[column_count + RECORDING_EXTRA_COUNT]) for a second table, which
 * has a row only if one of them has an unusual value. The selection is the one with which rows like
 * the frame's take the least space. A column costs a byte in each row of its table. */
void recording_plan(const struct frame *frame, bool *ret_seldom);
