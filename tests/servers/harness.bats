#!/usr/bin/env bats
# bats file_tags=deep
# The servers of these tests themselves: they start, end, crash and leave nothing behind.

bats_require_minimum_version 1.5.0
load lib

setup() { servers_begin; }
teardown() { servers_end; }

@test "harness: a PostgreSQL server answers only on its socket, and is gone at the end" {
    start_postgres
    [ "$(query_postgres 'select 1')" = 1 ]
    [ -z "$(query_postgres 'show listen_addresses')" ]
    [ "$(stat -c %u "/proc/$PG_PID")" -ne 0 ]
    # As many sessions of pgbench as it was told, and none when they are ended.
    start_pgbench 4 20
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 4 ]'
    end_sessions
    [ -z "$(backend_of pgbench)" ]
    # It stops and starts again, and comes back from a crash.
    stop_postgres
    run ! query_postgres 'select 1'
    run_postgres
    before=$(query_postgres 'select pg_postmaster_start_time()')
    crash_postgres
    until_it query_postgres 'select 1'
    [ "$(query_postgres 'select pg_postmaster_start_time()')" = "$before" ]
    servers_end
    is_gone "$PG_PID"
    [ ! -e "$PG_FOLDER" ]
}

@test "harness: a MariaDB server starts and answers" {
    start_mariadb
    [ "$(query_mariadb 'select 1')" = 1 ]
}
