#!/usr/bin/env bats
# Who blocks whom in MariaDB: trees, labels and columns, by InnoDB's waits for the locks of rows.

bats_require_minimum_version 1.5.0
load lib

SESSIONS_OF=(holder middle last)

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    servers_begin
    start_mariadb --innodb-lock-wait-timeout=3600
    prepare_mariadb "${SESSIONS_OF[@]}"
    query_mariadb 'create table t.r(id int primary key, n int, s text) engine=innodb; insert into t.r values (1, 0, null), (2, 0, null)'
    begin_chain
    export MARIADB_SOCKET
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# waits WAITER BLOCKER: by InnoDB, which renews its copy of these tables only if nobody has read them for 0.1 s.
waits() {
    sleep 0.2
    [ "$(query_mariadb "select count(*) from information_schema.innodb_lock_waits w
        join information_schema.innodb_trx r on r.trx_id = w.requesting_trx_id
        join information_schema.innodb_trx b on b.trx_id = w.blocking_trx_id
        join information_schema.processlist rp on rp.id = r.trx_mysql_thread_id and rp.user = '$1'
        join information_schema.processlist bp on bp.id = b.trx_mysql_thread_id and bp.user = '$2'")" = 1 ]
}

# A holds row 1 and is idle in a transaction; B holds row 2 and waits for A; C waits for B.
begin_chain() {
    local user
    for user in "${SESSIONS_OF[@]}"; do open_mariadb "$user"; done
    say holder 'begin; update r set n = 7001 where id = 1;'
    until_it eval 'sleep 0.2; [ "$(query_mariadb "select count(*) from information_schema.innodb_trx")" = 1 ]'
    say middle 'begin; update r set n = 7002 where id = 2; update r set n = 7002, s = "a''secret" where id = 1;'
    until_it waits middle holder
    say last "update r set n = 7003, s = '\"secret' /* it's */ where id = 2;"
    until_it waits last middle
}

@test 'mariadb blockers: the tree of a chain has the root first, with what it does, on each tier' {
    mapfile -t tiers < <(tiers_here "mariadb:socket=$MARIADB_SOCKET user=camp" | grep -v performance_schema)
    [ "${#tiers[@]}" -ge 1 ]
    for tier in "${tiers[@]}"; do
        # The first interval has no row of a thread that camp did not know before.
        run -0 --separate-stderr "$CAMP" why --from "mariadb:socket=$MARIADB_SOCKET user=camp" --tier "$tier" --count 2 --interval 2s \
            --format json
        python3 -c '
import json, sys
record = json.loads(sys.argv[1].splitlines()[1])
rows = record["tree"]
assert [row["name"] for row in rows] == ["holder", "middle", "last"], rows
assert [row["depth"] for row in rows] == [0, 1, 2], rows
wall = 1e9 * record["interval_s"]
assert rows[0]["waited_ns"] is None and rows[0]["waiting"] == 2, rows[0]
assert all(0.8 * wall < row["waited_ns"] <= row["session_contention_ns"] for row in rows[1:]), rows
assert sum(row["waited_ns"] or 0 for row in rows) == record["known_ns"] == rows[0]["blocking_ns"], record
assert record["known_ns"] + record["unknown_ns"] == record["contention_ns"], record
assert rows[0]["activity"] == "idle_in_transaction" and rows[0]["activity_ns"] > 0, rows[0]
assert rows[1]["activity"] == "active" and rows[2]["activity"] is None, rows
assert rows[0]["sentence"].startswith("2 sessions waited "), rows[0]
assert "(holder), idle in transaction for " in rows[0]["sentence"], rows[0]
# A session between two statements has no statement.
assert [row["statement"] for row in rows] == [None] + ["update r set n = ?, s = ? where id = ?"] * 2, rows' "$output"
        [[ $output != *7002* && $output != *secret* ]]
    done
    run -0 --separate-stderr "$CAMP" why --from "mariadb:socket=$MARIADB_SOCKET user=camp" --queries --count 2 --interval 1s
    [[ $output == *'update r set n = 7003, s = '*"secret"*' where id = 2'* ]]
}

@test 'mariadb blockers: rows by blocker, a tree of sessions, and a recording' {
    local from="mariadb:socket=$MARIADB_SOCKET user=camp"
    run -0 --separate-stderr "$CAMP" top --from "$from" --group root_blocker --count 2 --interval 1s --format csv
    [[ $output == *root_blocker* ]]
    # The rows have the ids by which sessions are blocked.
    run -0 --separate-stderr "$CAMP" top --from "$from" --count 2 --interval 1s --format text
    id=$(query_mariadb "select id from information_schema.processlist where user = 'middle'")
    [[ $output == *$'\nname '*' id      pid  blocker '* ]]
    grep -Eq "^middle +$id +[0-9]+ " <<<"$output"
    grep -Eq "^last +[0-9]+ +[0-9]+ +$id +" <<<"$output"
    run -0 --separate-stderr "$CAMP" record --from "$from" --count 4 --interval 500ms --output "$BATS_TEST_TMPDIR/run.camp"
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/run.camp" last
    [[ $output == *$'\n  '*' (middle) '*$'\n    '*' (last) '* ]]
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --tree --begin +1s --count 1 --format text --speed 0
    [[ $output == *$'\nholder '*$'\n middle '*$'\n  last '* ]]
}
