/*
 * What the writer and the reader of recordings (camp.1, docs/recording.md) agree upon, and the two
 * decisions behind a small file: which rows need not be written, and which columns are seldom
 * other than zero. Pure arithmetic.
 *
 * A row is at rest when its whole time is in one state and it counted nothing but that time again:
 * a thread that sleeps, a session whose idle_client_ns and reported_idle_ns go with its idle_ns. Of
 * what rests, the first such row is written, with a flag; until another row of that entity comes,
 * the reader gives it back with the length of each interval.
 */
#pragma once

#include "ledger/frame.h"

#define RECORDING_SCHEMA "camp.1"
#define RECORDING_APPLICATION_ID 0x63616d70 /* "camp" */
#define RECORDING_VERSION 2                 /* 1: all counters of what rests are 0 */

/* The columns of the tables that each file has, in their order: for the writer, which creates and
 * fills them, and the reader. Those of an interval come after its number `tick`. */
#define RECORDING_TICK(column)                                                                     \
    column(start_ns) column(end_ns) column(wall_clock_ns) column(unseen) column(lost)              \
        column(unread_ns) column(partial) column(key)
/* Of an entity, as of an interval: after entity, since_tick and table_name. */
#define RECORDING_IDENTITY(column)                                                                 \
    column(id) column(pid) column(parent) column(uid) column(cgroup) column(kernel)
/* Of a column of a table, after table_name and position. */
#define RECORDING_COLUMN(column)                                                                   \
    column(name) column(column_name) column(title) column(help) column(kind) column(provenance)

/* As SQL: ", NAME INTEGER NOT NULL" and the like for each. */
#define SQL_INTEGER(name) ", " #name " INTEGER NOT NULL"
#define SQL_TEXT(name) ", " #name " TEXT NOT NULL"
#define SQL_NAME(name) ", " #name
#define SQL_PARAMETER(name) ", ?"

/* By enum column_kind. */
extern const char *const recording_kinds[3];

/* So often all rows are written, so that a reader can begin there. */
#define RECORDING_KEY_EVERY 60

/* The column `flags` of a row. The first two are those of enum entity_flag. */
enum recording_flag {
    RECORDING_NEW = ENTITY_NEW,
    RECORDING_ENDED = ENTITY_ENDED,
    RECORDING_CHANGED = 1u << 2, /* its identity (name, parent, ...) is another from here on */
    RECORDING_REST = 1u << 3,    /* it goes on so until its next row */
    RECORDING_GONE = 1u << 4     /* it is no longer there: no row, the end of its rest */
};

struct rest {
    int32_t state;  /* which; 0 where the schema has none. Below 0: not at rest */
    uint32_t times; /* its time is so many intervals: of groups that of each member */
    uint64_t again; /* bit i: column i, a counter of time, has that time again */
};

/* Is a row of a frame at rest? Its time, and a counter's that has it again, may differ from whole
 * intervals by a hundredth: a look at many threads reads each at its own moment. */
struct rest rest_of(const struct frame *frame, size_t row);

/* Has a counter the time of what rests again? */
bool rest_has_again(struct rest rest, size_t column);

/* The time of what rests in an interval. */
uint64_t rest_elapsed_ns(const struct frame *frame, struct rest rest);

/* Besides the schema's columns a row has these two. */
enum recording_extra { RECORDING_COUNT, RECORDING_UNACCOUNTED, RECORDING_EXTRA_COUNT };

/* The value of one of a row's columns: those of the schema, then enum recording_extra. Unaccounted
 * time may be below 0. */
uint64_t recording_value(const struct frame *frame, size_t row, size_t column);

/* What it has most of the time: 1 of RECORDING_COUNT, otherwise 0. */
uint64_t recording_usual(const struct schema *schema, size_t column);

/* Which columns (ret_seldom[column_count + RECORDING_EXTRA_COUNT]) are better kept in a table of
 * their own, where a row stands only when one of them is not as usual: chosen so that rows like
 * those of the frame take the least room. Each column costs a byte in each row that has it. */
void recording_plan(const struct frame *frame, bool *ret_seldom);
