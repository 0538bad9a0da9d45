/*
 * Parses a text that assigns states to the vertices of a triangle or tetrahedron (vertex.h):
 *
 *     CPU=user+system+irq; WAIT=disk+lock+run_queue; IDLE=*
 *
 * Each part of the text is one vertex: its name, and its states. The parts are, in this order, the
 * vertices top, left, right and, in a tetrahedron, behind.
 *
 * A state is written as its column ("run_queue_ns"), its column without the unit ("run_queue"), or
 * its title ("run queue"), in upper or lower case. The star * stands for all states that the other
 * parts do not name. Without a star, these states count as left out (struct weights).
 */
#pragma once

#include "vertex.h"

#define AXES_NAME_SIZE 64

struct axes {
    /* vertices.names point to `names` below, so this struct must not be copied. */
    struct vertices vertices;
    char names[VERTICES_MAXIMUM][AXES_NAME_SIZE];
};

/* A problem, such as "there is no such state", and the word of the text that causes it, such as
 * "swap". */
struct axes_fault {
    const char *problem;
    char word[AXES_NAME_SIZE];
};

/* Parses `text`, which may contain any characters. If the text is wrong, returns false with the
 * reason in *fault. */
bool axes_parse(struct axes *ret, const struct schema *schema, const char *text,
                struct axes_fault *fault);

/* Sets the usual axes (vertices_usual()). If vertices_usual() fails, each vertex gets one state in
 * the order of the schema, the last vertex also gets all remaining states, and each vertex is named
 * after its states. Returns false if there are fewer states than vertices. */
bool axes_default(struct axes *ret, const struct schema *schema, size_t count);
