#!/usr/bin/env bats
# The servers of these tests themselves: they start, end, crash and leave nothing behind.

bats_require_minimum_version 1.5.0
load lib

setup() { servers_begin; }
teardown() { servers_end; }

@test "harness: a PostgreSQL server starts, answers on its socket alone, and is gone at the end" {
    start_postgres
    [ "$(query_postgres 'select 1')" = 1 ]
    [ -z "$(query_postgres 'show listen_addresses')" ]
    [ "$(stat -c %u "/proc/$PG_PID")" -ne 0 ]
    servers_end
    is_gone "$PG_PID"
    [ ! -e "$PG_FOLDER" ]
}

@test "harness: a PostgreSQL server stops and starts again, and comes back from a crash" {
    start_postgres
    stop_postgres
    run ! query_postgres 'select 1'
    run_postgres
    before=$(query_postgres 'select pg_postmaster_start_time()')
    crash_postgres
    until_it query_postgres 'select 1'
    [ "$(query_postgres 'select pg_postmaster_start_time()')" = "$before" ]
}

@test "harness: pgbench has as many sessions as it was told" {
    start_postgres
    start_pgbench 4 20
    until_it eval '[ "$(query_postgres "select count(*) from pg_stat_activity where application_name = '"'pgbench'"'")" = 4 ]'
}

@test "harness: a MariaDB server starts and answers" {
    start_mariadb
    [ "$(query_mariadb 'select 1')" = 1 ]
}
