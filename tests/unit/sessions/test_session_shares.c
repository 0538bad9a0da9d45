/* Tests that the shares of a time add up to it. */
#include "sources/sessions/session_shares.h"

#include "../tree.h"

static void a_share_of_the_whole_is_all_and_of_nothing_is_nothing(void **state)
{
    const uint64_t odd = (UINT64_C(1) << 60) + 1; /* a double does not have all of its bits */

    (void)state;
    assert_int_equal(share_of(odd, 7, 7), odd);
    assert_int_equal(share_of(10, 1, 3), 3);
    assert_int_equal(share_of(10, 5, 0), 0);
    assert_int_equal(share_of(10, 0, 5), 0);
}

static void the_shares_of_all_parts_leave_nothing_over(void **state)
{
    uint64_t parts[5], number = 12345;

    (void)state;
    for (int round = 0; round < 100000; round++) {
        struct shares shares = { 0 };
        uint64_t whole = 0, sum = 0, ns;

        for (size_t i = 0; i < 5; i++) {
            number = number * UINT64_C(6364136223846793005) + 1442695040888963407;
            parts[i] = number >> 34;
            whole += parts[i];
        }
        ns = number >> 33;
        for (size_t i = 0; i < 5; i++) {
            const uint64_t share = share_next(&shares, ns, parts[i], whole);
            const double exact = (double)ns * (double)parts[i] / (double)whole;

            assert_true((double)share >= exact - 1.01 && (double)share <= exact + 1.01);
            sum += share;
        }
        assert_int_equal(sum, ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_of_the_whole_is_all_and_of_nothing_is_nothing),
        cmocka_unit_test(the_shares_of_all_parts_leave_nothing_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
