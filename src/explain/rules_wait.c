/* Rules about sleep: for a disk, a page, a lock, a timer, and in stopped threads. */
#include "rule.h"

#include "counters/units.h"
#include "ledger/active.h"

#include <stdio.h>
#include <string.h>

#define CONVOY_THREADS 3  /* fewer threads that wait in futex(2) are no convoy */
#define CONVOY_LEAST 0.01 /* the share of its time from which a thread's waits count */
#define POLLING_SHARE 0.5 /* the share of its time that a polling process sleeps for a timer */

static struct measure of_processes(const struct evidence *evidence, const char *columns)
{
    return measure_columns(&evidence->processes, evidence_seconds(evidence), columns);
}

static void find_sleep(const struct evidence *evidence, struct finding *ret, const char *columns)
{
    const double seconds = evidence_seconds(evidence);
    const struct measure sleep = of_processes(evidence, columns);
    const struct measure others = measure_columns(&evidence->short_lived.frame, seconds, columns);
    const size_t most = measure_most(&sleep), most_other = measure_most(&others);

    finding_sum(ret, evidence, &sleep);
    ret->second = most != SIZE_MAX ? measure_row(&sleep, most) : 0;
    if (most_other != SIZE_MAX && measure_row(&others, most_other) > ret->second) {
        ret->second = measure_row(&others, most_other);
        finding_name(ret, evidence, others.frame, most_other);
    }
    ret->lost_s += measure_all(&others);
    ret->value = ret->lost_s;
}

void find_disk(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "disk_ns");
    if (evidence->disk[0] != '\0')
        snprintf(ret->other, sizeof ret->other, "; %.0f %% of all of them were for %s",
                 100 * evidence->disk_share, evidence->disk);
}

void find_fault_sleep(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "data_fault_ns kernel_fault_ns");
}

void find_text_faults(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "text_fault_ns");
}

void find_memory_pressure(const struct evidence *evidence, struct finding *ret)
{
    const struct measure faults = of_processes(evidence, "data_fault_ns text_fault_ns");
    const double seconds = evidence_seconds(evidence);

    finding_name(ret, evidence, faults.frame, measure_most(&faults));
    ret->lost_s = seconds > 0 ? (double)evidence->pressure.memory_some_ns / NS_PER_S / seconds : 0;
    ret->value = ret->lost_s;
}

struct convoy {
    double lock_s;
    uint64_t threads;
};

/* Adds up the threads of a process that wait for locks and do something else as well. */
static struct convoy convoy_of(const struct measure *lock, int32_t pid)
{
    const struct frame *rows = lock->frame;
    struct convoy ret = { 0, 0 };

    for (size_t i = 0; i < rows->entity_count; i++) {
        const double share = measure_share(lock, i);

        if (rows->entities[i].pid != pid || rows->entities[i].count != 1 || share < CONVOY_LEAST ||
            share >= ACTIVE_PARKED_SHARE)
            continue;
        ret.lock_s += measure_row(lock, i);
        ret.threads++;
    }
    return ret;
}

/* Only processes whose locks may be enough are examined thread by thread. */
void find_convoy(const struct evidence *evidence, struct finding *ret)
{
    const struct measure lock =
        measure_columns(&evidence->rows.frame, evidence_seconds(evidence), "lock_ns");
    const struct measure of_process = of_processes(evidence, "lock_ns");

    for (size_t i = 0; i < evidence->processes.entity_count; i++) {
        const struct entity *process = &evidence->processes.entities[i];
        struct convoy convoy;

        if ((process->flags & ENTITY_ENDED) != 0 || process->count < CONVOY_THREADS ||
            measure_row(&of_process, i) <= ret->value)
            continue;
        convoy = convoy_of(&lock, (int32_t)process->id);
        if (convoy.threads < CONVOY_THREADS || convoy.lock_s <= ret->value)
            continue;
        ret->value = ret->lost_s = convoy.lock_s;
        ret->count = convoy.threads;
        finding_name(ret, evidence, &evidence->processes, i);
    }
}

void find_polling(const struct evidence *evidence, struct finding *ret)
{
    const double seconds = evidence_seconds(evidence);
    const struct frame *rows = &evidence->rows.frame;
    const struct measure timer = measure_columns(rows, seconds, "timer_ns");
    const struct measure switches = measure_columns(rows, seconds, "voluntary_switches");
    const struct measure cpu = measure_class(rows, seconds, CLASS_CPU);

    for (size_t i = 0; i < rows->entity_count; i++) {
        if (rows->entities[i].count != 1 || measure_row(&switches, i) <= ret->value ||
            measure_share(&timer, i) < POLLING_SHARE)
            continue;
        ret->value = measure_row(&switches, i);
        ret->lost_s = measure_row(&cpu, i);
        finding_name(ret, evidence, rows, i);
    }
}

void find_stopped(const struct evidence *evidence, struct finding *ret)
{
    const struct measure stopped = of_processes(evidence, "stopped_ns");

    finding_sum(ret, evidence, &stopped);
    for (size_t i = 0; i < evidence->processes.entity_count; i++)
        ret->count += measure_row(&stopped, i) > 0.5;
}
