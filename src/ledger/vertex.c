#include "vertex.h"

#include <math.h>
#include <string.h>

/* What a state means to whoever is in it: the vertices of 4. */
enum class { VERTEX_CPU, VERTEX_IDLE, VERTEX_IO, VERTEX_CONTENTION };

static const char *const names_of_3[] = { "CPU", "idle", "waiting" };
static const char *const names_of_4[] = { "CPU", "idle", "I/O", "contention" };

static const struct {
    const char *column;
    enum class class;
} usual[] = {
    /* threads: enum camp_state */
    { "user_ns", VERTEX_CPU },
    { "system_ns", VERTEX_CPU },
    { "irq_ns", VERTEX_CPU },
    { "text_fault_ns", VERTEX_IO },
    { "data_fault_ns", VERTEX_IO },
    { "kernel_fault_ns", VERTEX_IO },
    { "lock_ns", VERTEX_CONTENTION },
    { "disk_ns", VERTEX_IO },
    { "poll_ns", VERTEX_IDLE },
    { "socket_ns", VERTEX_IDLE },
    { "pipe_ns", VERTEX_IDLE },
    { "timer_ns", VERTEX_IDLE },
    { "child_ns", VERTEX_IDLE },
    { "other_sleep_ns", VERTEX_IDLE },
    { "run_queue_ns", VERTEX_CONTENTION },
    { "stopped_ns", VERTEX_IDLE },
    { "off_cpu_ns", VERTEX_IDLE }, /* off a CPU for an unknown reason */
    /* CPUs, beyond those */
    { "nice_ns", VERTEX_CPU },
    { "busy_ns", VERTEX_CPU }, /* of a host's, where its exporter has no more */
    { "softirq_ns", VERTEX_CPU },
    { "guest_ns", VERTEX_CPU },
    { "guest_nice_ns", VERTEX_CPU },
    { "idle_ns", VERTEX_IDLE },
    { "iowait_ns", VERTEX_IO },
    { "steal_ns", VERTEX_CONTENTION },
};

bool vertices_init(struct vertices *ret, const struct schema *schema, const char *const *names,
                   size_t count)
{
    if (count < 3 || count > VERTICES_MAXIMUM || schema->state_count > VERTICES_STATES_MAXIMUM)
        return false;
    *ret = (struct vertices){ .schema = schema, .count = count };
    for (size_t i = 0; i < count; i++)
        ret->names[i] = names[i];
    return true;
}

bool vertices_assign(struct vertices *vertices, const char *column, size_t vertex)
{
    const struct schema *schema = vertices->schema;

    for (size_t i = 0; vertex < vertices->count && i < schema->state_count; i++) {
        if (strcmp(schema->columns[i].name, column) == 0) {
            vertices->of_state[i] = (uint8_t)(vertex + 1);
            return true;
        }
    }
    return false;
}

/* Columns of database sessions: "contention_ns", in detail "contention_row_lock_ns". */
static const struct {
    const char *prefix;
    enum class class;
} prefixes[] = {
    { "cpu_", VERTEX_CPU },
    { "contention_", VERTEX_CONTENTION },
    { "wait_", VERTEX_IO },
    { "idle_", VERTEX_IDLE },
};

/* The class of a state; -1: it is not known. */
static int class_of(const char *column)
{
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(usual[i].column, column) == 0)
            return (int)usual[i].class;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(prefixes[i].prefix, column, strlen(prefixes[i].prefix)) == 0)
            return (int)prefixes[i].class;
    }
    return -1;
}

/* A session's time in the run queue is in no state of the database: it explains what is missing
 * from their sum, and so it stands at no vertex (Gunther and Poder, section 6). */
static bool is_left_out(const struct schema *schema, const char *column)
{
    bool of_sessions = false;

    for (size_t i = 0; i < schema->state_count; i++)
        of_sessions |= strncmp(schema->columns[i].name, "contention_", 11) == 0;
    return of_sessions && strncmp(column, "run_queue_", 10) == 0;
}

bool vertices_usual(struct vertices *ret, const struct schema *schema, size_t count)
{
    bool all_known = true;

    if (!vertices_init(ret, schema, count == 3 ? names_of_3 : names_of_4, count))
        return false;
    for (size_t i = 0; i < schema->state_count; i++) {
        const char *column = schema->columns[i].name;
        int vertex = class_of(column);

        if (is_left_out(schema, column))
            continue;
        all_known &= vertex >= 0;
        if (vertex >= (int)count)
            vertex = VERTEX_IO; /* of 3: waiting */
        ret->of_state[i] = (uint8_t)(vertex + 1);
    }
    return all_known;
}

bool vertices_weigh(const struct vertices *vertices, const struct frame *frame, size_t entity,
                    struct weights *ret)
{
    const double elapsed = (double)frame->elapsed_ns[entity];
    const double unaccounted = (double)frame_unaccounted_ns(frame, entity) / elapsed;
    const uint64_t *values = frame_values(frame, entity);
    uint64_t sums[1 + VERTICES_MAXIMUM] = { 0 };

    if (frame->elapsed_ns[entity] == 0)
        return false;
    for (size_t i = 0; i < vertices->schema->state_count; i++)
        sums[vertices->of_state[i]] += values[i];
    *ret = (struct weights){ .left_out = (double)sums[0] / elapsed };
    for (size_t i = 0; i < vertices->count; i++)
        ret->shares[i] = (double)sums[1 + i] / elapsed;
    ret->missing = fmax(unaccounted, 0);
    ret->over = fmax(-unaccounted, 0);
    return true;
}

bool weights_position(const struct weights *weights, size_t count, struct position *ret)
{
    /* The edge of a triangle and of a tetrahedron of height 1. */
    const double edge = count == 3 ? 2 / sqrt(3) : sqrt(1.5);
    const double depth = count == 3 ? 0 : edge * sqrt(3) / 2;
    const struct position corners[VERTICES_MAXIMUM] = {
        { edge / 2, 1, depth / 3 }, { 0, 0, 0 }, { edge, 0, 0 }, { edge / 2, 0, depth }
    };
    struct position sum = { 0, 0, 0 };
    double whole = 0;

    for (size_t i = 0; i < count; i++) {
        whole += weights->shares[i];
        sum.x += weights->shares[i] * corners[i].x;
        sum.y += weights->shares[i] * corners[i].y;
        sum.z += weights->shares[i] * corners[i].z;
    }
    if (!(whole > 0))
        return false;
    *ret = (struct position){ sum.x / whole, sum.y / whole, sum.z / whole };
    return true;
}
