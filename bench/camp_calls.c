#include "camp_calls.h"
#include "subject.h"

#include <camp/linux.h>

#include <stdio.h>

#define MANY 512 /* CPUs, interfaces, disks */
#define PIDS_MAX 65536

static const uint32_t memory_cheap = CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE | CAMP_MEMORY_BUFFERS |
                                     CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE;
static const uint32_t task_stat =
    CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM | CAMP_TASK_MINOR_FAULTS |
    CAMP_TASK_MAJOR_FAULTS | CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_THREADS |
    CAMP_TASK_START | CAMP_TASK_STATE | CAMP_TASK_NAME | CAMP_TASK_PARENT;
static const uint32_t thread_stat = task_stat & ~(uint32_t)CAMP_TASK_CPU;

static struct camp_process process;
static struct camp_thread thread;
static struct camp_taskstats taskstats = CAMP_TASKSTATS_NONE;
static int taskstats_ready;

static struct camp_reader cpus_reader;
static struct camp_reader memory_reader;
static struct camp_reader networks_reader;
static struct camp_reader disks_reader;
static struct camp_reader process_reader;

static struct camp_cpu cpus[MANY];
static struct camp_memory memory;
static struct camp_network networks[MANY];
static struct camp_disk disks[MANY];
static struct camp_task task;
static struct camp_taskstat taskstat[BATCH];
static struct camp_pid pids[PIDS_MAX];
static struct camp_process processes[PIDS_MAX];

int camp_calls_open(void)
{
    struct camp_error error = { 0 };
    int r = camp_process_identify(NULL, subject.pid, &process, sizeof process, &error);

    thread = (struct camp_thread){ process.pid, process.pid, process.start };
    if (r == CAMP_OK)
        r = camp_reader_open_cpus(&cpus_reader, NULL, &error);
    if (r == CAMP_OK)
        r = camp_reader_open_memory(&memory_reader, NULL, &error);
    if (r == CAMP_OK)
        r = camp_reader_open_networks(&networks_reader, NULL, &error);
    if (r == CAMP_OK)
        r = camp_reader_open_disks(&disks_reader, NULL, &error);
    if (r == CAMP_OK)
        r = camp_reader_open_process(&process_reader, NULL, &process, &error);
    if (r != CAMP_OK)
        fprintf(stderr, "bench: %s\n", error.message);
    taskstats_ready = camp_taskstats_open(&taskstats, NULL) == CAMP_OK;
    return r;
}

void camp_calls_close(void)
{
    camp_reader_close(&cpus_reader);
    camp_reader_close(&memory_reader);
    camp_reader_close(&networks_reader);
    camp_reader_close(&disks_reader);
    camp_reader_close(&process_reader);
    camp_taskstats_close(&taskstats);
}

int camp_taskstats_ready(void)
{
    return taskstats_ready;
}

int call_cpu_count(void)
{
    size_t count;

    return camp_cpu_count(NULL, &count, NULL);
}

int call_cpu_all(void)
{
    size_t count;

    return camp_cpu_read_all(NULL, cpus, sizeof *cpus, MANY, &count, NULL);
}

int call_cpu_total(void)
{
    return camp_cpu_read(NULL, CAMP_CPU_TOTAL, cpus, sizeof *cpus, NULL);
}

int call_cpu_one(void)
{
    return camp_cpu_read(NULL, 0, cpus, sizeof *cpus, NULL);
}

int call_memory_all(void)
{
    return camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL);
}

int call_memory_cheap(void)
{
    return camp_memory_read(NULL, memory_cheap, &memory, sizeof memory, NULL);
}

int call_network_all(void)
{
    size_t count;

    return camp_network_read_all(NULL, networks, sizeof *networks, MANY, &count, NULL);
}

int call_network_one(void)
{
    return camp_network_read(NULL, subject.interface, networks, sizeof *networks, NULL);
}

int call_disk_all(void)
{
    size_t count;

    return camp_disk_read_all(NULL, CAMP_DISK_ANY, disks, sizeof *disks, MANY, &count, NULL);
}

int call_disk_one(void)
{
    return camp_disk_read(NULL, subject.disk, disks, sizeof *disks, NULL);
}

int call_pid_list(void)
{
    size_t count;

    return camp_pid_list(NULL, pids, sizeof *pids, PIDS_MAX, &count, NULL);
}

int call_process_list(void)
{
    size_t count;

    return camp_process_list(NULL, processes, sizeof *processes, PIDS_MAX, &count, NULL);
}

int call_process_identify(void)
{
    struct camp_process found;

    return camp_process_identify(NULL, subject.pid, &found, sizeof found, NULL);
}

int call_process_stat(void)
{
    return camp_process_read(NULL, &process, task_stat, &task, sizeof task, NULL);
}

int call_process_cpu(void)
{
    return camp_process_read(NULL, &process, CAMP_TASK_CPU, &task, sizeof task, NULL);
}

int call_process_cpu_ns(void)
{
    uint64_t ns;

    return camp_process_cpu_ns(NULL, &process, &ns, NULL);
}

int call_pid_cpu_ns(void)
{
    uint64_t ns;

    return camp_pid_cpu_ns(subject.pid, &ns);
}

int call_thread_stat(void)
{
    return camp_thread_read(NULL, &thread, thread_stat, &task, sizeof task, NULL);
}

int call_thread_measured(void)
{
    return camp_thread_read(NULL, &thread, CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY, &task, sizeof task,
                            NULL);
}

int call_taskstats(void)
{
    return camp_taskstats_read(&taskstats, subject.batch, BATCH, taskstat, sizeof *taskstat, NULL);
}

int call_reader_cpus(void)
{
    size_t count;

    return camp_reader_cpus(&cpus_reader, cpus, sizeof *cpus, MANY, &count, NULL);
}

int call_reader_memory(void)
{
    return camp_reader_memory(&memory_reader, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL);
}

int call_reader_networks(void)
{
    size_t count;

    return camp_reader_networks(&networks_reader, networks, sizeof *networks, MANY, &count, NULL);
}

int call_reader_disks(void)
{
    size_t count;

    return camp_reader_disks(&disks_reader, CAMP_DISK_ANY, disks, sizeof *disks, MANY, &count,
                             NULL);
}

int call_reader_process(void)
{
    return camp_reader_process(&process_reader, &task, sizeof task, NULL);
}
