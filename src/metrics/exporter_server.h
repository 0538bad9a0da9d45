/*
 * The server of camp export: /metrics for scrapers, and a short text at /.
 *
 * Each request runs the caller's function in the server's one thread, so pages are made one after
 * the other, each from its own snapshot. http_rules.h says which clients may connect; on an address
 * reachable from outside, all may.
 */
#pragma once

#include "exposition.h"
#include "views/http/listen.h"

#include <camp/camp.h>

struct exporter_server;

/* Appends a page to *ret; `scrapes`: those before it. CAMP_OK, or the reason why not. */
typedef int exporter_page(void *context, enum exposition_format format,
                          const struct scrapes *scrapes, struct bytes *ret,
                          struct camp_error *error);

/* Where the server listens, and what it shows. */
struct exporter_place {
    struct listen_address at;
    const char *tier; /* for the page at / */
};

/* Serves from now on. CAMP_E_INVALID: the port or path is in use, or the address is invalid;
 * CAMP_E_NOTSUP: camp was built without libmicrohttpd. */
int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error);

/* The port it listens on; 0: none. */
uint16_t exporter_server_port(const struct exporter_server *server);

/* Closes all connections at once. NULL is allowed. */
void exporter_server_close(struct exporter_server *server);
