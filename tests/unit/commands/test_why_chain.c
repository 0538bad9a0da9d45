/* The chain of camp why: of several processes with one name, what most of their time was spent in,
 * whether it has ended or not. */
#include "commands/why/why_record.h"
#include "sources/causes/open_sleeps.h"
#include "synthetic_causes.h"

static size_t capacity;

/* Adds an open sleep of a process of a group in flock(2), for a file that `holder` has locked. */
static void add_open(struct causes *causes, uint32_t group, int32_t pid, const char *file,
                     int32_t holder, uint64_t ns)
{
    const struct camp_call_sleeps call = {
        .pid = pid, .call = -1, .state = CAMP_STATE_LOCK, .sleep_ns = ns, .count = 1
    };
    struct open_fact fact = { .group = group, .state_ns = ns, .holder = holder };

    snprintf(fact.names.call, sizeof fact.names.call, "flock");
    snprintf(fact.names.object, sizeof fact.names.object, "%s", file);
    snprintf(fact.who, sizeof fact.who, "worker (%d)", pid);
    if (holder != 0)
        snprintf(fact.other_end, sizeof fact.other_end, "held by batch (%d)", holder);
    assert_true(open_call_add(causes, &capacity, &call, &fact));
}

/* Five processes "worker" in an interval of 1 s: one waits 900 ms for a disk, and the others are
 * asleep in the state lock. */
static struct causes *make_workers(void)
{
    struct causes *causes = calloc(1, sizeof *causes);

    assert_non_null(causes);
    capacity = 0;
    causes->end_ns = 1000000000;
    causes->is_recorded = causes->has_open_facts = true;
    add_group(causes, 0, CAMP_GROUP_OTHER, 0, "");
    add_group(causes, BATCH, CAMP_GROUP_NAME, 0, "worker");
    causes->threads[BATCH] = 5;
    causes->state_ns[BATCH][CAMP_STATE_USER] = 100000000;
    add_row(causes, BATCH, CAMP_STATE_DISK, CAMP_CAUSE_TIMER, 0, 900000000);
    add_row(causes, BATCH, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 4000000000);
    cause_sort(&causes->rows);
    return causes;
}

/* Asserts that the chain of the workers is a text, and releases the causes. */
static void assert_chain(struct causes *causes, const char *expected)
{
    struct why_record record = { 0 };
    const struct why_interval interval = { .causes = causes,
                                           .subject = BATCH,
                                           .name = "worker",
                                           .time = "2026-11-29T12:00:00.000+00:00" };
    const struct cell *summary;

    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    summary = record.document.tables[WHY_SUMMARY].cells;
    assert_string_equal(summary[7].text, expected);
    why_record_release(&record);
    release_causes(causes);
}

static void a_lock_for_which_most_processes_of_a_name_wait_is_the_chain(void **state)
{
    struct causes *causes = make_workers();

    (void)state;
    for (int32_t pid = 11; pid <= 14; pid++)
        add_open(causes, BATCH, pid, "/run/db.lock", 9, 1000000000);
    assert_chain(causes,
                 "worker waited in lock 80.0 %, in flock of /run/db.lock held by batch (9), and "
                 "nothing has woken it yet.");
}

static void the_chain_goes_on_at_the_holder_if_its_call_is_recorded(void **state)
{
    struct causes *causes = make_workers();

    (void)state;
    for (int32_t pid = 11; pid <= 13; pid++)
        add_open(causes, BATCH, pid, "/run/db.lock", 9, 1000000000);
    add_open(causes, BATCH, 14, "/run/other.lock", 8, 1000000000);
    add_open(causes, CAUSE_GROUPS, 9, "", 0, 0);
    snprintf(causes->open_facts[4].who, CAUSE_NAME_SIZE, "batch (9)");
    causes->open_facts[4].does = OPEN_RUNS;
    assert_chain(
        causes,
        "worker waited in lock 60.0 %, in flock of /run/db.lock for batch (9), which runs.");
}

static void a_lock_that_is_a_smaller_part_than_another_wait_is_not_the_chain(void **state)
{
    struct causes *causes = make_workers();

    (void)state;
    add_open(causes, BATCH, 11, "/run/db.lock", 9, 800000000);
    assert_chain(causes, "worker waited 18.0 % in disk for a timer.");
}

static void sleeps_whose_other_end_is_unknown_may_be_idle_and_are_not_the_chain(void **state)
{
    struct causes *causes = make_workers();

    (void)state;
    for (int32_t pid = 11; pid <= 14; pid++)
        add_open(causes, BATCH, pid, "futex 0x7f00", 0, 1000000000);
    assert_chain(causes, "worker waited 18.0 % in disk for a timer.");
}

/* The owner of a futex is unknown where its memory has none. */
static void futexes_without_an_owner_are_noted_if_they_are_much_of_the_time(void **state)
{
    (void)state;
    for (int owned = 0; owned < 2; owned++) {
        struct causes *causes = make_workers();
        struct why_record record = { 0 };
        const struct why_interval interval = { .causes = causes,
                                               .subject = BATCH,
                                               .name = "worker",
                                               .time = "2026-11-29T12:00:00.000+00:00" };
        bool is_noted = false;

        add_open(causes, BATCH, 11, "futex 0x7f00", owned ? 9 : 0, 1000000000);
        snprintf(causes->open_facts[0].names.call, CAUSE_NAME_SIZE, "futex");
        assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
        for (size_t i = 0; i < record.document.note_count; i++)
            is_noted |=
                strstr(record.document.notes[i], "unknown who holds the futex in 20.00 %") != NULL;
        assert_int_equal(is_noted, !owned);
        assert_true(record.document.tables[WHY_LOSSES].cells[4].real == (owned ? 0 : 20));
        why_record_release(&record);
        release_causes(causes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_for_which_most_processes_of_a_name_wait_is_the_chain),
        cmocka_unit_test(the_chain_goes_on_at_the_holder_if_its_call_is_recorded),
        cmocka_unit_test(a_lock_that_is_a_smaller_part_than_another_wait_is_not_the_chain),
        cmocka_unit_test(sleeps_whose_other_end_is_unknown_may_be_idle_and_are_not_the_chain),
        cmocka_unit_test(futexes_without_an_owner_are_noted_if_they_are_much_of_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
