#include "check_inside.h"

#include "check_sessions.h"
#include "ledger/errors/error_series.h"
#include "program/command.h"
#include "recording/recording.h"
#include "sources/machine/tasks_frame.h"

#include <string.h>

static int refuse(const char *text)
{
    return complain(
        STATUS_USAGE,
        "--from %s: camp check shows a recording of check (camp record --from check), "
        "and sessions of a database that are measured, for comparison with what it reports; "
        "camp view and camp report show any",
        from_shown(text).text);
}

static enum tasks_tier tier_of(const char *name)
{
    const enum tasks_tier tier = tasks_tier_of(name);

    return tier != TASKS_AUTOMATIC ? tier : TASKS_SCHEDSTAT;
}

/* Returns whether the first columns[count] of a recording, whose file may have any columns, are
 * those of `expected`. */
static bool has_columns(const struct schema *schema, const struct schema *expected, size_t count)
{
    if (schema->column_count < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(schema->columns[i].name, expected->columns[i].name) != 0)
            return false;
    }
    return true;
}

/* Returns whether busy time was measured at context switches, not read from /proc/stat. */
static bool is_timed(const struct frame *cpus)
{
    return cpus != NULL && cpus->schema->state_count == CPUS_STATES_ANY_WAIT &&
           has_columns(cpus->schema, &cpus_states_schema, CPUS_STATES_STEAL + 1);
}

/* Returns whether the source has the process and CPU columns that camp check needs. */
static bool is_of_check(const struct source *source, bool *ret_is_sampled)
{
    const struct schema *schema = source->describe(source);
    const struct frame *cpus = source_beside(source);
    struct tasks_columns columns;

    if (!tasks_columns_find(&columns, schema) || cpus == NULL || columns.measured != TASKS_MEASURED)
        return false;
    *ret_is_sampled = columns.sampled == TASKS_SAMPLED && columns.absolute == TASKS_ABSOLUTE &&
                      columns.active == TASKS_ACTIVE && columns.maximum == TASKS_MAXIMUM &&
                      columns.stray == TASKS_STRAY;
    return (*ret_is_sampled || schema->column_count == 1) &&
           (is_timed(cpus) || has_columns(cpus->schema, &cpus_schema, CPUS_COLUMN_COUNT));
}

int check_recorded_open(struct check_recorded *recorded, struct from_options *options,
                        struct check_context *context)
{
    const char *text = options->from.text;
    int status;

    /* A live source has a colon, such as "postgres:...". */
    if (!recording_is_path(text) && strchr(text, ':') == NULL)
        return refuse(text);
    status = from_options_open(options, &recorded->source, &recorded->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    recorded->is_sessions = check_sessions_can(recorded->source);
    if (recorded->is_sessions)
        return OPTIONS_GO_ON;
    if (strcmp(recorded->facts.kind, "sessions") == 0)
        return complain(
            STATUS_USAGE,
            "--from %s: on tier %s there is only one of what the database says and what "
            "is measured: nothing to compare",
            recorded->facts.name, recorded->facts.tier);
    if (!is_of_check(recorded->source, &recorded->is_sampled))
        return refuse(text);
    frame_init(&recorded->tasks, &tasks_schema);
    context->is_recorded = true;
    context->tier = recorded->is_sampled ? tier_of(recorded->facts.tier) : TASKS_SCHEDSTAT;
    return OPTIONS_GO_ON;
}

/* Converts a recording that has only the measured time to rows of tasks_schema. */
static int fill_tasks(struct frame *ret, const struct frame *measured)
{
    int r = CAMP_OK;

    frame_clear(ret);
    ret->start_ns = measured->start_ns;
    ret->end_ns = measured->end_ns;
    ret->wall_clock_ns = measured->wall_clock_ns;
    ret->losses = measured->losses;
    for (size_t i = 0; r == CAMP_OK && i < measured->entity_count; i++) {
        const struct entity *entity = &measured->entities[i];
        struct accuracy sum = { 0 };

        accuracy_add(&sum, (double)*frame_values(measured, i), 0);
        r = tasks_add_row(ret, entity->id, entity->flags, entity->count, entity->name, &sum);
    }
    return r;
}

int check_recorded_next(struct check_recorded *recorded, struct check_context *context,
                        const struct frame **ret_tasks, const struct frame **ret_cpus,
                        struct camp_error *error)
{
    const struct frame *tasks;
    int r = recorded->source->next(recorded->source, 0, &tasks, error);

    if (r == CAMP_OK && !recorded->is_sampled)
        r = fill_tasks(&recorded->tasks, tasks);
    if (r != CAMP_OK)
        return r;
    *ret_tasks = recorded->is_sampled ? tasks : &recorded->tasks;
    *ret_cpus = source_beside(recorded->source);
    context->measured_cpus = is_timed(*ret_cpus) ? *ret_cpus : NULL;
    return CAMP_OK;
}

void check_recorded_release(struct check_recorded *recorded)
{
    source_close(recorded->source);
    frame_release(&recorded->tasks);
    *recorded = (struct check_recorded){ 0 };
}
