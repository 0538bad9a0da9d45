/* Writes the causes of waits beside the rows of an interval (docs/recording.md, "Causes of waits").
 * The tables exist only in a recording that has causes. */
#pragma once

#include "ledger/index.h"
#include "sources/causes/causes.h"

#include <sqlite3.h>

enum cause_statement {
    INSERT_GROUP,
    INSERT_THREADS,
    INSERT_CAUSE,
    INSERT_LENGTHS,
    INSERT_DEVICE,
    INSERT_OBJECT,
    INSERT_CALL,
    INSERT_OPEN,
    CAUSE_STATEMENT_COUNT
};

/* An all-zero struct has written nothing. */
struct recorder_causes {
    sqlite3 *database;
    sqlite3_stmt *statements[CAUSE_STATEMENT_COUNT];
    int64_t created_tick; /* the interval whose transaction has the tables */
    /* What the file has of each number. Without `is_there` it has no such group now. With
     * `is_unknown` a transaction was rolled back, and the next one writes all of it. */
    struct written_group {
        bool is_unknown;
        bool is_there;
        struct camp_states_group group;
        uint64_t threads, reduced_ns;
    } groups[CAUSE_GROUPS];
    uint32_t *devices; /* [device_count] whose names the file has */
    size_t device_count, device_capacity;
    /* Pairs of a system call and an object, by number - first_object. */
    struct call_name *objects; /* [object_count] */
    size_t object_count, object_capacity;
    int64_t first_object;
    struct index index;
};

/* Writes an interval, and creates the tables before the first.
 * Returns CAMP_OK, CAMP_E_NOMEM or CAMP_E_IO, whose message SQLite has. */
int recorder_causes_write(struct recorder_causes *causes, sqlite3 *database, int64_t tick,
                          const struct causes *interval);

/* Forgets what the rolled-back transaction of an interval has written. */
void recorder_causes_roll_back(struct recorder_causes *causes, int64_t tick);

void recorder_causes_release(struct recorder_causes *causes);
