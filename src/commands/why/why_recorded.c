#include "why_recorded.h"

#include "program/command.h"
#include "program/suggestion.h"
#include "sources/causes/cause_names.h"
#include "sources/from_list.h"
#include "why_sessions.h"
#include "why_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 5 /* names in an error message */
#define LIST_SIZE ((size_t)LISTED * (CAUSE_NAME_SIZE + 2))

uint32_t why_find_subject(const struct causes *causes, const char *subject, int32_t pid)
{
    for (size_t i = 0; i < causes->group_count && subject != NULL; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (pid != 0 ? group->kind == CAMP_GROUP_PROCESS && group->pid == pid
                     : group->kind == CAMP_GROUP_NAME &&
                           strncmp(group->name, subject, CAMP_STATES_NAME_SIZE - 1) == 0)
            return group->number;
    }
    return WHY_ALL;
}

int why_recorded_open(struct why_recorded *ret, struct from_options *from)
{
    const struct from_source *source = NULL;
    struct camp_error error = { 0 };

    const int r = from_source_of(from->from.text, &source, &error);

    if ((r == CAMP_E_INVALID && source == NULL) ||
        (r == CAMP_OK && source->opener != OPENS_RECORDING &&
         !why_sessions_is_database(from->from.text)))
        return complain(STATUS_USAGE,
                        "--from %s is neither a recording nor a database: give a recording of camp "
                        "record --why, postgres:CONNINFO, mariadb:CONNINFO, or no --from to "
                        "measure the threads of this machine now",
                        from_shown(from->from.text).text);
    return from_options_open(from, &ret->source, &ret->facts);
}

void why_recorded_close(struct why_recorded *recorded)
{
    source_close(recorded->source);
    cause_sum_release(&recorded->sum);
}

static int complain_of_no_causes(const struct why_recorded *recorded)
{
    return complain(STATUS_FAILURE, "%s has no causes of waits: record them with camp record --why",
                    recorded->facts.name);
}

/* A group with a name of its own, and how far that is from the one that was asked for. */
struct near_group {
    const struct camp_states_group *group;
    size_t distance, order;
};

static int compare_near(const void *left, const void *right)
{
    const struct near_group *a = left, *b = right;

    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Lists the groups whose names are nearest. Returns how many there are in all. */
static size_t list_groups(char ret[LIST_SIZE], const struct cause_sum *sum, const char *subject)
{
    struct near_group near[CAUSE_GROUPS];
    size_t length = 0, count = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < sum->met_count; i++) {
        if (sum->met[i].kind >= CAMP_GROUP_NAME)
            near[count++] =
                (struct near_group){ &sum->met[i], suggestion_distance(subject, sum->met[i].name),
                                     i };
    }
    qsort(near, count, sizeof *near, compare_near);
    for (size_t i = 0; i < count && i < LISTED; i++) {
        char name[CAUSE_NAME_SIZE];

        cause_group_name(name, near[i].group);
        length +=
            (size_t)snprintf(ret + length, LIST_SIZE - length, "%s%s", i > 0 ? ", " : "", name);
    }
    return count;
}

struct progress_of_parts {
    const struct why_parts *parts;
    uint64_t read, shown;      /* intervals, and parts */
    char name[CAMP_NAME_SIZE]; /* of the process that was asked for by its pid, or "" */
};

/* Returns whether the recording is divided by process (--why-by process). One that is divided by
 * name has one process by itself at most: that of --why-of. */
static bool is_by_process(const struct cause_sum *sum)
{
    size_t processes = 0, names = 0;

    for (size_t i = 0; i < sum->met_count; i++) {
        processes += sum->met[i].kind == CAMP_GROUP_PROCESS;
        names += sum->met[i].kind == CAMP_GROUP_NAME;
    }
    return processes > 1 || (processes == 1 && names == 0);
}

/* Returns whether the processes with a name are a group. */
static bool has_name(const struct cause_sum *sum, const char *name)
{
    for (size_t i = 0; i < sum->met_count; i++) {
        if (sum->met[i].kind == CAMP_GROUP_NAME &&
            strncmp(sum->met[i].name, name, CAMP_STATES_NAME_SIZE - 1) == 0)
            return true;
    }
    return false;
}

/* `nearest` says which groups the recording has. */
static int complain_of_no_process(const struct why_recorded *recorded,
                                  const struct progress_of_parts *progress, const char *nearest)
{
    const char *name = progress->name, *file = recorded->facts.name;
    const int32_t pid = progress->parts->pid;
    const bool by_process = is_by_process(&recorded->sum);

    if (name[0] == '\0' && by_process)
        return complain(STATUS_FAILURE, "%s has no process %" PRId32 ": %s", file, pid, nearest);
    if (name[0] == '\0')
        return complain(STATUS_FAILURE,
                        "%s has no process %" PRId32 " in that time (camp top --from the recording "
                        "shows those that it has), and is divided by name",
                        file, pid);
    if (by_process || !has_name(&recorded->sum, name))
        return complain(STATUS_FAILURE,
                        "%s has no causes of process %" PRId32 " (%s) by itself: it is one of the "
                        "other processes, as those that only slept and those after the first 53 "
                        "%s; record with --why-of %" PRId32,
                        file, pid, name, by_process ? "processes" : "names", pid);
    return complain(STATUS_FAILURE,
                    "%s has no causes of process %" PRId32 " by itself: it was %s, so give that, "
                    "or record with --why-of %" PRId32 " or --why-by process",
                    file, pid, name, pid);
}

static int complain_of_no_subject(const struct why_recorded *recorded,
                                  const struct progress_of_parts *progress)
{
    const struct why_parts *parts = progress->parts;
    char names[LIST_SIZE], nearest[LIST_SIZE + 100] = "it has none";
    const size_t count = list_groups(names, &recorded->sum, parts->subject);

    if (count > LISTED)
        snprintf(nearest, sizeof nearest,
                 "it has %zu, the nearest are %s (camp top --from the recording shows all)", count,
                 names);
    else if (count > 0)
        snprintf(nearest, sizeof nearest, "it has %s", names);
    if (parts->pid != 0)
        return complain_of_no_process(recorded, progress, nearest);
    if (is_by_process(&recorded->sum))
        return complain(STATUS_FAILURE,
                        "%s is divided by process, so give a pid in place of %s: %s; all processes "
                        "of a name are together without --why-by process",
                        recorded->facts.name, parts->subject, nearest);
    return complain(STATUS_FAILURE,
                    "%s has no processes named %s by themselves; %s; one that only slept is by "
                    "itself only with --why-of %s",
                    recorded->facts.name, parts->subject, nearest, parts->subject);
}

static bool is_known(const struct why_recorded *recorded, const struct why_parts *parts)
{
    return parts->subject == NULL ||
           why_find_subject(&recorded->sum.causes, parts->subject, parts->pid) != WHY_ALL;
}

/* Shows the sum if it is of any interval, and starts the next part. */
static int show_sum(struct why_recorded *recorded, struct progress_of_parts *progress)
{
    const struct why_parts *parts = progress->parts;
    int status = OPTIONS_GO_ON;

    if (recorded->sum.intervals > 0 && is_known(recorded, parts))
        status = parts->show(parts->context, cause_sum_finish(&recorded->sum), progress->shown++);
    cause_sum_clear(&recorded->sum);
    return status;
}

/* Notes the name of the process that was asked for by its pid. */
static void note_name(struct progress_of_parts *progress, const struct frame *frame)
{
    for (size_t i = 0; progress->parts->pid != 0 && i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        if (entity_pid(entity) != progress->parts->pid)
            continue;
        if (entity->id == progress->parts->pid || progress->name[0] == '\0')
            snprintf(progress->name, sizeof progress->name, "%s", entity->name);
    }
}

/* Reads an interval. Sets *ret to NULL if it has no causes. */
static int read_interval(struct why_recorded *recorded, struct from_options *from,
                         struct progress_of_parts *progress, const struct causes **ret,
                         struct camp_error *error)
{
    const struct frame *frame;
    const int r = recorded->source->next(recorded->source, 0, &frame, error);

    if (r != CAMP_OK)
        return r;
    from_options_note(from, frame);
    note_name(progress, frame);
    return source_causes(recorded->source, ret, error);
}

static bool is_done(const struct progress_of_parts *progress)
{
    return progress->parts->count > 0 && progress->shown >= progress->parts->count;
}

/* Returns the result of reading, and sets *status to that of showing. */
static int read_all(struct why_recorded *recorded, struct from_options *from,
                    struct progress_of_parts *progress, int *status, struct camp_error *error)
{
    const uint64_t length_ns = progress->parts->length_ns;
    int r = CAMP_OK;

    while (r == CAMP_OK && *status == OPTIONS_GO_ON && !stop_requested && !is_done(progress)) {
        const struct causes *causes = NULL;

        r = read_interval(recorded, from, progress, &causes, error);
        if (r == CAMP_OK && causes == NULL)
            *status = complain_of_no_causes(recorded);
        if (r != CAMP_OK || causes == NULL)
            break;
        progress->read++;
        r = cause_sum_add(&recorded->sum, causes, error);
        /* Recorded intervals are a little shorter or longer than asked for. */
        if (r == CAMP_OK && length_ns > 0 &&
            recorded->sum.causes.end_ns + (causes->end_ns - causes->start_ns) / 2 >= length_ns)
            *status = show_sum(recorded, progress);
    }
    return r;
}

int why_recorded_show(struct why_recorded *recorded, struct from_options *from,
                      const struct why_parts *parts)
{
    struct progress_of_parts progress = { .parts = parts };
    struct camp_error error = { 0 };
    int status = OPTIONS_GO_ON, r;

    recorded->sum.subject = parts->subject;
    recorded->sum.subject_pid = parts->pid;
    r = read_all(recorded, from, &progress, &status, &error);
    progress_clear(&from->progress);
    if (status == OPTIONS_GO_ON && r != CAMP_E_NOMEM && !is_done(&progress))
        status = show_sum(recorded, &progress);
    if (status != OPTIONS_GO_ON)
        return status;
    if (r != CAMP_OK && r != SOURCE_END)
        return complain_of(r, &error);
    if (progress.shown > 0)
        return STATUS_OK;
    return progress.read > 0
               ? complain_of_no_subject(recorded, &progress)
               : complain(STATUS_FAILURE, "%s has no interval in that time", recorded->facts.name);
}
