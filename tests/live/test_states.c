/* Microstates of this machine's threads: their sum, against independent witnesses. */
#include "counters/units.h"
#include "states_session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 40000

struct snapshot {
    struct camp_thread_states *threads; /* [count] */
    size_t count;
};

static struct snapshot look(struct camp_states *session)
{
    struct snapshot snapshot = { calloc(THREADS_MAX, sizeof *snapshot.threads), 0 };
    struct camp_error error;

    assert_non_null(snapshot.threads);
    if (camp_states_threads(session, snapshot.threads, sizeof *snapshot.threads, THREADS_MAX,
                            &snapshot.count, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return snapshot;
}

static const struct camp_thread_states *find(const struct snapshot *snapshot, int32_t tid,
                                             uint64_t start_ns)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->threads[i].tid == tid && snapshot->threads[i].start_ns == start_ns)
            return &snapshot->threads[i];
    }
    return NULL;
}

static void states_of_every_thread_add_up_to_its_time(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct snapshot before = look(session), after;
    size_t compared = 0;

    (void)state;
    usleep(300000);
    after = look(session);
    for (size_t i = 0; i < after.count; i++) {
        const struct camp_thread_states *now = &after.threads[i];
        const struct camp_thread_states *then = find(&before, now->tid, now->start_ns);
        int64_t sum = 0, elapsed;

        if (then == NULL)
            continue;
        for (size_t k = 0; k < CAMP_STATE_COUNT; k++)
            sum += (int64_t)(now->state_ns[k] - then->state_ns[k]);
        elapsed = (int64_t)(now->time_ns - then->time_ns);
        if (llabs(sum - elapsed) > 1000)
            fail_msg("thread %d (%s): states add up to %lld ns of %lld", now->tid, now->name,
                     (long long)sum, (long long)elapsed);
        compared++;
    }
    assert_true(compared > 10);
    free(before.threads);
    free(after.threads);
    camp_states_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_of_every_thread_add_up_to_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
