/*
 * Counters of the system as a whole, from the kstats unix:0:system_misc, cpu:N:sys and cpu:N:vm.
 *
 * The kernel counts switches, interrupts and pages for each CPU, also of one that is offline now,
 * so all CPUs are added up. If one does not report a value, the sum is unknown. Load averages are
 * fixed-point numbers of 1/256; they are averages of threads that run or are ready to run, without
 * those that wait for a disk. Pages are those of paging: reads and writes of ZFS are not among
 * them.
 *
 * Forks are the processes that fork(2) and vfork(2) started. Threads are not among them: the kernel
 * counts nthreads, but with its own.
 *
 * Unknown: threads that run or are blocked now; all page
 * faults together, because it is not known whether as_fault and hat_fault count some twice;
 * pressure, which this kernel does not have.
 */
#include "kstats.h"

#include "../error.h"
#include "../units.h"

#include <camp/system.h>

#include <unistd.h>

#define LOAD_UNIT 256.0

static void set_load(const kstat_t *misc, const char *name, uint32_t field, double *ret,
                     uint32_t *known)
{
    uint64_t load = 0;

    camp_kstat_number(misc, name, field, &load, known);
    *ret = (double)load / LOAD_UNIT;
}

static void read_misc(kstat_ctl_t *control, struct camp_system *ret)
{
    kstat_t *misc = camp_kstat_of_unix(control, "system_misc");
    uint64_t boot_s = 0;

    if (misc == NULL || camp_kstat_read(control, misc, NULL) != CAMP_OK)
        return;
    set_load(misc, "avenrun_1min", CAMP_SYSTEM_LOAD_AVERAGE_1, &ret->load_average_1, &ret->known);
    set_load(misc, "avenrun_5min", CAMP_SYSTEM_LOAD_AVERAGE_5, &ret->load_average_5, &ret->known);
    set_load(misc, "avenrun_15min", CAMP_SYSTEM_LOAD_AVERAGE_15, &ret->load_average_15,
             &ret->known);
    camp_kstat_number(misc, "boot_time", CAMP_SYSTEM_BOOT_TIME, &boot_s, &ret->known);
    if (__builtin_mul_overflow(boot_s, (uint64_t)NS_PER_S, &ret->boot_time_ns)) {
        ret->known &= ~(uint32_t)CAMP_SYSTEM_BOOT_TIME;
        ret->boot_time_ns = 0;
    }
}

/* Adds up one value of all CPUs, times `unit`. */
static void sum(kstat_ctl_t *control, const char *name, const char *value, uint64_t unit,
                uint32_t field, uint64_t *ret, uint32_t *known)
{
    uint64_t total = 0;
    bool is_known = false;

    for (const kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next) {
        uint64_t number = 0;
        uint32_t found = 0;

        if (!camp_kstat_is(at, "cpu", KSTAT_TYPE_NAMED) || !camp_kstat_text_is(at->ks_name, name))
            continue;
        camp_kstat_number(at, value, field, &number, &found);
        if (found == 0 || __builtin_mul_overflow(number, unit, &number) ||
            __builtin_add_overflow(total, number, &total))
            return;
        is_known = true;
    }
    if (!is_known)
        return;
    *ret = total;
    *known |= field;
}

/* Copies the data of cpu:N:sys and cpu:N:vm from the kernel. The data of a CPU that was removed
 * meanwhile are missing, which makes the sums unknown. */
static void read_cpus(kstat_ctl_t *control, uint64_t *ret_time_ns)
{
    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
        if (camp_kstat_is(at, "cpu", KSTAT_TYPE_NAMED) &&
            (camp_kstat_text_is(at->ks_name, "sys") || camp_kstat_text_is(at->ks_name, "vm")) &&
            camp_kstat_read(control, at, NULL) == CAMP_OK)
            *ret_time_ns = (uint64_t)at->ks_snaptime;
}

static void sum_forks(kstat_ctl_t *control, struct camp_system *ret)
{
    uint64_t forks = 0, vforks = 0;
    uint32_t found = 0;

    sum(control, "sys", "sysfork", 1, 1, &forks, &found);
    sum(control, "sys", "sysvfork", 1, 2, &vforks, &found);
    if (found != 3 || __builtin_add_overflow(forks, vforks, &ret->forks))
        return;
    ret->known |= CAMP_SYSTEM_FORKS;
}

static void sum_cpus(kstat_ctl_t *control, struct camp_system *ret)
{
    const long page = sysconf(_SC_PAGESIZE);
    const uint64_t bytes = (uint64_t)page;
    uint32_t *known = &ret->known;

    sum(control, "sys", "pswitch", 1, CAMP_SYSTEM_CONTEXT_SWITCHES, &ret->context_switches, known);
    sum(control, "sys", "intr", 1, CAMP_SYSTEM_INTERRUPTS, &ret->interrupts, known);
    sum(control, "vm", "maj_fault", 1, CAMP_SYSTEM_MAJOR_FAULTS, &ret->major_faults, known);
    if (page <= 0)
        return; /* what is counted in pages is unknown in bytes */
    sum(control, "vm", "anonpgin", bytes, CAMP_SYSTEM_SWAPPED_IN, &ret->swapped_in_bytes, known);
    sum(control, "vm", "anonpgout", bytes, CAMP_SYSTEM_SWAPPED_OUT, &ret->swapped_out_bytes, known);
    sum(control, "vm", "pgpgin", bytes, CAMP_SYSTEM_PAGED_IN, &ret->paged_in_bytes, known);
    sum(control, "vm", "pgpgout", bytes, CAMP_SYSTEM_PAGED_OUT, &ret->paged_out_bytes, known);
    sum(control, "vm", "scan", bytes, CAMP_SYSTEM_SCANNED, &ret->scanned_bytes, known);
    sum(control, "vm", "dfree", bytes, CAMP_SYSTEM_RECLAIMED, &ret->reclaimed_bytes, known);
}

int camp_system_read(const struct camp_source *source, uint32_t wanted, struct camp_system *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_system system = { 0 };
    kstat_ctl_t *control;
    int r;

    (void)wanted;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    read_misc(control, &system);
    read_cpus(control, &system.time_ns);
    sum_cpus(control, &system);
    sum_forks(control, &system);
    camp_kstats_close(control);
    if (system.known == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no kstat unix:0:system_misc or cpu:N:sys is visible in this zone");
    camp_hand_out(ret, size, &system, sizeof system);
    return CAMP_OK;
}

int camp_fork_count(const struct camp_source *source, uint64_t *ret_count, struct camp_error *error)
{
    struct camp_system system;
    int r;

    if (camp_is_null(error, ret_count))
        return CAMP_E_INVALID;
    r = camp_system_read(source, CAMP_SYSTEM_FORKS, &system, sizeof system, error);
    if (r != CAMP_OK)
        return r;
    if ((system.known & CAMP_SYSTEM_FORKS) == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "a kstat cpu:N:sys has no sysfork or sysvfork");
    *ret_count = system.forks;
    return CAMP_OK;
}

static int frequency_of(kstat_ctl_t *control, int32_t cpu, uint64_t *ret_hz,
                        struct camp_error *error)
{
    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next) {
        uint32_t found = 0;
        int r;

        if (at->ks_instance != cpu || !camp_kstat_is(at, "cpu_info", KSTAT_TYPE_NAMED))
            continue;
        r = camp_kstat_read(control, at, error);
        if (r != CAMP_OK)
            return r;
        camp_kstat_number(at, "current_clock_Hz", 1, ret_hz, &found);
        return found != 0 ? CAMP_OK
                          : camp_fail(error, CAMP_E_NOTSUP, 0,
                                      "the kstat cpu_info:%d has no current_clock_Hz", (int)cpu);
    }
    return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %d; see camp list cpus", (int)cpu);
}

int camp_cpu_frequency_hz(const struct camp_source *source, int32_t cpu, uint64_t *ret_hz,
                          struct camp_error *error)
{
    kstat_ctl_t *control;
    int r;

    if (camp_is_null(error, ret_hz) || camp_is_outside(error, cpu, 0, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = frequency_of(control, cpu, ret_hz, error);
    camp_kstats_close(control);
    return r;
}
