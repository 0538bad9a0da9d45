#include "records.h"

#include "session.h"

#include <stdlib.h>
#include <string.h>

bool records_keep(struct records *records, int32_t tid, const char *bytes, size_t length)
{
    const size_t size = records->size + length;

    if (!session_reserve(&records->list, &records->capacity, records->count + 1,
                         sizeof *records->list) ||
        !session_reserve(&records->bytes, &records->byte_capacity, size, 1))
        return false;
    records->list[records->count++] = (struct record){ tid, (uint32_t)length, records->size };
    memcpy(records->bytes + records->size, bytes, length);
    records->size = size;
    return true;
}

static int compare_records(const void *a, const void *b)
{
    const struct record *left = a, *right = b;

    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

void records_sort(struct records *records)
{
    if (records->count > 0)
        qsort(records->list, records->count, sizeof *records->list, compare_records);
}

void records_release(struct records *records)
{
    free(records->list);
    free(records->bytes);
}
