/*
 * states.h - microstates: the wall time of every thread and CPU by state, as the kernel measures
 * it.
 *
 * On Linux, a session loads BPF programs into the kernel, which take a timestamp whenever a thread
 * changes its state. On illumos, the kernel has microstates of its own. A thread is always in
 * exactly one state, so the times of all states add up to the time for which the session watched
 * the thread. Times are in ns of CLOCK_MONOTONIC, and counters are cumulative. docs/states.md says
 * which kernel event starts and ends each state.
 *
 * No system measures all states and counters. In each struct, `known` has a bit for each field that
 * may be unknown, and `known_states` one for each state. An unknown value is 0, and its bit is
 * cleared. The time of an unknown state is part of another state, so the known states alone add up
 * to the watched time.
 *
 * On Linux, a session needs Linux 5.18 or later with BTF, and CAP_BPF with CAP_PERFMON (root has
 * both).
 *
 * Threads: only one thread at a time may use a session. Several sessions may be used at once, but
 * camp_states_open() must not run in two threads at once: it sets the function by which libbpf
 * prints, which is global, and restores it.
 *
 * fork(2): the child must not use the session of its parent, because both would take exited threads
 * out of the same ring. It may close the session, which does not change that of the parent, or open
 * its own. The kernel removes the programs and their memory when the last process that has the
 * session closes it, exits (even by SIGKILL) or calls execve(2).
 *
 * malloc(3): on glibc, camp_states_open() fixes the size from which malloc(3) maps memory
 * (M_MMAP_THRESHOLD) at 256 KiB, so that lists of threads leave no holes in the heap.
 *
 * Signals: no function may be called in a signal handler. None waits for an event; a signal
 * interrupts none of them, and none of them changes a signal's action or mask.
 *
 * In a PID namespace, a session has only the threads of that namespace, with the ids that they have
 * in it. All other threads of the machine are called outside: only the times of CPUs include them.
 *
 * The library is libcamp-states (pkg-config libcamp-states). For results, errors, sizes and arrays
 * see camp.h. Unlike libcamp, a session allocates memory and keeps file descriptors open. Each
 * function that returns an int returns CAMP_OK or one of the errors that its comment lists.
 * CAMP_E_INVALID, which each of them may return, means that an argument is NULL that must not be,
 * or that an option is unknown.
 */
#ifndef CAMP_STATES_H
#define CAMP_STATES_H

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* === camp_states: the wall time of each thread and CPU by state === */

/* What a thread does. These are the microstates of Solaris (prusage_t in proc(4)). Linux divides
 * CAMP_STATE_SLEEP into several states; illumos measures USER, SYSTEM, TRAP, TEXT_FAULT,
 * DATA_FAULT, KERNEL_FAULT, LOCK, SLEEP, RUN_QUEUE and STOPPED. */
enum camp_state {
    /* On a CPU, outside of system calls. Includes the time of CAMP_STATE_SYSTEM and CAMP_STATE_TRAP
     * where these are unknown. */
    CAMP_STATE_USER,
    /* On a CPU, in a system call; for kernel threads, all time on a CPU. With
     * CAMP_STATES_NO_SYSCALLS it is known of kernel threads only. */
    CAMP_STATE_SYSTEM,
    /* On a CPU that serves an interrupt. Where it is unknown, its time is in the interrupted state.
     */
    CAMP_STATE_IRQ,
    /* Asleep until a page of its program code is in memory. Not every Linux kernel can tell (arm64
     * cannot). */
    CAMP_STATE_TEXT_FAULT,
    /* Asleep until a page of data that its code touched is in memory. Includes the time of
     * CAMP_STATE_TEXT_FAULT where that is unknown. */
    CAMP_STATE_DATA_FAULT,
    /* Asleep until a page that a system call touched is in memory. Where it is unknown, its time is
     * in CAMP_STATE_DISK or in the state of the system call. */
    CAMP_STATE_KERNEL_FAULT,
    /* Asleep until a lock of user space is free; on Linux in futex(2), and for file locks
     * (flock(2), fcntl(2)) and System V semaphores. */
    CAMP_STATE_LOCK,
    CAMP_STATE_DISK,   /* asleep until a block device answers (in_iowait in the kernel) */
    CAMP_STATE_POLL,   /* asleep until one of several descriptors is ready */
    CAMP_STATE_SOCKET, /* asleep in a system call on a socket */
    CAMP_STATE_PIPE,   /* asleep in a system call on a pipe or FIFO */
    CAMP_STATE_TIMER,  /* asleep for a time that it requested, as by nanosleep(2) */
    /* Asleep until a child exits, stops, continues, or executes another program. */
    CAMP_STATE_CHILD,
    CAMP_STATE_OTHER_SLEEP, /* asleep for any other reason; for kernel threads, all sleep */
    CAMP_STATE_RUN_QUEUE,   /* runnable and allowed to run, but no CPU runs it */
    CAMP_STATE_STOPPED,     /* stopped by a signal or a tracer, or frozen with its cgroup */
    /* Runnable, but not allowed to run: its cgroup, or a thread of SCHED_DEADLINE itself, has used
     * up its CPU time. */
    CAMP_STATE_THROTTLED,
    /* On a CPU, outside of system calls: the kernel handles a trap. On Linux this is a page fault,
     * and not every kernel can tell. */
    CAMP_STATE_TRAP,
    /* Asleep for any reason but a lock or a fault, on systems that do not divide this (illumos).
     * Never known on Linux. */
    CAMP_STATE_SLEEP,
    CAMP_STATE_COUNT
};

enum camp_thread_flag {
    CAMP_THREAD_KERNEL = 1u << 0,
    CAMP_THREAD_ENDED = 1u << 1, /* the thread has exited, and this is its last record */
    CAMP_THREAD_OLDER = 1u << 2, /* the thread started before the session */
    /* The thread changed its state during each attempt to read it, so its times may lack a change.
     */
    CAMP_THREAD_UNSURE = 1u << 3,
    /* The numbers are sums over exited threads with the same parent and name. */
    CAMP_THREAD_TOTAL = 1u << 4
};

#define CAMP_STATES_NAME_SIZE 16

enum camp_thread_states_field {
    CAMP_THREAD_STATES_PARENT = 1u << 0,
    CAMP_THREAD_STATES_STATE = 1u << 1,
    CAMP_THREAD_STATES_UID = 1u << 2,
    CAMP_THREAD_STATES_CGROUP = 1u << 3,
    CAMP_THREAD_STATES_START = 1u << 4,
    CAMP_THREAD_STATES_CPU = 1u << 5,
    CAMP_THREAD_STATES_RUN_DELAY = 1u << 6,
    CAMP_THREAD_STATES_MINOR_FAULTS = 1u << 7,
    CAMP_THREAD_STATES_MAJOR_FAULTS = 1u << 8,
    CAMP_THREAD_STATES_VOLUNTARY_SWITCHES = 1u << 9,
    CAMP_THREAD_STATES_INVOLUNTARY_SWITCHES = 1u << 10,
    CAMP_THREAD_STATES_SYSTEM_CALLS = 1u << 11,
    CAMP_THREAD_STATES_SIGNALS = 1u << 12,
    CAMP_THREAD_STATES_READ_BYTES = 1u << 13,
    CAMP_THREAD_STATES_WRITTEN_BYTES = 1u << 14,
    CAMP_THREAD_STATES_READ_CHARS = 1u << 15,
    CAMP_THREAD_STATES_WRITTEN_CHARS = 1u << 16,
    CAMP_THREAD_STATES_SAMPLED = 1u << 17,
    CAMP_THREAD_STATES_ALL = (1u << 18) - 1
};

/* One thread. On Linux all fields are known, except system_calls with CAMP_STATES_NO_SYSCALLS, a
 * counter whose kernel event is missing (camp_states_events()), and state and start_ns with
 * CAMP_THREAD_TOTAL. */
struct camp_thread_states {
    int32_t tid; /* on illumos unique within its process only: compare the pids, too */
    int32_t pid;
    int32_t parent;        /* pid of the parent process */
    uint32_t flags;        /* enum camp_thread_flag */
    uint32_t state;        /* enum camp_state at time_ns */
    uint32_t uid;          /* effective user id */
    uint32_t count;        /* number of threads: 1, except with CAMP_THREAD_TOTAL */
    uint32_t processes;    /* how many of `count` are the first thread of their process */
    uint32_t known;        /* enum camp_thread_states_field */
    uint32_t known_states; /* the elements of state_ns that are known: 1 << enum camp_state */
    /* Id of its cgroup (version 2, or CAMP_STATES_CPU_CGROUPS): the inode number of the cgroup's
     * directory. */
    uint64_t cgroup;
    char name[CAMP_STATES_NAME_SIZE];
    uint64_t start_ns;
    /* The session watches the thread from this time: the later of start_ns and the start of the
     * session. */
    uint64_t begin_ns;
    uint64_t time_ns;      /* time of the reading */
    uint64_t cpu_ns;       /* CPU time since start_ns as the scheduler counts it, for comparison */
    uint64_t run_delay_ns; /* time on the run queue as the scheduler counts it */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t system_calls, signals;     /* since begin_ns */
    uint64_t read_bytes, written_bytes; /* from and to storage */
    uint64_t read_chars, written_chars; /* bytes by read(2), write(2) and similar calls */
    uint64_t sampled_ns;                /* whole clock ticks charged to the thread since start_ns */
    /* Time in each state (enum camp_state) since begin_ns. The sum is time_ns - begin_ns. It stays
     * the last member, because a later version may have more states. */
    uint64_t state_ns[CAMP_STATE_COUNT];
};

enum camp_cpu_states_field {
    CAMP_CPU_STATES_RUNNING = 1u << 0,
    CAMP_CPU_STATES_SYSTEM = 1u << 1,
    CAMP_CPU_STATES_IRQ = 1u << 2,
    CAMP_CPU_STATES_SOFTIRQ = 1u << 3,
    CAMP_CPU_STATES_SWITCHES = 1u << 4,
    CAMP_CPU_STATES_ANY_WAIT = 1u << 5,
    CAMP_CPU_STATES_OWN_WAIT = 1u << 6,
    CAMP_CPU_STATES_OUTSIDE = 1u << 7,
    CAMP_CPU_STATES_OUTSIDE_SYSTEM = 1u << 8,
    CAMP_CPU_STATES_ALL = (1u << 9) - 1
};

/* One CPU. On Linux all fields are known, except system_ns and outside_system_ns with
 * CAMP_STATES_NO_SYSCALLS, and interrupts whose events the kernel lacks. The sum of busy_ns,
 * idle_ns, irq_ns and softirq_ns is time_ns - begin_ns. */
struct camp_cpu_states {
    int32_t cpu;
    /* tid of the thread that runs at time_ns, 0 if the CPU is idle, or -1 if the thread is outside
     * of the PID namespace */
    int32_t running;
    uint32_t known; /* enum camp_cpu_states_field */
    uint32_t reserved;
    uint64_t begin_ns;         /* first context switch of this CPU in the session */
    uint64_t time_ns;          /* time of the reading */
    uint64_t busy_ns, idle_ns; /* without interrupts, where these are known */
    /* Part of busy_ns: system calls, kernel threads and, if measured, CAMP_STATE_TRAP. The time
     * since the running thread last changed its state is not yet included. */
    uint64_t system_ns;
    uint64_t irq_ns, softirq_ns; /* irq_ns includes timer interrupts */
    uint64_t switches;
    /* part of idle_ns in which any thread of the machine waited for a disk */
    uint64_t any_wait_ns;
    /* Part of idle_ns in which a thread that went to sleep on this CPU waited for a disk. */
    uint64_t own_wait_ns;
    uint64_t outside_ns;        /* part of busy_ns: threads outside of the PID namespace */
    uint64_t outside_system_ns; /* part of system_ns: threads outside of the PID namespace */
};

enum camp_states_losses_field {
    CAMP_STATES_LOSSES_SWITCHES = 1u << 0,
    CAMP_STATES_LOSSES_UNSEEN = 1u << 1,
    CAMP_STATES_LOSSES_LOST = 1u << 2,
    CAMP_STATES_LOSSES_EXITS_LOST = 1u << 3,
    CAMP_STATES_LOSSES_EXITS_ADDED_UP = 1u << 4,
    CAMP_STATES_LOSSES_ALL = (1u << 5) - 1
};

/* What a session missed since it was opened. On Linux all fields are known. */
struct camp_states_losses {
    uint32_t known; /* enum camp_states_losses_field */
    uint32_t reserved;
    uint64_t switches; /* context switches that an event reported: no loss, for comparison */
    /* Context switches and wakeups for which the kernel sent no event; their times are estimated.
     */
    uint64_t unseen;
    /* How often a thread could not be watched yet, because memory was full; a wait for a disk was
     * not counted, because too many CPUs counted waits at that moment; a sleep was in no element of
     * camp_states_call_sleeps(), because there was none left; or causes were read while a CPU
     * changed them, at each of 100 attempts. */
    uint64_t lost;
    uint64_t exits_lost; /* exited threads whose last times are lost */
    /* exited threads without a record: only a CAMP_THREAD_TOTAL has them */
    uint64_t exits_added_up;
};

/* What a session knows of its threads and CPUs. The members have the bits that the masks in their
 * structs have, but for CAMP_THREAD_TOTAL. */
struct camp_states_known {
    uint32_t states; /* known_states of struct camp_thread_states */
    uint32_t thread; /* enum camp_thread_states_field */
    uint32_t cpu;    /* enum camp_cpu_states_field */
    uint32_t losses; /* enum camp_states_losses_field */
};

enum camp_disk_wait_field {
    /* Unknown if the request for which the thread waited was made by another thread. */
    CAMP_DISK_WAIT_DEVICE = 1u << 0
};

/* How long one thread waited for one disk. */
struct camp_disk_wait {
    int32_t tid, pid;
    uint64_t start_ns;
    uint32_t major, minor; /* CAMP_DISK_WAIT_DEVICE: device numbers of the disk or partition */
    uint32_t known;        /* enum camp_disk_wait_field */
    uint32_t reserved;
    uint64_t wait_ns; /* since the session was opened, including a wait that goes on */
    char name[CAMP_STATES_NAME_SIZE];
};

enum camp_states_event_field { CAMP_STATES_EVENT_PRESENT = 1u << 0 };

/* A kernel feature that microstates use. The texts are constants of the library. */
struct camp_states_event {
    const char *name; /* such as "sched_wakeup" or "iter/task" */
    /* The first Linux version that has the feature ("5.18"), or the machines that have it ("x86").
     */
    const char *since;
    const char *without; /* what the user loses if the kernel lacks the feature */
    /* Each is 1 or 0. No session can be opened if a needed feature is not present. */
    uint32_t needed, present;
    /* Bits of enum camp_states_event_field. Without CAP_BPF and CAP_PERFMON it is unknown whether
     * functions can be traced and threads looked up, and `present` is 0. */
    uint32_t known;
    uint32_t reserved;
};

struct camp_states;

/* A thread that stayed in its state since the previous snapshot. */
struct camp_states_wait {
    /* The thread as last seen. Its times and counters do not include the wait. On Linux, its name,
     * parent and cgroup are those of now. */
    const struct camp_thread_states *thread;
    uint32_t *note;
    uint64_t elapsed_ns; /* since the previous snapshot */
    uint32_t state;      /* enum camp_state */
    uint32_t is_first;   /* 1 if it is the first thread of its process */
};

/* The functions that camp_states_visit() calls for each thread. Pointer arguments are valid only
 * during the call. `before` is the thread in the previous snapshot, or NULL if it was not in that
 * snapshot; its times include the waits for which waited() or idle() was called. `note` is a number
 * of the caller, kept for each thread until its exit; at first it is 0. */
struct camp_states_visitor {
    void *context;
    /* Called for each living thread that did not stay in its state. If `waited` is NULL, also for
     * one whose name, parent or cgroup has changed meanwhile. */
    void (*seen)(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note);
    /* Called for each thread that stayed in its state. May be NULL if `idle` is not NULL. */
    void (*waited)(void *context, const struct camp_states_wait *wait);
    /* Called with the final times of an exited thread, or with a CAMP_THREAD_TOTAL. */
    void (*ended)(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note);
    /* Called for a thread that is missing in this snapshot and whose final times are unknown. They
     * come with a later snapshot, or the thread has another tid now. */
    void (*missed)(void *context, const struct camp_thread_states *before, uint32_t note);
    /* Called once in a snapshot, after all threads. Each living thread for which seen() was not
     * called stayed in its state from the end of its previous reading to time_ns. So a caller can
     * count such threads, and add up their waits, without a call for each. May be NULL if `waited`
     * is not NULL. After a damaged list of threads, a snapshot is repeated, and idle() is called
     * once more. */
    void (*idle)(void *context, uint64_t time_ns);
};

enum camp_states_option {
    /* System calls and traps are not watched, which saves the cost of that. Their time on a CPU
     * counts as CAMP_STATE_USER; the state TRAP, the state SYSTEM but of kernel threads, and the
     * number of system calls are unknown. */
    CAMP_STATES_NO_SYSCALLS = 1u << 0,
    CAMP_STATES_VERBOSE = 1u << 1, /* prints messages of libbpf and the BPF verifier to stderr */
    /* Enables camp_states_disk_waits(). Each wait for a disk then costs a little more CPU time. */
    CAMP_STATES_DISKS = 1u << 2,
    /* Each snapshot reads all threads. Without this option, it reads only the threads that did
     * something since the previous snapshot, if the kernel can report which (Linux 6.10 and later,
     * in the machine's own PID namespace). The results are the same, with three exceptions: a new
     * name may come one snapshot later; run_delay_ns may lag while a thread sleeps; and a thread
     * whose wakeup and switch had no event is read after its next event. */
    CAMP_STATES_VISIT_ALL = 1u << 3,
    /* Keeps the ledger of causes: enables camp_states_groups(), camp_states_causes() and
     * camp_states_wait_lengths(). Each context switch and each wakeup then costs more CPU time
     * (docs/why.md). CAMP_E_NOTSUP if the kernel lacks an event that this needs. */
    CAMP_STATES_CULPRITS = 1u << 4,
    /* With CAMP_STATES_CULPRITS: each process is a group of its own, not each name of processes. */
    CAMP_STATES_BY_PROCESS = 1u << 5,
    /* With CAMP_STATES_CULPRITS: enables camp_states_stacks_from() and camp_states_visit_stacks().
     * System calls and wakeups then cost a little more CPU time, and the kernel uses 6 MB more
     * memory. */
    CAMP_STATES_STACKS = 1u << 6,
    /* With CAMP_STATES_CULPRITS: a name or a process gets a group only when it causes a wait of
     * what the session watches, or of a group that it has for that reason. All others are
     * CAMP_GROUP_OTHER. So on a machine with more names than groups, those that matter have one. */
    CAMP_STATES_GROUPS_BY_NEED = 1u << 7,
    /* With CAMP_STATES_CULPRITS: each cgroup is a group of its own, not each name of processes. */
    CAMP_STATES_BY_CGROUP = 1u << 8,
    /* The ids of cgroups are those of version 1 in the hierarchy with the CPU controller, instead
     * of those of version 2: in camp_thread_states.cgroup and in groups of causes. */
    CAMP_STATES_CPU_CGROUPS = 1u << 9
};

/* Returns the name of a state, such as "user" or "run_queue". NULL if there is no such state. */
CAMP_PUBLIC const char *camp_state_name(int state);

/* Opens a session: loads the programs and finds all threads. `options` is of enum
 * camp_states_option. The message of CAMP_E_NOTSUP says what is missing: a feature of the kernel
 * (camp_states_events()), the file system /proc or /sys, or microstates in this build of the
 * library. Errors: CAMP_E_INVALID, CAMP_E_PERM (a capability is missing), CAMP_E_NOTSUP,
 * CAMP_E_NOMEM (also if the limit of open files is too low: the message says which is enough),
 * CAMP_E_IO (the threads or CPUs cannot be listed), CAMP_E_FORMAT (the kernel wrote a damaged
 * record). */
CAMP_PUBLIC int camp_states_open(struct camp_states **ret, uint32_t options,
                                 struct camp_error *error);

/* Closes a session, and frees its memory. Does nothing if `session` is NULL. */
CAMP_PUBLIC void camp_states_close(struct camp_states *session);

/* Returns what the session knows, so that a table can have its columns before it has rows. Errors:
 * CAMP_E_INVALID. */
CAMP_PUBLIC int camp_states_known(const struct camp_states *session, struct camp_states_known *ret,
                                  size_t size, struct camp_error *error);

/* Reads a snapshot: all living threads, ascending by tid; on illumos by pid, then by tid. Reading
 * takes some time, so each thread has its own time_ns. After an error the session can be used
 * further. Errors: CAMP_E_INVALID, CAMP_E_SPACE, CAMP_E_NOMEM, CAMP_E_IO (the kernel's list of
 * threads cannot be read), CAMP_E_FORMAT (the kernel wrote a damaged record). */
CAMP_PUBLIC int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret,
                                    size_t size, size_t capacity, size_t *ret_count,
                                    struct camp_error *error);

/* Reads a snapshot and tells the visitor what happened since the previous snapshot, which may be
 * one of camp_states_threads(). The first snapshot tells what happened since the session was
 * opened. Exited threads come first; camp_states_exits() does not return them again. Living threads
 * follow, in the order of camp_states_threads(). `size` is that of the visitor's struct. After
 * CAMP_E_NOMEM or CAMP_E_IO some threads were not visited; the next snapshot has them. Errors:
 * CAMP_E_INVALID (also: a function of the visitor is missing), CAMP_E_NOMEM, CAMP_E_IO (the
 * kernel's list of threads cannot be read), CAMP_E_FORMAT (the kernel wrote a damaged record). */
CAMP_PUBLIC int camp_states_visit(struct camp_states *session,
                                  const struct camp_states_visitor *visitor, size_t size,
                                  struct camp_error *error);

/* Reads no snapshot, and calls only ended(), for the threads that exited since the previous call.
 * Between two snapshots it must be called often if many threads exit (camp_states_exits()). Errors:
 * CAMP_E_INVALID (also: a function of the visitor is missing), CAMP_E_IO (the exited threads cannot
 * be read), CAMP_E_FORMAT (one record is damaged; the next call has the records after it). */
CAMP_PUBLIC int camp_states_visit_exits(struct camp_states *session,
                                        const struct camp_states_visitor *visitor, size_t size,
                                        struct camp_error *error);

/* Fills ret[capacity] with the threads that exited since the previous call, in the order of their
 * exits. *ret_count is the number of filled elements. If it equals `capacity`, more may wait: call
 * again. The Linux kernel keeps some 5,900 exited threads. If more exit between two calls, they are
 * added up by parent and name into CAMP_THREAD_TOTAL records, which come two calls later; on
 * illumos, all exited threads are added up by process. In these records, tid and pid are 0, time_ns
 * is the time of the call, and the difference of time_ns and begin_ns is the sum of the times for
 * which the threads were watched. Errors: CAMP_E_INVALID, CAMP_E_IO (the exited threads cannot be
 * read), CAMP_E_FORMAT (one record is damaged; the next call has the records after it). */
CAMP_PUBLIC int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* Waits until each thread that began to exit before the call has left its CPU for the last time;
 * camp_states_exits() then has it. The system may report an exit to the parent of a thread earlier:
 * by tens of milliseconds if other threads preempt it on a busy CPU. Waits for at most timeout_ns.
 * *ret_left is the number of threads of the machine that did not leave their CPUs by then; another
 * call does not wait for them. On illumos it is always 0. Errors: CAMP_E_INVALID. */
CAMP_PUBLIC int camp_states_await_exits(struct camp_states *session, uint64_t timeout_ns,
                                        uint64_t *ret_left, struct camp_error *error);

/* Fills ret[capacity] with the CPUs that had a context switch during the session, ascending. On
 * illumos these are the CPUs that were online when it was opened, and still are. Errors:
 * CAMP_E_INVALID, CAMP_E_SPACE; on illumos also those of camp_cpu_read_all(). */
CAMP_PUBLIC int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret,
                                 size_t size, size_t capacity, size_t *ret_count,
                                 struct camp_error *error);

/* Fills ret[capacity] with one element for each thread and each disk for which it waited. The
 * session keeps 16,384 elements, and drops the least recently used. Errors: CAMP_E_INVALID (also:
 * the session was opened without CAMP_STATES_DISKS), CAMP_E_SPACE, CAMP_E_NOTSUP (on other systems
 * than Linux). */
CAMP_PUBLIC int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret,
                                       size_t size, size_t capacity, size_t *ret_count,
                                       struct camp_error *error);

/* Fills ret[capacity] with the kernel features that microstates use. Needs no capability and no
 * session. Errors: CAMP_E_INVALID, CAMP_E_SPACE, CAMP_E_NOMEM, CAMP_E_NOTSUP (the kernel has no
 * BTF, so its features are unknown). */
CAMP_PUBLIC int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                                   size_t *ret_count, struct camp_error *error);

/* Returns what the session has missed so far. Errors: CAMP_E_INVALID. */
CAMP_PUBLIC int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret,
                                   size_t size, struct camp_error *error);

/* === camp_causes: the causes of waits === */

/* What a group of threads is, between which a session with CAMP_STATES_CULPRITS divides the causes
 * of waits: all processes with the same name (the name of the first thread), one process
 * (camp_states_watch_process(), CAMP_STATES_BY_PROCESS), or the threads in one cgroup
 * (camp_states_watch_cgroup(), CAMP_STATES_BY_CGROUP). There are at most 64 groups: 8 for what
 * the session watches, CAMP_GROUP_OTHER, CAMP_GROUP_KERNEL, CAMP_GROUP_OUTSIDE, and 53 for the
 * names, or processes, that run or wake first, or that cause the first waits
 * (CAMP_STATES_GROUPS_BY_NEED). camp_states_release_group() makes one of the 53 free again. */
enum camp_group_kind {
    CAMP_GROUP_OTHER,   /* all names for which there was no group */
    CAMP_GROUP_KERNEL,  /* kernel threads */
    CAMP_GROUP_OUTSIDE, /* threads outside of the PID namespace */
    CAMP_GROUP_NAME,    /* the processes with this name that no other group has */
    CAMP_GROUP_PROCESS, /* one process */
    CAMP_GROUP_CGROUP   /* one cgroup; if it is watched, with the cgroups in it */
};

struct camp_states_group {
    uint32_t number; /* by which causes name it; it does not change until it is released */
    uint32_t kind;   /* enum camp_group_kind */
    int32_t pid;     /* CAMP_GROUP_PROCESS; otherwise 0 */
    uint32_t reserved;
    char name[CAMP_STATES_NAME_SIZE]; /* CAMP_GROUP_NAME, CAMP_GROUP_PROCESS; otherwise "" */
    uint64_t cgroup;                  /* CAMP_GROUP_CGROUP: its id; otherwise 0 */
};

/* What caused a wait. */
enum camp_cause_kind {
    /* In CAMP_STATE_RUN_QUEUE: a thread of a group had the CPU. In a sleep: a thread of a group
     * ended it. `id` is the number of the group. */
    CAMP_CAUSE_GROUP,
    CAMP_CAUSE_IDLE,       /* RUN_QUEUE: the CPU was idle and about to run the thread */
    CAMP_CAUSE_INTERRUPTS, /* RUN_QUEUE: the CPU served interrupts */
    CAMP_CAUSE_REAL_TIME,  /* RUN_QUEUE: a real-time thread had the CPU */
    CAMP_CAUSE_TIMER,      /* a sleep that a timer ended */
    /* A sleep that the interrupt of a device ended; `id` is its number. The session tells the first
     * 24 devices apart that wake a thread, if their numbers are below 4,096. */
    CAMP_CAUSE_DEVICE,
    CAMP_CAUSE_SIGNAL, /* a sleep that a signal ended */
    /* A sleep that another device, the message of another CPU, or the deferred work of an unknown
     * interrupt ended. */
    CAMP_CAUSE_OTHER_INTERRUPT,
    /* Unknown: no event reported which thread had the CPU, or what ended the sleep (as when an idle
     * CPU did). In RUN_QUEUE also the part of a wait that was after a throttled time. */
    CAMP_CAUSE_UNKNOWN,
    CAMP_CAUSE_COUNT
};

/* A part of the time of one group in one state. */
struct camp_wait_cause {
    uint32_t group; /* whose time it is: camp_states_group.number */
    uint32_t state; /* enum camp_state: CAMP_STATE_RUN_QUEUE or a sleep */
    uint32_t kind;  /* enum camp_cause_kind */
    uint32_t id;
    uint64_t wait_ns; /* since the session was opened */
};

#define CAMP_WAIT_BUCKETS 48

/* How long the waits of one group in one state lasted. */
struct camp_wait_lengths {
    uint32_t group;
    uint32_t state;      /* enum camp_state: a sleep, RUN_QUEUE or THROTTLED */
    int32_t longest_tid; /* thread of the longest wait */
    uint32_t reserved;
    /* Since the previous call; 0 if no wait has ended. Of a wait above 2^42 ns (73 minutes) it is
     * 2^42 - 1. */
    uint64_t longest_ns;
    uint64_t longest_end_ns; /* time of its end */
    /* Sum of the lengths of all waits in `counts`, and of one that ended during the call. */
    uint64_t total_ns;
    /* Number of waits that have ended since the session was opened. Element n counts those of at
     * least 2^n ns and below 2^(n+1) ns; the last one those of at least 2^47 ns. It stays the last
     * member. */
    uint64_t counts[CAMP_WAIT_BUCKETS];
};

/* The sleeps of a watched process in one system call that have ended. */
struct camp_call_sleeps {
    int32_t pid;
    int32_t call;   /* number of the system call, or -1: outside of system calls, or unknown */
    uint32_t state; /* enum camp_state */
    uint32_t reserved;
    /* The call's first argument, if it is a file descriptor, the address of a futex, or the pid of
     * a child. Otherwise 0. */
    uint64_t argument;
    uint64_t sleep_ns; /* since the session was opened */
    uint64_t count;
};

/* Makes a process a group of its own, from now on, and counts its sleeps by system call. Errors:
 * CAMP_E_INVALID (also: the session was opened without CAMP_STATES_CULPRITS, or pid is below 1),
 * CAMP_E_SPACE (8 processes, names and cgroups are watched), CAMP_E_NOTSUP (on other systems than
 * Linux), CAMP_E_IO (the kernel refused the group). */
CAMP_PUBLIC int camp_states_watch_process(struct camp_states *session, int32_t pid,
                                          struct camp_error *error);

/* Makes the processes with a name a group, from now on, even if 64 others come first. The kernel
 * keeps the first 15 bytes of a name. Errors: those of camp_states_watch_process(). */
CAMP_PUBLIC int camp_states_watch_name(struct camp_states *session, const char *name,
                                       struct camp_error *error);

/* Makes the threads in a cgroup, and in the cgroups in it, a group, from now on. `cgroup` is the
 * inode number of its directory, in version 2 or, with CAMP_STATES_CPU_CGROUPS, in the hierarchy of
 * version 1 with the CPU controller. A thread that moves is of the new group from its next event
 * on. Errors: those of camp_states_watch_process(). */
CAMP_PUBLIC int camp_states_watch_cgroup(struct camp_states *session, uint64_t cgroup,
                                         struct camp_error *error);

/* Sets *ret to the number of the group that the threads in a cgroup have, because it is watched, or
 * one of them ran and a cgroup around it is watched. So it also answers for a cgroup that was
 * removed meanwhile. The session keeps 1,024 of them. Errors: CAMP_E_INVALID, CAMP_E_GONE (the
 * cgroup is in no watched one, or none of its threads has run), CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_group_of_cgroup(struct camp_states *session, uint64_t cgroup,
                                            uint32_t *ret, struct camp_error *error);

/* Ends a group of a name, a process or a cgroup that is not watched. Its threads are of
 * CAMP_GROUP_OTHER, or get another group, from their next events on. Another name may get the
 * number after the next call of camp_states_causes(), so that what the number had until that call
 * is of the old group, and what it has more at later calls is of the new one. Errors:
 * CAMP_E_INVALID (also: the session was opened without CAMP_STATES_CULPRITS, or has no such group),
 * CAMP_E_NOTSUP, CAMP_E_IO (the kernel refused).
 */
CAMP_PUBLIC int camp_states_release_group(struct camp_states *session, uint32_t number,
                                          struct camp_error *error);

/* Fills ret[capacity] with the groups, ascending by number. Errors: CAMP_E_INVALID, CAMP_E_SPACE
 * (64 are always enough), CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_groups(struct camp_states *session, struct camp_states_group *ret,
                                   size_t size, size_t capacity, size_t *ret_count,
                                   struct camp_error *error);

/* Fills ret[capacity] with the causes of all waits that are not 0, by group, then by state.
 *
 * The causes of CAMP_STATE_RUN_QUEUE include the waits that go on, until *ret_time_ns. For each
 * group they add up to the time of its threads in that state, to the ns. Only the time before a
 * thread's first event in the session may be missing. If a group has a quota of CPU time, a call
 * within a throttled time is not exact: it has charged that time, which no event reported yet, and
 * later calls charge as much less. No cause ever falls. Threads whose process gets another name are
 * of the new group from their next event on.
 *
 * A sleep has a cause when it has ended. A sleep that goes on during a call of this function is
 * charged, when it ends, from the time of that call on: the time before had no cause yet, and
 * stays without one. The time of that call is before all that it reads, so a sleep that ends during
 * the call may be charged with only its last part, or with more than that. Errors: CAMP_E_INVALID,
 * CAMP_E_SPACE, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_causes(struct camp_states *session, struct camp_wait_cause *ret,
                                   size_t size, size_t capacity, size_t *ret_count,
                                   uint64_t *ret_time_ns, struct camp_error *error);

/* Fills ret[capacity] with the lengths of the waits of each group and state that had any. Errors:
 * CAMP_E_INVALID, CAMP_E_SPACE, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_wait_lengths(struct camp_states *session, struct camp_wait_lengths *ret,
                                         size_t size, size_t capacity, size_t *ret_count,
                                         struct camp_error *error);

/* Fills ret[capacity] with the sleeps of the watched processes by system call. The session keeps
 * 4,096 elements; a sleep that would need another one is missing, and counts as lost
 * (camp_states_losses()). Errors: CAMP_E_INVALID, CAMP_E_SPACE, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_call_sleeps(struct camp_states *session, struct camp_call_sleeps *ret,
                                        size_t size, size_t capacity, size_t *ret_count,
                                        struct camp_error *error);

/* === camp_stacks: the stacks of long sleeps === */

enum camp_sleep_stack_flag {
    /* There was no space for the stack of the kernel, or of the thread: the session keeps 4,096
     * different ones between two calls of camp_states_visit_stacks(). */
    CAMP_STACK_KERNEL_LOST = 1u << 0,
    CAMP_STACK_USER_LOST = 1u << 1
};

#define CAMP_STACK_FRAMES 127

/* Sleeps of one group in one state that have ended, with the same stacks: where in the kernel and
 * in its own code a thread slept. A stack is a list of at most CAMP_STACK_FRAMES addresses, or of
 * fewer if kernel.perf_event_max_stack is less; the library finds no names for them. */
struct camp_sleep_stack {
    uint32_t group; /* camp_states_group.number */
    uint32_t state; /* enum camp_state: a sleep */
    uint32_t flags; /* enum camp_sleep_stack_flag */
    /* The process whose stack `user` is; 0: user_count is 0. */
    int32_t pid;
    uint64_t sleep_ns; /* time asleep, without the part before the last camp_states_causes() */
    uint64_t count;
    /* kernel[kernel_count]: addresses in the kernel, the innermost first. All of them are return
     * addresses, so the instruction of the call is before each. user[user_count]: addresses in the
     * process, likewise; the first one is that of the next instruction. It is empty for kernel
     * threads, for threads outside of the PID namespace, and for a thread that has not returned
     * from its system call yet. Both need frame pointers in the program to be complete: of a
     * function without one the caller is missing. */
    const uint64_t *kernel;
    const uint64_t *user;
    uint32_t kernel_count;
    uint32_t user_count;
};

/* Sets the shortest sleep, in ns, of which the session reads stacks; at first it reads none. If
 * `watched_only` is not 0, it reads those of the groups of camp_states_watch_process() and
 * camp_states_watch_name() only. Errors: CAMP_E_INVALID (also: the session was opened without
 * CAMP_STATES_STACKS), CAMP_E_NOTSUP (on other systems than Linux). */
CAMP_PUBLIC int camp_states_stacks_from(struct camp_states *session, uint64_t least_ns,
                                        int watched_only, struct camp_error *error);

/* Calls visit() for all sleeps that have ended since the previous call and of which the session
 * read the stacks; sleeps with the same group, state and stacks come together, in no order. The
 * argument `stack` and its arrays are valid only during the call of visit().
 *
 * The time of all of them is at most that of the state (camp_thread_states.state_ns) meanwhile.
 * What is missing slept shorter, still sleeps, or was woken without an event. Errors:
 * CAMP_E_INVALID, CAMP_E_NOMEM, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_states_visit_stacks(struct camp_states *session,
                                         void (*visit)(void *context,
                                                       const struct camp_sleep_stack *stack),
                                         void *context, struct camp_error *error);

#ifdef __cplusplus
}
#endif
#endif
