#!/usr/bin/env bats
# bats file_tags=deep
# Sessions of MariaDB that run thousands of short statements on busy CPUs. A wait of the instruments lasts until the thread
# runs again, so the time in the run queue is in it as well.

bats_require_minimum_version 1.5.0
load lib
load recording

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    servers_begin
    start_mariadb --performance-schema=ON '--performance-schema-instrument=wait/synch/cond/%=ON' \
        '--performance-schema-instrument=wait/io/socket/%=ON' --performance-schema-consumer-events-waits-current=ON
    export MARIADB_SOCKET
    prepare_mariadb short
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# More sessions than CPUs, each of which sends the next statement when it has the answer.
start_short() {
    local i
    for ((i = 0; i < 2 * $(nproc); i++)); do
        yes 'select 1;' 2>/dev/null | mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=short t >/dev/null 2>&1 3>&- &
        SERVER_PIDS+=($!)
    done
    until_it has_mariadb short
}

@test "mariadb short: the tier performance_schema accounts no time of short statements twice" {
    start_short
    record_beside short --from "mariadb:socket=$MARIADB_SOCKET user=camp" --tier performance_schema --interval 1s
    until_it eval '[ "$(ask short "select count(*) from mariadb_every join entity using (entity) where user = '"'short'"'")" -ge 12 ]'
    end_recording short "$RECORD_PID"
    ask short "select sum(elapsed_ns), sum(cpu_ns), sum(run_queue_ns), sum(contention_ns), sum(wait_ns), sum(idle_ns), sum(unaccounted_ns)
        from mariadb_every join entity using (entity) where user = 'short'"
    holds short "select sum(unaccounted_ns) >= -0.02 * sum(elapsed_ns) and sum(run_queue_ns) + sum(idle_ns) > 0
        from mariadb_every join entity using (entity) where user = 'short'"
}
