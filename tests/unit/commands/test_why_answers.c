/* What the page gets when it asks for the causes of a group, on synthetic causes. */
#include "commands/view/why_answers.h"
#include "synthetic_causes.h"

static const char *text_of(struct bytes *bytes)
{
    bytes_put(bytes, "", 1);
    assert_false(bytes->failed);
    return (const char *)bytes->data;
}

static void before_the_first_interval_an_answer_has_no_groups_and_no_causes(void **state)
{
    const struct why_answers answers = { 0 };
    struct bytes out = { 0 };

    (void)state;
    assert_true(why_answers_put(&answers, WHY_ALL, 250000000, &out));
    assert_string_equal(text_of(&out), "{\"interval_ms\":250,\"groups\":[],\"why\":null}\n");
    bytes_clear(&out);
    assert_true(why_answers_put(&answers, 3, 250000000, &out));
    bytes_release(&out);
}

static void an_answer_has_all_groups_and_the_causes_of_one(void **state)
{
    struct causes *causes = make_causes();
    struct why_answers answers = { 0 };
    struct why_record record = { 0 };
    struct bytes out = { 0 };
    const char *text;

    (void)state;
    assert_int_equal(why_answers_fill(&answers, causes, &record), CAMP_OK);
    assert_true(why_answers_put(&answers, DB, 1000000000, &out));
    text = text_of(&out);
    assert_non_null(
        strstr(text, "{\"number\":3,\"kind\":\"process\",\"name\":\"db (7)\",\"threads\":1}"));
    assert_non_null(strstr(text, "{\"number\":0,\"kind\":\"other\",\"name\":\"other processes\","));
    assert_non_null(strstr(text, "\"why\":{\"schema\":\"camp.why/1\","));
    assert_non_null(strstr(text, "\"subject\":\"db (7)\""));
    assert_null(strstr(text, "\"subject\":\"batch\""));
    bytes_clear(&out);
    assert_true(why_answers_put(&answers, WHY_ALL, 1000000000, &out));
    assert_non_null(strstr(text_of(&out), "\"subject\":\"all threads\""));
    bytes_release(&out);
    why_answers_release(&answers);
    why_record_release(&record);
    release_causes(causes);
}

static void a_group_that_does_not_exist_has_no_answer(void **state)
{
    static const uint32_t unknown[] = { 2, 6, CAUSE_GROUPS - 1, CAUSE_GROUPS, 9999, WHY_ALL - 1 };
    struct causes *causes = make_causes();
    struct why_answers answers = { 0 };
    struct why_record record = { 0 };
    struct bytes out = { 0 };

    (void)state;
    assert_int_equal(why_answers_fill(&answers, causes, &record), CAMP_OK);
    for (size_t i = 0; i < ARRAY_COUNT(unknown); i++)
        assert_false(why_answers_put(&answers, unknown[i], 1000000000, &out));
    assert_int_equal(out.size, 0);
    why_answers_release(&answers);
    why_record_release(&record);
    release_causes(causes);
}

static void a_group_without_time_and_a_hostile_name_are_answered(void **state)
{
    struct causes *causes = make_causes();
    struct why_answers answers = { 0 };
    struct why_record record = { 0 };
    struct bytes out = { 0 };
    const char *text;

    (void)state;
    add_group(causes, 9, CAMP_GROUP_NAME, 0, "\"},{\033\xff</a>");
    assert_int_equal(why_answers_fill(&answers, causes, &record), CAMP_OK);
    assert_true(why_answers_put(&answers, 9, 1000000000, &out));
    text = text_of(&out);
    assert_non_null(strstr(text, "\"name\":\"\\\"},{\\u001b\\ufffd</a>\",\"threads\":0"));
    assert_non_null(strstr(text, "\"time_ns\":0"));
    bytes_release(&out);
    why_answers_release(&answers);
    why_record_release(&record);
    release_causes(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_interval_an_answer_has_no_groups_and_no_causes),
        cmocka_unit_test(an_answer_has_all_groups_and_the_causes_of_one),
        cmocka_unit_test(a_group_that_does_not_exist_has_no_answer),
        cmocka_unit_test(a_group_without_time_and_a_hostile_name_are_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
