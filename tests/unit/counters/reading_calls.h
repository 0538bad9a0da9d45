/* A call of each function that reads a counter. The tests of each system include it, so it needs no
 * header of POSIX. */
#pragma once

#include <camp/camp.h>
#include <camp/system.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PID 7

static const struct camp_process asked_process = { .pid = PID, .start = 1 };
static const struct camp_thread asked_thread = { .pid = PID, .tid = PID, .start = 1 };
static size_t count;

static int read_cpu_count(const struct camp_source *source, struct camp_error *error)
{
    return camp_cpu_count(source, &count, error);
}

static int read_cpu_list(const struct camp_source *source, struct camp_error *error)
{
    int32_t ids[64];

    return camp_cpu_list(source, ids, COUNT_OF(ids), &count, error);
}

static int read_cpu(const struct camp_source *source, struct camp_error *error)
{
    struct camp_cpu cpu;

    return camp_cpu_read(source, 0, &cpu, sizeof cpu, error);
}

static int read_cpus(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_cpu cpus[64];

    return camp_cpu_read_all(source, cpus, sizeof cpus[0], COUNT_OF(cpus), &count, error);
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

    return camp_network_read_all(source, networks, sizeof networks[0], COUNT_OF(networks), &count,
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

    return camp_disk_read_all(source, CAMP_DISK_ANY, disks, sizeof disks[0], COUNT_OF(disks),
                              &count, error);
}

static int read_pids(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_pid pids[64];

    return camp_pid_list(source, pids, sizeof pids[0], COUNT_OF(pids), &count, error);
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

    return camp_process_list(source, found, sizeof found[0], COUNT_OF(found), &count, error);
}

static int find_processes(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_process found[64];

    return camp_process_find(source, "sh", found, sizeof found[0], COUNT_OF(found), &count, error);
}

static int read_stat(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_process_read(source, &asked_process, CAMP_TASK_NAME, &task, sizeof task, error);
}

static int read_all_of_process(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_process_read(source, &asked_process, CAMP_TASK_ALL, &task, sizeof task, error);
}

static int read_all_processes(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_process_usage found[64];

    return camp_process_read_all(source, CAMP_TASK_ALL, found, sizeof found[0], COUNT_OF(found),
                                 &count, error);
}

static int list_threads(const struct camp_source *source, struct camp_error *error)
{
    struct camp_thread found[8];

    return camp_thread_list(source, &asked_process, found, sizeof found[0], COUNT_OF(found), &count,
                            error);
}

static int read_thread(const struct camp_source *source, struct camp_error *error)
{
    struct camp_task task;

    return camp_thread_read(source, &asked_thread, CAMP_TASK_ALL, &task, sizeof task, error);
}

static int read_cpu_ns(const struct camp_source *source, struct camp_error *error)
{
    uint64_t cpu_ns;

    return camp_process_cpu_ns(source, &asked_process, &cpu_ns, error);
}

static int read_by_reader_of_cpus(const struct camp_source *source, struct camp_error *error)
{
    static struct camp_cpu cpus[64];
    struct camp_reader reader;
    int r = camp_reader_open_cpus(&reader, source, error);

    if (r == CAMP_OK) {
        r = camp_reader_cpus(&reader, cpus, sizeof cpus[0], COUNT_OF(cpus), &count, error);
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
        r = camp_reader_networks(&reader, networks, sizeof networks[0], COUNT_OF(networks), &count,
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
        r = camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof disks[0], COUNT_OF(disks),
                              &count, error);
        camp_reader_close(&reader);
    }
    return r;
}

static int open_reader_of_process(const struct camp_source *source, struct camp_error *error)
{
    struct camp_reader reader;
    int r = camp_reader_open_process(&reader, source, &asked_process, error);

    if (r == CAMP_OK)
        camp_reader_close(&reader);
    return r;
}

static int read_system(const struct camp_source *source, struct camp_error *error)
{
    struct camp_system system;

    return camp_system_read(source, CAMP_SYSTEM_ALL, &system, sizeof system, error);
}

static int read_frequency(const struct camp_source *source, struct camp_error *error)
{
    uint64_t hz;

    return camp_cpu_frequency_hz(source, 0, &hz, error);
}

static int read_text(const struct camp_source *source, int text, struct camp_error *error)
{
    static char buffer[4096];

    return camp_process_text(source, &asked_process, text, buffer, sizeof buffer, &count, error);
}

static int read_command_line(const struct camp_source *source, struct camp_error *error)
{
    return read_text(source, CAMP_TEXT_COMMAND_LINE, error);
}

static int read_executable(const struct camp_source *source, struct camp_error *error)
{
    return read_text(source, CAMP_TEXT_EXECUTABLE, error);
}

static int read_cgroup(const struct camp_source *source, struct camp_error *error)
{
    return read_text(source, CAMP_TEXT_CGROUP, error);
}

static int read_user_id(const struct camp_source *source, struct camp_error *error)
{
    uint32_t user_id;

    return camp_process_user_id(source, &asked_process, &user_id, error);
}

static int read_proportional_bytes(const struct camp_source *source, struct camp_error *error)
{
    uint64_t bytes;

    return camp_process_proportional_bytes(source, &asked_process, &bytes, error);
}

/* What a function reads. */
enum reads {
    READS_FILE,      /* one file of the system */
    READS_SEVERAL,   /* files of the system; what cannot be read is unknown, which is no error */
    READS_PROCESS,   /* files of one process */
    READS_PROCESSES, /* the list of processes, and files of each */
    READS_PIDS       /* the list of processes alone */
};

static const struct {
    const char *name;
    enum reads reads;
    int (*call)(const struct camp_source *source, struct camp_error *error);
} calls[] = {
    { "camp_cpu_count", READS_FILE, read_cpu_count },
    { "camp_cpu_list", READS_FILE, read_cpu_list },
    { "camp_cpu_read", READS_FILE, read_cpu },
    { "camp_cpu_read_all", READS_FILE, read_cpus },
    { "camp_memory_read", READS_FILE, read_memory },
    { "camp_network_read", READS_FILE, read_network },
    { "camp_network_read_all", READS_FILE, read_networks },
    { "camp_disk_read", READS_FILE, read_disk },
    { "camp_disk_read_all", READS_FILE, read_disks },
    { "camp_fork_count", READS_FILE, read_forks },
    { "camp_reader_cpus", READS_FILE, read_by_reader_of_cpus },
    { "camp_reader_memory", READS_FILE, read_by_reader_of_memory },
    { "camp_reader_networks", READS_FILE, read_by_reader_of_networks },
    { "camp_reader_disks", READS_FILE, read_by_reader_of_disks },
    { "camp_system_read", READS_SEVERAL, read_system },
    { "camp_cpu_frequency_hz", READS_FILE, read_frequency },
    { "camp_process_identify", READS_PROCESS, identify },
    { "camp_process_read of stat", READS_PROCESS, read_stat },
    { "camp_process_read of all", READS_PROCESS, read_all_of_process },
    { "camp_thread_list", READS_PROCESS, list_threads },
    { "camp_thread_read", READS_PROCESS, read_thread },
    { "camp_process_cpu_ns", READS_PROCESS, read_cpu_ns },
    { "camp_reader_open_process", READS_PROCESS, open_reader_of_process },
    { "camp_process_text of the command line", READS_PROCESS, read_command_line },
    { "camp_process_text of the executable", READS_PROCESS, read_executable },
    { "camp_process_text of the cgroup", READS_PROCESS, read_cgroup },
    { "camp_process_user_id", READS_PROCESS, read_user_id },
    { "camp_process_proportional_bytes", READS_PROCESS, read_proportional_bytes },
    { "camp_process_list", READS_PROCESSES, list_processes },
    { "camp_process_find", READS_PROCESSES, find_processes },
    { "camp_process_read_all", READS_PROCESSES, read_all_processes },
    { "camp_pid_list", READS_PIDS, read_pids },
};
