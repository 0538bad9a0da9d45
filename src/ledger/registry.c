#include "registry.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SLOTS 64 /* a power of two */

static uint64_t hash_of(const struct entity *entity)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a of the name, or the id alone */

    for (const char *at = entity->name; entity->id == 0 && *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    if (entity->id != 0)
        hash = (uint64_t)entity->id;
    return (hash * 11400714819323198485u) >> 20; /* Fibonacci: all bits reach those in the middle */
}

static bool is_same(const struct entity *a, const struct entity *b)
{
    return a->id == b->id && (a->id != 0 || strcmp(a->name, b->name) == 0);
}

/* The slot of an entity, or the free slot where it belongs. */
static uint32_t *slot_of(const struct registry *registry, const struct entity *entity)
{
    const size_t mask = registry->slot_count - 1;
    size_t at = (size_t)hash_of(entity) & mask;

    while (registry->slots[at] != 0 &&
           !is_same(&registry->entities[registry->slots[at] - 1].entity, entity))
        at = (at + 1) & mask;
    return &registry->slots[at];
}

static bool grow_slots(struct registry *registry)
{
    const size_t old_count = registry->slot_count;
    uint32_t *old = registry->slots;
    const size_t count = old_count == 0 ? MIN_SLOTS : 2 * old_count;
    uint32_t *slots = calloc(count, sizeof *slots);

    if (slots == NULL)
        return false;
    registry->slots = slots;
    registry->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != 0)
            *slot_of(registry, &registry->entities[old[i] - 1].entity) = old[i];
    }
    free(old);
    return true;
}

static bool reserve(struct registry *registry)
{
    const size_t capacity = registry->capacity == 0 ? MIN_SLOTS : 2 * registry->capacity;
    struct registry_entry *grown;
    uint32_t *spare;

    if (registry->count == registry->capacity && registry->spare_count == 0) {
        spare = reallocarray(registry->spare, capacity, sizeof *spare);
        if (spare == NULL)
            return false;
        registry->spare = spare;
        grown = reallocarray(registry->entities, capacity, sizeof *grown);
        if (grown == NULL)
            return false;
        registry->entities = grown;
        registry->capacity = capacity;
    }
    return 2 * (registry->count + 1) < registry->slot_count || grow_slots(registry);
}

void registry_release(struct registry *registry)
{
    free(registry->entities);
    free(registry->spare);
    free(registry->slots);
    *registry = (struct registry){ 0 };
}

void registry_start_frame(struct registry *registry)
{
    registry->frames++;
}

static bool has_changed(const struct entity *before, const struct entity *now)
{
    return strcmp(before->name, now->name) != 0 || before->parent != now->parent ||
           before->uid != now->uid || before->pid != now->pid || before->cgroup != now->cgroup ||
           before->labels != now->labels;
}

int registry_enter(struct registry *registry, const struct entity *entity, uint32_t *ret_number,
                   enum registry_match *ret_match)
{
    struct registry_entry *known;
    uint32_t *slot;

    if (!reserve(registry))
        return CAMP_E_NOMEM;
    slot = slot_of(registry, entity);
    known = *slot != 0 ? &registry->entities[*slot - 1] : NULL;
    if (known == NULL || ((entity->flags & ENTITY_NEW) != 0 && entity->id != 0 &&
                          known->last_seen < registry->frames)) {
        *slot = 1 + (registry->spare_count > 0 ? registry->spare[--registry->spare_count]
                                               : (uint32_t)registry->count++);
        known = &registry->entities[*slot - 1];
        *ret_match = REGISTRY_NEW;
    } else {
        *ret_match = has_changed(&known->entity, entity) ? REGISTRY_CHANGED : REGISTRY_KNOWN;
    }
    known->entity = *entity;
    known->last_seen = registry->frames;
    *ret_number = *slot - 1;
    return CAMP_OK;
}

/* Of two entities that had the same id in turn, the one seen last owns it. */
static void re_enter(struct registry *registry, size_t number)
{
    uint32_t *slot = slot_of(registry, &registry->entities[number].entity);

    if (*slot == 0 ||
        registry->entities[*slot - 1].last_seen < registry->entities[number].last_seen)
        *slot = (uint32_t)number + 1;
}

void registry_expire(struct registry *registry, uint64_t since)
{
    for (size_t i = 0; i < registry->slot_count; i++)
        registry->slots[i] = 0;
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
    /* One frame later: an entity with the id of an earlier one is then new. */
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

bool registry_is_present(const struct registry *registry, uint32_t number)
{
    return number < registry->count && registry->entities[number].last_seen == registry->frames;
}
