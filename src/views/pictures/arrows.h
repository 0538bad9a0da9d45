/*
 * The picture of two recordings: a triangle as that of Barry3 (picture.h), with an arrow for each
 * entity from its place in the first recording to its place in the second. An entity that only one
 * recording has is a circle (only in the first) or a dot (only in the second).
 */
#pragma once

#include "ledger/vertex.h"

#include <stdio.h>

struct arrow {
    const char *name; /* any bytes */
    struct weights weights[2];
    bool has[2];     /* whether the recording has the entity */
    bool is_notable; /* drawn in dark blue, and named; others are grey */
};

struct arrows_picture {
    const char *names[2];            /* of the recordings */
    const struct vertices *vertices; /* 3 of them, of the first recording */
    const struct arrow *arrows;      /* [count], the most important first */
    size_t count;
};

/* Returns CAMP_OK or CAMP_E_NOMEM. The caller checks the stream for write errors. */
int arrows_write(FILE *stream, const struct arrows_picture *picture);
