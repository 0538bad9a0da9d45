/* A call of each function that reads a file of struct camp_source. */
#pragma once

#include "../tree.h"

#define PID 7

static const struct camp_process process = { .pid = PID, .start = 1 };
static const struct camp_thread thread = { .pid = PID, .tid = PID, .start = 1 };
static size_t count;

static int read_cpu_count(const struct camp_source *source, struct camp_error *error)
{
    return camp_cpu_count(source, &count, error);
}

static int read_cpu_list(const struct camp_source *source, struct camp_error *error)
{
    int32_t ids[64];

    return camp_cpu_list(source, ids, COUNT(ids), &count, error);
}

static int read_cpu(const struct camp_source *source, struct camp_error *error)
{
    struct camp_cpu cpu;

    return camp_cpu_read(source, 0, &cpu, sizeof cpu, error);
}

static int read_cpus(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_cpu cpus[64];

    return camp_cpu_read_all(source, cpus, sizeof cpus[0], COUNT(cpus), &count, error);
}

static int read_memory(const struct camp_source *source, struct camp_error *error)
{
    struct camp_memory memory;

    return camp_memory_read(source, CAMP_MEMORY_ALL, &memory, sizeof memory, error);
}

static int read_network(const struct camp_source *source, struct camp_error *error)
{
    struct camp_network network;

    return camp_network_read(source, "lo", &network, sizeof network, error);
}

static int read_networks(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_network networks[64];

    return camp_network_read_all(source, networks, sizeof networks[0], COUNT(networks), &count,
                                 error);
}

static int read_disk(const struct camp_source *source, struct camp_error *error)
{
    struct camp_disk disk;

    return camp_disk_read(source, "vda", &disk, sizeof disk, error);
}

static int read_disks(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_disk disks[64];

    return camp_disk_read_all(source, CAMP_DISK_ANY, disks, sizeof disks[0], COUNT(disks), &count,
                              error);
}

static int read_pids(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_pid pids[64];

    return camp_pid_list(source, pids, sizeof pids[0], COUNT(pids), &count, error);
}

static int read_forks(const struct camp_source *source, struct camp_error *error)
{
    uint64_t forks;

    return camp_fork_count(source, &forks, error);
}

static int identify(const struct camp_source *source, struct camp_error *error)
{
    struct camp_process found;

    return camp_process_identify(source, PID, &found, sizeof found, error);
}

static int list_processes(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_process found[64];

    return camp_process_list(source, found, sizeof found[0], COUNT(found), &count, error);
}

static int find_processes(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_process found[64];

    return camp_process_find(source, "sh", found, sizeof found[0], COUNT(found), &count, error);
}

static int read_stat(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_process_read(source, &process, CAMP_TASK_NAME, &task, sizeof task, error);
}

static int read_all_of_process(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_process_read(source, &process, CAMP_TASK_ALL, &task, sizeof task, error);
}

static int read_all_processes(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_process_usage found[64];

    return camp_process_read_all(source, CAMP_TASK_ALL, found, sizeof found[0], COUNT(found),
                                 &count, error);
}

static int list_threads(const struct camp_source *source, struct camp_error *error)
{
    struct camp_thread found[8];

    return camp_thread_list(source, &process, found, sizeof found[0], COUNT(found), &count, error);
}

static int read_thread(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_thread_read(source, &thread, CAMP_TASK_ALL, &task, sizeof task, error);
}

static int read_cpu_ns(const struct camp_source *source, struct camp_error *error)
{
    uint64_t cpu_ns;

    return camp_process_cpu_ns(source, &process, &cpu_ns, error);
}

static int read_by_reader_of_cpus(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_cpu cpus[64];
    struct camp_reader reader;
    int r = camp_reader_open_cpus(&reader, source, error);

    if (r == CAMP_OK) {
        r = camp_reader_cpus(&reader, cpus, sizeof cpus[0], COUNT(cpus), &count, error);
        camp_reader_close(&reader);
    }
    return r;
}

static int read_by_reader_of_memory(const struct camp_source *source, struct camp_error *error)
{
    struct camp_memory memory;
    struct camp_reader reader;
    int r = camp_reader_open_memory(&reader, source, error);

    if (r == CAMP_OK) {
        r = camp_reader_memory(&reader, CAMP_MEMORY_ALL, &memory, sizeof memory, error);
        camp_reader_close(&reader);
    }
    return r;
}

static int read_by_reader_of_networks(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_network networks[64];
    struct camp_reader reader;
    int r = camp_reader_open_networks(&reader, source, error);

    if (r == CAMP_OK) {
        r = camp_reader_networks(&reader, networks, sizeof networks[0], COUNT(networks), &count,
                                 error);
        camp_reader_close(&reader);
    }
    return r;
}

static int read_by_reader_of_disks(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_disk disks[64];
    struct camp_reader reader;
    int r = camp_reader_open_disks(&reader, source, error);

    if (r == CAMP_OK) {
        r = camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof disks[0], COUNT(disks), &count,
                              error);
        camp_reader_close(&reader);
    }
    return r;
}

static int open_reader_of_process(const struct camp_source *source, struct camp_error *error)
{
    struct camp_reader reader;
    int r = camp_reader_open_process(&reader, source, &process, error);

    if (r == CAMP_OK)
        camp_reader_close(&reader);
    return r;
}

/* Functions that read a file of the system, then functions that read files of a process, then those
 * that list the processes. */
static const struct {
    const char *name;
    int (*call)(const struct camp_source *source, struct camp_error *error);
} calls[] = {
    { "camp_cpu_count", read_cpu_count },
    { "camp_cpu_list", read_cpu_list },
    { "camp_cpu_read", read_cpu },
    { "camp_cpu_read_all", read_cpus },
    { "camp_memory_read", read_memory },
    { "camp_network_read", read_network },
    { "camp_network_read_all", read_networks },
    { "camp_disk_read", read_disk },
    { "camp_disk_read_all", read_disks },
    { "camp_fork_count", read_forks },
    { "camp_reader_cpus", read_by_reader_of_cpus },
    { "camp_reader_memory", read_by_reader_of_memory },
    { "camp_reader_networks", read_by_reader_of_networks },
    { "camp_reader_disks", read_by_reader_of_disks },
    { "camp_process_identify", identify },
    { "camp_process_read of stat", read_stat },
    { "camp_process_read of all", read_all_of_process },
    { "camp_thread_list", list_threads },
    { "camp_thread_read", read_thread },
    { "camp_process_cpu_ns", read_cpu_ns },
    { "camp_reader_open_process", open_reader_of_process },
    { "camp_process_list", list_processes },
    { "camp_process_find", find_processes },
    { "camp_process_read_all", read_all_processes },
    { "camp_pid_list", read_pids },
};
