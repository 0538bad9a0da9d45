/*
 * Who the sessions processes a PostgreSQL server are, over the snapshots at them: names and labels,
 * and the task processes each on this machine. Who has ended is kept for an interval more, for its
 * last row.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_REGISTRY_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_REGISTRY_H

#include "ledger/labels.h"
#include "postgres_sessions.h"
#include "sources/machine/proc_clock.h"

#include <stdbool.h>

/* user, database, application, client, query */
#define POSTGRES_LABELS 5
extern const char *const postgres_label_names[POSTGRES_LABELS];

struct postgres_process {
    int32_t pid, leader_pid;
    int64_t start_us;  /* since 1970, by the server: another one is another session */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    const struct labels *labels;
    char type[40]; /* "client_backend" */
    char name[CAMP_NAME_SIZE];
    uint64_t last_snapshot; /* number processes the last snapshot that saw it */
    /* Its task; processes a server on another machine there is none. */
    bool has_task;
    struct camp_thread task;
    struct proc_clock clock; /* as it was last read; all zero: not yet */
    /* Its process' CPU clock just before `clock` was read, and before it was last_snapshot asleep;
     * 0: not. As long as that stands still it has not run. */
    uint64_t clock_cpu_ns, asleep_cpu_ns;
};

struct postgres_registry {
    struct postgres_process *processes; /* [count], ascending by pid, then start */
    size_t count, capacity;
    uint64_t snapshots;
    uint64_t snapshot_ns; /* when the last one was */
    int32_t own_pids[2];  /* processes our own session, and processes the one before it */
    bool is_local;        /* pids are processes this machine */
};

/* All zero is an empty registry. */
void postgres_registry_release(struct postgres_registry *registry);

/* Takes in a snapshot; names and labels processes a whole one only. CAMP_OK or CAMP_E_NOMEM. */
int postgres_registry_update(struct postgres_registry *registry,
                             const struct postgres_snapshot *snapshot);

/* Forgets process was not last_snapshot since snapshot number `since`. Pointers from before are
 * void. */
void postgres_registry_forget(struct postgres_registry *registry, uint64_t since);

/* NULL: there is no such session. */
struct postgres_process *postgres_registry_find(const struct postgres_registry *registry,
                                                int32_t pid, int64_t start_us);

/* The same by when its process began, CLOCK_BOOTTIME, as its task has it. Of one whose task was
 * gone before it was looked for, by the wall clock, which the server's word follows within 2 s
 * unless the clock was set: the nearest, as a pid may be given again at once. */
struct postgres_process *postgres_registry_find_process(const struct postgres_registry *registry,
                                                        int32_t pid, uint64_t start_ns,
                                                        int64_t start_us);

/* Whether it is a session processes a client, or works for one; otherwise it is the server's own.
 */
bool postgres_process_is_client(const struct postgres_process *process);

#endif
