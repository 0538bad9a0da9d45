/* Sums of stacks, as folded text and as a profile. */
#include "views/stacks/folded.h"
#include "views/stacks/pprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void frames_cannot_be_taken_for_separators(void **state)
{
    char text[20] = "";

    (void)state;
    stack_append(text, sizeof text, "a;b");
    stack_append(text, sizeof text, "c\nd e");
    assert_string_equal(text, "a:b;c?d e");
    stack_append(text, sizeof text, "too long for it");
    assert_string_equal(text, "a:b;c?d e");
    stack_append(text, sizeof text, "123456789");
    assert_string_equal(text, "a:b;c?d e;123456789");
    stack_append(text, sizeof text, "");
    assert_string_equal(text, "a:b;c?d e;123456789");
}

static struct stack_sums make_sums(void)
{
    struct stack_sums sums = { 0 };

    assert_true(stack_sums_add(&sums, "p;poll;main", 5, 1));
    assert_true(stack_sums_add(&sums, "p;disk;main;read_[k]", 7, 2));
    assert_true(stack_sums_add(&sums, "p;poll;main", 4, 3));
    stack_sums_sort(&sums);
    return sums;
}

static void equal_stacks_are_one_and_the_longest_is_first(void **state)
{
    struct stack_sums sums = make_sums();

    (void)state;
    assert_int_equal(sums.count, 2);
    assert_string_equal(sums.items[0].stack, "p;poll;main");
    assert_int_equal(sums.items[0].ns, 9);
    assert_int_equal(sums.items[0].count, 4);
    stack_sums_clear(&sums);
    assert_int_equal(sums.count, 0);
    assert_true(stack_sums_add(&sums, "p;poll;main", 1, 1));
    assert_int_equal(sums.items[0].ns, 1);
    stack_sums_release(&sums);
}

static void a_folded_line_ends_with_its_time(void **state)
{
    struct stack_sums sums = make_sums();
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_non_null(stream);
    folded_write(stream, &sums);
    fclose(stream);
    assert_string_equal(text, "p;poll;main 9\np;disk;main;read_[k] 7\n");
    free(text);
    stack_sums_release(&sums);
}

static void a_profile_has_its_texts_after_the_samples(void **state)
{
    /* Two types of values: (1 "sleeps", 2 "count") and (3 "asleep", 4 "nanoseconds"); the sample
     * main (7), poll (6), p (5) with the values 4 and 9, and its two labels. */
    static const uint8_t start[] = { 0x0a, 4,  0x08, 1, 0x10, 2, 0x0a, 4, 0x08, 3, 0x10, 4,
                                     0x12, 22, 0x08, 7, 0x08, 6, 0x08, 5, 0x10, 4, 0x10, 9,
                                     0x1a, 4,  0x08, 8, 0x10, 5, 0x1a, 4, 0x08, 9, 0x10, 6 };
    static const uint8_t texts[] = { 0x32, 0, 0x32, 6, 's', 'l', 'e', 'e', 'p', 's' };
    const struct pprof_times times = { 1, 2 };
    struct stack_sums sums = make_sums();
    struct bytes bytes = { 0 };

    (void)state;
    pprof_write(&bytes, &sums, &times);
    assert_false(bytes.failed);
    assert_true(bytes.size > sizeof start);
    assert_memory_equal(bytes.data, start, sizeof start);
    assert_non_null(memmem(bytes.data, bytes.size, texts, sizeof texts));
    bytes_release(&bytes);
    stack_sums_release(&sums);
}

static void a_profile_without_samples_is_whole(void **state)
{
    const struct pprof_times times = { 0 };
    const struct stack_sums none = { 0 };
    struct bytes bytes = { 0 };

    (void)state;
    pprof_write(&bytes, &none, &times);
    assert_false(bytes.failed);
    assert_true(bytes.size > 0);
    bytes_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_cannot_be_taken_for_separators),
        cmocka_unit_test(equal_stacks_are_one_and_the_longest_is_first),
        cmocka_unit_test(a_folded_line_ends_with_its_time),
        cmocka_unit_test(a_profile_has_its_texts_after_the_samples),
        cmocka_unit_test(a_profile_without_samples_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
