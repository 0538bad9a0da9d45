/* The accounts of threads and CPUs: their members and their maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "../layout.h"
#include "ids.bpf.h"
#include "kernel.h"
#include "throttle.bpf.h"

enum account_flag {
    IN_CALL = 1u << 0,
    WORKER = 1u << 1, /* A thread without user code: a kernel thread or a worker of io_uring. */
    FAULT_OF_TEXT = 1u << 2,
    OLDER = 1u << 3,
    DEAD = 1u << 4,
    FAULT_OF_KERNEL = 1u << 5,
    FAULT_OF_USER = 1u << 6,
    HAS_CHILDREN = 1u << 7 /* The thread exits, and had children. */
};

struct account {
    uint32_t sequence; /* odd while the account is written */
    uint8_t state;     /* enum camp_state that began at since_ns */
    uint8_t flags;
    uint16_t cpu;
    /* `shown` is the number of the last snapshot that contained this thread. shown_sequence is the
     * value of `sequence` when the whole account was last copied into a snapshot. */
    uint32_t shown, shown_sequence;
    uint64_t since_ns;
    /* total interrupt time of the CPU up to since_ns */
    uint64_t irq_before_ns;
    uint64_t arrived_ns;
    uint64_t run_ns;   /* sum_exec_runtime of the thread at arrived_ns */
    uint64_t delay_ns; /* sched_info.run_delay of the thread at arrived_ns */
    uint64_t begin_ns;
    uint64_t system_calls, signals;
    uint32_t device; /* dev_t of the disk that the thread used last */
    uint32_t left;   /* times_left() when the thread last left a CPU */
    uint64_t faults; /* min_flt + maj_flt of the thread when its last page fault began */
    /* trap_since is 0 outside of a trap (trap.bpf.h). In a trap, it is the running_clock() at the
     * later of two times: the start of the trap and the start of the open interval. traps_ns is the
     * time of the traps that ended in the open interval. */
    uint64_t trap_since, traps_ns;
    struct throttle throttle;
    int32_t tid, pid; /* in a PID namespace: the last known ids, or 0 if the thread is outside */
    /* 1 if the session knows that the thread sleeps. Then its next event puts it into the list of
     * changes. */
    uint32_t known_asleep;
    uint32_t stacks; /* what is known of the stacks of its sleeps (stacks.bpf.h) */
    uint64_t state_ns[CAMP_STATE_COUNT];
    /* 0 until the thread begins to exit (ended.bpf.h), then 1 + the phase of exits in which it
     * began, and, in a PID namespace, its parent at that time. */
    uint32_t exit_phase;
    int32_t exit_parent;
    /* The following members are 0 without CAMP_STATES_CULPRITS (culprits.bpf.h). They are the last
     * ones, so that all others stay in the cache lines in which they are without them. `queued` is
     * 0, or QUEUED() of the CPU and the group in whose word the thread waits. */
    uint32_t queued;
    uint32_t group, groups_version; /* its group, if groups_version is that of all groups */
    uint32_t waker;                 /* 1 + enum waker of the last that woke the thread, or 0 */
    int32_t call;                   /* number of the system call in which it sleeps, or -1 */
    uint32_t renames;               /* its next switches that may change the name of its process */
    uint64_t argument;     /* the first argument of that call, if it names what the thread awaits */
    uint64_t waits_since;  /* start of the wait in the run queue, on any CPU */
    uint64_t throttled_ns; /* throttled part of that wait */
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct account);
} accounts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1); /* the session sets the number of possible CPUs */
    __type(key, uint32_t);
    __type(value, struct cpu_account);
} cpus SEC(".maps");

static __always_inline struct cpu_account *cpu_of(uint32_t cpu)
{
    return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct cpu_account *this_cpu(void)
{
    return cpu_of(bpf_get_smp_processor_id());
}

/* CAMP_STATE_IRQ and CAMP_STATE_TRAP have higher numbers than CAMP_STATE_SYSTEM, but are never the
 * state of an interval: their time is subtracted when an interval is closed. */
static __always_inline bool on_cpu(uint64_t state)
{
    return state <= CAMP_STATE_SYSTEM;
}

/* Returns the state of the open interval as an index into state_ns. The verifier trusts the
 * comparison only for the register that is compared. Without barrier_var() the compiler would
 * compare a copy. */
static __always_inline uint64_t state_of(const struct account *account)
{
    uint64_t state = account->state;

    barrier_var(state);
    return state < CAMP_STATE_COUNT ? state : CAMP_STATE_OTHER_SLEEP;
}

static __always_inline uint64_t interrupts_ns(const struct cpu_account *cpu, uint64_t now)
{
    uint64_t since = cpu->interrupt_since_ns;

    return cpu->irq_ns + cpu->softirq_ns + (since != 0 && now > since ? now - since : 0);
}

/* Returns the time of a clock of this CPU that stands still during interrupts. */
static __always_inline uint64_t running_clock(const struct cpu_account *cpu, uint64_t now)
{
    return now - interrupts_ns(cpu, now);
}
