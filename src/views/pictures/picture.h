/*
 * Pictures of a source, as SVG (svg.h). The caption of each states the source, the time, the number
 * of entities, the time in no state or at no vertex, and the losses.
 *
 *     barry3   a triangle: a dot an entity, by its shares of three kinds of time, in one frame
 *     barry4   a tetrahedron: likewise of four, seen from one side
 *     barymap  entities x time: the colour is the composition, mixed in OKLab
 *     stack    the stacked shares of all entities together, over time; or of each entity, in one
 * frame lines    the same as lines, over time
 *
 * The theory and the figures that these follow: Gunther and Poder, "Barry007" (2009).
 */
#pragma once

#include "ledger/timeline.h"

#include <stdio.h>

enum picture_kind {
    PICTURE_BARRY3,
    PICTURE_BARRY4,
    PICTURE_BARYMAP,
    PICTURE_STACK,
    PICTURE_LINES,
    PICTURE_KIND_COUNT
};

extern const char *const picture_names[PICTURE_KIND_COUNT + 1]; /* "barry3" ...; NULL-terminated */

/* The colour of dots, unless by the label of this number. */
enum picture_colour {
    PICTURE_COLOUR_USUAL = -2, /* by name; if all names are alike by the first label that differs */
    PICTURE_COLOUR_NAME = -1
};

struct picture {
    struct timeline *timeline;       /* at least one frame; a barymap may merge frames */
    const struct vertices *vertices; /* 3 for barry3, 4 for barry4, either for the others */
    const char *source;              /* "threads" */
    const char *origin;              /* "bpf, host db1" */
    const char *note;                /* a note for the reader, or "" */
    size_t frame;                    /* index of the frame, for a picture of one */
    bool over_entities;              /* of a stack: one frame, each entity */
    const bool *pinned;              /* [timeline->registry.count] entities that get a label;
                                      * NULL: none */
    int colour;                      /* a label's number, or enum picture_colour */
};

/* CAMP_OK or CAMP_E_NOMEM; check the stream for write errors. */
int picture_write(FILE *stream, enum picture_kind kind, const struct picture *picture);
