/*
 * The memory of the JSON library (yajl), which does not check whether it got memory. It gets its
 * memory from one block, and needs no more, because its caller limits the length and the nesting of
 * what it reads. Memory that it frees is not used again.
 */
#pragma once

#include <stddef.h>

#include <yajl/yajl_common.h>

struct json_memory;

/* Returns NULL if there is no memory. Release it with free(3). */
struct json_memory *json_memory_new(size_t size);

/* Sets the functions by which the library gets memory. */
void json_memory_functions(struct json_memory *memory, yajl_alloc_funcs *ret);
