#include "mariadb_blockers.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number

const struct mariadb_statement mariadb_lock_waits_statement = {
    .sql = "select r.trx_mysql_thread_id as " MARIADB_OWN ", b.trx_mysql_thread_id"
           " from information_schema.INNODB_LOCK_WAITS w"
           " join information_schema.INNODB_TRX r on r.trx_id = w.requesting_trx_id"
           " join information_schema.INNODB_TRX b on b.trx_id = w.blocking_trx_id"
           " limit " TEXT_OF(MARIADB_LOCK_WAITS_MOST),
    .columns = 2,
    .rows_most = MARIADB_LOCK_WAITS_MOST,
};

/* One row of the answer. */
struct pair {
    int64_t waiting, blocker;
};

bool mariadb_is_lock(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_EVENT], "row_lock") == 0;
}

static bool waits(const struct mariadb_session *session)
{
    return session->is_seen && !session->is_idle && session->transaction == MARIADB_WAITS_FOR_ROW;
}

bool mariadb_sessions_wait_for_rows(const struct mariadb_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        if (waits(&sessions->sessions[i]))
            return true;
    }
    return false;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->waiting != b->waiting)
        return a->waiting < b->waiting ? -1 : 1;
    return a->blocker < b->blocker ? -1 : a->blocker > b->blocker;
}

/* Returns -1 if a field is no id. */
static int64_t id_of(const char *text)
{
    char *end;
    int64_t id;

    if (text == NULL || text[0] < '0' || text[0] > '9')
        return -1;
    id = strtoll(text, &end, 10);
    return *end == '\0' ? id : -1;
}

/* Reads the pairs, sorted. A transaction without a session, such as a prepared one that the server
 * found when it started, has the id 0. Returns their number, or SIZE_MAX without memory. */
static size_t read_pairs(struct mariadb_answer *rows, struct pair **ret)
{
    const char *row[MARIADB_COLUMNS_MOST];
    size_t count = 0;

    *ret = calloc(rows->rows + 1, sizeof **ret);
    if (*ret == NULL)
        return SIZE_MAX;
    while (count < rows->rows && mariadb_answer_next(rows, row)) {
        const struct pair pair = { id_of(row[0]), id_of(row[1]) };

        if (pair.waiting > 0 && pair.blocker >= 0)
            (*ret)[count++] = pair;
    }
    qsort(*ret, count, sizeof **ret, compare_pairs);
    return count;
}

/* Copies the blockers of a session from pairs[count]. */
static size_t blockers_of(const struct pair *pairs, size_t count, int64_t id,
                          int64_t ret[BLOCKERS_MOST])
{
    const struct pair first = { id, INT64_MIN };
    size_t found = 0;

    for (size_t at = ARRAY_POSITION(&first, pairs, count, compare_pairs);
         at < count && pairs[at].waiting == id && found < BLOCKERS_MOST; at++)
        ret[found++] = pairs[at].blocker;
    return found;
}

int mariadb_blockers_add(struct blocker_samples *samples, uint64_t at_ns,
                         const struct mariadb_sessions *sessions, struct mariadb_answer *rows)
{
    struct pair *pairs = NULL;
    const size_t pair_count = rows != NULL ? read_pairs(rows, &pairs) : 0;
    struct blocked_sample *waiting = NULL;
    int64_t(*ids)[BLOCKERS_MOST] = NULL;
    size_t count = 0, at = 0;
    int r = pair_count == SIZE_MAX ? CAMP_E_NOMEM : CAMP_OK;

    for (size_t i = 0; i < sessions->count; i++)
        count += waits(&sessions->sessions[i]);
    if (count > 0) {
        waiting = calloc(count, sizeof *waiting);
        ids = calloc(count, sizeof *ids);
        if (waiting == NULL || ids == NULL)
            r = CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < sessions->count && at < count && r == CAMP_OK; i++) {
        const int64_t id = sessions->sessions[i].id;

        if (!waits(&sessions->sessions[i]))
            continue;
        waiting[at] = (struct blocked_sample){
            id, 0, ids[at], pairs != NULL ? blockers_of(pairs, pair_count, id, ids[at]) : 0
        };
        at++;
    }
    if (r == CAMP_OK)
        r = blocker_samples_add(samples, at_ns, waiting, count);
    free(pairs);
    free(waiting);
    free(ids);
    return r;
}
