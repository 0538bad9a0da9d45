#include "ledger/array.h"

#include "../tree.h"

struct pairs {
    uint32_t *keys;
    double *values; /* [capacity x 3] */
    size_t count, capacity;
};

static void an_array_that_grows_keeps_its_elements(void **state)
{
    struct pairs pairs = { 0 };

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(ARRAYS_RESERVE(pairs.capacity, pairs.count + 1, ARRAY(pairs.keys),
                                   ARRAY_ROWS(pairs.values, 3)));
        pairs.keys[pairs.count] = i;
        pairs.values[3 * pairs.count++ + 2] = i / 2.0;
    }
    assert_true(pairs.capacity >= 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(pairs.keys[i], i);
        assert_true(pairs.values[3 * i + 2] == i / 2.0);
    }
    free(pairs.keys);
    free(pairs.values);
}

static void new_elements_of_a_zeroed_array_are_zero(void **state)
{
    unsigned char *bytes = NULL;
    size_t capacity = 0, before;

    (void)state;
    assert_true(ARRAY_RESERVE_ZEROED(bytes, capacity, 1));
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(bytes[i], 0);
    memset(bytes, 7, capacity);
    before = capacity;
    assert_true(ARRAY_RESERVE_ZEROED(bytes, capacity, before + 1));
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(bytes[i], i < before ? 7 : 0);
    free(bytes);
}

static void reserving_space_that_an_array_already_has_does_not_move_it(void **state)
{
    int *numbers = NULL, *before;
    size_t capacity = 0, space;

    (void)state;
    assert_true(ARRAY_RESERVE(numbers, capacity, 10));
    before = numbers;
    space = capacity;
    assert_true(ARRAY_RESERVE(numbers, capacity, space));
    assert_true(ARRAY_RESERVE(numbers, capacity, 0));
    assert_ptr_equal(numbers, before);
    assert_int_equal(capacity, space);
    free(numbers);
}

/* In bytes, each of these sizes is too large for a size_t. */
static void a_failed_reservation_leaves_the_array_unchanged(void **state)
{
    const size_t sizes[] = { SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(uint64_t) + 2 };
    uint64_t *numbers = NULL;
    size_t capacity = 0, before;

    (void)state;
    assert_true(ARRAY_RESERVE(numbers, capacity, 1));
    numbers[0] = 42;
    before = capacity;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        assert_false(ARRAY_RESERVE(numbers, capacity, sizes[i]));
        assert_int_equal(capacity, before);
        assert_int_equal(numbers[0], 42);
    }
    free(numbers);
}

static void an_array_of_rows_without_columns_takes_no_space(void **state)
{
    uint64_t *values = NULL;
    int *keys = NULL;
    size_t capacity = 0;

    (void)state;
    assert_true(ARRAYS_RESERVE(capacity, 100, ARRAY(keys), ARRAY_ROWS(values, (size_t)0)));
    assert_true(ARRAYS_RESERVE(capacity, 1000, ARRAY(keys), ARRAY_ROWS(values, (size_t)0)));
    assert_true(capacity >= 1000);
    free(keys);
    free(values);
}

static int compare_numbers(const void *key, const void *element)
{
    const int left = *(const int *)key, right = *(const int *)element;

    return left < right ? -1 : left > right;
}

static void elements_are_inserted_into_a_sorted_array_and_found(void **state)
{
    const int keys[] = { 50, 10, 90, 30, 70, 30 }, sorted[] = { 10, 30, 30, 50, 70, 90 };
    int *numbers = NULL;
    size_t count = 0, capacity = 0;

    (void)state;
    assert_null(ARRAY_FIND(&keys[0], numbers, count, compare_numbers));
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        const size_t at = ARRAY_POSITION(&keys[i], numbers, count, compare_numbers);

        assert_true(ARRAY_INSERT(numbers, count, capacity, at));
        assert_int_equal(numbers[at], 0);
        numbers[at] = keys[i];
    }
    assert_int_equal(count, ARRAY_COUNT(sorted));
    assert_memory_equal(numbers, sorted, sizeof sorted);
    assert_int_equal(ARRAY_POSITION(&sorted[1], numbers, count, compare_numbers), 1);
    assert_int_equal(ARRAY_POSITION(&(int){ 91 }, numbers, count, compare_numbers), count);
    assert_ptr_equal(ARRAY_FIND(&keys[2], numbers, count, compare_numbers), &numbers[5]);
    assert_null(ARRAY_FIND(&(int){ 20 }, numbers, count, compare_numbers));
    free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_that_grows_keeps_its_elements),
        cmocka_unit_test(new_elements_of_a_zeroed_array_are_zero),
        cmocka_unit_test(reserving_space_that_an_array_already_has_does_not_move_it),
        cmocka_unit_test(a_failed_reservation_leaves_the_array_unchanged),
        cmocka_unit_test(an_array_of_rows_without_columns_takes_no_space),
        cmocka_unit_test(elements_are_inserted_into_a_sorted_array_and_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
