/* The registry of sessions after synthetic snapshots: names, ended sessions and reused pids. */
#include "sources/sessions/postgres/postgres_registry.h"

#include "../tree.h"
#include "counters/clock.h"

#include <string.h>
#include <unistd.h>

#define S 1000000 /* in microseconds */
#define NOW_US (1700000000 * (int64_t)S)

static struct postgres_session session(int32_t pid, int64_t start_us, const char *user)
{
    return (struct postgres_session){
        .pid = pid,
        .start_us = start_us,
        .kind = { { "Client", "ClientRead", "idle", "client_backend" } },
        .user = user,
        .database = user[0] != '\0' ? "shop" : "",
        .application = "",
        .client = "",
        .query = "",
        .query_id = -5,
    };
}

static void update(struct postgres_registry *registry, bool is_whole,
                   struct postgres_session *sessions, size_t count)
{
    const struct postgres_snapshot snapshot = { .is_whole = is_whole,
                                                .asked_ns = NS_PER_S,
                                                .answered_ns = NS_PER_S,
                                                .server_us = NOW_US,
                                                .sessions = sessions,
                                                .count = count,
                                                .own_pid = 1 };

    assert_int_equal(postgres_registry_update(registry, &snapshot), CAMP_OK);
}

static void session_names_from_a_complete_snapshot_are_kept(void **state)
{
    struct postgres_session bob = session(20, NOW_US, "bob");
    struct postgres_registry registry = { 0 };

    (void)state;
    update(&registry, false, &bob, 1);
    assert_string_equal(registry.processes[0].name, "client_backend");
    assert_null(registry.processes[0].labels);
    update(&registry, true, &bob, 1);
    bob.user = bob.database = "";
    update(&registry, false, &bob, 1);
    assert_int_equal(registry.count, 1);
    assert_string_equal(registry.processes[0].name, "bob@shop");
    assert_string_equal(labels_value(registry.processes[0].labels, 0), "bob");
    assert_string_equal(labels_value(registry.processes[0].labels, 4), "-5");
    assert_int_equal(registry.processes[0].last_snapshot, 3);
    postgres_registry_release(&registry);
}

static void a_process_without_a_user_is_named_after_its_type(void **state)
{
    struct postgres_session vacuum = session(20, NOW_US, "");
    struct postgres_session worker = session(21, NOW_US, "bob");
    struct postgres_registry registry = { 0 };

    (void)state;
    vacuum.database = "shop";
    vacuum.kind.texts[SESSION_TYPE] = "autovacuum_worker";
    worker.kind.texts[SESSION_TYPE] = "parallel_worker";
    worker.leader_pid = 19;
    update(&registry, true, (struct postgres_session[]){ vacuum, worker }, 2);
    assert_string_equal(registry.processes[0].name, "autovacuum_worker@shop");
    assert_string_equal(labels_value(registry.processes[0].labels, 5), "autovacuum_worker");
    assert_string_equal(labels_value(registry.processes[0].labels, 6), "");
    assert_string_equal(registry.processes[1].name, "bob@shop");
    assert_string_equal(labels_value(registry.processes[1].labels, 5), "parallel_worker");
    assert_string_equal(labels_value(registry.processes[1].labels, 6), "19");
    postgres_registry_release(&registry);
}

static void an_ended_session_stays_in_the_registry_until_old_sessions_are_dropped(void **state)
{
    struct postgres_session two[] = { session(30, NOW_US, "bob"), session(20, NOW_US, "eve") };
    struct postgres_registry registry = { 0 };

    (void)state;
    update(&registry, true, two, 2);
    assert_int_equal(registry.processes[0].pid, 20); /* The processes are in the order of pids. */
    update(&registry, true, two, 1);
    assert_non_null(postgres_registry_find(&registry, 20, NOW_US));
    postgres_registry_forget(&registry, 1);
    assert_int_equal(registry.count, 2);
    postgres_registry_forget(&registry, 2);
    assert_int_equal(registry.count, 1);
    assert_null(postgres_registry_find(&registry, 20, NOW_US));
    assert_non_null(postgres_registry_find(&registry, 30, NOW_US));
    postgres_registry_release(&registry);
}

static void a_pid_with_another_start_time_is_another_session(void **state)
{
    struct postgres_session two[] = { session(20, NOW_US, "bob"),
                                      session(20, NOW_US + S / 2, "eve") };
    struct postgres_registry registry = { 0 };

    (void)state;
    update(&registry, true, two, 2);
    assert_string_equal(postgres_registry_find(&registry, 20, NOW_US)->name, "bob@shop");
    assert_null(postgres_registry_find(&registry, 20, NOW_US + 1));
    assert_string_equal(postgres_registry_find_process(&registry, 20, 1, NOW_US + 1000)->name,
                        "bob@shop");
    assert_string_equal(postgres_registry_find_process(&registry, 20, 1, NOW_US + S)->name,
                        "eve@shop");
    assert_null(postgres_registry_find_process(&registry, 20, 1, NOW_US + 3 * S));
    assert_null(postgres_registry_find_process(&registry, 21, 1, NOW_US));
    postgres_registry_release(&registry);
}

/* The server keeps the start time of a session, even if the clock is set later. */
static void the_process_of_a_session_is_found_even_after_the_wall_clock_was_set(void **state)
{
    struct postgres_session own = session(getpid(), NOW_US, "bob");
    struct postgres_registry registry = { .is_local = true };
    struct camp_process process;
    uint64_t start_ns;

    (void)state;
    assert_int_equal(camp_process_identify(NULL, getpid(), &process, sizeof process, NULL), 0);
    start_ns = process.start * proc_time_unit_ns();
    update(&registry, true, &own, 1);
    assert_true(registry.processes[0].has_task);
    assert_true(registry.processes[0].clock.time_ns >
                0); /* The session is older than the first snapshot, so its clock was read. */
    assert_non_null(
        postgres_registry_find_process(&registry, getpid(), start_ns, NOW_US + 3600 * (int64_t)S));
    assert_null(postgres_registry_find_process(&registry, getpid(), start_ns + NS_PER_S, NOW_US));
    postgres_registry_release(&registry);
}

static void camp_remembers_the_last_two_pids_of_its_own_connection(void **state)
{
    struct postgres_snapshot snapshot = { .own_pid = 5 };
    struct postgres_registry registry = { 0 };

    (void)state;
    for (int32_t pid = 5; pid < 8; pid++) {
        snapshot.own_pid = pid;
        postgres_registry_update(&registry, &snapshot);
        postgres_registry_update(&registry, &snapshot);
    }
    assert_int_equal(registry.own_pids[0], 7);
    assert_int_equal(registry.own_pids[1], 6);
    postgres_registry_release(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_names_from_a_complete_snapshot_are_kept),
        cmocka_unit_test(a_process_without_a_user_is_named_after_its_type),
        cmocka_unit_test(an_ended_session_stays_in_the_registry_until_old_sessions_are_dropped),
        cmocka_unit_test(a_pid_with_another_start_time_is_another_session),
        cmocka_unit_test(the_process_of_a_session_is_found_even_after_the_wall_clock_was_set),
        cmocka_unit_test(camp_remembers_the_last_two_pids_of_its_own_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
