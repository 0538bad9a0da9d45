/*
 * linux.h - what only Linux has: taskstats, and facts about its kernel.
 *
 * The functions exist on every system. On other systems they return CAMP_E_NOTSUP. For results,
 * errors, sizes and arrays see camp.h.
 *
 * After fork(2) parent and child share an open session of taskstats, so each would get answers to
 * questions of the other. The child should close the inherited session, which does not end the
 * listening of the parent, and open one of its own.
 */
#ifndef CAMP_LINUX_H
#define CAMP_LINUX_H

#include <camp/camp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* === camp_taskstats: sampled and measured CPU time of processes, and records of their exits === */

/*
 * A session of taskstats, an interface of Linux over generic netlink. Taskstats reports the sampled
 * and the measured CPU time of a process in one message, and sends a record of every task that
 * exits. The session needs CAP_NET_ADMIN in the initial namespaces. On other systems
 * camp_taskstats_open() returns CAMP_E_NOTSUP.
 */
struct camp_taskstats {
    int32_t descriptor; /* for poll(2): after camp_taskstats_listen(), readable when records wait */
    uint16_t family;
    uint16_t version;   /* TASKSTATS_VERSION of the kernel */
    uint32_t listening; /* 0: not; otherwise bits of the library */
    uint32_t sequence;
    /* Messages that the kernel dropped for lack of space, since the session was opened. A message
     * has the records of one exited task. */
    uint64_t overruns;
};

#define CAMP_TASKSTATS_NONE                                                                        \
    {                                                                                              \
        -1, 0, 0, 0, 0, 0                                                                          \
    }

/* One process, read from taskstats. The numbers include exited threads, except in fields marked
 * "living threads". The comments name the members of the kernel's struct taskstats. */
struct camp_taskstat {
    int32_t pid;
    /* CAMP_OK; or CAMP_E_GONE if no process has the pid, and the fields below are 0. */
    int32_t result;
    uint64_t measured_ns;  /* cpu_run_virtual_total */
    uint64_t sampled_ns;   /* cpu_run_real_total */
    uint64_t run_delay_ns; /* cpu_delay_total: time in which threads could run, but had no CPU */
    uint64_t runs;         /* cpu_count: how often a thread was put on a CPU */
    uint64_t voluntary_switches; /* nvcsw, of living threads */
    uint64_t involuntary_switches;
};

/* From this version of taskstats on (Linux 5.19), an exit record names the process of the thread.
 */
#define CAMP_TASKSTATS_WITH_PROCESSES 12

enum camp_task_exit_field {
    CAMP_TASK_EXIT_PROCESS = 1u << 0 /* pid and is_process */
};

/*
 * The record of an exited task. A process that always had one thread has one record (is_process 1).
 * Any other process has a record for each thread (is_process 0) and, when its last thread exits, a
 * record for the whole process (is_process 1).
 *
 * Before Linux 5.19 (CAMP_TASKSTATS_WITH_PROCESSES), the record of a single-threaded process looks
 * like that of a thread: pid and is_process are unknown, and 0. On these kernels, add up only the
 * records with is_process 0.
 *
 * measured_ns ends at the task's last clock tick or context switch. The CPU time after that moment,
 * up to one tick, is in no record. In a test with tasks of 2 ms and ticks of 4 ms, more than half
 * of the time was missing. On nohz_full CPUs, up to three seconds are missing.
 *
 * at_most_ns is an upper limit of the task's CPU time, without the time in which the kernel frees
 * the task's memory after it has written the record. For a task that never slept
 * (voluntary_switches is 0), the limit is too high by at most the sum of its stolen time and some
 * 50 us, which its fork takes.
 */
struct camp_task_exit {
    int32_t pid;
    int32_t tid;
    /* Pid of the parent; if the parent exited first, 1 or the pid of a subreaper. */
    int32_t parent;
    uint32_t is_process;
    uint32_t user_id;
    uint32_t exit_code;
    uint64_t measured_ns;
    uint64_t sampled_ns;
    uint64_t run_delay_ns;
    uint64_t elapsed_ns; /* from the start to the end of the task; resolution 1 us */
    uint64_t began_s;    /* start of the task, in seconds since 1970 */
    /* In the record of a process, name, user_id and exit_code are those of the thread that exited
     * last. */
    char name[CAMP_NAME_SIZE];
    /* For a thread, the smaller of elapsed_ns - run_delay_ns and measured_ns + one tick, or + three
     * seconds if the machine has nohz_full CPUs. For a process, measured_ns plus (at_most_ns -
     * measured_ns) of the thread that exited last. */
    uint64_t at_most_ns;
    /* How often the thread slept. For a process, how often the last thread to exit had slept. */
    uint64_t voluntary_switches;
    uint32_t known; /* enum camp_task_exit_field; all other fields are always known */
    uint32_t reserved;
};

/* Opens a session of taskstats.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP (the kernel or the network namespace has no taskstats,
 * or Linux before 5.14 was booted with nodelayacct, which stops the counting), CAMP_E_PERM
 * (CAP_NET_ADMIN is missing), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error);

/* Closes a session. Does nothing if it is not open. */
CAMP_PUBLIC void camp_taskstats_close(struct camp_taskstats *taskstats);

/* Reads processes. Reads pids[i] into tasks[i] for each i < count. Each element has its own
 * `result`. After camp_taskstats_listen() a session cannot read: open a second session. A zombie
 * that had one thread reads as zeros, because its times are in its exit record. `runs` is 0 only
 * for such a zombie, because any other process has run.
 * Errors: CAMP_E_INVALID (also if the session is not open, or listens), CAMP_E_NOTSUP,
 * CAMP_E_PERM, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids,
                                    size_t count, struct camp_taskstat *tasks, size_t size,
                                    struct camp_error *error);

/* Starts to record each task that exits, for camp_taskstats_exits(). The records are of all
 * CPUs, also those that come online later.
 * Errors: CAMP_E_INVALID (the session is not open), CAMP_E_NOTSUP, CAMP_E_PERM (also outside of
 * the initial pid and user namespace), CAMP_E_GONE (/sys does not list the CPUs), CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error);

/* Takes the waiting records. Fills exits[capacity], oldest first, and updates
 * taskstats->overruns. The function never blocks. If *ret_count equals `capacity`, more records
 * may wait: call it again. After CAMP_E_FORMAT the first *ret_count elements are valid.
 * Errors: CAMP_E_INVALID (also if `capacity` is 0, or the session does not listen),
 * CAMP_E_NOTSUP, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                                     size_t size, size_t capacity, size_t *ret_count,
                                     struct camp_error *error);

/* === camp_linux: what this Linux kernel offers to programs that measure === */

enum camp_linux_field {
    CAMP_LINUX_USER_HZ = 1u << 0,
    CAMP_LINUX_SCHED_INFO = 1u << 1,
    CAMP_LINUX_SCHEDSTATS = 1u << 2,
    CAMP_LINUX_TASKSTATS = 1u << 3,
    CAMP_LINUX_DELAY_ACCOUNTING = 1u << 4,
    CAMP_LINUX_PSI = 1u << 5,
    CAMP_LINUX_BTF = 1u << 6,
    CAMP_LINUX_CGROUP = 1u << 7,
    CAMP_LINUX_CAPABILITIES = 1u << 8
};

/* What this Linux kernel offers to programs that measure. */
struct camp_linux {
    uint32_t known;     /* enum camp_linux_field */
    uint32_t user_hz;   /* sysconf(_SC_CLK_TCK): /proc prints times in units of 1/user_hz s */
    int32_t sched_info; /* 1 if /proc/PID/schedstat has counts, not only zeros */
    int32_t schedstats; /* 1 if /proc/schedstat exists */
    int32_t taskstats;  /* 1 if taskstats answers in this network namespace */
    /* 1 if delay accounting is on. Since Linux 5.14 the CPU times of taskstats do not need it. */
    int32_t delay_accounting;
    int32_t psi;            /* 1 if /proc/pressure can be read */
    int32_t btf;            /* 1 if /sys/kernel/btf/vmlinux exists */
    int32_t cgroup_version; /* mounted versions: 1, 2, 3 (both) or 0 (none) */
    uint32_t reserved;
    /* Effective capabilities of this process: bit n is capability number n. */
    uint64_t capabilities;
};

/* Reads what this kernel offers. Facts that neither the running kernel nor its configuration
 * shows are unknown.
 * Errors: CAMP_E_INVALID, CAMP_E_NOTSUP. */
CAMP_PUBLIC int camp_linux_read(const struct camp_source *source, struct camp_linux *ret,
                                size_t size, struct camp_error *error);

#ifdef __cplusplus
}
#endif

#endif
