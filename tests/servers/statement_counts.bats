#!/usr/bin/env bats
# What PostgreSQL itself counts of statements (pg_stat_statements) beside the times by statement. The witnesses are the
# client, which counts its own executions, and the server's totals before and after.

bats_require_minimum_version 1.5.0
load lib
load recording
load ../commands/children

MARK='select count(*) as marked from generate_series($1, $2)'

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    [ -e "$("$POSTGRES_BIN/pg_config" --sharedir 2>/dev/null || pg_config --sharedir)/extension/pg_stat_statements.control" ] ||
        { skip_file 'pg_stat_statements is not installed'; return; }
    servers_begin
    start_postgres "shared_preload_libraries = 'pg_stat_statements'" 'pg_stat_statements.max = 100' \
        'pg_stat_statements.track_planning = on' "log_line_prefix = 'role=%u '"
    export PG_FOLDER PG_PID PG
    query_postgres 'alter role camp connection limit 40'
    echo 'select count(*) as marked from generate_series(1, 10);' >"$SERVERS/marked.sql"
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    query_postgres 'drop extension if exists pg_stat_statements; create extension pg_stat_statements;
        select pg_stat_statements_reset()' >/dev/null
    BEFORE=$(wc -l <"$PG_FOLDER.log")
}

teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

# call COUNT: executes the marked statement so often, and fails unless the client counts as many.
call() {
    "$POSTGRES_BIN/pgbench" -n -M simple -h "$PG_FOLDER" -U camp_super -c 2 -t $(($1 / 2)) -f "$SERVERS/marked.sql" postgres \
        >"$SERVERS/call.log" 2>&1 3>&-
    grep -q "actually processed: $1/$1" "$SERVERS/call.log"
}

# record_statements NAME [OPTION...]: records by statement, and waits until the counts have a start.
record_statements() {
    record_beside "$1" --from "postgres:$PG" --group query --queries --interval 300ms "${@:2}"
}

# sums NAME: prints calls, execution time, planning time, rows and lost entries of the marked statement.
sums() {
    ask "$1" "select sum(reported_calls), sum(reported_execution_ns), sum(reported_planning_ns), sum(reported_rows),
        sum(reported_lost) from postgres join entity using (entity) where query = '$MARK'"
}

calls_are() { [ "$(ask "$1" "select sum(reported_calls) from postgres join entity using (entity) where query = '$MARK'")" = "$2" ]; }

# The server's own sums of the marked statement, in ns.
server_sums() {
    query_postgres "select sum(calls), round(sum(total_exec_time::numeric) * 1000000),
        round(sum(total_plan_time::numeric) * 1000000), sum(rows) from pg_stat_statements where query = '$MARK'"
}

nothing_logged() {
    until_it eval "[ -z \"\$(query_postgres \"select pid from pg_stat_activity where usename = 'camp'\")\" ]"
    run ! grep -E 'role=camp |ERROR|WARNING' <(sed "1,${BEFORE}d" "$PG_FOLDER.log")
}

@test 'statement counts: calls are as many as the client counted, and times and rows those of the server' {
    local tier calls execution planning rows lost of_server
    for tier in '' SQL; do
        query_postgres 'select pg_stat_statements_reset()' >/dev/null
        record_statements "all$tier" ${tier:+--tier "$tier"}
        call 400
        until_it calls_are "all$tier" 400
        call 200
        until_it calls_are "all$tier" 600
        end_recording "all$tier" "$RECORD_PID"
        IFS='|' read -r calls execution planning rows lost < <(sums "all$tier")
        IFS='|' read -r -a of_server < <(server_sums)
        [ "$calls" = 600 ] && [ "$lost" = 0 ] && [ "${of_server[0]}" = 600 ] && [ "$rows" = "${of_server[3]}" ]
        # Each of the intervals rounds to a nanosecond.
        ((execution - of_server[1] <= 20 && of_server[1] - execution <= 20 && execution > 0))
        ((planning - of_server[2] <= 20 && of_server[2] - planning <= 20 && planning > 0))
        holds "all$tier" "select count(*) = 0 from entity where query like '%pg_stat_activity%' or query like '%dealloc%'"
    done
    nothing_logged
}

@test 'statement counts: after a reset they go on from zero, and what is lost is counted' {
    local calls execution planning rows lost
    record_statements reset
    call 400
    until_it calls_are reset 400
    query_postgres 'select pg_stat_statements_reset()' >/dev/null
    call 100
    until_it calls_are reset 500
    end_recording reset "$RECORD_PID"
    IFS='|' read -r calls execution planning rows lost < <(sums reset)
    [ "$calls" = 500 ] && [ "$rows" = 500 ] && [ "$lost" = 1 ] && [ "$execution" -gt 0 ]
    holds reset 'select min(reported_calls) >= 0 and max(reported_execution_ns) < 1e12 from postgres'
    holds reset "select count(*) > 0 from note where text like 'pg_stat_statements has reset or dropped % entr%'" ||
        ask reset 'select * from note'
}

@test 'statement counts: entries that the server drops for lack of space give no negative counts' {
    local i
    record_beside dropped --from "postgres:$PG" --group query --interval 300ms # by ids: the texts start alike
    for i in 1 2 3; do
        # Statements of different lengths, because names of columns and literals make no difference.
        awk -v i="$i" 'BEGIN { for (n = 1; n <= 150; n++) { printf "select 1 as n"; for (j = 0; j < n + 150 * i; j++) printf ",1"; print ";" } }' \
            >"$SERVERS/many.sql"
        "$POSTGRES_BIN/psql" -X -q -h "$PG_FOLDER" -U camp_super -f "$SERVERS/many.sql" postgres >/dev/null 3>&-
        more_ticks dropped 1
    done
    end_recording dropped "$RECORD_PID"
    [ "$(query_postgres 'select dealloc > 0 from pg_stat_statements_info')" = t ]
    holds dropped 'select sum(reported_lost) > 0 from postgres'
    # Each of the statements was called once. A negative count would be negative here, or very large.
    holds dropped "select count(*) > 20 and min(reported_calls) = 1 and max(reported_calls) < 1000
        and min(reported_execution_ns) >= 0 and max(reported_execution_ns) < 600e9 from postgres where reported_calls <> 0"
    nothing_logged
}

@test 'statement counts: the extension may be in any schema, and of an old version' {
    query_postgres 'drop extension pg_stat_statements; drop schema if exists "a ""b" cascade; create schema "a ""b";
        grant usage on schema "a ""b" to camp; create extension pg_stat_statements schema "a ""b" version '"'1.7'" >/dev/null
    record_statements old
    call 60
    until_it calls_are old 60
    end_recording old "$RECORD_PID"
    holds old "select sum(reported_execution_ns) > 0 from postgres join entity using (entity) where query = '$MARK'"
    # This version does not count planning time: there is no column, instead of zeros.
    holds old "select count(*) = 0 from column_info where column_name = 'reported_planning_ns'"
    nothing_logged
}

@test 'statement counts: without the extension, its library or its rights one line says so, and the server logs nothing' {
    local top=(--group query --queries --count 1 --interval 200ms)
    query_postgres 'drop extension pg_stat_statements'
    start_session one 'select pg_sleep(600)'
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" "${top[@]}"
    [[ $output == *'No counts of statements by the server: the extension pg_stat_statements is not in this database: create extension'* ]]
    [[ $output == *'example: select pg_sleep(?)'* && $output != *rep%* ]]
    query_postgres 'create schema closed; create extension pg_stat_statements schema closed'
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" "${top[@]}"
    [[ $output == *'No counts of statements by the server: this role may not use pg_stat_statements: grant usage on its schema'* ]]
    [[ $output != *rep%* ]]
    query_postgres 'drop extension pg_stat_statements; create extension pg_stat_statements; drop schema closed'
    call 10
    run -0 --separate-stderr "$CAMP" top --from "postgres:host=$PG_FOLDER dbname=postgres user=stranger" "${top[@]}"
    [[ $output == *'hidden from this role: grant pg_monitor to it'* ]]
    nothing_logged
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --count 1 --interval 200ms --format json
    [[ $output != *reported_calls* ]]
}

@test 'statement counts: a statement of a second shows what the server counted, and its normalised text' {
    start_pgbench_of_sleeps
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group query --queries --count 3 --interval 1s --format json
    python3 -c '
import json, sys
rows = [row for line in sys.argv[1].splitlines() for row in json.loads(line)["entities"] if row["name"] == "select pg_sleep($1)"]
calls = sum(row["counters"]["reported_calls"] for row in rows)
execution = sum(row["counters"]["reported_execution_ns"] for row in rows)
elapsed = sum(row["elapsed_ns"] for row in rows)
assert calls >= 2 and execution >= 0.05e9 * calls, (calls, execution)
# The time of a call is counted in the interval in which it ends, so at each end it is off by a call of each client.
longest = 2 * execution / calls
assert elapsed >= execution - 2 * longest, (elapsed, execution)' "$output"
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group query --queries --count 1 --interval 200ms
    [[ $output == *'  calls    rep%  unrep%'* ]]
    kill "$SLEEPS_PID"
}

# bats test_tags=law
@test 'statement counts: TPC-B: the statements of a transaction were called as often, in less time than was measured' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group query --queries --count 10 --interval 1s --format json
    kill "$PGBENCH_PID"
    run -0 python3 "$BATS_TEST_DIRNAME/statement_counts_table.py" <<<"$output"
    printf '%s\n' "$output"
    [[ $output == *'UPDATE pgbench_branches'* ]]
}

# Two clients that sleep for 50 ms again and again.
start_pgbench_of_sleeps() {
    echo 'select pg_sleep(0.05);' >"$SERVERS/sleeps.sql"
    "$POSTGRES_BIN/pgbench" -n -h "$PG_FOLDER" -U camp_super -c 2 -T 600 -f "$SERVERS/sleeps.sql" postgres >/dev/null 2>&1 3>&- &
    SLEEPS_PID=$!
    SERVER_PIDS+=("$SLEEPS_PID")
    until_it eval '[ "$(query_postgres "select coalesce(sum(calls), 0) from pg_stat_statements where query like '"'select pg_sleep%'"'")" -gt 2 ]'
}

@test 'statement counts: a recording shows the texts and the counts, and hostile texts are cut and escaped' {
    local long
    record_statements texts
    long=$(printf 'x%.0s' {1..60})
    {
        printf 'select 1 as "\e[31m\x07red%s", 2;\n' "$long"
        printf "select length('"
        head -c 1000000 /dev/zero | tr '\0' 'y'
        printf "') as huge;\n"
        printf 'select 3 as "%s%s%s";\n' "$long" "$long" "$long"
    } >"$SERVERS/hostile.sql"
    "$POSTGRES_BIN/psql" -X -q -h "$PG_FOLDER" -U camp_super -f "$SERVERS/hostile.sql" postgres >/dev/null 2>&1 3>&-
    call 20
    until_it calls_are texts 20
    end_recording texts "$RECORD_PID"
    holds texts "select sum(reported_calls) = 1 from postgres join entity using (entity)
        where query = 'select length(\$1) as huge'"
    holds texts 'select max(length(query)) <= 127 from entity'
    run -0 --separate-stderr "$CAMP" top --from "$SERVERS/texts.camp" --group query --top 0
    [[ $output == *"$MARK"* && $output == *rep%* && $output != *$'\e'* && $output != *$'\a'* ]]
    run -0 --separate-stderr "$CAMP" top --from "$SERVERS/texts.camp" --format json
    [[ $output == *'\u001b[31m\u0007red'* ]]
    run -0 "$CAMP" report --from "$SERVERS/texts.camp" --output "$SERVERS/texts.html"
    run ! grep -q $'\e' "$SERVERS/texts.html"
}

@test 'statement counts: a recording with texts of sessions is refused, and one line says what to do' {
    run -2 --separate-stderr "$CAMP" record --from "postgres:$PG" --queries --output "$SERVERS/refused.camp"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *'--queries: a session runs many statements in an interval; add --group query, which records the time of each, or --group last_statement'* ]]
    [ ! -e "$SERVERS/refused.camp" ]
    start_session one 'select pg_sleep(600)'
    run -0 "$CAMP" record --from "postgres:$PG" --queries --group last_statement --count 1 --interval 200ms --output "$SERVERS/last.camp"
    holds last "select count(*) = 1 from entity where last_statement = 'select pg_sleep(600)'"
}
