/*
 * Questions to a Prometheus-compatible HTTP API
 * (https://prometheus.io/docs/prometheus/latest/querying/api), one at a time, none of which keeps
 * anybody waiting longer than told.
 *
 * A question that is not answered in time goes on: the next call waits for the same answer. After a
 * failure the server is asked again at once, then after growing pauses (retry.h); in a pause a
 * question fails with what went wrong before.
 */
#ifndef CAMP_SOURCES_FLEET_PROMETHEUS_CLIENT_H
#define CAMP_SOURCES_FLEET_PROMETHEUS_CLIENT_H

#include "sources/remote/remote.h"

#include <camp/camp.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prometheus_client;

/* A parameter of a question: name and value, as they are. */
struct prometheus_parameter {
    const char *name, *value;
};

/* `place`: prometheus_place.h. Asks nothing yet. CAMP_E_INVALID, CAMP_E_NOMEM. */
int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client **ret, struct camp_error *error);
void prometheus_client_close(struct prometheus_client *client); /* NULL: nothing */

/* What may be shown of where it is; the client's. */
const char *prometheus_client_shown(const struct prometheus_client *client);

/* Is there a question that was not answered yet? */
bool prometheus_client_is_asked(const struct prometheus_client *client);

/* POSTs parameters[count] to base/api/v1/`path` ("query") until `until_ns` (CLOCK_MONOTONIC).
 * CAMP_OK: the answer's text, *ret_text[*ret_length], the client's until the next question.
 * REMOTE_PENDING: none yet, or *stop is set; ask the same again. CAMP_E_GONE: nobody is there;
 * CAMP_E_PERM: who asks may not; CAMP_E_INVALID: the server does not understand it; CAMP_E_IO,
 * CAMP_E_SPACE (more than 64 MB); each with what to do. */
int prometheus_client_ask(struct prometheus_client *client, const char *path,
                          const struct prometheus_parameter *parameters, size_t count,
                          uint64_t until_ns, const char **ret_text, size_t *ret_length,
                          struct camp_error *error);

#endif
