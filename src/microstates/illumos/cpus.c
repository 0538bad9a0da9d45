/* The CPUs of a session: the growth of their times (counters/illumos/cpu.c) since the session was
 * opened. busy is user and system time, which contains interrupts. */
#include "session.h"

#include <stdlib.h>

/* Sets *ret to all CPUs but the total, which the caller frees. */
static int read_cpus(struct camp_cpu **ret, size_t *ret_count, struct camp_error *error)
{
    struct camp_cpu *cpus = NULL;
    size_t count = 0, capacity = 0;
    int r;

    while ((r = camp_cpu_read_all(NULL, cpus, sizeof *cpus, capacity, &count, error)) ==
           CAMP_E_SPACE) {
        r = session_reserve(&cpus, &capacity, count, sizeof *cpus, error);
        if (r < 0)
            break;
    }
    if (r < 0) {
        free(cpus);
        return r;
    }
    *ret = cpus;
    *ret_count = cpus != NULL ? count : 0;
    return CAMP_OK;
}

void session_read_cpus(struct camp_states *session)
{
    if (read_cpus(&session->cpus, &session->cpu_count, NULL) < 0)
        session->cpu_count = 0;
}

static const struct camp_cpu *find_cpu(const struct camp_states *session, int32_t id)
{
    for (size_t i = 0; i < session->cpu_count; i++)
        if (session->cpus[i].cpu == id)
            return &session->cpus[i];
    return NULL;
}

static uint64_t growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    struct camp_cpu *cpus;
    size_t count;
    int r;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    r = read_cpus(&cpus, &count, error);
    if (r != CAMP_OK)
        return r;
    for (size_t i = 0; i < count; i++) {
        const struct camp_cpu *now = &cpus[i], *before = find_cpu(session, now->cpu);
        struct camp_cpu_states states = { .cpu = now->cpu, .known = KNOWN_OF_CPUS };

        /* A CPU that came online later is left out: what it did in the session is unknown. */
        if (now->cpu == CAMP_CPU_TOTAL || before == NULL)
            continue;
        states.begin_ns = before->time_ns;
        states.time_ns = now->time_ns;
        states.system_ns = growth(before->system_ns, now->system_ns);
        states.busy_ns = growth(before->user_ns, now->user_ns) + states.system_ns;
        states.idle_ns = growth(before->idle_ns, now->idle_ns);
        camp_output_add(&output, &states, sizeof states);
    }
    free(cpus);
    return camp_output_end(&output, "CPUs", ret_count, error);
}
