/* A sentence says of what its figures are, and no reason that the rule does not know. */
#include "fake_evidence.h"

static void assert_sentence(struct fake *fake, const char *id, const char *wanted)
{
    struct judgement found;
    char sentence[SENTENCE_SIZE];

    if (fake->evidence.intervals == 0)
        fake_finish(fake);
    judge(&found, rule_find(id), &fake->evidence, "");
    if (found.verdict != VERDICT_FIRES)
        fail_msg("%s: verdict %d, value %g, %s", id, found.verdict, found.finding.value,
                 found.reason);
    sentence_text(sentence, &found);
    assert_string_equal(sentence, wanted);
}

static void full_cpus_of_one_process_are_those_of_the_machine(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        struct fake fake;

        fake_start(&fake, &fake_threads);
        fake.evidence.is_part = part != 0;
        fake_add_cpus(&fake, 1, 1);
        fake_row(&fake, &fake.rows, 7, 7, "victim");
        fake_set(&fake.rows, "user_ns", 0.4);
        fake_set(&fake.rows, "run_queue_ns", 0.5);
        assert_sentence(&fake, "E01",
                        part != 0
                            ? "The 2 CPUs were busy for 100.0 % of their time, and threads of "
                              "the processes of --pid that were ready to run waited 500 ms a "
                              "second for one. victim (pid 7) waited longest."
                            : "The 2 CPUs were busy for 100.0 % of their time, and threads "
                              "that were ready to run waited 500 ms a second for one. victim "
                              "(pid 7) waited longest and ran most.");
        fake_end(&fake);
    }
}

static void sums_of_chosen_processes_say_whose_they_are(void **state)
{
    static const struct {
        const char *rule, *column, *sentence;
    } sums[] = {
        { "E03", "throttled_ns",
          "Threads of the processes of --pid were throttled for 600 ms a second, because the CPU "
          "quota of their cgroup was used up: victim (pid 7) for longest." },
        { "E11", "disk_ns",
          "Waits for disks of the processes of --pid took 600 ms a second, of which victim (pid 7) "
          "had 600 ms." },
        { "E12", "data_fault_ns",
          "Page faults on data of the processes of --pid waited 600 ms a second for pages that "
          "were not in memory: mapped files, or swap. victim (pid 7) had 600 ms of it." },
        { "E13", "text_fault_ns",
          "Programs of the processes of --pid waited 600 ms a second for pages of their own code: "
          "they are cold, or memory is too small to keep them. victim (pid 7) had 600 ms of it." },
        { "E22", "stopped_ns",
          "1 thread of the processes of --pid was stopped and continued, by a signal, a tracer "
          "or a frozen cgroup, and lost 600 ms a second: victim (pid 7) most." },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sums); i++) {
        struct fake fake;

        fake_start(&fake, &fake_threads);
        fake.evidence.is_part = true;
        fake_add_cpus(&fake, 0.1, 0.1);
        fake_row(&fake, &fake.rows, 7, 7, "victim");
        fake_set(&fake.rows, sums[i].column, 0.6);
        assert_sentence(&fake, sums[i].rule, sums[i].sentence);
        fake_end(&fake);
    }
}

static void what_the_system_counts_as_a_whole_is_unknown_of_chosen_processes(void **state)
{
    static const char *const wholes[] = { "E14", "E24" };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(wholes); i++) {
        struct judgement found;
        struct fake fake;

        fake_start(&fake, &fake_threads);
        fake.evidence.is_part = true;
        fake.evidence.pressure.is_known = true;
        fake.evidence.pressure.memory_some_ns = (uint64_t)(SECONDS * NS);
        fake.rows.losses.lost = fake.rows.losses.partial = 5;
        fake_row(&fake, &fake.rows, 7, 7, "victim");
        fake_finish(&fake);
        judge(&found, rule_find(wholes[i]), &fake.evidence, "");
        assert_int_equal(found.verdict, VERDICT_UNKNOWN);
        assert_string_equal(found.reason, "it is about all processes, not about those of --pid");
        fake_end(&fake);
    }
}

/* A kernel thread that is bound to a CPU may have the highest priority, and wait there. */
static void the_sentence_about_a_starved_kernel_thread_has_no_priority(void **state)
{
    static const char *const reasons[] = {
        "Its priority may be low (nice, weight, policy), or its CPU has more threads than others.",
        "It is a kernel thread, and may be bound to a CPU on which others run.",
    };

    (void)state;
    for (int kernel = 0; kernel < 2; kernel++) {
        char wanted[SENTENCE_SIZE];
        struct fake fake;

        fake_start(&fake, &fake_threads);
        fake_add_cpus(&fake, 1, 1);
        fake_row(&fake, &fake.rows, 6, 6, "hog");
        fake_set(&fake.rows, "user_ns", 1);
        fake_row(&fake, &fake.rows, 7, 7, "kworker")->flags = kernel != 0 ? ENTITY_KERNEL : 0;
        fake_set(&fake.rows, "run_queue_ns", 0.5);
        snprintf(wanted, sizeof wanted,
                 "kworker (pid 7) was ready to run for 500 ms a second and ran for only 0 s, 100.0 "
                 "%% less than threads that were ready had on average. %s hog (pid 6) ran most.",
                 reasons[kernel]);
        assert_sentence(&fake, "E07", wanted);
        fake_end(&fake);
    }
}

/* Columns of sessions whose server measures throttled time and blockers. */
static const struct column columns_of_servers[] = {
    FAKE_STATE("cpu_ns", CLASS_CPU),
    FAKE_STATE("run_queue_ns", CLASS_READY),
    FAKE_STATE("throttled_ns", CLASS_THROTTLED),
    FAKE_STATE("contention_ns", CLASS_CONTENTION),
    FAKE_STATE("idle_ns", CLASS_IDLE),
    FAKE_COUNTER("contention_row_lock_ns", CAMP_MEASURED),
    FAKE_COUNTER("blocking_ns", CAMP_SCALED),
};
static const char *const labels_of_servers[] = { "server", "blocking_activity" };
static const struct schema of_servers = {
    "sessions", columns_of_servers, ARRAY_COUNT(columns_of_servers), 5, labels_of_servers, 2
};

static void add_session(struct fake *fake, int64_t number, const char *activity)
{
    struct entity *entity = fake_row(fake, &fake->rows, entity_of_server(2, number), 0, "app@shop");

    entity->labels = labels_intern((const char *const[]){ "host=db2", activity }, 2);
}

static void throttled_sessions_have_a_quota_of_their_own(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &of_servers);
    add_session(&fake, 7, "");
    fake_set(&fake.rows, "throttled_ns", 0.25);
    assert_sentence(&fake, "E03",
                    "Sessions were throttled for 250 ms a second: their server had used up its own "
                    "quota of CPU time (that of its cgroup). app@shop (pid 7 of host=db2) was "
                    "throttled for longest.");
    fake_end(&fake);
}

static void the_sentence_about_sessions_that_wait_for_locks_names_their_blocker(void **state)
{
    struct judgement found;
    char command[COMMAND_SIZE];
    struct fake fake;

    (void)state;
    fake_start(&fake, &of_servers);
    add_session(&fake, 7, "");
    fake_set(&fake.rows, "contention_ns", 0.5);
    fake_set(&fake.rows, "contention_row_lock_ns", 0.5);
    add_session(&fake, 8, "idle_in_transaction");
    fake_set(&fake.rows, "blocking_ns", 0.5);
    assert_sentence(&fake, "E27",
                    "1 session waited 500 ms a second for what other sessions hold, most of it "
                    "for: contention_row_lock_ns. app@shop (pid 7 of host=db2) waited longest; "
                    "app@shop (pid 8 of host=db2) blocked others for 500 ms a second, idle in "
                    "transaction.");
    judge(&found, rule_find("E27"), &fake.evidence, "");
    command_text(command, &found, EVIDENCE_SESSIONS, " --from postgres:host=db2");
    assert_string_equal(command, "camp why --from postgres:host=db2");
    fake_end(&fake);
}

static void reasons_of_rules_about_threads_speak_of_sessions(void **state)
{
    static const char *const rules_of_threads[][2] = {
        { "E03", "throttled time of sessions" },    { "E04", "about the machine" },
        { "E11", "no such state of threads" },      { "E14", "about the machine" },
        { "E22", "no such state of threads" },      { "E34", "camp why shows who blocks whom" },
        { "E42", "camp why shows who blocks whom" }
    };
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_sessions);
    fake.evidence.is_live = true;
    fake_row(&fake, &fake.rows, 7, 7, "app@shop");
    fake_finish(&fake);
    for (size_t i = 0; i < ARRAY_COUNT(rules_of_threads); i++) {
        struct judgement found;

        judge(&found, rule_find(rules_of_threads[i][0]), &fake.evidence, "tier SQL");
        assert_int_equal(found.verdict, VERDICT_UNKNOWN);
        assert_non_null(strstr(found.reason, rules_of_threads[i][1]));
        assert_null(strstr(found.reason, "tier SQL"));
        assert_null(strstr(found.reason, "this kernel"));
    }
    fake_end(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttled_sessions_have_a_quota_of_their_own),
        cmocka_unit_test(the_sentence_about_sessions_that_wait_for_locks_names_their_blocker),
        cmocka_unit_test(reasons_of_rules_about_threads_speak_of_sessions),
        cmocka_unit_test(full_cpus_of_one_process_are_those_of_the_machine),
        cmocka_unit_test(sums_of_chosen_processes_say_whose_they_are),
        cmocka_unit_test(what_the_system_counts_as_a_whole_is_unknown_of_chosen_processes),
        cmocka_unit_test(the_sentence_about_a_starved_kernel_thread_has_no_priority),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
