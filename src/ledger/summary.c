#include "summary.h"

#include "active.h"
#include "labels.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_LEAST 0.1   /* share of a class's time from which a name is mentioned */
#define UNACCOUNTED 0.005 /* share of the elapsed time up to which all adds up */
#define FULL 0.95         /* share of its time from which a CPU is full */

size_t name_stem(const char *name)
{
    size_t length = strlen(name);

    while (length > 0 && strchr("0123456789:/-_#. ", name[length - 1]) != NULL)
        length--;
    return length > 0 ? length : strlen(name);
}

/* A row, or the sum of rows whose names have the same stem. */
struct named {
    const char *name;
    size_t length;
    double lead, other; /* seconds a second in the two classes */
    bool are_several;   /* the rows have different names, so only their stem is common */
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    const int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_lead(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    if (a->lead > b->lead || a->lead < b->lead)
        return a->lead > b->lead ? -1 : 1;
    return compare_names(left, right);
}

static int compare_other(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    if (a->other > b->other || a->other < b->other)
        return a->other > b->other ? -1 : 1;
    return compare_names(left, right);
}

/* Adds up rows whose names have the same stem. Returns the number of names. */
static size_t merge_names(struct named *rows, size_t count)
{
    size_t names = 0;

    qsort(rows, count, sizeof *rows, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct named *last = names > 0 ? &rows[names - 1] : NULL;

        if (last != NULL && compare_names(last, &rows[i]) == 0) {
            last->lead += rows[i].lead;
            last->other += rows[i].other;
            last->are_several = last->are_several || strcmp(last->name, rows[i].name) != 0;
        } else {
            rows[names++] = rows[i];
        }
    }
    return names;
}

static void copy_name(char ret[CAMP_NAME_SIZE], const struct named *from)
{
    copy_text(ret, CAMP_NAME_SIZE, from->name,
              from->are_several ? from->length : strlen(from->name));
}

static void choose_other(struct summary *ret, struct named *rows, size_t names)
{
    const double time = ret->classes[ret->other];
    size_t first = 0;

    if (ret->other == ret->lead || time <= 0 || time < NAMED_LEAST * ret->classes[ret->lead])
        return;
    qsort(rows, names, sizeof *rows, compare_other);
    while (first < names && rows[first].length == 0)
        first++;
    if (first == names || rows[first].other < NAMED_LEAST * time)
        return;
    copy_name(ret->other_name, &rows[first]);
    for (size_t i = 0; i < ret->name_count; i++) {
        if (strcmp(ret->names[i], ret->other_name) == 0)
            ret->other_name[0] = '\0';
    }
}

static void choose_names(struct summary *ret, struct named *rows, size_t count)
{
    const size_t names = merge_names(rows, count);

    qsort(rows, names, sizeof *rows, compare_lead);
    for (size_t i = 0; i < names && ret->name_count < SUMMARY_NAMES; i++) {
        if (rows[i].lead <= 0 || rows[i].lead < NAMED_LEAST * ret->classes[ret->lead])
            break;
        if (rows[i].length > 0)
            copy_name(ret->names[ret->name_count++], &rows[i]);
    }
    choose_other(ret, rows, names);
}

struct shared_cpus shared_cpus_of(const struct frame *beside, const struct frame *frame,
                                  size_t count_if_unknown)
{
    const bool are_cpus = beside == NULL && strcmp(frame->schema->name, "cpus") == 0;
    const struct frame *cpus = are_cpus ? frame : beside;
    struct shared_cpus ret = { .count = frame_cpu_count(cpus, count_if_unknown),
                               .has_load = cpus != NULL && cpus->entity_count > 0 };

    for (size_t i = 0; cpus != NULL && i < cpus->entity_count; i++) {
        const uint64_t *values = frame_values(cpus, i);
        double busy_ns = 0;

        for (size_t j = 0; j < cpus->schema->state_count; j++)
            busy_ns += cpus->schema->columns[j].class == CLASS_CPU ? (double)values[j] : 0;
        if (cpus->entities[i].id == CAMP_CPU_TOTAL || cpus->elapsed_ns[i] == 0 ||
            busy_ns < FULL * (double)cpus->elapsed_ns[i])
            continue;
        if (ret.full++ == 0)
            ret.first_full = cpus->entities[i].id;
    }
    return ret;
}

bool summary_of_cpus(const struct summary *summary)
{
    return strcmp(summary->noun, "CPUs") == 0;
}

bool summary_may_be_parked(const struct summary *summary)
{
    return strcmp(summary->noun, "groups") == 0 || strcmp(summary->noun, "hosts") == 0;
}

enum column_class summary_wait(const struct summary *summary)
{
    const bool has_cpus = summary->cpus.count > 0 && summary->has[CLASS_CPU];
    const enum column_class last = has_cpus ? CLASS_NETWORK : CLASS_OTHER_WAIT;
    enum column_class found = CLASS_READY;

    for (enum column_class i = CLASS_READY; i <= last && !summary_of_cpus(summary); i++) {
        if (summary->classes[i] > summary->classes[found] &&
            (i != CLASS_CONTENTION || !summary_may_be_parked(summary)))
            found = i;
    }
    return found;
}

/* Returns the time of a row in states without work, in ns. */
static double idle_ns(const struct frame *frame, size_t row)
{
    const struct filled_columns states = frame_filled_states(frame, row);
    double sum = 0;

    for (size_t i = states.first; i < states.end; i++)
        sum += frame->schema->columns[i].class == CLASS_IDLE
                   ? (double)states.values[i - states.first]
                   : 0;
    return sum;
}

static const char *name_of(const struct entity *entity, size_t label)
{
    const char *value = label != SIZE_MAX ? labels_value(entity->labels, label) : "";

    return value[0] != '\0' ? value : entity->name;
}

/* Adds a row to the sums. Returns whether it was active. */
static bool add_row(struct summary *ret, const struct frame *frame, size_t row, double interval)
{
    const double unaccounted = (double)frame_unaccounted_ns(frame, row) / interval;
    struct active active;

    active_of_frame(frame, row, &active);
    ret->elapsed += (double)frame->elapsed_ns[row] / interval;
    ret->missing += fmax(unaccounted, 0);
    ret->over += fmax(-unaccounted, 0);
    if (active.is_parked)
        ret->parked += frame->entities[row].count;
    ret->classes[CLASS_IDLE] += idle_ns(frame, row) / interval;
    for (int i = 0; i < CLASS_COUNT && active.sum_s > 0; i++)
        ret->classes[i] += active.seconds[i] * 1e9 / interval;
    ret->active += active.sum_s * 1e9 / interval;
    return active.sum_s > 0;
}

/* Chooses the names from the active rows, once the sums of all rows are known. */
static int name_rows(struct summary *ret, const struct frame *frame, double interval,
                     const size_t *rows, size_t count)
{
    const size_t label = schema_find_label(frame->schema, "application");
    struct named *names = calloc(count + 1, sizeof *names);
    const enum column_class wait = summary_wait(ret);
    const bool leads = ret->classes[wait] > ret->classes[CLASS_CPU];

    if (names == NULL)
        return CAMP_E_NOMEM;
    ret->lead = leads ? wait : CLASS_CPU;
    ret->other = leads ? CLASS_CPU : wait;
    for (size_t i = 0; i < count; i++) {
        const char *name = name_of(&frame->entities[rows[i]], label);
        struct active active;

        active_of_frame(frame, rows[i], &active);
        names[i] =
            (struct named){ name, name_stem(name), active.seconds[ret->lead] * 1e9 / interval,
                            active.seconds[ret->other] * 1e9 / interval, false };
    }
    choose_names(ret, names, count);
    free(names);
    return CAMP_OK;
}

int summary_fill(struct summary *ret, const struct frame *frame, struct shared_cpus cpus,
                 const char *noun)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    size_t *active = calloc(frame->entity_count + 1, sizeof *active), count = 0;
    int r;

    *ret = (struct summary){ .noun = noun, .cpus = cpus, .losses = frame->losses };
    if (active == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        ret->has[frame->schema->columns[i].class] = true;
    for (size_t i = 0; i < frame->entity_count && interval > 0; i++) {
        if ((frame->entities[i].flags & ENTITY_PART) == 0)
            ret->entities += frame->entities[i].count;
        active[count] = i;
        count += add_row(ret, frame, i, interval);
    }
    ret->entities -= frame->repeated < ret->entities ? (size_t)frame->repeated : 0;
    r = name_rows(ret, frame, interval, active, count);
    free(active);
    return r;
}

int summary_fill_cpu_time(struct summary *ret, const struct frame *frame, const size_t *rows,
                          size_t count, size_t column)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    struct named *names = calloc(count + 1, sizeof *names);

    *ret = (struct summary){ .noun = "processes",
                             .only_cpu_time = true,
                             .has = { [CLASS_CPU] = true },
                             .lead = CLASS_CPU,
                             .other = CLASS_CPU };
    if (names == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count && interval > 0; i++) {
        const char *name = frame->entities[rows[i]].name;
        const double seconds = (double)frame_values(frame, rows[i])[column] / interval;

        names[i] = (struct named){ name, name_stem(name), seconds, 0, false };
        ret->entities += frame->entities[rows[i]].count;
        ret->active += seconds;
    }
    ret->classes[CLASS_CPU] = ret->active;
    choose_names(ret, names, interval > 0 ? count : 0);
    free(names);
    return CAMP_OK;
}

double summary_busy(const struct summary *summary)
{
    return summary->cpus.count > 0
               ? fmin(summary->classes[CLASS_CPU] / (double)summary->cpus.count, 1)
               : 0;
}

bool summary_is_missing(const struct summary *summary)
{
    return summary->missing > UNACCOUNTED * summary->elapsed;
}

bool summary_is_over(const struct summary *summary)
{
    return summary->over > UNACCOUNTED * summary->elapsed;
}
