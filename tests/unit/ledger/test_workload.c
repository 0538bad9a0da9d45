#include "ledger/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parse(struct workloads *workloads, const char *text)
{
    struct rule_fault fault;

    assert_int_equal(workloads_parse(workloads, text, strlen(text), &fault), CAMP_OK);
}

static const char *find(const struct workloads *workloads, const char *name, const char *user,
                        const char *line)
{
    return workloads_name(workloads, workloads_match(workloads, name, user, line));
}

static void the_first_workload_rule_whose_expressions_all_match_wins(void **state)
{
    struct workloads workloads;

    (void)state;
    parse(&workloads, "# what runs here\n"
                      "\n"
                      "database  name=^postgres$ user=^postgres$\n"
                      "  build\tname=^(cc1|ld|make)$  \r\n"
                      "report    user=^bob$ line=python3? .*/report\\.py --all\n"
                      "build     line=^sh -c .*make\n"
                      "bob       user=^bob$");
    assert_int_equal(workloads.count, 5);
    assert_true(workloads_need_lines(&workloads));
    assert_string_equal(find(&workloads, "postgres", "postgres", ""), "database");
    assert_string_equal(find(&workloads, "postgres", "eve", ""), "(unmatched)");
    assert_string_equal(find(&workloads, "cc1", "eve", "/usr/lib/cc1"), "build");
    assert_string_equal(find(&workloads, "sh", "eve", "sh -c cd /; make all"), "build");
    assert_int_equal(workloads_match(&workloads, "sh", "eve", "sh -c make"), 1);
    assert_string_equal(find(&workloads, "python", "bob", "python /opt/report.py --all"), "report");
    assert_string_equal(find(&workloads, "python", "bob", "python /opt/report.py"), "bob");
    assert_string_equal(find(&workloads, "python", "eve", "python /opt/report.py --all"),
                        "(unmatched)");
    workloads_release(&workloads);
}

static void an_empty_line_is_not_a_workload_rule(void **state)
{
    struct workloads workloads;

    (void)state;
    parse(&workloads, "");
    assert_int_equal(workloads.count, 0);
    assert_string_equal(find(&workloads, "sh", "eve", ""), "(unmatched)");
    assert_false(workloads_need_lines(&workloads));
    parse(&workloads, "# nothing\n\n   \n\t# indented");
    assert_int_equal(workloads.count, 0);
    workloads_release(&workloads);
}

static void a_file_may_have_a_hundred_workload_rules(void **state)
{
    struct workloads workloads;
    char text[4096] = "";

    (void)state;
    for (int i = 0; i < 100; i++) {
        char line[32];

        snprintf(line, sizeof line, "w%d name=^p%d$\n", i, i);
        strcat(text, line);
    }
    parse(&workloads, text);
    assert_string_equal(find(&workloads, "p99", "", ""), "w99");
    assert_string_equal(find(&workloads, "p0", "", ""), "w0");
    workloads_release(&workloads);
}

static void refuse(const char *text, size_t length, size_t line, const char *message)
{
    struct workloads workloads;
    struct rule_fault fault;

    assert_int_equal(workloads_parse(&workloads, text, length, &fault), CAMP_E_FORMAT);
    assert_int_equal(fault.line, line);
    assert_non_null(strstr(fault.message, message));
    assert_null(workloads.rules);
}

static void the_error_about_a_bad_workload_rule_quotes_the_part_that_is_wrong(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "web", "web: what must match is missing" },
        { "web nginx", "nginx: is not name=REGEX, user=REGEX or line=REGEX" },
        { "web command=nginx", "command=nginx: is not" },
        { "web name=", "name=: an expression must follow" },
        { "web name= nginx", "name=: an expression must follow" },
        { "web name=(", "(: Unmatched" },
        { "web user=a line=[z-a]", "[z-a]: Invalid range" },
        { "web name=a name=b", "name=b: stands twice" },
        { "name=nginx", "name=nginx: a line starts with the NAME" },
        { "(unmatched) name=a", "(unmatched): is the name of all that match no rule" },
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "# one\nok name=a\n\n%s\nworse\n", cases[i].text);
        refuse(text, strlen(text), 4, cases[i].message);
    }
    refuse("a name=b\0c", 10, 1, "this is no text");
    memset(text, 'a', sizeof text);
    memcpy(text + 64, " name=b", 7);
    refuse(text, 71, 1, "63 bytes at most");
    memcpy(text, "b name=", 7);
    memset(text + 7, 'a', 100);
    refuse(text, 7 + 1024, 1, "is longer than 1023 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_workload_rule_whose_expressions_all_match_wins),
        cmocka_unit_test(an_empty_line_is_not_a_workload_rule),
        cmocka_unit_test(a_file_may_have_a_hundred_workload_rules),
        cmocka_unit_test(the_error_about_a_bad_workload_rule_quotes_the_part_that_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
