/*
 * Takes samples of a PostgreSQL server's memory, which cost less than samples by SQL. Also finds
 * the names of events and activities: the memory of a backend has the number of its event, and SQL
 * reports the name.
 */
#include "postgres_inside.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_NS (10 * (uint64_t)NS_PER_MS)
#define LONGEST_NS ((uint64_t)NS_PER_S)
#define STATE_NS (250 * (uint64_t)NS_PER_MS)

static const char *name_of_activity(enum postgres_activity activity)
{
    static const char *const names[POSTGRES_ACTIVITIES + 1] = {
        [POSTGRES_IDLE] = "idle",
        [POSTGRES_ACTIVE] = "active",
        [POSTGRES_IN_TRANSACTION] = "idle_in_transaction",
        [POSTGRES_FASTPATH] = "fastpath",
        [POSTGRES_IN_TRANSACTION_ABORTED] = "aborted",
        [POSTGRES_DISABLED] = "disabled",
        [POSTGRES_ACTIVITIES] = "none",
    };

    return names[activity];
}

const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code)
{
    return name_of_activity(postgres_layout_activity(layout, code));
}

static enum postgres_activity find_activity(const char *name)
{
    int activity = 0;

    while (activity < POSTGRES_ACTIVITIES &&
           strcmp(name_of_activity((enum postgres_activity)activity), name) != 0)
        activity++;
    return (enum postgres_activity)activity;
}

static bool reserve(struct postgres_memory_samples *memory_samples, size_t count)
{
    return ARRAYS_RESERVE(memory_samples->capacity, count, ARRAY(memory_samples->processes),
                          ARRAY(memory_samples->backends), ARRAY(memory_samples->later),
                          ARRAY(memory_samples->samples), ARRAY(memory_samples->names));
}

void postgres_memory_samples_open(struct postgres_source *source)
{
    sampled_times_init(&source->memory_samples.times, LONGEST_NS);
    source->memory_samples.pace =
        (struct postgres_pace){ .wanted_ns = PERIOD_NS, .period_ns = PERIOD_NS };
    source->memory_samples.is_open = true;
}

void postgres_memory_samples_close(struct postgres_source *source)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;

    sampled_times_release(&memory_samples->times);
    free(memory_samples->processes);
    free(memory_samples->backends);
    free(memory_samples->later);
    free(memory_samples->samples);
    free(memory_samples->names);
    *memory_samples = (struct postgres_memory_samples){ 0 };
}

/* Notes the numbers of a session's database and user, once for each session. `process` is NULL if
 * the session is not in the registry yet. */
static void learn_numbers(struct postgres_source *source, struct postgres_process *process,
                          const struct postgres_backend *backend,
                          const struct postgres_session *session)
{
    const struct postgres_layout *layout = &source->layout;
    struct postgres_numbers numbers;

    if (layout->numbers_offset == 0 || (process != NULL && process->has_numbers) ||
        process_memory_read(layout->pid, backend->entry_address + layout->numbers_offset, &numbers,
                            sizeof numbers, NULL) != CAMP_OK)
        return;
    if (postgres_registry_add_names(&source->registry, &numbers, session) == CAMP_OK &&
        process != NULL)
        process->has_numbers = true;
}

void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    struct postgres_backend *backends;

    if (!memory_samples->is_open || !reserve(memory_samples, snapshot->count))
        return;
    backends = memory_samples->backends;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];
        struct postgres_process *process =
            postgres_registry_find(&source->registry, session->pid, session->start_us);

        memory_samples->processes[i] = process; /* NULL if the session is not in the registry yet */
        backends[i] = process != NULL ? process->backend : (struct postgres_backend){ 0 };
        backends[i].pid = session->pid;
    }
    if (postgres_memory_read(&source->layout, backends, snapshot->count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < snapshot->count; i++) {
        const char *const *texts = snapshot->sessions[i].kind.texts;

        if (memory_samples->processes[i] != NULL)
            memory_samples->processes[i]->backend = backends[i];
        if (!backends[i].known)
            continue;
        if (snapshot->is_whole)
            learn_numbers(source, memory_samples->processes[i], &backends[i],
                          &snapshot->sessions[i]);
        postgres_events_add(&source->events, backends[i].event, texts[SESSION_CLASS],
                            texts[SESSION_EVENT]);
        postgres_layout_confirm(&source->layout, find_activity(texts[SESSION_ACTIVITY]),
                                backends[i].code);
    }
}

static void note_runnable(struct postgres_process *process, uint64_t cpu_ns)
{
    if (process->runnable_since_ns != 0 && process->runnable_cpu_ns == cpu_ns)
        return;
    process->runnable_since_ns = process->state_ns;
    process->runnable_cpu_ns = cpu_ns;
}

/* A task that was asleep counts as still asleep if its CPU clock has not advanced since. Reading
 * the CPU clock costs a tenth of reading the state. A task that was woken but has not run yet is
 * wrongly counted as asleep, for at most STATE_NS. */
bool postgres_is_asleep(struct postgres_process *process)
{
    const uint64_t now_ns = source_clock_ns(CLOCK_MONOTONIC);
    uint64_t cpu_ns;
    char state;

    if (!process->has_task || camp_pid_cpu_ns(process->pid, &cpu_ns) != CAMP_OK)
        return false;
    if (process->asleep_cpu_ns == cpu_ns && now_ns - process->state_ns < STATE_NS)
        return true;
    process->asleep_cpu_ns = 0;
    if (proc_clock_state(&process->task, &state, NULL) != CAMP_OK)
        return false;
    process->is_stopped = state == 'T' || state == 't';
    process->state_ns = now_ns;
    if (state == 'R') {
        note_runnable(process, cpu_ns);
        return false;
    }
    process->runnable_since_ns = 0;
    process->asleep_cpu_ns = cpu_ns;
    return true;
}

/* Names a session of which no whole snapshot by SQL has been taken: it may end before the next. */
static void name_session(const struct postgres_source *source, struct postgres_process *process,
                         const struct postgres_backend *backend)
{
    const struct postgres_layout *layout = &source->layout;
    char application[POSTGRES_NAME_SIZE];
    struct postgres_numbers numbers;
    uint64_t at;

    if (layout->numbers_offset == 0 || process->labels != LABELS_NONE ||
        process_memory_read(layout->pid, backend->entry_address + layout->numbers_offset, &numbers,
                            sizeof numbers, NULL) != CAMP_OK ||
        process_memory_read_pointer(layout->pid,
                                    backend->entry_address + layout->application_offset, &at,
                                    NULL) != CAMP_OK ||
        process_memory_read(layout->pid, at, application, sizeof application, NULL) != CAMP_OK)
        return;
    application[sizeof application - 1] = '\0';
    postgres_registry_name(&source->registry, &numbers, application, process);
}

void postgres_mark_stopped(const struct postgres_process *process, struct session_sample *sample)
{
    if (!sample->is_asleep || !process->is_stopped)
        return;
    sample->kind.texts[SESSION_CLASS] = POSTGRES_STOPPED;
    sample->kind.texts[SESSION_EVENT] = POSTGRES_STOPPED;
}

static size_t list_backends(struct postgres_source *source)
{
    const struct postgres_registry *registry = &source->registry;
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    size_t count = 0;

    for (size_t i = 0; i < registry->count; i++) {
        struct postgres_process *process = &registry->processes[i];

        if (process->last_snapshot != registry->snapshots)
            continue;
        process->backend.pid = process->pid;
        memory_samples->processes[count] = process;
        memory_samples->backends[count++] = process->backend;
    }
    return count;
}

/* Reads the events again. A session may have fallen asleep after its event was read, but before its
 * state was read. Then only the second reading has the event of this sleep. */
static void read_again(struct postgres_source *source, size_t count)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    struct postgres_backend *backends = memory_samples->backends, *later = memory_samples->later;

    memcpy(later, backends, count * sizeof *later);
    if (postgres_memory_read(&source->layout, later, count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (memory_samples->samples[i].is_asleep && backends[i].event == 0 && later[i].known)
            backends[i] = later[i];
    }
}

static void read_states(struct postgres_source *source, size_t count)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    bool is_event_missed = false;

    for (size_t i = 0; i < count; i++) {
        struct postgres_process *process = memory_samples->processes[i];
        const bool is_asleep = memory_samples->backends[i].known && postgres_is_asleep(process);

        memory_samples->samples[i] = (struct session_sample){ .id = process->pid,
                                                              .start = process->start_us,
                                                              .start_ns = process->start_ns,
                                                              .is_asleep = is_asleep };
        is_event_missed |= is_asleep && memory_samples->backends[i].event == 0;
    }
    if (is_event_missed)
        read_again(source, count);
}

/* A session that runs no statement keeps the id of its last one. */
static int64_t statement_of(const struct postgres_source *source,
                            const struct postgres_backend *backend)
{
    return source->by_statement &&
                   postgres_layout_activity(&source->layout, backend->code) == POSTGRES_ACTIVE
               ? backend->statement
               : 0;
}

static void take_memory_sample(struct postgres_source *source)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    const uint64_t before_ns = source_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    size_t count, seen = 0;
    int r;

    if (!reserve(memory_samples, source->registry.count))
        return; /* A sample without sessions would mark all as ended. */
    count = list_backends(source);
    r = postgres_memory_read(&source->layout, memory_samples->backends, count, NULL);
    if (r != CAMP_OK && r != CAMP_E_GONE)
        return;
    if (r == CAMP_E_GONE) /* The server is gone, so all sessions have ended. */
        count = 0;
    read_states(source, count);
    for (size_t i = 0; i < count; i++) {
        const struct postgres_backend *backend = &memory_samples->backends[i];
        struct postgres_process *process = memory_samples->processes[i];

        process->backend = *backend;
        if (!backend->known)
            continue;
        name_session(source, process, backend);
        memory_samples->samples[seen] = memory_samples->samples[i];
        memory_samples->samples[seen++].kind = (struct session_kind){
            { postgres_event_class(backend->event),
              postgres_event_name(&source->events, backend->event, memory_samples->names[i]),
              postgres_activity_name(&source->layout, backend->code), process->type }
        };
        postgres_mark_stopped(process, &memory_samples->samples[seen - 1]);
        memory_samples->samples[seen - 1].statement = statement_of(source, backend);
    }
    sampled_times_add(&memory_samples->times, source_clock_ns(CLOCK_MONOTONIC),
                      memory_samples->samples, seen);
    postgres_pace_update(&memory_samples->pace,
                         source_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
}

void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns)
{
    struct postgres_pace *pace = &source->memory_samples.pace;

    while (!*source->stop && !source_is_over()) {
        const uint64_t now = source_clock_ns(CLOCK_MONOTONIC);

        if (pace->next_ns < now)
            pace->next_ns = now;
        if (pace->next_ns >= until_ns)
            break;
        while (source_wait(pace->next_ns, PERIOD_NS, source->stop))
            ;
        take_memory_sample(source);
        pace->next_ns += pace->period_ns;
    }
    while (!source_is_over() && source_wait(until_ns, PERIOD_NS, source->stop))
        ;
}

/* The interval ends at its last sample, because the time after that sample would be unaccounted. */
uint64_t postgres_memory_samples_end(struct postgres_source *source)
{
    struct sampled_times *times = &source->memory_samples.times;
    const uint64_t before = times->snapshot;
    uint64_t end_ns;

    take_memory_sample(source);
    end_ns = times->snapshot != before ? times->snapshot_ns : source_clock_ns(CLOCK_MONOTONIC);
    sampled_times_end(times, end_ns);
    return end_ns;
}
