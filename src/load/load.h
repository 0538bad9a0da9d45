/*
 * Loads of known size, which report what they did.
 *
 * Each load is one function, which does what its plan says, prints nothing, and fills a struct
 * load_*_truth. A load measures the truth with its own clocks and counts, without libcamp. `camp
 * load` prints the truth, and `camp verify` compares it with what libcamp reports.
 *
 * A load returns CAMP_OK or a negative CAMP_E_*. After a failure, *error says what failed and what
 * to do (unless `error` is NULL), and the truth covers the time up to the failure. When
 * stop_requested is set (program/command.h), a load ends early with CAMP_OK. With a duration of 0,
 * a load ends when its amount (such as `packets` or `bytes`) is done; a load without an amount runs
 * until stop_requested is set.
 *
 * Ranges are in the comments of the members: (0, 100] excludes 0 and includes 100. A value out of
 * range is CAMP_E_INVALID.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each load has its own types: load_cpu() takes a struct load_cpu_plan, and fills a struct
 * load_cpu_truth. The first member of each truth is uint64_t wall_ns: the duration of the load, or
 * 0 if it did not start. */
typedef int load_function(const void *plan, void *ret_truth, struct camp_error *error);
load_function load_cpu, load_fork, load_memory, load_net, load_io, load_sleep, load_fault,
    load_threads;

enum load_phase {
    LOAD_ANY_PHASE, /* runs at a random time in each period; sampled CPU time is right on average */
    LOAD_BETWEEN_TICKS, /* sleeps at each clock tick, so its sampled CPU time is 0 */
    LOAD_ACROSS_TICKS   /* runs at each clock tick, so its sampled CPU time is far too high */
};

struct load_cpu_plan {
    double percent; /* of one CPU, (0, 100]; with a phase, at most load_cpu_maximum_percent() */
    enum load_phase phase;
    /* The load runs once in each period of 1 ms to 10 s. 0 means the default, which is 10 ms. With
     * a phase other than LOAD_ANY_PHASE, the period must be a multiple of the tick, and the default
     * is the smallest multiple that suits `percent`. */
    uint64_t period_ns;
    int32_t cpu; /* -1 means any CPU, or with a phase load_tick_cpu() */
    uint64_t duration_ns;
};

struct load_cpu_truth {
    uint64_t wall_ns;
    uint64_t own_ns;   /* load_process_ns() during wall_ns */
    const char *phase; /* as in the option --phase, such as "any" */
    double wanted_percent;
    double percent;  /* own_ns as a percentage of wall_ns */
    uint64_t cycles; /* periods in which the load ran */
    /* Periods in which the load did not run as planned, because other tasks had the CPU. The load
     * makes up for the missed CPU time in later periods. */
    uint64_t missed;
    bool phased; /* false with LOAD_ANY_PHASE: facts with IF_PHASED (load_cpu.c) are unknown */
    uint64_t ticks_met;     /* ticks during which the load ran */
    double sampled_percent; /* ticks_met x tick_ns as a percentage of wall_ns */
    /* The part of ticks_met that the kernel may have charged to another task, because the load was
     * preempted or met an unplanned number of ticks. Unknown if has_ticks_unsure is false: Windows
     * does not count preemptions. */
    uint64_t ticks_unsure;
    bool has_ticks_unsure;
    uint64_t period_ns;
    bool has_tick;          /* false if the kernel does not report the length of its tick */
    uint64_t tick_ns;       /* length of a tick (tick_length_ns()) */
    uint64_t tick_phase_ns; /* ticks come at n x tick_ns + tick_phase_ns */
    uint64_t locks;         /* how often the time of the tick was searched and found */
    uint64_t search_ns;     /* CPU time of the first search, not part of own_ns */
    /* Wall time in which the load ran or waited for its CPU, so that the CPU was not idle. 0 with
     * LOAD_ANY_PHASE. */
    uint64_t runnable_ns;
    int32_t cpu;   /* CPU to which the load was bound, or -1 */
    bool realtime; /* precedence was needed to keep the phase, and was permitted */
};

/* The highest `percent` that is possible with a phase and a period (0: the default). */
double load_cpu_maximum_percent(enum load_phase phase, uint64_t period_ns);

struct load_fork_plan {
    double rate;      /* children per second, (0, 20000] */
    uint64_t burn_ns; /* CPU time that each child uses, by its CPU clock, [0, 10 s] */
    uint64_t duration_ns;
};

struct load_fork_truth {
    uint64_t wall_ns; /* from the first fork to the exit of the last child */
    uint64_t children;
    uint64_t failed;     /* forks that failed because of a limit */
    uint64_t late;       /* children forked more than one period late */
    uint64_t unreported; /* children killed before they reported their CPU time */
    uint64_t own_ns;     /* CPU time of all children just before their exit, as they reported it */
    /* CPU time of all children, including their exit. The exit records of taskstats should add up
     * to this number. */
    uint64_t whole_ns;
    bool has_whole; /* false on Wine: whole_ns is unknown */
    uint64_t parent_ns;
    double rate;
};

struct load_step {
    uint64_t number; /* 1 for the first step */
    uint64_t bytes;  /* size of the step, in whole pages */
    uint64_t held_bytes;
    uint64_t touched_pages;
    uint64_t faults; /* with huge pages, fewer than touched_pages */
    uint64_t minor_faults;
    uint64_t resident_bytes;
    bool has_faults, has_parts, has_resident; /* as in struct load_memory_truth */
};

#define LOAD_STEPS_MAX 1000u

struct load_memory_plan {
    uint64_t step_bytes; /* rounded up to whole pages, [1, 1 TiB] */
    uint64_t steps;      /* [1, LOAD_STEPS_MAX] */
    uint64_t pause_ns;
    bool huge; /* allows huge pages; without them each page causes one fault */
    /* How long the memory is held, from the start of the load. 0 means until the last step. */
    uint64_t duration_ns;
    /* Called after each step, unless NULL. If it returns false, the load ends. */
    bool (*each_step)(void *context, const struct load_step *step);
    void *context;
};

struct load_memory_truth {
    uint64_t wall_ns;
    uint64_t step_count;
    uint64_t bytes;
    uint64_t pages;
    uint64_t page_bytes;
    uint64_t faults;
    uint64_t minor_faults;
    uint64_t resident_bytes;
    bool has_faults;                       /* false on Wine: `faults` is unknown */
    bool has_parts;                        /* false on Windows: minor_faults is unknown */
    bool has_resident;                     /* whether resident_bytes is known */
    struct load_step each[LOAD_STEPS_MAX]; /* [step_count] */
};

/* UDP packets to a receiver in the load itself, so that no packet reaches another program. */
struct load_net_plan {
    uint64_t packets;   /* [1, 1e9]; ignored if duration_ns is not 0 */
    uint64_t bytes;     /* payload of each packet, [0, 65507]; packets are never fragmented */
    const char *target; /* IPv4 or IPv6 address of the receiver; NULL means 127.0.0.1 */
    /* Descriptors of network namespaces. -1 means the current namespace. Other namespaces need
     * CAP_SYS_ADMIN. */
    int sender_namespace;
    int receiver_namespace;
    uint64_t duration_ns; /* if not 0, packets are sent for this time, however many */
};

struct load_net_truth {
    uint64_t wall_ns;
    uint64_t sent_packets;
    uint64_t received_packets;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t lost_packets; /* sent_packets - received_packets */
    uint64_t header_bytes; /* IP and UDP headers of one packet */
    /* sent_bytes + sent_packets x header_bytes, as the interface lo counts. Ethernet and veth
     * interfaces count LOAD_NET_ETHERNET_BYTES more per packet. */
    uint64_t interface_bytes;
};

#define LOAD_NET_ETHERNET_BYTES 14u

struct load_io_plan {
    /* If the file exists, the load can read but not write it. Otherwise the load creates it, and
     * removes it at the end. NULL means a temporary file in load_folder(). */
    const char *file;
    uint64_t bytes; /* bytes to transfer, [1, 1 TiB] */
    uint64_t block; /* bytes per operation, [1, 16 MiB]; with `direct`, a multiple of 512 */
    bool direct;    /* bypasses the page cache: O_DIRECT, FILE_FLAG_NO_BUFFERING */
    bool write;
    bool cold; /* evicts the file from the page cache before each pass */
    /* If not 0, the load runs for this time. `bytes` is then only the size of the file, if the load
     * creates it. */
    uint64_t duration_ns;
};

struct load_io_truth {
    uint64_t wall_ns;
    uint64_t operations; /* calls that transferred data */
    uint64_t bytes;
    uint64_t call_ns;        /* wall time of the operations */
    uint64_t longest_ns;     /* wall time of the longest operation */
    uint64_t sync_ns;        /* wall time of load_file_flush() after writing; 0 with `direct` */
    uint64_t prepared_bytes; /* written to a new file before the load; not part of other members */
    uint64_t storage_bytes;  /* read from storage, by getrusage(2) */
    bool has_storage;        /* false on Windows: storage_bytes is unknown */
    uint64_t own_ns;         /* load_thread_ns() during wall_ns */
    uint64_t waited_ns;      /* wall_ns - own_ns: waited for the disk or for a CPU */
};

enum load_sleep_kind {
    /* sleeps in futex(2), or on Windows for a condition variable, until another thread wakes it */
    LOAD_SLEEP_LOCK,
    LOAD_SLEEP_PIPE, /* sleeps in a read of a pipe until another thread writes to it */
    LOAD_SLEEP_TIMER /* sleeps in clock_nanosleep(2), or on Windows until a waitable timer ends */
};

struct load_sleep_plan {
    enum load_sleep_kind kind;
    double percent;     /* share of time asleep, (0, 100]; for the rest, the thread uses a CPU */
    uint64_t period_ns; /* one sleep in each period of 1 ms to 1 s; 0 means 10 ms */
    int32_t cpu;        /* of the sleeping and the waking thread; -1 means any CPU */
    uint64_t duration_ns;
};

/* Facts about the calling thread, which sleeps. Without preemption, wall_ns is asleep_ns + late_ns
 * + own_ns - call_own_ns. */
struct load_sleep_truth {
    uint64_t wall_ns;
    int32_t tid;
    double wanted_percent;
    uint64_t sleeps;
    uint64_t missed; /* wakeups that came before the thread slept */
    /* Sum of the sleeps. A sleep counts until just before another thread wakes the calling thread,
     * or with LOAD_SLEEP_TIMER until the requested time. */
    uint64_t asleep_ns;
    /* The time that waking took, by the clocks of the waker, or by which a timer was late. The
     * thread may have been asleep in it. */
    uint64_t unsure_ns;
    /* Sum of the times from the end of a sleep (see asleep_ns) until the thread ran again: time in
     * the run queue. But an idle CPU may take 100 us to notice that it has a thread to run, and the
     * thread is asleep until then. So the true time asleep is at most asleep_ns + late_ns. */
    uint64_t late_ns;
    uint64_t own_ns; /* load_thread_ns() */
    /* The part of own_ns for falling asleep and waking. It is also in asleep_ns or late_ns. */
    uint64_t call_own_ns;
    /* Wall time of the sleeps during which the thread was preempted, between reading the clock and
     * the return of the call. In these sleeps, asleep_ns may include time in the run queue. */
    uint64_t preempted_ns;
    bool counts_preemptions; /* false on Windows: preempted_ns is unknown */
    double percent;          /* asleep_ns as a percentage of wall_ns */
};

#define LOAD_FAULT_FILE_PAGES 16384u

struct load_fault_plan {
    const char *file; /* existing file to map; NULL means a new one in load_folder() */
    /* Number of pages to touch, [1, 1e9], in passes over the file. A pass first evicts the pages
     * from memory, and touches at most LOAD_FAULT_FILE_PAGES. */
    uint64_t pages;
    bool in_call; /* true: the kernel touches the pages, in write(2) to a pipe */
    /* If not 0, the load repeats its passes for this time. `pages` is then only the size of the
     * file, if the load creates it. */
    uint64_t duration_ns;
};

struct load_fault_truth {
    uint64_t wall_ns; /* includes the evictions */
    uint64_t pages;
    uint64_t faults;       /* page faults while the pages were touched */
    uint64_t major_faults; /* those that waited for a disk */
    bool has_major;        /* false on Windows: major_faults is unknown */
    uint64_t touch_ns;
    uint64_t own_ns;     /* load_thread_ns() during touch_ns */
    uint64_t waited_ns;  /* touch_ns - own_ns: waited for pages or for a CPU */
    uint64_t longest_ns; /* wall time of the slowest touch */
};

#define LOAD_THREADS_MAX 1024u

struct load_threads_plan {
    uint64_t threads; /* [1, LOAD_THREADS_MAX] */
    double percent;   /* of one CPU, for each thread, (0, 100] */
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
    uint64_t own_ns;                                 /* CPU time of the process during wall_ns */
    uint64_t threads_ns;                             /* sum of own_ns of the threads */
    struct load_thread_truth each[LOAD_THREADS_MAX]; /* [thread_count] */
};
