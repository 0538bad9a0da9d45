/* What the files of the source share (mariadb.c): asking, and rows. */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_INSIDE_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_INSIDE_H

#include "mariadb_book.h"
#include "mariadb_client.h"
#include "mariadb_server.h"
#include "sources/source.h"

enum tier { TIER_BPF, TIER_SCHEDSTAT, TIER_INSTRUMENTS, TIER_SQL, TIER_COUNT };

/* A statement that is asked again and again, and what it costs. */
struct pace {
    uint64_t asked_ns;  /* when it was answered last */
    uint64_t period_ns; /* until the next one */
    uint64_t cost_ns;   /* of CPU, here and in the server; of one elsewhere: how long it took */
};

struct mariadb_source {
    struct source source; /* first */
    const volatile sig_atomic_t *stop;
    bool background, queries;
    enum tier tier;
    struct mariadb_client *client;
    uint64_t connections; /* that are known: with another one all is learned anew */
    struct mariadb_server server;
    struct mariadb_threads *threads; /* NULL: the server is elsewhere */
    struct mariadb_thread own;       /* who serves us */
    struct mariadb_sessions sessions;
    struct mariadb_waits waits;
    struct pace samples, asked_waits;
    uint64_t transactions_ns; /* when the last sample with transactions was taken; 0: none was */
    struct mariadb_reported reported; /* of this interval; waits NULL: not asked in it */
    size_t not_instrumented; /* sessions that instruments did not know when they were asked last */
    struct mariadb_book book;
    struct session_frame sessions_frame;
    struct camp_error failure;  /* in this interval, or before it and nothing was answered since */
    bool is_answered;           /* a sample was, since the failure */
    char note[FRAME_NOTE_SIZE]; /* of this frame */
};

/* mariadb_ask.c. What could not be asked is in source->failure; CAMP_E_NOMEM alone is a failure. */

/* Learns of the server; what is known of its sessions is forgotten. As mariadb_server_learn(). */
int mariadb_meet_server(struct mariadb_source *source, uint64_t until_ns);

/* Whether the next sample is due: ten a second, fewer where they cost more than 1 % of a CPU. */
bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now_ns);
int mariadb_sample(struct mariadb_source *source, uint64_t until_ns);

/* What the server's instruments say, unless that costs more than 1 % of a CPU. */
int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns);

/* mariadb_rows.c: the rows of a frame that was begun. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_fill_frame(struct mariadb_source *source);

#endif
