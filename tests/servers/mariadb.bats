#!/usr/bin/env bats
# Sessions of a real MariaDB server: known loads in each tier, and the failures it is to survive.

bats_require_minimum_version 1.5.0
load lib

INSTRUMENTS=(--performance-schema=ON '--performance-schema-instrument=wait/synch/%=ON'
    '--performance-schema-instrument=wait/io/socket/%=ON' '--performance-schema-instrument=idle=ON'
    --performance-schema-consumer-events-waits-current=ON)

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    servers_begin
    unset MYSQL_PWD MARIADB_PWD MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT
    export HOME=$SERVERS # no ~/.my.cnf but the tests' own
}

teardown() { servers_end; }

# The tests' own user, with the rights of docs/sessions.md, and one for each load.
start_server() {
    start_mariadb "$@"
    query_mariadb "create user camp@localhost with max_user_connections 3;
        grant process on *.* to camp@localhost; grant select on performance_schema.* to camp@localhost;
        create database t; create table t.hot(id int primary key, n int) engine=innodb;
        insert into t.hot values(1, 0)"
    FROM="mariadb:socket=$MARIADB_SOCKET user=camp"
}

# load USER SQL: a session of this user (all it has) that runs SQL and goes on while its input does.
load_of() {
    local user=$1
    query_mariadb "create user if not exists $user@localhost; grant all on *.* to $user@localhost"
    { echo "$2"; sleep 60; } | mariadb --no-defaults --socket="$MARIADB_SOCKET" --user="$user" t \
        >"$SERVERS/$user.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    until_it has_session "$user"
}

has_session() {
    [ "$(query_mariadb "select count(*) from information_schema.processlist where user = '$1'")" != 0 ]
}

does() {
    [ "$(query_mariadb "select count(*) from information_schema.processlist
        where user = '$1' and state like '$2'")" != 0 ]
}

# record INTERVALS [OPTION...]
record() {
    local intervals=$1
    shift
    rm -f "$SERVERS/run.camp"
    timeout 60 "$CAMP" record --from "$FROM" --count "$intervals" --interval 500ms \
        --output "$SERVERS/run.camp" "$@" >"$SERVERS/record.log" 2>&1 3>&- || {
        cat "$SERVERS/record.log"
        return 1
    }
}

# percent COLUMNS USER: of the time of this user's sessions (likely one), in whole percent.
percent() {
    sqlite3 "$SERVERS/run.camp" "select cast(round(100.0 * sum($1) / sum(elapsed_ns)) as integer)
        from mariadb_every join entity using (entity) where user = '$2'"
}

# is_at_least COLUMNS USER PERCENT
is_at_least() {
    local percent
    percent=$(percent "$1" "$2")
    echo "$2: $1 $percent %"
    [ "${percent:-0}" -ge "$3" ]
}

needs_bpf() {
    "$CAMP" record --from threads --count 1 --interval 100ms --output "$SERVERS/can.camp" \
        >/dev/null 2>&1 || skip 'microstates need CAP_BPF and CAP_PERFMON'
}

tier() {
    sqlite3 "$SERVERS/run.camp" "select value from camp where key = 'tier'"
}

# Some sessions that update one row, each holding it for 20 ms.
start_hot_row() {
    local name
    for name in hot1 hot2 hot3 hot4; do
        query_mariadb "create user $name@localhost; grant all on *.* to $name@localhost"
        yes 'begin; update hot set n = n + 1 where id = 1; do sleep(0.02); commit;' |
            mariadb --no-defaults --socket="$MARIADB_SOCKET" --user="$name" t \
                >/dev/null 2>&1 3>&- &
        SERVER_PIDS+=($!)
    done
    until_it has_session hot4
}

# ------------------------------------------------------------------------------- loads --

@test "mariadb: a hot row is missing from the server's own instruments, and found in futex" {
    needs_bpf
    start_server "${INSTRUMENTS[@]}"
    start_hot_row
    record 6 --tier performance_schema
    is_at_least unaccounted_ns hot1 60
    record 6 --tier bpf
    is_at_least 'abs(unaccounted_ns)' hot1 0
    [ "$(percent 'abs(unaccounted_ns)' hot1)" -le 5 ]
    is_at_least contention_row_lock_ns hot1 60
    # what the instruments say stands beside: no contention, but 60 % that must have been CPU
    is_at_least told_cpu_ns hot1 60
    [ "$(percent told_contention_ns hot1)" -le 5 ]
}

# In each tier, with and without instruments; what SQL alone cannot know it calls CPU.
loads_are_what_they_are() {
    load_of idler 'select 1;'
    load_of sleeper 'select sleep(50);'
    load_of burner "select benchmark(4000000000, md5('x'));"
    load_of keeper 'begin; update hot set n = 7 where id = 1;'
    load_of locker 'create table m(a int); lock tables m write; select 1;'
    load_of waiter 'insert into m values(1);'
    until_it does waiter 'Waiting for table metadata lock'
    until_it does sleeper 'User sleep'
    for tier in "$@"; do
        record 4 --tier "$tier"
        echo "-- $tier"
        is_at_least idle_client_ns idler 95
        is_at_least idle_asked_for_ns sleeper 95
        is_at_least contention_metadata_lock_ns waiter 95
        if [ "$tier" != performance_schema ]; then
            is_at_least cpu_ns+run_queue_ns burner 95
            is_at_least idle_in_transaction_ns keeper 95
        fi
    done
}

@test "mariadb: idle, SLEEP(), BENCHMARK(), a transaction, a metadata lock: without instruments" {
    needs_bpf
    start_server
    loads_are_what_they_are bpf schedstat+SQL SQL
}

@test "mariadb: idle, SLEEP(), BENCHMARK(), a transaction, a metadata lock: with instruments" {
    needs_bpf
    start_server "${INSTRUMENTS[@]}"
    loads_are_what_they_are bpf schedstat+SQL performance_schema
}

@test "mariadb: the states add up to each session's time, with the operating system in each interval" {
    needs_bpf
    start_server
    start_hot_row
    load_of idler 'select 1;'
    for tier in bpf schedstat+SQL; do
        record 4 --tier "$tier"
        [ "$(sqlite3 "$SERVERS/run.camp" 'select count(*) from mariadb_every')" -ge 15 ]
        [ "$(sqlite3 "$SERVERS/run.camp" 'select count(*) from mariadb_every
            where abs(unaccounted_ns) > 1000')" = 0 ]
    done
}

@test "mariadb: users, databases and clients are labels; statements only when asked for" {
    start_server
    load_of idler 'select 1;'
    load_of sleeper 'select sleep(50);'
    until_it does sleeper 'User sleep'
    record 2
    [ "$(sqlite3 "$SERVERS/run.camp" "select database || ' ' || client from entity where user = 'idler'")" = 't localhost' ]
    run ! grep -q 'sleep(50)' "$SERVERS/run.camp"
    record 2 --queries
    [ "$(sqlite3 "$SERVERS/run.camp" "select query from entity where user = 'sleeper'")" = 'select sleep(50)' ]
}

# ---------------------------------------------------------------------------- failures --

# fails_with STATUS TEXT CONNINFO [OPTION...]: one line on stderr, which begins so.
fails_with() {
    local status_wanted=$1 text=$2 conninfo=$3
    shift 3
    run --separate-stderr timeout 30 "$CAMP" record --from "mariadb:$conninfo" --count 1 \
        --output "$SERVERS/no.camp" "$@"
    echo "$status: $stderr"
    [ "$status" -eq "$status_wanted" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp record: $text"* ]]
}

@test "mariadb: who cannot connect is told why in one line, and no password is said" {
    start_server --max-connections=10
    query_mariadb "create user secret@localhost identified by 'sesame';
        create user few@localhost with max_user_connections 1; grant process on *.* to few@localhost"
    s=$MARIADB_SOCKET
    fails_with 4 "MariaDB: Access denied for user 'secret'@'localhost'" "socket=$s user=secret"
    MARIADB_PWD=wrong fails_with 4 "MariaDB: Access denied for user 'secret'" "socket=$s user=secret"
    MARIADB_PWD=sesame "$CAMP" record --from "mariadb:socket=$s user=secret" --count 1 \
        --interval 100ms --output "$SERVERS/a.camp"
    MYSQL_PWD=sesame "$CAMP" record --from "mariadb:socket=$s user=secret" --count 1 \
        --interval 100ms --output "$SERVERS/b.camp"
    printf '[camp]\nuser=secret\npassword=sesame\nsocket=%s\n' "$s" >"$HOME/.my.cnf"
    "$CAMP" record --from mariadb: --count 1 --interval 100ms --output "$SERVERS/c.camp"
    run ! grep -q sesame "$SERVERS"/[abc].camp
    rm "$HOME/.my.cnf"
    fails_with 2 'mariadb: a password is not for the command line' "socket=$s password=sesame"
    [[ $stderr != *sesame* ]]
    fails_with 1 "MariaDB: Can't connect to local server" "$SERVERS/nothing"
    fails_with 2 "MariaDB: Unknown database 'nothing'" "socket=$s user=root database=nothing"
    fails_with 2 "mariadb: there is no tier 'best'" "socket=$s user=root" --tier best
    fails_with 1 'mariadb: no tier performance_schema: performance_schema is off' \
        "socket=$s user=root" --tier performance_schema
    load_of few 'select 1;' || true
    fails_with 1 "MariaDB: User 'few' has exceeded the 'max_user_connections'" "socket=$s user=few"
}

@test "mariadb: without the right PROCESS other sessions are hidden, and that is said" {
    start_server
    query_mariadb 'create user stranger@localhost'
    load_of idler 'select 1;'
    FROM="mariadb:socket=$MARIADB_SOCKET user=stranger"
    record 2
    [ "$(sqlite3 "$SERVERS/run.camp" "select count(*) from entity where user = 'idler'")" = 0 ]
    sqlite3 "$SERVERS/run.camp" 'select value from camp' | grep -q 'hidden: the right PROCESS is missing'
}

@test "mariadb: camp goes on when its connection is killed, the server is stopped, ends, starts again" {
    start_server
    load_of idler 'select 1;'
    rm -f "$SERVERS/run.camp"
    timeout 60 "$CAMP" record --from "$FROM" --count 16 --interval 500ms \
        --output "$SERVERS/run.camp" >"$SERVERS/record.log" 2>&1 3>&- &
    recorder=$!
    until_it has_session camp
    sleep 1
    query_mariadb "kill $(query_mariadb "select id from information_schema.processlist where user = 'camp'")"
    until_it has_session camp
    sleep 1
    kill -STOP "$MARIADB_PID"
    sleep 1
    kill -CONT "$MARIADB_PID"
    until_it has_session camp
    stop_mariadb
    sleep 1
    run_mariadb
    load_of later 'select 1;'
    wait "$recorder"
    cat "$SERVERS/record.log"
    grep -q 'MariaDB: Connection was killed\|MariaDB: .*; connecting again' "$SERVERS/record.log"
    grep -q "MariaDB: Can't connect to local server" "$SERVERS/record.log"
    [ "$(sqlite3 "$SERVERS/run.camp" 'select count(*) from tick')" = 16 ]
    # who was there before and after, and nobody has more time in its states than there was
    [ "$(sqlite3 "$SERVERS/run.camp" "select count(distinct user) from entity where user in ('idler', 'later')")" = 2 ]
    [ "$(sqlite3 "$SERVERS/run.camp" 'select count(*) from mariadb_every where unaccounted_ns < -1000000')" = 0 ]
}
