/* The functions of states.h on illumos and Solaris, by the microstates that the kernel counts. */
#include "session.h"

#include "counters/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS                                                                                    \
    (CAMP_STATES_NO_SYSCALLS | CAMP_STATES_VERBOSE | CAMP_STATES_DISKS | CAMP_STATES_VISIT_ALL)

static int fail_without_causes(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0, "this system does not report what causes a wait");
}

int session_open(struct camp_states **ret, const char *folder, uint32_t options,
                 struct camp_error *error)
{
    const uint64_t opened_ns = camp_now_ns(); /* a thread that starts from now on is new */
    struct camp_states *session;
    int r;

    /* System calls cost nothing to watch here, so that CAMP_STATES_NO_SYSCALLS changes nothing. */
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if ((options & (CAMP_STATES_CULPRITS | CAMP_STATES_BY_PROCESS | CAMP_STATES_STACKS |
                    CAMP_STATES_GROUPS_BY_NEED | CAMP_STATES_BY_CGROUP)) != 0)
        return fail_without_causes(error);
    if ((options & ~(uint32_t)OPTIONS) != 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "options is 0x%x: pass bits of enum camp_states_option",
                         (unsigned)options);
    session = calloc(1, sizeof *session);
    if (session == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a session");
    snprintf(session->folder, sizeof session->folder, "%s", folder);
    session->source.proc = session->folder;
    session->losses.known = KNOWN_LOSSES;
    r = session_snapshot(session, error);
    if (r < 0) {
        camp_states_close(session);
        return r;
    }
    session->opened_ns = opened_ns;
    session_read_cpus(session);
    *ret = session;
    return CAMP_OK;
}

int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    return session_open(ret, "/proc", options, error);
}

void camp_states_close(struct camp_states *session)
{
    if (session == NULL)
        return;
    free(session->last.threads);
    free(session->last.processes);
    free(session->now.threads);
    free(session->now.processes);
    free(session->pids);
    free(session->file);
    free(session->exits);
    free(session->cpus);
    free(session);
}

int camp_states_known(const struct camp_states *session, struct camp_states_known *ret, size_t size,
                      struct camp_error *error)
{
    const struct camp_states_known known = { KNOWN_STATES, KNOWN_OF_THREADS, KNOWN_OF_CPUS,
                                             KNOWN_LOSSES };

    if (camp_is_null(error, session, ret))
        return CAMP_E_INVALID;
    camp_hand_out(ret, size, &known, sizeof known);
    return CAMP_OK;
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    int r;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    r = session_snapshot(session, error);
    if (r != CAMP_OK)
        return r;
    for (size_t i = 0; i < session->now.thread_count; i++)
        camp_output_add(&output, &session->now.threads[i].record,
                        sizeof session->now.threads[i].record);
    return camp_output_end(&output, "threads", ret_count, error);
}

static void tell_missing(void *context, const struct known_thread *thread)
{
    const struct camp_states_visitor *visitor = context;

    visitor->missed(visitor->context, &thread->record, thread->note);
}

static void tell_living(struct camp_states *session, const struct camp_states_visitor *visitor)
{
    const struct snapshot *last = &session->last;
    size_t at = 0;

    for (size_t i = 0; i < session->now.thread_count; i++) {
        struct known_thread *now = &session->now.threads[i];
        const struct camp_thread_states *before = NULL;

        while (at < last->thread_count && thread_order(&last->threads[at].record, &now->record) < 0)
            at++;
        if (at < last->thread_count && thread_order(&last->threads[at].record, &now->record) == 0)
            before = &last->threads[at].record;
        visitor->seen(visitor->context, before, &now->record, &now->note);
    }
}

static int copy_visitor(const struct camp_states *session,
                        const struct camp_states_visitor *visitor, size_t size,
                        struct camp_states_visitor *ret, struct camp_error *error)
{
    if (camp_is_null(error, session, visitor))
        return CAMP_E_INVALID;
    camp_hand_out(ret, sizeof *ret, visitor, size);
    return ret->seen != NULL && ret->ended != NULL && ret->missed != NULL
               ? CAMP_OK
               : camp_fail(error, CAMP_E_INVALID, 0,
                           "a function of the visitor is NULL: only waited or idle may be");
}

static void tell_exits(struct camp_states *session, const struct camp_states_visitor *visitor)
{
    for (size_t i = 0; i < session->exit_count; i++)
        visitor->ended(visitor->context, NULL, &session->exits[i], 0);
    session->exit_count = 0;
}

int camp_states_visit_exits(struct camp_states *session, const struct camp_states_visitor *visitor,
                            size_t size, struct camp_error *error)
{
    struct camp_states_visitor complete = { 0 };
    int r = copy_visitor(session, visitor, size, &complete, error);

    if (r == CAMP_OK)
        tell_exits(session, &complete);
    return r;
}

/* Each living thread is seen: the kernel does not report which stayed in their states. */
int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      size_t size, struct camp_error *error)
{
    struct camp_states_visitor complete = { 0 };
    int r = copy_visitor(session, visitor, size, &complete, error);

    if (r == CAMP_OK)
        r = session_snapshot(session, error);
    if (r != CAMP_OK)
        return r;
    tell_exits(session, &complete);
    session_visit_missing(session, tell_missing, &complete);
    tell_living(session, &complete);
    if (complete.idle != NULL)
        complete.idle(complete.context, camp_now_ns());
    return CAMP_OK;
}

/* Exited threads come as totals, one for each process (exits.c). */
int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    while (output.count < capacity && output.count < session->exit_count) {
        const struct camp_thread_states *total = &session->exits[output.count];

        camp_output_add(&output, total, sizeof *total);
    }
    session->exit_count -= output.count;
    memmove(session->exits, session->exits + output.count,
            session->exit_count * sizeof *session->exits);
    *ret_count = output.count;
    return CAMP_OK;
}

/* The kernel adds an exited thread to its process before it reports the exit. */
int camp_states_await_exits(struct camp_states *session, uint64_t timeout_ns, uint64_t *ret_left,
                            struct camp_error *error)
{
    (void)timeout_ns;
    if (camp_is_null(error, session, ret_left))
        return CAMP_E_INVALID;
    *ret_left = 0;
    return CAMP_OK;
}

int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error)
{
    (void)session;
    (void)ret;
    (void)size;
    (void)capacity;
    (void)ret_count;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this system does not count which disk a thread waits for");
}

int camp_states_watch_process(struct camp_states *session, int32_t pid, struct camp_error *error)
{
    (void)session;
    (void)pid;
    return fail_without_causes(error);
}

int camp_states_watch_name(struct camp_states *session, const char *name, struct camp_error *error)
{
    (void)session;
    (void)name;
    return fail_without_causes(error);
}

int camp_states_watch_cgroup(struct camp_states *session, uint64_t cgroup, struct camp_error *error)
{
    (void)session;
    (void)cgroup;
    return fail_without_causes(error);
}

int camp_states_group_of_cgroup(struct camp_states *session, uint64_t cgroup, uint32_t *ret,
                                struct camp_error *error)
{
    (void)session;
    (void)cgroup;
    (void)ret;
    return fail_without_causes(error);
}

int camp_states_release_group(struct camp_states *session, uint32_t number,
                              struct camp_error *error)
{
    (void)session;
    (void)number;
    return fail_without_causes(error);
}

int camp_states_groups(struct camp_states *session, struct camp_states_group *ret, size_t size,
                       size_t capacity, size_t *ret_count, struct camp_error *error)
{
    (void)session;
    (void)ret;
    (void)size;
    (void)capacity;
    (void)ret_count;
    return fail_without_causes(error);
}

int camp_states_causes(struct camp_states *session, struct camp_wait_cause *ret, size_t size,
                       size_t capacity, size_t *ret_count, uint64_t *ret_time_ns,
                       struct camp_error *error)
{
    (void)session;
    (void)ret;
    (void)size;
    (void)capacity;
    (void)ret_count;
    (void)ret_time_ns;
    return fail_without_causes(error);
}

int camp_states_wait_lengths(struct camp_states *session, struct camp_wait_lengths *ret,
                             size_t size, size_t capacity, size_t *ret_count,
                             struct camp_error *error)
{
    (void)session;
    (void)ret;
    (void)size;
    (void)capacity;
    (void)ret_count;
    return fail_without_causes(error);
}

int camp_states_call_sleeps(struct camp_states *session, struct camp_call_sleeps *ret, size_t size,
                            size_t capacity, size_t *ret_count, struct camp_error *error)
{
    (void)session;
    (void)ret;
    (void)size;
    (void)capacity;
    (void)ret_count;
    return fail_without_causes(error);
}

/* Microstates need no feature that a kernel may lack, so the list is empty. */
int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    (void)size;
    if (camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    *ret_count = 0;
    return CAMP_OK;
}

int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error)
{
    if (camp_is_null(error, session, ret))
        return CAMP_E_INVALID;
    camp_hand_out(ret, size, &session->losses, sizeof session->losses);
    return CAMP_OK;
}

int camp_states_stacks_from(struct camp_states *session, uint64_t least_ns, int watched_only,
                            struct camp_error *error)
{
    (void)session;
    (void)least_ns;
    (void)watched_only;
    return fail_without_causes(error);
}

int camp_states_visit_stacks(struct camp_states *session,
                             void (*visit)(void *context, const struct camp_sleep_stack *stack),
                             void *context, struct camp_error *error)
{
    (void)session;
    (void)visit;
    (void)context;
    return fail_without_causes(error);
}
