#include "postgres_guard.h"

#include "ledger/array.h"
#include "sources/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_CERTIFICATES 160000 /* the first version of libpq with sslrootcert=system */

/* TLS adds some 30 bytes to a record, which PostgreSQL makes of 8 KB. */
#define TLS_SHARE 64

/* Most bytes of an answer that is not needed any more. */
#define REST_BYTES ((uint64_t)16 * 1024 * 1024)

/* Copies the value that libpq uses for an option, "" if it has none. */
static void read_option(PGconn *connection, const char *keyword, char *ret, size_t size)
{
    PQconninfoOption *options = libpq.PQconninfo(connection);

    ret[0] = '\0';
    for (const PQconninfoOption *at = options; at != NULL && at->keyword != NULL; at++) {
        if (strcmp(at->keyword, keyword) == 0 && at->val != NULL)
            snprintf(ret, size, "%s", at->val);
    }
    libpq.PQconninfoFree(options);
}

static const char *find_system_certificates(void)
{
    static const char *const files[] = { "/etc/ssl/certs/ca-certificates.crt",
                                         "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem" };
    const char *file = getenv("SSL_CERT_FILE");

    if (libpq.PQlibVersion() >= SYSTEM_CERTIFICATES)
        return "system";
    for (size_t i = 0; file == NULL && i < ARRAY_COUNT(files); i++)
        file = access(files[i], R_OK) == 0 ? files[i] : NULL;
    return file;
}

/* Returns the certificates that the server's one is verified with, or NULL if libpq finds those of
 * the user. */
static const char *find_certificates(PGconn *connection)
{
    const char *home = getenv("HOME");
    char text[4096];

    read_option(connection, "sslrootcert", text, sizeof text);
    if (text[0] != '\0')
        return NULL;
    snprintf(text, sizeof text, "%s/.postgresql/root.crt", home != NULL ? home : "");
    return access(text, F_OK) == 0 ? NULL : find_system_certificates();
}

/* Without it, libpq prints notices. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static bool start(struct postgres_guard *guard, const char *mode, const char *certificates)
{
    const char *const keywords[] = { "dbname",  "application_name", "client_encoding",
                                     "sslmode", "sslrootcert",      "gssencmode",
                                     NULL };
    /* libpq ignores options whose value is NULL. It would use GSSAPI instead of TLS. */
    const char *const values[] = { guard->conninfo,
                                   POSTGRES_APPLICATION,
                                   "UTF8",
                                   mode,
                                   certificates,
                                   mode != NULL ? "disable" : NULL,
                                   NULL };

    guard->is_made = false;
    guard->limit = (struct receive_limit){ .allowed = POSTGRES_GUARD_BYTES };
    guard->connection = libpq.PQconnectStartParams(keywords, values, 1);
    if (guard->connection == NULL)
        return false;
    libpq.PQsetErrorVerbosity(guard->connection, PQERRORS_VERBOSE);
    libpq.PQsetNoticeReceiver(guard->connection, ignore_notice, NULL);
    return true;
}

bool postgres_guard_start(struct postgres_guard *guard, const char *conninfo)
{
    *guard = (struct postgres_guard){ .conninfo = conninfo };
    receive_limit_watch(&guard->limit);
    return start(guard, NULL, NULL);
}

/* Starts again with TLS and a verified certificate. */
static bool restart(struct postgres_guard *guard)
{
    const char *certificates = find_certificates(guard->connection);

    libpq.PQfinish(guard->connection);
    guard->verifies = true;
    return start(guard, "verify-full", certificates);
}

/* Decides about a server that has accepted the connection, before anything is sent. */
static PostgresPollingStatusType admit(struct postgres_guard *guard,
                                       PostgresPollingStatusType status)
{
    char mode[32];

    guard->is_made = true;
    if (remote_is_local(libpq.PQsocket(guard->connection)) ||
        libpq.PQpass(guard->connection)[0] == '\0')
        return status;
    read_option(guard->connection, "sslmode", mode, sizeof mode);
    if (strcmp(mode, "require") == 0 || strncmp(mode, "verify-", 7) == 0)
        return status;
    guard->is_refused = strcmp(mode, "prefer") != 0;
    return !guard->is_refused && restart(guard) ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
}

static bool is_unlimited(const struct postgres_guard *guard)
{
    return guard->limit.received == 0 && receive_limit_is_effective();
}

PostgresPollingStatusType postgres_guard_poll(struct postgres_guard *guard)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    receive_limit_watch(&guard->limit);
    /* The first attempts of libpq may have come to a server before this function is called. */
    if (libpq.PQstatus(guard->connection) != CONNECTION_MADE || guard->is_made)
        status = libpq.PQconnectPoll(guard->connection);
    if (guard->limit.is_reached)
        return PGRES_POLLING_FAILED;
    if (status != PGRES_POLLING_FAILED && libpq.PQstatus(guard->connection) == CONNECTION_MADE)
        return admit(guard, status);
    /* If no byte was counted, libpq does not use recv(), and the limit has no effect. */
    if (status == PGRES_POLLING_OK && is_unlimited(guard))
        return PGRES_POLLING_FAILED;
    return status;
}

void postgres_guard_failure(const struct postgres_guard *guard, struct postgres_failure *ret)
{
    if (guard->connection == NULL) {
        *ret = (struct postgres_failure){ .what = "no memory for a connection" };
    } else if (guard->limit.is_reached) {
        *ret = (struct postgres_failure){ POSTGRES_WRONG, "it sends too much at once", "" };
    } else if (guard->is_refused) {
        *ret = (struct postgres_failure){ POSTGRES_UNPROTECTED, "sslmode forbids TLS", "" };
    } else if (libpq.PQconnectionNeedsPassword(guard->connection)) {
        *ret = (struct postgres_failure){ "28P01", "it asks for a password", "" };
    } else if (libpq.PQstatus(guard->connection) == CONNECTION_OK && is_unlimited(guard)) {
        *ret = (struct postgres_failure){ .what = "this libpq cannot be limited" };
    } else {
        postgres_failure_of_text(libpq.PQerrorMessage(guard->connection), ret);
        if (ret->sqlstate[0] == '\0' && guard->verifies && guard->is_made)
            strcpy(ret->sqlstate, POSTGRES_UNPROTECTED);
    }
}

bool postgres_guard_allow(struct postgres_guard *guard, uint64_t since, uint64_t rows)
{
    guard->limit.allowed = since + POSTGRES_GUARD_BYTES + rows + rows / TLS_SHARE;
    if (guard->limit.is_reached && guard->limit.received >= guard->limit.allowed)
        return false;
    guard->limit.is_reached = false;
    return true;
}

bool postgres_guard_is_copy(const PGresult *result)
{
    const ExecStatusType status = libpq.PQresultStatus(result);

    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Receives what has arrived, or waits for it. Returns false if the connection is lost. */
static bool receive_until(struct postgres_guard *guard, uint64_t until_ns)
{
    remote_poll(libpq.PQsocket(guard->connection), POLLIN, until_ns);
    return libpq.PQconsumeInput(guard->connection) != 0;
}

void postgres_guard_finish_answered(struct postgres_guard *guard, uint64_t until_ns)
{
    const uint64_t since = guard->limit.received;
    bool is_in_progress = guard->connection != NULL;

    receive_limit_watch(&guard->limit);
    while (is_in_progress && postgres_guard_allow(guard, since, REST_BYTES)) {
        PGresult *result;

        if (libpq.PQisBusy(guard->connection) != 0) {
            is_in_progress = now_ns(CLOCK_MONOTONIC) < until_ns && receive_until(guard, until_ns);
            continue;
        }
        result = libpq.PQgetResult(guard->connection);
        is_in_progress = result != NULL && !postgres_guard_is_copy(result);
        libpq.PQclear(result);
    }
    postgres_guard_finish(guard);
}

void postgres_guard_finish(struct postgres_guard *guard)
{
    libpq.PQfinish(guard->connection);
    receive_limit_watch(NULL);
    guard->connection = NULL;
}
