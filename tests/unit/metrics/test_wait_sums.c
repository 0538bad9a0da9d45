/* Tests the sums of waits and of their causes that camp export reports, on synthetic intervals. */
#include "metrics/wait_sums.h"

#include "../commands/synthetic_causes.h"
#include "metrics/group_pairs.h"

#define MS UINT64_C(1000000)
#define WINDOW_MS (WAIT_WINDOW_NS / MS)

static struct causes *causes;
static struct wait_sums sums;

static void open_sums(bool hides_names)
{
    causes = calloc(1, sizeof *causes);
    assert_non_null(causes);
    add_group(causes, 0, CAMP_GROUP_OTHER, 0, "");
    add_group(causes, 1, CAMP_GROUP_KERNEL, 0, "");
    assert_int_equal(wait_sums_init(&sums, hides_names), CAMP_OK);
}

static void close_sums(void)
{
    wait_sums_release(&sums);
    free(causes->rows.items);
    free(causes);
}

/* Adds the rows and the lengths as an interval of `length_ms`. */
static void take_interval(uint64_t length_ms, const struct camp_wait_lengths *lengths, size_t count)
{
    causes->start_ns = causes->end_ns;
    causes->end_ns += length_ms * MS;
    cause_sort(&causes->rows);
    wait_sums_add(&sums, causes, lengths, count);
    causes->rows.count = 0;
}

static uint64_t cause_of(const char *name, const char *who)
{
    uint64_t ns = UINT64_MAX;

    for (size_t i = 0; i < sums.cause_count; i++) {
        const struct cause_place *place = &sums.causes[i];

        if (strcmp(sums.names[place->name].shown, name) == 0 && strcmp(place->who, who) == 0)
            ns = place->wait_ns;
    }
    return ns;
}

static uint64_t all_causes(uint32_t state)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sums.cause_count; i++)
        sum += sums.causes[i].state == state ? sums.causes[i].wait_ns : 0;
    return sum;
}

static void causes_of_all_groups_add_up_to_the_time_of_the_state(void **state)
{
    (void)state;
    open_sums(false);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    add_group(causes, BATCH, CAMP_GROUP_NAME, 0, "batch");
    for (int i = 1; i <= 3; i++) {
        add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 300 * MS);
        add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 0, 20 * MS);
        add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, 0, 7);
        add_row(causes, DB, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 500 * MS);
        take_interval(1000, NULL, 0);
        assert_int_equal(cause_of("db", "batch"), (uint64_t)i * 300 * MS);
        assert_int_equal(cause_of("db", "other"), (uint64_t)i * 20 * MS);
        assert_int_equal(cause_of("other", ""), (uint64_t)i * 7); /* too short for a place */
        assert_int_equal(all_causes(CAMP_STATE_RUN_QUEUE),
                         causes->state_ns[DB][CAMP_STATE_RUN_QUEUE]);
    }
    close_sums();
}

static void a_cause_that_grows_gets_a_place_and_other_keeps_what_it_had(void **state)
{
    (void)state;
    open_sums(false);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 1, 10 * MS - 1);
    take_interval(1000, NULL, 0);
    assert_int_equal(cause_of("db", "kernel threads"), UINT64_MAX);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 1, 10 * MS);
    take_interval(1000, NULL, 0);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 1, 5);
    take_interval(1000, NULL, 0);
    assert_int_equal(cause_of("db", "kernel threads"), 10 * MS + 5);
    assert_int_equal(cause_of("other", ""), 10 * MS - 1);
    close_sums();
}

static void add_names(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[CAMP_STATES_NAME_SIZE];

        snprintf(name, sizeof name, "name%u", i);
        add_group(causes, first + i, CAMP_GROUP_NAME, 0, name);
    }
}

/* Each name waits for each, in each state. */
static void no_number_of_names_makes_more_series_than_there_are_places(void **state)
{
    struct camp_wait_lengths *lengths = calloc(64 * CAMP_STATE_COUNT, sizeof *lengths);
    size_t count = 0;

    (void)state;
    assert_non_null(lengths);
    open_sums(false);
    add_names(3, 53);
    for (uint32_t group = 3; group < 56; group++) {
        for (uint32_t wait = 0; wait < CAMP_STATE_COUNT; wait++) {
            if (!causes_is_wait(wait))
                continue;
            lengths[count++] = (struct camp_wait_lengths){
                .group = group, .state = wait, .total_ns = 40 * MS, .counts[25] = 1
            };
            for (uint32_t other = 3; other < 56; other++)
                add_row(causes, group, wait, CAMP_CAUSE_GROUP, other, 10 * MS);
        }
    }
    take_interval(1000, lengths, count);
    assert_int_equal(sums.own_causes, CAUSE_PLACES);
    assert_in_range(sums.cause_count, CAUSE_PLACES + 1, CAUSE_PLACES + CAMP_STATE_COUNT);
    assert_int_equal(sums.own_waits, WAIT_PLACES);
    assert_in_range(sums.wait_count, WAIT_PLACES + 1, WAIT_PLACES + CAMP_STATE_COUNT);
    assert_int_equal(all_causes(CAMP_STATE_POLL), 53 * 53 * 10 * MS);
    close_sums();
    free(lengths);
}

/* Anybody may name a process like a group of another kind. A page with one series twice would be
 * refused as a whole. */
static void no_name_of_a_process_is_shown_as_another_group(void **state)
{
    static const char *const names[] = { "other",     "kernel threads", "other (7)", "db",
                                         "other (3)", "kernel threads", "db" };
    const size_t count = sizeof names / sizeof names[0];

    (void)state;
    open_sums(false);
    for (uint32_t i = 0; i < count; i++)
        add_group(causes, 3 + i, CAMP_GROUP_NAME, 0, names[i]);
    add_group(causes, 40, CAMP_GROUP_OUTSIDE, 0, "");
    take_interval(1000, NULL, 0);
    assert_int_equal(sums.name_count, 2 + count - 2 + 1); /* two names came twice */
    for (size_t i = 0; i < sums.name_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(sums.names[i].shown, sums.names[k].shown);
    assert_string_equal(sums.names[sums.name_of_group[1]].shown, "kernel threads");
    assert_string_equal(sums.names[sums.name_of_group[4]].shown, "kernel threads (4)");
    assert_int_equal(sums.name_of_group[6], sums.name_of_group[9]);
    take_interval(1000, NULL, 0);
    assert_int_equal(sums.name_count, 2 + count - 2 + 1);
    close_sums();
}

static void a_process_and_a_later_group_with_its_name_are_two_groups(void **state)
{
    (void)state;
    open_sums(false);
    causes->group_count = 1; /* no kernel thread has been seen */
    add_group(causes, 3, CAMP_GROUP_NAME, 0, "kernel threads");
    take_interval(1000, NULL, 0);
    add_group(causes, 1, CAMP_GROUP_KERNEL, 0, "");
    take_interval(1000, NULL, 0);
    assert_string_equal(sums.names[sums.name_of_group[3]].shown, "kernel threads (3)");
    assert_string_equal(sums.names[sums.name_of_group[1]].shown, "kernel threads");
    close_sums();
}

static void hidden_names_are_other_and_kernel_threads_are_not_hidden(void **state)
{
    (void)state;
    open_sums(true);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    add_row(causes, DB, CAMP_STATE_SOCKET, CAMP_CAUSE_GROUP, DB, 100 * MS);
    add_row(causes, 1, CAMP_STATE_OTHER_SLEEP, CAMP_CAUSE_GROUP, DB, 200 * MS);
    take_interval(1000, NULL, 0);
    assert_int_equal(cause_of("other", "other"), 100 * MS);
    assert_int_equal(cause_of("kernel threads", "other"), 200 * MS);
    assert_int_equal(sums.name_count, 2);
    close_sums();
}

static struct camp_wait_lengths lengths_of(uint32_t power, uint64_t count, uint64_t each_ns)
{
    struct camp_wait_lengths ret = {
        .group = DB, .state = CAMP_STATE_TIMER, .longest_ns = each_ns, .total_ns = count * each_ns
    };

    ret.counts[power] = count;
    return ret;
}

/* Returns the bucket that has a wait of so many ns. */
static size_t bucket_with(uint32_t power)
{
    struct camp_wait_lengths lengths = lengths_of(power, 1, UINT64_C(1) << power);
    size_t ret = SIZE_MAX;

    open_sums(false);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    take_interval(1000, &lengths, 1);
    for (size_t i = 0; i <= WAIT_BOUNDS; i++)
        ret = sums.waits[0].counts[i] > 0 ? i : ret;
    close_sums();
    return ret;
}

static void each_length_is_in_the_bucket_between_its_bounds(void **state)
{
    (void)state;
    for (uint32_t power = 0; power < CAMP_WAIT_BUCKETS; power++) {
        const uint64_t least = UINT64_C(1) << power, next = least << 1;
        const size_t bucket = bucket_with(power);

        assert_true(bucket == WAIT_BOUNDS || next <= wait_bounds_ns[bucket]);
        assert_true(bucket == 0 || least >= wait_bounds_ns[bucket - 1]);
    }
}

static void lengths_are_those_since_the_interval_before(void **state)
{
    struct camp_wait_lengths lengths = lengths_of(26, 3, 100 * MS);

    (void)state;
    open_sums(false);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    take_interval(1000, &lengths, 1);
    lengths = lengths_of(26, 10, 100 * MS);
    take_interval(1000, &lengths, 1);
    take_interval(1000, &lengths, 1);
    assert_int_equal(sums.wait_count, 1);
    assert_int_equal(sums.waits[0].total_ns, 1000 * MS);
    assert_int_equal(sums.waits[0].counts[9], 10); /* below 2^28 ns */
    close_sums();
}

static void the_longest_wait_is_of_the_last_windows(void **state)
{
    struct camp_wait_lengths lengths = lengths_of(26, 1, 100 * MS);

    (void)state;
    open_sums(false);
    add_group(causes, DB, CAMP_GROUP_NAME, 0, "db");
    causes->end_ns = 1000 * WAIT_WINDOW_NS;
    take_interval(1000, &lengths, 1);
    assert_int_equal(wait_place_longest_ns(&sums.waits[0]), 100 * MS);
    lengths.longest_ns = 7 * MS; /* since the call before */
    take_interval(WINDOW_MS, &lengths, 1);
    assert_int_equal(wait_place_longest_ns(&sums.waits[0]), 100 * MS);
    lengths.longest_ns = 0;
    take_interval(WINDOW_MS, &lengths, 1);
    assert_int_equal(wait_place_longest_ns(&sums.waits[0]), 7 * MS);
    lengths.longest_ns = 9 * MS;
    take_interval(3 * WINDOW_MS, &lengths, 1); /* all since the snapshot before */
    assert_int_equal(wait_place_longest_ns(&sums.waits[0]), 9 * MS);
    lengths.longest_ns = 0;
    take_interval(3 * WINDOW_MS, &lengths, 1);
    assert_int_equal(wait_place_longest_ns(&sums.waits[0]), 0);
    close_sums();
}

static void equal_pairs_of_groups_have_one_number(void **state)
{
    struct group_pairs pairs = { 0 };
    uint32_t first, second, third;

    (void)state;
    assert_int_equal(group_pairs_find(&pairs, (struct group_pair){ 1, 2 }, &first), CAMP_OK);
    assert_int_equal(group_pairs_find(&pairs, (struct group_pair){ 2, 1 }, &second), CAMP_OK);
    assert_int_equal(group_pairs_find(&pairs, (struct group_pair){ 1, 2 }, &third), CAMP_OK);
    assert_int_equal(first, third);
    assert_int_not_equal(first, second);
    assert_int_equal(pairs.pairs[second].first, 2);
    group_pairs_clear(&pairs);
    assert_int_equal(group_pairs_find(&pairs, (struct group_pair){ 5, 5 }, &first), CAMP_OK);
    assert_int_equal(first, 0);
    group_pairs_release(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_of_all_groups_add_up_to_the_time_of_the_state),
        cmocka_unit_test(a_cause_that_grows_gets_a_place_and_other_keeps_what_it_had),
        cmocka_unit_test(no_number_of_names_makes_more_series_than_there_are_places),
        cmocka_unit_test(no_name_of_a_process_is_shown_as_another_group),
        cmocka_unit_test(a_process_and_a_later_group_with_its_name_are_two_groups),
        cmocka_unit_test(hidden_names_are_other_and_kernel_threads_are_not_hidden),
        cmocka_unit_test(each_length_is_in_the_bucket_between_its_bounds),
        cmocka_unit_test(lengths_are_those_since_the_interval_before),
        cmocka_unit_test(the_longest_wait_is_of_the_last_windows),
        cmocka_unit_test(equal_pairs_of_groups_have_one_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
