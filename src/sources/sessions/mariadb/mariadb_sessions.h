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
#include "statements/mariadb_statements.h"

/* Returns the statement that reads the process list. `transactions` adds a column with the
 * transaction of each session; camp then needs the right PROCESS. Transactions must not be read
 * often: InnoDB rebuilds its table of transactions if the table was not read for 0.1 s, and stops
 * all transactions meanwhile. `texts` adds the text of each session's statement, as a label or to
 * divide time by it. */
enum mariadb_texts { MARIADB_NO_TEXTS, MARIADB_TEXTS_AS_LABELS, MARIADB_TEXTS_TO_DIVIDE };
const struct mariadb_statement *mariadb_sessions_statement(bool transactions,
                                                           enum mariadb_texts texts);

/* The labels of a session: user, database and client; with texts also the last statement, or the
 * statement by which time is divided; then SESSION_LABELS_OF_BLOCKERS and SOURCE_LABEL_WAIT_EVENT.
 */
#define MARIADB_LABELS (3 + SESSION_LABELS_MORE)
#define MARIADB_LABEL_STATEMENT 3
extern const char *const mariadb_label_names[MARIADB_LABELS];
extern const char *const mariadb_label_names_with_queries[MARIADB_LABELS + 1];
extern const char *const mariadb_label_names_by_statement[MARIADB_LABELS + 1];

/* A kind says what a session does. It is a set of interned labels with these texts, or NULL if
 * memory has run out. */
enum { KIND_CLASS, KIND_EVENT, KIND_ACTIVITY, KIND_TEXTS };

struct mariadb_sample {
    labels_id kind;
    uint64_t ns;
    int64_t statement; /* its number (mariadb_statements.h), if time is divided by statement */
    /* The session sleeps, and whether it waits for the lock of a row is unknown: see
     * mariadb_row_waits.h. */
    bool is_open;
};

enum mariadb_transaction { MARIADB_NO_TRANSACTION, MARIADB_TRANSACTION, MARIADB_WAITS_FOR_ROW };

/* A session has at most this many different samples in an interval. The time of any further one is
 * added to the last of them. */
#define MARIADB_SAMPLES 16
#define MARIADB_SAMPLES_BY_STATEMENT 64

/* Whether the statement of a session waits for the lock of a row. */
enum mariadb_row_wait { MARIADB_ROW_UNKNOWN, MARIADB_ROW_FREE, MARIADB_ROW_LOCKED };

struct mariadb_session {
    int64_t id;
    int32_t tid; /* the thread that serves the session; 0 if sessions share threads */
    bool is_background;
    bool is_seen;                         /* the last sample has the session */
    bool is_idle;                         /* COMMAND was Sleep in the last sample */
    enum mariadb_transaction transaction; /* in the last sample with transactions */
    uint64_t lasting_ns;                  /* how long the state had lasted at the last sample */
    uint64_t sampled_ns;
    struct mariadb_sample last;     /* the state in the last sample; its time is 0 */
    enum mariadb_row_wait row_wait; /* only if time is divided by statement */
    uint64_t row_known_ns;          /* when row_wait was found */
    char name[CAMP_NAME_SIZE];
    labels_id labels;
    struct mariadb_sample *samples; /* [sample_count] of the current interval, all different */
    size_t sample_count, sample_capacity;
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
 * `threads` reports what active sessions sleep in; it may be NULL. `statements` gets the statements
 * of MARIADB_TEXTS_TO_DIVIDE; it is NULL otherwise. A session that has ended stays in the list with
 * is_seen false. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_SPACE if sessions were left
 * out because there are already MARIADB_SESSIONS_MOST. */
int mariadb_sessions_sample(struct mariadb_sessions *sessions, struct mariadb_answer *rows,
                            uint64_t now_ns, bool transactions, struct mariadb_threads *threads,
                            struct mariadb_statements *statements);

/* Adds time to a sample of the session. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_session_add_sample(struct mariadb_session *session, const struct mariadb_sample *sample,
                               uint64_t ns);

/* Called after each frame: removes the samples of all sessions, and the sessions that have ended.
 */
void mariadb_sessions_start_interval(struct mariadb_sessions *sessions);

/* Returns the kind with these texts. Blanks become '_'; "" and NULL become "none". */
labels_id mariadb_kind(const char *class, const char *event, const char *activity);
