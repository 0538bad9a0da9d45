#!/usr/bin/env bats
# bats file_tags=deep
# Tests of the functions in lib.bash: servers start, stop, recover from a crash, and leave nothing behind.

bats_require_minimum_version 1.5.0
load lib

setup() { servers_begin; }
teardown() { servers_end; }

@test "test servers: a PostgreSQL server answers only on its own socket" {
    start_postgres
    [ "$(query_postgres 'select 1')" = 1 ]
    [ -z "$(query_postgres 'show listen_addresses')" ]
    [ "$(stat -c %u "/proc/$PG_PID")" -ne 0 ]
    # pgbench has as many sessions as requested, and none after end_sessions.
    start_pgbench 4 20
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 4 ]'
    end_sessions
    [ -z "$(backend_of pgbench)" ]
    # The server stops and starts again, and recovers from a crash.
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

@test "test servers: a MariaDB server starts and answers a query" {
    start_mariadb
    [ "$(query_mariadb 'select 1')" = 1 ]
}

# A process that no longer runs may still be a zombie.
runs_not() { ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }

@test "test servers: a busy backend does not outlive a server that was killed" {
    start_postgres
    start_session burner 'do $$ begin loop end loop; end $$'
    pid=$(backend_of burner)
    kill -KILL "$PG_PID"
    until_it is_gone "$PG_PID"
    run ! runs_not "$pid"
    servers_end
    until_it runs_not "$pid"
}
