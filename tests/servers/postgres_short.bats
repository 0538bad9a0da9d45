#!/usr/bin/env bats
# bats file_tags=deep
# Sessions that last for milliseconds have the labels of their role, database and application.

bats_require_minimum_version 1.5.0
load lib
load recording

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG_PID PG
    query_postgres 'create role worker login'
    query_postgres 'grant pg_monitor to worker'
    query_postgres 'create database shop'
    echo 'select count(*) from generate_series(1, 20000);' >"$SERVERS/short.sql"
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# record_short TIER: records while sessions come and go, 50 a second where the machine is fast enough. They are of camp's
# role and database, so that all entries of the server's table, used or not, look like that of camp's own session.
record_short() {
    rm -f "$SERVERS/short.camp"
    PGAPPNAME=short "$POSTGRES_BIN/pgbench" -n -C -R 50 -c 4 -T 600 -f "$SERVERS/short.sql" \
        "host=$PG_FOLDER dbname=shop user=worker" >"$SERVERS/pgbench.log" 2>&1 3>&- &
    PGBENCH_PID=$!
    SERVER_PIDS+=("$PGBENCH_PID")
    until_it has_backend short
    record_beside short --from "postgres:host=$PG_FOLDER dbname=shop user=worker" --tier "$1" --interval 1s
    until_it has_sessions "$2"
    end_recording short "$RECORD_PID"
    kill "$PGBENCH_PID"
    ask short "select name, user, database, application, count(*) from entity group by 1, 2, 3, 4"
}

has_sessions() {
    [ "$(ask short "select count(*) from entity")" -ge "$1" ]
}

# At most one session in twenty that is of pgbench, or unknown, lacks its labels.
labels_are_known() {
    holds short "select sum(user = 'worker' and database = 'shop' and application = 'short' and name = 'worker@shop')
        >= 0.95 * count(*) from entity where coalesce(application, '') not in ('camp', 'psql')"
}

@test "postgres short: sessions that no snapshot by SQL saw have labels on the tier bpf" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the tier bpf'
    record_short bpf 300
    labels_are_known
}

@test "postgres short: sessions that one snapshot saw have labels on the tiers that take samples" {
    for tier in schedstat+SQL SQL; do
        record_short $tier 60
        labels_are_known
    done
}

@test "postgres short: sessions that one snapshot saw have labels on the tier schedstat+memory" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the memory of a server'
    record_short schedstat+memory 60
    labels_are_known
}


# Each connection runs one statement. On a busy CPU most of these sessions never sleep after their login, because pgbench
# runs while they wait for the CPU. An interval of 3 s is longer than the second within which SQL shows a session.
@test "postgres short: each of 100 sessions that end within an interval of 3 s has a row on the tier bpf" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the tier bpf'
    record_beside each --from "postgres:$PG" --tier bpf --interval 3s
    PGAPPNAME=each "$POSTGRES_BIN/pgbench" -n -C -c 1 -t 100 -f "$SERVERS/short.sql" \
        "host=$PG_FOLDER dbname=shop user=worker" >"$SERVERS/pgbench.log" 2>&1
    sleep 6.5 # two intervals: the one that has the last session has ended
    end_recording each "$RECORD_PID"
    ask each "select name, application, count(*) from entity group by 1, 2"
    holds each "select count(*) >= 100 from entity where coalesce(application, '') in ('each', '')"
}
