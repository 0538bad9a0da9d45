#include "group.h"

#include <stdlib.h>
#include <string.h>

/* A row of the frame, and its key. */
struct keyed {
    bool ended; /* of an exited process */
    int64_t number;
    const char *name; /* of its process */
    size_t row;
};

/* The parameters of a grouping. */
struct grouping {
    const struct frame *frame;
    enum group_key key;
    const int64_t *numbers;
};

static bool is_first(const struct entity *entity)
{
    return entity->id == entity->pid;
}

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_threads(const void *a, const void *b, void *context)
{
    const struct frame *frame = context;

    return entity_compare_by_process(&frame->entities[((const struct keyed *)a)->row],
                                     &frame->entities[((const struct keyed *)b)->row]);
}

/* 0: rows of one group. */
static int compare_groups(const struct keyed *left, const struct keyed *right)
{
    if (left->ended != right->ended)
        return left->ended ? 1 : -1;
    return left->number != right->number ? compare_numbers(left->number, right->number)
                                         : strcmp(left->name, right->name);
}

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    int by_group = compare_groups(left, right);

    return by_group != 0 ? by_group : compare_numbers((int64_t)left->row, (int64_t)right->row);
}

/* The group key of a row. `first`: the first thread of the row's process. */
static struct keyed key_of(const struct grouping *grouping, size_t row, const struct entity *first)
{
    const struct entity *entity = &grouping->frame->entities[row];
    const bool gone = is_first(first) && (first->flags & ENTITY_ENDED) != 0;
    const bool ended = (entity->flags & ENTITY_ENDED) != 0;

    switch (grouping->key) {
    case GROUP_USER:
        return (struct keyed){ gone, entity->uid, "", row };
    case GROUP_NAME:
        return (struct keyed){ gone, 0, first->name, row };
    case GROUP_CGROUP:
        return (struct keyed){ gone, (int64_t)entity->cgroup, "", row };
    case GROUP_NUMBER:
        return (struct keyed){ gone, grouping->numbers[row], "", row };
    case GROUP_PROCESS: /* exited processes have the number 0: their names distinguish them */
        return gone ? (struct keyed){ true, 0, first->name, row }
                    : (struct keyed){ false, entity->pid, "", row };
    case GROUP_THREAD:
        if (ended)
            return (struct keyed){ true, 0, entity->name, row };
        break;
    case GROUP_NONE:
        break;
    }
    return (struct keyed){ ended, entity->id, entity->name, row };
}

static int add_row(struct frame *ret, const struct frame *frame, const struct keyed *keyed,
                   const char *name, bool begins)
{
    const size_t columns = frame->schema->column_count;
    const struct entity *from = &frame->entities[keyed->row];
    const uint64_t *values = frame_values(frame, keyed->row);
    struct entity *to;
    uint64_t *sums;

    if (begins) {
        to = frame_add(ret);
        if (to == NULL)
            return CAMP_E_NOMEM;
        *to = *from;
        to->id = keyed->number;
        to->count = 0;
        memcpy(to->name, name, strlen(name) + 1);
    }
    to = &ret->entities[ret->entity_count - 1];
    to->count += from->count;
    to->flags &= from->flags;
    if (to->labels != from->labels)
        to->labels = NULL;
    to->flags |= keyed->ended ? ENTITY_ENDED : 0;
    sums = frame_values(ret, ret->entity_count - 1);
    for (size_t i = 0; i < columns; i++)
        sums[i] += values[i];
    ret->elapsed_ns[ret->entity_count - 1] += frame->elapsed_ns[keyed->row];
    return CAMP_OK;
}

static int add_up(struct frame *ret, const struct frame *frame, const struct keyed *rows,
                  const char *const *names)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const bool begins = i == 0 || compare_groups(&rows[i], &rows[i - 1]) != 0;
        int r = add_row(ret, frame, &rows[i], names[rows[i].row], begins);

        if (r != CAMP_OK)
            return r;
    }
    return CAMP_OK;
}

/* names[row]: the name of each row's process, which is that of its first thread; exited threads
 * have their own. */
static void find_keys(const struct grouping *grouping, struct keyed *rows, const char **names)
{
    const struct frame *frame = grouping->frame;
    const bool single = grouping->key == GROUP_NONE || grouping->key == GROUP_THREAD;
    const struct entity *first = NULL;

    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i].row = i;
    qsort_r(rows, frame->entity_count, sizeof *rows, compare_threads, (void *)frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[rows[i].row];

        if (first == NULL || first->pid != entity->pid || is_first(entity))
            first = entity;
        names[rows[i].row] = single ? entity->name : first->name;
        rows[i] = key_of(grouping, rows[i].row, first);
    }
}

int group_frame(struct frame *ret, const struct frame *frame, enum group_key key,
                const int64_t *numbers)
{
    const struct grouping grouping = { frame, key, numbers };
    const size_t count = frame->entity_count;
    struct keyed *rows = calloc(count + 1, sizeof *rows);
    const char **names = calloc(count + 1, sizeof *names);
    int r = CAMP_E_NOMEM;

    frame_clear(ret);
    ret->start_ns = frame->start_ns;
    ret->end_ns = frame->end_ns;
    ret->wall_clock_ns = frame->wall_clock_ns;
    ret->losses = frame->losses;
    ret->note = frame->note;
    if (rows != NULL && names != NULL) {
        find_keys(&grouping, rows, names);
        qsort(rows, count, sizeof *rows, compare_keys);
        r = add_up(ret, frame, rows, names);
    }
    free(rows);
    free(names);
    return r;
}
