/*
 * Takes a snapshot by an iterator of the kernel, which writes a record of each thread, usually in
 * ascending order of tids. If a tid is out of order, which can happen in a PID namespace, the
 * session sorts the records of all snapshots from then on.
 *
 * For a thread that was idle since the previous snapshot the kernel writes only a short record. The
 * session's list has the other fields of the thread.
 */
#include "counters/clock.h"
#include "snapshot.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 32768u

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
        whole = camp_snapshot_is_brief(snapshot) ? sizeof tid : sizeof(struct unchanged_thread);
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
        camp_snapshot_add(snapshot, &thread);
    } else if (length == sizeof unchanged) {
        memcpy(&unchanged, bytes, sizeof unchanged);
        camp_snapshot_add_unchanged(snapshot, &unchanged);
    } else {
        camp_snapshot_add_waiting(snapshot, tid_of(bytes));
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

int camp_snapshot_iterate(struct snapshot *snapshot, struct camp_error *error)
{
    struct camp_states *session = snapshot->session;
    struct states_bpf__bss *kernel = session->programs->bss;
    int r;

    camp_changes_restart(session);
    kernel->snapshot_before = session->known_whole ? session->snapshots : 0;
    kernel->snapshot_now = ++session->snapshots;
    kernel->snapshot_brief = camp_snapshot_is_brief(snapshot);
    snapshot->began_ns = now_ns(CLOCK_MONOTONIC);
    r = read_all(snapshot, error);
    take_kept_back(snapshot);
    if (r == CAMP_OK)
        camp_snapshot_pass_by(snapshot, INT64_MAX);
    return r;
}
