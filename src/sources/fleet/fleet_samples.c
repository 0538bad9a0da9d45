#include "fleet_samples.h"

#include "ledger/array.h"

#include <math.h>
#include <search.h>
#include <string.h>

#define LARGEST_NS 9e18
#define SAME_NS 1000000                /* servers round times to ms */
#define MOVED_MOST ((uint64_t)8 << 30) /* some seconds */
#define ROUNDED_MOST_S 1e-6
#define NODE_BYTES 48 /* of the tree */
#define SPARE 3
/* a member keeps at least 3 samples, because fleet_update_period() compares 2 distances */
#define KEPT 3

static size_t width(const struct fleet_samples *samples)
{
    return samples->columns + FLEET_EXTRA_COUNT;
}

void fleet_samples_init(struct fleet_samples *ret, size_t columns, size_t bytes_most)
{
    *ret = (struct fleet_samples){ .columns = columns, .bytes_most = bytes_most };
}

static void release_member(struct fleet_member *member)
{
    free(member->key);
    free(member->times_ns);
    free(member->values);
    free(member);
}

static void keep_node(void *node)
{
    (void)node; /* the node is an element of members[], which the caller frees */
}

void fleet_samples_release(struct fleet_samples *samples)
{
    tdestroy(samples->by_key, keep_node);
    for (size_t i = 0; i < samples->count; i++)
        release_member(samples->members[i]);
    free(samples->members);
    fleet_samples_init(samples, samples->columns, samples->bytes_most);
}

int fleet_samples_charge(struct fleet_samples *samples, struct fleet_member *member, size_t more)
{
    if (more > samples->bytes_most - samples->bytes)
        return CAMP_E_SPACE;
    samples->bytes += more;
    member->bytes += more;
    return CAMP_OK;
}

static int compare_keys(const void *left, const void *right)
{
    return strcmp(((const struct fleet_member *)left)->key,
                  ((const struct fleet_member *)right)->key);
}

static struct fleet_member *add_member(struct fleet_samples *samples, const char *key)
{
    struct fleet_member *member = calloc(1, sizeof *member);

    samples->fault = CAMP_E_NOMEM;
    if (member == NULL)
        return NULL;
    member->key = strdup(key);
    if (member->key != NULL)
        samples->fault =
            fleet_samples_charge(samples, member, sizeof *member + NODE_BYTES + strlen(key) + 1);
    if (samples->fault == CAMP_OK &&
        (!ARRAY_RESERVE(samples->members, samples->capacity, samples->count + 1) ||
         tsearch(member, &samples->by_key, compare_keys) == NULL)) {
        samples->bytes -= member->bytes;
        samples->fault = CAMP_E_NOMEM;
    }
    if (samples->fault != CAMP_OK) {
        release_member(member);
        return NULL;
    }
    member->entity.id = ++samples->ids;
    member->entity.count = 1;
    samples->members[samples->count++] = member;
    return member;
}

struct fleet_member *fleet_samples_find(struct fleet_samples *samples, const char *key)
{
    struct fleet_member wanted = { .key = (char *)key };
    struct fleet_member *const *found;

    if (samples->last != NULL && strcmp(samples->last->key, key) == 0)
        return samples->last;
    found = tfind(&wanted, &samples->by_key, compare_keys);
    samples->last = found != NULL ? *found : add_member(samples, key);
    return samples->last;
}

void fleet_samples_forget(struct fleet_samples *samples, int64_t since_ns)
{
    size_t kept = 0;

    samples->last = NULL;
    samples->moved_bytes = 0;
    for (size_t i = 0; i < samples->count; i++) {
        struct fleet_member *member = samples->members[i];

        if (fleet_newest(member) >= since_ns) {
            samples->members[kept++] = member;
            continue;
        }
        tdelete(member, &samples->by_key, compare_keys);
        samples->bytes -= member->bytes;
        release_member(member);
    }
    samples->count = kept;
}

int64_t fleet_newest(const struct fleet_member *member)
{
    return member->count > 0 ? member->times_ns[member->count - 1] : 0;
}

static double *row(const struct fleet_samples *samples, const struct fleet_member *member,
                   size_t at)
{
    return &member->values[at * width(samples)];
}

/* Makes space for another sample. Most members keep few samples, so they get little spare space. */
static int reserve(struct fleet_samples *samples, struct fleet_member *member)
{
    const size_t size = sizeof *member->times_ns + width(samples) * sizeof *member->values;
    const size_t grown = member->count + member->count / 2 + 1 + SPARE;
    int64_t *times_ns;
    double *values;

    if (member->count < member->capacity)
        return CAMP_OK;
    if (grown * size > samples->bytes_most ||
        fleet_samples_charge(samples, member, (grown - member->capacity) * size) != CAMP_OK)
        return CAMP_E_SPACE;
    times_ns = realloc(member->times_ns, grown * sizeof *times_ns);
    if (times_ns == NULL)
        return CAMP_E_NOMEM;
    member->times_ns = times_ns;
    values = realloc(member->values, grown * width(samples) * sizeof *values);
    if (values == NULL)
        return CAMP_E_NOMEM;
    member->values = values;
    member->capacity = grown;
    return CAMP_OK;
}

/* Inserts a sample at position `at`. All its values are NAN, which means missing. */
static int insert(struct fleet_samples *samples, struct fleet_member *member, size_t at,
                  int64_t time_ns)
{
    const size_t columns = width(samples);
    int r;

    samples->moved_bytes += (member->count - at) * (columns + 1) * sizeof *member->values;
    if (samples->moved_bytes > MOVED_MOST)
        return CAMP_E_FORMAT;
    r = reserve(samples, member);
    if (r != CAMP_OK)
        return r;
    memmove(&member->times_ns[at + 1], &member->times_ns[at],
            (member->count - at) * sizeof *member->times_ns);
    memmove(row(samples, member, at + 1), row(samples, member, at),
            (member->count - at) * columns * sizeof *member->values);
    member->times_ns[at] = time_ns;
    for (size_t i = 0; i < columns; i++)
        row(samples, member, at)[i] = NAN;
    member->count++;
    return CAMP_OK;
}

static int compare_times(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

int fleet_samples_add(struct fleet_samples *samples, struct fleet_member *member, int64_t time_ns,
                      size_t column, double value, bool add)
{
    size_t at = member->count;
    int r = CAMP_OK;
    double *cell, *sum_answer;

    if (time_ns < member->accounted_ns || isnan(value))
        return CAMP_OK;
    if (fleet_newest(member) >= time_ns)
        at = ARRAY_POSITION(&time_ns, member->times_ns, member->count, compare_times);
    if (at == member->count || member->times_ns[at] != time_ns)
        r = insert(samples, member, at, time_ns);
    if (r != CAMP_OK)
        return r;
    cell = &row(samples, member, at)[column];
    sum_answer = &row(samples, member, at)[samples->columns + FLEET_SUM_ANSWER];
    *cell = add && *sum_answer == samples->answer ? *cell + value : value;
    if (add)
        *sum_answer = samples->answer;
    return CAMP_OK;
}

void fleet_update_period(struct fleet_member *member, int64_t snapshot_ns)
{
    const size_t count = member->count;
    int64_t last, before;

    if (count < 2)
        return;
    last = member->times_ns[count - 1] - member->times_ns[count - 2];
    before = count > 2 ? member->times_ns[count - 2] - member->times_ns[count - 3] : last;
    if (before < last)
        last = before;
    if (last > FLEET_PERIOD_MOST_NS)
        return;
    if (member->period_ns == 0 || last < member->period_ns || snapshot_ns < last)
        member->period_ns = last;
}

static int64_t larger(int64_t left, int64_t right)
{
    return left > right ? left : right;
}

/* Time that was the sum of several series, and is one series now, may be less by rounding. */
static double growth(double before, double after, bool *is_partial)
{
    if (isnan(before) || isnan(after))
        return 0;
    if (after >= before - ROUNDED_MOST_S)
        return fmax(after - before, 0);
    *is_partial = true;
    return after > 0 ? after : 0;
}

uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns)
{
    return begin_ns + (uint64_t)larger((int64_t)(wanted_ns - begin_ns), larger(least_ns, 1));
}

uint64_t fleet_ns(double ns)
{
    return ns > 0 && ns < LARGEST_NS ? (uint64_t)llround(ns) : 0;
}

/* Returns the time in ns between sample `at` and the next sample, by the host's own clock, because
 * the host's counters use this clock, too. If this clock is unknown, uses the times of the scrapes,
 * which start some ms before the counters are read. */
static double elapsed_between(const struct fleet_samples *samples,
                              const struct fleet_member *member, size_t at)
{
    const double *before = row(samples, member, at) + samples->columns;
    const double *after = row(samples, member, at + 1) + samples->columns;

    if (after[FLEET_CLOCK] > before[FLEET_CLOCK])
        return (after[FLEET_CLOCK] - before[FLEET_CLOCK]) * NS_PER_S;
    return (double)(member->times_ns[at + 1] - member->times_ns[at]);
}

/* Adds to *ret a part of the growth between sample `at` and the next sample: the part from from_ns
 * to to_ns. */
static void add_part(const struct fleet_samples *samples, const struct fleet_member *member,
                     size_t at, int64_t from_ns, int64_t to_ns, struct fleet_amounts *ret)
{
    const double *before = row(samples, member, at), *after = row(samples, member, at + 1);
    const double part =
        (double)(to_ns - from_ns) / (double)(member->times_ns[at + 1] - member->times_ns[at]);
    const double cpus = after[samples->columns + FLEET_CPUS];

    for (size_t i = 0; i < samples->columns; i++)
        ret->values[i] += fleet_ns(growth(before[i], after[i], &ret->is_partial) * part * NS_PER_S);
    ret->elapsed_ns +=
        fleet_ns(elapsed_between(samples, member, at) * part * (isnan(cpus) ? 1 : cpus));
}

static void drop(const struct fleet_samples *samples, struct fleet_member *member, size_t count)
{
    if (count == 0)
        return;
    member->count -= count;
    memmove(member->times_ns, &member->times_ns[count], member->count * sizeof *member->times_ns);
    memmove(member->values, row(samples, member, count),
            member->count * width(samples) * sizeof *member->values);
}

/* Drops samples that the next interval does not need. */
static void drop_accounted(const struct fleet_samples *samples, struct fleet_member *member)
{
    size_t gone = 0;

    while (gone + 1 < member->count && member->times_ns[gone + 1] <= member->accounted_ns)
        gone++;
    if (gone + KEPT > member->count)
        gone = member->count > KEPT ? member->count - KEPT : 0;
    drop(samples, member, gone);
}

static int64_t smaller(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

bool fleet_amounts(const struct fleet_samples *samples, struct fleet_member *member,
                   int64_t until_ns, int64_t gap_ns, struct fleet_amounts *ret)
{
    const int64_t to_ns = smaller(until_ns, fleet_newest(member));

    ret->elapsed_ns = 0;
    ret->is_partial = false;
    memset(ret->values, 0, samples->columns * sizeof *ret->values);
    if (member->count == 0)
        return false;
    if (member->accounted_ns == 0)
        member->accounted_ns =
            larger(samples->begin_ns > 0 ? samples->begin_ns : to_ns, member->times_ns[0]);
    for (size_t i = 0; i + 1 < member->count; i++) {
        const int64_t from_ns = larger(member->accounted_ns, member->times_ns[i]);
        const int64_t end_ns = smaller(to_ns, member->times_ns[i + 1]);

        if (from_ns >= end_ns)
            continue;
        if (member->times_ns[i + 1] - member->times_ns[i] > gap_ns)
            ret->is_partial = true;
        else
            add_part(samples, member, i, from_ns, end_ns, ret);
    }
    member->accounted_ns = larger(member->accounted_ns, to_ns);
    drop_accounted(samples, member);
    return ret->elapsed_ns > 0 || ret->is_partial;
}

const double *fleet_sample_at(const struct fleet_samples *samples, struct fleet_member *member,
                              int64_t time_ns)
{
    size_t at = 0;

    while (at < member->count && member->times_ns[at] < time_ns - SAME_NS)
        at++;
    drop(samples, member, at < member->count ? at : 0);
    return member->count > 0 && llabs(member->times_ns[0] - time_ns) <= SAME_NS
               ? row(samples, member, 0)
               : NULL;
}
