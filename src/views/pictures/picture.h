/*
 * Pictures of a source, as SVG (svg.h). Each says below what it shows: the source, the time, how
 * many entities, which time is in no state or at no vertex, and what could not be seen.
 *
 *     barry3   a triangle: a dot an entity, by its shares of three kinds of time, in one frame
 *     barry4   a tetrahedron: likewise of four, seen from one side
 *     barymap  entities x time: the colour is the composition, mixed in OKLab
 *     stack    the shares of all entities together, one on the other, over time; or in one frame,
 *              entity by entity
 *     lines    likewise beside each other, over time
 *
 * The theory and the figures that these follow: Gunther and Poder, "Barry007" (2009).
 */
#ifndef CAMP_VIEWS_PICTURES_PICTURE_H
#define CAMP_VIEWS_PICTURES_PICTURE_H

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

/* What dots have a colour for, besides the number of a label. */
enum picture_colour {
    PICTURE_COLOUR_USUAL = -2, /* names; where they are all alike the first label that is not */
    PICTURE_COLOUR_NAME = -1
};

struct picture {
    struct timeline *timeline;       /* of one frame at least; a barymap may add frames up */
    const struct vertices *vertices; /* 3 of barry3, 4 of barry4, either of the others */
    const char *source;              /* "threads" */
    const char *origin;              /* "bpf, host db1"; where it is from */
    const char *note;                /* what else a reader should know; "": nothing */
    size_t frame;                    /* which one a picture of one frame shows */
    bool over_entities;              /* of a stack: one frame, entity by entity */
    const bool *pinned;              /* [timeline->registry.count] who is labelled; NULL: nobody */
    int colour;                      /* a label's number, or enum picture_colour */
};

/* CAMP_OK or CAMP_E_NOMEM; whether the stream took it is to be asked of the stream. */
int picture_write(FILE *stream, enum picture_kind kind, const struct picture *picture);

#endif
