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

/* Parses the address `place` (prometheus_place.c), and sends nothing yet. CAMP_E_INVALID,
 * CAMP_E_NOMEM. */
int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client **ret, struct camp_error *error);
void prometheus_client_close(struct prometheus_client *client); /* NULL is ignored */

/* The address as it may be shown; owned by the client. */
const char *prometheus_client_shown(const struct prometheus_client *client);

/* Whether a question is sent and not yet answered. */
bool prometheus_client_is_asked(const struct prometheus_client *client);

/* POSTs a query to base/api/v1/`path` ("query"), and waits for the answer until `until_ns`
 * (CLOCK_MONOTONIC); `times` is "" or further parameters, such as "&time=1". CAMP_OK: release *ret
 * with prometheus_answer_release(). REMOTE_PENDING: no answer yet, or *stop is set; repeat the same
 * call. CAMP_E_GONE: no server; CAMP_E_PERM: refused; CAMP_E_INVALID: the server does not
 * understand the query; CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE (more than 64 MB). The message says
 * what to do. */
int prometheus_client_ask(struct prometheus_client *client, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error);

/* prometheus_place.c: the address. */
struct prometheus_place {
    char *base;       /* "http://host:9090/prefix", without a secret and without a final "/" */
    char *credential; /* "user:password"; NULL: none */
    char *socket;     /* the path of a Unix socket; NULL: none */
    char *shown;      /* the address as it may be shown: one line without control characters */
};

/* All zero: none. CAMP_E_INVALID: it is no address; the message does not repeat it. */
int prometheus_place_parse(const char *text, struct prometheus_place *ret,
                           struct camp_error *error);
void prometheus_place_release(struct prometheus_place *place);

/* prometheus_failure.c: the outcome of a question; a failure is one line that says what to do. */
struct prometheus_outcome {
    int result;         /* libcurl's: CURLE_* */
    bool too_long;      /* the answer exceeds the size limit */
    const char *detail; /* libcurl's own text; "" */
    const char *place;  /* the address, as it may be shown */
    const char *text;   /* [length] of the answer */
    size_t length;
};

/* CAMP_OK: an answer with HTTP status 200. Otherwise fills *error and returns its code. `status` is
 * the HTTP status, `system_error` the errno of connecting; 0: none. *ret_may_pass: whether another
 * try may help soon; false after the server refused the user or the question. */
int prometheus_failure_report(const struct prometheus_outcome *outcome, long status,
                              int system_error, bool *ret_may_pass, struct camp_error *error);
