/*
 * Sessions of MariaDB as its process list shows them, sampled: what each did at the moment, and
 * since when. TIME_MS says how long a statement, or the idle time behind it, lasts, so that of two
 * samples that differ the time between is divided where the change was, not in the middle.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_SESSIONS_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_SESSIONS_H

#include "ledger/frame.h"
#include "libraries/libmariadb.h"
#include "mariadb_threads.h"

/* The statements. With `transactions`, which takes the right PROCESS, each session's transaction is
 * a column: InnoDB makes that table anew only when nobody has read it for 0.1 s, and stops all
 * transactions for it, so that it is not to be asked for often. With `queries` the text of a
 * session's statement is one. */
const char *mariadb_sessions_statement(bool transactions, bool queries);

/* user, database, client; with `queries` also query. */
#define MARIADB_LABELS 4
extern const char *const mariadb_label_names[MARIADB_LABELS];

/* Class, event, activity: interned, as labels are; NULL: there is no memory for more. */
enum { KIND_CLASS, KIND_EVENT, KIND_ACTIVITY, KIND_TEXTS };

/* How long a session was seen to do something. */
struct mariadb_sample {
    const struct labels *kind;
    uint64_t ns;
};

enum mariadb_transaction { MARIADB_NO_TRANSACTION, MARIADB_TRANSACTION, MARIADB_WAITS_FOR_ROW };

#define MARIADB_SAMPLES 16 /* kinds of a session in an interval; those beyond are of the last */

struct mariadb_session {
    int64_t id;
    int32_t tid; /* of its thread, by the server's word; 0: it has none (a pool of threads) */
    bool is_background;
    bool is_seen;                         /* by the last sample */
    bool is_idle;                         /* likewise: COMMAND is Sleep */
    enum mariadb_transaction transaction; /* when transactions were asked for last */
    uint64_t lasting_ns;                  /* likewise: what it does lasts for so long already */
    uint64_t sampled_ns;                  /* when that was */
    const struct labels *kind;            /* what it did then */
    char name[CAMP_NAME_SIZE];
    const struct labels *labels;
    struct mariadb_sample samples[MARIADB_SAMPLES]; /* [sample_count] since the last frame */
    size_t sample_count;
    uint64_t times_seen;          /* samples that saw it since the last frame */
    struct mariadb_thread thread; /* of the operating system */
    uint64_t asked_ns;            /* when its instruments were read last; 0: not yet */
    uint64_t begin_ns; /* of its next row, where there is no thread to tell; 0: not begun */
};

/* Ascending by id. All zero is empty; owned: mariadb_sessions_release(). */
struct mariadb_sessions {
    struct mariadb_session *sessions; /* [count] */
    size_t count, capacity;
};

void mariadb_sessions_release(struct mariadb_sessions *sessions);

/* Takes a sample: rows of the statement, answered at `now_ns`. `transactions`: they are in it, or
 * are what they were before. `threads`: asks of those that are
 * active what they sleep in; NULL: the server is elsewhere. Who is no longer there stays, without
 * is_seen. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_sessions_sample(struct mariadb_sessions *sessions, MYSQL_RES *rows, uint64_t now_ns,
                            bool transactions, struct mariadb_threads *threads);

/* After a frame: forgets what was sampled, and who is no longer there. */
void mariadb_sessions_turn(struct mariadb_sessions *sessions);

/* NULL: there is none of this id. */
struct mariadb_session *mariadb_sessions_find(const struct mariadb_sessions *sessions, int64_t id);

/* The kind of these texts; blanks become '_', "" and NULL "none". */
const struct labels *mariadb_kind(const char *class, const char *event, const char *activity);

#endif
