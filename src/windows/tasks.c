#include "sources/source.h"

#include "counters/error.h"

int tasks_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error)
{
    (void)tier, (void)stop, (void)ret, (void)ret_tier;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "work in progress");
}
