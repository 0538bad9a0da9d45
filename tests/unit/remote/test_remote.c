/* Tests a remote connection with a driver that reads a pipe. */
#include "sources/remote/remote.h"
#include "sources/remote/remote_text.h"

#include "counters/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SHORT_NS (NS_PER_MS)
#define LONG_NS (600 * (uint64_t)NS_PER_S)

/* The driver of a fake server at the other end of a pipe. The byte 'x' is a failure, and any other
 * byte is an answer, but '.' is a part of an answer that never ends. */
struct fake {
    struct remote remote;
    int ends[2];
    uint64_t limit_ns; /* longest duration of each step */
    unsigned connected, asked, late;
    bool is_asking, wants, has;
};

static int fake_connect(void *context, struct camp_error *error)
{
    struct fake *fake = context;

    (void)error;
    fake->connected++;
    fake->is_asking = false;
    remote_busy(&fake->remote, fake->limit_ns);
    return CAMP_OK;
}

static bool fake_is_answered(const void *context)
{
    const struct fake *fake = context;

    return !fake->wants || fake->has;
}

static int fake_ask(void *context, struct camp_error *error)
{
    struct fake *fake = context;

    (void)error;
    fake->asked++;
    fake->is_asking = true;
    remote_busy(&fake->remote, fake->limit_ns);
    return CAMP_OK;
}

static short fake_wait(void *context, uint64_t until_ns)
{
    const struct fake *fake = context;

    return remote_poll(fake->ends[0], POLLIN, until_ns);
}

static int fake_go_on(void *context, short events, struct camp_error *error)
{
    struct fake *fake = context;
    char byte;

    assert_int_equal(events, POLLIN);
    assert_int_equal(read(fake->ends[0], &byte, 1), 1);
    if (byte == 'x') {
        remote_down(&fake->remote, true);
        return camp_fail(error, CAMP_E_IO, 0, "an x");
    }
    if (byte == '.') { /* a part of an answer, and the next part */
        assert_int_equal(write(fake->ends[1], ".", 1), 1);
        return CAMP_OK;
    }
    fake->has = fake->is_asking;
    remote_ready(&fake->remote);
    return CAMP_OK;
}

static int fake_fail_late(void *context, struct camp_error *error)
{
    struct fake *fake = context;

    fake->late++;
    remote_down(&fake->remote, true);
    return camp_fail(error, CAMP_E_GONE, 0, "late");
}

static const struct remote_driver driver = {
    fake_connect, fake_is_answered, fake_ask, fake_wait, fake_go_on, fake_fail_late,
};

static void init(struct fake *ret, uint64_t limit_ns, const char *bytes)
{
    *ret = (struct fake){ .limit_ns = limit_ns };
    ret->remote = (struct remote){ .driver = &driver, .context = ret };
    assert_int_equal(pipe(ret->ends), 0);
    assert_int_equal(write(ret->ends[1], bytes, strlen(bytes)), strlen(bytes));
}

static void release(struct fake *fake)
{
    close(fake->ends[0]);
    close(fake->ends[1]);
}

static uint64_t soon(void)
{
    return now_ns(CLOCK_MONOTONIC) + SHORT_NS;
}

static void a_server_is_asked_only_when_an_answer_is_wanted(void **state)
{
    struct fake fake;

    (void)state;
    init(&fake, LONG_NS, "ca");
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_OK);
    assert_int_equal(fake.asked, 0); /* No answer was wanted yet. */
    fake.wants = true;
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_OK);
    assert_true(fake.has);
    assert_int_equal(fake.connected, 1);
    release(&fake);
}

static void a_query_continues_after_the_deadline_of_its_caller(void **state)
{
    struct fake fake;

    (void)state;
    init(&fake, LONG_NS, "c");
    fake.wants = true;
    assert_int_equal(remote_run(&fake.remote, soon(), NULL), REMOTE_PENDING);
    assert_int_equal(write(fake.ends[1], "a", 1), 1);
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_OK);
    assert_int_equal(fake.asked, 1);
    release(&fake);
}

static void an_answer_that_drips_extends_no_deadline(void **state)
{
    struct fake fake;
    struct camp_error error;

    (void)state;
    init(&fake, LONG_NS, "c.");
    fake.wants = true;
    assert_int_equal(remote_run(&fake.remote, soon(), NULL), REMOTE_PENDING);
    fake.remote.step_ends_ns = soon();
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, &error), CAMP_E_GONE);
    assert_int_equal(fake.late, 1);
    release(&fake);
}

static void a_text_of_a_server_has_nothing_that_controls_a_terminal(void **state)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        { "plain, \u00fc \u20ac \U0001f600", "plain, \u00fc \u20ac \U0001f600" },
        { "\x1b[2J\a\x7f\r\tend", "?[2J????end" },
        { "C1 \xc2\x9b"
          "2J, as a byte \x9b",
          "C1 ?2J, as a byte ?" },
        { "turned \u202eround \u2066 \u200f", "turned ?round ? ?" },
        { "in\u200bvisible\ufeff tag \U000e0041", "in?visible? tag ?" },
        { "a line\nanother", "a line" },
        { "\u2028\xe2\x82", "???" },
        { "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff", "?? ??? ???? ?" },
    };
    char line[64], small[4];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        remote_text_line(cases[i].text, line, sizeof line);
        assert_string_equal(line, cases[i].line);
    }
    remote_text_line("ab\u20ac", small, sizeof small);
    assert_string_equal(small, "ab");
}

static void a_connection_is_tried_again_if_a_step_of_connecting_takes_too_long(void **state)
{
    struct fake fake;

    (void)state;
    init(&fake, SHORT_NS, "");
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_E_GONE);
    assert_int_equal(fake.late, 1);
    fake.limit_ns = LONG_NS;
    assert_int_equal(write(fake.ends[1], "c", 1), 1);
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_OK);
    assert_int_equal(fake.connected, 2);
    release(&fake);
}

static void a_step_of_connecting_without_a_time_limit_never_times_out(void **state)
{
    struct fake fake;

    (void)state;
    init(&fake, UINT64_MAX, "");
    assert_int_equal(remote_run(&fake.remote, soon(), NULL), REMOTE_PENDING);
    assert_int_equal(fake.late, 0);
    release(&fake);
}

static void a_connection_is_not_tried_again_before_the_pause_after_a_failure_ends(void **state)
{
    struct fake fake;

    (void)state;
    init(&fake, LONG_NS, "xxc");
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_E_IO);
    assert_true(fake.remote.not_before_ns <= now_ns(CLOCK_MONOTONIC)); /* The first pause is 0. */
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_E_IO);
    fake.remote.not_before_ns = now_ns(CLOCK_MONOTONIC) + LONG_NS;
    assert_int_equal(remote_run(&fake.remote, soon(), NULL), REMOTE_PENDING);
    assert_int_equal(fake.connected, 2);
    fake.remote.not_before_ns = 0;
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), CAMP_OK);
    assert_int_equal(fake.remote.failed_in_a_row, 0);
    release(&fake);
}

static void a_stop_request_ends_a_call_to_a_server(void **state)
{
    const volatile sig_atomic_t stop = 1;
    struct fake fake;

    (void)state;
    init(&fake, LONG_NS, "");
    fake.remote.stop = &stop;
    assert_int_equal(remote_run(&fake.remote, UINT64_MAX, NULL), REMOTE_PENDING);
    release(&fake);
}

static void the_pause_after_a_temporary_failure_is_at_most_a_second(void **state)
{
    struct remote remote = { 0 };

    (void)state;
    for (int i = 0; i < 20; i++)
        remote_down(&remote, true);
    assert_true(remote.not_before_ns <= now_ns(CLOCK_MONOTONIC) + NS_PER_S);
}

static void the_pause_after_a_refusal_is_longer_than_a_second(void **state)
{
    struct remote remote = { 0 };

    (void)state;
    remote_down(&remote, false);
    assert_true(remote.not_before_ns > now_ns(CLOCK_MONOTONIC) + NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_is_asked_only_when_an_answer_is_wanted),
        cmocka_unit_test(an_answer_that_drips_extends_no_deadline),
        cmocka_unit_test(a_text_of_a_server_has_nothing_that_controls_a_terminal),
        cmocka_unit_test(a_query_continues_after_the_deadline_of_its_caller),
        cmocka_unit_test(a_connection_is_tried_again_if_a_step_of_connecting_takes_too_long),
        cmocka_unit_test(a_step_of_connecting_without_a_time_limit_never_times_out),
        cmocka_unit_test(a_connection_is_not_tried_again_before_the_pause_after_a_failure_ends),
        cmocka_unit_test(a_stop_request_ends_a_call_to_a_server),
        cmocka_unit_test(the_pause_after_a_temporary_failure_is_at_most_a_second),
        cmocka_unit_test(the_pause_after_a_refusal_is_longer_than_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
