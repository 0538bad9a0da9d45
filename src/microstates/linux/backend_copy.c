#include "backend_copy.h"

#include "counters/clock.h"

#include <bpf/bpf.h>

#include <string.h>
#include <unistd.h>

#define BUSY_TRIES 100
#define SLEEPING_TRIES 20

static void copy_account(struct backend_account *ret, const struct backend_account *account)
{
    const size_t head = offsetof(struct backend_account, waits);
    size_t waits;

    memcpy(ret, account, head);
    if (ret->wait_count > BACKEND_WAITS_MAX)
        ret->wait_count = 0; /* The kernel is writing the account. The caller copies it again. */
    waits = ret->wait_count * sizeof ret->waits[0];
    memcpy(ret->waits, account->waits, waits);
}

/* The state of a slot since the last event. */
struct open_interval {
    uint64_t since_ns, now_ns;
    uint32_t wait;
    uint64_t throttled_ns; /* the throttled part of a wait in the run queue */
};

static void close_copy(struct backend_account *ret, const struct open_interval *open)
{
    uint64_t interval = open->now_ns > open->since_ns ? open->now_ns - open->since_ns : 0;

    ret->time_ns = open->since_ns;
    if ((ret->flags & BACKEND_ENDED) != 0)
        return;
    ret->time_ns += interval;
    if (ret->state == BACKEND_ON_CPU) {
        ret->cpu_ns += interval;
    } else if (ret->state == BACKEND_IN_RUN_QUEUE) {
        ret->run_queue_ns += interval - open->throttled_ns;
        ret->throttled_ns += open->throttled_ns;
    } else if (open->wait < ret->wait_count) {
        ret->waits[open->wait].ns += interval;
    }
}

/* Adds the time since the last event to the copy of the times by statement, like close_copy(). */
static void close_statements(struct backend_statements *ret, const struct backend_account *account,
                             const struct open_interval *open)
{
    const uint64_t interval = account->time_ns - open->since_ns;

    if ((account->flags & BACKEND_ENDED) != 0)
        return;
    if (account->state == BACKEND_ON_CPU) {
        ret->cpu_ns += interval;
    } else if (account->state == BACKEND_IN_RUN_QUEUE) {
        ret->run_queue_ns += interval - open->throttled_ns;
        ret->throttled_ns += open->throttled_ns;
    } else if (ret->share < BACKEND_SHARES) {
        ret->shares[ret->share].ns += interval;
    }
}

/* Returns the throttled part of the wait in the run queue that has not ended, as of open->now_ns. A
 * program in the kernel reads the clock of the run queue; time after its reading is throttled if
 * the queue was. If the program may not be run, the part is unknown until the wait ends. */
static uint64_t read_throttled(const struct backend_maps *maps, uint32_t number,
                               const struct open_interval *open)
{
    LIBBPF_OPTS(bpf_test_run_opts, options);
    const struct backend_slot *slot = &maps->slots[number];
    struct backend_open_wait *read = maps->open_wait;
    const uint64_t interval = open->now_ns > open->since_ns ? open->now_ns - open->since_ns : 0;
    uint64_t ns = 0;

    if (slot->queue == BACKEND_QUEUE_OWN_BUDGET) {
        ns = slot->queue_clock_ns < open->now_ns ? slot->queue_clock_ns - open->since_ns : interval;
    } else if (slot->queue != BACKEND_QUEUE_NONE) {
        read->number = number;
        if (bpf_prog_test_run_opts(maps->read_open_wait, &options) != 0 || options.retval != 1)
            return 0;
        ns = read->queue_clock_ns - slot->queue_clock_ns;
        if (read->is_throttled != 0)
            ns += open->now_ns - read->time_ns;
    }
    if ((int64_t)ns < 0)
        ns = 0;
    return ns < interval ? ns : interval;
}

static void close_blocks(struct backend_blocks *ret, const struct backend_account *account,
                         uint64_t since_ns)
{
    if ((account->flags & BACKEND_ENDED) == 0 && ret->is_asleep != 0)
        ret->asleep_ns += account->time_ns - since_ns;
}

bool backend_copy_slot(const struct backend_copy *ret, const struct backend_maps *maps,
                       uint32_t number)
{
    const struct backend_slot *slot = &maps->slots[number];
    const volatile uint64_t *now_sequence = &slot->sequence;

    for (int i = 0; i < BUSY_TRIES + SLEEPING_TRIES; i++) {
        struct open_interval open = { 0 };
        uint64_t sequence;

        if (i >= BUSY_TRIES)
            usleep(1000);
        sequence = *now_sequence;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        copy_account(ret->account, &slot->account);
        if (ret->statements != NULL)
            memcpy(ret->statements, &maps->statements[number], sizeof *ret->statements);
        if (ret->blocks != NULL)
            memcpy(ret->blocks, &maps->blocks[number], sizeof *ret->blocks);
        open.since_ns = slot->since_ns;
        open.wait = slot->wait;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        open.now_ns = now_ns(CLOCK_MONOTONIC);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (ret->account->state == BACKEND_IN_RUN_QUEUE && maps->open_wait != NULL)
            open.throttled_ns = read_throttled(maps, number, &open);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        close_copy(ret->account, &open);
        if (ret->statements != NULL)
            close_statements(ret->statements, ret->account, &open);
        if (ret->blocks != NULL)
            close_blocks(ret->blocks, ret->account, open.since_ns);
        if (sequence % 2 == 0 && sequence == *now_sequence)
            return true;
    }
    return false;
}
