/*
 * Pictures of a source, as SVG (svg.h). The caption of each picture states the source, the time,
 * the number of entities, the time in no state or at no vertex, and the losses.
 *
 *  - barry3: one frame; a dot for each entity in a triangle, by its shares of three kinds of time
 *  - barry4: likewise in a tetrahedron, by four kinds of time, seen from a fixed viewpoint
 *  - barymap: a line for each entity over time; the colour is the composition, mixed in OKLab
 *  - stack: stacked shares, of all entities together over time, or of each entity in one frame
 *  - lines: the shares of all entities together over time, as lines
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

/* What determines the colour of dots: one of these, or (from 0 on) the index of a label. */
enum picture_colour {
    PICTURE_COLOUR_USUAL = -2, /* the name; if all are the same, the first label that differs */
    PICTURE_COLOUR_NAME = -1
};

struct picture {
    struct timeline *timeline;       /* at least one frame; a barymap may merge frames */
    const struct vertices *vertices; /* barry3: 3, barry4: 4, other kinds: 3 or 4 */
    const char *source;              /* "threads" */
    const char *origin;              /* the source, such as "bpf, host db1" */
    const char *note;                /* a note for the reader, or "" */
    size_t frame;                    /* the index of the frame, for a picture of one frame */
    bool over_entities;              /* a stack shows each entity of one frame */
    const bool *pinned;              /* [timeline->registry.count] entities that get a label;
                                      * NULL: none */
    int colour;                      /* the index of a label, or enum picture_colour */
};

/* CAMP_OK or CAMP_E_NOMEM; check the stream for write errors. */
int picture_write(FILE *stream, enum picture_kind kind, const struct picture *picture);
