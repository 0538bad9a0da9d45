/* Shared by the files of the MariaDB source (mariadb.c): requests and rows. */
#pragma once

#include "mariadb_account.h"
#include "mariadb_client.h"
#include "mariadb_server.h"
#include "sources/source.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

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

/* Reads the facts of the server, and forgets its sessions. As mariadb_server_read(). */
int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns);

/* Whether the next sample is due: ten per second, fewer if they cost more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* Reads the server's instruments, unless that costs more than 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* mariadb_rows.c: adds the rows of a started frame. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_fill_frame(struct mariadb_source *source);
