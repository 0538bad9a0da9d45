/*
 * The local server of camp view: the page, and the stream of frames for clients with the token.
 *
 * The caller reads a source and passes frames; a thread of libmicrohttpd sends them. Clients share
 * one history of the stream (history.h), each at its own position: a client that does not read does
 * not slow down the others, and costs one frame and a connection. http_rules.h has the access
 * rules.
 */
#pragma once

#include "history.h"
#include "stream.h"
#include "views/http/http_rules.h"
#include "views/http/listen.h"

struct server;

/* Starts the server. The schema must stay valid. CAMP_E_INVALID: the port or path is in use, or the
 * schema has too many states; CAMP_E_NOTSUP: camp was built without libmicrohttpd. */
int server_open(const struct listen_address *at, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error);

/* Returns the port, and the token for the stream. */
const struct http_place *server_at(const struct server *server);

/* Sends a frame to all clients. CAMP_OK or CAMP_E_NOMEM. */
int server_frame(struct server *server, const struct frame *frame);

/* Ends the stream; clients can still read the frames so far. */
int server_end(struct server *server, const char *reason);

/* Closes all connections, within half a second. NULL is allowed. */
void server_close(struct server *server);
