/*
 * Compares the lists of the library with the names in /sys and /proc, which this file reads itself.
 * The expected number is the number of names in /sys or /proc. For the reported number, a name of
 * the library counts 1 if it is in /sys or /proc, has the right kind and can be read, otherwise -1.
 *
 * Processes start and exit during the test, so /proc is read before and after the library. Each
 * process in both readings must be in the library's list. A process that is only in the library's
 * list may have started and exited between the readings. The number of such processes is at most
 * the number of forks, which the kernel counts.
 */
#include "verify_trials.h"

#include "verify_witness.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 1024
#define PROCESSES_MAX 65536

static bool online[NAMES_MAX]; /* [number of the CPU] */

/* Sets online[] for the CPUs of a list such as "0-3,5", and returns their number. */
static size_t parse_ids(const char *text)
{
    size_t count = 0;

    while (*text >= '0' && *text <= '9') {
        char *rest;
        unsigned long first = strtoul(text, &rest, 10), last = first;

        if (*rest == '-')
            last = strtoul(rest + 1, &rest, 10);
        for (; first <= last && first < NAMES_MAX; first++, count++)
            online[first] = true;
        text = *rest == ',' ? rest + 1 : rest;
    }
    return count;
}

static size_t online_cpus(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[4096];
    size_t count = 0;

    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) != NULL)
        count = parse_ids(text);
    fclose(file);
    return count;
}

/* A row compares the list of the library with the names in the folder or file `source`. */
struct list {
    const char *row, *source;
    double expected;
    size_t count;
    bool (*is_right)(size_t i);
};

static void judge_list(struct verification *verification, const struct list *list,
                       const struct camp_error *error)
{
    double reported = 0;

    if (access(list->source, F_OK) != 0) {
        not_tested(verification, list->row, "%s is missing", list->source);
    } else if (!has_failed(verification, list->row, error)) {
        for (size_t i = 0; i < list->count; i++)
            reported += list->is_right(i) ? 1 : -1;
        decide(verification, list->row, list->expected, reported, 0);
    }
}

static int32_t cpus[NAMES_MAX];

static bool is_right_cpu(size_t i)
{
    struct camp_cpu cpu;

    return cpus[i] >= 0 && cpus[i] < NAMES_MAX && online[cpus[i]] &&
           camp_cpu_read(NULL, cpus[i], &cpu, sizeof cpu, NULL) == CAMP_OK;
}

void verify_cpu_list(struct verification *verification)
{
    struct list list = { "list-cpus", "/sys/devices/system/cpu/online", .is_right = is_right_cpu };
    struct camp_error error = { 0 };

    memset(online, false, sizeof online);
    list.expected = (double)online_cpus(list.source);
    camp_cpu_list(NULL, cpus, NAMES_MAX, &list.count, &error);
    judge_list(verification, &list, &error);
}

static double count_paths(const char *pattern)
{
    glob_t found;
    double count = 0;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        count = (double)found.gl_pathc;
    globfree(&found);
    return count;
}

static bool exists(const char *folder, const char *name, const char *member)
{
    char path[512];

    return snprintf(path, sizeof path, "%s/%s/%s", folder, name, member) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static struct camp_disk disks[NAMES_MAX];

static bool is_right(size_t i, int kind)
{
    struct camp_disk disk;

    return disks[i].kind == kind && exists("/sys/class/block", disks[i].name, "stat") &&
           exists("/sys/class/block", disks[i].name, "partition") ==
               (kind == CAMP_DISK_PARTITION) &&
           camp_disk_read(NULL, disks[i].name, &disk, sizeof disk, NULL) == CAMP_OK;
}

static bool is_right_disk(size_t i)
{
    return is_right(i, CAMP_DISK_WHOLE);
}

static bool is_right_partition(size_t i)
{
    return is_right(i, CAMP_DISK_PARTITION);
}

static void judge_disks(struct verification *verification, int kind, struct list list)
{
    struct camp_error error = { 0 };

    camp_disk_read_all(NULL, kind, disks, sizeof *disks, NAMES_MAX, &list.count, &error);
    judge_list(verification, &list, &error);
}

void verify_disk_list(struct verification *verification)
{
    const char *folder = "/sys/class/block";
    const double partitions = count_paths("/sys/class/block/*/partition");
    const double all = count_paths("/sys/class/block/*/stat");

    judge_disks(verification, CAMP_DISK_WHOLE,
                (struct list){ "list-disks", folder, all - partitions, 0, is_right_disk });
    judge_disks(verification, CAMP_DISK_PARTITION,
                (struct list){ "list-partitions", folder, partitions, 0, is_right_partition });
}

static struct camp_network networks[NAMES_MAX];

/* /sys/class/net may have the file bonding_masters, which is not an interface and has no
 * ifindex. */
static bool is_right_network(size_t i)
{
    struct camp_network network;

    return exists("/sys/class/net", networks[i].name, "ifindex") &&
           camp_network_read(NULL, networks[i].name, &network, sizeof network, NULL) == CAMP_OK;
}

void verify_network_list(struct verification *verification)
{
    struct list list = { "list-networks", "/sys/class/net", count_paths("/sys/class/net/*/ifindex"),
                         .is_right = is_right_network };
    struct camp_error error = { 0 };

    camp_network_read_all(NULL, networks, sizeof *networks, NAMES_MAX, &list.count, &error);
    judge_list(verification, &list, &error);
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
    glob_t found;
    size_t count = 0;

    if (glob("/proc/[1-9]*", GLOB_NOSORT, NULL, &found) == 0)
        for (; count < found.gl_pathc && count < PROCESSES_MAX; count++)
            pids[count] = (int32_t)strtol(found.gl_pathv[count] + strlen("/proc/"), NULL, 10);
    globfree(&found);
    qsort(pids, count, sizeof *pids, by_number);
    return count;
}

/* Returns the number of processes and threads that were forked since boot, or NAN if it is
 * unknown. */
static double count_forks(void)
{
    return verify_sum_of("/proc/stat", "processes ", NAN);
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
    double expected = 0, reported = 0;

    camp_process_list(NULL, lists->processes, sizeof *lists->processes, PROCESSES_MAX, &count,
                      &error);
    if (has_failed(verification, "list-processes", &error))
        return;
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

/* Finds the processes of this executable. One of them must be this process. */
static void judge_find(struct verification *verification, struct process_lists *lists)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    struct camp_error error = { 0 };
    size_t count = 0;
    double found = 0;

    path[length > 0 ? length : 0] = '\0';
    camp_process_find(NULL, strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path,
                      lists->processes, sizeof *lists->processes, PROCESSES_MAX, &count, &error);
    if (has_failed(verification, "list-executable", &error))
        return;
    for (size_t i = 0; i < count; i++)
        found += lists->processes[i].pid == (int32_t)getpid();
    decide(verification, "list-executable", 1, found, 0);
}

void verify_process_list(struct verification *verification)
{
    struct process_lists *lists = malloc(sizeof *lists);
    const struct camp_error error = { .message = "no memory for lists of processes" };

    if (lists == NULL) {
        trial_succeeded(verification, CAMP_E_NOMEM, &error, NULL);
        return;
    }
    judge_processes(verification, lists);
    judge_find(verification, lists);
    free(lists);
}
