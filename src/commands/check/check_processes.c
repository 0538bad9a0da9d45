/* Selects, sorts and sums up the processes of one interval of `camp check`. */
#include "check_record.h"

#include "ledger/errors/error_series.h"
#include "views/percent.h"

#include <inttypes.h>
#include <math.h>

bool check_selects_all(const struct selection *selection)
{
    return selection->filter == NULL && selection->pid_count == 0 && !selection->no_kernel_threads;
}

bool check_is_measured(const struct check_record *check, const struct check_context *context)
{
    const struct check_summary *summary = &check->summary;

    return tasks_tiers[context->tier].is_measured &&
           (summary->unmeasured == 0 || summary->unmeasured < summary->processes);
}

bool check_is_sampled(const struct check_record *check, const struct check_context *context)
{
    const struct check_summary *summary = &check->summary;

    return tasks_tiers[context->tier].is_sampled &&
           (summary->unsampled == 0 || summary->unsampled < summary->processes);
}

static const struct tasks_columns columns = {
    .measured = TASKS_MEASURED,
    .sampled = TASKS_SAMPLED,
    .absolute = TASKS_ABSOLUTE,
    .active = TASKS_ACTIVE,
    .maximum = TASKS_MAXIMUM,
    .stray = TASKS_STRAY,
};

static struct check_summary sum_up(const struct selected *selected)
{
    struct check_summary ret = { .rows = selected->count, .worst = SIZE_MAX };

    for (size_t i = 0; i < selected->count; i++) {
        const size_t row = selected->order[i];
        const struct entity *entity = &selected->rows->entities[row];
        const struct accuracy part =
            tasks_columns_accuracy(&columns, frame_values(selected->rows, row));

        if (part.maximum > ret.accuracy.maximum)
            ret.worst = row;
        accuracy_merge(&ret.accuracy, &part);
        ret.processes += entity->count;
        ret.new += (entity->flags & ENTITY_NEW) != 0 ? entity->count : 0;
        ret.ended += (entity->flags & ENTITY_ENDED) != 0 ? entity->count : 0;
        ret.unmeasured += (entity->flags & ENTITY_UNMEASURED) != 0 ? entity->count : 0;
        ret.unsampled += (entity->flags & ENTITY_UNSAMPLED) != 0 ? entity->count : 0;
    }
    return ret;
}

/* Rows are sorted by the column "points", those without it last. If the tier lacks one of the
 * times, rows are sorted by the other. */
static uint64_t error_ns(const void *tier, const struct frame *tasks, size_t row)
{
    const struct tasks_tier_facts *facts = &tasks_tiers[*(const enum tasks_tier *)tier];
    const uint64_t *values = frame_values(tasks, row);

    if (!facts->is_sampled || !facts->is_measured)
        return values[facts->is_measured ? TASKS_MEASURED : TASKS_SAMPLED];
    if ((tasks->entities[row].flags & (ENTITY_UNMEASURED | ENTITY_UNSAMPLED)) != 0)
        return 0;
    return values[TASKS_SAMPLED] > values[TASKS_MEASURED]
               ? values[TASKS_SAMPLED] - values[TASKS_MEASURED]
               : values[TASKS_MEASURED] - values[TASKS_SAMPLED];
}

static const char *remark_on(struct document *document, const struct entity *entity)
{
    const bool is_new = (entity->flags & ENTITY_NEW) != 0;
    const bool ended = (entity->flags & ENTITY_ENDED) != 0;

    if (entity->count == 0)
        return "ended before";
    if (entity->count > 1)
        return document_text(document, "%" PRIu32 " ended", entity->count);
    return is_new && ended ? "new, ended" : is_new ? "new" : ended ? "ended" : "";
}

static void add_process(struct document *document, const struct frame *tasks, size_t at,
                        enum tasks_tier tier)
{
    const struct entity *entity = &tasks->entities[at];
    const uint64_t *values = frame_values(tasks, at);
    const double measured = (entity->flags & ENTITY_UNMEASURED) == 0
                                ? percent_of((double)values[TASKS_MEASURED], tasks->elapsed_ns[at])
                                : NAN;
    const double sampled = tasks_tiers[tier].is_sampled && (entity->flags & ENTITY_UNSAMPLED) == 0
                               ? percent_of((double)values[TASKS_SAMPLED], tasks->elapsed_ns[at])
                               : NAN;
    const double error = error_percent(measured, sampled);
    const struct cell cells[] = {
        entity->id > 0 ? cell_integer(entity->id) : cell_unknown(),
        cell_text_or_unknown(entity->name),
        cell_real(measured),
        cell_real(sampled),
        cell_real(sampled - measured),
        emphasised(cell_real(error), emphasis_of_error(error, sampled - measured)),
        cell_text(remark_on(document, entity)),
        cell_boolean((entity->flags & ENTITY_NEW) != 0),
        cell_boolean((entity->flags & ENTITY_ENDED) != 0),
        cell_natural(entity->count),
    };

    DOCUMENT_ADD(document, CHECK_PROCESSES, cells);
}

int check_add_processes(struct check_record *check, const struct check_context *context,
                        const struct frame *tasks)
{
    struct selection selection = context->selection;
    int r;

    selection.key = error_ns;
    selection.context = (void *)&context->tier;
    r = selection_pick(&check->selected, tasks, &selection);
    if (r == CAMP_OK)
        r = selection_fill(&check->selected, &selection);
    if (r != CAMP_OK)
        return r;
    check->summary = sum_up(&check->selected);
    for (size_t i = 0; i < check->summary.rows && (context->top == 0 || i < context->top); i++)
        add_process(&check->document, check->selected.rows, check->selected.order[i],
                    context->tier);
    return CAMP_OK;
}
