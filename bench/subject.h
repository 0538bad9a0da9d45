/*
 * The sleeping process, the interface and the disk that the measured calls read, and the functions
 * that compete with libcamp. Each function reads one answer and returns 0 on success.
 */
#pragma once

#include <camp/camp.h>

#include <stdint.h>
#include <sys/types.h>

#define BATCH 64 /* pids in one taskstats request */

struct subject {
    pid_t pid;
    char stat_path[64];
    char thread_stat_path[64];
    char thread_schedstat_path[64];
    char interface[CAMP_NAME_SIZE];
    char disk[CAMP_NAME_SIZE];
    char disk_path[128];
    int32_t batch[BATCH];
};

extern struct subject subject;

/* Returns 0 or -1. The sleeping process ends with its parent. */
int subject_start(void);
void subject_stop(void);

/* The functions floor_*() do the least that any program must do for an answer. */
int floor_open(void); /* opens the descriptors of floor_kept_*(); returns 0 or -1 */
void floor_close(void);
int floor_cpus(void);
int floor_cpus_online(void);
int floor_meminfo(void);
int floor_sysinfo(void);
int floor_network_file(void);
int floor_network_netlink(void);
int floor_disks(void);
int floor_disk(void);
int floor_pids(void);
int floor_processes(void);
int floor_process_stat_clock(void);
int floor_process_clock(void);
int floor_thread_stat(void);
int floor_thread_schedstat(void);
int floor_taskstats(void);
int floor_kept_cpus(void);
int floor_kept_memory(void);
int floor_kept_networks(void);
int floor_kept_disks(void);
int floor_kept_process(void);

/* Functions that use other libraries. They return -1 if the library is not installed. */
int libproc2_open(void);
void libproc2_close(void);
int libproc2_cpus(void);
int libproc2_memory(void);
int libproc2_disks(void);
int libproc2_disk(void);
int libproc2_process(void);
int libproc2_table(void);

int libstatgrab_open(void);
void libstatgrab_close(void);
int libstatgrab_cpus(void);
int libstatgrab_memory(void);
int libstatgrab_networks(void);
int libstatgrab_disks(void);
int libstatgrab_table(void);
