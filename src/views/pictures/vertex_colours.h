/*
 * The colours of the vertices of a triangle or tetrahedron. A colour means a class of states
 * (palette.h), so a vertex has the colour of the class to which its states belong:
 *
 *  - the class to which all its states belong;
 *  - the run queue's class, if its states belong to several classes of waits;
 *  - otherwise the commonest of CPU, waits, idle and unknown among its states.
 *
 * No two vertices have the same colour. If several vertices would have the run queue's colour, a
 * vertex that has the run queue comes before the others. Each of the others gets a colour that no
 * vertex has: of a class of its own states if possible, of any class otherwise.
 */
#pragma once

#include "ledger/vertex.h"

/* Sets ret[vertices->count] to the class whose colour each vertex has. */
void vertices_classes(const struct vertices *vertices, enum column_class ret[VERTICES_MAXIMUM]);

/* Sets ret[vertices->count] to the colours of the vertices on light paper, such as "#2a71b1". */
void vertices_colours(const struct vertices *vertices, const char *ret[VERTICES_MAXIMUM]);

/* Does the same for dark paper. */
void vertices_colours_dark(const struct vertices *vertices, const char *ret[VERTICES_MAXIMUM]);
