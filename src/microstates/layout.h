/* Shared by the programs in the kernel and the session. */
#pragma once

#include <camp/states.h>

#define CPUS_MAX 1024
#define CALLS_MAX 512          /* system call numbers; a sleep in a higher one is other sleep */
#define EXITS_BYTES (2u << 20) /* which the session maps twice, one behind the other */
#define TOTALS_MAX 2048        /* totals of two generations */
#define DISK_WAITS_MAX 16384   /* pairs of a thread and a disk; the least recently used go */

/* A wait clock (wait.bpf.h): how many wait, and above them the time, modulo 2^46 ns. */
#define WAITS_BITS 18
#define WAITS_MASK ((UINT64_C(1) << WAITS_BITS) - 1)

static inline uint64_t waited_ns(uint64_t clock, uint64_t now)
{
    return (clock >> WAITS_BITS) + ((clock & WAITS_MASK) != 0 ? now : 0);
}

/* How long a wait clock ran between two moments. A slightly negative time (the clocks of two CPUs
 * differ) counts as 0. */
static inline uint64_t waited_between(uint64_t before, uint64_t then, uint64_t after, uint64_t now)
{
    uint64_t difference = (waited_ns(after, now) - waited_ns(before, then)) << WAITS_BITS;

    return (int64_t)difference < 0 ? 0 : difference >> WAITS_BITS;
}

/* In a snapshot, in place of a camp_thread_states: a thread that did nothing since the last one,
 * with the fields that another task may have changed, and the moment. Its tid is negative, which
 * distinguishes the two structs. */
struct unchanged_thread {
    int32_t tid, parent;
    uint64_t time_ns;
    uint64_t cgroup;
    char name[CAMP_STATES_NAME_SIZE];
};

struct disk_wait_key {
    uint64_t start_ns;
    int32_t tid;
    uint32_t device; /* the kernel's dev_t; 0: input or output that another thread requested */
};

struct disk_wait {
    uint64_t wait_ns;
    uint64_t since_ns; /* start of the open wait; 0: it does not wait */
    int32_t pid;
    char name[CAMP_STATES_NAME_SIZE];
    uint32_t reserved; /* makes the size a multiple of 8 */
};

struct total_key {
    uint32_t generation; /* 0 or 1 */
    int32_t parent;
    char name[CAMP_STATES_NAME_SIZE];
};

/* The state of a sleep in a system call: an enum camp_state, or a mark: it depends on the kind of
 * the call's descriptor, or is the state of the call that a signal (SIGSTOP, a debugger, a freezer)
 * interrupted. */
#define KIND_BY_DESCRIPTOR 255
#define KIND_BY_RESTART 254

/* The account of one CPU, alone in its cache lines. */
struct cpu_account {
    uint64_t sequence;           /* odd while a switch is accounted */
    uint64_t begin_ns;           /* its first switch in the session; 0: none yet */
    uint64_t since_ns;           /* its last switch */
    uint64_t busy_ns, idle_ns;   /* until since_ns, without interrupts */
    uint64_t system_ns;          /* of busy_ns */
    uint64_t irq_ns, softirq_ns; /* interrupts that ended */
    uint64_t interrupt_since_ns; /* start of the running interrupt; 0: none */
    uint64_t irq_before_ns;      /* irq_ns + softirq_ns at since_ns */
    uint64_t own_clock; /* wait clock of threads that started a wait for a disk on this CPU */
    uint64_t any_wait_ns, own_wait_ns; /* of idle_ns */
    uint64_t any_before, own_before;   /* wait clocks of the machine and this CPU, at since_ns */
    uint64_t run_ns;       /* the scheduler's count of the running thread's CPU time, at since_ns */
    uint64_t running_task; /* address of the running thread in the kernel; its tid may change */
    int32_t running;       /* tid; 0: idle */
    uint32_t depth;        /* nested interrupts that run */
    uint64_t switches;
    uint64_t unseen; /* switches and wakeups that no event reported */
    uint64_t lost;   /* times a thread got no account (no memory), or a wait was not counted */
    uint64_t exits_added_up; /* exited threads for which the ring had no space */
    uint64_t exits_lost;     /* exited threads in no record and no total */
} __attribute__((aligned(64)));

/* The programs in the kernel are 64-bit programs. A compiler for i386 aligns a uint64_t to 4 bytes
 * and adds less padding: no structure may need any. */
_Static_assert(offsetof(struct camp_thread_states, state_ns) == 184, "no padding");
_Static_assert(sizeof(struct camp_thread_states) ==
                   offsetof(struct camp_thread_states, state_ns) + 8 * CAMP_STATE_COUNT,
               "state_ns is the last member");
_Static_assert(CAMP_STATE_COUNT <= KIND_BY_RESTART, "a state and a kind of call are one byte");
_Static_assert(sizeof(struct unchanged_thread) == 40, "no padding");
_Static_assert(sizeof(struct disk_wait_key) == 16, "no padding");
_Static_assert(sizeof(struct disk_wait) == 40, "no padding");
_Static_assert(sizeof(struct total_key) == 24, "no padding");
_Static_assert(offsetof(struct cpu_account, exits_lost) == 176, "no padding");
