/*
 * Reads the ledger of causes: which groups had the CPUs while others waited for them, what ended
 * the sleeps, and how long the waits lasted. programs/culprits.bpf.h has the theory.
 */
#include "correction.h"
#include "counters/clock.h"
#include "counters/error.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <stdlib.h>
#include <string.h>

#define TRIES 100

/* What the waits of all CPUs were charged to. A correction is negative. */
struct charges {
    int64_t ns[GROUPS_MAX][CULPRITS_MAX];
    struct queue_account queue; /* a copy of that of one CPU */
    struct corrected corrected[GROUPS_MAX];
};

/* Copies the account of a CPU, and repeats the copy if a switch charged waits meanwhile. If one did
 * during each copy, the last copy counts as a loss. Returns the time of the copy. */
static uint64_t copy_queue(struct camp_states *session, struct queue_account *ret,
                           const volatile struct queue_account *queue)
{
    uint64_t now = 0;

    for (int i = 0; i < TRIES; i++) {
        const uint64_t sequence = queue->sequence;

        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        memcpy(ret, (const void *)queue, sizeof *ret);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        now = now_ns(CLOCK_MONOTONIC);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (sequence % 2 == 0 && sequence == queue->sequence)
            return now;
    }
    session->torn_copies++;
    return now;
}

/* Adds the charges of a CPU, and what its groups have waited since its last switch. */
static void add_queue(struct charges *charges, uint64_t now)
{
    const struct queue_account *queue = &charges->queue;
    const uint32_t culprit =
        queue->running != 0 && queue->running <= CULPRITS_MAX ? queue->running - 1 : CULPRIT_UNSEEN;

    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        const int64_t open = queue_uncharged_ns(queue->waits[i], now);

        for (uint32_t j = 0; j < CULPRITS_MAX; j++)
            charges->ns[i][j] += (int64_t)queue->charged_ns[i][j];
        if (open > 0)
            charges->ns[i][culprit] += open;
    }
}

static void read_charges(struct camp_states *session, uint64_t *ret_time_ns)
{
    struct charges *charges = session->charges;

    memset(charges->ns, 0, sizeof charges->ns);
    for (uint32_t i = 0; i < session->cpu_count; i++) {
        *ret_time_ns = copy_queue(session, &charges->queue, &session->queues[i]);
        add_queue(charges, *ret_time_ns);
    }
    for (uint32_t i = 0; i < GROUPS_MAX; i++)
        camp_correct_charges(&charges->corrected[i], charges->ns[i]);
}

bool camp_causes_make_charges(struct camp_states *session)
{
    session->charges = calloc(1, sizeof *session->charges);
    return session->charges != NULL;
}

static void add_cause(struct camp_output *output, uint32_t group, uint32_t state, uint32_t kind,
                      uint32_t id, uint64_t ns)
{
    const struct camp_wait_cause cause = { group, state, kind, id, ns };

    camp_output_add(output, &cause, sizeof cause);
}

static uint32_t kind_of_culprit(uint32_t culprit)
{
    return culprit < GROUPS_MAX            ? CAMP_CAUSE_GROUP
           : culprit == CULPRIT_IDLE       ? CAMP_CAUSE_IDLE
           : culprit == CULPRIT_INTERRUPTS ? CAMP_CAUSE_INTERRUPTS
           : culprit == CULPRIT_REAL_TIME  ? CAMP_CAUSE_REAL_TIME
                                           : CAMP_CAUSE_UNKNOWN;
}

static uint32_t kind_of_waker(uint32_t waker)
{
    return waker < GROUPS_MAX       ? CAMP_CAUSE_GROUP
           : waker >= WAKER_DEVICES ? CAMP_CAUSE_DEVICE
           : waker == WAKER_TIMER   ? CAMP_CAUSE_TIMER
           : waker == WAKER_SIGNAL  ? CAMP_CAUSE_SIGNAL
           : waker == WAKER_UNSEEN  ? CAMP_CAUSE_UNKNOWN
                                    : CAMP_CAUSE_OTHER_INTERRUPT;
}

static void add_queue_causes(struct camp_output *output, const int64_t *ns, uint32_t group)
{
    uint64_t unknown = 0;

    for (uint32_t i = 0; i < CULPRITS_MAX; i++) {
        const uint32_t kind = kind_of_culprit(i);

        if (ns[i] <= 0)
            continue;
        if (kind == CAMP_CAUSE_UNKNOWN)
            unknown += (uint64_t)ns[i];
        else
            add_cause(output, group, CAMP_STATE_RUN_QUEUE, kind, i < GROUPS_MAX ? i : 0,
                      (uint64_t)ns[i]);
    }
    if (unknown != 0)
        add_cause(output, group, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_UNKNOWN, 0, unknown);
}

/* Two CPUs may have given two numbers to one device. */
static void add_sleep_causes(const struct camp_states *session, struct camp_output *output,
                             uint32_t group, uint32_t state)
{
    const uint64_t *ns = session->sleeps[group].woken_ns[state];
    uint64_t other = 0;

    for (uint32_t i = 0; i < WAKERS_MAX; i++) {
        const uint32_t kind = kind_of_waker(i);
        const uint32_t id = kind == CAMP_CAUSE_GROUP ? i
                            : kind == CAMP_CAUSE_DEVICE
                                ? session->programs->bss->waker_devices[i - WAKER_DEVICES]
                                : 0;

        if (kind == CAMP_CAUSE_OTHER_INTERRUPT)
            other += ns[i];
        else if (ns[i] != 0)
            add_cause(output, group, state, kind, id, ns[i]);
    }
    if (other != 0)
        add_cause(output, group, state, CAMP_CAUSE_OTHER_INTERRUPT, 0, other);
}

int camp_states_causes(struct camp_states *session, struct camp_wait_cause *ret, size_t size,
                       size_t capacity, size_t *ret_count, uint64_t *ret_time_ns,
                       struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    uint64_t released;

    if (camp_is_null(error, session, ret_time_ns) ||
        camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    released = session->released_groups;
    __atomic_store_n(&session->programs->bss->sleeps_since_ns, now_ns(CLOCK_MONOTONIC),
                     __ATOMIC_SEQ_CST);
    read_charges(session, ret_time_ns);
    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            if (state == CAMP_STATE_RUN_QUEUE)
                add_queue_causes(&output, session->charges->corrected[i].reported_ns, i);
            else
                add_sleep_causes(session, &output, i, state);
        }
    }
    camp_causes_free_groups(session, released);
    return camp_output_end(&output, "causes", ret_count, error);
}

int camp_states_wait_lengths(struct camp_states *session, struct camp_wait_lengths *ret,
                             size_t size, size_t capacity, size_t *ret_count,
                             struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    for (uint32_t i = 0; i < GROUPS_MAX * CAMP_STATE_COUNT; i++) {
        struct distribution *of =
            &session->distributions[i / CAMP_STATE_COUNT].of[i % CAMP_STATE_COUNT];
        struct camp_wait_lengths lengths = { .group = i / CAMP_STATE_COUNT,
                                             .state = i % CAMP_STATE_COUNT };
        uint64_t longest, sum = 0;

        memcpy(lengths.counts, of->counts, sizeof lengths.counts);
        for (uint32_t j = 0; j < CAMP_WAIT_BUCKETS; j++)
            sum += lengths.counts[j];
        if (sum == 0)
            continue;
        longest =
            output.count < capacity ? __atomic_exchange_n(&of->longest, 0, __ATOMIC_SEQ_CST) : 0;
        lengths.longest_ns = longest >> LONGEST_TID_BITS;
        lengths.longest_tid = (int32_t)(longest & ((1u << LONGEST_TID_BITS) - 1));
        lengths.longest_end_ns = of->longest_end_ns;
        lengths.total_ns = of->total_ns;
        camp_output_add(&output, &lengths, sizeof lengths);
    }
    return camp_output_end(&output, "lengths of waits", ret_count, error);
}

int camp_states_call_sleeps(struct camp_states *session, struct camp_call_sleeps *ret, size_t size,
                            size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    struct call_key key, *before = NULL;
    int map;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    map = bpf_map__fd(session->programs->maps.sleeps_of_calls);
    for (; output.count < CALL_KEYS_MAX && bpf_map_get_next_key(map, before, &key) == 0;
         before = &key) {
        struct call_sleeps sleeps;
        struct camp_call_sleeps shown = { .pid = key.pid,
                                          .call = key.call == CALL_NONE ? -1 : key.call,
                                          .state = key.state,
                                          .argument = key.argument };

        if (bpf_map_lookup_elem(map, &key, &sleeps) != 0)
            continue;
        shown.sleep_ns = sleeps.slept_ns;
        shown.count = sleeps.count;
        camp_output_add(&output, &shown, sizeof shown);
    }
    return camp_output_end(&output, "sleeps", ret_count, error);
}
