/*
 * The sessions of a PostgreSQL server across snapshots: the name, the labels and the task on this
 * machine of each session. A session that has ended is kept for one more interval, for its last
 * row.
 */
#pragma once

#include "ledger/labels.h"
#include "postgres_memory.h"
#include "postgres_names.h"
#include "postgres_snapshot.h"
#include "sources/machine/proc_clock.h"
#include "sources/sessions/session.h"

#include <stdbool.h>

#define POSTGRES_LABELS_OF_SESSION 7
#define POSTGRES_LABELS (POSTGRES_LABELS_OF_SESSION + SESSION_LABELS_MORE)
/* The label of the statement: of each session the one that it ran last, or with rows by statement
 * the one that the time was spent with. */
#define POSTGRES_LABEL_STATEMENT 4
extern const char *const postgres_label_names[POSTGRES_LABELS];              /* "last_statement" */
extern const char *const postgres_label_names_by_statement[POSTGRES_LABELS]; /* "query" */

struct postgres_process {
    int32_t pid, leader_pid;
    int64_t start_us;  /* since 1970, by the server; a different start is a different session */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    labels_id labels;
    int64_t statement; /* that the session ran at its last snapshot; 0 for none */
    /* what the session did at its last whole snapshot, and how long; "" and 0 if unknown */
    char activity[24];
    uint64_t activity_ns;
    char type[40]; /* such as "client_backend" */
    char name[CAMP_NAME_SIZE];
    bool has_numbers; /* postgres_registry_add_names() has its numbers */
    uint64_t last_snapshot;
    struct postgres_backend backend;
    /* False if the server runs on another machine, or if the task ended before camp found it. */
    bool has_task;
    struct camp_thread task;
    struct proc_clock clock; /* last reading of the task's clock; all zero if there is none */
    /* Values of the process's CPU clock: clock_cpu_ns was read just before `clock`, and
     * asleep_cpu_ns just before the task was found asleep (0 if it was awake). While the CPU clock
     * still has one of these values, the task has not run since that time. */
    uint64_t clock_cpu_ns, asleep_cpu_ns;
    bool is_stopped;   /* by a signal or a tracer, when the task was found asleep */
    uint64_t state_ns; /* when the task's state was last read (CLOCK_MONOTONIC) */
    /* When the task was first found runnable with the CPU clock runnable_cpu_ns; 0 if it was asleep
     * at its last sample. */
    uint64_t runnable_since_ns, runnable_cpu_ns;
    /* part of clock.run_queue_ns: the wait for a CPU that the task is in, which the kernel counts
     * only at its end */
    uint64_t in_flight_ns;
};

struct postgres_registry {
    struct postgres_names databases, users; /* known only on tiers that read memory */
    struct postgres_process *processes; /* [count], in ascending order of pids, then of starts */
    size_t count, capacity;
    uint64_t snapshots;
    uint64_t snapshot_ns;
    /* pids of camp's own session: [0] now, [1] before camp last reconnected */
    int32_t own_pids[2];
    bool is_local; /* the pids are valid on this machine */
};

/* Frees the registry. An all-zero registry is empty. */
void postgres_registry_release(struct postgres_registry *registry);

/* Adds a snapshot. Only a whole snapshot sets names and labels. CAMP_OK or CAMP_E_NOMEM. */
int postgres_registry_update(struct postgres_registry *registry,
                             const struct postgres_snapshot *snapshot);

/* Removes the processes whose last snapshot has a number below `since`. Pointers to processes
 * become invalid. */
void postgres_registry_forget(struct postgres_registry *registry, uint64_t since);

/* Returns NULL if there is no session with this pid and start. */
struct postgres_process *postgres_registry_find(const struct postgres_registry *registry,
                                                int32_t pid, int64_t start_us);

/* Returns the time since 1970, in us, of a time since the machine's start (CLOCK_BOOTTIME). */
int64_t postgres_start_us(uint64_t boot_ns);

/* Returns the session with this pid that started last, or NULL. */
const struct postgres_process *postgres_registry_newest(const struct postgres_registry *registry,
                                                        int32_t pid);

/* Finds a session by the pid and the start of its process. start_ns (CLOCK_BOOTTIME) is compared
 * with the start of the task. If the task ended before camp found it, start_us (since 1970) is
 * compared instead: the nearest session within 2 s is returned. Returns NULL if there is none. */
struct postgres_process *postgres_registry_find_process(const struct postgres_registry *registry,
                                                        int32_t pid, uint64_t start_ns,
                                                        int64_t start_us);

/* Adds what memory and SQL have of the same session. CAMP_OK or CAMP_E_NOMEM. */
int postgres_registry_add_names(struct postgres_registry *registry,
                                const struct postgres_numbers *numbers,
                                const struct postgres_session *session);

/* Sets name and labels of a session that memory knows and SQL did not see. A database or user that
 * SQL has not reported yet is shown by its number. */
void postgres_registry_name(const struct postgres_registry *registry,
                            const struct postgres_numbers *numbers, const char *application,
                            struct postgres_process *ret);

/* Returns true if a process serves a client, or is a parallel worker for such a process. Any other
 * process belongs to the server itself. */
bool postgres_process_is_client(const struct postgres_process *process);

/* Returns true if camp's pid namespace has a process of this pid that started between 10 s before
 * and 2 s after start_us (since 1970). For the backend of camp's own connection, this means that
 * the server is local. The pids of a server in a container or on another host are not valid here.
 */
bool postgres_is_process(int32_t pid, int64_t start_us);
