/*
 * Reads the source of the exported sessions. The source takes samples between two requests, so a
 * thread reads it all the time, in intervals of a second, and adds up what each interval has of
 * each server. A request asks this thread to end its interval, waits for that, and then shows the
 * sums. So the sums are of the moment of the request, independent of other requests, and a slow
 * server delays no page.
 *
 * This thread alone uses the source and the ledger's labels, which are not thread-safe. The lock
 * protects the sums.
 */
#pragma once

#include "session_sums.h"
#include "sources/session_facts.h"
#include "sources/source.h"

#include <pthread.h>
#include <stdatomic.h>

/* What was read of one server. Protected by the lock of the reader, except that the thread alone
 * writes `sums` and may read it without. */
struct exported_server {
    const char *name; /* of several servers; otherwise NULL */
    const char *kind; /* the name of the schema; NULL if the server was never reached */
    const char *tier; /* likewise */
    struct session_sums sums;
    struct session_facts facts;
    struct losses losses;
    uint64_t unanswered_ns;
    char note[FRAME_NOTE_SIZE];
};

struct exported_reader {
    struct source *source;
    struct exported_server *servers; /* [server_count] */
    size_t server_count;
    bool has_several; /* the source is that of several servers (sources/servers/servers.h) */
    pthread_t thread;
    bool has_thread;
    atomic_bool is_ending;  /* the thread shall end its interval now */
    atomic_bool is_closing; /* and itself */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    /* Protected by the lock. */
    uint64_t asked, answered; /* numbers of requests for the end of an interval */
    uint64_t end_ns;          /* of the last interval; 0 before the first */
    uint64_t cpu_ns;
};

struct exported_sessions_options; /* exported.h */

/* Takes ownership of options->source, also after a failure. Then exported_reader_close() is called
 * in any case. CAMP_OK or CAMP_E_NOMEM. */
int exported_reader_open(struct exported_reader *ret,
                         const struct exported_sessions_options *options);
void exported_reader_close(struct exported_reader *reader);

/* Called with the lock: ends the interval in progress, or gives up after 0.5 s. */
void exported_reader_end_interval(struct exported_reader *reader);

/* Returns whether a server answered at the end of the last interval, not long ago. Called with the
 * lock. */
bool exported_reader_is_up(const struct exported_reader *reader,
                           const struct exported_server *server);
