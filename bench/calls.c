/*
 * Compares calls of libcamp with their floor and with other libraries. The floor is the cheapest
 * system calls for the same answer. Prints a line of JSON for each question.
 *
 *   calls [ROUNDS [PSUTIL_CALLS.PY [QUESTION]]]
 */
#include "camp_calls.h"
#include "compare.h"
#include "floor_taskstats.h"
#include "subject.h"

#include <camp/linux.h>

#include <stdlib.h>
#include <string.h>

#define ROUNDS 200
#define CALL 1.10   /* limit of the cost of a call divided by the cost of its floor */
#define READER 1.05 /* the limit for a call with a reader that stays open */

static const struct comparison comparisons[] = {
    { "cpu_all",
      "CPU times, total and each",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_cpu_read_all", call_cpu_all, NULL },
        { "floor", "open+read+close /proc/stat", floor_cpus, NULL },
        { "libproc2", "stat_reap, kept descriptor", libproc2_cpus, NULL },
        { "libstatgrab", "get_cpu_stats (total only)", libstatgrab_cpus, NULL },
        { "psutil", "cpu_times(percpu)", NULL, "cpus" } } },
    { "cpu_total",
      "CPU times, the total",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_cpu_read(TOTAL)", call_cpu_total, NULL },
        { "floor", "open+read+close /proc/stat", floor_cpus, NULL },
        { "libstatgrab", "get_cpu_stats", libstatgrab_cpus, NULL },
        { "psutil", "cpu_times", NULL, "cpu" } } },
    { "cpu_one",
      "CPU times, one CPU",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_cpu_read(0)", call_cpu_one, NULL },
        { "floor", "open+read+close /proc/stat", floor_cpus, NULL } } },
    { "cpu_count",
      "how many CPUs",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_cpu_count", call_cpu_count, NULL },
        { "floor", "open+read+close /proc/stat", floor_cpus, NULL },
        { "sysfs", "open+read+close /sys/devices/system/cpu/online", floor_cpus_online, NULL } } },
    { "memory_all",
      "memory, all fields",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_memory_read(ALL)", call_memory_all, NULL },
        { "floor", "open+read+close /proc/meminfo", floor_meminfo, NULL },
        { "libproc2", "meminfo_select, kept descriptor", libproc2_memory, NULL },
        { "libstatgrab", "get_mem_stats", libstatgrab_memory, NULL },
        { "psutil", "virtual_memory", NULL, "memory" } } },
    { "memory_cheap",
      "memory, what sysinfo(2) has",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_memory_read(TOTAL|FREE|BUFFERS|SWAP)", call_memory_cheap, NULL },
        { "floor", "sysinfo(2), clock_gettime", floor_sysinfo, NULL } } },
    { "network_all",
      "network, all interfaces",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_network_read_all", call_network_all, NULL },
        { "floor", "open+read+close /proc/self/net/dev", floor_network_file, NULL },
        { "netlink", "socket, RTM_GETSTATS, close (no names)", floor_network_netlink, NULL },
        { "libstatgrab", "get_network_io_stats", libstatgrab_networks, NULL },
        { "psutil", "net_io_counters(pernic)", NULL, "networks" } } },
    { "network_one",
      "network, one interface",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_network_read", call_network_one, NULL },
        { "floor", "open+read+close /proc/self/net/dev", floor_network_file, NULL },
        { "netlink", "socket, RTM_GETSTATS, close (no names)", floor_network_netlink, NULL } } },
    { "disk_all",
      "disks and partitions, all",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_disk_read_all(ANY)", call_disk_all, NULL },
        { "floor", "open, read to its end, close /proc/diskstats", floor_disks, NULL },
        { "libproc2", "diskstats_reap, kept descriptor", libproc2_disks, NULL },
        { "libstatgrab", "get_disk_io_stats", libstatgrab_disks, NULL },
        { "psutil", "disk_io_counters(perdisk)", NULL, "disks" } } },
    { "disk_one",
      "one disk",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_disk_read", call_disk_one, NULL },
        { "floor", "open+read+close /sys/block/NAME/stat", floor_disk, NULL },
        { "libproc2", "diskstats_select, kept descriptor", libproc2_disk, NULL } } },
    { "process_stat",
      "a process, what stat and its clock have",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_process_read", call_process_stat, NULL },
        { "floor", "open+read+close PID/stat, its clock", floor_process_stat_clock, NULL },
        { "libproc2", "pids_select of one pid", libproc2_process, NULL },
        { "psutil", "Process.cpu_times (CPU only)", NULL, "process" } } },
    { "pid_cpu",
      "CPU time of a process, by pid",
      TARGET_US,
      0.30,
      1,
      { { "camp", "camp_pid_cpu_ns", call_pid_cpu_ns, NULL },
        { "floor", "clock_gettime of its clock", floor_process_clock, NULL },
        { "psutil", "Process.cpu_times", NULL, "process" } } },
    { "process_cpu",
      "CPU time of a process, by identifier",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_process_cpu_ns", call_process_cpu_ns, NULL },
        { "floor", "its clock, open+read+close PID/stat", floor_process_stat_clock, NULL } } },
    { "process_read_cpu",
      "CPU time of a process, as a task",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_process_read(CPU)", call_process_cpu, NULL },
        { "floor", "its clock, open+read+close PID/stat", floor_process_stat_clock, NULL } } },
    { "process_identify",
      "identifier of a process",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_process_identify", call_process_identify, NULL },
        { "floor", "its clock (a thread has none), open+read+close stat", floor_process_stat_clock,
          NULL } } },
    { "thread_stat",
      "a thread, what stat has",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_thread_read", call_thread_stat, NULL },
        { "floor", "open+read+close TID/stat", floor_thread_stat, NULL } } },
    { "thread_measured",
      "a thread, measured time and run queue",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_thread_read(CPU|RUN_DELAY)", call_thread_measured, NULL },
        { "floor", "open+read+close TID/stat, TID/schedstat", floor_thread_schedstat, NULL } } },
    { "pid_list",
      "the pids",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_pid_list", call_pid_list, NULL },
        { "floor", "open+getdents64+close /proc", floor_pids, NULL },
        { "psutil", "pids", NULL, "pids" } } },
    { "process_list",
      "the identifiers of all processes",
      TARGET_RATIO,
      CALL,
      1,
      { { "camp", "camp_process_list", call_process_list, NULL },
        { "floor", "getdents64 /proc, openat+read+close of each stat", floor_processes, NULL },
        { "libproc2", "pids_reap (pid, time)", libproc2_table, NULL },
        { "libstatgrab", "get_process_stats", libstatgrab_table, NULL },
        { "psutil", "process_iter(cpu_times)", NULL, "table" } } },
    { "taskstats",
      "taskstats of a process, in batches of 64",
      TARGET_RATIO,
      CALL,
      BATCH,
      { { "camp", "camp_taskstats_read", call_taskstats, NULL },
        { "floor", "send, recvmmsg on a kept socket", floor_taskstats, NULL } } },
    { "reader_cpus",
      "kept reader: CPUs",
      TARGET_RATIO,
      READER,
      1,
      { { "camp", "camp_reader_cpus", call_reader_cpus, NULL },
        { "floor", "pread /proc/stat", floor_kept_cpus, NULL },
        { "libproc2", "stat_reap, kept descriptor", libproc2_cpus, NULL } } },
    { "reader_memory",
      "kept reader: memory",
      TARGET_RATIO,
      READER,
      1,
      { { "camp", "camp_reader_memory", call_reader_memory, NULL },
        { "floor", "pread /proc/meminfo", floor_kept_memory, NULL },
        { "libproc2", "meminfo_select, kept descriptor", libproc2_memory, NULL } } },
    { "reader_networks",
      "kept reader: networks",
      TARGET_RATIO,
      READER,
      1,
      { { "camp", "camp_reader_networks", call_reader_networks, NULL },
        { "floor", "pread /proc/net/dev", floor_kept_networks, NULL } } },
    { "reader_disks",
      "kept reader: disks",
      TARGET_RATIO,
      READER,
      1,
      { { "camp", "camp_reader_disks", call_reader_disks, NULL },
        { "floor", "pread /proc/diskstats to its end", floor_kept_disks, NULL },
        { "libproc2", "diskstats_reap, kept descriptor", libproc2_disks, NULL } } },
    { "reader_process",
      "kept reader: a process",
      TARGET_RATIO,
      READER,
      1,
      { { "camp", "camp_reader_process", call_reader_process, NULL },
        { "floor", "pread PID/stat, its clock", floor_kept_process, NULL } } },
};

/* Prints whether another library could be opened. Calls of a missing library fail. */
static void open_peer(const char *who, int result)
{
    printf("{\"part\": \"peer\", \"who\": \"%s\", \"present\": %s}\n", who,
           result == 0 ? "true" : "false");
}

static void open_peers(const char *psutil_script, int taskstats_missing)
{
    open_peer("taskstats (CAP_NET_ADMIN)", taskstats_missing);
    open_peer("libproc2", libproc2_open());
    open_peer("libstatgrab", libstatgrab_open());
    open_peer("psutil", psutil_script ? psutil_start(psutil_script, subject.pid) : -1);
}

static void close_all(void)
{
    psutil_stop();
    libstatgrab_close();
    libproc2_close();
    floor_taskstats_close();
    floor_close();
    camp_calls_close();
    subject_stop();
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
    const char *only = argc > 3 ? argv[3] : NULL;
    int taskstats_missing;
    int failed = 0;

    if (rounds == 0 || subject_start() != 0 || camp_calls_open() != 0 || floor_open() != 0) {
        fprintf(stderr, "bench: cannot read this machine's counters\n");
        subject_stop();
        return 1;
    }
    taskstats_missing = floor_taskstats_open() != 0 || !camp_taskstats_ready();
    open_peers(argc > 2 ? argv[2] : NULL, taskstats_missing);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (only && strcmp(only, comparisons[i].name) != 0)
            continue;
        if (taskstats_missing && strcmp(comparisons[i].name, "taskstats") == 0)
            continue;
        if (compare(&comparisons[i], rounds, stdout) != 0)
            failed = 1;
    }
    close_all();
    return failed;
}
