/*
 * What the server reports of its sessions at the end of an interval (session_facts.h). The numbers
 * come from the last sample. The ages of transactions and of locks take a statement more, which is
 * asked only while a session has a transaction; its tables have just been read by the sample, so
 * InnoDB need not make them again.
 *
 * InnoDB knows transactions from their first access to one of its tables on, and their start to the
 * second. Of locks it knows those of its rows, not those of a table's definition.
 */
#include "counters/clock.h"
#include "mariadb_inside.h"

#include <stdlib.h>
#include <string.h>

/* Ages in microseconds: of the oldest transaction, and of the blocker that blocks longest. */
const struct mariadb_statement mariadb_ages_statement = {
    .columns = 2,
    .rows_most = 1,
    .sql = "select (select max(timestampdiff(microsecond, x.trx_started, now(6)))"
           " from information_schema.INNODB_TRX x"
           " where x.trx_mysql_thread_id <> connection_id()) as " MARIADB_OWN ","
           " (select max(least(timestampdiff(microsecond, r.trx_wait_started, now(6)),"
           " timestampdiff(microsecond, b.trx_started, now(6))))"
           " from information_schema.INNODB_LOCK_WAITS w"
           " join information_schema.INNODB_TRX r on r.trx_id = w.requesting_trx_id"
           " join information_schema.INNODB_TRX b on b.trx_id = w.blocking_trx_id)",
};

#define AGE_US_MOST INT64_C(10000000000000000) /* 300 years */

/* A missing age is of nothing, and so 0. */
static uint64_t age_ns(const char *text)
{
    const long long us = text != NULL ? strtoll(text, NULL, 10) : 0;

    return us > 0 && us < AGE_US_MOST ? (uint64_t)us * NS_PER_US : 0;
}

/* The kinds are those of mariadb_account_samples(), with the thread's sleep where it is known. */
static enum session_state state_of(struct mariadb_source *source,
                                   const struct mariadb_session *session)
{
    const char *class = labels_value(session->last.kind, KIND_CLASS);
    const bool is_running = strcmp(class, "running") == 0;
    const struct session_kind kind = { { labels_value(session->last.kind, KIND_CLASS),
                                         labels_value(session->last.kind, KIND_EVENT),
                                         labels_value(session->last.kind, KIND_ACTIVITY),
                                         "client" } };
    enum session_state state;

    if (is_running || labels_count(session->last.kind) == 0)
        return SESSION_CPU;
    state = session_frame_state(&source->sessions_frame, &kind);
    return state != SESSION_STATE_COUNT ? state : SESSION_WAIT;
}

static void keep_oldest(struct session_age *age, uint64_t ns)
{
    if (ns > age->ns)
        age->ns = ns;
}

/* Returns whether the session has a transaction. */
static bool count(struct mariadb_source *source, const struct mariadb_session *session)
{
    struct session_facts *facts = &source->facts;
    const bool is_in_transaction = session->transaction != MARIADB_NO_TRANSACTION;

    if (is_in_transaction && session->is_idle) {
        facts->in_transaction++;
        keep_oldest(&facts->idle_in_transaction, session->lasting_ns);
    } else {
        facts->counts[session->is_idle ? SESSION_IDLE : state_of(source, session)]++;
    }
    return is_in_transaction;
}

void mariadb_facts_update(struct mariadb_source *source, uint64_t until_ns)
{
    /* Without the right PROCESS, and on the tier of instruments, transactions are not read. */
    const bool knows = source->server.has_process && source->tier != TIER_INSTRUMENTS;
    const struct session_age age = { .is_known = knows };
    const char *row[MARIADB_COLUMNS_MOST];
    bool has_transaction = false;

    source->facts = (struct session_facts){ .is_answered = source->is_answered,
                                            .hides_some = !source->server.has_process,
                                            .transaction = age,
                                            .idle_in_transaction = age,
                                            .blocker = age };
    if (!source->is_answered)
        return;
    for (size_t i = 0; i < source->sessions.count; i++) {
        const struct mariadb_session *session = &source->sessions.sessions[i];

        if (session->is_seen && (source->background || !session->is_background))
            has_transaction |= count(source, session);
    }
    if (!has_transaction || !knows || !source->wants_facts)
        return;
    source->facts.transaction.is_known = source->facts.blocker.is_known =
        mariadb_ask_row(source, &mariadb_ages_statement, until_ns, row);
    if (!source->facts.blocker.is_known)
        return;
    source->facts.transaction.ns = age_ns(row[0]);
    source->facts.blocker.ns = age_ns(row[1]);
}
