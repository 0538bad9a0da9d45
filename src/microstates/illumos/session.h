/* What session.c, snapshot.c, exits.c and cpus.c share. */
#pragma once

#include "counters/error.h"
#include "counters/illumos/process.h"

#include <camp/states.h>

#include <stdbool.h>

/* Totals of exited threads are kept until they are read, up to this number. */
#define EXITS_MAX 16384

/* The microstates that the kernel counts. */
#define KNOWN_STATES                                                                               \
    (1u << CAMP_STATE_USER | 1u << CAMP_STATE_SYSTEM | 1u << CAMP_STATE_TRAP |                     \
     1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_DATA_FAULT | 1u << CAMP_STATE_KERNEL_FAULT |   \
     1u << CAMP_STATE_LOCK | 1u << CAMP_STATE_SLEEP | 1u << CAMP_STATE_RUN_QUEUE |                 \
     1u << CAMP_STATE_STOPPED)
#define KNOWN_OF_THREADS                                                                           \
    (CAMP_THREAD_STATES_PARENT | CAMP_THREAD_STATES_UID | CAMP_THREAD_STATES_START |               \
     CAMP_THREAD_STATES_CPU | CAMP_THREAD_STATES_RUN_DELAY | CAMP_THREAD_STATES_MINOR_FAULTS |     \
     CAMP_THREAD_STATES_MAJOR_FAULTS | CAMP_THREAD_STATES_VOLUNTARY_SWITCHES |                     \
     CAMP_THREAD_STATES_INVOLUNTARY_SWITCHES | CAMP_THREAD_STATES_SYSTEM_CALLS |                   \
     CAMP_THREAD_STATES_SIGNALS)
#define KNOWN_OF_CPUS CAMP_CPU_STATES_SYSTEM
#define KNOWN_LOSSES                                                                               \
    (CAMP_STATES_LOSSES_LOST | CAMP_STATES_LOSSES_EXITS_LOST | CAMP_STATES_LOSSES_EXITS_ADDED_UP)

/* What a thread, or the sum of several, has spent. */
struct amounts {
    uint64_t elapsed_ns; /* wall time (pr_rtime) */
    uint64_t state_ns[CAMP_STATE_COUNT];
    uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    uint64_t system_calls, signals;
};

struct known_thread {
    struct camp_thread_states record;
    struct amounts before; /* what it had spent when the session was opened */
    uint32_t note;
};

struct known_process {
    int32_t pid;
    uint64_t start;
    int64_t exited_count;  /* of its threads, since its start */
    struct amounts exited; /* what these have spent */
};

/* A snapshot, ascending by pid, and in a process by thread id. */
struct snapshot {
    struct known_thread *threads; /* [thread_count] */
    size_t thread_count, thread_capacity;
    struct known_process *processes; /* [process_count] */
    size_t process_count, process_capacity;
};

struct camp_states {
    char folder[PATH_SIZE];
    struct camp_source source; /* /proc, or the folder of a test */
    uint64_t opened_ns;        /* 0 until the first snapshot was made */
    struct snapshot last, now;
    struct camp_pid *pids; /* [pid_capacity] */
    size_t pid_capacity;
    char *file; /* [file_capacity]: space for one lusage */
    size_t file_capacity;
    struct camp_thread_states *exits; /* [exit_count]: totals that nobody has read yet */
    size_t exit_count, exit_capacity;
    struct camp_cpu *cpus; /* [cpu_count]: CPUs when the session was opened; NULL if unknown */
    size_t cpu_count;
    struct camp_states_losses losses;
};

/* Opens a session on another folder than /proc. */
int session_open(struct camp_states **ret, const char *folder, uint32_t options,
                 struct camp_error *error);

/* Grows the list whose pointer is stored at `list` to at least `count` elements of `size` bytes. */
int session_reserve(void *list, size_t *capacity, size_t count, size_t size,
                    struct camp_error *error);

/* Makes a snapshot: `last` becomes the previous one, `now` the new one. After an error `now` is
 * still the previous one, and `last` is empty. */
int session_snapshot(struct camp_states *session, struct camp_error *error);

struct amounts amounts_of(const prusage_t *usage);
void amounts_add(struct amounts *sum, const struct amounts *other);
/* A difference below 0, by errors of the kernel's clocks, becomes 0. */
void amounts_subtract(struct amounts *from, const struct amounts *other);

/* Order of threads in a snapshot: negative, 0 or positive. The start time is compared too, so that
 * a later thread with the same id is another one. */
int thread_order(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Compares `last` with `now`: threads of `now` get what the session knows of them, and threads that
 * exited meanwhile are added to session->exits or counted as lost. There must be
 * space for a total of each process in `exits`, up to EXITS_MAX. */
void session_match(struct camp_states *session);

/* Called for each thread of `last` that is not in `now`, ascending. */
typedef void session_missing(void *context, const struct known_thread *thread);
void session_visit_missing(const struct camp_states *session, session_missing *visit,
                           void *context);

/* Reads the CPUs when the session is opened. */
void session_read_cpus(struct camp_states *session);
