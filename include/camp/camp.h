/*
 * camp.h - the counters of a computer: CPUs, memory, networks, disks, processes, threads.
 *
 * The contract, for every function here:
 *
 * - Stateless and thread-safe: no global, no cache, no thread. Each call opens what it reads, reads
 *   one consistent point in time, closes it. A caller that reads the same thing repeatedly owns
 *   a struct camp_reader, which keeps the descriptor open and nothing else: a value is never
 *   older than the call that returned it.
 * - Nothing is printed, nothing exits, nothing is allocated: all memory is the caller's.
 * - Counters are raw and cumulative. The functions under "Derived" turn two readings into rates and
 *   percentages.
 * - The unit is the last word of a name: _ns, _bytes, _percent, _ms. A name without a unit counts.
 * - Unknown is a cleared bit in `known`, never a zero. The value of an unknown field is 0.
 * - Times that contain each other are made disjoint: user_ns does not contain guest_ns.
 * - Structs grow at their end. Each function that fills one is passed its size; bytes that this
 *   library does not know are set to zero, bytes that the caller does not know are not written.
 *   Of an array, the size of one element is passed, and is the distance between elements.
 * - A result is CAMP_OK (0), a positive remark, or a negative CAMP_E_*. After a failure only *error
 *   is written, and *ret_count where its function documents it. Elements of an array may be
 *   written; they are meaningless then.
 * - Array arguments: `capacity` elements are the caller's; *ret_count is how many there are. When
 *   they are more than capacity, the result is CAMP_E_SPACE, the first `capacity` are filled, and
 *   *ret_count says how many are needed (leave space: it may be more by the next call).
 *
 * How a number was obtained is part of it (enum camp_provenance). The table of which number is
 * which, and what each is worth, is in docs/counters.md.
 */
#ifndef CAMP_CAMP_H
#define CAMP_CAMP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAMP_PUBLIC __attribute__((visibility("default")))
#else
#define CAMP_PUBLIC
#endif

/* ------------------------------------------------------------------------------ Results -- */

enum camp_result {
    CAMP_OK = 0,
    CAMP_RESET = 1,      /* camp_difference(): the counter was set back to zero in between */
    CAMP_E_INVALID = -1, /* an argument is wrong: correct the call */
    CAMP_E_NOTSUP = -2,  /* this system, kernel or configuration does not count that */
    CAMP_E_PERM = -3,    /* a capability or permission is missing; the message names it */
    CAMP_E_GONE = -4,    /* the process, thread, CPU, interface or disk is no longer there */
    CAMP_E_SPACE = -5,   /* the array is too small: *ret_count says how many are needed */
    CAMP_E_NOMEM = -6,   /* the kernel had no memory or no descriptor left: try again later */
    CAMP_E_IO = -7,      /* reading failed: see system_error */
    CAMP_E_FORMAT = -8   /* the file does not have the format of this system: a bug, or a fixture */
};

/* Space for the longest path (PATH_MAX, 4,096 bytes on Linux) and a sentence about it. */
#define CAMP_ERROR_SIZE 4608

/* An error message for people. Each function takes it as its last argument; NULL: no message. */
struct camp_error {
    int32_t code;                  /* enum camp_result */
    int32_t system_error;          /* errno, or 0 */
    char message[CAMP_ERROR_SIZE]; /* one line without a newline, which ends with what the caller
                                    * can do */
};

/* Returns the short English name of a result: "gone", "not supported". Never NULL. */
CAMP_PUBLIC const char *camp_result_name(int result);

/* Returns the version of the library that runs, such as "0.1.0", not that of this header. */
CAMP_PUBLIC const char *camp_version(void);

/* Where to read. A function that gets NULL instead of a source reads this machine, by all available
 * means. With a source, it reads only files below these folders (fixtures, a host's /proc in a
 * container), and uses no system calls, clocks or netlink instead. A member that is NULL stands for
 * "/proc" or "/sys". */
struct camp_source {
    const char *proc;
    const char *sys;
};

/* How a number was obtained. */
enum camp_provenance {
    CAMP_UNKNOWN = 0,
    CAMP_MEASURED = 1, /* from timestamps at each change of state, or counted at each event */
    CAMP_SAMPLED = 2,  /* whole clock ticks charged to the task that ran at the tick */
    CAMP_SCALED = 3,   /* a measured total divided in the proportion of samples */
    CAMP_DERIVED = 4   /* calculated from other numbers */
};

/* Returns "measured", "sampled", "scaled", "derived" or "unknown". Never NULL. */
CAMP_PUBLIC const char *camp_provenance_name(int provenance);

#define CAMP_NAME_SIZE 64 /* size of the name of an interface, disk or process, with its NUL */

/* --------------------------------------------------------------------------------- CPUs -- */

#define CAMP_CPU_TOTAL (-1) /* all CPUs together, in place of a CPU's id */

enum camp_cpu_field {
    CAMP_CPU_USER = 1u << 0,
    CAMP_CPU_NICE = 1u << 1,
    CAMP_CPU_SYSTEM = 1u << 2,
    CAMP_CPU_IDLE = 1u << 3,
    CAMP_CPU_IOWAIT = 1u << 4,
    CAMP_CPU_IRQ = 1u << 5,
    CAMP_CPU_SOFTIRQ = 1u << 6,
    CAMP_CPU_STEAL = 1u << 7,
    CAMP_CPU_GUEST = 1u << 8,
    CAMP_CPU_GUEST_NICE = 1u << 9
};

/*
 * Where one CPU's time went since boot, in disjoint columns: on a kernel that keeps the sum rule
 * their differences over an interval add up to its wall time. On Linux they often do not, because
 * some are sampled and some measured: that is what `camp check` shows.
 *
 * Linux: /proc/stat, resolution 1/100 s. user nice system irq softirq guest: sampled at the tick
 * (measured where struct camp_kernel says so). idle, iowait: measured where the tick stops in idle
 * (NO_HZ), otherwise sampled; iowait may go backwards. steal: as the hypervisor reports it.
 */
struct camp_cpu {
    int32_t cpu;      /* id, or CAMP_CPU_TOTAL. Ids may have holes. */
    uint32_t known;   /* enum camp_cpu_field */
    uint64_t time_ns; /* CLOCK_MONOTONIC when it was read */
    uint64_t user_ns; /* without guest */
    uint64_t nice_ns; /* user time of niced tasks, without guest_nice */
    uint64_t system_ns;
    uint64_t idle_ns;   /* without iowait */
    uint64_t iowait_ns; /* idle, while a task that last ran on this CPU waits for a disk */
    uint64_t irq_ns;
    uint64_t softirq_ns;
    uint64_t steal_ns; /* ready to run, while the hypervisor ran something else */
    uint64_t guest_ns; /* running a virtual machine's CPU */
    uint64_t guest_nice_ns;
};

/* Counts the CPUs that are online. Linux: the cpuN lines of /proc/stat. */
CAMP_PUBLIC int camp_cpu_count(const struct camp_source *source, size_t *ret_count,
                               struct camp_error *error);

/* Fills ids[capacity] with the ids of the online CPUs, ascending, with holes where CPUs are
 * offline. */
CAMP_PUBLIC int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                              size_t *ret_count, struct camp_error *error);

/* Reads one CPU, or CAMP_CPU_TOTAL. CAMP_E_GONE: the CPU is offline, or does not exist. */
CAMP_PUBLIC int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret,
                              size_t size, struct camp_error *error);

/* Fills cpus[capacity], `size` bytes apart: the total comes first (cpu == CAMP_CPU_TOTAL), then
 * each online CPU, ascending by id; all at one point in time. */
CAMP_PUBLIC int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* ------------------------------------------------------------------------------- Memory -- */

enum camp_memory_field {
    CAMP_MEMORY_TOTAL = 1u << 0,
    CAMP_MEMORY_FREE = 1u << 1,
    CAMP_MEMORY_AVAILABLE = 1u << 2,
    CAMP_MEMORY_BUFFERS = 1u << 3,
    CAMP_MEMORY_CACHED = 1u << 4,
    CAMP_MEMORY_SWAP_TOTAL = 1u << 5,
    CAMP_MEMORY_SWAP_FREE = 1u << 6,
    CAMP_MEMORY_ALL = (1u << 7) - 1
};

/* Physical memory and swap. Linux: /proc/meminfo, or sysinfo(2) when it holds all that is wanted
 * (it knows total, free, buffers and swap, and is ten times cheaper). Resolution: one page. */
struct camp_memory {
    uint32_t known; /* enum camp_memory_field */
    uint32_t reserved;
    uint64_t time_ns;
    uint64_t total_bytes;
    uint64_t free_bytes;      /* used for nothing at all */
    uint64_t available_bytes; /* estimate of what a new program could have without swapping */
    uint64_t buffers_bytes;   /* block device pages */
    uint64_t cached_bytes;    /* page cache, tmpfs and shared memory; without buffers */
    uint64_t swap_total_bytes;
    uint64_t swap_free_bytes;
};

/* Reads memory. `wanted`: the fields that the caller needs (enum camp_memory_field). The cheapest
 * source that has all of them is read; other fields that it has are filled, too. */
CAMP_PUBLIC int camp_memory_read(const struct camp_source *source, uint32_t wanted,
                                 struct camp_memory *ret, size_t size, struct camp_error *error);

/* ------------------------------------------------------------------------------ Network -- */

/* The counters of one network interface, as its driver counts them. Linux: /proc/net/dev of the
 * caller's network namespace. 64 bits wide (32 in some drivers of 32-bit kernels). */
struct camp_network {
    char name[CAMP_NAME_SIZE];
    uint64_t time_ns;
    uint64_t received_bytes;
    uint64_t received_packets;
    uint64_t received_errors;
    uint64_t received_drops; /* dropped by the kernel (no space) or the device (missed) */
    uint64_t sent_bytes;
    uint64_t sent_packets;
    uint64_t sent_errors;
    uint64_t sent_drops;
};

/* Reads one interface. CAMP_E_GONE: there is none of that name (any more). */
CAMP_PUBLIC int camp_network_read(const struct camp_source *source, const char *name,
                                  struct camp_network *ret, size_t size, struct camp_error *error);

/* Fills networks[capacity], `size` bytes apart, with all interfaces, in the system's order. It also
 * enumerates them: each `name` is valid input of camp_network_read(). */
CAMP_PUBLIC int camp_network_read_all(const struct camp_source *source,
                                      struct camp_network *networks, size_t size, size_t capacity,
                                      size_t *ret_count, struct camp_error *error);

/* -------------------------------------------------------------------------------- Disks -- */

enum camp_disk_kind {
    CAMP_DISK_ANY = 0, /* as an argument: both kinds */
    CAMP_DISK_WHOLE = 1,
    CAMP_DISK_PARTITION = 2
};

/*
 * The counters of one disk or partition. Do not add the two kinds: a disk contains its partitions.
 *
 * Linux: /proc/diskstats (all) or /sys/class/block/NAME/stat (one). Requests are counted when they
 * complete, after merging; 512-byte sectors; times in ms, those of requests that overlap counted
 * for each. busy_ns is the time with at least one request in flight. The kernel prints the times as
 * 32-bit numbers of ms, which wrap after 49.7 days: camp_difference() of ns / 1000000 in 32 bits
 * survives that.
 */
struct camp_disk {
    char name[CAMP_NAME_SIZE]; /* as in /sys/class/block */
    int32_t kind;              /* enum camp_disk_kind */
    uint32_t reserved;
    uint64_t time_ns;
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t read_ns;
    uint64_t writes;
    uint64_t written_bytes;
    uint64_t write_ns;
    uint64_t in_flight; /* requests in flight now: a level, not a counter */
    uint64_t busy_ns;
    uint64_t queue_ns; /* sum over time of the number of requests in flight */
};

/* Reads one disk or partition. CAMP_E_GONE: there is none of that name (any more). */
CAMP_PUBLIC int camp_disk_read(const struct camp_source *source, const char *name,
                               struct camp_disk *ret, size_t size, struct camp_error *error);

/* Fills disks[capacity], `size` bytes apart, with the disks of the requested kind: each disk,
 * followed by its partitions. It also enumerates them: each `name` is valid input of
 * camp_disk_read(). */
CAMP_PUBLIC int camp_disk_read_all(const struct camp_source *source, int kind,
                                   struct camp_disk *disks, size_t size, size_t capacity,
                                   size_t *ret_count, struct camp_error *error);

/* --------------------------------------------------------------- Processes and threads -- */

/* The identity of a process. If its pid is reused, the new process has another start time, and
 * reading the old one is CAMP_E_GONE. */
struct camp_process {
    int32_t pid;
    uint32_t reserved;
    uint64_t start; /* start of the process, in the system's unit. Linux: clock ticks after boot */
};

/* The identity of a thread. The first thread of a process has tid == pid. */
struct camp_thread {
    int32_t pid;
    int32_t tid;
    uint64_t start;
};

/* An entry of the process table, read at the least cost, for callers that watch all processes. */
struct camp_pid {
    int32_t pid;
    uint32_t reserved;
    uint64_t token; /* A process with the same pid and token as before is the same process. With
                     * another token it may be another process: call camp_process_identify(). Linux:
                     * inode of /proc/PID */
};

enum camp_task_field {
    CAMP_TASK_CPU = 1u << 0,
    CAMP_TASK_SPLIT = 1u << 1,   /* user_ns and system_ns */
    CAMP_TASK_SAMPLED = 1u << 2, /* sampled_ns: only taskstats has it */
    CAMP_TASK_RUN_DELAY = 1u << 3,
    CAMP_TASK_FAULTS = 1u << 4,
    CAMP_TASK_SIZE = 1u << 5, /* virtual and resident */
    CAMP_TASK_THREADS = 1u << 6,
    CAMP_TASK_SWITCHES = 1u << 7,
    CAMP_TASK_IO = 1u << 8, /* read_bytes and written_bytes */
    CAMP_TASK_START = 1u << 9,
    CAMP_TASK_STATE = 1u << 10,
    CAMP_TASK_NAME = 1u << 11,
    CAMP_TASK_PARENT = 1u << 12,
    CAMP_TASK_ALL = ((1u << 13) - 1) & ~(1u << 2)
};

/*
 * What a process or one thread has used since its start. For a process, numbers are those of all
 * its threads, including exited ones where not stated otherwise. Each field names its sources on
 * Linux, in the order in which they are tried.
 */
struct camp_task {
    uint32_t known;      /* enum camp_task_field */
    int32_t parent;      /* pid of the parent; 0: none */
    uint64_t time_ns;    /* CLOCK_MONOTONIC when it was read */
    uint64_t start;      /* start of the identifier (struct camp_process or camp_thread) */
    uint64_t started_ns; /* CLOCK_BOOTTIME at its start; resolution 1/100 s */
    /* Time on a CPU, measured. For a process: its CPU clock (1 ns); else utime + stime of stat
     * (1/100 s). For a thread: schedstat (1 ns); else stat. If the task runs on another CPU at this
     * moment, the time is that of its last tick: up to one tick too low, which does not accumulate.
     */
    uint64_t cpu_ns;
    uint64_t user_ns; /* stat; 1/100 s. The measured total in the proportion of samples: SCALED */
    uint64_t system_ns;
    int32_t split_provenance; /* provenance of user_ns and system_ns: enum camp_provenance */
    int32_t cpu_provenance;   /* of cpu_ns */
    uint64_t cpu_resolution_ns;
    uint64_t sampled_ns;   /* tick-sampled time: taskstats */
    uint64_t run_delay_ns; /* runnable, but not running: schedstat, of living threads */
    uint64_t minor_faults; /* stat */
    uint64_t major_faults;
    uint64_t virtual_bytes; /* stat */
    uint64_t
        resident_bytes; /* stat; the kernel batches it per thread: up to 63 pages a thread off */
    uint64_t threads;   /* living: stat */
    uint64_t voluntary_switches; /* status, of living threads */
    uint64_t involuntary_switches;
    uint64_t read_bytes;       /* from storage: io (own processes, or CAP_SYS_PTRACE with
                                * CAP_DAC_READ_SEARCH, which opens the file) */
    uint64_t written_bytes;    /* to storage, cancelled writes not subtracted */
    char state;                /* R S D T t Z X I, as in proc(5) */
    char name[CAMP_NAME_SIZE]; /* the task's name (comm), which may hold any byte but NUL */
};

/* Fills pids[capacity], `size` bytes apart, ascending: every process visible to the caller, kernel
 * threads included, at the least cost. */
CAMP_PUBLIC int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                              size_t capacity, size_t *ret_count, struct camp_error *error);

/* Counts the tasks (processes and threads) started since boot, including exited ones: the
 * difference of two readings includes short-lived tasks. Linux: `processes` of /proc/stat. */
CAMP_PUBLIC int camp_fork_count(const struct camp_source *source, uint64_t *ret_count,
                                struct camp_error *error);

/* Returns the identifier of the process that has this pid now. CAMP_E_GONE: there is none. */
CAMP_PUBLIC int camp_process_identify(const struct camp_source *source, int32_t pid,
                                      struct camp_process *ret, size_t size,
                                      struct camp_error *error);

/* Fills processes[capacity], `size` bytes apart, ascending by pid: every process visible to the
 * caller. Processes that exit during the call are left out. */
CAMP_PUBLIC int camp_process_list(const struct camp_source *source, struct camp_process *processes,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* Likewise, but only processes that were launched from an executable of this name (the last
 * component of its path; for a deleted executable, its former name). Where the executable is
 * unreadable (another user's process) argv[0] decides, and for kernel threads their name. If there
 * are none, the result is CAMP_OK, and *ret_count is 0. */
CAMP_PUBLIC int camp_process_find(const struct camp_source *source, const char *executable,
                                  struct camp_process *processes, size_t size, size_t capacity,
                                  size_t *ret_count, struct camp_error *error);

/* Reads a process. `wanted`: enum camp_task_field; only the files that have these fields are read,
 * cheapest first. A field that is unreadable for lack of permission is a cleared bit, not a
 * failure. CAMP_E_GONE: the process has exited, or its pid belongs to another one now. */
CAMP_PUBLIC int camp_process_read(const struct camp_source *source,
                                  const struct camp_process *process, uint32_t wanted,
                                  struct camp_task *ret, size_t size, struct camp_error *error);

/* Fills threads[capacity], `size` bytes apart, ascending by tid: the living threads of a process.
 */
CAMP_PUBLIC int camp_thread_list(const struct camp_source *source,
                                 const struct camp_process *process, struct camp_thread *threads,
                                 size_t size, size_t capacity, size_t *ret_count,
                                 struct camp_error *error);

CAMP_PUBLIC int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                                 uint32_t wanted, struct camp_task *ret, size_t size,
                                 struct camp_error *error);

/* Reads the CPU time, measured, of the process that has this pid now, by its CPU clock: the
 * cheapest function (one system call, no file), for any user's process. It does not notice a reused
 * pid; camp_process_cpu_ns() does. CAMP_E_GONE: no such process. */
CAMP_PUBLIC int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns);

/* Likewise, for the process with this identity: so the start time is read, too. */
CAMP_PUBLIC int camp_process_cpu_ns(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_ns,
                                    struct camp_error *error);

/* ------------------------------------------------------------------------------ Readers -- */

/* An open descriptor, for reading the same thing repeatedly. All memory is the caller's. A reader
 * always reads the subject for which it was opened. Threads that share a reader need a lock. */
struct camp_reader {
    int32_t descriptor;
    int32_t kind;
    uint64_t start;
    int32_t pid;
    uint32_t reserved;
};

CAMP_PUBLIC int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                                      struct camp_error *error);
CAMP_PUBLIC int camp_reader_open_memory(struct camp_reader *reader,
                                        const struct camp_source *source, struct camp_error *error);
CAMP_PUBLIC int camp_reader_open_networks(struct camp_reader *reader,
                                          const struct camp_source *source,
                                          struct camp_error *error);
CAMP_PUBLIC int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                                       struct camp_error *error);
/* Opens the stat file of one process. After its exit each reading is CAMP_E_GONE, even if its pid
 * is reused. */
CAMP_PUBLIC int camp_reader_open_process(struct camp_reader *reader,
                                         const struct camp_source *source,
                                         const struct camp_process *process,
                                         struct camp_error *error);

/* Read like camp_cpu_read_all(), camp_memory_read(), camp_network_read_all(), camp_disk_read_all(),
 * and camp_process_read() of the fields that stat and the CPU clock have. */
CAMP_PUBLIC int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                                 size_t capacity, size_t *ret_count, struct camp_error *error);
CAMP_PUBLIC int camp_reader_memory(struct camp_reader *reader, struct camp_memory *ret, size_t size,
                                   struct camp_error *error);
CAMP_PUBLIC int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks,
                                     size_t size, size_t capacity, size_t *ret_count,
                                     struct camp_error *error);
CAMP_PUBLIC int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);
CAMP_PUBLIC int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                                    struct camp_error *error);

/* Does nothing to a closed reader, or to one that is CAMP_READER_NONE. */
CAMP_PUBLIC void camp_reader_close(struct camp_reader *reader);

#define CAMP_READER_NONE                                                                           \
    {                                                                                              \
        .descriptor = -1                                                                           \
    }

/* ---------------------------------------------------------------------------- Taskstats -- */

/*
 * Linux' taskstats, by generic netlink (libmnl): the sampled and the measured time of a task in one
 * message, and a record of every task that exits. Needs CAP_NET_ADMIN in the initial namespaces.
 * On other systems camp_taskstats_open() is CAMP_E_NOTSUP.
 */
struct camp_taskstats {
    int32_t descriptor; /* when listening, it can be polled: readable when records wait */
    uint16_t family;
    uint16_t version; /* TASKSTATS_VERSION of the kernel, once a message was seen; else 0 */
    uint32_t listening;
    uint32_t sequence;
    uint64_t
        overruns; /* since opened: messages (tasks) that the kernel dropped for lack of space */
};

#define CAMP_TASKSTATS_NONE                                                                        \
    {                                                                                              \
        .descriptor = -1                                                                           \
    }

/* One process by taskstats. The numbers are those of all its threads, including exited ones. */
struct camp_taskstat {
    int32_t pid;
    int32_t result;              /* CAMP_OK; CAMP_E_GONE: no such process (the rest is 0 then) */
    uint64_t measured_ns;        /* cpu_run_virtual_total: sum_exec_runtime */
    uint64_t sampled_ns;         /* cpu_run_real_total: utime + stime as charged at ticks */
    uint64_t run_delay_ns;       /* cpu_delay_total: runnable, not running */
    uint64_t runs;               /* cpu_count: how often it was put on a CPU */
    uint64_t voluntary_switches; /* those of living threads */
    uint64_t involuntary_switches;
};

/*
 * An exited task. A process that had several threads has one record for each thread (is_process 0),
 * and one for the whole (is_process 1) when the last one exits; a process of one thread has one
 * record, of the whole. On kernels before 5.19 (version < 12) a record that comes alone does not
 * say which of the two it is: pid and is_process are then 0. On these kernels, add up the records
 * with is_process 0 only.
 *
 * The kernel writes the record early in the exit, without updating the task's clock: measured_ns is
 * as of its last tick or switch. Its time after that, up to one tick, is in no record: with tasks
 * of 2 ms and ticks of 4 ms more than half was missing. It ran at most at_most_ns. If it never
 * slept (voluntary_switches is 0) it ran exactly that long, except for some 50 us of its fork and
 * for time that a hypervisor stole, which is in elapsed_ns. The kernel frees its memory after the
 * record.
 */
struct camp_task_exit {
    int32_t pid; /* its process. 0: unknown (kernels before 5.19 do not report it for a thread) */
    int32_t tid;
    int32_t parent; /* its parent at its exit: 1 or a subreaper if the original parent had exited
                     * before */
    uint32_t is_process;
    uint32_t user_id;
    uint32_t exit_code;
    uint64_t measured_ns;
    uint64_t sampled_ns;
    uint64_t run_delay_ns;
    uint64_t elapsed_ns;       /* from its start to its end; resolution 1 us */
    uint64_t began_s;          /* wall clock of its start, seconds since 1970 */
    char name[CAMP_NAME_SIZE]; /* of a whole process: name, user and exit code of its last thread */
    uint64_t at_most_ns; /* the smaller of elapsed - run_delay and measured + one tick. For a whole
                          * process: measured_ns and the unread time of its last thread */
    uint64_t voluntary_switches; /* number of sleeps; for a whole process: of its last thread */
};

/* Opens a session. CAMP_E_PERM: CAP_NET_ADMIN is missing. CAMP_E_NOTSUP: the kernel was built
 * without taskstats, or booted with nodelayacct before Linux 5.14 (it then counts nothing), or the
 * network namespace has none. */
CAMP_PUBLIC int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error);
CAMP_PUBLIC void camp_taskstats_close(struct camp_taskstats *taskstats);

/* Reads pids[count] into tasks[count], `size` bytes apart, in the same order, each with its result.
 * One system call sends many requests. A session that listens cannot be used: open two. A zombie
 * reads as zeros (runs is 0, unlike for any process that ever ran): its times were in its exit
 * record. After a failure the first of tasks[] may have been filled. */
CAMP_PUBLIC int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids,
                                    size_t count, struct camp_taskstat *tasks, size_t size,
                                    struct camp_error *error);

/* From now on, each task that exits is recorded for camp_taskstats_exits(), on all CPUs, including
 * those that come online later. CAMP_E_PERM outside of the initial pid and user namespace. */
CAMP_PUBLIC int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error);

/* Fills exits[capacity], `size` bytes apart, with the waiting records, oldest first; never blocks.
 * Call it until *ret_count < capacity. taskstats->overruns grows by the tasks whose records the
 * kernel dropped since the last call. CAMP_E_FORMAT: *ret_count were filled. */
CAMP_PUBLIC int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                                     size_t size, size_t capacity, size_t *ret_count,
                                     struct camp_error *error);

/* --------------------------------------------------------------------------- The kernel -- */

enum camp_accounting {
    CAMP_ACCOUNTING_UNKNOWN = 0,
    CAMP_ACCOUNTING_TICK = 1,       /* user, system: sampled (TICK_CPU_ACCOUNTING) */
    CAMP_ACCOUNTING_GEN = 2,        /* measured on nohz_full CPUs, sampled on the others */
    CAMP_ACCOUNTING_NATIVE = 3,     /* measured (s390x, POWER) */
    CAMP_ACCOUNTING_MICROSTATES = 4 /* measured (Solaris) */
};

enum camp_kernel_field {
    CAMP_KERNEL_TICK = 1u << 0,
    CAMP_KERNEL_ACCOUNTING = 1u << 1,
    CAMP_KERNEL_TICKLESS_IDLE = 1u << 2,
    CAMP_KERNEL_IRQ_TIME = 1u << 3,
    CAMP_KERNEL_SCHED_INFO = 1u << 4,
    CAMP_KERNEL_SCHEDSTATS = 1u << 5,
    CAMP_KERNEL_TASKSTATS = 1u << 6,
    CAMP_KERNEL_DELAY_ACCOUNTING = 1u << 7,
    CAMP_KERNEL_PSI = 1u << 8,
    CAMP_KERNEL_BTF = 1u << 9,
    CAMP_KERNEL_CGROUP = 1u << 10,
    CAMP_KERNEL_CAPABILITIES = 1u << 11,
    CAMP_KERNEL_STEAL = 1u << 12
};

/* What this kernel counts, and how. Linux: where the kernel shows it (clock_getres of the coarse
 * clock for the tick, nohz_full, pressure/, timer_list, an answer over netlink ...), else
 * /boot/config-RELEASE; otherwise a fact is unknown. (/proc/config.gz is not read.) */
struct camp_kernel {
    uint32_t known;           /* enum camp_kernel_field: the facts below that are certain */
    int32_t accounting;       /* enum camp_accounting */
    uint32_t tick_hz;         /* clock ticks a second: HZ */
    uint32_t user_hz;         /* resolution of /proc's times: sysconf(_SC_CLK_TCK) */
    int32_t tickless_idle;    /* 1: the tick stops in idle, so idle and iowait are measured */
    int32_t irq_time;         /* 1: interrupt time is measured (IRQ_TIME_ACCOUNTING) */
    int32_t sched_info;       /* 1: /proc/PID/schedstat counts */
    int32_t schedstats;       /* 1: /proc/schedstat is there */
    int32_t taskstats;        /* 1: taskstats answers, in this network namespace */
    int32_t delay_accounting; /* 1: it is switched on (taskstats' CPU times do not need it) */
    int32_t psi;              /* 1: /proc/pressure answers */
    int32_t btf;              /* 1: /sys/kernel/btf/vmlinux is there */
    int32_t cgroup_version;   /* 1, 2, or 3 for both (hybrid) */
    int32_t steal;            /* 1: a virtual machine whose hypervisor reports steal time */
    uint64_t capabilities;    /* effective capabilities of this process, bit = capability number */
    char release[CAMP_NAME_SIZE];
    char machine[CAMP_NAME_SIZE];
    char measured_cpus[CAMP_NAME_SIZE]; /* list ("1-3,5") of CPUs whose user/system is measured */
};

CAMP_PUBLIC int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret,
                                 size_t size, struct camp_error *error);

/* ------------------------------------------------------------------------------ Derived -- */

/* Returns after - before of a counter that is `bits` wide (32 or 64). A wrap is corrected (`after`
 * is smaller than `before`, by more than half of the range). After a reset the result is
 * CAMP_RESET, and the difference is `after`: the count since the reset. */
CAMP_PUBLIC int camp_difference(uint64_t before, uint64_t after, unsigned bits, uint64_t *ret);

/* Returns camp_difference() per second. CAMP_E_INVALID when no time has passed. */
CAMP_PUBLIC int camp_rate(uint64_t before, uint64_t after, unsigned bits, uint64_t elapsed_ns,
                          double *ret_per_second);

/* Where one CPU's time went between two readings, in percent of wall time (for the total: of the
 * wall time of all CPUs). Busy time is given by two kinds of counts, which often disagree: */
struct camp_utilisation {
    double measured_busy_percent; /* 100 - idle - iowait, by the wall clock; it includes time that
                                   * the hypervisor stole while the CPU was busy */
    double sampled_busy_percent;  /* user + nice + system + irq + softirq + guest */
    double idle_percent;
    double iowait_percent;
    double steal_percent;
    double sum_percent; /* the sum of all columns: 100 where the sum rule holds */
    uint64_t elapsed_ns;
    double resolution_percent; /* one unit of /proc/stat: no column is more precise */
};

/* Compares two readings of the same CPU. `cpus`: how many CPUs they cover (1; for the total, their
 * count). A counter that went backwards (iowait does) counts as 0. CAMP_E_INVALID: no time passed
 * between the readings. */
CAMP_PUBLIC int camp_cpu_difference(const struct camp_cpu *before, const struct camp_cpu *after,
                                    size_t cpus, struct camp_utilisation *ret, size_t size);

/* The paper's GetPercentProcessorTime: reads, blocks for interval_ms (CAMP_DEFAULT_INTERVAL_MS),
 * reads again. With interval_ms 0 it never blocks: *previous is then the earlier reading, and is
 * set to this one. `previous` may be NULL when interval_ms is not 0. */
CAMP_PUBLIC int camp_cpu_utilisation(const struct camp_source *source, int32_t cpu,
                                     unsigned interval_ms, struct camp_cpu *previous,
                                     struct camp_utilisation *ret, size_t size,
                                     struct camp_error *error);

#define CAMP_DEFAULT_INTERVAL_MS 100u

/* CPU time of a process in percent of one CPU: measured; user and system by the kernel's proportion
 * (scaled, 1/100 s). *previous: an earlier camp_process_read() of CPU and SPLIT. */
struct camp_task_utilisation {
    double cpu_percent;
    double user_percent;
    double system_percent;
    uint64_t elapsed_ns;
};

CAMP_PUBLIC int camp_process_utilisation(const struct camp_source *source,
                                         const struct camp_process *process, unsigned interval_ms,
                                         struct camp_task *previous,
                                         struct camp_task_utilisation *ret, size_t size,
                                         struct camp_error *error);

#ifdef __cplusplus
}
#endif

#endif
