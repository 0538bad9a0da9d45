/*
 * The server of camp export: /metrics for who scrapes, and a word about it at /.
 *
 * A page is made when it is asked for, by the caller's function, in the server's one thread: pages
 * are one after the other, and each is of its own moment. Who may ask is in http_rules.h; on an
 * address that others reach, everybody.
 */
#ifndef CAMP_METRICS_EXPORTER_SERVER_H
#define CAMP_METRICS_EXPORTER_SERVER_H

#include "exposition.h"

#include <camp/camp.h>

struct exporter_server;

/* What the server did before the page at hand. */
struct exporter_requests {
    uint64_t answered, failed, refused;
    uint64_t sent_bytes; /* of pages, as they were sent */
};

/* Appends a page to *ret. CAMP_OK, or why there is none. */
typedef int exporter_page(void *context, enum exposition_format format,
                          const struct exporter_requests *requests, struct bytes *ret,
                          struct camp_error *error);

/* Where it listens, and what it says. */
struct exporter_place {
    const char *path;    /* of a Unix socket; NULL: at: */
    const char *address; /* "127.0.0.1" */
    uint16_t port;       /* 0: any that is free */
    const char *tier;    /* for the page at / */
};

/* Serves from now on. CAMP_E_INVALID: the port or path is taken, or the address is none;
 * CAMP_E_NOTSUP: camp was built without libmicrohttpd. */
int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error);

/* The port it listens on; 0: none. */
uint16_t exporter_server_port(const struct exporter_server *server);

/* Ends all connections at once. NULL is allowed. */
void exporter_server_close(struct exporter_server *server);

#endif
