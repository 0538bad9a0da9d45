/*
 * Exited threads. The last record of each thread goes into a ring. When the ring is full, exited
 * threads are added up by parent and name, in totals.
 *
 * Totals have two generations. The session reads one generation while the kernel adds to the other,
 * so the session never reads a half-finished addition.
 *
 * The parent of a thread may wait for it before its last switch: the kernel reports the exit to the
 * parent, and may then give the CPU to another thread. For tens of milliseconds, the thread is in
 * no list of the kernel, and has no last record. So the threads that exit are counted, in two
 * phases as in the kernel's SRCU: the session changes the phase, and awaits that all threads that
 * began in the phase before have their last records.
 */
#pragma once

#include "account.bpf.h"
#include "record.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, EXITS_BYTES);
} exits SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TOTALS_MAX);
    __type(key, struct total_key);
    __type(value, struct camp_thread_states);
} totals SEC(".maps");

/* The generation of totals to which the kernel adds: 0 or 1. */
uint32_t generation;

/* The phase of the exits that begin now, 0 or 1, which the session changes; and, for each phase,
 * the number of threads that began to exit in it and have not had their last switch. */
uint32_t exits_phase;
uint32_t exiting[2];

static const struct camp_thread_states nothing;

static __always_inline void begin_exit(struct account *account, const struct task_struct *task)
{
    const uint32_t phase = *(const volatile uint32_t *)&exits_phase & 1;

    if (account->exit_phase != 0)
        return;
    if (own_namespace != 0)
        account->exit_parent = parent_id(task);
    account->exit_phase = 1 + phase;
    __sync_fetch_and_add(&exiting[phase], 1);
}

/* Called when the last record of the thread has been handed out. */
static __always_inline void end_exit(const struct account *account)
{
    if (account->exit_phase != 0)
        __sync_fetch_and_sub(&exiting[(account->exit_phase - 1) & 1], 1);
}

#define ADD(field, value) __sync_fetch_and_add(&total->field, (value))

/* Adds a thread to a total. In a total, begin_ns is 0, and time_ns is the sum of the times for
 * which its threads were watched. */
static __noinline int add_to_total(struct task_struct *task, const struct account *account,
                                   struct cpu_account *cpu, uint64_t now)
{
    struct total_key key = { generation & 1, last_parent_id(account, task), "" };
    struct camp_thread_states *total;

    __builtin_memcpy(key.name, task->comm, sizeof key.name);
    total = bpf_map_lookup_elem(&totals, &key);
    if (total == NULL) {
        bpf_map_update_elem(&totals, &key, &nothing, BPF_NOEXIST);
        total = bpf_map_lookup_elem(&totals, &key);
    }
    if (total == NULL) {
        cpu->exits_lost++;
        return 0;
    }
    cpu->exits_added_up++;
    total->known = known_fields & ~(CAMP_THREAD_STATES_STATE | CAMP_THREAD_STATES_START);
    total->known_states = known_states;
    total->uid = untrusted(task)->cred->euid.val;
    total->cgroup = cgroup_id(task);
    ADD(count, 1);
    ADD(processes, task->pid == task->tgid);
    ADD(time_ns, now - account->begin_ns);
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        ADD(state_ns[i], account->state_ns[i]);
    ADD(cpu_ns, task->se.sum_exec_runtime);
    ADD(run_delay_ns, task->sched_info.run_delay);
    ADD(sampled_ns, task->utime + task->stime);
    ADD(minor_faults, task->min_flt);
    ADD(major_faults, task->maj_flt);
    ADD(voluntary_switches, task->nvcsw);
    ADD(involuntary_switches, task->nivcsw);
    ADD(system_calls, account->system_calls);
    ADD(signals, account->signals);
    ADD(read_bytes, task->ioac.read_bytes);
    ADD(written_bytes, task->ioac.write_bytes);
    ADD(read_chars, task->ioac.rchar);
    ADD(written_chars, task->ioac.wchar);
    return 0;
}

/* Hands out the last record of the current thread, which leaves its CPU for ever. A global
 * function, which the verifier checks once: it follows many pointers. */
__noinline int emit_last(uint64_t now)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    struct cpu_account *cpu = this_cpu();
    struct camp_thread_states *last;

    if (account == NULL || cpu == NULL || is_outside(account))
        return 0;
    last = bpf_ringbuf_reserve(&exits, sizeof *last, 0);
    if (last == NULL)
        return add_to_total(task, account, cpu, now);
    identify(last, task, account);
    fill(last, task, account, now);
    last->flags |= CAMP_THREAD_ENDED;
    bpf_ringbuf_submit(last, BPF_RB_NO_WAKEUP);
    return 0;
}
