#!/usr/bin/env bats
# bats file_tags=law
# Sessions that end between two samples: the kernel's exit records have their CPU and run-queue time. The sessions last
# so long that samples find them on a quiet machine as well; the start and the end of each, which no record has, take about
# a millisecond.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres min_parallel_table_scan_size=0 parallel_setup_cost=0 parallel_tuple_cost=0 max_parallel_workers_per_gather=2
    query_postgres 'create table large as select generate_series(1, 2000000) as a; analyze large' >/dev/null
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

needs_exit_records() {
    [ "$(id -u)" = 0 ] || skip 'exit records need CAP_NET_ADMIN; what is printed without them is tested below'
}

# ended_are_whole TIER PYTHON: records 8 intervals, and checks that of the time of the rows for which the expression
# PYTHON is true, at most 5 % is unaccounted.
ended_are_whole() {
    "$CAMP" top --from "postgres:host=$PG_FOLDER dbname=postgres user=camp_super" --tier "$1" --count 8 --interval 1s \
        --format json >"$BATS_TEST_TMPDIR/$1" 3>&-
    python3 -c '
import json, sys
rows = [row for line in open(sys.argv[1]) for row in json.loads(line)["entities"]]
rows = [row for row in rows if row["ended"] and eval(sys.argv[2])]
elapsed = sum(row["elapsed_ns"] for row in rows)
lost = sum(abs(row["unaccounted_ns"]) for row in rows)
print(f"{sys.argv[3]}: {len(rows)} ended, {elapsed / 1e9:.3f} s, {100 * lost / max(elapsed, 1):.1f} % unaccounted")
assert len(rows) >= 5, rows
assert lost <= 0.05 * elapsed' "$BATS_TEST_TMPDIR/$1" "$2" "$1"
}

@test 'postgres: parallel workers that end have at most 5 % of unaccounted time on the schedstat tiers' {
    needs_exit_records
    start_session leader "do \$\$ begin loop perform count(*) from large where a > 1; end loop; end \$\$"
    ended_are_whole schedstat+memory 'row["parent"]'
    ended_are_whole schedstat+SQL 'row["parent"]'
}

@test 'postgres: of 50 connections a second at most 5 % of the time is unaccounted on the schedstat tiers' {
    needs_exit_records
    echo 'select count(*) from generate_series(1, 200000)' >"$BATS_TEST_TMPDIR/script"
    start_pgbench 4 600 --file "$BATS_TEST_TMPDIR/script" --connect --rate 50
    until_it has_backend pgbench
    ended_are_whole schedstat+memory 'row["labels"]["application"] == "pgbench" or not row["labels"]["application"]'
    ended_are_whole schedstat+SQL 'row["labels"]["application"] == "pgbench" or not row["labels"]["application"]'
}

@test 'postgres: without the right to exit records a line says what ended sessions lose' {
    without=()
    [ "$(id -u)" != 0 ] || without=(setpriv --bounding-set -net_admin --inh-caps -net_admin --)
    run -0 "${without[@]}" "$CAMP" top --from "postgres:$PG" --tier schedstat+SQL \
        --count 1 --interval 100ms
    [[ $output == *'Sessions that end lose the CPU time since their last sample'* ]]
}
