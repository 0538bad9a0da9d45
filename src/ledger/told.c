#include "told.h"

#include <math.h>
#include <string.h>

#define TOLD_PREFIX "told_"
#define SAMPLED "sampled_asleep_ns"

/* "contention_ns", in detail "contention_row_lock_ns"; SESSION_STATE_COUNT: it is none of them. */
static int state_of(const char *column)
{
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        const size_t length = strlen(session_state_names[i]);

        if (strncmp(column, session_state_names[i], length) == 0 && column[length] == '_')
            return i;
    }
    return SESSION_STATE_COUNT;
}

static size_t column_told(const struct schema *schema, int state)
{
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        const char *name = schema->columns[i].name;

        if (strncmp(name, TOLD_PREFIX, strlen(TOLD_PREFIX)) == 0 &&
            state_of(name + strlen(TOLD_PREFIX)) == state)
            return i;
    }
    return TOLD_NOWHERE;
}

static size_t column_sampled(const struct schema *schema)
{
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, SAMPLED) == 0)
            return i;
    }
    return TOLD_NOWHERE;
}

bool told_columns_find(struct told_columns *ret, const struct schema *schema)
{
    bool is_told = false;

    if (schema->state_count == 0 || schema->state_count > TOLD_STATES_MOST)
        return false;
    *ret = (struct told_columns){ .state_count = schema->state_count,
                                  .sampled = column_sampled(schema) };
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        ret->told[i] = column_told(schema, i);
        is_told |= ret->told[i] != TOLD_NOWHERE;
    }
    for (size_t i = 0; i < schema->state_count; i++) {
        const int state = state_of(schema->columns[i].name);

        if (state == SESSION_STATE_COUNT)
            return false;
        ret->state_of[i] = (uint8_t)state;
    }
    return is_told;
}

static void add_error(struct told_sum *sum, double measured_ns, double told_ns, double elapsed_ns)
{
    const double ms_per_s = (told_ns - measured_ns) / elapsed_ns * 1000;

    sum->measured_ns += measured_ns;
    sum->told_ns += told_ns;
    sum->squares += ms_per_s * ms_per_s * elapsed_ns / 1e9;
}

static void add_session(struct told *told, const struct told_columns *columns,
                        const uint64_t *values, double elapsed_ns)
{
    double measured[TOLD_COUNT] = { 0 }, said[TOLD_COUNT] = { 0 };

    measured[TOLD_UNACCOUNTED] = said[TOLD_UNACCOUNTED] = elapsed_ns;
    for (size_t i = 0; i < columns->state_count; i++) {
        measured[columns->state_of[i]] += (double)values[i];
        measured[TOLD_UNACCOUNTED] -= (double)values[i];
    }
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        said[i] = columns->told[i] != TOLD_NOWHERE ? (double)values[columns->told[i]] : 0;
        said[TOLD_UNACCOUNTED] -= said[i];
    }
    for (size_t i = 0; i < TOLD_COUNT; i++)
        add_error(&told->sums[i], measured[i], said[i], elapsed_ns);
    told->session_s += elapsed_ns / 1e9;
    if (columns->sampled != TOLD_NOWHERE)
        told->sampled_ns += (double)values[columns->sampled];
}

void told_add(struct told *told, const struct told_columns *columns, const struct frame *frame)
{
    uint64_t sessions = 0;

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->elapsed_ns[i] == 0)
            continue;
        sessions += frame->entities[i].count;
        add_session(told, columns, frame_values(frame, i), (double)frame->elapsed_ns[i]);
    }
    if (sessions > told->sessions)
        told->sessions = sessions;
}

double told_rms(const struct told *told, size_t state)
{
    return told->session_s > 0 ? sqrt(told->sums[state].squares / told->session_s) : NAN;
}
