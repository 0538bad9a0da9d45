/*
 * Axes: which states are at which vertex, as a person writes it:
 *
 *     CPU=user+system+irq; WAIT=disk+lock+run_queue; IDLE=*
 *
 * Three or four names, the top of the triangle first, then left, right and (of 4) behind. A state
 * is said by its column ("run_queue_ns"), that without its unit ("run_queue"), or its title ("run
 * queue"), in capitals or not; * is every state that no other vertex has. What is at no vertex is
 * left out, and shown so (struct weights). Pure text.
 */
#ifndef CAMP_LEDGER_AXES_H
#define CAMP_LEDGER_AXES_H

#include "vertex.h"

#define AXES_NAME_SIZE 64

struct axes {
    struct vertices vertices; /* its names point into this struct: it is not to be copied */
    char names[VERTICES_MAXIMUM][AXES_NAME_SIZE];
};

/* What is wrong with a text, and where: "no such state" of "swap". */
struct axes_fault {
    const char *problem;
    char word[AXES_NAME_SIZE];
};

/* From any text. False: *fault says why. */
bool axes_parse(struct axes *ret, const struct schema *schema, const char *text,
                struct axes_fault *fault);

/* What is usual (vertices_usual()); of a schema that is not known there, the states in their order:
 * a vertex each, those that are left over added to the last one, which is named after all it has.
 * False: it has fewer states than vertices. */
bool axes_default(struct axes *ret, const struct schema *schema, size_t count);

#endif
