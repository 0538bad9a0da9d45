#include "mariadb_sessions.h"

#include "ledger/array.h"

#include "counters/units.h"

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
    "last_statement",
    SESSION_LABELS_OF_BLOCKERS,
    SOURCE_LABEL_WAIT_EVENT
};

/* The columns of mariadb_sessions_statement(). */
enum { ID, TID, COMMAND, STATE, TIME_MS, USER, HOST, DB, TRANSACTION, QUERY };

#define SESSIONS "select p.ID, p.TID, p.COMMAND, p.STATE, p.TIME_MS, p.USER, p.HOST, p.DB, "
#define WITH_TRANSACTIONS                                                                          \
    " from information_schema.PROCESSLIST p left join information_schema.INNODB_TRX x"             \
    " on x.trx_mysql_thread_id = p.ID where p.ID <> connection_id()"
#define WITHOUT_TRANSACTIONS " from information_schema.PROCESSLIST p where p.ID <> connection_id()"

/* More sessions than servers have. A session uses some 3 KB, so the memory is limited. */
#define SESSIONS_MOST 16384
#define STATEMENT(text)                                                                            \
    {                                                                                              \
        .sql = text, .columns = QUERY + 1, .rows_most = SESSIONS_MOST                              \
    }

const struct mariadb_statement *mariadb_sessions_statement(bool transactions, bool queries)
{
    static const struct mariadb_statement statements[2][2] = {
        { STATEMENT(SESSIONS "null, null" WITHOUT_TRANSACTIONS),
          STATEMENT(SESSIONS "null, left(p.INFO, 200)" WITHOUT_TRANSACTIONS) },
        { STATEMENT(SESSIONS "x.trx_state, null" WITH_TRANSACTIONS),
          STATEMENT(SESSIONS "x.trx_state, left(p.INFO, 200)" WITH_TRANSACTIONS) },
    };

    return &statements[transactions][queries];
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

static labels_id labels_of(const char *const *row)
{
    char host[LABELS_VALUE_SIZE];

    return labels_intern((const char *[]){ row[USER], row[DB],
                                           without_port(row[HOST], host, sizeof host), row[QUERY] },
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

void mariadb_sessions_release(struct mariadb_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        mariadb_thread_release(&sessions->sessions[i].thread);
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
        mariadb_thread_release(&found->thread);
        *found = (struct mariadb_session){ .id = id, .tid = tid };
    }
    return found;
}

static void count_time(struct mariadb_session *session, labels_id kind, uint64_t ns)
{
    size_t at = 0;

    if (ns == 0)
        return;
    while (at < session->sample_count && session->samples[at].kind != kind)
        at++;
    if (at == MARIADB_SAMPLES)
        at--;
    else if (at == session->sample_count)
        session->samples[session->sample_count++] = (struct mariadb_sample){ .kind = kind };
    session->samples[at].ns += ns;
}

/* Divides the time since the previous sample between the previous state and the current state. The
 * current state gets the time that it has lasted, and the previous state gets the rest. If both
 * states are idle or both are active, there may have been many states in between: the current state
 * then gets all. */
static void count_since_last(struct mariadb_session *session, uint64_t now_ns, bool is_idle,
                             uint64_t lasting_ns, labels_id kind)
{
    const uint64_t gap = session->sampled_ns != 0 ? now_ns - session->sampled_ns : 0;
    const uint64_t of_now =
        session->sampled_ns == 0 || is_idle == session->is_idle || lasting_ns > gap ? gap
                                                                                    : lasting_ns;

    session->times_seen++;
    count_time(session, kind, of_now);
    count_time(session, session->kind, gap - of_now);
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
                         enum mariadb_transaction transaction)
{
    const bool waits_for_row =
        transaction == MARIADB_WAITS_FOR_ROW && !is(row[STATE], "User sleep");

    if (is_idle)
        return mariadb_kind("none", "none",
                            transaction != MARIADB_NO_TRANSACTION ? "idle_in_transaction" : "idle");
    return mariadb_kind(class, waits_for_row ? "row_lock" : row[STATE], "active");
}

static void read_row(struct mariadb_session *session, const char *const *row, uint64_t now_ns,
                     bool transactions, struct mariadb_threads *threads)
{
    const bool is_idle = is(row[COMMAND], "Sleep");
    const double ms = row[TIME_MS] != NULL ? strtod(row[TIME_MS], NULL) : 0;
    const uint64_t lasting_ns = ms > 0 && ms < 1e12 ? (uint64_t)(ms * NS_PER_MS) : 0;
    const char *class = threads != NULL && session->tid != 0 && !is_idle
                            ? mariadb_threads_call(threads, session->tid, &session->thread)
                            : "none";
    labels_id kind;

    if (transactions)
        session->transaction = transaction_of(row);
    kind = kind_of(row, class, is_idle, session->transaction);
    count_since_last(session, now_ns, is_idle, lasting_ns, kind);
    session->is_seen = true;
    session->is_idle = is_idle;
    session->is_background = is_of_server(row);
    session->lasting_ns = lasting_ns;
    session->sampled_ns = now_ns;
    session->kind = kind;
    session->labels = labels_of(row);
    snprintf(session->name, sizeof session->name, "%s", row[USER] != NULL ? row[USER] : "");
}

int mariadb_sessions_sample(struct mariadb_sessions *sessions, struct mariadb_answer *rows,
                            uint64_t now_ns, bool transactions, struct mariadb_threads *threads)
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
        if (session == NULL)
            return CAMP_E_NOMEM;
        read_row(session, row, now_ns, transactions, threads);
    }
    return r;
}

void mariadb_sessions_start_interval(struct mariadb_sessions *sessions)
{
    size_t kept = 0;

    for (size_t i = 0; i < sessions->count; i++) {
        struct mariadb_session *session = &sessions->sessions[i];

        if (!session->is_seen) {
            mariadb_thread_release(&session->thread);
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
