#include "sample_times.h"

#include "counters/units.h"

#include <stdlib.h>

#define SHORTEST_SHARE 10 /* one tenth of the gaps is not longer than a period */

static int compare_rows(const void *left, const void *right, void *context)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct sample_row *rows = context;

    if (rows[a].time != rows[b].time)
        return rows[a].time < rows[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Returns the number that a tenth of numbers[count] does not exceed, or 0 if there are none. */
static uint64_t usual_shortest(uint64_t *numbers, size_t count)
{
    if (count == 0)
        return 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return numbers[(count - 1) / SHORTEST_SHARE];
}

/* Collects the gaps between the moments of each instance. `numbers` gets how much SAMPLE_NUMBER
 * grew in each of them. `last` has an element for each text that an instance can have. Returns the
 * number of gaps. */
static size_t find_gaps(const struct sample_times *times, const struct sample_rows *rows,
                        uint32_t *last, uint64_t *gaps, uint64_t *numbers)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const uint32_t at = times->order[i];
        const struct sample_row *row = &rows->rows[at];
        const uint32_t instance = row->texts[SAMPLE_INSTANCE - SAMPLE_FIRST_TEXT];
        const struct sample_row *before =
            last[instance] != UINT32_MAX ? &rows->rows[last[instance]] : NULL;

        if (row->session == UINT32_MAX)
            continue;
        if (before != NULL && row->time > before->time) {
            gaps[count] = (uint64_t)(row->time - before->time);
            numbers[count++] = row->sample > before->sample ? row->sample - before->sample : 0;
        }
        last[instance] = at;
    }
    return count;
}

static int find_period(struct sample_times *times, const struct sample_rows *rows)
{
    const size_t texts = rows->texts.count + 1;
    uint32_t *last = malloc(texts * sizeof *last);
    uint64_t *gaps = malloc((rows->count + 1) * sizeof *gaps);
    uint64_t *numbers = malloc((rows->count + 1) * sizeof *numbers);
    size_t count;

    if (last != NULL && gaps != NULL && numbers != NULL) {
        for (size_t i = 0; i < texts; i++)
            last[i] = UINT32_MAX;
        count = find_gaps(times, rows, last, gaps, numbers);
        times->period_ns = usual_shortest(gaps, count);
        times->period_numbers = usual_shortest(numbers, count);
        if (count == 0)
            times->period_ns = (rows->columns.is_history ? 10 : 1) * NS_PER_S;
    }
    free(last);
    free(gaps);
    free(numbers);
    return times->period_ns > 0 ? CAMP_OK : CAMP_E_NOMEM;
}

size_t sample_moment_end(const struct sample_times *times, const struct sample_rows *rows,
                         size_t at)
{
    const int64_t first = rows->rows[times->order[at]].time;

    while (at < rows->count &&
           (uint64_t)(rows->rows[times->order[at]].time - first) < (times->period_ns + 1) / 2)
        at++;
    return at;
}

/* Several rows of a moment may have the same texts if these do not identify sessions. But no
 * session has two samples. */
static void find_sessions(const struct sample_times *times, struct sample_rows *rows)
{
    const bool has_ids = rows->columns.at[SAMPLE_SESSION] != SAMPLE_ABSENT;
    uint32_t moment = 0;

    for (size_t at = 0, end; at < rows->count; at = end, moment++) {
        end = sample_moment_end(times, rows, at);
        for (size_t i = at; i < end; i++) {
            const uint32_t row = times->order[i];
            struct sample_session *session;

            if (rows->rows[row].session == UINT32_MAX)
                continue;
            session = &rows->sessions[rows->rows[row].session];
            if (has_ids && session->frame == moment) {
                sample_rows_skip(rows, row, "its session has a sample of this moment already");
                continue;
            }
            session->frame = moment;
            session->last_row = row;
        }
    }
    for (size_t i = 0; i < rows->identities.count; i++)
        rows->sessions[i].frame = UINT32_MAX;
}

int sample_times_find(struct sample_times *ret, struct sample_rows *rows)
{
    int r;

    *ret = (struct sample_times){ .order = malloc((rows->count + 1) * sizeof *ret->order) };
    if (ret->order == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < rows->count; i++)
        ret->order[i] = (uint32_t)i;
    qsort_r(ret->order, rows->count, sizeof *ret->order, compare_rows, rows->rows);
    r = find_period(ret, rows);
    if (r == CAMP_OK)
        find_sessions(ret, rows);
    return r;
}
