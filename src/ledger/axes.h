/*
 * Axes: a text that assigns states to the vertices of a triangle or tetrahedron (vertex.h):
 *
 *     CPU=user+system+irq; WAIT=disk+lock+run_queue; IDLE=*
 *
 * A text has three or four axes: the top of the triangle, then left, right and, as the fourth,
 * behind. A state is written as its column ("run_queue_ns"), its column without the unit
 * ("run_queue"), or its title ("run queue"), in upper or lower case. The star * stands for all
 * states that belong to no other vertex. States without a vertex are counted as left out (struct
 * weights).
 */
#pragma once

#include "vertex.h"

#define AXES_NAME_SIZE 64

struct axes {
    /* Its names point into this struct, so the struct must not be copied. */
    struct vertices vertices;
    char names[VERTICES_MAXIMUM][AXES_NAME_SIZE];
};

/* What is wrong with a text, and at which word, such as "there is no such state" at "swap". */
struct axes_fault {
    const char *problem;
    char word[AXES_NAME_SIZE];
};

/* Parses any text. Returns false if the text is wrong, with the reason in *fault. */
bool axes_parse(struct axes *ret, const struct schema *schema, const char *text,
                struct axes_fault *fault);

/* Sets the usual axes of vertices_usual(). If that function does not know a state, each vertex gets
 * one state in their order, the last vertex gets all remaining states, and vertices are named after
 * their states. Returns false if there are fewer states than vertices. */
bool axes_default(struct axes *ret, const struct schema *schema, size_t count);
