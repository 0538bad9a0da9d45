#include "oracle_snapshot.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "sources/machine/proc_clock.h"
#include "sources/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A driver or a server without an end must not use all memory. */
#define SESSIONS_MOST 10000
#define ROWS_MOST 100000

enum {
    SID,
    SERIAL,
    USER,
    STATUS,
    STATE,
    EVENT,
    CLASS,
    WAIT_US,
    SPID,
    LOGON,
    PROGRAM,
    MACHINE,
    MODULE,
    TYPE
};

/* Copies a name in the form of the rules: "_" for each blank, and "none" for a missing text. */
static void copy_name(const struct row *row, size_t column, char ret[ORACLE_NAME_SIZE])
{
    oracle_text_copy(row, column, ret, ORACLE_NAME_SIZE);
    for (char *at = ret; *at != '\0'; at++) {
        if (*at == ' ')
            *at = '_';
    }
    if (ret[0] == '\0')
        memcpy(ret, "none", sizeof "none");
}

static void copy_lower(const struct row *row, size_t column, char ret[ORACLE_NAME_SIZE])
{
    copy_name(row, column, ret);
    for (char *at = ret; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
}

/* Parses a number with or without a decimal point, because drivers differ. Numbers below 0 or above
 * 9e15 become 0; integers from 0 to 9e15 are exact. */
static double number_of(const struct row *row, size_t column)
{
    char text[64];
    double value;

    oracle_text_copy(row, column, text, sizeof text);
    value = strtod(text, NULL);
    return value > 0 && value < 9e15 ? value : 0;
}

static int32_t pid_of(const struct row *row, size_t column)
{
    const double value = number_of(row, column);

    return value <= INT32_MAX ? (int32_t)value : 0;
}

static uint64_t ns_of(const struct row *row, size_t column)
{
    return (uint64_t)number_of(row, column) * NS_PER_US;
}

/* Reads the next row of at most `most`. */
static int next_row(struct odbc_statement *statement, size_t most, struct row *ret,
                    struct camp_error *error)
{
    const int r = odbc_statement_next(statement, ret, error);

    return r == CAMP_OK && ret->number > most
               ? camp_fail(error, CAMP_E_FORMAT, 0, "it has more than %zu rows", most)
               : r;
}

static int no_memory(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the sessions");
}

/* Executes a statement. *ret_at_ns is the middle between start and end of the execution. */
static int execute(struct odbc_statement *statement, uint64_t *ret_at_ns, struct camp_error *error)
{
    const uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
    const int r = odbc_statement_execute(statement, error);

    *ret_at_ns = begin_ns + (now_ns(CLOCK_MONOTONIC) - begin_ns) / 2;
    return r;
}

static void fill_session(struct oracle_session *ret, const struct row *row, uint64_t at_ns)
{
    char state[ORACLE_NAME_SIZE];
    const uint64_t waited_ns = ns_of(row, WAIT_US);

    *ret = (struct oracle_session){ .sid = (int64_t)number_of(row, SID),
                                    .spid = pid_of(row, SPID),
                                    .reported_queue_ns = INT64_MIN };
    oracle_text_copy(row, SERIAL, ret->serial, sizeof ret->serial);
    oracle_text_copy(row, LOGON, ret->logon, sizeof ret->logon);
    oracle_text_copy(row, USER, ret->user, sizeof ret->user);
    oracle_text_copy(row, PROGRAM, ret->program, sizeof ret->program);
    oracle_text_copy(row, MACHINE, ret->machine, sizeof ret->machine);
    oracle_text_copy(row, MODULE, ret->module, sizeof ret->module);
    copy_lower(row, STATUS, ret->status);
    copy_lower(row, TYPE, ret->type);
    copy_name(row, EVENT, ret->wait.event);
    copy_name(row, CLASS, ret->wait.class);
    oracle_text_copy(row, STATE, state, sizeof state);
    /* In any other STATE of v$session the last wait has finished, and the session is on a CPU. */
    if (strcmp(state, "WAITING") == 0) {
        ret->certainty = ORACLE_IN_FLIGHT;
        ret->wait_begin_ns = at_ns > waited_ns ? at_ns - waited_ns : 0;
    }
}

static int compare_sessions(const void *a, const void *b)
{
    const struct oracle_session *left = a, *right = b;

    return (left->sid > right->sid) - (left->sid < right->sid);
}

static int read_sessions(struct oracle_snapshot *snapshot, struct odbc_statement *statement,
                         struct camp_error *error)
{
    struct row row;
    uint64_t at_ns;
    int r = execute(statement, &at_ns, error);

    snapshot->count = 0;
    while (r == CAMP_OK && (r = next_row(statement, SESSIONS_MOST, &row, error)) == CAMP_OK) {
        if (!ARRAY_RESERVE(snapshot->sessions, snapshot->capacity, snapshot->count + 1))
            return no_memory(error);
        fill_session(&snapshot->sessions[snapshot->count++], &row, at_ns);
    }
    if (snapshot->count > 0)
        qsort(snapshot->sessions, snapshot->count, sizeof *snapshot->sessions, compare_sessions);
    return r == SOURCE_END ? CAMP_OK : r;
}

static struct oracle_session *find(const struct oracle_snapshot *snapshot, int64_t sid)
{
    const struct oracle_session key = { .sid = sid };

    return ARRAY_FIND(&key, snapshot->sessions, snapshot->count, compare_sessions);
}

/* Updates a session from its row in the second reading of v$session. Returns false if the row is of
 * another session with the same sid.
 *
 * A wait that began while v$session_event was read follows the wait of the first reading. Nobody
 * knows which of the two v$session_event met, so the first one may have ended or not. */
static bool confirm(struct oracle_session *session, const struct row *row, uint64_t row_ns,
                    const struct oracle_snapshot *snapshot)
{
    struct oracle_session again;

    fill_session(&again, row, row_ns);
    if (strcmp(again.serial, session->serial) != 0 || strcmp(again.logon, session->logon) != 0)
        return false;
    session->has_clock &= again.spid == session->spid;
    if (again.certainty == ORACLE_IN_FLIGHT &&
        again.wait_begin_ns <
            (session->certainty == ORACLE_IN_FLIGHT ? snapshot->from_ns : snapshot->at_ns)) {
        session->certainty = ORACLE_IN_FLIGHT;
        session->wait = again.wait;
        session->wait_begin_ns = again.wait_begin_ns;
    } else if (session->certainty == ORACLE_IN_FLIGHT) {
        session->certainty = ORACLE_MAY_BE_ENDED;
    }
    return true;
}

static void keep_confirmed(struct oracle_snapshot *snapshot, const bool *is_confirmed)
{
    size_t count = 0;

    for (size_t i = 0; i < snapshot->count; i++) {
        if (is_confirmed[i])
            snapshot->sessions[count++] = snapshot->sessions[i];
    }
    snapshot->count = count;
}

static int confirm_sessions(struct oracle_snapshot *snapshot, struct odbc_statement *statement,
                            struct camp_error *error)
{
    bool *is_confirmed = calloc(snapshot->count + 1, sizeof *is_confirmed);
    struct row row;
    uint64_t at_ns;
    int r;

    if (is_confirmed == NULL)
        return no_memory(error);
    r = execute(statement, &at_ns, error);
    while (r == CAMP_OK && (r = next_row(statement, SESSIONS_MOST, &row, error)) == CAMP_OK) {
        struct oracle_session *session = find(snapshot, (int64_t)number_of(&row, SID));

        if (session != NULL)
            is_confirmed[session - snapshot->sessions] = confirm(session, &row, at_ns, snapshot);
    }
    keep_confirmed(snapshot, is_confirmed);
    free(is_confirmed);
    return r == SOURCE_END ? CAMP_OK : r;
}

int oracle_wait_compare(const struct oracle_wait *left, const struct oracle_wait *right)
{
    const int by_class = strcmp(left->class, right->class);

    return by_class != 0 ? by_class : strcmp(left->event, right->event);
}

static int compare_waits(const void *a, const void *b)
{
    const struct oracle_wait *left = a, *right = b;

    return left->sid != right->sid ? (left->sid > right->sid) - (left->sid < right->sid)
                                   : oracle_wait_compare(left, right);
}

static int read_waits(struct oracle_snapshot *snapshot, struct odbc_statement *statement,
                      struct camp_error *error)
{
    struct row row;
    int r;

    snapshot->from_ns = now_ns(CLOCK_MONOTONIC);
    r = execute(statement, &snapshot->at_ns, error);
    snapshot->wall_clock_ns =
        (int64_t)(now_ns(CLOCK_REALTIME) - (now_ns(CLOCK_MONOTONIC) - snapshot->at_ns));
    snapshot->wait_count = 0;
    while (r == CAMP_OK && (r = next_row(statement, ROWS_MOST, &row, error)) == CAMP_OK) {
        struct oracle_wait *wait;

        if (!ARRAY_RESERVE(snapshot->waits, snapshot->wait_capacity, snapshot->wait_count + 1))
            return no_memory(error);
        wait = &snapshot->waits[snapshot->wait_count++];
        wait->sid = (int64_t)number_of(&row, 0);
        copy_name(&row, 1, wait->class);
        copy_name(&row, 2, wait->event);
        wait->ns = ns_of(&row, 3);
        wait->count = (uint64_t)number_of(&row, 4);
    }
    if (snapshot->wait_count > 0)
        qsort(snapshot->waits, snapshot->wait_count, sizeof *snapshot->waits, compare_waits);
    return r == SOURCE_END ? CAMP_OK : r;
}

/* Sets first_wait and wait_count of each session. Sessions and waits are in the order of sids. */
static void divide_waits(struct oracle_snapshot *snapshot)
{
    size_t at = 0;

    for (size_t i = 0; i < snapshot->count; i++) {
        struct oracle_session *session = &snapshot->sessions[i];

        while (at < snapshot->wait_count && snapshot->waits[at].sid < session->sid)
            at++;
        session->first_wait = at;
        while (at < snapshot->wait_count && snapshot->waits[at].sid == session->sid)
            at++;
        session->wait_count = at - session->first_wait;
    }
}

static int read_model(struct oracle_snapshot *snapshot, struct odbc_statement *statement,
                      struct camp_error *error)
{
    struct row row;
    uint64_t at_ns;
    int r = execute(statement, &at_ns, error);

    while (r == CAMP_OK && (r = next_row(statement, ROWS_MOST, &row, error)) == CAMP_OK) {
        struct oracle_session *session = find(snapshot, (int64_t)number_of(&row, 0));
        char name[ORACLE_NAME_SIZE];

        oracle_text_copy(&row, 1, name, sizeof name);
        if (session != NULL && strcmp(name, "DB time") == 0)
            session->db_time_ns = ns_of(&row, 2);
        else if (session != NULL)
            /* a session has either 'DB CPU' or 'background cpu time' */
            session->db_cpu_ns += ns_of(&row, 2);
    }
    return r == SOURCE_END ? CAMP_OK : r;
}

/* Reads the times of the process that serves a session. A dedicated server process has only its
 * main thread, so reading that thread is enough. */
static bool read_clock(struct oracle_session *session)
{
    struct camp_thread task;
    struct proc_clock clock;

    if (proc_clock_find(session->spid, &task, NULL) != CAMP_OK ||
        proc_clock_read(&task, &clock, NULL) != CAMP_OK)
        return false;
    session->cpu_ns = clock.cpu_ns;
    session->run_queue_ns = clock.run_queue_ns;
    return true;
}

static int compare_spids(const void *a, const void *b)
{
    const struct oracle_session *left = *(struct oracle_session *const *)a,
                                *right = *(struct oracle_session *const *)b;

    return (left->spid > right->spid) - (left->spid < right->spid);
}

/* Returns true if the process by_spid[at]->spid serves several sessions (shared servers or
 * threads). Its CPU time then belongs to no single session. */
static bool is_shared(struct oracle_session *const *by_spid, size_t count, size_t at)
{
    const int32_t spid = by_spid[at]->spid;

    return (at > 0 && by_spid[at - 1]->spid == spid) ||
           (at + 1 < count && by_spid[at + 1]->spid == spid);
}

static int read_clocks(struct oracle_snapshot *snapshot, struct camp_error *error)
{
    struct oracle_session **by_spid = calloc(snapshot->count + 1, sizeof *by_spid);

    if (by_spid == NULL)
        return no_memory(error);
    for (size_t i = 0; i < snapshot->count; i++)
        by_spid[i] = &snapshot->sessions[i];
    qsort(by_spid, snapshot->count, sizeof *by_spid, compare_spids);
    for (size_t i = 0; i < snapshot->count; i++) {
        if (by_spid[i]->spid > 0 && !is_shared(by_spid, snapshot->count, i))
            by_spid[i]->has_clock = read_clock(by_spid[i]);
    }
    free(by_spid);
    return CAMP_OK;
}

void oracle_snapshot_release(struct oracle_snapshot *snapshot)
{
    free(snapshot->sessions);
    free(snapshot->waits);
    *snapshot = (struct oracle_snapshot){ 0 };
}

int oracle_snapshot_read(struct oracle_snapshot *snapshot, struct oracle_statements *statements,
                         bool use_clock, struct camp_error *error)
{
    int r = read_sessions(snapshot, statements->sessions, error);

    if (r == CAMP_OK)
        r = read_waits(snapshot, statements->waits, error);
    if (r == CAMP_OK && use_clock && statements->is_local)
        r = read_clocks(snapshot, error);
    if (r == CAMP_OK)
        r = confirm_sessions(snapshot, statements->sessions, error);
    if (r == CAMP_OK)
        r = read_model(snapshot, statements->model, error);
    if (r != CAMP_OK)
        return r;
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!statements->is_local)
            snapshot->sessions[i].spid = 0;
    }
    divide_waits(snapshot);
    return CAMP_OK;
}
