/*
 * process-states PID [SECONDS]: where the threads of one process spend their time, as the kernel
 * measures it.
 *
 * The states of a thread do not overlap, so their times add up to the time for which the thread was
 * watched. A session needs the rights that states.h names.
 */
#include <camp/states.h>

#include <stdio.h>
#include <stdlib.h>

struct sums {
    int32_t pid;
    int counts;            /* 0 in the first snapshot, whose times are from before the interval */
    uint32_t known_states; /* of any thread; the time of another state is in one of these */
    uint64_t watched_ns;
    uint64_t state_ns[CAMP_STATE_COUNT];
};

/* Adds what a thread did since the snapshot in which it was `before`. */
static void add(struct sums *sums, const struct camp_thread_states *before,
                const struct camp_thread_states *now)
{
    uint64_t from_ns = before != NULL ? before->time_ns : now->begin_ns;
    int state;

    if (!sums->counts || now->pid != sums->pid)
        return;
    sums->known_states |= now->known_states;
    sums->watched_ns += now->time_ns - from_ns;
    for (state = 0; state < CAMP_STATE_COUNT; state++)
        sums->state_ns[state] += now->state_ns[state] - (before ? before->state_ns[state] : 0);
}

static void seen(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note)
{
    (void)note;
    add(context, before, now);
}

static void waited(void *context, const struct camp_states_wait *wait)
{
    struct sums *sums = context;

    if (!sums->counts || wait->thread->pid != sums->pid)
        return;
    sums->known_states |= wait->thread->known_states;
    sums->watched_ns += wait->elapsed_ns;
    sums->state_ns[wait->state] += wait->elapsed_ns;
}

static void ended(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note)
{
    (void)note;
    add(context, before, last);
}

/* The final times of this thread come with a later snapshot, if at all: it is left out. */
static void missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context;
    (void)before;
    (void)note;
}

static void print(const struct sums *sums)
{
    uint64_t known_ns = 0;
    int state;

    printf("%-16s %10.3f s of all threads\n", "watched", (double)sums->watched_ns / 1e9);
    for (state = 0; state < CAMP_STATE_COUNT; state++) {
        if ((sums->known_states & 1u << state) == 0)
            continue;
        known_ns += sums->state_ns[state];
        printf("%-16s %10.3f s %5.1f %%\n", camp_state_name(state),
               (double)sums->state_ns[state] / 1e9,
               100 * (double)sums->state_ns[state] / (double)sums->watched_ns);
    }
    printf("%-16s %10.3f s\n", "unaccounted", ((double)sums->watched_ns - (double)known_ns) / 1e9);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 2 ? atof(argv[2]) : 1;
    struct camp_states_visitor visitor = {
        .seen = seen, .waited = waited, .ended = ended, .missed = missed
    };
    struct sums sums = { 0 };
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    struct camp_states *session = NULL;
    int result;

    if (argc < 2 || argc > 3 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: process-states PID [SECONDS]\n");
        return 2;
    }
    sums.pid = (int32_t)atol(argv[1]);
    visitor.context = &sums;
    result = camp_states_open(&session, 0, &error);
    if (result == CAMP_OK)
        result = camp_states_visit(session, &visitor, sizeof visitor, &error);
    sums.counts = 1;
    if (result == CAMP_OK) /* waits */
        result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                      &all, sizeof all, &error);
    if (result == CAMP_OK)
        result = camp_states_visit(session, &visitor, sizeof visitor, &error);
    if (result < 0)
        fprintf(stderr, "process-states: %s\n", error.message);
    else if (sums.watched_ns == 0)
        fprintf(stderr, "process-states: there was no thread of process %d\n", (int)sums.pid);
    else
        print(&sums);
    camp_states_close(session);
    return result == CAMP_OK && sums.watched_ns > 0 ? 0 : 1;
}
