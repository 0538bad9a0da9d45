#include "waits_source.h"

#include "cause_names.h"
#include "counters/error.h"
#include "sources/groups.h"
#include "sources/machine/cpus_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/kernel/irq"
#define COLUMNS_MOST (CAMP_STATE_COUNT * (1 + WAITS_COLUMNS) + 1)
#define PARKED CAMP_STATE_COUNT /* the state of parked_column */
#define ENOUGH 100              /* a wait that is not idle is named first from this part on */
#define NAME_SIZE 40

static const struct {
    const char *end, *title, *help;
    enum column_kind kind;
} lengths[WAITS_COLUMNS] = {
    [WAITS_COUNT] = { "_waits", "waits", "waits in this state that ended", COLUMN_COUNTER },
    [WAITS_P50] = { "_p50_ns", "p50", "half of them lasted no longer, to a factor of 2",
                    COLUMN_GAUGE },
    [WAITS_P99] = { "_p99_ns", "p99", "99 % of them lasted no longer, to a factor of 2",
                    COLUMN_GAUGE },
    [WAITS_MAX] = { "_max_ns", "max", "the longest of them", COLUMN_GAUGE },
    [WAITS_MAX_TID] = { "_max_tid", "tid", "thread of the longest", COLUMN_GAUGE },
};

static const char *const label_names[WAITS_LABELS] = { "wait", "cause", "who" };

struct waits_source {
    struct source source; /* must be the first member */
    struct causes_source *causes;
    struct cpus_states *cpus;
    struct camp_states_losses losses; /* of the last reading */
    /* [schema.state_count] enum camp_state of each column, or PARKED */
    uint32_t states[CAMP_STATE_COUNT + 1];
    struct column columns[COLUMNS_MOST];
    char names[CAMP_STATE_COUNT * (size_t)WAITS_COLUMNS][NAME_SIZE];
    struct schema schema;
    struct frame frame;
};

static const struct schema *describe(const struct source *base)
{
    return &((const struct waits_source *)base)->schema;
}

static bool ends_in_length(const char *name, enum waits_column column)
{
    const size_t length = strlen(name), end = strlen(lengths[column].end);

    return length > end && strcmp(name + length - end, lengths[column].end) == 0;
}

size_t waits_first_column(const struct schema *schema, size_t state)
{
    const size_t stem =
        state < schema->state_count ? strlen(schema->columns[state].name) - strlen("_ns") : 0;
    size_t at = schema->state_count;

    while (at < schema->column_count &&
           (stem == 0 || !ends_in_length(schema->columns[at].name, WAITS_COUNT) ||
            strlen(schema->columns[at].name) != stem + strlen(lengths[WAITS_COUNT].end) ||
            strncmp(schema->columns[at].name, schema->columns[state].name, stem) != 0))
        at++;
    return at;
}

bool waits_are_known(const struct frame *frame, size_t row, size_t column)
{
    const size_t at = column - frame->schema->state_count;

    return column < frame->schema->state_count || at % WAITS_COLUMNS == WAITS_COUNT ||
           frame_values(frame, row)[column - at % WAITS_COLUMNS] > 0;
}

static bool has_lengths(uint32_t state)
{
    return state != PARKED && causes_is_wait(state);
}

/* Adds the columns of the states that the session measures, then those of the waits. */
static void make_schema(struct waits_source *source)
{
    const uint64_t unmeasured = threads_unmeasured(causes_session(source->causes));
    struct schema *schema = &source->schema;
    size_t named = 0;

    *schema = (struct schema){ .name = "waits",
                               .columns = source->columns,
                               .label_names = label_names,
                               .label_count = WAITS_LABELS };
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if ((unmeasured >> state & 1) != 0)
            continue;
        source->states[schema->state_count++] = state;
        source->columns[schema->column_count++] = threads_schema.columns[state];
    }
    source->states[schema->state_count++] = PARKED;
    source->columns[schema->column_count++] = parked_column;
    for (size_t i = 0; i < schema->state_count; i++) {
        for (int k = 0; has_lengths(source->states[i]) && k < WAITS_COLUMNS; k++) {
            char *name = source->names[named++];

            snprintf(name, NAME_SIZE, "%s%s", camp_state_name((int)source->states[i]),
                     lengths[k].end);
            source->columns[schema->column_count++] =
                (struct column){ name, lengths[k].title, lengths[k].help, lengths[k].kind,
                                 CAMP_MEASURED };
        }
    }
}

/* Returns how much a cause explains: a wait caused by another process explains more than a wait for
 * work, and that more than a wait that nothing has ended. */
static int weight_of(const struct causes *causes, const struct cause *row)
{
    const enum column_class class = threads_schema.columns[row->state].class;

    if (row->kind == CAUSE_NOT_ENDED)
        return 0;
    return class != CLASS_IDLE && row->wait_ns * ENOUGH >= causes->end_ns - causes->start_ns ? 2
                                                                                             : 1;
}

static bool says_more(const struct causes *causes, const struct cause *row,
                      const struct cause *than)
{
    const int more = weight_of(causes, row) - weight_of(causes, than);

    return more > 0 || (more == 0 && row->wait_ns > than->wait_ns);
}

/* Returns the largest of the causes of a group that explain most, or NULL if it did not wait. */
static const struct cause *largest_cause(const struct causes *causes, uint32_t group)
{
    const struct cause *ret = NULL;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group == group && (ret == NULL || says_more(causes, row, ret)))
            ret = row;
    }
    return ret;
}

static labels_id labels_of(const struct causes *causes, uint32_t group)
{
    const struct cause *cause = largest_cause(causes, group);
    char who[CAUSE_NAME_SIZE];
    const char *values[WAITS_LABELS];

    if (cause == NULL)
        return LABELS_NONE;
    cause_who(who, causes, cause->kind, cause->id, DEVICES);
    values[WAITS_LABEL_WAIT] = camp_state_name((int)cause->state);
    values[WAITS_LABEL_CAUSE] = cause_kind_key(cause->kind);
    values[WAITS_LABEL_WHO] = who;
    return labels_intern(values, WAITS_LABELS);
}

static void fill_values(const struct waits_source *source, uint64_t *values,
                        const struct causes *causes, uint32_t group)
{
    for (size_t i = 0; i < source->schema.state_count; i++) {
        const uint32_t state = source->states[i];

        *values++ = state == PARKED ? causes->parked_ns[group]
                                    : causes->state_ns[group][state] -
                                          (state == CAMP_STATE_LOCK ? causes->parked_ns[group] : 0);
    }
    for (size_t i = 0; i < source->schema.state_count; i++) {
        const struct wait_lengths *of;

        if (!has_lengths(source->states[i]))
            continue;
        of = &causes->lengths[group][source->states[i]];
        values[WAITS_COUNT] = of->count;
        values[WAITS_P50] = of->p50_ns;
        values[WAITS_P99] = of->p99_ns;
        values[WAITS_MAX] = of->longest_ns;
        values[WAITS_MAX_TID] = (uint64_t)of->longest_tid;
        values += WAITS_COLUMNS;
    }
}

/* A group without a thread in the interval has no row. */
static int add_row(struct waits_source *source, const struct causes *causes,
                   const struct camp_states_group *group)
{
    char name[CAUSE_NAME_SIZE];
    struct entity *entity;

    if (group->number >= CAUSE_GROUPS || causes->threads[group->number] == 0)
        return CAMP_OK;
    entity = frame_add(&source->frame);
    if (entity == NULL)
        return CAMP_E_NOMEM;
    cause_group_name(name, group);
    snprintf(entity->name, sizeof entity->name, "%.*s", (int)sizeof entity->name - 1, name);
    entity->id = entity->pid = group->pid;
    entity->count = (uint32_t)causes->threads[group->number];
    entity->flags = group->kind == CAMP_GROUP_KERNEL ? ENTITY_KERNEL : 0;
    entity->labels = labels_of(causes, group->number);
    source->frame.elapsed_ns[source->frame.entity_count - 1] = causes->elapsed_ns[group->number];
    fill_values(source, frame_values(&source->frame, source->frame.entity_count - 1), causes,
                group->number);
    return CAMP_OK;
}

static int count_losses(struct waits_source *source, struct camp_error *error)
{
    struct camp_states_losses now;
    const int r = camp_states_losses(causes_session(source->causes), &now, sizeof now, error);

    if (r != CAMP_OK)
        return r;
    source->frame.losses.unseen = counted_since(source->losses.unseen, now.unseen);
    source->frame.losses.lost = counted_since(source->losses.lost, now.lost) +
                                counted_since(source->losses.exits_lost, now.exits_lost);
    source->losses = now;
    return CAMP_OK;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct waits_source *source = (struct waits_source *)base;
    const struct causes *causes;
    int r = causes_next(source->causes, deadline_ns, &causes, error);

    if (r == CAMP_OK)
        r = cpus_states_read(source->cpus, causes_session(source->causes), error);
    if (r != CAMP_OK)
        return r;
    labels_start_interval();
    frame_clear(&source->frame);
    source->frame.start_ns = causes->start_ns;
    source->frame.end_ns = causes->end_ns;
    source->frame.wall_clock_ns = causes->wall_clock_ns;
    for (size_t i = 0; i < causes->group_count && r == CAMP_OK; i++)
        r = add_row(source, causes, &causes->groups[i]);
    if (r != CAMP_OK)
        return camp_fail(error, r, 0, "no memory for the causes of waits");
    frame_count_lost_labels(&source->frame);
    *ret_frame = &source->frame;
    return count_losses(source, error);
}

static const struct frame *beside(const struct source *base)
{
    return cpus_states_frame(((const struct waits_source *)base)->cpus);
}

static void close_waits(struct source *base)
{
    struct waits_source *source = (struct waits_source *)base;

    cpus_states_close(source->cpus);
    causes_close(source->causes);
    frame_release(&source->frame);
    free(source);
}

int waits_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error)
{
    struct waits_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->source = (struct source){
        .describe = describe, .next = next, .close = close_waits, .beside = beside
    };
    r = cpus_states_open(&source->cpus, error);
    if (r == CAMP_OK)
        r = causes_open(options, stop, &source->causes, error);
    if (r == CAMP_OK) {
        make_schema(source);
        frame_init(&source->frame, &source->schema);
        r = cpus_states_read(source->cpus, causes_session(source->causes), error);
    }
    if (r == CAMP_OK)
        r = count_losses(source, error);
    if (r != CAMP_OK) {
        close_waits(&source->source);
        return r;
    }
    *ret = &source->source;
    return CAMP_OK;
}
