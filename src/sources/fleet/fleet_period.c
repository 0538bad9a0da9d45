/*
 * Determines the period of scrapes from the times between samples. The number of samples in a range
 * would mislead: a host that was added recently has few samples, but is scraped as often as others.
 *
 * A server scrapes at a fixed period, but on a busy machine a scrape starts late, and a scrape may
 * fail. So each distance between two samples is divided by the median distance of the series, and
 * rounded to a whole number of periods. The mean period of the series is the sum of the distances
 * divided by the sum of these numbers. Only a late first or last scrape makes it wrong. The result
 * is the median of the mean periods of all series.
 */
#include "fleet_inside.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define DISTANCES_MOST 64

static int compare_distances(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

int64_t fleet_quantile(int64_t *distances, size_t count, size_t percent)
{
    if (count == 0)
        return 0;
    qsort(distances, count, sizeof *distances, compare_distances);
    return distances[(count - 1) * percent / 100];
}

int64_t fleet_median(int64_t *distances, size_t count)
{
    return fleet_quantile(distances, count, 50);
}

/* Returns the mean period of a series, or 0 if there are no distances. All distances must be above
 * 0. If only the first scrape of a distance was late, the distance may be rounded to 0 periods. */
static int64_t mean_period(int64_t *distances, size_t count)
{
    const int64_t median_ns = fleet_median(distances, count);
    int64_t sum_ns = 0, periods = 0;

    for (size_t i = 0; i < count; i++) {
        sum_ns += distances[i];
        periods += (distances[i] + median_ns / 2) / median_ns;
    }
    return periods > 0 ? sum_ns / periods : 0;
}

static int64_t distance_of(const struct prometheus_series *series)
{
    int64_t distances[DISTANCES_MOST];
    size_t count = 0;

    for (size_t i = 1; i < series->sample_count && count < DISTANCES_MOST; i++) {
        const int64_t distance_ns = series->samples[i].time_ns - series->samples[i - 1].time_ns;

        if (distance_ns <= FLEET_PERIOD_MOST_NS)
            distances[count++] = distance_ns;
    }
    return mean_period(distances, count);
}

int64_t fleet_usual_period(const struct fleet_member *member)
{
    const size_t first = member->count > DISTANCES_MOST ? member->count - DISTANCES_MOST : 0;
    int64_t distances[DISTANCES_MOST];
    size_t count = 0;

    for (size_t i = first; i + 1 < member->count; i++) {
        const int64_t distance_ns = member->times_ns[i + 1] - member->times_ns[i];

        if (distance_ns <= FLEET_PERIOD_MOST_NS)
            distances[count++] = distance_ns;
    }
    return fleet_median(distances, count);
}

/* Rounds a distance to whole units if this changes it by at most 1%: 2.999 s becomes 3 s. Scrapes
 * are some ms early or late. */
static int64_t rounded(int64_t distance_ns)
{
    static const int64_t units[] = { NS_PER_S, NS_PER_S / 10, NS_PER_MS };

    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const int64_t whole_ns = (distance_ns + units[i] / 2) / units[i] * units[i];

        if (llabs(whole_ns - distance_ns) <= distance_ns / 100)
            return whole_ns;
    }
    return distance_ns;
}

int64_t fleet_distance(const struct prometheus_answer *answer, const char *metric)
{
    int64_t *distances = calloc(answer->series_count + 1, sizeof *distances), ret;
    struct prometheus_series series;
    size_t count = 0;

    for (size_t i = 0; distances != NULL && i < answer->series_count; i++) {
        if (metric != NULL && strcmp(prometheus_answer_label(answer, i, "__name__"), metric) != 0)
            continue;
        prometheus_answer_series(answer, i, &series);
        distances[count] = distance_of(&series);
        count += distances[count] > 0;
    }
    ret = distances != NULL ? rounded(fleet_median(distances, count)) : 0;
    free(distances);
    return ret;
}
