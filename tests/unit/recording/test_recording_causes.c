/* Tests the causes of waits in a recording: what is read equals what was written, for each
 * interval, and damaged causes are reported without damage to the frames. */
#include "failing_memory.h"
#include "recording_fixture.h"
#include "sources/causes/cause_fit.h"

#define INTERVALS 70

static struct causes written; /* filled by make_causes() */
static struct call_name names[3];

static void add_group(uint32_t number, uint32_t kind, int32_t pid, const char *name)
{
    struct camp_states_group *group = &written.groups[written.group_count++];

    *group = (struct camp_states_group){ .number = number, .kind = kind, .pid = pid };
    snprintf(group->name, sizeof group->name, "%s", name);
}

static void add_row(uint32_t group, uint32_t state, uint32_t kind, uint32_t id, uint64_t ns)
{
    assert_true(cause_add(&written.rows, &(struct cause){ group, state, kind, id, ns }));
    written.state_ns[group][state] += ns;
}

/* A cause that was reduced to nothing. */
static void add_reduced(uint32_t group, uint32_t kind, uint32_t id)
{
    add_row(group, CAMP_STATE_STOPPED, kind, id, 1);
    written.state_ns[group][CAMP_STATE_STOPPED] = 0;
    written.rows.items[written.rows.count - 1].wait_ns = 0;
}

static void add_lengths(uint32_t group, uint32_t state, size_t at)
{
    struct wait_lengths *lengths = &written.lengths[group][state];

    lengths->counts[random_below(CAMP_WAIT_BUCKETS)] = 1 + random_below(1000);
    lengths->counts[47] += random_below(2) * UINT32_MAX;
    lengths->longest_ns = 1 + random_below(UINT32_MAX) * 1000;
    lengths->longest_tid = (int32_t)random_below(INT32_MAX);
    lengths->longest_wall_clock_ns = FIRST_WALL_CLOCK_NS + (int64_t)at;
    wait_lengths_fill(lengths);
}

static void add_call(size_t at, const char *call, const char *object, uint64_t ns)
{
    struct call_list *calls = &written.calls;

    calls->items[calls->count] = (struct camp_call_sleeps){
        .pid = 77, .state = CAMP_STATE_PIPE, .sleep_ns = ns, .count = 1 + at
    };
    snprintf(names[calls->count].call, CAUSE_NAME_SIZE, "%s", call);
    snprintf(names[calls->count++].object, CAUSE_NAME_SIZE, "%s", object);
}

/* Group 5 comes late, group 6 gets another name, and group 63 is not always there. In interval 2 no
 * group has threads or was reduced. */
static void make_groups(size_t at)
{
    add_group(0, CAMP_GROUP_OTHER, 0, "");
    add_group(1, CAMP_GROUP_KERNEL, 0, "");
    add_group(3, CAMP_GROUP_PROCESS, 77, at < 3 ? "" : "a b'\"\xff");
    if (at >= 10)
        add_group(5, CAMP_GROUP_NAME, 0, "late");
    add_group(6, CAMP_GROUP_NAME, 0, at < 20 ? "before" : "after");
    if ((at < 30 && at != 2) || at > 40)
        add_group(63, CAMP_GROUP_NAME, 0, "last of 63");
}

static void make_causes(size_t at)
{
    static struct cause_device device = { 36, "disk (irq 36)" };
    struct cause *rows = written.rows.items;
    struct camp_call_sleeps *calls = written.calls.items;
    const size_t capacity = written.rows.capacity;

    written = (struct causes){
        .is_recorded = true, .devices = &device, .device_count = 1, .call_names = names
    };
    written.rows = (struct cause_list){ rows, 0, capacity };
    written.calls = (struct call_list){ calls, 0, 3 };
    make_groups(at);
    for (size_t i = 0; i < written.group_count; i++) {
        const uint32_t number = written.groups[i].number;

        written.threads[number] = at == 2 ? 0 : at < 50 ? 1 + i : random_below(UINT32_MAX);
        written.reduced_ns[number] = at != 2 && random_below(8) == 0 ? random_below(1000) : 0;
        written.state_ns[number][CAMP_STATE_USER] = random_below(3) * 1000;
        written.state_ns[number][CAMP_STATE_IRQ] = random_below(2);
        for (uint32_t kind = 0; kind < CAUSE_KIND_COUNT; kind++)
            add_row(number, (uint32_t)(random_below(2) ? CAMP_STATE_RUN_QUEUE : CAMP_STATE_DISK),
                    kind,
                    kind == CAMP_CAUSE_DEVICE  ? 36
                    : kind == CAMP_CAUSE_GROUP ? 6
                                               : 0,
                    random_below(3) * random_below(UINT32_MAX) * 100);
        add_reduced(number, CAMP_CAUSE_TIMER, 0);
        add_reduced(number, CAMP_CAUSE_DEVICE, 37);
        add_lengths(number, CAMP_STATE_RUN_QUEUE, at);
        add_lengths(number, CAMP_STATE_THROTTLED, at);
    }
    add_call(at, "read", "pipe:[1]", 3000);
    add_call(at, "read", at % 9 == 0 ? "pipe:[2]" : "pipe:[3]", 2000);
    add_call(at, "nanosleep", "", 1000);
    cause_sort(&written.rows);
}

/* Rows without time are not written. */
static void assert_rows(const struct cause_list *read)
{
    size_t count = 0;

    for (size_t i = 0; i < written.rows.count; i++) {
        if (written.rows.items[i].wait_ns == 0)
            continue;
        assert_true(count < read->count);
        assert_memory_equal(&read->items[count++], &written.rows.items[i], sizeof *read->items);
    }
    assert_int_equal(read->count, count);
}

static void assert_written(const struct causes *read)
{
    assert_int_equal(read->group_count, written.group_count);
    for (size_t i = 0; i < read->group_count; i++)
        assert_memory_equal(&read->groups[i], &written.groups[i], sizeof read->groups[i]);
    assert_memory_equal(read->threads, written.threads, sizeof read->threads);
    assert_memory_equal(read->state_ns, written.state_ns, sizeof read->state_ns);
    assert_memory_equal(read->reduced_ns, written.reduced_ns, sizeof read->reduced_ns);
    assert_memory_equal(read->lengths, written.lengths, sizeof read->lengths);
    assert_rows(&read->rows);
    assert_int_equal(read->calls.count, written.calls.count);
    assert_memory_equal(read->calls.items, written.calls.items,
                        read->calls.count * sizeof *read->calls.items);
    for (size_t i = 0; i < read->calls.count; i++) {
        assert_string_equal(read->call_names[i].call, names[i].call);
        assert_string_equal(read->call_names[i].object, names[i].object);
    }
    assert_int_equal(read->device_count, 1);
    assert_string_equal(read->devices[0].name, "disk (irq 36)");
}

static void assert_adds_up(const struct causes *read)
{
    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            uint64_t sum = 0;

            for (size_t i = 0; i < read->rows.count; i++) {
                const struct cause *row = &read->rows.items[i];

                sum += row->group == group && row->state == state ? row->wait_ns : 0;
            }
            assert_true(sum == (causes_is_wait(state) ? read->state_ns[group][state] : 0));
        }
    }
}

static void make_interval(struct frame *frame, size_t at)
{
    make_frame(frame, at);
    make_causes(at);
}

static int write_interval(struct recorder *recorder, const struct frame *frame)
{
    return recorder_write(recorder, frame, NULL, &written, NULL);
}

static void start_again(void)
{
    memset(actors, 0, sizeof actors);
    random_state = 1;
}

static void record(size_t count)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    start_again();
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < count; i++) {
        make_interval(&frame, i);
        assert_int_equal(write_interval(recorder, &frame), CAMP_OK);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

/* Reads the causes of each interval whose number is a multiple of `every`. */
static void read_back(size_t count, size_t first, size_t every)
{
    struct from from = { 0 };
    struct from_facts facts;
    struct source *source;
    const struct frame *read;
    const struct causes *causes;
    struct frame frame;

    start_again();
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < first; i++)
        make_interval(&frame, i);
    if (first > 0)
        from.begin_ns = frame.wall_clock_ns;
    source = open_from(&from, &facts);
    for (size_t i = first; i < count; i++) {
        make_interval(&frame, i);
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        if (i % every != 0)
            continue;
        assert_int_equal(source_causes(source, &causes, NULL), CAMP_OK);
        if (causes == NULL) {
            fail_msg("interval %zu has no causes", i);
            return;
        }
        assert_written(causes);
        assert_adds_up(causes);
        assert_int_equal(causes->end_ns, read->end_ns);
        assert_int_equal(causes->wall_clock_ns, read->wall_clock_ns);
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    source_close(source);
    frame_release(&frame);
}

static void causes_are_read_back_unchanged_and_add_up_to_their_states(void **state)
{
    (void)state;
    record(INTERVALS);
    read_back(INTERVALS, 0, 1);
    run_sql("CREATE TABLE t(rows CHECK(rows = 0));"
            "INSERT INTO t SELECT count(*) FROM cause WHERE time_ns = 0");
}

static void causes_of_some_intervals_need_no_others(void **state)
{
    (void)state;
    record(INTERVALS);
    read_back(INTERVALS, 0, 13);
    read_back(INTERVALS, 35, 1);
    read_back(INTERVALS, 63, 2);
}

static void a_recording_without_causes_has_none(void **state)
{
    const struct from from = { 0 };
    const struct causes *causes = &written;
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_made(&states_schema, NULL);
    source = open_from(&from, &facts);
    assert_int_equal(read_frame(source, &read), CAMP_OK);
    assert_int_equal(source_causes(source, &causes, NULL), CAMP_OK);
    assert_null(causes);
    source_close(source);
}

/* A failed interval is written again: nothing of its causes is missing, or there twice. */
static void an_interval_that_failed_loses_no_causes(void **state)
{
    size_t failures = 0;

    (void)state;
    for (size_t failed = 0; failed < 3; failed++) {
        for (size_t at = 1; at < 4000; at += 61) {
            struct recorder *recorder = open_recorder();
            struct frame frame;

            start_again();
            frame_init(&frame, &states_schema);
            for (size_t i = 0; i < 3; i++) {
                make_interval(&frame, i);
                allocations = 0;
                failing = i == failed ? at : 0;
                if (write_interval(recorder, &frame) != CAMP_OK) {
                    failures++;
                    failing = 0;
                    assert_int_equal(write_interval(recorder, &frame), CAMP_OK);
                }
                failing = 0;
            }
            recorder_close(recorder);
            frame_release(&frame);
            read_back(3, 0, 1);
            recording_remove(path);
        }
    }
    assert_true(failures >= 30);
}

/* Reads all frames and their causes. Returns the first error of the causes, or "". */
static const char *error_of_causes(void)
{
    static struct camp_error error;
    const struct from from = { 0 };
    const struct causes *causes;
    const struct frame *read;
    struct from_facts facts;
    struct source *source = open_from(&from, &facts);
    bool failed = false;
    size_t frames = 0;

    error = (struct camp_error){ 0 };
    while (read_frame(source, &read) == CAMP_OK) {
        frames++;
        failed = failed || source_causes(source, &causes, &error) != CAMP_OK;
    }
    source_close(source);
    assert_int_equal(frames, 3);
    return error.message;
}

#define LOOSE(table, sql)                                                                          \
    "CREATE TABLE t AS SELECT * FROM " table "; DROP VIEW causes; DROP TABLE " table               \
    "; ALTER TABLE t RENAME TO " table "; " sql

static void damaged_causes_are_reported_and_the_frames_are_read(void **state)
{
    static const char *const damages[][2] = {
        { "UPDATE cause SET number = number + 64", "out of range" },
        { "UPDATE cause SET number = -1 - number", "out of range" },
        { "UPDATE cause SET number = 2 WHERE number = 3", "not there" },
        { "UPDATE cause SET who = 9 WHERE kind = 0", "not there" },
        { "UPDATE cause SET who = 4294967296 WHERE kind = 0", "out of range" },
        { "UPDATE cause SET state = 0 WHERE kind = 1", "of another state" },
        { "UPDATE cause SET state = 9 WHERE kind = 100 AND state = 0", "of another state" },
        { "UPDATE cause SET state = state + 90", "does not know" },
        { "UPDATE cause SET kind = 99 WHERE kind = 1", "does not know" },
        { "UPDATE cause SET kind = 128 WHERE kind = 1", "out of range" },
        { "UPDATE cause SET time_ns = -1", "out of range" },
        { "UPDATE cause SET time_ns = 9223372036854775807", "out of range" },
        { "UPDATE cause SET time_ns = 4611686018427387904", "a sum that is out of range" },
        { LOOSE("cause", "UPDATE cause SET time_ns = 'much'"), "out of range" },
        { LOOSE("cause", "INSERT INTO cause SELECT * FROM cause WHERE kind = 1"), "twice" },
        { LOOSE("cause", "UPDATE cause SET time_ns = NULL"), "out of range" },
        { "DELETE FROM cause_word WHERE word = 'state'", "does not know" },
        { "UPDATE cause_word SET name = 'x' WHERE word = 'kind'", "does not know" },
        { "DELETE FROM cause_group", "not there" },
        { "UPDATE cause_group SET number = number + 64", "out of range" },
        { "UPDATE cause_group SET pid = -5", "out of range" },
        { "UPDATE cause_group SET kind = 1000", "out of range" },
        { "UPDATE cause_group SET kind = -1", "not there" },
        { "UPDATE cause_threads SET threads = -1", "out of range" },
        { "UPDATE cause_threads SET number = 64 + number", "out of range" },
        { "UPDATE cause_lengths SET counts = ''", "not numbers of waits" },
        { "UPDATE cause_lengths SET counts = '{\"48\":1}'", "not numbers of waits" },
        { "UPDATE cause_lengths SET counts = '{\"1\":99999999999999999999}'", "not numbers" },
        { "UPDATE cause_lengths SET counts = '{\"1\":1'", "not numbers of waits" },
        { "UPDATE cause_lengths SET counts = '{\"1\":-1}'", "not numbers of waits" },
        { "UPDATE cause_lengths SET longest_ns = -1", "out of range" },
        { "UPDATE cause_lengths SET number = number + 1000", "out of range" },
        { "UPDATE cause_call SET sleep_ns = -1", "out of range" },
        { "UPDATE cause_call SET state = 200 + state", "out of range" },
        { "UPDATE cause_device SET number = -1", "out of range" },
        { "DROP VIEW causes; DROP TABLE cause_lengths", "no such table" },
        { "DROP VIEW causes; ALTER TABLE cause DROP COLUMN time_ns", "no such column" },
    };

    (void)state;
    record(3);
    assert_string_equal(error_of_causes(), "");
    for (size_t i = 0; i < COUNT(damages); i++) {
        const char *message;

        recording_remove(path);
        record(3);
        run_sql(damages[i][0]);
        message = error_of_causes();
        if (strstr(message, damages[i][1]) == NULL || strchr(message, '\n') != NULL)
            fail_msg("%s: '%s' does not say '%s'", damages[i][0], message, damages[i][1]);
    }
}

static void strange_causes_that_harm_nobody_are_read(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM cause",
        "DELETE FROM cause_threads",
        "DELETE FROM cause_lengths",
        "DELETE FROM cause_device",
        "DELETE FROM cause_object",
        "UPDATE cause_group SET name = hex(zeroblob(3000))",
        "UPDATE cause_device SET name = hex(zeroblob(3000))",
        "UPDATE cause_lengths SET counts = '{\"0\":0}'",
        "UPDATE cause_group SET kind = 100 WHERE number > 2",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(changes); i++) {
        record(3);
        run_sql(changes[i]);
        assert_string_equal(error_of_causes(), "");
        recording_remove(path);
    }
}

static int make_space(void **state)
{
    (void)state;
    fail_allocations();
    written.calls.items = calloc(3, sizeof *written.calls.items);
    return written.calls.items == NULL;
}

static int release_space(void **state)
{
    (void)state;
    free(written.calls.items);
    free(written.rows.items);
    return 0;
}

int main(void)
{
#define CAUSES_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        CAUSES_TEST(causes_are_read_back_unchanged_and_add_up_to_their_states),
        CAUSES_TEST(causes_of_some_intervals_need_no_others),
        CAUSES_TEST(a_recording_without_causes_has_none),
        CAUSES_TEST(an_interval_that_failed_loses_no_causes),
        CAUSES_TEST(damaged_causes_are_reported_and_the_frames_are_read),
        CAUSES_TEST(strange_causes_that_harm_nobody_are_read),
    };

    return cmocka_run_group_tests(tests, make_space, release_space);
}
