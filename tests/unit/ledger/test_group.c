#include "ledger/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const struct schema schema = { "made-up", columns, 3, 2 };

static void add(struct frame *frame, int32_t tid, int32_t pid, uint32_t uid, uint32_t flags,
                const char *name, uint64_t run, uint64_t sleep)
{
    struct entity *entity = frame_add(frame);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = tid;
    entity->pid = pid;
    entity->uid = uid;
    entity->flags = flags;
    strcpy(entity->name, name);
    values = frame_values(frame, frame->entity_count - 1);
    values[0] = run;
    values[1] = sleep;
    values[2] = 1;
    frame->elapsed_ns[frame->entity_count - 1] = run + sleep;
}

/* Two living processes of two users, of which one has a second thread, and three exited processes
 * with the same name. */
static void make(struct frame *frame, struct frame *groups)
{
    const uint32_t brief = ENTITY_NEW | ENTITY_ENDED;

    frame_init(frame, &schema);
    frame_init(groups, &schema);
    add(frame, 12, 10, 0, 0, "worker", 5, 95);
    add(frame, 10, 10, 0, 0, "server", 1, 99);
    add(frame, 20, 20, 7, 0, "client", 50, 50);
    add(frame, 31, 31, 7, brief, "ls", 3, 1);
    add(frame, 32, 32, 7, brief, "ls", 4, 1);
    add(frame, 33, 33, 0, brief, "ls", 5, 1);
}

/* A session that has blocked others for 3 s, and one that has for 5 s, have not for 8 s. */
static void the_age_of_a_group_is_that_of_its_oldest_member(void **state)
{
    static const struct column of_ages[] = {
        { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED },
        { "blocking_ns", "blocks others", "", COLUMN_COUNTER, CAMP_SCALED },
        { COLUMN_AGE, "blocking activity", "", COLUMN_GAUGE, CAMP_SAMPLED },
        { "samples", "samples", "", COLUMN_COUNTER, CAMP_SAMPLED },
    };
    static const uint64_t values[][4] = { { 10, 1, 3000, 2 }, { 10, 2, 5000, 2 }, { 10, 0, 0, 2 } };
    struct schema with_age = { "sessions", of_ages, 4, 1 };
    const struct grouping grouping = { .key = GROUP_NAME };
    struct frame frame, groups;

    (void)state;
    schema_find_maxima(&with_age);
    assert_int_equal(with_age.maximum, 2);
    frame_init(&frame, &with_age);
    frame_init(&groups, &with_age);
    for (int i = 0; i < 3; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = entity->pid = i + 1;
        strcpy(entity->name, "app");
        memcpy(frame_values(&frame, (size_t)i), values[i], sizeof values[i]);
        frame.elapsed_ns[i] = 10;
    }
    assert_int_equal(group_frame(&groups, &frame, &grouping), CAMP_OK);
    assert_int_equal(groups.entity_count, 1);
    assert_int_equal(frame_values(&groups, 0)[0], 30);
    assert_int_equal(frame_values(&groups, 0)[1], 3);
    assert_int_equal(frame_values(&groups, 0)[2], 5000);
    assert_int_equal(frame_values(&groups, 0)[3], 6);
    frame_release(&frame);
    frame_release(&groups);
}

static const struct entity *find(const struct frame *frame, const char *name, size_t *ret)
{
    for (*ret = 0; *ret < frame->entity_count; ++*ret) {
        if (strcmp(frame->entities[*ret].name, name) == 0)
            return &frame->entities[*ret];
    }
    fail_msg("there is no row '%s'", name);
    return NULL;
}

static void check(const struct frame *frame, const char *name, uint32_t count, uint64_t run,
                  uint64_t sleep)
{
    size_t at;
    const struct entity *entity = find(frame, name, &at);

    assert_int_equal(entity->count, count);
    assert_int_equal(frame_values(frame, at)[0], run);
    assert_int_equal(frame_values(frame, at)[1], sleep);
    assert_int_equal(frame_values(frame, at)[2], count);
    assert_int_equal(frame->elapsed_ns[at], run + sleep);
    assert_int_equal(frame_unaccounted_ns(frame, at), 0);
}

static void without_grouping_each_thread_is_a_row(void **state)
{
    struct frame frame, groups;
    size_t at;

    (void)state;
    make(&frame, &groups);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_NONE }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 6);
    assert_int_equal(find(&groups, "worker", &at)->id, 12);
    check(&groups, "worker", 1, 5, 95);
    frame_release(&frame);
    frame_release(&groups);
}

static void the_row_of_a_process_adds_up_its_threads(void **state)
{
    struct frame frame, groups;
    size_t at;

    (void)state;
    make(&frame, &groups);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 3);
    assert_int_equal(find(&groups, "server", &at)->id, 10);
    check(&groups, "server", 2, 6, 194);
    check(&groups, "client", 1, 50, 50);
    check(&groups, "ls", 3, 12, 3);
    assert_int_equal(find(&groups, "ls", &at)->id, 0);
    assert_int_equal(find(&groups, "ls", &at)->flags, ENTITY_NEW | ENTITY_ENDED);
    frame_release(&frame);
    frame_release(&groups);
}

static void grouping_by_thread_merges_exited_threads_of_the_same_name(void **state)
{
    struct frame frame, groups;
    size_t at;

    (void)state;
    make(&frame, &groups);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_THREAD }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 4);
    assert_int_equal(find(&groups, "worker", &at)->id, 12);
    check(&groups, "ls", 3, 12, 3);
    assert_int_equal(find(&groups, "ls", &at)->id, 0);
    frame_release(&frame);
    frame_release(&groups);
}

static void grouping_by_name_keeps_exited_processes_apart_from_living_processes(void **state)
{
    struct frame frame, groups;

    (void)state;
    make(&frame, &groups);
    add(&frame, 40, 40, 0, 0, "ls", 1, 1);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_NAME }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 4);
    check(&groups, "ls", 1, 1, 1);
    assert_int_equal(groups.entities[3].flags, ENTITY_NEW | ENTITY_ENDED);
    assert_int_equal(groups.entities[3].count, 3);
    frame_release(&frame);
    frame_release(&groups);
}

static void an_exited_thread_is_added_to_its_living_process(void **state)
{
    struct frame frame, groups;

    (void)state;
    make(&frame, &groups);
    add(&frame, 13, 10, 0, ENTITY_ENDED, "worker", 7, 0);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_NAME }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 3);
    check(&groups, "server", 3, 13, 194);
    frame_release(&frame);
    frame_release(&groups);
}

/* Checks a row, including the time on a CPU. */
static void check_sums(const struct frame *groups, size_t at, int64_t id, uint32_t flags,
                       uint32_t count, uint64_t run)
{
    assert_int_equal(groups->entities[at].id, id);
    assert_int_equal(groups->entities[at].flags & ENTITY_ENDED, flags);
    assert_int_equal(groups->entities[at].count, count);
    assert_int_equal(frame_values(groups, at)[0], run);
}

static void threads_can_be_grouped_by_user_or_cgroup_or_number(void **state)
{
    const int64_t numbers[6] = { 1, 1, 2, 2, 2, 1 };
    struct frame frame, groups;

    (void)state;
    make(&frame, &groups);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_USER }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 4);
    check_sums(&groups, 0, 0, 0, 2, 6);
    check_sums(&groups, 1, 7, 0, 1, 50);
    check_sums(&groups, 2, 0, ENTITY_ENDED, 1, 5);
    check_sums(&groups, 3, 7, ENTITY_ENDED, 2, 7);
    for (size_t i = 0; i < frame.entity_count; i++)
        frame.entities[i].cgroup = i < 2 ? UINT64_C(0xfffffffff1) : 8;
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_CGROUP }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 3);
    check_sums(&groups, 0, 8, 0, 1, 50);
    check_sums(&groups, 1, INT64_C(0xfffffffff1), 0, 2, 6);
    check_sums(&groups, 2, 8, ENTITY_ENDED, 3, 12);
    assert_int_equal(
        group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_NUMBER, .numbers = numbers }),
        CAMP_OK);
    assert_int_equal(groups.entity_count, 4);
    check_sums(&groups, 0, 1, 0, 2, 6);
    check_sums(&groups, 1, 2, 0, 1, 50);
    check_sums(&groups, 2, 1, ENTITY_ENDED, 1, 5);
    frame_release(&frame);
    frame_release(&groups);
}

static void a_group_has_only_the_labels_that_all_its_members_share(void **state)
{
    static const char *const values[] = { "app", "batch" };
    struct frame frame, groups;
    size_t at;

    (void)state;
    make(&frame, &groups);
    for (size_t i = 0; i < 3; i++)
        frame.entities[i].labels = labels_intern(&values[0], 1);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    assert_string_equal(labels_value(find(&groups, "server", &at)->labels, 0), "app");
    frame.entities[0].labels = labels_intern(&values[1], 1);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    assert_null(find(&groups, "server", &at)->labels);
    assert_string_equal(labels_value(find(&groups, "client", &at)->labels, 0), "app");
    frame_release(&frame);
    frame_release(&groups);
}

static void a_group_keeps_each_label_that_its_members_share(void **state)
{
    static const char *const first[] = { "app", "one", "0.5" }, *const second[] = { "app", "two",
                                                                                    "0.5" };
    struct frame frame, groups;
    labels_id labels;
    size_t at;

    (void)state;
    make(&frame, &groups);
    for (size_t i = 0; i < 3; i++)
        frame.entities[i].labels = labels_intern(i == 0 ? first : second, 3);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    labels = find(&groups, "server", &at)->labels;
    assert_string_equal(labels_value(labels, 0), "app");
    assert_string_equal(labels_value(labels, 1), "");
    assert_string_equal(labels_value(labels, 2), "0.5");
    frame_release(&frame);
    frame_release(&groups);
}

static void an_empty_frame_has_no_groups(void **state)
{
    struct frame frame, groups;

    (void)state;
    frame_init(&frame, &schema);
    frame_init(&groups, &schema);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 0);
    frame_release(&groups);
}

static void a_process_without_its_first_thread_has_the_name_of_the_oldest(void **state)
{
    struct frame frame, groups;

    (void)state;
    frame_init(&frame, &schema);
    frame_init(&groups, &schema);
    add(&frame, 14, 10, 0, 0, "youngest", 1, 9);
    add(&frame, 11, 10, 0, 0, "oldest", 2, 8);
    add(&frame, 12, 10, 0, 0, "middle", 3, 7);
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    assert_int_equal(groups.entity_count, 1);
    check(&groups, "oldest", 3, 6, 24);
    frame_release(&frame);
    frame_release(&groups);
}

/* Adds a thread that was in one state for all of its time: in `run` or in `sleep`. */
static void add_steady(struct frame *frame, int32_t tid, int32_t pid, uint64_t run, uint64_t sleep)
{
    add(frame, tid, pid, 0, 0, "steady", run, sleep);
    frame_values(frame, frame->entity_count - 1)[2] = 0;
    frame->only_states[frame->entity_count - 1] = run > 0 ? 1 : 2;
}

static void threads_in_one_state_are_added_to_those_in_many(void **state)
{
    struct frame frame, groups;

    (void)state;
    frame_init(&frame, &schema);
    frame_init(&groups, &schema);
    add_steady(&frame, 10, 10, 0, 100);
    add_steady(&frame, 11, 10, 0, 50);
    add_steady(&frame, 20, 20, 0, 100);
    add_steady(&frame, 21, 20, 100, 0);
    add_steady(&frame, 30, 30, 0, 100);
    add(&frame, 31, 30, 0, 0, "busy", 60, 30);
    frame.elapsed_ns[5] += 10;
    assert_int_equal(group_frame(&groups, &frame, &(struct grouping){ .key = GROUP_PROCESS }),
                     CAMP_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(frame_values(&groups, i)[0], i == 0 ? 0 : i == 1 ? 100 : 60);
    assert_int_equal(frame_values(&groups, 0)[1], 150);
    assert_int_equal(frame_values(&groups, 1)[1], 100);
    assert_int_equal(frame_values(&groups, 2)[1], 130);
    assert_int_equal(frame_unaccounted_ns(&groups, 0), 0);
    assert_int_equal(frame_unaccounted_ns(&groups, 1), 0);
    assert_int_equal(frame_unaccounted_ns(&groups, 2), 10);
    assert_int_equal(groups.only_states[0], 2);
    assert_int_equal(groups.only_states[1], 0);
    assert_int_equal(groups.only_states[2], 0);
    frame_release(&frame);
    frame_release(&groups);
}

static void the_values_of_a_new_row_are_0_after_any_other_row(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    add(&frame, 10, 10, 0, 0, "busy", 60, 30);
    add_steady(&frame, 11, 10, 100, 0);
    add_steady(&frame, 12, 10, 0, 100);
    frame_clear(&frame);
    for (size_t i = 0; i < 100; i++) {
        assert_non_null(frame_add(&frame));
        assert_int_equal(frame.only_states[i], 0);
        assert_int_equal(frame.elapsed_ns[i], 0);
        for (size_t column = 0; column < schema.column_count; column++)
            assert_int_equal(frame_values(&frame, i)[column], 0);
    }
    frame_release(&frame);
}

static void a_decrease_of_one_state_is_subtracted_from_the_state_that_grew_most(void **state)
{
    const uint64_t before[3] = { 10, 20, 30 };
    uint64_t after[3] = { 110, 15, 31 }, ret[3];

    (void)state;
    states_since(ret, before, after, 3);
    assert_int_equal(ret[0], 95);
    assert_int_equal(ret[1], 0);
    assert_int_equal(ret[2], 1);
    states_since(after, before, after, 3);
    assert_memory_equal(after, ret, sizeof ret);
    after[0] = 10;
    after[1] = 15;
    after[2] = 30;
    states_since(ret, before, after, 3);
    assert_int_equal(ret[0] + ret[1] + ret[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_age_of_a_group_is_that_of_its_oldest_member),
        cmocka_unit_test(without_grouping_each_thread_is_a_row),
        cmocka_unit_test(the_row_of_a_process_adds_up_its_threads),
        cmocka_unit_test(grouping_by_thread_merges_exited_threads_of_the_same_name),
        cmocka_unit_test(grouping_by_name_keeps_exited_processes_apart_from_living_processes),
        cmocka_unit_test(an_exited_thread_is_added_to_its_living_process),
        cmocka_unit_test(threads_can_be_grouped_by_user_or_cgroup_or_number),
        cmocka_unit_test(a_group_has_only_the_labels_that_all_its_members_share),
        cmocka_unit_test(a_group_keeps_each_label_that_its_members_share),
        cmocka_unit_test(an_empty_frame_has_no_groups),
        cmocka_unit_test(a_process_without_its_first_thread_has_the_name_of_the_oldest),
        cmocka_unit_test(threads_in_one_state_are_added_to_those_in_many),
        cmocka_unit_test(the_values_of_a_new_row_are_0_after_any_other_row),
        cmocka_unit_test(a_decrease_of_one_state_is_subtracted_from_the_state_that_grew_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
