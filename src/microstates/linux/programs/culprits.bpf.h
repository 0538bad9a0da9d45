/*
 * The ledger of causes: which group the threads in a run queue wait for, and what ends each sleep.
 * By double entry: each ns of a group in CAMP_STATE_RUN_QUEUE is charged to exactly one culprit,
 * and each ns of a sleep that has ended to exactly one waker.
 *
 * Each CPU has a word for each group that waits for it (struct queue_account). A thread enters the
 * word at the time at which its state becomes CAMP_STATE_RUN_QUEUE, and leaves it at the time at
 * which that state ends, so all charges of a wait add up to the time in the state. A switch charges
 * what has been waited since the last charge to the thread that leaves the CPU.
 *
 * A switch without an event is found at the next one. The time until the thread of the unseen
 * switch began to run is charged to the thread before it, and the rest to itself. A wait that no
 * word has, because the scheduler's counts told of it later, is charged to CULPRIT_UNSEEN.
 *
 * Throttled time is no wait in the run queue. A thread that leaves its CPU while its group is
 * throttled enters no word; what is left of its wait, after the throttled time is subtracted, goes
 * to CULPRIT_UNSEEN. The wait of a thread that was in a word when its group was throttled is
 * charged as usual, and its throttled time is subtracted from CULPRIT_CORRECTION, which is never
 * above 0: the session subtracts it from the other culprits (correction.c).
 *
 * Without has_culprits the compiler leaves all of this out of the programs.
 */
#pragma once

#include "../culprits_layout.h"
#include "account_map.bpf.h"
#include "distribution.bpf.h"
#include "groups.bpf.h"
#include "order.bpf.h"

/* Sleeps that end are charged from this time on, because the session reported the time before as a
 * sleep that nothing had ended yet. */
uint64_t sleeps_since_ns;

/* These maps exist only with CAMP_STATES_CULPRITS. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1); /* the session sets the number of possible CPUs */
    __type(key, uint32_t);
    __type(value, struct queue_account);
} queues SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, GROUPS_MAX);
    __type(key, uint32_t);
    __type(value, struct sleeps);
} sleeps_of_groups SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CALL_KEYS_MAX);
    __type(key, struct call_key);
    __type(value, struct call_sleeps);
} sleeps_of_calls SEC(".maps");

#define QUEUED(cpu, group) (1 + (group) + ((cpu) << 8))
#define QUEUED_GROUP(queued) (((queued)-1) & (GROUPS_MAX - 1))
#define QUEUED_CPU(queued) (((queued)-1) >> 8)

static __always_inline struct queue_account *queue_of(uint32_t cpu)
{
    return bpf_map_lookup_elem(&queues, &cpu);
}

static __always_inline struct queue_account *this_queue(void)
{
    return queue_of(bpf_get_smp_processor_id());
}

/* Charges a wait to a culprit, or takes back a part of a charge. */
static __always_inline void charge_culprit(uint32_t group, uint32_t culprit, int64_t ns)
{
    struct queue_account *queue = this_queue();

    if (queue != NULL && culprit < CULPRITS_MAX)
        queue->charged_ns[group & (GROUPS_MAX - 1)][culprit] += ns;
}

/* A thread enters the word of its group and a CPU, at account->since_ns. Returns what
 * account->queued must be. */
__noinline int enter_queue(const struct account *account, uint32_t number)
{
    const struct cpu_account *cpu = has_culprits ? cpu_of(number) : NULL;
    struct queue_account *queue = cpu != NULL ? queue_of(number) : NULL;
    uint64_t before;
    uint32_t group;

    if (account == NULL || queue == NULL)
        return 0;
    group = group_of(account);
    __sync_fetch_and_add(&queue->interrupts[group], interrupts_ns(cpu, account->since_ns));
    before = __sync_fetch_and_add(&queue->waits[group], queue_entry(account->since_ns));
    if ((before & QUEUE_MASK) == 0)
        __sync_fetch_and_or(&queue->waiting, UINT64_C(1) << group);
    return (int)QUEUED(number, group);
}

/* A switch of that CPU may read the word and the sum of the interrupt clock between the two
 * additions. The sum must not be too small then, because what is charged to interrupts is added to
 * it. So a thread that enters changes the sum first, and one that leaves changes it last. */
static __always_inline void leave_queue(uint32_t queued, uint64_t now)
{
    const struct cpu_account *cpu = cpu_of(QUEUED_CPU(queued));
    struct queue_account *queue = queue_of(QUEUED_CPU(queued));
    const uint32_t group = QUEUED_GROUP(queued);

    if (cpu == NULL || queue == NULL)
        return;
    __sync_fetch_and_add(&queue->waits[group], -queue_entry(now));
    keep_order();
    __sync_fetch_and_add(&queue->interrupts[group], -interrupts_ns(cpu, now));
}

/* Charges what a group has waited since the last charge. */
static __always_inline void charge_group(struct queue_account *queue, uint32_t group,
                                         uint32_t culprit, uint64_t now, uint64_t interrupts_now)
{
    const uint64_t word = *(volatile uint64_t *)&queue->waits[group];
    const int64_t ns = queue_uncharged_ns(word, now);
    int64_t interrupted =
        (int64_t)((word & QUEUE_MASK) * interrupts_now - queue->interrupts[group]);

    /* The word and the interrupts are not read at once. What does not fit is charged later. */
    if (interrupted > ns)
        interrupted = ns;
    if (interrupted > 0) {
        __sync_fetch_and_add(&queue->interrupts[group], (uint64_t)interrupted);
        queue->charged_ns[group][CULPRIT_INTERRUPTS] += interrupted;
    } else {
        interrupted = 0;
    }
    if (ns > 0) {
        __sync_fetch_and_add(&queue->waits[group], (uint64_t)ns << QUEUE_BITS);
        queue->charged_ns[group][culprit] += ns - interrupted;
    }
    if ((word & QUEUE_MASK) != 0)
        return;
    __sync_fetch_and_and(&queue->waiting, ~(UINT64_C(1) << group));
    keep_order();
    if ((*(volatile uint64_t *)&queue->waits[group] & QUEUE_MASK) != 0)
        __sync_fetch_and_or(&queue->waiting, UINT64_C(1) << group);
}

struct charging {
    struct queue_account *queue;
    uint64_t groups, now, interrupts_now;
    uint32_t culprit;
};

/* Charges one group. Returns 1 if no group is left. The verifier checks the body of bpf_loop()
 * once. */
static long charge_next(uint32_t number, struct charging *charging)
{
    const uint32_t group = lowest_bit(charging->groups) & (GROUPS_MAX - 1);

    if (charging->groups == 0)
        return 1;
    charging->groups &= charging->groups - 1;
    if (charging->culprit < CULPRITS_MAX)
        charge_group(charging->queue, group, charging->culprit, charging->now,
                     charging->interrupts_now);
    return charging->groups == 0;
}

/* Returns whether a thread that the session watches has the CPU. */
static __always_inline bool runs_subject(const struct queue_account *queue)
{
    return queue->running != 0 && queue->running <= GROUPS_MAX &&
           (subject_groups >> (queue->running - 1) & 1) != 0;
}

/* Charges the waits for this CPU until `now` to what had the CPU. Then `running`, which is 1 + enum
 * culprit, has it, and what it wakes is woken by `waker`, which is 1 + enum waker. */
__noinline int charge_queue(uint64_t now, uint32_t running, uint32_t waker)
{
    struct queue_account *queue = has_culprits ? this_queue() : NULL;
    const struct cpu_account *cpu = has_culprits ? this_cpu() : NULL;

    if (queue == NULL || cpu == NULL)
        return 0;
    ADD_IN_ORDER(&queue->sequence, 1);
    if (queue->waiting != 0) {
        struct charging charging = {
            .queue = queue,
            .groups = queue->waiting,
            .now = now,
            .interrupts_now = interrupts_ns(cpu, now),
            .culprit = queue->running != 0 ? queue->running - 1 : CULPRIT_UNSEEN,
        };

        bpf_loop(GROUPS_MAX, charge_next, &charging, 0);
    }
    if (groups_by_need && runs_subject(queue))
        queue->subject_left_ns = now;
    queue->running = running;
    queue->waker = waker;
    queue->timer = 0; /* No switch happens in an interrupt. */
    ADD_IN_ORDER(&queue->sequence, 1);
    return 0;
}

/* Returns 1 + enum culprit of a thread that has a CPU. */
static __always_inline uint32_t culprit_of(const struct account *account,
                                           const struct task_struct *task)
{
    return 1 + (task->pid == 0             ? CULPRIT_IDLE
                : task->prio < MAX_RT_PRIO ? CULPRIT_REAL_TIME
                : account != NULL          ? group_of(account)
                                           : GROUP_OTHER);
}

/* Returns 1 + enum waker of what a thread that has a CPU wakes. No thread runs on an idle CPU. */
static __always_inline uint32_t waker_of(const struct account *account,
                                         const struct task_struct *task)
{
    return 1 + (task->pid == 0 ? WAKER_UNSEEN : account != NULL ? group_of(account) : GROUP_OTHER);
}

/* The thread that has this CPU is of another group than before. */
static __always_inline void runs_now(struct queue_account *queue, const struct account *account,
                                     const struct task_struct *task)
{
    queue->running = culprit_of(account, task);
    queue->waker = waker_of(account, task);
}

/* Returns the need for a group of a thread that has this CPU, by what waits for the CPU. The set of
 * waiting groups has each group that waited since the last switch. A real-time thread is a culprit
 * of its own. */
static __always_inline uint32_t need_of_running(const struct queue_account *queue,
                                                const struct task_struct *task)
{
    const uint64_t waiting = *(const volatile uint64_t *)&queue->waiting;

    if (task->prio < MAX_RT_PRIO)
        return NEED_OF_NONE;
    return (waiting & subject_groups) != 0 ? NEED_OF_CULPRIT
           : waiting >> GROUP_FIRST != 0   ? NEED_OF_CHAIN
                                           : NEED_OF_NONE;
}

/* A thread gets this CPU: before its arrival is accounted, it finds its group. */
static __always_inline void keep_group_of_arriving(struct account *account,
                                                   const struct task_struct *task)
{
    const struct queue_account *queue;
    uint32_t need;

    keep_group(account, task);
    if (!groups_by_need || group_of(account) != GROUP_OTHER)
        return;
    queue = this_queue();
    if (queue == NULL)
        return;
    need = need_of_running(queue, task);
    if (need == NEED_OF_NONE && account->state == CAMP_STATE_RUN_QUEUE &&
        (runs_subject(queue) || queue->subject_left_ns > account->since_ns))
        need = NEED_OF_CHAIN;
    name_group(account, task, need);
}

/* A thread leaves this CPU, and finds its group again if it has another one. `ran` is whether an
 * event reported that it had the CPU. Then all its time there is charged to its new group, of which
 * it mostly is since it executed another program. `is_ready` is whether it was preempted, which may
 * be between the event of a new name and the change of the name (rename_group()). */
static __always_inline void keep_group_of_leaving(struct account *account,
                                                  const struct task_struct *task, bool ran,
                                                  bool is_ready)
{
    struct queue_account *queue;
    bool changes = account->groups_version != groups_version;

    if (changes)
        join_group(account, task);
    if (changes || (groups_by_need && group_of(account) == GROUP_OTHER)) {
        queue = this_queue();
        if (queue == NULL)
            return;
        if (groups_by_need)
            changes |= name_group(account, task, need_of_running(queue, task));
        if (ran && changes)
            runs_now(queue, account, task);
    }
    if (account->renames != 0) {
        account->renames = is_ready ? account->renames - 1 : 0;
        change_groups();
    }
}

/* A wait in the run queue ends, or goes on for another CPU. It was CAMP_STATE_RUN_QUEUE from
 * `since` to `now`. */
static __always_inline void end_of_queue(struct account *account, uint64_t since, uint64_t now,
                                         bool goes_on)
{
    const uint32_t queued = __sync_lock_test_and_set(&account->queued, 0);
    const uint32_t group = group_of(account);
    uint64_t waited;

    if (queued != 0)
        leave_queue(queued, now);
    else
        charge_culprit(group, CULPRIT_UNSEEN, (int64_t)(now - since));
    if (goes_on)
        return;
    /* A wait that only the scheduler's counts reported, later, has no other start. */
    waited = now - (account->waits_since != 0 ? account->waits_since : since);
    account->waits_since = 0;
    if (account->throttled_ns != 0) {
        distribute(group, CAMP_STATE_THROTTLED, account->throttled_ns, account->tid, now);
        waited -= account->throttled_ns < waited ? account->throttled_ns : waited;
        account->throttled_ns = 0;
    }
    distribute(group, CAMP_STATE_RUN_QUEUE, waited, account->tid, now);
}

static __always_inline void charge_call(const struct account *account, uint64_t state, uint64_t ns)
{
    struct call_key key = { .argument = account->argument,
                            .pid = account->pid,
                            .call = account->call < 0 ? CALL_NONE : (uint16_t)account->call,
                            .state = (uint8_t)state };
    const struct call_sleeps first = { ns, 1 };
    struct call_sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of_calls, &key);
    struct cpu_account *cpu = this_cpu();

    if (sleeps == NULL) {
        if (bpf_map_update_elem(&sleeps_of_calls, &key, &first, BPF_NOEXIST) == 0)
            return;
        sleeps = bpf_map_lookup_elem(&sleeps_of_calls, &key);
    }
    if (sleeps == NULL) { /* The map is full. */
        if (cpu != NULL)
            cpu->lost++;
        return;
    }
    __sync_fetch_and_add(&sleeps->slept_ns, ns);
    __sync_fetch_and_add(&sleeps->count, 1);
}

static __always_inline void end_of_sleep(struct account *account, uint64_t state, uint64_t since,
                                         uint64_t now)
{
    const uint64_t from = since < sleeps_since_ns ? sleeps_since_ns : since;
    const uint64_t ns = now > from ? now - from : 0;
    uint32_t group = group_of(account), waker = account->waker;
    struct sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of_groups, &group);

    waker = waker != 0 && waker <= WAKERS_MAX ? waker - 1 : WAKER_UNSEEN;
    if (sleeps != NULL)
        __sync_fetch_and_add(&sleeps->woken_ns[state][waker], ns);
    distribute(group, state, now - since, account->tid, now);
    if ((watched_groups >> group & 1) != 0)
        charge_call(account, state, ns);
    account->waker = 0;
}

/* A state other than running ends: `state`, from `since` to `now`. `next` follows it. A global
 * function, which the verifier checks once and not at each call. */
__noinline int charge_cause(struct account *account, uint64_t state, uint64_t since, uint64_t now,
                            uint32_t next)
{
    if (account == NULL || !has_culprits || state >= CAMP_STATE_COUNT)
        return 0;
    if (state == CAMP_STATE_RUN_QUEUE)
        end_of_queue(account, since, now, next == CAMP_STATE_RUN_QUEUE);
    else if (state > CAMP_STATE_SYSTEM)
        end_of_sleep(account, state, since, now);
    return 0;
}

/* A part of the wait that goes on was throttled. */
static __always_inline void correct_wait(struct account *account, uint64_t throttled)
{
    charge_culprit(group_of(account), account->queued != 0 ? CULPRIT_CORRECTION : CULPRIT_UNSEEN,
                   -(int64_t)throttled);
    account->throttled_ns += throttled;
}

/* A runnable thread waits for CPU `number`, and is in no word yet. If it may not run, because its
 * budget or that of its group is used up, it enters none. */
static __always_inline void wait_for(struct account *account, uint32_t number, bool may_run)
{
    uint32_t before;

    if (account->waits_since == 0)
        account->waits_since = account->since_ns;
    if (!may_run)
        return;
    before = __sync_lock_test_and_set(&account->queued, (uint32_t)enter_queue(account, number));
    if (before != 0) /* of wait_since_start(), which entered it at the start of the account */
        leave_queue(before, account->begin_ns);
}

/* Does the same for a thread that was runnable when the session started. The thread may get a CPU
 * meanwhile, and must not be in a word then. */
static __always_inline void wait_since_start(struct account *account, uint32_t number)
{
    const uint32_t sequence = *(volatile uint32_t *)&account->sequence;
    const uint64_t since = account->since_ns;
    uint32_t queued;

    if (account->state != CAMP_STATE_RUN_QUEUE || sequence % 2 != 0)
        return;
    queued = (uint32_t)enter_queue(account, number);
    if (__sync_val_compare_and_swap(&account->queued, 0, queued) != 0) {
        leave_queue(queued, since);
        return;
    }
    if (*(volatile uint32_t *)&account->sequence != sequence &&
        __sync_val_compare_and_swap(&account->queued, queued, 0) == queued)
        leave_queue(queued, since);
}

/* The idle thread leaves this CPU. If another thread had the CPU, no event reported that it left,
 * so it is unknown which group the waiting threads waited for. */
static __always_inline void charge_unless_idle(void)
{
    struct queue_account *queue = this_queue();

    if (queue != NULL && queue->running != 1 + CULPRIT_IDLE)
        queue->running = 1 + CULPRIT_UNSEEN;
}

/* Returns 1 + enum waker of the current thread. If no event reported that it came to this CPU, what
 * is noted there is of the thread before it. */
static __always_inline uint32_t running_waker(const struct queue_account *queue,
                                              const struct cpu_account *cpu)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account;

    if (queue != NULL && cpu != NULL && cpu->running_task == (uint64_t)task && queue->waker != 0)
        return queue->waker;
    account = bpf_task_storage_get(&accounts, task, NULL, 0);
    if (account == NULL)
        return 1 + WAKER_UNSEEN;
    keep_group(account, task);
    return waker_of(account, task);
}
