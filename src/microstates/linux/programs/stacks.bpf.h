/*
 * The stacks of long sleeps.
 *
 * When a thread that slept for at least stacks_from_ns is woken, it still has the stack of the
 * kernel with which it went to sleep. Its own stack can be read only while it runs: at the end of
 * the system call in which it slept. Until then the sleep counts as one without a stack of the
 * thread, in which a reader of the session finds it, and at the end of the call it moves to both
 * stacks. A sleep in a page fault of the thread's own code is in no system call: the stack is read
 * when the thread goes to sleep, of which it is not known yet how long it will be.
 *
 * Stacks have numbers: a hash of their addresses. A number says which stack of which process it is,
 * because the pid is part of the hash.
 *
 * All this is in programs of its own, which a session without stacks does not load.
 */
#pragma once

#include "../stacks_layout.h"
#include "account.bpf.h"
#include "cross.bpf.h"
#include "culprits.bpf.h"
#include "wake.bpf.h"

/* The session sets them: the shortest sleep of which the stacks are read, whether only the groups
 * that the session watches have stacks, and the time of the last reading. */
uint64_t stacks_from_ns, stacks_since_ns;
bool stacks_of_watched;

/* Bits of account->stacks. */
enum {
    STACKS_PENDING = 1u << 0, /* sleeps in the open system call have no stack of the thread yet */
    STACKS_OF_FAULT = 1u << 1 /* the thread sleeps in a page fault, and its stack was read */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, STACKS_MAX);
    __type(key, uint64_t);
    __type(value, struct stack_frames);
} stacks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, STACK_KEYS_MAX);
    __type(key, struct stack_key);
    __type(value, struct stack_sleeps);
} sleeps_of_stacks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, GROUPS_MAX);
    __type(key, uint32_t);
    __type(value, struct other_stacks);
} sleeps_of_other_stacks SEC(".maps");

/* Where a program puts the stack that it reads. A program of one of these kinds may interrupt one
 * of another kind. */
enum stack_reader { READS_AT_WAKEUP, READS_AT_CALL, READS_AT_FAULT, STACK_READERS };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, STACK_READERS);
    __type(key, uint32_t);
    __type(value, struct stack_frames);
} stacks_read SEC(".maps");

/* Sleeps in one system call that have ended before its end. Those with the same stack of the kernel
 * are one; more than PENDING_MAX different ones stay without a stack of the thread. */
#define PENDING_MAX 4

struct pending_sleeps {
    struct stack_key key;
    struct stack_sleeps sleeps;
};

struct pending {
    uint64_t since_ns;   /* when the first of them ended */
    uint64_t fault_user; /* with STACKS_OF_FAULT: the number of the thread's stack */
    uint32_t count, reserved;
    struct pending_sleeps of[PENDING_MAX];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct pending);
} pending_stacks SEC(".maps");

/* Returns the number of the stack of a process, or STACK_OTHER if there is no space for it. */
static __noinline uint64_t number_of_stack(struct stack_frames *stack, long bytes, int32_t pid)
{
    uint64_t number = (uint32_t)pid;

    if (bytes < (long)sizeof stack->addresses[0])
        return STACK_NONE;
    stack->pid = pid;
    stack->count = (uint32_t)bytes / sizeof stack->addresses[0];
    for (uint32_t i = 0; i < CAMP_STACK_FRAMES && i < stack->count; i++) {
        number = (number ^ stack->addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
        number ^= number >> 32;
    }
    if (number < STACK_FIRST)
        number = STACK_FIRST;
    if (bpf_map_lookup_elem(&stacks, &number) != NULL)
        return number;
    bpf_map_update_elem(&stacks, &number, stack, BPF_NOEXIST);
    return bpf_map_lookup_elem(&stacks, &number) != NULL ? number : STACK_OTHER;
}

/* Returns the number of a stack of the kernel. */
static __always_inline uint64_t read_kernel_stack(struct task_struct *task)
{
    const uint32_t reader = READS_AT_WAKEUP;
    struct stack_frames *stack = bpf_map_lookup_elem(&stacks_read, &reader);

    if (stack == NULL)
        return STACK_NONE;
    return number_of_stack(
        stack, bpf_get_task_stack(task, stack->addresses, sizeof stack->addresses, 0), 0);
}

/* Returns the number of the current thread's own stack. */
static __always_inline uint64_t read_user_stack(const struct account *account, uint32_t reader)
{
    struct stack_frames *stack = bpf_map_lookup_elem(&stacks_read, &reader);

    if (stack == NULL || account->pid == 0)
        return STACK_NONE;
    return number_of_stack(stack,
                           bpf_get_task_stack(bpf_get_current_task_btf(), stack->addresses,
                                              sizeof stack->addresses, BPF_F_USER_STACK),
                           account->pid);
}

static __always_inline void add_sleeps(struct stack_sleeps *to, const struct stack_sleeps *sleeps)
{
    __sync_fetch_and_add(&to->slept_ns, sleeps->slept_ns);
    __sync_fetch_and_add(&to->count, sleeps->count);
}

static __noinline int charge_stacks(const struct stack_key *key, const struct stack_sleeps *sleeps)
{
    struct stack_sleeps *found = bpf_map_lookup_elem(&sleeps_of_stacks, key);
    struct other_stacks *others;
    uint32_t group = key->group, state = key->state;

    if (found == NULL) {
        if (bpf_map_update_elem(&sleeps_of_stacks, key, sleeps, BPF_NOEXIST) == 0)
            return 0;
        found = bpf_map_lookup_elem(&sleeps_of_stacks, key);
    }
    if (found == NULL) { /* The map is full. */
        others = bpf_map_lookup_elem(&sleeps_of_other_stacks, &group);
        if (others == NULL || state >= CAMP_STATE_COUNT)
            return 0;
        found = &others->of[state];
    }
    add_sleeps(found, sleeps);
    return 0;
}

/* Keeps a sleep in the open system call until its end. */
static __always_inline void keep_pending(struct account *account, struct pending *pending,
                                         const struct stack_key *key,
                                         const struct stack_sleeps *sleeps, uint64_t now)
{
    /* What an earlier reading found stays as it was found. */
    if ((account->stacks & STACKS_PENDING) == 0 || pending->since_ns < stacks_since_ns) {
        pending->since_ns = now;
        pending->count = 0;
    }
    account->stacks |= STACKS_PENDING;
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        struct pending_sleeps *of = &pending->of[i];

        if (i >= pending->count) {
            of->key = *key;
            of->sleeps = *sleeps;
            pending->count = i + 1;
            return;
        }
        if (of->key.kernel == key->kernel && of->key.state == key->state &&
            of->key.group == key->group) {
            of->sleeps.slept_ns += sleeps->slept_ns;
            of->sleeps.count += sleeps->count;
            return;
        }
    }
}

static __always_inline bool has_stacks(const struct account *account)
{
    return !stacks_of_watched || group_of(account) >= GROUPS_NAMED;
}

static __always_inline bool is_own_fault(uint64_t state)
{
    return state == CAMP_STATE_TEXT_FAULT || state == CAMP_STATE_DATA_FAULT;
}

/* A thread was woken, which slept in `state` from `since` to account->since_ns. */
static __noinline int note_stacks(struct account *account, struct task_struct *task, uint64_t state,
                                  uint64_t since)
{
    const uint64_t now = account->since_ns,
                   from = since < sleeps_since_ns ? sleeps_since_ns : since;
    const struct stack_sleeps sleeps = { now > from ? now - from : 0, 1 };
    struct stack_key key = { .group = group_of(account), .state = (uint32_t)state };
    const bool is_fault = (account->stacks & STACKS_OF_FAULT) != 0 && is_own_fault(state);
    struct pending *pending;

    account->stacks &= ~STACKS_OF_FAULT;
    if (now - since < stacks_from_ns || now < since || sleeps.slept_ns == 0 || !has_stacks(account))
        return 0;
    key.kernel = read_kernel_stack(task);
    pending = bpf_task_storage_get(&pending_stacks, task, NULL,
                                   is_fault ? 0 : BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (is_fault && pending != NULL)
        key.user = pending->fault_user;
    else if (!is_fault && pending != NULL && (account->flags & IN_CALL) != 0)
        keep_pending(account, pending, &key, &sleeps, now);
    charge_stacks(&key, &sleeps);
    return 0;
}

/* Moves the sleeps of the system call that ends to the stack of the thread. */
static __noinline int resolve_pending(struct account *account)
{
    struct pending *pending =
        bpf_task_storage_get(&pending_stacks, bpf_get_current_task_btf(), NULL, 0);
    uint64_t user;

    account->stacks &= ~STACKS_PENDING;
    if (pending == NULL || pending->since_ns < stacks_since_ns)
        return 0;
    user = read_user_stack(account, READS_AT_CALL);
    if (user == STACK_NONE)
        return 0;
    for (uint32_t i = 0; i < PENDING_MAX && i < pending->count; i++) {
        struct stack_key key = pending->of[i].key;
        const struct stack_sleeps sleeps = pending->of[i].sleeps;
        struct stack_sleeps *found = bpf_map_lookup_elem(&sleeps_of_stacks, &key);

        if (found == NULL || found->slept_ns < sleeps.slept_ns)
            continue; /* A reading has removed them. */
        __sync_fetch_and_add(&found->slept_ns, -sleeps.slept_ns);
        __sync_fetch_and_add(&found->count, -sleeps.count);
        key.user = user;
        charge_stacks(&key, &sleeps);
    }
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_with_stacks)
{
    struct account *account = has_culprits ? cross(false) : NULL;

    if (account != NULL && (account->stacks & STACKS_PENDING) != 0)
        resolve_pending(account);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup_with_stacks, struct task_struct *task)
{
    struct account *account = has_culprits ? bpf_task_storage_get(&accounts, task, NULL, 0) : NULL;
    uint64_t state, since;

    if (account == NULL)
        return 0;
    state = state_of(account);
    since = account->since_ns;
    if (wake(task) != NULL && !on_cpu(state))
        note_stacks(account, task, state, since);
    return 0;
}

/* The session attaches it after on_switch(), so the thread that leaves is in the state of its
 * sleep. It is still the current one. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_fault_with_stacks, bool preempt, struct task_struct *prev)
{
    struct account *account;
    struct pending *pending;

    if (!has_culprits)
        return 0;
    account = bpf_task_storage_get(&accounts, prev, NULL, 0);
    if (account == NULL || !is_own_fault(account->state) || !has_stacks(account))
        return 0;
    pending = bpf_task_storage_get(&pending_stacks, prev, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (pending == NULL)
        return 0;
    pending->fault_user = read_user_stack(account, READS_AT_FAULT);
    account->stacks |= STACKS_OF_FAULT;
    return 0;
}
