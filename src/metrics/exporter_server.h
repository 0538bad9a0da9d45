/*
 * The HTTP server of camp export: /metrics for scrapers, and a short text at /.
 *
 * The server has one thread, which calls the caller's function for each request. So requests are
 * answered one after the other, and each has its own snapshot. http_rules.h has the access rules.
 * If the address can be reached from outside, any host name is accepted.
 */
#pragma once

#include "exposition.h"
#include "views/http/listen.h"

#include <camp/camp.h>

struct exporter_server;

/* Appends a page to *ret. `scrapes` counts the requests before this request. Returns CAMP_OK, or an
 * error code with the reason in *error. */
typedef int exporter_page(void *context, enum exposition_format format,
                          const struct scrapes *scrapes, struct bytes *ret,
                          struct camp_error *error);

struct exporter_place {
    struct listen_address at;
    const char *subject; /* whose time it is: "this computer" */
    const char *tier;
};

/* Starts the server. Returns CAMP_E_INVALID if the address is invalid, CAMP_E_IO if the port or
 * path is in use, CAMP_E_PERM if the port needs a privilege, and CAMP_E_NOTSUP if camp was built
 * without libmicrohttpd. */
int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error);

/* Returns the TCP port, or 0 for a Unix socket. */
uint16_t exporter_server_port(const struct exporter_server *server);

/* Closes all connections at once. `server` may be NULL. */
void exporter_server_close(struct exporter_server *server);
