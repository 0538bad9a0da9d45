/* For builds without programs for the kernel. */
#include "../counters/error.h"
#include "backends.h"

#include <string.h>

static int fail(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this camp was built without programs for the kernel: build it on Linux for "
                     "x86-64 or arm64, with clang, bpftool and libbpf-dev installed");
}

int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error)
{
    (void)ret;
    (void)place;
    return fail(error);
}

int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error)
{
    (void)backends;
    (void)tid;
    return fail(error);
}

int backends_read(struct backends *backends, struct backend_account *accounts, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    (void)backends;
    (void)accounts;
    (void)capacity;
    (void)ret_count;
    return fail(error);
}

void backends_losses(const struct backends *backends, struct backends_losses *ret)
{
    (void)backends;
    memset(ret, 0, sizeof *ret);
}

void backends_close(struct backends *backends)
{
    (void)backends;
}
