#include "registry.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const struct entity *entity)
{
    return entity->id != 0 ? index_hash_number((uint64_t)entity->id)
                           : index_hash_bytes(entity->name, strlen(entity->name));
}

static bool is_entity(const void *context, uint32_t number, const void *wanted)
{
    const struct registry *registry = context;
    const struct entity *a = &registry->entities[number].entity, *b = wanted;

    return a->id == b->id && (a->id != 0 || strcmp(a->name, b->name) == 0);
}

static struct index_slot *slot_of(const struct registry *registry, const struct entity *entity)
{
    return index_find(&registry->index, hash_of(entity), is_entity, registry, entity);
}

static bool reserve(struct registry *registry)
{
    return (registry->spare_count > 0 ||
            ARRAYS_RESERVE(registry->capacity, registry->count + 1, ARRAY(registry->entities),
                           ARRAY(registry->spare))) &&
           index_reserve(&registry->index, registry->index.count + 1);
}

void registry_release(struct registry *registry)
{
    free(registry->entities);
    free(registry->spare);
    index_release(&registry->index);
    *registry = (struct registry){ 0 };
}

void registry_start_frame(struct registry *registry)
{
    registry->frames++;
}

static enum registry_match match_of(const struct entity *before, const struct entity *now)
{
    if (strcmp(before->name, now->name) != 0 || before->parent != now->parent ||
        before->uid != now->uid || before->pid != now->pid || before->cgroup != now->cgroup)
        return REGISTRY_CHANGED;
    return before->labels != now->labels ? REGISTRY_RELABELED : REGISTRY_KNOWN;
}

/* Returns whether a known entity has the number registry->next. Most entities come in the order of
 * the frame before, and need no search. */
static bool is_next(const struct registry *registry, const struct entity *entity)
{
    return (entity->flags & (ENTITY_NEW | ENTITY_ENDED)) == 0 && registry->next < registry->count &&
           registry->entities[registry->next].last_seen + 1 == registry->frames &&
           is_entity(registry, registry->next, entity);
}

int registry_enter(struct registry *registry, const struct entity *entity, uint32_t *ret_number,
                   enum registry_match *ret_match)
{
    const struct registry_entry *known = NULL;
    struct index_slot *slot = NULL;

    if (!reserve(registry))
        return CAMP_E_NOMEM;
    if (is_next(registry, entity))
        known = &registry->entities[registry->next];
    else if ((slot = slot_of(registry, entity)) != NULL)
        known = &registry->entities[slot->position];
    if (known == NULL || ((entity->flags & ENTITY_NEW) != 0 && entity->id != 0 &&
                          known->last_seen < registry->frames)) {
        *ret_number = registry->spare_count > 0 ? registry->spare[--registry->spare_count]
                                                : (uint32_t)registry->count++;
        if (slot != NULL)
            slot->position = *ret_number;
        else
            index_add(&registry->index, hash_of(entity), *ret_number);
        *ret_match = REGISTRY_NEW;
    } else {
        *ret_number = (uint32_t)(known - registry->entities);
        *ret_match = match_of(&known->entity, entity);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserved by ARRAY_RESERVE() */
    registry->entities[*ret_number] = (struct registry_entry){ *entity, registry->frames };
    registry->next = *ret_number + 1;
    return CAMP_OK;
}

uint32_t registry_find(const struct registry *registry, const struct entity *entity)
{
    const struct index_slot *slot = slot_of(registry, entity);

    return slot != NULL ? slot->position : REGISTRY_NONE;
}

/* Adds an entity to the index. Of several entities with the same id, the index keeps the one that
 * was seen last. */
static void re_enter(struct registry *registry, size_t number)
{
    const struct entity *entity = &registry->entities[number].entity;
    struct index_slot *slot = slot_of(registry, entity);

    if (slot == NULL)
        index_add(&registry->index, hash_of(entity), (uint32_t)number);
    else if (registry->entities[slot->position].last_seen < registry->entities[number].last_seen)
        slot->position = (uint32_t)number;
}

void registry_expire(struct registry *registry, uint64_t since)
{
    index_clear(&registry->index);
    for (size_t i = 0; i < registry->count; i++) {
        if (registry->entities[i].last_seen >= since) {
            re_enter(registry, i);
        } else if (registry->entities[i].last_seen != 0) {
            registry->entities[i].last_seen = 0;
            registry->spare[registry->spare_count++] = (uint32_t)i;
        }
    }
}

static struct entity folded(const struct entity *entity, const char *suffix)
{
    struct entity ret = { .flags = ENTITY_ENDED };
    const size_t length = strnlen(entity->name, sizeof ret.name - 1 - strlen(suffix));

    memcpy(ret.name, entity->name, length);
    strcpy(ret.name + length, suffix);
    return ret;
}

int registry_fold(const struct registry *registry, const bool *gone, const char *suffix,
                  struct registry *ret, uint32_t *ret_numbers)
{
    /* copy.frames is larger than the last_seen of every entity, so that registry_enter() gives
     * different numbers to entities with the same id. */
    struct registry copy = { .frames = registry->frames + 1 };

    for (size_t i = 0; i < registry->count; i++) {
        const struct registry_entry *known = &registry->entities[i];
        struct entity entity =
            gone[i] && known->entity.id != 0 ? folded(&known->entity, suffix) : known->entity;
        enum registry_match match;

        if (known->last_seen == 0)
            continue;
        entity.flags |= ENTITY_NEW;
        if (registry_enter(&copy, &entity, &ret_numbers[i], &match) != CAMP_OK) {
            registry_release(&copy);
            return CAMP_E_NOMEM;
        }
        copy.entities[ret_numbers[i]].entity.flags &= ~(uint32_t)ENTITY_NEW;
        copy.entities[ret_numbers[i]].last_seen = known->last_seen;
    }
    copy.frames = registry->frames;
    *ret = copy;
    return CAMP_OK;
}

void registry_see(struct registry *registry, uint32_t number)
{
    registry->entities[number].last_seen = registry->frames;
}

bool registry_is_present(const struct registry *registry, uint32_t number)
{
    return number < registry->count && registry->entities[number].last_seen == registry->frames;
}
