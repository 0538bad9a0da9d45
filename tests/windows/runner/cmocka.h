/*
 * The part of cmocka that the tests of libcamp use, for Windows: Debian has no cmocka for it.
 *
 * The output has the form of cmocka's, which tools/run-tests reads.
 */
#pragma once

#include <fcntl.h>
#include <io.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

enum end { END_OK = 0, END_FAILED = 1, END_SKIPPED = 2 };

static jmp_buf end_of_test;

__attribute__((noreturn)) static inline void end_test(enum end end)
{
    longjmp(end_of_test, (int)end);
}

__attribute__((noreturn)) static inline void fail_test(const char *file, int line, const char *what)
{
    printf("%s\n%s:%d: error: Failure!\n", what, file, line);
    end_test(END_FAILED);
}

static inline void check_equal(uint64_t a, uint64_t b, const char *file, int line, const char *what)
{
    if (a == b)
        return;
    printf("0x%llx != 0x%llx\n", (unsigned long long)a, (unsigned long long)b);
    fail_test(file, line, what);
}

static inline void check_range(uint64_t value, uint64_t least, uint64_t most, const char *file,
                               int line)
{
    if (value >= least && value <= most)
        return;
    printf("%llu is not in %llu..%llu\n", (unsigned long long)value, (unsigned long long)least,
           (unsigned long long)most);
    fail_test(file, line, "assert_in_range");
}

static inline void check_strings(const char *a, const char *b, int equal, const char *file,
                                 int line, const char *what)
{
    if ((strcmp(a, b) == 0) == equal)
        return;
    printf("\"%s\", \"%s\"\n", a, b);
    fail_test(file, line, what);
}

/* Runs one test, and returns how it ended. */
static inline enum end run_test(const struct CMUnitTest *test, void **state)
{
    static const char *const results[] = { "       OK ", "  FAILED  ", "  SKIPPED " };
    volatile enum end end = END_OK;
    int jumped;

    printf("[ RUN      ] %s\n", test->name);
    fflush(stdout);
    jumped = setjmp(end_of_test);
    if (jumped == 0)
        test->run(state);
    else
        end = (enum end)jumped;
    printf("[%s] %s\n", results[end], test->name);
    fflush(stdout);
    return end;
}

static inline int run_tests(const struct CMUnitTest *tests, size_t count, int (*setup)(void **))
{
    void *state = NULL;
    int failed = 0;

    _setmode(_fileno(stdout), _O_BINARY); /* lines end as those of cmocka elsewhere */
    if (setup != NULL && setup(&state) != 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        failed += run_test(&tests[i], &state) == END_FAILED;
    printf("[==========] %u test(s) run.\n", (unsigned)count);
    return failed;
}

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#function, function                                                                        \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    run_tests(tests, sizeof(tests) / sizeof((tests)[0]), setup)

#define check_that(condition, what) ((condition) ? (void)0 : fail_test(__FILE__, __LINE__, what))
#define assert_true(condition) check_that(condition, #condition)
#define assert_false(condition) check_that(!(condition), "!(" #condition ")")
#define assert_null(pointer) check_that((pointer) == NULL, #pointer " == NULL")
#define assert_non_null(pointer) check_that((pointer) != NULL, #pointer " != NULL")
#define assert_int_equal(a, b)                                                                     \
    check_equal((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define assert_in_range(value, least, most)                                                        \
    check_range((uint64_t)(value), (uint64_t)(least), (uint64_t)(most), __FILE__, __LINE__)
#define assert_string_equal(a, b) check_strings(a, b, 1, __FILE__, __LINE__, #a " equals " #b)
#define assert_string_not_equal(a, b)                                                              \
    check_strings(a, b, 0, __FILE__, __LINE__, #a " differs from " #b)
#define assert_memory_equal(a, b, size) check_that(memcmp(a, b, size) == 0, #a " equals " #b)
#define fail_msg(...) (printf(__VA_ARGS__), printf("\n"), fail_test(__FILE__, __LINE__, "fail_msg"))
#define skip() end_test(END_SKIPPED)
