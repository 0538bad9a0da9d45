/*
 * camp.h - the counters of a computer: CPUs, memory, networks, disks, processes, threads.
 *
 * The contract of every function here:
 *
 * - The library is stateless and thread-safe: it has no global variable, no cache and no thread.
 *   Each call opens its files, reads them and closes them, so a value is never older than the call.
 *   Only a struct camp_reader, which the caller owns, keeps a file open between calls.
 * - No function prints or exits. All memory belongs to the caller: nothing that a function returns
 *   must be freed. On Linux no function allocates memory. On other systems a call may, and frees
 *   the memory before it returns; an open struct camp_reader keeps its memory.
 * - Counters are raw and cumulative. camp_difference() and the functions declared after it turn two
 *   readings into rates and percentages.
 * - The last word of a field's name is its unit, such as _ns, _bytes or _percent. A field without a
 *   unit is a plain number.
 * - If a value is unknown, its bit in `known` is cleared, and the value is 0.
 * - The times of a CPU (struct camp_cpu) do not overlap. For example, Linux counts guest time as
 *   user time too, but user_ns does not contain guest_ns.
 * - Structs may grow at their end in later versions, so the caller passes the `size` of its struct.
 *   If the struct of the library is smaller, the rest of the caller's struct is set to zero. If it
 *   is larger, only `size` bytes are written. For an array, `size` is that of one element.
 * - A result is CAMP_OK (0), CAMP_RESET (positive) or an error CAMP_E_* (negative). After an error,
 *   all output except *error is meaningless, unless the comment of the function says otherwise.
 * - An array of the caller has space for `capacity` elements. *ret_count is set to the number of
 *   elements that the system has. If this number is larger than `capacity`, the result is
 *   CAMP_E_SPACE, and the first `capacity` elements are filled. The caller should then pass more
 *   space than *ret_count, because the number may have grown by the next call. If `capacity` is 0,
 *   the array may be NULL: the call only counts, and the result is CAMP_E_SPACE unless the system
 *   has no element. Two functions count what they return instead: with a `capacity` of 0,
 *   camp_states_exits() sets *ret_count to 0, and camp_taskstats_exits() returns CAMP_E_INVALID.
 *
 * Each number has a provenance (enum camp_provenance), which says how the number was obtained.
 * docs/counters.md lists all numbers with their provenance and resolution.
 *
 * Errors. The comment of each function lists its errors, with the reason where it is not plain from
 * enum camp_result. On a system that cannot read a counter, its function returns CAMP_E_NOTSUP.
 * CAMP_E_INVALID is returned for a NULL pointer, unless the comment of the function allows NULL;
 * the message names the argument. If a folder of struct camp_source does not have the file with the
 * numbers, the result is CAMP_E_GONE. If its path is too long, the result is CAMP_E_INVALID or
 * CAMP_E_IO.
 *
 * Threads, signals and fork(2):
 *
 * - Threads may call any function at the same time. Only an object that the caller keeps between
 *   calls (struct camp_reader, struct camp_taskstats) needs a lock if several threads use it.
 * - A call needs less than 96 KiB of stack.
 * - A read that a signal interrupts is continued. Only the wait of camp_cpu_utilisation() and of
 *   camp_process_utilisation() ends early when a signal handler has run.
 * - A signal handler may call camp_difference(), camp_rate(), camp_pid_cpu_ns(), and the functions
 *   that return the name of a number. No other function is async-signal-safe. Every function may
 *   change errno.
 * - No function blocks or handles signals, starts a process, or waits for one.
 * - The child of fork(2) may call every function. If the process had several threads, the child
 *   passes NULL as `error`: libc may take a lock and allocate memory for the text of an error.
 * - The child of fork(2) has its own copy of each open reader, which it reads independently of the
 *   parent, and closes. It shares a session of taskstats with the parent: see linux.h. No
 *   descriptor stays open after exec.
 * - Calls open files, so they are cancellation points of POSIX threads: a thread that is cancelled
 *   in a call may leave a descriptor open.
 */
#ifndef CAMP_CAMP_H
#define CAMP_CAMP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program that links the static library on Windows defines CAMP_STATIC. */
#if defined(_WIN32) && defined(CAMP_BUILDING)
#define CAMP_PUBLIC __declspec(dllexport)
#elif defined(_WIN32) && !defined(CAMP_STATIC)
#define CAMP_PUBLIC __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define CAMP_PUBLIC __attribute__((visibility("default")))
#else
#define CAMP_PUBLIC
#endif

/* === camp_error: results, errors and the version of the library === */

enum camp_result {
    CAMP_OK = 0,
    CAMP_RESET = 1,      /* camp_difference() and camp_rate() only: the counter restarted at zero */
    CAMP_E_INVALID = -1, /* an argument is wrong */
    CAMP_E_NOTSUP = -2,  /* this system, kernel or configuration does not have this counter */
    CAMP_E_PERM = -3,    /* a capability or permission is missing; the message says which */
    CAMP_E_GONE = -4,    /* the process, thread, CPU, interface or disk does not exist (any more) */
    CAMP_E_SPACE = -5,   /* the array is too small; *ret_count says how many elements are needed */
    CAMP_E_NOMEM = -6,   /* no memory or file descriptors are left; try again later */
    CAMP_E_IO = -7,      /* reading failed; system_error says why */
    CAMP_E_FORMAT = -8   /* a file does not have the format that the library expects */
};

/* Enough for the longest path (PATH_MAX, 4,096 bytes on Linux) and a sentence about it. */
#define CAMP_ERROR_SIZE 4608

/* An error message for people. A caller that needs no message passes NULL. Each error fills
 * the struct. After CAMP_OK it is unchanged, or has the failure of a first attempt, after which a
 * second one succeeded: test the result, not the message. */
struct camp_error {
    int32_t code;         /* enum camp_result */
    int32_t system_error; /* errno (on Windows: GetLastError()), or 0 */
    /* One line without a newline. Its end says what the caller can do. */
    char message[CAMP_ERROR_SIZE];
};

/* Returns the English name of a result, such as "not supported". Never NULL. */
CAMP_PUBLIC const char *camp_result_name(int result);

/* Returns the version of the loaded library, such as "0.1.0". It may differ from that of this
 * header. */
CAMP_PUBLIC const char *camp_version(void);

/* === camp_source: where numbers are read, and how they were obtained === */

/* The folders that are read instead of /proc and /sys of Linux. They may have test data, or be the
 * /proc and /sys of a host, mounted in a container. A NULL member stands for "/proc" or "/sys". All
 * values come from files in these folders, none from other system calls or netlink. A function that
 * gets NULL instead of a struct camp_source reads this machine by all available means. On illumos
 * only processes and threads can be read from a folder (`proc`), on Windows nothing: what cannot be
 * read is CAMP_E_NOTSUP. */
struct camp_source {
    const char *proc;
    const char *sys;
};

enum camp_provenance {
    CAMP_UNKNOWN = 0,
    CAMP_MEASURED = 1, /* from timestamps at each change, or counted at each event */
    CAMP_SAMPLED = 2,  /* whole clock ticks, charged to the task that runs at the tick */
    CAMP_SCALED = 3,   /* a measured total, divided in proportion to sampled parts */
    CAMP_DERIVED = 4   /* calculated from other numbers */
};

/* Returns "measured", "sampled", "scaled", "derived" or "unknown". Never NULL. */
CAMP_PUBLIC const char *camp_provenance_name(int provenance);

#define CAMP_NAME_SIZE 64 /* bytes for the name of a disk or task, with its NUL */

/* Bytes for the name of a network interface, with its NUL. On Windows the alias of an interface has
 * up to 256 UTF-16 units, each of which may need three bytes in UTF-8. */
#if defined(_WIN32)
#define CAMP_NETWORK_NAME_SIZE 776
#else
#define CAMP_NETWORK_NAME_SIZE CAMP_NAME_SIZE
#endif

/* === camp_cpu: the times of CPUs === */

#define CAMP_CPU_TOTAL (-1) /* passed or returned instead of a CPU's id: all CPUs together */

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
    CAMP_CPU_GUEST_NICE = 1u << 9,
    CAMP_CPU_IDLE_CYCLES = 1u << 10
};

/*
 * The time of one CPU since boot, by what the CPU did. The times do not overlap. If all were
 * measured, they would grow together by 1 s in each second. On Linux some are sampled and some
 * are measured, so the sum is often wrong. `camp check` shows by how much.
 *
 * On Linux the fields are read from /proc/stat, with a resolution of 1/100 s:
 *
 * - user, nice, system, irq, softirq, guest and guest_nice are sampled at the clock tick, unless
 *   struct camp_kernel says (accounting, irq_time) that they are measured.
 * - idle and iowait are measured if the clock tick stops on idle CPUs (tickless_idle), and sampled
 *   otherwise. Since Linux 7.2 they are also sampled in the idle periods in which the tick goes on,
 *   because a timer is due within a tick (short_idle_sampled), so camp calls them sampled. iowait
 *   may go backwards.
 * - steal is what the hypervisor reports.
 *
 * On Windows all are sampled at the clock tick: user, system, idle, irq (interrupts) and softirq
 * (deferred procedure calls). idle_cycles_ns is measured. On illumos all are measured: user, system
 * (with interrupts) and idle. camp_cpu_provenance() says which of them are measured.
 */
struct camp_cpu {
    int32_t cpu;            /* id, or CAMP_CPU_TOTAL; on Windows 64 * processor group + number */
    uint32_t known;         /* enum camp_cpu_field */
    uint64_t time_ns;       /* monotonic clock at the reading (CLOCK_MONOTONIC) */
    uint64_t resolution_ns; /* the smallest step of the times below, but idle_cycles_ns */
    uint64_t user_ns;       /* without guest_ns */
    uint64_t nice_ns;       /* user time of niced tasks, without guest_nice_ns */
    uint64_t system_ns;
    uint64_t idle_ns;   /* without iowait_ns */
    uint64_t iowait_ns; /* idle time while a task that last ran on this CPU waited for a disk */
    uint64_t irq_ns;
    uint64_t softirq_ns;
    uint64_t steal_ns; /* time ready to run, while the hypervisor ran something else */
    uint64_t guest_ns; /* time in which the CPU ran a virtual machine */
    uint64_t guest_nice_ns;
    /* Idle time once more, measured by the CPU's cycle counter, where the system counts both. On
     * Windows QueryIdleProcessorCycleTimeEx(), divided by cycles_hz of struct camp_kernel. */
    uint64_t idle_cycles_ns;
};

/* Counts the online CPUs. On Linux these are the lines cpuN of /proc/stat.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_cpu_count(const struct camp_source *source, size_t *ret_count,
                               struct camp_error *error);

/* Fills ids[capacity] with the ids of the online CPUs, ascending.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                              size_t *ret_count, struct camp_error *error);

/* Reads one CPU, or CAMP_CPU_TOTAL.
 * Errors: CAMP_E_INVALID (also for an id below CAMP_CPU_TOTAL), CAMP_E_NOTSUP, CAMP_E_PERM,
 * CAMP_E_GONE (the CPU is offline or does not exist), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret,
                              size_t size, struct camp_error *error);

/* Reads all CPUs. Fills cpus[capacity]: the total comes first (its cpu is CAMP_CPU_TOTAL), then
 * each online CPU, ascending by id. On Linux and Windows, all elements are of the same point in
 * time.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* === camp_memory: physical memory and swap === */

enum camp_memory_field {
    CAMP_MEMORY_TOTAL = 1u << 0,
    CAMP_MEMORY_FREE = 1u << 1,
    CAMP_MEMORY_AVAILABLE = 1u << 2,
    CAMP_MEMORY_BUFFERS = 1u << 3,
    CAMP_MEMORY_CACHED = 1u << 4,
    CAMP_MEMORY_SWAP_TOTAL = 1u << 5,
    CAMP_MEMORY_SWAP_FREE = 1u << 6,
    CAMP_MEMORY_COMMITTED = 1u << 7,
    CAMP_MEMORY_COMMIT_LIMIT = 1u << 8,
    CAMP_MEMORY_ALL = (1u << 9) - 1
};

/* Physical memory and swap. The resolution is one page. On Linux the values are read from
 * /proc/meminfo. If the caller wants only fields that sysinfo(2) has (total, free, buffers and
 * swap), and passes no source, they come from there, which is ten times cheaper. */
struct camp_memory {
    uint32_t known; /* enum camp_memory_field */
    uint32_t reserved;
    uint64_t time_ns;
    uint64_t total_bytes;
    uint64_t free_bytes;      /* not used, not even as a cache */
    uint64_t available_bytes; /* estimate of what a new program can get without swapping */
    uint64_t buffers_bytes;   /* pages of block devices */
    uint64_t cached_bytes;    /* page cache, tmpfs and shared memory, without buffers_bytes */
    uint64_t swap_total_bytes;
    uint64_t swap_free_bytes;
    uint64_t committed_bytes;    /* address space that the system has promised to back */
    uint64_t commit_limit_bytes; /* how much it can promise; on Linux a limit in mode 2 only */
};

/* Reads physical memory and swap. `wanted` are the fields that the caller needs (enum
 * camp_memory_field). Other fields may be filled too.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_memory_read(const struct camp_source *source, uint32_t wanted,
                                 struct camp_memory *ret, size_t size, struct camp_error *error);

/* === camp_network: the counters of network interfaces === */

enum camp_network_field {
    CAMP_NETWORK_RECEIVED_BYTES = 1u << 0,
    CAMP_NETWORK_RECEIVED_PACKETS = 1u << 1,
    CAMP_NETWORK_RECEIVED_ERRORS = 1u << 2,
    CAMP_NETWORK_RECEIVED_DROPS = 1u << 3,
    CAMP_NETWORK_SENT_BYTES = 1u << 4,
    CAMP_NETWORK_SENT_PACKETS = 1u << 5,
    CAMP_NETWORK_SENT_ERRORS = 1u << 6,
    CAMP_NETWORK_SENT_DROPS = 1u << 7,
    CAMP_NETWORK_ALL = (1u << 8) - 1
};

/* The counters of one network interface, as its driver counts them. On Linux they are read from
 * /proc/net/dev, which shows the caller's network namespace; on Windows by GetIfTable2(), on
 * illumos from the kstats link:0:NAME. Some drivers of 32-bit kernels count in 32 bits, all others
 * in 64 bits. */
struct camp_network {
    uint32_t known; /* enum camp_network_field */
    uint32_t reserved;
    uint64_t time_ns;
    uint64_t received_bytes;
    uint64_t received_packets;
    uint64_t received_errors;
    uint64_t received_drops; /* dropped by the kernel for lack of space, or missed by the device */
    uint64_t sent_bytes;
    uint64_t sent_packets;
    uint64_t sent_errors;
    uint64_t sent_drops;
    char name[CAMP_NETWORK_NAME_SIZE]; /* on Windows the alias, in UTF-8 */
};

/* Reads one interface.
 * Errors: CAMP_E_INVALID (also for an empty name), CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE (no
 * interface has this name), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_network_read(const struct camp_source *source, const char *name,
                                  struct camp_network *ret, size_t size, struct camp_error *error);

/* Reads all interfaces. Fills networks[capacity] in the order of the system.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_network_read_all(const struct camp_source *source,
                                      struct camp_network *networks, size_t size, size_t capacity,
                                      size_t *ret_count, struct camp_error *error);

/* === camp_disk: the counters of disks and partitions === */

enum camp_disk_kind {
    CAMP_DISK_ANY = 0, /* only as an argument: disks and partitions */
    CAMP_DISK_WHOLE = 1,
    CAMP_DISK_PARTITION = 2,
    /* Only as an argument: disks with a device of their own. Loop devices, RAM disks, RAID sets and
     * device-mapper volumes have none. On Linux a disk has one if /sys/block/NAME/device exists. */
    CAMP_DISK_PHYSICAL = 3
};

enum camp_disk_field {
    CAMP_DISK_READS = 1u << 0,
    CAMP_DISK_READ_BYTES = 1u << 1,
    CAMP_DISK_READ_TIME = 1u << 2,
    CAMP_DISK_WRITES = 1u << 3,
    CAMP_DISK_WRITTEN_BYTES = 1u << 4,
    CAMP_DISK_WRITE_TIME = 1u << 5,
    CAMP_DISK_IN_FLIGHT = 1u << 6,
    CAMP_DISK_BUSY = 1u << 7,
    CAMP_DISK_QUEUE = 1u << 8,
    CAMP_DISK_ALL = (1u << 9) - 1
};

/*
 * The counters of one disk or partition. The counters of a disk already include those of its
 * partitions.
 *
 * On Linux they are read from /proc/diskstats (all disks) or /sys/block (one disk). Adjacent
 * requests may be merged into one, which is counted when it completes. Each request adds its
 * duration to read_ns or write_ns, so overlapping requests add more than the wall time. The kernel
 * prints times as 32-bit numbers of ms, which wrap after 49.7 days. To correct a wrap, divide the
 * times by 1000000 and call camp_difference() with 32 bits. On Windows they come from
 * IOCTL_DISK_PERFORMANCE. On illumos they come from kstats of the class "disk" or "partition",
 * whose `reads` and `writes` have 32 bits.
 */
struct camp_disk {
    int32_t kind;   /* CAMP_DISK_WHOLE or CAMP_DISK_PARTITION */
    uint32_t known; /* enum camp_disk_field */
    uint64_t time_ns;
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t read_ns;
    uint64_t writes;
    uint64_t written_bytes;
    uint64_t write_ns;
    uint64_t in_flight; /* requests in flight now: a level, not a counter */
    uint64_t busy_ns;   /* time with at least one request in flight */
    uint64_t queue_ns;  /* grows by in_flight seconds in each second */
    /* On Linux as in /sys/class/block; on Windows "PhysicalDrive0", or "C:" for a volume; on
     * illumos as kstat(8) prints it. */
    char name[CAMP_NAME_SIZE];
};

/* Reads one disk or partition.
 * Errors: CAMP_E_INVALID (also for a name that no disk can have, such as "" or ".."),
 * CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE (no disk or partition has this name), CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_disk_read(const struct camp_source *source, const char *name,
                               struct camp_disk *ret, size_t size, struct camp_error *error);

/* Reads all disks and partitions of a kind. Fills disks[capacity]. `kind` is an enum
 * camp_disk_kind. With CAMP_DISK_ANY, each disk is followed by its partitions.
 * Errors: CAMP_E_INVALID (also for an unknown kind), CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE,
 * CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_disk_read_all(const struct camp_source *source, int kind,
                                   struct camp_disk *disks, size_t size, size_t capacity,
                                   size_t *ret_count, struct camp_error *error);

/* === camp_process: processes and threads === */

/* The identity of a process. If another process gets the same pid later, it has another start time.
 * Reading the first process then returns CAMP_E_GONE. */
struct camp_process {
    int32_t pid;
    uint32_t reserved;
    /* Time of the start, in a unit of the system. On Linux, ticks of 1/100 s after boot; on
     * Windows, units of 100 ns since 1601; on illumos, ns since 1970. */
    uint64_t start;
};

/* The identity of a thread: pid, tid and start together. On illumos, a tid is unique within its
 * process only, so a program that compares the tids of two threads compares their pids too. On
 * Linux, the tid of the first thread of a process equals its pid. */
struct camp_thread {
    int32_t pid;
    int32_t tid;
    uint64_t start;
};

/* An entry of the process table. It is cheaper to read than a struct camp_process. */
struct camp_pid {
    int32_t pid;
    uint32_t reserved;
    /* If a later list has the same pid with the same token, the process is the same. If the token
     * differs, the process may be another one: ask camp_process_identify(). On Linux the token is
     * the inode number of /proc/PID; on other systems, the start time. */
    uint64_t token;
};

enum camp_task_field {
    CAMP_TASK_CPU = 1u << 0,
    CAMP_TASK_USER = 1u << 1,
    CAMP_TASK_SYSTEM = 1u << 2,
    CAMP_TASK_SAMPLED = 1u << 3,
    CAMP_TASK_RUN_DELAY = 1u << 4,
    CAMP_TASK_MINOR_FAULTS = 1u << 5,
    CAMP_TASK_MAJOR_FAULTS = 1u << 6,
    CAMP_TASK_FAULTS = 1u << 7,
    CAMP_TASK_VIRTUAL = 1u << 8,
    CAMP_TASK_RESIDENT = 1u << 9,
    CAMP_TASK_COMMITTED = 1u << 10,
    CAMP_TASK_THREADS = 1u << 11,
    CAMP_TASK_HANDLES = 1u << 12,
    CAMP_TASK_VOLUNTARY_SWITCHES = 1u << 13,
    CAMP_TASK_INVOLUNTARY_SWITCHES = 1u << 14,
    CAMP_TASK_SWITCHES = 1u << 15,
    CAMP_TASK_READ_BYTES = 1u << 16,
    CAMP_TASK_WRITTEN_BYTES = 1u << 17,
    CAMP_TASK_OTHER_BYTES = 1u << 18,
    CAMP_TASK_START = 1u << 19, /* started_ns; `start` is always known */
    CAMP_TASK_STATE = 1u << 20,
    CAMP_TASK_NAME = 1u << 21,
    CAMP_TASK_PARENT = 1u << 22,
    CAMP_TASK_CHILDREN = 1u << 23,
    CAMP_TASK_CYCLES = 1u << 24,
    CAMP_TASK_ALL = (1u << 25) - 1
};

/*
 * What a process or one thread has used since its start. The numbers of a process include its
 * exited threads, except in fields marked "living threads". On illumos only `threads` is of living
 * threads.
 *
 * The sources:
 *
 * - Linux: the files of /proc/PID that the comments name. For a thread, these are the files of
 *   /proc/PID/task/TID.
 * - Windows: NtQuerySystemInformation(), which has the times of the clock tick (sampled_ns, user_ns
 *   and system_ns), and the cycle counters, which give cpu_ns.
 * - illumos: usage and psinfo of /proc/PID (proc(5) of illumos). All times but children_ns are
 *   measured.
 */
struct camp_task {
    uint32_t known;   /* enum camp_task_field */
    int32_t parent;   /* pid of the parent; 0 if the task has no parent */
    uint64_t time_ns; /* monotonic clock at the reading (CLOCK_MONOTONIC) */
    uint64_t start;   /* `start` of struct camp_process or camp_thread */
    /* Time from the boot to the start of the task. On Linux by CLOCK_BOOTTIME, resolution 1/100 s.
     */
    uint64_t started_ns;
    /* Time on a CPU, measured. On Linux it is read from the CPU clock of a process or the schedstat
     * of a thread (resolution 1 ns). If neither is readable, it is utime + stime of stat (1/100 s).
     * For a task that runs on another CPU at this moment, it may be up to one clock tick too low.
     * This error does not accumulate. On Windows, cycles divided by cycles_hz of struct
     * camp_kernel; on illumos, user_ns + system_ns. */
    uint64_t cpu_ns;
    /* On Linux from stat (1/100 s): the kernel divides the measured CPU time in proportion to the
     * sampled user and system time. On Windows sampled, on illumos measured. */
    uint64_t user_ns;
    uint64_t system_ns;
    int32_t split_provenance; /* provenance of user_ns and system_ns (enum camp_provenance) */
    int32_t cpu_provenance;   /* provenance of cpu_ns */
    uint64_t cpu_resolution_ns;
    /* CPU time sampled at clock ticks, on Windows. On Linux only taskstats has it (struct
     * camp_taskstat of linux.h); illumos does not sample. */
    uint64_t sampled_ns;
    /* Time in which the living threads could run, but had no CPU. On Linux from the schedstat of
     * each thread; on illumos pr_wtime of usage. Unknown on Windows. */
    uint64_t run_delay_ns;
    uint64_t minor_faults; /* on Linux from stat */
    uint64_t major_faults;
    uint64_t faults;        /* both together; Windows counts only these */
    uint64_t virtual_bytes; /* on Linux from stat */
    /* On Linux from stat. The kernel updates it in batches, so it is wrong by up to 63 pages per
     * thread. */
    uint64_t resident_bytes;
    uint64_t committed_bytes; /* Windows: the private memory that the system must back */
    uint64_t threads;         /* living threads; on Linux from stat, on illumos pr_nlwp of psinfo */
    uint64_t handles;         /* Windows: open handles */
    /* Of living threads. On Linux from the status of each thread; on illumos from usage. */
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t switches; /* both together; Windows counts only these */
    /* Bytes read from storage. On Linux from io: for processes of other users, this file needs
     * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. On Windows, bytes of all read calls. Unknown on
     * illumos. */
    uint64_t read_bytes;
    /* Bytes written to storage. On Linux with writes that were cancelled later, such as those to a
     * file that was deleted. On Windows, bytes of all write calls. Unknown on illumos. */
    uint64_t written_bytes;
    uint64_t other_bytes; /* Windows: bytes of calls that neither read nor write */
    /* CPU time of the children that exited and were waited for, and of theirs. On Linux from stat,
     * with the provenance and resolution of user_ns. On illumos pr_ctime of psinfo, sampled in
     * whole ticks. Unknown on Windows. */
    uint64_t children_ns;
    uint64_t cycles;           /* Windows: CPU cycles */
    char state;                /* R S D T t Z X or I, as in proc(5) of Linux, on each system */
    char name[CAMP_NAME_SIZE]; /* name of the task, which may contain any byte but NUL */
};

/* A process, and what it has used. Its size is that of the whole element: struct camp_process, its
 * first member, never grows. */
struct camp_process_usage {
    struct camp_process process;
    struct camp_task task;
};

/* Lists the pids of all processes. Fills pids[capacity], ascending, with every process that is
 * visible to the caller, including kernel threads.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_SPACE. */
CAMP_PUBLIC int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                              size_t capacity, size_t *ret_count, struct camp_error *error);

/* Counts the processes and threads started since boot. On Linux this is `processes` of
 * /proc/stat. On illumos these are processes alone: the calls of fork and vfork.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_fork_count(const struct camp_source *source, uint64_t *ret_count,
                                struct camp_error *error);

/* Finds the identity of the process that has this pid now.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system hides
 * the process), CAMP_E_GONE (no process has the pid), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_identify(const struct camp_source *source, int32_t pid,
                                      struct camp_process *ret, size_t size,
                                      struct camp_error *error);

/* Lists the identities of all processes. Fills processes[capacity], ascending by pid, with every
 * process that is visible to the caller. Processes that exit during the call are left out.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_process_list(const struct camp_source *source, struct camp_process *processes,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* Finds processes by the name of their program. Fills processes[capacity], ascending by pid. A
 * process matches if `name` is the file name
 *
 * - of its executable, even if the file was deleted;
 * - in its argv[0], as "python3" is if this is a link to python3.11;
 * - of a script that the kernel started by its interpreter, as the first line of the script says.
 *   A script that was passed to an interpreter (sh script) counts as a process of the interpreter.
 *
 * A process of another user may hide its executable; its arguments are compared anyway. Of a
 * process without arguments, such as a kernel thread, the name is compared. On Windows only the
 * executable is compared, with its ".exe", without regard to case. If no process matches, the
 * result is CAMP_OK, and *ret_count is 0. Errors: CAMP_E_INVALID (also for an empty name),
 * CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_process_find(const struct camp_source *source, const char *name,
                                  struct camp_process *processes, size_t size, size_t capacity,
                                  size_t *ret_count, struct camp_error *error);

/* Reads one process. `wanted` are the fields that the caller needs (enum camp_task_field). Other
 * fields may be filled too. If permission is missing for a field, its bit in `known` is cleared,
 * and the call does not fail. On Linux the fields come from up to five files, which are read one
 * after the other, so they are not of exactly the same point in time.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system hides
 * the process), CAMP_E_GONE (the process has exited, even if another process has its pid now),
 * CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_read(const struct camp_source *source,
                                  const struct camp_process *process, uint32_t wanted,
                                  struct camp_task *ret, size_t size, struct camp_error *error);

/* Reads all processes. Fills usages[capacity], ascending by pid, with the processes of
 * camp_process_list(). `wanted` and each `task` are as for camp_process_read(). Processes that exit
 * during the call are left out. A process that refuses a field stays in the array, with the bit of
 * the field cleared. On Windows the table of processes is read once, so all numbers but the cycles
 * are of the same point in time; on other systems the processes are read one after the other.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM, CAMP_E_IO,
 * CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_process_read_all(const struct camp_source *source, uint32_t wanted,
                                      struct camp_process_usage *usages, size_t size,
                                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* Lists the living threads of a process. Fills threads[capacity], ascending by tid.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system hides
 * the process), CAMP_E_GONE (the process has exited), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT,
 * CAMP_E_SPACE. */
CAMP_PUBLIC int camp_thread_list(const struct camp_source *source,
                                 const struct camp_process *process, struct camp_thread *threads,
                                 size_t size, size_t capacity, size_t *ret_count,
                                 struct camp_error *error);

/* Reads one thread. `wanted` and the result are as for camp_process_read(). On Linux the CPU
 * time is read from the schedstat of the thread.
 * Errors: CAMP_E_INVALID (also for a pid or tid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system
 * hides the process), CAMP_E_GONE (the thread has exited, even if another thread has its tid
 * now), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                                 uint32_t wanted, struct camp_task *ret, size_t size,
                                 struct camp_error *error);

/* Reads the measured CPU time of the process that has this pid now. This needs one system call,
 * no file and no permission. Unlike camp_process_cpu_ns(), it does not notice that a pid was
 * reused.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_GONE (no process has
 * the pid). */
CAMP_PUBLIC int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns);

/* Reads the measured CPU time of a process. To check its identity, the start time is read too.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system hides
 * the process), CAMP_E_GONE (the process has exited, even if another process has its pid now),
 * CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_cpu_ns(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_ns,
                                    struct camp_error *error);

/* === camp_reader: the same numbers, read repeatedly === */

/* Keeps what a system needs to read the same numbers repeatedly, such as an open file. The members
 * belong to the library. A reader that is not open is all zeros ({ 0 }). It must not be copied
 * while it is open. Threads that share a reader need a lock. */
struct camp_reader {
    uint64_t opaque[16];
};

/* Opens a reader of CPUs.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM (also if no
 * descriptor is left), CAMP_E_IO. */
CAMP_PUBLIC int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                                      struct camp_error *error);

/* Opens a reader of memory and swap.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM (also if no
 * descriptor is left), CAMP_E_IO. */
CAMP_PUBLIC int camp_reader_open_memory(struct camp_reader *reader,
                                        const struct camp_source *source, struct camp_error *error);

/* Opens a reader of network interfaces.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM (also if no
 * descriptor is left), CAMP_E_IO. */
CAMP_PUBLIC int camp_reader_open_networks(struct camp_reader *reader,
                                          const struct camp_source *source,
                                          struct camp_error *error);

/* Opens a reader of disks and partitions.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_GONE, CAMP_E_NOMEM (also if no
 * descriptor is left), CAMP_E_IO. */
CAMP_PUBLIC int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                                       struct camp_error *error);

/* Opens a reader of one process. After the process has exited, reading returns CAMP_E_GONE, even
 * if its pid is reused. On Linux a child of fork(2) in another PID namespace, where the pid is of
 * another process, must open its own reader.
 * Errors: CAMP_E_INVALID (also for a pid below 1), CAMP_E_NOTSUP, CAMP_E_PERM (the system hides
 * the process), CAMP_E_GONE (the process has exited), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_reader_open_process(struct camp_reader *reader,
                                         const struct camp_source *source,
                                         const struct camp_process *process,
                                         struct camp_error *error);

/* Reads all CPUs, like camp_cpu_read_all().
 * Errors: CAMP_E_INVALID (also if the reader is not open for this), CAMP_E_NOTSUP, CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                                 size_t capacity, size_t *ret_count, struct camp_error *error);

/* Reads physical memory and swap, like camp_memory_read().
 * Errors: CAMP_E_INVALID (also if the reader is not open for this), CAMP_E_NOTSUP, CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_reader_memory(struct camp_reader *reader, uint32_t wanted,
                                   struct camp_memory *ret, size_t size, struct camp_error *error);

/* Reads all interfaces, like camp_network_read_all().
 * Errors: CAMP_E_INVALID (also if the reader is not open for this), CAMP_E_NOTSUP, CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks,
                                     size_t size, size_t capacity, size_t *ret_count,
                                     struct camp_error *error);

/* Reads all disks and partitions of a kind, like camp_disk_read_all(). On Linux `kind` cannot be
 * CAMP_DISK_PHYSICAL, because the file that the reader keeps open does not show it.
 * Errors: CAMP_E_INVALID (also if the reader is not open for this, or for an unknown kind),
 * CAMP_E_NOTSUP, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_SPACE. */
CAMP_PUBLIC int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks,
                                  size_t size, size_t capacity, size_t *ret_count,
                                  struct camp_error *error);

/* Reads the process, like camp_process_read(). On Linux only the fields of the CPU clock and of
 * stat are known.
 * Errors: CAMP_E_INVALID (also if the reader is not open for this), CAMP_E_NOTSUP, CAMP_E_GONE
 * (the process has exited), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                                    struct camp_error *error);

/* Reads the CPU time of the process of a reader of camp_reader_open_process(), like
 * camp_process_cpu_ns(), and several times faster. The time is never that of a later process with
 * the same pid. *ret_ns is in ns, since the start of the process. On Linux since 5.3 the first call
 * opens a second descriptor (a pidfd); each later call reads the CPU clock, and then checks by the
 * pidfd that the process has not exited. Older kernels, and a reader with a struct camp_source,
 * read stat. Windows: the cycles of the process. illumos: usage of proc(5).
 * Errors: CAMP_E_INVALID (also if the reader is not open for this), CAMP_E_NOTSUP, CAMP_E_PERM (on
 * Windows: the process may not be opened), CAMP_E_GONE (the process has exited), CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_reader_process_cpu_ns(struct camp_reader *reader, uint64_t *ret_ns,
                                           struct camp_error *error);

/* Closes a reader. Does nothing if the reader is not open. */
CAMP_PUBLIC void camp_reader_close(struct camp_reader *reader);

/* === camp_kernel: how the kernel counts CPU time === */

enum camp_accounting {
    CAMP_ACCOUNTING_UNKNOWN = 0,
    CAMP_ACCOUNTING_TICK = 1,   /* user and system are sampled (TICK_CPU_ACCOUNTING) */
    CAMP_ACCOUNTING_GEN = 2,    /* measured on the CPUs in measured_cpus, sampled on all others */
    CAMP_ACCOUNTING_NATIVE = 3, /* user and system are measured (s390x, POWER) */
    CAMP_ACCOUNTING_MICROSTATES = 4 /* user and system are measured (Solaris) */
};

enum camp_kernel_field {
    CAMP_KERNEL_TICK = 1u << 0,
    CAMP_KERNEL_ACCOUNTING = 1u << 1,
    CAMP_KERNEL_TICKLESS_IDLE = 1u << 2,
    CAMP_KERNEL_SHORT_IDLE = 1u << 3,
    CAMP_KERNEL_IRQ_TIME = 1u << 4,
    CAMP_KERNEL_STEAL = 1u << 5,
    CAMP_KERNEL_CYCLES = 1u << 6,
    CAMP_KERNEL_IMITATION = 1u << 7
};

/* How this kernel counts CPU time. On Linux a fact comes from the running kernel (files, clocks)
 * or from its configuration (/boot/config-RELEASE or /lib/modules/RELEASE/config). If neither shows
 * it, the fact is unknown. linux.h has further facts of Linux. */
struct camp_kernel {
    uint32_t known;     /* enum camp_kernel_field */
    int32_t accounting; /* enum camp_accounting */
    uint32_t tick_hz;   /* clock ticks per second (HZ) */
    /* 1 if the tick stops on idle CPUs. Then idle and iowait are measured, unless
     * short_idle_sampled is 1. */
    int32_t tickless_idle;
    /* 1 if idle periods in which the tick goes on, because a timer is due within a tick, are
     * sampled at ticks, like user time. 0 if they are measured where tickless_idle is 1. On Linux
     * it follows from the release: 1 since Linux 7.2, 0 before 7.0, unknown for 7.0 and 7.1. With
     * native accounting it is 0. */
    int32_t short_idle_sampled;
    int32_t irq_time; /* 1 if interrupt time is measured (IRQ_TIME_ACCOUNTING) */
    int32_t steal;    /* 1 if this is a virtual machine whose hypervisor reports steal time */
    /* 1 if another system imitates this one, as Wine imitates Windows: it invents some numbers. */
    int32_t imitation;
    uint64_t cycles_hz;          /* Windows: how many cycles of struct camp_task are one second */
    char system[CAMP_NAME_SIZE]; /* "Linux", "Windows", "SunOS" */
    char release[CAMP_NAME_SIZE];
    char machine[CAMP_NAME_SIZE];
    /* CPUs on which user and system time are measured, such as "1-3,5". */
    char measured_cpus[CAMP_NAME_SIZE];
};

/* Reads how this kernel counts CPU time. A fact that cannot be read is unknown, which is no
 * error.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret,
                                 size_t size, struct camp_error *error);

/* Finds out which times of a CPU this kernel measures, and which it samples. Sets *ret_measured
 * and *ret_sampled to these times (bits of enum camp_cpu_field). How it obtains the others is
 * unknown. `cpu` is an id or CAMP_CPU_TOTAL. Never fails. */
CAMP_PUBLIC void camp_cpu_provenance(const struct camp_kernel *kernel, int32_t cpu,
                                     uint32_t *ret_measured, uint32_t *ret_sampled);

/* === camp_difference: differences and rates of counters === */

/* Calculates the growth of a counter. Sets *ret to after - before, for a counter of `bits` (32
 * or 64). If `after` is smaller than `before` by more than half of the counter's range, the
 * counter has wrapped around, and *ret is corrected. If `after` is smaller by less than that,
 * the counter was reset: the result is CAMP_RESET, and *ret is `after`.
 *
 * On Windows the counts of faults, switches and interrupts, and of the requests of disks, have 32
 * bits; on illumos `reads` and `writes` of disks have. All others have 64, except as struct
 * camp_disk says.
 * Errors: CAMP_E_INVALID (`bits` is another number, or a reading has more bits). */
CAMP_PUBLIC int camp_difference(uint64_t before, uint64_t after, unsigned bits, uint64_t *ret);

/* Calculates the growth of a counter per second. Sets *ret_per_second to the growth by
 * camp_difference(), divided by elapsed_ns. After a reset the result is CAMP_RESET, too.
 * Errors: CAMP_E_INVALID (elapsed_ns is 0, or as for camp_difference()). */
CAMP_PUBLIC int camp_rate(uint64_t before, uint64_t after, unsigned bits, uint64_t elapsed_ns,
                          double *ret_per_second);

/* === camp_utilisation: percentages of an interval === */

enum camp_utilisation_field {
    CAMP_UTILISATION_MEASURED_BUSY = 1u << 0,
    CAMP_UTILISATION_SAMPLED_BUSY = 1u << 1,
    CAMP_UTILISATION_USER = 1u << 2,
    CAMP_UTILISATION_SYSTEM = 1u << 3,
    CAMP_UTILISATION_IDLE = 1u << 4,
    CAMP_UTILISATION_IOWAIT = 1u << 5,
    CAMP_UTILISATION_STEAL = 1u << 6,
    CAMP_UTILISATION_SUM = 1u << 7
};

/* What one CPU did between two readings, in percent of wall time. For CAMP_CPU_TOTAL, 100 % is all
 * CPUs. The two values for busy time often disagree. A value is known if both readings know the
 * times that it is made of. */
struct camp_utilisation {
    uint32_t known; /* enum camp_utilisation_field */
    /* Provenance of measured_busy_percent (enum camp_provenance): CAMP_MEASURED only if the kernel
     * measures the idle time. CAMP_UNKNOWN if the caller passed no struct camp_kernel. */
    int32_t busy_provenance;
    /* 100 - idle - iowait. It includes time that the hypervisor stole while the CPU was busy. If
     * idle_cycles_ns is known, 100 - idle_cycles. */
    double measured_busy_percent;
    double sampled_busy_percent; /* user + nice + system + irq + softirq + guest + guest_nice */
    double user_percent;         /* user + nice + guest + guest_nice */
    double system_percent;       /* system + irq + softirq */
    double idle_percent;
    double iowait_percent;
    double steal_percent;
    /* Sum of all known times of struct camp_cpu, without idle_cycles_ns: 100 if no time is missing
     * or counted twice. */
    double sum_percent;
    uint64_t elapsed_ns;
    /* resolution_ns of struct camp_cpu in percent of wall time: the smallest step of the
     * percentages above. */
    double resolution_percent;
};

/* Compares two readings of one CPU or of all CPUs. `cpus` is 1, or for CAMP_CPU_TOTAL the number
 * of CPUs. A counter that went backwards, as iowait may, counts as 0. `kernel` may be NULL.
 * Errors: CAMP_E_INVALID (also if the readings are of two CPUs, or no time passed between them),
 * CAMP_E_NOTSUP (the idle time is unknown). */
CAMP_PUBLIC int camp_cpu_difference(const struct camp_cpu *before, const struct camp_cpu *after,
                                    size_t cpus, const struct camp_kernel *kernel,
                                    struct camp_utilisation *ret, size_t size);

/* Measures what a CPU does in an interval. Reads the CPU, blocks for interval_ms (such as
 * CAMP_DEFAULT_INTERVAL_MS), and reads the CPU again. If interval_ms is 0, the function does not
 * block, and compares with the earlier reading in *previous. Otherwise `previous` may be NULL.
 * If it is not NULL, *previous becomes the new reading. A signal ends the wait early; the
 * percentages are then those of the time that passed. `kernel` may be NULL.
 * Errors: CAMP_E_INVALID (also if interval_ms is 0 and *previous is not a reading of this CPU,
 * or no time passed), CAMP_E_NOTSUP (also if the idle time is unknown), CAMP_E_PERM, CAMP_E_GONE
 * (the CPU is offline or does not exist), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_cpu_utilisation(const struct camp_source *source, int32_t cpu,
                                     unsigned interval_ms, const struct camp_kernel *kernel,
                                     struct camp_cpu *previous, struct camp_utilisation *ret,
                                     size_t size, struct camp_error *error);

#define CAMP_DEFAULT_INTERVAL_MS 100u

/* CPU time of a process in percent of one CPU. cpu_percent is divided into user_percent and
 * system_percent in proportion to the growth of user_ns and system_ns (struct camp_task). */
struct camp_task_utilisation {
    int32_t cpu_provenance;   /* of cpu_ns in the later reading (enum camp_provenance) */
    int32_t split_provenance; /* of user_ns and system_ns in the later reading */
    double cpu_percent;
    double user_percent;
    double system_percent;
    uint64_t elapsed_ns;
};

/* Measures the CPU time of a process in an interval, like camp_cpu_utilisation(). *previous must
 * come from camp_process_read() with CAMP_TASK_CPU, CAMP_TASK_USER and CAMP_TASK_SYSTEM, or from
 * this function.
 * Errors: CAMP_E_INVALID (also if interval_ms is 0 and *previous is not such a reading of this
 * process, or no time passed), CAMP_E_NOTSUP (also if the CPU time is unknown), CAMP_E_PERM
 * (the system hides the process, or its CPU time), CAMP_E_GONE (the process has exited),
 * CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_utilisation(const struct camp_source *source,
                                         const struct camp_process *process, unsigned interval_ms,
                                         struct camp_task *previous,
                                         struct camp_task_utilisation *ret, size_t size,
                                         struct camp_error *error);

#ifdef __cplusplus
}
#endif

#endif
