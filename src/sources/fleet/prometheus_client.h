/*
 * Questions to a Prometheus-compatible HTTP API
 * (https://prometheus.io/docs/prometheus/latest/querying/api), one at a time. The caller gives a
 * deadline for each call.
 *
 * If no answer has arrived at the deadline, the next call with the same question waits for the
 * answer, and sends no new question. A call with a different question drops the unanswered one.
 * After a failure the next question is sent at once; after each further failure there is a longer
 * pause (remote.h). During a pause each call returns the newest failure.
 *
 * Several clients of one server can be asked at the same time. They share connections: while one of
 * them waits for its answer, the answers of the others arrive, too.
 */
#pragma once

#include "prometheus_answer.h"
#include "sources/remote/remote.h"

struct prometheus_client;

/* Parses the address `place` (prometheus_place.c), but sends nothing. If `beside` is not NULL, the
 * new client shares its connections with that client, which must be closed after the new one.
 * Returns CAMP_OK, CAMP_E_INVALID, CAMP_E_NOMEM, CAMP_E_PERM if a password or token would go to
 * another machine without TLS, or another error code if libcurl is not installed. */
int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client *beside, struct prometheus_client **ret,
                           struct camp_error *error);
void prometheus_client_close(struct prometheus_client *client); /* NULL is allowed */

/* Returns the address without user and password. The text belongs to the client. */
const char *prometheus_client_shown(const struct prometheus_client *client);

/* Returns whether a question was sent and not yet answered. */
bool prometheus_client_is_asked(const struct prometheus_client *client);

/* Drops the question that was sent and not yet answered, if there is one. */
void prometheus_client_drop(struct prometheus_client *client);

/* POSTs a query to the API. `path` is "query" or "query_range". `times` has further parameters,
 * such as "&time=1", or is "". Waits for the answer until `until_ns` (CLOCK_MONOTONIC). Returns
 * REMOTE_PENDING if there is no answer yet or *stop is set; repeat the same call to wait longer.
 * After CAMP_OK, release *ret with prometheus_answer_release().
 *
 * Errors: CAMP_E_GONE if the server cannot be reached, CAMP_E_PERM if it refuses the user,
 * CAMP_E_INVALID if it does not understand the query, CAMP_E_SPACE if the answer is too long
 * (prometheus_parser.h), CAMP_E_FORMAT, CAMP_E_IO. The message says what to do. */
int prometheus_client_ask(struct prometheus_client *client, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error);

struct prometheus_place {
    char *base;       /* "http://host:9090/prefix", without user, password and a final "/" */
    char *credential; /* "user:password", or NULL */
    char *socket;     /* the path of a Unix socket, or NULL */
    /* the address as shown in messages: one line without user, password and control characters */
    char *shown;
    bool is_local;     /* a Unix socket or a loopback address */
    bool is_encrypted; /* https */
};

/* Returns CAMP_E_INVALID if `text` is no address; *ret is then all zero. The error message does not
 * repeat the address, which may contain a password. */
int prometheus_place_parse(const char *text, struct prometheus_place *ret,
                           struct camp_error *error);
void prometheus_place_release(struct prometheus_place *place);

struct prometheus_outcome {
    int result;         /* a code of libcurl, CURLE_* */
    const char *detail; /* libcurl's own description of an error, or "" */
    const char *place;  /* the address as shown in messages */
    const char *reason; /* the server's description of an error, or "" */
};

/* Returns CAMP_OK for an answer with HTTP status 200. Otherwise fills *error and returns its code.
 * `system_error` is the errno of connecting, or 0. *ret_may_pass is false if it is useless to ask
 * again, for example because the server refuses the user. */
int prometheus_failure_report(const struct prometheus_outcome *outcome, long status,
                              int system_error, bool *ret_may_pass, struct camp_error *error);
