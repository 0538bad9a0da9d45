/*
 * Reading subjects: each thing as cheaply as libcamp can, and several CPUs, interfaces or disks
 * with one call, so that they are of one point in time.
 */
#include "listing.h"
#include "subjects.h"

#include "counters/units.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void subject_want(struct subject *subject, const struct camp_counter *counter)
{
    if (counter->record == CAMP_RECORD_TASKSTAT)
        subject->wants_taskstats = true;
    subject->wanted |= counter->known;
    if (counter_is_utilisation(counter) || counter_is_cpu_count(counter))
        subject->counts_cpus = true;
}

/* ------------------------------------------------------------- Several at once -- */

static void store(struct reading *reading, enum camp_kind kind, const void *array, size_t i)
{
    if (kind == CAMP_KIND_CPU) {
        reading->cpu = ((const struct camp_cpu *)array)[i];
        reading->time_ns = reading->cpu.time_ns;
    } else if (kind == CAMP_KIND_NETWORK) {
        reading->network = ((const struct camp_network *)array)[i];
        reading->time_ns = reading->network.time_ns;
    } else {
        reading->disk = ((const struct camp_disk *)array)[i];
        reading->time_ns = reading->disk.time_ns;
    }
}

static bool is_subject(const struct subject *subject, const void *array, size_t i)
{
    if (subject->kind == CAMP_KIND_CPU)
        return ((const struct camp_cpu *)array)[i].cpu == subject->cpu;
    return strcmp(subject->kind == CAMP_KIND_NETWORK ? ((const struct camp_network *)array)[i].name
                                                     : ((const struct camp_disk *)array)[i].name,
                  subject->device) == 0;
}

/* Keeps the message of an error; NULL: there was no error. Without memory there is no message, and
 * the name of the result is shown instead. */
static void keep_failure(struct subject *subject, const struct camp_error *error)
{
    free(subject->failure);
    subject->failure = error != NULL && error->message[0] != '\0' ? strdup(error->message) : NULL;
}

/* Finds each subject of the kind among what was read; they mostly stand in the same order. */
static void distribute(struct subjects *subjects, enum camp_kind kind, const void *array,
                       size_t count)
{
    size_t at = 0;

    for (size_t s = 0; s < subjects->count; s++) {
        struct subject *subject = &subjects->items[s];
        size_t tried = 0;

        if (subject->kind != kind)
            continue;
        while (tried < count && !is_subject(subject, array, at)) {
            at = (at + 1) % count;
            tried++;
        }
        if (tried < count) {
            store(&subject->now, kind, array, at);
            subject->now.cpu_count = kind == CAMP_KIND_CPU ? count - 1 : 0; /* without the total */
        } else {
            struct camp_error error;

            subject->now.result =
                library_fail(&error, CAMP_E_GONE, "there is no %s%s; see camp list", subject->label,
                             kind == CAMP_KIND_CPU ? " online" : "");
            keep_failure(subject, &error);
        }
    }
}

static void read_together(struct subjects *subjects, enum camp_kind kind)
{
    const struct listing listing = { .source = subjects->source,
                                     .disk_kind = kind == CAMP_KIND_DISK ? CAMP_DISK_WHOLE
                                                                         : CAMP_DISK_PARTITION };
    fill_function *fill = kind == CAMP_KIND_CPU       ? fill_cpus
                          : kind == CAMP_KIND_NETWORK ? fill_networks
                                                      : fill_disks;
    size_t size = kind == CAMP_KIND_CPU       ? sizeof(struct camp_cpu)
                  : kind == CAMP_KIND_NETWORK ? sizeof(struct camp_network)
                                              : sizeof(struct camp_disk);
    struct camp_error error = { 0 };
    size_t count = 0;
    void *array;
    int result = list_grow(fill, &listing, size, &array, &count, &error);

    if (result >= 0)
        distribute(subjects, kind, array, count);
    for (size_t i = 0; result < 0 && i < subjects->count; i++) {
        if (subjects->items[i].kind != kind)
            continue;
        subjects->items[i].now.result = result;
        keep_failure(&subjects->items[i], &error);
    }
    free(array);
}

/* ------------------------------------------------------------------ One by one -- */

static int read_cpu(const struct camp_source *source, struct subject *subject,
                    struct camp_error *error)
{
    struct reading *now = &subject->now;
    size_t count = 0;
    int result = camp_cpu_read(source, subject->cpu, &now->cpu, sizeof now->cpu, error);

    now->time_ns = now->cpu.time_ns;
    if (result < 0 || !subject->counts_cpus)
        return result;
    result = camp_cpu_count(source, &count, error);
    now->cpu_count = count;
    return result;
}

static int read_task(const struct camp_source *source, struct subject *subject,
                     struct camp_error *error)
{
    struct camp_task *task = &subject->now.task;
    uint32_t wanted = subject->wanted | CAMP_TASK_START; /* so that the identity is looked at */

    if (subject->kind == CAMP_KIND_PROCESS)
        return camp_process_read(source, &subject->process, wanted, task, sizeof *task, error);
    return camp_thread_read(source, &subject->thread, wanted, task, sizeof *task, error);
}

static int read_one(const struct camp_source *source, struct subject *subject,
                    struct camp_error *error)
{
    struct reading *now = &subject->now;
    int result = CAMP_E_INVALID;

    switch (subject->kind) {
    case CAMP_KIND_CPU:
        return read_cpu(source, subject, error);
    case CAMP_KIND_MEMORY:
        result = camp_memory_read(source, subject->wanted, &now->memory, sizeof now->memory, error);
        now->time_ns = now->memory.time_ns;
        break;
    case CAMP_KIND_NETWORK:
        result =
            camp_network_read(source, subject->device, &now->network, sizeof now->network, error);
        now->time_ns = now->network.time_ns;
        break;
    case CAMP_KIND_DISK:
    case CAMP_KIND_PARTITION:
        result = camp_disk_read(source, subject->device, &now->disk, sizeof now->disk, error);
        now->time_ns = now->disk.time_ns;
        break;
    case CAMP_KIND_PROCESS:
    case CAMP_KIND_THREAD:
        result = read_task(source, subject, error);
        now->time_ns = now->task.time_ns;
        break;
    case CAMP_KIND_KERNEL:
        result = camp_kernel_read(source, &now->kernel, sizeof now->kernel, error);
        now->time_ns = now_ns(CLOCK_MONOTONIC);
        break;
    }
    return result;
}

static void read_alone(const struct camp_source *source, struct subject *subject)
{
    struct camp_error error;

    error.message[0] = '\0'; /* enough, and cheaper than clearing all of it for each subject */
    subject->now.result = read_one(source, subject, &error);
    if (subject->now.result < 0)
        keep_failure(subject, &error);
}

/* ------------------------------------------------------------------- Taskstats -- */

static int read_taskstats_of(const int32_t *pids, size_t count, struct camp_taskstat *tasks,
                             struct camp_error *error)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    int result = camp_taskstats_open(&session, error);

    if (result < 0)
        return result;
    result = camp_taskstats_read(&session, pids, count, tasks, sizeof *tasks, error);
    camp_taskstats_close(&session);
    return result;
}

/* Of every process that wants it, in one go. The identity is checked after it, by read_task(). */
static void read_taskstats(struct subjects *subjects)
{
    int32_t *pids = calloc(subjects->count + 1, sizeof *pids);
    struct camp_taskstat *tasks = calloc(subjects->count + 1, sizeof *tasks);
    struct camp_error error = { 0 };
    size_t count = 0;
    int result;

    for (size_t i = 0; pids != NULL && i < subjects->count; i++) {
        if (subjects->items[i].wants_taskstats)
            pids[count++] = subjects->items[i].process.pid;
    }
    if (pids == NULL || tasks == NULL)
        result = library_fail_memory(&error);
    else if (subjects->source != NULL)
        result = library_fail(&error, CAMP_E_NOTSUP,
                              "taskstats tells of this machine, not of "
                              "another /proc");
    else
        result = count > 0 ? read_taskstats_of(pids, count, tasks, &error) : CAMP_OK;
    count = 0;
    for (size_t i = 0; i < subjects->count; i++) {
        struct subject *subject = &subjects->items[i];

        if (!subject->wants_taskstats)
            continue;
        if (result >= 0 && tasks != NULL) {
            subject->now.taskstat = tasks[count++];
            subject->now.taskstat_known = subject->now.taskstat.result == CAMP_OK;
        }
    }
    subjects->taskstats_error = error;
    free(pids);
    free(tasks);
}

/* ------------------------------------------------------------------------- All -- */

static bool is_read_together(const struct subjects *subjects, enum camp_kind kind)
{
    size_t count = 0;

    if (kind != CAMP_KIND_CPU && kind != CAMP_KIND_NETWORK && kind != CAMP_KIND_DISK &&
        kind != CAMP_KIND_PARTITION)
        return false;
    for (size_t i = 0; i < subjects->count; i++)
        count += subjects->items[i].kind == kind;
    return count > 1;
}

/* A CPU's utilisation since the reading before; where there is none it stays unknown. */
static void derive(struct subject *subject)
{
    struct reading *now = &subject->now;
    const struct reading *before = &subject->before;

    if (subject->kind != CAMP_KIND_CPU || !subject->counts_cpus || now->result < 0 ||
        before->result < 0 || before->time_ns == 0)
        return;
    if (camp_cpu_difference(&before->cpu, &now->cpu,
                            subject->cpu == CAMP_CPU_TOTAL ? (size_t)now->cpu_count : 1,
                            &now->utilisation, sizeof now->utilisation) == CAMP_OK)
        now->utilisation_known = before->cpu.known & now->cpu.known;
}

void subjects_read(struct subjects *subjects)
{
    for (size_t i = 0; i < subjects->count; i++) {
        subjects->items[i].before = subjects->items[i].now;
        memset(&subjects->items[i].now, 0, sizeof subjects->items[i].now);
        keep_failure(&subjects->items[i], NULL);
    }
    read_taskstats(subjects);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        bool together = is_read_together(subjects, kinds[k].kind);

        if (together)
            read_together(subjects, kinds[k].kind);
        for (size_t i = 0; !together && i < subjects->count; i++) {
            struct subject *subject = &subjects->items[i];

            if (subject->kind == kinds[k].kind)
                read_alone(subjects->source, subject);
        }
    }
    for (size_t i = 0; i < subjects->count; i++)
        derive(&subjects->items[i]);
}
