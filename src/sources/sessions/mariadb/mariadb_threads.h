/*
 * The threads of a MariaDB server on this machine, one a session, as the operating system sees
 * them: by microstates (CAP_BPF), each state measured, or by /proc: CPU time and run queue.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_THREADS_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_THREADS_H

#include "sources/machine/proc_clock.h"
#include "sources/machine/thread_list.h"

#include <camp/states.h>

struct mariadb_threads;

/* A thread of a session, and its last reading. All zero: not known yet. */
struct mariadb_thread {
    struct camp_thread who;        /* by /proc */
    struct proc_clock clock;       /* likewise */
    struct camp_thread_states now; /* by microstates */
    int call_fd;                   /* /proc/TID/syscall + 1; 0: not opened; -1: not permitted */
};

/* What a thread did since its reading before. */
struct mariadb_thread_times {
    uint64_t elapsed_ns;
    uint64_t cpu_ns, run_queue_ns;
    uint64_t asleep_ns[CAMP_STATE_COUNT]; /* by microstates; without them CAMP_STATE_OTHER_SLEEP
                                           * has all */
};

/* `pid`: the server's process. `microstates`: CAMP_E_PERM and the like when there are none. */
int mariadb_threads_open(int32_t pid, bool microstates, struct mariadb_threads **ret,
                         struct camp_error *error);

/* From now on `pid` is the server: it was started again. 0: none, all its threads are gone. */
void mariadb_threads_serve(struct mariadb_threads *threads, int32_t pid);
void mariadb_threads_close(struct mariadb_threads *threads);

/* The process that this thread is of on this machine, when that is a MariaDB server whose numbers
 * of threads are ours as well (no container between); 0: it is not, or cannot be told. `pid`: whom
 * it must be; 0: not known. */
int32_t mariadb_threads_server(int32_t tid, int32_t pid);

/* Which thread of the server has this tid now. CAMP_E_GONE: none. */
int mariadb_threads_find(struct mariadb_threads *threads, int32_t tid, struct camp_thread *ret);

/* Before threads are read: the moment. */
int mariadb_threads_look(struct mariadb_threads *threads, struct camp_error *error);

/* Reads a thread of the last look. 1: *ret is what it did since its reading before; 0: it is its
 * first; CAMP_E_GONE: it has ended, or is another thread now. */
int mariadb_threads_read(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret);

/* What it sleeps in now: "futex", "disk", "poll", ...; "asleep" where that may not be read;
 * "running": it does not sleep; "none": not known. */
const char *mariadb_threads_call(struct mariadb_threads *threads, int32_t tid,
                                 struct mariadb_thread *thread);

/* Closes what is held for a thread. */
void mariadb_thread_release(struct mariadb_thread *thread);

/* "futex" of CAMP_STATE_LOCK, "page_fault" of the faults, camp_state_name() of the others. */
const char *mariadb_class_name(int state);

#endif
