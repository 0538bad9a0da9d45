#!/usr/bin/env bats
# Sessions of a real PostgreSQL server, as the sampler sees them, and every failure it is to survive.

bats_require_minimum_version 1.5.0
load lib

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    WATCH_POSTGRES=${CAMP%/src/camp}/tests/servers/watch_postgres
    [ -x "$WATCH_POSTGRES" ] || skip 'built without libpq'
    servers_begin
}

teardown() { servers_end; }

# watch INTERVALS MS [WORD...]: what it prints is in $SERVERS/watched, for the tests' own eyes too.
watch() {
    "$WATCH_POSTGRES" "$PG" "$@" 3>&- | tee "$SERVERS/watched"
}

# The same in the background; watched_line PATTERN waits for a line of it.
watch_beside() {
    "$WATCH_POSTGRES" "$PG" "$@" >"$SERVERS/watched" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    watched_line '^interval'
}

watched_line() {
    until_it grep -q -- "$1" "$SERVERS/watched" || {
        cat "$SERVERS/watched"
        return 1
    }
}

# fails_with STATUS-LINE CONNINFO: the program ends in one line on stderr, which begins so.
fails_with() {
    run --separate-stderr timeout 30 "$WATCH_POSTGRES" "$2" 1 100
    echo "$stderr"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "PostgreSQL: $1"* ]]
}

# new_connection: its own backend is another one than before, and it was told why.
connects_again() {
    watched_line 'connected yes .*connections 2'
    watched_line "^failure PostgreSQL: $1"
}

own_backend() {
    query_postgres "select pid from pg_stat_activity where application_name = 'camp'"
}

# ------------------------------------------------------------------------------ states --

@test "postgres: a session that waits for a lock, one in a transaction, one that sleeps, one idle" {
    start_postgres
    query_postgres 'create table t(a int)'
    start_session holder 'begin; lock table t; select pg_sleep(30)'
    start_session waiter 'select * from t'
    sleep 0.5
    watch 1 1000
    grep -A1 ' waiter ' "$SERVERS/watched" | grep -q '  Lock/relation/active/client_backend  told'
    grep -A1 ' holder ' "$SERVERS/watched" | grep -q '  Timeout/PgSleep/active/client_backend  told'
    grep -q '^interval .* local yes  connected yes  hidden 0 ' "$SERVERS/watched"
    run ! grep -q ' camp ' "$SERVERS/watched"
}

@test "postgres: all time of a session that stays is told, and one that comes and goes is marked" {
    start_postgres
    start_session stays 'select pg_sleep(30)'
    watch_beside 6 1000
    start_session goes 'select pg_sleep(1)'
    watched_line ' goes .* new yes'
    watched_line ' - .* ended yes  '
    until_it eval '[ "$(grep -c ^interval "$SERVERS/watched")" = 6 ]'
    cat "$SERVERS/watched"
    # R of the session is that of the interval, and its times are R.
    awk '/^interval/ { length_ms = $2 } / stays / { r = $5; getline; if ((r - $3) ^ 2 > 0.05 ||
         (r - length_ms) ^ 2 > 0.05) bad++; seen++ } END { exit bad > 0 || seen != 6 }' \
        "$SERVERS/watched"
}

@test "postgres: parallel workers are told with their leader, processes of the server when asked" {
    start_postgres max_parallel_workers_per_gather=2 min_parallel_table_scan_size=0 \
        parallel_setup_cost=0 parallel_tuple_cost=0
    query_postgres 'create table big as select generate_series(1, 3000000) a; analyze big'
    start_session leader 'select count(*) from big b1 join big b2 on b1.a # 1 = b2.a # 2, generate_series(1, 100)'
    watch 3 500
    run -0 grep -c 'leader [1-9]' "$SERVERS/watched"
    run ! grep -q 'checkpointer' "$SERVERS/watched"
    watch 1 300 background
    grep -q 'Activity/.*/none/checkpointer' "$SERVERS/watched"
}

@test "postgres: statements' texts are read only when asked" {
    start_postgres
    start_session secretive "select pg_sleep(30), 'my own business'"
    watch 1 300
    run ! grep -q business "$SERVERS/watched"
    watch 1 300 queries
    grep -q business "$SERVERS/watched"
}

@test "postgres: a role that may not see others counts them as hidden" {
    start_postgres
    start_session one 'select pg_sleep(30)'
    start_session two 'select pg_sleep(30)'
    PG="host=$PG_FOLDER dbname=postgres user=stranger"
    watch 1 300
    grep -q '^interval .* hidden 2 ' "$SERVERS/watched"
    run ! grep -q '^session' "$SERVERS/watched"
}

@test "postgres: looks that would cost more than 1 % of a CPU become fewer" {
    start_postgres
    watch 4 500 1000
    # The last interval's own words: "rate 22.41  share 1.000 %".
    awk '/^interval/ { rate = $(NF - 3); share = $(NF - 1) }
         END { exit !(rate > 0 && rate < 1000 && share <= 1.001) }' "$SERVERS/watched"
    awk '/^interval/ { looks = $5 } END { exit !(looks < 250) }' "$SERVERS/watched"
}

# ------------------------------------------------------------------ who cannot connect --

@test "postgres: who may not connect is told why, in one line" {
    start_postgres
    fails_with 'role "nobody_known" does not exist' "$PG user=nobody_known"
    fails_with 'role "locked_out" is not permitted to log in' "$PG user=locked_out"
    fails_with 'database "nowhere" does not exist' "$PG dbname=nowhere"
    fails_with 'it asks for a password; set PGPASSWORD' "$PG user=secret"
    fails_with 'password authentication failed for user "secret"' "$PG user=secret password=wrong"
    fails_with 'No such file or directory; is the server running' "host=$SERVERS/missing"
    for words in 'password=my geheim' 'geheim=1' 'postgres://h/d?geheim=1' "password='geheim"; do
        fails_with 'the connection string cannot be read' "$words"
        [[ $stderr != *geheim* ]]
    done
    fails_with 'Connection refused; is the server running' 'host=127.0.0.1 port=1'
}

@test "postgres: a password comes from its file or the environment, and is not printed" {
    start_postgres
    PG="host=$PG_FOLDER dbname=postgres user=secret"
    PGPASSWORD=sesame watch 1 100
    grep -q 'connected yes' "$SERVERS/watched"
    echo "*:*:*:secret:sesame" >"$PGPASSFILE"
    chmod 600 "$PGPASSFILE"
    watch 1 100
    grep -q 'connected yes' "$SERVERS/watched"
    printf '[my]\nhost=%s\nuser=camp\ndbname=postgres\n' "$PG_FOLDER" >"$PGSERVICEFILE"
    PG=service=my watch 1 100
    grep -q '^of service=my$' "$SERVERS/watched"
    rm "$PGPASSFILE"
    PG="$PG password=sesame" watch 1 100
    grep -q 'connected yes' "$SERVERS/watched"
    run ! grep -q sesame "$SERVERS/watched"
}

@test "postgres: camp records no password, and takes URIs" {
    start_postgres
    query_postgres 'grant pg_monitor to secret'
    uri="//secret:sesame@${PG_FOLDER//\//%2F}/postgres"
    for from in "postgres:host=$PG_FOLDER dbname=postgres user=secret password=sesame" \
        "postgres:$uri" "postgresql:$uri"; do
        run timeout 30 "$CAMP" record --from "$from" --tier SQL --interval 200ms --count 1 \
            --output "$SERVERS/run.camp"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output != *sesame* ]]
        run ! grep -q sesame "$SERVERS/run.camp"
        rm -f "$SERVERS/run.camp"
    done
}

@test "postgres: what is refused does not repeat a password" {
    for words in 'top --query x' 'top --unit ms' 'check' 'top --tier sesame1' 'view --query x'; do
        for from in 'postgres:password=sesame' 'postgresql://u:sesame@h' 'mysql://u:sesame@h'; do
            # shellcheck disable=SC2086
            run timeout 20 "$CAMP" $words --from "$from"
            echo "camp $words --from $from: $output"
            [ "$status" -ne 0 ]
            [[ $output == camp* && $output != *sesame@* && $output != *=sesame* ]]
        done
    done
}

@test "postgres: a role whose connections are used up is told so" {
    start_postgres
    query_postgres 'alter role camp connection limit 1'
    start_session one 'select pg_sleep(30)' camp
    fails_with 'too many connections for role "camp"; close some, or raise the limit' "$PG"
}

@test "postgres: a server that is stopped is given up after connect_timeout" {
    start_postgres
    kill -STOP "$PG_PID"
    fails_with 'no answer to connecting' "$PG connect_timeout=1"
    kill -CONT "$PG_PID"
}

# ------------------------------------------------------------------ while it is running --

@test "postgres: whose own backend is terminated goes on with another" {
    start_postgres
    start_session stays 'select pg_sleep(60)'
    watch_beside 8 500
    query_postgres "select pg_terminate_backend($(own_backend))"
    connects_again 'terminating connection due to administrator command'
    cat "$SERVERS/watched"
    watched_line ' stays '
}

@test "postgres: whose own backend is stopped drops it and goes on with another" {
    start_postgres
    watch_beside 16 500
    kill -STOP "$(own_backend)"
    connects_again 'no answer for 2 s'
    kill -CONT $(own_backend)
}

@test "postgres: a fast restart is survived" {
    start_postgres
    watch_beside 12 500
    stop_postgres
    run_postgres
    connects_again ''
}

@test "postgres: a crash is survived, and told as one" {
    start_postgres
    watch_beside 12 500
    crash_postgres
    connects_again 'the server crashed and starts again; connecting again'
}

@test "postgres: intervals go on with nobody in them while the server is away" {
    start_postgres
    watch_beside 6 300
    stop_postgres
    until_it eval '[ "$(grep -c ^interval "$SERVERS/watched")" = 6 ]'
    cat "$SERVERS/watched"
    grep -q 'connected no' "$SERVERS/watched"
    # Each as long as it should be: nothing hangs on the server.
    awk '/^interval/ { if ($2 > 400) exit 1 }' "$SERVERS/watched"
}
