/* The parts of the exporter's source among themselves: exported.c opens and looks, exported_table.c
 * states the metrics, exported_host.c reads the machine, exported_cpus.c its CPUs,
 * exported_tasks.c threads or processes, exported_self.c what it costs. */
#ifndef CAMP_METRICS_EXPORTED_INSIDE_H
#define CAMP_METRICS_EXPORTED_INSIDE_H

#include "device_sums.h"
#include "exported.h"
#include "sources/machine/cpus_states.h"
#include "sources/source.h"
#include "thread_sums.h"

/* What /proc/stat has behind its interrupts is needed: one number for each that there may be, some
 * 100 KB where there are hundreds of CPUs. */
#define EXPORTED_TEXT_SIZE ((size_t)1 << 20)

enum exported_family {
    CPUS,
    CPU,
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
    SELF_INFO,
    SELF_START,
    SELF_CPU,
    SELF_RESIDENT,
    SELF_SCRAPES,
    SELF_SENT,
    SELF_LOOK,
    SELF_LOOK_CPU,
    SELF_SWITCHES,
    SELF_UNSEEN,
    SELF_LOST_EXITS,
    SELF_ADDED_EXITS,
    SELF_LOST_ACCOUNTS,
    SELF_UNREAD,
    SELF_GROUPS,
    SELF_DEMOTED,
    EXPORTED_FAMILY_COUNT
};

/* Sources wait for nothing here: what they look at, to be told to stop, stays 0. */
extern const volatile sig_atomic_t exported_goes_on;

extern const struct metric exported_table[EXPORTED_FAMILY_COUNT];

struct exported {
    struct metric_family families[EXPORTED_FAMILY_COUNT];
    struct series *series; /* of the families that have a fixed number of them */
    size_t series_count;
    struct series *group_series; /* [group_rows x THREAD_SUM_COUNT] */
    size_t groups;

    const char *tier;
    char note[CAMP_ERROR_SIZE];
    struct thread_sums sums;                     /* bpf; of the others its top and members alone */
    struct camp_states *session;                 /* NULL: not of this tier */
    struct cpus_states *cpus;                    /* bpf */
    struct source *cpus_source;                  /* otherwise */
    struct source *tasks;                        /* otherwise */
    uint64_t measured[CPUS_STATES_COLUMN_COUNT]; /* of all CPUs, since it was opened */
    uint64_t busy_ns, idle_ns, iowait_ns;        /* likewise, of the other tiers */
    uint64_t task_measured_ns, task_sampled_ns, unread_ns, lost, unseen;
    struct device_sums disks, networks;
    struct camp_disk *disk_list;
    struct camp_network *network_list;
    size_t disk_capacity, network_capacity;
    char *text;                    /* [EXPORTED_TEXT_SIZE] of a file of /proc */
    uint64_t look_ns, look_cpu_ns; /* of the last look; of all looks */
    uint64_t start_wall_ns;
    bool rules_changed;
};

/* Of a family with a fixed number of series. A counter that went backwards keeps its value. */
void exported_set(struct exported *exported, enum exported_family family, size_t series,
                  uint64_t value);

/* How many series a family has, and their labels. 0: as many as there are groups. */
size_t exported_fixed_series(enum exported_family family, const char *const **ret_labels);

int exported_cpus_open(struct exported *exported, struct camp_error *error);
int exported_cpus_look(struct exported *exported, struct camp_error *error);

void exported_host_look(struct exported *exported);

int exported_tasks_open(struct exported *exported, const struct exported_options *options,
                        struct camp_error *error);
int exported_tasks_look(struct exported *exported, struct camp_error *error);
/* Fills the families of groups. */
void exported_groups_fill(struct exported *exported);

void exported_self_look(struct exported *exported, const struct exported_scrapes *scrapes);

#endif
