/* Shared by the files of the MariaDB source (mariadb.c): requests and rows. */
#pragma once

#include "mariadb_account.h"
#include "mariadb_client.h"
#include "sources/source.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

/* The facts of a server after connecting: rights, instruments, machine. */
struct mariadb_server {
    bool has_process;     /* the right PROCESS: other users' sessions are visible */
    unsigned instruments; /* INSTRUMENTS_IDLE ...; 0: none, or not permitted */
    uint64_t lost;        /* conditions, sessions, ... that did not fit into performance_schema */
    int32_t pid;          /* of a server on this machine with a thread per session; 0: otherwise */
    int32_t own_tid;      /* the thread that serves camp, if pid is known */
    char without_pid[96]; /* why pid is unknown */
};

/* A repeated statement and its cost. */
struct pace {
    uint64_t asked_ns;  /* time of the last answer */
    uint64_t period_ns; /* until the next one */
    uint64_t cost_ns;   /* CPU time here and in the server; remote: time until the answer */
};

struct mariadb_source {
    struct source source; /* first */
    const volatile sig_atomic_t *stop;
    bool background, queries;
    enum tier tier;
    struct mariadb_client *client;
    uint64_t connections; /* of the known server: a new one means reading all again */
    struct mariadb_server server;
    struct mariadb_threads *threads; /* NULL: the server is remote */
    struct mariadb_thread own;       /* the thread that serves camp */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    struct pace samples, asked_waits;
    uint64_t transactions_ns;         /* time of the last sample with transactions; 0: none yet */
    struct mariadb_reported reported; /* of this interval; waits NULL: not read in it */
    size_t not_instrumented; /* sessions missing in the instruments when they were last read */
    struct mariadb_account account;
    struct session_frame sessions_frame;
    struct camp_error failure;  /* in this interval, or earlier without an answer since */
    bool is_answered;           /* a sample succeeded since the failure */
    char note[FRAME_NOTE_SIZE]; /* of this frame */
};

/* mariadb_ask.c. What could not be read is in source->failure; only CAMP_E_NOMEM is returned. */

/* Reads the facts, until `until_ns`. CAMP_OK, REMOTE_PENDING, or as mariadb_client_ask(). */
int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error);

/* The same for the source, which forgets the server's sessions. */
int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns);

/* Finds the thread that serves camp, to know what a statement costs there. */
void mariadb_find_own_thread(struct mariadb_source *source);

/* Whether the next sample is due: ten per second, fewer if they cost more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* Reads the server's instruments, unless that costs more than 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* mariadb_rows.c: adds the rows of a started frame. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_fill_frame(struct mariadb_source *source);
