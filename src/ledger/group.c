#include "group.h"

#include "words.h"

#include <stdlib.h>
#include <string.h>

/* A row and the key of its group. Rows with equal `ended`, `number` and `name` are one group. */
struct keyed {
    /* With GROUP_NONE and GROUP_THREAD: whether the thread has exited. With GROUP_LABEL: false.
     * Otherwise: whether the process has exited. */
    bool ended;
    int64_t number;
    const char *name;
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

static struct keyed key_of(const struct grouping *grouping, const struct frame *frame, size_t row,
                           const struct entity *first)
{
    const struct entity *entity = &frame->entities[row];
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
    case GROUP_LABEL:
        return (struct keyed){ false, 0, labels_value(entity->labels, grouping->label), row };
    /* Exited processes have the number 0, and are grouped by name. */
    case GROUP_PROCESS:
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

/* Returns `labels` with only the value of grouping->label, or LABELS_NONE if this value is
 * empty. */
static labels_id one_label(const struct grouping *grouping, labels_id labels)
{
    const char *values[LABELS_MOST] = { NULL };

    if (labels_count(labels) == 0)
        return labels;
    values[grouping->label] = labels_value(labels, grouping->label);
    return labels_intern(values, labels_count(labels));
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
    copy_text(group->name, sizeof group->name, name, strlen(name));
    if (grouping->key != GROUP_LABEL)
        return;
    *group = (struct entity){ .labels = one_label(grouping, group->labels) };
    name = name[0] != '\0' ? name : "(none)";
    copy_text(group->name, sizeof group->name, name, strlen(name));
}

static int add_row(const struct grouping *grouping, struct frame *ret, const struct frame *frame,
                   const struct keyed *keyed, const char *name, bool starts)
{
    const size_t columns = frame->schema->column_count;
    const struct entity *from = &frame->entities[keyed->row];
    const uint64_t *values = frame_values(frame, keyed->row);
    struct entity *to;
    uint64_t *sums;

    if (starts) {
        to = frame_add(ret);
        if (to == NULL)
            return CAMP_E_NOMEM;
        *to = *from;
        start_group(grouping, to, keyed->number, name);
    }
    to = &ret->entities[ret->entity_count - 1];
    to->count += from->count;
    to->flags &= from->flags;
    if (grouping->key != GROUP_LABEL && to->labels != from->labels)
        to->labels = common_labels(to->labels, from->labels);
    to->flags |= keyed->ended ? ENTITY_ENDED : 0;
    sums = frame_values(ret, ret->entity_count - 1);
    for (size_t i = 0; i < columns; i++)
        sums[i] += values[i];
    ret->elapsed_ns[ret->entity_count - 1] += frame->elapsed_ns[keyed->row];
    return CAMP_OK;
}

static int add_up(const struct grouping *grouping, struct frame *ret, const struct frame *frame,
                  const struct keyed *rows, const char *const *names)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const bool starts = i == 0 || compare_groups(&rows[i], &rows[i - 1]) != 0;
        int r = add_row(grouping, ret, frame, &rows[i], names[rows[i].row], starts);

        if (r != CAMP_OK)
            return r;
    }
    return CAMP_OK;
}

/* Fills rows[] with keys, and names[] with the names of the rows: the thread's name for GROUP_NONE
 * and GROUP_THREAD, the label's value for GROUP_LABEL, otherwise the name of the process's first
 * thread. */
static void find_keys(const struct grouping *grouping, const struct frame *frame,
                      struct keyed *rows, const char **names)
{
    const bool single = grouping->key == GROUP_NONE || grouping->key == GROUP_THREAD;
    const struct entity *first = NULL;

    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i].row = i;
    qsort_r(rows, frame->entity_count, sizeof *rows, compare_threads, (void *)frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[rows[i].row];

        if (first == NULL || first->pid != entity->pid || is_first(entity))
            first = entity;
        names[rows[i].row] = grouping->key == GROUP_LABEL
                                 ? labels_value(entity->labels, grouping->label)
                             : single ? entity->name
                                      : first->name;
        rows[i] = key_of(grouping, frame, rows[i].row, first);
    }
}

int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping)
{
    const size_t count = frame->entity_count;
    struct keyed *rows = calloc(count + 1, sizeof *rows);
    const char **names = calloc(count + 1, sizeof *names);
    int r = CAMP_E_NOMEM;

    frame_start_as(ret, frame);
    if (rows != NULL && names != NULL) {
        find_keys(grouping, frame, rows, names);
        qsort(rows, count, sizeof *rows, compare_keys);
        r = add_up(grouping, ret, frame, rows, names);
    }
    free(rows);
    free(names);
    return r;
}
