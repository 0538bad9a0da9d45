/*
 * Barycentric coordinates: the states of an entity added up to 3 or 4 vertices, and its place in
 * the triangle (Barry3) or tetrahedron (Barry4) between them. Pure arithmetic.
 *
 * The theory (Gunther and Poder, "Barry007", 2009): in a triangle of height 1 the distances of a
 * point from the sides add up to 1. So do shares of wall time, which are used as such distances.
 * Missing time breaks this sum rule, so nothing is normalised silently: time that belongs to no
 * vertex is reported with the shares.
 */
#pragma once

#include "frame.h"

#define VERTICES_MAXIMUM 4
#define VERTICES_STATES_MAXIMUM 128

/* Which states of a schema belong to which vertex. The first vertex is the top, then left, right
 * and, with 4 vertices, behind. */
struct vertices {
    const struct schema *schema;
    size_t count;                        /* 3 or 4 */
    const char *names[VERTICES_MAXIMUM]; /* [count] */
    /* [schema->state_count]: 1 + the vertex of each state; 0: the state belongs to no vertex */
    uint8_t of_state[VERTICES_STATES_MAXIMUM];
};

/* Shares of an entity's wall time: with left_out and missing, minus what was accounted twice, they
 * add up to 1. An interval has time that is missing or time accounted twice, not both; sums over
 * intervals keep both, as they would cancel out. */
struct weights {
    double shares[VERTICES_MAXIMUM]; /* [count], of each vertex */
    double left_out;                 /* in states that belong to no vertex */
    double missing;                  /* in no state */
    double over;                     /* accounted twice: more than the elapsed time */
};

struct position {
    double x, y, z; /* y is the height, up from the base; z is 0 in a triangle */
};

/* Initialises the named vertices, to which no state belongs yet. False: count is not 3 or 4, or
 * there are too many states. */
bool vertices_init(struct vertices *ret, const struct schema *schema, const char *const *names,
                   size_t count);

/* Initialises the usual vertices for threads, groups of threads, and CPUs. With 3 vertices: CPU (on
 * one), idle (nothing to do: asleep until an outside event, or stopped), waiting (blocked in its
 * work). With 4 vertices waiting is divided: I/O (disk and page faults) and contention (run queue,
 * lock, stolen by the hypervisor). False: as for vertices_init(); or a state is unknown and left
 * out. */
bool vertices_usual(struct vertices *ret, const struct schema *schema, size_t count);

/* Computes the weights of one entity of a frame of the vertices' schema. False: no wall time. */
bool vertices_weigh(const struct vertices *vertices, const struct frame *frame, size_t entity,
                    struct weights *ret);

/* The position, by the proportions of its shares: in a triangle of height 1 whose corners are
 * (1/sqrt 3, 1), (0, 0) and (2/sqrt 3, 0), as in "Barry007"; in the tetrahedron of height 1 with
 * those names at top, left, right and behind. The distance from the side opposite a vertex is its
 * share, divided by the sum of the shares: when that is not 1, show the sum with the point. False:
 * no time is at any vertex, so there is no position. */
bool weights_position(const struct weights *weights, size_t count, struct position *ret);
