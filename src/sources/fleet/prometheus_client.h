/*
 * Questions to a Prometheus-compatible HTTP API
 * (https://prometheus.io/docs/prometheus/latest/querying/api), one at a time, each with a deadline
 * for the caller.
 *
 * A question continues after its deadline: the next call waits for the same answer. After a failure
 * the next question is sent at once, later ones after growing pauses (remote.h); during a pause a
 * question fails with the earlier failure.
 */
#pragma once

#include "prometheus_answer.h"
#include "sources/remote/remote.h"

struct prometheus_client;

/* `place`: prometheus_place.h. Sends nothing yet. CAMP_E_INVALID, CAMP_E_NOMEM. */
int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client **ret, struct camp_error *error);
void prometheus_client_close(struct prometheus_client *client); /* NULL is ignored */

/* The address as it may be shown; owned by the client. */
const char *prometheus_client_shown(const struct prometheus_client *client);

/* Whether a question is pending. */
bool prometheus_client_is_asked(const struct prometheus_client *client);

/* POSTs a query to base/api/v1/`path` ("query") until `until_ns` (CLOCK_MONOTONIC); `times` is ""
 * or its further parameters, such as "&time=1". CAMP_OK: prometheus_answer_release().
 * REMOTE_PENDING: no answer yet, or *stop is set; repeat the same call. CAMP_E_GONE: no server;
 * CAMP_E_PERM: refused; CAMP_E_INVALID: the server does not understand it; CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE (more than 64 MB). The message says what to do. */
int prometheus_client_ask(struct prometheus_client *client, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error);
