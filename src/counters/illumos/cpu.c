/*
 * The time of each CPU, from the kstats cpu:N:sys (cpu_sys_stats_ks_update() of
 * uts/common/os/cpu.c).
 *
 * The kernel takes a timestamp at each change between user, system and idle (new_cpu_mstate() of
 * uts/common/os/msacct.c), so all three are measured, in ns. The time of interrupts is taken from
 * the state that they interrupted and added to system (get_cpu_mstate()). The kernel does not
 * report it by itself: irq is unknown. It does not count I/O wait, and sets the statistics of that
 * name to a constant 0: iowait is unknown. It has no other state of a CPU.
 *
 * Not guaranteed: each CPU is read by a call of its own, so the CPUs have different times, some
 * microseconds apart. If a CPU changes its state while it is read, the time since its last change
 * is left out of that reading.
 */
#include "readers.h"

#include "../error.h"

#include <string.h>

/* States of cpu_info in which a CPU runs threads (p_online(2)). */
static bool runs_threads(const char state[16])
{
    return strncmp(state, "on-line", 16) == 0 || strncmp(state, "no-intr", 16) == 0;
}

/* A CPU that is offline keeps its statistics. If its state is not reported, it counts as online. */
static bool is_online(kstat_ctl_t *control, int32_t cpu)
{
    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
        if (at->ks_instance == cpu && camp_kstat_is(at, "cpu_info", KSTAT_TYPE_NAMED)) {
            const kstat_named_t *state = camp_kstat_read(control, at, NULL) == CAMP_OK
                                             ? camp_kstat_value(at, "state")
                                             : NULL;

            return state == NULL || state->data_type != KSTAT_DATA_CHAR ||
                   runs_threads(state->value.c);
        }
    return true;
}

/* Returns the online CPU with the lowest id above `previous`, or NULL. The chain may have any
 * order. */
static kstat_t *next_cpu(kstat_ctl_t *control, int32_t previous)
{
    kstat_t *lowest;

    do {
        lowest = NULL;
        for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
            if (camp_kstat_is(at, "cpu", KSTAT_TYPE_NAMED) &&
                camp_kstat_text_is(at->ks_name, "sys") && at->ks_instance > previous &&
                (lowest == NULL || at->ks_instance < lowest->ks_instance))
                lowest = at;
        if (lowest != NULL)
            previous = lowest->ks_instance;
    } while (lowest != NULL && !is_online(control, previous));
    return lowest;
}

static int read_cpu(kstat_ctl_t *control, kstat_t *statistic, struct camp_cpu *ret,
                    struct camp_error *error)
{
    int r = camp_kstat_read(control, statistic, error);

    if (r != CAMP_OK)
        return r;
    *ret = (struct camp_cpu){ .cpu = statistic->ks_instance,
                              .time_ns = (uint64_t)statistic->ks_snaptime,
                              .resolution_ns = 1 };
    camp_kstat_number(statistic, "cpu_nsec_user", CAMP_CPU_USER, &ret->user_ns, &ret->known);
    camp_kstat_number(statistic, "cpu_nsec_kernel", CAMP_CPU_SYSTEM, &ret->system_ns, &ret->known);
    camp_kstat_number(statistic, "cpu_nsec_idle", CAMP_CPU_IDLE, &ret->idle_ns, &ret->known);
    return CAMP_OK;
}

/* The total of all CPUs. Its time is the mean of their times, so that the elapsed time between two
 * totals is right although the CPUs are not read at the same moment. */
struct total {
    struct camp_cpu cpu;
    uint64_t first_ns; /* time of the first CPU */
    uint64_t later_ns; /* sum of how much later the others are */
    uint64_t count;
};

static void add_to_total(struct total *total, const struct camp_cpu *cpu)
{
    if (total->count == 0) {
        total->cpu = (struct camp_cpu){ .cpu = CAMP_CPU_TOTAL, .known = cpu->known };
        total->cpu.resolution_ns = cpu->resolution_ns;
        total->first_ns = cpu->time_ns;
    }
    total->count++;
    total->later_ns += cpu->time_ns - total->first_ns;
    total->cpu.time_ns = total->first_ns + total->later_ns / total->count;
    total->cpu.known &= cpu->known;
    total->cpu.user_ns += cpu->user_ns;
    total->cpu.system_ns += cpu->system_ns;
    total->cpu.idle_ns += cpu->idle_ns;
}

/* What only some CPUs report is unknown of all. */
static void finish_total(struct total *total)
{
    struct camp_cpu *cpu = &total->cpu;

    cpu->user_ns = (cpu->known & CAMP_CPU_USER) != 0 ? cpu->user_ns : 0;
    cpu->system_ns = (cpu->known & CAMP_CPU_SYSTEM) != 0 ? cpu->system_ns : 0;
    cpu->idle_ns = (cpu->known & CAMP_CPU_IDLE) != 0 ? cpu->idle_ns : 0;
}

int camp_cpu_scan(kstat_ctl_t *control, struct camp_cpu *cpus, size_t size, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { cpus, size, capacity, 0 };
    struct total total = { .count = 0 };
    kstat_t *statistic;
    struct camp_cpu cpu;

    camp_output_add(&output, &total.cpu, sizeof total.cpu);
    for (int32_t id = -1; (statistic = next_cpu(control, id)) != NULL;) {
        int r = read_cpu(control, statistic, &cpu, error);

        id = statistic->ks_instance;
        if (r == CAMP_E_GONE)
            continue; /* it was removed meanwhile */
        if (r != CAMP_OK)
            return r;
        add_to_total(&total, &cpu);
        camp_output_add(&output, &cpu, sizeof cpu);
    }
    if (total.count == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "no kstat cpu:N:sys is visible in this zone");
    finish_total(&total);
    if (capacity > 0)
        camp_hand_out(cpus, size, &total.cpu, sizeof total.cpu);
    return camp_output_end(&output, "CPUs", ret_count, error);
}

static int read_total(kstat_ctl_t *control, struct camp_cpu *ret, struct camp_error *error)
{
    size_t count;
    int r = camp_cpu_scan(control, ret, sizeof *ret, 1, &count, error);

    return r == CAMP_E_SPACE ? CAMP_OK : r;
}

static int read_one(kstat_ctl_t *control, int32_t cpu, struct camp_cpu *ret,
                    struct camp_error *error)
{
    kstat_t *statistic = next_cpu(control, cpu - 1);

    if (statistic == NULL || statistic->ks_instance != cpu)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %d online; see camp list cpus",
                         cpu);
    return read_cpu(control, statistic, ret, error);
}

int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret, size_t size,
                  struct camp_error *error)
{
    kstat_ctl_t *control;
    struct camp_cpu here;
    int r;

    if (camp_is_null(error, ret) || camp_is_outside(error, cpu, CAMP_CPU_TOTAL, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = cpu == CAMP_CPU_TOTAL ? read_total(control, &here, error)
                              : read_one(control, cpu, &here, error);
    camp_kstats_close(control);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &here, sizeof here);
    return r;
}

int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    kstat_ctl_t *control;
    int r;

    if (camp_array_is_null(error, cpus, capacity, ret_count))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = camp_cpu_scan(control, cpus, size, capacity, ret_count, error);
    camp_kstats_close(control);
    return r;
}

int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ids, sizeof *ids, capacity, 0 };
    kstat_ctl_t *control;
    kstat_t *statistic;
    int r;

    if (camp_array_is_null(error, ids, capacity, ret_count))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    for (int32_t id = -1; (statistic = next_cpu(control, id)) != NULL;) {
        id = statistic->ks_instance;
        camp_output_add(&output, &id, sizeof id);
    }
    camp_kstats_close(control);
    return camp_output_end(&output, "CPUs", ret_count, error);
}

int camp_cpu_count(const struct camp_source *source, size_t *ret_count, struct camp_error *error)
{
    int r;

    if (camp_is_null(error, ret_count))
        return CAMP_E_INVALID;
    r = camp_cpu_list(source, NULL, 0, ret_count, error);
    return r == CAMP_E_SPACE ? CAMP_OK : r;
}
