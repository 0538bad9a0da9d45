/*
 * Samples the sessions of MariaDB by its process list: the state of each session, and how long the
 * state has lasted.
 *
 * The column TIME_MS says how long the current statement, or the idle time since the last
 * statement, has lasted. So camp knows when the state changed, and divides the time between two
 * samples at that moment, not in the middle.
 */
#pragma once

#include "ledger/frame.h"
#include "mariadb_answer.h"
#include "mariadb_threads.h"
#include "sources/sessions/session.h"

/* Returns the statement that reads the process list. `transactions` adds a column with the
 * transaction of each session; camp then needs the right PROCESS. Transactions must not be read
 * often: InnoDB rebuilds its table of transactions if the table was not read for 0.1 s, and stops
 * all transactions meanwhile. `queries` adds a column with the text of each session's statement. */
const struct mariadb_statement *mariadb_sessions_statement(bool transactions, bool queries);

/* The labels of a session: user, database and client; with `queries` also the last statement; then
 * SESSION_LABELS_OF_BLOCKERS and SOURCE_LABEL_WAIT_EVENT. */
#define MARIADB_LABELS (3 + SESSION_LABELS_MORE)
extern const char *const mariadb_label_names[MARIADB_LABELS];
extern const char *const mariadb_label_names_with_queries[MARIADB_LABELS + 1];

/* A kind says what a session does. It is a set of interned labels with these texts, or NULL if
 * memory has run out. */
enum { KIND_CLASS, KIND_EVENT, KIND_ACTIVITY, KIND_TEXTS };

struct mariadb_sample {
    labels_id kind;
    uint64_t ns;
};

enum mariadb_transaction { MARIADB_NO_TRANSACTION, MARIADB_TRANSACTION, MARIADB_WAITS_FOR_ROW };

/* A session has at most this many kinds in an interval. The time of any further kind is added to
 * the last of these kinds. */
#define MARIADB_SAMPLES 16

struct mariadb_session {
    int64_t id;
    int32_t tid; /* the thread that serves the session; 0 if sessions share threads */
    bool is_background;
    bool is_seen;                         /* the last sample has the session */
    bool is_idle;                         /* COMMAND was Sleep in the last sample */
    enum mariadb_transaction transaction; /* in the last sample with transactions */
    uint64_t lasting_ns;                  /* how long the state had lasted at the last sample */
    uint64_t sampled_ns;
    labels_id kind; /* kind of the state in the last sample */
    char name[CAMP_NAME_SIZE];
    labels_id labels;
    struct mariadb_sample samples[MARIADB_SAMPLES]; /* [sample_count] of the current interval */
    size_t sample_count;
    uint64_t times_seen; /* number of samples of the session in the current interval */
    struct mariadb_thread thread;
    /* when the instruments of the session were last read; 0 if never */
    uint64_t asked_ns;
    /* tier SQL only: start of the session's next row; 0 before the first sample */
    uint64_t begin_ns;
};

/* Sessions in the order of their ids. All zero means empty. */
struct mariadb_sessions {
    struct mariadb_session *sessions; /* [count] */
    size_t count, capacity;
};

void mariadb_sessions_release(struct mariadb_sessions *sessions);

#define MARIADB_SESSIONS_MOST ((size_t)20000)

/* Returns NULL if there is no session with this id. */
const struct mariadb_session *mariadb_sessions_find(const struct mariadb_sessions *sessions,
                                                    int64_t id);

/* Adds a sample: the rows of mariadb_sessions_statement(), answered at `now_ns`. If `transactions`
 * is false, the rows have no transactions, and sessions keep the transactions that are known.
 * `threads` tells what active sessions sleep in; it may be NULL. A session that has ended stays in
 * the list with is_seen false. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_SPACE if sessions were left
 * out because there are already MARIADB_SESSIONS_MOST. */
int mariadb_sessions_sample(struct mariadb_sessions *sessions, struct mariadb_answer *rows,
                            uint64_t now_ns, bool transactions, struct mariadb_threads *threads);

/* Called after each frame: removes the samples of all sessions, and the sessions that have ended.
 */
void mariadb_sessions_start_interval(struct mariadb_sessions *sessions);

/* Returns the kind with these texts. Blanks become '_'; "" and NULL become "none". */
labels_id mariadb_kind(const char *class, const char *event, const char *activity);
