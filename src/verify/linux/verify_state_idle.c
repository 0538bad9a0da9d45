/*
 * Verifies that nothing is lost if a snapshot reads only the threads that did something since the
 * previous snapshot. A second session visits all threads (CAMP_STATES_VISIT_ALL). A thread that
 * sleeps in a snapshot of the first session before and after, and that did nothing between them by
 * that session's count, must have the same state and the same counts in the second session.
 *
 * The scheduler's run delay is not compared: since Linux 6.12 it may grow while a thread sleeps.
 */
#include "verify_trials.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "load/load.h"
#include "sources/machine/thread_values.h"
#include "verify_subject.h"

#include <camp/states.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROW "states-idle"
#define LOADS 4
#define LOAD_NS (600ull * NS_PER_MS)
#define ROUNDS 20
#define SPARE 256 /* threads that may start between two readings */

static const struct load_sleep_plan plan = { LOAD_SLEEP_PIPE, 60, 0, -1, LOAD_NS };

/* Replaces the threads of *ret, in ascending order of tids. */
static int read_all(struct camp_states *session, struct thread_list *ret, struct camp_error *error)
{
    size_t count = 0;
    int r = camp_states_threads(session, ret->threads, sizeof *ret->threads, ret->capacity, &count,
                                error);

    while (r == CAMP_E_SPACE) {
        free(ret->threads);
        ret->capacity = count + SPARE;
        ret->threads = calloc(ret->capacity, sizeof *ret->threads);
        if (ret->threads == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "out of memory");
        r = camp_states_threads(session, ret->threads, sizeof *ret->threads, ret->capacity, &count,
                                error);
    }
    ret->count = r == CAMP_OK ? count : 0;
    return r;
}

static const struct camp_thread_states *find(const struct thread_list *list, size_t *at,
                                             const struct camp_thread_states *thread)
{
    while (*at < list->count && list->threads[*at].tid < thread->tid)
        ++*at;
    return *at < list->count && list->threads[*at].tid == thread->tid &&
                   list->threads[*at].start_ns == thread->start_ns
               ? &list->threads[*at]
               : NULL;
}

static bool sleeps(const struct camp_thread_states *thread)
{
    const uint32_t awake = 1u << CAMP_STATE_USER | 1u << CAMP_STATE_SYSTEM | 1u << CAMP_STATE_IRQ |
                           1u << CAMP_STATE_TRAP | 1u << CAMP_STATE_RUN_QUEUE |
                           1u << CAMP_STATE_THROTTLED;

    return (thread->flags & CAMP_THREAD_UNSURE) == 0 && (awake >> thread->state & 1) == 0;
}

/* Returns whether both readings have the same counts and the same identity. */
static bool are_alike(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->state == b->state && a->pid == b->pid && a->parent == b->parent && a->uid == b->uid &&
           a->cgroup == b->cgroup && strcmp(a->name, b->name) == 0 && a->cpu_ns == b->cpu_ns &&
           a->sampled_ns == b->sampled_ns && a->minor_faults == b->minor_faults &&
           a->major_faults == b->major_faults && a->voluntary_switches == b->voluntary_switches &&
           a->involuntary_switches == b->involuntary_switches && a->read_bytes == b->read_bytes &&
           a->written_bytes == b->written_bytes && a->read_chars == b->read_chars &&
           a->written_chars == b->written_chars;
}

struct readings {
    struct camp_states *session, *all; /* `all` visits all threads */
    struct thread_list before, visited, after;
    uint64_t compared, alike, unseen;
};

static int compare_once(struct readings *readings, struct camp_error *error)
{
    size_t visited = 0, after = 0;
    int r = read_all(readings->session, &readings->before, error);

    if (r == CAMP_OK)
        r = read_all(readings->all, &readings->visited, error);
    if (r == CAMP_OK)
        r = read_all(readings->session, &readings->after, error);
    for (size_t i = 0; r == CAMP_OK && i < readings->before.count; i++) {
        const struct camp_thread_states *first = &readings->before.threads[i];
        const struct camp_thread_states *witness = find(&readings->visited, &visited, first);
        const struct camp_thread_states *second = find(&readings->after, &after, first);

        if (witness == NULL || second == NULL || !sleeps(first) || !are_alike(first, second))
            continue;
        readings->compared++;
        readings->alike += are_alike(first, witness);
    }
    return r;
}

static uint64_t unseen_of(struct camp_states *session)
{
    struct camp_states_losses losses = { 0 };

    (void)camp_states_losses(session, &losses, sizeof losses, NULL);
    return losses.unseen;
}

static int compare(struct readings *readings, struct camp_error *error)
{
    struct subject subjects[LOADS] = { 0 };
    uint64_t unseen = unseen_of(readings->session);
    int r = CAMP_OK;

    for (int i = 0; i < LOADS && r == CAMP_OK; i++)
        r = subject_open(&subjects[i], load_sleep, &plan, sizeof(struct load_sleep_truth), error);
    for (int i = 0; i < LOADS && r == CAMP_OK; i++)
        subject_start(&subjects[i]);
    for (int i = 0; i < ROUNDS && r == CAMP_OK; i++) {
        const struct timespec moment = { .tv_nsec = LOAD_NS / ROUNDS };

        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
        r = compare_once(readings, error);
    }
    for (int i = 0; i < LOADS && r == CAMP_OK; i++)
        r = subject_wait(&subjects[i], error);
    for (int i = 0; i < LOADS; i++)
        subject_end(&subjects[i]);
    readings->unseen = unseen_of(readings->session) - unseen;
    return r;
}

/* True if that is unknown: then the session fails, and the row has its error. */
static bool can_find_threads(void)
{
    struct camp_states_event events[64];
    size_t count = 0;

    if (camp_states_events(events, sizeof events[0], ARRAY_COUNT(events), &count, NULL) != CAMP_OK)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i].name, "a thread by its tid") == 0)
            return events[i].present != 0 || (events[i].known & CAMP_STATES_EVENT_PRESENT) == 0;
    }
    return false;
}

void verify_state_idle(struct verification *verification)
{
    struct readings readings = { 0 };
    struct camp_error error = { 0 };
    int r;

    if (!can_find_threads()) {
        not_tested(verification, ROW,
                   "snapshots visit all threads here: to read only some needs Linux 6.10");
        return;
    }
    r = camp_states_open(&readings.session, 0, &error);

    if (r == CAMP_OK)
        r = camp_states_open(&readings.all, CAMP_STATES_VISIT_ALL, &error);
    if (r == CAMP_OK)
        r = compare(&readings, &error);
    if (r == CAMP_OK && readings.compared == 0)
        interfered(verification, ROW, "no thread slept between two readings");
    else if (r == CAMP_OK)
        decide_between(verification, ROW, (double)readings.compared, (double)readings.alike,
                       (double)readings.unseen, 0);
    trial_succeeded(verification, r, &error, NULL);
    camp_states_close(readings.session);
    camp_states_close(readings.all);
    thread_list_release(&readings.before);
    thread_list_release(&readings.visited);
    thread_list_release(&readings.after);
}
