/*
 * Samples of a PostgreSQL server's memory, which cost less than samples by SQL, and the names of
 * events: resolved by comparing memory with SQL's report of the same backends.
 */
#include "postgres_inside.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_NS (10 * (uint64_t)NS_PER_MS)
#define LONGEST_NS ((uint64_t)NS_PER_S)

const char *postgres_activity_name(const struct postgres_layout *layout, uint32_t code)
{
    static const char *const names[POSTGRES_ACTIVITIES + 1] = {
        [POSTGRES_IDLE] = "idle",
        [POSTGRES_ACTIVE] = "active",
        [POSTGRES_IN_TRANSACTION] = "idle_in_transaction",
        [POSTGRES_IN_TRANSACTION_ABORTED] = "aborted",
        [POSTGRES_ACTIVITIES] = "none",
    };

    return names[postgres_layout_activity(layout, code)];
}

/* -------------------------------------------------------------------------------- Memory -- */

static bool reserve(struct postgres_memory_samples *memory_samples, size_t count)
{
    return ARRAYS_RESERVE(memory_samples->capacity, count, ARRAY(memory_samples->backends),
                          ARRAY(memory_samples->later), ARRAY(memory_samples->samples),
                          ARRAY(memory_samples->names));
}

int postgres_memory_samples_open(struct postgres_source *source, struct camp_error *error)
{
    sampled_times_init(&source->memory_samples.times, LONGEST_NS);
    source->memory_samples.pace =
        (struct postgres_pace){ .wanted_ns = PERIOD_NS, .period_ns = PERIOD_NS };
    return postgres_memory_open(&source->memory_samples.memory, &source->layout, error);
}

void postgres_memory_samples_close(struct postgres_source *source)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;

    postgres_memory_close(memory_samples->memory);
    sampled_times_release(&memory_samples->times);
    free(memory_samples->backends);
    free(memory_samples->later);
    free(memory_samples->samples);
    free(memory_samples->names);
    *memory_samples = (struct postgres_memory_samples){ 0 };
}

/* --------------------------------------------------------------------------- Names of events -- */

static int compare_pids(const void *left, const void *right)
{
    const int32_t a = ((const struct postgres_backend *)left)->pid;
    const int32_t b = ((const struct postgres_backend *)right)->pid;

    return a < b ? -1 : a > b;
}

void postgres_memory_samples_name_events(struct postgres_source *source,
                                         const struct postgres_snapshot *snapshot)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;

    if (memory_samples->memory == NULL || !reserve(memory_samples, snapshot->count))
        return;
    for (size_t i = 0; i < snapshot->count; i++)
        memory_samples->backends[i] = (struct postgres_backend){ .pid = snapshot->sessions[i].pid };
    qsort(memory_samples->backends, snapshot->count, sizeof *memory_samples->backends,
          compare_pids);
    if (postgres_memory_read(memory_samples->memory, memory_samples->backends, snapshot->count,
                             NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_backend wanted = { .pid = snapshot->sessions[i].pid };
        const struct postgres_backend *found = bsearch(
            &wanted, memory_samples->backends, snapshot->count, sizeof wanted, compare_pids);
        const char *const *texts = snapshot->sessions[i].kind.texts;

        if (found != NULL && found->known)
            postgres_events_add(&source->events, found->event, texts[SESSION_CLASS],
                                texts[SESSION_EVENT]);
    }
}

/* ------------------------------------------------------------------------------- Samples -- */

/* A task that slept and has not run since is not read again, at a tenth of the cost. It may wait
 * for a CPU by now, at most once per sleep. */
bool postgres_is_asleep(struct postgres_source *source, int32_t pid, int64_t start_us)
{
    struct postgres_process *process = postgres_registry_find(&source->registry, pid, start_us);
    uint64_t cpu_ns;
    char state;

    if (process == NULL || !process->has_task || camp_pid_cpu_ns(pid, &cpu_ns) != CAMP_OK)
        return false;
    if (process->asleep_cpu_ns == cpu_ns)
        return true;
    process->asleep_cpu_ns = 0;
    if (proc_clock_state(&process->task, &state, NULL) != CAMP_OK || state == 'R')
        return false;
    process->asleep_cpu_ns = cpu_ns;
    return true;
}

/* The sessions of the last snapshot by SQL, ascending by pid. The caller has reserved space. */
static size_t list_backends(struct postgres_source *source)
{
    const struct postgres_registry *registry = &source->registry;
    size_t count = 0;

    for (size_t i = 0; i < registry->count; i++) {
        const struct postgres_process *process = &registry->processes[i];

        if (process->last_snapshot != registry->snapshots)
            continue;
        source->memory_samples.samples[count] = (struct session_sample){
            .id = process->pid, .start = process->start_us, .start_ns = process->start_ns
        };
        source->memory_samples.backends[count++] = (struct postgres_backend){ .pid = process->pid };
    }
    return count;
}

/* Whether it sleeps in a wait that the first reading missed. */
static bool is_missed(const struct postgres_backend *backend, const struct session_sample *sample)
{
    return backend->known && sample->is_asleep && backend->event == 0;
}

/* A session that fell asleep after its event was read, and before its state, has an event by
 * now. */
static void sample_again(struct postgres_source *source, size_t count)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;

    memcpy(memory_samples->later, memory_samples->backends, count * sizeof *memory_samples->later);
    if (postgres_memory_read(memory_samples->memory, memory_samples->later, count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (is_missed(&memory_samples->backends[i], &memory_samples->samples[i]) &&
            memory_samples->later[i].known)
            memory_samples->backends[i] = memory_samples->later[i];
    }
}

static void ask_states(struct postgres_source *source, size_t count)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    bool missed = false;

    for (size_t i = 0; i < count; i++) {
        struct session_sample *sample = &memory_samples->samples[i];

        if (!memory_samples->backends[i].known)
            continue;
        sample->is_asleep = postgres_is_asleep(source, (int32_t)sample->id, sample->start);
        missed |= is_missed(&memory_samples->backends[i], sample);
    }
    if (missed)
        sample_again(source, count);
}

static void name_sample(struct postgres_source *source, const struct postgres_backend *backend,
                        struct session_sample *sample, char *name)
{
    const struct postgres_process *process =
        postgres_registry_find(&source->registry, (int32_t)sample->id, sample->start);

    sample->kind =
        (struct session_kind){ { postgres_event_class(backend->event),
                                 postgres_event_name(&source->events, backend->event, name),
                                 postgres_activity_name(&source->layout, backend->code),
                                 process != NULL ? process->type : "none" } };
}

static void take_memory_sample(struct postgres_source *source)
{
    struct postgres_memory_samples *memory_samples = &source->memory_samples;
    const uint64_t before_ns = source_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    size_t count, seen = 0;
    int r;

    if (!reserve(memory_samples, source->registry.count))
        return; /* a sample without sessions would end all of them */
    count = list_backends(source);
    r = postgres_memory_read(memory_samples->memory, memory_samples->backends, count, NULL);
    if (r != CAMP_OK && r != CAMP_E_GONE)
        return;
    if (r == CAMP_E_GONE) /* no session of a server that is gone lives */
        count = 0;
    ask_states(source, count);
    for (size_t i = 0; i < count; i++) {
        if (!memory_samples->backends[i].known)
            continue;
        memory_samples->samples[seen] = memory_samples->samples[i];
        name_sample(source, &memory_samples->backends[i], &memory_samples->samples[seen],
                    memory_samples->names[i]);
        seen++;
    }
    sampled_times_add(&memory_samples->times, source_clock_ns(CLOCK_MONOTONIC),
                      memory_samples->samples, seen);
    postgres_pace_update(&memory_samples->pace,
                         source_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
}

void postgres_memory_samples_until(struct postgres_source *source, uint64_t until_ns)
{
    struct postgres_pace *pace = &source->memory_samples.pace;

    while (!*source->stop) {
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
    while (source_wait(until_ns, PERIOD_NS, source->stop))
        ;
}

/* The interval ends at its last sample. Otherwise the time after that sample would be
 * unaccounted. */
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
