/*
 * The time of each function of the paper's Figure 3, in C by libcamp: see timing.py.
 *
 *   paper_functions PID INTERFACE DISK PARTITION NAME CALLS RUNS SECONDS
 *
 * RUNS runs of CALLS calls of each function, or as many as fit into SECONDS; a line for each:
 * {"group", "function", "calls", "cpu_us": [RUNS], "wall_us": [RUNS]}, us a call. CPU functions
 * read twice without a pause, as with the sample interval of 0 that the paper took. PARTITION may
 * be "".
 */
#include <camp/camp.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIST_MAX 256

static const char *interface, *disk, *partition, *name;
static struct camp_process process;

static int percent_processor_time(void)
{
    struct camp_cpu before;
    struct camp_utilisation used;
    int r = camp_cpu_read(NULL, CAMP_CPU_TOTAL, &before, sizeof before, NULL);

    if (r != CAMP_OK)
        return r;
    r = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, 0, NULL, &before, &used, sizeof used, NULL);
    return r == CAMP_E_INVALID ? CAMP_OK : r; /* no unit of /proc/stat has passed */
}

static int free_physical_memory(void)
{
    struct camp_memory memory;

    return camp_memory_read(NULL, CAMP_MEMORY_FREE, &memory, sizeof memory, NULL);
}

static int network(void)
{
    struct camp_network counters;

    return camp_network_read(NULL, interface, &counters, sizeof counters, NULL);
}

static int read_disk(const char *of)
{
    struct camp_disk counters;

    return camp_disk_read(NULL, of, &counters, sizeof counters, NULL);
}

static int whole_disk(void)
{
    return read_disk(disk);
}

static int one_partition(void)
{
    return read_disk(partition);
}

static int read_process(uint32_t wanted)
{
    struct camp_task task;

    return camp_process_read(NULL, &process, wanted, &task, sizeof task, NULL);
}

static int page_faults(void)
{
    return read_process(CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS);
}

static int size(void)
{
    return read_process(CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT);
}

static int thread_count(void)
{
    return read_process(CAMP_TASK_THREADS);
}

static int cpu_time(void)
{
    struct camp_task before;
    struct camp_task_utilisation used;
    int r = camp_process_read(NULL, &process, CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM,
                              &before, sizeof before, NULL);

    if (r != CAMP_OK)
        return r;
    return camp_process_utilisation(NULL, &process, 0, &before, &used, sizeof used, NULL);
}

static int list_disks(int kind)
{
    static struct camp_disk disks[LIST_MAX];
    size_t count;

    return camp_disk_read_all(NULL, kind, disks, sizeof *disks, LIST_MAX, &count, NULL);
}

static int list_whole_disks(void)
{
    return list_disks(CAMP_DISK_WHOLE);
}

static int list_partitions(void)
{
    return list_disks(CAMP_DISK_PARTITION);
}

static int list_interfaces(void)
{
    static struct camp_network networks[LIST_MAX];
    size_t count;

    return camp_network_read_all(NULL, networks, sizeof *networks, LIST_MAX, &count, NULL);
}

static int cpu_count(void)
{
    size_t count;

    return camp_cpu_count(NULL, &count, NULL);
}

static int identify(void)
{
    struct camp_process found;

    return camp_process_identify(NULL, process.pid, &found, sizeof found, NULL);
}

static int find(void)
{
    static struct camp_process found[LIST_MAX];
    size_t count;

    return camp_process_find(NULL, name, found, sizeof *found, LIST_MAX, &count, NULL);
}

/* Functions with the same call of libcamp are here once, with the name of one of them. */
static const struct {
    const char *group, *function;
    int (*call)(void);
} functions[] = {
    { "CPU", "GetPercentProcessorTime", percent_processor_time },
    { "memory", "GetFreePhysicalMemory", free_physical_memory },
    { "network", "GetNetBytesSent", network },
    { "disk", "GetNumReads_Disk", whole_disk },
    { "disk", "GetNumReads_Partition", one_partition },
    { "process", "GetNumPageFaults", page_faults },
    { "process", "GetWorkingSetKb", size },
    { "process", "GetThreadCount", thread_count },
    { "process CPU", "GetCPUtime_Total", cpu_time },
    { "enumeration", "EnumDiskPartitions", list_partitions },
    { "enumeration", "EnumPhysicalDisks", list_whole_disks },
    { "enumeration", "EnumNetworkInterfaces", list_interfaces },
    { "enumeration", "GetCPUCount", cpu_count },
    { "enumeration", "GetProcessIdentifier", identify },
    { "processes by name", "GetProcessIdentifiers", find },
};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static double clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Measures CPU time and wall time of a call in us, of `calls` calls; false when one failed. */
static bool time_calls(int (*call)(void), uint64_t calls, double *ret_cpu_us, double *ret_wall_us)
{
    const double wall = clock_us(CLOCK_MONOTONIC), cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < calls; i++)
        if (call() != CAMP_OK)
            return false;
    *ret_cpu_us = (clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)calls;
    *ret_wall_us = (clock_us(CLOCK_MONOTONIC) - wall) / (double)calls;
    return true;
}

static void measure(size_t number, uint64_t calls, unsigned runs, double seconds)
{
    double cpu[16], wall[16];
    const uint64_t fitting = time_calls(functions[number].call, 10, &cpu[0], &wall[0])
                                 ? (uint64_t)(seconds * 1e6 / wall[0])
                                 : 0;

    if (fitting == 0)
        return; /* this machine has no such thing, so there is no line */
    if (calls > fitting)
        calls = fitting;
    for (unsigned i = 0; i < runs; i++)
        if (!time_calls(functions[number].call, calls, &cpu[i], &wall[i]))
            return;
    printf("{\"group\": \"%s\", \"function\": \"%s\", \"calls\": %llu, \"cpu_us\": [",
           functions[number].group, functions[number].function, (unsigned long long)calls);
    for (unsigned i = 0; i < runs; i++)
        printf("%s%.4f", i > 0 ? ", " : "", cpu[i]);
    printf("], \"wall_us\": [");
    for (unsigned i = 0; i < runs; i++)
        printf("%s%.4f", i > 0 ? ", " : "", wall[i]);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    unsigned runs = argc == 9 ? (unsigned)atoi(argv[7]) : 0;

    if (runs < 1 || runs > 16) {
        fprintf(stderr, "usage: paper_functions PID INTERFACE DISK PARTITION NAME CALLS RUNS "
                        "SECONDS\n");
        return 2;
    }
    interface = argv[2];
    disk = argv[3];
    partition = argv[4];
    name = argv[5];
    if (camp_process_identify(NULL, atoi(argv[1]), &process, sizeof process, NULL) != CAMP_OK)
        return 1;
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        measure(i, strtoull(argv[6], NULL, 10), runs, atof(argv[8]));
    return 0;
}
