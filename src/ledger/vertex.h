/*
 * Barycentric coordinates. The states of an entity are added up to 3 or 4 vertices. The shares of
 * the vertices determine the position of the entity in a triangle (Barry3) or tetrahedron (Barry4).
 *
 * The theory (Gunther and Poder, "Barry007", 2009): in a triangle of height 1 the distances of a
 * point from the three sides add up to 1. Shares of wall time also add up to 1, so they are used as
 * these distances. If time is missing, the shares add up to less than 1. They are then scaled to 1,
 * and the missing time is reported, too.
 */
#pragma once

#include "frame.h"

#define VERTICES_MAXIMUM 4
#define VERTICES_STATES_MAXIMUM 128

/* Assigns the states of a schema to vertices. The vertices are, in this order, top, left, right
 * and, in a tetrahedron, behind. */
struct vertices {
    const struct schema *schema;
    size_t count;                        /* 3 or 4 */
    const char *names[VERTICES_MAXIMUM]; /* [count] */
    /* [schema->state_count] 1 + the vertex of each state; 0 if the state belongs to no vertex */
    uint8_t of_state[VERTICES_STATES_MAXIMUM];
};

/* Shares of the wall time of an entity: the sum of shares[], plus left_out, plus missing, minus
 * over, is 1. In a mean over several intervals both `missing` and `over` can be above 0. */
struct weights {
    double shares[VERTICES_MAXIMUM]; /* [count] share of each vertex */
    double left_out;                 /* share of the time in states without a vertex */
    double missing;                  /* share of the time in no state */
    double over;                     /* share of the time that is accounted twice */
};

struct position {
    double x, y, z; /* y is the height above the base; z is 0 in a triangle */
};

/* Initialises vertices that have names but no states. Returns false if `count` is not 3 or 4, or if
 * the schema has too many states. */
bool vertices_init(struct vertices *ret, const struct schema *schema, const char *const *names,
                   size_t count);

/*
 * Initialises the usual vertices, for threads, groups of threads, and CPUs:
 *
 * 3 vertices: CPU; idle (nothing to do, or stopped); waiting (all other states)
 * 4 vertices: CPU; idle; I/O (disk, page faults, other waits); contention (run queue, lock, stolen
 * by the hypervisor)
 *
 * Returns false if vertices_init() fails or if the class of a state is unknown. A state of unknown
 * class belongs to no vertex.
 */
bool vertices_usual(struct vertices *ret, const struct schema *schema, size_t count);

/* Computes the weights of one entity. `frame` must have the schema of the vertices. Returns false
 * if the entity has no wall time. */
bool vertices_weigh(const struct vertices *vertices, const struct frame *frame, size_t entity,
                    struct weights *ret);

/* Computes a position from shares: its distance from the side opposite a vertex is the share of
 * that vertex, divided by the sum of all shares. If the sum is not 1, views should show the sum
 * with the point. The triangle has height 1 and the corners (1/sqrt 3, 1), (0, 0) and (2/sqrt 3,
 * 0), as in "Barry007". The tetrahedron has height 1, too. Returns false if the sum is 0. */
bool weights_position(const struct weights *weights, size_t count, struct position *ret);
