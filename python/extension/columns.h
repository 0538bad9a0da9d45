/*
 * Rows of structs as columns: one block of bytes that Python slices, and numpy and pandas use
 * without copying. It is column-major, like the numbers of pandas: each column is contiguous.
 */
#pragma once

#include "module.h"

/* A column: the place of its first item, and the distance to the next one. */
struct section {
    const void *first;
    size_t stride;
    size_t width; /* of an item: 8 or 4 bytes */
};

/* bytes: sections[count] one after another, each of `rows` items without gaps. Sections of 8-byte
 * items come first, so that all are aligned. NULL: raised. */
PyObject *columns_of(const struct section *sections, size_t count, size_t rows);

/* bytes: the text of each row (char[size], `stride` bytes apart), with a NUL between two. */
PyObject *names_of(const char *first, size_t stride, size_t size, size_t rows);
