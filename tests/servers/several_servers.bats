#!/usr/bin/env bats
# Several servers at once: two of PostgreSQL and one of MariaDB.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use the same servers.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    grep -qaF libpq.so "$CAMP" || { skip_file 'camp was built without libpq'; return; }
    grep -qaF libmariadb.so "$CAMP" || { skip_file 'camp was built without libmariadb'; return; }
    servers_begin
    start_postgres
    A=host=$PG_FOLDER
    query_postgres 'alter role camp connection limit 40; create table t(a int primary key, b int);
        insert into t values (1, 0)'
    start_session sleeper 'select pg_sleep(100000)'
    start_session spinner 'do $$ begin loop perform 1; end loop; end $$'
    start_postgres
    B=host=$PG_FOLDER
    query_postgres 'alter role camp connection limit 40; create table t(a int primary key, b int);
        insert into t values (1, 0)'
    start_session sleeper 'select pg_sleep(100000)'
    start_mariadb
    prepare_mariadb web
    query_mariadb 'alter user camp@localhost with max_user_connections 40'
    open_mariadb web
    say web 'select sleep(100000);'
    until_it is_seen web 'User sleep'
    export A B M="mariadb $MARIADB_SOCKET"
    export A_FROM="postgres:$A dbname=postgres user=camp" B_FROM="postgres:$B dbname=postgres user=camp"
    export M_FROM="mariadb:socket=$MARIADB_SOCKET user=camp"
}

teardown_file() { is_file_skipped || servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    ALL=(--from "$A_FROM" --from "$B_FROM" --from "$M_FROM")
    # A test that starts a server of its own gives it another folder.
    SERVER_PIDS=(0 0 0 0 0 0 0 0 0 0 0 0)
    for ((i = 0; i < BATS_TEST_NUMBER; i++)); do SERVER_PIDS+=(0); done
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    local pid
    is_file_skipped || for pid in "${SERVER_PIDS[@]}"; do
        [ "$pid" = 0 ] || ! is_of_servers "$pid" || { kill -CONT "$pid"; kill -QUIT "$pid"; until_it is_gone "$pid"; }
    done
    end_children KILL
}

law() { /usr/bin/python3 -B "$BATS_TEST_DIRNAME/several_servers_law.py" "$@"; }

# as_json FILE [OPTION...]: the intervals of a recording.
as_json() {
    local file=$1
    shift
    "$CAMP" top --from "$file" --format json "$@"
}

@test "servers: a row is a server, and the row of each is the sum of its sessions to the nanosecond" {
    timeout 120 "$CAMP" record "${ALL[@]}" --interval 200ms --count 10 --output all.camp 3>&-
    as_json all.camp --group session >sessions.json
    as_json all.camp >servers.json # the default
    as_json all.camp --group server >same.json
    cmp servers.json same.json
    run -0 law sums sessions.json servers.json
    [ "$output" = '10 intervals of 3 servers' ]
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --count 1 --interval 200ms --format text 3>&-
    grep -q "^server  *n  *CPU%" <<<"$output"
    for server in "$A  *2 " "$B  *1 " "$M  *1 "; do grep -q "^$server" <<<"$output"; done
    # Live, as in the recording.
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --count 1 --interval 200ms --format csv 3>&-
    [ "${#lines[@]}" = 4 ]
}

@test "servers: one without sessions has no row, and a note names it" {
    start_postgres
    query_postgres 'alter role camp connection limit 40'
    run -0 --separate-stderr timeout 60 "$CAMP" top "${ALL[@]}" --from "postgres:$PG" --count 1 --interval 200ms --format text 3>&-
    [[ $stderr$output == *"no sessions: host=$PG_FOLDER"* ]]
}

@test "servers: all sessions have their server as a label, and --group takes several labels" {
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --group session --count 1 --interval 200ms --format text 3>&-
    grep -q '^name  *id  *pid  *server' <<<"$output"
    [ "$(grep -c "$A  *postgres " <<<"$output")" = 2 ]
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --group application,server --count 1 --interval 200ms --format text 3>&-
    grep -q "^application,server " <<<"$output"
    for group in "sleeper, $A" "spinner, $A" "sleeper, $B" "(none), $M"; do grep -qF "$group" <<<"$output"; done
    timeout 60 "$CAMP" record "${ALL[@]}" --group server,application --interval 200ms --count 2 --output groups.camp 3>&-
    run -0 as_json groups.camp --count 1
    grep -qF "\"name\":\"$A, spinner\"" <<<"$output"
    run -2 "$CAMP" top "${ALL[@]}" --group server,nonsense
    [[ $output == *"--group nonsense: 3 servers: "*" has the labels server, user, database, application, client"* ]]
    run -2 "$CAMP" top "${ALL[@]}" --group user,user
    [[ $output == *"--group user,user: the label user is given twice" ]]
    run -2 "$CAMP" top "${ALL[@]}" --group user,database,application,client,server
    [[ $output == *": at most 4 labels" ]]
}

# bats test_tags=law
@test "servers: each has the times that camp shows when it watches this server alone" {
    timeout 300 "$CAMP" record "${ALL[@]}" --interval 200ms --count 40 --output all.camp 3>&- &
    for server in A B M; do
        from=${server}_FROM
        timeout 300 "$CAMP" record --from "${!from}" --interval 200ms --count 40 --output "$server.camp" 3>&- &
    done
    wait
    as_json all.camp --group session >all.json
    for server in A B M; do
        as_json "$server.camp" --group session >"$server.json"
        run law alone all.json "$server.json" "${!server}"
        echo "$server: $output"
        [ "$status" = 0 ]
    done
}

# frames_with FILE TEXT: how many intervals in a file of JSON have the text.
frames_with() { grep -c -- "$2" "$1" || true; }
has_frames() { [ "$(frames_with "$1" "$2")" -ge "$3" ]; }
# later_has FILE TEXT TEXT: an interval has the second text, after one that has the first.
later_has() { grep -n -- "$2" "$1" | head -1 | cut -d: -f1 | { read -r at && tail -n "+$at" "$1" | grep -q -- "$3"; }; }

@test "servers: one that ends is missing, the others go on, and it appears again" {
    start_postgres
    query_postgres 'alter role camp connection limit 40'
    start_session own 'select pg_sleep(100000)'
    "$CAMP" top "${ALL[@]}" --from "postgres:$PG" --interval 200ms --format json >all.json 2>err 3>&- &
    top=$!
    until_it has_frames all.json "\"name\":\"host=$PG_FOLDER\"" 2
    stop_postgres
    until_it has_frames all.json '"lost":1' 3
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --from "postgres:$PG" --interval 200ms --count 1 --format text 3>&-
    [[ $output == *"1 of 4 servers is missing: host=$PG_FOLDER (PostgreSQL: "* ]]
    run_postgres
    start_session again 'select pg_sleep(100000)'
    until_it later_has all.json '"lost":1' "\"name\":\"host=$PG_FOLDER\""
    kill -INT "$top"
    wait "$top"
    /usr/bin/python3 - "$A" <<'PYTHON'
import json, sys
frames = [json.loads(line) for line in open('all.json')]
for frame in frames:
    names = [row['name'] for row in frame['entities']]
    assert sys.argv[1] in names, frame # the others have rows in each interval
PYTHON
}

@test "servers: one that cannot be reached at the start comes later, and a wrong one ends camp" {
    start_postgres
    query_postgres 'alter role camp connection limit 40'
    stop_postgres
    "$CAMP" record --from "$A_FROM" --from "postgres:$PG" --interval 200ms --output later.camp 2>err 3>&- &
    record=$!
    until_it grep -q "1 of 2 servers is missing: host=$PG_FOLDER (PostgreSQL: " err
    [ "$(grep -c missing err)" = 1 ] # once, not in each interval
    run_postgres
    start_session own 'select pg_sleep(100000)'
    until_it eval '"$CAMP" top --from later.camp --format json --count 1000000 2>/dev/null | grep -q "\"name\":\"host=$PG_FOLDER\""'
    kill -INT "$record"
    wait "$record"
    [ "$(frames_with <(as_json later.camp) "\"name\":\"$A\"")" -gt 1 ]
    run -1 timeout 60 "$CAMP" top --from postgres:host=/nowhere --from mariadb:socket=/nowhere --count 1
    [[ $output == 'camp top: host=/nowhere: PostgreSQL: '* ]]
    [ "${#lines[@]}" = 1 ]
    run -2 timeout 60 "$CAMP" top --from "$A_FROM" --from postgres:nonsense=1 --count 1
    [[ $output == *'(hidden): PostgreSQL: a connection string has no key nonsense=;'* ]]
}

# Prints an interval a line: 1 if all time of the server in $PG_FOLDER is unaccounted, otherwise 0. The last line of the
# file may not be whole yet.
unaccounted() {
    /usr/bin/python3 - "host=$PG_FOLDER" <<'PYTHON'
import json, sys
for line in open('all.json'):
    if line.endswith('\n'):
        for row in json.loads(line)['entities']:
            if row['name'] == sys.argv[1]:
                print(int(row['unaccounted_ns'] == row['elapsed_ns']))
PYTHON
}
has_unaccounted() { [ "$(unaccounted | grep -c 1)" -ge "$1" ]; }
has_accounted_again() { [[ $(unaccounted | tr -d '\n') == *1*0 ]]; }

@test "servers: one that does not answer is unaccounted, and delays no other" {
    start_postgres
    query_postgres 'alter role camp connection limit 40'
    start_session own 'select pg_sleep(100000)'
    "$CAMP" top "${ALL[@]}" --from "postgres:$PG" --tier SQL --interval 200ms --format json >all.json 2>err 3>&- &
    top=$!
    until_it has_frames all.json "\"name\":\"host=$PG_FOLDER\"" 2
    camp_backend=$(query_postgres "select pid from pg_stat_activity where application_name = 'camp'")
    kill -STOP "$camp_backend"
    until_it has_unaccounted 3
    kill -CONT "$camp_backend" 2>/dev/null || true # camp may have given it up
    until_it has_accounted_again
    kill -INT "$top"
    wait "$top"
    # No interval of the others is missing, or longer than what its own frame says.
    /usr/bin/python3 - "$A" "$M" <<'PYTHON'
import json, sys
frames = [json.loads(line) for line in open('all.json')]
for frame in frames:
    for name in sys.argv[1:]:
        assert sum(row['name'] == name for row in frame['entities']) == 1, (name, frame)
PYTHON
}

@test "servers: one that is named twice is refused in one line" {
    run -2 "$CAMP" top --from "$A_FROM" --from "$B_FROM" --from "$A_FROM"
    [ "$output" = 'camp top: --from postgres:... is given twice: name it once' ]
    run -2 "$CAMP" top --from "$A_FROM" --from "postgres:$A dbname=template1 user=camp_super"
    [[ $output == "camp top: --from is given twice for $A: name a server once, because it reports the sessions of all its databases" ]]
    # By another path, as its processes show.
    run -2 "$CAMP" top --from "$A_FROM" --from "postgres:${A%/*}/../${A#host="${SERVERS%/*}"/} dbname=postgres user=camp"
    [[ $output == *" are the same server: name it once" ]] || { echo "$output"; false; }
    run -2 "$CAMP" top --from "$A_FROM" --from threads
    [[ $output == 'camp top: --from threads: of several --from each names a database server, as postgres:CONNINFO or mariadb:CONNINFO' ]]
    run -2 "$CAMP" export --from "$A_FROM" --from "$A_FROM" --once
    [ "$output" = 'camp export: --from postgres:... is given twice: name it once' ]
    run -2 "$CAMP" top --from "$A_FROM" --from "$B_FROM" --query 'select 1'
    [[ $output == *"--query does not go with --from postgres:..."* ]]
}

@test "servers: no password is shown or recorded" {
    secret="postgres:$B dbname=postgres user=camp password=sesame99"
    timeout 60 "$CAMP" record --from "$A_FROM" --from "$secret" --interval 200ms --count 2 --output all.camp 2>err 3>&-
    timeout 60 "$CAMP" report --from "$A_FROM" --from "$secret" --interval 200ms --count 2 --output all.html 2>>err 3>&-
    timeout 60 "$CAMP" top --from "$A_FROM" --from "$secret" --count 1 --interval 200ms --format json >all.json 2>>err 3>&-
    timeout 60 "$CAMP" export --from "$A_FROM" --from "$secret" --once --interval 200ms >all.text 2>>err 3>&-
    run -1 grep -l sesame99 all.camp all.html all.json all.text err
    grep -q "$B" all.json
    grep -q "server=\"$B\"" all.text
    # A URI whose parts may be the password has no name.
    run timeout 60 "$CAMP" top --from "$A_FROM" --from 'postgres://u:sesame99@x@nowhere.invalid/' --count 1 --interval 200ms 3>&-
    [[ $output != *sesame99* && $output == *"(hidden)"* ]]
}

@test "servers: camp export has the label server on each series of a session or a server" {
    timeout 60 "$CAMP" export "${ALL[@]}" --from postgres:host=/nowhere --once --interval 1s >page 2>err 3>&-
    grep -q '^camp export: .*host=/nowhere' err
    grep '^camp_se' page | grep -v 'server="' >without || true
    [ ! -s without ] || { cat without; false; }
    for server in "$A" "$B" "$M"; do grep -qF "camp_server_up{server=\"$server\"} 1" page; done
    grep -qF 'camp_server_up{server="host=/nowhere"} 0' page
    grep -qF 'camp_server_info{kind="mariadb",' page
    run -1 grep 'camp_server_info.*nowhere' page
    /usr/bin/python3 - <<'PYTHON'
import collections, re
times, states = collections.Counter(), collections.Counter()
for line in open('page'):
    match = re.match(r'camp_session_(state_|retired_state_|retired_|unaccounted_|overlapping_|)seconds_total\{(.*)\} ([0-9.]+)$', line)
    if match:
        server = re.search(r'server="([^"]*)"', match[2])[1]
        ns = round(float(match[3]) * 1e9)
        if match[1] in ('', 'retired_'):
            times[server] += ns
        else:
            states[server] += -ns if match[1] == 'overlapping_' else ns
assert len(times) == 4 and times == states, (times, states)
assert sum(ns > 0 for ns in times.values()) == 3, times
PYTHON
    # One server has no such label.
    timeout 60 "$CAMP" export --from "$A_FROM" --once --interval 200ms 3>&- | grep -F 'camp_server_up 1'
}

# camp explain names a session that blocks others, with its server, and the command that it prints shows the same session.
explains_the_blocker() {
    local pid server
    timeout 60 "$CAMP" explain "${ALL[@]}" --format json 2s >explain.json 3>&-
    read -r pid server < <(python3 -c '
import json, re
row = next(row for row in json.load(open("explain.json"))["findings"] if row["rule"] == "E27")
print(*re.search(r"; \S+ \(pid (\d+) of (\S+)\) blocked others for ", row["sentence"]).groups())
open("command", "w").write(row["command"])')
    [ "$server" = "$A" ] || [ "$server" = "$B" ]
    PG_FOLDER=${server#host=}
    [[ $(query_postgres "select application_name from pg_stat_activity where pid = $pid") == holder_* ]]
    [[ $(cat command) == "camp why --from "* ]]
    camp() { timeout 60 "$CAMP" "$@" --count 1 --interval 1s 3>&-; }
    eval "$(cat command)" >shown
    unset -f camp
    grep -q "waited .* s for $pid (holder_.) of $server" shown
}

@test "servers: camp why names the server of each session that blocks others" {
    local name
    for name in A B; do
        PG_FOLDER=${!name#host=}
        start_session "holder_$name" 'begin; update t set b = 1 where a = 1; select pg_sleep(100000)'
        until_it eval '[ "$(query_postgres "select count(*) from pg_locks where locktype = '"'transactionid'"' and granted")" -ge 1 ]'
        start_session "waiter_$name" 'update t set b = 2 where a = 1'
    done
    for name in A B; do
        PG_FOLDER=${!name#host=}
        until_it eval '[ "$(query_postgres "select count(*) from pg_locks where not granted")" -ge 1 ]'
    done
    run -0 timeout 60 "$CAMP" why "${ALL[@]}" --interval 1s --count 1 3>&-
    for name in A B; do
        [[ $output == *"1 session waited "*" s for "*" (holder_$name) of ${!name}, "* ]] || { echo "$output"; false; }
        # MariaDB as one of the servers takes the statements of the others away from nobody.
        [[ $output == *"(waiter_$name)"*'update t set b = ? where a = ?'* ]] || { echo "$output"; false; }
    done
    explains_the_blocker
    run -0 timeout 60 "$CAMP" top "${ALL[@]}" --tree --interval 1s --count 1 --format json 3>&-
    for name in A B; do
        PG_FOLDER=${!name#host=}
        query_postgres "select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%er_$name'" >/dev/null
    done
}

@test "servers: the thread of each server is confined like the first one" {
    local task
    "$CAMP" record "${ALL[@]}" --interval 200ms --output all.camp 3>&- &
    record=$!
    until_it [ -s all.camp ]
    for task in "/proc/$record/task"/*; do
        grep -E '^(Seccomp|NoNewPrivs|CapPrm|CapEff|CapInh):' "$task/status"
        echo
    done >tasks
    kill -INT "$record"
    wait "$record"
    [ -n "${CAMP_SANITIZED:-}" ] || grep -q '^Seccomp:.2' tasks
    [ "$(grep -c Seccomp tasks)" -ge 4 ]
    [ "$(grep . tasks | sort -u | wc -l)" = 5 ] || { cat tasks; false; }
}

@test "servers: in camp top, Enter shows the sessions of a server and Backspace all servers" {
    grep -qaF libncursesw.so "$CAMP" || skip 'camp was built without ncurses'
    local screen=(timeout 120 /usr/bin/python3 "$BATS_TEST_DIRNAME/../commands/screen.py" 150 20)
    local live=("$CAMP" top --interval 300ms "${ALL[@]}")
    local server=$'\x1e'"$A "$'\x1e' sessions=$'\x1espinner\x1e'
    run -0 "${screen[@]}" "$server"$'\r'"${A#host=}"$'\r'"${sessions}q" -- "${live[@]}"
    [[ ${lines[0]} == "camp top  each session of $A, by busy"*"Esc: back" ]] || { echo "$output"; false; }
    grep -q 'spinner' <<<"$output"
    [[ $output != *localhost* ]] # the session of MariaDB
    run -0 "${screen[@]}" "$server"$'\r\r'"${sessions}"$'\177'"${server}q" -- "${live[@]}"
    [[ ${lines[0]} == "camp top  each server, by busy  h: help" ]] || { echo "$output"; false; }
}

@test "servers: recordings, reports and pictures have the label server" {
    timeout 60 "$CAMP" record "${ALL[@]}" --interval 200ms --count 5 --output all.camp 3>&-
    run -0 "$CAMP" report --from all.camp --picture ribbon --color-by server --output all.svg
    grep -q 'Active sessions by server' all.svg
    run -0 "$CAMP" report --from all.camp --output all.html
    [ -s all.html ]
    run -0 "$CAMP" record --info all.camp
    [[ $output == *"3 servers: $A, $B, $M"* ]]
    run -0 timeout 60 "$CAMP" check "${ALL[@]}" --count 1 --interval 1s 3>&-
    [[ $output == *"at most 4 sessions"* || $output == *"4 sessions"* ]]
}
