/* The processes of one interval of `camp check`: their selection, order, and sums. */
#include "check_record.h"

#include "ledger/error_series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool is_selected(const struct check_selection *selection, const struct entity *entity)
{
    bool wanted = selection->pid_count == 0;

    if (!selection->kernel_threads && (entity->flags & ENTITY_KERNEL) != 0)
        return false;
    for (size_t i = 0; i < selection->pid_count && !wanted; i++)
        wanted = entity->id == selection->pids[i];
    return wanted &&
           (selection->filter == NULL || regexec(selection->filter, entity->name, 0, NULL, 0) == 0);
}

bool check_selects_all(const struct check_selection *selection)
{
    return selection->filter == NULL && selection->pid_count == 0 && selection->kernel_threads;
}

static const struct tasks_columns columns = {
    .measured = TASKS_MEASURED,
    .sampled = TASKS_SAMPLED,
    .absolute = TASKS_ABSOLUTE,
    .active = TASKS_ACTIVE,
    .maximum = TASKS_MAXIMUM,
    .stray = TASKS_STRAY,
};

/* Adds up the selected rows, and puts them into check->order. */
static void summarise(struct check_record *check, const struct check_context *context,
                      const struct frame *tasks)
{
    struct check_summary *ret = &check->summary;

    *ret = (struct check_summary){ 0 };
    for (size_t i = 0; i < tasks->entity_count; i++) {
        const struct entity *entity = &tasks->entities[i];
        const struct accuracy part = tasks_columns_accuracy(&columns, frame_values(tasks, i));

        if (!is_selected(&context->selection, entity))
            continue;
        accuracy_merge(&ret->accuracy, &part);
        ret->processes += entity->count;
        ret->new += (entity->flags & ENTITY_NEW) != 0 ? entity->count : 0;
        ret->ended += (entity->flags & ENTITY_ENDED) != 0 ? entity->count : 0;
        check->order[ret->rows++] = i;
    }
}

/* Largest sampling error first; without samples, most CPU time first. */
static int compare_rows(const void *left, const void *right, void *frame)
{
    const uint64_t *a = frame_values(frame, *(const size_t *)left);
    const uint64_t *b = frame_values(frame, *(const size_t *)right);
    uint64_t a_error = a[TASKS_ABSOLUTE] + a[TASKS_STRAY];
    uint64_t b_error = b[TASKS_ABSOLUTE] + b[TASKS_STRAY];

    if (a_error != b_error)
        return a_error < b_error ? 1 : -1;
    if (a[TASKS_MEASURED] != b[TASKS_MEASURED])
        return a[TASKS_MEASURED] < b[TASKS_MEASURED] ? 1 : -1;
    return *(const size_t *)left < *(const size_t *)right ? -1 : 1;
}

/* "new", "ended", "new, ended", "12 ended": for the text form. */
static const char *remark_on(struct document *document, const struct entity *entity)
{
    const bool is_new = (entity->flags & ENTITY_NEW) != 0;
    const bool ended = (entity->flags & ENTITY_ENDED) != 0;

    if (entity->count > 1)
        return document_text(document, "%" PRIu32 " ended", entity->count);
    return is_new && ended ? "new, ended" : is_new ? "new" : ended ? "ended" : "";
}

static void add_process(struct document *document, const struct frame *tasks, size_t at,
                        enum tasks_tier tier)
{
    const struct entity *entity = &tasks->entities[at];
    const uint64_t *values = frame_values(tasks, at);
    const double measured = percent_of((double)values[TASKS_MEASURED], tasks->elapsed_ns[at]);
    const double sampled = tier != TASKS_SCHEDSTAT
                               ? percent_of((double)values[TASKS_SAMPLED], tasks->elapsed_ns[at])
                               : NAN;
    const double error = error_percent(measured, sampled);
    const struct cell cells[] = {
        entity->id > 0 ? cell_integer(entity->id) : cell_unknown(),
        entity->name[0] != '\0' ? cell_text(entity->name) : cell_unknown(),
        cell_real(measured),
        cell_real(sampled),
        emphasised(cell_real(error), emphasis_of_error(error, sampled - measured)),
        cell_text(remark_on(document, entity)),
        cell_boolean((entity->flags & ENTITY_NEW) != 0),
        cell_boolean((entity->flags & ENTITY_ENDED) != 0),
        cell_natural(entity->count),
    };

    DOCUMENT_ADD(document, CHECK_PROCESSES, cells);
}

void check_add_processes(struct check_record *check, const struct check_context *context,
                         const struct frame *tasks)
{
    const size_t top = context->selection.top;

    summarise(check, context, tasks);
    qsort_r(check->order, check->summary.rows, sizeof *check->order, compare_rows, (void *)tasks);
    for (size_t i = 0; i < check->summary.rows && (top == 0 || i < top); i++)
        add_process(&check->document, tasks, check->order[i], context->tier);
}
