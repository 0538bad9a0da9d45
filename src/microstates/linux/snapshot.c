/*
 * Takes a snapshot of all living threads. An iterator of the kernel writes a record of each thread,
 * usually in ascending order of tids. If a tid is out of order, which can happen in a PID
 * namespace, the session sorts the records of all snapshots from then on.
 *
 * For a thread that was idle since the previous snapshot the kernel writes only a short record. The
 * session's list has the other fields of the thread.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 32768u

/* A record that is kept until all records are read, and then sorted. */
struct record {
    int32_t tid;
    uint32_t length;
    size_t offset;
};

struct records {
    struct record *list; /* [count], owned */
    char *bytes;         /* [size], owned */
    size_t count, capacity, size, byte_capacity;
};

struct snapshot {
    struct camp_states *session;
    size_t at; /* entries of session->known before this index have been handled */
    /* number of known threads found so far; their entries are at the front of session->known */
    size_t kept;
    struct known_thread *fresh; /* [fresh_count], unknown threads in ascending order of tids */
    size_t fresh_count, fresh_capacity;
    int32_t last_tid;
    uint64_t began_ns;
    bool broken, out_of_memory, damaged;
    struct records kept_back;                  /* holds all records if session->is_unordered */
    const struct camp_states_visitor *visitor; /* NULL if `output` receives the threads */
    struct camp_output output;
};

static void tell_missed(const struct snapshot *snapshot, const struct known_thread *known)
{
    if (snapshot->visitor != NULL && !known->has_ended)
        snapshot->visitor->missed(snapshot->visitor->context,
                                  camp_session_record(snapshot->session, known), known->note);
}

/* Frees the records of known threads with tids below `tid` that are not in this snapshot. */
static void pass_by(struct snapshot *snapshot, int64_t tid)
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

    pass_by(snapshot, tid);
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

static void take_thread(struct snapshot *snapshot, const struct camp_thread_states *thread)
{
    const struct camp_states_visitor *visitor = snapshot->visitor;
    const struct camp_thread_states *before = NULL;
    struct known_thread *known;

    if (!is_in_order(snapshot, thread->tid))
        return;
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
    const uint64_t elapsed_ns = now > known->time_ns ? now - known->time_ns : 0;

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
    known->time_ns += elapsed_ns;
}

static void take_unchanged(struct snapshot *snapshot, const struct unchanged_thread *unchanged)
{
    struct known_thread *known = take_sleeper(snapshot, -unchanged->tid);
    struct camp_thread_states *record;

    if (known == NULL)
        return;
    record = &snapshot->session->records[known->place];
    record->parent = unchanged->parent;
    record->cgroup = unchanged->cgroup;
    memcpy(record->name, unchanged->name, sizeof record->name);
    if (snapshot->visitor != NULL) {
        tell_waiting(snapshot, known);
        return;
    }
    known->time_ns = unchanged->time_ns;
    camp_output_add(&snapshot->output, camp_session_record(snapshot->session, known),
                    sizeof *record);
}

static void take_waiting(struct snapshot *snapshot, int32_t tid)
{
    struct known_thread *known = take_sleeper(snapshot, tid);

    if (known != NULL)
        tell_waiting(snapshot, known);
}

/* A visitor without waited() needs no name, parent and cgroup of idle threads. */
static bool is_brief(const struct snapshot *snapshot)
{
    return snapshot->visitor != NULL && snapshot->visitor->waited == NULL;
}

static int32_t tid_of(const char *record)
{
    int32_t tid;

    memcpy(&tid, record, sizeof tid);
    return tid < 0 ? -tid : tid;
}

/* Returns the length of the record at `bytes`, or 0 if the record is incomplete. */
static size_t length_of(const struct snapshot *snapshot, const char *bytes, size_t length)
{
    size_t whole = sizeof(struct camp_thread_states);
    int32_t tid;

    if (length < sizeof tid)
        return 0;
    memcpy(&tid, bytes, sizeof tid);
    if (tid < 0)
        whole = is_brief(snapshot) ? sizeof tid : sizeof(struct unchanged_thread);
    return length < whole ? 0 : whole;
}

/* Returns false for a record that must not be used. The smallest number is no negative tid. */
static bool is_sound(const char *bytes, size_t length)
{
    struct camp_thread_states thread;
    struct unchanged_thread unchanged;
    int32_t tid;

    if (length == sizeof thread) {
        memcpy(&thread, bytes, sizeof thread);
        return camp_session_is_sound(&thread);
    }
    memcpy(&tid, bytes, sizeof tid);
    if (length != sizeof unchanged)
        return tid != INT32_MIN;
    memcpy(&unchanged, bytes, sizeof unchanged);
    return tid != INT32_MIN && unchanged.name[sizeof unchanged.name - 1] == '\0';
}

static void take_record(struct snapshot *snapshot, const char *bytes, size_t length)
{
    struct camp_thread_states thread;
    struct unchanged_thread unchanged;

    if (length == sizeof thread) {
        memcpy(&thread, bytes, sizeof thread);
        take_thread(snapshot, &thread);
    } else if (length == sizeof unchanged) {
        memcpy(&unchanged, bytes, sizeof unchanged);
        take_unchanged(snapshot, &unchanged);
    } else {
        take_waiting(snapshot, tid_of(bytes));
    }
}

static bool keep_back(struct records *records, int32_t tid, const char *bytes, size_t length)
{
    const size_t size = records->size + length;

    if (!camp_session_reserve(&records->list, &records->capacity, records->count + 1,
                              sizeof *records->list) ||
        !camp_session_reserve(&records->bytes, &records->byte_capacity, size, 1))
        return false;
    records->list[records->count++] = (struct record){ tid, (uint32_t)length, records->size };
    memcpy(records->bytes + records->size, bytes, length);
    records->size = size;
    return true;
}

static int compare_records(const void *a, const void *b)
{
    const struct record *left = a, *right = b;

    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static void take_kept_back(struct snapshot *snapshot)
{
    struct records *records = &snapshot->kept_back;

    if (records->count > 0)
        qsort(records->list, records->count, sizeof *records->list, compare_records);
    for (size_t i = 0; i < records->count; i++)
        take_record(snapshot, records->bytes + records->list[i].offset, records->list[i].length);
    free(records->list);
    free(records->bytes);
}

/* Uses or keeps the complete records in bytes[length]. Returns the sum of their lengths. */
static size_t take_records(struct snapshot *snapshot, const char *bytes, size_t length)
{
    size_t at = 0, one;

    while ((one = length_of(snapshot, bytes + at, length - at)) > 0) {
        if (!is_sound(bytes + at, one))
            snapshot->damaged = true;
        else if (!snapshot->session->is_unordered)
            take_record(snapshot, bytes + at, one);
        else if (!keep_back(&snapshot->kept_back, tid_of(bytes + at), bytes + at, one))
            snapshot->out_of_memory = true;
        at += one;
    }
    return at;
}

static int read_all(struct snapshot *snapshot, struct camp_error *error)
{
    char buffer[BUFFER_BYTES];
    int descriptor = bpf_iter_create(bpf_link__fd(snapshot->session->programs->links.snapshot));
    size_t waiting = 0; /* bytes of an incomplete record */
    ssize_t got;
    int system_error;

    if (descriptor < 0)
        return camp_fail_errno(error, errno, "the kernel's iterator of threads");
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
    system_error = errno;
    close(descriptor);
    if (got < 0)
        return camp_fail(error, CAMP_E_IO, system_error, "the kernel's tasks cannot be read (%s)",
                         strerror(system_error));
    return snapshot->damaged || waiting > 0 ? camp_session_fail_damaged(error) : CAMP_OK;
}

/* Takes one snapshot. *ret_broken becomes true if the snapshot must be repeated: the kernel
 * reported an unknown thread as idle, or tids were out of order. */
static int take_snapshot(struct camp_states *session, struct snapshot *snapshot, bool *ret_broken,
                         struct camp_error *error)
{
    struct states_bpf__bss *kernel = session->programs->bss;
    int r;

    kernel->snapshot_before = session->known_whole ? session->snapshots : 0;
    kernel->snapshot_now = ++session->snapshots;
    kernel->snapshot_brief = is_brief(snapshot);
    snapshot->began_ns = now_ns(CLOCK_MONOTONIC);
    r = read_all(snapshot, error);
    take_kept_back(snapshot);
    if (r == CAMP_OK)
        pass_by(snapshot, INT64_MAX);
    keep_rest(snapshot);
    merge(snapshot);
    free(snapshot->fresh);
    session->known_whole = r == CAMP_OK && !snapshot->broken && !snapshot->out_of_memory;
    if (r == CAMP_OK && snapshot->visitor != NULL && snapshot->visitor->idle != NULL)
        snapshot->visitor->idle(snapshot->visitor->context, snapshot->began_ns);
    *ret_broken = snapshot->broken;
    return r;
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
    return r == CAMP_OK && out_of_memory
               ? camp_fail(error, CAMP_E_NOMEM, 0, "no memory for what is known of threads")
               : r;
}

int camp_session_account_all(struct camp_states *session, struct camp_error *error)
{
    size_t count;
    int r = camp_states_threads(session, NULL, 0, 0, &count, error);

    return r == CAMP_E_SPACE ? CAMP_OK : r;
}
