#include "compared_causes.h"

#include "ledger/array.h"
#include "ledger/words.h"
#include "sources/causes/cause_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_FOLDER "" /* a recording has the names of devices */

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct compared_cause *a = &((const struct compared_causes *)context)->items[position];
    const struct compared_cause *b = key;

    return a->entity == b->entity && a->state == b->state && a->kind == b->kind &&
           strcmp(a->who, b->who) == 0;
}

static uint32_t hash_of(const struct compared_cause *cause)
{
    const uint64_t numbers[] = { cause->entity, cause->state, cause->kind,
                                 index_hash_bytes(cause->who, strlen(cause->who)) };

    return index_hash_bytes(numbers, sizeof numbers);
}

/* Writes the culprit. A process by itself has its name alone, because its pid differs in another
 * run. */
static void put_who(char ret[CAUSE_NAME_SIZE], const struct causes *causes, const struct cause *row)
{
    const struct camp_states_group *group =
        row->kind == CAMP_CAUSE_GROUP ? cause_group_find(causes, row->id) : NULL;

    if (group != NULL && group->kind == CAMP_GROUP_PROCESS && group->name[0] != '\0')
        copy_text(ret, CAUSE_NAME_SIZE, group->name, strlen(group->name));
    else
        cause_who(ret, causes, row->kind, row->id, NO_FOLDER);
}

static void put_label(struct compared_cause *cause, uint32_t state)
{
    static const uint32_t behind =
        1u << CAMP_CAUSE_GROUP | 1u << CAMP_CAUSE_INTERRUPTS | 1u << CAMP_CAUSE_REAL_TIME;
    const bool is_queue = state == CAMP_STATE_RUN_QUEUE;
    char phrase[CAUSE_NAME_SIZE];

    if (cause->who[0] != '\0')
        snprintf(phrase, sizeof phrase, "%s", cause->who);
    else
        cause_phrase(phrase, NULL, cause->kind, 0, NO_FOLDER);
    if (is_queue && (behind & 1u << cause->kind) != 0)
        snprintf(cause->label, sizeof cause->label, "behind %s", phrase);
    else if (cause->who[0] != '\0' || cause->kind == CAMP_CAUSE_GROUP)
        snprintf(cause->label, sizeof cause->label, "woken by %s", phrase);
    else
        snprintf(cause->label, sizeof cause->label, "%s", cause_kind_name(state, cause->kind));
}

int compared_causes_enter(struct compared_causes *list, const struct causes *causes,
                          const struct cause *row, size_t entity, size_t state, size_t *ret)
{
    struct compared_cause cause = { .entity = entity, .state = state, .kind = row->kind };
    const struct index_slot *slot;
    uint32_t hash;

    put_who(cause.who, causes, row);
    put_label(&cause, row->state);
    hash = hash_of(&cause);
    slot = index_find(&list->index, hash, is_same, list, &cause);
    *ret = slot != NULL ? slot->position : SIZE_MAX;
    if (slot != NULL || list->count >= COMPARED_CAUSES_MOST)
        return CAMP_OK;
    if (!index_reserve(&list->index, list->count + 1) ||
        !ARRAY_RESERVE(list->items, list->capacity, list->count + 1))
        return CAMP_E_NOMEM;
    index_add(&list->index, hash, (uint32_t)list->count);
    *ret = list->count;
    list->items[list->count++] = cause;
    return CAMP_OK;
}

void compared_causes_release(struct compared_causes *list)
{
    free(list->items);
    index_release(&list->index);
    *list = (struct compared_causes){ 0 };
}
