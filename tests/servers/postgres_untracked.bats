#!/usr/bin/env bats
# bats file_tags=deep
# Sessions whose track_activities is off: the server does not know whether they run a statement or are in a transaction.
# camp reports that, and calls no time of theirs by a name that it cannot know.

bats_require_minimum_version 1.5.0
load lib
load recording

SPIN='do $$ begin loop end loop; end $$'

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG_PID PG
    query_postgres "create role untracked superuser login; alter role untracked set track_activities = off"
    start_untracked
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# Starts two sessions that use a CPU, and one that waits for its client in a transaction, as long as the descriptor OPENER
# is open.
start_untracked() {
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=untracked application_name=busy1" -c "$SPIN" 3>&- &
    SERVER_PIDS+=($!)
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=untracked application_name=busy2" -c "$SPIN" 3>&- &
    SERVER_PIDS+=($!)
    mkfifo "$SERVERS/opener.in"
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=untracked application_name=opener" \
        <"$SERVERS/opener.in" >/dev/null 2>&1 3>&- &
    SERVER_PIDS+=($!)
    exec {OPENER}>"$SERVERS/opener.in"
    echo 'begin;' >&"$OPENER"
    until_it has_backend busy1
    until_it has_backend busy2
    until_it eval '[ "$(query_postgres "select wait_event from pg_stat_activity where application_name = '"'opener'"'")" = ClientRead ]'
}

# record_tier NAME TIER: records ten intervals.
record_tier() {
    "$CAMP" record --force --output "$SERVERS/$1.camp" --count 10 --interval 200ms ${2:+--tier "$2"} --from "postgres:$PG" \
        3>&- 2>"$SERVERS/$1.err"
    cat "$SERVERS/$1.err"
}

NOTE='track_activities is off for 3 sessions, so the server does not know what they do: set track_activities = on'

@test "postgres untracked: on the tier SQL a busy session is on a CPU, and the note says what to do" {
    record_tier sql SQL
    grep -qF "$NOTE" "$SERVERS/sql.err"
    # Each interval has a sample at its end; its time is rounded.
    holds sql "select count(*) > 10 and min(cpu_ns >= elapsed_ns - 100) from postgres_every join entity using (entity)
        where application like 'busy_'"
    holds sql "select count(*) > 5 and min(idle_untracked_ns >= elapsed_ns - 100) and sum(idle_in_transaction_ns) = 0
        from postgres_every join entity using (entity) where application = 'opener'"
}

@test "postgres untracked: with the scheduler's counts a busy session does not wait" {
    record_tier gated schedstat+SQL
    grep -qF "$NOTE" "$SERVERS/gated.err"
    holds gated "select count(*) > 10 and sum(wait_ns) + sum(contention_ns) + sum(idle_ns) <= 0.1 * sum(elapsed_ns)
        from postgres_every join entity using (entity) where application like 'busy_'"
    holds gated "select sum(idle_in_transaction_ns) = 0 and sum(idle_untracked_ns) >= 0.5 * sum(elapsed_ns)
        from postgres_every join entity using (entity) where application = 'opener'"
}

@test "postgres untracked: where the server tracks camp's session, its memory has the states of others" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the memory of a server'
    for tier in bpf schedstat+memory; do
        record_tier memory $tier
        grep -qF "$NOTE" "$SERVERS/memory.err"
        holds memory "select sum(idle_in_transaction_ns) = 0 and sum(idle_untracked_ns) >= 0.9 * sum(elapsed_ns)
            from postgres_every join entity using (entity) where application = 'opener'"
        holds memory "select sum(idle_ns) = 0 and sum(contention_ns) = 0
            from postgres_every join entity using (entity) where application like 'busy_'"
    done
}

# The last test, because it changes the server.
@test "postgres untracked: a server that tracks no session is measured by the tier schedstat+SQL, with a note" {
    [ "$(id -u)" = 0 ] || skip 'needs root: the memory of a server'
    query_postgres "alter system set track_activities = off"
    query_postgres 'select pg_reload_conf()'
    until_it eval '[ "$(query_postgres "show track_activities")" = off ]'
    record_tier best ''
    holds best "select value = 'schedstat+SQL' from camp where key = 'tier'"
    holds best "select value = 'Not measured: track_activities is off, so the server''s memory does not have the states of sessions: set track_activities = on' from camp where key = 'note'"
    for tier in bpf schedstat+memory; do
        run -1 --separate-stderr "$CAMP" record --output "$SERVERS/refused.camp" --count 1 --tier $tier \
            --from "postgres:$PG" 3>&-
        echo "$stderr"
        [[ $stderr == *"track_activities is off, so the server's memory does not have the states of sessions: set track_activities = on" ]]
    done
}
