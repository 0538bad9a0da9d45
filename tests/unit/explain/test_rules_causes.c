/* Rules about the causes of waits name the culprit, and find nothing in waits that delay no work.
 */
#include "fake_evidence.h"

#include <math.h>

enum { OTHERS, WEB, BATCH, CLIENT };

/* Threads of web, batch and client, which have a group each. Batch runs all the time. */
static void start(struct fake *fake)
{
    static const char *const names[] = { "", "web", "batch", "client" };

    fake_start(fake, &fake_threads);
    fake_add_cpus(fake, 1, 1);
    fake_add_group(fake, CAMP_GROUP_OTHER, 0, "");
    for (int i = WEB; i <= CLIENT; i++) {
        fake_row(fake, &fake->rows, 10 * i, 10 * i, names[i]);
        fake_add_group(fake, CAMP_GROUP_NAME, 0, names[i]);
    }
    fake_run(fake, BATCH, 1);
}

static struct judgement judged(struct fake *fake, const char *id)
{
    struct judgement ret;

    if (fake->evidence.intervals == 0)
        fake_finish(fake);
    judge(&ret, rule_find(id), &fake->evidence, "");
    return ret;
}

static void assert_sentence(const struct judgement *found, const char *wanted)
{
    char sentence[SENTENCE_SIZE];

    assert_int_equal(found->verdict, VERDICT_FIRES);
    sentence_text(sentence, found);
    if (strstr(sentence, wanted) == NULL)
        fail_msg("'%s' is not in '%s'", wanted, sentence);
}

static void assert_commands(const struct judgement *found, const char *shown, const char *cause)
{
    char command[COMMAND_SIZE];

    command_text(command, found, EVIDENCE_THREADS, " --from x.camp --begin -1s");
    assert_string_equal(command, shown);
    cause_command_text(command, found, " --from x.camp --begin -1s");
    assert_string_equal(command, cause);
}

static void a_noisy_neighbour_is_named_with_its_share(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake_run(&fake, WEB, 0.3);
    fake_wait(&fake, WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.5);
    fake_wait(&fake, WEB, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 0.2);
    fake_wait(&fake, OTHERS, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.7);
    found = judged(&fake, "E34");
    assert_sentence(&found, "Threads of other processes waited 1.20 s a second for a CPU on which "
                            "batch ran. web waited longest: 500 ms a second, 50.0 % of its time.");
    assert_string_equal(found.finding.cause.by, "batch");
    assert_true(found.finding.cause.wait_ns == (uint64_t)(0.5 * SECONDS * NS));
    assert_true(found.finding.cause.total_ns == (uint64_t)(SECONDS * NS));
    /* The other side of the ledger of batch has the sum, and that of web its own wait. */
    assert_commands(&found, "camp why --from x.camp --begin -1s batch",
                    "camp why --from x.camp --begin -1s web");
    fake_end(&fake);
}

static void the_command_of_waits_without_a_culprit_shows_those_of_all_threads(void **state)
{
    static const struct {
        const char *rule;
        uint32_t kind;
    } causes[] = { { "E35", CAMP_CAUSE_REAL_TIME },
                   { "E36", CAMP_CAUSE_INTERRUPTS },
                   { "E37", CAMP_CAUSE_IDLE } };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(causes); i++) {
        struct judgement found;
        struct fake fake;

        start(&fake);
        fake_wait(&fake, WEB, CAMP_STATE_RUN_QUEUE, causes[i].kind, 0, 0.5);
        fake_wait(&fake, CLIENT, CAMP_STATE_RUN_QUEUE, causes[i].kind, 0, 0.3);
        found = judged(&fake, causes[i].rule);
        assert_sentence(&found, " web waited longest: 500 ms a second");
        assert_commands(&found, "camp why --from x.camp --begin -1s",
                        "camp why --from x.camp --begin -1s web");
        fake_end(&fake);
    }
}

/* A share of the time of eighty threads hides that one and a half of them waited. */
static void the_wait_of_many_threads_is_in_seconds_a_second(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake_wait(&fake, WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 1.52);
    fake_wait(&fake, WEB, CAMP_STATE_CHILD, CAMP_CAUSE_GROUP, CLIENT, 78.48);
    found = judged(&fake, "E34");
    assert_sentence(&found,
                    "web waited longest: 1.52 s a second, 1.9 % of the time of its 80 threads.");
    fake_end(&fake);
}

static void threads_that_wait_behind_their_own_process_have_no_neighbour(void **state)
{
    struct fake fake;

    (void)state;
    start(&fake);
    fake_wait(&fake, BATCH, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 5);
    fake_wait(&fake, WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, OTHERS, 5);
    assert_int_equal(judged(&fake, "E34").verdict, VERDICT_QUIET);
    fake_end(&fake);
}

static void a_full_machine_has_the_culprit_of_the_process_that_waits_longest(void **state)
{
    static const struct {
        const char *rule, *column, *sentence;
    } rules_of_waits[] = {
        { "E01", "run_queue_ns",
          " web was behind batch for 600 ms a second, 30.0 % of the time of its 2 threads." },
        { "E02", "run_queue_ns",
          " web was behind batch for 600 ms a second, 30.0 % of the time of its 2 threads." },
        { "E03", "throttled_ns",
          " Besides, web was behind batch for 600 ms a second, 30.0 % of the time of its 2 "
          "threads." },
        { "E07", "run_queue_ns",
          " web was behind batch for 600 ms a second, 30.0 % of the time of its 2 threads." },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rules_of_waits); i++) {
        struct judgement found;
        struct fake fake;

        start(&fake);
        if (strcmp(rules_of_waits[i].rule, "E02") == 0) {
            fake.cpus.entity_count = 0;
            fake_add_cpus(&fake, 1, 0);
        }
        fake_row(&fake, &fake.rows, 30, 30, "hog");
        fake_set(&fake.rows, "user_ns", 1);
        fake_row(&fake, &fake.rows, 11, 10, "worker");
        fake_set(&fake.rows, rules_of_waits[i].column, 0.6);
        fake_run(&fake, WEB, 0.4);
        fake_wait(&fake, WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.6);
        fake_wait(&fake, WEB, CAMP_STATE_POLL, CAMP_CAUSE_GROUP, CLIENT, 1);
        found = judged(&fake, rules_of_waits[i].rule);
        assert_sentence(&found, rules_of_waits[i].sentence);
        fake_end(&fake);
    }
}

static void waits_for_a_disk_name_the_device(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake_row(&fake, &fake.rows, 11, 10, "worker");
    fake_set(&fake.rows, "disk_ns", 0.5);
    fake_run(&fake, WEB, 0.5);
    fake_wait(&fake, WEB, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 36, 0.5);
    fake.causes->devices = calloc(1, sizeof *fake.causes->devices);
    fake.causes->devices[0] = (struct cause_device){ 36, "virtio1-req.0 (irq 36)" };
    fake.causes->device_count = 1;
    found = judged(&fake, "E11");
    assert_sentence(
        &found, " web waited for virtio1-req.0 (irq 36) for 500 ms a second, 50.0 % of its time.");
    assert_commands(&found, "camp top --from x.camp --begin -1s --sort disk",
                    "camp why --from x.camp --begin -1s web");
    free(fake.causes->devices);
    fake_end(&fake);
}

static void a_lock_has_its_holder_and_what_that_waited_for(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake_run(&fake, WEB, 0.2);
    fake_wait(&fake, WEB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, CLIENT, 0.8);
    fake_run(&fake, CLIENT, 0.1);
    fake_wait(&fake, CLIENT, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.9);
    found = judged(&fake, "E38");
    assert_sentence(&found, "web waited 800 ms a second, 80.0 % of its time, for a lock of "
                            "client, which itself waited 900 ms a second, 90.0 % of its time, "
                            "for a CPU behind batch.");
    fake_end(&fake);
}

static void a_culprit_that_ran_longer_than_it_waited_is_said_to_have_run(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake_run(&fake, WEB, 0.2);
    fake_wait(&fake, WEB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, CLIENT, 0.8);
    fake_run(&fake, CLIENT, 0.9);
    fake_wait(&fake, CLIENT, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.1);
    found = judged(&fake, "E39");
    assert_sentence(&found, "in calls on a pipe for client, which itself ran for 900 ms a second, "
                            "90.0 % of its time.");
    fake_end(&fake);
}

/* The waiter did nothing else, and has no group of its own. */
static void a_process_that_waits_for_the_lock_of_a_file_is_found_with_the_holder(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    for (int live = 0; live < 2; live++) {
        start(&fake);
        fake.evidence.is_live = live != 0;
        fake_open(&fake, OTHERS, 8383, "flock", "/run/db.lock", 0.95);
        fake_open(&fake, WEB, 10, "fcntl", "/run/web.lock", 0.5);
        fake_open(&fake, WEB, 10, "futex", "futex 0x7f00", 9);
        fake.causes->open_facts[2].other_end[0] = '\0'; /* it may wait for work */
        fake_open(&fake, CAUSE_GROUPS, 77, "flock", "/run/a.step", 9);
        found = judged(&fake, "E42");
        assert_sentence(&found, "waiter (8383) waited 950 ms a second for locks, and at the end in "
                                "flock for /run/db.lock, held by batch (4711); 1 other wait for "
                                "such locks.");
        assert_true(fabs(found.finding.lost_s - 1.45) < 1e-6);
        assert_commands(&found,
                        live != 0 ? "camp why --from x.camp --begin -1s 8383"
                                  : "camp why --from x.camp --begin -1s",
                        live != 0 ? "camp why --from x.camp --begin -1s 8383" : "");
        fake_end(&fake);
    }
}

/* All other time of the thread in the state lock may be waits for work. */
static void
a_wait_for_a_futex_or_a_semaphore_counts_while_it_lasts_if_the_owner_is_known(void **state)
{
    static const char *const calls[] = { "futex", "semop", "semtimedop" };
    struct judgement found;
    struct fake fake;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        start(&fake);
        fake_open(&fake, OTHERS, 8383, calls[i], "futex 0x7f00", 0.95);
        fake.causes->open_calls.items[0].sleep_ns = (uint64_t)(0.5 * SECONDS * NS);
        found = judged(&fake, "E42");
        assert_int_equal(found.verdict, VERDICT_FIRES);
        assert_true(fabs(found.finding.lost_s - 0.5) < 1e-6);
        assert_non_null(strstr(found.finding.clause, "futex 0x7f00, held by batch (4711)"));
        fake.causes->open_facts[0].other_end[0] = '\0';
        assert_int_equal(judged(&fake, "E42").verdict, VERDICT_QUIET);
        fake_end(&fake);
    }
}

static void of_chosen_processes_the_lock_needs_no_group_of_its_own(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    start(&fake);
    fake.evidence.is_part = true;
    fake_open(&fake, OTHERS, 8383, "flock", "/run/db.lock", 0.95);
    fake_open(&fake, WEB, 10, "fcntl", "/run/web.lock", 0.5);
    found = judged(&fake, "E42");
    assert_sentence(&found, "waiter (10) waited 500 ms a second for locks, and at the end in fcntl "
                            "for /run/web.lock, held by batch (4711).");
    fake_end(&fake);
    start(&fake);
    fake.causes->has_open_facts = false;
    found = judged(&fake, "E42");
    assert_int_equal(found.verdict, VERDICT_UNKNOWN);
    assert_non_null(strstr(found.reason, "earlier camp"));
    fake_end(&fake);
}

/* A pool without work, although some arrives now and then, and a server whose client thinks. */
static void waits_that_delay_nobody_are_not_found(void **state)
{
    struct fake fake;

    (void)state;
    start(&fake);
    fake_run(&fake, WEB, 0.04);
    fake_wait(&fake, WEB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, BATCH, 0.96);
    assert_int_equal(judged(&fake, "E38").verdict, VERDICT_QUIET);
    fake_end(&fake);
    for (uint32_t state_of = CAMP_STATE_SOCKET; state_of <= CAMP_STATE_PIPE; state_of++) {
        const char *rule = state_of == CAMP_STATE_PIPE ? "E39" : "E40";

        for (int busy = 0; busy < 2; busy++) {
            start(&fake);
            fake_run(&fake, WEB, 0.1);
            fake_wait(&fake, WEB, state_of, CAMP_CAUSE_GROUP, CLIENT, 0.9);
            fake_run(&fake, CLIENT, busy ? 0.5 : 0.4);
            fake_wait(&fake, CLIENT, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, busy ? 0.5 : 0.6);
            assert_int_equal(judged(&fake, rule).verdict, busy ? VERDICT_FIRES : VERDICT_QUIET);
            fake_end(&fake);
        }
    }
}

static void a_wait_of_many_causes_has_no_culprit(void **state)
{
    struct fake fake;

    (void)state;
    start(&fake);
    fake_run(&fake, WEB, 0.2);
    fake_wait(&fake, WEB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, BATCH, 0.3);
    fake_wait(&fake, WEB, CAMP_STATE_PIPE, CAMP_CAUSE_TIMER, 0, 0.4);
    assert_int_equal(judged(&fake, "E39").verdict, VERDICT_QUIET);
    assert_int_equal(judged(&fake, "E41").verdict, VERDICT_FIRES);
    fake_end(&fake);
}

static void without_causes_the_reason_says_how_to_get_them(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_row(&fake, &fake.rows, 7, 7, "any");
    fake.evidence.why_no_causes = "camp record --why records them";
    for (int number = 34; number <= 42; number++) {
        char id[8];

        snprintf(id, sizeof id, "E%d", number);
        found = judged(&fake, id);
        assert_int_equal(found.verdict, VERDICT_UNKNOWN);
        assert_string_equal(found.reason, "camp record --why records them");
    }
    fake_end(&fake);
}

/* The names of groups are those of other processes as well. */
static void of_chosen_processes_only_those_with_causes_of_their_own_are_judged(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        struct judgement found;
        struct fake fake;
        uint32_t process;

        start(&fake);
        fake.evidence.is_part = true;
        process = fake_add_group(&fake, CAMP_GROUP_PROCESS, own ? 10 : 99, "web");
        fake_run(&fake, process, 0.5);
        fake_wait(&fake, process, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.5);
        fake_wait(&fake, CLIENT, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 5);
        found = judged(&fake, "E34");
        if (own) {
            assert_sentence(&found,
                            "Threads of the processes of --pid waited 500 ms a second for a CPU "
                            "on which batch ran. web (10) waited longest: 500 ms a second, "
                            "50.0 % of its time.");
            assert_true(fabs(found.finding.lost_s - 0.5) < 1e-6);
            assert_commands(&found, "camp why --from x.camp --begin -1s 10",
                            "camp why --from x.camp --begin -1s 10");
        } else {
            assert_int_equal(found.verdict, VERDICT_UNKNOWN);
            assert_non_null(strstr(found.reason, "--why-of PID"));
        }
        fake_end(&fake);
    }
}

static void names_are_operands_that_camp_why_takes_for_names(void **state)
{
    static const char *const names[][2] = {
        { "it's", "camp why --from x.camp --begin -1s 'it'\\''s'" },
        { "-v", "camp why --from x.camp --begin -1s -- -v" },
        { "a b", "camp why --from x.camp --begin -1s 'a b'" },
        { "12", "" },
        { "bad\n", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct judgement found;
        char command[COMMAND_SIZE];
        struct fake fake;
        uint32_t group;

        start(&fake);
        group = fake_add_group(&fake, CAMP_GROUP_NAME, 0, names[i][0]);
        fake_wait(&fake, group, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 0.5);
        found = judged(&fake, "E34");
        cause_command_text(command, &found, " --from x.camp --begin -1s");
        assert_string_equal(command, names[i][1]);
        fake_end(&fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_noisy_neighbour_is_named_with_its_share),
        cmocka_unit_test(the_command_of_waits_without_a_culprit_shows_those_of_all_threads),
        cmocka_unit_test(the_wait_of_many_threads_is_in_seconds_a_second),
        cmocka_unit_test(threads_that_wait_behind_their_own_process_have_no_neighbour),
        cmocka_unit_test(a_full_machine_has_the_culprit_of_the_process_that_waits_longest),
        cmocka_unit_test(waits_for_a_disk_name_the_device),
        cmocka_unit_test(a_lock_has_its_holder_and_what_that_waited_for),
        cmocka_unit_test(a_culprit_that_ran_longer_than_it_waited_is_said_to_have_run),
        cmocka_unit_test(a_process_that_waits_for_the_lock_of_a_file_is_found_with_the_holder),
        cmocka_unit_test(
            a_wait_for_a_futex_or_a_semaphore_counts_while_it_lasts_if_the_owner_is_known),
        cmocka_unit_test(of_chosen_processes_the_lock_needs_no_group_of_its_own),
        cmocka_unit_test(waits_that_delay_nobody_are_not_found),
        cmocka_unit_test(a_wait_of_many_causes_has_no_culprit),
        cmocka_unit_test(without_causes_the_reason_says_how_to_get_them),
        cmocka_unit_test(of_chosen_processes_only_those_with_causes_of_their_own_are_judged),
        cmocka_unit_test(names_are_operands_that_camp_why_takes_for_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
