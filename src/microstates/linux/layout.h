/* Shared by the programs in the kernel and by the session. */
#pragma once

#include "../calls.h"

#include <camp/states.h>

#define EXITS_BYTES (2u << 20)
#define TOTALS_MAX 2048
/* largest number of pairs of a thread and a disk; the least recently used pair is replaced */
#define DISK_WAITS_MAX 16384

/* A wait clock (wait.bpf.h) has the number of waiting threads in its lowest 18 bits, and the time
 * modulo 2^46 ns above them. */
#define WAITS_BITS 18
#define WAITS_MASK ((UINT64_C(1) << WAITS_BITS) - 1)

static inline uint64_t waited_ns(uint64_t clock, uint64_t now)
{
    return (clock >> WAITS_BITS) + ((clock & WAITS_MASK) != 0 ? now : 0);
}

/* Returns how long a wait clock ran from its value `before` at time `then` to its value `after` at
 * time `now`. If the clocks of two CPUs differ, the difference may be slightly negative; the result
 * is then 0. */
static inline uint64_t waited_between(uint64_t before, uint64_t then, uint64_t after, uint64_t now)
{
    uint64_t difference = (waited_ns(after, now) - waited_ns(before, then)) << WAITS_BITS;

    return (int64_t)difference < 0 ? 0 : difference >> WAITS_BITS;
}

/* The short record that a snapshot writes, instead of a camp_thread_states, for a thread that was
 * idle since the previous snapshot. It has only the fields that another task may have changed. The
 * tid is stored as a negative number, by which the session recognises a short record. */
struct unchanged_thread {
    int32_t tid, parent;
    uint64_t time_ns;
    uint64_t cgroup;
    char name[CAMP_STATES_NAME_SIZE];
};

/* The list of changes (changes.bpf.h): entry n, counted from 0, is at n % CHANGES_MAX. */
#define CHANGES_MAX 32768u

enum change_kind {
    CHANGE_OF_STATE, /* The thread is new, or does not sleep any more. */
    CHANGE_OF_NAME,  /* The thread gets another name now. */
    CHANGE_OF_GROUP, /* The thread, or its whole process if it is the first one, has moved. */
    CHANGE_OF_PARENT /* The children of a process may have another parent. */
};

/* An entry has the id of the thread, or of the process (CHANGE_OF_PARENT), in its lowest 32 bits,
 * the kind in the next 8, and above them how often the list was filled before, plus 1. The reader
 * compares this number to know whether the entry has been written. */
#define CHANGE(id, kind, number)                                                                   \
    ((uint64_t)(uint32_t)(id) | (uint64_t)(kind) << 32 | ((number) / CHANGES_MAX + 1) << 40)

struct changes {
    uint64_t count;
    uint64_t reserved[7];
    uint64_t entries[CHANGES_MAX];
} __attribute__((aligned(64)));

/* The most threads that one call of the program in the kernel reads (changes.bpf.h). */
#define WANTED_MAX 64u

/* A bit of camp_thread_states.flags that only the programs in the kernel and the session use: the
 * next snapshot must read the thread, because it is awake or no event will list it. */
#define READ_AGAIN (1u << 31)

struct disk_wait_key {
    uint64_t start_ns;
    int32_t tid;
    uint32_t device; /* the kernel's dev_t; 0 if another thread requested the input or output */
};

/* The wait of one thread for one disk. The single word `clock` has both the time and whether the
 * wait is open. So a reader on another CPU always gets two values of the same moment. */
struct disk_wait {
    /* lowest bit: whether the thread waits now. Above it: ns of all finished waits, minus the start
     * of the open wait, modulo 2^63. */
    uint64_t clock;
    int32_t pid;
    char name[CAMP_STATES_NAME_SIZE];
    uint32_t reserved;
};

#define WAITS_NOW UINT64_C(1)

static inline uint64_t disk_wait_started(uint64_t clock, uint64_t now)
{
    return (clock - (now << 1)) | WAITS_NOW;
}

/* Returns the clock of a thread that stops waiting now, or `clock` if the thread does not wait. If
 * the clocks of two CPUs differ, the sum may be slightly negative; the result is then 0. */
static inline uint64_t disk_wait_ended(uint64_t clock, uint64_t now)
{
    uint64_t ended = (clock & ~WAITS_NOW) + (now << 1);

    return (clock & WAITS_NOW) == 0 ? clock : (int64_t)ended < 0 ? 0 : ended;
}

static inline uint64_t disk_waited_ns(uint64_t clock, uint64_t now)
{
    return disk_wait_ended(clock, now) >> 1;
}

struct total_key {
    uint32_t generation;
    int32_t parent;
    char name[CAMP_STATES_NAME_SIZE];
};

/* The account of one CPU. Two accounts share no cache line. */
struct cpu_account {
    uint64_t sequence; /* odd while a switch is accounted */
    uint64_t begin_ns; /* time of the CPU's first switch in the session, or 0 */
    uint64_t since_ns;
    uint64_t busy_ns, idle_ns;   /* until since_ns, without interrupts */
    uint64_t system_ns;          /* part of busy_ns */
    uint64_t irq_ns, softirq_ns; /* without the running interrupt */
    uint64_t interrupt_since_ns; /* start of the running interrupt, or 0 */
    uint64_t irq_before_ns;
    uint64_t own_clock; /* wait clock of the threads whose wait for a disk started on this CPU */
    /* idle time while any thread, or a thread of own_clock, waited for a disk */
    uint64_t any_wait_ns, own_wait_ns;
    uint64_t any_before, own_before; /* wait clocks of the machine and of this CPU at since_ns */
    uint64_t run_ns;                 /* sum_exec_runtime of the running thread at since_ns */
    /* address of the running task_struct, which exec(2) does not change, unlike the tid */
    uint64_t running_task;
    uint64_t clock_offset; /* the scheduler's clock minus CLOCK_MONOTONIC, modulo 2^64 */
    /* parts of busy_ns and system_ns: threads outside of the PID namespace */
    uint64_t outside_ns, outside_system_ns;
    /* tid of the running thread, 0 if the CPU is idle, or -1 if the thread is outside */
    int32_t running;
    uint32_t depth; /* number of interrupts that run now, one inside the other */
    uint64_t switches;
    uint64_t unseen; /* switches and wakeups that no event reported */
    uint64_t lost;   /* failures to create an account, and disk waits that were not counted */
    /* exited threads that were added to a total, because the ring was full */
    uint64_t exits_added_up;
    uint64_t exits_lost; /* exited threads that are in no record and in no total */
} __attribute__((aligned(64)));

/* No structure may have padding. The programs in the kernel are 64-bit, but the session may be
 * i386, where a uint64_t is aligned to 4 bytes and padding is smaller. */
_Static_assert(offsetof(struct camp_thread_states, state_ns) == 192, "no padding");
_Static_assert(sizeof(struct camp_thread_states) ==
                   offsetof(struct camp_thread_states, state_ns) + 8 * CAMP_STATE_COUNT,
               "state_ns is the last member");
_Static_assert(CAMP_STATE_COUNT <= KIND_BY_RESTART, "a state and a kind of call are one byte");
_Static_assert(sizeof(struct unchanged_thread) == 40, "no padding");
_Static_assert(offsetof(struct changes, entries) == 64, "no padding");
_Static_assert(sizeof(struct disk_wait_key) == 16, "no padding");
_Static_assert(sizeof(struct disk_wait) == 32, "no padding");
_Static_assert(sizeof(struct total_key) == 24, "no padding");
_Static_assert(offsetof(struct cpu_account, exits_lost) == 200, "no padding");
