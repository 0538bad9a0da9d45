#!/usr/bin/env bats
# The shipped alerts and the shipped dashboard about database sessions, on a real PostgreSQL server that camp export
# exports and that Prometheus scrapes: each alert fires in the state that it names, and each query of the dashboard has
# an answer. The thresholds are lowered to a second, because the tests wait for them.

bats_require_minimum_version 1.5.0
load lib
load engines

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp} SHIPPED=$TREE/packaging/prometheus NAMES=$TREE/tests/commands/metric_names.py
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    grep -qaF libpq.so "$CAMP" || { skip_file 'camp was built without libpq'; return; }
    grep -qaF libmicrohttpd.so "$CAMP" || { skip_file 'camp was built without libmicrohttpd'; return; }
    [ -z "$(engines_refusal)" ] || { skip_file "$(engines_refusal)"; return; }
    servers_begin
    start_postgres
    OTHER=$PG
    start_postgres
    export PG_FOLDER PG_PID PG PGPASSFILE PGSERVICEFILE
    query_postgres 'create table t(a int); insert into t values (1); alter role camp connection limit 40'
    start_idle_session
    start_exporter all "$PG"
    start_exporter sql "$PG" --tier SQL
    start_exporter both "$PG" --from "postgres:$OTHER"
    start_exporter hidden "host=$PG_FOLDER dbname=postgres user=stranger" --tier SQL
    sed -e 's/for: .*/for: 0s/' -e 's/\[[15]m\]/[5s]/g' -e 's/_seconds > [0-9]*/_seconds > 1/' \
        "$SHIPPED/camp.sessions.rules.yml" >"$SERVERS/rules.yml"
    scrapes >"$SERVERS/scrapes.yml"
    { sed 's/scrape_timeout: 1s/&, evaluation_interval: 1s/' "$SERVERS/scrapes.yml"
        echo "rule_files: [$SERVERS/rules.yml]"; } >"$SERVERS/prometheus.yml"
    promtool check config "$SERVERS/prometheus.yml" >&2
    start_engine prometheus "$SERVERS/prometheus.yml" "127.0.0.1:$(free_port)"
    ! command -v victoria-metrics >/dev/null ||
        start_engine victoria-metrics "$SERVERS/scrapes.yml" "127.0.0.1:$(free_port)"
}

teardown_file() { servers_end; }
setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    command -v prometheus >/dev/null || skip 'Prometheus is not installed'
    # shellcheck disable=SC2034 # used by engines.bash
    ENGINE=prometheus
    PROMETHEUS=$(cat "$SERVERS/prometheus.address")
}

# A session without a transaction, until this shell ends.
start_idle_session() {
    mkfifo "$SERVERS/idle.in"
    "$POSTGRES_BIN/psql" -Xq "host=$PG_FOLDER dbname=postgres user=camp_super application_name=idle" \
        <"$SERVERS/idle.in" >/dev/null 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    # shellcheck disable=SC2034 # it only stays open
    exec {IDLE}>"$SERVERS/idle.in"
    until_it has_backend idle
}

# start_exporter NAME CONNINFO [OPTION...]: its address is in $SERVERS/NAME.exporter.
start_exporter() {
    local name=$1 place=$2
    shift 2
    "$CAMP" export --from "postgres:$place" --port 0 "$@" >"$SERVERS/$name.exporter" 2>"$SERVERS/$name.errors" 3>&- &
    SERVER_PIDS+=("$!")
    until_it test -s "$SERVERS/$name.exporter" || cat "$SERVERS/$name.errors" >&2
}

scrapes() {
    local name
    echo 'global: {scrape_interval: 1s, scrape_timeout: 1s}'
    echo 'scrape_configs:'
    echo '  - job_name: sessions'
    echo '    static_configs:'
    for name in all sql both hidden; do
        echo "      - {targets: ['$(sed 's,.*//,,; s,/.*,,' "$SERVERS/$name.exporter")'], labels: {instance: $name}}"
    done
}

# fires ALERT INSTANCE: waits until the alert fires.
fires() {
    until_it has_series "ALERTS{alertname=\"$1\",alertstate=\"firing\",instance=\"$2\"}" 1 || {
        curl -s "http://$PROMETHEUS/api/v1/query" --data-urlencode "query={instance=\"$2\"}"
        false
    }
}

is_scraped() { has_series "sum_over_time(camp_server_up{instance=\"$1\"}[1m]) > 8" 1; }

@test "no alert about sessions fires while a server does nothing" {
    until_it is_scraped all
    run curl -s "http://$PROMETHEUS/api/v1/query" --data-urlencode 'query=ALERTS{instance="all"}'
    echo "$output"
    [[ $output == *'"result":[]'* ]]
}

@test "the alerts about transactions and locks fire on a session that holds a lock and is idle" {
    local name
    coproc HOLDER { exec "$POSTGRES_BIN/psql" -Xq "host=$PG_FOLDER dbname=postgres user=camp_super" 3>&-; }
    echo 'begin; update t set a = 2;' >&"${HOLDER[1]}"
    until_it eval '[ "$(query_postgres "select count(*) from pg_stat_activity where state = '"'idle in transaction'"'")" = 1 ]'
    for name in one two; do start_session "$name" 'update t set a = 3'; done
    fires CampIdleInTransaction all
    fires CampBlocker all
    fires CampLongTransaction all
    fires CampSessionContention all
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'"
}

@test "the alert about the run queue fires while sessions share a CPU" {
    local name cpu
    cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
    for name in 1 2 3 4; do
        start_session "burner$name" 'do $$ begin loop end loop; end $$'
        taskset -cp "$cpu" "$(backend_of "burner$name")"
    done
    fires CampSessionRunQueue all
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'burner%'"
}

@test "the alert about hidden sessions fires if the role may not see them" {
    fires CampSessionsHidden hidden
}

all_have_answers() {
    local query count=0
    while read -r query; do
        until_it has_series "$query" 1 || { echo "no answer: $query"; return 1; }
        count=$((count + 1))
    done <"$SERVERS/queries"
    [ "$count" -ge 15 ]
}

@test "each query of the dashboard about sessions has an answer" {
    python3 "$NAMES" queries "$SHIPPED/camp.sessions.dashboard.json" >"$SERVERS/queries"
    on_each_engine all_have_answers
}

# The variable `server` of the dashboard is one of several servers, or any, also where there is only one.
@test "each query of the dashboard has an answer for each of several servers" {
    local server
    curl -sf "$(cat "$SERVERS/both.exporter")" | sed -n 's/^camp_server_up{.*server="\([^"]*\)".*/\1/p' >"$SERVERS/names"
    [ "$(wc -l <"$SERVERS/names")" = 2 ]
    while read -r server; do
        python3 "$NAMES" queries "$SHIPPED/camp.sessions.dashboard.json" |
            sed "s|instance=~\"[^\"]*\"|instance=\"both\"|g; s|server=~\"[^\"]*\"|server=\"$server\"|g" >"$SERVERS/queries"
        [ "$(grep -c "server=\"$server\"" "$SERVERS/queries")" -ge 15 ]
        on_each_engine all_have_answers
    done <"$SERVERS/names"
}

@test "each metric and label of the rules and of the dashboard is on a page of sessions, and the panels have places" {
    curl -sf "$(cat "$SERVERS/all.exporter")" >"$SERVERS/page"
    python3 "$NAMES" used "$SERVERS/page" "$SHIPPED/camp.sessions.rules.yml" "$SHIPPED/camp.sessions.dashboard.json"
    python3 "$NAMES" panels "$SHIPPED/camp.sessions.dashboard.json"
    python3 "$NAMES" documented "$SERVERS/page" "$SHIPPED/../../docs/export.md"
    # A name that no page has is found. So the test above can fail.
    sed 's/camp_sessions_hidden/camp_sessions_hiden/' "$SHIPPED/camp.sessions.dashboard.json" >"$SERVERS/wrong.json"
    run ! python3 "$NAMES" used "$SERVERS/page" "$SERVERS/wrong.json"
    sed 's/state, job/stat, job/' "$SHIPPED/camp.sessions.dashboard.json" >"$SERVERS/wrong.json"
    run ! python3 "$NAMES" used "$SERVERS/page" "$SERVERS/wrong.json"
}

@test "the alerts about a server that does not answer fire, and later those about unaccounted time" {
    PG_PID=$(head -1 "$PG_FOLDER/postmaster.pid")
    # shellcheck disable=SC2046 # a word for each process
    kill -STOP "$PG_PID" $(pgrep -P "$PG_PID")
    fires CampServerDown sql
    # shellcheck disable=SC2046
    kill -CONT "$PG_PID" $(pgrep -P "$PG_PID")
    fires CampSessionsUnaccounted sql
}
