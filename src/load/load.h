/*
 * Loads of known size that tell the truth about themselves.
 *
 * Each load is one plain function: it does what its plan says in the calling process, prints
 * nothing, and fills a truth, which it knows of itself and not from the counters under test. `camp
 * load` prints the truth; `camp verify` holds it against what libcamp reports.
 *
 * All of them: a result is CAMP_OK or a negative CAMP_E_*, with *error (may be NULL) saying what
 * and what to do; the truth is filled then too, with what was done until there. They end early,
 * with CAMP_OK and the truth so far, once stop_requested is set (command.h). A duration of 0 goes
 * on until then, or where there is an amount until that is done. The bounds of each member are in
 * its comment; a value outside of them is CAMP_E_INVALID.
 *
 * To watch a load from outside run it in a process of its own: load_begin(), load_end().
 */
#ifndef CAMP_LOAD_LOAD_H
#define CAMP_LOAD_LOAD_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --------------------------------------------------------------------------------- CPU -- */

enum load_phase {
    LOAD_ANY_PHASE,     /* anywhere in the period, at random: what a tick sees is fair */
    LOAD_BETWEEN_TICKS, /* asleep whenever the tick comes: a sampling kernel sees nothing */
    LOAD_ACROSS_TICKS   /* runs just when the tick comes: a sampling kernel sees whole ticks */
};

struct load_cpu_plan {
    double percent; /* of one CPU, (0, 100]; less with a phase: load_cpu_maximum_percent() */
    enum load_phase phase;
    uint64_t period_ns; /* one burn in each. 0: 10 ms, or with a phase the fewest ticks that do.
                         * Otherwise 1 ms to 10 s; with a phase a multiple of the tick */
    int32_t cpu;        /* to be pinned to. -1: none, or with a phase the last one allowed */
    uint64_t duration_ns;
};

struct load_cpu_truth {
    uint64_t own_ns;    /* CPU time of this process, by CLOCK_PROCESS_CPUTIME_ID: measured */
    uint64_t wall_ns;   /* CLOCK_MONOTONIC over the same interval */
    double percent;     /* own_ns of wall_ns */
    uint64_t cycles;    /* periods in which it ran */
    uint64_t missed;    /* periods whose phase was not kept, because it was run too late or was kept
                         * off the CPU; their burn is made up for later, within the phase */
    uint64_t ticks_met; /* ticks that came while it ran: x tick_ns is what sampling charges */
    uint64_t ticks_unsure;  /* the part of these in burns in which another task took the CPU, or
                             * which missed their place. The kernel may have charged these ticks to
                             * another task */
    uint64_t period_ns;     /* the period that the load used */
    uint64_t tick_ns;       /* length of the kernel's tick: clock_getres(CLOCK_MONOTONIC_COARSE) */
    uint64_t tick_phase_ns; /* when the tick is seen, after a multiple of tick_ns */
    uint64_t locks;         /* how often the phase of the tick was looked for; 0 without a phase */
    uint64_t search_ns;     /* CPU time used before, to find the tick at first: not in own_ns */
    uint64_t runnable_ns;   /* with a phase, wall time of the search and of the burns. The load then
                             * ran or waited for its CPU, so the CPU was never idle in this time */
    int32_t cpu;            /* pinned to, or -1 */
    bool realtime;          /* SCHED_FIFO was needed to keep the phase, and was permitted */
};

int load_cpu(const struct load_cpu_plan *plan, struct load_cpu_truth *ret,
             struct camp_error *error);

/* The most that fits between two ticks, or across one, with this period (0: the default). */
double load_cpu_maximum_percent(enum load_phase phase, uint64_t period_ns);

/* -------------------------------------------------------------------------------- Fork -- */

struct load_fork_plan {
    double rate;      /* children a second, (0, 20000] */
    uint64_t burn_ns; /* CPU time of each, by its own clock, [0, 10 s] */
    uint64_t duration_ns;
};

struct load_fork_truth {
    uint64_t children;   /* forked, and waited for */
    uint64_t failed;     /* fork() refused (limits): not in `children` */
    uint64_t late;       /* forked more than one period after their time */
    uint64_t unreported; /* killed before they could say their time */
    uint64_t own_ns;     /* sum of what each child read of its CPU clock as its last act: from the
                          * kernel's half of its fork to that reading. Without its exit */
    uint64_t whole_ns;   /* sum of their CPU clocks as zombies: their exit as well. What a record
                          * of exited tasks ought to add up to */
    uint64_t parent_ns;  /* CPU time of the process that forked them: forks and waits */
    uint64_t wall_ns;    /* from the first fork to the last child's end */
    double rate;         /* achieved */
};

int load_fork(const struct load_fork_plan *plan, struct load_fork_truth *ret,
              struct camp_error *error);

/* ------------------------------------------------------------------------------ Memory -- */

/* One step, once its pages were written to. */
struct load_step {
    uint64_t number;         /* from 1 */
    uint64_t bytes;          /* of this step, whole pages */
    uint64_t held_bytes;     /* of this and all before */
    uint64_t touched_pages;  /* of this step: one write to each */
    uint64_t minor_faults;   /* getrusage() over this step; huge pages need fewer than pages */
    uint64_t resident_bytes; /* how many of this step's bytes mincore() finds resident */
};

#define LOAD_STEPS_MAX 1000u

struct load_memory_plan {
    uint64_t step_bytes;  /* rounded up to pages, [1, 1 TiB] */
    uint64_t steps;       /* [1, LOAD_STEPS_MAX] */
    uint64_t pause_ns;    /* after each step, before the next one or the end */
    bool huge;            /* huge pages allowed; else one fault a page */
    uint64_t duration_ns; /* the memory is held until this time after the start; 0: until the last
                           * step */
    /* Called after each step when not NULL; returns false to end here. */
    bool (*each_step)(void *context, const struct load_step *step);
    void *context;
};

struct load_memory_truth {
    uint64_t steps;
    uint64_t bytes;
    uint64_t pages; /* touched */
    uint64_t page_bytes;
    uint64_t minor_faults;
    uint64_t resident_bytes;
    uint64_t wall_ns;
    struct load_step each[LOAD_STEPS_MAX]; /* [steps] */
};

int load_memory(const struct load_memory_plan *plan, struct load_memory_truth *ret,
                struct camp_error *error);

/* ----------------------------------------------------------------------------- Network -- */

struct load_net_plan {
    uint64_t packets;       /* [1, 1e9] */
    uint64_t bytes;         /* payload of each, [0, 65507]; never fragmented */
    const char *target;     /* IPv4 or IPv6 address; NULL: 127.0.0.1 */
    int sender_namespace;   /* open network namespaces the sockets are made in; -1: this one */
    int receiver_namespace; /* (CAP_SYS_ADMIN otherwise) */
    uint64_t duration_ns;   /* not 0: packets are sent for this time, and `packets` is ignored */
};

struct load_net_truth {
    uint64_t sent_packets;
    uint64_t received_packets;
    uint64_t sent_bytes;     /* payload */
    uint64_t received_bytes; /* payload */
    uint64_t lost_packets;   /* sent, and not received within a second */
    uint64_t header_bytes;   /* of each packet: IP and UDP. lo counts payload + this; an Ethernet
                              * interface, veth too, LOAD_NET_ETHERNET_BYTES more */
    uint64_t wall_ns;
};

#define LOAD_NET_ETHERNET_BYTES 14u

/* UDP to a receiver of its own, which must be able to take the target as its address, so no
 * packet goes to anybody else. */
int load_net(const struct load_net_plan *plan, struct load_net_truth *ret,
             struct camp_error *error);

/* --------------------------------------------------------------------------------- I/O -- */

struct load_io_plan {
    const char *file; /* NULL: a file without a name in TMPDIR or /var/tmp. One that exists is read,
                       * and is refused when writing; one made here is removed at the end */
    uint64_t bytes;   /* to be moved, [1, 1 TiB] */
    uint64_t block;   /* of each operation, [1, 16 MiB]; direct: a multiple of 512 */
    bool direct;      /* O_DIRECT: past the page cache */
    bool write;       /* else read */
    bool cold;        /* buffered reads of what is not in memory: dropped before each pass */
    uint64_t
        duration_ns; /* not 0: run for this time. `bytes` is then the size of a created file only */
};

struct load_io_truth {
    uint64_t operations; /* read() or write() calls that moved something */
    uint64_t bytes;
    uint64_t call_ns;        /* wall time within these calls */
    uint64_t longest_ns;     /* of one call */
    uint64_t sync_ns;        /* writing: fdatasync() at the end; 0 when direct */
    uint64_t prepared_bytes; /* reading a file made here: written before, not part of the rest */
    uint64_t storage_bytes;  /* reading: what the kernel fetched for it, by getrusage(2) */
    uint64_t own_ns;         /* CLOCK_THREAD_CPUTIME_ID over wall_ns. The rest of that it waited:
                              * for the disk, and after that for a CPU */
    uint64_t wall_ns;
};

int load_io(const struct load_io_plan *plan, struct load_io_truth *ret, struct camp_error *error);

/* ------------------------------------------------------------------------------- Sleep -- */

enum load_sleep_kind {
    LOAD_SLEEP_LOCK, /* in futex(2), until another thread wakes it */
    LOAD_SLEEP_PIPE, /* in read(2) of a pipe, until another thread writes to it */
    LOAD_SLEEP_TIMER /* in clock_nanosleep(2) */
};

struct load_sleep_plan {
    enum load_sleep_kind kind;
    double percent;     /* of its time asleep, (0, 100]; the rest it uses a CPU */
    uint64_t period_ns; /* one sleep in each. 0: 10 ms. Otherwise 1 ms to 1 s */
    int32_t cpu;        /* to be pinned to, with who wakes it. -1: none */
    uint64_t duration_ns;
};

/* Of the calling thread, which is the one that sleeps: asleep_ns + late_ns + own_ns are its wall
 * time, but for what it was kept off its CPU while it ran. */
struct load_sleep_truth {
    int32_t tid;
    uint64_t sleeps;
    uint64_t missed;    /* of them: it came too late to sleep at all */
    uint64_t asleep_ns; /* from its own clock before the call until it was woken: by the clock of
                         * who woke it, just before. Timer: until the time it asked for */
    uint64_t unsure_ns; /* at most so much more: waking took who woke it so long, the timer came so
                         * late (or it had no CPU then) */
    uint64_t late_ns;   /* from there to its own clock after the call: run queue, way back */
    uint64_t own_ns;    /* CLOCK_THREAD_CPUTIME_ID */
    uint64_t call_own_ns; /* the part for falling asleep and waking: also in asleep_ns or late_ns */
    uint64_t wall_ns;
    double percent; /* asleep_ns of wall_ns */
};

int load_sleep(const struct load_sleep_plan *plan, struct load_sleep_truth *ret,
               struct camp_error *error);

/* ------------------------------------------------------------------------------ Faults -- */

#define LOAD_FAULT_FILE_PAGES 16384u

struct load_fault_plan {
    const char *file; /* NULL: one without a name, in TMPDIR or /var/tmp. Only read */
    uint64_t pages;   /* to be touched, [1, 1e9]: one after the other of LOAD_FAULT_FILE_PAGES at
                       * most, which are put out of memory again before each pass */
    bool in_call;     /* touched by write(2) to a pipe, not by the load's own code */
    uint64_t
        duration_ns; /* not 0: run for this time, pass after pass. A created file has `pages` */
};

struct load_fault_truth {
    uint64_t pages;        /* touched */
    uint64_t major_faults; /* getrusage(2) over the touching: the others were in memory */
    uint64_t touch_ns;     /* wall time of touching */
    uint64_t own_ns;       /* of it on a CPU, by CLOCK_THREAD_CPUTIME_ID: the rest it waited, for
                            * pages, and after that for a CPU */
    uint64_t longest_ns;   /* of one page */
    uint64_t wall_ns;      /* putting pages out of memory is in it */
};

int load_fault(const struct load_fault_plan *plan, struct load_fault_truth *ret,
               struct camp_error *error);

/* ----------------------------------------------------------------------------- Threads -- */

#define LOAD_THREADS_MAX 1024u

struct load_threads_plan {
    uint64_t threads; /* [1, LOAD_THREADS_MAX] */
    double percent;   /* of one CPU, each thread, (0, 100] */
    uint64_t duration_ns;
};

struct load_thread_truth {
    int32_t tid;
    uint64_t own_ns; /* CLOCK_THREAD_CPUTIME_ID, from the thread's first to its last act */
    uint64_t wall_ns;
    double percent;
};

struct load_threads_truth {
    uint64_t threads;
    uint64_t own_ns;     /* of the process over all of it: the threads' sum and what made them */
    uint64_t threads_ns; /* sum of each */
    uint64_t wall_ns;
    struct load_thread_truth each[LOAD_THREADS_MAX]; /* [threads] */
};

int load_threads(const struct load_threads_plan *plan, struct load_threads_truth *ret,
                 struct camp_error *error);

/* ----------------------------------------------------------- In a process of its own -- */

/* A load with its plan and its truth behind pointers: load_cpu() and so on in that form, which is
 * also that of an act (verify_subject.h). */
typedef int load_function(const void *plan, void *ret_truth, struct camp_error *error);
load_function load_cpu_run, load_io_run, load_sleep_run, load_fault_run;

struct load_process {
    pid_t pid;    /* to be watched */
    void *shared; /* private */
    size_t size;
};

/* Forks a child that runs the load. The plan is copied with the process. */
int load_begin(struct load_process *process, load_function *run, const void *plan,
               size_t truth_size, struct camp_error *error);

/* Asks it to stop when `stop`, waits for its end, copies its truth. The load's own result, or
 * CAMP_E_GONE when it was killed. Releases the process. */
int load_end(struct load_process *process, bool stop, void *ret_truth, size_t truth_size,
             struct camp_error *error);

#endif
