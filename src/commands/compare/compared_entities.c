#include "compared_entities.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

struct key {
    const char *name, *labels;
};

static bool has_key(const void *context, uint32_t position, const void *key)
{
    const struct compared_entity *entity =
        &((const struct compared_entities *)context)->items[position];
    const struct key *wanted = key;

    return strcmp(entity->name, wanted->name) == 0 && strcmp(entity->labels, wanted->labels) == 0;
}

static uint32_t hash_of(const struct key *key)
{
    return index_hash_number((uint64_t)index_hash_bytes(key->name, strlen(key->name)) << 32 |
                             index_hash_bytes(key->labels, strlen(key->labels)));
}

static bool add(struct compared_entities *entities, const struct key *key, uint32_t hash)
{
    struct compared_entity *entity;

    if (entities->count >= UINT32_MAX || !index_reserve(&entities->index, entities->count + 1) ||
        !ARRAY_RESERVE(entities->items, entities->capacity, entities->count + 1))
        return false;
    entity = &entities->items[entities->count];
    *entity = (struct compared_entity){ .name = strdup(key->name), .labels = strdup(key->labels) };
    if (entity->name == NULL || entity->labels == NULL) {
        free(entity->name);
        free(entity->labels);
        return false;
    }
    index_add(&entities->index, hash, (uint32_t)entities->count++);
    return true;
}

static int enter(struct compared_entities *entities, const struct key *key, size_t *ret)
{
    const uint32_t hash = hash_of(key);
    const struct index_slot *slot = index_find(&entities->index, hash, has_key, entities, key);

    *ret = slot != NULL ? slot->position : entities->count;
    return slot != NULL || add(entities, key, hash) ? CAMP_OK : CAMP_E_NOMEM;
}

int compared_entities_enter(struct compared_entities *entities, const char *name,
                            const char *labels, int side, size_t *ret)
{
    struct key key = { name, labels };
    int r;

    if (entities->count >= COMPARED_ENTITIES_MOST &&
        index_find(&entities->index, hash_of(&key), has_key, entities, &key) == NULL) {
        key = (struct key){ COMPARED_OTHERS, "" };
        entities->others[side]++;
    }
    r = enter(entities, &key, ret);
    if (r == CAMP_OK)
        entities->items[*ret].is_in[side] = true;
    return r;
}

size_t compared_entities_find(const struct compared_entities *entities, const char *name,
                              const char *labels)
{
    const struct key key = { name, labels };
    const struct index_slot *slot =
        index_find(&entities->index, hash_of(&key), has_key, entities, &key);

    return slot != NULL ? slot->position : SIZE_MAX;
}

void compared_entities_release(struct compared_entities *entities)
{
    for (size_t i = 0; i < entities->count; i++) {
        free(entities->items[i].name);
        free(entities->items[i].labels);
    }
    free(entities->items);
    index_release(&entities->index);
    *entities = (struct compared_entities){ 0 };
}
