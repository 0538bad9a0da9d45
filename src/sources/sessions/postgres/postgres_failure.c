/*
 * Classifies failures by SQLSTATE (PostgreSQL's manual, Appendix A), which does not depend on the
 * server's language. A failure to reach a server has no SQLSTATE. Such a failure is recognised by
 * the text of its errno, because libpq takes that text from strerror(3), too.
 */
#include "postgres_failure.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/remote/remote_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PLACE "connection to server "

static const struct advice {
    const char *sqlstate; /* a SQLSTATE or its beginning; the first match counts */
    int code;
    bool may_pass;
    const char *text;
} of_sqlstate[] = {
    { "0A000", CAMP_E_NOTSUP, false, "camp reads servers from 10 on" },
    { "28P01", CAMP_E_PERM, false, "set PGPASSWORD, or write it into ~/.pgpass" },
    { "28", CAMP_E_PERM, false, "give user=; see docs/sessions.md for its rights" },
    { "3D000", CAMP_E_GONE, false, "give dbname=" },
    { "42501", CAMP_E_PERM, false, "see docs/sessions.md for the rights it needs" },
    { "53300", CAMP_E_NOMEM, true, "close some, or raise the limit" },
    { "57P03", CAMP_E_GONE, true, "try again in a moment" },
    { "57P05", CAMP_E_GONE, true, "camp was idle for long: connecting again" },
    { "57P", CAMP_E_GONE, true, "connecting again" },
    { "57014", CAMP_E_IO, true, "the server is overloaded, or wait for what blocks it" },
    { POSTGRES_UNPROTECTED, CAMP_E_PERM, false,
      "a password goes to another machine only through TLS: see docs/sessions.md" },
    { POSTGRES_WRONG, CAMP_E_FORMAT, false, "is it PostgreSQL?" },
    { "", CAMP_E_IO, true, "see the server's log" },
};

static const struct unreached {
    int system_error;
    int code;
    const char *text;
} of_errno[] = {
    { ENOENT, CAMP_E_GONE, "is the server running, and is host= its socket's folder?" },
    { ECONNREFUSED, CAMP_E_GONE, "is the server running, and are host= and port= right?" },
    { EACCES, CAMP_E_PERM, "the socket's folder may not be entered: run as another user" },
    { EAGAIN, CAMP_E_GONE, "the server does not take connections: is it stopped?" },
    { ETIMEDOUT, CAMP_E_GONE, "is host= right, and does a firewall let it through?" },
    { EHOSTUNREACH, CAMP_E_GONE, "is host= right?" },
    { ECONNRESET, CAMP_E_GONE, "the server ended the connection" },
};

/* Finds "28P01: " in "FATAL:  28P01: role ...", where "FATAL" may be translated. Returns NULL if
 * there is no SQLSTATE. */
static const char *find_sqlstate(const char *text)
{
    for (const char *at = strstr(text, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        const char *state = at + strlen(":  ");

        if (strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == SQLSTATE_SIZE - 1 &&
            strncmp(state + SQLSTATE_SIZE - 1, ": ", 2) == 0)
            return state;
    }
    return NULL;
}

/* Splits a line of libpq such as 'connection to server at "x", port 1 failed: Connection refused'.
 * The place is 'at "x", port 1', and the failure is the text after "failed: ". A line of another
 * form is a failure without a place. */
static void split_line(const char *line, struct postgres_failure *ret)
{
    const char *begin = line + strlen(PLACE), *name, *end = NULL, *colon;

    if (strncmp(line, PLACE, strlen(PLACE)) == 0 && (name = strchr(line, '"')) != NULL)
        end = strchr(name + 1, '"');
    colon = end != NULL ? strstr(end, ": ") : NULL;
    remote_text_line(colon != NULL ? colon + 2 : line, ret->what, sizeof ret->what);
    if (end == NULL)
        return;
    end += 1 + strcspn(end + 1, ":");
    if (strncmp(end - strlen(" failed"), " failed", strlen(" failed")) == 0)
        end -= strlen(" failed");
    snprintf(ret->place, sizeof ret->place, "%.*s", (int)(end - begin), begin);
}

/* Returns the line about the last host that libpq tried. For each host that failed, libpq writes a
 * line, followed by indented details or by a message of the server. */
static const char *last_try(const char *text)
{
    const char *last = text, *next = text;

    while ((next = strstr(next, "\n" PLACE)) != NULL)
        last = ++next;
    return last;
}

void postgres_failure_of_text(const char *text, struct postgres_failure *ret)
{
    const char *last = last_try(text), *state = find_sqlstate(last);
    char line[sizeof ret->what + 160];

    *ret = (struct postgres_failure){ 0 };
    if (state != NULL) {
        memcpy(ret->sqlstate, state, SQLSTATE_SIZE - 1);
        remote_text_line(state + SQLSTATE_SIZE + 1, ret->what, sizeof ret->what);
        return;
    }
    remote_text_line(last, line, sizeof line);
    split_line(line, ret);
}

static const struct advice *advice_of(const struct postgres_failure *failure)
{
    const struct advice *advice = of_sqlstate;

    while (strncmp(failure->sqlstate, advice->sqlstate, strlen(advice->sqlstate)) != 0)
        advice++;
    return advice;
}

static const char *what_of(const struct postgres_failure *failure)
{
    return failure->what[0] != '\0' ? failure->what : "it gives no reason";
}

/* True if the service in the connection string is unknown. Only libpq's English texts are
 * recognised. In another language the failure is reported as CAMP_E_IO. */
static bool is_unknown_service(const struct postgres_failure *failure)
{
    return strncmp(failure->what, "definition of service ", 22) == 0 ||
           strncmp(failure->what, "service file ", 13) == 0;
}

/* libpq gives no errno for this failure, only a text, which is English unless it is translated. */
static bool is_unknown_host(const struct postgres_failure *failure)
{
    return strncmp(failure->what, "could not translate host name ", 30) == 0;
}

static int report_unreached(const struct postgres_failure *failure, struct camp_error *error)
{
    const bool has_place = failure->place[0] != '\0';

    for (size_t i = 0; i < ARRAY_COUNT(of_errno); i++) {
        if (strstr(failure->what, strerror(of_errno[i].system_error)) != NULL)
            return camp_fail(error, of_errno[i].code, of_errno[i].system_error,
                             "PostgreSQL: %s; %s%s%s%s", failure->what, of_errno[i].text,
                             has_place ? " (tried to connect " : "", failure->place,
                             has_place ? ")" : "");
    }
    if (is_unknown_service(failure))
        return camp_fail(error, CAMP_E_GONE, 0, "PostgreSQL: %s; see ~/.pg_service.conf",
                         failure->what);
    if (is_unknown_host(failure))
        return camp_fail(error, CAMP_E_GONE, 0, "PostgreSQL: %s; is host= right?", failure->what);
    return camp_fail(error, CAMP_E_IO, 0, "PostgreSQL: %s", what_of(failure));
}

int postgres_failure_report(const struct postgres_failure *failure, struct camp_error *error)
{
    const struct advice *advice = advice_of(failure);

    if (failure->sqlstate[0] == '\0')
        return report_unreached(failure, error);
    return camp_fail(error, advice->code, 0, "PostgreSQL: %s; %s", what_of(failure), advice->text);
}

int postgres_failure_wrong(const char *what, struct camp_error *error)
{
    struct postgres_failure failure = { .sqlstate = POSTGRES_WRONG };

    snprintf(failure.what, sizeof failure.what, "%s", what);
    return postgres_failure_report(&failure, error);
}

bool postgres_failure_may_pass(const struct postgres_failure *failure)
{
    return failure->sqlstate[0] == '\0' || advice_of(failure)->may_pass;
}
