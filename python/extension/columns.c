#include "columns.h"

#include <string.h>

/* rows copied at a time: so few that they are still in the cache for the next column */
#define BLOCK 64

static void gather(char *to, const struct section *section, size_t begin, size_t end)
{
    const char *from = (const char *)section->first + begin * section->stride;

    to += begin * section->width;
    for (size_t row = begin; row < end; row++, from += section->stride, to += section->width) {
        if (section->width == 8)
            memcpy(to, from, 8);
        else
            memcpy(to, from, 4);
    }
}

PyObject *columns_of(const struct section *sections, size_t count, size_t rows)
{
    PyObject *ret;
    size_t size = 0;
    char *bytes;

    for (size_t i = 0; i < count; i++)
        size += sections[i].width * rows;
    ret = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    bytes = ret != NULL ? PyBytes_AsString(ret) : NULL;
    if (bytes == NULL)
        return NULL;
    for (size_t begin = 0; begin < rows; begin += BLOCK) {
        const size_t end = begin + BLOCK < rows ? begin + BLOCK : rows;
        char *to = bytes;

        for (size_t i = 0; i < count; i++) {
            gather(to, &sections[i], begin, end);
            to += sections[i].width * rows;
        }
    }
    return ret;
}

PyObject *names_of(const char *first, size_t stride, size_t size, size_t rows)
{
    size_t length = 0;
    PyObject *ret;
    char *bytes;

    for (size_t row = 0; row < rows; row++)
        length += strnlen(first + row * stride, size) + (row > 0);
    ret = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
    bytes = ret != NULL ? PyBytes_AsString(ret) : NULL;
    for (size_t row = 0; bytes != NULL && row < rows; row++) {
        const size_t own = strnlen(first + row * stride, size);

        if (row > 0)
            *bytes++ = '\0';
        memcpy(bytes, first + row * stride, own);
        bytes += own;
    }
    return ret;
}
