#!/usr/bin/env bats
# A PostgreSQL server that ends each connection of camp late, as on a busy machine. camp resolves the states of
# sessions with a second connection, which must not be a session of the first interval.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "${CAMP%/src/camp}/tests/servers/watch_postgres" ] || { skip_file 'built without libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    cp "${CAMP%/src/camp}/tests/servers/late_end.so" "$SERVERS" # The server's user may be unable to read it there.
    AS_USER+=(env LD_PRELOAD="$SERVERS/late_end.so")
    start_postgres
    export PG_FOLDER PG PG_PID
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

is_without_camp() {
    [ -z "$(backend_of camp)" ]
}

# has_no_session TIER: the first interval of camp top at this tier has no session.
has_no_session() {
    grep -q late_end "/proc/$PG_PID/maps"
    until_it is_without_camp
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$1" --count 1 --interval 200ms --format csv
    echo "$output"
    [ "${#lines[@]}" = 1 ]
}

@test "camp's second connection is no session of tier bpf" {
    has_no_session bpf
}

@test "camp's second connection is no session of tier schedstat+memory" {
    has_no_session schedstat+memory
}
