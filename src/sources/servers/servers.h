/*
 * Several database servers as one source: --from postgres:A --from postgres:B.
 *
 * Each server has a thread of its own, which opens the server's source and reads its intervals, so
 * a slow server delays no other one. All intervals end at the deadline of next(). A row is a
 * session; the label LABEL_SERVER has the name of its server.
 *
 * - Columns: the states of all servers, and their counters. A counter that a server lacks is left
 *   out, because 0 would be wrong, unless it is a part of a state by the rules of another database.
 * - The id of a row has the number of its server in its upper bits (ENTITY_SERVER_SHIFT).
 * - A server that does not answer and has no rows is missing: it is counted in losses.lost, and the
 *   note of the frame names it. If its thread itself is late, its next rows cover the time since
 *   its last ones, and their elapsed_ns says so.
 * - A server that cannot be reached at the start is missing, too, until it can be. If none can be
 *   reached, opening fails.
 */
#pragma once

#include "sources/from.h"
#include "sources/session_facts.h"

#define SERVERS_MOST 64

struct server {
    const char *text;             /* of --from; used until the source is open */
    char name[LABELS_VALUE_SIZE]; /* without secrets */
};

/* Opens the source of one server, which from->text names. Called in the thread of the server. */
typedef int server_opener(const struct from *from, struct source **ret, struct from_facts *facts,
                          struct camp_error *error);

/* Opens servers[count], with 2 <= count <= SERVERS_MOST, at the same time. Returns CAMP_E_INVALID
 * if two of them are the same server, the failure of the first server that cannot be opened by
 * trying again (CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_NOMEM), or that of the first server if none
 * can be reached. */
int servers_source_open(const struct from *from, const struct server *servers, size_t count,
                        server_opener *open, struct source **ret, struct from_facts *facts,
                        struct camp_error *error);

/* What one server has reported in the interval of the last frame. The texts are valid until the
 * next call of the source. */
struct server_report {
    const char *name;
    const char *kind;           /* such as "postgres"; NULL as long as it was never reached */
    const char *tier;           /* likewise */
    const char *from;           /* likewise: --from that opens it again, without secrets */
    struct session_facts facts; /* not answered if the server is missing; then old, or all 0 */
    struct losses losses;
    const char *note;
};

size_t servers_source_count(const struct source *source);

/* `at` is the number of the server less 1, in the order in which it was given. */
struct server_report servers_source_report(const struct source *source, size_t at);
