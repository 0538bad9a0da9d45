/*
 * Differences, rates and percentages of two readings.
 *
 * Theory: a counter that is smaller than before has wrapped around, or was reset to zero (for
 * example, because its driver was reloaded). The two readings do not show which. camp_difference()
 * assumes a wrap if the counter would have advanced by at most half of its range. A counter that
 * advances faster must be read more often.
 */
#include "error.h"
#include "platform.h"
#include "units.h"

int camp_difference(uint64_t before, uint64_t after, unsigned bits, uint64_t *ret)
{
    uint64_t largest = bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t ahead;

    if (ret == NULL || (bits != 32 && bits != 64) || before > largest || after > largest)
        return CAMP_E_INVALID;
    ahead = (after - before) & largest;
    if (after >= before || ahead <= largest / 2) {
        *ret = ahead;
        return CAMP_OK;
    }
    *ret = after;
    return CAMP_RESET;
}

int camp_rate(uint64_t before, uint64_t after, unsigned bits, uint64_t elapsed_ns,
              double *ret_per_second)
{
    uint64_t difference;
    int r;

    if (ret_per_second == NULL || elapsed_ns == 0)
        return CAMP_E_INVALID;
    r = camp_difference(before, after, bits, &difference);
    if (r >= 0)
        *ret_per_second = (double)difference * NS_PER_S / (double)elapsed_ns;
    return r;
}

/* The growth of a counter, or 0 if the counter is unknown or went backwards. */
static double gained(uint32_t is_known, uint64_t before, uint64_t after)
{
    return is_known != 0 && after > before ? (double)(after - before) : 0;
}

static double clamp_percent(double percent)
{
    if (percent < 0)
        return 0;
    return percent > 100 ? 100 : percent;
}

static double user_growth(uint32_t known, const struct camp_cpu *before,
                          const struct camp_cpu *after)
{
    return gained(known & CAMP_CPU_USER, before->user_ns, after->user_ns) +
           gained(known & CAMP_CPU_NICE, before->nice_ns, after->nice_ns) +
           gained(known & CAMP_CPU_GUEST, before->guest_ns, after->guest_ns) +
           gained(known & CAMP_CPU_GUEST_NICE, before->guest_nice_ns, after->guest_nice_ns);
}

static double system_growth(uint32_t known, const struct camp_cpu *before,
                            const struct camp_cpu *after)
{
    return gained(known & CAMP_CPU_SYSTEM, before->system_ns, after->system_ns) +
           gained(known & CAMP_CPU_IRQ, before->irq_ns, after->irq_ns) +
           gained(known & CAMP_CPU_SOFTIRQ, before->softirq_ns, after->softirq_ns);
}

/* Which values follow from the known times of a CPU. */
static uint32_t known_of(uint32_t known)
{
    uint32_t ret = CAMP_UTILISATION_MEASURED_BUSY | CAMP_UTILISATION_IDLE;

    if ((known & CAMP_CPU_USER) != 0)
        ret |= CAMP_UTILISATION_USER;
    if ((known & CAMP_CPU_SYSTEM) != 0)
        ret |= CAMP_UTILISATION_SYSTEM;
    if ((known & CAMP_CPU_USER) != 0 && (known & CAMP_CPU_SYSTEM) != 0)
        ret |= CAMP_UTILISATION_SAMPLED_BUSY | CAMP_UTILISATION_SUM;
    if ((known & CAMP_CPU_IOWAIT) != 0)
        ret |= CAMP_UTILISATION_IOWAIT;
    if ((known & CAMP_CPU_STEAL) != 0)
        ret |= CAMP_UTILISATION_STEAL;
    return ret;
}

/* Sets the values that are unknown to 0, as everywhere. */
static void forget_unknown(struct camp_utilisation *here)
{
    double *const values[] = { &here->measured_busy_percent, &here->sampled_busy_percent,
                               &here->user_percent,          &here->system_percent,
                               &here->idle_percent,          &here->iowait_percent,
                               &here->steal_percent,         &here->sum_percent };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if ((here->known & 1u << i) == 0)
            *values[i] = 0;
    }
}

/* The provenance of wall time minus idle time. */
static int32_t busy_provenance(uint32_t known, const struct camp_kernel *kernel, int32_t cpu)
{
    const uint32_t idle = known & (CAMP_CPU_IDLE | CAMP_CPU_IOWAIT);
    uint32_t measured, sampled;

    if ((known & CAMP_CPU_IDLE_CYCLES) != 0)
        return CAMP_MEASURED;
    if (kernel == NULL)
        return CAMP_UNKNOWN;
    camp_cpu_provenance(kernel, cpu, &measured, &sampled);
    if ((idle & ~measured) == 0)
        return CAMP_MEASURED;
    return (idle & ~(measured | sampled)) == 0 ? CAMP_SAMPLED : CAMP_UNKNOWN;
}

int camp_cpu_difference(const struct camp_cpu *before, const struct camp_cpu *after, size_t cpus,
                        const struct camp_kernel *kernel, struct camp_utilisation *ret, size_t size)
{
    struct camp_utilisation here = { 0 };
    double percent; /* 1 ns in percent of elapsed_ns * cpus */
    double idle;
    uint32_t known;

    if (before == NULL || after == NULL || ret == NULL || cpus == 0 || before->cpu != after->cpu ||
        after->time_ns <= before->time_ns)
        return CAMP_E_INVALID;
    known = before->known & after->known;
    if ((known & CAMP_CPU_IDLE) == 0)
        return CAMP_E_NOTSUP;
    here.known = known_of(known);
    here.busy_provenance = busy_provenance(known, kernel, after->cpu);
    here.elapsed_ns = after->time_ns - before->time_ns;
    percent = 100 / ((double)here.elapsed_ns * (double)cpus);
    here.idle_percent = percent * gained(CAMP_CPU_IDLE, before->idle_ns, after->idle_ns);
    here.iowait_percent =
        percent * gained(known & CAMP_CPU_IOWAIT, before->iowait_ns, after->iowait_ns);
    here.steal_percent =
        percent * gained(known & CAMP_CPU_STEAL, before->steal_ns, after->steal_ns);
    here.user_percent = percent * user_growth(known, before, after);
    here.system_percent = percent * system_growth(known, before, after);
    here.sampled_busy_percent = here.user_percent + here.system_percent;
    here.sum_percent =
        here.sampled_busy_percent + here.idle_percent + here.iowait_percent + here.steal_percent;
    /* Steal time is not subtracted, because the kernel counts an unknown part of it as idle time
     * too. */
    idle = (known & CAMP_CPU_IDLE_CYCLES) != 0
               ? percent * gained(known, before->idle_cycles_ns, after->idle_cycles_ns)
               : here.idle_percent + here.iowait_percent;
    here.measured_busy_percent = clamp_percent(100 - idle);
    here.resolution_percent = percent * (double)after->resolution_ns;
    forget_unknown(&here);
    camp_hand_out(ret, size, &here, sizeof here);
    return CAMP_OK;
}

/* Reads one CPU or CAMP_CPU_TOTAL. *ret_cpus becomes the number of CPUs whose times are in *ret. */
static int read_covered(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret,
                        size_t *ret_cpus, struct camp_error *error)
{
    struct camp_error unwanted;
    size_t count;
    int r;

    if (cpu != CAMP_CPU_TOTAL) {
        *ret_cpus = 1;
        return camp_cpu_read(source, cpu, ret, sizeof *ret, error);
    }
    /* With a capacity of 1, camp_cpu_read_all() stores the total, which is its first element, and
     * counts all elements. CAMP_E_SPACE is therefore the expected result. */
    r = camp_cpu_read_all(source, ret, sizeof *ret, 1, &count, &unwanted);
    if (r != CAMP_E_SPACE) {
        if (r < 0 && error != NULL)
            *error = unwanted;
        return r < 0 ? r : camp_fail(error, CAMP_E_FORMAT, 0, "there is not one CPU; report it");
    }
    *ret_cpus = count - 1;
    return CAMP_OK;
}

int camp_cpu_utilisation(const struct camp_source *source, int32_t cpu, unsigned interval_ms,
                         const struct camp_kernel *kernel, struct camp_cpu *previous,
                         struct camp_utilisation *ret, size_t size, struct camp_error *error)
{
    struct camp_cpu before;
    struct camp_cpu after;
    size_t cpus;
    int r;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if (interval_ms == 0 && (previous == NULL || previous->cpu != cpu))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "without an interval, previous must be an earlier reading of this CPU");
    if (interval_ms == 0) {
        before = *previous;
    } else {
        r = read_covered(source, cpu, &before, &cpus, error);
        if (r < 0)
            return r;
        camp_sleep_ms(interval_ms);
    }
    r = read_covered(source, cpu, &after, &cpus, error);
    if (r < 0)
        return r;
    r = camp_cpu_difference(&before, &after, cpus, kernel, ret, size);
    if (r < 0)
        return camp_fail(error, r, 0, "no time passed between the readings, or no idle time known");
    if (previous != NULL)
        *previous = after;
    return CAMP_OK;
}

#define WANTED (CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM)

/* The share of user time in CPU time, from 0 to 1. User and system time are in units of 1/100 s. If
 * neither grew, the share since the start of the process is returned. If both are still 0, 0.5 is
 * returned; the times are then wrong by at most half of 1/100 s. */
static double user_share(const struct camp_task *before, const struct camp_task *after)
{
    double user = gained(CAMP_TASK_USER, before->user_ns, after->user_ns);
    double system = gained(CAMP_TASK_SYSTEM, before->system_ns, after->system_ns);

    if (user + system == 0) {
        user = (double)after->user_ns;
        system = (double)after->system_ns;
    }
    return user + system == 0 ? 0.5 : user / (user + system);
}

static int check_previous(const struct camp_process *process, const struct camp_task *previous,
                          struct camp_error *error)
{
    if (previous == NULL)
        return camp_fail(
            error, CAMP_E_INVALID, 0,
            "without an interval, previous must be an earlier reading of this process");
    if ((previous->known & WANTED) != WANTED || previous->start != process->start)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "the earlier reading lacks CPU, USER or SYSTEM, or is of another process");
    return CAMP_OK;
}

/* Reads the process. An unknown CPU time is an error, whose reason camp_process_cpu_ns() knows. */
static int read_cpu_time(const struct camp_source *source, const struct camp_process *process,
                         struct camp_task *ret, struct camp_error *error)
{
    uint64_t cpu_ns;
    int r = camp_process_read(source, process, WANTED, ret, sizeof *ret, error);

    if (r < 0 || (ret->known & CAMP_TASK_CPU))
        return r;
    r = camp_process_cpu_ns(source, process, &cpu_ns, error);
    return r < 0 ? r
                 : camp_fail(error, CAMP_E_NOTSUP, 0, "process %d has no known CPU time",
                             (int)process->pid);
}

int camp_process_utilisation(const struct camp_source *source, const struct camp_process *process,
                             unsigned interval_ms, struct camp_task *previous,
                             struct camp_task_utilisation *ret, size_t size,
                             struct camp_error *error)
{
    struct camp_task_utilisation utilisation;
    struct camp_task before, after;
    double share;
    int r;

    if (camp_is_null(error, process, ret))
        return CAMP_E_INVALID;
    if (interval_ms != 0) {
        r = read_cpu_time(source, process, &before, error);
        if (r == CAMP_OK)
            camp_sleep_ms(interval_ms);
    } else {
        r = check_previous(process, previous, error);
        if (r == CAMP_OK)
            before = *previous;
    }
    if (r == CAMP_OK)
        r = read_cpu_time(source, process, &after, error);
    if (r < 0)
        return r;
    if (after.time_ns <= before.time_ns)
        return camp_fail(error, CAMP_E_INVALID, 0, "no time has passed between the two readings");
    share = user_share(&before, &after);
    utilisation.cpu_provenance = after.cpu_provenance;
    utilisation.split_provenance = after.split_provenance;
    utilisation.elapsed_ns = after.time_ns - before.time_ns;
    utilisation.cpu_percent =
        100 * gained(CAMP_TASK_CPU, before.cpu_ns, after.cpu_ns) / (double)utilisation.elapsed_ns;
    utilisation.user_percent = utilisation.cpu_percent * share;
    utilisation.system_percent = utilisation.cpu_percent - utilisation.user_percent;
    if (previous != NULL)
        *previous = after;
    camp_hand_out(ret, size, &utilisation, sizeof utilisation);
    return CAMP_OK;
}
