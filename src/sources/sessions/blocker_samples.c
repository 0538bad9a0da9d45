#include "blocker_samples.h"

#include "ledger/array.h"

#include <stdlib.h>

/* A hostile server may name ever new sessions. With so many pairs in an interval, those of further
 * samples are unknown; with so many in one sample, a session has only one blocker. */
#define TIMES_MOST ((size_t)1 << 16)
#define PAIRS_MOST ((size_t)1 << 15)

/* A pair of a waiting session and one that blocks it. */
struct blocked {
    int64_t id, start;
    struct block block; /* block.ns: how long the samples had this pair */
    size_t part, parts; /* in `now`: it is one of so many of the same session */
};

/* A waiting session of a sample, sorted by id. */
struct waiting {
    const struct blocked_sample *sample;
    int64_t *front; /* [count] its blockers that wait for no other of them */
    size_t count;
    int64_t root;
    bool has_root;
    size_t walk; /* number of the last walk that passed it */
};

void blocker_samples_release(struct blocker_samples *samples)
{
    free(samples->now);
    free(samples->times);
    *samples = (struct blocker_samples){ .longest_ns = samples->longest_ns };
}

void blocker_samples_begin(struct blocker_samples *samples)
{
    samples->time_count = samples->sorted = 0;
}

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_blocked(const void *key, const void *element)
{
    const struct blocked *left = key, *right = element;
    int r = compare_numbers(left->id, right->id);

    if (r == 0)
        r = compare_numbers(left->start, right->start);
    if (r == 0)
        r = compare_numbers(left->block.blocker, right->block.blocker);
    return r != 0 ? r : compare_numbers(left->block.root, right->block.root);
}

/* Adds up the times of equal pairs. */
static void sort(struct blocker_samples *samples)
{
    struct blocked *times = samples->times;
    size_t kept = 0;

    if (samples->sorted == samples->time_count)
        return;
    qsort(times, samples->time_count, sizeof *times, compare_blocked);
    for (size_t i = 0; i < samples->time_count; i++) {
        if (kept > 0 && compare_blocked(&times[kept - 1], &times[i]) == 0)
            times[kept - 1].block.ns += times[i].block.ns;
        else
            times[kept++] = times[i];
    }
    samples->time_count = samples->sorted = kept;
}

/* Returns part `part` of `parts` equal parts of `ns`, which add up to it. */
static uint64_t part_of(uint64_t ns, size_t part, size_t parts)
{
    return ns / parts + (part < ns % parts);
}

/* Accounts `ns` for each session that waited at the last sample. */
static int account(struct blocker_samples *samples, uint64_t ns)
{
    if (ns == 0 || samples->now_count == 0)
        return CAMP_OK;
    if (samples->time_count >= 2 * samples->sorted + 256)
        sort(samples);
    if (!ARRAY_RESERVE(samples->times, samples->time_capacity,
                       samples->time_count + samples->now_count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < samples->now_count; i++) {
        struct blocked *time = &samples->times[samples->time_count++];

        *time = samples->now[i];
        time->block.ns = part_of(ns, time->part, time->parts);
        if (samples->sorted >= TIMES_MOST)
            time->block.blocker = time->block.root = BLOCKER_UNKNOWN;
    }
    return CAMP_OK;
}

static int compare_waiting(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;

    return compare_numbers(a->sample->id, b->sample->id);
}

static struct waiting *find(struct waiting *waiting, size_t count, int64_t id)
{
    const struct blocked_sample sample = { .id = id };
    const struct waiting wanted = { .sample = &sample };

    return ARRAY_FIND(&wanted, waiting, count, compare_waiting);
}

static bool contains(const int64_t *ids, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static size_t blocker_count(const struct blocked_sample *sample)
{
    return sample->count < BLOCKERS_MOST ? sample->count : BLOCKERS_MOST;
}

/* Copies the blockers of a session, each once, and without itself. */
static size_t list_blockers(const struct blocked_sample *sample, int64_t ret[BLOCKERS_MOST])
{
    size_t count = 0;

    for (size_t i = 0; i < blocker_count(sample); i++) {
        const int64_t id = sample->blockers[i];

        if (id >= 0 && id != sample->id && !contains(ret, count, id))
            ret[count++] = id;
    }
    return count;
}

/* Returns whether a session waits for one of ids[count]. */
static bool waits_for(struct waiting *waiting, size_t waiting_count, int64_t id, const int64_t *ids,
                      size_t count)
{
    const struct waiting *found = find(waiting, waiting_count, id);

    for (size_t i = 0; found != NULL && i < blocker_count(found->sample); i++) {
        if (found->sample->blockers[i] != id && contains(ids, count, found->sample->blockers[i]))
            return true;
    }
    return false;
}

static void find_front(struct waiting *waiting, size_t count, struct waiting *of)
{
    int64_t all[BLOCKERS_MOST];
    const size_t all_count = list_blockers(of->sample, all);

    for (size_t i = 0; i < all_count; i++) {
        if (!waits_for(waiting, count, all[i], all, all_count))
            of->front[of->count++] = all[i];
    }
    if (of->count == 0)
        memcpy(of->front, all, (of->count = all_count) * sizeof *all);
}

/* Returns the smallest id of the cycle that `first` is part of. */
static int64_t root_of_cycle(struct waiting *waiting, size_t count, const struct waiting *first)
{
    int64_t root = first->sample->id;

    for (const struct waiting *at = find(waiting, count, first->front[0]); at != first;
         at = find(waiting, count, at->front[0]))
        root = at->sample->id < root ? at->sample->id : root;
    return root;
}

/* Finds the root of a waiting session, and of all on the way to it. `walk` counts the calls. */
static int64_t find_root(struct waiting *waiting, size_t count, struct waiting *from, size_t walk)
{
    struct waiting *at = from, *next;
    int64_t root;

    for (;; at = next) {
        at->walk = walk;
        next = at->count > 0 ? find(waiting, count, at->front[0]) : NULL;
        if (at->has_root)
            root = at->root;
        else if (at->count == 0)
            root = at->sample->id;
        else if (next == NULL)
            root = at->front[0];
        else if (next->walk == walk)
            root = root_of_cycle(waiting, count, next);
        else
            continue;
        break;
    }
    for (at = from; at != NULL && !at->has_root;
         at = at->count > 0 ? find(waiting, count, at->front[0]) : NULL) {
        at->root = root;
        at->has_root = true;
    }
    return root;
}

/* Replaces the waits of the last sample. */
static int keep(struct blocker_samples *samples, struct waiting *waiting, size_t count)
{
    size_t pairs = 0;

    for (size_t i = 0; i < count; i++)
        pairs += waiting[i].count > 0 ? waiting[i].count : 1;
    for (size_t i = 0; i < count && pairs > PAIRS_MOST; i++)
        waiting[i].count = waiting[i].count > 0;
    if (!ARRAY_RESERVE(samples->now, samples->now_capacity, pairs))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct waiting *of = &waiting[i];
        const size_t parts = of->count > 0 ? of->count : 1;

        for (size_t part = 0; part < parts; part++) {
            struct block block = { BLOCKER_UNKNOWN, BLOCKER_UNKNOWN, 0 };

            if (of->count > 0) {
                struct waiting *blocker = find(waiting, count, of->front[part]);

                block.blocker = block.root = of->front[part];
                if (blocker != NULL)
                    block.root = find_root(waiting, count, blocker, samples->now_count + 1);
            }
            samples->now[samples->now_count++] =
                (struct blocked){ of->sample->id, of->sample->start, block, part, parts };
        }
    }
    return CAMP_OK;
}

static int read_sample(struct blocker_samples *samples, const struct blocked_sample *sampled,
                       size_t count)
{
    struct waiting *waiting;
    int64_t *fronts;
    size_t blockers = 0;
    int r = CAMP_E_NOMEM;

    samples->now_count = 0;
    if (count == 0)
        return CAMP_OK;
    for (size_t i = 0; i < count; i++)
        blockers += blocker_count(&sampled[i]);
    waiting = calloc(count, sizeof *waiting);
    fronts = calloc(blockers + 1, sizeof *fronts);
    if (waiting == NULL || fronts == NULL)
        goto out;
    blockers = 0;
    for (size_t i = 0; i < count; i++) {
        waiting[i].sample = &sampled[i];
        waiting[i].front = fronts + blockers;
        blockers += blocker_count(&sampled[i]);
    }
    qsort(waiting, count, sizeof *waiting, compare_waiting);
    for (size_t i = 0; i < count; i++)
        find_front(waiting, count, &waiting[i]);
    r = keep(samples, waiting, count);
out:
    free(waiting);
    free(fronts);
    return r;
}

int blocker_samples_add(struct blocker_samples *samples, uint64_t at_ns,
                        const struct blocked_sample *waiting, size_t count)
{
    uint64_t gap_ns =
        samples->sample_ns != 0 && at_ns > samples->sample_ns ? at_ns - samples->sample_ns : 0;
    int r;

    if (gap_ns > samples->longest_ns)
        gap_ns = samples->longest_ns;
    r = account(samples, gap_ns / 2);
    if (r == CAMP_OK)
        r = read_sample(samples, waiting, count);
    if (r == CAMP_OK)
        r = account(samples, gap_ns - gap_ns / 2);
    samples->sample_ns = at_ns;
    return r;
}

static int compare_longest(const void *left, const void *right)
{
    const struct block *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return compare_numbers(a->blocker, b->blocker);
}

int blocker_samples_divide(struct blocker_samples *samples, int64_t id, int64_t start, uint64_t ns,
                           struct blocks *ret)
{
    const struct blocked first = { .id = id, .start = start, .block = { INT64_MIN, INT64_MIN, 0 } };
    size_t begin, end;
    uint64_t whole_ns = 0, until_ns = 0, divided_ns = 0;

    ret->count = 0;
    ret->known_ns = 0;
    sort(samples);
    begin = ARRAY_POSITION(&first, samples->times, samples->time_count, compare_blocked);
    for (end = begin; end < samples->time_count && samples->times[end].id == id &&
                      samples->times[end].start == start;
         end++)
        whole_ns += samples->times[end].block.ns;
    if (whole_ns == 0 || ns == 0)
        return CAMP_OK;
    if (!ARRAY_RESERVE(ret->blocks, ret->capacity, end - begin))
        return CAMP_E_NOMEM;
    for (size_t i = begin; i < end; i++) {
        const uint64_t before_ns = divided_ns;
        struct block block = samples->times[i].block;

        until_ns += block.ns;
        divided_ns = until_ns == whole_ns
                         ? ns
                         : (uint64_t)((double)ns * ((double)until_ns / (double)whole_ns));
        block.ns = divided_ns - before_ns;
        if (block.blocker == BLOCKER_UNKNOWN || block.ns == 0)
            continue;
        ret->blocks[ret->count++] = block;
        ret->known_ns += block.ns;
    }
    if (ret->count > 1)
        qsort(ret->blocks, ret->count, sizeof *ret->blocks, compare_longest);
    return CAMP_OK;
}

static int compare_ids(const void *left, const void *right)
{
    const struct blocked *a = left, *b = right;

    return compare_numbers(a->id, b->id);
}

int blocker_samples_divide_last(const struct blocker_samples *samples, int64_t id, int64_t start,
                                uint64_t ns, struct blocks *ret)
{
    const struct blocked wanted = { .id = id };
    const struct blocked *now = samples->now;

    ret->count = 0;
    ret->known_ns = 0;
    for (size_t i = ARRAY_POSITION(&wanted, now, samples->now_count, compare_ids);
         i < samples->now_count && now[i].id == id; i++) {
        struct block block = now[i].block;

        block.ns = part_of(ns, now[i].part, now[i].parts);
        if (now[i].start != start || block.blocker == BLOCKER_UNKNOWN || block.ns == 0)
            continue;
        if (!ARRAY_RESERVE(ret->blocks, ret->capacity, ret->count + 1))
            return CAMP_E_NOMEM;
        ret->blocks[ret->count++] = block;
        ret->known_ns += block.ns;
    }
    return CAMP_OK;
}
