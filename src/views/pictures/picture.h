/*
 * Pictures of a source, as SVG (svg.h). The caption of each picture states the source, the time,
 * the number of entities, the time in no state, the time in states that belong to no vertex, and
 * the losses.
 *
 *  - barry3: one frame as a triangle. Each entity is a dot, placed by its shares of three kinds of
 *    time.
 *  - barry4: one frame as a tetrahedron, for four kinds of time.
 *  - barymap: a line for each entity over time. Its colour mixes the colours of the classes of
 *    its time.
 *  - stack: stacked shares, of all entities together over time, or of each entity in one frame.
 *  - lines: the shares of all entities together over time, as lines.
 *  - ribbon: the active time (ledger/active.h) of all entities together over time, by class, or by
 *    the value of a label or by name.
 *  - ranking: the groups of entities with the most active time.
 *
 * The first five follow Gunther and Poder, "Barry007" (2009).
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
    PICTURE_RIBBON,
    PICTURE_RANKING,
    PICTURE_KIND_COUNT
};

/* "barry3" and so on, NULL-terminated. */
extern const char *const picture_names[PICTURE_KIND_COUNT + 1];

/* What determines the colour of dots, the rows of a ranking and the layers of a ribbon. A value
 * from 0 on is the index of a label. */
enum picture_colour {
    /* Dots: by name or, if all names are the same, by the first label whose values differ. A
     * ranking: by process or name. A ribbon: by class. */
    PICTURE_COLOUR_USUAL = -2,
    PICTURE_COLOUR_NAME = -1
};

struct picture {
    struct timeline *timeline; /* has at least one frame; a barymap may merge its frames */
    /* 3 vertices for barry3, 4 for barry4, 3 or 4 for other kinds. A ribbon and a ranking ignore
     * them; NULL is allowed. */
    const struct vertices *vertices;
    const char *source; /* such as "threads" */
    const char *origin; /* where the data come from, such as "bpf, host db1" */
    const char *note;   /* a note for the reader, or "" */
    const char *kind;   /* what the entities are, in the plural, such as "threads" */
    const char *only;   /* which entities are shown, such as "application matches ^web", or "" */
    size_t cpus;        /* the number of CPUs that the entities share; 0 if it is unknown */
    /* Of an entity whose label has changed, the timeline has several. This is the number of those
     * that are not counted as entities. */
    size_t repeated;
    size_t frame;
    bool over_entities; /* a stack has a bar for each entity of one frame, and no time axis */
    /* [timeline->registry.count], true for entities that always get a label. May be NULL. */
    const bool *pinned;
    int colour; /* index of a label, or enum picture_colour */
};

/* Returns CAMP_OK or CAMP_E_NOMEM. The caller checks the stream for write errors. */
int picture_write(FILE *stream, enum picture_kind kind, const struct picture *picture);
