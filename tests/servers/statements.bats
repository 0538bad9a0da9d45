#!/usr/bin/env bats
# Sessions of PostgreSQL by statement: time belongs to the statement that ran when it passed.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export SAMPLER=${CAMP%/src/camp}/tests/servers/lock_sampler
    [ -x "$SAMPLER" ] || { skip_file 'built without libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

# set_query_ids on|off: new sessions of the server then have ids, or not.
set_query_ids() {
    query_postgres "alter system set compute_query_id = $1"
    query_postgres 'select pg_reload_conf()' >/dev/null
    until_it eval '[ "$(query_postgres "show compute_query_id")" = '"$1"' ]'
}

# bats test_tags=law
@test 'statements: row-lock time of TPC-B by statement equals a sampler at 200 Hz on each tier' {
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    mapfile -t tiers < <(tiers_here "postgres:$PG")
    [ "${#tiers[@]}" -ge 2 ]
    run -0 python3 "$BATS_TEST_DIRNAME/statements_law.py" "$CAMP" "$SAMPLER" \
        "postgres:host=$PG_FOLDER dbname=postgres user=camp_super" "host=$PG_FOLDER dbname=postgres user=camp_super" 20 "${tiers[@]}"
    printf '%s\n' "$output"
    [[ $output == *'UPDATE pgbench_branches'* ]]
}

@test 'statements: a session counts once in all groups, and the groups add up to its time' {
    start_session lit 'select pg_sleep(600)'
    for tier in $(tiers_here "postgres:$PG"); do
        until_it has_backends 1
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group query --count 1 --interval 1s \
            --format json
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1])
wall = 1e9 * frame["interval_s"]
assert frame["summary"]["entities"] == 1, frame
assert 0.8 * wall < sum(row["elapsed_ns"] for row in frame["entities"]) < 1.2 * wall, frame
for row in frame["entities"]:
    assert abs(row["unaccounted_ns"]) < 0.2 * wall, row
[asleep] = [row for row in frame["entities"] if row["counters"]["idle_asked_for_ns"] > 0]
assert asleep["counters"]["idle_asked_for_ns"] > 0.8 * wall, asleep
int(asleep["labels"]["query"])' "$output"
    done
}

@test 'statements: literals do not split groups' {
    start_session one 'select pg_sleep(601), 1'
    start_session two 'select pg_sleep(602), 2'
    for tier in $(tiers_here "postgres:$PG"); do
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group query --count 1 --interval 1s \
            --format json
        python3 -c '
import json, sys
[asleep] = [row for row in json.loads(sys.argv[1])["entities"] if row["counters"]["idle_asked_for_ns"] > 0]
assert asleep["count"] == 2, asleep' "$output"
    done
}

@test 'statements: --queries shows a text of each, without its literals' {
    start_session one "select pg_sleep(600), 'secret'"
    start_session two "select pg_sleep(601), 'hidden'"
    for tier in $(tiers_here "postgres:$PG"); do
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group query --queries --count 1 \
            --interval 1s --format json
        [[ $output == *'"name":"example: select pg_sleep(?), ?"'* ]]
        [[ $output != *secret* && $output != *hidden* ]]
    done
}

@test 'statements: a recording by statement has them, and one of sessions says that it has not' {
    start_session one 'select pg_sleep(600)'
    run -0 "$CAMP" record --from "postgres:$PG" --group query --count 1 --interval 1s --output "$BATS_TEST_TMPDIR/by.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/by.camp" --format csv
    [[ $output == *query* ]]
    run -0 "$CAMP" record --from "postgres:$PG" --count 1 --interval 1s --output "$BATS_TEST_TMPDIR/sessions.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/sessions.camp" --group query
    [[ ${stderr_lines[0]} == *'--group query: this has sessions, not statements: record them with camp record --group query; each session'* ]]
    [[ $output == *$'\nlast_statement'* ]]
}

@test 'statements: without ids of the server one line says what to do, and the group is titled by what it is' {
    set_query_ids off
    start_session one 'select pg_sleep(600)'
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group query --queries --count 1 --interval 1s
    set_query_ids on
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *'set compute_query_id = on in postgresql.conf, and reload it; until then sessions are in the groups of their last statements, which are (none) without --queries' ]]
    [[ $output == *$'\nlast_statement'* ]]
    [[ $output == *'select pg_sleep(600)'* ]]
}
