#include "ledger/index.h"

#include "ledger/array.h"

#include "../tree.h"

#include <string.h>

static const uint32_t keys[] = { 10, 11, 12, 13, 14, 15, 16, 17 };

static bool is_key(const void *context, uint32_t position, const void *key)
{
    return ((const uint32_t *)context)[position] == *(const uint32_t *)key;
}

/* Returns the position of the key, or -1 if it is not found. */
static int64_t find(const struct index *index, uint32_t hash, uint32_t key)
{
    const struct index_slot *slot = index_find(index, hash, is_key, keys, &key);

    return slot != NULL ? (int64_t)slot->position : -1;
}

static void an_empty_index_finds_no_key(void **state)
{
    struct index index = { 0 };

    (void)state;
    assert_int_equal(find(&index, 1, 10), -1);
    index_clear(&index);
    index_release(&index);
}

static void the_hash_index_distinguishes_keys_with_the_same_hash(void **state)
{
    struct index index = { 0 };

    (void)state;
    assert_true(index_reserve(&index, ARRAY_COUNT(keys)));
    for (uint32_t i = 0; i < ARRAY_COUNT(keys); i++)
        /* 63 is the last of the 64 slots, so further keys go to the first slots. */
        index_add(&index, 63, i);
    for (uint32_t i = 0; i < ARRAY_COUNT(keys); i++)
        assert_int_equal(find(&index, 63, keys[i]), i);
    assert_int_equal(find(&index, 63, 99), -1);
    assert_int_equal(find(&index, 64, 10), -1);
    index_release(&index);
}

/* The keys of the slots 62 and 63 do not all fit there. They wrap around and overlap with the keys
 * of slot 1. Each pair of keys is removed, in both orders. */
static void removing_keys_from_the_index_keeps_all_other_keys(void **state)
{
    static const uint32_t hashes[] = { 62, 63, 62, 1, 63, 62, 0x80000001, 3 };

    (void)state;
    for (uint32_t first = 0; first < ARRAY_COUNT(keys); first++) {
        for (uint32_t second = 0; second < ARRAY_COUNT(keys); second++) {
            struct index index = { 0 };

            assert_true(index_reserve(&index, ARRAY_COUNT(keys)));
            for (uint32_t i = 0; i < ARRAY_COUNT(keys); i++)
                index_add(&index, hashes[i], i);
            index_remove(&index, index_find(&index, hashes[first], is_key, keys, &keys[first]));
            if (second != first)
                index_remove(&index,
                             index_find(&index, hashes[second], is_key, keys, &keys[second]));
            for (uint32_t i = 0; i < ARRAY_COUNT(keys); i++)
                assert_int_equal(find(&index, hashes[i], keys[i]),
                                 i == first || i == second ? -1 : (int64_t)i);
            index_release(&index);
        }
    }
}

static bool is_position(const void *context, uint32_t position, const void *key)
{
    (void)context;
    return position == *(const uint32_t *)key;
}

static void an_index_that_grows_keeps_all_its_keys(void **state)
{
    struct index index = { 0 };

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(index_reserve(&index, i + 1));
        index_add(&index, index_hash_number(i), i);
    }
    assert_int_equal(index.count, 10000);
    assert_true(index.slot_count >= 20000);
    for (uint32_t i = 0; i < 10000; i++)
        assert_non_null(index_find(&index, index_hash_number(i), is_position, NULL, &i));
    index_clear(&index);
    for (uint32_t i = 0; i < 10000; i++)
        assert_null(index_find(&index, index_hash_number(i), is_position, NULL, &i));
    index_release(&index);
}

static void a_failed_reservation_leaves_the_hash_index_unchanged(void **state)
{
    struct index index = { 0 };

    (void)state;
    assert_true(index_reserve(&index, 1));
    index_add(&index, 5, 2);
    assert_false(index_reserve(&index, SIZE_MAX));
    assert_false(index_reserve(&index, UINT32_MAX));
    assert_int_equal(find(&index, 5, 12), 2);
    index_release(&index);
}

/* Adds up the distances between the slot of each hash and the slot in which its key is. */
static size_t steps_of(const struct index *index)
{
    size_t steps = 0;

    for (size_t i = 0; i < index->slot_count; i++) {
        if (index->slots[i].hash != 0)
            steps += (i - index->slots[i].hash) & (index->slot_count - 1);
    }
    return steps;
}

/* Pids are consecutive numbers, and addresses of stacks differ by a power of two. */
static void hashes_of_evenly_spaced_numbers_rarely_collide(void **state)
{
    static const uint64_t distances[] = {
        1, 2, 64, 4096, UINT64_C(1) << 20, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(distances); i++) {
        struct index index = { 0 };

        assert_true(index_reserve(&index, 4096));
        for (uint32_t j = 0; j < 4096; j++)
            index_add(&index, index_hash_number(j * distances[i]), j);
        assert_true(steps_of(&index) < 4 * 4096);
        index_release(&index);
    }
}

/* The texts differ only in the high bits of their bytes, which do not change the low bits of an
 * FNV-1a hash. So the low 7 bits of their FNV-1a hashes are equal, for any initial value. */
static void texts_with_equal_fnv_hashes_rarely_collide_in_the_index(void **state)
{
    struct index index = { 0 };

    (void)state;
    assert_true(index_reserve(&index, 4096));
    for (uint32_t i = 0; i < 4096; i++) {
        char text[12];

        for (size_t bit = 0; bit < sizeof text; bit++)
            text[bit] = (char)((i >> bit & 1) != 0 ? 0xe1 : 0x61);
        index_add(&index, index_hash_bytes(text, sizeof text), i);
    }
    assert_true(steps_of(&index) < 4 * 4096);
    index_release(&index);
}

/* The first value is from appendix A of the SipHash paper. The second value, of the empty text, is
 * from the reference implementation. */
static void siphash_returns_the_published_values(void **state)
{
    const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    unsigned char bytes[15];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    assert_true(index_siphash(key, bytes, sizeof bytes) == UINT64_C(0xa129ca6149be45e5));
    assert_true(index_siphash(key, bytes, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_index_finds_no_key),
        cmocka_unit_test(the_hash_index_distinguishes_keys_with_the_same_hash),
        cmocka_unit_test(removing_keys_from_the_index_keeps_all_other_keys),
        cmocka_unit_test(an_index_that_grows_keeps_all_its_keys),
        cmocka_unit_test(a_failed_reservation_leaves_the_hash_index_unchanged),
        cmocka_unit_test(hashes_of_evenly_spaced_numbers_rarely_collide),
        cmocka_unit_test(texts_with_equal_fnv_hashes_rarely_collide_in_the_index),
        cmocka_unit_test(siphash_returns_the_published_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
