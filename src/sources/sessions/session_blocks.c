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
                   uint64_t blocked_ns)
{
    const int r = session_frame_add_row(sessions, session);

    if (r == CAMP_OK)
        frame_values(&sessions->frame, sessions->frame.entity_count - 1)[sessions->blocked_column] =
            blocked_ns;
    return r;
}

/* Adds the session as one row. */
static int add_whole(struct session_frame *sessions, const struct session *session)
{
    const struct blocks *blocks = &sessions->blocks;
    struct session row = *session;
    uint64_t blocked_ns = 0;

    for (size_t i = 0; i < blocks->count; i++)
        blocked_ns +=
            blocks->blocks[i].blocker == blocks->blocks[0].blocker ? blocks->blocks[i].ns : 0;
    if (blocks->count > 0)
        row.entity.labels = with_block(sessions, row.entity.labels, &blocks->blocks[0]);
    return add_row(sessions, &row, blocked_ns);
}

/* All times in locks of a session are laid on a line, one after another. Copies the part of that
 * line from `from_ns` on to sessions->times, in all `ns` long. Returns the number of times. */
static size_t cut_locks(struct session_frame *sessions, const struct session *session,
                        uint64_t from_ns, uint64_t ns)
{
    const uint64_t until_ns = from_ns + ns;
    uint64_t at_ns = 0;
    size_t count = 0;

    for (size_t i = 0; i < session->time_count; i++) {
        const struct session_time *time = &session->times[i];
        uint64_t begin_ns = at_ns, end_ns;

        if (!sessions->is_lock(&time->kind))
            continue;
        end_ns = at_ns += time->ns;
        begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
        end_ns = end_ns < until_ns ? end_ns : until_ns;
        if (begin_ns < end_ns)
            sessions->times[count++] = (struct session_time){ time->kind, end_ns - begin_ns };
    }
    return count;
}

/* Adds a row of `ns` in locks. The first row of a session has ENTITY_PART only if the session does.
 */
static int add_part(struct session_frame *sessions, const struct session *session, uint64_t from_ns,
                    uint64_t ns, const struct block *block, bool *is_first)
{
    static const struct replaced unknown = { { [SESSION_BLOCKER] = SESSION_BLOCKER_UNKNOWN } };
    struct session row = { .entity = session->entity,
                           .elapsed_ns = ns,
                           .times = sessions->times,
                           .time_count = cut_locks(sessions, session, from_ns, ns) };

    if (*is_first) { /* All of the session's time is in locks. */
        row.sampled_ns = session->sampled_ns;
        row.sample_count = session->sample_count;
        row.lengths = session->lengths;
        row.lengths_count = session->lengths_count;
        memcpy(row.reported_ns, session->reported_ns, sizeof row.reported_ns);
    } else {
        row.entity.flags |= ENTITY_PART;
    }
    row.entity.labels = block != NULL ? with_block(sessions, session->entity.labels, block)
                                      : replace(sessions, session->entity.labels, &unknown);
    *is_first = false;
    return add_row(sessions, &row, block != NULL ? ns : 0);
}

/* Adds the row of all time that is not in locks. Samples and reported times are not divided: the
 * first row has them. */
static int add_rest(struct session_frame *sessions, const struct session *session, uint64_t lock_ns)
{
    struct session row = *session;

    row.times = sessions->times;
    row.time_count = 0;
    row.elapsed_ns -= lock_ns < row.elapsed_ns ? lock_ns : row.elapsed_ns;
    for (size_t i = 0; i < session->time_count; i++) {
        if (!sessions->is_lock(&session->times[i].kind))
            sessions->times[row.time_count++] = session->times[i];
    }
    return add_row(sessions, &row, 0);
}

static int add_parts(struct session_frame *sessions, const struct session *session,
                     uint64_t lock_ns)
{
    const struct blocks *blocks = &sessions->blocks;
    uint64_t at_ns = 0;
    bool is_first = lock_ns >= session->elapsed_ns;
    int r = CAMP_OK;

    if (!ARRAY_RESERVE(sessions->times, sessions->time_capacity, session->time_count))
        return CAMP_E_NOMEM;
    if (!is_first)
        r = add_rest(sessions, session, lock_ns);
    for (size_t i = 0; i < blocks->count && r == CAMP_OK; i++) {
        r = add_part(sessions, session, at_ns, blocks->blocks[i].ns, &blocks->blocks[i], &is_first);
        at_ns += blocks->blocks[i].ns;
    }
    if (r == CAMP_OK && at_ns < lock_ns)
        r = add_part(sessions, session, at_ns, lock_ns - at_ns, NULL, &is_first);
    return r;
}

int session_blocks_add_rows(struct session_frame *sessions, const struct session *session)
{
    struct blocks *blocks = &sessions->blocks;
    uint64_t lock_ns = 0;
    int r;

    for (size_t i = 0; i < session->time_count; i++)
        lock_ns += sessions->is_lock(&session->times[i].kind) ? session->times[i].ns : 0;
    r = blocker_samples_divide(sessions->blockers, session->entity.id, session->start, lock_ns,
                               blocks);
    if (r != CAMP_OK || !ARRAY_RESERVE(sessions->blockings, sessions->blocking_capacity,
                                       sessions->blocking_count + blocks->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < blocks->count; i++)
        sessions->blockings[sessions->blocking_count++] = blocks->blocks[i];
    return sessions->division == SESSION_BY_BLOCKER && lock_ns > 0
               ? add_parts(sessions, session, lock_ns)
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
