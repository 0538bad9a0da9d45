#include "mariadb_sessions.h"

#include "ledger/array.h"
#include "statements/mariadb_row_waits.h"

#include "counters/units.h"
#include "sources/source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_OF_SESSION 4

const char *const mariadb_label_names[MARIADB_LABELS] = { "user", "database", "client",
                                                          SESSION_LABELS_OF_BLOCKERS,
                                                          SOURCE_LABEL_WAIT_EVENT };
const char *const mariadb_label_names_with_queries[MARIADB_LABELS + 1] = {
    "user",
    "database",
    "client",
    SOURCE_LABEL_LAST_STATEMENT,
    SESSION_LABELS_OF_BLOCKERS,
    SOURCE_LABEL_WAIT_EVENT
};
const char *const mariadb_label_names_by_statement[MARIADB_LABELS + 1] = {
    "user",
    "database",
    "client",
    SOURCE_LABEL_STATEMENT,
    SESSION_LABELS_OF_BLOCKERS,
    SOURCE_LABEL_WAIT_EVENT
};

/* The columns of mariadb_sessions_statement(). */
enum { ID, TID, COMMAND, STATE, TIME_MS, USER, HOST, DB, TRANSACTION, QUERY, IS_OF_QUERY, COUNT };

#define SESSIONS                                                                                   \
    "select p.ID as " MARIADB_OWN ", p.TID, p.COMMAND, p.STATE, p.TIME_MS, p.USER, p.HOST, p.DB, "
#define WITH_TRANSACTIONS                                                                          \
    " from information_schema.PROCESSLIST p left join information_schema.INNODB_TRX x"             \
    " on x.trx_mysql_thread_id = p.ID where p.ID <> connection_id()"
#define WITHOUT_TRANSACTIONS " from information_schema.PROCESSLIST p where p.ID <> connection_id()"

/* More sessions than servers have. A session uses some 3 KB, so the memory is limited. */
#define SESSIONS_MOST 16384
#define STATEMENT(text)                                                                            \
    {                                                                                              \
        .sql = text, .columns = COUNT, .rows_most = SESSIONS_MOST                                  \
    }
#define TEXT_LABEL ", left(p.INFO, 200), null"
#define TEXT_TO_DIVIDE ", left(p.INFO, 1000), "

const struct mariadb_statement *mariadb_sessions_statement(bool transactions,
                                                           enum mariadb_texts texts)
{
    static const struct mariadb_statement statements[2][3] = {
        { STATEMENT(SESSIONS "null, null, null" WITHOUT_TRANSACTIONS),
          STATEMENT(SESSIONS "null" TEXT_LABEL WITHOUT_TRANSACTIONS),
          STATEMENT(SESSIONS "null" TEXT_TO_DIVIDE "null" WITHOUT_TRANSACTIONS) },
        { STATEMENT(SESSIONS "x.trx_state, null, null" WITH_TRANSACTIONS),
          STATEMENT(SESSIONS "x.trx_state" TEXT_LABEL WITH_TRANSACTIONS),
          STATEMENT(SESSIONS "x.trx_state" TEXT_TO_DIVIDE
                             "left(x.trx_query, 200) <=> left(p.INFO, 200)" WITH_TRANSACTIONS) },
    };

    return &statements[transactions][texts];
}

static void clean(const char *text, char *ret, size_t size)
{
    snprintf(ret, size, "%s", text != NULL && text[0] != '\0' ? text : "none");
    for (; *ret != '\0'; ret++) {
        if (isspace((unsigned char)*ret) || iscntrl((unsigned char)*ret))
            *ret = '_';
    }
}

labels_id mariadb_kind(const char *class, const char *event, const char *activity)
{
    char texts[KIND_TEXTS][64];

    clean(class, texts[KIND_CLASS], sizeof texts[0]);
    clean(event, texts[KIND_EVENT], sizeof texts[0]);
    clean(activity, texts[KIND_ACTIVITY], sizeof texts[0]);
    return labels_intern((const char *[]){ texts[0], texts[1], texts[2] }, KIND_TEXTS);
}

/* Removes the port from an address such as "10.0.0.5:41234", because each connection has another
 * port. */
static const char *without_port(const char *host, char *ret, size_t size)
{
    const char *colon = host != NULL ? strrchr(host, ':') : NULL;

    snprintf(ret, size, "%.*s", colon != NULL ? (int)(colon - host) : (int)size,
             host != NULL ? host : "");
    return ret;
}

static labels_id labels_of(const char *const *row, bool has_text)
{
    char host[LABELS_VALUE_SIZE];

    return labels_intern((const char *[]){ row[USER], row[DB],
                                           without_port(row[HOST], host, sizeof host),
                                           has_text ? row[QUERY] : NULL },
                         LABELS_OF_SESSION);
}

static bool is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

/* Returns true if the row is of a thread that works for the server itself, or for a replica. */
static bool is_of_server(const char *const *row)
{
    return is(row[USER], "system user") || is(row[USER], "event_scheduler") ||
           is(row[COMMAND], "Daemon") || is(row[COMMAND], "Binlog Dump") ||
           strncmp(row[COMMAND] != NULL ? row[COMMAND] : "", "Slave", 5) == 0;
}

static void release_session(struct mariadb_session *session)
{
    mariadb_thread_release(&session->thread);
    free(session->samples);
    session->samples = NULL;
}

void mariadb_sessions_release(struct mariadb_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        release_session(&sessions->sessions[i]);
    free(sessions->sessions);
    *sessions = (struct mariadb_sessions){ 0 };
}

static int compare_ids(const void *key, const void *element)
{
    const int64_t id = *(const int64_t *)key, other = ((const struct mariadb_session *)element)->id;

    return id < other ? -1 : id > other;
}

static struct mariadb_session *find(const struct mariadb_sessions *sessions, int64_t id)
{
    return ARRAY_FIND(&id, sessions->sessions, sessions->count, compare_ids);
}

const struct mariadb_session *mariadb_sessions_find(const struct mariadb_sessions *sessions,
                                                    int64_t id)
{
    return find(sessions, id);
}

static struct mariadb_session *add(struct mariadb_sessions *sessions, int64_t id)
{
    const size_t place = ARRAY_POSITION(&id, sessions->sessions, sessions->count, compare_ids);

    if (!ARRAY_INSERT(sessions->sessions, sessions->count, sessions->capacity, place))
        return NULL;
    sessions->sessions[place].id = id;
    return &sessions->sessions[place];
}

/* Finds or adds a session by id and thread. The id alone is not enough, because a restarted server
 * uses the same ids again. */
static struct mariadb_session *find_or_add(struct mariadb_sessions *sessions, int64_t id,
                                           int32_t tid)
{
    struct mariadb_session *found = find(sessions, id);

    if (found != NULL && found->tid == tid)
        return found;
    if (found == NULL)
        found = add(sessions, id);
    if (found != NULL) {
        release_session(found);
        *found = (struct mariadb_session){ .id = id, .tid = tid };
    }
    return found;
}

static bool is_same(const struct mariadb_sample *left, const struct mariadb_sample *right)
{
    return left->kind == right->kind && left->statement == right->statement &&
           left->is_open == right->is_open;
}

int mariadb_session_add_sample(struct mariadb_session *session, const struct mariadb_sample *sample,
                               uint64_t ns)
{
    /* Without statements, all are of the statement 0. */
    const size_t most = session->last.statement != MARIADB_STATEMENT_NONE ||
                                sample->statement != MARIADB_STATEMENT_NONE
                            ? MARIADB_SAMPLES_BY_STATEMENT
                            : MARIADB_SAMPLES;
    size_t at = 0;

    if (ns == 0)
        return CAMP_OK;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a released session is set to all zero */
    while (at < session->sample_count && !is_same(&session->samples[at], sample))
        at++;
    if (at == session->sample_count && at >= most) {
        struct mariadb_sample *last = &session->samples[--at];

        last->statement =
            last->statement == sample->statement ? last->statement : MARIADB_STATEMENT_OTHER;
    } else if (at == session->sample_count) {
        if (!ARRAY_RESERVE(session->samples, session->sample_capacity, at + 1))
            return CAMP_E_NOMEM;
        session->sample_count++;
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): as above */
        session->samples[at] = *sample;
        session->samples[at].ns = 0;
    }
    session->samples[at].ns += ns;
    return CAMP_OK;
}

/* Divides the time since the previous sample between the previous state and the current state. The
 * current state gets the time that it has lasted, and the previous state gets the rest. If both
 * states are idle or both are active, there may have been many states in between: the current state
 * then gets all. */
static int count_since_last(struct mariadb_session *session, uint64_t now_ns, bool is_idle,
                            uint64_t lasting_ns, const struct mariadb_sample *current)
{
    const uint64_t gap = session->sampled_ns != 0 ? now_ns - session->sampled_ns : 0;
    const uint64_t of_now =
        session->sampled_ns == 0 || is_idle == session->is_idle || lasting_ns > gap ? gap
                                                                                    : lasting_ns;
    const int r = mariadb_session_add_sample(session, current, of_now);

    session->times_seen++;
    return r == CAMP_OK ? mariadb_session_add_sample(session, &session->last, gap - of_now) : r;
}

static enum mariadb_transaction transaction_of(const char *const *row)
{
    if (row[TRANSACTION] == NULL)
        return MARIADB_NO_TRANSACTION;
    return is(row[TRANSACTION], "LOCK WAIT") ? MARIADB_WAITS_FOR_ROW : MARIADB_TRANSACTION;
}

/* Returns the kind of a session's current state. STATE of the process list does not show waits for
 * the lock of a row; only the transaction does. */
static labels_id kind_of(const char *const *row, const char *class, bool is_idle,
                         enum mariadb_transaction transaction, bool waits_for_row)
{
    if (is_idle)
        return mariadb_kind("none", "none",
                            transaction != MARIADB_NO_TRANSACTION ? "idle_in_transaction" : "idle");
    return mariadb_kind(class, waits_for_row ? "row_lock" : row[STATE], "active");
}

/* Sets *ret to the session's current state, if time is divided by statement. */
static int read_statement(struct mariadb_session *session, const char *const *row, uint64_t now_ns,
                          bool transactions, const char *class,
                          struct mariadb_statements *statements, struct mariadb_sample *ret)
{
    const bool is_idle = is(row[COMMAND], "Sleep");
    const bool may_wait = !is_idle && mariadb_row_wait_is_possible(class, row[STATE]);
    const uint64_t gap_ns = session->sampled_ns != 0 ? now_ns - session->sampled_ns : 0;
    bool is_locked;
    int r = CAMP_OK;

    mariadb_row_wait_find(session, now_ns, is_idle, transactions, is(row[IS_OF_QUERY], "1"));
    is_locked =
        !is_idle && session->row_wait == MARIADB_ROW_LOCKED && !is(row[STATE], "User sleep");
    ret->kind = kind_of(row, class, is_idle, session->transaction, is_locked);
    ret->statement = is_idle ? MARIADB_STATEMENT_NONE : MARIADB_STATEMENT_OTHER;
    ret->is_open = may_wait && session->row_wait == MARIADB_ROW_UNKNOWN;
    if (!is_idle && row[QUERY] != NULL)
        r = mariadb_statements_add(statements, row[QUERY], &ret->statement);
    if (r == CAMP_OK && may_wait && !ret->is_open)
        mariadb_row_wait_count(statements, ret->statement, gap_ns, is_locked);
    return r;
}

static int read_row(struct mariadb_session *session, const char *const *row, uint64_t now_ns,
                    bool transactions, struct mariadb_threads *threads,
                    struct mariadb_statements *statements)
{
    const bool is_idle = is(row[COMMAND], "Sleep");
    const double ms = row[TIME_MS] != NULL ? strtod(row[TIME_MS], NULL) : 0;
    const uint64_t lasting_ns = ms > 0 && ms < 1e12 ? (uint64_t)(ms * NS_PER_MS) : 0;
    const char *class = threads != NULL && session->tid != 0 && !is_idle
                            ? mariadb_threads_call(threads, session->tid, &session->thread)
                            : "none";
    struct mariadb_sample current = { 0 };
    int r = CAMP_OK;

    if (transactions)
        session->transaction = transaction_of(row);
    session->lasting_ns = lasting_ns;
    if (statements != NULL)
        r = read_statement(session, row, now_ns, transactions, class, statements, &current);
    else
        current.kind =
            kind_of(row, class, is_idle, session->transaction,
                    session->transaction == MARIADB_WAITS_FOR_ROW && !is(row[STATE], "User sleep"));
    if (r == CAMP_OK)
        r = count_since_last(session, now_ns, is_idle, lasting_ns, &current);
    session->is_seen = true;
    session->is_idle = is_idle;
    session->is_background = is_of_server(row);
    session->sampled_ns = now_ns;
    session->last = current;
    session->labels = labels_of(row, statements == NULL);
    snprintf(session->name, sizeof session->name, "%s", row[USER] != NULL ? row[USER] : "");
    return r;
}

int mariadb_sessions_sample(struct mariadb_sessions *sessions, struct mariadb_answer *rows,
                            uint64_t now_ns, bool transactions, struct mariadb_threads *threads,
                            struct mariadb_statements *statements)
{
    const char *row[MARIADB_COLUMNS_MOST];
    int r = CAMP_OK;

    for (size_t i = 0; i < sessions->count; i++)
        sessions->sessions[i].is_seen = false;
    while (mariadb_answer_next(rows, row)) {
        struct mariadb_session *session;
        int64_t id;

        if (row[ID] == NULL)
            continue;
        id = strtoll(row[ID], NULL, 10);
        if (sessions->count == MARIADB_SESSIONS_MOST && find(sessions, id) == NULL) {
            r = CAMP_E_SPACE;
            continue;
        }
        session =
            find_or_add(sessions, id, row[TID] != NULL ? (int32_t)strtol(row[TID], NULL, 10) : 0);
        if (session == NULL ||
            read_row(session, row, now_ns, transactions, threads, statements) != CAMP_OK)
            return CAMP_E_NOMEM;
    }
    return r;
}

void mariadb_sessions_start_interval(struct mariadb_sessions *sessions)
{
    size_t kept = 0;

    for (size_t i = 0; i < sessions->count; i++) {
        struct mariadb_session *session = &sessions->sessions[i];

        if (!session->is_seen) {
            release_session(session);
            continue;
        }
        session->sample_count = 0;
        session->times_seen = 0;
        if (kept != i)
            sessions->sessions[kept] = *session;
        kept++;
    }
    sessions->count = kept;
}
