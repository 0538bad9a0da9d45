/*
 * own-states [SECONDS]: where the wall time of this program goes, by the states of its only thread.
 *
 * It sleeps and computes for a while, and then prints its own states. A state that the system does
 * not measure is unknown, which is not the same as zero. On Linux it needs CAP_BPF and CAP_PERFMON.
 */
#include <camp/states.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct own {
    int32_t pid;
    struct camp_thread_states thread;
};

static void seen(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note)
{
    struct own *own = context;

    (void)before;
    (void)note;
    if (now->pid == own->pid)
        own->thread = *now;
}

static void waited(void *context, const struct camp_states_wait *wait)
{
    (void)context;
    (void)wait;
}

static void ended(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note)
{
    (void)context;
    (void)before;
    (void)last;
    (void)note;
}

static void missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context;
    (void)before;
    (void)note;
}

static void work(double seconds)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    const clock_t until = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

    nanosleep(&pause, NULL);
    while (clock() < until)
        continue;
}

static void print(const struct camp_thread_states *thread)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if ((thread->known_states >> i & 1) == 0)
            printf("%-14s unknown\n", camp_state_name(i));
        else if (thread->state_ns[i] > 0)
            printf("%-14s %12.6f s\n", camp_state_name(i), (double)thread->state_ns[i] / 1e9);
    }
    printf("%-14s %12.6f s\n", "watched", (double)(thread->time_ns - thread->begin_ns) / 1e9);
}

int main(int count, char **arguments)
{
    struct own own = { .pid = (int32_t)getpid() };
    const struct camp_states_visitor visitor = {
        .context = &own, .seen = seen, .waited = waited, .ended = ended, .missed = missed
    };
    struct camp_states *session = NULL;
    struct camp_error error;
    int result = camp_states_open(&session, 0, &error);

    if (result == CAMP_OK) {
        work(count > 1 ? atof(arguments[1]) : 0.1);
        result = camp_states_visit(session, &visitor, sizeof visitor, &error);
    }
    camp_states_close(session);
    if (result != CAMP_OK) {
        fprintf(stderr, "own-states: %s: %s\n", camp_result_name(result), error.message);
        return result == CAMP_E_PERM || result == CAMP_E_NOTSUP ? 77 : 1;
    }
    print(&own.thread);
    return 0;
}
