#include "reported_error.h"

#include <math.h>
#include <string.h>

#define REPORTED_PREFIX "reported_"
#define SAMPLED "sampled_asleep_ns"

/* Returns the session state that a column name begins with, as in "contention_ns" or
 * "contention_row_lock_ns". Throttled time counts as run queue: of both the database knows nothing.
 * Returns SESSION_STATE_COUNT if the name begins with no state. */
static int state_of(const char *column)
{
    if (strcmp(column, COLUMN_THROTTLED) == 0)
        return SESSION_RUN_QUEUE;
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        const size_t length = strlen(session_state_names[i]);

        if (strncmp(column, session_state_names[i], length) == 0 && column[length] == '_')
            return i;
    }
    return SESSION_STATE_COUNT;
}

static size_t reported_column(const struct schema *schema, int state)
{
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        const char *name = schema->columns[i].name;

        if (strncmp(name, REPORTED_PREFIX, strlen(REPORTED_PREFIX)) == 0 &&
            state_of(name + strlen(REPORTED_PREFIX)) == state)
            return i;
    }
    return NOT_REPORTED;
}

bool reported_columns_find(struct reported_columns *ret, const struct schema *schema)
{
    bool is_reported = false;

    if (schema->state_count == 0 || schema->state_count > REPORTED_MAX_STATES)
        return false;
    *ret = (struct reported_columns){ .state_count = schema->state_count,
                                      .sampled = schema_find_counter(schema, SAMPLED) };
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        ret->reported[i] = reported_column(schema, i);
        is_reported |= ret->reported[i] != NOT_REPORTED;
    }
    for (size_t i = 0; i < schema->state_count; i++) {
        const int state = state_of(schema->columns[i].name);

        if (state == SESSION_STATE_COUNT)
            return false;
        ret->state_of[i] = (uint8_t)state;
    }
    return is_reported;
}

static void add_error(struct reported_sum *sum, double measured_ns, double reported_ns,
                      double elapsed_ns)
{
    const double ms_per_s = (reported_ns - measured_ns) / elapsed_ns * 1000;

    sum->measured_ns += measured_ns;
    sum->reported_ns += reported_ns;
    sum->squares += ms_per_s * ms_per_s * elapsed_ns / 1e9;
}

static void add_session(struct reported_error *error, const struct reported_columns *columns,
                        const uint64_t *values, double elapsed_ns)
{
    double measured[REPORTED_COUNT] = { 0 }, reported[REPORTED_COUNT] = { 0 };

    measured[REPORTED_UNACCOUNTED] = reported[REPORTED_UNACCOUNTED] = elapsed_ns;
    for (size_t i = 0; i < columns->state_count; i++) {
        measured[columns->state_of[i]] += (double)values[i];
        measured[REPORTED_UNACCOUNTED] -= (double)values[i];
    }
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        reported[i] =
            columns->reported[i] != NOT_REPORTED ? (double)values[columns->reported[i]] : 0;
        reported[REPORTED_UNACCOUNTED] -= reported[i];
    }
    for (size_t i = 0; i < REPORTED_COUNT; i++)
        add_error(&error->sums[i], measured[i], reported[i], elapsed_ns);
    error->session_s += elapsed_ns / 1e9;
    if (columns->sampled != NOT_REPORTED)
        error->sampled_ns += (double)values[columns->sampled];
}

void reported_error_add(struct reported_error *error, const struct reported_columns *columns,
                        const struct frame *frame)
{
    uint64_t sessions = 0;

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->elapsed_ns[i] == 0)
            continue;
        sessions += frame->entities[i].count;
        add_session(error, columns, frame_values(frame, i), (double)frame->elapsed_ns[i]);
    }
    if (sessions > error->sessions)
        error->sessions = sessions;
}

double reported_error_rms(const struct reported_error *error, size_t state)
{
    return error->session_s > 0 ? sqrt(error->sums[state].squares / error->session_s) : NAN;
}
