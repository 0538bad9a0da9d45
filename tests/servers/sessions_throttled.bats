#!/usr/bin/env bats
# bats file_tags=law
# Sessions of servers whose cgroup has a quota of CPU time: their throttled time is a state of its own.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children
load ../commands/microstates

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    servers_begin
}

teardown() {
    end_children KILL
    servers_end
}

# Skips the test if the kernel has no clock of the throttled time of groups, or camp may not load programs.
need_clock() {
    need_throttled_clock
    need_microstates
}

# compare SOURCE LABEL=VALUE PROCESS...: prints the table of these sessions, and fails if a row is wrong.
compare() {
    run_law "$BATS_TEST_DIRNAME/throttled_law.py" "$@"
}

@test 'postgres: the throttled time of a session is that of its group, and of its backend as a thread' {
    need_clock
    start_postgres
    for name in first second; do
        start_session "$name" 'do $$ begin loop end loop; end $$' camp_super
        backends+=("$(backend_of "$name")")
    done
    compare "postgres:host=$PG_FOLDER dbname=postgres user=camp_super" user=camp_super "${backends[@]}"
}

@test 'mariadb: the throttled time of a session is that of its group, and of its thread' {
    need_clock
    start_mariadb
    prepare_mariadb looper
    open_mariadb looper
    say looper 'select benchmark(1000000000000, md5(1));'
    until_it is_seen looper %
    compare "mariadb:socket=$MARIADB_SOCKET user=camp" user=looper "$MARIADB_PID"
}
