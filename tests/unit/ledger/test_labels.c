#include "ledger/frame.h"

#include "../tree.h"

#include <pthread.h>

static labels_id intern(const char *first, const char *second)
{
    const char *const values[] = { first, second };

    return labels_intern(values, 2);
}

static void equal_lists_of_labels_have_one_number(void **state)
{
    char app[] = "app";
    labels_id labels = intern("app", "shop");

    (void)state;
    assert_int_not_equal(labels, LABELS_NONE);
    assert_int_equal(intern(app, "shop"), labels);
    app[0] = 'A'; /* the tuple must not point to the text of the caller */
    assert_string_equal(labels_value(labels, 0), "app");
    assert_string_equal(labels_value(labels, 1), "shop");
    assert_int_not_equal(intern(app, "shop"), labels);
}

static void label_lists_with_the_same_joined_text_are_distinguished(void **state)
{
    const char *const three[] = { "a", "b", "" };
    const char *const two[] = { "a", "b" };

    (void)state;
    assert_int_not_equal(intern("ab", "c"), intern("a", "bc"));
    assert_int_not_equal(intern("ab", ""), intern("", "ab"));
    assert_int_not_equal(labels_intern(three, 3), labels_intern(two, 2));
}

static void a_list_of_labels_without_values_has_no_number(void **state)
{
    (void)state;
    assert_int_equal(labels_intern(NULL, 0), LABELS_NONE);
    assert_int_equal(intern("", NULL), LABELS_NONE);
    assert_string_equal(labels_value(LABELS_NONE, 0), "");
    assert_string_equal(labels_value(LABELS_LOST, 0), "");
    assert_int_equal(labels_count(LABELS_LOST), 0);
    assert_string_equal(labels_value(intern(NULL, "b"), 0), "");
    assert_string_equal(labels_value(intern(NULL, "b"), 2), "");
}

/* Checks the length of a value that has `character` after 125 letters. A character that does not
 * fit into 127 bytes is dropped as a whole. */
static void cut(const char *character, size_t expected)
{
    char text[2 * LABELS_VALUE_SIZE];

    memset(text, 'x', sizeof text);
    memcpy(text + 125, character, strlen(character));
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(labels_value(intern(text, ""), 0)), expected);
}

static void a_long_label_value_is_cut_between_characters(void **state)
{
    char wild[2 * LABELS_VALUE_SIZE];

    (void)state;
    cut("xx", 127);
    cut("\u00e4", 127);
    cut("\u20ac", 125);
    cut("x\u20ac", 126);
    cut("\U0001f600", 125);
    memset(wild, 0x80, sizeof wild); /* not UTF-8 */
    wild[sizeof wild - 1] = '\0';
    assert_int_equal(strlen(labels_value(intern(wild, ""), 0)), 124);
}

static void labels_beyond_the_limit_are_dropped(void **state)
{
    const char *const many[LABELS_MOST + 1] = { "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                                "10", "11", "12", "13", "14", "15", "16", "17" };

    (void)state;
    assert_int_equal(labels_count(labels_intern(many, LABELS_MOST + 1)), LABELS_MOST);
    assert_int_equal(labels_intern(many, LABELS_MOST + 1), labels_intern(many, LABELS_MOST));
}

enum { SESSIONS = 3000, INTERVALS = 1000 };

/* Adds the labels of the session `session` in the interval `interval`, as a database with the texts
 * of its queries has them. */
static labels_id query_of(size_t session, size_t interval)
{
    char user[32], query[LABELS_VALUE_SIZE];

    snprintf(user, sizeof user, "user %zu", session);
    snprintf(query, sizeof query, "SELECT %zu, %zu FROM a_table WHERE id = %zu", session, interval,
             session * interval);
    return intern(user, query);
}

/* Without freeing, the space was used up after some hundred intervals. */
static void labels_that_change_in_each_interval_are_never_lost(void **state)
{
    const labels_id kept = labels_keep(intern("kept", "tier"));
    const char *text = labels_value(kept, 0);
    const labels_id held = intern("held", "by a row that never changes");
    labels_id before[SESSIONS] = { 0 }, first = LABELS_NONE;

    (void)state;
    for (size_t i = 0; i < INTERVALS; i++) {
        labels_start_interval();
        assert_string_equal(labels_value(held, 0), "held");
        for (size_t j = 0; j < SESSIONS; j++) {
            const labels_id labels = query_of(j, i);

            assert_int_not_equal(labels, LABELS_LOST);
            assert_int_not_equal(labels, before[j]);
            /* The labels of the interval before can still be compared and written. */
            assert_int_equal(labels_count(before[j]), i > 0 ? 2 : 0);
            before[j] = labels;
            if (i == 0 && j == 0)
                first = labels;
        }
    }
    assert_string_equal(labels_value(before[7], 0), "user 7");
    assert_int_equal(labels_count(first), 0);
    assert_string_equal(labels_value(first, 0), "");
    /* A number is not used again, even if its tuple is made again. */
    assert_int_not_equal(query_of(0, 0), first);
    assert_ptr_equal(labels_value(kept, 0), text);
}

struct in_thread {
    labels_id labels;
    char value[LABELS_VALUE_SIZE], of_other[LABELS_VALUE_SIZE];
};

/* Uses a store of its own, in which the number `labels` of the usual store means nothing. */
static void *use_own_store(void *context)
{
    struct in_thread *shared = context;
    struct labels_store *store = labels_store_open(LABELS_BYTES / 64);

    labels_use_store(store);
    snprintf(shared->of_other, sizeof shared->of_other, "%s", labels_value(shared->labels, 0));
    for (size_t i = 0; i < INTERVALS; i++) {
        labels_start_interval();
        shared->labels = query_of(i % SESSIONS, i);
        snprintf(shared->value, sizeof shared->value, "%s", labels_value(shared->labels, 0));
    }
    labels_use_store(NULL);
    labels_store_close(store);
    return NULL;
}

static void a_store_of_a_thread_has_its_own_tuples_and_intervals(void **state)
{
    const labels_id mine = intern("mine", "of the usual store");
    struct in_thread shared[4];
    pthread_t threads[4];
    char value[32];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        shared[i] = (struct in_thread){ .labels = mine };
        assert_int_equal(pthread_create(&threads[i], NULL, use_own_store, &shared[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        snprintf(value, sizeof value, "user %zu", (size_t)(INTERVALS - 1) % SESSIONS);
        assert_string_equal(shared[i].value, value);
        assert_string_equal(shared[i].of_other, "");
    }
    assert_string_equal(labels_value(mine, 0), "mine");
}

static void a_full_store_loses_labels_and_leaves_the_others_alone(void **state)
{
    struct labels_store *store = labels_store_open(4096);
    labels_id labels = LABELS_NONE;

    (void)state;
    labels_use_store(store);
    for (size_t i = 0; labels != LABELS_LOST && i < 4096; i++)
        labels = query_of(i, i);
    assert_int_equal(labels, LABELS_LOST);
    labels_use_store(NULL);
    assert_int_not_equal(intern("a", "b"), LABELS_LOST);
    labels_store_close(store);
    labels_store_close(NULL);
}

/* This test uses up the space for labels, so it must be the last test. */
static void labels_without_space_are_lost_until_the_others_are_no_longer_used(void **state)
{
    char text[LABELS_MOST][LABELS_VALUE_SIZE];
    const char *values[LABELS_MOST];
    size_t made = 0;

    (void)state;
    for (size_t i = 0; i < LABELS_MOST; i++) {
        memset(text[i], 'a', LABELS_VALUE_SIZE - 1);
        text[i][LABELS_VALUE_SIZE - 1] = '\0';
        values[i] = text[i];
    }
    labels_start_interval();
    labels_start_interval();
    labels_start_interval();
    for (labels_id labels = LABELS_NONE; labels != LABELS_LOST; made++) {
        snprintf(text[0], sizeof text[0], "%zu", made);
        labels = labels_intern(values, LABELS_MOST);
    }
    assert_in_range(made, LABELS_BYTES / 2 / sizeof text, LABELS_BYTES / (sizeof text - 128));
    snprintf(text[0], sizeof text[0], "%d", 0);
    assert_int_equal(labels_count(labels_intern(values, LABELS_MOST)), LABELS_MOST);
    strcpy(text[0], "new");
    assert_int_equal(labels_intern(values, LABELS_MOST), LABELS_LOST);
    for (int i = 0; i < 3; i++)
        labels_start_interval();
    assert_int_equal(labels_count(labels_intern(values, LABELS_MOST)), LABELS_MOST);
}

static void a_row_whose_labels_are_lost_counts_as_partial(void **state)
{
    struct schema schema = { .name = "sessions" };
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame_add(&frame)->labels = LABELS_LOST;
    frame_add(&frame)->labels = LABELS_NONE;
    frame_add(&frame)->labels = intern("a", "b");
    frame.losses.partial = 2;
    frame_count_lost_labels(&frame);
    assert_int_equal(frame.losses.partial, 3);
    frame_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_of_labels_have_one_number),
        cmocka_unit_test(label_lists_with_the_same_joined_text_are_distinguished),
        cmocka_unit_test(a_list_of_labels_without_values_has_no_number),
        cmocka_unit_test(a_long_label_value_is_cut_between_characters),
        cmocka_unit_test(labels_beyond_the_limit_are_dropped),
        cmocka_unit_test(a_row_whose_labels_are_lost_counts_as_partial),
        cmocka_unit_test(labels_that_change_in_each_interval_are_never_lost),
        cmocka_unit_test(a_store_of_a_thread_has_its_own_tuples_and_intervals),
        cmocka_unit_test(a_full_store_loses_labels_and_leaves_the_others_alone),
        cmocka_unit_test(labels_without_space_are_lost_until_the_others_are_no_longer_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
