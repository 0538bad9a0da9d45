#!/usr/bin/env bats
# Sessions of PostgreSQL and MariaDB by wait event: time belongs to the event in which it passed.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on
    query_postgres 'create table t (a int primary key, b int); insert into t values (1, 1)'
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

# The tiers that this user may use here.
tiers_here() {
    local tier
    for tier in bpf schedstat+memory schedstat+SQL SQL; do
        ! "$CAMP" top --from "postgres:$PG" --tier "$tier" --count 1 --interval 100ms >/dev/null 2>&1 || echo "$tier"
    done
}

waits_for_lock() {
    [ "$(query_postgres "select wait_event_type from pg_stat_activity where application_name = '$1'")" = Lock ]
}

# A session that holds the lock of a row, and sleeps; one that waits for the lock; and one that is idle.
start_sessions() {
    start_session holder 'begin; update t set b = 2 where a = 1; select pg_sleep(600)'
    until_it eval '[ "$(query_postgres "select wait_event from pg_stat_activity where application_name = '"'holder'"'")" = PgSleep ]'
    start_session waiter 'update t set b = 3 where a = 1'
    until_it waits_for_lock waiter
}

@test 'wait events: the rows of --group wait_event have the time in each event, on each tier, and add up' {
    start_sessions
    for tier in $(tiers_here); do
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group wait_event --count 1 --interval 1s --format json
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1])
wall = 1e9 * frame["interval_s"]
assert frame["summary"]["entities"] == 2, frame["summary"]
rows = {row["name"]: row for row in frame["entities"]}
assert 1.8 * wall < sum(row["elapsed_ns"] for row in rows.values()) < 2.2 * wall, rows
for name, state in ("Lock/transactionid", "contention_ns"), ("Timeout/PgSleep", "idle_ns"):
    row = rows[name]
    assert row["labels"]["wait_event"] == name and row["count"] == 1, row
    assert row["states"][state] == row["elapsed_ns"] > 0.8 * wall, row
for row in rows.values():
    assert abs(row["unaccounted_ns"]) < 0.2 * wall, row' "$output"
    done
}

@test 'wait events: a row has the other labels of its session, and a lock its blocker' {
    start_sessions
    run -0 --separate-stderr "$CAMP" record --from "postgres:$PG" --group wait_event --count 2 --interval 500ms \
        --output "$BATS_TEST_TMPDIR/events.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/events.camp" --count 1 --format json --speed 0
    [[ $output == *'"name":"Lock/transactionid"'* ]]
    # A row of a group by another label has no event.
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group application --count 1 --interval 500ms --format json
    [[ $output != *transactionid* ]]
    run -0 --separate-stderr "$CAMP" report --from "postgres:$PG" --picture ribbon --color-by wait_event --only application=waiter \
        --count 2 --interval 500ms --output "$BATS_TEST_TMPDIR/ribbon.svg"
    [ -s "$BATS_TEST_TMPDIR/ribbon.svg" ]
    run -0 --separate-stderr "$CAMP" report --from "postgres:$PG" --picture ribbon --color-by wait_event \
        --count 2 --interval 500ms --output "$BATS_TEST_TMPDIR/ribbon.svg"
    grep -q 'Lock/transactionid' "$BATS_TEST_TMPDIR/ribbon.svg"
}

@test 'wait events: a recording of whole sessions has none, and says so' {
    run -0 --separate-stderr "$CAMP" record --from "postgres:$PG" --count 2 --interval 200ms --output "$BATS_TEST_TMPDIR/whole.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --group wait_event --count 1 --speed 0
    [[ $stderr == 'camp top: --group wait_event: this has whole sessions, without their wait events: record them with camp record --group wait_event' ]]
}

@test 'wait events: sessions of MariaDB are divided by their events, too' {
    start_mariadb
    prepare_mariadb sleeper
    open_mariadb sleeper
    until_it has_mariadb sleeper
    say sleeper 'select sleep(600);'
    until_it is_seen sleeper 'User sleep'
    for tier in bpf schedstat+SQL SQL; do
        run "$CAMP" top --from "mariadb:socket=$MARIADB_SOCKET user=camp" --tier "$tier" --group wait_event --count 2 --interval 1s --format json
        [ "$status" = 0 ] || continue
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1].splitlines()[-1])
wall = 1e9 * frame["interval_s"]
[row] = [row for row in frame["entities"] if row["name"].endswith("User_sleep")]
assert row["labels"]["wait_event"] == row["name"], row
assert 0.8 * wall < row["states"]["idle_ns"] == row["elapsed_ns"] < 1.2 * wall, row' "$output"
        tried=$tier
    done
    [ "$tried" = SQL ]
}
