/* Shared by the files of the MariaDB source: mariadb.c, mariadb_ask.c and mariadb_rows.c. */
#pragma once

#include "mariadb_account.h"
#include "mariadb_client.h"
#include "sources/source.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

struct mariadb_server {
    bool has_process; /* camp has the right PROCESS, so it sees the sessions of other users */
    /* sum of the enabled INSTRUMENTS_IDLE, ...; 0 if none, or not permitted */
    unsigned instruments;
    uint64_t lost; /* number of objects that did not fit into performance_schema */
    /* Pid of the server if it is on this machine and has a thread for each session; otherwise 0. */
    int32_t pid;
    int32_t own_tid;      /* tid of the thread that serves camp */
    char without_pid[96]; /* why pid is 0 */
};

struct pace {
    uint64_t asked_ns;  /* time of the last answer */
    uint64_t period_ns; /* shortest time until the next request */
    /* CPU time of camp and of the server; for a remote server, time until the answer */
    uint64_t cost_ns;
};

struct mariadb_source {
    struct source source; /* must be the first member */
    const volatile sig_atomic_t *stop;
    bool background, queries;
    enum tier tier;
    struct mariadb_client *client;
    /* Number of connections made when the facts of the server were read. After a new connection the
     * facts are read again. */
    uint64_t connections;
    struct mariadb_server server;
    struct mariadb_threads *threads; /* NULL if the server is remote */
    struct mariadb_thread own;       /* the thread that serves camp */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    struct pace samples, asked_waits;
    uint64_t transactions_ns; /* time of the last sample with transactions; 0 if there was none */
    /* `waits` is NULL if the instruments were not read in this interval */
    struct mariadb_reported reported;
    size_t not_instrumented; /* number of sessions without instruments in the last reading */
    struct mariadb_account account;
    struct session_frame sessions_frame;
    /* The last failure, which may be from an earlier interval if there was no answer since. */
    struct camp_error failure;
    bool is_answered; /* a sample succeeded after the failure */
    char note[FRAME_NOTE_SIZE];
};

/* The following functions are in mariadb_ask.c. mariadb_sample() and mariadb_ask_instruments()
 * return only CAMP_OK or CAMP_E_NOMEM; any other failure goes to source->failure. */

/* Reads the facts of the server until `until_ns`. Returns CAMP_OK, REMOTE_PENDING, or an error of
 * mariadb_client_ask(). */
int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error);

/* Like mariadb_server_read(), but for a source. Drops the sessions of the earlier connection. */
int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns);

/* Finds the thread that serves camp. Its CPU time is a part of the cost of a statement. */
void mariadb_find_own_thread(struct mariadb_source *source);

/* Returns whether the next sample is due. There are ten samples per second, or fewer if they cost
 * more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* Reads the instruments of the server, unless reading costs more than 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* Adds the rows to a frame that was started. Returns CAMP_OK or CAMP_E_NOMEM. The function is in
 * mariadb_rows.c. */
int mariadb_fill_frame(struct mariadb_source *source);
