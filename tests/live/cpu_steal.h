/* Stolen time as a tolerance of tests. No task used this time, but clocks differ in how they
 * account it. Wall time includes stolen time. The CPU time of a task includes it too, unless the
 * kernel has CONFIG_PARAVIRT_TIME_ACCOUNTING. */
#pragma once

#include "counters/clock.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Returns the stolen time of all CPUs since boot, or 0 if the kernel reports none. */
static inline uint64_t steal_ns(void)
{
    struct camp_cpu total;

    return camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL) == CAMP_OK
               ? total.steal_ns
               : 0;
}

/* Returns the tolerance for time that was stolen since steal_ns() returned `before_ns`, or 0 if no
 * time was ever stolen. One unit of /proc/stat is added, because the kernel rounds the sum of all
 * CPUs. Compared times must be much longer than this unit. */
static inline uint64_t stolen_since(uint64_t before_ns)
{
    uint64_t now = steal_ns();

    return now > 0 ? now - before_ns + proc_time_unit_ns() : 0;
}

static inline void assert_at_least(const char *what, uint64_t ns, uint64_t least_ns,
                                   uint64_t tolerance_ns)
{
    if (ns + tolerance_ns < least_ns)
        fail_msg("%s: %llu ns is less than %llu, with a tolerance of %llu", what,
                 (unsigned long long)ns, (unsigned long long)least_ns,
                 (unsigned long long)tolerance_ns);
}

static inline void assert_at_most(const char *what, uint64_t ns, uint64_t most_ns,
                                  uint64_t tolerance_ns)
{
    if (ns > most_ns + tolerance_ns)
        fail_msg("%s: %llu ns is more than %llu, with a tolerance of %llu", what,
                 (unsigned long long)ns, (unsigned long long)most_ns,
                 (unsigned long long)tolerance_ns);
}

static inline void assert_near(const char *what, uint64_t ns, uint64_t witness_ns,
                               uint64_t tolerance_ns)
{
    assert_at_least(what, ns, witness_ns, tolerance_ns);
    assert_at_most(what, ns, witness_ns, tolerance_ns);
}
