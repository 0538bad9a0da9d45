/* Tests which options are accepted and refused, and that a refusal says what to do. */
#include "program/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const colours[] = { "red", "green", NULL };

struct values {
    uint64_t interval_ns, count, size;
    double percent;
    int colour;
    bool loud, quiet;
    const char *name;
    struct text_list pids;
    int first;
};

/* Parses `words`, which end with NULL and do not include the name of the command. */
static int parse_words(const struct option_table *table, struct values *values,
                       const char *const *words)
{
    static char texts[20][32] = { "made" }; /* OPTION_TEXT keeps pointers to these texts. */
    char *argv[21] = { texts[0] };
    int argc = 1;

    for (; words[argc - 1] != NULL; argc++) {
        snprintf(texts[argc], sizeof texts[0], "%s", words[argc - 1]);
        argv[argc] = texts[argc];
    }
    return options_parse(table, argc, argv, &values->first);
}

/* Parses words with a table that has all types of options. */
static int parse(struct values *values, const char *const *words)
{
    const struct option_spec specs[] = {
        { "interval", 'i', OPTION_DURATION, &values->interval_ns, "TIME", "", 0.01, 86400, NULL },
        { "count", 'n', OPTION_COUNT, &values->count, "N", "", 1, 1e9, NULL },
        { "size", 0, OPTION_SIZE, &values->size, "SIZE", "", 0, 0, NULL },
        { "bytes", 0, OPTION_SIZE, &values->size, "SIZE", "", 1, 1099511627776.0, NULL },
        { "percent", 0, OPTION_REAL, &values->percent, "N", "", 0, 100, NULL },
        { "color", 0, OPTION_CHOICE, &values->colour, "COLOUR", "", 0, 0, colours },
        { "loud", 'l', OPTION_FLAG, &values->loud, NULL, "", 0, 0, NULL },
        { "no-quiet", 0, OPTION_NO_FLAG, &values->quiet, NULL, "", 0, 0, NULL },
        { "name", 0, OPTION_TEXT, &values->name, "NAME", "", 0, 0, NULL },
        { "pid", 'p', OPTION_LIST, &values->pids, "PID", "", 0, 0, NULL },
    };
    const struct option_table table = { "camp made [OPTIONS] WORD", "About.", specs,
                                        sizeof specs / sizeof specs[0] };

    return parse_words(&table, values, words);
}

#define PARSE(values, ...) parse(values, (const char *const[]){ __VA_ARGS__, NULL })

/* Text that is printed to stderr after silence_begin() is written to `ret` by silence_end(). */
static int silence_begin(FILE **ret_file)
{
    int kept = dup(STDERR_FILENO);

    *ret_file = tmpfile();
    fflush(stderr);
    dup2(fileno(*ret_file), STDERR_FILENO);
    return kept;
}

static void silence_end(FILE *file, int kept, char *ret, size_t capacity)
{
    size_t length;

    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    length = fread(ret, 1, capacity - 1, file);
    ret[length] = '\0';
    fclose(file);
}

static int parse_silenced(struct values *values, const char *const *words, char *ret,
                          size_t capacity)
{
    FILE *file;
    int kept = silence_begin(&file), status = parse(values, words);

    silence_end(file, kept, ret, capacity);
    return status;
}

static int parse_table(const struct option_table *table, struct values *values,
                       const char *const *words, char *ret, size_t capacity)
{
    FILE *file;
    int kept = silence_begin(&file), status = parse_words(table, values, words);

    silence_end(file, kept, ret, capacity);
    return status;
}

static void each_type_of_option_sets_its_variable(void **state)
{
    struct values values = { .quiet = true, .colour = -1 };

    (void)state;
    assert_int_equal(PARSE(&values, "-i", "250ms", "--count=3", "--size", "976K", "--percent",
                           "12.5", "--color", "green", "-l", "--no-quiet", "--name", "x", "-p",
                           "1"),
                     OPTIONS_GO_ON);
    assert_int_equal(values.interval_ns, 250000000);
    assert_int_equal(values.count, 3);
    assert_int_equal(values.size, 976 * 1024);
    assert_true(values.percent == 12.5);
    assert_int_equal(values.colour, 1);
    assert_true(values.loud);
    assert_false(values.quiet);
    assert_string_equal(values.name, "x");
    assert_int_equal(values.pids.count, 1);
    text_list_release(&values.pids);
}

static void operands_and_options_may_be_mixed(void **state)
{
    struct values values = { 0 };

    (void)state;
    assert_int_equal(PARSE(&values, "one", "-n", "3", "two"), OPTIONS_GO_ON);
    assert_int_equal(values.first, 3);
    assert_int_equal(values.count, 3);
}

static void a_bad_option_value_is_refused_in_one_line_that_names_the_option(void **state)
{
    static const char *const cases[][2] = {
        { "--interval", "0" },
        { "--interval", "-1" },
        { "--interval", "1e9" },
        { "--interval", "abc" },
        { "--interval", "" },
        { "--interval", "nan" },
        { "--interval", "inf" },
        { "--interval", "0x10" },
        { "--interval", "5 parsecs" },
        { "--count", "0" },
        { "--count", "-3" },
        { "--count", "1.5" },
        { "--count", "99999999999999999999" },
        { "--count", "1000000001" },
        { "--percent", "101" },
        { "--percent", "-0.1" },
        { "--percent", "x" },
        { "--size", "-1" },
        { "--size", "1Q" },
        { "--size", "99999999999G" },
        { "--color", "blue" },
        { "--color", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = { 0 };
        const char *words[] = { cases[i][0], cases[i][1], NULL };
        char text[500];

        assert_int_equal(parse_silenced(&values, words, text, sizeof text), STATUS_USAGE);
        assert_non_null(strstr(text, cases[i][0]));
        assert_non_null(strstr(text, "takes"));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
}

static void the_error_about_a_bad_option_value_shows_the_bounds_with_units(void **state)
{
    static const char *const cases[][3] = {
        { "--bytes", "0", "--bytes 0: takes a size such as 4096, 976K or 2M, from 1 to 1T\n" },
        { "--bytes", "2T", "from 1 to 1T\n" },
        { "--interval", "",
          "--interval takes a time such as 500ms, 2s or 1m, "
          "from 0.01 to 86400 s, not ''\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = { 0 };
        const char *words[] = { cases[i][0], cases[i][1], NULL };
        char text[500];

        assert_int_equal(parse_silenced(&values, words, text, sizeof text), STATUS_USAGE);
        assert_non_null(strstr(text, cases[i][2]));
    }
}

static void an_unknown_option_is_refused(void **state)
{
    static const char *const cases[][4] = { { "--nonsense", NULL },
                                            { "-z", NULL },
                                            { "-lz", NULL },
                                            { "--loud=1", NULL },
                                            { "-n", NULL },
                                            { "--interval", NULL },
                                            { "--count", "1", "--whatever=2", NULL } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = { 0 };
        char text[500];

        assert_int_equal(parse_silenced(&values, cases[i], text, sizeof text), STATUS_USAGE);
        assert_non_null(strstr(text, "--help"));
    }
}

static void the_error_about_an_unknown_long_option_names_the_option(void **state)
{
    struct values values = { 0 };
    char text[500];

    (void)state;
    parse_silenced(&values, (const char *const[]){ "--bogus", NULL }, text, sizeof text);
    assert_non_null(strstr(text, "there is no option --bogus"));
    parse_silenced(&values, (const char *const[]){ "--loud=1", NULL }, text, sizeof text);
    assert_non_null(strstr(text, "--loud=1 takes no value"));
}

static void a_mistyped_long_option_gets_the_closest_option_as_a_suggestion(void **state)
{
    static const char *const cases[][2] = {
        { "--intervall=2s", "there is no option --intervall=2s; did you mean --interval?" },
        { "--colur", "did you mean --color?" },
        { "--hepl", "did you mean --help?" },
        { "--quiet",
          /* Three letters differ from --no-quiet, which is too many. */
          "there is no option --quiet; see camp made --help" },
        { "--co", "--co is ambiguous: --count or --color?" },
        { "--co=3", "--co is ambiguous: --count or --color?" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = { 0 };
        char text[500];

        parse_silenced(&values, (const char *const[]){ "-l", cases[i][0], "word", NULL }, text,
                       sizeof text);
        assert_non_null(strstr(text, cases[i][1]));
    }
}

static void an_option_is_accepted_in_american_and_in_british_spelling(void **state)
{
    static const char *const spellings[] = { "--color", "--colour", "--colo", "--colou" };

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        struct values values = { .colour = -1 };

        assert_int_equal(PARSE(&values, spellings[i], "green"), OPTIONS_GO_ON);
        assert_int_equal(values.colour, 1);
    }
}

/* Parses words with a table that has some common options and this usage. */
static int parse_operands(const char *usage, struct values *values, const char *const *words,
                          char *ret, size_t capacity)
{
    static const char *const formats[] = { "text", "json", "csv", "classic", NULL };
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_INTERVAL, &values->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &values->count),
        COMMON_OPTION(COMMON_FORMAT, &values->colour, .choices = formats),
        COMMON_OPTION(COMMON_FROM, &values->name, .help = ""),
    };

    return parse_table(
        &(struct option_table){ usage, "About.", specs, sizeof specs / sizeof specs[0] }, values,
        words, ret, capacity);
}

#define USAGE "camp made [OPTIONS] [INTERVAL [COUNT]]"
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void two_operands_are_the_interval_and_the_count(void **state)
{
    struct values one = { 0 }, two = { 0 }, mixed = { 0 };
    char text[500];

    (void)state;
    assert_int_equal(parse_operands(USAGE, &one, WORDS("500ms"), text, sizeof text), OPTIONS_GO_ON);
    assert_int_equal(one.interval_ns, 500000000);
    assert_int_equal(one.count, 0);
    assert_int_equal(parse_operands(USAGE, &two, WORDS("2", "3"), text, sizeof text),
                     OPTIONS_GO_ON);
    assert_int_equal(two.interval_ns, 2000000000);
    assert_int_equal(two.count, 3);
    assert_int_equal(two.first, 3); /* no operand is left */
    assert_int_equal(parse_operands(USAGE, &mixed, WORDS("1", "-n", "4"), text, sizeof text),
                     OPTIONS_GO_ON);
    assert_int_equal(mixed.interval_ns, 1000000000);
    assert_int_equal(mixed.count, 4);
}

static void a_bad_operand_is_refused_in_one_line(void **state)
{
    static const struct {
        const char *words[4], *complaint;
    } cases[] = {
        { { "fast" }, "'fast' is not a time: the operands of camp made are [INTERVAL [COUNT]]" },
        { { "0" }, "the operand 0 is the value of --interval: give a time" },
        { { "1", "0" }, "the operand 0 is the value of --count: give a whole number" },
        { { "1", "2", "3" }, "'3' is one operand too many" },
        { { "-i", "2", "1" }, "the operand 1 and --interval set the same value" },
        { { "1", "2", "-n2" }, "the operand 2 and --count set the same value" },
        { { "./run.camp" }, "to read it as a source, give --from ./run.camp" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct values values = { 0 };
        char text[500];

        assert_int_equal(parse_operands(USAGE, &values, cases[i].words, text, sizeof text),
                         STATUS_USAGE);
        assert_non_null(strstr(text, cases[i].complaint));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
}

static void camp_get_takes_the_interval_and_the_count_after_its_counters(void **state)
{
    struct values values = { 0 };
    char text[500];

    (void)state;
    assert_int_equal(parse_operands("camp get [OPTIONS] COUNTER... [INTERVAL [COUNT]]", &values,
                                    WORDS("cpu.user_ns", "memory", "1", "3"), text, sizeof text),
                     OPTIONS_GO_ON);
    assert_int_equal(values.interval_ns, 1000000000);
    assert_int_equal(values.count, 3);
    assert_int_equal(values.first, 3); /* the two counters are the last words */
}

static void a_command_without_operands_refuses_an_operand(void **state)
{
    struct values values = { 0 };
    char text[500];

    (void)state;
    assert_int_equal(parse_operands("camp made [OPTIONS]", &values, WORDS("1"), text, sizeof text),
                     STATUS_USAGE);
    assert_non_null(strstr(text, "'1': camp made takes no operands; see camp made --help"));
}

static void the_options_json_and_csv_select_the_output_format(void **state)
{
    struct values json = { 0 }, csv = { 0 }, both = { 0 }, classic = { 0 };
    char text[500];

    (void)state;
    assert_int_equal(parse_operands(USAGE, &json, WORDS("--json"), text, sizeof text),
                     OPTIONS_GO_ON);
    assert_int_equal(json.colour, 1);
    assert_int_equal(parse_operands(USAGE, &csv, WORDS("--csv"), text, sizeof text), OPTIONS_GO_ON);
    assert_int_equal(csv.colour, 2);
    assert_int_equal(parse_operands(USAGE, &both, WORDS("--json", "--csv"), text, sizeof text),
                     STATUS_USAGE);
    assert_non_null(strstr(text, "give only one of them"));
    assert_int_equal(parse_operands(USAGE, &classic, WORDS("--classic"), text, sizeof text),
                     STATUS_USAGE);
}

static void a_duration_may_have_a_unit(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        { "1", 1000000000 },
        { "1s", 1000000000 },
        { "2ms", 2000000 },
        { "60us", 60000 },
        { "5ns", 5 },
        { "1.5", 1500000000 },
        { "1m", 60000000000 },
        { "2h", 7200000000000 },
        { "0", 0 },
        { ".5s", 500000000 },
        { "1d", 86400000000000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t ns = 12345;

        assert_true(parse_duration(cases[i].text, &ns));
        assert_int_equal(ns, cases[i].ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_option_sets_its_variable),
        cmocka_unit_test(operands_and_options_may_be_mixed),
        cmocka_unit_test(a_bad_option_value_is_refused_in_one_line_that_names_the_option),
        cmocka_unit_test(the_error_about_a_bad_option_value_shows_the_bounds_with_units),
        cmocka_unit_test(an_unknown_option_is_refused),
        cmocka_unit_test(the_error_about_an_unknown_long_option_names_the_option),
        cmocka_unit_test(a_mistyped_long_option_gets_the_closest_option_as_a_suggestion),
        cmocka_unit_test(an_option_is_accepted_in_american_and_in_british_spelling),
        cmocka_unit_test(two_operands_are_the_interval_and_the_count),
        cmocka_unit_test(a_bad_operand_is_refused_in_one_line),
        cmocka_unit_test(camp_get_takes_the_interval_and_the_count_after_its_counters),
        cmocka_unit_test(a_command_without_operands_refuses_an_operand),
        cmocka_unit_test(the_options_json_and_csv_select_the_output_format),
        cmocka_unit_test(a_duration_may_have_a_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
