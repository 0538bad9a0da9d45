/*
 * Sessions of MariaDB as its process list shows them, sampled: the state of each, and how long it
 * has lasted. TIME_MS is the duration of a statement or of the idle time after it, so the time
 * between two different samples is divided at the change, not in the middle.
 */
#pragma once

#include "ledger/frame.h"
#include "libraries/libmariadb.h"
#include "mariadb_threads.h"

/* The statement. With `transactions`, which needs the right PROCESS, it has a column with the
 * transaction of each session: InnoDB rebuilds that table only if it was not read for 0.1 s, and
 * stops all transactions meanwhile, so it must not be read often. With `queries` it has a column
 * with the text of the session's statement. */
const char *mariadb_sessions_statement(bool transactions, bool queries);

/* user, database, client; with `queries` also query */
#define MARIADB_LABELS 4
extern const char *const mariadb_label_names[MARIADB_LABELS];

/* Interned class, event and activity; NULL: out of memory. */
enum { KIND_CLASS, KIND_EVENT, KIND_ACTIVITY, KIND_TEXTS };

/* How long a session was seen in a state. */
struct mariadb_sample {
    const struct labels *kind;
    uint64_t ns;
};

enum mariadb_transaction { MARIADB_NO_TRANSACTION, MARIADB_TRANSACTION, MARIADB_WAITS_FOR_ROW };

/* Most kinds of a session in an interval; the time of further kinds counts for the last one. */
#define MARIADB_SAMPLES 16

struct mariadb_session {
    int64_t id;
    int32_t tid; /* tid of its thread, as the server reports it; 0: none (a pool of threads) */
    bool is_background;
    bool is_seen;                         /* the last sample contains it */
    bool is_idle;                         /* in the last sample: COMMAND is Sleep */
    enum mariadb_transaction transaction; /* when transactions were last read */
    uint64_t lasting_ns;                  /* in the last sample: how long its state has lasted */
    uint64_t sampled_ns;                  /* time of the last sample */
    const struct labels *kind;            /* kind of its state in the last sample */
    char name[CAMP_NAME_SIZE];
    const struct labels *labels;
    struct mariadb_sample samples[MARIADB_SAMPLES]; /* [sample_count] since the last frame */
    size_t sample_count;
    uint64_t times_seen;          /* samples since the last frame that contain it */
    struct mariadb_thread thread; /* its thread, for times by the operating system */
    uint64_t asked_ns;            /* when its instruments were last read; 0: not yet */
    /* start of the interval of its next row, if it has no thread; 0: not started */
    uint64_t begin_ns;
};

/* Ascending by id. All zero: empty. mariadb_sessions_release() frees it. */
struct mariadb_sessions {
    struct mariadb_session *sessions; /* [count] */
    size_t count, capacity;
};

void mariadb_sessions_release(struct mariadb_sessions *sessions);

/* Adds a sample: rows of the statement, answered at `now_ns`. `transactions`: the sample has them;
 * otherwise they stay as they were. `threads`: reports what active sessions sleep in; NULL: the
 * server is remote. A session that has ended stays in the list, with is_seen false. CAMP_OK or
 * CAMP_E_NOMEM. */
int mariadb_sessions_sample(struct mariadb_sessions *sessions, MYSQL_RES *rows, uint64_t now_ns,
                            bool transactions, struct mariadb_threads *threads);

/* After a frame: removes its samples and the ended sessions. */
void mariadb_sessions_start_interval(struct mariadb_sessions *sessions);

/* Returns the kind with these texts; blanks become '_', "" and NULL become "none". */
const struct labels *mariadb_kind(const char *class, const char *event, const char *activity);
