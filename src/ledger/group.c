#include "group.h"

#include "array.h"
#include "index.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* Rows with equal `ended`, `number` and `text` are one group. */
struct key {
    /* With GROUP_NONE and GROUP_THREAD: whether the thread has exited. With GROUP_LABEL: false.
     * Otherwise: whether the process has exited. */
    bool ended;
    int64_t number;
    const char *text;
    const char *name; /* of the group, if it starts with this row */
};

struct group {
    struct key key;
    size_t row;      /* its first row; of a process: the row of its first thread */
    uint32_t number; /* its index in the order of first rows */
};

struct groups {
    struct group *items; /* [count] */
    size_t count, capacity;
    uint32_t last; /* the number of the group that find_group() returned last */
    struct index index;
};

static void release(struct groups *groups)
{
    free(groups->items);
    index_release(&groups->index);
}

static bool is_first(const struct entity *entity)
{
    return entity->id == entity->pid;
}

static int compare_keys(const struct key *left, const struct key *right)
{
    if (left->ended != right->ended)
        return left->ended ? 1 : -1;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return left->text != right->text ? strcmp(left->text, right->text) : 0;
}

static int compare_groups(const void *left, const void *right)
{
    return compare_keys(&((const struct group *)left)->key, &((const struct group *)right)->key);
}

static uint32_t hash_of(const struct key *key)
{
    const uint64_t text = key->text[0] != '\0' ? index_hash_bytes(key->text, strlen(key->text)) : 0;

    return index_hash_number((uint64_t)key->number ^ text << 32);
}

static bool has_key(const void *context, uint32_t position, const void *key)
{
    const struct groups *groups = context;

    return compare_keys(&groups->items[position].key, key) == 0;
}

/* Sets *ret to the number of the group with a key. A new group starts with `row`. Most rows are in
 * the group of the row before. Returns false if there is no memory. */
static bool find_group(struct groups *groups, const struct key *key, size_t row, uint32_t *ret)
{
    const struct index_slot *slot;
    uint32_t hash;

    if (groups->count == 0 || !has_key(groups, groups->last, key)) {
        hash = hash_of(key);
        slot = index_find(&groups->index, hash, has_key, groups, key);
        groups->last = slot != NULL ? slot->position : (uint32_t)groups->count;
        if (slot == NULL) {
            if (!index_reserve(&groups->index, groups->count + 1) ||
                !ARRAY_RESERVE(groups->items, groups->capacity, groups->count + 1))
                return false;
            index_add(&groups->index, hash, groups->last);
            groups->items[groups->count++] = (struct group){ *key, row, groups->last };
        }
    }
    *ret = groups->last;
    return true;
}

static const struct index_slot *slot_of(const struct groups *groups, const struct key *key)
{
    return index_find(&groups->index, hash_of(key), has_key, groups, key);
}

/* Finds the process of each row that is not of a first thread, and the first thread: the thread
 * whose id is the pid. Without it, the first thread is the one with the smallest id. */
static bool find_processes(struct groups *processes, const struct frame *frame, uint32_t *members)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const struct key key = { .number = entity->pid, .text = "" };
        size_t *row;

        if (is_first(entity))
            continue;
        if (!find_group(processes, &key, i, &members[i]))
            return false;
        row = &processes->items[members[i]].row;
        if (entity->id < frame->entities[*row].id)
            *row = i;
    }
    for (size_t i = 0; processes->count > 0 && i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const struct key key = { .number = entity->pid, .text = "" };
        const struct index_slot *slot = is_first(entity) ? slot_of(processes, &key) : NULL;

        if (slot != NULL)
            processes->items[slot->position].row = i;
    }
    return true;
}

static size_t label_of(const struct grouping *grouping, size_t at)
{
    return at == 0 ? grouping->label : grouping->more_labels[at - 1];
}

bool grouping_has_label(const struct grouping *grouping, size_t label)
{
    for (size_t i = 0; i <= grouping->more_count; i++) {
        if (label_of(grouping, i) == label)
            return true;
    }
    return false;
}

labels_id grouping_labels(const struct grouping *grouping, labels_id labels)
{
    const char *values[LABELS_MOST] = { NULL };

    if (labels_count(labels) == 0)
        return labels;
    for (size_t i = 0; i <= grouping->more_count; i++)
        values[label_of(grouping, i)] = labels_value(labels, label_of(grouping, i));
    return labels_intern(values, labels_count(labels));
}

static void append(char ret[CAMP_NAME_SIZE], size_t *length, const char *text)
{
    copy_text(ret + *length, CAMP_NAME_SIZE - *length, text, strlen(text));
    *length += strlen(ret + *length);
}

void grouping_name(const struct grouping *grouping, labels_id labels, char ret[CAMP_NAME_SIZE])
{
    size_t length = 0;

    for (size_t i = 0; i <= grouping->more_count; i++) {
        const char *value = labels_value(labels, label_of(grouping, i));

        if (i > 0)
            append(ret, &length, ", ");
        append(ret, &length, value[0] != '\0' ? value : "(none)");
    }
}

/* Returns the key of a row. The name of its group is the name of the first thread of its process,
 * unless a thread or a label's value is the group. */
static struct key key_of(const struct grouping *grouping, const struct frame *frame, size_t row,
                         const struct entity *first)
{
    const struct entity *entity = &frame->entities[row];
    const bool gone = is_first(first) && (first->flags & ENTITY_ENDED) != 0;
    struct key ret = { .ended = gone, .text = "", .name = first->name };

    switch (grouping->key) {
    case GROUP_USER:
        ret.number = entity->uid;
        break;
    case GROUP_NAME:
        ret.text = first->name;
        break;
    case GROUP_CGROUP:
        ret.number = (int64_t)entity->cgroup;
        break;
    case GROUP_NUMBER:
        ret.number = grouping->numbers[row];
        break;
    case GROUP_LABEL:
        ret.ended = false;
        ret.name = ret.text = labels_value(entity->labels, grouping->label);
        if (grouping->more_count > 0)
            ret.number = (int64_t)grouping_labels(grouping, entity->labels);
        break;
    /* Exited processes have the number 0, and are grouped by name. */
    case GROUP_PROCESS:
        ret.number = gone ? 0 : entity->pid;
        ret.text = gone ? first->name : "";
        break;
    case GROUP_THREAD:
    case GROUP_NONE:
        ret.ended = (entity->flags & ENTITY_ENDED) != 0;
        ret.number = ret.ended && grouping->key == GROUP_THREAD ? 0 : entity->id;
        ret.name = ret.text = entity->name;
        break;
    }
    return ret;
}

/* Returns the labels that are equal in both tuples. */
static labels_id common_labels(labels_id left, labels_id right)
{
    const char *values[LABELS_MOST] = { NULL };
    const size_t count = labels_count(left);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(labels_value(left, i), labels_value(right, i)) == 0)
            values[i] = labels_value(left, i);
    }
    return labels_intern(values, count);
}

static void start_group(const struct grouping *grouping, struct entity *group, int64_t number,
                        const char *name)
{
    group->id = number;
    group->count = 0;
    group->flags &= ~(uint32_t)ENTITY_ALIKE;
    copy_text(group->name, sizeof group->name, name, strlen(name));
    if (grouping->key != GROUP_LABEL)
        return;
    *group = (struct entity){ .flags = group->flags & ENTITY_UNTHROTTLED,
                              .labels = grouping_labels(grouping, group->labels) };
    grouping_name(grouping, group->labels, group->name);
}

/* Finds the group of each row. If a process exited and another one got its pid, each of the two has
 * its own first thread. */
static bool find_groups(struct groups *groups, const struct grouping *grouping,
                        const struct frame *frame, uint32_t *members)
{
    struct groups processes = { 0 };
    bool done =
        find_processes(&processes, frame, members) &&
        (grouping->key != GROUP_PROCESS || index_reserve(&groups->index, frame->entity_count));

    for (size_t i = 0; i < frame->entity_count && done; i++) {
        const size_t first = is_first(&frame->entities[i]) ? i : processes.items[members[i]].row;
        const struct key key = key_of(grouping, frame, i, &frame->entities[first]);

        done = find_group(groups, &key, i, &members[i]);
    }
    release(&processes);
    return done;
}

/* Adds a row for each group, in the order of the keys. Sets places[] to the row of each group. */
static int add_groups(struct groups *groups, const struct grouping *grouping, struct frame *ret,
                      const struct frame *frame, uint32_t *places)
{
    if (groups->count > 0)
        qsort(groups->items, groups->count, sizeof *groups->items, compare_groups);
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];
        struct entity *entity = frame_add(ret);

        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = frame->entities[group->row];
        start_group(grouping, entity, group->key.number, group->key.name);
        ret->only_states[i] = frame->only_states[group->row];
        places[group->number] = (uint32_t)i;
    }
    return CAMP_OK;
}

static void add_row(const struct grouping *grouping, struct frame *ret, size_t place,
                    const struct frame *frame, size_t row, bool ended)
{
    const struct entity *from = &frame->entities[row];
    struct entity *to = &ret->entities[place];

    to->count += from->count;
    to->flags &= from->flags;
    if (grouping->key != GROUP_LABEL && to->labels != from->labels)
        to->labels = common_labels(to->labels, from->labels);
    to->flags |= ended ? ENTITY_ENDED : 0;
    frame_add_values(ret, place, frame, row);
}

int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping)
{
    const size_t count = frame->entity_count;
    uint32_t *members = calloc(count + 1, sizeof *members);
    uint32_t *places = calloc(count + 1, sizeof *places);
    struct groups groups = { 0 };
    int r = CAMP_E_NOMEM;

    frame_start_as(ret, frame);
    if (members != NULL && places != NULL && find_groups(&groups, grouping, frame, members))
        r = add_groups(&groups, grouping, ret, frame, places);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        const uint32_t place = places[members[i]];

        add_row(grouping, ret, place, frame, i, groups.items[place].key.ended);
    }
    release(&groups);
    free(members);
    free(places);
    return r;
}
