#include "container_labels.h"

#include "counters/error.h"

#include <stdio.h>
#include <stdlib.h>

struct container_labels {
    struct source source; /* must be the first member */
    struct source *tasks;
    struct containers *containers;
    /* The place of the previous row, and its labels: most threads are beside others of a place. */
    const struct container_place *last;
    labels_id last_labels;
    struct schema schema; /* that of the tasks, with labels */
    struct frame frame;   /* its arrays belong to the newest frame of `tasks` */
    char note[FRAME_NOTE_SIZE];
};

static const struct schema *describe(const struct source *base)
{
    return &((const struct container_labels *)base)->schema;
}

static const struct container_place *place_of(const struct container_labels *labels,
                                              const struct entity *entity)
{
    const struct container_task task = { entity->cgroup, (int32_t)entity_pid(entity),
                                         entity->parent };

    return containers_find(labels->containers, &task);
}

static int label_row(struct container_labels *labels, struct entity *entity)
{
    const struct container_place *place = place_of(labels, entity);
    const char *values[CONTAINER_LABEL_COUNT];

    if (place == NULL)
        return CAMP_E_NOMEM;
    if (place != labels->last) {
        for (int i = 0; i < CONTAINER_LABEL_COUNT; i++)
            values[i] = container_place_text(place, (enum container_label)i);
        labels->last = place;
        labels->last_labels = labels_intern(values, CONTAINER_LABEL_COUNT);
    }
    entity->labels = labels->last_labels;
    return CAMP_OK;
}

/* Sets the note of the frame: that of the tasks, and that of the names. */
static void note(struct container_labels *labels, const struct frame *tasks)
{
    const char *of_tasks = tasks->note != NULL ? tasks->note : "";
    const char *of_names = containers_note(labels->containers);

    snprintf(labels->note, sizeof labels->note, "%s%s%s", of_tasks,
             of_tasks[0] != '\0' && of_names[0] != '\0' ? "; " : "", of_names);
    labels->frame.note = labels->note;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct container_labels *labels = (struct container_labels *)base;
    const struct frame *tasks;
    int r = labels->tasks->next(labels->tasks, deadline_ns, &tasks, error);

    if (r != CAMP_OK)
        return r;
    labels_start_interval();
    containers_start(labels->containers);
    labels->last = NULL;
    labels->frame = *tasks;
    labels->frame.schema = &labels->schema;
    /* The file of a container also names its pod for rows before it, so first all places are found.
     */
    for (size_t i = 0; r == CAMP_OK && i < tasks->entity_count; i++)
        r = place_of(labels, &tasks->entities[i]) != NULL ? CAMP_OK : CAMP_E_NOMEM;
    for (size_t i = 0; r == CAMP_OK && i < tasks->entity_count; i++)
        r = label_row(labels, &labels->frame.entities[i]);
    if (r != CAMP_OK)
        return camp_fail(error, r, 0, "no memory for the names of containers");
    frame_count_lost_labels(&labels->frame);
    note(labels, tasks);
    *ret_frame = &labels->frame;
    return CAMP_OK;
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct container_labels *)base)->tasks);
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    return source_causes(((struct container_labels *)base)->tasks, ret, error);
}

static void set_idle(struct source *base, enum idle_rows idle)
{
    /* Names of containers may come late, and the note counts those that are in the frame. */
    source_set_idle(((struct container_labels *)base)->tasks,
                    idle == IDLE_OMITTED ? IDLE_EACH : idle);
}

static void close_labels(struct source *base)
{
    struct container_labels *labels = (struct container_labels *)base;

    source_close(labels->tasks);
    containers_close(labels->containers);
    free(labels);
}

int container_labels_open(struct source *tasks, struct source **ret, struct camp_error *error)
{
    struct container_labels *labels = calloc(1, sizeof *labels);
    int r = labels != NULL ? containers_open(&labels->containers, error)
                           : camp_fail(error, CAMP_E_NOMEM, 0, "no memory");

    if (labels == NULL || r != CAMP_OK) {
        source_close(tasks);
        free(labels);
        return r;
    }
    labels->source = (struct source){ describe, next, close_labels, beside, set_idle, causes };
    labels->tasks = tasks;
    labels->schema = *tasks->describe(tasks);
    labels->schema.label_names = container_label_names;
    labels->schema.label_count = CONTAINER_LABEL_COUNT;
    *ret = &labels->source;
    return CAMP_OK;
}
