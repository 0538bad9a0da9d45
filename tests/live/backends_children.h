/* For tests of backends: children that wait for known times, and the accounts of a session that
 * watches these children. */
#pragma once

#include "microstates/backends.h"
#include "states_session.h"

#include <stdlib.h>
#include <string.h>

#define BACKENDS 64
#define BURN_NS (500 * (uint64_t)NS_PER_MS)

static struct backend_account accounts[BACKENDS];
/* by the `row` of an account; all zero unless the session divides times by statement */
static struct backend_statements statements[BACKENDS];
/* the same, of a session that notes which backend ends each wait for a lock */
static struct backend_blocks blocks[BACKENDS];
static size_t account_count;
/* The last account of each exited child, at index pid % BACKENDS. */
static struct backend_account last[BACKENDS];
static struct backend_statements last_statements[BACKENDS];
static struct backend_blocks last_blocks[BACKENDS];

/* Like a database server, each child has these variables at the same addresses. */
static uint32_t event;
static uint32_t *volatile event_pointer = &event;
static struct entry {
    int32_t changes, pid, reserved, activity;
    uint64_t statement;
} entry;
static struct entry *volatile entry_pointer = &entry;

static struct backends_place place_of_this_test(void)
{
    return (struct backends_place){
        .parent = getpid(),
        .event_pointer = (uint64_t)(uintptr_t)&event_pointer,
        .activity_pointer = (uint64_t)(uintptr_t)&entry_pointer,
        .activity_offset = offsetof(struct entry, activity),
    };
}

static struct backends *open_or_skip(struct backends_place place)
{
    struct backends *backends = NULL;
    struct camp_error error;
    int r = backends_open(&backends, &place, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return backends;
}

static uint64_t account_sum_ns(const struct backend_account *account)
{
    uint64_t sum = account->cpu_ns + account->run_queue_ns + account->throttled_ns;

    for (uint32_t i = 0; i < account->wait_count; i++)
        sum += account->waits[i].ns;
    return sum;
}

/* Reads all accounts. The CPU, run-queue and throttled time and the waits of an account must add up
 * to its elapsed time. */
static void read_all(struct backends *backends)
{
    struct camp_error error;

    if (backends_read(backends, accounts, statements, blocks, BACKENDS, &account_count, &error) !=
        CAMP_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < account_count; i++) {
        assert_int_equal(account_sum_ns(&accounts[i]), accounts[i].time_ns - accounts[i].begin_ns);
        if ((accounts[i].flags & BACKEND_ENDED) != 0) {
            last[accounts[i].pid % BACKENDS] = accounts[i];
            last_statements[accounts[i].pid % BACKENDS] = statements[accounts[i].row];
            last_blocks[accounts[i].pid % BACKENDS] = blocks[accounts[i].row];
        }
    }
}

static const struct backend_account *account_of(pid_t pid)
{
    for (size_t i = 0; i < account_count; i++) {
        if (accounts[i].pid == pid)
            return &accounts[i];
    }
    return NULL;
}

/* Waits for the last account of a child. wait(2) may return before the child has left its CPU. */
static inline struct backend_account last_of_child(struct backends *backends, pid_t pid)
{
    uint64_t began_ns;

    reap_well(pid);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        read_all(backends);
    while (last[pid % BACKENDS].pid != pid && wait_on(began_ns));
    if (last[pid % BACKENDS].pid != pid)
        fail_msg("no last numbers of %d", pid);
    return last[pid % BACKENDS];
}

/* The length of each wait, which the child measures with its own clocks. Shared memory. */
static struct stretch *own __attribute__((unused));

static inline void wait_for(uint32_t of_event, int32_t activity, unsigned us,
                            struct stretch *stretch)
{
    event = of_event;
    entry.activity = activity;
    if (stretch != NULL)
        begin_stretch(stretch);
    usleep(us);
    if (stretch != NULL)
        end_stretch(stretch);
    event = 0;
}

static inline void wait_long(void *truth)
{
    (void)truth;
    for (;;)
        wait_for(0x06000000, 1, 10000000, NULL);
}

static inline void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
