/*
 * states.h - microstates: the wall time of every thread and CPU by state, measured in the kernel.
 *
 * A session puts programs into the kernel (BPF) that take a timestamp whenever a thread changes its
 * state. The states are disjoint: those of a thread add up to the time it was watched (its
 * lifetime, if it started during the session). Times are CLOCK_MONOTONIC, in ns; counters are
 * cumulative.
 *
 * Needs Linux 5.18 or later with BTF, and CAP_BPF with CAP_PERFMON (root has them). docs/states.md
 * says which kernel event starts and ends each state. The contract of results, errors, sizes and
 * arrays is that of camp.h; but a session has a state, and only one thread at a time may use it.
 * Nothing of it stays in the kernel after the process, by whatever signal it ends.
 */
#ifndef CAMP_STATES_H
#define CAMP_STATES_H

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread does: Solaris' microstates (prusage of proc(4)), with several kinds of SLEEP. */
enum camp_state {
    CAMP_STATE_USER,         /* on a CPU outside system calls: its own code, and page faults that
                              * need no sleep; with CAMP_STATES_NO_SYSCALLS: on a CPU */
    CAMP_STATE_SYSTEM,       /* on a CPU in a system call; kernel threads: on a CPU */
    CAMP_STATE_IRQ,          /* on a CPU that served an interrupt meanwhile */
    CAMP_STATE_TEXT_FAULT,   /* asleep for a page of its code */
    CAMP_STATE_DATA_FAULT,   /* asleep for another page, touched by its own code */
    CAMP_STATE_KERNEL_FAULT, /* asleep for a page that a system call touched */
    CAMP_STATE_LOCK,         /* asleep in futex(2) */
    CAMP_STATE_DISK,         /* asleep until a block device answers (in_iowait) */
    CAMP_STATE_POLL,         /* asleep until one of several descriptors is ready */
    CAMP_STATE_SOCKET,       /* asleep in a call on a socket */
    CAMP_STATE_PIPE,         /* asleep in a call on a pipe or FIFO */
    CAMP_STATE_TIMER,        /* asleep for a requested time */
    CAMP_STATE_CHILD,        /* asleep until a child ends or changes, or runs another program */
    CAMP_STATE_OTHER_SLEEP,  /* asleep in anything else; kernel threads: asleep */
    CAMP_STATE_RUN_QUEUE,    /* runnable, and no CPU runs it */
    CAMP_STATE_STOPPED,      /* stopped by a signal or a tracer */
    CAMP_STATE_COUNT
};

enum camp_thread_flag {
    CAMP_THREAD_KERNEL = 1u << 0, /* a thread of the kernel */
    CAMP_THREAD_ENDED = 1u << 1,  /* these are its last numbers */
    CAMP_THREAD_OLDER = 1u << 2,  /* the thread started before the session */
    CAMP_THREAD_UNSURE =
        1u << 3,                /* it changed its state each time it was read: off by one change */
    CAMP_THREAD_TOTAL = 1u << 4 /* exited threads of one parent and name, added up */
};

#define CAMP_STATES_NAME_SIZE 16

/* One thread. */
struct camp_thread_states {
    int32_t tid;
    int32_t pid;        /* its process */
    int32_t parent;     /* parent of its process */
    uint32_t flags;     /* enum camp_thread_flag */
    uint32_t state;     /* enum camp_state: at time_ns */
    uint32_t uid;       /* effective */
    uint32_t count;     /* number of threads: 1, or more in a total */
    uint32_t processes; /* number of those threads that are the first of their process */
    uint64_t cgroup;    /* id of its cgroup (version 2): the inode of the cgroup's directory */
    char name[CAMP_STATES_NAME_SIZE];
    uint64_t start_ns;     /* start of the thread */
    uint64_t begin_ns;     /* when watching it started: start_ns, or the session's start */
    uint64_t time_ns;      /* when this was read */
    uint64_t cpu_ns;       /* the scheduler's own count since start_ns, to compare */
    uint64_t run_delay_ns; /* the scheduler's count of its run-queue time */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t system_calls, signals;     /* since begin_ns */
    uint64_t read_bytes, written_bytes; /* storage input and output of this thread */
    uint64_t read_chars, written_chars; /* bytes of read(2), write(2) and the like */
    uint64_t sampled_ns;                /* whole ticks charged to it since start_ns: sampled */
    /* Times in each state since begin_ns; they add up to time_ns - begin_ns. The array is last, so
     * that a further state only adds to the size. */
    uint64_t state_ns[CAMP_STATE_COUNT];
};

/* One CPU. Busy, idle and interrupts add up to time_ns - begin_ns. */
struct camp_cpu_states {
    int32_t cpu;
    int32_t running;           /* the thread that runs; 0: none */
    uint64_t begin_ns;         /* the CPU's first switch in the session */
    uint64_t time_ns;          /* when this was read */
    uint64_t busy_ns, idle_ns; /* without interrupts */
    uint64_t system_ns; /* part of busy_ns: system calls, kernel threads; as of the last change */
    uint64_t irq_ns, softirq_ns; /* interrupts, the timer's included */
    uint64_t switches;
    uint64_t any_wait_ns; /* part of idle_ns: a thread, anywhere, waited for a disk */
    uint64_t own_wait_ns; /* part of idle_ns: a thread that went to sleep on this CPU waited for a
                           * disk */
};

/* What a session could not see, since it was opened. */
struct camp_states_losses {
    uint64_t switches; /* switches that an event reported */
    uint64_t unseen;   /* switches and wakeups that no event reported; their times are estimated */
    uint64_t lost;     /* how often memory was full, so that a thread got no account or a wait for a
                        * disk was not counted */
    uint64_t exits_lost;     /* exited threads whose last numbers are in no record and no total */
    uint64_t exits_added_up; /* exited threads that were added to a total, for lack of space */
};

/* A thread and a disk that it waited for. */
struct camp_disk_wait {
    int32_t tid, pid;
    uint64_t start_ns;     /* start of the thread */
    uint32_t major, minor; /* numbers of the disk or partition; 0 0: the thread waited for input or
                            * output that another thread requested */
    uint64_t wait_ns; /* time since the session was opened, including a wait that is not over */
    char name[CAMP_STATES_NAME_SIZE];
};

/* A feature of the kernel that microstates use. The texts are constants. */
struct camp_states_event {
    const char *name;    /* "sched_wakeup", "iter/task" */
    const char *since;   /* the first Linux that has it, "5.18"; or the machines that do: "x86" */
    const char *without; /* what is missing without the feature */
    uint32_t needed, present; /* 1: yes; there is no session if a needed feature is not present */
};

struct camp_states;

/* A thread that stayed in its state since the last snapshot. */
struct camp_states_wait {
    const struct camp_thread_states *thread; /* identifies it; times and counters are older */
    uint32_t *note;
    uint64_t elapsed_ns; /* since the last snapshot */
    uint32_t state;      /* enum camp_state */
    uint32_t is_first;   /* 1: it is the first thread of its process */
};

/* The functions that camp_states_visit() calls for each thread. A pointer is valid during the call
 * to which it is passed. `before`: the thread in the last snapshot; NULL: it was not there under
 * this tid. `note`: a number that the visitor may set; it is kept with a living thread, and is 0
 * when the thread is first seen. */
struct camp_states_visitor {
    void *context;
    /* Called for a living thread that did something, or is new. */
    void (*seen)(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note);
    void (*waited)(void *context, const struct camp_states_wait *wait);
    /* Called with the last numbers of an exited thread, or of a total of exited threads
     * (CAMP_THREAD_TOTAL). */
    void (*ended)(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note);
    /* Called for a thread that is no longer in the snapshot, and has no last numbers yet: they come
     * with a later snapshot, or the thread continues under another tid. */
    void (*missed)(void *context, const struct camp_thread_states *before);
};

enum camp_states_option {
    CAMP_STATES_NO_SYSCALLS =
        1u << 0,                   /* user and system are CAMP_STATE_USER: a call costs nothing */
    CAMP_STATES_VERBOSE = 1u << 1, /* messages of libbpf and the verifier on stderr */
    CAMP_STATES_DISKS = 1u << 2    /* for camp_states_disk_waits(): each wait costs a little */
};

/* Returns the name of a state: "user", "run_queue"; NULL: there is no such state. */
const char *camp_state_name(int state);

/* Loads the programs and finds all threads. CAMP_E_PERM: a capability is missing; CAMP_E_NOTSUP:
 * this kernel lacks BTF or an event. */
int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error);
void camp_states_close(struct camp_states *session);

/* Reads a snapshot: all living threads, ascending by tid. Each thread is read at its own moment,
 * time_ns, within the time that the snapshot takes. */
int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error);

/* Reads a snapshot for callers that keep no threads: what happened since the last snapshot (the
 * first time: since the session was opened). Exited threads come first, then living ones, ascending
 * by tid. It consumes what camp_states_exits() would return, and "the last snapshot" may be one of
 * camp_states_threads(). After CAMP_E_NOMEM or CAMP_E_IO some threads were not visited; the next
 * snapshot has them. */
int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      struct camp_error *error);

/* Returns the threads that exited since the last call, up to `capacity`, in the order of their
 * exits; there may be more when *ret_count is `capacity`. Some 6,500 exited threads can wait.
 * Further ones are added up by parent and name: a record of CAMP_THREAD_TOTAL, with tid and pid 0,
 * and with the sum of their times as time_ns - begin_ns. Totals come with the call after the next.
 */
int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns all CPUs that switched in the session, ascending. */
int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns the threads that waited for a disk, one element for each pair of a thread and a disk. Of
 * 16,384 pairs, those unused for longest are dropped. Needs CAMP_STATES_DISKS. */
int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns the features of the kernel that microstates use, and whether the kernel has them. Needs
 * neither a capability nor a session. CAMP_E_NOTSUP: the kernel has no BTF, so this is unknown. */
int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error);

/* Returns what the session could not see so far. */
int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error);

#ifdef __cplusplus
}
#endif
#endif
