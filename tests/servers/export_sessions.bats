#!/usr/bin/env bats
# camp export --from postgres: its counters are exact, add up, and are those of camp top; its ages are those of the
# server (export_sessions.py is the scraper).

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    grep -qaF libpq.so "$CAMP" || { skip_file 'camp was built without libpq'; return; }
    grep -qaF libmicrohttpd.so "$CAMP" || { skip_file 'camp was built without libmicrohttpd'; return; }
    /usr/bin/python3 -c 'import prometheus_client' || { skip_file 'needs python3-prometheus-client'; return; }
    servers_begin
    export PGPASSFILE PGSERVICEFILE POSTGRES_BIN
    # A backend that waits for a lock wakes up after deadlock_timeout. With 1 h it sleeps until it has the lock.
    start_postgres deadlock_timeout=1h
    export PG_FOLDER PG_PID PG
    query_postgres 'create table t(a int); insert into t values (1); alter role camp connection limit 40'
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    end_sessions
}

# has_tier TIER: whether this user can measure by this tier.
has_tier() { timeout 120 "$CAMP" top --from "postgres:$PG" --tier "$1" --count 1 --interval 100ms; }

# scrape NAME [OPTION...]: runs the test NAME of export_sessions.py, which must pass.
scrape() {
    local name=$1
    shift
    run timeout 300 /usr/bin/python3 -B "$BATS_TEST_DIRNAME/export_sessions.py" "$CAMP" "$name" \
        "${SOURCE:-postgres:$PG}" "$@"
    echo "$name $*: $output"
    [ "$status" -eq 0 ]
}

# on_each_tier NAME: the same on each tier that this user has; SQL needs no rights.
on_each_tier() {
    local tier
    for tier in bpf schedstat+memory schedstat+SQL SQL; do
        [ "$tier" = SQL ] || has_tier "$tier" >/dev/null 2>&1 || { echo "no tier $tier here"; continue; }
        end_sessions
        scrape "$1" --tier "$tier"
    done
}

# bats test_tags=law
@test "camp export --from postgres: sessions that do one thing are in its state, on each tier" {
    on_each_tier known_sessions_are_in_their_states
}

# bats test_tags=law
@test "camp export --from postgres reports the same times as camp top of the same seconds" {
    on_each_tier top_has_the_same_times
}

@test "camp export --from postgres: ages of transactions and of the blocker are those of the server" {
    scrape ages_are_those_that_the_server_has
}

@test "camp export --from postgres: an old transaction blocks only since another session waits for it" {
    scrape a_blocker_blocks_since_another_waits
}

@test "camp export --from postgres causes no error in the server's log" {
    local before
    before=$(grep -cE 'ERROR|WARNING' "$PG_FOLDER.log" || true)
    scrape ages_are_those_that_the_server_has
    [ "$(grep -cE 'ERROR|WARNING' "$PG_FOLDER.log" || true)" = "$before" ]
}

@test "camp export --from postgres prints and exports no password" {
    run "$CAMP" export --from "postgres:host=$PG_FOLDER dbname=postgres user=secret password=sesame" --once --interval 100ms
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'camp_server_up 1'* ]]
    [[ $output != *sesame* ]]
    [[ $output != *"$PG_FOLDER"* ]]
    run "$CAMP" export --from "postgres:host=$PG_FOLDER user=secret password=open" --once --interval 100ms
    echo "$output"
    [ "$status" -eq 4 ]
    [[ $output != *password=* ]]
}

@test "camp export --from postgres --group: a label of the sessions, or an error that lists them" {
    start_session psqlx 'select pg_sleep(600)'
    run "$CAMP" export --from "postgres:$PG" --once --interval 100ms --group database
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'camp_session_seconds_total{database="postgres"} 0.'* ]]
    [[ $output != *psqlx* ]]
    run "$CAMP" export --from "postgres:$PG" --once --interval 100ms --group wait_event
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'camp_session_seconds_total{wait_event="Timeout/PgSleep"} 0.'* ]]
    run "$(dirname "$CAMP")/camp-exporter" --from "postgres:$PG" --once --interval 100ms --groups 0
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'camp_session_seconds_total{application="other"} 0.'* ]]
    [[ $output != *psqlx* ]]
    run "$CAMP" export --from "postgres:$PG" --once --group unit
    [ "$status" -eq 2 ]
    [ "$output" = "camp export: --group unit: the sessions of postgres have the labels user, database, application, client, backend_type, leader, blocker, root_blocker, blocking_activity, wait_event" ]
}

@test "camp export --from postgres ends with one line if there is no server" {
    run timeout 60 "$CAMP" export --from "postgres:host=$SERVERS/nothing" --port 0
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "camp export --from postgres counts hidden sessions, and reports no age that they could exceed" {
    SOURCE="postgres:host=$PG_FOLDER dbname=postgres user=stranger" scrape hidden_sessions_are_counted_and_have_no_age
}

@test "camp export --from postgres escapes the names of applications" {
    scrape hostile_names_are_escaped
}

@test "camp export --from postgres: names that change have few series, and no time is lost" {
    scrape names_that_change_have_few_series
}

@test "camp export --from postgres: two scrapers do not disturb each other" {
    scrape two_scrapers_take_turns
}

@test "camp export --from postgres: a server that is stopped and started again is down and then up" {
    export STOP="kill -INT $PG_PID; while kill -0 $PG_PID 2>/dev/null; do sleep 0.1; done"
    export START="source '$BATS_TEST_DIRNAME/lib.bash'; SERVERS='$SERVERS' PG_FOLDER='$PG_FOLDER'; run_postgres"
    scrape a_server_that_is_away_is_down_and_comes_back
    PG_PID=$(head -1 "$PG_FOLDER/postmaster.pid")
    SERVER_PIDS+=("$PG_PID")
}

@test "camp export --from postgres: a page of a server that does not answer says so" {
    PG_PID=$(head -1 "$PG_FOLDER/postmaster.pid")
    export STOP="kill -STOP $PG_PID \$(pgrep -P $PG_PID)" START="kill -CONT $PG_PID \$(pgrep -P $PG_PID)"
    scrape a_server_that_is_away_is_down_and_comes_back
}
