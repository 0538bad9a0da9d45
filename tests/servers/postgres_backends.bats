#!/usr/bin/env bats
# bats file_tags=law
# The laws of a PostgreSQL server's backends: postgres_laws.c beside a real server.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LAWS=${CAMP%/src/camp}/tests/servers/postgres_laws
    [ -x "$LAWS" ] || skip 'built without microstates or libpq'
    servers_begin
    export SERVERS
    start_postgres
    export PG_FOLDER PG_PID
}

teardown_file() { servers_end; }
teardown() { end_sessions; }

# A law that cmocka skips says why, and is skipped here.
holds() {
    run timeout 60 "$LAWS" "$PG_PID" "host=$PG_FOLDER dbname=postgres user=camp_super" "$1"
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    if [[ $output == *'skipped, not passed'* ]]; then skip "$(grep 'not passed' <<<"$output")"; fi
    [[ $output == *"OK ] $1"* ]]
}

@test 'a session that sleeps is in its sleep' {
    holds a_session_that_sleeps_is_in_its_sleep
}

@test 'who wants a lock waits for it' {
    holds who_wants_a_lock_waits_for_it
}

@test 'idle and idle in transaction are told apart' {
    holds idle_and_idle_in_transaction_are_told_apart
}

@test 'three burners a core wait two thirds of their time' {
    holds three_burners_a_core_wait_two_thirds
}

@test 'a connection of 50 ms is told with its end' {
    holds a_short_connection_is_told_with_its_end
}

@test 'CPU and run queue of pgbench are those of schedstat' {
    start_pgbench 8 8
    holds cpu_and_run_queue_are_schedstats
}

@test 'after a crash backends are found anew' {
    holds the_place_is_the_same_after_a_crash
}
