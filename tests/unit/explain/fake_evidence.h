/* Synthetic frames of ten seconds for the rules of camp explain: two CPUs, and rows of which each
 * test sets some columns. */
#pragma once

#include "explain/judge.h"
#include "ledger/array.h"
#include "sources/causes/cause_fit.h"
#include "sources/causes/open_sleeps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECONDS 10
#define NS 1000000000.0

#define FAKE_STATE(name, class)                                                                    \
    {                                                                                              \
        name, name, "", COLUMN_STATE, CAMP_MEASURED, class                                         \
    }
#define FAKE_COUNTER(name, provenance)                                                             \
    {                                                                                              \
        name, name, "", COLUMN_COUNTER, provenance                                                 \
    }

static const struct column thread_columns[] = {
    FAKE_STATE("user_ns", CLASS_CPU),
    FAKE_STATE("system_ns", CLASS_CPU),
    FAKE_STATE("text_fault_ns", CLASS_IO),
    FAKE_STATE("data_fault_ns", CLASS_IO),
    FAKE_STATE("kernel_fault_ns", CLASS_IO),
    FAKE_STATE("lock_ns", CLASS_CONTENTION),
    FAKE_STATE("disk_ns", CLASS_IO),
    FAKE_STATE("timer_ns", CLASS_IDLE),
    FAKE_STATE("other_sleep_ns", CLASS_IDLE),
    FAKE_STATE("run_queue_ns", CLASS_READY),
    FAKE_STATE("stopped_ns", CLASS_IDLE),
    FAKE_STATE("throttled_ns", CLASS_THROTTLED),
    FAKE_COUNTER("system_calls", CAMP_MEASURED),
    FAKE_COUNTER("voluntary_switches", CAMP_MEASURED),
    FAKE_COUNTER("involuntary_switches", CAMP_MEASURED),
    FAKE_COUNTER("minor_faults", CAMP_MEASURED),
    FAKE_COUNTER("major_faults", CAMP_MEASURED),
    FAKE_COUNTER("cpu_ns", CAMP_MEASURED),
    FAKE_COUNTER("sampled_ns", CAMP_SAMPLED),
};
static const struct schema fake_threads = { "threads", thread_columns, ARRAY_COUNT(thread_columns),
                                            12 };

static const struct column cpu_columns[] = {
    FAKE_STATE("user_ns", CLASS_CPU),        FAKE_STATE("irq_ns", CLASS_CPU),
    FAKE_STATE("softirq_ns", CLASS_CPU),     FAKE_STATE("iowait_ns", CLASS_IO),
    FAKE_STATE("idle_ns", CLASS_IDLE),       FAKE_COUNTER("kernel_wait_ns", CAMP_SAMPLED),
    FAKE_COUNTER("steal_ns", CAMP_MEASURED),
};
static const struct schema fake_cpus = { "cpus", cpu_columns, ARRAY_COUNT(cpu_columns), 5 };

static const struct column session_columns[] = {
    FAKE_STATE("cpu_ns", CLASS_CPU),
    FAKE_STATE("run_queue_ns", CLASS_READY),
    FAKE_STATE("contention_ns", CLASS_CONTENTION),
    FAKE_STATE("wait_ns", CLASS_OTHER_WAIT),
    FAKE_STATE("idle_ns", CLASS_IDLE),
    FAKE_COUNTER("contention_row_lock_ns", CAMP_SAMPLED),
    FAKE_COUNTER("wait_file_read_ns", CAMP_SAMPLED),
    FAKE_COUNTER("wait_client_of_statement_ns", CAMP_SAMPLED),
    FAKE_COUNTER("idle_in_transaction_ns", CAMP_SAMPLED),
    FAKE_COUNTER("reported_cpu_ns", CAMP_SAMPLED),
    FAKE_COUNTER("reported_idle_ns", CAMP_SAMPLED),
};
static const struct schema fake_sessions = { "postgres", session_columns,
                                             ARRAY_COUNT(session_columns), 5 };

struct fake {
    struct frame rows, cpus;
    struct causes *causes; /* NULL without fake_add_group() */
    struct evidence evidence;
};

static inline void fake_start(struct fake *fake, const struct schema *schema)
{
    *fake = (struct fake){ 0 };
    frame_init(&fake->rows, schema);
    frame_init(&fake->cpus, &fake_cpus);
    fake->rows.end_ns = fake->cpus.end_ns = (uint64_t)(SECONDS * NS);
    evidence_start(&fake->evidence, schema, schema == &fake_threads);
}

/* Adds a row of `pid`. Its last idle state has all of its time. */
static inline struct entity *fake_row(struct fake *fake, struct frame *frame, int64_t id,
                                      int32_t pid, const char *name)
{
    struct entity *entity = frame_add(frame);
    const char *idle = frame->schema == &fake_threads ? "other_sleep_ns" : "idle_ns";

    (void)fake;
    assert_non_null(entity);
    entity->id = id;
    entity->pid = pid;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    frame->elapsed_ns[frame->entity_count - 1] = (uint64_t)(SECONDS * NS);
    frame_values(frame, frame->entity_count - 1)[column_find(frame->schema, idle)] =
        (uint64_t)(SECONDS * NS);
    return entity;
}

/* Sets a column of the newest row: seconds a second for times, or events a second. A state takes
 * its time from the idle state. */
static inline void fake_set(struct frame *frame, const char *name, double rate)
{
    const size_t at = column_find(frame->schema, name), length = strlen(name);
    const char *idle = frame->schema == &fake_threads ? "other_sleep_ns" : "idle_ns";
    uint64_t *values = frame_values(frame, frame->entity_count - 1);
    const bool is_time = strcmp(name + length - 3, "_ns") == 0;
    const double value = rate * SECONDS * (is_time ? NS : 1) + 0.5;

    assert_true(at != SIZE_MAX);
    values[at] = (uint64_t)value;
    if (frame->schema->columns[at].kind == COLUMN_STATE)
        values[column_find(frame->schema, idle)] -= (uint64_t)value;
}

/* Adds two CPUs that are busy for these shares of their time. */
static inline void fake_add_cpus(struct fake *fake, double first, double second)
{
    fake_row(fake, &fake->cpus, CAMP_CPU_TOTAL, 0, "all");
    fake_row(fake, &fake->cpus, 0, 0, "0");
    fake_set(&fake->cpus, "user_ns", first);
    fake_row(fake, &fake->cpus, 1, 0, "1");
    fake_set(&fake->cpus, "user_ns", second);
}

/* Adds a group of threads to the causes of waits. Returns its number. */
static inline uint32_t fake_add_group(struct fake *fake, uint32_t kind, int32_t pid,
                                      const char *name)
{
    struct camp_states_group *group;

    if (fake->causes == NULL)
        fake->causes = calloc(1, sizeof *fake->causes);
    assert_non_null(fake->causes);
    fake->causes->is_recorded = fake->causes->has_open_facts = true;
    group = &fake->causes->groups[fake->causes->group_count];
    *group = (struct camp_states_group){ .number = (uint32_t)fake->causes->group_count++,
                                         .kind = kind,
                                         .pid = pid };
    snprintf(group->name, sizeof group->name, "%s", name);
    return group->number;
}

/* Sets the time of a group in a state without causes: seconds a second. */
static inline void fake_run(struct fake *fake, uint32_t group, double rate)
{
    fake->causes->state_ns[group][CAMP_STATE_USER] = (uint64_t)(rate * SECONDS * NS + 0.5);
}

/* Adds a wait of a group with its cause: seconds a second. */
static inline void fake_wait(struct fake *fake, uint32_t group, uint32_t state, uint32_t kind,
                             uint32_t id, double rate)
{
    const struct cause row = { group, state, kind, id, (uint64_t)(rate * SECONDS * NS + 0.5) };

    assert_true(cause_add(&fake->causes->rows, &row));
    fake->causes->state_ns[group][state] += row.wait_ns;
}

/* Adds a thread that waits in a call for a lock at the end: seconds a second in that state. */
static inline void fake_open(struct fake *fake, uint32_t group, int32_t pid, const char *call,
                             const char *object, double rate)
{
    static size_t capacity; /* of the arrays of the newest fake */
    const struct camp_call_sleeps sleeps = {
        .pid = pid, .state = CAMP_STATE_LOCK, .sleep_ns = 1, .count = 1
    };
    struct open_fact fact = { .group = group, .state_ns = (uint64_t)(rate * SECONDS * NS + 0.5) };

    snprintf(fact.names.call, sizeof fact.names.call, "%s", call);
    snprintf(fact.names.object, sizeof fact.names.object, "%s", object);
    snprintf(fact.other_end, sizeof fact.other_end, "held by batch (4711)");
    snprintf(fact.who, sizeof fact.who, "waiter (%d)", pid);
    capacity = fake->causes->open_calls.count == 0 ? 0 : capacity;
    assert_true(open_call_add(fake->causes, &capacity, &sleeps, &fact));
}

/* Adds the interval to the evidence, and finishes it. */
static inline void fake_finish(struct fake *fake)
{
    const bool has_cpus = fake->cpus.entity_count > 0;

    assert_int_equal(evidence_add(&fake->evidence, &fake->rows, has_cpus ? &fake->cpus : NULL),
                     CAMP_OK);
    assert_int_equal(evidence_finish(&fake->evidence, 0), CAMP_OK);
    fake->evidence.causes = fake->causes;
}

static inline void fake_end(struct fake *fake)
{
    evidence_release(&fake->evidence);
    frame_release(&fake->rows);
    frame_release(&fake->cpus);
    if (fake->causes != NULL) {
        free(fake->causes->rows.items);
        free(fake->causes->open_calls.items);
        free(fake->causes->open_facts);
    }
    free(fake->causes);
}
