/*
 * What happened between two snapshots.
 *
 * The kernel sends no record of a thread that exits. It adds the thread's account to a sum over the
 * exited threads of its process, and counts them. From two snapshots follows what all threads that
 * exited between them have spent in their lives, exactly, even of threads that no snapshot has
 * seen: one total for each process (CAMP_THREAD_TOTAL).
 *
 * If the whole process has exited, this sum is lost: then the threads that the last snapshot has
 * seen are counted as lost. A process that starts and exits between two snapshots is not seen.
 */
#include "session.h"

#include "counters/platform.h"

#include <string.h>

static bool is_same_process(const struct known_process *a, const struct known_process *b)
{
    return a->pid == b->pid && a->start == b->start;
}

/* Returns the process with this pid, or NULL. */
static const struct known_process *find_process(const struct snapshot *snapshot, int32_t pid)
{
    size_t low = 0, high = snapshot->process_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (snapshot->processes[middle].pid == pid)
            return &snapshot->processes[middle];
        if (snapshot->processes[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Subtracts from the record what the thread had spent when the session was opened. */
static void shorten(struct known_thread *thread)
{
    struct camp_thread_states *record = &thread->record;
    struct amounts since = { .system_calls = record->system_calls, .signals = record->signals };

    memcpy(since.state_ns, record->state_ns, sizeof since.state_ns);
    amounts_subtract(&since, &thread->before);
    memcpy(record->state_ns, since.state_ns, sizeof since.state_ns);
    record->system_calls = since.system_calls;
    record->signals = since.signals;
    record->begin_ns = record->start_ns + thread->before.elapsed_ns;
}

static void take_over(struct known_thread *now, const struct known_thread *last)
{
    now->before = last->before;
    now->note = last->note;
    now->record.flags |= last->record.flags & CAMP_THREAD_OLDER;
    shorten(now);
}

/* A thread that is older than the session is watched from now on. Any other is watched from its
 * start. */
static void meet(struct camp_states *session, struct known_thread *now)
{
    const struct camp_thread_states *record = &now->record;

    if (session->opened_ns != 0 && record->start_ns >= session->opened_ns)
        return;
    now->record.flags |= CAMP_THREAD_OLDER;
    now->before = (struct amounts){
        .elapsed_ns = record->time_ns > record->start_ns ? record->time_ns - record->start_ns : 0,
        .system_calls = record->system_calls,
        .signals = record->signals,
    };
    memcpy(now->before.state_ns, record->state_ns, sizeof now->before.state_ns);
    shorten(now);
}

void session_visit_missing(const struct camp_states *session, session_missing *visit, void *context)
{
    const struct snapshot *last = &session->last, *now = &session->now;
    size_t at = 0;

    for (size_t i = 0; i < last->thread_count; i++) {
        const struct known_thread *thread = &last->threads[i];

        while (at < now->thread_count &&
               thread_order(&now->threads[at].record, &thread->record) < 0)
            at++;
        if (at == now->thread_count || thread_order(&now->threads[at].record, &thread->record) != 0)
            visit(context, thread);
    }
}

static void match_living(struct camp_states *session)
{
    const struct snapshot *last = &session->last;
    size_t at = 0;

    for (size_t i = 0; i < session->now.thread_count; i++) {
        struct known_thread *now = &session->now.threads[i];

        while (at < last->thread_count && thread_order(&last->threads[at].record, &now->record) < 0)
            at++;
        if (at < last->thread_count && thread_order(&last->threads[at].record, &now->record) == 0)
            take_over(now, &last->threads[at]);
        else
            meet(session, now);
    }
}

static void count_loss(void *context, const struct known_thread *thread)
{
    struct camp_states *session = context;
    const struct known_process *last = find_process(&session->last, thread->record.pid);
    const struct known_process *now = find_process(&session->now, thread->record.pid);

    if (last == NULL || now == NULL || !is_same_process(last, now))
        session->losses.exits_lost++;
}

/* What the exited threads of a process had spent before the session watched them. */
struct earlier {
    int32_t pid;
    struct amounts sum;
};

static void add_earlier(void *context, const struct known_thread *thread)
{
    struct earlier *earlier = context;

    if (thread->record.pid == earlier->pid)
        amounts_add(&earlier->sum, &thread->before);
}

/* A total of exited threads. Of their life before the session, only what their records leave out is
 * subtracted: states, system calls and signals. */
static struct camp_thread_states total_of(const struct known_process *process,
                                          const struct camp_thread_states *like,
                                          const struct amounts *spent, uint32_t count)
{
    struct camp_thread_states total = {
        .parent = like->parent,
        .flags = CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL | (like->flags & CAMP_THREAD_KERNEL),
        .uid = like->uid,
        .count = count,
        .known = like->known & ~(uint32_t)CAMP_THREAD_STATES_START,
        .known_states = like->known_states,
        .time_ns = camp_now_ns(),
        .cpu_ns = process->exited.state_ns[CAMP_STATE_USER] +
                  process->exited.state_ns[CAMP_STATE_SYSTEM] +
                  process->exited.state_ns[CAMP_STATE_TRAP],
        .run_delay_ns = process->exited.state_ns[CAMP_STATE_RUN_QUEUE],
        .minor_faults = spent->minor_faults,
        .major_faults = spent->major_faults,
        .voluntary_switches = spent->voluntary_switches,
        .involuntary_switches = spent->involuntary_switches,
        .system_calls = spent->system_calls,
        .signals = spent->signals,
    };

    memcpy(total.state_ns, spent->state_ns, sizeof total.state_ns);
    memcpy(total.name, like->name, sizeof total.name);
    total.begin_ns = total.time_ns > spent->elapsed_ns ? total.time_ns - spent->elapsed_ns : 0;
    return total;
}

/* Returns a living thread of the process, from which a total takes name and parent. */
static const struct camp_thread_states *thread_of(const struct snapshot *snapshot, int32_t pid)
{
    size_t low = 0, high = snapshot->thread_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (snapshot->threads[middle].record.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < snapshot->thread_count && snapshot->threads[low].record.pid == pid
               ? &snapshot->threads[low].record
               : NULL;
}

static void add_total(struct camp_states *session, const struct known_process *process)
{
    const struct known_process *last = find_process(&session->last, process->pid);
    const struct camp_thread_states *like = thread_of(&session->now, process->pid);
    struct earlier earlier = { .pid = process->pid };
    struct known_process growth = *process;
    struct amounts spent;

    /* Of a process that is first seen now, and that started before the session, the threads
     * that exited earlier are not of the session. */
    if (last != NULL && is_same_process(last, process)) {
        growth.exited_count -= last->exited_count;
        amounts_subtract(&growth.exited, &last->exited);
    } else if (like == NULL || (like->flags & CAMP_THREAD_OLDER) != 0) {
        return;
    }
    if (growth.exited_count <= 0 || like == NULL)
        return;
    if (session->exit_count == EXITS_MAX) {
        session->losses.exits_lost += (uint64_t)growth.exited_count;
        return;
    }
    session_visit_missing(session, add_earlier, &earlier);
    spent = growth.exited;
    amounts_subtract(&spent, &earlier.sum);
    session->exits[session->exit_count++] =
        total_of(&growth, like, &spent, (uint32_t)growth.exited_count);
    session->losses.exits_added_up += (uint64_t)growth.exited_count;
}

void session_match(struct camp_states *session)
{
    match_living(session);
    if (session->opened_ns == 0)
        return;
    session_visit_missing(session, count_loss, session);
    for (size_t i = 0; i < session->now.process_count; i++)
        add_total(session, &session->now.processes[i]);
}
