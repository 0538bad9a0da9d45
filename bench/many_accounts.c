/*
 * What it costs to read the microstates of 2, 64, 256 and 2,000 CPUs. This is a simulation: the
 * accounts, which programs in the kernel write at each switch, are synthetic, and do not change
 * meanwhile. A real reader would fetch each from the cache of another CPU.
 *
 *   many_accounts ROUNDS
 */
#include "many_cpus.h"

#include "../tests/unit/fake_session.h"

_Static_assert(FAKE_CPUS >= MANY_MOST_CPUS, "the synthetic session has enough CPUs");

static struct camp_states session;
static struct camp_cpu_states states[MANY_MOST_CPUS];

static bool read_accounts(void)
{
    size_t count;

    return camp_states_cpus(&session, states, sizeof states[0], MANY_MOST_CPUS, &count, NULL) ==
               CAMP_OK &&
           count == session.cpu_count;
}

static bool read_losses(void)
{
    struct camp_states_losses losses;

    return camp_states_losses(&session, &losses, sizeof losses, NULL) == CAMP_OK &&
           losses.switches == session.cpu_count;
}

int main(int argc, char **argv)
{
    const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    bool succeeded = rounds >= 4;

    if (!succeeded) {
        fprintf(stderr, "usage: many_accounts ROUNDS, at least 4\n");
        return 2;
    }
    open_fake_session(&session);
    for (size_t i = 0; i < MANY_MOST_CPUS; i++)
        fake_cpus[i] = (struct cpu_account){ .begin_ns = 1, .since_ns = 1 + i, .switches = 1 };
    for (size_t i = 0; succeeded && i < MANY_COUNTS; i++) {
        session.cpu_count = (uint32_t)many_counts[i];
        succeeded =
            many_measure("camp_states_cpus()", many_counts[i], (size_t)rounds, read_accounts) &&
            many_measure("camp_states_losses()", many_counts[i], (size_t)rounds, read_losses);
    }
    release_fake_session(&session);
    return succeeded ? 0 : 1;
}
