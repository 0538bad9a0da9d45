/* Records of a snapshot, kept until the last one has come, and then read by tid. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record {
    int32_t tid;
    uint32_t length;
    size_t offset; /* in struct records' bytes */
};

struct records {
    struct record *list; /* [count]; owned: records_release() */
    char *bytes;         /* [size]; likewise */
    size_t count, capacity, size, byte_capacity;
};

/* A copy of bytes[length]. False: no memory. */
bool records_keep(struct records *records, int32_t tid, const char *bytes, size_t length);

/* Ascending by tid. */
void records_sort(struct records *records);
void records_release(struct records *records);
