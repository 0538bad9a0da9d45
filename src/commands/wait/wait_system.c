#include "wait_system.h"

#include "counters/clock.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

const struct field wait_system_fields[SYSTEM_FIELD_COUNT] = {
    [SYSTEM_RUN_QUEUE] = { "run_queue", NULL,
                           "threads in the run queues, without those on a CPU: the average; "
                           "without microstates at the end, at least" },
    [SYSTEM_BLOCKED] = { "blocked", NULL,
                         "threads that waited for a disk: the average; without microstates at the "
                         "end" },
    [SYSTEM_SWAP_FREE] = { "swap_free_bytes", NULL, "at the end" },
    [SYSTEM_AVAILABLE] = { "available_bytes", NULL,
                           "memory that a program can get without swapping, at the end" },
    [SYSTEM_MINOR_FAULTS] = { "minor_faults_per_s", NULL, "page faults without a disk" },
    [SYSTEM_MAJOR_FAULTS] = { "major_faults_per_s", NULL, "page faults that waited for a disk" },
    [SYSTEM_PAGED_IN] = { "paged_in_bytes_per_s", NULL, "read from block devices" },
    [SYSTEM_PAGED_OUT] = { "paged_out_bytes_per_s", NULL, "written to block devices" },
    [SYSTEM_SWAPPED_IN] = { "swapped_in_bytes_per_s", NULL, "read from swap" },
    [SYSTEM_SWAPPED_OUT] = { "swapped_out_bytes_per_s", NULL, "written to swap" },
    [SYSTEM_SCANNED] = { "scanned_bytes_per_s", NULL, "memory examined to free some of it" },
    [SYSTEM_RECLAIMED] = { "reclaimed_bytes_per_s", NULL, "memory freed of it" },
    [SYSTEM_INTERRUPTS] = { "interrupts_per_s", NULL, "with those of the clock" },
    [SYSTEM_CROSS_CALLS] = { "cross_calls_per_s", NULL,
                             "a CPU asked another one to call a function" },
    [SYSTEM_CONTEXT_SWITCHES] = { "context_switches_per_s", NULL, "ctxt of /proc/stat" },
    [SYSTEM_INVOLUNTARY_SWITCHES] = { "involuntary_switches_per_s", NULL,
                                      "a thread lost its CPU; needs microstates" },
    [SYSTEM_SYSTEM_CALLS] = { "system_calls_per_s", NULL,
                              "of threads; needs microstates of system calls" },
};

/* Only the files of these fields are read: /proc/stat and /proc/vmstat. */
#define WANTED                                                                                     \
    (CAMP_SYSTEM_CONTEXT_SWITCHES | CAMP_SYSTEM_INTERRUPTS | CAMP_SYSTEM_RUNNING |                 \
     CAMP_SYSTEM_BLOCKED | CAMP_SYSTEM_FAULTS | CAMP_SYSTEM_MAJOR_FAULTS |                         \
     CAMP_SYSTEM_SWAPPED_IN | CAMP_SYSTEM_SWAPPED_OUT | CAMP_SYSTEM_PAGED_IN |                     \
     CAMP_SYSTEM_PAGED_OUT | CAMP_SYSTEM_SCANNED | CAMP_SYSTEM_RECLAIMED)

static void read_disks(struct system_reading *reading)
{
    int r;

    do {
        r = camp_disk_read_all(NULL, CAMP_DISK_PHYSICAL, reading->disks, sizeof *reading->disks,
                               reading->disk_capacity, &reading->disk_count, NULL);
    } while (r == CAMP_E_SPACE &&
             ARRAY_RESERVE(reading->disks, reading->disk_capacity, reading->disk_count));
    if (r != CAMP_OK)
        reading->disk_count = 0;
}

void wait_system_read(struct wait_system *system)
{
    struct system_reading *now = &system->now;
    const struct system_reading swap = system->before;

    system->before = system->now;
    system->now = swap;
    if (camp_system_read(NULL, WANTED, &now->system, sizeof now->system, NULL) != CAMP_OK)
        now->system = (struct camp_system){ 0 };
    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE | CAMP_MEMORY_SWAP_FREE, &now->memory,
                         sizeof now->memory, NULL) != CAMP_OK)
        now->memory = (struct camp_memory){ 0 };
    now->interrupts_ns = now_ns(CLOCK_MONOTONIC);
    interrupts_read(&now->interrupts); /* after an error there are none */
    read_disks(now);
}

static void release(struct system_reading *reading)
{
    interrupts_release(&reading->interrupts);
    free(reading->disks);
    *reading = (struct system_reading){ 0 };
}

void wait_system_release(struct wait_system *system)
{
    release(&system->before);
    release(&system->now);
}

/* A counter that was reset has no rate. */
static struct cell rate(uint64_t before, uint64_t after, uint64_t elapsed_ns)
{
    double per_second;

    return camp_rate(before, after, 64, elapsed_ns, &per_second) == CAMP_OK ? cell_real(per_second)
                                                                            : cell_unknown();
}

/* The rate of a counter of struct camp_system. */
static struct cell rate_of(const struct wait_system *system, uint32_t field, size_t offset)
{
    const struct camp_system *before = &system->before.system, *now = &system->now.system;
    uint64_t first, last;

    if ((before->known & now->known & field) != field)
        return cell_unknown();
    memcpy(&first, (const char *)before + offset, sizeof first);
    memcpy(&last, (const char *)now + offset, sizeof last);
    return rate(first, last, now->time_ns - before->time_ns);
}

static void fill_rates(struct cell ret[SYSTEM_FIELD_COUNT], const struct wait_system *system)
{
    static const struct {
        enum wait_system_field field;
        uint32_t bit;
        size_t offset;
    } rates[] = {
        { SYSTEM_MAJOR_FAULTS, CAMP_SYSTEM_MAJOR_FAULTS,
          offsetof(struct camp_system, major_faults) },
        { SYSTEM_PAGED_IN, CAMP_SYSTEM_PAGED_IN, offsetof(struct camp_system, paged_in_bytes) },
        { SYSTEM_PAGED_OUT, CAMP_SYSTEM_PAGED_OUT, offsetof(struct camp_system, paged_out_bytes) },
        { SYSTEM_SWAPPED_IN, CAMP_SYSTEM_SWAPPED_IN,
          offsetof(struct camp_system, swapped_in_bytes) },
        { SYSTEM_SWAPPED_OUT, CAMP_SYSTEM_SWAPPED_OUT,
          offsetof(struct camp_system, swapped_out_bytes) },
        { SYSTEM_SCANNED, CAMP_SYSTEM_SCANNED, offsetof(struct camp_system, scanned_bytes) },
        { SYSTEM_RECLAIMED, CAMP_SYSTEM_RECLAIMED, offsetof(struct camp_system, reclaimed_bytes) },
        { SYSTEM_INTERRUPTS, CAMP_SYSTEM_INTERRUPTS, offsetof(struct camp_system, interrupts) },
        { SYSTEM_CONTEXT_SWITCHES, CAMP_SYSTEM_CONTEXT_SWITCHES,
          offsetof(struct camp_system, context_switches) },
    };
    const struct cell faults =
        rate_of(system, CAMP_SYSTEM_FAULTS, offsetof(struct camp_system, faults));

    for (size_t i = 0; i < ARRAY_COUNT(rates); i++)
        ret[rates[i].field] = rate_of(system, rates[i].bit, rates[i].offset);
    if (faults.kind == CELL_REAL && ret[SYSTEM_MAJOR_FAULTS].kind == CELL_REAL)
        ret[SYSTEM_MINOR_FAULTS] = cell_real(faults.real - ret[SYSTEM_MAJOR_FAULTS].real);
}

static void fill_memory(struct cell ret[SYSTEM_FIELD_COUNT], const struct camp_memory *memory)
{
    if ((memory->known & CAMP_MEMORY_SWAP_FREE) != 0)
        ret[SYSTEM_SWAP_FREE] = cell_natural(memory->swap_free_bytes);
    if ((memory->known & CAMP_MEMORY_AVAILABLE) != 0)
        ret[SYSTEM_AVAILABLE] = cell_natural(memory->available_bytes);
}

/* Every CPU has a thread of its own before a thread waits, so at least the others wait. */
static void fill_queues(struct cell ret[SYSTEM_FIELD_COUNT], const struct camp_system *system,
                        size_t cpus)
{
    if ((system->known & CAMP_SYSTEM_RUNNING) != 0)
        ret[SYSTEM_RUN_QUEUE] =
            cell_real(system->running > cpus ? (double)(system->running - cpus) : 0);
    if ((system->known & CAMP_SYSTEM_BLOCKED) != 0)
        ret[SYSTEM_BLOCKED] = cell_real((double)system->blocked);
}

static double sum_of(const struct frame *threads, size_t column)
{
    const size_t at = threads_column(threads->schema, column);
    double sum = 0;

    for (size_t i = 0; i < threads->entity_count; i++)
        sum += (double)frame_values(threads, i)[at];
    return sum;
}

/* The time of all threads in a state, divided by the wall time, is their average number. */
static void fill_of_threads(struct cell ret[SYSTEM_FIELD_COUNT], const struct frame *threads,
                            bool counts_calls)
{
    const double elapsed_ns = (double)(threads->end_ns - threads->start_ns),
                 elapsed_s = elapsed_ns / NS_PER_S;

    ret[SYSTEM_RUN_QUEUE] = cell_real(sum_of(threads, CAMP_STATE_RUN_QUEUE) / elapsed_ns);
    ret[SYSTEM_BLOCKED] = cell_real(sum_of(threads, CAMP_STATE_DISK) / elapsed_ns);
    ret[SYSTEM_INVOLUNTARY_SWITCHES] =
        cell_real(sum_of(threads, THREADS_INVOLUNTARY_SWITCHES) / elapsed_s);
    if (counts_calls)
        ret[SYSTEM_SYSTEM_CALLS] = cell_real(sum_of(threads, THREADS_SYSTEM_CALLS) / elapsed_s);
}

/* The cross calls of all CPUs that were online all the time. */
static struct cell cross_calls(const struct wait_system *system)
{
    struct cell sum = cell_unknown();

    for (size_t i = 0; i < system->now.interrupts.count; i++) {
        struct cell cpu[2];

        wait_system_cpu(cpu, system, system->now.interrupts.items[i].cpu);
        if (cpu[1].kind == CELL_REAL)
            sum = cell_real(cpu[1].real + (sum.kind == CELL_REAL ? sum.real : 0));
    }
    return sum;
}

void wait_system_fill(struct cell ret[SYSTEM_FIELD_COUNT], const struct wait_system *system,
                      const struct frame *threads, bool counts_calls, size_t cpus)
{
    for (size_t i = 0; i < SYSTEM_FIELD_COUNT; i++)
        ret[i] = cell_unknown();
    fill_rates(ret, system);
    fill_memory(ret, &system->now.memory);
    ret[SYSTEM_CROSS_CALLS] = cross_calls(system);
    if (threads != NULL)
        fill_of_threads(ret, threads, counts_calls);
    else
        fill_queues(ret, &system->now.system, cpus);
}

void wait_system_cpu(struct cell ret[2], const struct wait_system *system, int64_t cpu)
{
    const struct cpu_interrupts *before = interrupts_of_cpu(&system->before.interrupts, cpu),
                                *now = interrupts_of_cpu(&system->now.interrupts, cpu);
    const uint64_t elapsed_ns = system->now.interrupts_ns - system->before.interrupts_ns;

    ret[0] = ret[1] = cell_unknown();
    if (before == NULL || now == NULL)
        return;
    ret[0] = rate(before->interrupts, now->interrupts, elapsed_ns);
    ret[1] = rate(before->cross_calls, now->cross_calls, elapsed_ns);
}

void wait_system_disk(struct cell ret[2], const struct wait_system *system, size_t disk)
{
    const uint32_t both = CAMP_DISK_READS | CAMP_DISK_WRITES;
    const struct camp_disk *now = &system->now.disks[disk];

    ret[1] = cell_unknown();
    for (size_t i = 0; i < system->before.disk_count; i++) {
        const struct camp_disk *before = &system->before.disks[i];

        if (strcmp(before->name, now->name) == 0 && (before->known & now->known & both) == both)
            ret[1] = rate(before->reads + before->writes, now->reads + now->writes,
                          now->time_ns - before->time_ns);
    }
    ret[0] = cell_text(now->name);
}
