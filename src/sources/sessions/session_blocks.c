#include "session_blocks.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 24

static void write_id(char ret[NUMBER_SIZE], int64_t id)
{
    if (id == BLOCKER_PREPARED)
        snprintf(ret, NUMBER_SIZE, "%s", SESSION_BLOCKER_PREPARED);
    else
        snprintf(ret, NUMBER_SIZE, "%" PRId64, id);
}

/* What replaces the labels of enum session_label; NULL keeps one. */
struct replaced {
    const char *texts[SESSION_BLOCKING_ACTIVITY + 1];
};

static labels_id replace(const struct session_frame *sessions, labels_id labels,
                         const struct replaced *by)
{
    return labels_replace(labels, sessions->schema.label_count, sessions->first_blocker_label,
                          by->texts, ARRAY_COUNT(by->texts));
}

static labels_id with_block(const struct session_frame *sessions, labels_id labels,
                            const struct block *block)
{
    char blocker[NUMBER_SIZE], root[NUMBER_SIZE];

    write_id(blocker, block->blocker);
    write_id(root, block->root);
    return replace(
        sessions, labels,
        &(struct replaced){ { [SESSION_BLOCKER] = blocker, [SESSION_ROOT_BLOCKER] = root } });
}

static int add_row(struct session_frame *sessions, const struct session *session,
                   uint64_t blocked_ns, uint64_t measured_ns)
{
    const int r = session_frame_add_row(sessions, session);
    uint64_t *values;

    if (r != CAMP_OK)
        return r;
    values = frame_values(&sessions->frame, sessions->frame.entity_count - 1);
    values[sessions->blocked_column] = blocked_ns;
    if (sessions->measured_column != 0)
        values[sessions->measured_column] = measured_ns;
    return CAMP_OK;
}

#define NOT_MEASURED SIZE_MAX

/* A part of the time that a session waited for locks. */
struct session_block {
    struct block block;
    size_t time; /* index in session.times if it is measured, or NOT_MEASURED */
};

static int compare_blocks(const void *left, const void *right)
{
    const struct session_block *a = left, *b = right;

    if (a->block.blocker != b->block.blocker)
        return a->block.blocker < b->block.blocker ? -1 : 1;
    if (a->block.root != b->block.root)
        return a->block.root < b->block.root ? -1 : 1;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Sorts the parts that are measured, and those by samples, by blocker. */
static bool collect(struct session_frame *sessions, const struct session *session)
{
    const struct blocks *sampled = &sessions->sampled;
    size_t count = 0;

    if (!ARRAY_RESERVE(sessions->blocks, sessions->block_capacity,
                       sampled->count + session->measured_count))
        return false;
    for (size_t i = 0; i < session->measured_count; i++)
        sessions->blocks[count++] =
            (struct session_block){ session->measured[i].block, session->measured[i].time };
    for (size_t i = 0; i < sampled->count; i++)
        sessions->blocks[count++] = (struct session_block){ sampled->blocks[i], NOT_MEASURED };
    if (count > 0)
        qsort(sessions->blocks, count, sizeof *sessions->blocks, compare_blocks);
    sessions->block_count = count;
    return true;
}

/* How long one session blocked another, and for how much of it this is measured. */
struct blocker {
    struct block block;
    uint64_t measured_ns;
};

/* Returns the blocker with most time, with that of its roots that has most time. */
static struct blocker longest_of(const struct session_block *blocks, size_t count)
{
    struct blocker longest = { 0 };

    for (size_t i = 0; i < count;) {
        const size_t first = i;
        struct blocker sum = { .block = { .blocker = blocks[i].block.blocker } };
        uint64_t root_ns = 0, most_ns = 0;

        for (; i < count && blocks[i].block.blocker == sum.block.blocker; i++) {
            const struct block *block = &blocks[i].block;

            root_ns = i > first && block->root == blocks[i - 1].block.root ? root_ns : 0;
            root_ns += block->ns;
            if (root_ns > most_ns) {
                most_ns = root_ns;
                sum.block.root = block->root;
            }
            sum.block.ns += block->ns;
            sum.measured_ns += blocks[i].time != NOT_MEASURED ? block->ns : 0;
        }
        if (sum.block.ns > longest.block.ns)
            longest = sum;
    }
    return longest;
}

/* Adds the session as one row. */
static int add_whole(struct session_frame *sessions, const struct session *session)
{
    const struct blocker longest = longest_of(sessions->blocks, sessions->block_count);
    struct session row = *session;

    if (longest.block.ns > 0)
        row.entity.labels = with_block(sessions, row.entity.labels, &longest.block);
    return add_row(sessions, &row, longest.block.ns, longest.measured_ns);
}

/* The times in sessions->rest are laid on a line, one after another. Copies the part of that line
 * from `from_ns` on to sessions->times, in all `ns` long. Returns the number of times. */
static size_t cut_rest(struct session_frame *sessions, uint64_t from_ns, uint64_t ns)
{
    const uint64_t until_ns = from_ns + ns;
    uint64_t at_ns = 0;
    size_t count = 0;

    for (size_t i = 0; i < sessions->rest_count; i++) {
        const struct session_time *time = &sessions->rest[i];
        uint64_t begin_ns = at_ns, end_ns;

        end_ns = at_ns += time->ns;
        begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
        end_ns = end_ns < until_ns ? end_ns : until_ns;
        if (begin_ns < end_ns)
            sessions->times[count++] = (struct session_time){ time->kind, end_ns - begin_ns };
    }
    return count;
}

/* Adds a row of the times in sessions->times[count], which add up to `ns`. `block` is NULL if their
 * blocker is unknown. The first row of a session has ENTITY_PART only if the session does. */
static int add_part(struct session_frame *sessions, const struct session *session, size_t count,
                    uint64_t ns, const struct session_block *block, bool *is_first)
{
    static const struct replaced unknown = { { [SESSION_BLOCKER] = SESSION_BLOCKER_UNKNOWN } };
    struct session row = {
        .entity = session->entity, .elapsed_ns = ns, .times = sessions->times, .time_count = count
    };

    if (*is_first) { /* All of the session's time is in locks. */
        row.sampled_ns = session->sampled_ns;
        row.sample_count = session->sample_count;
        row.lengths = session->lengths;
        row.lengths_count = session->lengths_count;
        memcpy(row.reported_ns, session->reported_ns, sizeof row.reported_ns);
    } else {
        row.entity.flags |= ENTITY_PART;
    }
    /* A session counts once for each of its blockers. */
    if (block != NULL && block > sessions->blocks &&
        block->block.blocker == block[-1].block.blocker)
        row.entity.count = 0;
    row.entity.labels = block != NULL ? with_block(sessions, session->entity.labels, &block->block)
                                      : replace(sessions, session->entity.labels, &unknown);
    *is_first = false;
    return add_row(sessions, &row, block != NULL ? ns : 0,
                   block != NULL && block->time != NOT_MEASURED ? ns : 0);
}

/* Adds the row of all time that is not in locks. Samples and reported times are not divided: the
 * first row has them. */
static int add_other(struct session_frame *sessions, const struct session *session,
                     uint64_t lock_ns)
{
    struct session row = *session;

    row.times = sessions->times;
    row.time_count = 0;
    row.elapsed_ns -= lock_ns < row.elapsed_ns ? lock_ns : row.elapsed_ns;
    for (size_t i = 0; i < session->time_count; i++) {
        if (!sessions->is_lock(&session->times[i].kind))
            sessions->times[row.time_count++] = session->times[i];
    }
    return add_row(sessions, &row, 0, 0);
}

static int add_parts(struct session_frame *sessions, const struct session *session,
                     uint64_t lock_ns, uint64_t rest_ns)
{
    uint64_t at_ns = 0;
    bool is_first = lock_ns >= session->elapsed_ns;
    int r = CAMP_OK;

    if (!ARRAY_RESERVE(sessions->times, sessions->time_capacity, session->time_count))
        return CAMP_E_NOMEM;
    if (!is_first)
        r = add_other(sessions, session, lock_ns);
    for (size_t i = 0; i < sessions->block_count && r == CAMP_OK; i++) {
        const struct session_block *block = &sessions->blocks[i];
        const uint64_t ns = block->block.ns;
        size_t count = 1;

        if (block->time != NOT_MEASURED) {
            sessions->times[0] = (struct session_time){ session->times[block->time].kind, ns };
        } else {
            count = cut_rest(sessions, at_ns, ns);
            at_ns += ns;
        }
        r = add_part(sessions, session, count, ns, block, &is_first);
    }
    if (r == CAMP_OK && at_ns < rest_ns)
        r = add_part(sessions, session, cut_rest(sessions, at_ns, rest_ns - at_ns), rest_ns - at_ns,
                     NULL, &is_first);
    return r;
}

/* Adds the times in locks that are not measured to sessions->rest: those of which samples may have
 * the blockers, or the others. Returns their sum. */
static uint64_t add_rest(struct session_frame *sessions, const struct session *session,
                         bool is_sampled)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < session->time_count; i++) {
        const struct session_time *time = &session->times[i];
        uint64_t ns = time->ns;

        if (!sessions->is_lock(&time->kind) || sessions->is_sampled_lock(&time->kind) != is_sampled)
            continue;
        for (size_t j = 0; j < session->measured_count; j++)
            ns -= session->measured[j].time == i ? session->measured[j].block.ns : 0;
        if (ns > 0)
            sessions->rest[sessions->rest_count++] = (struct session_time){ time->kind, ns };
        sum_ns += ns;
    }
    return sum_ns;
}

/* Divides the time in locks that is not measured by samples. If waits are measured, it is mostly of
 * the wait that lasts, of which the last sample has the blockers. */
static int divide_rest(struct session_frame *sessions, const struct session *session, uint64_t ns)
{
    struct blocks *blocks = &sessions->sampled;
    int r = CAMP_OK;

    blocks->count = 0;
    if (session->measured_count > 0 && session->waits_for_lock)
        r = blocker_samples_divide_last(sessions->blockers, session->entity.id, session->start, ns,
                                        blocks);
    if (r == CAMP_OK && blocks->count == 0)
        r = blocker_samples_divide(sessions->blockers, session->entity.id, session->start, ns,
                                   blocks);
    return r;
}

int session_blocks_add_rows(struct session_frame *sessions, const struct session *session)
{
    uint64_t lock_ns = 0, sampled_ns, rest_ns;

    for (size_t i = 0; i < session->time_count; i++)
        lock_ns += sessions->is_lock(&session->times[i].kind) ? session->times[i].ns : 0;
    sessions->rest_count = 0;
    if (!ARRAY_RESERVE(sessions->rest, sessions->rest_capacity, session->time_count))
        return CAMP_E_NOMEM;
    sampled_ns = add_rest(sessions, session, true);
    rest_ns = sampled_ns + add_rest(sessions, session, false);
    if (divide_rest(sessions, session, sampled_ns) != CAMP_OK || !collect(sessions, session) ||
        !ARRAY_RESERVE(sessions->blockings, sessions->blocking_capacity,
                       sessions->blocking_count + sessions->block_count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < sessions->block_count; i++)
        sessions->blockings[sessions->blocking_count++] = sessions->blocks[i].block;
    return session_division_has_blockers(sessions->division) && lock_ns > 0
               ? add_parts(sessions, session, lock_ns, rest_ns)
               : add_whole(sessions, session);
}

static int compare_blockers(const void *key, const void *element)
{
    const struct block *left = key, *right = element;

    return left->blocker < right->blocker ? -1 : left->blocker > right->blocker;
}

/* Sorts the blockings, and adds up those of one blocker. */
static void sum_blockings(struct session_frame *sessions)
{
    struct block *blockings = sessions->blockings;
    size_t kept = 0;

    if (sessions->blocking_count > 1)
        qsort(blockings, sessions->blocking_count, sizeof *blockings, compare_blockers);
    for (size_t i = 0; i < sessions->blocking_count; i++) {
        if (kept > 0 && blockings[kept - 1].blocker == blockings[i].blocker)
            blockings[kept - 1].ns += blockings[i].ns;
        else
            blockings[kept++] = blockings[i];
    }
    sessions->blocking_count = kept;
}

/* Fills the row of a session that blocked others for *ns, which becomes 0. */
static void fill_blocker(struct session_frame *sessions, size_t at, uint64_t *ns,
                         const struct session_activity *activity)
{
    struct entity *row = &sessions->frame.entities[at];
    uint64_t *values = frame_values(&sessions->frame, at);

    values[sessions->blocking_column] = *ns;
    values[sessions->blocking_activity_column] = activity->ns;
    *ns = 0;
    if (activity->name != NULL)
        row->labels =
            replace(sessions, row->labels,
                    &(struct replaced){ { [SESSION_BLOCKING_ACTIVITY] = activity->name } });
}

void session_frame_end(struct session_frame *sessions,
                       struct session_activity (*activity)(const void *context,
                                                           const struct entity *row),
                       const void *context)
{
    sum_blockings(sessions);
    /* A pid may have been used again: the session that lives is the blocker. */
    for (int ended = 0; ended < 2; ended++) {
        for (size_t i = 0; i < sessions->frame.entity_count && sessions->blocking_count > 0; i++) {
            const struct entity *row = &sessions->frame.entities[i];
            const struct block wanted = { .blocker = row->id };
            struct block *found = bsearch(&wanted, sessions->blockings, sessions->blocking_count,
                                          sizeof *sessions->blockings, compare_blockers);
            struct session_activity its;

            if ((row->flags & ENTITY_PART) != 0 || ((row->flags & ENTITY_ENDED) != 0) != ended ||
                found == NULL || found->ns == 0)
                continue;
            its = activity(context, row);
            fill_blocker(sessions, i, &found->ns, &its);
        }
    }
}
