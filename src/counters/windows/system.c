/*
 * Counters of the system as a whole, and the frequency of a CPU.
 *
 * Windows counts switches, interrupts and page faults in 32 bits, so they wrap. The threads that
 * run or could run are counted in the table of processes. Windows has no load average, no pressure,
 * and no count of started processes; it counts pages that were read for faults, but not by files
 * and by page files apart. All that is unknown.
 *
 * Wine reports 0 for the counts, the state of no thread, and a frequency that it makes up.
 */
#include "shared.h"

#include "../platform.h"
#include "../units.h"

#include <camp/system.h>

#include <powrprof.h>

#define UNITS_FROM_1601_TO_1970 116444736000000000ll
#define MOST_CPUS 64 /* CPUs of a processor group */

static void read_boot_time(struct camp_system *system)
{
    int64_t boot_time = camp_boot_time();

    if (boot_time < UNITS_FROM_1601_TO_1970)
        return;
    system->known |= CAMP_SYSTEM_BOOT_TIME;
    system->boot_time_ns = ns_of_native(boot_time - UNITS_FROM_1601_TO_1970);
}

static int read_counts(struct camp_system *system, struct camp_error *error)
{
    struct native_performance performance = { 0 };
    ULONG length;
    NTSTATUS status =
        NtQuerySystemInformation(OF_PERFORMANCE, &performance, sizeof performance, &length);

    if (native_failed(status))
        return camp_fail_status(error, status, "the counts of the system");
    system->known |= CAMP_SYSTEM_CONTEXT_SWITCHES | CAMP_SYSTEM_FAULTS;
    system->context_switches = performance.context_switches;
    system->faults = performance.page_faults;
    return CAMP_OK;
}

static int count_running(struct camp_system *system, struct camp_error *error)
{
    struct process_table table;
    int r = camp_table_open(&table, error);

    for (size_t i = 0; r == CAMP_OK && i < table.count; i++)
        for (uint32_t k = 0; k < table.processes[i]->threads; k++)
            system->running += camp_thread_state(&table.processes[i]->thread[k]) == 'R';
    camp_table_close(&table);
    if (r == CAMP_OK)
        system->known |= CAMP_SYSTEM_RUNNING;
    return r;
}

int camp_system_read(const struct camp_source *source, uint32_t wanted, struct camp_system *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_system system = { 0 };
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    read_boot_time(&system);
    if (!camp_is_imitation()) {
        r = read_counts(&system, error);
        if (r == CAMP_OK && (wanted & CAMP_SYSTEM_INTERRUPTS) != 0)
            r = camp_count_interrupts(&system.interrupts, error);
        if (r == CAMP_OK && (wanted & CAMP_SYSTEM_INTERRUPTS) != 0)
            system.known |= CAMP_SYSTEM_INTERRUPTS;
        if (r == CAMP_OK && (wanted & CAMP_SYSTEM_RUNNING) != 0)
            r = count_running(&system, error);
    }
    if (r < 0)
        return r;
    system.time_ns = camp_now_ns();
    camp_hand_out(ret, size, &system, sizeof system);
    return CAMP_OK;
}

/* The records of CallNtPowerInformation(), which the headers of the system lack. */
struct power {
    ULONG number;
    ULONG most_mhz;
    ULONG mhz;
    ULONG limit_mhz;
    ULONG deepest_idle_state;
    ULONG idle_state;
};

/* The function knows the CPUs of one processor group only. */
int camp_cpu_frequency_hz(const struct camp_source *source, int32_t cpu, uint64_t *ret_hz,
                          struct camp_error *error)
{
    struct power powers[MOST_CPUS] = { 0 };
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret_hz) || camp_is_outside(error, cpu, 0, INT32_MAX))
        return CAMP_E_INVALID;
    if ((DWORD)cpu >= count && GetActiveProcessorGroupCount() <= 1)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %d; list them again", (int)cpu);
    if (camp_is_imitation())
        return camp_fail(error, CAMP_E_NOTSUP, 0, "Wine makes up the frequency of CPU %d",
                         (int)cpu);
    if (GetActiveProcessorGroupCount() > 1)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "Windows reports the frequency of CPU %d only on a computer with one "
                         "processor group",
                         (int)cpu);
    if (native_failed(CallNtPowerInformation(ProcessorInformation, NULL, 0, powers,
                                             (ULONG)(count * sizeof powers[0]))) ||
        powers[cpu].mhz == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "this system does not report the frequency of CPU %d", (int)cpu);
    *ret_hz = (uint64_t)powers[cpu].mhz * 1000000u;
    return CAMP_OK;
}
