/* Tests that answers and addresses of Prometheus are parsed correctly, and that no message shows a
 * password. */
#include "libraries/libcurl.h"
#include "sources/fleet/fleet_inside.h"
#include "sources/fleet/prometheus_client.h"

#include "../tree.h"

#include "prometheus_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host with few samples, because it was just added, does not count as rarely scraped. Late
 * scrapes and a single gap do not change the result. */
static void the_scrape_interval_is_the_usual_time_between_samples(void **state)
{
    struct prometheus_answer answer;

    (void)state;
    assert_int_equal(
        parse("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
              "{\"metric\":{\"__name__\":\"camp_cpus\",\"instance\":\"a\"},\"values\":"
              "[[100.001,\"1\"],[103,\"1\"],[106.002,\"1\"],[118,\"1\"]]},"
              "{\"metric\":{\"__name__\":\"camp_cpus\",\"instance\":\"new\"},\"values\":"
              "[[115.001,\"1\"],[118.003,\"1\"]]},"
              "{\"metric\":{\"__name__\":\"camp_cpus\",\"instance\":\"one\"},\"values\":"
              "[[117,\"1\"]]},"
              "{\"metric\":{\"__name__\":\"other\"},\"values\":[[1,\"1\"],[1.502,\"1\"]]}]}}",
              &answer),
        CAMP_OK);
    assert_int_equal(fleet_distance(&answer, "camp_cpus"), 3 * (int64_t)1000000000);
    assert_int_equal(fleet_distance(&answer, "none"), 0);
    assert_int_equal(fleet_distance(&answer, "other"), 500000000);
    prometheus_answer_release(&answer);
}

/* A scrape starts every second, up to 0.3 s late. The scrape at 9 s failed. */
static void late_scrapes_do_not_change_the_scrape_interval(void **state)
{
    struct prometheus_answer answer;

    (void)state;
    assert_int_equal(
        parse("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
              "{\"metric\":{\"__name__\":\"camp_cpus\"},\"values\":"
              "[[1.004,\"1\"],[2.03,\"1\"],[3.3,\"1\"],[4,\"1\"],[5.13,\"1\"],[6.02,\"1\"],"
              "[7.15,\"1\"],[8.19,\"1\"],[10.05,\"1\"],[11.3,\"1\"],[12.04,\"1\"],"
              "[13.02,\"1\"]]}]}}",
              &answer),
        CAMP_OK);
    assert_int_equal(fleet_distance(&answer, NULL), 1000000000);
    prometheus_answer_release(&answer);
}

static void the_key_of_a_time_series_has_all_labels_except_excluded_ones(void **state)
{
    static const char *const without[] = { "mode", NULL };
    const struct prometheus_series series = {
        .labels = { { "__name__", "m" },
                    { "a", "x" },
                    { "b", "" },
                    { FLEET_PART, "time" },
                    { "mode", "user" },
                    { "z", "y\1" } },
        .label_count = 6,
    };
    char key[FLEET_KEY_SIZE];

    (void)state;
    fleet_key(&series, without, key);
    assert_string_equal(key, "a\1x\1z\1y\2\3\1");
}

/* A label value may contain the separator of labels. */
static void different_time_series_have_different_keys(void **state)
{
    static const char *const without[] = { NULL };
    static const struct prometheus_series series[] = {
        { .labels = { { "a", "x" }, { "b", "y" } }, .label_count = 2 },
        { .labels = { { "a", "x\1b\1y" } }, .label_count = 1 },
        { .labels = { { "a", "x\2\3b\2\3y" } }, .label_count = 1 },
        { .labels = { { "a=x", "y" } }, .label_count = 1 },
        { .labels = { { "a", "x=y" } }, .label_count = 1 },
    };
    char keys[5][FLEET_KEY_SIZE];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        fleet_key(&series[i], without, keys[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
}

static void control_characters_in_a_host_name_are_replaced(void **state)
{
    char name[40];

    (void)state;
    fleet_name("ev\x1b[31m il\302\233"
               "31m \303\251\n\x7f",
               name, sizeof name);
    assert_string_equal(name, "ev?[31m il??31m \303\251??");
    fleet_line("first\302\205\nsecond", 14, name, sizeof name);
    assert_string_equal(name, "first??");
    fleet_line("\302\233\303\251", 4, name, 4);
    assert_string_equal(name, "??");
}

static void a_quote_in_a_text_does_not_end_the_promql_string(void **state)
{
    char *text = fleet_quoted_pattern("a.b\"} or up{x=\"\\\n", "(:[0-9]+)?");

    (void)state;
    assert_string_equal(text, "\"a\\\\.b\\\"\\\\} or up\\\\{x=\\\"\\\\\\\\\\n(:[0-9]+)?\"");
    free(text);
}

/* A text that does not consist of matchers is a PromQL query. */
static void only_a_text_in_one_pair_of_braces_is_read_as_label_matchers(void **state)
{
    (void)state;
    assert_true(fleet_is_matchers("{job=\"a\",x=~'b{2}'}"));
    assert_true(fleet_is_matchers("{job=\"a\\\"}\"}"));
    assert_true(fleet_is_matchers("{job=`\\`}"));
    assert_false(fleet_is_matchers("{job=\"a\"} or {job=\"b\"}"));
    assert_false(fleet_is_matchers("{job=\"a}"));
    assert_false(fleet_is_matchers("{}"));
    assert_false(fleet_is_matchers("up"));
    assert_false(fleet_is_matchers("{__name__=\"up\"}"));
}

static void assert_place(const char *text, const char *base, const char *credential,
                         const char *shown)
{
    struct prometheus_place place;

    assert_int_equal(prometheus_place_parse(text, &place, NULL), CAMP_OK);
    assert_string_equal(place.base, base);
    if (credential == NULL)
        assert_null(place.credential);
    else
        assert_string_equal(place.credential, credential);
    assert_string_equal(place.shown, shown);
    prometheus_place_release(&place);
}

static void the_address_of_a_server_is_shown_without_its_password(void **state)
{
    (void)state;
    assert_place("http://h:9090", "http://h:9090", NULL, "http://h:9090");
    assert_place("h:9090", "http://h:9090", NULL, "http://h:9090");
    assert_place("//h/p/", "http://h/p", NULL, "http://h/p");
    assert_place("https://u:p%40ss@h/prefix/", "https://h/prefix", "u:p@ss", "https://h/prefix");
    assert_place("unix:/run/x.sock", "http://localhost", NULL, "unix:/run/x.sock");
}

static void an_address_of_this_machine_is_known_as_local(void **state)
{
    static const struct {
        const char *text;
        bool is_local, is_encrypted;
    } cases[] = {
        { "localhost:9090", true, false },      { "http://127.1.2.3", true, false },
        { "http://[::1]:9090", true, false },   { "unix:/run/x.sock", true, false },
        { "http://127.0.0.1.x", false, false }, { "http://localhost.x", false, false },
        { "http://128.0.0.1", false, false },   { "http://[::2]", false, false },
        { "https://h", false, true },           { "https://localhost", true, true },
    };
    struct prometheus_place place;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(prometheus_place_parse(cases[i].text, &place, NULL), CAMP_OK);
        assert_int_equal(place.is_local, cases[i].is_local);
        assert_int_equal(place.is_encrypted, cases[i].is_encrypted);
        prometheus_place_release(&place);
    }
}

static void the_error_about_a_malformed_server_address_shows_no_secret(void **state)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        { "", "prometheus: the address is missing; give an address such as http://host:9090, " },
        { "ftp://u:secret@h", "the scheme is neither http:// nor https://;" },
        { "gopherx://secret", "the scheme is neither http:// nor https://;" },
        { "http://h/?token=secret", "the address must not have ?token=;" },
        { "http://h/?secret", "the address must not have a query (?);" },
        { "http://u:p?secret=1@h", "prometheus: " },
        { "http://h/#secret", "the address must not have a #;" },
        { "unix:secret", "the path of the socket must start with /;" },
        { "http://u:secret@", "the host is missing;" },
        { "http://h:99999", "the port is not a number from 1 to 65535;" },
        { "host=secret;port=1", "the host has a character that is not allowed in names;" },
        { "http://[::1", "the IPv6 address cannot be read: write it in [];" },
    };
    struct prometheus_place place;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct camp_error error = { 0 };

        assert_int_equal(prometheus_place_parse(cases[i].text, &place, &error), CAMP_E_INVALID);
        assert_non_null(strstr(error.message, cases[i].fault));
        assert_null(strstr(error.message, "secret"));
    }
}

static int report_at(const char *place, int result, long status, int system_error,
                     const char *reason, bool *ret_may_pass, struct camp_error *ret)
{
    const struct prometheus_outcome outcome = {
        .result = result, .detail = "", .place = place, .reason = reason
    };

    return prometheus_failure_report(&outcome, status, system_error, ret_may_pass, ret);
}

static int report(int result, long status, int system_error, const char *reason, bool *ret_may_pass,
                  struct camp_error *ret)
{
    return report_at("http://h", result, status, system_error, reason, ret_may_pass, ret);
}

static void the_error_about_a_failed_query_says_whether_a_retry_may_help(void **state)
{
    struct camp_error error;
    bool may_pass;

    (void)state;
    assert_int_equal(report(CURLE_OK, 200, 0, "", &may_pass, &error), CAMP_OK);
    assert_int_equal(report(CURLE_COULDNT_CONNECT, 0, ECONNREFUSED, "", &may_pass, &error),
                     CAMP_E_GONE);
    assert_true(may_pass);
    assert_non_null(strstr(error.message, "Connection refused"));
    assert_int_equal(report(CURLE_OK, 401, 0, "", &may_pass, &error), CAMP_E_PERM);
    assert_false(may_pass);
    assert_int_equal(report(CURLE_OK, 400, 0, "parse error", &may_pass, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "status 400, parse error; see --query"));
    assert_int_equal(report(CURLE_OK, 400, 0, "", &may_pass, &error), CAMP_E_IO);
    assert_non_null(strstr(error.message, "this is not a Prometheus"));
    assert_int_equal(report(CURLE_OK, 503, 0, "", &may_pass, &error), CAMP_E_GONE);
    assert_true(may_pass);
    assert_non_null(strstr(error.message, "see http_proxy"));
    assert_int_equal(report(CURLE_OK, 501, 0, "", &may_pass, &error), CAMP_E_IO);
    assert_false(may_pass);
    assert_string_equal(error.message, "http://h: status 501; is this a Prometheus?");
    report_at("unix:/x", CURLE_COULDNT_CONNECT, 0, ENOENT, "", &may_pass, &error);
    assert_non_null(strstr(error.message, "is the path of its socket right?"));
    assert_int_equal(report(CURLE_PEER_FAILED_VERIFICATION, 0, 0, "", &may_pass, &error),
                     CAMP_E_PERM);
    assert_false(may_pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scrape_interval_is_the_usual_time_between_samples),
        cmocka_unit_test(late_scrapes_do_not_change_the_scrape_interval),
        cmocka_unit_test(the_key_of_a_time_series_has_all_labels_except_excluded_ones),
        cmocka_unit_test(different_time_series_have_different_keys),
        cmocka_unit_test(only_a_text_in_one_pair_of_braces_is_read_as_label_matchers),
        cmocka_unit_test(control_characters_in_a_host_name_are_replaced),
        cmocka_unit_test(a_quote_in_a_text_does_not_end_the_promql_string),
        cmocka_unit_test(the_address_of_a_server_is_shown_without_its_password),
        cmocka_unit_test(an_address_of_this_machine_is_known_as_local),
        cmocka_unit_test(the_error_about_a_malformed_server_address_shows_no_secret),
        cmocka_unit_test(the_error_about_a_failed_query_says_whether_a_retry_may_help),
    };
    struct camp_error error = { 0 };

    if (library_load(&libcurl_library, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 77; /* the exit status by which meson knows a skipped test */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
