#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARKED 0.999      /* share of its time from which a futex waiter is parked */
#define NAMED_LEAST 0.1   /* share of the active time from which a name is mentioned */
#define UNACCOUNTED 0.005 /* share of the elapsed time up to which all adds up */

/* Returns the index of the state "lock", or state_count if there is none. */
static size_t find_lock(const struct schema *schema)
{
    size_t at = 0;

    while (at < schema->state_count && strcmp(schema->columns[at].name, "lock_ns") != 0)
        at++;
    return at;
}

/* Returns whether a row only waits in futex(2), the state `lock`, for (nearly) all of its time.
 * Such a thread may wait for its next work as well as for a lock, so its time is not active. */
static bool is_parked(const struct frame *frame, size_t row, size_t lock)
{
    return lock < frame->schema->state_count && frame->elapsed_ns[row] > 0 &&
           (double)frame_values(frame, row)[lock] >= PARKED * (double)frame->elapsed_ns[row];
}

size_t name_stem(const char *name)
{
    size_t length = strlen(name);

    while (length > 0 && strchr("0123456789:/-_#. ", name[length - 1]) != NULL)
        length--;
    return length > 0 ? length : strlen(name);
}

/* A row, or the sum of rows whose names have the same stem. */
struct active {
    const char *name;
    size_t length;
    double seconds;
};

static int compare_names(const void *left, const void *right)
{
    const struct active *a = left, *b = right;
    const int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_times(const void *left, const void *right)
{
    const struct active *a = left, *b = right;

    if (a->seconds > b->seconds || a->seconds < b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return compare_names(left, right);
}

static void choose_names(struct summary *ret, struct active *rows, size_t count)
{
    size_t names = 0;

    qsort(rows, count, sizeof *rows, compare_names);
    for (size_t i = 0; i < count; i++) {
        if (names > 0 && compare_names(&rows[names - 1], &rows[i]) == 0)
            rows[names - 1].seconds += rows[i].seconds;
        else
            rows[names++] = rows[i];
    }
    qsort(rows, names, sizeof *rows, compare_times);
    for (size_t i = 0; i < names && i < SUMMARY_NAMES; i++) {
        if (rows[i].seconds < NAMED_LEAST * ret->active || rows[i].length == 0)
            break;
        memcpy(ret->names[i], rows[i].name, rows[i].length);
        ret->names[i][rows[i].length] = '\0';
        ret->name_count++;
    }
}

/* Adds a row to the sums. Returns its active time. */
static double add_row(struct summary *ret, const struct frame *frame, size_t row, size_t lock,
                      double interval)
{
    const uint64_t *values = frame_values(frame, row);
    const double unaccounted = (double)frame_unaccounted_ns(frame, row) / interval;
    double active = 0;

    ret->elapsed += (double)frame->elapsed_ns[row] / interval;
    ret->missing += fmax(unaccounted, 0);
    ret->over += fmax(-unaccounted, 0);
    if (is_parked(frame, row, lock)) {
        ret->parked += frame->entities[row].count;
        return 0;
    }
    for (size_t i = 0; i < frame->schema->state_count; i++) {
        const enum column_class class = frame->schema->columns[i].class;
        const double seconds = (double)values[i] / interval;

        ret->classes[class] += seconds;
        active += class != CLASS_IDLE ? seconds : 0;
    }
    ret->active += active;
    return active;
}

int summary_fill(struct summary *ret, const struct frame *frame, size_t cpus)
{
    const double interval = (double)(frame->end_ns - frame->start_ns);
    const size_t lock = find_lock(frame->schema);
    struct active *rows = calloc(frame->entity_count + 1, sizeof *rows);
    size_t count = 0;

    *ret = (struct summary){ .cpus = cpus, .losses = frame->losses };
    if (rows == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        ret->has[frame->schema->columns[i].class] = true;
    for (size_t i = 0; i < frame->entity_count && interval > 0; i++) {
        const char *name = frame->entities[i].name;
        const double seconds = add_row(ret, frame, i, lock, interval);

        ret->entities += frame->entities[i].count;
        if (seconds > 0)
            rows[count++] = (struct active){ name, name_stem(name), seconds };
    }
    choose_names(ret, rows, count);
    free(rows);
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
