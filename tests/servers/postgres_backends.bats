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

@test 'postgres backend: a session in pg_sleep() has all its time in that wait' {
    holds a_session_in_pg_sleep_has_all_its_time_in_that_wait
}

@test 'postgres backend: a session waiting for a lock has all its time in that wait' {
    holds a_session_waiting_for_a_lock_has_all_its_time_in_that_wait
}

@test 'postgres backend: camp distinguishes idle from idle in transaction' {
    holds idle_sessions_are_distinguished_from_those_idle_in_transaction
}

@test 'postgres backend: loops that share the CPUs wait in the run queue' {
    holds loops_that_share_the_cpus_wait_in_the_run_queue
}

@test 'postgres backend: a connection of 50 ms is accounted until its end' {
    holds a_short_connection_is_accounted_until_its_end
}

@test 'postgres backend: CPU time and run queue of pgbench equal schedstat' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    holds cpu_time_and_run_queue_of_pgbench_equal_schedstat "$PGBENCH_PID"
}

@test 'postgres backend: camp finds the new backends after a crash of the server' {
    holds backends_are_found_again_after_a_crash_of_the_server
}
