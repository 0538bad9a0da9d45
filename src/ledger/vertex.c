#include "vertex.h"

#include <math.h>
#include <string.h>

enum { VERTEX_CPU, VERTEX_IDLE, VERTEX_IO, VERTEX_CONTENTION };

static const char *const names_of_3[] = { "CPU", "idle", "waiting" };
static const char *const names_of_4[] = { "CPU", "idle", "I/O", "contention" };

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

/* Returns the vertex of a class, or -1 if the class is unknown. */
static int vertex_of(enum column_class class)
{
    switch (class) {
    case CLASS_CPU:
        return VERTEX_CPU;
    case CLASS_IDLE:
        return VERTEX_IDLE;
    case CLASS_THROTTLED:
    case CLASS_IO:
    case CLASS_NETWORK:
    case CLASS_OTHER_WAIT:
        return VERTEX_IO;
    case CLASS_READY:
    case CLASS_CONTENTION:
        return VERTEX_CONTENTION;
    case CLASS_NONE:
    case CLASS_COUNT:
        break;
    }
    return -1;
}

/* The run-queue and throttled time of database sessions belongs to no vertex. It explains the time
 * that is missing from the database's own account (Gunther and Poder, section 6). */
static bool is_left_out(const struct schema *schema, const char *column)
{
    bool of_sessions = false;

    for (size_t i = 0; i < schema->state_count; i++)
        of_sessions |= strncmp(schema->columns[i].name, "contention_", 11) == 0;
    return of_sessions &&
           (strncmp(column, "run_queue_", 10) == 0 || strcmp(column, COLUMN_THROTTLED) == 0);
}

bool vertices_usual(struct vertices *ret, const struct schema *schema, size_t count)
{
    bool all_known = true;

    if (!vertices_init(ret, schema, count == 3 ? names_of_3 : names_of_4, count))
        return false;
    for (size_t i = 0; i < schema->state_count; i++) {
        int vertex = vertex_of(schema->columns[i].class);

        if (is_left_out(schema, schema->columns[i].name))
            continue;
        all_known &= vertex >= 0;
        if (vertex >= (int)count)
            vertex = VERTEX_IO; /* with 3 vertices, this is the vertex "waiting" */
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
    /* The length of an edge of the triangle or tetrahedron of height 1. */
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
