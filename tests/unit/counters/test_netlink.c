/* Messages of netlink(7), written and read again, and messages that are malformed. */
#include "counters/linux/netlink_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PLAIN = 1, NEST = 2, INNER = 3 };

static void attributes_are_read_as_they_were_written(void **state)
{
    _Alignas(8) char memory[256];
    const char header[] = { 7, 7, 7, 7, 7 }; /* padded to 8 bytes */
    struct nlmsghdr *message = camp_netlink_start(memory, 17, NLM_F_ACK, header, sizeof header);
    struct camp_netlink_attributes rest, inner;
    const struct nlattr *attribute, *nest;
    struct nlattr *opened;
    uint32_t number;

    (void)state;
    camp_netlink_put_text(message, PLAIN, "name"); /* 5 bytes, padded to 8 */
    opened = camp_netlink_open(message, NEST | NLA_F_NESTED);
    camp_netlink_put_u32(message, INNER, 12345);
    camp_netlink_close(message, opened);

    assert_int_equal(message->nlmsg_type, 17);
    assert_int_equal(message->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
    assert_int_equal(message->nlmsg_len, sizeof *message + 8 + (4 + 8) + (4 + 4 + 4));
    assert_int_equal(camp_netlink_payload_length(message), message->nlmsg_len - sizeof *message);
    assert_memory_equal(camp_netlink_payload(message), header, sizeof header);
    rest = camp_netlink_attributes(message, sizeof header);
    attribute = camp_netlink_next(&rest);
    assert_int_equal(camp_netlink_type(attribute), PLAIN);
    assert_int_equal(camp_netlink_value_length(attribute), sizeof "name");
    assert_string_equal(camp_netlink_value(attribute), "name");
    nest = camp_netlink_next(&rest);
    assert_int_equal(camp_netlink_type(nest), NEST);
    assert_null(camp_netlink_next(&rest));
    inner = camp_netlink_nested(nest);
    attribute = camp_netlink_next(&inner);
    assert_int_equal(camp_netlink_type(attribute), INNER);
    memcpy(&number, camp_netlink_value(attribute), sizeof number);
    assert_int_equal(number, 12345);
    assert_null(camp_netlink_next(&inner));
}

static void an_attribute_longer_than_its_message_is_not_returned(void **state)
{
    _Alignas(8) char memory[64];
    struct nlmsghdr *message = camp_netlink_start(memory, 17, 0, NULL, 0);
    struct nlattr *attribute = camp_netlink_open(message, PLAIN);
    struct camp_netlink_attributes rest;

    (void)state;
    camp_netlink_put_u32(message, INNER, 1);
    camp_netlink_close(message, attribute);
    rest = camp_netlink_attributes(message, 0);
    assert_non_null(camp_netlink_next(&rest));
    attribute->nla_len++;
    rest = camp_netlink_attributes(message, 0);
    assert_null(camp_netlink_next(&rest));
    attribute->nla_len = sizeof *attribute - 1;
    rest = camp_netlink_attributes(message, 0);
    assert_null(camp_netlink_next(&rest));
}

static void a_payload_shorter_than_its_struct_has_no_attributes(void **state)
{
    _Alignas(8) char memory[64];
    struct nlmsghdr *message = camp_netlink_start(memory, 17, 0, "abcd", 4);
    struct camp_netlink_attributes rest = camp_netlink_attributes(message, 8);

    (void)state;
    assert_null(camp_netlink_next(&rest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_read_as_they_were_written),
        cmocka_unit_test(an_attribute_longer_than_its_message_is_not_returned),
        cmocka_unit_test(a_payload_shorter_than_its_struct_has_no_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
