/* Tests that an answer of Prometheus is parsed correctly in any parts, and refused beyond a limit.
 */
#include "sources/fleet/prometheus_parser.h"

#include "../tree.h"

#include "prometheus_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX                                                                                     \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["                     \
    "{\"metric\":{\"z\":\"1\",\"__name__\":\"m\",\"a\":\"x\"},"                                    \
    "\"values\":[[1700000000.123,\"1.5\"],[1700000001.25,\"NaN\"],[\"no\",\"1\"]]},"               \
    "{\"metric\":{},\"histograms\":[]}]}}"

static void assert_matrix(struct prometheus_answer *answer)
{
    struct prometheus_series series;

    assert_true(answer->is_matrix);
    assert_int_equal(answer->series_count, 1); /* the second series is a histogram */
    prometheus_answer_series(answer, 0, &series);
    assert_string_equal(prometheus_series_label(&series, "z"), "1");
    assert_string_equal(prometheus_series_label(&series, "none"), "");
    assert_string_equal(prometheus_answer_label(answer, 0, "a"), "x");
    assert_string_equal(prometheus_answer_label(answer, 0, "none"), "");
    assert_string_equal(series.labels[0].name, "__name__"); /* labels are sorted by name */
    assert_int_equal(series.sample_count, 2);               /* the time of the third is a text */
    assert_int_equal(series.samples[0].time_ns, 1700000000123000000);
    assert_true(series.samples[0].value == 1.5);
    assert_true(isnan(series.samples[1].value));
    prometheus_answer_release(answer);
}

static void each_sample_of_a_prometheus_matrix_has_its_own_time(void **state)
{
    struct prometheus_answer answer;

    (void)state;
    assert_int_equal(parse(MATRIX, &answer), CAMP_OK);
    assert_matrix(&answer);
}

static void an_answer_may_arrive_in_any_parts(void **state)
{
    struct prometheus_answer answer;

    (void)state;
    for (size_t part = 1; part < 40; part++) {
        assert_int_equal(parse_parts(MATRIX, strlen(MATRIX), part, &answer, NULL), CAMP_OK);
        assert_matrix(&answer);
    }
}

static void a_prometheus_vector_or_scalar_has_one_sample(void **state)
{
    struct prometheus_answer answer;
    struct prometheus_series series;

    (void)state;
    assert_int_equal(parse("{\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{\"a\":"
                           "\"b\"},\"value\":[1,\"-2e3\"]}]}}",
                           &answer),
                     CAMP_OK);
    prometheus_answer_series(&answer, 0, &series);
    assert_int_equal(series.sample_count, 1);
    assert_true(series.samples[0].value == -2000);
    assert_int_equal(series.samples[0].time_ns, 1000000000);
    prometheus_answer_release(&answer);
    assert_int_equal(
        parse("{\"data\":{\"resultType\":\"scalar\",\"result\":[2.5,\"+Inf\"]}}", &answer),
        CAMP_OK);
    assert_int_equal(answer.series_count, 1);
    prometheus_answer_series(&answer, 0, &series);
    assert_int_equal(series.sample_count, 1);
    assert_true(isnan(series.samples[0].value));
    prometheus_answer_release(&answer);
}

/* Each wrong series or sample is left out, and the others are read. */
static void a_series_of_another_shape_is_left_out(void **state)
{
    static const char *const wrong[] = {
        "1",
        "\"x\"",
        "[[1,\"1\"]]",
        "{}",
        "{\"metric\":{\"a\":1},\"value\":[1,\"1\"]}",
        "{\"metric\":{\"a\":{\"b\":\"c\"}},\"value\":[1,\"1\"]}",
        "{\"metric\":{\"a\":[\"b\"]},\"value\":[1,\"1\"]}",
        "{\"metric\":{\"a\":null},\"value\":[1,\"1\"]}",
        "{\"metric\":{\"a\":\"b\"},\"value\":{\"1\":\"1\"}}",
        "{\"metric\":{\"a\":\"b\"},\"histogram\":[1,{\"count\":\"1\",\"buckets\":[[0,\"1\"]]}]}",
    };
    char text[400];
    struct prometheus_answer answer;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text,
                 "{\"data\":{\"resultType\":\"vector\",\"result\":[%s,"
                 "{\"metric\":{\"a\":\"right\"},\"value\":[1,\"1\"]}]}}",
                 wrong[i]);
        assert_int_equal(parse(text, &answer), CAMP_OK);
        assert_int_equal(answer.series_count, 1);
        assert_string_equal(prometheus_answer_label(&answer, 0, "a"), "right");
        assert_int_equal(answer.label_count, 1);
        assert_int_equal(answer.sample_count, 1);
        prometheus_answer_release(&answer);
    }
}

static void a_sample_of_another_shape_is_left_out(void **state)
{
    static const char *const wrong[] = { "[1,2]",
                                         "[\"1\",\"1\"]",
                                         "[1]",
                                         "[]",
                                         "[1,[\"1\"]]",
                                         "[null,\"1\"]",
                                         "{}",
                                         "[{},\"1\"]",
                                         "[-1,\"1\"]",
                                         "[9.1e9,\"1\"]",
                                         "1",
                                         "[1e999,\"1\"]",
                                         "[[],1,\"1\"]",
                                         "[8,\"1\"],[8,\"2\"],[7,\"3\"]" };
    char text[300];
    struct prometheus_answer answer;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text,
                 "{\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":"
                 "[%s,[9,\"1\"]]}]}}",
                 wrong[i]);
        assert_int_equal(parse(text, &answer), CAMP_OK);
        assert_int_equal(answer.series_count, 1);
        assert_int_equal(answer.sample_count, strstr(wrong[i], "[8,") != NULL ? 2 : 1);
        assert_int_equal(answer.samples[answer.sample_count - 1].time_ns, 9000000000);
        prometheus_answer_release(&answer);
    }
}

/* Writes an answer with `middle`, repeated `count` times, as the labels of a series. The caller
 * frees it. */
static char *with_labels(const char *middle, size_t count)
{
    static const char head[] = "{\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{";
    static const char tail[] = "},\"value\":[1,\"1\"]}]}}";
    char *text = malloc(sizeof head + sizeof tail + count * strlen(middle)), *end = text;

    assert_non_null(text);
    end = stpcpy(end, head);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, middle);
    strcpy(end, tail);
    return text;
}

static void assert_refused(char *text, int code, const char *fault)
{
    struct prometheus_answer answer;
    struct camp_error error = { 0 };

    assert_int_equal(parse_parts(text, strlen(text), 4096, &answer, &error), code);
    assert_non_null(strstr(error.message, fault));
    free(text);
}

static void an_answer_beyond_a_limit_is_refused(void **state)
{
    static const char blanks[] = "                                ";
    struct prometheus_answer answer;
    char *text;

    (void)state;
    text = calloc(1, 200);
    assert_non_null(text);
    memset(text, '[', 100);
    assert_refused(text, CAMP_E_FORMAT, "too many levels");
    assert_refused(with_labels(blanks, PROMETHEUS_EVENT_BYTES / 32 + 300), CAMP_E_FORMAT,
                   "more than 64 KB without a value");
    assert_refused(with_labels("\"a\\u0000\":\"b\"", 1), CAMP_E_FORMAT, "a text that is no UTF-8");
    assert_refused(with_labels("\"a\":\"\\udc00\"", 1), CAMP_E_FORMAT, "a text that is no UTF-8");
    assert_refused(with_labels("\"a\":\"\xff\"", 1), CAMP_E_FORMAT, "it is no JSON");
    text =
        with_labels("\"a\":\"b\",\"c\":\"d\",\"e\":\"f\",\"g\":\"h\",", PROMETHEUS_LABELS_MOST / 4);
    text[strlen(text) - strlen(",},\"value\":[1,\"1\"]}]}}")] = ' '; /* the last comma */
    assert_int_equal(parse(text, &answer), CAMP_OK);
    assert_int_equal(answer.series_count, 1);
    assert_int_equal(answer.text_length, 16); /* equal labels are kept once */
    prometheus_answer_release(&answer);
    free(text);
    text = with_labels("\"a\":\"b\",\"c\":\"d\",\"e\":\"f\",\"g\":\"h\",",
                       PROMETHEUS_LABELS_MOST / 4 + 1);
    text[strlen(text) - strlen(",},\"value\":[1,\"1\"]}]}}")] = ' ';
    assert_int_equal(parse(text, &answer), CAMP_OK);
    assert_int_equal(answer.series_count, 0);
    prometheus_answer_release(&answer);
    free(text);
}

/* Feeds `head` and then `middle` again and again until the parser gives up, which must be soon. */
static void assert_refused_in_time(const char *head, const char *middle, uint64_t bytes_most,
                                   const char *fault)
{
    struct prometheus_parser *parser = prometheus_parser_new();
    struct prometheus_answer answer;
    struct camp_error error = { 0 };
    uint64_t bytes = 0;

    assert_non_null(parser);
    prometheus_parser_feed(parser, head, strlen(head));
    while (prometheus_parser_feed(parser, middle, strlen(middle)) == CAMP_OK) {
        bytes += strlen(middle);
        assert_true(bytes < bytes_most);
    }
    assert_int_equal(prometheus_parser_end(parser, &answer, &error), CAMP_E_SPACE);
    assert_non_null(strstr(error.message, fault));
    assert_non_null(strstr(error.message, "select fewer hosts"));
    prometheus_parser_free(parser);
}

static void an_answer_without_end_is_refused(void **state)
{
    (void)state;
    assert_refused_in_time("[", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,", PROMETHEUS_ANSWER_BYTES + 8192,
                           "longer than 64 MB");
    assert_refused_in_time("{\"data\":{\"result\":[",
                           "{\"metric\":{\"a\":\"b\"},\"values\":[[1,\"1\"],[2,\"1\"],[3,\"1\"]]},",
                           PROMETHEUS_ANSWER_BYTES / 2 + 8192,
                           "more than 24 MB of labels and samples");
}

static void a_sample_with_an_impossible_time_is_left_out(void **state)
{
    struct prometheus_answer answer;

    (void)state;
    assert_int_equal(parse("{\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},"
                           "\"values\":[[-8e9,\"1\"],[9.1e9,\"1\"],[0,\"1\"]]}]}}",
                           &answer),
                     CAMP_OK);
    assert_int_equal(answer.sample_count, 1);
    assert_int_equal(answer.samples[0].time_ns, 0);
    prometheus_answer_release(&answer);
}

static void a_text_that_is_not_a_prometheus_answer_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "<html>",
        "null",
        "[]",
        "{\"data\":1}",
        "{\"data\":{\"resultType\":\"vector\"}}",
        "{\"data\":{\"resultType\":\"string\",\"result\":[1,\"x\"]}}",
        "{\"data\":{\"resultType\":\"matrix\",\"result\":{}}}",
    };
    struct prometheus_answer answer;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(parse(texts[i], &answer), CAMP_E_FORMAT);
}

static void the_reason_of_a_failed_query_is_one_line_without_control_characters(void **state)
{
    static const char text[] = "{\"status\":\"error\",\"error\":\"parse\\u001b[31m error\\nmore\"}";
    struct prometheus_parser *parser = prometheus_parser_new();
    struct prometheus_answer answer;

    (void)state;
    assert_non_null(parser);
    prometheus_parser_feed(parser, text, strlen(text));
    assert_int_equal(prometheus_parser_end(parser, &answer, NULL), CAMP_E_FORMAT);
    assert_string_equal(prometheus_parser_reason(parser), "parse?[31m error");
    prometheus_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_of_a_prometheus_matrix_has_its_own_time),
        cmocka_unit_test(an_answer_may_arrive_in_any_parts),
        cmocka_unit_test(a_series_of_another_shape_is_left_out),
        cmocka_unit_test(a_sample_of_another_shape_is_left_out),
        cmocka_unit_test(an_answer_beyond_a_limit_is_refused),
        cmocka_unit_test(an_answer_without_end_is_refused),
        cmocka_unit_test(a_prometheus_vector_or_scalar_has_one_sample),
        cmocka_unit_test(a_sample_with_an_impossible_time_is_left_out),
        cmocka_unit_test(a_text_that_is_not_a_prometheus_answer_is_refused),
        cmocka_unit_test(the_reason_of_a_failed_query_is_one_line_without_control_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
