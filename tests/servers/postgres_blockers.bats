#!/usr/bin/env bats
# Who blocks whom in PostgreSQL: trees, labels and columns, beside pg_blocking_pids().

bats_require_minimum_version 1.5.0
load lib
load postgres_loads
load recording
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export SAMPLER=${CAMP%/src/camp}/tests/servers/blocker_sampler
    [ -x "$SAMPLER" ] || { skip_file 'built without libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on deadlock_timeout=1h max_prepared_transactions=2
    query_postgres 'create table t(a int primary key, b int); insert into t select i, 0 from generate_series(1, 9) i'
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
    [ -z "${SERVERS:-}" ] || rm -f "$SERVERS"/*.in
}

# A holds row 1 and is idle in a transaction; B holds row 2 and waits for A; C waits for B.
start_chain() {
    local name
    for name in holder middle last; do open_session "$name"; done
    say holder "begin; update t set b = 7001 where a = 1;"
    until_it is_doing holder 'idle in transaction'
    say middle 'begin; update t set b = 7002 where a = 2; update t set b = 7002 where a = 1;'
    until_it waits_for middle holder
    say last 'update t set b = 7003 where a = 2;'
    until_it waits_for last middle
}

# Six clients change one row, and hold its lock for 10 ms.
start_hot_row() {
    printf '%s\n' 'begin;' 'update t set b = b + 1 where a = 9;' 'select pg_sleep(0.01);' 'commit;' >"$SERVERS/hot.sql"
    "$POSTGRES_BIN/pgbench" -n -h "$PG_FOLDER" -U camp_super -c 6 -T 600 -f "$SERVERS/hot.sql" postgres \
        >"$SERVERS/hot.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 6 ]'
}

# names_of: PID=NAME of all sessions with an application.
names_of() {
    query_postgres "select string_agg(pid || '=' || application_name || case when application_name = 'pgbench' then
        (select count(*) from pg_stat_activity o where o.application_name = 'pgbench' and o.pid <= a.pid)::text else '' end, ',')
        from pg_stat_activity a where application_name in ('holder', 'middle', 'last', 'pgbench')"
}

# bats test_tags=law
@test 'blockers: a chain and a hot row equal pg_blocking_pids() at 200 Hz on each tier' {
    start_chain
    start_hot_row
    mapfile -t tiers < <(tiers_here "postgres:$PG")
    [ "${#tiers[@]}" -ge 2 ]
    run -0 python3 "$BATS_TEST_DIRNAME/blockers_law.py" "$CAMP" "$SAMPLER" \
        "host=$PG_FOLDER dbname=postgres user=camp_super" 20 "$(names_of)" "${tiers[@]}"
    printf '%s\n' "$output"
    [[ $output == *'| middle | holder |'* && $output == *'| last | middle |'* ]]
}

@test 'blockers: the tree of a chain has the root first, with what it does, on each tier' {
    start_chain
    for tier in $(tiers_here "postgres:$PG"); do
        run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --tier "$tier" --count 1 --interval 1s --format json
        python3 -c '
import json, sys
record = json.loads(sys.argv[1])
rows = record["tree"]
assert record["schema"] == "camp.blockers/1", record
assert [row["application"] for row in rows] == ["holder", "middle", "last"], rows
assert [row["depth"] for row in rows] == [0, 1, 2], rows
wall = 1e9 * record["interval_s"]
assert rows[0]["waited_ns"] is None and rows[0]["waiting"] == 2, rows[0]
assert all(0.9 * wall < row["waited_ns"] <= row["session_contention_ns"] for row in rows[1:]), rows
assert sum(row["waited_ns"] or 0 for row in rows) == record["known_ns"] == rows[0]["blocking_ns"], record
assert record["known_ns"] + record["unknown_ns"] == record["contention_ns"], record
assert rows[0]["activity"] == "idle_in_transaction" and rows[0]["activity_ns"] > 0, rows[0]
assert rows[1]["activity"] == "active" and rows[2]["activity"] is None, rows
assert rows[0]["sentence"].startswith("2 sessions waited "), rows[0]
assert "(holder), idle in transaction for " in rows[0]["sentence"], rows[0]
assert rows[0]["sentence"].endswith(": update t set b = ? where a = ?"), rows[0]
assert "7001" not in sys.argv[1]' "$output"
    done
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --queries --count 1 --interval 1s last
    [[ $output == *'update t set b = 7001 where a = 1'* && $output == *'    '*' (last)'* ]]
    run -1 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 1s nobody
    [ -z "$output" ]
    [[ $stderr == *' has no session of the application, name or pid nobody' ]]
}

@test 'blockers: the rows of --group blocker add up to the sessions, and a session has its blocker as a label' {
    start_chain
    local pid
    pid=$(backend_of holder)
    for tier in $(tiers_here "postgres:$PG"); do
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group blocker --count 1 --interval 1s --format json
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1])
wall = 1e9 * frame["interval_s"]
rows = {row["name"]: row for row in frame["entities"]}
assert 2.7 * wall < sum(row["elapsed_ns"] for row in rows.values()) < 3.1 * wall, rows
row = rows[sys.argv[2]]
assert 0.9 * wall < row["elapsed_ns"] and row["count"] == 1, row
assert row["states"]["contention_ns"] == row["elapsed_ns"] == row["counters"]["blocked_ns"], row' "$output" "$pid"
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --filter "$pid" --count 1 --interval 1s --format json
        python3 -c '
import json, sys
rows = {row["labels"]["application"]: row for row in json.loads(sys.argv[1])["entities"]}
pid = sys.argv[2]
assert rows["middle"]["labels"]["blocker"] == rows["middle"]["labels"]["root_blocker"] == pid, rows
assert rows["last"]["labels"]["root_blocker"] == pid, rows
assert rows["last"]["labels"]["blocker"] == str(rows["middle"]["pid"] or rows["middle"]["id"]), rows' "$output" "$pid" ||
            [ "$tier" = SQL ]
    done
}

@test 'blockers: --tree shows sessions below those that block them' {
    start_chain
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tree --count 1 --interval 1s
    printf '%s\n' "$output"
    mapfile -t names < <(sed -n 's/^\( *\)camp_super@postgres .* \(holder\|middle\|last\) .*/\1\2/p' <<<"$output")
    [ "${names[*]}" = 'holder  middle   last' ]
    run -2 --separate-stderr "$CAMP" top --from "postgres:$PG" --tree --group user
    [[ $stderr == 'camp top: --tree goes without --group: '* ]]
}

@test 'blockers: a recording has them, for why, top and the report' {
    start_chain
    run -0 "$CAMP" record --from "postgres:$PG" --count 3 --interval 500ms --output "$BATS_TEST_TMPDIR/run.camp"
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/run.camp"
    [[ $output == *'2 sessions waited '*' s for '*' (holder), idle in transaction for '* ]]
    [[ $output == *$'\n  '*' (middle) '*$'\n    '*' (last) '* ]]
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/run.camp" --interval 500ms --count 2 --format csv
    [ "$(grep -c ',holder,' <<<"$output")" = 2 ]
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --tree --count 1 --speed 0
    [[ $output == *$'\n camp_super@postgres '*' middle '*$'\n  camp_super@postgres '*' last '* ]]
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --group root_blocker --count 1 --format json --speed 0
    [[ $output == *"\"name\":\"$(backend_of holder)\""* ]]
    run -0 "$CAMP" report --from "$BATS_TEST_TMPDIR/run.camp" --output "$BATS_TEST_TMPDIR/run.html"
    [ -s "$BATS_TEST_TMPDIR/run.html" ]
    run -2 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/run.camp" --format csv --table calls
    [[ $stderr == 'camp why: --table calls: sessions have the tables tree, waits and summary' ]]
    run --separate-stderr "$CAMP" why --format csv --table waits $$ 100ms 1
    # Status 4: this user may not measure threads.
    [ "$status" = 4 ] || [[ $status = 2 && $stderr == 'camp why: --table waits: only sessions of a database have it: '* ]]
    # The texts of statements are not in it.
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/run.camp"
    [[ $output == *"the server's ids of their last statements, not the texts: select query from pg_stat_statements"* ]]
}

@test 'blockers: a recording that is divided by a label says that it cannot show them' {
    start_chain
    local group
    for group in blocker application wait_event; do
        run -0 "$CAMP" record --from "postgres:$PG" --group "$group" --count 2 --interval 300ms --output "$BATS_TEST_TMPDIR/$group.camp"
    done
    for group in blocker application; do
        run -1 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/$group.camp"
        [[ $stderr == *" is divided by $group, so it cannot say which session waited for which: record without --group" ]]
        [ -z "$output" ]
    done
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/wait_event.camp"
    [[ $output == *'This recording is divided by wait_event, so it cannot say which session waited for which: record without --group for that.'* ]]
    [[ $output == *$'\nLock/transactionid '* && $output != *'No session waited'* ]]
    run -1 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/wait_event.camp" last
    [[ $stderr == *' is divided by wait_event, so last cannot be told apart: record without --group' ]]
}

@test 'blockers: the table of wait events adds up to the sessions on each tier, and to those of the operand' {
    start_chain
    for tier in $(tiers_here "postgres:$PG"); do
        run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --tier "$tier" --count 1 --interval 1s --format json
        python3 -c '
import json, sys
record = json.loads(sys.argv[1])
wall = 1e9 * record["interval_s"]
rows = {row["wait_event"]: row for row in record["waits"]}
assert record["waits"][0]["wait_event"] == "Lock/transactionid", record["waits"]
assert rows["Lock/transactionid"]["state"] == "contention" and rows["Client/ClientRead"]["state"] == "idle", rows
assert 2.7 * wall < sum(row["time_ns"] for row in rows.values()) < 3.1 * wall, rows
assert rows["Lock/transactionid"]["time_ns"] == record["contention_ns"], record
assert all((row["waits"] is None) == (record["tier"] != "bpf") for row in rows.values()), rows
# The tree is the same with it.
assert sum(row["waited_ns"] or 0 for row in record["tree"]) == record["known_ns"], record' "$output"
        run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --tier "$tier" --count 1 --interval 1s --format json last
        python3 -c '
import json, sys
record = json.loads(sys.argv[1])
wall = 1e9 * record["interval_s"]
assert 0.9 * wall < sum(row["time_ns"] for row in record["waits"]) < 1.1 * wall, record["waits"]
assert "Client/ClientRead" not in [row["wait_event"] for row in record["waits"]], record["waits"]' "$output"
    done
}

@test 'blockers: a hot row of many sessions is a few rows that add up, and all with --top 0' {
    open_session holder
    say holder 'begin; update t set b = 1 where a = 7;'
    until_it is_doing holder 'idle in transaction'
    for _ in $(seq 40); do
        "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=camp_super application_name=hot" \
            -c 'update t set b = 2 where a = 7' >/dev/null 2>&1 3>&- &
        SERVER_PIDS+=($!)
    done
    until_it eval '[ "$(query_postgres "select count(*) from pg_stat_activity where application_name = '"'hot'"' and wait_event_type = '"'Lock'"'")" = 40 ]'
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 2s
    printf '%s\n' "$output"
    [ "${#lines[@]}" -lt 85 ]
    [[ $output == *'40 sessions waited '* ]]
    [[ $output =~ 'and '[0-9]+' more, '[0-9.]+' %' ]]
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 2s --format json --top 3
    python3 -c '
import json, sys
record = json.loads(sys.argv[1])
rows = record["tree"]
assert len([row for row in rows if row["more"] is None]) <= 12, rows
assert sum(row["waited_ns"] or 0 for row in rows) == record["known_ns"] > 0, record
assert sum(row["more"] or 0 for row in rows) + len([row for row in rows if row["more"] is None]) > 40, rows' "$output"
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 2s --top 0
    [[ $output != *' more, '* ]]
    [ "$(grep -c '(hot)' <<<"$output")" -ge 40 ]
}

@test 'blockers: the activity of a root says that it is stopped or runs' {
    open_session holder
    open_session waiter
    say holder 'begin; update t set b = 1 where a = 8;'
    until_it is_doing holder 'idle in transaction'
    say waiter 'update t set b = 2 where a = 8;'
    until_it waits_for waiter holder
    local pid tier
    pid=$(backend_of holder)
    kill -STOP "$pid"
    tier=$(tiers_here "postgres:$PG" | head -1)
    if [ "$tier" = bpf ] || [ "$tier" = schedstat+memory ]; then
        run "$CAMP" why --from "postgres:$PG" --count 2 --interval 500ms --format json
        kill -CONT "$pid"
        [ "$status" = 0 ]
        python3 -c '
import json, sys
record = json.loads(sys.argv[1].splitlines()[-1])
row = record["tree"][0]
assert row["application"] == "holder" and row["stopped_ns"] > 0.8e9 * record["interval_s"], row
assert ", stopped " in row["sentence"], row' "$output"
    else
        kill -CONT "$pid"
    fi
    say holder 'do $$ begin loop end loop; end $$;'
    until_it is_doing holder active
    run -0 "$CAMP" why --from "postgres:$PG" --count 2 --interval 500ms --format json
    query_postgres "select pg_terminate_backend($pid)" >/dev/null
    python3 -c '
import json, sys
record = json.loads(sys.argv[1].splitlines()[-1])
row = record["tree"][0]
assert row["application"] == "holder" and row["cpu_ns"] > 0, row
assert ", on a CPU " in row["sentence"] or row["cpu_ns"] < 0.06e9, row' "$output"
}

# bats test_tags=deep
@test 'blockers: text fits a terminal of 80 and of 60 columns, and says what it leaves out' {
    start_chain
    local columns
    for columns in 80 60; do
        run -0 script -qec "stty cols $columns; '$CAMP' why --color never --from 'postgres:$PG' --count 1 --interval 1s" /dev/null </dev/null
        printf '%s\n' "$output"
        tr -d '\r' <<<"$output" | while IFS= read -r line; do [ "${#line}" -le "$columns" ] || { echo "too wide: $line"; exit 1; }; done
        [[ $output == *'(too narrow for '* && $output == *'where a = ?'* ]]
    done
}

@test 'blockers: sessions that wait for each other end in a tree' {
    local name
    for name in one two; do open_session "$name"; done
    say one 'begin; update t set b = 1 where a = 3;'
    say two 'begin; update t set b = 1 where a = 4;'
    until_it is_doing one 'idle in transaction'
    until_it is_doing two 'idle in transaction'
    say one 'update t set b = 1 where a = 4;'
    say two 'update t set b = 1 where a = 3;'
    until_it waits_for one two
    until_it waits_for two one
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 1s --format json
    python3 -c '
import json, sys
rows = json.loads(sys.argv[1])["tree"]
assert [row["depth"] for row in rows] == [0, 1, 2], rows
assert rows[0]["pid"] == rows[2]["pid"] and rows[2]["repeated"] and not rows[0]["repeated"], rows
assert rows[0]["waiting"] == 1 and rows[1]["waited_ns"] > 0 and rows[2]["waited_ns"] > 0, rows' "$output"
}

@test 'blockers: a prepared transaction blocks without a session' {
    query_postgres "begin; update t set b = 1 where a = 5; prepare transaction 'lost'"
    open_session one
    say one 'update t set b = 2 where a = 5;'
    until_it eval '[ "$(query_postgres "select pg_blocking_pids(pid) from pg_stat_activity where application_name = '"'one'"'")" = "{0}" ]'
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 1s
    query_postgres "rollback prepared 'lost'"
    [[ $output == *'1 session waited '*' s for a prepared transaction'* ]]
}

@test 'blockers: a role that may not call pg_blocking_pids sees contention of unknown blockers, and nothing in the log' {
    local tier lines
    start_chain
    query_postgres 'revoke execute on function pg_blocking_pids(int) from public'
    lines=$(wc -l <"$PG_FOLDER.log")
    run --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 1s --format json
    query_postgres 'grant execute on function pg_blocking_pids(int) to public'
    [ "$status" -eq 0 ]
    python3 -c '
import json, sys
record = json.loads(sys.argv[1])
assert record["tree"] == [] and record["known_ns"] == 0, record
assert record["unknown_ns"] == record["contention_ns"] > 1.8e9 * record["interval_s"], record' "$output"
    [ "$(tail -n "+$((lines + 1))" "$PG_FOLDER.log" | grep -c 'ERROR\|blocking')" = 0 ]
}

@test 'blockers: without a wait there is no tree, and why refuses what only threads have' {
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 200ms
    [[ $output == *'No session waited for a known session'* ]]
    run -2 --separate-stderr "$CAMP" why --from "postgres:$PG" --stacks
    run -2 --separate-stderr "$CAMP" why --from odbc:nothing
    [[ $stderr == 'camp why: --from odbc:... is neither a recording nor a database: '* ]]
    run -2 --separate-stderr "$CAMP" why --tier bpf
}
