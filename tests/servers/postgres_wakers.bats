#!/usr/bin/env bats
# Who blocks whom in PostgreSQL by the kernel: each wait is of the session that ended it, whatever interrupted it.

bats_require_minimum_version 1.5.0
load lib
load postgres_loads
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on deadlock_timeout=10ms
    query_postgres 'create table t(a int primary key, b int); insert into t select i, 0 from generate_series(1, 9) i;
        create table clocks(what text, at float8)'
    export PG_FOLDER PG_PID PG
    "$CAMP" top --from "postgres:$PG" --tier bpf --count 1 --interval 100ms >/dev/null 2>&1 ||
        skip_file 'this user may not load programs into the kernel'
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
    [ -z "${SERVERS:-}" ] || rm -f "$SERVERS"/*.in
}

# busy_sessions: a session that calculates on each of the first CPUs, whose pids it prints.
busy_sessions() {
    local cpu
    for cpu in $(first_cpus 4 | tr ',' ' '); do
        open_session "busy$cpu"
        taskset -cp "$cpu" "$(backend_of "busy$cpu")" >/dev/null
        say "busy$cpu" 'do $$ begin loop end loop; end $$;'
        until_it is_doing "busy$cpu" active
        backend_of "busy$cpu"
    done
}

# bats test_tags=law
@test 'wakers: a chain is measured within 1 % of the clocks of its sessions, and a deadlock timer blocks nobody' {
    busy_sessions >"$SERVERS/busy"
    # shellcheck disable=SC2046 # pids
    run env "PATH=$POSTGRES_BIN:$PATH" python3 "$BATS_TEST_DIRNAME/wakers_law.py" "$CAMP" \
        "host=$PG_FOLDER dbname=postgres user=camp_super" $(cat "$SERVERS/busy")
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
}

@test 'wakers: a wait that lock_timeout ends is asked of the server, which names the holder' {
    open_session holder
    open_session impatient
    say holder 'begin; update t set b = 1 where a = 5;'
    until_it is_doing holder 'idle in transaction'
    # shellcheck disable=SC2016 # SQL
    say impatient "set lock_timeout = '300ms'; do \$\$ begin loop begin update t set b = 2 where a = 5;
        exception when lock_not_available then null; end; end loop; end \$\$;"
    until_it waits_for impatient holder
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --tier bpf --count 1 --interval 3s --format json
    python3 -c '
import json, sys
record = json.loads(sys.argv[1])
rows = record["tree"]
assert [row["application"] for row in rows] == ["holder", "impatient"], rows
assert record["measured_ns"] == 0 == rows[1]["measured_ns"], record
assert rows[1]["waited_ns"] == record["contention_ns"] > 1.5e9, record' "$output"
}

# Transactions write to the log of the server together, and wait for its locks.
@test 'wakers: locks of the server itself have a blocker, too' {
    printf '%s\n' "insert into clocks values ('', 0);" >"$SERVERS/insert.sql"
    "$POSTGRES_BIN/pgbench" -n -h "$PG_FOLDER" -U camp_super -c 8 -T 600 -f "$SERVERS/insert.sql" postgres \
        >"$SERVERS/insert.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    has_lightweight_blockers() {
        "$CAMP" top --from "postgres:$PG" --tier bpf --group blocker --count 1 --interval 1s --format json | python3 -c '
import json, sys
frame = json.load(sys.stdin)
def lightweight(row):
    return sum(ns for name, ns in row["counters"].items() if name.startswith("contention_") and name.endswith("lwlock_ns"))
rows = {row["name"]: row for row in frame["entities"]}
measured = {name: row for name, row in rows.items() if row["counters"]["blocked_measured_ns"] > 0 and lightweight(row) > 0}
for name, row in measured.items():
    assert name.isdigit() and row["counters"]["blocked_measured_ns"] <= row["states"]["contention_ns"], row
print({name: lightweight(row) for name, row in rows.items()})
sys.exit(0 if sum(lightweight(row) for row in measured.values()) > lightweight(rows.get("unknown", rows["(none)"])) else 1)'
    }
    until_it has_lightweight_blockers
}
