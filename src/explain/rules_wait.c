/* Rules about sleep: for a disk, a page, a lock, a timer, and in stopped threads. */
#include "rule.h"

#include "counters/units.h"

#include <stdio.h>
#include <string.h>

#define CONVOY_THREADS 3     /* fewer threads that wait in futex(2) are no convoy */
#define CONVOY_LEAST 0.01    /* the share of its time from which a thread's waits count */
#define CONVOY_WORK 0.05     /* the share of its time from which a thread that runs has work */
#define SUSPENDED_SHARE 0.99 /* the share of its time from which a stopped thread is suspended */
#define POLLING_SHARE 0.5    /* the share of its time that a polling process sleeps for a timer */

static void find_sleep(const struct evidence *evidence, struct finding *ret, const char *columns,
                       uint32_t states)
{
    const double seconds = evidence_seconds(evidence);
    const struct measure sleep = evidence_of_processes(evidence, columns);
    const struct measure others = measure_columns(&evidence->short_lived.frame, seconds, columns);
    const size_t most = measure_most(&sleep), most_other = measure_most(&others);

    finding_sum(ret, evidence, &sleep);
    ret->second = most != SIZE_MAX ? measure_row(&sleep, most) : 0;
    if (most_other != SIZE_MAX && measure_row(&others, most_other) > ret->second) {
        ret->second = measure_row(&others, most_other);
        finding_name(ret, evidence, others.frame, most_other);
        finding_explain(ret, evidence, others.frame, most_other, states);
    } else {
        finding_explain(ret, evidence, sleep.frame, most, states);
    }
    ret->lost_s += measure_all(&others);
    ret->value = ret->lost_s;
}

void find_disk(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "disk_ns", 1u << CAMP_STATE_DISK);
    if (evidence->disk[0] != '\0')
        snprintf(ret->other, sizeof ret->other, "; %.0f %% of all of them were for %s",
                 100 * evidence->disk_share, evidence->disk);
}

void find_fault_sleep(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "data_fault_ns kernel_fault_ns",
               1u << CAMP_STATE_DATA_FAULT | 1u << CAMP_STATE_KERNEL_FAULT);
}

void find_text_faults(const struct evidence *evidence, struct finding *ret)
{
    find_sleep(evidence, ret, "text_fault_ns", 1u << CAMP_STATE_TEXT_FAULT);
}

void find_memory_pressure(const struct evidence *evidence, struct finding *ret)
{
    const struct measure faults = evidence_of_processes(evidence, "data_fault_ns text_fault_ns");
    const double seconds = evidence_seconds(evidence);

    finding_name(ret, evidence, faults.frame, measure_most(&faults));
    ret->lost_s = seconds > 0 ? (double)evidence->pressure.memory_some_ns / NS_PER_S / seconds : 0;
    ret->value = ret->lost_s;
}

struct convoy {
    double lock_s;
    uint64_t threads;
};

/* Adds up the threads of a process that wait for locks and have work as well. Threads of a pool
 * without work wait in futex(2), too, but hardly run. */
static struct convoy convoy_of(const struct measure *lock, const struct measure *work,
                               const struct evidence_process *process)
{
    struct convoy ret = { 0, 0 };

    for (size_t i = 0; i < process->count; i++) {
        const size_t row = process->members[i].row;

        if (lock->frame->entities[row].count != 1 || measure_share(lock, row) < CONVOY_LEAST ||
            measure_share(&work[0], row) + measure_share(&work[1], row) < CONVOY_WORK)
            continue;
        ret.lock_s += measure_row(lock, row);
        ret.threads++;
    }
    return ret;
}

void find_convoy(const struct evidence *evidence, struct finding *ret)
{
    const double seconds = evidence_seconds(evidence);
    const struct frame *rows = &evidence->rows.frame;
    const struct measure lock = measure_columns(rows, seconds, "lock_ns");
    const struct measure work[] = { measure_class(rows, seconds, CLASS_CPU),
                                    measure_class(rows, seconds, CLASS_READY) };
    struct evidence_process process = { 0 };
    int64_t found = 0;

    while ((process = evidence_process_next(evidence, &process)).count > 0) {
        const struct convoy convoy = convoy_of(&lock, work, &process);

        if (process.members[0].pid == 0 || convoy.threads < CONVOY_THREADS ||
            convoy.lock_s <= ret->value)
            continue;
        ret->value = ret->lost_s = convoy.lock_s;
        ret->count = convoy.threads;
        found = process.members[0].pid;
    }
    for (size_t i = 0; i < evidence->processes.entity_count && found != 0; i++) {
        if (evidence->processes.entities[i].id != found)
            continue;
        finding_name(ret, evidence, &evidence->processes, i);
        finding_explain(ret, evidence, &evidence->processes, i, 1u << CAMP_STATE_LOCK);
    }
    ret->provenance = measure_provenance(&lock);
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

/* A thread that was stopped all the time is a suspended job: nobody waits for it. */
void find_stopped(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *rows = &evidence->rows.frame;
    const struct measure stopped = measure_columns(rows, evidence_seconds(evidence), "stopped_ns");
    double most = 0;

    for (size_t i = 0; i < rows->entity_count; i++) {
        const double lost_s = measure_row(&stopped, i);

        if (lost_s <= 0 || measure_share(&stopped, i) >= SUSPENDED_SHARE)
            continue;
        ret->lost_s += lost_s;
        ret->count += rows->entities[i].count;
        if (lost_s <= most)
            continue;
        most = lost_s;
        finding_name(ret, evidence, rows, i);
    }
    ret->value = ret->lost_s;
    ret->provenance = measure_provenance(&stopped);
}
