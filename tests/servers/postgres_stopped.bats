#!/usr/bin/env bats
# bats file_tags=deep
# A session whose process is stopped by a signal is stopped, whatever its last wait event says.

bats_require_minimum_version 1.5.0
load lib
load recording

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG_PID PG
    start_session sleeper 'select pg_sleep(3600)'
    BACKEND=$(backend_of sleeper)
    export BACKEND
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() { kill -CONT "${BACKEND:-$$}"; }

stop_backend() {
    kill -STOP "$BACKEND"
    until_it grep -q '^State:.T' "/proc/$BACKEND/status"
}

# stopped_is_seen TIER: a session that is stopped during a recording has no other state in the next whole intervals.
stopped_is_seen() {
    local first
    rm -f "$SERVERS/x.camp"
    record_beside x --from "postgres:$PG" --tier "$1" --interval 200ms
    stop_backend
    more_ticks x 1
    first=$(($(ask x 'select max(tick) from tick') + 1))
    more_ticks x 5
    kill -CONT "$BACKEND"
    end_recording x "$RECORD_PID"
    # Samples round times down to whole nanoseconds.
    holds x "select count(*) = 3 and min(wait_stopped_ns >= elapsed_ns - 100) and min(wait_ns >= wait_stopped_ns)
        from postgres_every join entity using (entity)
        where application = 'sleeper' and tick between $first and $first + 2" ||
        { ask x 'select * from postgres_every' && return 1; }
}

@test "postgres stopped: a stopped session is stopped on the tiers bpf and schedstat+memory" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the memory of a server'
    stopped_is_seen bpf
    stopped_is_seen schedstat+memory
}

@test "postgres stopped: a stopped session is stopped on the tier schedstat+SQL" {
    stopped_is_seen schedstat+SQL
}

@test "postgres stopped: a session that was stopped before camp started is stopped" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the tier bpf'
    stop_backend
    "$CAMP" record --output "$SERVERS/older.camp" --count 3 --interval 200ms --tier bpf --from "postgres:$PG" 3>&-
    holds older "select count(*) = 3 and min(wait_stopped_ns = elapsed_ns)
        from postgres_every join entity using (entity) where application = 'sleeper'"
}
