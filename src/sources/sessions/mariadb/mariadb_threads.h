/*
 * The threads of a MariaDB server on this machine, one per session, as the operating system sees
 * them: by microstates (CAP_BPF), with each state measured, or by /proc, with CPU time and run
 * queue.
 */
#pragma once

#include "sources/machine/proc_clock.h"
#include "sources/machine/thread_list.h"

#include <camp/states.h>

struct mariadb_threads;

/* The thread of a session, and its last reading. All zero: unknown. */
struct mariadb_thread {
    struct camp_thread task;       /* by /proc */
    struct proc_clock clock;       /* by /proc */
    struct camp_thread_states now; /* its last reading by microstates */
    int call_fd;                   /* /proc/TID/syscall + 1; 0: not opened; -1: not permitted */
};

/* What a thread did since its last reading. */
struct mariadb_thread_times {
    uint64_t elapsed_ns;
    uint64_t cpu_ns, run_queue_ns;
    uint64_t asleep_ns[CAMP_STATE_COUNT]; /* without microstates, all sleep is in
                                           * CAMP_STATE_OTHER_SLEEP */
};

/* `pid`: the server's process. `microstates`: fails with CAMP_E_PERM etc. if they are
 * unavailable. */
int mariadb_threads_open(int32_t pid, bool microstates, struct mariadb_threads **ret,
                         struct camp_error *error);

/* Sets the process of a restarted server. 0: none; all its threads are gone. */
void mariadb_threads_set_server(struct mariadb_threads *threads, int32_t pid);
void mariadb_threads_close(struct mariadb_threads *threads);

/* The local process of this thread, if it is a MariaDB server in camp's own pid namespace (not in a
 * container); 0: it is not, or this is unknown. `pid`: the expected process; 0: any. */
int32_t mariadb_server_of_thread(int32_t tid, int32_t pid);

/* Finds the thread of the server that has this tid now. CAMP_E_GONE: none. */
int mariadb_threads_find(struct mariadb_threads *threads, int32_t tid, struct camp_thread *ret);

/* Takes a snapshot; call it before threads are read. */
int mariadb_threads_snapshot(struct mariadb_threads *threads, struct camp_error *error);

/* Reads a thread from the last snapshot. 1: *ret is what it did since its last reading; 0: it had
 * no reading before; CAMP_E_GONE: it has ended, or another thread has its tid. */
int mariadb_threads_read(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret);

/* Returns the class of the thread's current sleep: "futex", "disk", "poll", ...; "asleep": camp may
 * not read the class; "running": it does not sleep; "none": unknown. */
const char *mariadb_threads_call(struct mariadb_threads *threads, int32_t tid,
                                 struct mariadb_thread *thread);

/* Closes the file descriptor of a thread. */
void mariadb_thread_release(struct mariadb_thread *thread);

/* "futex" for CAMP_STATE_LOCK, "page_fault" for faults, camp_state_name() for the others. */
const char *mariadb_class_name(int state);
