/*
 * Takes a snapshot of all living threads: from the list of changes (changes.c), or by an iterator
 * of the kernel (iterator.c). Passes each thread to the visitor or to the caller's array, and keeps
 * the list of known threads.
 */
#include "snapshot.h"
#include "counters/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void tell_missed(const struct snapshot *snapshot, const struct known_thread *known)
{
    if (snapshot->visitor != NULL && !known->has_ended)
        snapshot->visitor->missed(snapshot->visitor->context,
                                  camp_session_record(snapshot->session, known), known->note);
}

void camp_snapshot_pass_by(struct snapshot *snapshot, int64_t tid)
{
    struct camp_states *session = snapshot->session;

    for (; snapshot->at < session->known_count && session->known[snapshot->at].tid < tid;
         snapshot->at++) {
        tell_missed(snapshot, &session->known[snapshot->at]);
        camp_session_free_place(session, session->known[snapshot->at].place);
    }
}

/* Moves the entry of a tid to the front of session->known. Returns NULL if the tid has no entry. */
static struct known_thread *keep_known(struct snapshot *snapshot, int32_t tid)
{
    struct camp_states *session = snapshot->session;
    struct known_thread *known = session->known, *place;

    camp_snapshot_pass_by(snapshot, tid);
    if (snapshot->at == session->known_count || known[snapshot->at].tid != tid)
        return NULL;
    place = known + snapshot->kept++;
    *place = known[snapshot->at++];
    return place;
}

/* Returns false if a tid is out of order. The thread is then skipped, and the snapshot is repeated
 * with sorted records. */
static bool is_in_order(struct snapshot *snapshot, int32_t tid)
{
    if (tid <= snapshot->last_tid) {
        snapshot->broken = snapshot->session->is_unordered = true;
        return false;
    }
    snapshot->last_tid = tid;
    return true;
}

static struct known_thread *add_fresh(struct snapshot *snapshot)
{
    struct camp_states *session = snapshot->session;
    const size_t count = snapshot->fresh_count + 1;
    struct known_thread fresh = { 0 };

    if (!camp_session_reserve(&snapshot->fresh, &snapshot->fresh_capacity, count, sizeof fresh) ||
        !camp_session_reserve(&session->known, &session->known_capacity,
                              session->known_count + count, sizeof fresh) ||
        !camp_session_take_place(session, &fresh.place)) {
        snapshot->out_of_memory = true;
        return NULL;
    }
    snapshot->fresh[snapshot->fresh_count] = fresh;
    return &snapshot->fresh[snapshot->fresh_count++];
}

/* If reading failed, keeps the entries of the threads that were not reached. */
static void keep_rest(struct snapshot *snapshot)
{
    struct camp_states *session = snapshot->session;
    const size_t rest = session->known_count - snapshot->at;

    if (rest > 0)
        memmove(session->known + snapshot->kept, session->known + snapshot->at,
                rest * sizeof *session->known);
    snapshot->kept += rest;
}

/* Merges known and new threads into one sorted list, from the end of the list to its front. */
static void merge(struct snapshot *snapshot)
{
    struct camp_states *session = snapshot->session;
    size_t kept = snapshot->kept, fresh = snapshot->fresh_count, at = kept + fresh;

    session->known_count = at;
    while (fresh > 0) {
        if (kept > 0 && session->known[kept - 1].tid > snapshot->fresh[fresh - 1].tid)
            session->known[--at] = session->known[--kept];
        else
            session->known[--at] = snapshot->fresh[--fresh];
    }
}

/* Returns the thread's record of the last snapshot, or NULL if the tid belonged to another thread
 * in that snapshot. */
static const struct camp_thread_states *before_of(const struct snapshot *snapshot,
                                                  struct known_thread *known,
                                                  const struct camp_thread_states *now)
{
    const struct camp_thread_states *before = camp_session_record(snapshot->session, known);

    if (camp_session_is_same(before, now))
        return before;
    tell_missed(snapshot, known);
    known->note = 0;
    return NULL;
}

void camp_snapshot_add(struct snapshot *snapshot, struct camp_thread_states *thread)
{
    const struct camp_states_visitor *visitor = snapshot->visitor;
    const struct camp_thread_states *before = NULL;
    struct known_thread *known;

    if (!is_in_order(snapshot, thread->tid))
        return;
    if ((thread->flags & READ_AGAIN) != 0 &&
        !camp_session_read_again(snapshot->session, thread->tid))
        snapshot->out_of_memory = true;
    thread->flags &= ~READ_AGAIN;
    known = keep_known(snapshot, thread->tid);
    if (known != NULL)
        before = before_of(snapshot, known, thread);
    else
        known = add_fresh(snapshot);
    if (known == NULL)
        return;
    if (visitor != NULL)
        visitor->seen(visitor->context, before, thread, &known->note);
    camp_session_note_record(snapshot->session, known, thread);
    camp_output_add(&snapshot->output, thread, sizeof *thread);
}

/* Returns the entry of an idle thread. If the thread has no entry, returns NULL, and the snapshot
 * must be repeated. */
static struct known_thread *take_sleeper(struct snapshot *snapshot, int32_t tid)
{
    struct known_thread *known = is_in_order(snapshot, tid) ? keep_known(snapshot, tid) : NULL;

    snapshot->broken |= known == NULL;
    return known;
}

/* Counts the wait of an idle thread up to the start of the snapshot, and calls waited(). */
static void tell_waiting(struct snapshot *snapshot, struct known_thread *known)
{
    const uint64_t now = snapshot->began_ns;
    const uint64_t before = camp_session_accounted_ns(snapshot->session, known);
    const uint64_t elapsed_ns = now > before ? now - before : 0;

    if (snapshot->visitor->waited != NULL) {
        const struct camp_states_wait wait = {
            .thread = camp_session_record(snapshot->session, known),
            .note = &known->note,
            .elapsed_ns = elapsed_ns,
            .state = known->state,
            .is_first = known->is_first,
        };

        snapshot->visitor->waited(snapshot->visitor->context, &wait);
    }
    known->time_ns = before + elapsed_ns;
}

static bool has_identity(const struct camp_thread_states *record,
                         const struct unchanged_thread *unchanged)
{
    return record->parent == unchanged->parent && record->cgroup == unchanged->cgroup &&
           strcmp(record->name, unchanged->name) == 0;
}

static void take_identity(struct camp_thread_states *record,
                          const struct unchanged_thread *unchanged)
{
    record->parent = unchanged->parent;
    record->cgroup = unchanged->cgroup;
    memcpy(record->name, unchanged->name, sizeof record->name);
}

/* Calls seen() for an idle thread, because the visitor does not ask for idle ones. */
static void tell_identity(struct snapshot *snapshot, struct known_thread *known,
                          const struct unchanged_thread *unchanged)
{
    const struct camp_thread_states *before = camp_session_record(snapshot->session, known);
    struct camp_thread_states now = *before;

    take_identity(&now, unchanged);
    if (snapshot->began_ns > now.time_ns) {
        now.state_ns[now.state] += snapshot->began_ns - now.time_ns;
        now.time_ns = snapshot->began_ns;
    }
    snapshot->visitor->seen(snapshot->visitor->context, before, &now, &known->note);
    camp_session_note_record(snapshot->session, known, &now);
}

void camp_snapshot_add_unchanged(struct snapshot *snapshot,
                                 const struct unchanged_thread *unchanged)
{
    struct known_thread *known = take_sleeper(snapshot, -unchanged->tid);
    struct camp_thread_states *record;

    if (known == NULL)
        return;
    record = &snapshot->session->records[known->place];
    if (snapshot->visitor != NULL && snapshot->visitor->waited == NULL &&
        !has_identity(record, unchanged)) {
        tell_identity(snapshot, known, unchanged);
        return;
    }
    take_identity(record, unchanged);
    if (snapshot->visitor != NULL) {
        tell_waiting(snapshot, known);
        return;
    }
    known->time_ns = unchanged->time_ns;
    camp_output_add(&snapshot->output, camp_session_record(snapshot->session, known),
                    sizeof *record);
}

void camp_snapshot_add_waiting(struct snapshot *snapshot, int32_t tid)
{
    struct known_thread *known = take_sleeper(snapshot, tid);

    if (known != NULL)
        tell_waiting(snapshot, known);
}

static void hand_out_idle(struct snapshot *snapshot, struct known_thread *known)
{
    if (snapshot->visitor != NULL) {
        tell_waiting(snapshot, known);
        return;
    }
    if (known->time_ns < snapshot->began_ns)
        known->time_ns = snapshot->began_ns;
    camp_output_add(&snapshot->output, camp_session_record(snapshot->session, known),
                    sizeof(struct camp_thread_states));
}

/* Returns the index of the first known thread from index `from` on whose tid is not below `tid`. */
static size_t find_from(const struct camp_states *session, size_t from, int64_t tid)
{
    size_t end = from, step = 1;

    while (end < session->known_count && session->known[end].tid < tid) {
        from = end + 1;
        end += step;
        step *= 2;
    }
    if (end > session->known_count)
        end = session->known_count;
    while (from < end) {
        const size_t middle = from + (end - from) / 2;

        if (session->known[middle].tid < tid)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

void camp_snapshot_add_idle(struct snapshot *snapshot, int64_t tid)
{
    struct camp_states *session = snapshot->session;
    const size_t end = find_from(session, snapshot->at, tid), count = end - snapshot->at;

    if (snapshot->kept != snapshot->at)
        memmove(session->known + snapshot->kept, session->known + snapshot->at,
                count * sizeof *session->known);
    for (size_t i = 0; i < count && !camp_snapshot_is_brief(snapshot); i++)
        hand_out_idle(snapshot, &session->known[snapshot->kept + i]);
    snapshot->kept += count;
    snapshot->at = end;
}

/* Takes one snapshot. *ret_broken becomes true if the snapshot must be repeated: the kernel
 * reported an unknown thread as idle, or tids were out of order. */
static int take_snapshot(struct camp_states *session, struct snapshot *snapshot, bool *ret_broken,
                         struct camp_error *error)
{
    bool done = false;
    int r = CAMP_OK;

    if (session->lists_changes && session->known_whole)
        r = camp_snapshot_read_changes(snapshot, &done, error);
    if (r == CAMP_OK && !done)
        r = camp_snapshot_iterate(snapshot, error);
    keep_rest(snapshot);
    merge(snapshot);
    free(snapshot->fresh);
    session->known_whole = r == CAMP_OK && !snapshot->broken && !snapshot->out_of_memory;
    if (r == CAMP_OK && !snapshot->broken)
        session->idle_until_ns = snapshot->began_ns;
    if (r == CAMP_OK && snapshot->visitor != NULL && snapshot->visitor->idle != NULL)
        snapshot->visitor->idle(snapshot->visitor->context, snapshot->began_ns);
    *ret_broken = snapshot->broken;
    return r;
}

static int fail_without_memory(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for what is known of threads");
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct snapshot snapshot = { 0 };
    bool broken = true;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    for (int tries = 0; broken && tries < 2; tries++) {
        int r;

        snapshot = (struct snapshot){ .session = session, .output = { ret, size, capacity, 0 } };
        r = take_snapshot(session, &snapshot, &broken, error);
        if (r == CAMP_OK && snapshot.out_of_memory)
            r = fail_without_memory(error);
        if (r != CAMP_OK)
            return r;
    }
    return camp_output_end(&snapshot.output, "threads", ret_count, error);
}

int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      size_t size, struct camp_error *error)
{
    struct camp_states_visitor known = { 0 };
    bool broken = true, out_of_memory = false;
    int r = camp_session_tell_exits(session, visitor, size, &known, error);

    /* The second attempt requests full records. A thread that the first attempt has shown to the
     * visitor is shown again, with the changes since the first attempt. */
    for (int tries = 0; r == CAMP_OK && broken && tries < 2; tries++) {
        struct snapshot snapshot = { .session = session, .visitor = &known };

        r = take_snapshot(session, &snapshot, &broken, error);
        out_of_memory = snapshot.out_of_memory;
    }
    return r == CAMP_OK && out_of_memory ? fail_without_memory(error) : r;
}

int camp_session_account_all(struct camp_states *session, struct camp_error *error)
{
    size_t count;
    int r = camp_states_threads(session, NULL, 0, 0, &count, error);

    return r == CAMP_E_SPACE ? CAMP_OK : r;
}
