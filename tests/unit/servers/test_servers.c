/* Tests the source of several servers with scripted servers, each in its thread. No test expects a
 * time: the servers do what the test tells them, and the test waits for what it can see. */
#include "scripted_server.h"

#define INTERVAL_NS (20 * (uint64_t)NS_PER_MS)
#define INTERVALS_MOST 3000 /* in which something must happen: a minute at least */

static volatile sig_atomic_t stop;
static struct server servers[SCRIPTS_MOST];
static const char *const names[SCRIPTS_MOST] = { "a", "b", "c", "d", "e", "f", "g", "h",
                                                 "i", "j", "k", "l", "m", "n", "o", "p" };

static int prepare(void **state)
{
    (void)state;
    stop = 0;
    for (size_t i = 0; i < SCRIPTS_MOST; i++) {
        scripts[i] = (struct script){ .name = names[i],
                                      .schema = &scripted_schema,
                                      .sessions = 2,
                                      .pids = { 100, 200 },
                                      .users = { "x", "y" } };
        servers[i].text = names[i];
        snprintf(servers[i].name, sizeof servers[i].name, "server %s", names[i]);
    }
    return 0;
}

static int open_servers(size_t count, struct source **ret, struct from_facts *facts,
                        struct camp_error *error)
{
    const struct from from = { .text = names[0], .stop = &stop };

    return servers_source_open(&from, servers, count, scripted_open, ret, facts, error);
}

static struct source *opened(size_t count)
{
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    if (open_servers(count, &source, &facts, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return source;
}

static const struct frame *read_frame(struct source *source)
{
    struct camp_error error = { 0 };
    const struct frame *frame;

    assert_int_equal(source->next(source, now_ns(CLOCK_MONOTONIC) + INTERVAL_NS, &frame, &error),
                     CAMP_OK);
    return frame;
}

static size_t rows_of(const struct frame *frame, size_t server)
{
    size_t count = 0;

    for (size_t i = 0; i < frame->entity_count; i++)
        count += strcmp(labels_value(frame->entities[i].labels, 0), servers[server].name) == 0;
    return count;
}

static uint64_t elapsed_of(const struct frame *frame, size_t server)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (strcmp(labels_value(frame->entities[i].labels, 0), servers[server].name) == 0)
            ns += frame->elapsed_ns[i];
    }
    return ns;
}

/* Reads intervals until a server has `rows` in one, which is returned. */
static const struct frame *read_until(struct source *source, size_t server, size_t rows)
{
    for (size_t i = 0; i < INTERVALS_MOST; i++) {
        const struct frame *frame = read_frame(source);

        if (rows_of(frame, server) == rows)
            return frame;
    }
    fail_msg("%s never has %zu rows", servers[server].name, rows);
    return NULL;
}

/* Reads intervals until all servers have rows in one, which is returned. */
static const struct frame *read_all(struct source *source, size_t count)
{
    for (size_t i = 0; i < INTERVALS_MOST; i++) {
        const struct frame *frame = read_frame(source);

        if (frame->entity_count == 2 * count)
            return frame;
    }
    fail_msg("the %zu servers never have all of their rows", count);
    return NULL;
}

/* Reads intervals until one server has no rows and the others have, and returns it. */
static const struct frame *read_without(struct source *source, size_t missing, size_t count)
{
    for (size_t i = 0; i < INTERVALS_MOST; i++) {
        const struct frame *frame = read_frame(source);

        if (frame->entity_count == 2 * (count - 1) && rows_of(frame, missing) == 0)
            return frame;
    }
    fail_msg("%s is never missing", servers[missing].name);
    return NULL;
}

static void sessions_of_all_servers_are_rows_with_the_label_of_their_server(void **state)
{
    struct source *source = opened(2);
    const struct frame *frame;

    (void)state;
    assert_string_equal(source->describe(source)->label_names[0], "server");
    assert_true(schema_has_servers(source->describe(source)));
    frame = read_all(source, 2);
    for (size_t i = 0; i < 4; i++) {
        const struct entity *entity = &frame->entities[i];

        assert_string_equal(labels_value(entity->labels, 0), servers[i / 2].name);
        assert_string_equal(labels_value(entity->labels, 1), i % 2 == 0 ? "x" : "y");
        assert_int_equal(entity->id & ENTITY_NUMBER_MASK, i % 2 == 0 ? 100 : 200);
        assert_int_equal(entity->id >> ENTITY_SERVER_SHIFT, i / 2 + 1);
        assert_int_equal(entity->pid, i % 2 == 0 ? 100 : 200);
        assert_int_equal(frame_unaccounted_ns(frame, i), 0);
    }
    assert_int_equal(frame->losses.lost, 0);
    assert_string_equal(frame->note, "");
    source_close(source);
    assert_int_equal(scripts[0].closed, 1);
    assert_int_equal(scripts[1].closed, 1);
}

/* Checks that the rows of a server are of its next interval. Returns whether it has rows. */
static bool check_interval(const struct frame *frame, size_t server, size_t number)
{
    const size_t rows = rows_of(frame, server);

    assert_true(rows == 0 || rows == 2);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        if ((size_t)(entity->id >> ENTITY_SERVER_SHIFT) != server + 1)
            continue;
        assert_int_equal(strtoul(labels_value(entity->labels, 2), NULL, 10), number);
        assert_int_equal(frame->elapsed_ns[i], scripts[server].log_ns[number]);
    }
    return rows > 0;
}

/* The first interval of a source is read when it is opened, the second when all are open. Each
 * later one is in a frame, once, with its own length. */
static void no_interval_of_a_server_is_lost_or_counted_twice(void **state)
{
    struct source *source = opened(3);
    size_t numbers[3] = { 2, 2, 2 };
    uint64_t end_ns = 0;

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        const struct frame *frame = read_frame(source);

        assert_true(i == 0 || frame->start_ns == end_ns);
        assert_true(frame->end_ns > frame->start_ns);
        end_ns = frame->end_ns;
        for (size_t server = 0; server < 3; server++)
            numbers[server] += check_interval(frame, server, numbers[server]);
    }
    for (size_t server = 0; server < 3; server++)
        assert_in_range(numbers[server], 3, scripts[server].intervals);
    source_close(source);
}

static void a_server_that_is_stuck_is_missing_and_the_others_go_on(void **state)
{
    struct source *source = opened(3);
    const struct frame *frame = read_all(source, 3);
    uint64_t other_ns = 0;

    (void)state;
    scripts[1].is_stuck = true;
    frame = read_without(source, 1, 3);
    for (size_t i = 0; i < 20; i++) {
        frame = read_without(source, 1, 3);
        assert_int_equal(frame->losses.lost, 1);
        assert_string_equal(frame->note,
                            "1 of 3 servers is missing: server b (it did not answer in time)");
        other_ns += elapsed_of(frame, 0);
    }
    scripts[1].is_stuck = false;
    /* Its first rows cover the whole time. */
    frame = read_until(source, 1, 2);
    assert_true(elapsed_of(frame, 1) > other_ns);
    frame = read_all(source, 3);
    assert_int_equal(frame->losses.lost, 0);
    assert_string_equal(frame->note, "");
    source_close(source);
}

static void a_server_that_does_not_answer_is_counted_and_named(void **state)
{
    struct source *source = opened(2);
    const struct frame *frame = read_all(source, 2);

    (void)state;
    scripts[0].is_silent = true;
    do
        frame = read_without(source, 0, 2);
    while (strstr(frame->note, "the script") == NULL);
    assert_int_equal(frame->losses.lost, 1);
    assert_string_equal(frame->note, "1 of 2 servers is missing: server a (the script is silent)");
    scripts[0].is_silent = false;
    read_all(source, 2);
    source_close(source);
}

static void a_server_that_cannot_be_opened_at_the_start_comes_later(void **state)
{
    struct source *source;
    const struct frame *frame;

    (void)state;
    scripts[1].opening = CAMP_E_GONE;
    source = opened(2);
    frame = read_without(source, 1, 2);
    assert_int_equal(frame->losses.lost, 1);
    assert_string_equal(frame->note, "1 of 2 servers is missing: server b (b refuses)");
    scripts[1].opening = CAMP_OK;
    frame = read_all(source, 2);
    assert_int_equal(frame->losses.lost, 0);
    source_close(source);
}

static void a_source_that_fails_is_closed_and_opened_again(void **state)
{
    struct source *source = opened(2);
    const struct frame *frame = read_all(source, 2);

    (void)state;
    source_set_division(source, SOURCE_LABEL_STATEMENT);
    scripts[1].reading = CAMP_E_IO;
    do
        frame = read_without(source, 1, 2);
    while (strstr(frame->note, "the script") == NULL);
    assert_string_equal(frame->note, "1 of 2 servers is missing: server b (the script fails)");
    scripts[1].reading = CAMP_OK;
    read_until(source, 1, 2);
    assert_in_range(scripts[1].opened, 2, INTERVALS_MOST);
    /* Its rows are again by statement, as was asked before. */
    for (size_t i = 0; i < INTERVALS_MOST && !scripts[1].by_statement; i++)
        read_frame(source);
    assert_true(scripts[1].by_statement);
    source_close(source);
    assert_int_equal(scripts[1].closed, scripts[1].opened);
}

static void sixteen_servers_are_read_at_the_same_time(void **state)
{
    struct source *source = opened(SCRIPTS_MOST);
    const struct frame *frame = read_all(source, SCRIPTS_MOST);

    (void)state;
    for (size_t i = 0; i < SCRIPTS_MOST; i++)
        assert_int_equal(rows_of(frame, i), 2);
    source_close(source);
}

static void servers_with_a_process_in_common_are_refused_as_the_same(void **state)
{
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    scripts[0].is_local = scripts[2].is_local = true;
    scripts[2].pids[0] = 300; /* another session of the same server */
    assert_int_equal(open_servers(3, &source, &facts, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "server a and server c are the same server: name it once");
    assert_int_equal(scripts[1].closed, scripts[1].opened);
    /* Servers of other machines may have the same pids. */
    scripts[2].is_local = false;
    source_close(opened(3));
}

static void opening_fails_if_no_server_or_a_wrong_one_is_named(void **state)
{
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    scripts[0].opening = scripts[1].opening = CAMP_E_GONE;
    assert_int_equal(open_servers(2, &source, &facts, &error), CAMP_E_GONE);
    assert_string_equal(error.message, "server a: a refuses");
    scripts[0].opening = CAMP_OK;
    scripts[1].opening = CAMP_E_INVALID;
    assert_int_equal(open_servers(2, &source, &facts, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "server b: b refuses");
}

static void a_signal_ends_the_opening_of_a_server_that_is_stuck(void **state)
{
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    scripts[0].is_stuck = scripts[1].is_stuck = true;
    stop = 1;
    assert_int_equal(open_servers(2, &source, &facts, &error), CAMP_E_GONE);
    assert_string_equal(error.message, "server a: interrupted");
}

static void the_facts_name_all_servers_and_their_tiers(void **state)
{
    struct camp_error error = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    scripts[0].is_local = true;
    assert_int_equal(open_servers(7, &source, &facts, &error), CAMP_OK);
    assert_string_equal(facts.name, "7 servers: server a, server b, server c, server d, server e "
                                    "and 2 more");
    assert_string_equal(facts.kind, "sessions");
    assert_string_equal(facts.tier, "bpf");
    assert_true(facts.live);
    assert_int_equal(facts.server_cpus, 0); /* not all are of this machine */
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sessions_of_all_servers_are_rows_with_the_label_of_their_server,
                               prepare),
        cmocka_unit_test_setup(no_interval_of_a_server_is_lost_or_counted_twice, prepare),
        cmocka_unit_test_setup(a_server_that_is_stuck_is_missing_and_the_others_go_on, prepare),
        cmocka_unit_test_setup(a_server_that_does_not_answer_is_counted_and_named, prepare),
        cmocka_unit_test_setup(a_server_that_cannot_be_opened_at_the_start_comes_later, prepare),
        cmocka_unit_test_setup(a_source_that_fails_is_closed_and_opened_again, prepare),
        cmocka_unit_test_setup(sixteen_servers_are_read_at_the_same_time, prepare),
        cmocka_unit_test_setup(servers_with_a_process_in_common_are_refused_as_the_same, prepare),
        cmocka_unit_test_setup(opening_fails_if_no_server_or_a_wrong_one_is_named, prepare),
        cmocka_unit_test_setup(a_signal_ends_the_opening_of_a_server_that_is_stuck, prepare),
        cmocka_unit_test_setup(the_facts_name_all_servers_and_their_tiers, prepare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
