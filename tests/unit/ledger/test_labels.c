#include "ledger/labels.h"

#include "../tree.h"

static const struct labels *intern(const char *first, const char *second)
{
    const char *const values[] = { first, second };

    return labels_intern(values, 2);
}

static void equal_lists_of_labels_share_one_pointer(void **state)
{
    char app[] = "app";
    const struct labels *labels = intern("app", "shop");

    (void)state;
    assert_non_null(labels);
    assert_ptr_equal(intern(app, "shop"), labels);
    app[0] = 'A'; /* the tuple must not point to the text of the caller */
    assert_string_equal(labels_value(labels, 0), "app");
    assert_string_equal(labels_value(labels, 1), "shop");
    assert_ptr_not_equal(intern(app, "shop"), labels);
}

static void label_lists_with_the_same_joined_text_are_distinguished(void **state)
{
    const char *const three[] = { "a", "b", "" };
    const char *const two[] = { "a", "b" };

    (void)state;
    assert_ptr_not_equal(intern("ab", "c"), intern("a", "bc"));
    assert_ptr_not_equal(intern("ab", ""), intern("", "ab"));
    assert_ptr_not_equal(labels_intern(three, 3), labels_intern(two, 2));
}

static void a_list_of_labels_without_values_is_null(void **state)
{
    (void)state;
    assert_null(labels_intern(NULL, 0));
    assert_null(intern("", NULL));
    assert_string_equal(labels_value(NULL, 0), "");
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

static void labels_beyond_the_eighth_are_dropped(void **state)
{
    const char *const many[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };

    (void)state;
    assert_int_equal(labels_intern(many, 9)->count, LABELS_MOST);
    assert_ptr_equal(labels_intern(many, 9), labels_intern(many, 8));
}

/* This test uses up the space for labels, so it must be the last test. */
static void lists_of_labels_are_stored_up_to_the_memory_limit(void **state)
{
    enum { FEW = 10000, FEW_BYTES = FEW * (sizeof(struct labels) + sizeof(char *) + 5) };
    /* Bytes of a tuple without its first value, which is a number of 5 to 7 digits. */
    const size_t bytes = sizeof(struct labels) + LABELS_MOST * sizeof(char *) +
                         (LABELS_MOST - 1) * LABELS_VALUE_SIZE;
    static const struct labels *few[FEW];
    char text[LABELS_MOST][LABELS_VALUE_SIZE];
    const char *values[LABELS_MOST];
    size_t made = 0;

    (void)state;
    for (size_t i = 0; i < LABELS_MOST; i++) {
        memset(text[i], 'a', LABELS_VALUE_SIZE - 1);
        text[i][LABELS_VALUE_SIZE - 1] = '\0';
        values[i] = text[i];
    }
    for (const struct labels *labels = few[0]; made == 0 || labels != NULL; made++) {
        snprintf(text[0], sizeof text[0], "%zu", made);
        labels = labels_intern(values, made < FEW ? 1 : LABELS_MOST);
        if (made < FEW)
            few[made] = labels;
    }
    assert_in_range(made - FEW, (LABELS_BYTES - FEW_BYTES) / (bytes + 8), LABELS_BYTES / bytes);
    for (size_t i = 0; i < FEW; i++) {
        snprintf(text[0], sizeof text[0], "%zu", i);
        assert_ptr_equal(labels_intern(values, 1), few[i]);
        assert_string_equal(labels_value(few[i], 0), text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_of_labels_share_one_pointer),
        cmocka_unit_test(label_lists_with_the_same_joined_text_are_distinguished),
        cmocka_unit_test(a_list_of_labels_without_values_is_null),
        cmocka_unit_test(a_long_label_value_is_cut_between_characters),
        cmocka_unit_test(labels_beyond_the_eighth_are_dropped),
        cmocka_unit_test(lists_of_labels_are_stored_up_to_the_memory_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
