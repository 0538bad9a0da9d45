/*
 * Loads of known size that report their own ground truth.
 *
 * Each load is one plain function: it does what its plan says in the calling process, prints
 * nothing, and fills a truth, which comes from its own clocks and counts and not from the counters
 * under test. `camp load` prints the truth; `camp verify` compares it with what libcamp reports.
 *
 * All of them return CAMP_OK or a negative CAMP_E_*, with *error (may be NULL) saying what failed
 * and what to do; the truth is then filled as well, up to the failure. They end early, with
 * CAMP_OK, once stop_requested is set (command.h). With a duration of 0, a load runs until
 * stop_requested is set, or until the given amount is done. Each member's comment has its bounds; a
 * value outside is CAMP_E_INVALID.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each load has a plan and a truth of its own type: load_cpu() those of struct load_cpu_plan and
 * struct load_cpu_truth. The first member of a truth is uint64_t wall_ns; 0: it did not start. */
typedef int load_function(const void *plan, void *ret_truth, struct camp_error *error);
load_function load_cpu, load_fork, load_memory, load_net, load_io, load_sleep, load_fault,
    load_threads;

enum load_phase {
    LOAD_ANY_PHASE,     /* anywhere in the period, at random: ticks sample it fairly */
    LOAD_BETWEEN_TICKS, /* asleep at each tick: a sampling kernel sees nothing */
    LOAD_ACROSS_TICKS   /* running at each tick: a sampling kernel sees whole ticks */
};

struct load_cpu_plan {
    double percent; /* of one CPU, (0, 100]; less with a phase: load_cpu_maximum_percent() */
    enum load_phase phase;
    uint64_t period_ns; /* time between the starts of two burns. 0: 10 ms, or with a phase the
                         * fewest ticks that suffice. Otherwise 1 ms to 10 s; with a phase a
                         * multiple of the tick */
    int32_t cpu;        /* CPU to pin to. -1: none, or with a phase the last one allowed */
    uint64_t duration_ns;
};

struct load_cpu_truth {
    uint64_t wall_ns;      /* CLOCK_MONOTONIC over the same interval as own_ns */
    uint64_t own_ns;       /* CPU time of this process, by CLOCK_PROCESS_CPUTIME_ID: measured */
    const char *phase;     /* as option: "any" */
    double wanted_percent; /* of the plan */
    double percent;        /* own_ns as a percentage of wall_ns */
    uint64_t cycles;       /* periods in which it ran */
    uint64_t missed;       /* periods outside their phase, because the load ran late or was kept off
                            * the CPU; their burn is made up for later, within the phase */
    bool phased;           /* false: the members of ticks and search are unknown */
    uint64_t ticks_met;    /* ticks that came while it ran: multiplied by tick_ns, this is what
                            * sampling charges */
    double sampled_percent; /* ticks_met x tick_ns as a percentage of wall_ns */
    uint64_t ticks_unsure;  /* part of ticks_met: those in misplaced or interrupted burns, which the
                             * kernel may have charged to another task */
    uint64_t period_ns;     /* the period that the load used */
    bool has_tick;          /* false: the kernel does not report its tick */
    uint64_t tick_ns; /* length of the kernel's tick, by clock_getres(CLOCK_MONOTONIC_COARSE) */
    uint64_t tick_phase_ns; /* offset of the tick from multiples of tick_ns */
    uint64_t locks;         /* searches for the tick's phase; 0 without a phase */
    uint64_t search_ns;     /* CPU time of the first search for the tick: not in own_ns */
    uint64_t runnable_ns;   /* with a phase, wall time of the search and of the burns. The load ran
                             * or waited for its CPU, so the CPU was never idle in this time */
    int32_t cpu;            /* CPU that the load was pinned to, or -1 */
    bool realtime;          /* SCHED_FIFO was needed to keep the phase, and was permitted */
};

/* The highest percentage that fits between two ticks, or across one, with this period (0: the
 * default). */
double load_cpu_maximum_percent(enum load_phase phase, uint64_t period_ns);

struct load_fork_plan {
    double rate;      /* children a second, (0, 20000] */
    uint64_t burn_ns; /* CPU time of each, by its own clock, [0, 10 s] */
    uint64_t duration_ns;
};

struct load_fork_truth {
    uint64_t wall_ns;    /* from the first fork to the last child's exit */
    uint64_t children;   /* forked and reaped */
    uint64_t failed;     /* fork() refused (limits): not in `children` */
    uint64_t late;       /* forked more than one period later than planned */
    uint64_t unreported; /* killed before they reported their time */
    uint64_t own_ns; /* sum of the CPU clocks that the children read just before they exit: from the
                      * start of the child in the kernel to that reading, without its exit */
    uint64_t whole_ns;  /* sum of the children's CPU clocks, read when they are zombies: with their
                         * exit. Records of exited tasks should add up to it */
    uint64_t parent_ns; /* CPU time of the forking process: forks and waits */
    double rate;        /* achieved */
};

/* One step, when each of its pages has been written to once. */
struct load_step {
    uint64_t number; /* from 1 */
    uint64_t bytes;  /* of this step, whole pages */
    uint64_t held_bytes;
    uint64_t touched_pages;
    uint64_t minor_faults; /* during this step; with huge pages fewer than its pages */
    uint64_t resident_bytes;
};

#define LOAD_STEPS_MAX 1000u

struct load_memory_plan {
    uint64_t step_bytes;  /* rounded up to pages, [1, 1 TiB] */
    uint64_t steps;       /* [1, LOAD_STEPS_MAX] */
    uint64_t pause_ns;    /* after each step, before the next one or the end */
    bool huge;            /* huge pages allowed; else one fault a page */
    uint64_t duration_ns; /* the memory is held until this time after the start; 0: until the last
                           * step */
    /* NULL, or called after each step; returns false to stop. */
    bool (*each_step)(void *context, const struct load_step *step);
    void *context;
};

struct load_memory_truth {
    uint64_t wall_ns;
    uint64_t step_count;
    uint64_t bytes;
    uint64_t pages; /* touched */
    uint64_t page_bytes;
    uint64_t minor_faults;
    uint64_t resident_bytes;
    struct load_step each[LOAD_STEPS_MAX]; /* [step_count] */
};

/* UDP to the load's own receiver, which must be able to bind the target's address, so no packet
 * reaches another program. */
struct load_net_plan {
    uint64_t packets;       /* [1, 1e9] */
    uint64_t bytes;         /* payload of each, [0, 65507]; never fragmented */
    const char *target;     /* IPv4 or IPv6 address; NULL: 127.0.0.1 */
    int sender_namespace;   /* open network namespaces of the sockets; -1: the current one */
    int receiver_namespace; /* (otherwise CAP_SYS_ADMIN) */
    uint64_t duration_ns;   /* not 0: send for this time, ignoring `packets` */
};

struct load_net_truth {
    uint64_t wall_ns;
    uint64_t sent_packets;
    uint64_t received_packets;
    uint64_t sent_bytes;      /* payload */
    uint64_t received_bytes;  /* payload */
    uint64_t lost_packets;    /* sent, and not received within a second */
    uint64_t header_bytes;    /* per packet: IP and UDP headers. lo counts payload and headers; an
                               * Ethernet or veth interface counts LOAD_NET_ETHERNET_BYTES more */
    uint64_t interface_bytes; /* sent_bytes + sent_packets x header_bytes: as lo counts it */
};

#define LOAD_NET_ETHERNET_BYTES 14u

struct load_io_plan {
    const char *file; /* NULL: a nameless file in TMPDIR or /var/tmp. An existing file is read, and
                       * refused for writing; a file created here is removed at the end */
    uint64_t bytes;   /* to transfer, [1, 1 TiB] */
    uint64_t block;   /* of each operation, [1, 16 MiB]; direct: a multiple of 512 */
    bool direct;      /* O_DIRECT: bypasses the page cache */
    bool write;       /* else read */
    bool cold;        /* buffered reads from storage: the file leaves the page cache before each
                       * pass */
    uint64_t
        duration_ns; /* not 0: run for this time. `bytes` is then only the size of a created file */
};

struct load_io_truth {
    uint64_t wall_ns;
    uint64_t operations; /* read() or write() calls that transferred data */
    uint64_t bytes;
    uint64_t call_ns;        /* wall time within these calls */
    uint64_t longest_ns;     /* of one call */
    uint64_t sync_ns;        /* writing: fdatasync() at the end; 0 when direct */
    uint64_t prepared_bytes; /* written before reading a file created here; not part of the other
                              * members */
    uint64_t storage_bytes;  /* reading: what the kernel read from storage, by getrusage(2) */
    uint64_t own_ns;         /* CLOCK_THREAD_CPUTIME_ID over wall_ns */
    uint64_t waited_ns; /* the rest of wall_ns: the thread waited for the disk, then for a CPU */
};

enum load_sleep_kind {
    LOAD_SLEEP_LOCK, /* in futex(2), until another thread wakes it */
    LOAD_SLEEP_PIPE, /* in read(2) of a pipe, until another thread writes to it */
    LOAD_SLEEP_TIMER /* in clock_nanosleep(2) */
};

struct load_sleep_plan {
    enum load_sleep_kind kind;
    double percent;     /* share of time asleep, (0, 100]; otherwise it uses a CPU */
    uint64_t period_ns; /* time between the starts of two sleeps. 0: 10 ms. Otherwise 1 ms to 1 s */
    int32_t cpu;        /* CPU for the sleeper and its waker. -1: any */
    uint64_t duration_ns;
};

/* Of the calling thread, which is the sleeper: asleep_ns + late_ns + own_ns are its wall time,
 * except for preemption. */
struct load_sleep_truth {
    uint64_t wall_ns;
    int32_t tid;
    double wanted_percent; /* of the plan */
    uint64_t sleeps;
    uint64_t missed;    /* cycles that started too late to sleep */
    uint64_t asleep_ns; /* from the sleeper's clock reading before the call to the waker's reading
                         * just before the wakeup; for a timer, to the requested time */
    uint64_t unsure_ns; /* upper bound of what asleep_ns misses: the duration of the wakeup, or the
                         * lateness of the timer (or of its CPU) */
    uint64_t late_ns;   /* from the wakeup to the sleeper's clock reading after the call: run queue
                         * and return */
    uint64_t own_ns;    /* CLOCK_THREAD_CPUTIME_ID */
    uint64_t call_own_ns;  /* the part of own_ns for falling asleep and waking: also in asleep_ns or
                            * late_ns */
    uint64_t preempted_ns; /* wall time of the calls in which another task took the CPU: asleep_ns
                            * then includes run-queue time before the sleep */
    double percent;        /* asleep_ns as a percentage of wall_ns */
};

#define LOAD_FAULT_FILE_PAGES 16384u

struct load_fault_plan {
    const char *file; /* NULL: a nameless file in TMPDIR or /var/tmp. The file is only read */
    uint64_t pages;   /* pages to touch in turn, [1, 1e9]; a pass touches at most
                       * LOAD_FAULT_FILE_PAGES pages, which are evicted from memory before it */
    bool in_call;     /* touched by write(2) to a pipe, not by the load's own code */
    uint64_t
        duration_ns; /* not 0: run for this time, pass after pass. A created file has `pages` pages
                      */
};

struct load_fault_truth {
    uint64_t wall_ns;      /* includes evicting the pages */
    uint64_t pages;        /* touched */
    uint64_t major_faults; /* by getrusage(2); the other touches found their pages in memory */
    uint64_t touch_ns;     /* wall time of the touches */
    uint64_t own_ns;       /* the part on a CPU, by CLOCK_THREAD_CPUTIME_ID */
    uint64_t waited_ns;    /* the other part: the thread waited for pages, then for a CPU */
    uint64_t longest_ns;   /* of one page */
};

#define LOAD_THREADS_MAX 1024u

struct load_threads_plan {
    uint64_t threads; /* [1, LOAD_THREADS_MAX] */
    double percent;   /* of one CPU, each thread, (0, 100] */
    uint64_t duration_ns;
};

struct load_thread_truth {
    int32_t tid;
    uint64_t own_ns; /* CLOCK_THREAD_CPUTIME_ID, read first and last by the thread */
    uint64_t wall_ns;
    double percent;
};

struct load_threads_truth {
    uint64_t wall_ns;
    uint64_t thread_count;
    uint64_t own_ns;     /* of the whole process: the threads and their creation */
    uint64_t threads_ns; /* sum of each */
    struct load_thread_truth each[LOAD_THREADS_MAX]; /* [thread_count] */
};
