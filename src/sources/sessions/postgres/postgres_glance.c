/*
 * Glances at the memory of a PostgreSQL server: names of events learned by what SQL says of the
 * same backends, and samples that cost less than those by SQL. As the sampler does, they hold
 * themselves to a share of one CPU.
 */
#include "ledger/array.h"
#include "postgres_inside.h"

#include "counters/error.h"
#include "counters/units.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_NS (10 * (uint64_t)NS_PER_MS)
#define LONGEST_NS ((uint64_t)NS_PER_S)
#define SMOOTHING 8

const char *postgres_activity_name(const struct postgres_place *place, uint32_t code)
{
    static const char *const names[POSTGRES_ACTIVITIES + 1] = {
        [POSTGRES_IDLE] = "idle",
        [POSTGRES_ACTIVE] = "active",
        [POSTGRES_IN_TRANSACTION] = "idle_in_transaction",
        [POSTGRES_IN_TRANSACTION_ABORTED] = "aborted",
        [POSTGRES_ACTIVITIES] = "none",
    };

    return names[postgres_place_activity(place, code)];
}

/* -------------------------------------------------------------------------------- Memory -- */

static bool reserve(struct postgres_glances *glances, size_t count)
{
    return ARRAYS_RESERVE(glances->capacity, count, ARRAY(glances->backends), ARRAY(glances->later),
                          ARRAY(glances->sights), ARRAY(glances->names));
}

int postgres_glance_open(struct postgres_source *source, struct camp_error *error)
{
    sampled_times_init(&source->glances.times, LONGEST_NS);
    source->glances.period_ns = PERIOD_NS;
    return postgres_memory_open(&source->glances.memory, &source->place, error);
}

void postgres_glance_close(struct postgres_source *source)
{
    struct postgres_glances *glances = &source->glances;

    postgres_memory_close(glances->memory);
    sampled_times_release(&glances->times);
    free(glances->backends);
    free(glances->later);
    free(glances->sights);
    free(glances->names);
    *glances = (struct postgres_glances){ 0 };
}

/* ------------------------------------------------------------------------------ Learning -- */

static int compare_pids(const void *left, const void *right)
{
    const int32_t a = ((const struct postgres_backend *)left)->pid;
    const int32_t b = ((const struct postgres_backend *)right)->pid;

    return a < b ? -1 : a > b;
}

void postgres_glance_learn(struct postgres_source *source, const struct postgres_look *look)
{
    struct postgres_glances *glances = &source->glances;

    if (glances->memory == NULL || !reserve(glances, look->count))
        return;
    for (size_t i = 0; i < look->count; i++)
        glances->backends[i] = (struct postgres_backend){ .pid = look->sessions[i].pid };
    qsort(glances->backends, look->count, sizeof *glances->backends, compare_pids);
    if (postgres_memory_read(glances->memory, glances->backends, look->count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < look->count; i++) {
        const struct postgres_backend wanted = { .pid = look->sessions[i].pid };
        const struct postgres_backend *found =
            bsearch(&wanted, glances->backends, look->count, sizeof wanted, compare_pids);
        const char *const *texts = look->sessions[i].kind.texts;

        if (found != NULL && found->known)
            postgres_events_learn(&source->events, found->event, texts[SESSION_CLASS],
                                  texts[SESSION_EVENT]);
    }
}

/* ------------------------------------------------------------------------------- Samples -- */

/* Who was asleep and has not run since is not asked again: a tenth of the cost. It may have been
 * woken meanwhile and wait for a CPU, once in such a sleep. */
bool postgres_is_asleep(void *context, int32_t pid, int64_t start_us)
{
    const struct postgres_source *source = context;
    struct postgres_who *who = postgres_roll_find(&source->roll, pid, start_us);
    uint64_t cpu_ns;
    char state;

    if (who == NULL || !who->has_task || camp_pid_cpu_ns(pid, &cpu_ns) != CAMP_OK)
        return false;
    if (who->asleep_cpu_ns == cpu_ns)
        return true;
    who->asleep_cpu_ns = 0;
    if (proc_clock_state(&who->task, &state, NULL) != CAMP_OK || state == 'R')
        return false;
    who->asleep_cpu_ns = cpu_ns;
    return true;
}

/* Those that the last look by SQL saw, ascending by pid; `glances` has room for them. */
static size_t list_backends(struct postgres_source *source)
{
    const struct postgres_roll *roll = &source->roll;
    size_t count = 0;

    for (size_t i = 0; i < roll->count; i++) {
        const struct postgres_who *who = &roll->of[i];

        if (who->seen != roll->looks)
            continue;
        source->glances.sights[count] = (struct sampled_sight){ .id = who->pid,
                                                                .start = who->start_us,
                                                                .began_ns = who->began_ns };
        source->glances.backends[count++] = (struct postgres_backend){ .pid = who->pid };
    }
    return count;
}

/* Whether it sleeps in what was not known yet. */
static bool is_missed(const struct postgres_backend *backend, const struct sampled_sight *sight)
{
    return backend->known && sight->is_asleep && backend->event == 0;
}

/* Who fell asleep after its event was read, and before its state, has one by now. */
static void look_again(struct postgres_source *source, size_t count)
{
    struct postgres_glances *glances = &source->glances;

    memcpy(glances->later, glances->backends, count * sizeof *glances->later);
    if (postgres_memory_read(glances->memory, glances->later, count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (is_missed(&glances->backends[i], &glances->sights[i]) && glances->later[i].known)
            glances->backends[i] = glances->later[i];
    }
}

static void ask_states(struct postgres_source *source, size_t count)
{
    struct postgres_glances *glances = &source->glances;
    bool missed = false;

    for (size_t i = 0; i < count; i++) {
        struct sampled_sight *sight = &glances->sights[i];

        if (!glances->backends[i].known)
            continue;
        sight->is_asleep = postgres_is_asleep(source, (int32_t)sight->id, sight->start);
        missed |= is_missed(&glances->backends[i], sight);
    }
    if (missed)
        look_again(source, count);
}

static void see(struct postgres_source *source, const struct postgres_backend *backend,
                struct sampled_sight *sight, char *name)
{
    const struct postgres_who *who =
        postgres_roll_find(&source->roll, (int32_t)sight->id, sight->start);

    sight->kind =
        (struct session_kind){ { postgres_event_class(backend->event),
                                 postgres_event_name(&source->events, backend->event, name),
                                 postgres_activity_name(&source->place, backend->code),
                                 who != NULL ? who->type : "none" } };
}

static void take_cost(struct postgres_glances *glances, uint64_t ns)
{
    if (glances->cost_ns == 0)
        glances->cost_ns = ns;
    else
        glances->cost_ns = glances->cost_ns - glances->cost_ns / SMOOTHING + ns / SMOOTHING;
    glances->period_ns = postgres_sampler_period_ns(PERIOD_NS, glances->cost_ns);
}

static void glance(struct postgres_source *source)
{
    struct postgres_glances *glances = &source->glances;
    const uint64_t before_ns = source_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    size_t count, seen = 0;
    int r;

    if (!reserve(glances, source->roll.count))
        return; /* it sees nobody, and nobody has ended */
    count = list_backends(source);
    r = postgres_memory_read(glances->memory, glances->backends, count, NULL);
    if (r != CAMP_OK && r != CAMP_E_GONE)
        return;
    if (r == CAMP_E_GONE) /* of a server that is gone none lives */
        count = 0;
    ask_states(source, count);
    for (size_t i = 0; i < count; i++) {
        if (!glances->backends[i].known)
            continue;
        glances->sights[seen] = glances->sights[i];
        see(source, &glances->backends[i], &glances->sights[seen], glances->names[i]);
        seen++;
    }
    sampled_times_look(&glances->times, source_clock_ns(CLOCK_MONOTONIC), glances->sights, seen);
    take_cost(glances, source_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
}

void postgres_glance_until(struct postgres_source *source, uint64_t until_ns)
{
    struct postgres_glances *glances = &source->glances;

    while (!*source->stop) {
        const uint64_t now = source_clock_ns(CLOCK_MONOTONIC);

        if (glances->next_ns < now)
            glances->next_ns = now;
        if (glances->next_ns >= until_ns)
            break;
        while (source_wait(glances->next_ns, PERIOD_NS, source->stop))
            ;
        glance(source);
        glances->next_ns += glances->period_ns;
    }
    while (source_wait(until_ns, PERIOD_NS, source->stop))
        ;
}

/* The interval ends at its last sample. Otherwise the time after that sample would be unaccounted.
 */
uint64_t postgres_glance_end(struct postgres_source *source)
{
    struct sampled_times *times = &source->glances.times;
    const uint64_t before = times->look;
    uint64_t end_ns;

    glance(source);
    end_ns = times->look != before ? times->look_ns : source_clock_ns(CLOCK_MONOTONIC);
    sampled_times_end(times, end_ns);
    return end_ns;
}
