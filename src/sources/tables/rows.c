#include "rows.h"

#include <stdlib.h>
#include <string.h>

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
