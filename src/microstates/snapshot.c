/*
 * A snapshot: all living threads, by an iterator of the kernel, ascending by tid.
 *
 * Of a thread that did nothing since the last snapshot the kernel says so, in a short record; the
 * rest is in the list that the session keeps. The two are walked side by side.
 */
#include "../counters/error.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 32768u

struct snapshot {
    struct camp_states *session;
    size_t at;                        /* in session->known: who may come next */
    size_t kept;                      /* of them, moved to its front */
    struct camp_thread_states *fresh; /* [fresh_count]: who was not there, ascending */
    size_t fresh_count, fresh_capacity;
    int32_t last_tid;
    bool broken, out_of_memory;
    const struct camp_states_visitor *visitor; /* or: */
    /* The caller's. */
    char *next;
    size_t size, capacity, count;
};

/* --------------------------------------------------------------------------------- Lists -- */

static bool reserve(struct camp_thread_states **list, size_t *capacity, size_t count)
{
    const size_t wanted = count + count / 4 + 64;
    struct camp_thread_states *grown;

    if (count <= *capacity)
        return true;
    grown = reallocarray(*list, wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = wanted;
    return true;
}

static void tell_missed(const struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    if (snapshot->visitor != NULL && (thread->flags & CAMP_THREAD_ENDED) == 0)
        snapshot->visitor->missed(snapshot->visitor->context, thread);
}

/* Those of a lower number are not there any more. */
static void pass_by(struct snapshot *snapshot, int64_t tid)
{
    const struct camp_states *session = snapshot->session;

    while (snapshot->at < session->known_count && session->known[snapshot->at].tid < tid)
        tell_missed(snapshot, &session->known[snapshot->at++]);
}

/* The known thread of this number, moved to the front of what is kept; NULL: there is none. */
static struct camp_thread_states *keep_known(struct snapshot *snapshot, int32_t tid)
{
    struct camp_states *session = snapshot->session;
    struct camp_thread_states *known = session->known, *place;

    pass_by(snapshot, tid);
    if (snapshot->at == session->known_count || known[snapshot->at].tid != tid)
        return NULL;
    place = known + snapshot->kept;
    if (snapshot->kept < snapshot->at)
        *place = known[snapshot->at];
    snapshot->kept++;
    snapshot->at++;
    return place;
}

/* The list stays in order, whatever the kernel says: who comes late is met when it is read again.
 */
static bool is_in_order(struct snapshot *snapshot, int32_t tid)
{
    if (tid <= snapshot->last_tid) {
        snapshot->broken = true;
        return false;
    }
    snapshot->last_tid = tid;
    return true;
}

/* With room for it where the lists become one: who was shown is known from then on. */
static bool add_fresh(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    struct camp_states *session = snapshot->session;

    if (!reserve(&snapshot->fresh, &snapshot->fresh_capacity, snapshot->fresh_count + 1) ||
        !reserve(&session->known, &session->known_capacity,
                 session->known_count + snapshot->fresh_count + 1)) {
        snapshot->out_of_memory = true;
        return false;
    }
    snapshot->fresh[snapshot->fresh_count++] = *thread;
    return true;
}

/* Where reading failed those behind stay as they were. */
static void keep_rest(struct snapshot *snapshot)
{
    struct camp_states *session = snapshot->session;
    const size_t rest = session->known_count - snapshot->at;

    if (rest > 0)
        memmove(session->known + snapshot->kept, session->known + snapshot->at,
                rest * sizeof *session->known);
    snapshot->kept += rest;
}

/* Known and fresh threads become one list, from its end on. */
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

static int compare_tids(const void *a, const void *b)
{
    const struct camp_thread_states *left = a, *right = b;

    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static bool is_same(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->pid == b->pid && a->begin_ns == b->begin_ns;
}

struct camp_thread_states *session_find_known(const struct camp_states *session,
                                              const struct camp_thread_states *thread)
{
    struct camp_thread_states *known =
        session->known_count > 0
            ? bsearch(thread, session->known, session->known_count, sizeof *thread, compare_tids)
            : NULL;

    return known != NULL && (known->flags & CAMP_THREAD_ENDED) == 0 && is_same(known, thread)
               ? known
               : NULL;
}

/* ------------------------------------------------------------------------------- Reading -- */

static void hand_out(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    if (snapshot->count++ >= snapshot->capacity)
        return;
    camp_hand_out(snapshot->next, snapshot->size, thread, sizeof *thread);
    snapshot->next += snapshot->size;
}

static void tell_seen(const struct snapshot *snapshot, const struct camp_thread_states *before,
                      const struct camp_thread_states *now)
{
    const struct camp_states_visitor *visitor = snapshot->visitor;

    if (visitor == NULL)
        return;
    if (before != NULL && !is_same(before, now)) {
        tell_missed(snapshot, before);
        before = NULL;
    }
    visitor->seen(visitor->context, before, now);
}

static void take_thread(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    struct camp_thread_states *known;

    if (!is_in_order(snapshot, thread->tid))
        return;
    known = keep_known(snapshot, thread->tid);
    if (known == NULL && !add_fresh(snapshot, thread))
        return;
    tell_seen(snapshot, known, thread);
    if (known != NULL)
        *known = *thread;
    hand_out(snapshot, thread);
}

/* It has been in its state all the time. */
static void take_unchanged(struct snapshot *snapshot, const struct unchanged_thread *unchanged)
{
    struct camp_thread_states *known;
    uint64_t elapsed_ns;

    if (!is_in_order(snapshot, -unchanged->tid))
        return;
    known = keep_known(snapshot, -unchanged->tid);
    if (known == NULL) {
        snapshot->broken = true;
        return;
    }
    elapsed_ns = unchanged->time_ns - known->time_ns;
    known->parent = unchanged->parent;
    known->cgroup = unchanged->cgroup;
    memcpy(known->name, unchanged->name, sizeof known->name);
    known->state_ns[known->state] += elapsed_ns;
    known->time_ns = unchanged->time_ns;
    if (snapshot->visitor != NULL)
        snapshot->visitor->waited(snapshot->visitor->context, known, elapsed_ns);
    hand_out(snapshot, known);
}

/* Takes the whole records of `length` bytes; how many bytes these are. */
static size_t take_records(struct snapshot *snapshot, const char *bytes, size_t length)
{
    size_t at = 0;

    for (;;) {
        struct camp_thread_states thread;
        struct unchanged_thread unchanged;

        if (length - at < sizeof unchanged)
            return at;
        memcpy(&unchanged, bytes + at, sizeof unchanged);
        if (unchanged.tid < 0) {
            take_unchanged(snapshot, &unchanged);
            at += sizeof unchanged;
        } else if (length - at < sizeof thread) {
            return at;
        } else {
            memcpy(&thread, bytes + at, sizeof thread);
            take_thread(snapshot, &thread);
            at += sizeof thread;
        }
    }
}

static int read_all(struct snapshot *snapshot, struct camp_error *error)
{
    char buffer[BUFFER_BYTES];
    int descriptor = bpf_iter_create(bpf_link__fd(snapshot->session->programs->links.snapshot));
    size_t waiting = 0; /* bytes: a read may end within a record */
    ssize_t got;

    if (descriptor < 0)
        return camp_fail(error, CAMP_E_IO, errno, "the kernel makes no iterator of its tasks (%s)",
                         strerror(errno));
    for (;;) {
        size_t taken;

        do
            got = read(descriptor, buffer + waiting, sizeof buffer - waiting);
        while (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (got <= 0)
            break;
        waiting += (size_t)got;
        taken = take_records(snapshot, buffer, waiting);
        waiting -= taken;
        memmove(buffer, buffer + taken, waiting);
    }
    close(descriptor);
    return got == 0 ? CAMP_OK
                    : camp_fail(error, CAMP_E_IO, errno, "the kernel's tasks cannot be read (%s)",
                                strerror(errno));
}

/* One snapshot; *ret_broken: what the kernel took for known is not. */
static int take_snapshot(struct camp_states *session, struct snapshot *snapshot, bool *ret_broken,
                         struct camp_error *error)
{
    struct states_bpf__bss *kernel = session->programs->bss;
    int r;

    kernel->snapshot_before = session->known_whole ? session->snapshots : 0;
    kernel->snapshot_now = ++session->snapshots;
    r = read_all(snapshot, error);
    if (r == CAMP_OK)
        pass_by(snapshot, INT64_MAX);
    keep_rest(snapshot);
    merge(snapshot);
    free(snapshot->fresh);
    session->known_whole = r == CAMP_OK && !snapshot->broken && !snapshot->out_of_memory;
    *ret_broken = snapshot->broken;
    return r;
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct snapshot snapshot = { 0 };
    bool broken = true;

    if (session == NULL || ret_count == NULL || (ret == NULL && capacity > 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a place for the threads");
    for (int tries = 0; broken && tries < 2; tries++) {
        int r;

        snapshot = (struct snapshot){
            .session = session, .next = (char *)ret, .size = size, .capacity = capacity
        };
        r = take_snapshot(session, &snapshot, &broken, error);
        if (r != CAMP_OK)
            return r;
    }
    *ret_count = snapshot.count;
    return snapshot.count <= capacity
               ? CAMP_OK
               : camp_fail(error, CAMP_E_SPACE, 0, "%zu threads, and room for %zu", snapshot.count,
                           capacity);
}

int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      struct camp_error *error)
{
    bool broken = true, out_of_memory = false;
    int r;

    if (session == NULL || visitor == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a visitor");
    session->visitor = visitor;
    r = session_tell_exits(session, error);
    session->visitor = NULL;
    /* A second try is told in full, and each thread by what the first one had of it. */
    for (int tries = 0; r == CAMP_OK && broken && tries < 2; tries++) {
        struct snapshot snapshot = { .session = session, .visitor = visitor };

        r = take_snapshot(session, &snapshot, &broken, error);
        out_of_memory = snapshot.out_of_memory;
    }
    return r == CAMP_OK && out_of_memory
               ? camp_fail(error, CAMP_E_NOMEM, 0, "no memory for what is known of threads")
               : r;
}

int session_meet_all(struct camp_states *session, struct camp_error *error)
{
    size_t count;
    int r = camp_states_threads(session, NULL, 0, 0, &count, error);

    return r == CAMP_E_SPACE ? CAMP_OK : r;
}
