/*
 * Reads subjects. Several CPUs, interfaces or disks are read with one call of the library, so their
 * values are from the same point in time.
 */
#include "subjects.h"

#include "counters/clock.h"
#include "counters/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool subject_want(struct subject *subject, const struct camp_counter *counter)
{
    const enum extra_kind extra = extra_of(counter);

    if (extra < EXTRA_COUNT)
        return extras_want(subject, extra);
    if (counter->record == CAMP_RECORD_TASKSTAT)
        subject->wants_taskstats = true;
    if (!counter_is_utilisation(counter))
        subject->wanted |= counter->known;
    if (counter_is_utilisation(counter) || counter_is_cpu_count(counter))
        subject->counts_cpus = true;
    return true;
}

/* Copies the time from the library's struct, or reads the clock if the struct has no time. */
static void note_time(enum camp_kind kind, struct reading *reading)
{
    const size_t at = kind_words(kind)->time_at;

    if (at == NO_TIME)
        reading->time_ns = now_ns(CLOCK_MONOTONIC);
    else
        memcpy(&reading->time_ns, (const char *)&reading->cpu + at, sizeof reading->time_ns);
}

static bool is_subject(const struct subject *subject, const void *element)
{
    return subject->kind == CAMP_KIND_CPU
               ? ((const struct camp_cpu *)element)->cpu == subject->cpu
               : strcmp((const char *)element + kind_words(subject->kind)->name_at,
                        subject->device) == 0;
}

/* Keeps the message of an error. `error` may be NULL. If there is no memory for the message, the
 * name of the result is shown instead. */
static void keep_failure(struct subject *subject, const struct camp_error *error)
{
    free(subject->failure);
    subject->failure = error != NULL && error->message[0] != '\0' ? strdup(error->message) : NULL;
}

/* Copies the elements of the array to the subjects of the kind. The search for the element of a
 * subject starts at the previous match, because both mostly have the same order. */
static void distribute(struct subjects *subjects, enum camp_kind kind, const char *array,
                       size_t count)
{
    const size_t size = kind_words(kind)->size;
    size_t at = 0;

    for (size_t s = 0; s < subjects->count; s++) {
        struct subject *subject = &subjects->items[s];
        struct camp_error error;
        size_t tried = 0;

        if (subject->kind != kind)
            continue;
        while (tried < count && !is_subject(subject, array + at * size)) {
            at = (at + 1) % count;
            tried++;
        }
        if (tried < count) {
            memcpy(&subject->now.cpu, array + at * size, size);
            note_time(kind, &subject->now);
            subject->now.cpu_count = kind == CAMP_KIND_CPU ? count - 1 : 0; /* without the total */
            continue;
        }
        subject->now.result = camp_fail(&error, CAMP_E_GONE, 0, "there is no %s%s; see camp list",
                                        subject->label, kind == CAMP_KIND_CPU ? " online" : "");
        keep_failure(subject, &error);
    }
}

static void read_together(struct subjects *subjects, enum camp_kind kind)
{
    struct camp_error error = { 0 };
    size_t count = 0;
    void *array;
    int result = listing_read(&(struct listing){ subjects->source, kind }, &array, &count, &error);

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

static int read_cpu(const struct camp_source *source, struct subject *subject,
                    struct camp_error *error)
{
    struct reading *now = &subject->now;
    size_t count = 0;
    int result = camp_cpu_read(source, subject->cpu, &now->cpu, sizeof now->cpu, error);

    if (result < 0 || !subject->counts_cpus)
        return result;
    result = camp_cpu_count(source, &count, error);
    now->cpu_count = count;
    return result;
}

/* Other systems have no facts of Linux. */
static int read_kernel(const struct camp_source *source, struct reading *now,
                       struct camp_error *error)
{
    int result = camp_kernel_read(source, &now->kernel, sizeof now->kernel, error);

    if (result == CAMP_OK)
        result = camp_linux_read(source, &now->of_linux, sizeof now->of_linux, error);
    return result == CAMP_E_NOTSUP ? CAMP_OK : result;
}

static int read_one(const struct camp_source *source, struct subject *subject,
                    struct camp_error *error)
{
    struct reading *now = &subject->now;
    const size_t size = kind_words(subject->kind)->size;
    const uint32_t of_task =
        /* With the start time, the library checks the identity of the task. */
        subject->wanted | CAMP_TASK_START;

    switch (subject->kind) {
    case CAMP_KIND_CPU:
        return read_cpu(source, subject, error);
    case CAMP_KIND_MEMORY:
        return camp_memory_read(source, subject->wanted, &now->memory, size, error);
    case CAMP_KIND_NETWORK:
        return camp_network_read(source, subject->device, &now->network, size, error);
    case CAMP_KIND_DISK:
    case CAMP_KIND_PARTITION:
        return camp_disk_read(source, subject->device, &now->disk, size, error);
    case CAMP_KIND_PROCESS:
        return camp_process_read(source, &subject->process, of_task, &now->task, size, error);
    case CAMP_KIND_THREAD:
        return camp_thread_read(source, &subject->thread, of_task, &now->task, size, error);
    case CAMP_KIND_SYSTEM:
        return camp_system_read(source, subject->wanted, &now->system, size, error);
    case CAMP_KIND_KERNEL:
        break;
    }
    return read_kernel(source, now, error);
}

static void read_alone(const struct camp_source *source, struct subject *subject)
{
    struct camp_error error;

    /* Clearing only the message is faster than clearing the whole struct for each subject. */
    error.message[0] = '\0';
    subject->now.result = read_one(source, subject, &error);
    note_time(subject->kind, &subject->now);
    if (subject->now.result < 0)
        keep_failure(subject, &error);
}

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

/* Reads taskstats of all processes that need taskstats, in one session. read_one() checks the
 * identity of the processes later. */
static void read_taskstats(struct subjects *subjects)
{
    int32_t *pids = calloc(subjects->count + 1, sizeof *pids);
    struct camp_taskstat *tasks = calloc(subjects->count + 1, sizeof *tasks);
    struct camp_error error = { 0 };
    size_t count = 0, at = 0;
    int result;

    for (size_t i = 0; pids != NULL && i < subjects->count; i++) {
        if (subjects->items[i].wants_taskstats)
            pids[count++] = subjects->items[i].process.pid;
    }
    if (pids == NULL || tasks == NULL)
        result = camp_fail(&error, CAMP_E_NOMEM, 0, "no memory left; ask for less at a time");
    else if (subjects->source != NULL)
        result = camp_fail(&error, CAMP_E_NOTSUP, 0,
                           "taskstats is of this machine, not of another /proc");
    else
        result = count > 0 ? read_taskstats_of(pids, count, tasks, &error) : CAMP_OK;
    for (size_t i = 0; result >= 0 && i < subjects->count; i++) {
        struct reading *now = &subjects->items[i].now;

        if (!subjects->items[i].wants_taskstats)
            continue;
        now->taskstat = tasks[at++];
        now->taskstat_known = now->taskstat.result == CAMP_OK;
    }
    subjects->taskstats_error = error;
    free(pids);
    free(tasks);
}

static bool is_read_together(const struct subjects *subjects, enum camp_kind kind)
{
    size_t count = 0;

    if ((kind & (CAMP_KIND_CPU | CAMP_KIND_NETWORK | CAMP_KIND_DISK | CAMP_KIND_PARTITION)) == 0)
        return false;
    for (size_t i = 0; i < subjects->count; i++)
        count += subjects->items[i].kind == kind;
    return count > 1;
}

/* Derives the utilisation of a CPU since the previous reading. Without a previous reading the
 * utilisation stays unknown. */
static void derive(struct subject *subject)
{
    struct reading *now = &subject->now;
    const struct reading *before = &subject->before;

    if (subject->kind != CAMP_KIND_CPU || !subject->counts_cpus || now->result < 0 ||
        before->result < 0 || before->time_ns == 0)
        return;
    camp_cpu_difference(&before->cpu, &now->cpu,
                        subject->cpu == CAMP_CPU_TOTAL ? (size_t)now->cpu_count : 1, NULL,
                        &now->utilisation, sizeof now->utilisation);
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
    for (size_t i = 0; i < subjects->count; i++) {
        derive(&subjects->items[i]);
        if (subjects->items[i].now.result >= 0)
            extras_read(subjects->source, &subjects->items[i]);
    }
}
