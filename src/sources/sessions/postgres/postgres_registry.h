/*
 * The registry of a PostgreSQL server's sessions across snapshots: names, labels, and the task of
 * each on this machine. A session that has ended is kept for one more interval, for its last row.
 */
#pragma once

#include "ledger/labels.h"
#include "postgres_memory.h"
#include "postgres_snapshot.h"
#include "sources/machine/proc_clock.h"

#include <stdbool.h>

/* user, database, application, client, query */
#define POSTGRES_LABELS 5
extern const char *const postgres_label_names[POSTGRES_LABELS];

struct postgres_process {
    int32_t pid, leader_pid;
    int64_t start_us;  /* since 1970, by the server; a different start is a different session */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    const struct labels *labels;
    char type[40]; /* "client_backend" */
    char name[CAMP_NAME_SIZE];
    uint64_t last_snapshot;          /* number of the last snapshot that contains it */
    struct postgres_backend backend; /* as last read from the server's memory */
    /* The task on this machine; a remote server has none. */
    bool has_task;
    struct camp_thread task;
    struct proc_clock clock; /* the last reading of the task; all zero: none yet */
    /* The CPU clock of the process just before `clock` was read, and before the task was found
     * asleep; 0: unknown. An unchanged clock means that the task has not run. */
    uint64_t clock_cpu_ns, asleep_cpu_ns;
};

struct postgres_registry {
    struct postgres_process *processes; /* [count], ascending by pid, then start */
    size_t count, capacity;
    uint64_t snapshots;
    uint64_t snapshot_ns; /* time of the last snapshot */
    int32_t own_pids[2];  /* pids of camp's own session, and of its session before */
    bool is_local;        /* the pids are valid on this machine */
};

/* An all-zero registry is empty. */
void postgres_registry_release(struct postgres_registry *registry);

/* Adds a snapshot. Only a whole snapshot has names and labels. CAMP_OK or CAMP_E_NOMEM. */
int postgres_registry_update(struct postgres_registry *registry,
                             const struct postgres_snapshot *snapshot);

/* Removes the processes that are in no snapshot from number `since` on. Pointers to processes
 * become invalid. */
void postgres_registry_forget(struct postgres_registry *registry, uint64_t since);

/* Finds a session by pid and start; NULL: there is none. */
struct postgres_process *postgres_registry_find(const struct postgres_registry *registry,
                                                int32_t pid, int64_t start_us);

/* Finds a session by the start of its process (CLOCK_BOOTTIME), which is known of its task. A
 * session whose task ended too early is found by the wall clock, which agrees with the server's
 * start time within 2 s unless the clock was set; the nearest start wins, because a pid may be
 * reused at once. */
struct postgres_process *postgres_registry_find_process(const struct postgres_registry *registry,
                                                        int32_t pid, uint64_t start_ns,
                                                        int64_t start_us);

/* Whether a process is the session of a client or works for one; otherwise it is one of the
 * server's own. */
bool postgres_process_is_client(const struct postgres_process *process);

/* Whether /proc shows a process of this pid that started at start_us (since 1970), up to 10 s
 * earlier or 2 s later, in camp's own pid namespace. For camp's own backend this shows that the
 * server is local, so that its pids are valid here (a server in a container or on another host has
 * other pids). For other backends it shows that the pid was not reused, unless the clock was set
 * meanwhile. */
bool postgres_is_process(int32_t pid, int64_t start_us);
