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

static int compare_pids(const void *a, const void *b)
{
    const int32_t left = ((const struct open_sleep *)a)->pid;
    const int32_t right = ((const struct open_sleep *)b)->pid;

    return (left > right) - (left < right);
}

static void swap_processes(struct open_sleeps *sleeps)
{
    struct open_process *processes = sleeps->last_processes;
    const size_t capacity = sleeps->last_capacity;

    sleeps->last_processes = sleeps->processes;
    sleeps->last_capacity = sleeps->process_capacity;
    sleeps->last_count = sleeps->process_count;
    sleeps->processes = processes;
    sleeps->process_capacity = capacity;
    sleeps->process_count = 0;
}

/* Returns the process whose sleeps start at items[first]. */
static struct open_process process_at(const struct open_sleeps *sleeps, size_t first)
{
    struct open_process ret = { .pid = sleeps->items[first].pid, .first = first };
    bool are_whole = true;

    for (size_t i = first; i < sleeps->count && sleeps->items[i].pid == ret.pid; i++) {
        ret.threads += sleeps->items[i].threads;
        are_whole &= sleeps->items[i].is_whole;
        ret.count++;
    }
    ret.threads = are_whole ? ret.threads : 0;
    return ret;
}

bool open_sleeps_sort(struct open_sleeps *sleeps)
{
    size_t last = 0;

    if (sleeps->count > 1)
        qsort(sleeps->items, sleeps->count, sizeof *sleeps->items, compare_pids);
    swap_processes(sleeps);
    for (size_t i = 0; i < sleeps->count;) {
        struct open_process process = process_at(sleeps, i);
        const struct open_process *before = NULL;

        while (last < sleeps->last_count && sleeps->last_processes[last].pid < process.pid)
            last++;
        if (last < sleeps->last_count && sleeps->last_processes[last].pid == process.pid)
            before = &sleeps->last_processes[last];
        if (before != NULL && process.threads > 0 && before->threads == process.threads) {
            process.known = before->known == OPEN_NEW ? OPEN_UNREAD : before->known;
            process.unowned = before->unowned;
        }
        if (!ARRAY_RESERVE(sleeps->processes, sleeps->process_capacity, sleeps->process_count + 1))
            return false;
        sleeps->processes[sleeps->process_count++] = process;
        i += process.count;
    }
    return true;
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

bool open_call_add(struct causes *causes, size_t *capacity, const struct camp_call_sleeps *call,
                   const struct open_fact *fact)
{
    struct call_list *calls = &causes->open_calls;

    if (!ARRAYS_RESERVE(*capacity, calls->count + 1, ARRAY(calls->items),
                        ARRAY(causes->open_facts)))
        return false;
    calls->items[calls->count] = *call;
    causes->open_facts[calls->count++] = *fact;
    return true;
}

static bool is_like(const struct causes *causes, size_t a, size_t b)
{
    const struct camp_call_sleeps *left = &causes->open_calls.items[a];
    const struct camp_call_sleeps *right = &causes->open_calls.items[b];
    const struct open_fact *facts = causes->open_facts;

    return left->pid == right->pid && left->state == right->state &&
           (facts[a].group < CAUSE_GROUPS) == (facts[b].group < CAUSE_GROUPS) &&
           strcmp(facts[a].names.call, facts[b].names.call) == 0 &&
           strcmp(facts[a].names.object, facts[b].names.object) == 0;
}

bool open_total_of(struct open_total *ret, const struct causes *causes, size_t at)
{
    *ret = (struct open_total){ .is_of_one_group = true };
    if (causes->open_facts[at].group >= CAUSE_GROUPS)
        return false;
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        if (!is_like(causes, i, at))
            continue;
        if (i < at)
            return false;
        ret->sleep_ns += causes->open_calls.items[i].sleep_ns;
        ret->state_ns += causes->open_facts[i].state_ns;
        ret->is_of_one_group &= causes->open_facts[i].group == causes->open_facts[at].group;
    }
    return true;
}

void open_calls_sort(struct causes *causes)
{
    for (size_t i = 1; i < causes->open_calls.count; i++) {
        const struct camp_call_sleeps call = causes->open_calls.items[i];
        const struct open_fact fact = causes->open_facts[i];
        size_t at = i;

        for (; at > 0 && causes->open_calls.items[at - 1].sleep_ns < call.sleep_ns; at--) {
            causes->open_calls.items[at] = causes->open_calls.items[at - 1];
            causes->open_facts[at] = causes->open_facts[at - 1];
        }
        causes->open_calls.items[at] = call;
        causes->open_facts[at] = fact;
    }
}

bool unowned_note(struct unowned_waits *waits, const struct open_sleep *sleep, int32_t call,
                  uint32_t state)
{
    const uint64_t wait_ns = sleep->sleep_ns / sleep->threads;
    const int32_t pid = sleep->pid;

    if (!sleep->is_whole || sleep->state != state || call != SYS_futex)
        return false;
    waits->pid_ns = (waits->pid == pid ? waits->pid_ns : 0) + wait_ns;
    waits->pid = pid;
    waits->wait_ns += wait_ns;
    waits->threads++;
    if (waits->pid_ns > waits->most_ns) {
        waits->most_ns = waits->pid_ns;
        waits->most_pid = pid;
    }
    return true;
}

void unowned_note_again(struct unowned_waits *waits, const struct open_sleeps *sleeps,
                        const struct open_process *process)
{
    uint32_t left = process->unowned;

    for (size_t i = 0; i < process->count; i++) {
        const struct open_sleep *sleep = &sleeps->items[process->first + i];

        for (uint32_t j = 0; j < sleep->threads && left > 0; j++)
            left -= unowned_note(waits, sleep, SYS_futex, CAMP_STATE_LOCK);
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
    free(sleeps->processes);
    free(sleeps->last_processes);
    *sleeps = (struct open_sleeps){ 0 };
}
