/* Describes failures in one line. */
#include "prometheus_client.h"

#include "counters/error.h"
#include "fleet_text.h"
#include "libraries/libcurl.h"

#include <stdio.h>
#include <string.h>

#define REASON_SIZE 1024

static const struct of_curl {
    int result;
    int code;
    bool may_pass;
    const char *advice;
} of_curl[] = {
    { CURLE_COULDNT_RESOLVE_HOST, CAMP_E_GONE, true, "is the host's name right?" },
    { CURLE_COULDNT_RESOLVE_PROXY, CAMP_E_GONE, true, "see http_proxy and NO_PROXY" },
    { CURLE_COULDNT_CONNECT, CAMP_E_GONE, true, "is Prometheus running, and is the port right?" },
    { CURLE_OPERATION_TIMEDOUT, CAMP_E_GONE, true,
      "is the server overloaded, or behind a firewall?" },
    { CURLE_GOT_NOTHING, CAMP_E_GONE, true, "does the server expect https://?" },
    { CURLE_PEER_FAILED_VERIFICATION, CAMP_E_PERM, false,
      "set CAMP_PROMETHEUS_CA to a file with the certificate of its authority" },
    { CURLE_SSL_CONNECT_ERROR, CAMP_E_IO, false, "does the server expect http://?" },
    { CURLE_SSL_CACERT_BADFILE, CAMP_E_IO, false, "see CAMP_PROMETHEUS_CA" },
    /* the answer is not HTTP: prometheus_place.c has refused other addresses */
    { CURLE_UNSUPPORTED_PROTOCOL, CAMP_E_IO, false, "is this a Prometheus?" },
    { CURLE_OUT_OF_MEMORY, CAMP_E_NOMEM, true,
      "is memory short, or the server's header too long?" },
    /* this element stands for all other codes, so it must be last */
    { CURLE_OK, CAMP_E_IO, true, "is this a Prometheus?" },
};

static const struct of_status {
    long least, most;
    int code;
    bool may_pass;
    const char *advice;
} of_status[] = {
    { 300, 399, CAMP_E_IO, false, "give the address that this one redirects to" },
    { 400, 400, CAMP_E_INVALID, false, "see --query" },
    { 401, 401, CAMP_E_PERM, false,
      "set CAMP_PROMETHEUS_TOKEN_FILE, or give user:password@ in the address" },
    { 403, 403, CAMP_E_PERM, false, "this user or token may not read there" },
    { 404, 405, CAMP_E_GONE, false, "is this a Prometheus, and is its prefix right?" },
    { 422, 422, CAMP_E_INVALID, false, "the query cannot be evaluated: see --query" },
    { 429, 429, CAMP_E_GONE, true, "the server got too many requests: give a longer --interval" },
    { 501, 501, CAMP_E_IO, false, "is this a Prometheus?" },
    { 500, 599, CAMP_E_GONE, true,
      "see the server's log; if a proxy gave this answer, see http_proxy and NO_PROXY" },
    { 0, 999, CAMP_E_IO, true, "is this a Prometheus?" },
};

static int report_unreached(const struct prometheus_outcome *outcome, int system_error,
                            bool *ret_may_pass, struct camp_error *error)
{
    const struct of_curl *kind = of_curl;
    const char *advice;
    char reason[REASON_SIZE];

    while (kind->result != outcome->result && kind->result != CURLE_OK)
        kind++;
    advice = kind->result == CURLE_COULDNT_CONNECT && strncmp(outcome->place, "unix:", 5) == 0
                 ? "is Prometheus running, and is the path of its socket right?"
                 : kind->advice;
    *ret_may_pass = kind->may_pass;
    if (system_error != 0)
        snprintf(reason, sizeof reason, "%s", strerror(system_error));
    else if (outcome->detail[0] != '\0')
        fleet_line(outcome->detail, strlen(outcome->detail), reason, sizeof reason);
    else
        snprintf(reason, sizeof reason, "%s",
                 libcurl.curl_easy_strerror((CURLcode)outcome->result));
    return camp_fail(error, kind->code, system_error, "%s: %s; %s", outcome->place, reason, advice);
}

int prometheus_failure_report(const struct prometheus_outcome *outcome, long status,
                              int system_error, bool *ret_may_pass, struct camp_error *error)
{
    const struct of_status *kind = of_status;

    *ret_may_pass = true;
    if (outcome->result == CURLE_OK && status == 200)
        return CAMP_OK;
    if (outcome->result != CURLE_OK)
        return report_unreached(outcome, system_error, ret_may_pass, error);
    while (status < kind->least || status > kind->most)
        kind++;
    *ret_may_pass = kind->may_pass;
    if (status == 400 && outcome->reason[0] == '\0') /* Prometheus always gives a reason */
        return camp_fail(error, CAMP_E_IO, 0,
                         "%s: status 400: this is not a Prometheus, but perhaps camp export; give "
                         "the address of the Prometheus that scrapes it, such as "
                         "prometheus:http://host:9090",
                         outcome->place);
    return camp_fail(error, kind->code, 0, "%s: status %ld%s%s; %s", outcome->place, status,
                     outcome->reason[0] != '\0' ? ", " : "", outcome->reason, kind->advice);
}
