/*
 * Loads of known size, which report what they did.
 *
 * Each load is one function. It does what its plan says in the calling process, prints nothing, and
 * fills a struct load_*_truth. The truth comes from the clocks and counts of the load itself, not
 * from the counters under test. `camp load` prints the truth, and `camp verify` compares the truth
 * with what libcamp reports.
 *
 * A load returns CAMP_OK or a negative CAMP_E_*. After a failure, *error (which may be NULL) says
 * what failed and what to do, and the truth covers the time up to the failure. A load ends early,
 * with CAMP_OK, when stop_requested is set (program/command.h). With a duration of 0 a load runs
 * until its amount is done, or, if its plan has no amount, until stop_requested is set. The
 * comments of the members state their ranges; a value out of range is CAMP_E_INVALID.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each load has its own types: load_cpu() takes a struct load_cpu_plan and fills a struct
 * load_cpu_truth. The first member of each truth is uint64_t wall_ns, which is 0 if the load did
 * not start. */
typedef int load_function(const void *plan, void *ret_truth, struct camp_error *error);
load_function load_cpu, load_fork, load_memory, load_net, load_io, load_sleep, load_fault,
    load_threads;

enum load_phase {
    LOAD_ANY_PHASE,     /* runs at a random time in the period; sampled CPU time is right */
    LOAD_BETWEEN_TICKS, /* sleeps at each tick; sampled CPU time is 0 */
    LOAD_ACROSS_TICKS   /* runs at each tick; sampled CPU time is in whole ticks */
};

struct load_cpu_plan {
    double percent; /* of one CPU, (0, 100]; with a phase, at most load_cpu_maximum_percent() */
    enum load_phase phase;
    /* The load runs once in each period of 1 ms to 10 s. With a phase, the period must be a
     * multiple of the tick. 0 means 10 ms, or with a phase the smallest suitable number of ticks.
     */
    uint64_t period_ns;
    int32_t cpu; /* -1 means any CPU, or with a phase the last allowed CPU */
    uint64_t duration_ns;
};

struct load_cpu_truth {
    uint64_t wall_ns;
    uint64_t own_ns;   /* CLOCK_PROCESS_CPUTIME_ID during wall_ns */
    const char *phase; /* value of the option --phase, such as "any" */
    double wanted_percent;
    double percent;  /* own_ns as a percentage of wall_ns */
    uint64_t cycles; /* periods in which the load ran */
    /* Periods in which the load ran too late or out of its phase, because other tasks had the CPU.
     * The load makes up for the CPU time in later periods. */
    uint64_t missed;
    bool phased; /* false without a phase; facts with IF_PHASED in load_cpu.c are then unknown */
    uint64_t ticks_met;     /* ticks during which the load ran */
    double sampled_percent; /* ticks_met x tick_ns as a percentage of wall_ns */
    /* The part of ticks_met that the kernel may have charged to another task, because the load was
     * interrupted or out of its phase. */
    uint64_t ticks_unsure;
    uint64_t period_ns;
    bool has_tick;          /* false if the kernel does not report the length of its tick */
    uint64_t tick_ns;       /* length of a tick, by clock_getres(CLOCK_MONOTONIC_COARSE) */
    uint64_t tick_phase_ns; /* ticks come at multiples of tick_ns plus this offset */
    uint64_t locks;         /* number of searches for the tick; 0 without a phase */
    uint64_t search_ns;     /* CPU time of the first search for the tick, not part of own_ns */
    /* With a phase, the wall time in which the load ran or waited for its CPU. The CPU was not idle
     * in this time. */
    uint64_t runnable_ns;
    int32_t cpu;   /* CPU to which the load was bound, or -1 */
    bool realtime; /* SCHED_FIFO was needed to keep the phase, and was permitted */
};

/* The highest percentage of CPU time that is possible with a phase and a period. A period of 0
 * stands for the default. */
double load_cpu_maximum_percent(enum load_phase phase, uint64_t period_ns);

struct load_fork_plan {
    double rate;      /* children per second, (0, 20000] */
    uint64_t burn_ns; /* CPU time of each child by its own clock, [0, 10 s] */
    uint64_t duration_ns;
};

struct load_fork_truth {
    uint64_t wall_ns; /* from the first fork to the exit of the last child */
    uint64_t children;
    uint64_t failed;     /* forks that failed because of a limit */
    uint64_t late;       /* children forked more than one period late */
    uint64_t unreported; /* children killed before they reported their CPU time */
    uint64_t own_ns; /* sum of the CPU times that the children reported just before their exit */
    /* Sum of the CPU times of the children after their exit. The records of exited tasks should add
     * up to this sum. */
    uint64_t whole_ns;
    uint64_t parent_ns;
    double rate;
};

struct load_step {
    uint64_t number; /* 1 for the first step */
    uint64_t bytes;  /* size of the step, in whole pages */
    uint64_t held_bytes;
    uint64_t touched_pages;
    uint64_t minor_faults; /* during this step; with huge pages, fewer than touched_pages */
    uint64_t resident_bytes;
};

#define LOAD_STEPS_MAX 1000u

struct load_memory_plan {
    uint64_t step_bytes; /* rounded up to whole pages, [1, 1 TiB] */
    uint64_t steps;      /* [1, LOAD_STEPS_MAX] */
    uint64_t pause_ns;
    bool huge; /* allows huge pages; without them each page causes one fault */
    /* The memory is held for this time from the start. 0 means until the last step. */
    uint64_t duration_ns;
    /* Called after each step if not NULL. The load stops if the function returns false. */
    bool (*each_step)(void *context, const struct load_step *step);
    void *context;
};

struct load_memory_truth {
    uint64_t wall_ns;
    uint64_t step_count;
    uint64_t bytes;
    uint64_t pages;
    uint64_t page_bytes;
    uint64_t minor_faults;
    uint64_t resident_bytes;
    struct load_step each[LOAD_STEPS_MAX]; /* [step_count] */
};

/* UDP packets to a receiver in the load itself. The receiver must be able to bind the address of
 * the target, so that no packet reaches another program. */
struct load_net_plan {
    uint64_t packets;   /* [1, 1e9] */
    uint64_t bytes;     /* payload of a packet, which is never fragmented, [0, 65507] */
    const char *target; /* IPv4 or IPv6 address; NULL means 127.0.0.1 */
    /* Descriptors of network namespaces. -1 means the current namespace. Other namespaces need
     * CAP_SYS_ADMIN. */
    int sender_namespace;
    int receiver_namespace;
    uint64_t duration_ns; /* if not 0, packets are sent for this time and `packets` is ignored */
};

struct load_net_truth {
    uint64_t wall_ns;
    uint64_t sent_packets;
    uint64_t received_packets;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t lost_packets; /* packets that were not received within a second */
    uint64_t header_bytes; /* IP and UDP headers of one packet */
    /* sent_bytes + sent_packets x header_bytes. The interface lo counts this number. Ethernet and
     * veth interfaces count LOAD_NET_ETHERNET_BYTES more per packet. */
    uint64_t interface_bytes;
};

#define LOAD_NET_ETHERNET_BYTES 14u

struct load_io_plan {
    /* NULL means a nameless file in TMPDIR or /var/tmp. An existing file may be read but not
     * written. A file that the load creates is removed at the end. */
    const char *file;
    uint64_t bytes; /* bytes to transfer, [1, 1 TiB] */
    uint64_t block; /* size of an operation, [1, 16 MiB]; with `direct`, a multiple of 512 */
    bool direct;    /* bypasses the page cache by O_DIRECT */
    bool write;
    bool cold; /* evicts the file from the page cache before each pass */
    /* If not 0, the load runs for this time, and `bytes` is only the size of a file that the load
     * creates. */
    uint64_t duration_ns;
};

struct load_io_truth {
    uint64_t wall_ns;
    uint64_t operations; /* read() or write() calls that transferred data */
    uint64_t bytes;
    uint64_t call_ns;        /* wall time of the operations */
    uint64_t longest_ns;     /* wall time of the longest operation */
    uint64_t sync_ns;        /* fdatasync() after writing; 0 with `direct` */
    uint64_t prepared_bytes; /* written to a new file before it is read; in no other member */
    uint64_t storage_bytes;  /* bytes that the kernel read from storage, by getrusage(2) */
    uint64_t own_ns;         /* CLOCK_THREAD_CPUTIME_ID during wall_ns */
    uint64_t waited_ns;      /* wall_ns - own_ns: waiting for the disk, then for a CPU */
};

enum load_sleep_kind {
    LOAD_SLEEP_LOCK, /* sleeps in futex(2), until another thread wakes it */
    LOAD_SLEEP_PIPE, /* sleeps in read(2) of a pipe, until another thread writes */
    LOAD_SLEEP_TIMER /* sleeps in clock_nanosleep(2) */
};

struct load_sleep_plan {
    enum load_sleep_kind kind;
    double percent;     /* share of time asleep, (0, 100]; the thread uses a CPU otherwise */
    uint64_t period_ns; /* one sleep in each period of 1 ms to 1 s; 0 means 10 ms */
    int32_t cpu;        /* CPU of the sleeping and the waking thread; -1 means any CPU */
    uint64_t duration_ns;
};

/* Facts about the calling thread, which sleeps. wall_ns is asleep_ns + late_ns + own_ns,
 * except for preemption. */
struct load_sleep_truth {
    uint64_t wall_ns;
    int32_t tid;
    double wanted_percent;
    uint64_t sleeps;
    uint64_t missed; /* wakeups that came before the thread was asleep */
    /* Time until just before the wakeup by another thread, or until the requested time of the
     * timer. */
    uint64_t asleep_ns;
    /* asleep_ns may be too small by up to this time, which is the duration of the wakeup or the
     * lateness of the timer. */
    uint64_t unsure_ns;
    uint64_t late_ns;     /* from the wakeup until the thread runs again */
    uint64_t own_ns;      /* CLOCK_THREAD_CPUTIME_ID */
    uint64_t call_own_ns; /* CPU time of falling asleep and waking; also in asleep_ns or late_ns */
    /* Wall time of the sleeps with a preemption. The asleep_ns of such a sleep may include time in
     * the run queue. */
    uint64_t preempted_ns;
    double percent; /* asleep_ns as a percentage of wall_ns */
};

#define LOAD_FAULT_FILE_PAGES 16384u

struct load_fault_plan {
    const char *file; /* a file to read; NULL means a nameless file in TMPDIR or /var/tmp */
    /* Number of pages to touch, [1, 1e9]. A pass touches up to LOAD_FAULT_FILE_PAGES pages, which
     * are evicted from memory before the pass. */
    uint64_t pages;
    bool in_call; /* the kernel touches the pages, in write(2) to a pipe */
    /* If not 0, the load repeats passes for this time, and `pages` is only the size of a file that
     * the load creates. */
    uint64_t duration_ns;
};

struct load_fault_truth {
    uint64_t wall_ns; /* includes the eviction of pages */
    uint64_t pages;
    uint64_t major_faults; /* touched pages that were not in memory, by getrusage(2) */
    uint64_t touch_ns;
    uint64_t own_ns;     /* CLOCK_THREAD_CPUTIME_ID during touch_ns */
    uint64_t waited_ns;  /* touch_ns - own_ns: waiting for pages, then for a CPU */
    uint64_t longest_ns; /* wall time of the slowest page */
};

#define LOAD_THREADS_MAX 1024u

struct load_threads_plan {
    uint64_t threads; /* [1, LOAD_THREADS_MAX] */
    double percent;   /* share of one CPU that each thread uses, (0, 100] */
    uint64_t duration_ns;
};

struct load_thread_truth {
    int32_t tid;
    uint64_t own_ns;
    uint64_t wall_ns;
    double percent;
};

struct load_threads_truth {
    uint64_t wall_ns;
    uint64_t thread_count;
    uint64_t own_ns;     /* CPU time of the process, including the creation of threads */
    uint64_t threads_ns; /* sum of own_ns of the threads */
    struct load_thread_truth each[LOAD_THREADS_MAX]; /* [thread_count] */
};
