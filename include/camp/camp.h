/*
 * camp.h - the counters of a computer: CPUs, memory, networks, disks, processes, threads.
 *
 * The contract of every function here:
 *
 * - The library is stateless and thread-safe: it has no global variable, no cache and no thread.
 *   Each call opens what it reads, reads one consistent point in time, and closes it. A caller that
 *   reads the same file repeatedly can own a struct camp_reader, which keeps only the file
 *   descriptor open. A value is never older than the call that returned it.
 * - No function prints, exits or allocates memory. All memory belongs to the caller.
 * - Counters are raw and cumulative. camp_difference() and the functions below it turn two readings
 *   into rates and percentages.
 * - The last word of a name is its unit, such as _ns, _bytes or _percent. A name without a unit is
 *   a plain number.
 * - If a value is unknown, its bit in `known` is cleared, and the value is 0.
 * - Where the system counts one time as a part of another, the library subtracts it. For example,
 *   user_ns does not contain guest_ns.
 * - Structs may grow at their end in later versions. Each function that fills a struct therefore
 *   gets the size that the caller knows. Bytes that the library does not know are set to zero. No
 *   byte beyond the size is written. For an array, the size is that of one element, which is also
 *   the distance between two elements.
 * - A result is CAMP_OK (0), a positive remark (CAMP_RESET), or a negative error (CAMP_E_*). After
 *   an error, only *error is written, and *ret_count where the function documents it. Elements of
 *   an array may have been written, but they are meaningless then.
 * - An array of the caller has space for `capacity` elements. *ret_count is set to the number of
 *   elements that the system has. If this number is larger than `capacity`, the result is
 *   CAMP_E_SPACE, and the first `capacity` elements are filled. A second call should pass more
 *   space than *ret_count, because there may be more elements by then.
 *
 * Each number has a provenance (enum camp_provenance), which says how the number was obtained.
 * docs/counters.md lists all numbers with their provenance and resolution.
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

enum camp_result {
    CAMP_OK = 0,
    CAMP_RESET = 1, /* camp_difference() only: the counter was set to zero between the readings */
    CAMP_E_INVALID = -1, /* an argument is wrong */
    CAMP_E_NOTSUP = -2,  /* this system, kernel or configuration does not have this counter */
    CAMP_E_PERM = -3,    /* a capability or permission is missing, which the message names */
    CAMP_E_GONE = -4,    /* the process, thread, CPU, interface or disk no longer exists */
    CAMP_E_SPACE = -5,   /* the array is too small; *ret_count says how many elements are needed */
    CAMP_E_NOMEM = -6,   /* the kernel has no memory or descriptor left; try again later */
    CAMP_E_IO = -7,      /* reading failed; system_error says why */
    CAMP_E_FORMAT = -8   /* a file does not have the format that the library expects */
};

/* Enough for the longest path (PATH_MAX, 4,096 bytes on Linux) and a sentence about it. */
#define CAMP_ERROR_SIZE 4608

/* An error message for people. Functions take a pointer to it as their last argument, which is NULL
 * if the caller needs no message. */
struct camp_error {
    int32_t code;         /* enum camp_result */
    int32_t system_error; /* errno, or 0 */
    /* One line without a newline; it ends with what the caller can do. */
    char message[CAMP_ERROR_SIZE];
};

/* Returns the short English name of a result: "gone", "not supported". Never NULL. */
CAMP_PUBLIC const char *camp_result_name(int result);

/* Returns the version of the loaded library, such as "0.1.0". The version of this header may
 * differ. */
CAMP_PUBLIC const char *camp_version(void);

/* Where to read. If a function gets NULL instead of a source, it reads this machine, by all
 * available means. If it gets a source, it reads only files below the two folders of the source,
 * such as fixtures or the /proc of a host in a container. It then uses no other system calls, no
 * clocks and no netlink. If a member is NULL, "/proc" or "/sys" is read. */
struct camp_source {
    const char *proc;
    const char *sys;
};

enum camp_provenance {
    CAMP_UNKNOWN = 0,
    CAMP_MEASURED = 1, /* from timestamps at each change of state, or counted at each event */
    CAMP_SAMPLED = 2,  /* whole clock ticks, charged to the task that runs at the tick */
    CAMP_SCALED = 3,   /* a measured total, divided in the proportion of samples */
    CAMP_DERIVED = 4   /* calculated from other numbers */
};

/* Returns "measured", "sampled", "scaled", "derived" or "unknown". Never NULL. */
CAMP_PUBLIC const char *camp_provenance_name(int provenance);

#define CAMP_NAME_SIZE 64 /* size of the name of an interface, disk or process, with a NUL */

#define CAMP_CPU_TOTAL (-1) /* all CPUs together, where the id of a CPU is expected */

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
 * The time of one CPU since boot, by what the CPU did. The fields are disjoint. If the kernel
 * measured all of them, their differences over an interval would add up to its wall time. On Linux
 * the sum is often different, because some fields are sampled and some are measured. `camp check`
 * shows the difference.
 *
 * On Linux the fields are read from /proc/stat, with a resolution of 1/100 s:
 *
 * - user, nice, system, irq, softirq, guest and guest_nice are sampled at the clock tick, unless
 *   struct camp_kernel says that they are measured.
 * - idle and iowait are measured if the clock tick stops on idle CPUs (NO_HZ), and sampled
 *   otherwise. iowait may go backwards.
 * - steal is what the hypervisor reports.
 */
struct camp_cpu {
    int32_t cpu;      /* id, or CAMP_CPU_TOTAL; ids of offline CPUs are missing */
    uint32_t known;   /* enum camp_cpu_field */
    uint64_t time_ns; /* CLOCK_MONOTONIC at the reading */
    uint64_t user_ns; /* without guest_ns */
    uint64_t nice_ns; /* user time of niced tasks, without guest_nice_ns */
    uint64_t system_ns;
    uint64_t idle_ns;   /* without iowait_ns */
    uint64_t iowait_ns; /* idle time while a task that last ran on this CPU waited for a disk */
    uint64_t irq_ns;
    uint64_t softirq_ns;
    uint64_t steal_ns; /* time ready to run, while the hypervisor ran something else */
    uint64_t guest_ns; /* time in which the CPU ran a virtual machine */
    uint64_t guest_nice_ns;
};

/* Counts the CPUs that are online. On Linux it counts the cpuN lines of /proc/stat. */
CAMP_PUBLIC int camp_cpu_count(const struct camp_source *source, size_t *ret_count,
                               struct camp_error *error);

/* Fills ids[capacity] with the ids of the online CPUs, ascending. Ids of offline CPUs are
 * missing. */
CAMP_PUBLIC int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                              size_t *ret_count, struct camp_error *error);

/* Reads one CPU, or CAMP_CPU_TOTAL. The result is CAMP_E_GONE if the CPU is offline or does not
 * exist. */
CAMP_PUBLIC int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret,
                              size_t size, struct camp_error *error);

/* Fills cpus[capacity], `size` bytes apart. The total comes first (its cpu is CAMP_CPU_TOTAL), then
 * each online CPU, ascending by id. All elements are read at one point in time. */
CAMP_PUBLIC int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

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

/* Physical memory and swap. On Linux they are read from /proc/meminfo, or by sysinfo(2) if it has
 * all fields that are wanted. sysinfo(2) has total, free, buffers and swap, and is ten times
 * cheaper. The resolution is one page. */
struct camp_memory {
    uint32_t known; /* enum camp_memory_field */
    uint32_t reserved;
    uint64_t time_ns;
    uint64_t total_bytes;
    uint64_t free_bytes;      /* not in use, not even as a cache */
    uint64_t available_bytes; /* estimate of what a new program could get without swapping */
    uint64_t buffers_bytes;   /* pages of block devices */
    uint64_t cached_bytes;    /* page cache, tmpfs and shared memory, without buffers_bytes */
    uint64_t swap_total_bytes;
    uint64_t swap_free_bytes;
};

/* Reads memory. `wanted` are the fields that the caller needs (enum camp_memory_field). The
 * cheapest source that has all wanted fields is read. If the source has further fields, they are
 * filled, too. */
CAMP_PUBLIC int camp_memory_read(const struct camp_source *source, uint32_t wanted,
                                 struct camp_memory *ret, size_t size, struct camp_error *error);

/* The counters of one network interface, as its driver counts them. On Linux they are read from
 * /proc/net/dev of the network namespace of the caller. They have 64 bits, or 32 bits in some
 * drivers of 32-bit kernels. */
struct camp_network {
    char name[CAMP_NAME_SIZE];
    uint64_t time_ns;
    uint64_t received_bytes;
    uint64_t received_packets;
    uint64_t received_errors;
    uint64_t received_drops; /* packets dropped by the kernel (no space) or missed by the device */
    uint64_t sent_bytes;
    uint64_t sent_packets;
    uint64_t sent_errors;
    uint64_t sent_drops;
};

/* Reads one interface. The result is CAMP_E_GONE if no interface has this name. */
CAMP_PUBLIC int camp_network_read(const struct camp_source *source, const char *name,
                                  struct camp_network *ret, size_t size, struct camp_error *error);

/* Fills networks[capacity], `size` bytes apart, with all interfaces, in the order of the system.
 * Each `name` is valid for camp_network_read(). */
CAMP_PUBLIC int camp_network_read_all(const struct camp_source *source,
                                      struct camp_network *networks, size_t size, size_t capacity,
                                      size_t *ret_count, struct camp_error *error);

enum camp_disk_kind {
    CAMP_DISK_ANY = 0, /* only as an argument: both kinds */
    CAMP_DISK_WHOLE = 1,
    CAMP_DISK_PARTITION = 2
};

/*
 * The counters of one disk or partition. The counters of a disk include those of its partitions, so
 * the two kinds must not be added up.
 *
 * On Linux they are read from /proc/diskstats (all disks) or /sys/class/block/NAME/stat (one disk).
 * Requests are counted when they complete, after merging. Each request adds its own time to read_ns
 * or write_ns, even if requests overlap. busy_ns is the time with at least one request in flight.
 * The kernel prints times as 32-bit numbers of ms, which wrap after 49.7 days. To correct a wrap,
 * divide the times by 1000000 and call camp_difference() with 32 bits.
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
    uint64_t in_flight; /* requests in flight now; this is the only field that can go down */
    uint64_t busy_ns;
    uint64_t queue_ns; /* number of requests in flight, added up over time */
};

/* Reads one disk or partition. The result is CAMP_E_GONE if no disk or partition has this name. */
CAMP_PUBLIC int camp_disk_read(const struct camp_source *source, const char *name,
                               struct camp_disk *ret, size_t size, struct camp_error *error);

/* Fills disks[capacity], `size` bytes apart, with the disks of the requested kind. Each disk is
 * followed by its partitions. Each `name` is valid for camp_disk_read(). */
CAMP_PUBLIC int camp_disk_read_all(const struct camp_source *source, int kind,
                                   struct camp_disk *disks, size_t size, size_t capacity,
                                   size_t *ret_count, struct camp_error *error);

/* The identity of a process. If the pid is reused, the new process has another start time, and
 * reading the old process returns CAMP_E_GONE. */
struct camp_process {
    int32_t pid;
    uint32_t reserved;
    /* Start of the process, in the unit of the system; on Linux, clock ticks after boot. */
    uint64_t start;
};

/* The identity of a thread. For the first thread of a process, tid equals pid. */
struct camp_thread {
    int32_t pid;
    int32_t tid;
    uint64_t start;
};

/* An entry of the process table. It costs less to read than struct camp_process, for callers that
 * watch all processes. */
struct camp_pid {
    int32_t pid;
    uint32_t reserved;
    /* If pid and token are the same as before, the process is the same. If the token differs,
     * another process may have the pid, which camp_process_identify() tells. On Linux the token is
     * the inode of /proc/PID. */
    uint64_t token;
};

enum camp_task_field {
    CAMP_TASK_CPU = 1u << 0,
    CAMP_TASK_SPLIT = 1u << 1,   /* user_ns and system_ns */
    CAMP_TASK_SAMPLED = 1u << 2, /* sampled_ns, which only taskstats has */
    CAMP_TASK_RUN_DELAY = 1u << 3,
    CAMP_TASK_FAULTS = 1u << 4,
    CAMP_TASK_SIZE = 1u << 5, /* virtual_bytes and resident_bytes */
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
 * What a process or one thread has used since its start. The numbers of a process include all its
 * threads, also exited ones unless the field says "living threads". Where two files of /proc are
 * named, the first is tried first. The files of a thread are those in /proc/PID/task/TID.
 */
struct camp_task {
    uint32_t known;      /* enum camp_task_field */
    int32_t parent;      /* pid of the parent; 0 if the task has no parent */
    uint64_t time_ns;    /* CLOCK_MONOTONIC at the reading */
    uint64_t start;      /* start of the identity (struct camp_process or camp_thread) */
    uint64_t started_ns; /* CLOCK_BOOTTIME at the start of the task; resolution 1/100 s */
    /* Time on a CPU, measured. For a process it is read from its CPU clock (resolution 1 ns), or
     * else it is utime + stime of stat (1/100 s). For a thread it is read from schedstat (1 ns), or
     * else from stat. While the task runs on another CPU, the time can be up to one clock tick too
     * low. This error does not accumulate. */
    uint64_t cpu_ns;
    /* From /proc/PID/stat (1/100 s). The kernel divides the measured time in the proportion of
     * samples. */
    uint64_t user_ns;
    uint64_t system_ns;
    int32_t split_provenance; /* provenance of user_ns and system_ns (enum camp_provenance) */
    int32_t cpu_provenance;   /* provenance of cpu_ns */
    uint64_t cpu_resolution_ns;
    uint64_t sampled_ns; /* time sampled at clock ticks, from taskstats */
    /* Time in which living threads were runnable, but not running, from /proc/PID/schedstat. */
    uint64_t run_delay_ns;
    uint64_t minor_faults; /* from /proc/PID/stat */
    uint64_t major_faults;
    uint64_t virtual_bytes; /* from /proc/PID/stat */
    /* From /proc/PID/stat. It is up to 63 pages a thread too low or too high, because the kernel
     * updates it in batches. */
    uint64_t resident_bytes;
    uint64_t threads;            /* number of living threads, from /proc/PID/stat */
    uint64_t voluntary_switches; /* of living threads, from /proc/PID/status */
    uint64_t involuntary_switches;
    /* Bytes read from storage, from /proc/PID/io. This file can be read for own processes, or with
     * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH (which opens the file). */
    uint64_t read_bytes;
    uint64_t written_bytes;    /* written to storage; cancelled writes are not subtracted */
    char state;                /* R S D T t Z X or I, as in proc(5) */
    char name[CAMP_NAME_SIZE]; /* name of the task (comm), which may contain any byte but NUL */
};

/* Fills pids[capacity], `size` bytes apart, ascending, with every process that is visible to the
 * caller, including kernel threads. */
CAMP_PUBLIC int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                              size_t capacity, size_t *ret_count, struct camp_error *error);

/* Counts the tasks (processes and threads) started since boot, including exited ones. The
 * difference of two readings therefore includes short-lived tasks. On Linux it is `processes` of
 * /proc/stat. */
CAMP_PUBLIC int camp_fork_count(const struct camp_source *source, uint64_t *ret_count,
                                struct camp_error *error);

/* Returns the identity of the process that has this pid now. The result is CAMP_E_GONE if there is
 * none. */
CAMP_PUBLIC int camp_process_identify(const struct camp_source *source, int32_t pid,
                                      struct camp_process *ret, size_t size,
                                      struct camp_error *error);

/* Fills processes[capacity], `size` bytes apart, ascending by pid, with every process that is
 * visible to the caller. Processes that exit during the call are left out. */
CAMP_PUBLIC int camp_process_list(const struct camp_source *source, struct camp_process *processes,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* Like camp_process_list(), but fills in only processes whose executable has this name, which is
 * the last component of the path. For a deleted executable, its former name is compared. If the
 * executable is unreadable (a process of another user), argv[0] is compared instead. For a kernel
 * thread, its name is compared. If no process is found, the result is CAMP_OK, and *ret_count is
 * 0. */
CAMP_PUBLIC int camp_process_find(const struct camp_source *source, const char *executable,
                                  struct camp_process *processes, size_t size, size_t capacity,
                                  size_t *ret_count, struct camp_error *error);

/* Reads a process. `wanted` are the fields that the caller needs (enum camp_task_field). Only the
 * files that have these fields are read, the cheapest first. If a field is unreadable for lack of
 * permission, its bit is cleared, and the call does not fail. The result is CAMP_E_GONE if the
 * process has exited, even if another process has its pid now. */
CAMP_PUBLIC int camp_process_read(const struct camp_source *source,
                                  const struct camp_process *process, uint32_t wanted,
                                  struct camp_task *ret, size_t size, struct camp_error *error);

/* Fills threads[capacity], `size` bytes apart, ascending by tid, with the living threads of a
 * process. */
CAMP_PUBLIC int camp_thread_list(const struct camp_source *source,
                                 const struct camp_process *process, struct camp_thread *threads,
                                 size_t size, size_t capacity, size_t *ret_count,
                                 struct camp_error *error);

CAMP_PUBLIC int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                                 uint32_t wanted, struct camp_task *ret, size_t size,
                                 struct camp_error *error);

/* Reads the measured CPU time of the process that has this pid now, from its CPU clock. This is the
 * cheapest function: one system call, no file, for a process of any user. The function does not
 * notice that a pid was reused, unlike camp_process_cpu_ns(). The result is CAMP_E_GONE if there is
 * no such process. */
CAMP_PUBLIC int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns);

/* Like camp_pid_cpu_ns(), but checks the identity of the process. So it also reads the start
 * time. */
CAMP_PUBLIC int camp_process_cpu_ns(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_ns,
                                    struct camp_error *error);

/* An open file descriptor, for reading the same file repeatedly. A reader always reads the file for
 * which it was opened. Threads that share a reader need a lock. */
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
/* Opens the stat file of one process. After the process has exited, each reading returns
 * CAMP_E_GONE, even if its pid is reused. */
CAMP_PUBLIC int camp_reader_open_process(struct camp_reader *reader,
                                         const struct camp_source *source,
                                         const struct camp_process *process,
                                         struct camp_error *error);

/* These functions read like camp_cpu_read_all(), camp_memory_read(), camp_network_read_all(),
 * camp_disk_read_all() and camp_process_read(). camp_reader_process() fills only the fields that
 * are in stat and in the CPU clock. */
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

/* Does nothing if the reader is closed already, or is CAMP_READER_NONE. */
CAMP_PUBLIC void camp_reader_close(struct camp_reader *reader);

#define CAMP_READER_NONE                                                                           \
    {                                                                                              \
        .descriptor = -1                                                                           \
    }

/*
 * A session of taskstats on Linux, over generic netlink (libmnl). Taskstats has the sampled and the
 * measured time of a task in one message, and sends a record of every task that exits. It needs
 * CAP_NET_ADMIN in the initial namespaces. On other systems camp_taskstats_open() returns
 * CAMP_E_NOTSUP.
 */
struct camp_taskstats {
    int32_t descriptor; /* after camp_taskstats_listen(), readable for poll(2) when records wait */
    uint16_t family;
    uint16_t version; /* TASKSTATS_VERSION of the kernel; 0 until the first message arrives */
    uint32_t listening;
    uint32_t sequence;
    /* Number of messages (tasks) that the kernel dropped for lack of space, since the session was
     * opened. */
    uint64_t overruns;
};

#define CAMP_TASKSTATS_NONE                                                                        \
    {                                                                                              \
        .descriptor = -1                                                                           \
    }

/* One process, read from taskstats. The numbers include all threads of the process, also exited
 * threads. The comments name the members of the kernel's struct taskstats. */
struct camp_taskstat {
    int32_t pid;
    /* CAMP_OK, or CAMP_E_GONE if there is no such process; the other fields are 0 then. */
    int32_t result;
    uint64_t measured_ns; /* cpu_run_virtual_total, which is sum_exec_runtime */
    uint64_t sampled_ns;  /* cpu_run_real_total, which is utime + stime as charged at clock ticks */
    uint64_t run_delay_ns;       /* cpu_delay_total: time runnable, but not running */
    uint64_t runs;               /* cpu_count: how often the process was put on a CPU */
    uint64_t voluntary_switches; /* of living threads only */
    uint64_t involuntary_switches;
};

/*
 * The record of an exited task. A process of one thread has one record, with is_process 1. A
 * process of several threads has one record for each thread (is_process 0), and a record for the
 * whole process (is_process 1) when its last thread exits. Kernels before 5.19 (version below 12)
 * do not say to which kind a record belongs if it comes alone. In such a record, pid and is_process
 * are 0. On these kernels, add up only the records with is_process 0.
 *
 * The kernel writes the record early in the exit, without updating the clock of the task. So
 * measured_ns ends at the last clock tick or switch of the task. The CPU time after that moment, up
 * to one tick, is in no record. For tasks of 2 ms and ticks of 4 ms, more than half of the time was
 * missing.
 *
 * at_most_ns is an upper limit of the true CPU time. If the task never slept (voluntary_switches is
 * 0), the limit is its CPU time, with two exceptions: some 50 us of its fork, and stolen time,
 * which is part of elapsed_ns. The kernel frees the memory of the task after it has written the
 * record.
 */
struct camp_task_exit {
    /* Pid of its process; 0 if unknown (kernels before 5.19 do not report it for a thread). */
    int32_t pid;
    int32_t tid;
    /* Pid of its parent at the exit; 1 or a subreaper if the original parent had exited before. */
    int32_t parent;
    uint32_t is_process;
    uint32_t user_id;
    uint32_t exit_code;
    uint64_t measured_ns;
    uint64_t sampled_ns;
    uint64_t run_delay_ns;
    uint64_t elapsed_ns; /* from the start to the end of the task; resolution 1 us */
    uint64_t began_s;    /* wall clock at the start of the task, in seconds since 1970 */
    /* For a whole process, name, user_id and exit_code are those of its last thread. */
    char name[CAMP_NAME_SIZE];
    /* The smaller of elapsed_ns - run_delay_ns and measured_ns + one tick; for a whole process,
     * measured_ns and the time of its last thread that is in no record. */
    uint64_t at_most_ns;
    /* How often the task slept; for a whole process, how often its last thread slept. */
    uint64_t voluntary_switches;
};

/* Opens a session. CAMP_E_PERM means that CAP_NET_ADMIN is missing. CAMP_E_NOTSUP means one of
 * three things: the kernel was built without taskstats, the network namespace has none, or Linux
 * before 5.14 was booted with nodelayacct, and then counts nothing. */
CAMP_PUBLIC int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error);
CAMP_PUBLIC void camp_taskstats_close(struct camp_taskstats *taskstats);

/* Reads the processes pids[count] into tasks[count], `size` bytes apart, in the same order, each
 * with its result. One system call sends many requests. The session must not listen: a caller that
 * needs both opens two sessions. A zombie reads as zeros, because its times were in its exit
 * record. `runs` of a zombie is 0, unlike that of any process that ever ran. After a failure the
 * first elements of tasks[] may have been filled. */
CAMP_PUBLIC int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids,
                                    size_t count, struct camp_taskstat *tasks, size_t size,
                                    struct camp_error *error);

/* From now on, each task that exits is recorded for camp_taskstats_exits(). Tasks of all CPUs are
 * recorded, also of CPUs that come online later. The result is CAMP_E_PERM outside of the initial
 * pid and user namespace. */
CAMP_PUBLIC int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error);

/* Fills exits[capacity], `size` bytes apart, with the waiting records, oldest first. The function
 * never blocks. Call it until *ret_count is less than `capacity`. taskstats->overruns grows by the
 * number of tasks whose records the kernel dropped since the last call. After CAMP_E_FORMAT,
 * *ret_count records were filled. */
CAMP_PUBLIC int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                                     size_t size, size_t capacity, size_t *ret_count,
                                     struct camp_error *error);

enum camp_accounting {
    CAMP_ACCOUNTING_UNKNOWN = 0,
    CAMP_ACCOUNTING_TICK = 1,       /* user and system are sampled (TICK_CPU_ACCOUNTING) */
    CAMP_ACCOUNTING_GEN = 2,        /* measured on nohz_full CPUs, and sampled on the others */
    CAMP_ACCOUNTING_NATIVE = 3,     /* user and system are measured (s390x, POWER) */
    CAMP_ACCOUNTING_MICROSTATES = 4 /* user and system are measured (Solaris) */
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

/* What this kernel counts, and how. On Linux a fact is read where the running kernel shows it, for
 * example clock_getres(2) of the coarse clock for the tick, nohz_full, or an answer over netlink.
 * Otherwise it is read from /boot/config-RELEASE. If both fail, the fact is unknown.
 * /proc/config.gz is not read. */
struct camp_kernel {
    uint32_t known;     /* enum camp_kernel_field: the fields below that are certain */
    int32_t accounting; /* enum camp_accounting */
    uint32_t tick_hz;   /* clock ticks a second (HZ) */
    uint32_t user_hz;   /* times in /proc have a resolution of 1/user_hz s: sysconf(_SC_CLK_TCK) */
    /* 1 if the tick stops on idle CPUs, which makes idle and iowait measured. */
    int32_t tickless_idle;
    int32_t irq_time;   /* 1 if interrupt time is measured (IRQ_TIME_ACCOUNTING) */
    int32_t sched_info; /* 1 if /proc/PID/schedstat counts */
    int32_t schedstats; /* 1 if /proc/schedstat exists */
    int32_t taskstats;  /* 1 if taskstats answers in this network namespace */
    /* 1 if delay accounting is switched on; CPU times of taskstats do not need it. */
    int32_t delay_accounting;
    int32_t psi;            /* 1 if /proc/pressure answers */
    int32_t btf;            /* 1 if /sys/kernel/btf/vmlinux exists */
    int32_t cgroup_version; /* 1, 2, or 3 for both (hybrid) */
    int32_t steal;          /* 1 if this is a virtual machine whose hypervisor reports steal time */
    /* Effective capabilities of this process; the bit is the number of the capability. */
    uint64_t capabilities;
    char release[CAMP_NAME_SIZE];
    char machine[CAMP_NAME_SIZE];
    /* List ("1-3,5") of CPUs on which user and system are measured. */
    char measured_cpus[CAMP_NAME_SIZE];
};

CAMP_PUBLIC int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret,
                                 size_t size, struct camp_error *error);

/* Returns after - before, for a counter of 32 or 64 `bits`. If `after` is smaller than `before` by
 * more than half of the range, the counter has wrapped, and the difference is corrected. If `after`
 * is smaller by less than half of the range, the counter was reset. The result is then CAMP_RESET,
 * and the difference is `after`, which is the count since the reset. */
CAMP_PUBLIC int camp_difference(uint64_t before, uint64_t after, unsigned bits, uint64_t *ret);

/* Returns camp_difference() per second. The result is CAMP_E_INVALID if no time has passed. */
CAMP_PUBLIC int camp_rate(uint64_t before, uint64_t after, unsigned bits, uint64_t elapsed_ns,
                          double *ret_per_second);

/* The time of one CPU between two readings, in percent of wall time. For CAMP_CPU_TOTAL it is in
 * percent of the wall time of all CPUs. There are two counts of busy time, which often disagree. */
struct camp_utilisation {
    /* 100 - idle - iowait; it includes time that the hypervisor stole while the CPU was busy. */
    double measured_busy_percent;
    double sampled_busy_percent; /* user + nice + system + irq + softirq + guest + guest_nice */
    double idle_percent;
    double iowait_percent;
    double steal_percent;
    /* Sum of all fields of struct camp_cpu; 100 if nothing is missing or counted twice. */
    double sum_percent;
    uint64_t elapsed_ns;
    /* One unit of /proc/stat in percent of the interval; no percentage above is more precise. */
    double resolution_percent;
};

/* Compares two readings of the same CPU. `cpus` is the number of CPUs that the readings cover: 1,
 * or for CAMP_CPU_TOTAL the number of CPUs. A counter that went backwards, as iowait may, counts as
 * 0. The result is CAMP_E_INVALID if no time passed between the readings, and CAMP_E_NOTSUP if the
 * idle time is unknown. */
CAMP_PUBLIC int camp_cpu_difference(const struct camp_cpu *before, const struct camp_cpu *after,
                                    size_t cpus, struct camp_utilisation *ret, size_t size);

/* Reads a CPU, blocks for interval_ms (such as CAMP_DEFAULT_INTERVAL_MS), and reads the CPU again.
 * If interval_ms is 0, the function never blocks: *previous is then the earlier reading, and is set
 * to the new one. `previous` may be NULL if interval_ms is not 0. The paper calls this function
 * GetPercentProcessorTime. */
CAMP_PUBLIC int camp_cpu_utilisation(const struct camp_source *source, int32_t cpu,
                                     unsigned interval_ms, struct camp_cpu *previous,
                                     struct camp_utilisation *ret, size_t size,
                                     struct camp_error *error);

#define CAMP_DEFAULT_INTERVAL_MS 100u

/* CPU time of a process in percent of one CPU. cpu_percent is measured. user_percent and
 * system_percent are scaled: the kernel divides the measured time in the proportion of samples,
 * with a resolution of 1/100 s. `previous` of camp_process_utilisation() is an earlier
 * camp_process_read() of CAMP_TASK_CPU and CAMP_TASK_SPLIT. */
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
