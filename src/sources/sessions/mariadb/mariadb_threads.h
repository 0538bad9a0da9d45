/*
 * The threads of a MariaDB server on this machine, one for each session, as the operating system
 * sees them. Microstates (CAP_BPF) measure each state of a thread. Without microstates, /proc has
 * the CPU time and the run queue time of a thread.
 */
#pragma once

#include "sources/machine/proc_clock.h"

#include <camp/states.h>

#include <stdbool.h>

struct mariadb_threads;

/* Times of a thread between two readings. */
struct mariadb_thread_times {
    uint64_t elapsed_ns;
    uint64_t cpu_ns, run_queue_ns;
    /* with mariadb_threads_measure_throttled(); it is otherwise in run_queue_ns */
    uint64_t throttled_ns;
    /* indexed by CAMP_STATE_...; without microstates, all sleep is CAMP_STATE_OTHER_SLEEP */
    uint64_t asleep_ns[CAMP_STATE_COUNT];
};

/* The thread of a session, and its last reading. All zero means unknown. */
struct mariadb_thread {
    struct camp_thread task; /* identity of the thread in /proc */
    struct proc_clock clock; /* last reading from /proc */
    /* Last reading by microstates: the number of the thread, and its times so far. */
    uint64_t serial;
    struct mariadb_thread_times sum;
    /* File descriptor of /proc/PID/task/TID/syscall, plus 1. 0 means not opened, -1 not
     * permitted. */
    int call_fd;
};

/* `pid` is the process of the server. `session` is a session of microstates, which the caller
 * closes after the threads, or NULL to read the threads from /proc. */
int mariadb_threads_open(int32_t pid, struct camp_states *session, struct mariadb_threads **ret,
                         struct camp_error *error);

/* Sets the process of the server, which may have restarted. A pid of 0 means that the process is
 * unknown. */
void mariadb_threads_set_server(struct mariadb_threads *threads, int32_t pid);
void mariadb_threads_close(struct mariadb_threads *threads);

/* Returns the pid of the process that a thread belongs to, or 0. The process must be a MariaDB
 * server in camp's pid namespace, not in a container. `pid` is the expected process; 0 means any
 * process. */
int32_t mariadb_server_of_thread(int32_t tid, int32_t pid);

/* Finds the server's thread that has this tid now. Returns CAMP_E_GONE if there is none. */
int mariadb_threads_find(struct mariadb_threads *threads, int32_t tid, struct camp_thread *ret);

/* Reads the microstates of all threads. Must be called in each interval before
 * mariadb_threads_read(). */
int mariadb_threads_snapshot(struct mariadb_threads *threads, struct camp_error *error);

/* Returns whether times have throttled_ns: microstates measure the threads, and the kernel has a
 * clock of the throttled time of a run queue (Linux 6.6). */
bool mariadb_threads_measure_throttled(const struct mariadb_threads *threads);

/* Reads a thread. Returns 1 if *ret has its times since its last reading, 0 if this was its first
 * reading, and CAMP_E_GONE if the thread has ended or another thread has its tid. */
int mariadb_threads_read(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret);

/* Returns the class of the current sleep of a thread, such as "futex", "disk" or "poll". Returns
 * "asleep" if camp may not read the class, "running" if the thread does not sleep, and "none" if
 * nothing is known. */
const char *mariadb_threads_call(struct mariadb_threads *threads, int32_t tid,
                                 struct mariadb_thread *thread);

/* Closes thread->call_fd, and sets *thread to all zero. */
void mariadb_thread_release(struct mariadb_thread *thread);

/* Returns "futex" for CAMP_STATE_LOCK, "page_fault" for page faults, and camp_state_name() for the
 * other states. */
const char *mariadb_class_name(int state);
