#include "json_memory.h"

#include <stdlib.h>
#include <string.h>

struct json_memory {
    size_t size, used;
    _Alignas(max_align_t) char bytes[]; /* [size] */
};

struct json_memory *json_memory_new(size_t size)
{
    struct json_memory *memory = malloc(sizeof *memory + size);

    if (memory != NULL) {
        memory->size = size;
        memory->used = 0;
    }
    return memory;
}

/* The size of a block is kept before it, for reallocate(). */
static void *allocate(void *context, size_t size)
{
    struct json_memory *memory = context;
    const size_t alignment = _Alignof(max_align_t);
    const size_t whole = (size + 2 * alignment - 1) / alignment * alignment;
    char *block = memory->bytes + memory->used;

    if (whole > memory->size - memory->used)
        return NULL;
    memory->used += whole;
    memcpy(block, &size, sizeof size);
    return block + alignment;
}

static void *reallocate(void *context, void *before, size_t size)
{
    void *ret = allocate(context, size);
    size_t length;

    if (before == NULL || ret == NULL)
        return ret;
    memcpy(&length, (const char *)before - _Alignof(max_align_t), sizeof length);
    memcpy(ret, before, length < size ? length : size);
    return ret;
}

static void release(void *context, void *block)
{
    (void)context;
    (void)block;
}

void json_memory_functions(struct json_memory *memory, yajl_alloc_funcs *ret)
{
    *ret = (yajl_alloc_funcs){ allocate, reallocate, release, memory };
}
