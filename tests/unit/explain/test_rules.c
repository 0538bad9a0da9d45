/* Each rule finds something just above its threshold, and nothing just below it. */
#include "fake_evidence.h"

#include <math.h>

/* Makes a finding of which the value is `value`. */
struct scene {
    const char *id;
    const struct schema *schema;
    void (*make)(struct fake *fake, double value);
    const char *who; /* what the finding names, or NULL */
};

#define SCENE(name) static void name(struct fake *fake, double value)

static void add_thread(struct fake *fake, int64_t tid, int32_t pid, const char *name)
{
    fake_row(fake, &fake->rows, tid, pid, name);
}

SCENE(full_cpus)
{
    fake_add_cpus(fake, 1, 1);
    add_thread(fake, 7, 7, "waiter");
    fake_set(&fake->rows, "run_queue_ns", value);
    add_thread(fake, 8, 8, "waiter2");
    fake_set(&fake->rows, "run_queue_ns", value);
}

SCENE(uneven_cpus)
{
    fake_add_cpus(fake, 1, 0.1);
    add_thread(fake, 7, 7, "waiter");
    fake_set(&fake->rows, "run_queue_ns", value);
}

/* A thread of which one column has the value. */
static void one_column(struct fake *fake, const char *column, double value)
{
    fake_add_cpus(fake, 0.1, 0.1);
    add_thread(fake, 7, 7, "culprit");
    fake_set(&fake->rows, column, value);
}

SCENE(throttled)
{
    one_column(fake, "throttled_ns", value);
}

SCENE(stolen)
{
    fake_add_cpus(fake, 1, 1);
    fake_set(&fake->cpus, "steal_ns", 2 * value);
    add_thread(fake, 7, 7, "any");
}

SCENE(serial)
{
    one_column(fake, "user_ns", value);
}

SCENE(short_lived)
{
    fake_add_cpus(fake, 1, 1);
    fake_row(fake, &fake->rows, 7, 7, "culprit")->flags = ENTITY_NEW | ENTITY_ENDED;
    fake->rows.entities[0].count = 1000;
    fake_set(&fake->rows, "user_ns", 0.5 * value);
    add_thread(fake, 8, 8, "other");
    fake_set(&fake->rows, "user_ns", 0.5 * (1 - value));
}

/* The hog runs for 1 s a second, and the culprit is ready or runs for 0.5 s. The share of all
 * threads is (1 + share / 2) / 1.5, of which the culprit has 1 - value. */
SCENE(starved)
{
    const double share = (1 - value) / (1 + 0.5 * value);

    fake_add_cpus(fake, 1, 1);
    add_thread(fake, 6, 6, "hog");
    fake_set(&fake->rows, "user_ns", 1);
    add_thread(fake, 7, 7, "culprit");
    fake_set(&fake->rows, "run_queue_ns", 0.5 * (1 - share));
    fake_set(&fake->rows, "user_ns", 0.5 * share);
}

SCENE(sampling_error)
{
    one_column(fake, "cpu_ns", 0);
    fake_set(&fake->rows, "sampled_ns", value);
}

SCENE(hidden_iowait)
{
    one_column(fake, "disk_ns", value + 0.1);
    fake_set(&fake->cpus, "kernel_wait_ns", 0.1);
}

SCENE(inflated_iowait)
{
    one_column(fake, "disk_ns", 0.1);
    fake_set(&fake->cpus, "kernel_wait_ns", value + 0.1);
}

SCENE(disk)
{
    one_column(fake, "disk_ns", value);
}

SCENE(data_faults)
{
    one_column(fake, "data_fault_ns", value);
}

SCENE(text_faults)
{
    one_column(fake, "text_fault_ns", value);
}

SCENE(memory_pressure)
{
    one_column(fake, "data_fault_ns", 0.01);
    fake->evidence.pressure =
        (struct evidence_pressure){ true, (uint64_t)(value * SECONDS * NS + 0.5) };
}

SCENE(page_faults)
{
    one_column(fake, "minor_faults", value);
}

SCENE(small_slices)
{
    one_column(fake, "voluntary_switches", value);
    fake_set(&fake->rows, "user_ns", 0.1);
}

SCENE(system_calls)
{
    one_column(fake, "system_calls", value);
}

SCENE(system_time)
{
    one_column(fake, "system_ns", value);
    fake_set(&fake->rows, "user_ns", 0.05);
}

SCENE(interrupts)
{
    fake_add_cpus(fake, 0.1, 0.1);
    fake_set(&fake->cpus, "irq_ns", value / 2);
    fake_set(&fake->cpus, "softirq_ns", value / 2);
    add_thread(fake, 7, 7, "any");
}

SCENE(convoy)
{
    fake_add_cpus(fake, 0.1, 0.1);
    for (int i = 0; i < 3; i++) {
        add_thread(fake, 7 + i, 7, "culprit");
        fake_set(&fake->rows, "lock_ns", value / 3);
        fake_set(&fake->rows, "user_ns", 0.03);
        fake_set(&fake->rows, "run_queue_ns", 0.03);
    }
}

SCENE(polling)
{
    one_column(fake, "timer_ns", 0.9);
    fake_set(&fake->rows, "voluntary_switches", value);
    fake_set(&fake->rows, "user_ns", 0.1);
}

SCENE(stopped)
{
    one_column(fake, "stopped_ns", value);
}

SCENE(unaccounted)
{
    one_column(fake, "user_ns", 0.1);
    frame_values(&fake->rows, 0)[column_find(&fake_threads, "other_sleep_ns")] -=
        (uint64_t)(value * SECONDS * NS + 0.5);
}

SCENE(lost)
{
    one_column(fake, "user_ns", 0.1);
    fake->rows.losses.lost = value >= 1;
}

SCENE(unseen)
{
    one_column(fake, "voluntary_switches", 10000);
    fake_set(&fake->rows, "timer_ns", 0.1);
    fake->rows.losses.unseen = (uint64_t)(value * 10000 * SECONDS + 0.5);
}

SCENE(own_cost)
{
    one_column(fake, "user_ns", value);
    fake->evidence.own_pid = 7;
}

static void one_session(struct fake *fake, const char *column, double value)
{
    fake_row(fake, &fake->rows, 7, 0, "culprit");
    fake_set(&fake->rows, column, value);
}

SCENE(session_locks)
{
    one_session(fake, "contention_ns", value);
}

SCENE(idle_in_transaction)
{
    one_session(fake, "idle_in_transaction_ns", value);
}

SCENE(slow_client)
{
    one_session(fake, "wait_client_of_statement_ns", value);
}

SCENE(session_disk)
{
    one_session(fake, "wait_file_read_ns", value);
}

SCENE(session_queue)
{
    one_session(fake, "run_queue_ns", value);
}

SCENE(session_cpu)
{
    one_session(fake, "cpu_ns", value);
    fake_set(&fake->rows, "reported_cpu_ns", value);
}

SCENE(wrong_report)
{
    one_session(fake, "cpu_ns", value);
    fake_set(&fake->rows, "reported_idle_ns", 1);
}

/* The groups of each scene of causes. The victim has work, and the culprit runs all the time. */
enum { OTHERS, VICTIM, CULPRIT };

static void add_groups(struct fake *fake, double victim_runs)
{
    add_thread(fake, 7, 7, "any");
    fake_add_group(fake, CAMP_GROUP_OTHER, 0, "");
    fake_add_group(fake, CAMP_GROUP_NAME, 0, "victim");
    fake_add_group(fake, CAMP_GROUP_NAME, 0, "culprit");
    fake_run(fake, VICTIM, victim_runs);
    fake_run(fake, CULPRIT, 1);
}

static void one_wait(struct fake *fake, uint32_t state, uint32_t kind, double value)
{
    add_groups(fake, 0.1);
    fake_wait(fake, VICTIM, state, kind, kind == CAMP_CAUSE_GROUP ? CULPRIT : 0, value);
}

SCENE(neighbour)
{
    one_wait(fake, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, value);
    fake_wait(fake, CULPRIT, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, CULPRIT, 5);
    fake_wait(fake, VICTIM, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, OTHERS, 3);
}

SCENE(real_time)
{
    one_wait(fake, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_REAL_TIME, value);
    fake_wait(fake, VICTIM, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, OTHERS, 3);
}

SCENE(interrupted)
{
    one_wait(fake, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_INTERRUPTS, value);
    fake_wait(fake, VICTIM, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, OTHERS, 3);
}

SCENE(late_wakeups)
{
    one_wait(fake, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, value);
    fake_wait(fake, VICTIM, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, OTHERS, 3);
}

SCENE(lock_holder)
{
    one_wait(fake, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, value);
}

SCENE(pipe_end)
{
    one_wait(fake, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, value);
}

SCENE(socket_peer)
{
    one_wait(fake, CAMP_STATE_SOCKET, CAMP_CAUSE_GROUP, value);
}

SCENE(timeouts)
{
    one_wait(fake, CAMP_STATE_SOCKET, CAMP_CAUSE_TIMER, value);
    fake_wait(fake, VICTIM, CAMP_STATE_PIPE, CAMP_CAUSE_SIGNAL, 0, 0.5);
}

SCENE(blocked)
{
    one_wait(fake, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 1);
    fake_open(fake, OTHERS, 99, "flock", "/run/db.lock", value);
}

static const struct scene scenes[] = {
    { "E01", &fake_threads, full_cpus, "waiter" },
    { "E02", &fake_threads, uneven_cpus, "waiter" },
    { "E03", &fake_threads, throttled, "culprit" },
    { "E04", &fake_threads, stolen, NULL },
    { "E05", &fake_threads, serial, "culprit" },
    { "E06", &fake_threads, short_lived, "culprit" },
    { "E07", &fake_threads, starved, "culprit" },
    { "E08", &fake_threads, sampling_error, "culprit" },
    { "E09", &fake_threads, hidden_iowait, "culprit" },
    { "E10", &fake_threads, inflated_iowait, NULL },
    { "E11", &fake_threads, disk, "culprit" },
    { "E12", &fake_threads, data_faults, "culprit" },
    { "E13", &fake_threads, text_faults, "culprit" },
    { "E14", &fake_threads, memory_pressure, NULL },
    { "E15", &fake_threads, page_faults, "culprit" },
    { "E16", &fake_threads, small_slices, "culprit" },
    { "E17", &fake_threads, system_calls, "culprit" },
    { "E18", &fake_threads, system_time, "culprit" },
    { "E19", &fake_threads, interrupts, "CPU 1" },
    { "E20", &fake_threads, convoy, "culprit" },
    { "E21", &fake_threads, polling, "culprit" },
    { "E22", &fake_threads, stopped, "culprit" },
    { "E23", &fake_threads, unaccounted, "culprit" },
    { "E24", &fake_threads, lost, NULL },
    { "E25", &fake_threads, unseen, NULL },
    { "E26", &fake_threads, own_cost, "culprit" },
    { "E27", &fake_sessions, session_locks, "culprit" },
    { "E28", &fake_sessions, idle_in_transaction, "culprit" },
    { "E29", &fake_sessions, slow_client, "culprit" },
    { "E30", &fake_sessions, session_disk, "culprit" },
    { "E31", &fake_sessions, session_queue, "culprit" },
    { "E32", &fake_sessions, session_cpu, "culprit" },
    { "E33", &fake_sessions, wrong_report, "culprit" },
    { "E34", &fake_threads, neighbour, "victim" },
    { "E35", &fake_threads, real_time, "victim" },
    { "E36", &fake_threads, interrupted, "victim" },
    { "E37", &fake_threads, late_wakeups, "victim" },
    { "E38", &fake_threads, lock_holder, "victim" },
    { "E39", &fake_threads, pipe_end, "victim" },
    { "E40", &fake_threads, socket_peer, "victim" },
    { "E41", &fake_threads, timeouts, "victim" },
    { "E42", &fake_threads, blocked, "waiter (99)" },
};

static struct judgement judgement_of(const struct scene *scene, double value)
{
    struct judgement ret;
    struct fake fake;

    fake_start(&fake, scene->schema);
    scene->make(&fake, value);
    fake_finish(&fake);
    judge(&ret, rule_find(scene->id), &fake.evidence, "");
    fake_end(&fake);
    return ret;
}

static void each_rule_has_a_scene(void **state)
{
    (void)state;
    assert_int_equal(rule_count, ARRAY_COUNT(scenes));
    for (size_t i = 0; i < rule_count; i++)
        assert_string_equal(rules[i].id, scenes[i].id);
}

static void a_rule_finds_something_just_above_its_threshold(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(scenes); i++) {
        const double threshold = rule_find(scenes[i].id)->threshold;
        const struct judgement found = judgement_of(&scenes[i], threshold * 1.01);
        char sentence[SENTENCE_SIZE];

        sentence_text(sentence, &found);
        if (found.verdict != VERDICT_FIRES)
            fail_msg("%s does not fire: %s%s", scenes[i].id, found.reason, sentence);
        if (scenes[i].who != NULL && strstr(found.finding.who, scenes[i].who) == NULL)
            fail_msg("%s names '%s'", scenes[i].id, found.finding.who);
        assert_null(strchr(sentence, '{'));
        if (fabs(found.finding.value / threshold - 1.01) > 0.002 &&
            strcmp(scenes[i].id, "E24") != 0)
            fail_msg("%s has the value %g", scenes[i].id, found.finding.value);
    }
}

static void a_rule_finds_nothing_just_below_its_threshold(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(scenes); i++) {
        const double threshold = rule_find(scenes[i].id)->threshold;
        const struct judgement found = judgement_of(&scenes[i], threshold * 0.99);

        if (found.verdict != VERDICT_QUIET)
            fail_msg("%s: verdict %d, value %g, %s", scenes[i].id, found.verdict,
                     found.finding.value, found.reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_a_scene),
        cmocka_unit_test(a_rule_finds_something_just_above_its_threshold),
        cmocka_unit_test(a_rule_finds_nothing_just_below_its_threshold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
