/*
 * What the files of the exporter share. exported.c opens the exporter and takes snapshots.
 * exported_table.c has the table of metrics. The other files fill the metrics of one thing each:
 * exported_host.c (the machine), exported_cpus.c (CPUs), exported_tasks.c (threads or processes),
 * exported_waits.c (causes of waits), exported_sessions.c (database sessions) and exported_self.c
 * (the exporter's own costs).
 */
#pragma once

#include "device_sums.h"
#include "exported.h"
#include "ledger/array.h"
#include "sources/machine/cpus_states.h"
#include "sources/source.h"
#include "thread_sums.h"
#include "wait_sums.h"

enum exported_family {
    CPUS,
    CPU,
    CPU_BUSY,
    CPU_MEASURED,
    CLOCK,
    CPU_IOWAIT,
    TASK_STATE,
    TASK_CPU_MEASURED,
    TASK_CPU_SAMPLED,
    TASK_RUN_DELAY,
    TASK_CALLS,
    TASK_SIGNALS,
    TASK_SWITCHES,
    TASK_FAULTS,
    TASK_STORAGE,
    PROCESSES,
    THREADS,
    RUN_QUEUE,
    BLOCKED,
    SWITCHES,
    FORKS,
    INTERRUPTS,
    BOOT_TIME,
    MEMORY,
    SWAP,
    PRESSURE,
    DISK_BYTES,
    DISK_REQUESTS,
    DISK_REQUEST_TIME,
    DISK_BUSY,
    NETWORK_BYTES,
    NETWORK_PACKETS,
    NETWORK_ERRORS,
    NETWORK_DROPS,
    GROUP_STATE,
    GROUP_MEASURED,
    GROUP_SAMPLED,
    RETIRED_STATE,
    RETIRED_MEASURED,
    RETIRED_SAMPLED,
    WAIT,
    WAIT_LONGEST,
    WAIT_CAUSE,
    WAIT_REDUCED,
    SESSION_TIME,
    SESSION_STATE,
    SESSION_RETIRED_TIME,
    SESSION_RETIRED_STATE,
    SESSION_UNACCOUNTED,
    SESSION_OVERLAPPING,
    SESSION_CLOCK,
    SESSION_COUNT,
    SESSION_HIDDEN,
    SESSION_TRANSACTION,
    SESSION_IDLE_IN_TRANSACTION,
    SESSION_BLOCKER,
    SESSION_LOST,
    SERVER_UP,
    SERVER_UNANSWERED,
    SERVER_INFO,
    SELF_INFO,
    SELF_START,
    SELF_CPU,
    SELF_RESIDENT,
    SELF_SCRAPES,
    SELF_SENT,
    SELF_SNAPSHOT,
    SELF_SNAPSHOT_CPU,
    SELF_SWITCHES,
    SELF_UNSEEN,
    SELF_LOST_EXITS,
    SELF_ADDED_EXITS,
    SELF_LOST_ACCOUNTS,
    SELF_UNREAD,
    SELF_GROUPS,
    SELF_DEMOTED,
    SELF_DEFERRED,
    EXPORTED_FAMILY_COUNT
};

/* The stop flag of the exporter's sources. It is always 0, because these sources never wait. */
extern const volatile sig_atomic_t exported_goes_on;

extern const struct metric exported_table[EXPORTED_FAMILY_COUNT];

struct exported_sessions;

struct exported {
    /* With database sessions, whose metrics take the place of those of this machine; else NULL. */
    struct exported_sessions *sessions;
    struct metric_family families[EXPORTED_FAMILY_COUNT];
    struct series *series; /* the series of all families whose number of series is fixed */
    size_t series_count;
    struct series *group_series; /* [(groups + 1) x THREAD_SUM_COUNT]; + 1 for "other" */
    size_t groups;
    struct wait_sums waits;        /* with --why; otherwise all zero */
    struct series *wait_series[3]; /* those of WAIT, WAIT_LONGEST and WAIT_CAUSE; or NULL */

    const char *tier;
    char note[CAMP_ERROR_SIZE];
    struct thread_sums sums;     /* tier "bpf"; other tiers use only sums.top and sums.members */
    struct camp_states *session; /* NULL with other tiers than "bpf" */
    struct cpus_states *cpus;    /* NULL with other tiers than "bpf" */
    struct source *cpus_source;  /* NULL with tier "bpf" */
    struct source *tasks;        /* NULL with tier "bpf" */
    /* with tier "bpf": sums over all CPUs since the exporter was opened */
    uint64_t measured[CPUS_STATES_COLUMN_COUNT];
    /* with other tiers: sums over all CPUs since the exporter was opened */
    uint64_t busy_ns, idle_ns, iowait_ns;
    uint64_t task_measured_ns, task_sampled_ns, unread_ns, lost, unseen;
    struct device_sums disks, networks;
    struct camp_disk *disk_list;
    struct camp_network *network_list;
    size_t disk_capacity, network_capacity;
    /* read_ns is how long the last snapshot took. read_cpu_ns is the CPU time of all snapshots. */
    uint64_t read_ns, read_cpu_ns;
    uint64_t start_wall_ns;
    bool rules_changed;
};

/* Sets the value of a series, in a family whose number of series is fixed. A counter never falls: a
 * smaller value is ignored. */
void exported_set(struct exported *exported, enum exported_family family, size_t series,
                  uint64_t value);

int exported_cpus_open(struct exported *exported, struct camp_error *error);
int exported_cpus_read(struct exported *exported, struct camp_error *error);

void exported_host_read(struct exported *exported);

int exported_tasks_open(struct exported *exported, const struct exported_options *options,
                        struct camp_error *error);
int exported_tasks_read(struct exported *exported, struct camp_error *error);
/* Fills the metrics that have a series for each group, and the metrics of all groups together. */
void exported_groups_fill(struct exported *exported);

/* Opened after the tasks. Without options->why it does nothing. */
int exported_waits_open(struct exported *exported, const struct exported_options *options,
                        struct camp_error *error);
void exported_waits_close(struct exported *exported);
/* Fills the metrics of waits with those of the last snapshot. */
void exported_waits_fill(struct exported *exported);

/* Fills the metrics of sessions with those of an interval that ends now, if the server is not slow.
 */
void exported_sessions_read(struct exported *exported);
void exported_sessions_close(struct exported *exported);
const char *exported_sessions_note(const struct exported *exported);
/* The CPU time of all intervals; 0 without sessions. */
uint64_t exported_sessions_cpu_ns(const struct exported *exported);

/* Allocates the series of all families whose number of series is fixed. */
int exported_make_series(struct exported *exported);

void exported_self_read(struct exported *exported, const struct scrapes *scrapes);
