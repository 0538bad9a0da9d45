#!/usr/bin/env bats
# camp export --from mariadb: as export_sessions.bats, where MariaDB knows the same.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    grep -qaF libmariadb.so "$CAMP" || { skip_file 'camp was built without libmariadb'; return; }
    grep -qaF libmicrohttpd.so "$CAMP" || { skip_file 'camp was built without libmicrohttpd'; return; }
    /usr/bin/python3 -c 'import prometheus_client' || { skip_file 'needs python3-prometheus-client'; return; }
    servers_begin
    start_mariadb --innodb-lock-wait-timeout=3600
    prepare_mariadb idle holder waiter burner
    query_mariadb "alter user camp@localhost with max_user_connections 40; create user narrow@localhost;
        create table t.t(a int primary key); insert into t.t values (1)"
    export MARIADB_SOCKET MARIADB_PID MARIADB_FOLDER
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    query_mariadb "$(query_mariadb "select concat('kill ', id, ';') from information_schema.processlist
        where user not in ('root', 'system user')")" 2>/dev/null || true # gone
}

has_tier() { timeout 120 "$CAMP" top --from "$(place camp)" --tier "$1" --count 1 --interval 100ms; }

place() { echo "mariadb:socket=$MARIADB_SOCKET user=$1"; }

# scrape NAME [OPTION...]: runs the test NAME of export_sessions.py as the user $AS (camp), which must pass.
scrape() {
    local name=$1
    shift
    run timeout 300 /usr/bin/python3 -B "$BATS_TEST_DIRNAME/export_sessions.py" "$CAMP" "$name" "$(place "${AS:-camp}")" "$@"
    echo "$name $*: $output"
    [ "$status" -eq 0 ]
}

on_each_tier() {
    local tier
    for tier in bpf schedstat+SQL SQL; do
        [ "$tier" = SQL ] || has_tier "$tier" >/dev/null 2>&1 || { echo "no tier $tier here"; continue; }
        setup
        scrape "$1" --tier "$tier"
    done
}

# bats test_tags=law
@test "camp export --from mariadb: sessions that do one thing are in its state, on each tier" {
    on_each_tier known_sessions_are_in_their_states
}

# bats test_tags=law
@test "camp export --from mariadb reports the same times as camp top of the same seconds" {
    on_each_tier top_has_the_same_times
}

@test "camp export --from mariadb: ages of transactions and of the blocker are those of the server" {
    scrape ages_are_those_that_the_server_has
}

@test "camp export --from mariadb: two scrapers do not disturb each other" {
    scrape two_scrapers_take_turns
}

@test "camp export --from mariadb reports no age without the right PROCESS" {
    AS=narrow scrape hidden_sessions_have_no_age
}

@test "camp export --from mariadb: a server that does not answer is down and then up" {
    export STOP="kill -STOP $MARIADB_PID" START="kill -CONT $MARIADB_PID"
    scrape a_server_that_is_away_is_down_and_comes_back
}
