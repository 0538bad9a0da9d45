/*
 * The ledger of causes, as the programs in the kernel write it (programs/culprits.bpf.h) and the
 * session reads it (causes.c).
 *
 * A group is one process name, one process or one cgroup: the programs give each name that runs or
 * waits, or that causes a wait of what the session watches, a number below GROUPS_NAMED. Names for
 * which there is no number share GROUP_OTHER. The numbers from GROUPS_NAMED on are for what the
 * session watches, so that they do not depend on what came first.
 */
#pragma once

#include <camp/states.h>

#include <stdint.h>

#define GROUPS_MAX 64u /* a power of 2: a set of groups is one word */
#define GROUPS_WATCHED 8u
#define GROUPS_NAMED (GROUPS_MAX - GROUPS_WATCHED)

/* The set of the numbers that names and processes may get (1 << number). */
#define FREE_AT_FIRST ((UINT64_C(1) << GROUPS_NAMED) - (UINT64_C(1) << GROUP_FIRST))

enum group_number {
    GROUP_OTHER,   /* all names for which there was no number */
    GROUP_KERNEL,  /* kernel threads */
    GROUP_OUTSIDE, /* threads outside of the PID namespace */
    GROUP_FIRST    /* the first number of a name */
};

/* What has a CPU while threads wait for it: a group, or one of these. */
enum culprit {
    CULPRIT_IDLE = GROUPS_MAX, /* the CPU was idle */
    CULPRIT_INTERRUPTS,
    CULPRIT_REAL_TIME, /* a thread of SCHED_FIFO, SCHED_RR or SCHED_DEADLINE */
    CULPRIT_UNSEEN,    /* it is unknown which thread ran, or where the thread waited */
    /* Never above 0: what the other culprits have too much, because a part of a wait was throttled,
     * and the programs cannot say which part. */
    CULPRIT_CORRECTION,
    CULPRITS_MAX = 72
};

/* Whatever ended a sleep: a thread of a group, or one of these. From WAKER_DEVICES on: a device
 * interrupt, whose number is in waker_devices. */
enum waker {
    WAKER_TIMER = GROUPS_MAX,
    WAKER_SIGNAL,
    WAKER_SOFTIRQ,      /* an interrupt of another CPU, or deferred work of an unknown interrupt */
    WAKER_UNSEEN,       /* also the loop of an idle CPU */
    WAKER_OTHER_DEVICE, /* a device for which there was no number */
    WAKER_DEVICES = 72,
    WAKERS_MAX = 96
};

/* A context is what wakes threads now: an enum waker, or CONTEXT_OF_DEVICE and the number of a
 * device interrupt, which becomes an enum waker when the interrupt wakes a thread. */
#define CONTEXT_OF_DEVICE 0x8000u

#define DEVICES_MAX (WAKERS_MAX - WAKER_DEVICES)
#define INTERRUPTS_MAX 4096u /* numbers that devices have of their own; a power of 2 */
#define NESTED_MAX 8u        /* interrupts that interrupt each other; a power of 2 */
#define SOFTIRQS_MAX 16u     /* a power of 2 */

/*
 * The word of the waits of one group for one CPU: the number of waiting threads in its lowest 16
 * bits, and above them the sum of the times at which they began to wait, modulo 2^48.
 *
 * A thread that begins to wait adds its time and 1, and one that stops waiting subtracts the time
 * at which it stops and 1. Each is one atomic addition, so no attempt fails. At a switch, number ×
 * now − sum is the time for which the group has waited since the last charge: this is charged to
 * the thread that had the CPU, and added to the sum. All charges of a wait add up to its length.
 */
#define QUEUE_BITS 16
#define QUEUE_MASK ((UINT64_C(1) << QUEUE_BITS) - 1)

static inline uint64_t queue_entry(uint64_t at)
{
    return (at << QUEUE_BITS) + 1;
}

/* Returns the time that is not charged yet. It is negative, and nothing is to be charged, if a
 * thread of another CPU began to wait after `now`. */
static inline int64_t queue_uncharged_ns(uint64_t word, uint64_t now)
{
    const uint64_t sum = word & ~QUEUE_MASK;

    return (int64_t)(((word & QUEUE_MASK) * now << QUEUE_BITS) - sum) >> QUEUE_BITS;
}

/* The threads that wait for one CPU, and the groups that their waits are charged to. Two of them
 * share no cache line. Only programs on this CPU write to it, except `waits`, `interrupts` and
 * `waiting`. */
struct queue_account {
    uint64_t sequence; /* odd while waits are charged */
    uint64_t waiting;  /* set of the groups with waiting threads: 1 << group */
    uint32_t running;  /* 1 + enum culprit of what has the CPU, or 0 before its first switch */
    uint32_t waker;    /* 1 + enum waker of the thread that has the CPU, or 0 like `running` */
    uint32_t timer;    /* 1 + the number of nested interrupts in which a timer expires now, or 0 */
    uint32_t reserved;
    uint16_t contexts[NESTED_MAX];  /* contexts of the interrupts that run now */
    uint16_t raised[SOFTIRQS_MAX];  /* 1 + the context that raised each softirq last, or 0 */
    uint64_t raisers[SOFTIRQS_MAX]; /* with groups by need: the task_struct that ran then */
    uint64_t raiser;                /* that of the softirq that runs, or ran last */
    uint64_t subject_left_ns;       /* when a watched thread left the CPU last */
    uint64_t waits[GROUPS_MAX];
    /* The sum of the interrupt clock of the CPU (interrupts_ns()) at the times in `waits`. */
    uint64_t interrupts[GROUPS_MAX];
    uint64_t charged_ns[GROUPS_MAX][CULPRITS_MAX];
} __attribute__((aligned(64)));

/* The sleeps that have ended, of one group. */
struct sleeps {
    uint64_t woken_ns[CAMP_STATE_COUNT][WAKERS_MAX];
};

/* The longest wait: its length in the highest 42 bits, and the tid in the lowest 22. */
#define LONGEST_TID_BITS 22
#define LONGEST_NS_MOST ((UINT64_C(1) << (64 - LONGEST_TID_BITS)) - 1)

/* The lengths of the waits of one group in one state that have ended: element n of `counts` counts
 * those of at least 2^n ns, but below 2^(n+1) ns. The last one has no upper bound. */
struct distribution {
    uint64_t counts[CAMP_WAIT_BUCKETS];
    uint64_t total_ns;       /* sum of the lengths */
    uint64_t longest;        /* since the session last set it to 0 */
    uint64_t longest_end_ns; /* time of the end of that wait */
};

struct distributions {
    struct distribution of[CAMP_STATE_COUNT];
};

struct group_key {
    uint64_t cgroup; /* its id, or 0 if the group is a process or a name */
    int32_t pid;     /* of the process, or 0 if the group is a cgroup or a name */
    uint32_t reserved;
    char name[CAMP_STATES_NAME_SIZE];
};

/* The watched cgroups, and the cgroups in them. */
#define CGROUPS_MAX 1024u

/* Sleeps of one watched process in one system call, of which the first argument is `argument`. */
struct call_key {
    uint64_t argument;
    int32_t pid;
    uint16_t call; /* CALL_NONE: the thread slept outside of system calls */
    uint8_t state;
    uint8_t reserved;
};

#define CALL_NONE UINT16_MAX
#define CALL_KEYS_MAX 4096u

struct call_sleeps {
    uint64_t slept_ns, count;
};
