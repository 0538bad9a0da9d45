/*
 * Axes: an assignment of states to vertices, as text:
 *
 *     CPU=user+system+irq; WAIT=disk+lock+run_queue; IDLE=*
 *
 * Three or four names: the top of the triangle, then left, right and (of 4) behind. A state is
 * given by its column ("run_queue_ns"), the column without its unit ("run_queue"), or its title
 * ("run queue"), in any case; * is every state of no other vertex. States without a vertex are left
 * out, and shown as such (struct weights). Pure text.
 */
#pragma once

#include "vertex.h"

#define AXES_NAME_SIZE 64

struct axes {
    struct vertices vertices; /* its names point into this struct: do not copy it */
    char names[VERTICES_MAXIMUM][AXES_NAME_SIZE];
};

/* What is wrong with a text, and at which word: "no such state" at "swap". */
struct axes_fault {
    const char *problem;
    char word[AXES_NAME_SIZE];
};

/* Parses any text. False: *fault has the reason. */
bool axes_parse(struct axes *ret, const struct schema *schema, const char *text,
                struct axes_fault *fault);

/* The usual axes (vertices_usual()); for an unknown schema, each vertex gets one state, in their
 * order. The last vertex gets all remaining states and is named after them. False: fewer states
 * than vertices. */
bool axes_default(struct axes *ret, const struct schema *schema, size_t count);
