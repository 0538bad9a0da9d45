/* Builds without programs for the kernel: nothing reads what backends wait for, the clocks of
 * exited processes, or context switches. */
#include "../backends.h"
#include "../final_clocks.h"
#include "../switches.h"
#include "counters/error.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int fail(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this camp was built without programs for the kernel: build it on Linux for "
                     "x86-64 or arm64, with clang, bpftool and libbpf-dev installed");
}

int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error)
{
    return fail(error);
}

int backends_move(struct backends *backends, const struct backends_place *place,
                  struct camp_error *error)
{
    return fail(error);
}

int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error)
{
    return fail(error);
}

int backends_read(struct backends *backends, struct backend_account *accounts,
                  struct backend_statements *statements, struct backend_blocks *blocks,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return fail(error);
}

const struct backend_lengths_growth *backends_lengths(const struct backends *backends,
                                                      size_t *ret_count, uint64_t *ret_uncounted)
{
    *ret_count = 0;
    *ret_uncounted = 0;
    return NULL;
}

bool backends_measure_throttled(const struct backends *backends)
{
    return false;
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
    return fail(error);
}

void final_clocks_read(struct final_clocks *clocks, final_clock_visit *visit, void *context)
{
}

void final_clocks_close(struct final_clocks *clocks)
{
}

int switches_open(struct switches **ret, uint64_t bytes, struct camp_error *error)
{
    return fail(error);
}

int switches_read(const struct switches *switches, struct switches_copy *ret,
                  struct camp_error *error)
{
    return fail(error);
}

uint64_t switches_size(const struct switches *switches)
{
    return 0;
}

void switches_close(struct switches *switches)
{
}
