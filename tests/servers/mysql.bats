#!/usr/bin/env bats
# bats file_tags=deep
# Sessions of MySQL, which Debian 12 does not have: `tools/run-deep servers` runs these tests with a root of another release.

bats_require_minimum_version 1.5.0
load lib
load recording
load mariadb_loads

USERS=(tpcb idler sleeper keeper waiter asker holder middle last caller)
MARK='UPDATE `marked` SET `n` = `n` + ? WHERE `id` = ?'

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export SAMPLER=${CAMP%/src/camp}/tests/servers/innodb_sampler
    [ -n "${MYSQL_ROOT:-}" ] || { skip_file 'no root with MySQL: MYSQL_ROOT, see tools/run-deep'; return; }
    servers_begin
    start_mysql --innodb-lock-wait-timeout=3600
    prepare_mariadb "${USERS[@]}"
    query_mariadb "create table t.marked(id int primary key, n int); insert into t.marked values (1, 0), (2, 0);
        create table t.m(a int); create user secret@localhost identified by 'sesame';
        grant select on performance_schema.* to secret@localhost"
    make_tpcb
    export MARIADB_SOCKET MARIADB_PID
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    FROM="mysql:socket=$MARIADB_SOCKET user=camp"
    export HOME=$SERVERS # no ~/.my.cnf
    unset MYSQL_PWD MARIADB_PWD
    SERVER_PIDS=()
}

teardown() {
    local pid
    ! is_file_skipped || return 0
    end_loads
    for pid in "${SERVER_PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done # gone
    until_it eval '[ "$(query_mariadb "select count(*) from performance_schema.threads where PROCESSLIST_DB = '"'t'"'")" = 0 ]'
    rm -f "$SERVERS"/*.in
}

is_in_state() {
    [ "$(query_mariadb "select count(*) from performance_schema.threads
        where PROCESSLIST_USER = '$1' and PROCESSLIST_STATE like '$2'")" = 1 ]
}

waits() {
    [ "$(query_mariadb "select count(*) from performance_schema.data_lock_waits w
        join performance_schema.threads r on r.THREAD_ID = w.REQUESTING_THREAD_ID and r.PROCESSLIST_USER = '$1'
        join performance_schema.threads b on b.THREAD_ID = w.BLOCKING_THREAD_ID and b.PROCESSLIST_USER = '$2'")" -ge 1 ]
}

# has_all TIER USER COLUMN: of the last interval, the session of USER has nearly all of its time in COLUMN.
has_all() {
    python3 -c '
import json, sys
frame = json.loads(sys.argv[1].splitlines()[-1])
[row] = [row for row in frame["entities"] if row["labels"]["user"] == sys.argv[2]]
ns = {**row["counters"], **row["states"]}[sys.argv[3]]
assert ns > 0.9 * row["elapsed_ns"] > 0, (sys.argv[2:], row)' "$output" "$2" "$3"
}

@test 'mysql: what sessions do that only wait is their state on each tier' {
    local tier user
    for user in idler sleeper keeper waiter asker; do open_mariadb "$user"; done
    say keeper "lock tables m write; select get_lock('a', 0);"
    until_it eval '[ "$(query_mariadb "select is_used_lock('"'a'"') is not null")" = 1 ]'
    say sleeper 'select sleep(600);'
    say waiter 'insert into m values (1);'
    say asker "select get_lock('a', 600);"
    until_it is_in_state sleeper 'User sleep'
    until_it is_in_state waiter 'Waiting for table metadata lock'
    until_it is_in_state asker 'User lock'
    mapfile -t tiers < <(tiers_here "$FROM")
    [ "${#tiers[@]}" -ge 2 ]
    for tier in "${tiers[@]}"; do
        [ "$tier" != performance_schema ] || continue # Most instruments of waits are off.
        run -0 --separate-stderr "$CAMP" top --from "$FROM" --tier "$tier" --count 3 --interval 1s --format json
        has_all "$tier" idler idle_client_ns
        has_all "$tier" sleeper idle_asked_for_ns
        has_all "$tier" waiter contention_metadata_lock_ns
        has_all "$tier" asker contention_user_lock_ns
    done
}

# A holds row 1 and is idle in a transaction; B holds row 2 and waits for A; C waits for B.
@test 'mysql: the tree of a chain of row locks has the root first, with what it does, on each tier' {
    local user tier
    for user in holder middle last; do open_mariadb "$user"; done
    say holder 'begin; update marked set n = 7001 where id = 1;'
    until_it eval 'sleep 0.2; [ "$(query_mariadb "select count(*) from information_schema.innodb_trx")" = 1 ]'
    say middle 'begin; update marked set n = 7002 where id = 2; update marked set n = 7002 where id = 1;'
    until_it waits middle holder
    say last 'update marked set n = 7003 where id = 2;'
    until_it waits last middle
    for tier in $(tiers_here "$FROM" | grep -v performance_schema); do
        run -0 --separate-stderr "$CAMP" why --from "$FROM" --tier "$tier" --count 2 --interval 2s --format json
        python3 -c '
import json, sys
record = json.loads(sys.argv[1].splitlines()[1])
rows, wall = record["tree"], 1e9 * record["interval_s"]
assert [row["name"] for row in rows] == ["holder", "middle", "last"], rows
assert all(0.8 * wall < row["waited_ns"] <= row["session_contention_ns"] for row in rows[1:]), rows
assert record["known_ns"] + record["unknown_ns"] == record["contention_ns"], record
assert rows[0]["activity"] == "idle_in_transaction" and rows[0]["activity_ns"] > 0, rows[0]' "$output"
    done
    run -0 --separate-stderr timeout 60 "$CAMP" export --from "$FROM" --once
    [[ $output == *'camp_sessions_longest_blocker_seconds'* || $output == *blocker* ]]
}

# bats test_tags=law
@test 'mysql: row-lock time by statement equals a sampler at 200 Hz on each tier' {
    local tiers
    start_tpcb tpcb 8
    mapfile -t tiers < <(tiers_here "$FROM" | grep -v performance_schema)
    run -0 python3 "$BATS_TEST_DIRNAME/statements_law.py" "$CAMP" "$SAMPLER" "$FROM" "$MARIADB_SOCKET" 20 "${tiers[@]}"
    printf '%s\n' "$output"
    [[ $output == *'update branches'* ]]
}

calls_are() { [ "$(ask calls "select sum(reported_calls) from mariadb join entity using (entity) where query = '$MARK'")" = "$1" ]; }

@test 'mysql: calls, times and rows of a statement are those of the server' {
    local before execution rows of_server
    record_beside calls --from "$FROM" --group query --queries --interval 300ms
    before=$(query_mariadb "show global status like 'Com_update'" | cut -f2)
    seq -f 'update marked set n = n + %.0f where id = 1;' 300 |
        mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=caller t 3>&-
    until_it calls_are 300
    end_recording calls "$RECORD_PID"
    [ $(($(query_mariadb "show global status like 'Com_update'" | cut -f2) - before)) = 300 ]
    read -r execution rows < <(ask calls "select sum(reported_execution_ns), sum(reported_rows) from mariadb join entity using (entity)
        where query = '$MARK'" | tr '|' ' ')
    read -r -a of_server < <(query_mariadb "select round(sum(SUM_TIMER_WAIT) / 1000), sum(SUM_ROWS_AFFECTED)
        from performance_schema.events_statements_summary_by_digest where DIGEST_TEXT = '$MARK'")
    [ "$rows" = "${of_server[1]}" ]
    ((execution - of_server[0] <= 20 && of_server[0] - execution <= 20 && execution > 0))
    holds calls "select count(*) = 0 from entity where query like '%camp_own%' or query like '%events_statements%'"
}

@test 'mysql: a password is proved over a Unix socket, and only to a server that is named as MySQL' {
    local top=(--count 1 --interval 100ms)
    MYSQL_PWD=sesame run -0 "$CAMP" top --from "mysql:socket=$MARIADB_SOCKET user=secret" "${top[@]}"
    MYSQL_PWD=wrong run -4 "$CAMP" top --from "mysql:socket=$MARIADB_SOCKET user=secret" "${top[@]}"
    [[ $output == *"Access denied for user 'secret'"* ]]
    MYSQL_PWD=sesame run -4 "$CAMP" top --from "mariadb:socket=$MARIADB_SOCKET user=secret" "${top[@]}"
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *'a server of MySQL is mysql:CONNINFO'* ]]
}
