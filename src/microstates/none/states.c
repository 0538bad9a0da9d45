/* For builds without programs for the kernel. Each function fails with a message that says why. */
#include "counters/error.h"

#include <camp/states.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int fail(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this camp was built without microstates: build it on Linux for x86-64 or "
                     "arm64, with clang, bpftool and libbpf-dev installed");
}

int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    return fail(error);
}

void camp_states_close(struct camp_states *session)
{
}

int camp_states_known(const struct camp_states *session, struct camp_states_known *ret, size_t size,
                      struct camp_error *error)
{
    return fail(error);
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      size_t size, struct camp_error *error)
{
    return fail(error);
}

int camp_states_visit_exits(struct camp_states *session, const struct camp_states_visitor *visitor,
                            size_t size, struct camp_error *error)
{
    return fail(error);
}

int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_await_exits(struct camp_states *session, uint64_t timeout_ns, uint64_t *ret_left,
                            struct camp_error *error)
{
    return fail(error);
}

int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error)
{
    return fail(error);
}

int camp_states_watch_process(struct camp_states *session, int32_t pid, struct camp_error *error)
{
    return fail(error);
}

int camp_states_watch_name(struct camp_states *session, const char *name, struct camp_error *error)
{
    return fail(error);
}

int camp_states_watch_cgroup(struct camp_states *session, uint64_t cgroup, struct camp_error *error)
{
    return fail(error);
}

int camp_states_group_of_cgroup(struct camp_states *session, uint64_t cgroup, uint32_t *ret,
                                struct camp_error *error)
{
    return fail(error);
}

int camp_states_release_group(struct camp_states *session, uint32_t number,
                              struct camp_error *error)
{
    return fail(error);
}

int camp_states_groups(struct camp_states *session, struct camp_states_group *ret, size_t size,
                       size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_causes(struct camp_states *session, struct camp_wait_cause *ret, size_t size,
                       size_t capacity, size_t *ret_count, uint64_t *ret_time_ns,
                       struct camp_error *error)
{
    return fail(error);
}

int camp_states_wait_lengths(struct camp_states *session, struct camp_wait_lengths *ret,
                             size_t size, size_t capacity, size_t *ret_count,
                             struct camp_error *error)
{
    return fail(error);
}

int camp_states_call_sleeps(struct camp_states *session, struct camp_call_sleeps *ret, size_t size,
                            size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

int camp_states_stacks_from(struct camp_states *session, uint64_t least_ns, int watched_only,
                            struct camp_error *error)
{
    return fail(error);
}

int camp_states_visit_stacks(struct camp_states *session,
                             void (*visit)(void *context, const struct camp_sleep_stack *stack),
                             void *context, struct camp_error *error)
{
    return fail(error);
}
