/*
 * The subjects of the calls: a sleeping process, an interface and a disk of this machine; and one
 * function for each question and each participant: the floors (floor.c), and other libraries. Each
 * returns 0 when it has an answer.
 */
#pragma once

#include <camp/camp.h>

#include <stdint.h>
#include <sys/types.h>

#define BATCH 64 /* processes in one taskstats exchange */

struct subject {
    pid_t pid; /* a child that sleeps */
    char stat_path[64];
    char thread_stat_path[64];
    char thread_schedstat_path[64];
    char interface[CAMP_NAME_SIZE];
    char disk[CAMP_NAME_SIZE];
    char disk_path[128];
    int32_t batch[BATCH];
};

extern struct subject subject;

/* Finds and starts the subjects; 0, or -1. The child ends with its parent. */
int subject_start(void);
void subject_stop(void);

/* floor.c: the least that any program must do for each answer. */
int floor_open(void); /* opens the kept descriptors; 0, or -1 */
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

/* peer_libproc2.c, peer_libstatgrab.c: where the library is not installed, each function returns
 * -1. */
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
