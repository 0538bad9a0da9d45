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

#include "sources/remote/remote.h"

#include <camp/camp.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prometheus_client;

/* A parameter of a question: unencoded name and value. */
struct prometheus_parameter {
    const char *name, *value;
};

/* `place`: prometheus_place.h. Sends nothing yet. CAMP_E_INVALID, CAMP_E_NOMEM. */
int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client **ret, struct camp_error *error);
void prometheus_client_close(struct prometheus_client *client); /* NULL is ignored */

/* The address as it may be shown; owned by the client. */
const char *prometheus_client_shown(const struct prometheus_client *client);

/* Whether a question is pending. */
bool prometheus_client_is_asked(const struct prometheus_client *client);

/* POSTs parameters[count] to base/api/v1/`path` ("query") until `until_ns` (CLOCK_MONOTONIC).
 * CAMP_OK: *ret_text[*ret_length] is the answer, owned by the client until the next question.
 * REMOTE_PENDING: none yet, or *stop is set; repeat the same call. CAMP_E_GONE: no server;
 * CAMP_E_PERM: refused; CAMP_E_INVALID: the server does not understand it; CAMP_E_IO, CAMP_E_SPACE
 * (more than 64 MB). The message says what to do. */
int prometheus_client_ask(struct prometheus_client *client, const char *path,
                          const struct prometheus_parameter *parameters, size_t count,
                          uint64_t until_ns, const char **ret_text, size_t *ret_length,
                          struct camp_error *error);
