/* The exported sessions of one server, and of several (exported_servers.c). */
#pragma once

#include "exported_inside.h"
#include "exported_reader.h"

struct exported_sessions {
    struct exported_reader *reader;
    const struct exported_server *server; /* NULL in what joins the servers */
    const char *cpu, *waits;              /* labels of SERVER_INFO */

    /* Of the last page. The names are copies, because the thread may free those of the sums. */
    struct metric metrics[EXPORTED_FAMILY_COUNT];
    struct series *series[2]; /* those of SESSION_TIME and SESSION_STATE */
    char (*names)[MEMBERS_NAME_SIZE];

    /* In what joins the servers, which owns the reader. */
    struct exported **servers; /* [server_count] */
    size_t server_count;
    struct series *joined[EXPORTED_FAMILY_COUNT]; /* [most[i]] */
    size_t most[EXPORTED_FAMILY_COUNT];
    uint64_t cpu_ns;
    char note[FRAME_NOTE_SIZE];
};

/* Opens the series of server `at` of the reader. CAMP_OK or CAMP_E_NOMEM. */
int exported_sessions_open_server(struct exported_reader *reader, size_t at,
                                  const struct exported_sessions_options *options,
                                  struct exported **ret);

/* Fills the series of one server. Called with the lock of the reader. */
void exported_sessions_fill(struct exported *exported);

/* Closes the servers and the reader of what joins them; does nothing with one server. */
void exported_servers_close(struct exported_sessions *sessions);
