#include "table_names.h"

#include "ledger/array.h"

#include <camp/camp.h>

#include <stdlib.h>
#include <string.h>

static bool is_name(const void *context, uint32_t position, const void *key)
{
    const struct table_names *names = context;
    const struct field *name = key;

    return names->names[position].length == name->length &&
           memcmp(names->names[position].text, name->text, name->length) == 0;
}

uint32_t table_names_id(struct table_names *names, const char *text, size_t length)
{
    const uint32_t hash = index_hash_bytes(text, length);
    const struct field name = { text, length };
    const struct index_slot *slot = index_find(&names->index, hash, is_name, names, &name);
    char *copy;

    if (slot != NULL)
        return slot->position + 1;
    if (!ARRAY_RESERVE(names->names, names->capacity, names->count + 1) ||
        !index_reserve(&names->index, names->count + 1))
        return 0;
    copy = malloc(length + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, text, length);
    names->names[names->count].text = copy;
    names->names[names->count].length = length;
    names->bytes += length + 1;
    index_add(&names->index, hash, (uint32_t)names->count);
    return (uint32_t)++names->count;
}

/* Compares the parts of two names that a frame has. */
static int compare_shown(const void *left, const void *right, void *context)
{
    const struct table_names *names = context;
    char ours[CAMP_NAME_SIZE], theirs[CAMP_NAME_SIZE];

    field_copy(names->names[*(const uint32_t *)left], ours, sizeof ours);
    field_copy(names->names[*(const uint32_t *)right], theirs, sizeof theirs);
    return strcmp(ours, theirs);
}

/* A frame has only the start of a name that is too long or has a NUL character. */
static bool is_cut(struct field name)
{
    return name.length >= CAMP_NAME_SIZE || memchr(name.text, '\0', name.length) != NULL;
}

static bool any_is_cut(const struct table_names *names)
{
    size_t i = 0;

    while (i < names->count && !is_cut(names->names[i]))
        i++;
    return i < names->count;
}

int table_names_find_shared(struct table_names *names)
{
    uint32_t *order;

    if (!any_is_cut(names))
        return CAMP_OK;
    order = calloc(names->count, sizeof *order);
    names->is_shared = calloc(names->count, sizeof *names->is_shared);
    if (order == NULL || names->is_shared == NULL) {
        free(order);
        return CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < names->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, names->count, sizeof *order, compare_shown, names);
    for (size_t i = 1; i < names->count; i++) {
        if (compare_shown(&order[i - 1], &order[i], names) == 0)
            names->is_shared[order[i - 1]] = names->is_shared[order[i]] = true;
    }
    free(order);
    return CAMP_OK;
}

void table_names_release(struct table_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free((void *)names->names[i].text);
    free(names->names);
    free(names->is_shared);
    index_release(&names->index);
}
