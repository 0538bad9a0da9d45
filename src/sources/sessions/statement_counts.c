#include "statement_counts.h"

#include "ledger/array.h"

#include <stdlib.h>

void statement_counts_release(struct statement_counts *counts)
{
    free(counts->before);
    free(counts->now);
    free(counts->growth);
    *counts = (struct statement_counts){ 0 };
}

void statement_counts_start(struct statement_counts *counts)
{
    counts->now_count = 0;
    counts->growth_count = 0;
    counts->others = (struct statement_growth){ 0 };
    counts->other_count = 0;
    counts->lost = 0;
}

void statement_counts_forget(struct statement_counts *counts)
{
    statement_counts_start(counts);
    counts->has_before = false;
}

int statement_counts_add(struct statement_counts *counts, const struct statement_entry *entry)
{
    if (!ARRAY_RESERVE(counts->now, counts->now_capacity, counts->now_count + 1))
        return CAMP_E_NOMEM;
    counts->now[counts->now_count++] = *entry;
    return CAMP_OK;
}

int statement_id_compare(const struct statement_id *left, const struct statement_id *right)
{
    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    return left->low < right->low ? -1 : left->low > right->low;
}

static int compare_entries(const void *left, const void *right)
{
    const struct statement_entry *a = left, *b = right;
    const int order = statement_id_compare(&a->statement, &b->statement);

    if (order != 0)
        return order;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

/* Sorts the reading, and adds up entries of one statement and owner. */
static void put_in_order(struct statement_counts *counts)
{
    size_t count = 0;

    if (counts->now_count > 0)
        qsort(counts->now, counts->now_count, sizeof *counts->now, compare_entries);
    for (size_t i = 0; i < counts->now_count; i++) {
        const struct statement_entry *entry = &counts->now[i];
        struct statement_entry *last = count > 0 ? &counts->now[count - 1] : NULL;

        if (last == NULL || compare_entries(last, entry) != 0) {
            counts->now[count++] = *entry;
            continue;
        }
        last->calls += entry->calls;
        last->planning_ns += entry->planning_ns;
        last->execution_ns += entry->execution_ns;
        last->rows += entry->rows;
        last->lock_ns += entry->lock_ns;
    }
    counts->now_count = count;
}

static bool has_restarted(const struct statement_entry *before, const struct statement_entry *now)
{
    return before->since != now->since || before->calls > now->calls ||
           before->planning_ns > now->planning_ns || before->execution_ns > now->execution_ns ||
           before->rows > now->rows || before->lock_ns > now->lock_ns;
}

/* Adds the growth of an entry. `before` is NULL for a new entry, `now` for one that is gone. */
static void add_growth(struct statement_counts *counts, const struct statement_entry *before,
                       const struct statement_entry *now)
{
    static const struct statement_entry nothing;
    const struct statement_entry *to = now != NULL ? now : &nothing;
    const struct statement_entry *from = before != NULL ? before : &nothing;
    const struct statement_id statement = now != NULL ? to->statement : from->statement;
    const bool is_lost = before != NULL && (now == NULL || has_restarted(before, now));
    struct statement_growth *last =
        counts->growth_count > 0 ? &counts->growth[counts->growth_count - 1] : NULL;

    if (is_lost)
        from = &nothing;
    else if (before != NULL && from->calls == to->calls && from->planning_ns == to->planning_ns &&
             from->execution_ns == to->execution_ns && from->rows == to->rows &&
             from->lock_ns == to->lock_ns)
        return;
    if (last == NULL || statement_id_compare(&last->statement, &statement) != 0) {
        last = &counts->growth[counts->growth_count++];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserved by the caller */
        *last = (struct statement_growth){ .statement = statement };
    }
    last->calls += to->calls - from->calls;
    last->planning_ns += to->planning_ns - from->planning_ns;
    last->execution_ns += to->execution_ns - from->execution_ns;
    last->rows += to->rows - from->rows;
    last->lock_ns += to->lock_ns - from->lock_ns;
    last->lost += is_lost;
    counts->lost += is_lost;
}

static void compare_readings(struct statement_counts *counts)
{
    size_t i = 0, j = 0;

    for (;;) {
        const struct statement_entry *before = i < counts->before_count ? &counts->before[i] : NULL;
        const struct statement_entry *now = j < counts->now_count ? &counts->now[j] : NULL;
        int order;

        if (before == NULL && now == NULL)
            break;
        order = before == NULL ? 1 : now == NULL ? -1 : compare_entries(before, now);
        add_growth(counts, order <= 0 ? before : NULL, order >= 0 ? now : NULL);
        i += order <= 0;
        j += order >= 0;
    }
}

static int compare_descending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a > b ? -1 : a < b;
}

/* Finds the least execution time of the statements that are kept. Others may have it, too. */
static int find_least(const struct statement_counts *counts, uint64_t *ret)
{
    uint64_t *times = calloc(counts->growth_count, sizeof *times);

    if (times == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < counts->growth_count; i++)
        times[i] = counts->growth[i].execution_ns;
    qsort(times, counts->growth_count, sizeof *times, compare_descending);
    *ret = times[STATEMENT_GROWTH_MOST - 1];
    free(times);
    return CAMP_OK;
}

static void add_to_others(struct statement_counts *counts, const struct statement_growth *growth)
{
    counts->others.calls += growth->calls;
    counts->others.planning_ns += growth->planning_ns;
    counts->others.execution_ns += growth->execution_ns;
    counts->others.rows += growth->rows;
    counts->others.lock_ns += growth->lock_ns;
    counts->others.lost += growth->lost;
    counts->other_count++;
}

/* Of several statements with the least time that is kept, the last ones are kept. */
static int add_up_others(struct statement_counts *counts)
{
    const size_t count = counts->growth_count;
    uint64_t least_ns = 0;
    size_t kept = 0;

    if (count <= STATEMENT_GROWTH_MOST)
        return CAMP_OK;
    if (find_least(counts, &least_ns) != CAMP_OK)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct statement_growth *growth = &counts->growth[i];

        if (growth->execution_ns > least_ns ||
            (growth->execution_ns == least_ns && kept + (count - i) <= STATEMENT_GROWTH_MOST))
            counts->growth[kept++] = *growth;
        else
            add_to_others(counts, growth);
    }
    counts->growth_count = kept;
    return CAMP_OK;
}

int statement_counts_finish(struct statement_counts *counts)
{
    struct statement_entry *spare = counts->before;
    const size_t spare_capacity = counts->before_capacity;

    put_in_order(counts);
    if (counts->has_before) {
        if (!ARRAY_RESERVE(counts->growth, counts->growth_capacity,
                           counts->before_count + counts->now_count))
            return CAMP_E_NOMEM;
        compare_readings(counts);
        if (add_up_others(counts) != CAMP_OK) {
            statement_counts_start(counts); /* the growth is that of the next reading, too */
            return CAMP_E_NOMEM;
        }
    }
    counts->before = counts->now;
    counts->before_count = counts->now_count;
    counts->before_capacity = counts->now_capacity;
    counts->now = spare;
    counts->now_capacity = spare_capacity;
    counts->now_count = 0;
    counts->has_before = true;
    return CAMP_OK;
}
