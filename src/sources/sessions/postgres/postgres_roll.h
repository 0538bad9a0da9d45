/*
 * Who the sessions of a PostgreSQL server are, over the looks at them: names and labels, and the
 * task of each on this machine. Who has ended is kept for an interval more, for its last row.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_ROLL_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_ROLL_H

#include "ledger/labels.h"
#include "postgres_sessions.h"
#include "sources/machine/proc_clock.h"

#include <stdbool.h>

/* user, database, application, client, query */
#define POSTGRES_LABELS 5
extern const char *const postgres_label_names[POSTGRES_LABELS];

struct postgres_who {
    int32_t pid, leader_pid;
    int64_t start_us;  /* since 1970, by the server: another one is another session */
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    const struct labels *labels;
    char type[40]; /* "client_backend" */
    char name[CAMP_NAME_SIZE];
    uint64_t seen; /* number of the last look that saw it */
    /* Its task; of a server on another machine there is none. */
    bool has_task;
    struct camp_thread task;
    struct proc_clock clock; /* as it was last read; all zero: not yet */
    /* Its process' CPU clock just before `clock` was read, and before it was seen asleep; 0: not.
     * As long as that stands still it has not run. */
    uint64_t clock_cpu_ns, asleep_cpu_ns;
};

struct postgres_roll {
    struct postgres_who *of; /* [count], ascending by pid, then start */
    size_t count, capacity;
    uint64_t looks;
    uint64_t look_ns;    /* when the last one was */
    int32_t own_pids[2]; /* of our own session, and of the one before it */
    bool is_local;       /* pids are of this machine */
};

/* All zero is an empty roll. */
void postgres_roll_release(struct postgres_roll *roll);

/* Takes in a look; names and labels of a whole one only. CAMP_OK or CAMP_E_NOMEM. */
int postgres_roll_take(struct postgres_roll *roll, const struct postgres_look *look);

/* Forgets who was not seen since look number `since`. Pointers from before are void. */
void postgres_roll_forget(struct postgres_roll *roll, uint64_t since);

/* NULL: there is no such session. */
struct postgres_who *postgres_roll_find(const struct postgres_roll *roll, int32_t pid,
                                        int64_t start_us);

/* The same by when its process began, CLOCK_BOOTTIME, as its task has it. Of one whose task was
 * gone before it was looked for, by the wall clock, which the server's word follows within 2 s
 * unless the clock was set: the nearest, as a pid may be given again at once. */
struct postgres_who *postgres_roll_find_process(const struct postgres_roll *roll, int32_t pid,
                                                uint64_t start_ns, int64_t start_us);

/* Whether it is a session of a client, or works for one; otherwise it is the server's own. */
bool postgres_who_is_client(const struct postgres_who *who);

#endif
