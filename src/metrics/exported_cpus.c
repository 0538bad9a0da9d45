/* The metrics of CPUs: sampled times from /proc/stat, and measured times. With tier "bpf" the
 * measured times come from switches and interrupts. With other tiers, the measured busy time is the
 * wall time minus idle and iowait time. */
#include "exported_inside.h"

#include "sources/machine/cpu_list.h"

/* index of the label "busy", which tiers other than "bpf" use for user, system, irq and softirq */
enum { BUSY = CPUS_STATES_IDLE + 1 };
enum { ANY, OWN, KERNEL };

int exported_cpus_open(struct exported *exported, struct camp_error *error)
{
    int r;

    if (exported->session == NULL)
        return cpus_source_open(NULL, &exported_goes_on, &exported->cpus_source, error);
    r = cpus_states_open(&exported->cpus, error);
    return r == CAMP_OK ? cpus_states_read(exported->cpus, exported->session, error) : r;
}

static int read_states(struct exported *exported, struct camp_error *error)
{
    const int r = cpus_states_read(exported->cpus, exported->session, error);
    const struct frame *frame = cpus_states_frame(exported->cpus);

    if (r != CAMP_OK || frame->entity_count == 0)
        return r;
    for (size_t i = 0; i < CPUS_STATES_COLUMN_COUNT; i++)
        exported->measured[i] += frame_values(frame, 0)[i];
    for (size_t i = 0; i <= CPUS_STATES_IDLE; i++)
        if (frame->schema->columns[i].provenance != CAMP_UNKNOWN)
            exported_set(exported, CPU_MEASURED, i, exported->measured[i]);
    exported_set(exported, CLOCK, 0, frame->end_ns);
    exported_set(exported, CPU_IOWAIT, ANY, exported->measured[CPUS_STATES_ANY_WAIT]);
    exported_set(exported, CPU_IOWAIT, OWN, exported->measured[CPUS_STATES_IOWAIT]);
    return CAMP_OK;
}

static int read_columns(struct exported *exported, struct camp_error *error)
{
    const struct frame *frame;
    const int r = exported->cpus_source->next(exported->cpus_source, 0, &frame, error);
    uint64_t idle_ns, iowait_ns, waited_ns;

    if (r != CAMP_OK || frame->entity_count == 0)
        return r;
    idle_ns = frame_values(frame, 0)[CPUS_IDLE];
    iowait_ns = frame_values(frame, 0)[CPUS_IOWAIT];
    waited_ns = idle_ns + iowait_ns;
    exported->idle_ns += idle_ns;
    exported->iowait_ns += iowait_ns;
    exported->busy_ns += counted_since(waited_ns, frame->elapsed_ns[0]);
    exported_set(exported, CLOCK, 0, frame->end_ns);
    exported_set(exported, CPU_MEASURED, BUSY, exported->busy_ns);
    exported_set(exported, CPU_MEASURED, CPUS_STATES_IDLE, exported->idle_ns);
    exported_set(exported, CPU_MEASURED, CPUS_STATES_IOWAIT, exported->iowait_ns);
    return CAMP_OK;
}

static int read_accounting(struct exported *exported, struct camp_error *error)
{
    struct camp_cpu cpu;
    uint64_t ns, busy_ns = 0;
    size_t count;
    int r = camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, error);

    if (r == CAMP_OK)
        r = camp_cpu_count(NULL, &count, error);
    if (r != CAMP_OK)
        return r;
    exported_set(exported, CPUS, 0, count);
    for (size_t i = 0; i < CPUS_COLUMN_COUNT; i++) {
        if (!cpu_list_column(&cpu, (enum cpus_column)i, &ns))
            continue;
        exported_set(exported, CPU, i, ns);
        busy_ns += i != CPUS_IDLE && i != CPUS_IOWAIT ? ns : 0;
    }
    exported_set(exported, CPU_BUSY, 0, busy_ns);
    if ((cpu.known & CAMP_CPU_IOWAIT) != 0)
        exported_set(exported, CPU_IOWAIT, KERNEL, cpu.iowait_ns);
    return CAMP_OK;
}

int exported_cpus_read(struct exported *exported, struct camp_error *error)
{
    int r =
        exported->session != NULL ? read_states(exported, error) : read_columns(exported, error);

    return r == CAMP_OK ? read_accounting(exported, error) : r;
}
