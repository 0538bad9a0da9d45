/*
 * Takes a snapshot from the list of changes (changes.bpf.h): reads the threads in the list, and
 * those that did not sleep in the last snapshot. All other threads were idle since.
 */
#include "counters/clock.h"
#include "ledger/array.h"
#include "snapshot.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An event writes its entry some nanoseconds after it has counted it. If a hypervisor stops its CPU
 * in between, so many tries may not be enough; then the iterator reads all threads. */
#define ENTRY_TRIES 100000

struct scan {
    struct snapshot *snapshot;
    struct tid_list wanted;
    struct tid_list moved;    /* processes, and threads, that moved to another group */
    struct tid_list orphaned; /* processes whose children may have another parent */
};

static void add(struct scan *scan, struct tid_list *list, int32_t tid)
{
    if (!camp_session_add_tid(list, tid))
        scan->snapshot->out_of_memory = true;
}

static bool read_entry(const struct changes *changes, uint64_t number, uint64_t *ret)
{
    const uint64_t *place = &changes->entries[number % CHANGES_MAX];

    for (int i = 0; i < ENTRY_TRIES; i++) {
        *ret = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (*ret >> 40 == CHANGE(0, 0, number) >> 40)
            return true;
    }
    return false;
}

static void add_entry(struct scan *scan, uint64_t entry)
{
    const int32_t id = (int32_t)(uint32_t)entry;

    switch ((uint8_t)(entry >> 32)) {
    case CHANGE_OF_NAME:
        if (!camp_session_read_again(scan->snapshot->session, id))
            scan->snapshot->out_of_memory = true;
        break;
    case CHANGE_OF_GROUP:
        add(scan, &scan->moved, id);
        break;
    case CHANGE_OF_PARENT:
        add(scan, &scan->orphaned, id);
        add(scan, &scan->snapshot->session->orphaned, id);
        return;
    default:
        break;
    }
    add(scan, &scan->wanted, id);
}

/* Returns false if the list lacks an entry. */
static bool add_entries(struct scan *scan)
{
    struct camp_states *session = scan->snapshot->session;
    const struct changes *changes = &session->programs->bss->changes;
    const uint64_t count = __atomic_load_n(&changes->count, __ATOMIC_ACQUIRE);
    uint64_t entry;

    if (count - session->changes_read > CHANGES_MAX)
        return false;
    for (uint64_t number = session->changes_read; number < count; number++) {
        if (!read_entry(changes, number, &entry))
            return false;
        add_entry(scan, entry);
    }
    session->changes_read = count;
    return true;
}

static int compare_tids(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

static void sort(struct tid_list *list)
{
    size_t kept = 0;

    if (list->count > 0)
        qsort(list->tids, list->count, sizeof *list->tids, compare_tids);
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || list->tids[i] != list->tids[i - 1])
            list->tids[kept++] = list->tids[i];
    }
    list->count = kept;
}

static bool has(const struct tid_list *list, int32_t tid)
{
    return list->count > 0 && ARRAY_FIND(&tid, list->tids, list->count, compare_tids) != NULL;
}

/* Adds the threads of moved processes, and the children of exited processes. */
static void add_relatives(struct scan *scan)
{
    const struct camp_states *session = scan->snapshot->session;

    if (scan->moved.count == 0 && scan->orphaned.count == 0)
        return;
    sort(&scan->moved);
    sort(&scan->orphaned);
    for (size_t i = 0; i < session->known_count; i++) {
        const struct camp_thread_states *record = &session->records[session->known[i].place];

        if (has(&scan->moved, record->pid) || has(&scan->orphaned, record->parent))
            add(scan, &scan->wanted, record->tid);
    }
}

static int read_some(struct snapshot *snapshot, const int32_t *tids, size_t count,
                     struct camp_error *error)
{
    const struct states_bpf *programs = snapshot->session->programs;
    LIBBPF_OPTS(bpf_test_run_opts, nothing);

    memcpy(programs->bss->wanted_tids, tids, count * sizeof *tids);
    programs->bss->wanted_count = (uint32_t)count;
    if (bpf_prog_test_run_opts(bpf_program__fd(programs->progs.read_threads_of_list), &nothing) !=
        0)
        return camp_fail(error, errno == ENOMEM ? CAMP_E_NOMEM : CAMP_E_IO, errno,
                         "the kernel's program that reads threads failed (%s)", strerror(errno));
    for (size_t i = 0; i < count; i++) {
        struct camp_thread_states *record = &programs->bss->thread_records[i];

        camp_snapshot_add_idle(snapshot, tids[i]);
        if (record->tid != tids[i]) /* It has exited, or execve(2) gives it another tid just now. */
            camp_snapshot_pass_by(snapshot, (int64_t)tids[i] + 1);
        else if (camp_session_is_sound(record))
            camp_snapshot_add(snapshot, record);
        else
            return camp_session_fail_damaged(error);
    }
    return CAMP_OK;
}

static int read_all(struct scan *scan, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t at = 0; at < scan->wanted.count && r == CAMP_OK; at += WANTED_MAX) {
        const size_t left = scan->wanted.count - at;

        r = read_some(scan->snapshot, scan->wanted.tids + at, left < WANTED_MAX ? left : WANTED_MAX,
                      error);
    }
    if (r == CAMP_OK)
        camp_snapshot_add_idle(scan->snapshot, INT64_MAX);
    return r;
}

int camp_snapshot_read_changes(struct snapshot *snapshot, bool *ret_done, struct camp_error *error)
{
    struct camp_states *session = snapshot->session;
    struct scan scan = { .snapshot = snapshot,
                         .wanted = session->read_again,
                         .orphaned = session->orphaned };
    int r = CAMP_OK;

    session->read_again = session->orphaned = (struct tid_list){ 0 };
    snapshot->began_ns = now_ns(CLOCK_MONOTONIC);
    /* The list is read after the time. On x86 the clock may be read some ns after the fence: a
     * wakeup in between is charged in the next snapshot. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *ret_done = add_entries(&scan);
    if (*ret_done)
        add_relatives(&scan);
    /* Without memory for the list, the iterator reads all threads. */
    if (snapshot->out_of_memory)
        *ret_done = snapshot->out_of_memory = false;
    if (*ret_done) {
        sort(&scan.wanted);
        r = read_all(&scan, error);
    }
    free(scan.wanted.tids);
    free(scan.moved.tids);
    free(scan.orphaned.tids);
    return r;
}

/* The newest entries are read once more: the kernel may not yet have written the name that one of
 * them announces. */
void camp_changes_restart(struct camp_states *session)
{
    const uint64_t count =
        __atomic_load_n(&session->programs->bss->changes.count, __ATOMIC_ACQUIRE);

    session->read_again.count = 0;
    if (count - session->changes_read > CHANGES_MAX)
        session->changes_read = count - CHANGES_MAX / 2;
}
