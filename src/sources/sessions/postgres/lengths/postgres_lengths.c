#include "postgres_lengths.h"

#include "counters/clock.h"
#include "ledger/array.h"
#include "sources/sessions/postgres/postgres_inside.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_SESSIONS "(other sessions)"

_Static_assert(SESSION_LENGTHS == BACKEND_LENGTHS && SESSION_LENGTHS_FIRST == BACKEND_LENGTHS_FIRST,
               "the counts are copied as they are");

/* A backend is known by its pid and its start; both are 0 for others. */
struct of_backend {
    int32_t pid;
    bool is_kept;
    uint64_t start_ns;
    int64_t statement;
    struct backend_lengths_growth growth;
};

void postgres_lengths_release(struct postgres_lengths *lengths)
{
    free(lengths->all);
    free(lengths->one);
    free(lengths->statements);
    free(lengths->names);
    *lengths = (struct postgres_lengths){ 0 };
}

static int compare_backends(const void *a, const void *b)
{
    const struct of_backend *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct of_backend *left = a, *right = b;
    const int r = compare_backends(a, b);

    return r != 0                               ? r
           : left->statement < right->statement ? -1
                                                : left->statement > right->statement;
}

/* Removes all but those that were kept. */
static void forget(struct postgres_lengths *lengths)
{
    size_t count = 0;

    for (size_t i = 0; i < lengths->count; i++) {
        if (!lengths->all[i].is_kept)
            continue;
        lengths->all[count] = lengths->all[i];
        lengths->all[count++].is_kept = false;
    }
    lengths->count = count;
}

/* A session that runs no statement keeps the id of its last one. */
static int64_t statement_of(const struct postgres_source *source,
                            const struct backend_lengths_growth *growth)
{
    return growth->row == BACKEND_LENGTHS_OTHER ? POSTGRES_OTHER
           : postgres_layout_activity(&source->layout, growth->activity) == POSTGRES_ACTIVE
               ? (int64_t)growth->statement
               : 0;
}

static void add(struct postgres_source *source, const struct backend_lengths_growth *growth,
                const struct backend_account *account)
{
    struct postgres_lengths *lengths = &source->lengths;

    lengths->all[lengths->count++] = (struct of_backend){
        .pid = account != NULL ? account->pid : 0,
        .start_ns = account != NULL ? account->start_ns : 0,
        .statement = statement_of(source, growth),
        .growth = *growth,
    };
}

int postgres_lengths_take(struct postgres_source *source,
                          const struct backend_lengths_growth *growth, size_t count)
{
    struct postgres_lengths *lengths = &source->lengths;
    const struct backend_accounts *accounts = &source->accounts;
    const struct backend_account **by_row = calloc(accounts->count + 1, sizeof *by_row);

    forget(lengths);
    if (by_row == NULL || !ARRAY_RESERVE(lengths->all, lengths->capacity, lengths->count + count)) {
        free(by_row);
        return CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < accounts->count; i++)
        by_row[accounts->now[i].row] = &accounts->now[i];
    for (size_t i = 0; i < count; i++)
        add(source, &growth[i], growth[i].row < accounts->count ? by_row[growth[i].row] : NULL);
    free(by_row);
    if (lengths->count > 1)
        qsort(lengths->all, lengths->count, sizeof *lengths->all, compare);
    return CAMP_OK;
}

int postgres_lengths_read(struct postgres_source *source, uint64_t *ret_lost)
{
    struct postgres_lengths *lengths = &source->lengths;
    const struct backend_lengths_growth *growth;
    uint64_t uncounted;
    size_t count;

    *ret_lost = 0;
    if (!lengths->is_open || source->backends == NULL)
        return CAMP_OK;
    growth = backends_lengths(source->backends, &count, &uncounted);
    *ret_lost = counted_since(lengths->uncounted, uncounted);
    lengths->uncounted = uncounted;
    return postgres_lengths_take(source, growth, count);
}

/* Finds the lengths of a backend: *ret_count of them from the one that is returned. */
static struct of_backend *find(const struct postgres_lengths *lengths, int32_t pid,
                               uint64_t start_ns, size_t *ret_count)
{
    const struct of_backend wanted = { .pid = pid, .start_ns = start_ns, .statement = INT64_MIN };
    const size_t first = ARRAY_POSITION(&wanted, lengths->all, lengths->count, compare);
    size_t end = first;

    while (end < lengths->count && compare_backends(&lengths->all[end], &wanted) == 0)
        end++;
    *ret_count = end - first;
    return end > first ? &lengths->all[first] : NULL;
}

void postgres_lengths_keep(struct postgres_source *source, const struct backend_account *account)
{
    size_t count;
    struct of_backend *of = find(&source->lengths, account->pid, account->start_ns, &count);

    for (size_t i = 0; of != NULL && i < count; i++)
        of[i].is_kept = true;
}

static int fill(struct postgres_source *source, const struct of_backend *of, size_t count,
                const char *type, struct session *session)
{
    struct postgres_lengths *lengths = &source->lengths;
    const int64_t ahead_ns = (int64_t)(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC));

    if (!ARRAYS_RESERVE(lengths->one_capacity, count, ARRAY(lengths->one),
                        ARRAY(lengths->statements), ARRAY(lengths->names)))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct backend_lengths_growth *growth = &of[i].growth;

        lengths->statements[i] = of[i].statement;
        lengths->one[i] = (struct session_lengths){
            .kind = { { postgres_event_class(growth->event),
                        postgres_event_name(&source->events, growth->event, lengths->names[i]),
                        postgres_activity_name(&source->layout, growth->activity), type } },
            .ns = growth->ns,
            .longest_ns = growth->longest_ns,
            .longest_wall_clock_ns = ahead_ns + (int64_t)growth->longest_end_ns,
            .counts = growth->counts,
        };
    }
    session->lengths = lengths->one;
    session->lengths_count = count;
    return CAMP_OK;
}

int postgres_lengths_of(struct postgres_source *source, const struct backend_account *account,
                        const char *type, struct session *session)
{
    size_t count;
    const struct of_backend *of = find(&source->lengths, account->pid, account->start_ns, &count);

    return of != NULL ? fill(source, of, count, type, session) : CAMP_OK;
}

void postgres_lengths_of_statement(const struct postgres_source *source,
                                   const struct session *session, int64_t statement,
                                   struct session *row)
{
    const int64_t *statements = source->lengths.statements;
    size_t first = 0, end;

    while (first < session->lengths_count && statements[first] != statement)
        first++;
    for (end = first; end < session->lengths_count && statements[end] == statement; end++)
        continue;
    row->lengths = end > first ? session->lengths + first : NULL;
    row->lengths_count = end - first;
}

int postgres_lengths_add_other(struct postgres_source *source)
{
    struct session session = { .entity = { .name = OTHER_SESSIONS, .flags = ENTITY_PART } };
    size_t count;
    const struct of_backend *of = find(&source->lengths, 0, 0, &count);
    int r = of != NULL ? fill(source, of, count, "client_backend", &session) : CAMP_OK;

    if (r != CAMP_OK || of == NULL)
        return r;
    if (source->has_parts)
        session.entity.labels = postgres_parts_labels(source, LABELS_NONE, POSTGRES_OTHER);
    return session_frame_add(&source->sessions, &session);
}
