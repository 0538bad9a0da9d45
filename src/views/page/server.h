/*
 * The local server of camp view. It serves the page to every client, and the stream of frames to
 * clients that have the token. http_rules.h has the access rules.
 *
 * The caller reads a source and passes frames to the server. A thread of libmicrohttpd sends the
 * frames. All clients share one history of the stream (history.h), in which each client has a
 * position. So a client that does not read costs only one frame and one connection, and does not
 * slow down other clients.
 */
#pragma once

#include "history.h"
#include "stream.h"
#include "views/http/http_rules.h"
#include "views/http/listen.h"

struct server;

/* Starts the server. The schema must stay valid until server_close(). Returns CAMP_OK,
 * CAMP_E_INVALID if the schema has too many states, CAMP_E_NOTSUP if camp was built without
 * libmicrohttpd, CAMP_E_NOMEM, or an error of http_server_open(). */
int server_open(const struct listen_address *at, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error);

/* Returns the port and the token of the server. */
const struct http_place *server_at(const struct server *server);

/* `cpus` are those that the rows share. `causes` are those of waits (stream_causes()), or NULL.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int server_frame(struct server *server, const struct frame *frame, struct shared_cpus cpus,
                 const struct bytes *causes);

/* Ends the stream. Clients can still read earlier frames. Returns CAMP_OK or CAMP_E_NOMEM. */
int server_end(struct server *server, const char *reason);

/* Closes all connections within half a second. `server` may be NULL. */
void server_close(struct server *server);
