/* Replaces the server in builds without libmicrohttpd. */
#include "server.h"

#include "counters/error.h"

int server_open(const struct listen_address *at, const struct schema *schema,
                const struct stream_facts *facts, const struct history_limits *limits,
                struct server **ret, struct camp_error *error)
{
    (void)at, (void)schema, (void)facts, (void)limits, (void)ret;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "camp was built without libmicrohttpd; install libmicrohttpd-dev and build "
                     "again, or write a file: camp report --output FILE.html");
}

const struct http_place *server_at(const struct server *server)
{
    (void)server;
    return NULL;
}

int server_frame(struct server *server, const struct frame *frame, struct shared_cpus cpus,
                 const struct bytes *causes)
{
    (void)server, (void)frame, (void)cpus, (void)causes;
    return CAMP_E_NOTSUP;
}

int server_end(struct server *server, const char *reason)
{
    (void)server, (void)reason;
    return CAMP_E_NOTSUP;
}

void server_close(struct server *server)
{
    (void)server;
}
