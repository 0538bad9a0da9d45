/*
 * CPUs, by processor group. A group has up to 64 CPUs; CPU n of group g has the id 64 * g + n.
 *
 * Theory: the clock interrupt samples each CPU (see kernel.c). Windows' kernel time contains the
 * idle time, the interrupt time and the time of deferred procedure calls; it is divided here, so
 * that no time is in two fields. The parts are read one after the other while they grow, so the
 * rest may come out negative by a tick: it is then 0. The cycles of the idle thread are measured
 * (see cycles.c).
 *
 * Wine has the user, system and idle times from the host, but no interrupt times and no cycles.
 */
#include "shared.h"

#include "../platform.h"

#include <string.h>

#define GROUP_CPUS 64

struct group {
    uint64_t time_ns;
    size_t count;
    struct native_cpu cpus[GROUP_CPUS];
    uint64_t idle_cycles[GROUP_CPUS]; /* 0 if unknown */
};

/* What is the same for all CPUs of one reading. */
struct facts {
    uint64_t tick_ns;
    uint64_t cycles_hz; /* 0 if unknown */
    uint32_t known;
};

static struct facts find_facts(void)
{
    struct facts facts = { camp_tick_ns(), camp_cycles_hz(),
                           CAMP_CPU_USER | CAMP_CPU_SYSTEM | CAMP_CPU_IDLE };

    if (!camp_is_imitation())
        facts.known |= CAMP_CPU_IRQ | CAMP_CPU_SOFTIRQ;
    return facts;
}

/* QueryIdleProcessorCycleTimeEx() is not in Wine, where the rate of the cycles is unknown, too. */
static void read_idle_cycles(USHORT number, const struct facts *facts, struct group *group)
{
    ULONG length = sizeof group->idle_cycles;

    if (facts->cycles_hz == 0 ||
        !QueryIdleProcessorCycleTimeEx(number, &length, group->idle_cycles))
        memset(group->idle_cycles, 0, sizeof group->idle_cycles);
}

/* NtQuerySystemInformation() reports the group of the calling thread. Where there is one group
 * only, it is enough, and Wine has nothing else. */
static NTSTATUS read_times(USHORT number, struct group *group, ULONG *ret_length)
{
    if (GetActiveProcessorGroupCount() <= 1)
        return NtQuerySystemInformation(OF_CPU_TIMES, group->cpus, sizeof group->cpus, ret_length);
    return NtQuerySystemInformationEx(OF_CPU_TIMES, &number, sizeof number, group->cpus,
                                      sizeof group->cpus, ret_length);
}

static int read_group(USHORT number, const struct facts *facts, struct group *ret,
                      struct camp_error *error)
{
    ULONG length = 0;
    NTSTATUS status;

    memset(ret->idle_cycles, 0, sizeof ret->idle_cycles);
    ret->time_ns = camp_now_ns();
    status = read_times(number, ret, &length);
    if (native_failed(status))
        return camp_fail_status(error, status, "the times of the CPUs");
    ret->count = length / sizeof ret->cpus[0];
    read_idle_cycles(number, facts, ret);
    return CAMP_OK;
}

static void fill(const struct group *group, size_t at, int32_t id, const struct facts *facts,
                 struct camp_cpu *ret)
{
    const struct native_cpu *cpu = &group->cpus[at];
    int64_t system =
        cpu->kernel_time - cpu->idle_time - cpu->interrupt_time - cpu->deferred_call_time;

    *ret = (struct camp_cpu){
        .cpu = id,
        .known = facts->known,
        .time_ns = group->time_ns,
        .resolution_ns = facts->tick_ns,
        .user_ns = ns_of_native(cpu->user_time),
        .system_ns = ns_of_native(system),
        .idle_ns = ns_of_native(cpu->idle_time),
        .irq_ns = ns_of_native(cpu->interrupt_time),
        .softirq_ns = ns_of_native(cpu->deferred_call_time),
    };
    if (group->idle_cycles[at] != 0) {
        ret->known |= CAMP_CPU_IDLE_CYCLES;
        ret->idle_cycles_ns = camp_ns_of_cycles(group->idle_cycles[at], facts->cycles_hz);
    }
}

static void add(struct camp_cpu *total, const struct camp_cpu *cpu)
{
    total->known &= cpu->known;
    total->user_ns += cpu->user_ns;
    total->system_ns += cpu->system_ns;
    total->idle_ns += cpu->idle_ns;
    total->irq_ns += cpu->irq_ns;
    total->softirq_ns += cpu->softirq_ns;
    total->idle_cycles_ns += cpu->idle_cycles_ns;
}

static int scan(struct camp_cpu *cpus, size_t size, size_t capacity, size_t *ret_count,
                struct camp_error *error)
{
    struct camp_output output = { cpus, size, capacity, 0 };
    const struct facts facts = find_facts();
    struct camp_cpu total = { .cpu = CAMP_CPU_TOTAL,
                              .known = UINT32_MAX,
                              .time_ns = camp_now_ns(),
                              .resolution_ns = facts.tick_ns };
    struct group group;

    camp_output_add(&output, &total, sizeof total);
    for (USHORT number = 0; number < GetActiveProcessorGroupCount(); number++) {
        int r = read_group(number, &facts, &group, error);

        if (r < 0)
            return r;
        for (size_t i = 0; i < group.count; i++) {
            struct camp_cpu cpu;

            fill(&group, i, (int32_t)(number * GROUP_CPUS + i), &facts, &cpu);
            add(&total, &cpu);
            camp_output_add(&output, &cpu, sizeof cpu);
        }
    }
    if ((total.known & CAMP_CPU_IDLE_CYCLES) == 0)
        total.idle_cycles_ns = 0;
    if (capacity > 0)
        camp_hand_out(cpus, size, &total, sizeof total);
    return camp_output_end(&output, "CPUs and their total", ret_count, error);
}

int camp_count_interrupts(uint64_t *ret_count, struct camp_error *error)
{
    const struct facts facts = find_facts();
    struct group group;

    *ret_count = 0;
    for (USHORT number = 0; number < GetActiveProcessorGroupCount(); number++) {
        int r = read_group(number, &facts, &group, error);

        if (r < 0)
            return r;
        for (size_t i = 0; i < group.count; i++)
            *ret_count += group.cpus[i].interrupts;
    }
    return CAMP_OK;
}

int camp_cpu_count(const struct camp_source *source, size_t *ret_count, struct camp_error *error)
{
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret_count))
        return CAMP_E_INVALID;
    *ret_count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return CAMP_OK;
}

int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ids, sizeof *ids, capacity, 0 };
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, ids, capacity, ret_count))
        return CAMP_E_INVALID;
    for (USHORT group = 0; group < GetActiveProcessorGroupCount(); group++)
        for (DWORD number = 0; number < GetActiveProcessorCount(group); number++) {
            int32_t id = (int32_t)(group * GROUP_CPUS + number);

            camp_output_add(&output, &id, sizeof id);
        }
    return camp_output_end(&output, "CPUs", ret_count, error);
}

static int read_total(struct camp_cpu *ret, struct camp_error *error)
{
    struct camp_error unwanted;
    size_t count;
    /* The total is the first element, and there is space for no other. */
    int r = scan(ret, sizeof *ret, 1, &count, &unwanted);

    if (r == CAMP_E_SPACE)
        return CAMP_OK;
    if (r < 0 && error != NULL)
        *error = unwanted;
    return r;
}

static int read_one(int32_t id, struct camp_cpu *ret, struct camp_error *error)
{
    const struct facts facts = find_facts();
    USHORT number = (USHORT)(id / GROUP_CPUS);
    size_t at = (size_t)id % GROUP_CPUS;
    struct group group;
    int r;

    if (id / GROUP_CPUS < GetActiveProcessorGroupCount()) {
        r = read_group(number, &facts, &group, error);
        if (r < 0)
            return r;
        if (at < group.count) {
            fill(&group, at, id, &facts, ret);
            return CAMP_OK;
        }
    }
    return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %d; list them again", (int)id);
}

int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret, size_t size,
                  struct camp_error *error)
{
    struct camp_cpu here;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret) || camp_is_outside(error, cpu, CAMP_CPU_TOTAL, INT32_MAX))
        return CAMP_E_INVALID;
    r = cpu == CAMP_CPU_TOTAL ? read_total(&here, error) : read_one(cpu, &here, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &here, sizeof here);
    return r;
}

int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, cpus, capacity, ret_count))
        return CAMP_E_INVALID;
    return scan(cpus, size, capacity, ret_count, error);
}

/* Windows does not count the processes and threads that it has started. */
int camp_fork_count(const struct camp_source *source, uint64_t *ret_count, struct camp_error *error)
{
    (void)source;
    (void)ret_count;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "Windows does not count the started processes");
}
