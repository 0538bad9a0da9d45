/* The limit for what a library receives. */
#include "libraries/receive_limit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void no_byte_is_received_beyond_the_limit(void **state)
{
    struct receive_limit limit = { .allowed = 5 };
    char bytes[8];
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], "12345678", 8), 8);
    receive_limit_watch(&limit);
    assert_int_equal(recv(ends[0], bytes, 3, 0), 3);
    assert_int_equal(recv(ends[0], bytes, sizeof bytes, 0), 2);
    assert_false(limit.is_reached);
    assert_int_equal(recv(ends[0], bytes, sizeof bytes, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_true(limit.is_reached);
    assert_int_equal(limit.received, 5);
    limit.allowed = 6;
    assert_int_equal(recv(ends[0], bytes, sizeof bytes, 0), 1);
    receive_limit_watch(NULL);
    assert_int_equal(recv(ends[0], bytes, sizeof bytes, 0), 2);
    assert_int_equal(limit.received, 6);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_is_received_beyond_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
