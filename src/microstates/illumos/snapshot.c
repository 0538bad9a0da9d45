/*
 * A snapshot: all threads of all processes, from psinfo and lusage.
 *
 * The kernel keeps an account for each thread, and takes a timestamp at each change of its
 * microstate (uts/common/os/msacct.c). lusage has the accounts of all threads of a process, read
 * while the process cannot create or end a thread, and the state that a thread is in is included up
 * to the reading. So the states of a thread add up to its wall time, up to the difference between
 * the clocks of the CPUs. This difference is not hidden: states are not scaled to the wall time.
 *
 * The accounts start with the thread. A session subtracts what older threads had when it was
 * opened.
 */
#include "session.h"

#include "lusage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_FILE_SIZE 65536

int session_reserve(void *list, size_t *capacity, size_t count, size_t size,
                    struct camp_error *error)
{
    size_t more = count + count / 2 + 64;
    void *old, *grown;

    if (count <= *capacity)
        return CAMP_OK;
    memcpy(&old, list, sizeof old);
    grown = more <= SIZE_MAX / size ? realloc(old, more * size) : NULL;
    if (grown == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %zu threads", count);
    memcpy(list, &grown, sizeof grown);
    *capacity = more;
    return CAMP_OK;
}

struct amounts amounts_of(const prusage_t *usage)
{
    return (struct amounts){
        .elapsed_ns = camp_proc_ns(usage->pr_rtime),
        .state_ns = { [CAMP_STATE_USER] = camp_proc_ns(usage->pr_utime),
                      [CAMP_STATE_SYSTEM] = camp_proc_ns(usage->pr_stime),
                      [CAMP_STATE_TRAP] = camp_proc_ns(usage->pr_ttime),
                      [CAMP_STATE_TEXT_FAULT] = camp_proc_ns(usage->pr_tftime),
                      [CAMP_STATE_DATA_FAULT] = camp_proc_ns(usage->pr_dftime),
                      [CAMP_STATE_KERNEL_FAULT] = camp_proc_ns(usage->pr_kftime),
                      [CAMP_STATE_LOCK] = camp_proc_ns(usage->pr_ltime),
                      [CAMP_STATE_SLEEP] = camp_proc_ns(usage->pr_slptime),
                      [CAMP_STATE_RUN_QUEUE] = camp_proc_ns(usage->pr_wtime),
                      [CAMP_STATE_STOPPED] = camp_proc_ns(usage->pr_stoptime) },
        .minor_faults = usage->pr_minf,
        .major_faults = usage->pr_majf,
        .voluntary_switches = usage->pr_vctx,
        .involuntary_switches = usage->pr_ictx,
        .system_calls = usage->pr_sysc,
        .signals = usage->pr_sigs,
    };
}

/* The members of struct amounts are numbers of one type, without gaps. */
_Static_assert(sizeof(struct amounts) == (7 + CAMP_STATE_COUNT) * sizeof(uint64_t), "a gap");

void amounts_add(struct amounts *sum, const struct amounts *other)
{
    uint64_t *numbers = (uint64_t *)sum;
    const uint64_t *others = (const uint64_t *)other;

    for (size_t i = 0; i < sizeof *sum / sizeof *numbers; i++)
        numbers[i] += others[i];
}

void amounts_subtract(struct amounts *from, const struct amounts *other)
{
    uint64_t *numbers = (uint64_t *)from;
    const uint64_t *others = (const uint64_t *)other;

    for (size_t i = 0; i < sizeof *from / sizeof *numbers; i++)
        numbers[i] -= others[i] < numbers[i] ? others[i] : numbers[i];
}

int thread_order(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->start_ns != b->start_ns ? (a->start_ns < b->start_ns ? -1 : 1) : 0;
}

static int order_for_sort(const void *a, const void *b)
{
    return thread_order(&((const struct known_thread *)a)->record,
                        &((const struct known_thread *)b)->record);
}

/* A process without an address space belongs to the kernel. */
static bool is_of_kernel(const psinfo_t *psinfo)
{
    return psinfo->pr_size == 0 && psinfo->pr_rssize == 0;
}

static struct camp_thread_states record_of(const psinfo_t *psinfo, const prusage_t *usage)
{
    const struct amounts amounts = amounts_of(usage);
    struct camp_thread_states record = {
        .tid = (int32_t)usage->pr_lwpid,
        .pid = (int32_t)psinfo->pr_pid,
        .parent = (int32_t)psinfo->pr_ppid,
        .flags = is_of_kernel(psinfo) ? CAMP_THREAD_KERNEL : 0,
        .uid = (uint32_t)psinfo->pr_euid,
        .count = 1,
        .processes = usage->pr_lwpid == 1,
        .known = KNOWN_OF_THREADS,
        .known_states = KNOWN_STATES,
        .start_ns = camp_proc_ns(usage->pr_create),
        .begin_ns = camp_proc_ns(usage->pr_create),
        .time_ns = camp_proc_ns(usage->pr_tstamp),
        .cpu_ns = amounts.state_ns[CAMP_STATE_USER] + amounts.state_ns[CAMP_STATE_SYSTEM] +
                  amounts.state_ns[CAMP_STATE_TRAP],
        .run_delay_ns = amounts.state_ns[CAMP_STATE_RUN_QUEUE],
        .minor_faults = amounts.minor_faults,
        .major_faults = amounts.major_faults,
        .voluntary_switches = amounts.voluntary_switches,
        .involuntary_switches = amounts.involuntary_switches,
        .system_calls = amounts.system_calls,
        .signals = amounts.signals,
    };

    memcpy(record.state_ns, amounts.state_ns, sizeof record.state_ns);
    memcpy(record.name, psinfo->pr_fname, sizeof record.name - 1);
    return record;
}

/* Reads the file whole. If it is longer than the buffer, its start says how long it is. */
static int read_lusage(struct camp_states *session, int32_t pid, struct lusage *ret,
                       struct camp_error *error)
{
    char path[PATH_SIZE];
    size_t length = 0, whole = FIRST_FILE_SIZE;
    int descriptor, r = camp_proc_path(path, &session->source, pid, 0, "lusage", error);

    if (r != CAMP_OK)
        return r;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return camp_fail_errno(error, errno, path);
    while (r == CAMP_OK && whole > length) {
        r = session_reserve(&session->file, &session->file_capacity, whole, 1, error);
        if (r == CAMP_OK)
            r = camp_proc_pread(descriptor, path, session->file, session->file_capacity, &length,
                                error);
        if (r != CAMP_OK || length < session->file_capacity)
            break; /* this is the end of the file */
        whole = lusage_length(session->file, length);
    }
    close(descriptor);
    if (r == CAMP_OK && !lusage_parse(session->file, length, ret))
        r = camp_fail(error, CAMP_E_FORMAT, 0, "%s has an unexpected format; report it", path);
    return r;
}

static int add_threads(struct snapshot *snapshot, const psinfo_t *psinfo,
                       const struct lusage *lusage, struct camp_error *error)
{
    const size_t first = snapshot->thread_count;
    int r = session_reserve(&snapshot->threads, &snapshot->thread_capacity, first + lusage->count,
                            sizeof *snapshot->threads, error);

    for (size_t i = 1; r == CAMP_OK && i < lusage->count; i++) {
        prusage_t usage;

        if (!lusage_entry(lusage, i, &usage))
            return camp_fail(error, CAMP_E_FORMAT, 0,
                             "lusage of process %d has an impossible time; report it",
                             (int)psinfo->pr_pid);
        snapshot->threads[snapshot->thread_count++] =
            (struct known_thread){ .record = record_of(psinfo, &usage) };
    }
    if (r == CAMP_OK && snapshot->thread_count > first)
        qsort(snapshot->threads + first, snapshot->thread_count - first, sizeof *snapshot->threads,
              order_for_sort);
    return r;
}

static int add_process(struct camp_states *session, int32_t pid, struct camp_error *error)
{
    struct snapshot *snapshot = &session->now;
    struct lusage lusage;
    prusage_t exited;
    psinfo_t psinfo;
    int r = camp_psinfo_read(&session->source, pid, &psinfo, error);

    if (r == CAMP_OK)
        r = read_lusage(session, pid, &lusage, error);
    if (r == CAMP_OK)
        r = session_reserve(&snapshot->processes, &snapshot->process_capacity,
                            snapshot->process_count + 1, sizeof *snapshot->processes, error);
    if (r != CAMP_OK)
        return r;
    if (!lusage_entry(&lusage, 0, &exited))
        return camp_fail(error, CAMP_E_FORMAT, 0, "lusage of process %d is damaged; report it",
                         (int)pid);
    r = add_threads(snapshot, &psinfo, &lusage, error);
    if (r != CAMP_OK)
        return r;
    snapshot->processes[snapshot->process_count++] =
        (struct known_process){ .pid = pid,
                                .start = camp_proc_ns(psinfo.pr_start),
                                .exited_count = exited.pr_count,
                                .exited = amounts_of(&exited) };
    return CAMP_OK;
}

static int list_processes(struct camp_states *session, size_t *ret_count, struct camp_error *error)
{
    int r;

    do {
        r = camp_pid_list(&session->source, session->pids, sizeof *session->pids,
                          session->pid_capacity, ret_count, error);
        if (r == CAMP_E_SPACE && session_reserve(&session->pids, &session->pid_capacity, *ret_count,
                                                 sizeof *session->pids, error) != CAMP_OK)
            return CAMP_E_NOMEM;
    } while (r == CAMP_E_SPACE);
    return r;
}

static int fill_snapshot(struct camp_states *session, uint64_t *ret_hidden,
                         struct camp_error *error)
{
    size_t count = 0;
    int r = list_processes(session, &count, error);
    size_t exits;

    for (size_t i = 0; r == CAMP_OK && i < count; i++) {
        r = add_process(session, session->pids[i].pid, error);
        if (r == CAMP_E_PERM)
            (*ret_hidden)++;
        if (r == CAMP_E_GONE || r == CAMP_E_PERM)
            r = CAMP_OK; /* it exited meanwhile, is a zombie, or may not be read */
    }
    exits = session->exit_count + session->now.process_count;
    if (r == CAMP_OK)
        r = session_reserve(&session->exits, &session->exit_capacity,
                            exits < EXITS_MAX ? exits : EXITS_MAX, sizeof *session->exits, error);
    return r;
}

int session_snapshot(struct camp_states *session, struct camp_error *error)
{
    const struct snapshot unused = session->last;
    uint64_t hidden = 0;
    int r;

    session->last = session->now;
    session->now = unused;
    session->now.thread_count = session->now.process_count = 0;
    r = fill_snapshot(session, &hidden, error);
    if (r < 0) {
        const struct snapshot failed = session->now;

        session->now = session->last;
        session->last = failed;
        session->last.thread_count = session->last.process_count = 0;
        return r;
    }
    session->losses.lost += hidden;
    session_match(session);
    return CAMP_OK;
}
