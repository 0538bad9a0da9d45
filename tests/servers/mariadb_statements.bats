#!/usr/bin/env bats
# Sessions of MariaDB by statement: time belongs to the statement that ran when it passed, and the server's own counts of
# the statement are beside it. The witnesses are InnoDB's monitor at 200 Hz, and the server's counts before and after.

bats_require_minimum_version 1.5.0
load lib
load recording
load mariadb_loads

MARK='UPDATE `marked` SET `n` = `n` + ? WHERE ID = ?'
DIGESTS=(--performance-schema=ON --performance-schema-consumer-events-statements-current=ON
    --performance-schema-consumer-events-statements-history=ON)

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # Most tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export SAMPLER=${CAMP%/src/camp}/tests/servers/innodb_sampler
    [ -x "$SAMPLER" ] || { skip_file 'built without libmariadb'; return; }
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    servers_begin
    start_mariadb "${DIGESTS[@]}"
    prepare_mariadb tpcb one two caller
    query_mariadb 'create table t.marked(id int primary key, n int) engine=innodb; insert into t.marked values (1, 0), (2, 0)'
    make_tpcb
    export MARIADB_SOCKET MARIADB_PID
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    FROM="mariadb:socket=$MARIADB_SOCKET user=camp"
    FILE_SOCKET=$MARIADB_SOCKET
    SERVER_PIDS=("$MARIADB_PID") # A server that a test starts has a folder of its own.
}

# Sessions of a test end with it, and so does a server of its own.
teardown() {
    local pid
    ! is_file_skipped || return 0
    end_loads
    for pid in "${SERVER_PIDS[@]:1}"; do kill "$pid" 2>/dev/null || true; done # gone
    for pid in "${SERVER_PIDS[@]:1}"; do until_it is_gone "$pid"; done
    rm -rf "$SERVERS"/my1*
    MARIADB_SOCKET=$FILE_SOCKET
    until_it eval '[ "$(query_mariadb "select count(*) from information_schema.processlist where db = '"'t'"'")" = 0 ]'
    rm -f "$SERVERS"/*.in
}

# call COUNT: executes the marked statement so often, in different sessions.
call() {
    local i
    for i in 1 2; do
        seq -f "update marked set n = n + %.0f where id = $i;" $(($1 / 2)) |
            mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=caller t 3>&-
    done
}

record_statements() {
    record_beside "$1" --from "$FROM" --group query --queries --interval 300ms "${@:2}"
}

# sums NAME: prints calls, time, lock time, rows and lost entries of the marked statement.
sums() {
    ask "$1" "select sum(reported_calls), sum(reported_execution_ns), sum(reported_lock_ns), sum(reported_rows),
        sum(reported_lost) from mariadb join entity using (entity) where query = '$MARK'"
}

calls_are() { [ "$(ask "$1" "select sum(reported_calls) from mariadb join entity using (entity) where query = '$MARK'")" = "$2" ]; }

# status NAME: prints a counter of SHOW GLOBAL STATUS.
status() { query_mariadb "show global status like '$1'" | cut -f2; }

# The server's own sums of the marked statement, in ps.
server_sums() {
    query_mariadb "select sum(COUNT_STAR), sum(SUM_TIMER_WAIT), sum(SUM_LOCK_TIME), sum(SUM_ROWS_AFFECTED + SUM_ROWS_SENT)
        from performance_schema.events_statements_summary_by_digest where DIGEST_TEXT = '$MARK'"
}

# bats test_tags=law
@test 'mariadb statements: row-lock time by statement equals a sampler at 200 Hz on each tier' {
    local tiers
    start_tpcb tpcb 8
    mapfile -t tiers < <(tiers_here "$FROM" | grep -v performance_schema)
    [ "${#tiers[@]}" -ge 1 ]
    run -0 python3 "$BATS_TEST_DIRNAME/statements_law.py" "$CAMP" "$SAMPLER" "$FROM" "$MARIADB_SOCKET" 20 "${tiers[@]}"
    printf '%s\n' "$output"
    [[ $output == *'update branches'* ]]
}

open_sleeper() {
    open_mariadb "$1"
    say "$1" "select sleep(600 + $2), '$1';"
    until_it is_seen "$1" 'User sleep'
}

@test 'mariadb statements: a session counts once in all groups, and the groups add up to its time' {
    local tier
    open_sleeper one 1
    for tier in $(tiers_here "$FROM"); do
        # A thread has its first row in its second interval.
        run -0 --separate-stderr "$CAMP" top --from "$FROM" --tier "$tier" --group query --queries --count 2 --interval 1s \
            --format json
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1].splitlines()[1])
wall = 1e9 * frame["interval_s"]
rows = [row for row in frame["entities"] if row["elapsed_ns"] > 0]
assert frame["summary"]["entities"] == 1, frame["summary"]
assert 0.8 * wall < sum(row["elapsed_ns"] for row in rows) < 1.2 * wall, frame
for row in rows:
    assert abs(row["unaccounted_ns"]) < 0.2 * wall or sys.argv[2] == "performance_schema", row
if sys.argv[2] != "performance_schema": # It does not report a wait that lasts.
    [asleep] = [row for row in rows if row["counters"]["idle_asked_for_ns"] > 0]
    assert asleep["counters"]["idle_asked_for_ns"] > 0.8 * wall, asleep
    assert asleep["name"] == "example: select sleep(? + ?), ?", asleep' "$output" "$tier"
    done
}

@test 'mariadb statements: rows of a session and its statements add up to the session, in a recording' {
    local tier
    # A statement has time only where it ran.
    local several='select count(*) > 1 from (select query from mariadb_every join entity using (entity)
            where elapsed_ns > 0 and length(query) in (16, 32) group by query)'
    start_tpcb tpcb 3
    for tier in $(tiers_here "$FROM"); do
        record_beside "sum$tier" --from "$FROM" --group query --tier "$tier" --interval 300ms
        more_ticks "sum$tier" 4
        until_it holds "sum$tier" "$several" # on a busy machine the first intervals may have one
        end_recording "sum$tier" "$RECORD_PID"
        # In each interval the groups have the time of three sessions.
        holds "sum$tier" "select count(*) >= 2 and max(abs(unaccounted)) <= 10 * 3 from (
            select sum(elapsed_ns - cpu_ns - run_queue_ns - contention_ns - wait_ns - idle_ns - unaccounted_ns) as unaccounted
            from mariadb_every group by tick having sum(elapsed_ns) > 0)"
        holds "sum$tier" "$several"
    done
}

@test 'mariadb statements: literals do not split groups, and texts do not show them' {
    local tier
    open_sleeper one 1
    open_sleeper two 2
    for tier in $(tiers_here "$FROM"); do
        run -0 --separate-stderr "$CAMP" top --from "$FROM" --tier "$tier" --group query --queries --count 2 --interval 1s \
            --format json
        python3 -c '
import json, sys
rows = json.loads(sys.argv[1].splitlines()[1])["entities"]
[asleep] = [row for row in rows if row["name"].startswith("example: select sleep") and row["elapsed_ns"] > 0]
assert asleep["count"] == 2, asleep' "$output"
        [[ $output != *600* ]]
    done
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --group query --count 2 --interval 300ms
    [[ $output != *sleep* ]]
}

@test 'mariadb statements: calls are those of SHOW GLOBAL STATUS, times and rows those of the server' {
    local tier calls execution lock rows lost before updates of_server
    call 10
    for tier in '' SQL; do
        record_statements "all$tier" ${tier:+--tier "$tier"}
        before=$(server_sums)
        updates=$(status Com_update)
        call 400
        until_it calls_are "all$tier" 400
        call 200
        until_it calls_are "all$tier" 600
        end_recording "all$tier" "$RECORD_PID"
        [ $(($(status Com_update) - updates)) = 600 ]
        read -r calls execution lock rows lost < <(sums "all$tier" | tr '|' ' ')
        read -r -a of_server < <(paste <(echo "$before") <(server_sums) |
            awk '{ printf "%.0f %.0f %.0f %.0f\n", $5 - $1, ($6 - $2) / 1000, ($7 - $3) / 1000, $8 - $4 }')
        echo "camp: $calls $execution $lock $rows; server: ${of_server[*]}"
        [ "$calls" = "${of_server[0]}" ] && [ "$lost" = 0 ] && [ "$rows" = "${of_server[3]}" ] && [ "$rows" -gt 0 ]
        # Each of the intervals rounds to a nanosecond.
        ((execution - of_server[1] <= 20 && of_server[1] - execution <= 20 && execution > 0))
        ((lock - of_server[2] <= 20 && of_server[2] - lock <= 20 && lock <= execution))
        holds "all$tier" "select count(*) = 0 from entity where query like '%camp_own%' or query like '%performance_schema%'"
    done
}

@test 'mariadb statements: after a reset counts go on from zero, and what is lost is counted' {
    local calls execution lock rows lost
    call 10
    record_statements reset
    call 400
    until_it calls_are reset 400
    query_mariadb 'truncate table performance_schema.events_statements_summary_by_digest'
    call 100
    until_it calls_are reset 500
    end_recording reset "$RECORD_PID"
    read -r calls execution lock rows lost < <(sums reset | tr '|' ' ')
    [ "$calls" = 500 ] && [ "$lost" = 1 ] && [ "$execution" -gt 0 ]
    holds reset 'select min(reported_calls) >= 0 and max(reported_execution_ns) < 1e12 from mariadb'
    holds reset "select count(*) > 0 from note where text like '% of events_statements_summary_by_digest w% reset or dropped%'" ||
        ask reset 'select * from note'
}

# The process list shows the statement within, which has its own digest.
@test 'mariadb statements: a statement within a procedure is known by itself' {
    query_mariadb 'drop procedure if exists t.nap; create procedure t.nap(s int) sql security invoker select sleep(s)'
    open_mariadb one
    say one 'call nap(600);'
    until_it is_seen one 'User sleep'
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --group query --queries --count 2 --interval 1s --format json
    python3 -c '
import json, sys
rows = json.loads(sys.argv[1].splitlines()[1])["entities"]
[row] = [row for row in rows if row["counters"]["idle_asked_for_ns"] > 0]
assert row["name"].startswith("example: select sleep("), row' "$output"
}

@test 'mariadb statements: hostile texts are cut and escaped, and equal starts are one statement' {
    local long
    long=$(printf 'x%.0s' {1..60})
    record_statements hostile
    {
        printf 'select 1 as `\e[31m\x07red%s`, 2;\n' "$long"
        printf "select length('"
        head -c 1000000 /dev/zero | tr '\0' 'y'
        printf "') as huge;\n"
        printf 'select 3 as `%s%s%s`;\nselect sleep(0.6), "\xff\xfe\xc3(", 4 as `\x01\xe2\x80\xae`;\n' "$long" "$long" "$long"
    } >"$SERVERS/hostile.sql"
    mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=one --default-character-set=latin1 --force t \
        <"$SERVERS/hostile.sql" >/dev/null 2>&1 3>&-
    call 20
    until_it calls_are hostile 20
    end_recording hostile "$RECORD_PID"
    holds hostile "select count(*) >= 1 from mariadb join entity using (entity)
        where query like 'SELECT LENGTH%(_) AS %huge%' and reported_calls = 1" || ask hostile 'select query from entity'
    holds hostile 'select max(length(cast(query as blob))) <= 127 from entity'
    run -0 --separate-stderr "$CAMP" top --from "$SERVERS/hostile.camp" --group query --top 0
    [[ $output == *"$MARK"* && $output == *rep%* && $output != *$'\e'* && $output != *$'\a'* && $output != *$'\x01'* ]]
    run -0 --separate-stderr "$CAMP" top --from "$SERVERS/hostile.camp" --format json
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin.buffer.read().decode("utf-8").splitlines()]' <<<"$output"
    run -0 "$CAMP" report --from "$SERVERS/hostile.camp" --output "$SERVERS/hostile.html"
    run ! grep -q $'\e' "$SERVERS/hostile.html"
}

@test 'mariadb statements: a full table of digests is reported with the calls that it has no space for' {
    local i
    start_mariadb "${DIGESTS[@]}" --performance-schema-digests-size=50
    prepare_mariadb one
    record_beside full --from "mariadb:socket=$MARIADB_SOCKET user=camp" --group query --interval 300ms
    # Statements of different lengths, because names of columns and literals make no difference.
    awk 'BEGIN { for (n = 1; n <= 150; n++) { printf "select a"; for (j = 0; j < n; j++) printf "+a"; print " from (select 1 as a) as b;" } }' |
        mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=one t >/dev/null 3>&-
    until_it holds full "select sum(reported_calls) >= 100 from mariadb join entity using (entity) where query = '(other)'"
    end_recording full "$RECORD_PID"
    holds full "select count(*) > 0 from note where text like '% counted without a digest, because events_statements_summary_by_digest is full: raise performance_schema_digests_size'" ||
        ask full 'select * from note'
}

# A server of the file's own has other settings.
@test 'mariadb statements: without performance_schema texts distinguish statements, and one line says so' {
    start_mariadb
    prepare_mariadb one two
    FROM="mariadb:socket=$MARIADB_SOCKET user=camp"
    open_sleeper one 1
    open_sleeper two 2
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --group query --queries --count 2 --interval 1s
    [[ $output == *'Statements are known by their texts without literals, and have no counts of the server: performance_schema is off: start the server with performance_schema = ON'* ]]
    [[ $output == *$'\nselect sleep(? + ?), ? '*' 2 '* && $output != *rep%* ]]
    run -0 --separate-stderr "$CAMP" record --from "$FROM" --group query --count 2 --interval 300ms --output "$SERVERS/off.camp"
    holds off "select count(*) = 1 from entity where length(query) = 16"
}

@test 'mariadb statements: without its rights or consumers one line says what to do' {
    local top=(--group query --count 1 --interval 200ms)
    query_mariadb 'create user blind@localhost; grant process on *.* to blind@localhost'
    run -0 --separate-stderr "$CAMP" top --from "mariadb:socket=$MARIADB_SOCKET user=blind" "${top[@]}"
    query_mariadb 'drop user blind@localhost'
    [[ $output == *'this user may not read performance_schema: grant select on performance_schema.*'* ]]
    query_mariadb "update performance_schema.setup_consumers set ENABLED = 'NO' where NAME like 'events_statements_%'"
    run -0 --separate-stderr "$CAMP" top --from "$FROM" "${top[@]}"
    query_mariadb "update performance_schema.setup_consumers set ENABLED = 'YES' where NAME in ('events_statements_current', 'events_statements_history')"
    [[ $output == *"the consumer events_statements_current is off: update performance_schema.setup_consumers set ENABLED = 'YES' where NAME = 'events_statements_current'"* ]]
    [[ $output != *rep%* ]]
}

@test 'mariadb statements: sessions without statements stay as they were, and texts need a group' {
    open_sleeper one 1
    run -2 --separate-stderr "$CAMP" record --from "$FROM" --queries --output "$SERVERS/refused.camp"
    [[ $stderr == *'add --group query'* ]]
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --count 2 --interval 300ms --format json
    [[ $output != *reported_calls* && $output != *'"query"'* ]]
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --group blocker --count 2 --interval 300ms --format json
    [[ $output != *reported_calls* ]]
}

@test 'mariadb statements: a recording of sessions has no statements, and says how to record them' {
    open_sleeper one 1
    run -0 --separate-stderr "$CAMP" record --from "$FROM" --count 2 --interval 300ms --output "$SERVERS/m.camp"
    run -2 --separate-stderr "$CAMP" top --from "$SERVERS/m.camp" --group query --speed 0
    [ "$stderr" = 'camp top: --group query: m.camp (sessions) has sessions, not statements: record them with camp record --group query' ]
}
