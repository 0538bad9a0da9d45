#include "mysql_dialect.h"

#include "ledger/array.h"
#include "mariadb_inside.h"

#define PS "performance_schema."
#define OWN " as " MARIADB_OWN

/* A session whose thread has no events, because it is not instrumented, has its time in seconds. In
 * performance_schema, an event that lasts ends now. */
#define SESSIONS                                                                                   \
    "select t.PROCESSLIST_ID" OWN ", t.THREAD_OS_ID, t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE,"  \
    " coalesce(case when e.END_EVENT_ID is null then e.TIMER_WAIT"                                 \
    " when n.TIMER_END > e.TIMER_END then n.TIMER_END - e.TIMER_END else 0 end / 1e9,"             \
    " t.PROCESSLIST_TIME * 1000), t.PROCESSLIST_USER, t.PROCESSLIST_HOST, t.PROCESSLIST_DB, "
#define THREADS                                                                                    \
    " from " PS "threads t left join " PS "events_statements_current e"                            \
    " on e.THREAD_ID = t.THREAD_ID and e.NESTING_EVENT_LEVEL = 0"                                  \
    " left join " PS "events_statements_current n"                                                 \
    " on n.THREAD_ID = ps_current_thread_id() and n.NESTING_EVENT_LEVEL = 0"
#define OTHERS " where t.PROCESSLIST_ID is not null and t.PROCESSLIST_ID <> connection_id()"

/* One row of each thread that waits for a lock, with the event in which it asked for that. */
#define TRANSACTIONS                                                                               \
    " left join (select REQUESTING_THREAD_ID, max(REQUESTING_EVENT_ID) as EVENT_ID"                \
    " from " PS "data_lock_waits group by REQUESTING_THREAD_ID) w"                                 \
    " on w.REQUESTING_THREAD_ID = t.THREAD_ID left join " PS "events_transactions_current x"       \
    " on x.THREAD_ID = t.THREAD_ID and x.STATE = 'ACTIVE' and x.END_EVENT_ID is null"
#define STATE                                                                                      \
    "case when w.EVENT_ID is not null then 'LOCK WAIT'"                                            \
    " when x.STATE is not null then 'RUNNING' end"
/* A wait belongs to the session's statement if it began after the statement. */
#define IS_OF_STATEMENT "coalesce(w.EVENT_ID >= e.EVENT_ID, 1)"

#define TEXT_LABEL ", left(t.PROCESSLIST_INFO, 200), null"
#define TEXT_TO_DIVIDE ", left(t.PROCESSLIST_INFO, 1000), "

static const char sessions[2][3][1600] = {
    { SESSIONS "null, null, null" THREADS OTHERS, SESSIONS "null" TEXT_LABEL THREADS OTHERS,
      SESSIONS "null" TEXT_TO_DIVIDE "null" THREADS OTHERS },
    { SESSIONS STATE ", null, null" THREADS TRANSACTIONS OTHERS,
      SESSIONS STATE TEXT_LABEL THREADS TRANSACTIONS OTHERS,
      SESSIONS STATE TEXT_TO_DIVIDE IS_OF_STATEMENT THREADS TRANSACTIONS OTHERS },
};

static const char place[] = "select THREAD_OS_ID" OWN ", @@thread_handling, @@hostname from " PS
                            "threads where PROCESSLIST_ID = connection_id()";

#define IS_ON "ENABLED = 'YES' and TIMED = 'YES')"
static const char instruments[] =
    "select @@performance_schema * ((select count(*) > 0 from " PS
    "setup_instruments where NAME = 'idle' and " IS_ON " + 2 * (select count(*) > 0 from " PS
    "setup_instruments where NAME like 'wait/synch/cond/%' and " IS_ON " + 4 * (select count(*)"
    " from " PS "setup_consumers where NAME = 'events_waits_current' and ENABLED = 'YES'))" OWN
    ", (select sum(VARIABLE_VALUE) from " PS
    "global_status where VARIABLE_NAME like 'performance\\_schema\\_%\\_instances\\_lost')";

static const char lock_waits[] =
    "select distinct r.PROCESSLIST_ID" OWN ", b.PROCESSLIST_ID from " PS "data_lock_waits w"
    " join " PS "threads r on r.THREAD_ID = w.REQUESTING_THREAD_ID"
    " join " PS "threads b on b.THREAD_ID = w.BLOCKING_THREAD_ID limit 10000";

/* In microseconds: of the oldest transaction, and of the blocker that blocks longest. A statement
 * waits at most since its start. */
static const char ages[] =
    "select (select max(x.TIMER_WAIT) / 1e6 from " PS "events_transactions_current x"
    " where x.STATE = 'ACTIVE' and x.END_EVENT_ID is null"
    " and x.THREAD_ID <> ps_current_thread_id())" OWN ", (select max(least(e.TIMER_WAIT,"
    " x.TIMER_WAIT)) / 1e6 from " PS "data_lock_waits w join " PS "events_statements_current e"
    " on e.THREAD_ID = w.REQUESTING_THREAD_ID and e.END_EVENT_ID is null"
    " join " PS "events_transactions_current x on x.THREAD_ID = w.BLOCKING_THREAD_ID)";

/* Writes a statement with the shape of `shape`. */
static const struct mariadb_statement *shaped(struct mariadb_statement *ret, const char *sql,
                                              const struct mariadb_statement *shape)
{
    *ret = (struct mariadb_statement){ sql, shape->columns, shape->rows_most };
    return ret;
}

const struct mariadb_statement *mysql_dialect_of(const struct mariadb_statement *statement)
{
    static struct mariadb_statement of_sessions[2][3], others[4];
    const struct {
        const struct mariadb_statement *statement;
        const char *sql;
    } known[] = {
        { &mariadb_place_statement, place },
        { &mariadb_instruments_statement, instruments },
        { &mariadb_lock_waits_statement, lock_waits },
        { &mariadb_ages_statement, ages },
    };

    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (statement == known[i].statement)
            return shaped(&others[i], known[i].sql, statement);
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
            if (statement == mariadb_sessions_statement(i, (enum mariadb_texts)j))
                return shaped(&of_sessions[i][j], sessions[i][j], statement);
        }
    }
    return statement;
}
