/*
 * The local server of camp view: the page, and the stream of frames to each who has the token.
 *
 * The caller reads a source and hands frames over; a thread of libmicrohttpd serves them. Clients
 * share what was sent so far (history.h) and are each somewhere in it: one who does not read slows
 * nobody, and costs one frame and a connection. Who is answered is in http_rules.h.
 */
#ifndef CAMP_VIEWS_PAGE_SERVER_H
#define CAMP_VIEWS_PAGE_SERVER_H

#include "history.h"
#include "stream.h"
#include "views/http/http_rules.h"

struct server;

/* Where it listens. */
struct server_place {
    const char *path; /* of a Unix socket; NULL: on the loopback interface */
    bool version_6;   /* ::1 instead of 127.0.0.1 */
    uint16_t port;    /* 0: any that is free */
};

/* Serves from now on. The schema is kept. CAMP_E_INVALID: the port or path is taken, or the schema
 * has too many states; CAMP_E_NOTSUP: camp was built without libmicrohttpd. */
int server_open(const struct server_place *place, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error);

/* The port, and the token that the stream is given for. */
const struct http_place *server_at(const struct server *server);

/* One frame more, for all. CAMP_OK or CAMP_E_NOMEM. */
int server_frame(struct server *server, const struct frame *frame);

/* No more frames come; what was sent is served on. */
int server_end(struct server *server, const char *reason);

/* Ends all connections, within half a second. NULL is allowed. */
void server_close(struct server *server);

#endif
