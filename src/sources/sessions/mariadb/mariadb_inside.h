/* Shared by the files of the MariaDB source (mariadb.c): requests and rows. */
#pragma once

#include "mariadb_account.h"
#include "mariadb_client.h"
#include "sources/source.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

/* The facts of a server after connecting: rights, instruments, machine. */
struct mariadb_server {
    bool has_process;     /* the right PROCESS: other users' sessions are visible */
    unsigned instruments; /* the enabled ones, INSTRUMENTS_IDLE ...; 0: none, or not permitted */
    uint64_t lost;        /* conditions, sessions, ... that did not fit into performance_schema */
    int32_t pid;     /* the server's pid, if it is on this machine and has a thread per session;
                      * otherwise 0 */
    int32_t own_tid; /* the thread that serves camp, if pid is known */
    char without_pid[96]; /* why pid is unknown */
};

/* A repeated statement and its cost. */
struct pace {
    uint64_t asked_ns;  /* time of the last answer */
    uint64_t period_ns; /* time until the next request */
    /* CPU time of camp and the server; for a remote server, time until the answer */
    uint64_t cost_ns;
};

struct mariadb_source {
    struct source source; /* first */
    const volatile sig_atomic_t *stop;
    bool background, queries;
    enum tier tier;
    struct mariadb_client *client;
    uint64_t connections; /* the connection whose server is known: after a new connection the facts
                           * are read again */
    struct mariadb_server server;
    struct mariadb_threads *threads; /* NULL: the server is remote */
    struct mariadb_thread own;       /* the thread that serves camp */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    struct pace samples, asked_waits;
    uint64_t transactions_ns; /* time of the last sample with transactions; 0: none yet */
    /* waits NULL: the instruments were not read in this interval */
    struct mariadb_reported reported;
    size_t not_instrumented; /* sessions without instruments in the last reading */
    struct mariadb_account account;
    struct session_frame sessions_frame;
    /* the last failure: in this interval, or earlier if there was no answer since */
    struct camp_error failure;
    bool is_answered;           /* a sample succeeded since the failure */
    char note[FRAME_NOTE_SIZE]; /* the note of the current frame */
};

/* mariadb_ask.c. What could not be read is in source->failure; only CAMP_E_NOMEM is returned. */

/* Reads the facts, until `until_ns`. CAMP_OK, REMOTE_PENDING, or as mariadb_client_ask(). */
int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error);

/* The same for the source, which drops the earlier sessions. */
int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns);

/* Finds the thread that serves camp, whose CPU time is a part of the cost of a statement. */
void mariadb_find_own_thread(struct mariadb_source *source);

/* Whether the next sample is due: ten per second, fewer if they cost more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* Reads the server's instruments, unless that costs more than 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* mariadb_rows.c: adds the rows of a started frame. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_fill_frame(struct mariadb_source *source);
