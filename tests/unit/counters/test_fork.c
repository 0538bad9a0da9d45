/* The line "processes" of /proc/stat, in files of any length. */
#include "counters/linux/parse.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_truncated_fork_count_in_proc_stat_is_refused(void **state)
{
    static const char stat[] = "ctxt 5\nprocesses 4711\nprocs_running 1\n";
    uint64_t count = 0;

    (void)state;
    assert_true(camp_parse_fork_count(stat, sizeof stat - 1, &count));
    assert_int_equal(count, 4711);
    for (size_t length = 0; length < strlen("ctxt 5\nprocesses 4711\n"); length++)
        assert_false(camp_parse_fork_count(stat, length, &count)); /* 4711 must not be read as 47 */
}

static void a_fork_count_in_proc_stat_that_is_not_a_number_is_refused(void **state)
{
    static const char *const texts[] = { "\nprocesses \n",
                                         "\nprocesses x\n",
                                         "\nprocesses -1\n",
                                         "\nprocesses 99999999999999999999999\n",
                                         "\nprocesses 12x\n",
                                         "processes 1\n",
                                         "" };
    uint64_t count;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(camp_parse_fork_count(texts[i], strlen(texts[i]), &count));
}

/* Reads the fork count of a /proc/stat in which a line "intr" of `length` bytes precedes `line`. */
static int read_made(size_t length, const char *line, uint64_t *ret_count)
{
    char folder[] = "/tmp/camp-test-XXXXXX";
    char path[64];
    struct camp_source source = { .proc = folder };
    FILE *file;
    int r;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/stat", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("cpu 1 2 3 4\nintr", file);
    for (size_t i = 0; i + 1 < length; i += 2)
        fputs(" 0", file);
    fprintf(file, "\n%s", line);
    fclose(file);
    r = camp_fork_count(&source, ret_count, NULL);
    unlink(path);
    rmdir(folder);
    return r;
}

static void the_fork_count_is_found_after_an_interrupt_line_of_any_length(void **state)
{
    (void)state;
    /* With these lengths the line "processes" begins before, at and after the end of the first
     * chunk. */
    for (size_t length = 16200; length < 16500; length += 3) {
        uint64_t count = 0;

        assert_int_equal(read_made(length, "processes 123456789\nx 1\n", &count), CAMP_OK);
        assert_int_equal(count, 123456789);
    }
    for (size_t length = 1; length < 1000000; length = 3 * length + 1) {
        uint64_t count = 0;

        assert_int_equal(read_made(length, "processes 123456789\n", &count), CAMP_OK);
        assert_int_equal(count, 123456789);
    }
}

static void proc_stat_without_a_fork_count_is_a_format_error(void **state)
{
    uint64_t count = 5;

    (void)state;
    assert_int_equal(read_made(40000, "ctxt 1\n", &count), CAMP_E_FORMAT);
    assert_int_equal(count, 5);
}

static void a_fork_count_without_a_place_for_it_is_refused(void **state)
{
    (void)state;
    assert_int_equal(camp_fork_count(NULL, NULL, NULL), CAMP_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_count_without_a_place_for_it_is_refused),
        cmocka_unit_test(a_truncated_fork_count_in_proc_stat_is_refused),
        cmocka_unit_test(a_fork_count_in_proc_stat_that_is_not_a_number_is_refused),
        cmocka_unit_test(the_fork_count_is_found_after_an_interrupt_line_of_any_length),
        cmocka_unit_test(proc_stat_without_a_fork_count_is_a_format_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
