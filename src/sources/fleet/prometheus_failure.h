/* Why Prometheus does not answer: one line that names the failure and says what to do. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

/* The outcome of a question. */
struct prometheus_outcome {
    int result;         /* libcurl's: CURLE_* */
    bool too_long;      /* the answer exceeds the size limit */
    const char *detail; /* libcurl's own text; "" */
    const char *place;  /* the address, as it may be shown */
    const char *text;   /* [length] of the answer */
    size_t length;
};

/* CAMP_OK: an answer of status 200. Otherwise fills *error and returns its code. `status`: HTTP's,
 * 0: none; `system_error`: errno of connecting, 0: none. *ret_may_pass: whether another try may
 * help soon; not after the server refused the user or the question. */
int prometheus_failure_report(const struct prometheus_outcome *outcome, long status,
                              int system_error, bool *ret_may_pass, struct camp_error *error);
