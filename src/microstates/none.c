/* For builds without programs for the kernel. Each function fails with a message that says why. */
#include "../counters/error.h"
#include "backends.h"
#include "final_clocks.h"

#include <camp/states.h>

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int fail(const char *what, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this camp was built without %s: build it on Linux for x86-64 or arm64, with "
                     "clang, bpftool and libbpf-dev installed",
                     what);
}

int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    return fail("microstates", error);
}

void camp_states_close(struct camp_states *session)
{
}

int camp_states_measures(const struct camp_states *session, int state)
{
    return 0;
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                      struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    return fail("microstates", error);
}

int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error)
{
    return fail("microstates", error);
}

int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error)
{
    return fail("programs for the kernel", error);
}

int backends_move(struct backends *backends, const struct backends_place *place,
                  struct camp_error *error)
{
    return fail("programs for the kernel", error);
}

int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error)
{
    return fail("programs for the kernel", error);
}

int backends_read(struct backends *backends, struct backend_account *accounts, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    return fail("programs for the kernel", error);
}

void backends_losses(const struct backends *backends, struct backends_losses *ret)
{
    memset(ret, 0, sizeof *ret);
}

void backends_close(struct backends *backends)
{
}

int final_clocks_open(struct final_clocks **ret, struct camp_error *error)
{
    return fail("programs for the kernel", error);
}

void final_clocks_read(struct final_clocks *clocks, final_clock_visit *visit, void *context)
{
}

void final_clocks_close(struct final_clocks *clocks)
{
}
