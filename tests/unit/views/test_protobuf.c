/* The wire format of protocol buffers, with the bytes of its documentation. */
#include "views/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_bytes(const struct bytes *bytes, const char *expected, size_t size)
{
    assert_false(bytes->failed);
    assert_int_equal(bytes->size, size);
    assert_memory_equal(bytes->data, expected, size);
}

#define ASSERT_BYTES(bytes, literal) assert_bytes(bytes, literal, sizeof(literal) - 1)

static void a_number_is_a_varint_with_the_lowest_bits_first(void **state)
{
    struct bytes bytes = { 0 };

    (void)state;
    protobuf_number(&bytes, 1, 150);
    ASSERT_BYTES(&bytes, "\x08\x96\x01");
    bytes_clear(&bytes);
    protobuf_number(&bytes, 1, 0);
    ASSERT_BYTES(&bytes, "\x08\x00");
    bytes_clear(&bytes);
    protobuf_number(&bytes, 60, 127);
    ASSERT_BYTES(&bytes, "\xe0\x03\x7f");
    bytes_clear(&bytes);
    protobuf_number(&bytes, 2, UINT64_MAX);
    ASSERT_BYTES(&bytes, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    bytes_release(&bytes);
}

static void a_negative_number_has_ten_bytes(void **state)
{
    struct bytes bytes = { 0 };

    (void)state;
    protobuf_signed(&bytes, 1, -2);
    ASSERT_BYTES(&bytes, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    bytes_release(&bytes);
}

static void a_text_has_its_length_in_front_and_is_valid_utf8(void **state)
{
    struct bytes bytes = { 0 };

    (void)state;
    protobuf_text(&bytes, 2, "testing", 16);
    ASSERT_BYTES(&bytes, "\x12\x07testing");
    bytes_clear(&bytes);
    protobuf_text(&bytes, 2, "testing", 4);
    ASSERT_BYTES(&bytes, "\x12\x04test");
    bytes_clear(&bytes);
    protobuf_text(&bytes, 2, "", 16);
    ASSERT_BYTES(&bytes, "\x12\x00");
    bytes_clear(&bytes);
    protobuf_text(&bytes, 2, "a\xff\n\xc3\xbc\xc3", 16);
    ASSERT_BYTES(&bytes, "\x12\x06"
                         "a??\xc3\xbc?");
    bytes_release(&bytes);
}

static void a_text_that_is_too_long_is_cut_between_characters(void **state)
{
    char text[2 * PROTOBUF_TEXT_MOST];
    struct bytes bytes = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xbc", 2);
    protobuf_text(&bytes, 1, text, sizeof text);
    assert_int_equal(bytes.size, 3 + PROTOBUF_TEXT_MOST - 1);
    assert_memory_equal(bytes.data, "\x0a\xfe\x07\xc3\xbc", 5);
    bytes_release(&bytes);
}

static void a_message_has_its_length_in_front_whatever_its_size(void **state)
{
    static const size_t sizes[] = { 0, 1, 127, 128, 16383, 16384, 2097152 };
    static const char *const heads[] = { "\x1a\x00",
                                         "\x1a\x01",
                                         "\x1a\x7f",
                                         "\x1a\x80\x01",
                                         "\x1a\xff\x7f",
                                         "\x1a\x80\x80\x01",
                                         "\x1a\x80\x80\x80\x01" };
    static const size_t head_sizes[] = { 2, 2, 2, 3, 3, 4, 5 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes bytes = { 0 };
        const size_t place = protobuf_begin(&bytes, 3);
        uint8_t *content = bytes_extend(&bytes, sizes[i]);

        assert_non_null(content);
        for (size_t n = 0; n < sizes[i]; n++)
            content[n] = (uint8_t)(n * 7);
        protobuf_end(&bytes, place);
        assert_int_equal(bytes.size, head_sizes[i] + sizes[i]);
        assert_memory_equal(bytes.data, heads[i], head_sizes[i]);
        for (size_t n = 0; n < sizes[i]; n++)
            assert_int_equal(bytes.data[head_sizes[i] + n], (uint8_t)(n * 7));
        bytes_release(&bytes);
    }
}

static void messages_may_be_nested(void **state)
{
    struct bytes bytes = { 0 };
    size_t outer, inner;

    (void)state;
    outer = protobuf_begin(&bytes, 1);
    inner = protobuf_begin(&bytes, 3);
    protobuf_number(&bytes, 1, 150);
    protobuf_end(&bytes, inner);
    protobuf_number(&bytes, 2, 5);
    protobuf_end(&bytes, outer);
    ASSERT_BYTES(&bytes, "\x0a\x07\x1a\x03\x08\x96\x01\x10\x05");
    bytes_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_a_varint_with_the_lowest_bits_first),
        cmocka_unit_test(a_negative_number_has_ten_bytes),
        cmocka_unit_test(a_text_has_its_length_in_front_and_is_valid_utf8),
        cmocka_unit_test(a_text_that_is_too_long_is_cut_between_characters),
        cmocka_unit_test(a_message_has_its_length_in_front_whatever_its_size),
        cmocka_unit_test(messages_may_be_nested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
