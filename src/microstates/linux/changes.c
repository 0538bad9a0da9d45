/*
 * Takes a snapshot from the list of changes (changes.bpf.h): looks at the threads in the list, and
 * at those that the last snapshot did not find asleep. All other threads were idle since.
 */
#include "counters/clock.h"
#include "ledger/array.h"
#include "snapshot.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An event writes its entry some nanoseconds after it has counted it. A CPU that a hypervisor stops
 * in between may take longer than so many tries. */
#define ENTRY_TRIES 100000

struct scan {
    struct snapshot *snapshot;
    struct tid_list wanted;
    struct tid_list moved;    /* processes, and threads, that are in another group */
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

static void take_entry(struct scan *scan, uint64_t entry)
{
    const int32_t id = (int32_t)(uint32_t)entry;

    switch ((uint8_t)(entry >> 32)) {
    case CHANGE_OF_NAME:
        if (!camp_session_look_again(scan->snapshot->session, id))
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
static bool take_entries(struct scan *scan)
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
        take_entry(scan, entry);
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

/* Adds the threads of the processes that moved, and the children of those that exited. */
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

static int look(struct snapshot *snapshot, const int32_t *tids, size_t count,
                struct camp_error *error)
{
    const struct states_bpf *programs = snapshot->session->programs;
    LIBBPF_OPTS(bpf_test_run_opts, nothing);

    memcpy(programs->bss->look_tids, tids, count * sizeof *tids);
    programs->bss->look_count = (uint32_t)count;
    if (bpf_prog_test_run_opts(bpf_program__fd(programs->progs.look_at_threads), &nothing) != 0)
        return camp_fail_errno(error, errno, "the kernel's program that reads threads");
    for (size_t i = 0; i < count; i++) {
        struct camp_thread_states *record = &programs->bss->looks[i];

        camp_snapshot_take_idle(snapshot, tids[i]);
        if (record->tid != tids[i]) /* It has exited, or execve(2) gives it another tid just now. */
            camp_snapshot_pass_by(snapshot, (int64_t)tids[i] + 1);
        else if (camp_session_is_sound(record))
            camp_snapshot_take(snapshot, record);
        else
            return camp_session_fail_damaged(error);
    }
    return CAMP_OK;
}

static int look_at_all(struct scan *scan, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t at = 0; at < scan->wanted.count && r == CAMP_OK; at += LOOKS_MAX) {
        const size_t left = scan->wanted.count - at;

        r = look(scan->snapshot, scan->wanted.tids + at, left < LOOKS_MAX ? left : LOOKS_MAX,
                 error);
    }
    if (r == CAMP_OK)
        camp_snapshot_take_idle(scan->snapshot, INT64_MAX);
    return r;
}

int camp_snapshot_read_changes(struct snapshot *snapshot, bool *ret_done, struct camp_error *error)
{
    struct camp_states *session = snapshot->session;
    struct scan scan = { .snapshot = snapshot,
                         .wanted = session->again,
                         .orphaned = session->orphaned };
    int r = CAMP_OK;

    session->again = session->orphaned = (struct tid_list){ 0 };
    snapshot->began_ns = now_ns(CLOCK_MONOTONIC);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* The list is read after the time. */
    *ret_done = take_entries(&scan);
    if (*ret_done) {
        add_relatives(&scan);
        sort(&scan.wanted);
        r = look_at_all(&scan, error);
    }
    free(scan.wanted.tids);
    free(scan.moved.tids);
    free(scan.orphaned.tids);
    return r;
}

/* The newest entries are read once more: the kernel may not yet have written the name that one of
 * them announces. */
void camp_changes_begin_again(struct camp_states *session)
{
    const uint64_t count =
        __atomic_load_n(&session->programs->bss->changes.count, __ATOMIC_ACQUIRE);

    session->again.count = 0;
    if (count - session->changes_read > CHANGES_MAX)
        session->changes_read = count - CHANGES_MAX / 2;
}
