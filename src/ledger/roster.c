#include "roster.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_SLOTS 64 /* a power of two, as all their numbers are */

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

/* The slot of an entity, or the free one where it belongs. */
static uint32_t *slot_of(const struct roster *roster, const struct entity *entity)
{
    const size_t mask = roster->slot_count - 1;
    size_t at = (size_t)hash_of(entity) & mask;

    while (roster->slots[at] != 0 &&
           !is_same(&roster->entities[roster->slots[at] - 1].entity, entity))
        at = (at + 1) & mask;
    return &roster->slots[at];
}

static bool grow_slots(struct roster *roster)
{
    const size_t old_count = roster->slot_count;
    uint32_t *old = roster->slots;
    const size_t count = old_count == 0 ? FEWEST_SLOTS : 2 * old_count;
    uint32_t *slots = calloc(count, sizeof *slots);

    if (slots == NULL)
        return false;
    roster->slots = slots;
    roster->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != 0)
            *slot_of(roster, &roster->entities[old[i] - 1].entity) = old[i];
    }
    free(old);
    return true;
}

static bool reserve(struct roster *roster)
{
    const size_t capacity = roster->capacity == 0 ? FEWEST_SLOTS : 2 * roster->capacity;
    struct roster_entity *grown;
    uint32_t *spare;

    if (roster->count == roster->capacity && roster->spare_count == 0) {
        spare = reallocarray(roster->spare, capacity, sizeof *spare);
        if (spare == NULL)
            return false;
        roster->spare = spare;
        grown = reallocarray(roster->entities, capacity, sizeof *grown);
        if (grown == NULL)
            return false;
        roster->entities = grown;
        roster->capacity = capacity;
    }
    return 2 * (roster->count + 1) < roster->slot_count || grow_slots(roster);
}

void roster_release(struct roster *roster)
{
    free(roster->entities);
    free(roster->spare);
    free(roster->slots);
    *roster = (struct roster){ 0 };
}

void roster_begin(struct roster *roster)
{
    roster->frames++;
}

static bool has_changed(const struct entity *before, const struct entity *now)
{
    return strcmp(before->name, now->name) != 0 || before->parent != now->parent ||
           before->uid != now->uid || before->pid != now->pid || before->cgroup != now->cgroup ||
           before->labels != now->labels;
}

int roster_find(struct roster *roster, const struct entity *entity, uint32_t *ret_number,
                enum roster_news *ret_news)
{
    struct roster_entity *known;
    uint32_t *slot;

    if (!reserve(roster))
        return CAMP_E_NOMEM;
    slot = slot_of(roster, entity);
    known = *slot != 0 ? &roster->entities[*slot - 1] : NULL;
    if (known == NULL ||
        ((entity->flags & ENTITY_NEW) != 0 && entity->id != 0 && known->met < roster->frames)) {
        *slot = 1 + (roster->spare_count > 0 ? roster->spare[--roster->spare_count]
                                             : (uint32_t)roster->count++);
        known = &roster->entities[*slot - 1];
        *ret_news = ROSTER_NEW;
    } else {
        *ret_news = has_changed(&known->entity, entity) ? ROSTER_CHANGED : ROSTER_KNOWN;
    }
    known->entity = *entity;
    known->met = roster->frames;
    *ret_number = *slot - 1;
    return CAMP_OK;
}

/* Of two that had the same id one after the other, it is now the one that was met last. */
static void enter_again(struct roster *roster, size_t number)
{
    uint32_t *slot = slot_of(roster, &roster->entities[number].entity);

    if (*slot == 0 || roster->entities[*slot - 1].met < roster->entities[number].met)
        *slot = (uint32_t)number + 1;
}

void roster_forget(struct roster *roster, uint64_t since)
{
    for (size_t i = 0; i < roster->slot_count; i++)
        roster->slots[i] = 0;
    for (size_t i = 0; i < roster->count; i++) {
        if (roster->entities[i].met >= since) {
            enter_again(roster, i);
        } else if (roster->entities[i].met != 0) {
            roster->entities[i].met = 0;
            roster->spare[roster->spare_count++] = (uint32_t)i;
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

int roster_fold(const struct roster *roster, const bool *gone, const char *suffix,
                struct roster *ret, uint32_t *ret_numbers)
{
    /* Each was met before: who has an id that another had is new. */
    struct roster made = { .frames = roster->frames + 1 };

    for (size_t i = 0; i < roster->count; i++) {
        const struct roster_entity *known = &roster->entities[i];
        struct entity entity =
            gone[i] && known->entity.id != 0 ? folded(&known->entity, suffix) : known->entity;
        enum roster_news news;

        if (known->met == 0)
            continue;
        entity.flags |= ENTITY_NEW;
        if (roster_find(&made, &entity, &ret_numbers[i], &news) != CAMP_OK) {
            roster_release(&made);
            return CAMP_E_NOMEM;
        }
        made.entities[ret_numbers[i]].entity.flags &= ~(uint32_t)ENTITY_NEW;
        made.entities[ret_numbers[i]].met = known->met;
    }
    made.frames = roster->frames;
    *ret = made;
    return CAMP_OK;
}

bool roster_is_there(const struct roster *roster, uint32_t number)
{
    return number < roster->count && roster->entities[number].met == roster->frames;
}
