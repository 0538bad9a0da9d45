/* Why Prometheus does not answer: one line that names the failure and says what to do. */
#ifndef CAMP_SOURCES_FLEET_PROMETHEUS_FAILURE_H
#define CAMP_SOURCES_FLEET_PROMETHEUS_FAILURE_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

/* How a question ended. */
struct prometheus_outcome {
    int result;         /* libcurl's: CURLE_* */
    bool too_long;      /* the answer has more bytes than are taken */
    const char *detail; /* libcurl's own words; "" */
    const char *place;  /* that may be shown */
    const char *text;   /* [length] of the answer */
    size_t length;
};

/* CAMP_OK: an answer of status 200. Otherwise writes *error and returns its code. `status`: HTTP's,
 * 0: none; `system_error`: errno of connecting, 0: none. *ret_may_pass: whether asking again soon
 * may help; not when the server refused who asks, or what. */
int prometheus_failure_tell(const struct prometheus_outcome *outcome, long status, int system_error,
                            bool *ret_may_pass, struct camp_error *error);

#endif
