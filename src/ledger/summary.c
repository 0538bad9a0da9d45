#include "summary.h"

#include "active.h"
#include "labels.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_LEAST 0.1   /* share of the active time from which a name is mentioned */
#define UNACCOUNTED 0.005 /* share of the elapsed time up to which all adds up */

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
    double seconds;
    bool are_several; /* the rows have different names, so only their stem is common */
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    const int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_times(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    if (a->seconds > b->seconds || a->seconds < b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return compare_names(left, right);
}

static void choose_names(struct summary *ret, struct named *rows, size_t count)
{
    size_t names = 0;

    qsort(rows, count, sizeof *rows, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct named *last = names > 0 ? &rows[names - 1] : NULL;

        if (last != NULL && compare_names(last, &rows[i]) == 0) {
            last->seconds += rows[i].seconds;
            last->are_several = last->are_several || strcmp(last->name, rows[i].name) != 0;
        } else {
            rows[names++] = rows[i];
        }
    }
    qsort(rows, names, sizeof *rows, compare_times);
    for (size_t i = 0; i < names && ret->name_count < SUMMARY_NAMES; i++) {
        char *name = ret->names[ret->name_count];

        if (rows[i].seconds < NAMED_LEAST * ret->active)
            break;
        if (rows[i].length == 0)
            continue;
        copy_text(name, CAMP_NAME_SIZE, rows[i].name,
                  rows[i].are_several ? rows[i].length : strlen(rows[i].name));
        ret->name_count++;
    }
}

/* Returns the time of a row in states without work, in ns. */
static double idle_ns(const struct frame *frame, size_t row)
{
    const uint64_t *values = frame_values(frame, row);
    double sum = 0;

    for (size_t i = 0; i < frame->schema->state_count; i++)
        sum += frame->schema->columns[i].class == CLASS_IDLE ? (double)values[i] : 0;
    return sum;
}

/* Returns the index of the label that names sessions better than their user, or LABELS_MOST. */
static size_t label_of_names(const struct schema *schema)
{
    for (size_t i = 0; i < schema->label_count; i++) {
        if (strcmp(schema->label_names[i], "application") == 0)
            return i;
    }
    return LABELS_MOST;
}

static const char *name_of(const struct entity *entity, size_t label)
{
    const char *value = label < LABELS_MOST ? labels_value(entity->labels, label) : "";

    return value[0] != '\0' ? value : entity->name;
}

/* Adds a row to the sums. Returns its active time. */
static double add_row(struct summary *ret, const struct frame *frame, size_t row, double interval)
{
    const double unaccounted = (double)frame_unaccounted_ns(frame, row) / interval;
    struct active active;

    active_of_frame(frame, row, &active);
    ret->elapsed += (double)frame->elapsed_ns[row] / interval;
    ret->missing += fmax(unaccounted, 0);
    ret->over += fmax(-unaccounted, 0);
    if (active.is_parked)
        ret->parked += frame->entities[row].count;
    for (int i = 0; i < CLASS_COUNT; i++)
        ret->classes[i] += active.seconds[i] * 1e9 / interval;
    ret->classes[CLASS_IDLE] += idle_ns(frame, row) / interval;
    ret->active += active.sum_s * 1e9 / interval;
    return active.sum_s * 1e9 / interval;
}

int summary_fill(struct summary *ret, const struct frame *frame, size_t cpus)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    const size_t label = label_of_names(frame->schema);
    struct named *rows = calloc(frame->entity_count + 1, sizeof *rows);
    size_t count = 0;

    *ret = (struct summary){ .cpus = cpus, .losses = frame->losses };
    if (rows == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        ret->has[frame->schema->columns[i].class] = true;
    for (size_t i = 0; i < frame->entity_count && interval > 0; i++) {
        const char *name = name_of(&frame->entities[i], label);
        const double seconds = add_row(ret, frame, i, interval);

        ret->entities += frame->entities[i].count;
        if (seconds > 0)
            rows[count++] = (struct named){ name, name_stem(name), seconds, false };
    }
    choose_names(ret, rows, count);
    free(rows);
    return CAMP_OK;
}

int summary_fill_cpu_time(struct summary *ret, const struct frame *frame, const size_t *rows,
                          size_t count, size_t column)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    struct named *names = calloc(count + 1, sizeof *names);

    *ret = (struct summary){ .only_cpu_time = true, .has = { [CLASS_CPU] = true } };
    if (names == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count && interval > 0; i++) {
        const char *name = frame->entities[rows[i]].name;
        const double seconds = (double)frame_values(frame, rows[i])[column] / interval;

        names[i] = (struct named){ name, name_stem(name), seconds, false };
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
    return summary->cpus > 0 ? fmin(summary->classes[CLASS_CPU] / (double)summary->cpus, 1) : 0;
}

bool summary_is_missing(const struct summary *summary)
{
    return summary->missing > UNACCOUNTED * summary->elapsed;
}

bool summary_is_over(const struct summary *summary)
{
    return summary->over > UNACCOUNTED * summary->elapsed;
}
