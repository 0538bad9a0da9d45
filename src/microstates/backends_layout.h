/* The account of a backend, which is a process of a server. A program in the kernel writes the
 * account. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Addresses of a server's variables, equal in all of its processes. */
struct backends_place {
    /* pid of the server, whose children are watched from their fork on; or 0 */
    int32_t parent;
    uint32_t activity_offset;  /* offset of the 32-bit activity in its structure */
    uint64_t event_pointer;    /* address of a pointer to the 32-bit wait event, or 0 */
    uint64_t activity_pointer; /* address of a pointer to the structure with the activity, or 0 */
    /* Offsets in the structure of the activity: of the backend's 32-bit pid, of the 32-bit numbers
     * of its database and its user, one after the other, of a pointer to the name of its
     * application, and of the 64-bit number of its statement; 0 if unknown. */
    uint32_t pid_offset, numbers_offset, application_offset, statement_offset;
    /* for backends_open(): 1 if times are also divided by statement, which needs 17 MB */
    uint32_t by_statement;
    uint16_t lengths; /* for backends_open(): 1 if backends_lengths() has something; 7 MB */
    /* for backends_open(): 1 to note which backend ends each wait for a lock; needs 9 MB */
    uint16_t by_blocker;
};

/* Wait events. The upper byte is the class, as in PostgreSQL. The event 0 means that the backend
 * sleeps without an event. */
#define BACKEND_EVENT_UNKNOWN UINT32_C(0xffffffff) /* the event could not be read */
#define BACKEND_EVENT_STOPPED UINT32_C(0xfffffffc) /* stopped by a signal or a tracer */
#define BACKEND_EVENT_CLASS(event) ((event) >> 24)
/* the classes in which a backend waits until another one wakes it */
#define BACKEND_CLASS_LWLOCK 0x01u
#define BACKEND_CLASS_LOCK 0x03u
#define BACKEND_CLASS_BUFFER_PIN 0x04u
/* stands for all further events of the class of `event` once BACKEND_WAITS_OWN entries are used */
#define BACKEND_EVENT_REST(event) ((event) | UINT32_C(0x00ffffff))
#define BACKEND_ACTIVITY_NONE UINT32_C(0xffffffff) /* no activity, or it is not readable */

#define BACKEND_WAITS_OWN 32 /* entries for one event and activity each */
#define BACKEND_WAITS_MAX 40 /* all entries; the last 8 are for whole classes */

struct backend_wait {
    uint32_t event, activity;
    uint64_t ns;
    uint64_t times;
};

/* The events of struct backend_share that are the time on a CPU, in the run queue, and throttled.
 */
#define BACKEND_EVENT_CPU UINT32_C(0xfffffffe)
#define BACKEND_EVENT_RUN_QUEUE UINT32_C(0xfffffffd)
#define BACKEND_EVENT_THROTTLED UINT32_C(0xfffffffb)

/* The part of a backend's time in one event and activity that one statement used. */
struct backend_share {
    uint64_t statement; /* 0 for none */
    uint32_t event, activity;
    uint64_t ns;
    /* The numbers, from 1, of the first reading after the share was added, and of the first reading
     * after it last grew. `used` is 0 if the share is empty. */
    uint32_t added, used;
};

#define BACKEND_SHARES 128     /* a power of two */
#define BACKEND_SHARES_NEAR 16 /* the number of places, from its hash on, that a share may have */

/*
 * The times of a backend by statement. A share that has not grown since the last reading but one
 * may be replaced by another. Time for which no place is free is in no share, so the shares add up
 * to at most the account. The time on a CPU, in the run queue and throttled is charged when the
 * backend leaves the CPU, because its statement is not known before.
 */
struct backend_statements {
    uint64_t statement;                          /* when the backend last left a CPU */
    uint64_t cpu_ns, run_queue_ns, throttled_ns; /* since then; in no share yet */
    uint32_t share;                              /* of the current wait, or BACKEND_SHARES */
    uint32_t reserved;
    struct backend_share shares[BACKEND_SHARES];
};

/*
 * The ends of the waits of a backend for locks (blocks.bpf.h). A wait is from the sleep that starts
 * it to the wakeup by another backend of the server. Its time, of which a timer or a signal may
 * have interrupted the sleep, is charged to that backend, the blocker, when the wait ends. The root
 * is the backend that the blocker itself waited for meanwhile, or the one that this one waited for,
 * and so on: so a wait may have several roots, one after another.
 */
struct backend_block {
    int32_t blocker, root; /* pids */
    uint32_t event;
    uint32_t added, used; /* like those of struct backend_share */
    uint32_t reserved;
    uint64_t ns;
};

/* One of the last waits for a lock that have ended. */
struct backend_lock_wait {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; end_ns is 0 while the wait is written */
    uint32_t waker;            /* number of the slot of the backend that ended it */
    int32_t waker_pid;
};

#define BACKEND_BLOCKS 64      /* a power of two */
#define BACKEND_BLOCKS_NEAR 16 /* the number of places, from its hash on, that a block may have */
#define BACKEND_LOCK_WAITS 4   /* a power of two */

/*
 * The waits of a backend for locks by blocker. A block that has not grown since the last reading
 * but one may be replaced. What finds no place is in no block, and counted in losses.unkept.
 *
 * The session reports a wait that has not ended by other means. So at each reading it writes the
 * time of that wait until then to `reported_ns`, and the number of the wait to `reported`. When the
 * wait ends, the kernel charges only what is more, and adds the reported time to subtracted_ns. If
 * the wait ended while the session wrote, subtracted_ns lacks it, and it is in a block.
 */
struct backend_blocks {
    uint64_t asleep_ns; /* of the wait that has not ended, until the slot's since_ns */
    uint64_t begin_ns;  /* of that wait */
    uint32_t event;     /* of that wait; 0: the backend waits for no lock */
    uint32_t number;    /* of the wait, from 1 */
    /* 1 + number of the slot of the backend that woke it last, and its pid; 0: another task did */
    uint32_t waker;
    int32_t waker_pid;
    uint64_t woken_ns;      /* when another backend woke it; 0 after it is known what that ended */
    uint64_t subtracted_ns; /* sum of what was reported of waits that have ended */
    uint64_t reported_ns;   /* only the session writes this and the next one */
    uint32_t reported;
    uint32_t wait_count;  /* of all waits that a backend ended; the last ones are in waits[] */
    uint8_t is_asleep;    /* It sleeps in the wait now, */
    uint8_t may_be_ended; /* and a wakeup by another backend will end it. */
    uint8_t reserved[6];
    struct backend_lock_wait waits[BACKEND_LOCK_WAITS]; /* wait n is at n % BACKEND_LOCK_WAITS */
    struct backend_block blocks[BACKEND_BLOCKS];
};

enum backend_state { BACKEND_OFF_CPU, BACKEND_ON_CPU, BACKEND_IN_RUN_QUEUE };

enum backend_flag {
    BACKEND_ENDED = 1u << 0, /* The task has exited, and its account is final. */
    BACKEND_OLDER = 1u << 1, /* The task started before it was watched. */
    BACKEND_NAMED = 1u << 2  /* The account has the numbers and the application. */
};

#define BACKEND_APPLICATION_SIZE 64 /* with its NUL; as long as PostgreSQL's names */

/* cpu_ns + run_queue_ns + throttled_ns + the ns of waits[wait_count] == time_ns - begin_ns,
 * exactly.
 */
struct backend_account {
    int32_t pid; /* pid of a process, or tid of a thread */
    uint32_t flags;
    uint64_t start_ns; /* CLOCK_BOOTTIME at the start of the task */
    uint64_t begin_ns; /* CLOCK_MONOTONIC when the watch started */
    uint64_t time_ns;  /* when the account was read, or when the task exited */
    uint64_t cpu_ns, run_queue_ns;
    /* Runnable, but the CPU time of its group (cpu.max), or its own, is used up. 0 if the kernel
     * has no clock of that time (backends_measure_throttled()); it is then in run_queue_ns. */
    uint64_t throttled_ns;
    /* The scheduler's own counts, from begin_ns to the task's last switch off a CPU. The second one
     * has run_queue_ns and throttled_ns. */
    uint64_t scheduler_cpu_ns, scheduler_run_queue_ns;
    uint64_t voluntary_switches, involuntary_switches;
    uint32_t state; /* enum backend_state at time_ns */
    uint32_t wait_count;
    uint32_t row; /* index of the account in the arrays of backends_read() */
    uint32_t reserved;
    uint32_t database, user; /* numbers in the server's tables; valid with BACKEND_NAMED */
    char application[BACKEND_APPLICATION_SIZE];
    struct backend_wait waits[BACKEND_WAITS_MAX];
};

struct backends_losses {
    uint64_t unwatched;    /* backends without an account, because all slots were in use */
    uint64_t unread;       /* wait events and activities that could not be read */
    uint64_t misaccounted; /* waits charged to another class, because all entries were in use */
    uint64_t unseen;       /* switches without an event, whose times are estimated */
    uint64_t unkept;       /* parts of waits for locks for which no place was free */
};

/* a power of two; the slot of an exited backend is in use until the session has read it */
#define BACKENDS_MAX 4096

struct backend_slot {
    uint64_t sequence; /* odd while the slot is written */
    uint64_t since_ns;
    uint32_t wait;
    uint32_t number; /* of the slot */
    /* run_ns is sum_exec_runtime at the last switch off a CPU. The members *_before are counts of
     * the scheduler at begin_ns. */
    uint64_t run_ns;
    uint64_t cpu_before_ns, run_queue_before_ns;
    uint64_t voluntary_before, involuntary_before;
    struct backend_account account;
    /* Of the wait in the run queue since since_ns: struct throttle (throttle.bpf.h) at its start,
     * and how far the scheduler's clock was ahead of CLOCK_MONOTONIC then. */
    uint64_t queue, queue_clock_ns, clock_ahead_ns;
} __attribute__((aligned(64)));

/* The values of slot.queue that are no address of a run queue. */
#define BACKEND_QUEUE_NONE 0
#define BACKEND_QUEUE_OWN_BUDGET 1

/* What a program in the kernel reads of the wait of slot `number`, which has not ended. */
struct backend_open_wait {
    uint32_t number;       /* written by the session */
    uint32_t is_throttled; /* at time_ns */
    uint64_t time_ns;      /* CLOCK_MONOTONIC */
    uint64_t queue_clock_ns;
};

/* A ring of free slots. The kernel takes slots from it, and the session gives zeroed slots of
 * exited backends back. Only the kernel writes `taken`, and only the session writes `given`. */
struct backend_slots {
    uint64_t given, taken;
    /* free[n % BACKENDS_MAX] is the number of the nth slot that the session has given. */
    uint32_t free[BACKENDS_MAX];
    uint8_t in_use[BACKENDS_MAX]; /* set by the kernel, cleared by the session */
};

/* layout.h says why no structure may have padding. */
_Static_assert(sizeof(struct backends_place) == 48, "no padding");
_Static_assert(sizeof(struct backend_share) == 32, "no padding");
_Static_assert(sizeof(struct backend_statements) == 40 + BACKEND_SHARES * 32, "no padding");
_Static_assert(sizeof(struct backend_block) == 32, "no padding");
_Static_assert(sizeof(struct backend_lock_wait) == 24, "no padding");
_Static_assert(sizeof(struct backend_blocks) == 72 + BACKEND_LOCK_WAITS * 24 + BACKEND_BLOCKS * 32,
               "no padding");
_Static_assert(sizeof(struct backend_account) == 176 + BACKEND_WAITS_MAX * 24, "no padding");
_Static_assert(sizeof(struct backends_losses) == 40, "no padding");
_Static_assert(offsetof(struct backend_slot, account) == 64, "no padding");
_Static_assert(sizeof(struct backend_open_wait) == 24, "no padding");
_Static_assert(sizeof(struct backend_slots) == 16 + 5 * BACKENDS_MAX, "no padding");
