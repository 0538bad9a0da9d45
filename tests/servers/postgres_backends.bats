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

@test 'postgres backend: a session in pg_sleep() has all its time in the event PgSleep' {
    holds a_session_in_pg_sleep_has_all_its_time_in_the_event_pg_sleep
}

@test 'postgres backend: a session that waits for a lock has all its time in lock waits' {
    holds a_session_that_waits_for_a_lock_has_all_its_time_in_lock_waits
}

@test 'postgres backend: camp distinguishes sessions idle in transaction from idle sessions' {
    holds sessions_idle_in_transaction_are_distinguished_from_idle_sessions
}

@test 'postgres backend: loops that share the CPUs wait in the run queue' {
    holds loops_that_share_the_cpus_wait_in_the_run_queue
}

@test 'postgres backend: a connection of 50 ms is accounted until its end' {
    holds a_connection_of_50_ms_is_accounted_until_its_end
}

@test 'postgres backend: CPU and run-queue time of pgbench equal schedstat' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    holds cpu_and_run_queue_time_of_pgbench_equal_schedstat "$PGBENCH_PID"
}

@test 'postgres backend: camp finds the new backends after a crash of the server' {
    holds new_backends_are_found_after_a_crash_of_the_server
}
