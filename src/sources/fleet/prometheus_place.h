/*
 * The address of a Prometheus: the text after "prometheus:" in --from, and the environment.
 *
 *      http://host:9090/prefix      https://user:password@host/prometheus      host:9090
 *      unix:/run/thanos.sock        a Unix socket
 *
 * Every user can read a password in an address from the list of processes; the environment is
 * private:
 *
 *      CAMP_PROMETHEUS_TOKEN_FILE   a file with a bearer token, read again for each question
 *      CAMP_PROMETHEUS_TOKEN        the token itself
 *      CAMP_PROMETHEUS_CA           a file of certificates to trust instead of the system's
 *      CAMP_PROMETHEUS_TENANT       X-Scope-OrgID, which Mimir and Cortex require
 */
#pragma once

#include <camp/camp.h>

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
