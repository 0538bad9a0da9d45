/* The access rules of the local server. */
#include "views/http/http_rules.h"

#include "../tree.h"

#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct http_place place = { .port = 8080, .token = TOKEN };
static const struct http_place tunnel = { .port = 0, .token = TOKEN };

static struct http_header header(const char *value)
{
    return (struct http_header){ 1, value, strlen(value) };
}

static struct http_request request_of(const char *target)
{
    return (struct http_request){
        .method = "GET",
        .target = target,
        .host = header("127.0.0.1:8080"),
        .authorization = header("Bearer " TOKEN),
    };
}

static unsigned ask(struct http_request request)
{
    enum http_resource resource;

    return http_check(&place, &request, &resource);
}

static unsigned ask_as(const struct http_place *where, const char *host)
{
    struct http_request request = request_of("/stream");
    enum http_resource resource;

    request.host = header(host);
    return http_check(where, &request, &resource);
}

static void the_live_page_is_public_but_its_stream_needs_the_token(void **state)
{
    struct http_request page = request_of("/"), stream = request_of("/stream");
    enum http_resource resource;

    (void)state;
    page.authorization.count = 0;
    assert_int_equal(http_check(&place, &page, &resource), 200);
    assert_int_equal(resource, HTTP_PAGE);
    assert_int_equal(http_check(&place, &stream, &resource), 200);
    assert_int_equal(resource, HTTP_STREAM);
    stream.method = "HEAD";
    assert_int_equal(ask(stream), 200);
    stream.authorization.count = 0;
    assert_int_equal(ask(stream), 401);
}

static void the_server_accepts_only_the_whole_token(void **state)
{
    static const char *const wrong[] = {
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        "Basic " TOKEN,
        "Bearer  " TOKEN,
        "Bearer 0123456789abcdef0123456789abcdee",
        "Bearer 1123456789abcdef0123456789abcdef",
        "Bearer 0123456789ABCDEF0123456789ABCDEF",
        "Bearer 0123456789abcdef0123456789abcde",
        "Bearer " TOKEN "f",
        "Bearer " TOKEN " ",
    };
    struct http_request request = request_of("/stream");

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        request.authorization = header(wrong[i]);
        assert_int_equal(ask(request), 401);
    }
    request.authorization = header("bearer " TOKEN);
    assert_int_equal(ask(request), 200);
}

static void the_server_accepts_only_localhost_and_loopback_addresses_as_host(void **state)
{
    static const char *const ours[] = { "127.0.0.1:8080", "localhost:8080", "LocalHost:8080",
                                        "[::1]:8080" };
    static const char *const foreign[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:80",
        "127.0.0.1:8081",
        "127.0.0.1:80800",
        "127.0.0.1:808",
        "127.0.0.1:08080",
        "127.0.0.1:8080x",
        "127.0.0.1:99999999999999988080",
        "127.0.0.1.evil.example:8080",
        "127.0.0.11:8080",
        "evil.example:8080",
        "evil.example",
        "localhost.evil.example:8080",
        "localhost@evil.example:8080",
        "localhost:8080@evil.example",
        "localhost.:8080",
        "::1:8080",
        "[::1]8080",
        "0.0.0.0:8080",
    };

    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        assert_int_equal(ask_as(&place, ours[i]), 200);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_int_equal(ask_as(&place, foreign[i]), 421);
}

static void a_request_through_a_tunnel_may_have_any_port_but_no_other_host(void **state)
{
    static const struct {
        const char *host;
        unsigned status;
    } asked[] = {
        { "localhost:9000", 200 },    { "127.0.0.1:65535", 200 }, { "[::1]", 200 },
        { "evil.example:9000", 421 }, { "localhost:0", 421 },     { "localhost:65536", 421 },
        { "localhost:9000/..", 421 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        assert_int_equal(ask_as(&tunnel, asked[i].host), asked[i].status);
}

static void port_80_may_be_left_out_of_the_host_header(void **state)
{
    const struct http_place plain = { .port = 80, .token = TOKEN };

    (void)state;
    assert_int_equal(ask_as(&plain, "localhost"), 200);
    assert_int_equal(ask_as(&plain, "localhost:80"), 200);
    assert_int_equal(ask_as(&plain, "localhost:8080"), 421);
}

static void a_request_from_another_page_is_refused(void **state)
{
    static const char *const elsewhere[] = { "cross-site", "same-site", "", "none,none" };
    static const char *const origins[] = { "null",
                                           "",
                                           "http://evil.example",
                                           "http://127.0.0.1:8081",
                                           "https://127.0.0.1:8080",
                                           "http://127.0.0.1:8080.evil.example",
                                           "http://localhost:8080" };
    struct http_request request = request_of("/stream");

    (void)state;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        request.fetch_site = header(elsewhere[i]);
        assert_int_equal(ask(request), 403);
    }
    request.fetch_site = header("none");
    assert_int_equal(ask(request), 200);
    request.fetch_site = header("same-origin");
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        request.origin = header(origins[i]);
        assert_int_equal(ask(request), 403);
    }
    request.origin = header("http://127.0.0.1:8080");
    assert_int_equal(ask(request), 200);
}

static void the_server_accepts_only_get_and_head(void **state)
{
    static const char *const methods[] = { "POST", "PUT",    "DELETE", "OPTIONS", "TRACE",
                                           "get",  "HEADER", "",       "CONNECT" };
    struct http_request request = request_of("/stream");

    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        request.method = methods[i];
        assert_int_equal(ask(request), 405);
    }
}

static void the_server_answers_two_paths_and_refuses_any_query_string(void **state)
{
    static const struct {
        const char *target;
        unsigned status;
    } asked[] = {
        { "/stream?token=" TOKEN, 404 },
        { "/?", 404 },
        { "/stream/", 404 },
        { "//stream", 404 },
        { "/../stream", 404 },
        { "/%73tream", 404 },
        { "/etc/passwd", 404 },
        { "", 400 },
        { "*", 400 },
        { "stream", 400 },
        { "http://127.0.0.1:8080/stream", 400 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        assert_int_equal(ask(request_of(asked[i].target)), asked[i].status);
}

static void a_request_that_no_browser_sends_is_refused(void **state)
{
    struct http_request request = request_of("/stream");

    (void)state;
    request.host.count = 2;
    assert_int_equal(ask(request), 400);
    request.host.count = 0;
    assert_int_equal(ask(request), 400);
    request = request_of("/stream");
    request.host = (struct http_header){ 1, "127.0.0.1:8080\0.evil.example", 28 };
    assert_int_equal(ask(request), 400);
    request = request_of("/stream");
    request.authorization.count = 2;
    assert_int_equal(ask(request), 400);
    request = request_of("/stream");
    request.fetch_site = (struct http_header){ 2, "none", 4 };
    assert_int_equal(ask(request), 400);
    request = request_of("/stream");
    request.body = header("5");
    assert_int_equal(ask(request), 400);
}

static void each_refusal_status_of_the_server_has_its_own_reason_text(void **state)
{
    static const unsigned refusals[] = { 400, 401, 403, 404, 405, 421, 503 };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(http_reason(refusals[i]), http_reason(refusals[j]));
    }
}

static void the_case_of_a_header_name_does_not_matter(void **state)
{
    struct http_request request = { 0 };

    (void)state;
    http_note_header(&request, "hOST", 4, "a:1", 3);
    http_note_header(&request, "Host", 4, "b:2", 3);
    http_note_header(&request, "Hosts", 5, "c:3", 3);
    http_note_header(&request, "accept-encoding", 15, NULL, 7);
    assert_int_equal(request.host.count, 2);
    assert_memory_equal(request.host.value, "a:1", 3);
    assert_int_equal(request.encoding.count, 1);
    assert_int_equal(request.encoding.length, 0);
    assert_int_equal(request.accept.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_live_page_is_public_but_its_stream_needs_the_token),
        cmocka_unit_test(the_server_accepts_only_the_whole_token),
        cmocka_unit_test(the_server_accepts_only_localhost_and_loopback_addresses_as_host),
        cmocka_unit_test(a_request_through_a_tunnel_may_have_any_port_but_no_other_host),
        cmocka_unit_test(port_80_may_be_left_out_of_the_host_header),
        cmocka_unit_test(a_request_from_another_page_is_refused),
        cmocka_unit_test(the_server_accepts_only_get_and_head),
        cmocka_unit_test(the_server_answers_two_paths_and_refuses_any_query_string),
        cmocka_unit_test(a_request_that_no_browser_sends_is_refused),
        cmocka_unit_test(each_refusal_status_of_the_server_has_its_own_reason_text),
        cmocka_unit_test(the_case_of_a_header_name_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
