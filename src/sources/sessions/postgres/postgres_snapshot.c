#include "postgres_snapshot.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "postgres_failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAS_LEADER 130000
#define HAS_WAIT_START 140000
#define NONE "none"
#define QUERY_CHARACTERS "128"                  /* a label has no more (ledger/labels.h) */
#define EPOCH_US ((int64_t)946684800 * 1000000) /* PostgreSQL counts times from 2000-01-01. */

/* The columns of a brief snapshot, then the further columns of a whole snapshot. A whole snapshot
 * costs more, because the server joins the names from two tables. */
enum {
    PID,
    IS_OWN,
    START,
    STATE,
    CLASS,
    EVENT,
    TYPE,
    LEADER,
    HAS_DATABASE,
    SERVER,
    QUERY_ID,
    BLOCKERS,
    BRIEF_COUNT
};
enum {
    USER = BRIEF_COUNT,
    DATABASE,
    APPLICATION,
    CLIENT,
    CHANGED,
    QUERY,
    TRANSACTION,
    BLOCKED,
    WHOLE_COUNT
};

/* The times that are possible, so that no arithmetic with them overflows: since 1970, until 2191 */
#define LATEST_US ((int64_t)7000000000000000)

/* Types by their number in pg_type, which never changes, and the lengths of their values. Other
 * columns are texts. */
enum { BOOLEAN = 16, INT8 = 20, INT4 = 23, INT4_ARRAY = 1007, TIMESTAMP = 1184 };
static const struct {
    unsigned type;
    size_t length;
    bool has_value; /* never NULL */
} columns[WHOLE_COUNT] = {
    [PID] = { INT4, 4, true },
    [IS_OWN] = { BOOLEAN, 1, true },
    [START] = { TIMESTAMP, 8, false },
    [LEADER] = { INT4, 4, false },
    [HAS_DATABASE] = { BOOLEAN, 1, true },
    [SERVER] = { TIMESTAMP, 8, true },
    [QUERY_ID] = { INT8, 8, false },
    [BLOCKERS] = { INT4_ARRAY, 0, false },
    [CHANGED] = { TIMESTAMP, 8, false },
    [TRANSACTION] = { TIMESTAMP, 8, false },
    [BLOCKED] = { TIMESTAMP, 8, false },
};

/* Values are requested in binary form. Formatting times as text would cost the server as much as
 * the rest of the snapshot. */
#define BRIEF                                                                                      \
    "select a.pid, a.pid = pg_catalog.pg_backend_pid(), a.backend_start, a.state, "                \
    "a.wait_event_type, a.wait_event, a.backend_type, %s, a.datid is not null, "                   \
    "pg_catalog.clock_timestamp(), %s, %s"
/* Only while a session waits for a lock. The slice keeps a row small. */
#define BLOCKING                                                                                   \
    "case when a.wait_event_type = 'Lock' then (pg_catalog.pg_blocking_pids(a.pid))"               \
    "[1:" BLOCKERS_MOST_TEXT "] end"
#define BLOCKERS_MOST_TEXT "32"
_Static_assert(BLOCKERS_MOST == 32, "as in BLOCKERS_MOST_TEXT");
#define NO_BLOCKING "null::pg_catalog.int4[]"
#define WHOLE                                                                                      \
    ", a.usename, a.datname, a.application_name, case when a.client_addr is not null then "        \
    "pg_catalog.host(a.client_addr) when a.client_port = -1 then 'local' end, a.state_change, %s"
/* Since when the blocker that blocks longest has blocked. The server computes it once for a
 * snapshot, and only if a session waits for a lock. A blocker has its locks at most since its
 * transaction began. Of a prepared transaction there is no session. pg_blocking_pids() stops all
 * locking for a moment, so it is called for a few sessions only. */
#define TRANSACTION_START ", a.xact_start, "
#define LONGEST_BLOCKING(wait_start)                                                               \
    "case when a.wait_event_type = 'Lock' then (select pg_catalog.min(greatest(" wait_start        \
    ", b.xact_start)) from (select s.pid, s.state_change from "                                    \
    "pg_catalog.pg_stat_get_activity(null) s where s.wait_event_type = 'Lock' order by "           \
    "s.state_change limit 8) w cross join lateral "                                                \
    "pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) p(pid) left join "                      \
    "pg_catalog.pg_stat_get_activity(null) b on b.pid = p.pid left join pg_catalog.pg_locks l on " \
    "l.pid = w.pid and not l.granted) end"
#define NO_LONGEST_BLOCKING "null::pg_catalog.timestamptz"
#define FROM " from pg_catalog.pg_stat_activity a"

void postgres_snapshot_statement(bool is_whole, const struct postgres_contents *contents,
                                 int version, char ret[POSTGRES_STATEMENT_SIZE])
{
    const char *blockers = contents->blockers ? BLOCKING : NO_BLOCKING;
    const char *leader = version >= HAS_LEADER ? "a.leader_pid" : "0";
    const char *query_id = version >= POSTGRES_HAS_QUERY_ID ? "a.query_id" : "0::pg_catalog.int8";

    const char *longest = !contents->blockers || !contents->facts ? NO_LONGEST_BLOCKING
                          : version >= HAS_WAIT_START
                              ? LONGEST_BLOCKING("coalesce(l.waitstart, w.state_change)")
                              : LONGEST_BLOCKING("w.state_change");

    if (is_whole)
        snprintf(ret, POSTGRES_STATEMENT_SIZE, BRIEF WHOLE TRANSACTION_START "%s" FROM, leader,
                 query_id, blockers,
                 contents->queries ? "pg_catalog.left(a.query, " QUERY_CHARACTERS ")" : "''",
                 longest);
    else
        snprintf(ret, POSTGRES_STATEMENT_SIZE, BRIEF FROM, leader, query_id, blockers);
}

uint64_t postgres_snapshot_ns(const struct postgres_snapshot *snapshot)
{
    return snapshot->asked_ns + (snapshot->answered_ns - snapshot->asked_ns) / 2;
}

uint64_t postgres_session_start_ns(const struct postgres_snapshot *snapshot,
                                   const struct postgres_session *session)
{
    const int64_t age_us = snapshot->server_us - session->start_us;
    const uint64_t at_ns = postgres_snapshot_ns(snapshot);

    if (age_us < 0)
        return at_ns;
    return (uint64_t)age_us * NS_PER_US < at_ns ? at_ns - (uint64_t)age_us * NS_PER_US : 0;
}

int64_t postgres_session_statement(const struct postgres_session *session)
{
    const char *activity = session->kind.texts[SESSION_ACTIVITY];

    return strcmp(activity, "active") == 0 || strcmp(activity, "fastpath") == 0 ? session->query_id
                                                                                : 0;
}

size_t postgres_snapshot_columns(bool is_whole)
{
    return is_whole ? WHOLE_COUNT : BRIEF_COUNT;
}

bool postgres_snapshot_has_columns(bool is_whole, const PGresult *result)
{
    const size_t count = postgres_snapshot_columns(is_whole);
    bool has_all = libpq.PQnfields(result) == (int)count;

    for (size_t i = 0; has_all && i < count; i++)
        has_all = libpq.PQfformat(result, (int)i) == 1 &&
                  (columns[i].type == 0 || libpq.PQftype(result, (int)i) == columns[i].type);
    return has_all;
}

static int64_t number_of(const struct postgres_field *field)
{
    uint64_t number = 0;

    if (field->bytes == NULL)
        return 0;
    for (size_t i = 0; i < field->length; i++)
        number = number << 8 | (unsigned char)field->bytes[i];
    return field->length == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
}

/* Returns the number of four bytes at an offset. */
static int64_t number_at(const struct postgres_field *field, size_t offset)
{
    return number_of(&(struct postgres_field){ field->bytes + offset, 4 });
}

static int64_t time_of(const struct postgres_field *field)
{
    return field->bytes == NULL ? 0 : number_of(field) + EPOCH_US;
}

static const char *text_or(const struct postgres_field *field, const char *otherwise)
{
    return field->bytes == NULL ? otherwise : field->bytes;
}

/* An array in binary form: the numbers of its dimensions, whether it has NULLs, the type of its
 * elements; if it has a dimension, their count and the first index; then the length and the bytes
 * of each element. Sets *ret_count to their number. Returns false if it is no array of at most
 * BLOCKERS_MOST pids. */
#define ARRAY_HEAD 12
#define ARRAY_ELEMENTS 20
#define ARRAY_ELEMENT 8
static bool read_array(const struct postgres_field *field, size_t *ret_count)
{
    const int64_t dimensions = field->length >= ARRAY_HEAD ? number_at(field, 0) : -1;

    *ret_count = 0;
    if (field->bytes == NULL)
        return true;
    if (dimensions < 0 || dimensions > 1 || number_at(field, 4) != 0 || number_at(field, 8) != INT4)
        return false;
    if (dimensions == 0)
        return field->length == ARRAY_HEAD;
    if (field->length < ARRAY_ELEMENTS)
        return false;
    *ret_count = (field->length - ARRAY_ELEMENTS) / ARRAY_ELEMENT;
    if (*ret_count > BLOCKERS_MOST || number_at(field, ARRAY_HEAD) != (int64_t)*ret_count ||
        field->length != ARRAY_ELEMENTS + *ret_count * ARRAY_ELEMENT)
        return false;
    for (size_t at = ARRAY_ELEMENTS; at < field->length; at += ARRAY_ELEMENT) {
        if (number_at(field, at) != 4 || number_at(field, at + 4) < 0)
            return false;
    }
    return true;
}

size_t postgres_session_blockers(const struct postgres_session *session, int64_t ret[BLOCKERS_MOST])
{
    const struct postgres_field field = { session->blockers,
                                          session->blocker_count * ARRAY_ELEMENT };

    for (size_t i = 0; i < session->blocker_count; i++)
        ret[i] = number_at(&field, i * ARRAY_ELEMENT + 4);
    return session->blocker_count;
}

static bool is_possible(const struct postgres_field *row, size_t count)
{
    size_t blocker_count;

    for (size_t i = 0; i < count; i++) {
        const bool has_value = row[i].bytes != NULL;

        if (has_value ? columns[i].length > 0 && row[i].length != columns[i].length
                      : columns[i].has_value)
            return false;
        if (has_value && columns[i].type == TIMESTAMP &&
            (number_of(&row[i]) < -EPOCH_US || number_of(&row[i]) > LATEST_US - EPOCH_US))
            return false;
    }
    return number_of(&row[PID]) > 0 && read_array(&row[BLOCKERS], &blocker_count);
}

static const char *activity_of(const char *state)
{
    static const struct {
        const char *state, *activity;
    } activities[] = {
        { "idle in transaction", "idle_in_transaction" },
        { "idle in transaction (aborted)", "aborted" },
        { "fastpath function call", "fastpath" },
    };

    for (size_t i = 0; i < sizeof activities / sizeof activities[0]; i++) {
        if (strcmp(state, activities[i].state) == 0)
            return activities[i].activity;
    }
    return state;
}

static void read_type(struct postgres_session *ret, const char *type)
{
    snprintf(ret->type, sizeof ret->type, "%.39s", type);
    for (char *at = ret->type; (at = strchr(at, ' ')) != NULL;)
        *at = '_';
}

static void read_names(struct postgres_session *ret, const struct postgres_field *row)
{
    ret->user = text_or(&row[USER], "");
    ret->database = text_or(&row[DATABASE], "");
    ret->application = text_or(&row[APPLICATION], "");
    ret->client = text_or(&row[CLIENT], "");
    ret->changed_us = time_of(&row[CHANGED]);
    ret->query = text_or(&row[QUERY], "");
    ret->transaction_us = time_of(&row[TRANSACTION]);
}

static void read_session(struct postgres_session *ret, const struct postgres_field *row,
                         bool is_whole)
{
    *ret = (struct postgres_session){
        .pid = (int32_t)number_of(&row[PID]),
        .leader_pid = (int32_t)number_of(&row[LEADER]),
        .start_us = time_of(&row[START]),
        .query_id = number_of(&row[QUERY_ID]),
        .kind = { { [SESSION_CLASS] = text_or(&row[CLASS], NONE),
                    [SESSION_EVENT] = text_or(&row[EVENT], NONE),
                    [SESSION_ACTIVITY] = activity_of(text_or(&row[STATE], NONE)),
                    [SESSION_TYPE] = ret->type } },
        .user = "",
        .database = "",
        .application = "",
        .client = "",
        .query = "",
    };
    read_type(ret, text_or(&row[TYPE], NONE));
    read_array(&row[BLOCKERS], &ret->blocker_count);
    ret->blockers = ret->blocker_count > 0 ? row[BLOCKERS].bytes + ARRAY_ELEMENTS : NULL;
    if (is_whole)
        read_names(ret, row);
}

/* Adds a session or counts a hidden session. A hidden session has a database but no backend_start.
 * A process of the server itself, such as the checkpointer, has no database. */
static void read_row(struct postgres_snapshot *snapshot, const struct postgres_field *row)
{
    const bool is_untracked = strcmp(text_or(&row[STATE], NONE), "disabled") == 0;

    snapshot->server_us = time_of(&row[SERVER]);
    if (row[IS_OWN].bytes[0] != 0) {
        snapshot->own_is_untracked = is_untracked;
        snapshot->own_pid = (int32_t)number_of(&row[PID]);
        snapshot->own_start_us = time_of(&row[START]);
        snapshot->own_query_id = number_of(&row[QUERY_ID]);
    } else if (row[START].bytes == NULL) {
        snapshot->hidden += row[HAS_DATABASE].bytes[0] != 0;
    } else {
        snapshot->untracked += is_untracked;
        if (snapshot->is_whole && row[BLOCKED].bytes != NULL)
            snapshot->blocked_us = time_of(&row[BLOCKED]);
        read_session(&snapshot->sessions[snapshot->count++], row, snapshot->is_whole);
    }
}

int postgres_snapshot_read(struct postgres_snapshot *snapshot, bool is_whole,
                           struct postgres_answer *answer, struct camp_error *error)
{
    const size_t count = postgres_snapshot_columns(is_whole);
    struct postgres_field row[POSTGRES_COLUMNS_MOST];

    snapshot->count = snapshot->hidden = snapshot->untracked = 0;
    snapshot->own_pid = 0;
    snapshot->blocked_us = 0;
    snapshot->is_whole = is_whole;
    if (!ARRAY_RESERVE(snapshot->sessions, snapshot->capacity, answer->rows))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %zu sessions", answer->rows);
    while (postgres_answer_next(answer, row)) {
        if (!is_possible(row, count))
            return postgres_failure_wrong("pg_stat_activity has an impossible value", error);
        read_row(snapshot, row);
    }
    if (snapshot->own_pid == 0)
        return postgres_failure_wrong("pg_stat_activity does not have this connection", error);
    return CAMP_OK;
}

void postgres_snapshot_release(struct postgres_snapshot *snapshot)
{
    free(snapshot->sessions);
}
