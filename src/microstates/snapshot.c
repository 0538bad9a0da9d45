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

/* The known thread of this number, moved to the front of what is kept; NULL: there is none. Those
 * before it have ended. */
static struct camp_thread_states *keep_known(struct snapshot *snapshot, int32_t tid)
{
    struct camp_states *session = snapshot->session;
    struct camp_thread_states *known = session->known, *place;

    snapshot->broken |= tid <= snapshot->last_tid;
    snapshot->last_tid = tid;
    while (snapshot->at < session->known_count && known[snapshot->at].tid < tid)
        snapshot->at++;
    if (snapshot->at == session->known_count || known[snapshot->at].tid != tid)
        return NULL;
    place = known + snapshot->kept;
    if (snapshot->kept < snapshot->at)
        *place = known[snapshot->at];
    snapshot->kept++;
    snapshot->at++;
    return place;
}

static void add_fresh(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    if (!reserve(&snapshot->fresh, &snapshot->fresh_capacity, snapshot->fresh_count + 1))
        snapshot->out_of_memory = true;
    else
        snapshot->fresh[snapshot->fresh_count++] = *thread;
}

/* Known and fresh threads become one list, from its end on. */
static void merge(struct snapshot *snapshot)
{
    struct camp_states *session = snapshot->session;
    size_t kept = snapshot->kept, fresh = snapshot->fresh_count, at = kept + fresh;

    session->known_count = 0;
    if (!reserve(&session->known, &session->known_capacity, at)) {
        snapshot->out_of_memory = true;
        return;
    }
    session->known_count = at;
    while (fresh > 0) {
        if (kept > 0 && session->known[kept - 1].tid > snapshot->fresh[fresh - 1].tid)
            session->known[--at] = session->known[--kept];
        else
            session->known[--at] = snapshot->fresh[--fresh];
    }
}

/* ------------------------------------------------------------------------------- Reading -- */

static void hand_out(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    if (snapshot->count++ >= snapshot->capacity)
        return;
    camp_hand_out(snapshot->next, snapshot->size, thread, sizeof *thread);
    snapshot->next += snapshot->size;
}

static void take_thread(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    struct camp_thread_states *known = keep_known(snapshot, thread->tid);

    if (known != NULL)
        *known = *thread;
    else
        add_fresh(snapshot, thread);
    hand_out(snapshot, thread);
}

/* It has been in its state all the time. */
static void take_unchanged(struct snapshot *snapshot, const struct unchanged_thread *unchanged)
{
    struct camp_thread_states *known = keep_known(snapshot, -unchanged->tid);

    if (known == NULL) {
        snapshot->broken = true;
        return;
    }
    known->parent = unchanged->parent;
    known->cgroup = unchanged->cgroup;
    memcpy(known->name, unchanged->name, sizeof known->name);
    known->state_ns[known->state] += unchanged->time_ns - known->time_ns;
    known->time_ns = unchanged->time_ns;
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
        merge(snapshot);
    free(snapshot->fresh);
    session->known_whole = r == CAMP_OK && !snapshot->broken && !snapshot->out_of_memory;
    if (!session->known_whole)
        session->known_count = 0;
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

int session_meet_all(struct camp_states *session, struct camp_error *error)
{
    size_t count;
    int r = camp_states_threads(session, NULL, 0, 0, &count, error);

    return r == CAMP_E_SPACE ? CAMP_OK : r;
}
