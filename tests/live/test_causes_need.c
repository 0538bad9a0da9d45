/* Tests which names get groups of their own: those that cause waits of what the session watches. */
#include "causes_session.h"

#define NAMES_BEFORE 100
#define RUN_NS 400000000u
#define WAKES 20
#define WAKE_US 5000

struct scene {
    char names[3][CAMP_STATES_NAME_SIZE]; /* of the victim and of others */
    uint64_t until_ns;
    int pipes[2][2];
};

static void take_name(const char *name)
{
    if (prctl(PR_SET_NAME, name) != 0)
        _exit(1);
}

/* Runs, sleeps and wakes under one name after another, away from the victim. */
static void run_under_many_names(void *truth)
{
    char name[CAMP_STATES_NAME_SIZE];

    (void)truth;
    stay_on(0);
    for (int i = 0; i < NAMES_BEFORE; i++) {
        snprintf(name, sizeof name, "first%d", i);
        take_name(name);
        usleep(100);
    }
}

static void use_cpu(const struct scene *scene, const char *name)
{
    stay_on(last_cpu());
    take_name(name);
    while (now_ns(CLOCK_MONOTONIC) < scene->until_ns)
        continue;
}

static void be_victim(void *truth)
{
    const struct scene *scene = truth;

    use_cpu(scene, scene->names[0]);
}

static void be_culprit(void *truth)
{
    const struct scene *scene = truth;

    use_cpu(scene, scene->names[1]);
}

static struct scene *make_scene(void)
{
    struct scene *scene = shared_memory(sizeof *scene);

    for (size_t i = 0; i < 3; i++)
        snprintf(scene->names[i], sizeof scene->names[i], "need%zu-%d", i, getpid());
    return scene;
}

/* Opens a session that watches the first name of the scene, after which many other names run. */
static struct camp_states *open_after_many_names(const struct scene *scene)
{
    struct camp_states *session =
        open_states_or_skip(CAMP_STATES_CULPRITS | CAMP_STATES_GROUPS_BY_NEED);
    struct camp_error error;

    if (camp_states_watch_name(session, scene->names[0], &error) != CAMP_OK)
        fail_msg("%s", error.message);
    reap_well(start(run_under_many_names, NULL));
    return session;
}

static void a_culprit_has_a_group_though_a_hundred_names_ran_before_it(void **state)
{
    struct scene *scene = make_scene();
    struct camp_states *session = open_after_many_names(scene);
    struct causes causes;
    uint32_t victim;
    pid_t children[2];

    (void)state;
    scene->until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS;
    children[0] = start(be_victim, scene);
    children[1] = start(be_culprit, scene);
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    causes = read_causes(session);
    victim = group_of_name(&causes, scene->names[0]);
    print_causes(&causes, victim);
    assert_at_least("charged to the culprit",
                    cause_ns(&causes, victim, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP,
                             group_of_name(&causes, scene->names[1])),
                    RUN_NS / 100, 0);
    munmap(scene, sizeof *scene);
    free(causes.of);
    close_states(session);
}

/* Reads what the next one of a ring of three writes. */
static void pass_on(const struct scene *scene, const char *name, int from, int to)
{
    char byte;

    take_name(name);
    for (int i = 0; i < WAKES; i++) {
        if (from < 0)
            usleep(WAKE_US);
        else if (read(from, &byte, 1) != 1)
            _exit(1);
        if (to >= 0 && write(to, "", 1) != 1)
            _exit(1);
    }
    (void)scene;
}

static void be_woken(void *truth)
{
    const struct scene *scene = truth;

    pass_on(scene, scene->names[0], scene->pipes[0][0], -1);
}

static void be_waker(void *truth)
{
    const struct scene *scene = truth;

    pass_on(scene, scene->names[1], scene->pipes[1][0], scene->pipes[0][1]);
}

static void be_waker_of_waker(void *truth)
{
    const struct scene *scene = truth;

    pass_on(scene, scene->names[2], -1, scene->pipes[1][1]);
}

static void a_waker_and_its_waker_have_groups_though_a_hundred_names_ran_before_them(void **state)
{
    static void (*const acts[])(void *) = { be_woken, be_waker, be_waker_of_waker };
    struct scene *scene = make_scene();
    struct camp_states *session = open_after_many_names(scene);
    struct causes causes;
    uint32_t groups[3];
    pid_t children[3];

    (void)state;
    assert_int_equal(pipe(scene->pipes[0]), 0);
    assert_int_equal(pipe(scene->pipes[1]), 0);
    for (size_t i = 0; i < 3; i++)
        children[i] = start(acts[i], scene);
    for (size_t i = 0; i < 3; i++)
        reap_well(children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < 3; i++) {
        groups[i] = group_of_name(&causes, scene->names[i]);
        print_message("%s:\n", scene->names[i]);
        print_causes(&causes, groups[i]);
    }
    for (size_t i = 0; i < 2; i++)
        assert_at_least(
            "woken", cause_ns(&causes, groups[i], CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, groups[i + 1]),
            (uint64_t)WAKES * WAKE_US * 1000 / 2, 0);
    for (size_t i = 0; i < 4; i++)
        close(scene->pipes[i / 2][i % 2]);
    munmap(scene, sizeof *scene);
    free(causes.of);
    close_states(session);
}

static void names_that_cause_no_wait_of_the_watched_one_have_no_groups(void **state)
{
    struct scene *scene = make_scene();
    struct camp_states *session = open_after_many_names(scene);
    struct causes causes = read_causes(session);

    (void)state;
    for (size_t i = 0; i < causes.group_count; i++) {
        if (strncmp(causes.groups[i].name, "first", 5) == 0)
            fail_msg("%s has a group", causes.groups[i].name);
    }
    munmap(scene, sizeof *scene);
    free(causes.of);
    close_states(session);
}

static void sleep_under_a_name(void *truth)
{
    take_name(truth);
    for (int i = 0; i < WAKES; i++)
        usleep(1000);
}

/* Returns the number of a name's group, or 0. */
static uint32_t number_of(const struct causes *causes, const char *name)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (strcmp(causes->groups[i].name, name) == 0)
            return causes->groups[i].number;
    }
    return 0;
}

static struct causes causes_of(struct camp_states *session, char name[CAMP_STATES_NAME_SIZE])
{
    struct causes causes;

    reap_well(start(sleep_under_a_name, name));
    causes = read_causes(session);
    return causes;
}

/* The names that the machine has otherwise may take each number first. */
static void a_released_number_is_of_another_name_only_after_a_reading(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct causes before, after;
    uint64_t released = 0, taken = 0;
    struct camp_error error;
    char name[CAMP_STATES_NAME_SIZE];

    (void)state;
    reap_well(start(run_under_many_names, NULL));
    before = read_causes(session);
    assert_true(before.group_count > 53);
    for (size_t i = 0; i < before.group_count; i++) {
        if (strncmp(before.groups[i].name, "first", 5) != 0)
            continue;
        if (camp_states_release_group(session, before.groups[i].number, &error) != CAMP_OK)
            fail_msg("%s", error.message);
        assert_int_equal(camp_states_release_group(session, before.groups[i].number, &error),
                         CAMP_E_INVALID);
        released |= UINT64_C(1) << before.groups[i].number;
    }
    assert_true(released != 0);
    free(before.of);
    snprintf(name, sizeof name, "early-%d", getpid());
    before = causes_of(session, name);
    assert_int_equal(number_of(&before, name), 0);
    snprintf(name, sizeof name, "late-%d", getpid());
    after = causes_of(session, name);
    for (size_t i = 0; i < after.group_count; i++) {
        const struct camp_states_group *group = &after.groups[i];

        if (group->kind == CAMP_GROUP_NAME)
            taken |= UINT64_C(1) << group->number;
    }
    print_message("released %llx, taken again %llx\n", (unsigned long long)released,
                  (unsigned long long)(taken & released));
    print_causes(&after, number_of(&after, name));
    assert_true((taken & released) != 0);
    assert_int_not_equal(number_of(&after, name), 0);
    assert_at_least("new causes of the new name",
                    all_causes_ns(&after, number_of(&after, name), CAMP_STATE_TIMER) -
                        all_causes_ns(&before, number_of(&after, name), CAMP_STATE_TIMER),
                    1000000, 0);
    free(before.of);
    free(after.of);
    close_states(session);
}

static void only_groups_that_came_by_themselves_are_released(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct camp_error error;
    struct causes causes;

    (void)state;
    assert_int_equal(camp_states_watch_process(session, getpid(), &error), CAMP_OK);
    causes = read_causes(session);
    for (size_t i = 0; i < causes.group_count; i++) {
        if (causes.groups[i].kind != CAMP_GROUP_NAME)
            assert_int_equal(camp_states_release_group(session, causes.groups[i].number, &error),
                             CAMP_E_INVALID);
    }
    assert_int_equal(camp_states_release_group(session, 64, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "group 64 is none that came by itself");
    free(causes.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_culprit_has_a_group_though_a_hundred_names_ran_before_it),
        cmocka_unit_test(a_waker_and_its_waker_have_groups_though_a_hundred_names_ran_before_them),
        cmocka_unit_test(names_that_cause_no_wait_of_the_watched_one_have_no_groups),
        cmocka_unit_test(a_released_number_is_of_another_name_only_after_a_reading),
        cmocka_unit_test(only_groups_that_came_by_themselves_are_released),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
