/* Scripted servers for the tests of several servers at once. The text of --from is the name of a
 * script. A session of a script runs for half of its time, and is idle for the rest. */
#pragma once

#include "counters/clock.h"
#include "counters/error.h"
#include "sources/servers/servers.h"
#include "sources/session_facts.h"

#include "../tree.h"

#include <stdatomic.h>

#define SCRIPTS_MOST 16
#define SESSIONS_MOST 4
#define LOG_MOST 8192
#define SLICE_NS (2 * (uint64_t)NS_PER_MS)

struct script {
    const char *name;
    const struct schema *schema;
    size_t sessions;
    int32_t pids[SESSIONS_MOST]; /* also the ids of the sessions */
    const char *users[SESSIONS_MOST];
    atomic_bool is_stuck;      /* next() does not return, whatever its deadline */
    atomic_bool is_silent;     /* the server does not answer, and there are no rows */
    atomic_int opening;        /* the result of opening */
    atomic_int reading;        /* the result of next() */
    atomic_int opened, closed; /* how often */
    atomic_bool by_statement;  /* of the source that was opened last */
    bool is_local;
    atomic_size_t intervals;               /* number of intervals that next() returned */
    atomic_uint_fast64_t log_ns[LOG_MOST]; /* [intervals] their lengths */
};

static struct script scripts[SCRIPTS_MOST];

struct scripted {
    struct source source;
    struct script *script;
    struct frame frame;
    struct session_facts facts;
    const volatile sig_atomic_t *stop;
};

static const char *const scripted_labels[] = { "user", "number" };
static const struct column scripted_columns[] = {
    { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "idle_in_transaction_ns", "in transaction", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE,
      NULL },
    { "reported_cpu_ns", "reported", "", COLUMN_COUNTER, CAMP_SAMPLED, CLASS_NONE, NULL },
};
static const struct schema scripted_schema = {
    "postgres", scripted_columns, COUNT(scripted_columns), 2, scripted_labels, 2
};

static const struct schema *scripted_describe(const struct source *source)
{
    return ((const struct scripted *)source)->script->schema;
}

/* The label "number" has the number of the interval. */
static void scripted_add(struct scripted *scripted, size_t session)
{
    const struct script *script = scripted->script;
    struct frame *frame = &scripted->frame;
    const uint64_t elapsed_ns = frame->end_ns - frame->start_ns;
    struct entity *entity = frame_add(frame);
    char number[32];
    const char *values[] = { script->users[session], number };
    const size_t at = frame->entity_count - 1;

    snprintf(number, sizeof number, "%zu", atomic_load(&scripted->script->intervals));
    entity->id = entity->pid = script->pids[session];
    entity->labels = labels_intern(values, COUNT(values));
    frame->elapsed_ns[at] = elapsed_ns;
    frame_values(frame, at)[0] = elapsed_ns / 2;
    frame_values(frame, at)[1] = elapsed_ns - elapsed_ns / 2;
    for (size_t i = 2; i < frame->schema->column_count; i++)
        frame_values(frame, at)[i] = i;
}

static int scripted_next(struct source *source, uint64_t deadline_ns,
                         const struct frame **ret_frame, struct camp_error *error)
{
    struct scripted *scripted = (struct scripted *)source;
    struct script *script = scripted->script;
    struct frame *frame = &scripted->frame;
    const uint64_t start_ns = frame->end_ns;

    while (!source_is_over() && source_wait(deadline_ns, SLICE_NS, scripted->stop))
        ;
    while (atomic_load(&script->is_stuck) && !*scripted->stop)
        source_wait(UINT64_MAX, SLICE_NS, scripted->stop);
    if (atomic_load(&script->reading) != CAMP_OK)
        return camp_fail(error, atomic_load(&script->reading), 0, "the script fails");
    labels_start_interval();
    frame_clear(frame);
    frame->start_ns = start_ns;
    frame->end_ns = now_ns(CLOCK_MONOTONIC);
    frame->losses = (struct losses){ 0 };
    scripted->facts.is_answered = !atomic_load(&script->is_silent);
    frame->note = scripted->facts.is_answered ? NULL : "the script is silent";
    for (size_t i = 0; scripted->facts.is_answered && i < script->sessions; i++)
        scripted_add(scripted, i);
    if (atomic_load(&script->intervals) < LOG_MOST)
        atomic_store(&script->log_ns[atomic_load(&script->intervals)],
                     frame->end_ns - frame->start_ns);
    atomic_fetch_add(&script->intervals, 1);
    *ret_frame = frame;
    return CAMP_OK;
}

static void scripted_close(struct source *source)
{
    struct scripted *scripted = (struct scripted *)source;

    atomic_fetch_add(&scripted->script->closed, 1);
    frame_release(&scripted->frame);
    free(scripted);
}

static void scripted_set_division(struct source *source, const char *label)
{
    atomic_store(&((struct scripted *)source)->script->by_statement,
                 label != NULL && strcmp(label, SOURCE_LABEL_STATEMENT) == 0);
}

static const struct session_facts *scripted_facts(const struct source *source)
{
    return &((const struct scripted *)source)->facts;
}

static int scripted_open(const struct from *from, struct source **ret, struct from_facts *facts,
                         struct camp_error *error)
{
    struct script *script = scripts;
    struct scripted *scripted;
    const uint64_t until_ns = UINT64_MAX;

    while (strcmp(script->name, from->text) != 0)
        script++;
    while (atomic_load(&script->is_stuck) && source_wait(until_ns, SLICE_NS, from->stop))
        ;
    if (atomic_load(&script->is_stuck))
        return camp_fail(error, CAMP_E_GONE, 0, "interrupted");
    if (atomic_load(&script->opening) != CAMP_OK)
        return camp_fail(error, atomic_load(&script->opening), 0, "%s refuses", script->name);
    scripted = calloc(1, sizeof *scripted);
    scripted->source = (struct source){ .describe = scripted_describe,
                                        .next = scripted_next,
                                        .close = scripted_close,
                                        .set_division = scripted_set_division,
                                        .session_facts = scripted_facts };
    atomic_store(&script->by_statement, false);
    scripted->script = script;
    scripted->stop = from->stop;
    frame_init(&scripted->frame, script->schema);
    scripted->frame.end_ns = now_ns(CLOCK_MONOTONIC);
    atomic_fetch_add(&script->opened, 1);
    *facts = (struct from_facts){ .tier = "bpf", .live = true };
    facts->server_cpus = script->is_local ? 2 : 0;
    *ret = &scripted->source;
    return CAMP_OK;
}
