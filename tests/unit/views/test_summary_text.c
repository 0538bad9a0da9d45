#include "views/summary_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct vector {
    const char *text;
    struct summary summary;
} vectors[] = {
#include "summary_vectors.h"
};

static void the_sentences_are_those_of_the_page(void **state)
{
    char text[SUMMARY_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        summary_text(&vectors[i].summary, text);
        assert_string_equal(text, vectors[i].text);
    }
}

static void without_states_the_sentence_has_cpu_time_names_and_losses_only(void **state)
{
    struct summary summary = { .noun = "processes",
                               .only_cpu_time = true,
                               .has = { [CLASS_CPU] = true },
                               .cpus = { .count = 2 },
                               .classes = { [CLASS_CPU] = 1 },
                               .active = 1,
                               .name_count = 1,
                               .names = { "web" } };
    char text[SUMMARY_TEXT_SIZE];

    (void)state;
    summary_text(&summary, text);
    assert_string_equal(text, "Both CPUs are 50 % busy. Nothing lost. Mostly web.");
    summary.cpus.count = 0;
    summary.losses.unseen = 3;
    summary_text(&summary, text);
    assert_string_equal(text, "1.0 processes on a CPU. 3 events unseen. Mostly web.");
    summary.losses.unread_ns = 151000000;
    summary_text(&summary, text);
    assert_string_equal(
        text, "1.0 processes on a CPU. 3 events unseen, at most 0.2 s unread. Mostly web.");
    summary.losses = (struct losses){ .unread_ns = 1 };
    summary_text(&summary, text);
    assert_string_equal(text, "1.0 processes on a CPU. At most 0.1 s unread. Mostly web.");
    summary.losses = (struct losses){ .unseen = 3 };
    summary.active = summary.classes[CLASS_CPU] = 0;
    summary_text(&summary, text);
    assert_string_equal(text, "0.0 processes on a CPU. 3 events unseen.");
}

static void a_line_of_the_sentence_is_broken_between_words(void **state)
{
    char text[] = "Lock 1.8 \xc2\xb7 disk 0.3. Mostly find.", one[] = "unbreakable word";

    (void)state;
    summary_wrap(text, 11);
    assert_string_equal(text, "Lock 1.8 \xc2\xb7\ndisk 0.3.\nMostly\nfind.");
    summary_wrap(one, 5);
    assert_string_equal(one, "unbreakable\nword");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentences_are_those_of_the_page),
        cmocka_unit_test(without_states_the_sentence_has_cpu_time_names_and_losses_only),
        cmocka_unit_test(a_line_of_the_sentence_is_broken_between_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
