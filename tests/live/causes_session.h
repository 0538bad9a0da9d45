/* For tests of the causes of waits: reads them, and adds them up. */
#pragma once

#include "states_session.h"

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

/* Returns the number of the group of a process. */
static inline uint32_t group_of_process(const struct causes *causes, pid_t pid)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].pid == pid)
            return causes->groups[i].number;
    }
    print_message("skipped, not passed: other processes took all groups before process %d\n", pid);
    skip();
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

/* Asserts that the causes of each wait of an exited process, which had one thread and a group of
 * its own, add up to its states: to the ns. */
static inline void assert_causes_add_up(const struct causes *causes,
                                        const struct camp_thread_states *last)
{
    const uint32_t group = group_of_process(causes, last->pid);

    print_message("process %d, group %u:\n", last->pid, group);
    print_causes(causes, group);
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        if (is_asleep((int)state) || state == CAMP_STATE_RUN_QUEUE)
            assert_int_equal(all_causes_ns(causes, group, state), last->state_ns[state]);
    }
}
