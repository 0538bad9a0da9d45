/*
 * Rules about sessions of a database. Columns such as contention_row_lock_ns are parts of a state,
 * or states themselves (--detail).
 */
#include "judge.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct measure of_sessions(const struct evidence *evidence, const char *columns)
{
    return measure_columns(&evidence->rows.frame, evidence_seconds(evidence), columns);
}

/* Names the part of a state that has the most in ret->other: "row lock". */
static void name_part(struct finding *ret, const struct evidence *evidence, const char *columns)
{
    const struct measure parts = of_sessions(evidence, columns);
    const size_t at = measure_most_column(&parts);

    if (at != SIZE_MAX)
        snprintf(ret->other, sizeof ret->other, ", most of it for: %s",
                 parts.frame->schema->columns[at].title);
}

/* Writes an activity, such as "idle_in_transaction", as it stands in a sentence. */
static void write_activity(char *ret, size_t size, const char *activity)
{
    if (activity[0] != '\0')
        snprintf(ret, size, ", %s", activity);
    for (char *at = ret; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
}

static void find_parts(const struct evidence *evidence, struct finding *ret, const char *columns)
{
    const struct measure measure = of_sessions(evidence, columns);

    finding_sum(ret, evidence, &measure);
    for (size_t i = 0; i < measure.frame->entity_count; i++)
        ret->count += measure_row(&measure, i) > 0;
}

/* Returns the row of a session, or SIZE_MAX. */
static size_t row_of_session(const struct frame *frame, int64_t id)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id == id && (frame->entities[i].flags & ENTITY_PART) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Finds the session that blocked others for longest. Where sessions wait for each other it is the
 * one for which all of a chain waited, and not the first one in its queue, which only waits itself.
 * Returns its row, or SIZE_MAX if it has none, and sets *ret_s to how long the others waited, in
 * seconds a second; 0 if there is no blocker. */
static size_t find_blocker(const struct evidence *evidence, const struct measure *blocking,
                           double *ret_s)
{
    const struct evidence_root *most = NULL;
    size_t row;

    for (size_t i = 0; i < evidence->root_count; i++) {
        if (most == NULL || evidence->roots[i].blocking_ns > most->blocking_ns)
            most = &evidence->roots[i];
    }
    if (most != NULL) {
        *ret_s = (double)most->blocking_ns / NS_PER_S / evidence_seconds(evidence);
        return row_of_session(blocking->frame, most->id);
    }
    row = measure_most(blocking);
    *ret_s = row != SIZE_MAX ? measure_row(blocking, row) : 0;
    return row;
}

/* Names the session that blocked others for longest, added up over these, and what it does, in
 * ret->clause: "; app@db (pid 7) blocked others for 1.20 s a second, idle in transaction". */
static void name_blocker(struct finding *ret, const struct evidence *evidence)
{
    const struct measure blocking = of_sessions(evidence, "blocking_ns");
    const struct frame *frame = blocking.frame;
    const size_t activity = schema_find_label(frame->schema, "blocking_activity");
    struct finding blocker = { .who = "a prepared transaction, or one of no session," };
    char rate[FIGURE_SIZE];
    double blocking_s;
    size_t most;
    int length;

    ret->has_blockers = blocking.count > 0;
    most = find_blocker(evidence, &blocking, &blocking_s);
    if (blocking_s <= 0)
        return;
    finding_name(&blocker, evidence, frame, most);
    figure_text(rate, blocking_s, FIGURE_TIME);
    length = snprintf(ret->clause, sizeof ret->clause, "; %s blocked others for %s a second",
                      blocker.who, rate);
    if (most != SIZE_MAX && activity != SIZE_MAX && length > 0 &&
        (size_t)length < sizeof ret->clause)
        write_activity(ret->clause + length, sizeof ret->clause - (size_t)length,
                       labels_value(frame->entities[most].labels, activity));
}

void find_session_locks(const struct evidence *evidence, struct finding *ret)
{
    const bool has_state = column_find(evidence->rows.frame.schema, "contention_ns") != SIZE_MAX;

    find_parts(evidence, ret, has_state ? "contention_ns" : "contention_*");
    name_part(ret, evidence, "contention_*");
    name_blocker(ret, evidence);
}

void find_idle_in_transaction(const struct evidence *evidence, struct finding *ret)
{
    find_parts(evidence, ret, "idle_in_transaction_ns");
}

void find_slow_client(const struct evidence *evidence, struct finding *ret)
{
    find_parts(evidence, ret, "wait_client_of_statement_ns");
}

void find_session_disk(const struct evidence *evidence, struct finding *ret)
{
    find_parts(evidence, ret, SESSION_DISK_COLUMNS);
    name_part(ret, evidence, SESSION_DISK_COLUMNS);
}

void find_session_queue(const struct evidence *evidence, struct finding *ret)
{
    find_parts(evidence, ret, "run_queue_ns");
}

void find_session_cpu(const struct evidence *evidence, struct finding *ret)
{
    const struct measure cpu = of_sessions(evidence, "cpu_ns");
    const size_t most = measure_most(&cpu);

    finding_name(ret, evidence, cpu.frame, most);
    ret->provenance = measure_provenance(&cpu);
    if (most != SIZE_MAX)
        ret->value = ret->lost_s = measure_row(&cpu, most);
}

/* Time that the database reports in another state than that in which it was measured: half of the
 * differences of all states, because a moved second is missing in one state and too much in
 * another. */
void find_wrong_report(const struct evidence *evidence, struct finding *ret)
{
    static const char *const states[][2] = {
        { "cpu_ns", "reported_cpu_ns" },
        { "run_queue_ns", "reported_run_queue_ns" },
        { "contention_ns", "reported_contention_ns" },
        { "wait_ns", "reported_wait_ns" },
        { "idle_ns", "reported_idle_ns" },
    };
    const struct frame *rows = &evidence->rows.frame;
    struct measure measured[ARRAY_COUNT(states)], reported[ARRAY_COUNT(states)];
    double most = 0;

    for (size_t i = 0; i < ARRAY_COUNT(states); i++) {
        measured[i] = of_sessions(evidence, states[i][0]);
        reported[i] = of_sessions(evidence, states[i][1]);
    }
    for (size_t row = 0; row < rows->entity_count; row++) {
        double moved = 0;

        for (size_t i = 0; i < ARRAY_COUNT(states); i++)
            moved += fabs(measure_row(&measured[i], row) - measure_row(&reported[i], row)) / 2;
        ret->lost_s += moved;
        if (moved > most) {
            most = moved;
            finding_name(ret, evidence, rows, row);
        }
    }
    ret->value = ret->lost_s;
    ret->provenance = CAMP_SAMPLED;
}
