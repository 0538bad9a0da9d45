/*
 * states.h - microstates: the wall time of every thread and CPU by state, measured in the kernel.
 *
 * A session loads BPF programs into the kernel, which take a timestamp whenever a thread changes
 * its state. The states are disjoint. The times of all states of a thread add up to the time in
 * which the session watched the thread. If the thread started during the session, this is its
 * lifetime. Times are in ns of CLOCK_MONOTONIC, and counters are cumulative.
 *
 * A session needs Linux 5.18 or later with BTF, and CAP_BPF with CAP_PERFMON (root has both).
 * docs/states.md says which kernel event starts and ends each state. The contract of results,
 * errors, sizes and arrays is that of camp.h. Unlike the functions of camp.h, a session has a
 * state, and only one thread at a time may use it. When the process ends, even by SIGKILL, the
 * kernel removes the programs and their memory.
 */
#ifndef CAMP_STATES_H
#define CAMP_STATES_H

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread does. These are the microstates of Solaris (prusage in proc(4)), but its SLEEP is
 * divided into several states. */
enum camp_state {
    /* On a CPU outside of system calls: the code of the program, and page faults without a sleep.
     * With CAMP_STATES_NO_SYSCALLS it is all time on a CPU. */
    CAMP_STATE_USER,
    CAMP_STATE_SYSTEM,       /* on a CPU in a system call; for kernel threads, all time on a CPU */
    CAMP_STATE_IRQ,          /* on a CPU that served an interrupt during this time */
    CAMP_STATE_TEXT_FAULT,   /* asleep for a page of its code */
    CAMP_STATE_DATA_FAULT,   /* asleep for another page, which its own code touched */
    CAMP_STATE_KERNEL_FAULT, /* asleep for a page that a system call touched */
    CAMP_STATE_LOCK,         /* asleep in futex(2) */
    CAMP_STATE_DISK,         /* asleep until a block device answers (in_iowait in the kernel) */
    CAMP_STATE_POLL,         /* asleep until one of several descriptors is ready */
    CAMP_STATE_SOCKET,       /* asleep in a system call on a socket */
    CAMP_STATE_PIPE,         /* asleep in a system call on a pipe or FIFO */
    CAMP_STATE_TIMER,        /* asleep for a requested time */
    /* Asleep until a child ends, changes its state, or executes another program. */
    CAMP_STATE_CHILD,
    CAMP_STATE_OTHER_SLEEP, /* asleep for another reason; for kernel threads, all sleep */
    CAMP_STATE_RUN_QUEUE,   /* runnable, but no CPU runs it */
    CAMP_STATE_STOPPED,     /* stopped by a signal or a tracer */
    CAMP_STATE_COUNT
};

enum camp_thread_flag {
    CAMP_THREAD_KERNEL = 1u << 0,
    CAMP_THREAD_ENDED = 1u << 1, /* the thread has exited, and this is its last record */
    CAMP_THREAD_OLDER = 1u << 2, /* the thread started before the session */
    /* The thread changed its state each time it was read, so its times may be off by one change. */
    CAMP_THREAD_UNSURE = 1u << 3,
    /* This is the sum of exited threads with the same parent and name. */
    CAMP_THREAD_TOTAL = 1u << 4
};

#define CAMP_STATES_NAME_SIZE 16

struct camp_thread_states {
    int32_t tid;
    int32_t pid;
    int32_t parent;     /* pid of the parent of its process */
    uint32_t flags;     /* enum camp_thread_flag */
    uint32_t state;     /* enum camp_state at time_ns */
    uint32_t uid;       /* effective user id */
    uint32_t count;     /* number of threads, which is 1 except in a total */
    uint32_t processes; /* how many of these threads are the first thread of their process */
    /* Id of its cgroup (version 2), which is the inode of the cgroup's directory. */
    uint64_t cgroup;
    char name[CAMP_STATES_NAME_SIZE];
    uint64_t start_ns;
    /* Start of watching: start_ns, or the start of the session if it was later. */
    uint64_t begin_ns;
    uint64_t time_ns; /* time of the reading */
    uint64_t cpu_ns;  /* the scheduler's own count of CPU time since start_ns, for comparison */
    uint64_t run_delay_ns; /* the scheduler's own count of time on the run queue */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t system_calls, signals;     /* since begin_ns */
    uint64_t read_bytes, written_bytes; /* bytes read from and written to storage by this thread */
    uint64_t read_chars, written_chars; /* bytes of read(2), write(2) and similar calls */
    uint64_t sampled_ns;                /* whole clock ticks charged to the thread since start_ns */
    /* Time in each state since begin_ns. All times add up to time_ns - begin_ns. The array is the
     * last member, so a new state only makes the struct larger. */
    uint64_t state_ns[CAMP_STATE_COUNT];
};

/* One CPU. busy_ns, idle_ns, irq_ns and softirq_ns add up to time_ns - begin_ns. */
struct camp_cpu_states {
    int32_t cpu;
    int32_t running;           /* tid of the thread that runs; 0 if none runs */
    uint64_t begin_ns;         /* time of the first context switch of this CPU in the session */
    uint64_t time_ns;          /* time of the reading */
    uint64_t busy_ns, idle_ns; /* without interrupts */
    /* Part of busy_ns: system calls and kernel threads. It ends at the last change of state. */
    uint64_t system_ns;
    uint64_t irq_ns, softirq_ns; /* irq_ns includes the interrupts of the timer */
    uint64_t switches;
    uint64_t any_wait_ns; /* part of idle_ns in which a thread of any CPU waited for a disk */
    /* Part of idle_ns in which a thread that had gone to sleep on this CPU waited for a disk. */
    uint64_t own_wait_ns;
};

/* What a session missed since it was opened. */
struct camp_states_losses {
    uint64_t switches; /* context switches that an event reported */
    /* Context switches and wakeups that no event reported; their times are estimated. */
    uint64_t unseen;
    /* How often memory was full. Each time, a thread got no account, or a wait for a disk was not
     * counted. */
    uint64_t lost;
    uint64_t exits_lost;     /* exited threads whose last times are in no record and in no total */
    uint64_t exits_added_up; /* exited threads that were added to a total for lack of space */
};

/* The time that one thread waited for one disk. */
struct camp_disk_wait {
    int32_t tid, pid;
    uint64_t start_ns;
    /* Numbers of the disk or partition. Both are 0 if the thread waited for input or output that
     * another thread requested. */
    uint32_t major, minor;
    uint64_t wait_ns; /* time since the session was opened, including a wait that has not ended */
    char name[CAMP_STATES_NAME_SIZE];
};

/* A kernel feature that microstates use. The texts are constants of the library. */
struct camp_states_event {
    const char *name; /* such as "sched_wakeup" or "iter/task" */
    /* The first Linux version with the feature, such as "5.18"; or the machines that have it, such
     * as "x86". */
    const char *since;
    const char *without; /* what is missing if the kernel lacks the feature */
    /* Each is 1 or 0. A session needs all features whose `needed` is 1. */
    uint32_t needed, present;
};

struct camp_states;

/* A thread that stayed in its state since the last snapshot. */
struct camp_states_wait {
    /* Identifies the thread; its times and counters are older than the snapshot. */
    const struct camp_thread_states *thread;
    uint32_t *note;
    uint64_t elapsed_ns; /* time since the last snapshot */
    uint32_t state;      /* enum camp_state */
    uint32_t is_first;   /* 1 if it is the first thread of its process */
};

/* The functions that camp_states_visit() calls for each thread. A pointer argument is valid only
 * during the call. `before` is the thread in the last snapshot, or NULL if that snapshot had no
 * such thread under this tid. `note` is a number that the caller may set. It stays with the thread
 * until it exits, and is 0 when the thread is first seen. */
struct camp_states_visitor {
    void *context;
    /* Called for a living thread that is new or that did something since the last snapshot. */
    void (*seen)(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note);
    void (*waited)(void *context, const struct camp_states_wait *wait);
    /* Called with the last times of an exited thread, or with a total of exited threads
     * (CAMP_THREAD_TOTAL). */
    void (*ended)(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note);
    /* Called for a thread that is no longer in the snapshot, while its last times are still
     * unknown. They come with a later snapshot, or the thread continues under another tid. */
    void (*missed)(void *context, const struct camp_thread_states *before);
};

enum camp_states_option {
    /* System calls cost nothing, and all time on a CPU is CAMP_STATE_USER. */
    CAMP_STATES_NO_SYSCALLS = 1u << 0,
    CAMP_STATES_VERBOSE = 1u << 1, /* messages of libbpf and of the verifier on stderr */
    /* Enables camp_states_disk_waits(); each wait then costs a little time. */
    CAMP_STATES_DISKS = 1u << 2
};

/* Returns the name of a state, such as "user" or "run_queue". NULL if there is no such state. */
const char *camp_state_name(int state);

/* Loads the programs and finds all threads. CAMP_E_PERM means that a capability is missing.
 * CAMP_E_NOTSUP means that the kernel lacks BTF or an event. The caller ends the session with
 * camp_states_close(). */
int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error);
void camp_states_close(struct camp_states *session);

/* Reads a snapshot: all living threads, ascending by tid. Each thread is read at its own time_ns,
 * because the snapshot takes some time. */
int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error);

/* Reads a snapshot for callers that keep no threads. It calls the visitor for what happened since
 * the last snapshot, or since the session was opened. Exited threads come first, then living
 * threads, ascending by tid. The exited threads are not returned by camp_states_exits() any more.
 * The last snapshot may also be one of camp_states_threads(). After CAMP_E_NOMEM or CAMP_E_IO some
 * threads were not visited; the next snapshot has them. */
int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      struct camp_error *error);

/* Returns the threads that exited since the last call, up to `capacity`, in the order of their
 * exits. If *ret_count equals `capacity`, there may be more. Some 6,500 exited threads can wait in
 * the kernel. Further exited threads are added up by parent and name, into records with
 * CAMP_THREAD_TOTAL. The tid and pid of such a record are 0, and its time_ns - begin_ns is the sum
 * of the watched times. Totals come with the call after the next. */
int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns all CPUs that switched threads during the session, ascending. */
int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns the threads that waited for a disk, one element for each pair of a thread and a disk. The
 * session keeps 16,384 pairs, and drops those that were unused for the longest time. It needs
 * CAMP_STATES_DISKS. */
int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns the kernel features that microstates use, and whether this kernel has them. It needs
 * neither a capability nor a session. CAMP_E_NOTSUP means that the answer is unknown, because the
 * kernel has no BTF. */
int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error);

/* Returns what the session has missed so far. */
int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error);

#ifdef __cplusplus
}
#endif
#endif
