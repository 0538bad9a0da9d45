#include "mariadb_waits.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define PS_PER_NS 1000

#define IS_ON "ENABLED = 'YES' and TIMED = 'YES'"
const struct mariadb_statement mariadb_instruments_statement = {
    .columns = 2,
    .rows_most = 1,
    .sql =
        "select @@performance_schema * ("
        "(select count(*) > 0 from performance_schema.setup_instruments where NAME = 'idle' "
        "and " IS_ON ") + 2 * (select count(*) > 0 from performance_schema.setup_instruments where"
        " NAME like 'wait/synch/cond/%' and " IS_ON
        ") + 4 * (select count(*) from performance_schema.setup_consumers"
        " where NAME = 'events_waits_current' and ENABLED = 'YES')) as " MARIADB_OWN ","
        " (select sum(VARIABLE_VALUE) from information_schema.GLOBAL_STATUS"
        " where VARIABLE_NAME like 'performance\\_schema\\_%\\_instances\\_lost')",
};

#define FROM_THREADS " from performance_schema.threads t"
#define WHERE_INSTRUMENTED                                                                         \
    " where t.TYPE = 'FOREGROUND' and t.PROCESSLIST_ID is not null and t.INSTRUMENTED = 'YES'"
#define JOIN " join performance_schema."
#define ON_USED_EVENTS                                                                             \
    " w on w.THREAD_ID = t.THREAD_ID" WHERE_INSTRUMENTED                                           \
    " and (w.EVENT_NAME = 'idle' or w.EVENT_NAME like 'wait/synch/%' or"                           \
    " w.EVENT_NAME like 'wait/io/file/%' or w.EVENT_NAME like 'wait/io/socket/%')"
/* About 100 waits each of 1,000 sessions. More would take longer than the server may. */
#define WAITS_MOST 131072

const struct mariadb_statement mariadb_waits_statement = {
    .columns = 4,
    .rows_most = WAITS_MOST,
    .sql =
        "select t.PROCESSLIST_ID as " MARIADB_OWN ", 'idle', 0, 0" FROM_THREADS WHERE_INSTRUMENTED
        " union all select t.PROCESSLIST_ID, w.EVENT_NAME, w.TIMER_WAIT, w.TIMER_WAIT" FROM_THREADS
            JOIN "events_waits_current" ON_USED_EVENTS
        " and w.END_EVENT_ID is null and w.TIMER_WAIT is not null"
        " union all select t.PROCESSLIST_ID, w.EVENT_NAME, w.SUM_TIMER_WAIT, 0" FROM_THREADS JOIN
        "events_waits_summary_by_thread_by_event_name" ON_USED_EVENTS " and w.COUNT_STAR > 0",
};

static const struct {
    const char *prefix, *class;
} classes[] = {
    { "wait/synch/", "synch" },
    { "wait/io/file/", "io_file" },
    { "wait/io/socket/", "io_socket" },
};

static labels_id kind_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(classes); i++) {
        const size_t length = strlen(classes[i].prefix);

        if (strncmp(name, classes[i].prefix, length) == 0)
            return mariadb_kind(classes[i].class, name + length, "active");
    }
    return mariadb_kind("idle", "none", "idle");
}

void mariadb_waits_release(struct mariadb_waits *waits)
{
    free(waits->now);
    free(waits->before);
    *waits = (struct mariadb_waits){ 0 };
}

static int compare(const void *a, const void *b)
{
    const struct mariadb_wait *left = a, *right = b;

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->kind > right->kind) - (left->kind < right->kind);
}

static bool add(struct mariadb_waits *waits, const struct mariadb_wait *wait)
{
    if (!ARRAY_RESERVE(waits->now, waits->capacity, waits->count + 1))
        return false;
    waits->now[waits->count++] = *wait;
    return true;
}

/* Adds idle time that still lasts, from the process list, to the wait "idle" of each session. Every
 * instrumented session has this wait, even if its time is 0. */
static void add_lasting_idle(struct mariadb_waits *waits, const struct mariadb_sessions *sessions)
{
    struct mariadb_wait key = { .kind = kind_of("idle") };

    for (size_t i = 0; i < sessions->count && waits->count > 0; i++) {
        const struct mariadb_session *session = &sessions->sessions[i];
        struct mariadb_wait *wait;

        key.id = session->id;
        wait = bsearch(&key, waits->now, waits->count, sizeof key, compare);
        if (wait != NULL && session->is_idle)
            wait->ns += session->lasting_ns;
    }
}

/* Merges waits of the same session and kind, because finished waits and a lasting wait are in
 * separate rows. */
static void merge(struct mariadb_waits *waits)
{
    size_t kept = 0;

    if (waits->count == 0)
        return;
    qsort(waits->now, waits->count, sizeof *waits->now, compare);
    for (size_t i = 1; i < waits->count; i++) {
        if (compare(&waits->now[kept], &waits->now[i]) == 0) {
            waits->now[kept].ns += waits->now[i].ns;
            waits->now[kept].lasting_ns += waits->now[i].lasting_ns;
        } else {
            waits->now[++kept] = waits->now[i];
        }
    }
    waits->count = kept + 1;
}

static const struct mariadb_wait *before(const struct mariadb_waits *waits,
                                         const struct mariadb_wait *wait)
{
    return ARRAY_FIND(wait, waits->before, waits->before_count, compare);
}

void mariadb_waits_resolve(struct mariadb_waits *waits, uint64_t elapsed_ns)
{
    for (size_t i = 0; i < waits->count; i++) {
        struct mariadb_wait *wait = &waits->now[i];
        const uint64_t since = mariadb_wait_since(waits, wait);

        if (before(waits, wait) != NULL && since > elapsed_ns &&
            since - elapsed_ns > wait->lasting_ns / 2)
            wait->ns -= wait->lasting_ns;
        wait->lasting_ns = 0;
    }
}

int mariadb_waits_read(struct mariadb_waits *waits, struct mariadb_answer *rows,
                       unsigned instruments, uint64_t elapsed_ns,
                       const struct mariadb_sessions *sessions)
{
    const struct mariadb_waits then = *waits;
    const char *row[MARIADB_COLUMNS_MOST];

    *waits = (struct mariadb_waits){ .now = then.before,
                                     .capacity = then.before_capacity,
                                     .before = then.now,
                                     .before_count = then.count,
                                     .before_capacity = then.capacity };
    while (mariadb_answer_next(rows, row)) {
        struct mariadb_wait wait;

        if (row[0] == NULL || row[1] == NULL || row[2] == NULL || row[3] == NULL)
            continue;
        wait = (struct mariadb_wait){ .id = strtoll(row[0], NULL, 10),
                                      .kind = kind_of(row[1]),
                                      .ns = strtoull(row[2], NULL, 10) / PS_PER_NS,
                                      .lasting_ns = strtoull(row[3], NULL, 10) / PS_PER_NS };
        if (!add(waits, &wait))
            return CAMP_E_NOMEM;
    }
    merge(waits);
    mariadb_waits_resolve(waits, elapsed_ns);
    if ((instruments & INSTRUMENTS_IDLE) != 0 && (instruments & INSTRUMENTS_IN_FLIGHT) == 0)
        add_lasting_idle(waits, sessions);
    return CAMP_OK;
}

static int compare_ids(const void *key, const void *element)
{
    const int64_t id = *(const int64_t *)key, other = ((const struct mariadb_wait *)element)->id;

    return id < other ? -1 : id > other;
}

const struct mariadb_wait *mariadb_waits_of(const struct mariadb_waits *waits, int64_t id,
                                            size_t *ret_count)
{
    const size_t from = ARRAY_POSITION(&id, waits->now, waits->count, compare_ids);
    size_t end;

    for (end = from; end < waits->count && waits->now[end].id == id;)
        end++;
    *ret_count = end - from;
    return waits->now != NULL ? waits->now + from : NULL;
}

uint64_t mariadb_wait_since(const struct mariadb_waits *waits, const struct mariadb_wait *wait)
{
    const struct mariadb_wait *then = before(waits, wait);

    return counted_since(then != NULL ? then->ns : 0, wait->ns);
}
