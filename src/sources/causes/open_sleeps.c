#include "open_sleeps.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

void open_sleeps_note(struct open_sleeps *sleeps, const struct open_sleep *sleep)
{
    if (ARRAY_RESERVE(sleeps->items, sleeps->capacity, sleeps->count + 1))
        sleeps->items[sleeps->count++] = *sleep;
    else
        sleeps->failed = true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Divides `left_ns` between the threads that sleep in a state. Returns what is more than all of
 * them slept at most. */
static uint64_t divide(struct open_sleeps *sleeps, uint32_t state, uint64_t left_ns)
{
    uint64_t most_ns = 0, part_ns;

    for (size_t i = 0; i < sleeps->count; i++) {
        struct open_sleep *sleep = &sleeps->items[i];

        if (sleep->state != state)
            continue;
        sleep->sleep_ns = sleep->is_whole ? least(sleep->most_ns, left_ns) : 0;
        left_ns -= sleep->sleep_ns;
        most_ns += sleep->is_whole ? 0 : sleep->most_ns;
    }
    part_ns = left_ns;
    for (size_t i = 0; i < sleeps->count && most_ns > 0; i++) {
        struct open_sleep *sleep = &sleeps->items[i];

        if (sleep->state != state || sleep->is_whole)
            continue;
        sleep->sleep_ns = least(
            least(sleep->most_ns, left_ns),
            (uint64_t)((long double)part_ns * (long double)sleep->most_ns / (long double)most_ns));
        left_ns -= sleep->sleep_ns;
    }
    /* What rounding has left. */
    for (size_t i = 0; i < sleeps->count && left_ns > 0; i++) {
        struct open_sleep *sleep = &sleeps->items[i];

        if (sleep->state != state)
            continue;
        part_ns = least(left_ns, sleep->most_ns - sleep->sleep_ns);
        sleep->sleep_ns += part_ns;
        left_ns -= part_ns;
    }
    return left_ns;
}

static bool add_call(struct call_list *calls, const struct camp_call_sleeps *more)
{
    for (size_t i = 0; i < calls->count; i++) {
        struct camp_call_sleeps *call = &calls->items[i];

        if (call->pid == more->pid && call->call == more->call && call->state == more->state &&
            call->argument == more->argument) {
            call->sleep_ns += more->sleep_ns;
            call->count += more->count;
            return true;
        }
    }
    if (!ARRAY_RESERVE(calls->items, calls->capacity, calls->count + 1))
        return false;
    calls->items[calls->count++] = *more;
    return true;
}

static int compare_sleeps(const void *a, const void *b)
{
    const struct open_sleep *left = a, *right = b;

    if (left->sleep_ns != right->sleep_ns)
        return left->sleep_ns < right->sleep_ns ? 1 : -1;
    return (left->tid > right->tid) - (left->tid < right->tid);
}

static int compare_calls(const void *a, const void *b)
{
    const struct camp_call_sleeps *left = a, *right = b;

    if (left->sleep_ns != right->sleep_ns)
        return left->sleep_ns < right->sleep_ns ? 1 : -1;
    return (left->argument > right->argument) - (left->argument < right->argument);
}

bool open_sleeps_calls(struct open_sleeps *sleeps, const struct causes *causes, uint32_t group,
                       int32_t pid, const char *folder, struct call_list *ret)
{
    bool done = true;

    ret->count = 0;
    for (size_t i = 0; i < causes->rows.count && done; i++) {
        const struct cause *row = &causes->rows.items[i];
        struct camp_call_sleeps rest = { .pid = pid, .call = CALL_UNKNOWN, .state = row->state };

        if (row->group != group || row->kind != CAUSE_NOT_ENDED)
            continue;
        rest.sleep_ns = divide(sleeps, row->state, row->wait_ns);
        done = rest.sleep_ns == 0 || add_call(ret, &rest);
    }
    if (sleeps->count > 1)
        qsort(sleeps->items, sleeps->count, sizeof *sleeps->items, compare_sleeps);
    for (size_t i = 0; i < sleeps->count && done; i++) {
        const struct open_sleep *sleep = &sleeps->items[i];
        struct camp_call_sleeps call = { .pid = sleep->pid,
                                         .call = CALL_UNKNOWN,
                                         .state = sleep->state,
                                         .sleep_ns = sleep->sleep_ns,
                                         .count = 1 };

        if (sleep->sleep_ns == 0)
            continue;
        if (i < OPEN_SLEEPS_READ)
            open_call_read(sleep->pid, sleep->tid, folder, &call.call, &call.argument);
        done = add_call(ret, &call);
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, compare_calls);
    return done;
}

void unowned_note(struct unowned_waits *waits, const struct open_sleep *sleep, int32_t call,
                  uint32_t state)
{
    const uint64_t wait_ns = sleep->sleep_ns / sleep->threads;
    const int32_t pid = sleep->pid;

    if (!sleep->is_whole || sleep->state != state || call != SYS_futex)
        return;
    waits->pid_ns = (waits->pid == pid ? waits->pid_ns : 0) + wait_ns;
    waits->pid = pid;
    waits->wait_ns += wait_ns;
    waits->threads++;
    if (waits->pid_ns > waits->most_ns) {
        waits->most_ns = waits->pid_ns;
        waits->most_pid = pid;
    }
}

void unowned_add(struct unowned_waits *sum, const struct unowned_waits *more)
{
    sum->wait_ns += more->wait_ns;
    sum->threads = more->threads > sum->threads ? more->threads : sum->threads;
    if (more->most_ns <= sum->most_ns)
        return;
    sum->most_ns = more->most_ns;
    sum->most_pid = more->most_pid;
    memcpy(sum->who, more->who, sizeof sum->who);
}

bool unowned_is(const struct causes *causes, size_t at, const char *call, const char *other_end)
{
    return causes->open_calls.items[at].state == CAMP_STATE_LOCK && strcmp(call, "futex") == 0 &&
           other_end[0] == '\0';
}

void open_sleeps_release(struct open_sleeps *sleeps)
{
    free(sleeps->items);
    *sleeps = (struct open_sleeps){ 0 };
}
