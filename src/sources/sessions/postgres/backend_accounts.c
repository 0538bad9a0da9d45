#include "backend_accounts.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/frame.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64
#define OWN_TIMES 3 /* those of no wait */
#define TIMES_MAX (OWN_TIMES + BACKEND_WAITS_MAX)

static int compare(const void *a, const void *b)
{
    const struct backend_account *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

static bool reserve(struct backend_accounts *accounts, size_t wanted)
{
    return ARRAYS_RESERVE(accounts->capacity, wanted, ARRAY(accounts->now),
                          ARRAY(accounts->before)) &&
           (!accounts->by_statement ||
            ARRAYS_RESERVE(accounts->statement_capacity, accounts->capacity,
                           ARRAY(accounts->statements), ARRAY(accounts->statements_before))) &&
           (!accounts->by_blocker ||
            ARRAYS_RESERVE(accounts->block_capacity, accounts->capacity, ARRAY(accounts->blocks),
                           ARRAY(accounts->blocks_before)));
}

static void swap(struct backend_accounts *accounts)
{
    struct backend_account *const now = accounts->before;
    struct backend_statements *const statements = accounts->statements_before;
    struct backend_blocks *const blocks = accounts->blocks_before;

    accounts->blocks_before = accounts->blocks;
    accounts->blocks = blocks;
    accounts->statements_before = accounts->statements;
    accounts->statements = statements;
    accounts->before = accounts->now;
    accounts->before_count = accounts->count;
    accounts->now = now;
    accounts->count = 0;
}

static void sort(struct backend_accounts *accounts)
{
    if (accounts->count > 0)
        qsort(accounts->now, accounts->count, sizeof *accounts->now, compare);
}

int backend_accounts_read(struct backend_accounts *accounts, struct backends *backends,
                          struct camp_error *error)
{
    size_t count = FIRST_CAPACITY;
    int r = CAMP_E_SPACE;

    swap(accounts);
    while (r == CAMP_E_SPACE) {
        if (!reserve(accounts, count))
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %zu backends", count);
        r = backends_read(backends, accounts->now, accounts->statements, accounts->blocks,
                          accounts->capacity, &count, error);
        if (r == CAMP_OK)
            accounts->count = count;
        count += count / 4; /* more backends may start before the next attempt */
    }
    sort(accounts);
    return r;
}

int backend_accounts_replace(struct backend_accounts *accounts, const struct backend_account *now,
                             size_t count)
{
    swap(accounts);
    if (!reserve(accounts, count))
        return CAMP_E_NOMEM;
    if (count > 0)
        memcpy(accounts->now, now, count * sizeof *now);
    accounts->count = count;
    sort(accounts);
    return CAMP_OK;
}

void backend_accounts_omit(struct backend_accounts *accounts, size_t at)
{
    accounts->count--;
    memmove(&accounts->now[at], &accounts->now[at + 1],
            (accounts->count - at) * sizeof *accounts->now);
}

void backend_accounts_release(struct backend_accounts *accounts)
{
    free(accounts->now);
    free(accounts->before);
    free(accounts->statements);
    free(accounts->statements_before);
    free(accounts->blocks);
    free(accounts->blocks_before);
    *accounts = (struct backend_accounts){ .by_statement = accounts->by_statement,
                                           .by_blocker = accounts->by_blocker };
}

static const struct backend_wait *find_wait(const struct backend_account *account,
                                            const struct backend_wait *wanted)
{
    for (uint32_t i = 0; i < account->wait_count; i++) {
        if (account->waits[i].event == wanted->event &&
            account->waits[i].activity == wanted->activity)
            return &account->waits[i];
    }
    return NULL;
}

/* Subtracts `before` from *ret in all times that add up to the wall time. A time may be smaller
 * than before; states_since() corrects this. The cause: the kernel reads the clock at a switch some
 * 100 ns before it stores the new time, so a reading in between accounts 100 ns too much to the old
 * state. */
static void subtract_times(struct backend_account *ret, const struct backend_account *before)
{
    uint64_t times[TIMES_MAX] = { ret->cpu_ns, ret->run_queue_ns, ret->throttled_ns };
    uint64_t times_before[TIMES_MAX] = { before->cpu_ns, before->run_queue_ns,
                                         before->throttled_ns };
    const uint32_t count = ret->wait_count;

    for (uint32_t i = 0; i < count; i++) {
        const struct backend_wait *known = find_wait(before, &ret->waits[i]);

        times[OWN_TIMES + i] = ret->waits[i].ns;
        times_before[OWN_TIMES + i] = known != NULL ? known->ns : 0;
        ret->waits[i].times -= known != NULL ? known->times : 0;
    }
    states_since(times, times_before, times, OWN_TIMES + count);
    ret->cpu_ns = times[0];
    ret->run_queue_ns = times[1];
    ret->throttled_ns = times[2];
    ret->wait_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (times[OWN_TIMES + i] == 0)
            continue;
        ret->waits[ret->wait_count] = ret->waits[i];
        ret->waits[ret->wait_count++].ns = times[OWN_TIMES + i];
    }
}

bool backend_accounts_since(const struct backend_accounts *accounts, size_t at,
                            struct backend_account *ret)
{
    static const struct backend_account nothing;
    const struct backend_account *now = &accounts->now[at];
    const struct backend_account *before =
        ARRAY_FIND(now, accounts->before, accounts->before_count, compare);

    *ret = *now;
    if (before == NULL)
        before = &nothing;
    else
        ret->begin_ns = before->time_ns;
    ret->scheduler_cpu_ns -= before->scheduler_cpu_ns;
    ret->scheduler_run_queue_ns -= before->scheduler_run_queue_ns;
    ret->voluntary_switches -= before->voluntary_switches;
    ret->involuntary_switches -= before->involuntary_switches;
    subtract_times(ret, before);
    return ret->time_ns > ret->begin_ns;
}

struct backend_statements *backend_accounts_statements(const struct backend_accounts *accounts,
                                                       size_t at)
{
    return accounts->by_statement ? &accounts->statements[accounts->now[at].row] : NULL;
}

/* Returns the account of the same backend at the previous reading, or NULL. */
static const struct backend_account *find_before(const struct backend_accounts *accounts, size_t at)
{
    return ARRAY_FIND(&accounts->now[at], accounts->before, accounts->before_count, compare);
}

const struct backend_statements *
backend_accounts_statements_before(const struct backend_accounts *accounts, size_t at)
{
    const struct backend_account *before = find_before(accounts, at);

    return accounts->by_statement && before != NULL ? &accounts->statements_before[before->row]
                                                    : NULL;
}

const struct backend_blocks *backend_accounts_blocks(const struct backend_accounts *accounts,
                                                     size_t at)
{
    return accounts->by_blocker ? &accounts->blocks[accounts->now[at].row] : NULL;
}

const struct backend_blocks *backend_accounts_blocks_before(const struct backend_accounts *accounts,
                                                            size_t at)
{
    const struct backend_account *before = find_before(accounts, at);

    return accounts->by_blocker && before != NULL ? &accounts->blocks_before[before->row] : NULL;
}
