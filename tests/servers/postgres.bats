#!/usr/bin/env bats
# Sessions of a real PostgreSQL server, as samples by SQL report them, and refused connections. The times of
# sessions are tested in postgres_laws.bats, failures of the server in postgres_failures.bats.

bats_require_minimum_version 1.5.0
load lib
load recording

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export WATCH_POSTGRES=${CAMP%/src/camp}/tests/servers/watch_postgres
    [ -x "$WATCH_POSTGRES" ] || { skip_file 'built without libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    export PGPASSFILE PGSERVICEFILE
    start_postgres
    export PG_FOLDER PG_PID PG
    query_postgres 'create table t(a int); create role narrow login connection limit 1;
        grant pg_monitor to narrow, secret'
    start_session holder "begin; lock table t; select pg_sleep(600), 'my own business'"
    start_session waiter 'select * from t'
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# watch INTERVALS MS [WORD...] runs watch_postgres. Its output is printed and saved in $SERVERS/watched.
watch() {
    "$WATCH_POSTGRES" "$PG" "$@" 3>&- | tee "$SERVERS/watched"
}

watched_line() {
    until_it grep -q -- "$1" "$SERVERS/watched" || {
        cat "$SERVERS/watched"
        return 1
    }
}

# fails_with TEXT CONNINFO checks that watch_postgres fails with one line on stderr, which starts with
# "PostgreSQL: TEXT".
fails_with() {
    run --separate-stderr timeout 120 "$WATCH_POSTGRES" "$2" 1 100
    echo "$stderr"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "PostgreSQL: $1"* ]]
}

@test "postgres: the row of a session shows the session's wait event, but no statement text" {
    watch 1 200
    grep -A1 ' waiter ' "$SERVERS/watched" | grep -q '  Lock/relation/active/client_backend  reported'
    grep -A1 ' holder ' "$SERVERS/watched" | grep -q '  Timeout/PgSleep/active/client_backend  reported'
    grep -q '^interval .* local yes  connected yes  hidden 0 ' "$SERVERS/watched"
    run ! grep -q ' camp ' "$SERVERS/watched"
    run ! grep -q -e business -e checkpointer "$SERVERS/watched"
}

@test "postgres: background processes and the texts of statements are shown on request" {
    watch 1 200 queries background
    grep -q business "$SERVERS/watched"
    grep -q 'Activity/.*/none/checkpointer' "$SERVERS/watched"
}

@test "postgres: a session is marked as new when it starts and as ended when it ends" {
    "$WATCH_POSTGRES" "$PG" 1000 400 >"$SERVERS/watched" 2>&1 3>&- &
    local watch=$!
    watched_line '^interval'
    start_session goes 'select pg_sleep(0.6)'
    watched_line ' goes .* new yes'
    watched_line ' - .* ended yes  '
    kill -KILL $watch # the last interval is a whole one
    wait $watch || true
    cat "$SERVERS/watched"
    # R is the elapsed time of the session. It must be the length of the interval and the time of the session's
    # wait. Each number is printed to 0.1 ms.
    awk '/^interval/ { length_ms = $2; intervals++ } / holder / { r = $5; getline; if ((r - $3) ^ 2 > 0.011 ||
         (r - length_ms) ^ 2 > 0.011) bad++; seen++ } END { exit bad > 0 || seen != intervals }' \
        "$SERVERS/watched"
}

@test "postgres: sessions that a role may not see are counted as hidden" {
    PG="host=$PG_FOLDER dbname=postgres user=stranger"
    watch 1 200
    grep -q '^interval .* hidden 2 ' "$SERVERS/watched"
    run ! grep -q '^session' "$SERVERS/watched"
}

@test "postgres: the Python module reads sessions" {
    local module=${CAMP%/src/camp}/python
    [ -d "$module/camp" ] || skip 'built without the Python module'
    PYTHONPATH=$module run /usr/bin/python3 -B -c 'import camp, sys
with camp.frames(sys.argv[1], interval=0.1) as frames:
    print(*next(frames).names)' "postgres:$PG"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *camp_super@postgres* ]]
}

@test "postgres: snapshots take at most 1 % of a CPU" {
    watch 3 400 1000
    # The line of the last interval contains "rate 22.41 share 1.000 %".
    awk '/^interval/ { rate = $(NF - 3); share = $(NF - 1) }
         END { exit !(rate > 0 && rate < 1000 && share <= 1.001) }' "$SERVERS/watched"
    awk '/^interval/ { snapshots = $5 } END { exit !(snapshots < 200) }' "$SERVERS/watched"
}

@test "postgres: a failed connection or a bad connection string is reported in one line" {
    fails_with 'role "nobody_known" does not exist' "$PG user=nobody_known"
    fails_with 'role "locked_out" is not permitted to log in' "$PG user=locked_out"
    fails_with 'database "nowhere" does not exist' "$PG dbname=nowhere"
    fails_with 'it asks for a password; set PGPASSWORD' "$PG user=secret"
    fails_with 'password authentication failed for user "secret"' "$PG user=secret password=wrong"
    fails_with 'No such file or directory; is the server running' "host=$SERVERS/missing"
    fails_with 'a connection string has no key hst=' 'hst=x'
    for words in 'password=my geheim' 'postgres://h/d?geheim=1' "password='geheim"; do
        fails_with 'the connection string cannot be read' "$words"
        [[ $stderr != *geheim* ]]
    done
    fails_with 'Connection refused; is the server running' 'host=127.0.0.1 port=1'
}

@test "postgres: a password from the password file or the environment is not printed" {
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

@test "postgres: a recording contains no password of the connection string" {
    uri="//secret:sesame@${PG_FOLDER//\//%2F}/postgres"
    for from in "postgres:host=$PG_FOLDER dbname=postgres user=secret password=sesame" \
        "postgres:$uri" "postgresql:$uri"; do
        run timeout 120 "$CAMP" record --from "$from" --tier SQL --interval 100ms --count 1 \
            --output "$SERVERS/run.camp"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output != *sesame* ]]
        run ! grep -q sesame "$SERVERS/run.camp"
        rm -f "$SERVERS/run.camp"
    done
}

@test "postgres: the page has a text that opens the sessions again, without the password" {
    timeout 120 "$CAMP" report --from "postgres:host=$PG_FOLDER dbname=postgres user=secret password=sesame" --tier SQL \
        --interval 100ms --count 1 --output "$SERVERS/page.html"
    run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/../report_blocks.py" "$SERVERS/page.html"
    rm "$SERVERS/page.html"
    echo "$output"
    [[ $output != *sesame* ]]
    from=$(sed -n 's/.*"from":"\([^"]*\)".*/\1/p' <<<"$output")
    PGPASSWORD=sesame timeout 120 "$CAMP" top --from "$from" --tier SQL --interval 100ms --count 1
}

@test "postgres: the error about a refused command contains no password" {
    for words in 'top --query x' 'top --unit ms' 'check' 'top --tier sesame1' 'view --query x'; do
        for from in 'postgres:password=sesame' 'postgresql://u:sesame@h' 'mysql://u:sesame@h'; do
            # shellcheck disable=SC2086
            run timeout 120 "$CAMP" $words --from "$from"
            echo "camp $words --from $from: $output"
            [ "$status" -ne 0 ]
            [[ $output == camp* && $output != *sesame@* && $output != *=sesame* ]]
        done
    done
}

@test "postgres: the error about a role without a free connection advises to raise the limit" {
    start_session one 'select pg_sleep(30)' narrow
    fails_with 'too many connections for role "narrow"; close some, or raise the limit' "$PG user=narrow"
}

@test "postgres: connecting to a stopped server fails after connect_timeout" {
    kill -STOP "$PG_PID"
    fails_with 'no answer to connecting' "$PG connect_timeout=1"
    kill -CONT "$PG_PID"
}

# Stops the backend of camp's connection from 60 ms before the end of an interval until 100 ms after the end.
stop_over_an_end() {
    local backend end
    backend=$(query_postgres "select pid from pg_stat_activity where application_name = 'camp'")
    more_ticks late 1
    end=$(ask late 'select max(wall_clock_ns) from tick')
    sleep "$(((end + 440000000 - $(date +%s%N)) / 1000000))e-3"
    kill -STOP "$backend"
    sleep 0.16
    kill -CONT "$backend"
}

has_a_short_interval() {
    stop_over_an_end
    more_ticks late 1
    [ "$(ask late 'select min(end_ns - start_ns) < 470000000 from tick where tick > 1')" = 1 ]
}

@test "postgres: an interval whose last sample is late ends at the previous sample" {
    record_beside late --from "postgres:$PG" --tier sql --interval 500ms
    until_it has_a_short_interval
    end_recording late "$RECORD_PID"
    # Each sample rounds times down to whole nanoseconds. The last interval does not end at a sample.
    holds late "select count(*) > 0 and sum(abs(unaccounted_ns)) <= 2 * (sum(samples) + count(*))
        from postgres_every join entity using (entity)
        where application = 'holder' and tick < (select max(tick) from tick)"
}

@test "postgres: the states of sessions are resolved without a request to cancel, which could hang" {
    [ "$(id -u)" = 0 ] || skip 'the memory of a server is read by root'
    [ "$(query_postgres 'show server_version_num')" -ge 140000 ] || skip 'version 13 hides where it keeps states'
    mkdir "$SERVERS/relay"
    "$BATS_TEST_DIRNAME/deaf_relay.py" "$SERVERS/relay" "$PG_FOLDER" >"$SERVERS/relayed" 3>&- &
    SERVER_PIDS+=($!)
    until_it grep -q listens "$SERVERS/relayed"
    run timeout -k 1 60 "$CAMP" top --from "postgres:host=$SERVERS/relay dbname=postgres user=camp" \
        --tier schedstat+memory --interval 100ms --count 1
    kill "${SERVER_PIDS[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(<"$SERVERS/relayed")" = listens ]
}

@test "postgres: --when is refused where the server may be on another machine" {
    cd "$BATS_TEST_TMPDIR"
    run timeout 120 "$CAMP" record --from "postgres:$PG" --tier SQL --when 'active > 1ms' --count 1 --interval 100ms
    echo "$output"
    case $output in
    *CAP_BPF* | *CAP_PERFMON* | *"this kernel"* | *"built without"*) skip "$output" ;;
    esac
    [ "$status" -eq 2 ]
    [[ $output == "camp record: --when keeps switches of this machine, and the server of "*" is not known to run here (tier SQL)" ]]
    [ ! -e run.camp ]
}
