/* The locks of files in texts of /proc/locks. */
#include "sources/causes/ends/file_locks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static char text[4096];

static FILE *open_text(const char *from)
{
    FILE *file;

    snprintf(text, sizeof text, "%s", from);
    file = fmemopen(text, strlen(text), "r");
    assert_non_null(file);
    return file;
}

static const char usual[] = "1: POSIX  ADVISORY  WRITE 10234 fe:00:11028837 0 EOF\n"
                            "2: FLOCK  ADVISORY  WRITE 8310 fe:00:11026747 0 EOF\n"
                            "2: -> FLOCK  ADVISORY  WRITE 8383 fe:00:11026747 0 EOF\n"
                            "2:  -> FLOCK  ADVISORY  WRITE 8384 fe:00:11026747 0 EOF\n"
                            "3: OFDLCK ADVISORY  WRITE -1 fe:00:1 0 EOF\n"
                            "3: -> OFDLCK ADVISORY  WRITE -1 fe:00:1 0 EOF\n"
                            "3: -> POSIX  ADVISORY  WRITE 8400 fe:00:1 0 EOF\n"
                            "4: LEASE  ACTIVE    READ  77 08:01:12 0 EOF\n"
                            "5: POSIX  *NOINODE* READ  78 <none>:0 0 EOF\n";

static int32_t holder(const char *locks, int32_t waiter, uint64_t inode)
{
    FILE *file = open_text(locks);
    const int32_t ret = file_lock_holder(file, waiter, inode);

    fclose(file);
    return ret;
}

static void the_processes_that_wait_are_the_lines_behind_those_of_their_holders(void **state)
{
    int32_t pids[4];

    (void)state;
    for (size_t most = 0; most <= 4; most++) {
        FILE *file = open_text(usual);
        const size_t count = file_lock_waiters(file, pids, most);

        fclose(file);
        assert_int_equal(count, most < 3 ? most : 3);
        assert_true(count < 1 || pids[0] == 8383);
        assert_true(count < 2 || pids[1] == 8384);
        assert_true(count < 3 || pids[2] == 8400);
    }
}

static void the_holder_is_that_of_the_same_number_and_file(void **state)
{
    (void)state;
    assert_int_equal(holder(usual, 8383, 11026747), 8310);
    assert_int_equal(holder(usual, 8384, 11026747), 8310);
    assert_int_equal(holder(usual, 8384, 11028837), 0); /* another file */
    assert_int_equal(holder(usual, 8310, 11026747), 0); /* it does not wait */
    assert_int_equal(holder(usual, 8400, 1), 0);        /* the owner is no process */
    assert_int_equal(holder("7: FLOCK  ADVISORY  WRITE 10 fe:00:5 0 EOF\n"
                            "8: -> FLOCK  ADVISORY  WRITE 11 fe:00:5 0 EOF\n",
                            11, 5),
                     0); /* the line of its lock is missing */
}

static void each_line_has_its_numbers_or_unknown_ones(void **state)
{
    static const struct file_lock expected[] = {
        { 1, false, 10234, 11028837 }, { 2, false, 8310, 11026747 }, { 2, true, 8383, 11026747 },
        { 2, true, 8384, 11026747 },   { 3, false, 0, 1 },           { 3, true, 0, 1 },
        { 3, true, 8400, 1 },          { 4, false, 77, 12 },         { 5, false, 78, 0 },
    };
    FILE *file = open_text(usual);
    struct file_lock lock;

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(file_lock_read(file, &lock));
        assert_int_equal(lock.number, expected[i].number);
        assert_int_equal(lock.waits, expected[i].waits);
        assert_int_equal(lock.pid, expected[i].pid);
        assert_int_equal(lock.inode, expected[i].inode);
    }
    assert_false(file_lock_read(file, &lock));
    fclose(file);
}

static void a_number_that_is_too_large_is_unknown_and_not_another_one(void **state)
{
    FILE *file = open_text("2: FLOCK  ADVISORY  WRITE 4294975606 fe:00:5 0 EOF\n" /* 8310 + 2^32 */
                           "2: -> FLOCK  ADVISORY  WRITE 4294975679 fe:00:5 0 EOF\n"
                           "99999999999999999999: -> FLOCK  ADVISORY  WRITE 12 fe:00:5 0 EOF\n"
                           "-2: -> FLOCK  ADVISORY  WRITE 13 fe:00:5 0 EOF\n");
    int32_t pids[4];

    (void)state;
    assert_int_equal(file_lock_waiters(file, pids, 4), 0);
    fclose(file);
}

static void the_rest_of_a_long_line_is_no_line(void **state)
{
    char line[600];
    FILE *file;
    int32_t pid;

    (void)state;
    memset(line, 'x', 255);
    strcpy(line + 255, "2: -> FLOCK  ADVISORY  WRITE 8383 fe:00:5 0 EOF\n"
                       "3: -> FLOCK  ADVISORY  WRITE 8384 fe:00:6 0 EOF\n");
    file = open_text(line);
    assert_int_equal(file_lock_waiters(file, &pid, 1), 1);
    assert_int_equal(pid, 8384);
    fclose(file);
}

static void other_texts_have_no_lock(void **state)
{
    static const char *const texts[] = {
        "\n",   "x: -> \n-> 5",      "2:",         "2: ->",
        "2 ->", "2: FLOCK ADVISORY", ": -> a b c", "2: -> FLOCK ADVISORY WRITE",
    };
    struct file_lock lock;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        FILE *file = open_text(texts[i]);

        assert_false(file_lock_read(file, &lock));
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processes_that_wait_are_the_lines_behind_those_of_their_holders),
        cmocka_unit_test(the_holder_is_that_of_the_same_number_and_file),
        cmocka_unit_test(each_line_has_its_numbers_or_unknown_ones),
        cmocka_unit_test(a_number_that_is_too_large_is_unknown_and_not_another_one),
        cmocka_unit_test(the_rest_of_a_long_line_is_no_line),
        cmocka_unit_test(other_texts_have_no_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
