/*
 * Barycentric coordinates. The states of an entity are added up to 3 or 4 vertices. The shares of
 * the vertices determine the position of the entity in a triangle (Barry3) or tetrahedron (Barry4).
 *
 * The theory (Gunther and Poder, "Barry007", 2009): in a triangle of height 1 the distances of a
 * point from the three sides add up to 1. Shares of wall time also add up to 1, so they are used as
 * these distances. If time is missing, the shares add up to less than 1. The shares are then
 * reported with the missing time, and not only normalised.
 */
#pragma once

#include "frame.h"

#define VERTICES_MAXIMUM 4
#define VERTICES_STATES_MAXIMUM 128

/* Assigns the states of a schema to vertices. The first vertex is the top, then left, right and,
 * with 4 vertices, behind. */
struct vertices {
    const struct schema *schema;
    size_t count;                        /* 3 or 4 */
    const char *names[VERTICES_MAXIMUM]; /* [count] */
    /* [schema->state_count] 1 + the vertex of each state; 0 if the state belongs to no vertex */
    uint8_t of_state[VERTICES_STATES_MAXIMUM];
};

/* Shares of the wall time of an entity. shares + left_out + missing - over is 1. In one interval
 * `missing` or `over` is 0. In a mean over several intervals both can be above 0, because one does
 * not cancel out the other. */
struct weights {
    double shares[VERTICES_MAXIMUM]; /* [count] share of each vertex */
    double left_out;                 /* in states that belong to no vertex */
    double missing;                  /* in no state */
    double over;                     /* accounted twice, as more time was accounted than elapsed */
};

struct position {
    double x, y, z; /* y is the height above the base; z is 0 in a triangle */
};

/* Initialises the named vertices, to which no state belongs yet. Returns false if `count` is not 3
 * or 4, or if there are too many states. */
bool vertices_init(struct vertices *ret, const struct schema *schema, const char *const *names,
                   size_t count);

/* Initialises the usual vertices for threads, groups of threads, and CPUs. With 3 vertices they are
 * CPU, idle (nothing to do: asleep until an outside event, or stopped) and waiting (blocked within
 * its work). With 4 vertices waiting is divided into I/O (disk and page faults) and contention (run
 * queue, lock, stolen by the hypervisor). Returns false like vertices_init(), or if the class of a
 * state is unknown. Such a state belongs to no vertex. */
bool vertices_usual(struct vertices *ret, const struct schema *schema, size_t count);

/* Computes the weights of one entity. The frame has the schema of the vertices. Returns false if
 * the entity has no wall time. */
bool vertices_weigh(const struct vertices *vertices, const struct frame *frame, size_t entity,
                    struct weights *ret);

/* Computes the position from the proportions of the shares. The corners of the triangle of height 1
 * are (1/sqrt 3, 1), (0, 0) and (2/sqrt 3, 0), as in "Barry007". The tetrahedron has height 1 and
 * the corners top, left, right and behind. The distance of the position from the side opposite a
 * vertex is the share of the vertex, divided by the sum of the shares. If this sum is not 1, views
 * should show the sum with the point. Returns false if no time is at any vertex. */
bool weights_position(const struct weights *weights, size_t count, struct position *ret);
