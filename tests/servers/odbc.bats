#!/usr/bin/env bats
# --from odbc: through unixODBC and the driver of SQLite: an Oracle of which everything is known
# (oracle_file.py), tables by --query, and whatever can go wrong.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    ORACLE=$BATS_TEST_DIRNAME/oracle_file.py
    DB=$BATS_TEST_TMPDIR/sales.db
    OUTPUT=$BATS_TEST_TMPDIR/x.camp
    LOG=$BATS_TEST_TMPDIR/log
    PIDS=()
    ldconfig -p | grep -q libodbc.so.2 || skip 'unixODBC is not installed'
    find /usr/lib -name libsqlite3odbc.so 2>/dev/null | grep -q . ||
        skip 'libsqliteodbc is not installed'
    export ODBCSYSINI=$BATS_TEST_TMPDIR ODBCINI=$BATS_TEST_TMPDIR/odbc.ini TZ=UTC
    unset CAMP_ODBC_USER CAMP_ODBC_PASSWORD
    printf '[SQLite3]\nDriver=libsqlite3odbc.so\n[Missing]\nDriver=/nowhere/libmissing.so\n' \
        >"$ODBCSYSINI/odbcinst.ini"
    printf '[%s]\nDriver=%s\nDatabase=%s\nTimeout=%s\n' sales SQLite3 "$DB" 100 \
        patient SQLite3 "$DB" 100000 missing Missing "$DB" 100 >"$ODBCINI"
}

teardown() {
    local pid
    for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done
}

# Runs a command beside the test: sets PID.
beside() {
    "$@" 3>&- &
    PID=$!
    PIDS+=("$PID")
}

record() {
    timeout 60 "$CAMP" record --output "$OUTPUT" "$@" 3>&-
}

ask() {
    sqlite3 "$OUTPUT" "$1"
}

# compare: what the recording has is held against what was so; `figure NAME` is one of it.
compare() {
    "$ORACLE" compare "$DB" "$OUTPUT" >"$BATS_TEST_TMPDIR/compared"
    cat "$BATS_TEST_TMPDIR/compared" >&3
}

figure() {
    sed -n "s/^$1 //p" "$BATS_TEST_TMPDIR/compared"
}

# An exclusive lock for so long, which readers wait for: sets PID. Returns once it is held.
lock_for() {
    beside python3 -c 'import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("begin exclusive")
open(sys.argv[3], "w").close()
time.sleep(float(sys.argv[2]))' "$DB" "$1" "$BATS_TEST_TMPDIR/locked"
    until [ -e "$BATS_TEST_TMPDIR/locked" ]; do sleep 0.02; done
}

# ---------------------------------------------------------------------------- Sessions --

@test "sessions: waits are booked as they go and once, whatever the session" {
    "$ORACLE" make "$DB" --sessions 20 --seconds 8
    run -0 record --from odbc:sales --count 8
    compare
    [ "$(figure rows)" -ge 150 ]
    # Of a second: pieces of all lengths, over all looks.
    for state in contention wait idle; do [ "$(figure rms_$state)" -le 20 ]; done
    # DB CPU is written down every 5 s.
    [ "$(figure rms_cpu)" -ge 300 ]
    # Session 3 waits for one thing that never finishes.
    [ "$(ask "select count(*) from oracle_every join entity using (entity)
        where name like 'U3 %' and abs(wait_user_io_ns - elapsed_ns) > elapsed_ns / 100")" = 0 ]
    [ "$(ask "select count(distinct provenance) from column_info where name in ('cpu_ns')")" = 1 ]
}

@test "sessions: another serial# is another session, and who ended is counted as partial" {
    "$ORACLE" make "$DB" --sessions 4 --seconds 6
    run -0 record --from odbc:sales --count 6
    [ "$(ask "select group_concat(name, ' ') from (select distinct name from entity
        where id = 1 order by name)")" = 'U1 1,7 U1 1,8' ]
    compare
    [ "$(figure absent)" = 0 ]
    [ "$(ask 'select sum(partial) from tick')" = 2 ]
    # Who it was before is not who it is: neither has the other's waits.
    [ "$(ask "select count(*) from oracle_every where unaccounted_ns > 2 * elapsed_ns + 5e9")" = 0 ]
}

@test "sessions: the operating system's CPU time leaves nothing unaccounted" {
    for sid in 1 2 3; do beside "$ORACLE" serve "$DB" --sid $sid; done
    "$ORACLE" make "$DB" --sessions 3 --seconds 40 --host "$(hostname)" \
        --spid "$(IFS=,; echo "${PIDS[*]}")" --all-live
    sleep 1
    run -0 record --from odbc:sales --count 8
    compare
    [ "$(figure rows)" = 24 ]
    # On a CPU or ready to run is what the database has as CPU.
    [ "$(figure rms_unaccounted)" -le 60 ]
    [ "$(ask 'select provenance from column_info where name = "cpu_ns"')" = measured ]
    # The database alone does not know: what it says stands beside.
    [ "$(ask 'select max(abs(told_cpu_ns - cpu_ns)) > 1e9 from oracle_every')" = 1 ]
    # On demand without.
    rm "$OUTPUT"
    run -0 record --from odbc:sales --tier sql --count 3
    [ "$(ask 'select sum(cpu_ns != told_cpu_ns) + sum(run_queue_ns) from oracle_every')" = 0 ]
}

@test "sessions: a tier that cannot be had is refused" {
    "$ORACLE" make "$DB" --sessions 3
    run -1 --separate-stderr record --from odbc:sales --tier schedstat+SQL
    [[ $stderr == *'odbc:sales: --tier schedstat+SQL takes a server on this machine'* ]]
    run -2 --separate-stderr record --from odbc:sales --tier bpf
    [[ $stderr == *'--tier bpf: of odbc: there are schedstat+SQL and SQL'* ]]
}

@test "sessions: 200 of them, with labels, rules of one's own and details" {
    "$ORACLE" make "$DB" --sessions 200 --seconds 4
    run -0 record --from odbc:sales --count 3
    compare
    [ "$(figure rows)" -ge 590 ]
    for state in contention wait idle; do [ "$(figure rms_$state)" -le 50 ]; done
    [ "$(ask "select count(*) from entity where name like 'U17 %'")" = 1 ]
    rm "$OUTPUT"
    printf 'wait all class=.*\n' >"$BATS_TEST_TMPDIR/own.rules"
    run -0 record --from odbc:sales --count 1 --rules "$BATS_TEST_TMPDIR/own.rules" --detail
    [ "$(ask "select group_concat(name, ' ') from column_info where kind = 'state'")" \
        = 'cpu_ns run_queue_ns wait_all_ns' ]
}

@test "sessions: an event that is NULL is on a CPU" {
    "$ORACLE" make "$DB" --sessions 3
    sqlite3 "$DB" "delete from piece"
    run -0 record --from odbc:sales --count 2
    [ "$(ask 'select sum(contention_ns + wait_ns + idle_ns) from oracle_every')" = 0 ]
}

# ------------------------------------------------------------------------------- Tables --

@test "query: rows of any database are a table" {
    sqlite3 "$DB" "create table t(at, who, cpu_ms, io_ms);
        insert into t values ('2026-01-01 00:00:01', 'a', 100, 900),
        ('2026-01-01 00:00:02', 'a', 300, 200), ('2026-01-01 00:00:03', 'a', 100, 700)"
    run -0 record --from odbc:sales --query 'select at, who, cpu_ms, io_ms from t'
    [[ $output == *'3 intervals, '* ]]
    [ "$(ask 'select max(cpu_ns) from "table"')" = 300000000 ]
}

@test "query: many rows, and long texts, come whole" {
    sqlite3 "$DB" "create table t(at, session, cpu_ms, story);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
        insert into t select 1767225600 + i / 10, 'w' || (i % 10), 5, printf('%.*c', 9000, 'x') from n"
    run -0 record --from odbc:sales --query 'select at, session, story, cpu_ms from t'
    [[ $output == *'501 intervals, 5000 rows'* ]]
}

@test "query: what does not read is refused before it is executed" {
    sqlite3 "$DB" 'create table t(a)'
    run -2 --separate-stderr record --from odbc:sales --query 'insert into t values (1)'
    [[ $stderr == *'it has no result, or is no statement: --query takes one that reads'* ]]
    [ "$(sqlite3 "$DB" 'select count(*) from t')" = 0 ]
    run -2 --separate-stderr record --from odbc:sales --query 'selec 1'
    [[ $stderr == *'is no statement'* ]]
    run --separate-stderr record --from odbc:sales --query 'select nobody from t'
    [ "$status" -ne 0 ]
    [[ $stderr == *'no such column: nobody'*'SQLSTATE'* ]]
    run -2 --separate-stderr record --from odbc:sales --unit ms
    [[ $stderr == *'give --query as well'* ]]
}

# ----------------------------------------------------------------------------- Failures --

@test "failures: no unixODBC, no driver, no data source, no v\$session" {
    sqlite3 "$DB" 'create table t(a)'
    mkdir "$BATS_TEST_TMPDIR/none"
    : >"$BATS_TEST_TMPDIR/none/libodbc.so.2"
    LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/none run --separate-stderr record --from odbc:sales
    [ "$status" -ne 0 ]
    [[ $stderr == *'needs unixODBC'*'install libodbc2'* ]]
    run -2 --separate-stderr record --from odbc:missing
    [[ $stderr == *"Can't open lib '/nowhere/libmissing.so'"*'SQLSTATE 01000'*'install the driver'* ]]
    run -2 --separate-stderr record --from odbc:nobody
    [[ $stderr == *'Data source name not found'*'SQLSTATE IM002'*'odbcinst -q -s'* ]]
    run --separate-stderr record --from odbc:sales
    [ "$status" -ne 0 ]
    [[ $stderr == *'odbc:sales: v$session: no such table'*'not Oracle? --query'* ]]
    run -2 --separate-stderr record --from odbc:
    [[ $stderr == *'odbc:NAME'* ]]
}

@test "failures: a password is neither shown nor recorded" {
    "$ORACLE" make "$DB" --sessions 3
    text="odbc:DRIVER=SQLite3;Database=$DB;UID=camp;PWD=sesame"
    run -0 record --from "$text" --count 1
    run ! grep -c sesame "$OUTPUT"
    [[ $output != *sesame* ]]
    for more in '--tier bpf' '--unit ms' '--begin 02:00' '--query x'; do
        # shellcheck disable=SC2086
        run record --force --from "$text" --count 1 $more
        [ "$status" -ne 0 ]
        [[ $output != *sesame* ]]
    done
    run record --force --from "$text" --query 'select 1' --tier sql
    [[ $output != *sesame* ]]
    run record --from 'odbc:DRIVER=Nobody;PWD=sesame' --force
    [[ $output != *sesame* ]]
    export CAMP_ODBC_USER=camp CAMP_ODBC_PASSWORD=sesame
    run -0 record --force --from odbc:sales --count 1
    [[ $output != *sesame* ]]
}

@test "failures: while the file is locked there are no rows, and it goes on" {
    "$ORACLE" make "$DB" --sessions 5 --all-live
    beside "$CAMP" record --from odbc:sales --output "$OUTPUT" --interval 250ms --count 32 2>"$LOG"
    local camp=$PID
    sleep 1
    lock_for 1
    wait "$camp"
    cat "$LOG"
    [ "$(grep -c 'odbc:sales: database is locked' "$LOG")" = 1 ]
    [ "$(grep -c 'odbc:sales: answers again' "$LOG")" = 1 ]
    [ "$(ask 'select count(*) from tick')" = 32 ]
    [ "$(ask 'select count(*) from tick where tick not in (select tick from oracle_every)')" -ge 3 ]
    [ "$(ask 'select sum(partial) from tick')" = 5 ]
    # Nobody has time of the gap.
    [ "$(ask 'select count(*) from oracle_every where elapsed_ns > 1e9')" = 0 ]
    compare
    for state in contention wait idle; do [ "$(figure rms_$state)" -le 40 ]; done
}

@test "failures: a driver that waits does not hang camp" {
    "$ORACLE" make "$DB" --sessions 5 --all-live
    beside "$CAMP" record --from odbc:patient --output "$OUTPUT" --interval 500ms 2>"$LOG"
    local camp=$PID
    sleep 1.2
    lock_for 30
    for tries in $(seq 200); do
        if grep -q 'odbc:patient: the database does not answer' "$LOG"; then break; fi
        sleep 0.05
    done
    kill -INT "$camp"
    for tries in $(seq 60); do
        kill -0 "$camp" 2>/dev/null || break
        sleep 0.05
    done
    run ! kill -0 "$camp"
    grep -q 'does not answer' "$LOG"
    [ "$(ask 'select count(*) from oracle_every')" -ge 5 ]
}

@test "failures: the database is gone, comes back, and others live there" {
    "$ORACLE" make "$DB" --sessions 3 --all-live
    cp "$DB" "$BATS_TEST_TMPDIR/copy"
    sqlite3 "$BATS_TEST_TMPDIR/copy" 'update being set serial = 9; update piece set serial = 9'
    beside "$CAMP" record --from odbc:sales --output "$OUTPUT" --interval 250ms --count 24 2>"$LOG"
    local camp=$PID
    sleep 1
    head -c 40000 /dev/urandom >"$BATS_TEST_TMPDIR/garbage"
    mv "$BATS_TEST_TMPDIR/garbage" "$DB.new" && cat "$DB.new" >"$DB"
    sleep 1
    cat "$BATS_TEST_TMPDIR/copy" >"$DB"
    wait "$camp"
    grep -q 'odbc:sales: .*not a database' "$LOG"
    grep -q 'odbc:sales: answers again' "$LOG"
    [ "$(ask "select count(distinct name) from entity where name like 'U_ _,7'")" = 3 ]
    [ "$(ask "select count(distinct name) from entity where name like 'U_ _,9'")" = 3 ]
    [ "$(ask 'select count(*) from oracle_every where elapsed_ns > 1e9')" = 0 ]
}
