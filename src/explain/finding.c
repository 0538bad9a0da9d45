#include "rule.h"

#include "ledger/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of a row's process, or that which its server gives a session. */
static int64_t number_of(const struct evidence *evidence, const struct entity *entity)
{
    const int64_t pid = entity_pid(entity);

    return evidence->kind == EVIDENCE_SESSIONS ? pid & ENTITY_NUMBER_MASK : pid;
}

static void name_row(char ret[RULE_WHO_SIZE], const struct evidence *evidence,
                     const struct frame *frame, size_t row)
{
    const struct entity *entity = &frame->entities[row];
    const bool is_thread = frame == &evidence->rows.frame && evidence->kind == EVIDENCE_THREADS;
    const int64_t pid = number_of(evidence, entity);

    if (schema_has_servers(frame->schema) && evidence->kind == EVIDENCE_SESSIONS)
        snprintf(ret, RULE_WHO_SIZE, "%s (pid %" PRId64 " of %s)", entity->name, pid,
                 labels_value(entity->labels, 0));
    else if (pid == 0 || evidence->kind == EVIDENCE_OTHER)
        snprintf(ret, RULE_WHO_SIZE, "%s", entity->name);
    else if (is_thread && entity->id != pid)
        snprintf(ret, RULE_WHO_SIZE, "%s (pid %" PRId64 ", thread %" PRId64 ")", entity->name, pid,
                 entity->id);
    else
        snprintf(ret, RULE_WHO_SIZE, "%s (pid %" PRId64 ")", entity->name, pid);
}

bool row_is_task(const struct frame *frame, size_t row)
{
    const struct entity *entity = &frame->entities[row];

    return (entity->flags & ENTITY_OUTSIDE) == 0 &&
           (entity->id != 0 || (entity->flags & ENTITY_ENDED) != 0);
}

size_t measure_most_task(const struct measure *measure)
{
    size_t found = SIZE_MAX;
    double most = 0;

    for (size_t i = 0; i < measure->frame->entity_count; i++) {
        const double value = measure_row(measure, i);

        if (value <= most || !row_is_task(measure->frame, i))
            continue;
        most = value;
        found = i;
    }
    return found;
}

void finding_name(struct finding *ret, const struct evidence *evidence, const struct frame *frame,
                  size_t row)
{
    if (row == SIZE_MAX)
        return;
    name_row(ret->who, evidence, frame, row);
    ret->pid = 0;
    if ((frame->entities[row].flags & ENTITY_ENDED) == 0 && evidence->kind != EVIDENCE_OTHER)
        ret->pid = (int32_t)number_of(evidence, &frame->entities[row]);
}

void finding_name_other(struct finding *ret, const struct evidence *evidence,
                        const struct frame *frame, size_t row)
{
    if (row != SIZE_MAX)
        name_row(ret->other, evidence, frame, row);
}

/* Returns the name of a row's process, which is that of its first thread. */
static const char *process_name(const struct evidence *evidence, const struct frame *frame,
                                size_t row, char ret[CAMP_NAME_SIZE])
{
    const int64_t pid = entity_pid(&frame->entities[row]);
    const char *name = frame->entities[row].name;
    size_t length;

    for (size_t i = 0; pid > 0 && i < evidence->processes.entity_count; i++) {
        if (evidence->processes.entities[i].id == pid)
            name = evidence->processes.entities[i].name;
    }
    length = strlen(name);
    if (ends_with(name, ENTITY_ENDED_SUFFIX))
        length -= strlen(ENTITY_ENDED_SUFFIX);
    copy_text(ret, CAMP_NAME_SIZE, name, length);
    return ret;
}

void finding_explain(struct finding *ret, const struct evidence *evidence,
                     const struct frame *frame, size_t row, uint32_t states)
{
    char name[CAMP_NAME_SIZE];

    if (row == SIZE_MAX || evidence->causes == NULL)
        return;
    finding_cause_of(&ret->cause, evidence, entity_pid(&frame->entities[row]),
                     process_name(evidence, frame, row, name), states);
}

void finding_sum(struct finding *ret, const struct evidence *evidence,
                 const struct measure *measure)
{
    ret->value = ret->lost_s = measure_all(measure);
    ret->provenance = measure_provenance(measure);
    finding_name(ret, evidence, measure->frame, measure_most(measure));
}
