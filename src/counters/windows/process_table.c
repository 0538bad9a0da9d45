/*
 * The table of all processes and their threads: one call of the native interface returns them as
 * they are at one moment.
 *
 * The idle process is left out: it is the idle time of the CPUs, and its pid, 0, names no process.
 * A process that has ended, but that another program still has open, may be in the table without
 * threads; it is left out, too. So is a process without a moment of its creation: Wine does not
 * fill the record of a process that ends meanwhile. (On Windows 7 "System" has none either.)
 */
#include "shared.h"

#include "../platform.h"

#include <stdlib.h>

#define FIRST_SIZE (256u << 10) /* bytes: enough for some 300 processes */
#define MORE_SIZE (64u << 10)   /* for processes that start between two calls */
#define ATTEMPTS 16
#define SYSTEM_PID 4

static int fail_space(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, ERROR_NOT_ENOUGH_MEMORY,
                     "no memory for the table of processes; free some memory, or try again later");
}

static int read_bytes(struct process_table *table, struct camp_error *error)
{
    ULONG size = FIRST_SIZE, needed;

    for (int i = 0; i < ATTEMPTS; i++) {
        NTSTATUS status;

        /* Zeros, because what Wine does not fill must not be the identity of a process. */
        table->bytes = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
        if (table->bytes == NULL)
            return fail_space(error);
        needed = 0;
        table->time_ns = camp_now_ns();
        status = NtQuerySystemInformation(OF_PROCESSES, table->bytes, size, &needed);
        if (!native_failed(status))
            return CAMP_OK;
        if (status != NATIVE_LENGTH_MISMATCH)
            return camp_fail_status(error, status, "the table of processes");
        HeapFree(GetProcessHeap(), 0, table->bytes);
        table->bytes = NULL;
        size = (needed > size ? needed : size) + MORE_SIZE;
    }
    return fail_space(error);
}

static const struct native_process *next_of(const struct native_process *process)
{
    return process->next == 0 ? NULL : (const void *)((const char *)process + process->next);
}

static int order_by_pid(const void *one, const void *other)
{
    uint32_t a = id_of((*(const struct native_process *const *)one)->process);
    uint32_t b = id_of((*(const struct native_process *const *)other)->process);

    return (a > b) - (a < b);
}

static bool is_listed(const struct native_process *process)
{
    const uint32_t pid = id_of(process->process);

    return pid != 0 && process->threads != 0 && (process->create_time != 0 || pid == SYSTEM_PID);
}

static int index_by_pid(struct process_table *table, struct camp_error *error)
{
    const struct native_process *process;
    size_t count = 0;

    for (process = table->bytes; process != NULL; process = next_of(process))
        count++;
    table->processes = HeapAlloc(GetProcessHeap(), 0, count * sizeof table->processes[0]);
    if (table->processes == NULL)
        return fail_space(error);
    for (process = table->bytes; process != NULL; process = next_of(process))
        if (is_listed(process))
            table->processes[table->count++] = process;
    qsort(table->processes, table->count, sizeof table->processes[0], order_by_pid);
    return CAMP_OK;
}

int camp_table_open(struct process_table *table, struct camp_error *error)
{
    int r;

    *table = (struct process_table){ 0 };
    r = read_bytes(table, error);
    return r < 0 ? r : index_by_pid(table, error);
}

void camp_table_close(struct process_table *table)
{
    if (table->processes != NULL)
        HeapFree(GetProcessHeap(), 0, table->processes);
    if (table->bytes != NULL)
        HeapFree(GetProcessHeap(), 0, table->bytes);
}

const struct native_process *camp_table_find(const struct process_table *table, int32_t pid)
{
    size_t first = 0, end = table->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        uint32_t here = id_of(table->processes[middle]->process);

        if (here == (uint32_t)pid)
            return table->processes[middle];
        if (here < (uint32_t)pid)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

const struct native_process *camp_table_expect(const struct process_table *table,
                                               const struct camp_process *process,
                                               struct camp_error *error)
{
    const struct native_process *found = camp_table_find(table, process->pid);

    if (found == NULL) {
        camp_fail(error, CAMP_E_GONE, 0, "there is no process %d; list them again",
                  (int)process->pid);
        return NULL;
    }
    if ((uint64_t)found->create_time != process->start) {
        camp_fail(error, CAMP_E_GONE, 0, "it has ended; its number belongs to another now");
        return NULL;
    }
    return found;
}
