/*
 * Samples the sessions of MariaDB by its process list: the state of each session, and how long the
 * state has lasted.
 *
 * TIME_MS is the duration of a statement, or of the idle time after a statement. So the time
 * between two samples with different states is divided when the state changed, not in the middle.
 */
#pragma once

#include "ledger/frame.h"
#include "libraries/libmariadb.h"
#include "mariadb_threads.h"

/* Returns the statement that reads the process list. With `transactions`, which needs the right
 * PROCESS, a column has the transaction of each session. Transactions must not be read often:
 * InnoDB rebuilds their table if it was not read for 0.1 s, and stops all transactions meanwhile.
 * With `queries`, a column has the text of the statement of each session. */
const char *mariadb_sessions_statement(bool transactions, bool queries);

/* user, database and client; with `queries` also query */
#define MARIADB_LABELS 4
extern const char *const mariadb_label_names[MARIADB_LABELS];

/* The texts of a kind, in this order. A kind is interned labels; it is NULL if there is no
 * memory. */
enum { KIND_CLASS, KIND_EVENT, KIND_ACTIVITY, KIND_TEXTS };

struct mariadb_sample {
    const struct labels *kind;
    uint64_t ns;
};

enum mariadb_transaction { MARIADB_NO_TRANSACTION, MARIADB_TRANSACTION, MARIADB_WAITS_FOR_ROW };

/* The largest number of kinds of a session in an interval. The time of further kinds is added to
 * the last kind. */
#define MARIADB_SAMPLES 16

struct mariadb_session {
    int64_t id;
    int32_t tid; /* the thread that serves the session; 0 if sessions share threads */
    bool is_background;
    bool is_seen;                         /* the last sample has the session */
    bool is_idle;                         /* COMMAND was Sleep in the last sample */
    enum mariadb_transaction transaction; /* as of the last sample with transactions */
    uint64_t lasting_ns;                  /* how long the state had lasted at the last sample */
    uint64_t sampled_ns;
    const struct labels *kind; /* kind of the state in the last sample */
    char name[CAMP_NAME_SIZE];
    const struct labels *labels;
    struct mariadb_sample samples[MARIADB_SAMPLES]; /* [sample_count] since the last frame */
    size_t sample_count;
    uint64_t times_seen; /* number of samples since the last frame that have the session */
    struct mariadb_thread thread;
    /* when the instruments of the session were last read; 0 if never */
    uint64_t asked_ns;
    /* on the tier SQL: start of the interval of the next row; 0 before the first sample */
    uint64_t begin_ns;
};

/* Sessions in the order of their ids. All zero means empty. */
struct mariadb_sessions {
    struct mariadb_session *sessions; /* [count] */
    size_t count, capacity;
};

void mariadb_sessions_release(struct mariadb_sessions *sessions);

/* Adds a sample: the rows of mariadb_sessions_statement(), answered at `now_ns`. If `transactions`
 * is false, the rows have no transactions, and sessions keep the known ones. `threads` tells what
 * active sessions sleep in; it may be NULL. A session that has ended stays in the list with is_seen
 * false. Returns CAMP_OK or CAMP_E_NOMEM. */
int mariadb_sessions_sample(struct mariadb_sessions *sessions, MYSQL_RES *rows, uint64_t now_ns,
                            bool transactions, struct mariadb_threads *threads);

/* Starts the next interval after a frame: removes the samples of the frame, and the ended
 * sessions. */
void mariadb_sessions_start_interval(struct mariadb_sessions *sessions);

/* Returns the interned labels of these texts. Blanks become '_'; "" and NULL become "none". */
const struct labels *mariadb_kind(const char *class, const char *event, const char *activity);
