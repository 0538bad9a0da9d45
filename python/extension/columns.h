/*
 * Rows of structs as columns: one block of bytes that Python slices, and numpy and pandas use
 * without copying. It is column-major, like the numbers of pandas: each column is contiguous.
 */
#pragma once

#include "module.h"

/* A column: the address of its first item, and the distance between two items in bytes. */
struct section {
    const void *first;
    size_t stride;
    size_t width; /* of an item: 8 or 4 bytes */
};

/* Returns a Python bytes object: sections[count] one after another, each of `rows` items without
 * gaps. The caller passes the sections of 8-byte items first, so that all items are aligned. NULL:
 * an exception was raised. */
PyObject *columns_of(const struct section *sections, size_t count, size_t rows);

/* Returns a Python bytes object: the text of each row (char[size], `stride` bytes apart), with a
 * NUL between two texts. */
PyObject *names_of(const char *first, size_t stride, size_t size, size_t rows);
