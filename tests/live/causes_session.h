/* For tests of the causes of waits: reads them, and adds them up. */
#pragma once

#include "states_session.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#define CAUSES_MAX 100000

struct causes {
    struct camp_wait_cause *of; /* [count] */
    size_t count;
    struct camp_states_group groups[64];
    size_t group_count;
    uint64_t time_ns;
};

static inline struct causes read_causes(struct camp_states *session)
{
    struct causes causes = { .of = calloc(CAUSES_MAX, sizeof *causes.of) };
    struct camp_error error;

    assert_non_null(causes.of);
    if (camp_states_causes(session, causes.of, sizeof *causes.of, CAUSES_MAX, &causes.count,
                           &causes.time_ns, &error) != CAMP_OK ||
        camp_states_groups(session, causes.groups, sizeof causes.groups[0], 64, &causes.group_count,
                           &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return causes;
}

struct named_child {
    char name[CAMP_STATES_NAME_SIZE];
    void (*act)(void *truth);
    void *truth;
    pid_t pid; /* -1 if fork(2) failed */
    sem_t is_started;
};

/* A thread that starts a child. A child gets the name of the thread that starts it, but a thread
 * with a name of its own stays in the group of its process, so no time of the parent is in the
 * group of the child. If it were, the sleep before fork(2) would show it on each machine. The child
 * would get SIGKILL at the end of this thread (PR_SET_PDEATHSIG), so the thread ends with its
 * process. */
static inline void *start_with_name(void *truth)
{
    struct named_child *child = truth;

    prctl(PR_SET_NAME, child->name);
    usleep(1000);
    child->pid = fork();
    if (child->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        child->act(child->truth);
        _exit(0);
    }
    sem_post(&child->is_started);
    for (;;)
        pause();
}

/* Starts a child like start(). The child has a name of its own, which is a group of the session
 * from the first event of the child on, however many names the machine has. */
static inline pid_t start_named(struct camp_states *session, size_t number, void act(void *truth),
                                void *truth)
{
    struct named_child child = { .act = act, .truth = truth };
    struct camp_error error;
    pthread_t thread;

    snprintf(child.name, sizeof child.name, "why%zu-%d", number, getpid());
    if (camp_states_watch_name(session, child.name, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(sem_init(&child.is_started, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, start_with_name, &child), 0);
    while (sem_wait(&child.is_started) != 0)
        continue;
    sem_destroy(&child.is_started);
    assert_true(child.pid > 0);
    return child.pid;
}

static inline uint32_t group_of_name(const struct causes *causes, const char *name)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (strcmp(causes->groups[i].name, name) == 0)
            return causes->groups[i].number;
    }
    fail_msg("no group %s", name);
    return 0;
}

/* Returns the time of a group in a state that all causes have together. */
static inline uint64_t all_causes_ns(const struct causes *causes, uint32_t group, uint32_t state)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < causes->count; i++) {
        if (causes->of[i].group == group && causes->of[i].state == state)
            sum += causes->of[i].wait_ns;
    }
    return sum;
}

static inline uint64_t cause_ns(const struct causes *causes, uint32_t group, uint32_t state,
                                uint32_t kind, uint32_t id)
{
    for (size_t i = 0; i < causes->count; i++) {
        const struct camp_wait_cause *cause = &causes->of[i];

        if (cause->group == group && cause->state == state && cause->kind == kind &&
            cause->id == id)
            return cause->wait_ns;
    }
    return 0;
}

static inline void print_causes(const struct causes *causes, uint32_t group)
{
    static const char *const kinds[] = { "group",  "idle",   "interrupts", "real time",
                                         "timer",  "device", "signal",     "other interrupt",
                                         "unknown" };

    for (size_t i = 0; i < causes->count; i++) {
        const struct camp_wait_cause *cause = &causes->of[i];

        if (cause->group == group)
            print_message("  %s: %s %u (%s, %d): %.3f ms\n", camp_state_name((int)cause->state),
                          kinds[cause->kind], cause->id,
                          cause->kind == CAMP_CAUSE_GROUP ? causes->groups[cause->id].name : "",
                          cause->kind == CAMP_CAUSE_GROUP ? causes->groups[cause->id].pid : 0,
                          (double)cause->wait_ns / 1e6);
    }
}

/* Asserts that the causes of each wait of an exited process, which had one thread and a name of its
 * own, add up to its states: to the ns. */
static inline void assert_causes_add_up(const struct causes *causes,
                                        const struct camp_thread_states *last)
{
    const uint32_t group = group_of_name(causes, last->name);

    print_message("process %d, group %u:\n", last->pid, group);
    print_causes(causes, group);
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if (is_asleep((int)state) || state == CAMP_STATE_RUN_QUEUE)
            assert_int_equal(all_causes_ns(causes, group, state), last->state_ns[state]);
    }
}
