#!/usr/bin/env bats
# bats file_tags=law
# Runs the tests of postgres_laws.c, about the accounts of backends, with a real PostgreSQL server.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LAWS=${CAMP%/src/camp}/tests/servers/postgres_laws
    [ -x "$LAWS" ] || { skip_file 'built without microstates or libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG_PID
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL # because pgbench is stopped
}

# holds LAW [PGBENCH_PID] runs the test LAW of postgres_laws.c. If that test is skipped, this test is skipped, too.
holds() {
    run timeout 300 "$LAWS" "$PG_PID" "host=$PG_FOLDER dbname=postgres user=camp_super" "$@"
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    if [[ $output == *'skipped, not passed'* ]]; then skip "$(grep 'not passed' <<<"$output")"; fi
    [[ $output == *"OK ] $1"* ]]
}

@test 'a session in pg_sleep() has all its time in that wait' {
    holds a_session_in_pg_sleep_has_all_its_time_in_that_wait
}

@test 'a session that waits for a lock has all its time in that wait' {
    holds a_session_that_waits_for_a_lock_has_all_its_time_in_that_wait
}

@test 'idle and idle in transaction are distinguished' {
    holds idle_and_idle_in_transaction_are_distinguished
}

@test 'three loops for each CPU share the CPUs, and are in the run queue the rest of the time' {
    holds loops_share_the_cpus_and_wait_for_them_the_rest_of_the_time
}

@test 'a connection of 50 ms has an account until its end' {
    holds a_short_connection_has_an_account_until_its_end
}

@test 'CPU time and run queue of pgbench are those of schedstat' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    holds cpu_and_run_queue_equal_schedstat "$PGBENCH_PID"
}

@test 'after a crash of the server, the new backends are found' {
    holds the_layout_is_the_same_after_a_crash
}
