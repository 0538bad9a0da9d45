/* The account of a backend, as written by the kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Addresses of a server's variables, the same in each of its processes. */
struct backends_place {
    int32_t parent;            /* watches its children, from fork on; 0: none */
    uint32_t activity_offset;  /* offset of the 32-bit activity in its structure */
    uint64_t event_pointer;    /* address of a pointer to the 32-bit wait event; 0: no events */
    uint64_t activity_pointer; /* address of a pointer to this structure; 0: no activities */
};

/* An event whose upper byte is its class, as PostgreSQL numbers them. 0: the backend sleeps without
 * an event. */
#define BACKEND_EVENT_UNKNOWN UINT32_C(0xffffffff) /* unreadable */
#define BACKEND_EVENT_CLASS(event) ((event) >> 24)
/* All events of a class that got no entry of their own. */
#define BACKEND_EVENT_REST(event) ((event) | UINT32_C(0x00ffffff))
#define BACKEND_ACTIVITY_NONE UINT32_C(0xffffffff) /* no activity (yet), or an unreadable one */

#define BACKEND_WAITS_OWN 32 /* pairs of event and activity, first come, first served */
#define BACKEND_WAITS_MAX 40 /* with the entries for whole classes */

struct backend_wait {
    uint32_t event, activity;
    uint64_t ns;
    uint64_t times;
};

enum backend_state { BACKEND_OFF_CPU, BACKEND_ON_CPU, BACKEND_IN_RUN_QUEUE };

enum backend_flag {
    BACKEND_ENDED = 1u << 0, /* these are its last numbers */
    BACKEND_OLDER = 1u << 1  /* it started before it was watched */
};

/* cpu_ns + run_queue_ns + the ns of waits[wait_count] == time_ns - begin_ns, exactly. */
struct backend_account {
    int32_t pid; /* tid of a thread */
    uint32_t flags;
    uint64_t start_ns; /* CLOCK_BOOTTIME at its start; stat of /proc has it in 1/100 s */
    uint64_t begin_ns; /* CLOCK_MONOTONIC at the start of its watch */
    uint64_t time_ns;  /* end of the account: now, or its exit */
    uint64_t cpu_ns, run_queue_ns;
    /* The scheduler's own counts of CPU and run-queue time since begin_ns, at the backend's last
     * switch off a CPU. */
    uint64_t scheduler_cpu_ns, scheduler_run_queue_ns;
    uint64_t voluntary_switches, involuntary_switches; /* at the same moment */
    uint32_t state; /* enum backend_state, of the open interval */
    uint32_t wait_count;
    struct backend_wait waits[BACKEND_WAITS_MAX];
};

struct backends_losses {
    uint64_t unwatched; /* backends without an account, for lack of space */
    uint64_t unread;    /* reasons of a sleep that could not be read */
    uint64_t misbooked; /* waits accounted to another class, for lack of space */
    uint64_t unseen;    /* switches without an event; their times are estimated */
};

#define BACKENDS_MAX 4096 /* a power of two; includes exited backends not read yet */

struct backend_slot {
    uint64_t sequence; /* odd while it is written */
    uint64_t since_ns; /* start of the open interval, whose state is in the account */
    uint32_t wait;
    uint32_t reserved;
    uint64_t run_ns; /* the scheduler's count of CPU time at the last switch off a CPU; the four
                      * below are values at begin_ns */
    uint64_t cpu_before_ns, run_queue_before_ns;
    uint64_t voluntary_before, involuntary_before;
    struct backend_account account;
} __attribute__((aligned(64)));

/* Slots form a ring: the kernel takes free ones, the session returns those of exited backends,
 * zeroed. Each counter has one writer. */
struct backend_slots {
    uint64_t given, taken;        /* since the start of the session */
    uint32_t free[BACKENDS_MAX];  /* number of a slot, at place given % BACKENDS_MAX */
    uint8_t in_use[BACKENDS_MAX]; /* set by the kernel, cleared by the session */
};

/* The programs in the kernel are 64-bit programs: see layout.h. */
_Static_assert(sizeof(struct backends_place) == 24, "no padding");
_Static_assert(sizeof(struct backend_account) == 88 + BACKEND_WAITS_MAX * 24, "no padding");
_Static_assert(sizeof(struct backends_losses) == 32, "no padding");
_Static_assert(offsetof(struct backend_slot, account) == 64, "no padding");
_Static_assert(sizeof(struct backend_slots) == 16 + 5 * BACKENDS_MAX, "no padding");
