/*
 * The processes of one interval of `camp check`: their selection, order, and sums.
 */
#include "check_record.h"
#include "ledger/array.h"

#include "ledger/error_series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field process_fields[] = {
    { "pid", "pid", "null: ended processes of one name in one row", 7, 0 },
    { "name", "name", "of the task (comm)", -16, 0 },
    { "measured_percent", "measured %", "time on a CPU by the scheduler, of one CPU", 10, 3 },
    { "sampled_percent", "sampled %", "time charged to it at ticks, of one CPU", 9, 3 },
    { "error_percent", "error %", "(sampled - measured) / measured", 8, 1 },
    { NULL, "", "new, ended, and how many", -12, 0 },
    { "new", "new", "began in the interval", 3, 0, true },
    { "ended", "ended", "ended in it", 5, 0, true },
    { "count", "count", "processes in this row", 5, 0, true },
};

size_t check_process_column(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(process_fields); i++) {
        if (process_fields[i].name != NULL && strcmp(process_fields[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

void check_process_columns(char *ret, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < ARRAY_COUNT(process_fields) && length < size; i++) {
        if (process_fields[i].name != NULL)
            length += (size_t)snprintf(ret + length, size - length, "%s%s", i > 0 ? ", " : "",
                                       process_fields[i].name);
    }
}

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

int check_summarise(struct check_record *check, const struct check_context *context,
                    const struct frame *tasks, struct check_summary *ret)
{
    int r = ARRAY_RESERVE(check->order, check->order_capacity, tasks->entity_count) ? CAMP_OK
                                                                                    : CAMP_E_NOMEM;

    *ret = (struct check_summary){ 0 };
    for (size_t i = 0; i < tasks->entity_count && r == CAMP_OK; i++) {
        const struct entity *entity = &tasks->entities[i];
        struct accuracy part = tasks_columns_accuracy(&columns, frame_values(tasks, i));

        if (!is_selected(&context->selection, entity))
            continue;
        accuracy_merge(&ret->accuracy, &part);
        ret->processes += entity->count;
        ret->new += (entity->flags & ENTITY_NEW) != 0 ? entity->count : 0;
        ret->ended += (entity->flags & ENTITY_ENDED) != 0 ? entity->count : 0;
        check->order[ret->rows++] = i;
    }
    return r;
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
static void remark_on(const struct entity *entity, char *ret, size_t capacity)
{
    bool is_new = (entity->flags & ENTITY_NEW) != 0;
    bool ended = (entity->flags & ENTITY_ENDED) != 0;

    if (entity->count > 1)
        snprintf(ret, capacity, "%" PRIu32 " ended", entity->count);
    else
        snprintf(ret, capacity, "%s%s%s", is_new ? "new" : "", is_new && ended ? ", " : "",
                 ended ? "ended" : "");
}

static void fill_process(struct cell *cells, const struct frame *tasks, size_t at,
                         enum tasks_tier tier, const char *remark)
{
    const struct entity *entity = &tasks->entities[at];
    const uint64_t *values = frame_values(tasks, at);
    double measured = percent_of((double)values[TASKS_MEASURED], tasks->elapsed_ns[at]);
    double sampled = tier != TASKS_SCHEDSTAT
                         ? percent_of((double)values[TASKS_SAMPLED], tasks->elapsed_ns[at])
                         : NAN;
    double error = error_percent(measured, sampled);

    *cells++ = entity->id > 0 ? cell_integer(entity->id) : cell_unknown();
    *cells++ = entity->name[0] != '\0' ? cell_text(entity->name) : cell_unknown();
    *cells++ = cell_real(measured);
    *cells++ = cell_real(sampled);
    *cells++ = emphasised(cell_real(error), emphasis_of_error(error, sampled - measured));
    *cells++ = cell_text(remark);
    *cells++ = cell_boolean((entity->flags & ENTITY_NEW) != 0);
    *cells++ = cell_boolean((entity->flags & ENTITY_ENDED) != 0);
    *cells++ = cell_natural(entity->count);
}

int check_fill_processes(struct check_record *check, const struct check_context *context,
                         struct frame *tasks, size_t rows)
{
    size_t shown =
        context->selection.top > 0 && context->selection.top < rows ? context->selection.top : rows;

    if (!ARRAYS_RESERVE(check->process_capacity, shown, ARRAY(check->remarks),
                        ARRAY_ROWS(check->process_cells, ARRAY_COUNT(process_fields))))
        return CAMP_E_NOMEM;
    if (rows > 0)
        qsort_r(check->order, rows, sizeof *check->order, compare_rows, tasks);
    for (size_t i = 0; i < shown; i++) {
        remark_on(&tasks->entities[check->order[i]], check->remarks[i], sizeof check->remarks[i]);
        fill_process(&check->process_cells[i * ARRAY_COUNT(process_fields)], tasks, check->order[i],
                     context->tier, check->remarks[i]);
    }
    check->tables[CHECK_PROCESSES] =
        TABLE_OF_ROWS("processes", process_fields, check->process_cells, shown);
    return CAMP_OK;
}
