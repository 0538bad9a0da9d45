/* Parses texts of /proc/net/dev, valid and broken ones. */
#include "../tree.h"

#define HEADINGS                                                                                   \
    "Inter-|   Receive                                                |  Transmit\n"               \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "     \
    "drop fifo colls carrier compressed\n"

static void received_and_sent_data_are_read_from_their_own_columns(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_network network;

    (void)state;
    assert_int_equal(camp_network_read(source_of(&tree), "eth0", &network, sizeof network, NULL),
                     CAMP_OK);
    assert_string_equal(network.name, "eth0");
    assert_int_equal(network.received_bytes, 4123456789); /* no blank after the colon */
    assert_int_equal(network.received_packets, 8123456);
    assert_int_equal(network.received_errors, 7);
    assert_int_equal(network.received_drops, 11);
    assert_int_equal(network.sent_bytes, 987654321);
    assert_int_equal(network.sent_packets, 7654321);
    assert_int_equal(network.sent_errors, 29);
    assert_int_equal(network.sent_drops, 31);
    assert_true(network.time_ns != 0);
}

static void an_interface_with_a_colon_in_its_name_can_be_read(void **state)
{
    static const char *const names[] = { "lo", "eth0", "eth0:1", "my wan" };
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_network networks[5];
    struct camp_network network;
    size_t count;

    (void)state;
    assert_int_equal(
        camp_network_read_all(source_of(&tree), networks, sizeof *networks, 5, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, COUNT(names));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(networks[i].name, names[i]);
        assert_int_equal(
            camp_network_read(source_of(&tree), names[i], &network, sizeof network, NULL), 0);
        network.time_ns = networks[i].time_ns;
        assert_memory_equal(&network, &networks[i], sizeof network);
    }
}

static void a_missing_network_interface_is_reported_as_gone(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_network network;

    (void)state;
    assert_int_equal(camp_network_read(source_of(&tree), "eth", &network, sizeof network, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_network_read(source_of(&tree), "", &network, sizeof network, NULL),
                     CAMP_E_INVALID);
}

static int read_text(const char *text, struct camp_network *ret)
{
    struct tree tree = text_tree("net/dev", text);
    size_t count;
    int result = camp_network_read_all(source_of(&tree), ret, sizeof *ret, 1, &count, NULL);

    remove_tree(&tree);
    return result;
}

static void unused_columns_of_a_network_interface_are_skipped(void **state)
{
    struct camp_network network;

    (void)state;
    assert_int_equal(
        read_text(HEADINGS "  a: 1 2    0    0    0     0          03         0 5 6    0    0    0 "
                           "    0       07          8\n",
                  &network),
        CAMP_OK);
    assert_int_equal(network.received_packets, 2);
    assert_int_equal(network.received_drops, 0);
    assert_int_equal(network.sent_bytes, 5);
    assert_int_equal(network.sent_packets, 6);
    assert_int_equal(network.sent_drops, 0);
}

static void a_network_counter_may_have_64_bits(void **state)
{
    struct camp_network network;

    (void)state;
    assert_int_equal(read_text(HEADINGS "a:18446744073709551615 2 3 4 5 6 7 8 9 10 11 "
                                        "18446744073709551615 13 14 15 16\n",
                               &network),
                     CAMP_OK);
    assert_true(network.received_bytes == UINT64_MAX);
    assert_true(network.sent_drops == UINT64_MAX);
}

static void a_machine_without_network_interfaces_has_an_empty_list(void **state)
{
    struct camp_network network;

    (void)state;
    assert_int_equal(read_text(HEADINGS, &network), CAMP_OK);
}

static void a_broken_net_dev_file_is_a_format_error(void **state)
{
    static const char *const texts[] = {
        "",
        "Inter-|\n",
        "Inter-|\nlo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        HEADINGS "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
        HEADINGS "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
        HEADINGS "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1", /* truncated within a number */
        HEADINGS "lo: 1 2 3 4 5 6 7 -8 9 10 11 12 13 14 15 16\n",
        HEADINGS "lo: 18446744073709551616 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        HEADINGS "lo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        HEADINGS ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
        HEADINGS "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\n",
        HEADINGS "a2345678901234567890123456789012345678901234567890123456789012345: 1 2 3 4 5 6 "
                 "7 8 9 10 11 12 13 14 15 16\n",
    };
    struct camp_network network;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (read_text(texts[i], &network) != CAMP_E_FORMAT)
            fail_msg("\"%s\" was taken", texts[i]);
}

#define MANY 3000

static void thousands_of_network_interfaces_are_read_through_a_small_buffer(void **state)
{
    char *text = malloc(1000 + MANY * 100);
    struct camp_network *networks = calloc(MANY, sizeof *networks);
    size_t at = (size_t)sprintf(text, HEADINGS);
    struct tree tree;
    size_t count;

    (void)state;
    for (unsigned i = 0; i < MANY; i++)
        at +=
            (size_t)sprintf(text + at, "veth%u: %u 2 0 0 0 0 0 0 %u 4 0 0 0 0 0 0\n", i, i, i + 1);
    tree = text_tree("net/dev", text);
    assert_int_equal(
        camp_network_read_all(source_of(&tree), networks, sizeof *networks, MANY, &count, NULL),
        CAMP_OK);
    assert_int_equal(count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(strtoul(networks[i].name + 4, NULL, 10), i);
        assert_int_equal(networks[i].received_bytes, i);
        assert_int_equal(networks[i].sent_bytes, i + 1);
    }
    assert_int_equal(
        camp_network_read_all(source_of(&tree), networks, sizeof *networks, 7, &count, NULL),
        CAMP_E_SPACE);
    assert_int_equal(count, MANY);
    remove_tree(&tree);
    free(networks);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(received_and_sent_data_are_read_from_their_own_columns),
        cmocka_unit_test(an_interface_with_a_colon_in_its_name_can_be_read),
        cmocka_unit_test(a_missing_network_interface_is_reported_as_gone),
        cmocka_unit_test(unused_columns_of_a_network_interface_are_skipped),
        cmocka_unit_test(a_network_counter_may_have_64_bits),
        cmocka_unit_test(a_machine_without_network_interfaces_has_an_empty_list),
        cmocka_unit_test(a_broken_net_dev_file_is_a_format_error),
        cmocka_unit_test(thousands_of_network_interfaces_are_read_through_a_small_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
