#include "group.h"

#include <stdlib.h>
#include <string.h>

/* A row of the frame, and what it is grouped by. */
struct keyed {
    int64_t number;
    const char *name; /* of its process */
    size_t row;
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

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    int by_number = compare_numbers(left->number, right->number);
    int by_name = by_number != 0 ? by_number : strcmp(left->name, right->name);

    return by_name != 0 ? by_name : compare_numbers((int64_t)left->row, (int64_t)right->row);
}

/* What is the same in two rows of one group. `first`: the first thread of the row's process. */
static struct keyed key_of(const struct frame *frame, enum group_key key, size_t row,
                           const struct entity *first)
{
    const struct entity *entity = &frame->entities[row];

    switch (key) {
    case GROUP_USER:
        return (struct keyed){ entity->uid, "", row };
    case GROUP_NAME:
        return (struct keyed){ 0, first->name, row };
    case GROUP_PROCESS: /* ended processes have the number 0: their names tell them apart */
        return (first->flags & ENTITY_ENDED) != 0 && is_first(first)
                   ? (struct keyed){ 0, first->name, row }
                   : (struct keyed){ entity->pid, "", row };
    default:
        return (struct keyed){ (int64_t)row, "", row };
    }
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
        to->id = keyed->number;
        to->pid = from->pid;
        to->parent = from->parent;
        to->uid = from->uid;
        to->cgroup = from->cgroup;
        to->flags = from->flags;
        to->count = 0;
        memcpy(to->name, name, strlen(name) + 1);
    }
    to = &ret->entities[ret->entity_count - 1];
    to->count += from->count;
    to->flags &= from->flags;
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
        bool begins = i == 0 || rows[i].number != rows[i - 1].number ||
                      strcmp(rows[i].name, rows[i - 1].name) != 0;
        int r = add_row(ret, frame, &rows[i], names[rows[i].row], begins);

        if (r != CAMP_OK)
            return r;
    }
    return CAMP_OK;
}

/* names[row]: of each row its process's, which is that of its first thread; of threads their own.
 */
static void find_keys(const struct frame *frame, enum group_key key, struct keyed *rows,
                      const char **names)
{
    const struct entity *first = NULL;

    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i].row = i;
    qsort_r(rows, frame->entity_count, sizeof *rows, compare_threads, (void *)frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[rows[i].row];

        if (first == NULL || first->pid != entity->pid || is_first(entity))
            first = entity;
        names[rows[i].row] = key == GROUP_NONE ? entity->name : first->name;
        rows[i] = key_of(frame, key, rows[i].row, first);
    }
}

int group_frame(struct frame *ret, const struct frame *frame, enum group_key key)
{
    const size_t count = frame->entity_count;
    struct keyed *rows = calloc(count + 1, sizeof *rows);
    const char **names = calloc(count + 1, sizeof *names);
    int r = CAMP_E_NOMEM;

    frame_clear(ret);
    ret->start_ns = frame->start_ns;
    ret->end_ns = frame->end_ns;
    ret->wall_clock_ns = frame->wall_clock_ns;
    ret->losses = frame->losses;
    if (rows != NULL && names != NULL) {
        find_keys(frame, key, rows, names);
        qsort(rows, count, sizeof *rows, compare_keys);
        r = add_up(ret, frame, rows, names);
    }
    for (size_t i = 0; r == CAMP_OK && key == GROUP_NONE && i < count; i++)
        ret->entities[i].id = frame->entities[i].id;
    free(rows);
    free(names);
    return r;
}
