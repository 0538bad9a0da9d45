/* Rows of a session and a statement: the parts of a session's interval, which add up to it. */
#pragma once

#include "mariadb_statements.h"
#include "sources/sessions/session.h"

struct mariadb_session;
struct mariadb_source;

/* The part of a session's interval that is of one statement. */
struct mariadb_part {
    int64_t statement; /* mariadb_statements_merged() */
    int64_t text;      /* the number of one of its texts */
    uint64_t cpu_ns, run_queue_ns, throttled_ns, asleep_ns, unaccounted_ns;
    uint64_t active_ns;  /* of the samples that found it */
    uint64_t running_ns; /* part of active_ns in which it did not sleep */
    uint64_t reported_ns[SESSION_STATE_COUNT];
    uint64_t sample_count;
};

struct mariadb_parts {
    struct mariadb_part *parts; /* [count] */
    size_t count, capacity;
    struct session_time *times; /* [time_capacity] of one row */
    size_t time_capacity;
};

void mariadb_parts_start(struct mariadb_parts *parts);
void mariadb_parts_release(struct mariadb_parts *parts);

/* Returns the part of the statement that has the text of this number; a new one is all 0. NULL
 * without memory. Valid until the next call. */
struct mariadb_part *mariadb_parts_get(struct mariadb_parts *parts,
                                       const struct mariadb_statements *statements, int64_t text);

/* Adds the rows of a session, whose times and their statements are in source->account, and whose
 * reported times are in source->parts. CPU, run-queue and throttled time are divided by the samples
 * that found a statement awake, or else by those that found one; time without a state by the
 * latter. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_parts_add_rows(struct mariadb_source *source, const struct mariadb_session *session,
                           const struct session *row);

/* Returns the labels of a session with the statement that has the text of this number. */
labels_id mariadb_parts_labels(const struct mariadb_source *source, labels_id of_session,
                               int64_t text);

/* Returns the labels of a statement, without a session. */
labels_id mariadb_parts_labels_of_digest(const struct mariadb_source *source,
                                         const struct statement_id *digest);
