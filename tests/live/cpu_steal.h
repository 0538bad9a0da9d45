/* Steal time as room for a law: what the hypervisor took is time of nobody here, and each clock
 * books it in its own way. Wall time holds it; the CPU time of who was running does not where the
 * kernel has CONFIG_PARAVIRT_TIME_ACCOUNTING, and does where it has not. */
#ifndef CAMP_TESTS_CPU_STEAL_H
#define CAMP_TESTS_CPU_STEAL_H

#include "counters/units.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Of all CPUs so far, in whole units of /proc; 0 where none is reported. */
static inline uint64_t steal_ns(void)
{
    struct camp_cpu total;

    return camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL) == CAMP_OK
               ? total.steal_ns
               : 0;
}

/* The room for what was stolen since steal_ns() was `before_ns`: the difference, and the unit that
 * was not full yet (one, for the kernel rounds the sum of all CPUs). Nothing where no CPU was ever
 * stolen from. A law has to be about much more than that unit. */
static inline uint64_t stolen_since(uint64_t before_ns)
{
    uint64_t now = steal_ns();

    return now > 0 ? now - before_ns + proc_time_unit_ns() : 0;
}

static inline void assert_at_least(const char *what, uint64_t ns, uint64_t least_ns,
                                   uint64_t room_ns)
{
    if (ns + room_ns < least_ns)
        fail_msg("%s: %llu ns, which is not at least %llu less a room of %llu", what,
                 (unsigned long long)ns, (unsigned long long)least_ns, (unsigned long long)room_ns);
}

static inline void assert_at_most(const char *what, uint64_t ns, uint64_t most_ns, uint64_t room_ns)
{
    if (ns > most_ns + room_ns)
        fail_msg("%s: %llu ns, which is not at most %llu and a room of %llu", what,
                 (unsigned long long)ns, (unsigned long long)most_ns, (unsigned long long)room_ns);
}

#endif
