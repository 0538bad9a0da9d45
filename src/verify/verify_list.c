/*
 * Enumeration: the list of the library against the names in /sys and /proc, read here. A row's
 * number is the count of names that are in both, of the right kind and readable, minus those that
 * libcamp invented; the truth is the count in /sys or /proc.
 *
 * Processes come and go: those in /proc both before and after must be listed. A listed one that is
 * in neither either started and exited in between, or was invented: of the former there are at most
 * as many as were forked, which the kernel counts.
 */
#include "verify.h"

#include "program/command.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 1024
#define PROCESSES_MAX 65536

/* Marks the ids of a list such as "0-3,5"; returns how many. */
static size_t parse_ids(const char *text, bool *marks, size_t capacity)
{
    size_t count = 0;

    while (*text >= '0' && *text <= '9') {
        char *rest;
        unsigned long first = strtoul(text, &rest, 10), last = first;

        if (*rest == '-')
            last = strtoul(rest + 1, &rest, 10);
        for (; first <= last && first < capacity; first++, count++)
            marks[first] = true;
        text = *rest == ',' ? rest + 1 : rest;
    }
    return count;
}

static size_t online_cpus(bool *marks, size_t capacity)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    char text[4096];
    size_t count = 0;

    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) != NULL)
        count = parse_ids(text, marks, capacity);
    fclose(file);
    return count;
}

static void run_cpus(struct verification *verification)
{
    static int32_t ids[NAMES_MAX];
    bool online[NAMES_MAX] = { false };
    size_t expected = online_cpus(online, NAMES_MAX), count = 0;
    struct camp_error error = { 0 };
    struct camp_cpu cpu;
    double reported = 0;
    int r = camp_cpu_list(NULL, ids, NAMES_MAX, &count, &error);

    if (expected == 0)
        not_tested(verification, "list-cpus", "/sys/devices/system/cpu/online is missing");
    else if (r != CAMP_OK)
        decide_failure(verification, "list-cpus", r, &error);
    for (size_t i = 0; r == CAMP_OK && i < count; i++) {
        bool right = ids[i] >= 0 && ids[i] < NAMES_MAX && online[ids[i]] &&
                     camp_cpu_read(NULL, ids[i], &cpu, sizeof cpu, NULL) == CAMP_OK;

        reported += right ? 1 : -1;
    }
    decide(verification, "list-cpus", (double)expected, reported, 0);
}

static bool exists(const char *folder, const char *name, const char *member)
{
    char path[512];

    return snprintf(path, sizeof path, "%s/%s/%s", folder, name, member) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

/* The number of names in a folder that `belongs` accepts. -1: no such folder. */
static long count_names(const char *folder, bool (*belongs)(const char *name))
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    long count = 0;

    if (open == NULL)
        return -1;
    while ((entry = readdir(open)) != NULL)
        count += entry->d_name[0] != '.' && belongs(entry->d_name);
    closedir(open);
    return count;
}

static bool is_partition(const char *name)
{
    return exists("/sys/class/block", name, "partition");
}

static bool is_disk(const char *name)
{
    return exists("/sys/class/block", name, "stat") && !is_partition(name);
}

/* A folder, not the file bonding_masters. */
static bool is_network(const char *name)
{
    return exists("/sys/class/net", name, "ifindex");
}

static void judge_disks(struct verification *verification, const char *row, int kind,
                        bool (*belongs)(const char *name))
{
    static struct camp_disk disks[NAMES_MAX];
    long expected = count_names("/sys/class/block", belongs);
    struct camp_error error = { 0 };
    struct camp_disk one;
    size_t count = 0;
    double reported = 0;
    int r = camp_disk_read_all(NULL, kind, disks, sizeof *disks, NAMES_MAX, &count, &error);

    if (expected < 0)
        not_tested(verification, row, "/sys/class/block is missing");
    else if (r != CAMP_OK)
        decide_failure(verification, row, r, &error);
    for (size_t i = 0; r == CAMP_OK && i < count; i++) {
        bool right = belongs(disks[i].name) && disks[i].kind == kind &&
                     camp_disk_read(NULL, disks[i].name, &one, sizeof one, NULL) == CAMP_OK;

        reported += right ? 1 : -1;
    }
    decide(verification, row, (double)expected, reported, 0);
}

static void run_disks(struct verification *verification)
{
    judge_disks(verification, "list-disks", CAMP_DISK_WHOLE, is_disk);
    judge_disks(verification, "list-partitions", CAMP_DISK_PARTITION, is_partition);
}

static void run_networks(struct verification *verification)
{
    static struct camp_network networks[NAMES_MAX];
    long expected = count_names("/sys/class/net", is_network);
    struct camp_error error = { 0 };
    struct camp_network one;
    size_t count = 0;
    double reported = 0;
    int r = camp_network_read_all(NULL, networks, sizeof *networks, NAMES_MAX, &count, &error);

    if (expected < 0)
        not_tested(verification, "list-networks", "/sys/class/net is missing");
    else if (r != CAMP_OK)
        decide_failure(verification, "list-networks", r, &error);
    for (size_t i = 0; r == CAMP_OK && i < count; i++) {
        bool right = is_network(networks[i].name) &&
                     camp_network_read(NULL, networks[i].name, &one, sizeof one, NULL) == CAMP_OK;

        reported += right ? 1 : -1;
    }
    decide(verification, "list-networks", (double)expected, reported, 0);
}

static int by_number(const void *a, const void *b)
{
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

    return first < second ? -1 : first > second;
}

static bool holds(const int32_t *pids, size_t count, int32_t pid)
{
    return bsearch(&pid, pids, count, sizeof pid, by_number) != NULL;
}

static size_t list_proc(int32_t *pids)
{
    DIR *open = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;

    while (open != NULL && (entry = readdir(open)) != NULL && count < PROCESSES_MAX)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            pids[count++] = (int32_t)strtol(entry->d_name, NULL, 10);
    if (open != NULL)
        closedir(open);
    qsort(pids, count, sizeof *pids, by_number);
    return count;
}

/* Processes and threads forked since boot. NAN: not reported. */
static double count_forks(void)
{
    FILE *file = fopen("/proc/stat", "re");
    unsigned long long count;
    bool found = false;
    char *line = NULL;
    size_t size = 0;

    while (file != NULL && !found && getline(&line, &size, file) > 0)
        found = sscanf(line, "processes %llu", &count) == 1;
    free(line);
    if (file != NULL)
        fclose(file);
    return found ? (double)count : NAN;
}

struct process_lists {
    int32_t before[PROCESSES_MAX], listed[PROCESSES_MAX], after[PROCESSES_MAX];
    struct camp_process processes[PROCESSES_MAX];
};

static void judge_processes(struct verification *verification, struct process_lists *lists)
{
    struct camp_error error = { 0 };
    double forks = count_forks();
    size_t before = list_proc(lists->before), count = 0, after;
    int r = camp_process_list(NULL, lists->processes, sizeof *lists->processes, PROCESSES_MAX,
                              &count, &error);
    double expected = 0, reported = 0;

    if (r != CAMP_OK) {
        decide_failure(verification, "list-processes", r, &error);
        return;
    }
    after = list_proc(lists->after);
    forks = count_forks() - forks;
    if (isnan(forks)) {
        not_tested(verification, "list-processes", "/proc/stat has no line of processes");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        lists->listed[i] = lists->processes[i].pid;
        reported -= !holds(lists->before, before, lists->listed[i]) &&
                    !holds(lists->after, after, lists->listed[i]);
    }
    qsort(lists->listed, count, sizeof *lists->listed, by_number);
    for (size_t i = 0; i < before; i++) {
        if (!holds(lists->after, after, lists->before[i]))
            continue;
        expected++;
        reported += holds(lists->listed, count, lists->before[i]);
    }
    decide_between(verification, "list-processes", expected, reported, forks, 0);
}

/* Processes of this executable, including this one. */
static void judge_find(struct verification *verification, struct process_lists *lists)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    struct camp_error error = { 0 };
    size_t count = 0;
    double found = 0;
    int r;

    path[length > 0 ? length : 0] = '\0';
    r = camp_process_find(NULL, strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path,
                          lists->processes, sizeof *lists->processes, PROCESSES_MAX, &count,
                          &error);
    if (r != CAMP_OK) {
        decide_failure(verification, "list-executable", r, &error);
        return;
    }
    for (size_t i = 0; i < count; i++)
        found += lists->processes[i].pid == (int32_t)getpid();
    decide(verification, "list-executable", 1, found, 0);
}

static void run_processes(struct verification *verification)
{
    struct process_lists *lists = malloc(sizeof *lists);
    struct camp_error error = { .message = "no memory for lists of processes" };

    if (lists == NULL) {
        trial_not_tested(verification, &error);
        return;
    }
    judge_processes(verification, lists);
    judge_find(verification, lists);
    free(lists);
}

static const struct row_spec cpu_rows[] = {
    { "list-cpus", "CPUs", "CPUs listed and readable : /sys/devices/system/cpu/online" },
};
static const struct row_spec disk_rows[] = {
    { "list-disks", "disks", "disks listed and readable : /sys/class/block" },
    { "list-partitions", "partitions", "partitions listed and readable : /sys/class/block" },
};
static const struct row_spec network_rows[] = {
    { "list-networks", "interfaces", "interfaces listed and readable : /sys/class/net" },
};
static const struct row_spec process_rows[] = {
    { "list-processes", "processes", "processes listed : numbers in /proc" },
    { "list-executable", "processes", "processes of this executable that are this one : 1" },
};
static const struct trial trials[] = {
    { cpu_rows, sizeof cpu_rows / sizeof *cpu_rows, run_cpus },
    { disk_rows, sizeof disk_rows / sizeof *disk_rows, run_disks },
    { network_rows, sizeof network_rows / sizeof *network_rows, run_networks },
    { process_rows, sizeof process_rows / sizeof *process_rows, run_processes },
};
const struct trial_list list_trials = { trials, sizeof trials / sizeof *trials };
