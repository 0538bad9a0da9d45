#!/usr/bin/env bats
# bats file_tags=law
# The laws of a PostgreSQL server's backends: postgres_laws.c, run with a real server.

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
    end_children KILL # pgbench is stopped
}

# holds LAW [PGBENCH_PID]: runs a law of postgres_laws.c. If the law is skipped, the test is skipped with its reason.
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

@test 'a session that needs a lock waits for it' {
    holds a_session_that_needs_a_lock_is_in_a_wait_for_locks
}

@test 'idle and idle in transaction are distinguished' {
    holds idle_and_idle_in_transaction_are_distinguished
}

@test 'three loops for each CPU share the CPUs, and wait for them the rest of the time' {
    holds loops_share_the_cpus_and_wait_for_them_the_rest_of_the_time
}

@test 'a connection of 50 ms is reported with its end' {
    holds a_short_connection_is_reported_with_its_end
}

@test 'CPU time and run queue of pgbench are those of schedstat' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    holds cpu_and_run_queue_equal_schedstat "$PGBENCH_PID"
}

@test 'after a crash of the server its backends are found again' {
    holds the_layout_is_the_same_after_a_crash
}
