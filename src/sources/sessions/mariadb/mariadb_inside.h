/* Shared by the files of the MariaDB source: mariadb.c, mariadb_ask.c and mariadb_rows.c. */
#pragma once

#include "mariadb_account.h"
#include "mariadb_blockers.h"
#include "mariadb_client.h"
#include "sources/session_facts.h"
#include "sources/source.h"
#include "statements/mariadb_counts.h"
#include "statements/mariadb_parts.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

struct mariadb_server {
    bool has_process; /* camp has the right PROCESS, so it sees the sessions of other users */
    /* sum of the INSTRUMENTS_... that are enabled; 0 if none is, or if camp may not read them */
    unsigned instruments;
    uint64_t lost; /* number of objects that did not fit into performance_schema */
    /* Pid of the server if it is on this machine and has a thread for each session; otherwise 0. */
    int32_t pid;
    int32_t own_tid;      /* tid of the thread that serves camp */
    char without_pid[96]; /* why pid is 0 */
};

struct pace {
    uint64_t asked_ns;  /* when the last request ended */
    uint64_t period_ns; /* shortest time until the next request */
    /* smoothed cost of a request (mariadb_ask.c) */
    uint64_t cost_ns;
};

struct mariadb_source {
    struct source source; /* must be the first member */
    const volatile sig_atomic_t *stop;
    bool background, queries;
    bool by_statement; /* from.by_statement */
    bool has_parts;    /* rows are of a session and a statement; only with by_statement */
    enum tier tier;
    struct mariadb_client *client;
    /* mariadb_client_facts()->connections when `server` was read. If a new connection increases the
     * number, `server` is read again. */
    uint64_t connections;
    struct mariadb_server server;
    /* Opened before the server is asked, and kept while the tier is bpf; otherwise NULL, and
     * `refusal` says why it could not be opened. */
    struct camp_states *session;
    struct camp_error refusal;
    struct mariadb_threads *threads; /* NULL on the tier SQL, or if the server is remote */
    struct mariadb_thread own;       /* the thread that serves camp */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    struct blocker_samples blockers;
    struct pace samples, asked_waits;
    uint64_t transactions_ns; /* time of the last sample with transactions; 0 if there was none */
    /* reported.waits is NULL if the instruments were not read in this interval */
    struct mariadb_reported reported;
    size_t not_instrumented; /* number of sessions that performance_schema does not have */
    struct mariadb_account account;
    struct mariadb_statements statements;
    struct mariadb_parts parts; /* of one session */
    struct pace learned;        /* when digests of statements were asked for */
    struct mariadb_counts counts;
    struct session_frame sessions_frame;
    /* The last failure. If is_answered is true, the next interval clears it. */
    struct camp_error failure;
    bool is_answered; /* a sample has succeeded since `failure` */
    char note[FRAME_NOTE_SIZE];
    bool wants_facts; /* from.session_facts */
    struct session_facts facts;
};

extern const struct mariadb_statement mariadb_place_statement; /* in mariadb_ask.c */
extern const struct mariadb_statement mariadb_ages_statement;  /* in mariadb_facts.c */

/* The following functions are in mariadb_ask.c. mariadb_sample() and mariadb_ask_instruments()
 * return only CAMP_OK or CAMP_E_NOMEM; any other failure goes to source->failure. */

/* Fills *ret, and waits for the server until `until_ns`. Returns CAMP_OK, REMOTE_PENDING, or an
 * error of mariadb_client_ask(). */
int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error);

/* Fills source->server by mariadb_server_read(). Drops all known sessions, because the connection
 * may lead to another server. */
int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns);

/* Finds source->own, the server's thread that serves camp. Its CPU time is a part of the cost of a
 * statement. */
void mariadb_find_own_thread(struct mariadb_source *source);

/* Returns true if the next sample is due. There are ten samples per second, or fewer if ten would
 * cost more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* Asks for the digests of statements that samples have found, if some are unknown, at most four
 * times a second and at the cost of at most 1 % of a CPU. A failure leaves them unknown. CAMP_OK or
 * CAMP_E_NOMEM. */
int mariadb_learn_digests(struct mariadb_source *source, uint64_t until_ns);

/* Reads the instruments of the server if a reading is due. Readings cost at most 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* Asks a statement of one row, whose texts are valid until the next statement. Returns false if the
 * server has not answered with a row until `until_ns`. */
bool mariadb_ask_row(struct mariadb_source *source, const struct mariadb_statement *statement,
                     uint64_t until_ns, const char *ret[MARIADB_COLUMNS_MOST]);

/* Fills source->facts after the last sample of an interval. The function is in mariadb_facts.c. */
void mariadb_facts_update(struct mariadb_source *source, uint64_t until_ns);

/* Adds the rows of the sessions to source->sessions_frame, after session_frame_begin(). Returns
 * CAMP_OK or CAMP_E_NOMEM. The function is in mariadb_rows.c. */
int mariadb_fill_frame(struct mariadb_source *source);
