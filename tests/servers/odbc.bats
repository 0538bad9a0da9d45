#!/usr/bin/env bats
# --from odbc: with unixODBC and its driver for SQLite: a synthetic Oracle database with known contents
# (oracle_file.py), tables by --query, and failures.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children
load recording
load witnesses

TIMEOUT_MS=100 # how long a reader waits for a lock

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    ORACLE=$BATS_TEST_DIRNAME/oracle_file.py
    SERVERS=$BATS_TEST_TMPDIR # where recording.bash puts recordings; there is no server
    DB=$SERVERS/sales.db
    OUTPUT=$SERVERS/x.camp
    PIDS=()
    ldconfig -p | grep -q libodbc.so.2 || skip 'unixODBC is not installed'
    find /usr/lib -name libsqlite3odbc.so 2>/dev/null | grep -q . ||
        skip 'libsqliteodbc is not installed'
    export ODBCSYSINI=$BATS_TEST_TMPDIR ODBCINI=$BATS_TEST_TMPDIR/odbc.ini TZ=UTC
    unset CAMP_ODBC_USER CAMP_ODBC_PASSWORD
    printf '[SQLite3]\nDriver=libsqlite3odbc.so\n[Missing]\nDriver=/nowhere/libmissing.so\n' \
        >"$ODBCSYSINI/odbcinst.ini"
    printf '[%s]\nDriver=%s\nDatabase=%s\nTimeout=%s\n' sales SQLite3 "$DB" $TIMEOUT_MS \
        patient SQLite3 "$DB" 100000 missing Missing "$DB" $TIMEOUT_MS >"$ODBCINI"
}

teardown() {
    end_children
}

# Runs a command in the background, and sets PID.
beside() {
    "$@" 3>&- &
    PID=$!
    PIDS+=("$PID")
}

record() {
    timeout 120 "$CAMP" record --output "$OUTPUT" "$@" 3>&-
}

# has_rows CONDITION: the recording has a row for which the SQL condition holds.
has_rows() {
    [ "$(ask x "select count(*) from oracle_every join entity using (entity) where $1")" -gt 0 ]
}

# Prints the counters of the kernel for the thread that takes the snapshots, and that sleeps between snapshots.
count_snapshots() {
    local tid
    for tid in "/proc/$RECORD_PID/task"/*; do
        [ "${tid##*/}" = "$RECORD_PID" ] || count_tasks "${tid##*/}"
    done
}

# begin_snapshots OPTION...: starts a recording, which end_snapshots ends.
begin_snapshots() {
    record_beside x "$@"
    TAKEN=$(taken_ns)
    count_snapshots >"$SERVERS/snapshots.before"
    SINCE=$(($(ask x 'select max(tick) from tick') + 1))
}

# end_snapshots [NS]: ends the recording. Only the intervals after SINCE up to TICKS may be compared, because their
# snapshots were taken between the two readings of the counters. Sets SNAPSHOTS_NS, the duration of all these snapshots
# together: the time of their thread on a CPU and in the run queue, interrupts, stolen time, and NS of waits for a lock.
end_snapshots() {
    until_it has_ticks x $((SINCE + 1))
    TICKS=$(ask x 'select max(tick) from tick')
    count_snapshots >"$SERVERS/snapshots.after"
    SNAPSHOTS_NS=$(($(since "$SERVERS/snapshots.before" "$SERVERS/snapshots.after" 2) + ${1:-0}
        + $(since "$SERVERS/snapshots.before" "$SERVERS/snapshots.after" 3) + $(taken_since "$TAKEN")))
    end_recording x "$RECORD_PID"
}

partial() {
    ask x "select sum(partial) from tick where tick > $SINCE and tick <= $TICKS"
}

# record_snapshots COUNT OPTION...: records at least COUNT intervals.
record_snapshots() {
    local count=$1
    shift
    begin_snapshots "$@"
    until_it has_ticks x $((SINCE + count))
    end_snapshots
}

# Compares the recording with the known contents. `figure NAME` prints a result by its name.
compare() {
    "$ORACLE" compare "$DB" "$OUTPUT" --since "$SINCE" --ticks "$TICKS" --snapshots "$SNAPSHOTS_NS" >"$SERVERS/compared"
    echo "all snapshots took $SNAPSHOTS_NS ns in $((TICKS - SINCE)) intervals: $(tolerance_ns) ns may be apart"
    cat "$SERVERS/compared"
}

figure() {
    sed -n "s/^$1 \([^ ]*\).*/\1/p" "$SERVERS/compared"
}

# Prints the allowed difference between the rows and the known contents. At each end of an interval, the time when a
# value is read differs from the time of the row by at most the duration of the snapshot. The clock of SQLite has a
# resolution of 1 ms.
tolerance_ns() {
    echo $((4 * SNAPSHOTS_NS + 2 * 1000000 * (TICKS - SINCE)))
}

match_the_contents() {
    for state in contention wait idle; do
        [ "$(figure apart_$state)" -le "$(tolerance_ns)" ] || {
            echo "$state is $(figure apart_$state) ns apart, of $(tolerance_ns)"
            return 1
        }
    done
}

# The sum of the states of a session does not exceed its elapsed time.
do_not_exceed_their_time() {
    holds x "select count(*) > 0 and max(contention_ns + wait_ns + idle_ns - elapsed_ns) <= $(tolerance_ns)
        from oracle_every where tick > $SINCE and tick <= $TICKS"
}

# Takes an exclusive lock in a background process, and sets PID. Readers wait for the lock until `unlock`.
lock() {
    beside python3 -c 'import os, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=600)
db.execute("begin exclusive")
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)' "$DB" "$SERVERS/locked"
    until_it test -e "$SERVERS/locked"
}

unlock() {
    rm "$SERVERS/locked"
}

# none_spans BEGIN END: no row has an interval that contains all of the time from BEGIN to END, in ns since 1970.
none_spans() {
    holds x "select count(*) = 0 from oracle_every o join tick using (tick)
        where wall_clock_ns - o.elapsed_ns < $1 and wall_clock_ns > $2"
}

@test "oracle sessions: a wait that lasts over several snapshots is accounted once" {
    "$ORACLE" make "$DB" --sessions 20 --seconds 8
    record_snapshots 8 --from odbc:patient
    compare
    # If a wait may have ended during a snapshot, the session has no row, and counts as partial.
    [ "$(figure missing)" -le "$(partial)" ]
    # The mean durations of the waits in the known contents are 20 ms, 0.3 s and 1.5 s.
    match_the_contents
    # DB CPU is written every 5 s.
    [ "$(figure cpu_intervals)" -gt 0 ]
    [ "$(figure cpu_intervals)" -le "$(figure cpu_steps)" ]
    # Session 3 is in the same wait all the time.
    [ "$(ask x "select count(*) > 0 and sum(wait_user_io_ns != elapsed_ns) = 0 from oracle_every
        join entity using (entity) where name like 'U3 %'")" = 1 ]
    [ "$(ask x "select count(distinct provenance) from column_info where name in ('cpu_ns')")" = 1 ]
}

@test "oracle sessions: a session with a new serial number is a new session" {
    local locked_ns
    "$ORACLE" make "$DB" --sessions 4 --all-live
    begin_snapshots --from odbc:patient
    until_it has_rows "name = 'U1 1,7'"
    locked_ns=$("$ORACLE" replace "$DB")
    until_it has_rows "name = 'U1 1,8'"
    end_snapshots "$locked_ns"
    [ "$(ask x "select group_concat(name, ' ') from (select distinct name from entity
        where id = 1 order by name)")" = 'U1 1,7 U1 1,8' ]
    compare
    [ "$(figure absent)" = 0 ]
    [ "$(ask x 'select sum(partial) from tick')" -ge 2 ]
    # The new session does not get the waits of the replaced session, which started 20 s earlier.
    do_not_exceed_their_time
}

# Prints the time between two timer ticks. The kernel updates the CPU time of a running task at each timer tick.
tick_ns() {
    python3 -c 'import time; print(round(time.clock_getres(6) * 1e9))' # CLOCK_MONOTONIC_COARSE
}

# The CPU time of the rows is at least the growth of the counters from `begun` to `ending`, which were read between the
# first and the last snapshot. The CPU time and the run queue time are at most the growth from `before` the first
# snapshot to `after` the last snapshot. Each of the three processes may differ by a timer tick.
has_the_clock_of_its_processes() {
    holds x "select sum(cpu_ns) <= $(since "$SERVERS/before" "$SERVERS/after" 2) + $((3 * $(tick_ns)))
        and sum(cpu_ns) >= $(since "$SERVERS/begun" "$SERVERS/ending" 2) - $((3 * $(tick_ns)))
        and sum(run_queue_ns) <= $(since "$SERVERS/before" "$SERVERS/after" 3) and sum(run_queue_ns) > 0
        from oracle_every"
}

# leaves_unaccounted SID: the unaccounted time of a session is at most the error of its process, which does what
# the database reports: its delays, the run queue time that was not yet counted at a snapshot, and its timer ticks.
leaves_unaccounted() {
    local late queue
    late=$(cat "$DB.late.$1")
    queue=$(grep "^${PIDS[$1 - 1]} " "$SERVERS/after" | cut -d' ' -f3)
    [ "$(figure "unaccounted_$1")" -le $((late + queue + $(tolerance_ns) + 2 * (TICKS - SINCE) * $(tick_ns))) ]
}

@test "oracle sessions: CPU time from the operating system leaves almost no time unaccounted" {
    local sid
    for sid in 1 2 3; do beside "$ORACLE" serve "$DB" --sid $sid; done
    "$ORACLE" make "$DB" --sessions 3 --host "$(hostname)" --spid "$(IFS=,; echo "${PIDS[*]}")" --all-live
    for sid in 1 2 3; do until_it test -s "$DB.late.$sid"; done
    count_tasks "${PIDS[@]}" >"$SERVERS/before"
    begin_snapshots --from odbc:patient
    count_tasks "${PIDS[@]}" >"$SERVERS/begun"
    until_it has_ticks x $((SINCE + 8))
    count_tasks "${PIDS[@]}" >"$SERVERS/ending"
    end_snapshots
    count_tasks "${PIDS[@]}" >"$SERVERS/after"
    compare
    [ "$(figure rows)" -ge $((3 * (TICKS - SINCE) - $(partial))) ]
    [ "$(ask x 'select provenance from column_info where name = "cpu_ns"')" = measured ]
    has_the_clock_of_its_processes
    for sid in 1 2 3; do leaves_unaccounted "$sid"; done
    # The CPU time that the database reports is 0 in some intervals, because DB CPU is written every 5 s.
    [ "$(ask x 'select count(*) > 0 from oracle_every where reported_cpu_ns = 0 and cpu_ns > 0')" = 1 ]
    # Tier SQL has only the times that the database reports.
    rm "$OUTPUT"
    run -0 record --from odbc:sales --tier sql --count 3
    [ "$(ask x 'select sum(cpu_ns != reported_cpu_ns) + sum(run_queue_ns) from oracle_every')" = 0 ]
}

@test "oracle sessions: camp refuses an unavailable tier" {
    "$ORACLE" make "$DB" --sessions 3
    run -1 --separate-stderr record --from odbc:sales --tier schedstat+SQL
    [[ $stderr == *'odbc:sales: --tier schedstat+SQL takes a server on this machine'* ]]
    run -2 --separate-stderr record --from odbc:sales --tier bpf
    [[ $stderr == *'--tier bpf: the tiers of odbc: are schedstat+SQL and SQL'* ]]
}

# bats test_tags=deep
@test "oracle sessions: the times of 200 sessions equal the contents of the database" {
    "$ORACLE" make "$DB" --sessions 200 --seconds 4
    record_snapshots 3 --from odbc:patient
    compare
    [ "$(figure missing)" -le "$(partial)" ]
    match_the_contents
    [ "$(ask x "select count(*) from entity where name like 'U17 %'")" = 1 ]
    rm "$OUTPUT"
    printf 'wait all class=.*\n' >"$BATS_TEST_TMPDIR/own.rules"
    run -0 record --from odbc:sales --count 1 --rules "$BATS_TEST_TMPDIR/own.rules" --detail
    [ "$(ask x "select group_concat(name, ' ') from column_info where kind = 'state'")" \
        = 'cpu_ns run_queue_ns wait_all_ns' ]
}

@test "oracle sessions: a session whose wait event is NULL is not waiting" {
    "$ORACLE" make "$DB" --sessions 3
    sqlite3 "$DB" "delete from piece"
    run -0 record --from odbc:sales --count 2
    [ "$(ask x 'select sum(contention_ns + wait_ns + idle_ns) from oracle_every')" = 0 ]
}

@test "odbc query: camp records the rows of any database as a table" {
    sqlite3 "$DB" "create table t(at, who, cpu_ms, io_ms);
        insert into t values ('2026-01-01 00:00:01', 'a', 100, 900),
        ('2026-01-01 00:00:02', 'a', 300, 200), ('2026-01-01 00:00:03', 'a', 100, 700)"
    run -0 record --from odbc:sales --query 'select at, who, cpu_ms, io_ms from t'
    [[ $output == *'3 intervals, '* ]]
    [ "$(ask x 'select max(cpu_ns) from "table"')" = 300000000 ]
}

@test "odbc query: camp reads 5000 rows with long texts completely" {
    sqlite3 "$DB" "create table t(at, session, cpu_ms, story);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
        insert into t select 1767225600 + i / 10, 'w' || (i % 10), 5, printf('%.*c', 9000, 'x') from n"
    run -0 record --from odbc:sales --query 'select at, session, story, cpu_ms from t'
    [[ $output == *'501 intervals, 5000 rows'* ]]
}

@test "odbc query: camp refuses a statement that returns no rows, and does not execute it" {
    sqlite3 "$DB" 'create table t(a)'
    run -2 --separate-stderr record --from odbc:sales --query 'insert into t values (1)'
    [[ $stderr == *'--query takes a statement that reads, such as SELECT or WITH; this one begins with "insert"'* ]]
    run -2 --separate-stderr record --from odbc:sales --query 'select 1; delete from t'
    [[ $stderr == *"--query takes one statement, and there is more after its ';'"* ]]
    [ "$(sqlite3 "$DB" 'select count(*) from t')" = 0 ]
    run -2 --separate-stderr record --from odbc:sales --query 'selec 1'
    [[ $stderr == *'begins with "selec"'* ]]
    run --separate-stderr record --from odbc:sales --query 'select nobody from t'
    [ "$status" -ne 0 ]
    [[ $stderr == *'no such column: nobody'*'SQLSTATE'* ]]
    run -2 --separate-stderr record --from odbc:sales --unit ms
    [[ $stderr == *'--unit does not go with --from odbc:'*'odbc:DSN with --query'* ]]
}

@test "odbc failures: the error names a missing unixODBC, driver, data source or view" {
    sqlite3 "$DB" 'create table t(a)'
    mkdir "$BATS_TEST_TMPDIR/none"
    : >"$BATS_TEST_TMPDIR/none/libodbc.so.2"
    LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/none run --separate-stderr record --from odbc:sales
    [ "$status" -ne 0 ]
    [[ $stderr == *'unixODBC is not installed'*'install libodbc2'* ]]
    run -1 --separate-stderr record --from odbc:missing
    [[ $stderr == *"Can't open lib '/nowhere/libmissing.so'"*'SQLSTATE 01000'*'install the driver'* ]]
    run -1 --separate-stderr record --from odbc:nobody
    [[ $stderr == *'Data source name not found'*'SQLSTATE IM002'*'odbcinst -q -s'* ]]
    run --separate-stderr record --from odbc:sales
    [ "$status" -ne 0 ]
    [[ $stderr == *'odbc:sales: v$session: no such table'*'for a database other than Oracle, give --query'* ]]
    run -2 --separate-stderr record --from odbc:
    [[ $stderr == *'odbc:NAME'* ]]
    run -2 --separate-stderr record --from 'odbc:DSM=sales;PWD=sesame'
    [[ $stderr == *'needs one of DSN=, DRIVER= and FILEDSN='*'its first key is (DSM=)'* ]]
    run -2 --separate-stderr record --from 'odbc:DSN=sales;sesame;PORT=1'
    [[ $stderr == *"part 2 of the connection string has no '='"* && $stderr != *sesame* ]]
}

@test "odbc failures: camp neither shows nor records a password" {
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

# bats test_tags=deep
@test "odbc failures: camp continues without rows while the database is locked" {
    local locked unlocked
    "$ORACLE" make "$DB" --sessions 5 --all-live
    begin_snapshots --from odbc:sales --interval 250ms
    until_it has_ticks x "$SINCE" # the intervals after it count the missed sessions
    lock
    locked=$(date +%s%N)
    told x 'odbc:sales: database is locked'
    more_ticks x 4 # there is one for each interval, without rows
    [ "$(ask x 'select count(*) from tick where tick not in (select tick from oracle_every)')" -ge 3 ]
    unlocked=$(date +%s%N)
    unlock
    told x 'odbc:sales: answers again'
    more_ticks x 4
    end_snapshots $((2 * TIMEOUT_MS * 1000000)) # a snapshot before the lock ended, and one after
    cat "$SERVERS/x.err"
    [ "$(grep -c 'odbc:sales: database is locked' "$SERVERS/x.err")" = 1 ]
    [ "$(grep -c 'odbc:sales: answers again' "$SERVERS/x.err")" = 1 ]
    [ "$(ask x 'select count(*) = max(tick) from tick')" = 1 ]
    [ "$(partial)" -ge 5 ]
    none_spans "$locked" "$unlocked"
    compare
    match_the_contents
}

# bats test_tags=deep
@test "odbc failures: SIGINT ends camp record while the driver waits for the database" {
    "$ORACLE" make "$DB" --sessions 5 --all-live
    record_beside x --from odbc:patient --interval 500ms
    until_it has_rows true
    lock
    told x 'odbc:patient: the database does not answer'
    kill -INT "$RECORD_PID"
    until_it is_gone "$RECORD_PID"
    [ "$(ask x 'select count(*) from oracle_every')" -ge 5 ]
}

# bats test_tags=deep
@test "odbc failures: camp continues after the database disappears and returns" {
    "$ORACLE" make "$DB" --sessions 3 --all-live
    cp "$DB" "$BATS_TEST_TMPDIR/copy"
    sqlite3 "$BATS_TEST_TMPDIR/copy" 'update being set serial = 9; update piece set serial = 9'
    local gone back
    record_beside x --from odbc:sales --interval 250ms
    until_it has_rows true
    gone=$(date +%s%N)
    head -c 40000 /dev/urandom >"$DB.new"
    cat "$DB.new" >"$DB"
    told x 'odbc:sales: .*not a database'
    back=$(date +%s%N)
    cat "$BATS_TEST_TMPDIR/copy" >"$DB"
    told x 'odbc:sales: answers again'
    until_it has_rows "name like 'U_ _,9'"
    end_recording x "$RECORD_PID"
    [ "$(ask x "select count(distinct name) from entity where name like 'U_ _,7'")" = 3 ]
    [ "$(ask x "select count(distinct name) from entity where name like 'U_ _,9'")" = 3 ]
    none_spans "$gone" "$back"
}
