/* Used in builds without libmicrohttpd. */
#include "exporter_server.h"

#include "counters/error.h"

int exporter_server_open(const struct exporter_place *place, exporter_page *page, void *context,
                         struct exporter_server **ret, struct camp_error *error)
{
    (void)place, (void)page, (void)context, (void)ret;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "camp was built without libmicrohttpd; install libmicrohttpd-dev and build "
                     "again, or write pages to a file: camp export --once");
}

uint16_t exporter_server_port(const struct exporter_server *server)
{
    (void)server;
    return 0;
}

void exporter_server_close(struct exporter_server *server)
{
    (void)server;
}
