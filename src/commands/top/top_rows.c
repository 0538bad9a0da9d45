#include "top_rows.h"

#include "ledger/group.h"
#include "ledger/tree.h"

#include <camp/states.h>

#include <stdlib.h>
#include <string.h>

const char *const top_group_names[] = { "thread", "process",  "user", "command",
                                        "cgroup", "workload", NULL };

/* ----------------------------------------------------------------------------- Selecting -- */

static bool is_selected(const struct entity *entity, const struct top_selection *selection)
{
    bool wanted = selection->pid_count == 0;

    if (!selection->kernel_threads && (entity->flags & ENTITY_KERNEL) != 0)
        return false;
    for (size_t i = 0; i < selection->pid_count && !wanted; i++)
        wanted = entity->pid == selection->pids[i];
    return wanted;
}

int top_copy_frame(struct frame *ret, const struct frame *from,
                   const struct top_selection *selection)
{
    const size_t columns = from->schema->column_count;

    if (ret->schema == NULL)
        frame_init(ret, from->schema);
    frame_clear(ret);
    ret->start_ns = from->start_ns;
    ret->end_ns = from->end_ns;
    ret->wall_clock_ns = from->wall_clock_ns;
    ret->losses = from->losses;
    ret->note = NULL; /* it goes with the next look */
    for (size_t i = 0; i < from->entity_count; i++) {
        struct entity *entity;

        if (selection != NULL && !is_selected(&from->entities[i], selection))
            continue;
        entity = frame_add(ret);
        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = from->entities[i];
        ret->elapsed_ns[ret->entity_count - 1] = from->elapsed_ns[i];
        memcpy(frame_values(ret, ret->entity_count - 1), frame_values(from, i),
               columns * sizeof *from->values);
    }
    return CAMP_OK;
}

/* Most often all of them: then nothing is copied. */
static int select_threads(struct top_rows *ret, const struct frame *threads,
                          const struct top_selection *selection)
{
    const bool all = selection->pid_count == 0 && selection->kernel_threads;

    ret->threads = all ? threads : &ret->selected;
    return all ? CAMP_OK : top_copy_frame(&ret->selected, threads, selection);
}

static int group_threads(struct top_rows *ret, const struct top_selection *selection)
{
    static const enum group_key keys[] = {
        [TOP_THREAD] = GROUP_NONE,  [TOP_PROCESS] = GROUP_PROCESS, [TOP_USER] = GROUP_USER,
        [TOP_COMMAND] = GROUP_NAME, [TOP_CGROUP] = GROUP_CGROUP,   [TOP_WORKLOAD] = GROUP_NUMBER,
    };
    const int64_t *numbers = NULL;
    enum group_key key = keys[selection->group];
    int r = CAMP_OK;

    if (key == GROUP_NONE && selection->for_text)
        key = GROUP_THREAD;
    if (selection->group == TOP_WORKLOAD) {
        r = top_workloads_find(selection->workloads, selection->users, ret->threads);
        numbers = selection->workloads->numbers;
    } else if (selection->group == TOP_CGROUP) {
        r = cgroup_paths_resolve(selection->cgroups, ret->threads);
    }
    return r == CAMP_OK ? group_frame(&ret->groups, ret->threads, key, numbers) : r;
}

const char *top_row_name(const struct top_selection *selection, const struct entity *row)
{
    switch (selection->group) {
    case TOP_USER:
        return user_names_get(selection->users, row->uid);
    case TOP_CGROUP:
        return cgroup_paths_name(selection->cgroups, (uint64_t)row->id);
    case TOP_WORKLOAD:
        return workloads_name(&selection->workloads->rules, (size_t)row->id);
    case TOP_THREAD:
    case TOP_PROCESS:
    case TOP_COMMAND:
        break;
    }
    return row->name;
}

/* ------------------------------------------------------------------------------ Ordering -- */

struct sorting {
    const struct frame *frame;
    int sort;
    bool ended_apart;
};

uint64_t top_on_cpu_ns(const uint64_t *values)
{
    return values[CAMP_STATE_USER] + values[CAMP_STATE_SYSTEM] + values[CAMP_STATE_IRQ];
}

uint64_t top_sleep_ns(const uint64_t *values)
{
    return values[CAMP_STATE_POLL] + values[CAMP_STATE_SOCKET] + values[CAMP_STATE_PIPE] +
           values[CAMP_STATE_TIMER] + values[CAMP_STATE_CHILD] + values[CAMP_STATE_OTHER_SLEEP] +
           values[CAMP_STATE_STOPPED];
}

static bool is_ended(const struct frame *frame, size_t row)
{
    return (frame->entities[row].flags & ENTITY_ENDED) != 0;
}

/* By what was asked for; who is equal in it, by CPU and run queue; then by id. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const uint64_t *l = frame_values(sorting->frame, left);
    const uint64_t *r = frame_values(sorting->frame, right);
    const uint64_t lefts[] = { sorting->sort < 0 ? top_on_cpu_ns(l) : l[sorting->sort],
                               top_on_cpu_ns(l), l[CAMP_STATE_RUN_QUEUE] };
    const uint64_t rights[] = { sorting->sort < 0 ? top_on_cpu_ns(r) : r[sorting->sort],
                                top_on_cpu_ns(r), r[CAMP_STATE_RUN_QUEUE] };

    if (sorting->ended_apart && is_ended(sorting->frame, left) != is_ended(sorting->frame, right))
        return is_ended(sorting->frame, left) ? 1 : -1;
    for (size_t i = 0; i < sizeof lefts / sizeof lefts[0]; i++) {
        if (lefts[i] != rights[i])
            return lefts[i] > rights[i] ? -1 : 1;
    }
    return left < right ? -1 : left > right;
}

static int reserve(struct top_rows *ret)
{
    const size_t wanted = ret->groups.entity_count + 1;

    if (wanted > ret->capacity) {
        free(ret->order);
        free(ret->depths);
        ret->capacity = 2 * wanted;
        ret->order = calloc(ret->capacity, sizeof *ret->order);
        ret->depths = calloc(ret->capacity, sizeof *ret->depths);
    }
    if (ret->order != NULL && ret->depths != NULL)
        return CAMP_OK;
    ret->capacity = 0;
    return CAMP_E_NOMEM;
}

/* Of `top` rows those that ended get what the living leave, and a quarter in any case. */
static void cut(struct top_rows *ret, size_t top)
{
    const size_t ended = ret->count - ret->living;
    const size_t left = ret->living < top ? top - ret->living : 0;
    const size_t room = left > top / 4 ? left : top / 4;
    const size_t kept = ended < room ? ended : room;

    if (top == 0 || ret->count <= top)
        return;
    if (ret->living > top - kept) {
        memmove(ret->order + (top - kept), ret->order + ret->living, kept * sizeof *ret->order);
        ret->living = top - kept;
    }
    ret->count = ret->living + kept;
}

static int order_rows(struct top_rows *ret, const struct top_selection *selection)
{
    struct sorting sorting = { &ret->groups, selection->sort,
                               selection->for_text || selection->tree };
    int r = CAMP_OK;

    ret->count = 0;
    for (size_t i = 0; i < ret->groups.entity_count; i++) {
        if (selection->filter == NULL ||
            regexec(selection->filter, top_row_name(selection, &ret->groups.entities[i]), 0, NULL,
                    0) == 0)
            ret->order[ret->count++] = i;
    }
    qsort_r(ret->order, ret->count, sizeof *ret->order, compare_rows, &sorting);
    ret->living = ret->count;
    while (sorting.ended_apart && ret->living > 0 &&
           is_ended(&ret->groups, ret->order[ret->living - 1]))
        ret->living--;
    memset(ret->depths, 0, ret->count * sizeof *ret->depths);
    if (selection->tree)
        r = tree_order(&ret->groups, ret->order, ret->living, ret->depths);
    cut(ret, selection->top);
    return r;
}

int top_rows_fill(struct top_rows *ret, const struct frame *threads,
                  const struct top_selection *selection)
{
    int r;

    if (ret->groups.schema == NULL)
        frame_init(&ret->groups, threads->schema);
    r = select_threads(ret, threads, selection);
    if (r == CAMP_OK)
        r = group_threads(ret, selection);
    if (r == CAMP_OK)
        r = reserve(ret);
    return r == CAMP_OK ? order_rows(ret, selection) : r;
}

void top_rows_release(struct top_rows *rows)
{
    frame_release(&rows->selected);
    frame_release(&rows->groups);
    free(rows->order);
    free(rows->depths);
    *rows = (struct top_rows){ 0 };
}
