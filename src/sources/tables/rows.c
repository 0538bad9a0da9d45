#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool row_is_complete(const struct row *row, size_t columns, char *problem, size_t size)
{
    size_t count = row->count;

    if (row->problem != NULL) {
        snprintf(problem, size, "%s", row->problem);
        return false;
    }
    while (count > columns && row->fields[count - 1].length == 0)
        count--;
    if (count != columns)
        snprintf(problem, size, "%zu fields, the header has %zu", count, columns);
    return count == columns;
}

bool row_copy(struct row *ret, const struct row *row, size_t least)
{
    const size_t count = row->count > least ? row->count : least;
    size_t length = 0;
    struct field *fields;
    char *write;

    for (size_t i = 0; i < row->count; i++)
        length += row->fields[i].length;
    fields = malloc(count * sizeof *fields + length + 1);
    if (fields == NULL)
        return false;
    write = (char *)(fields + count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (struct field){ write, i < row->count ? row->fields[i].length : 0 };
        if (fields[i].length > 0)
            memcpy(write, row->fields[i].text, fields[i].length);
        write += fields[i].length;
    }
    *ret = *row;
    ret->fields = fields;
    return true;
}
