#!/usr/bin/env bats
# camp record --from mariadb: which sessions are shown, and all failures. mariadb_laws.bats checks times.

bats_require_minimum_version 1.5.0
load lib
load recording
load witnesses

INSTRUMENTS=(--performance-schema=ON '--performance-schema-instrument=wait/synch/cond/%=ON')

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    servers_begin
    unset MYSQL_PWD MARIADB_PWD MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT
    export HOME=$SERVERS # no ~/.my.cnf but the tests' own
}

# A server in a container is a child of unshare(1), which does not forward signals.
teardown() {
    [ "${#MARIADB_WITHIN[@]}" = 0 ] ||
        mapfile -t -O "${#SERVER_PIDS[@]}" SERVER_PIDS < <(pgrep -P "$MARIADB_PID")
    servers_end
}

start_server() {
    start_mariadb "$@"
    prepare_mariadb idler sleeper
    FROM="mariadb:socket=$MARIADB_SOCKET user=camp"
}

open_user() {
    open_mariadb "$1"
    until_it has_mariadb "$1"
}

# camp_records NAME OPTION...: runs camp record, and waits until it ends. Fails, with the stderr of camp, if camp fails.
camp_records() {
    local name=$1
    shift
    rm -f "$SERVERS/$name.camp"
    timeout 120 "$CAMP" record --interval 200ms --output "$SERVERS/$name.camp" "$@" \
        >"$SERVERS/$name.out" 2>"$SERVERS/$name.err" 3>&- || {
        cat "$SERVERS/$name.err"
        return 1
    }
}

says() {
    holds "$1" "select value = '$3' from camp where key = '$2'"
}

# The sum of the states of a session does not exceed its elapsed time.
adds_up() {
    holds "$1" 'select count(*) > 0 and min(unaccounted_ns) >= 0 from mariadb_every'
}

@test "mariadb: camp top --help lists the source mariadb" {
    run "$CAMP" top --help
    [[ $output == *'mariadb:CONNINFO'* ]]
}

@test "mariadb: a session has its user, database and client as labels" {
    start_server
    open_user idler
    open_user sleeper
    say sleeper 'select sleep(50);'
    until_it is_seen sleeper 'User sleep'
    camp_records run --from "$FROM" --count 2
    holds run "select database || ' ' || client = 't localhost' from entity where user = 'idler'"
    run ! grep -q 'sleep(50)' "$SERVERS/run.camp"
    run -0 --separate-stderr "$CAMP" top --from "$FROM" --queries --filter sleeper --count 1 --interval 200ms --format json
    [[ $output == *'"last_statement":"select sleep(50)"'* ]]
    camp_records run --from "$FROM" --count 2 --group user
    holds run "select count(*) = 1 from entity where name = 'sleeper'"
}

@test "mariadb: a note reports hidden sessions if the privilege PROCESS is missing" {
    start_server
    query_mariadb 'create user stranger@localhost'
    open_user idler
    camp_records run --from "mariadb:socket=$MARIADB_SOCKET user=stranger" --count 2
    holds run "select count(*) = 0 from entity where user = 'idler'"
    holds run "select value = 'Sessions of other users are hidden: the right PROCESS is missing'
        from camp where key = 'note'"
}

@test "mariadb: only --tier performance_schema needs the server's performance_schema" {
    start_server
    open_user idler
    for tier in schedstat+SQL SQL; do
        camp_records run --from "$FROM" --count 3 --tier $tier
        says run tier $tier
        holds run "select count(*) > 0 from mariadb_every join entity using (entity) where user = 'idler'"
        adds_up run
    done
    fails_with 1 'mariadb: tier performance_schema is unavailable: performance_schema is off' \
        "socket=$MARIADB_SOCKET user=camp" --tier performance_schema
}

# Opens a session that uses CPU time, sleeps, and ends.
serve_and_end() {
    query_mariadb "select benchmark(200000, md5('x')), sleep(0.1)" >/dev/null
}

# Runs two simultaneous sessions, so that the server keeps two threads in its cache. Succeeds if the recording has
# counted an ended session as partial.
has_ended_one() {
    serve_and_end &
    serve_and_end
    wait $!
    holds run 'select sum(partial) > 0 from tick'
}

# The thread that answers this statement is not a cached thread.
has_cached_thread() {
    [ "$(query_mariadb "select variable_value from information_schema.global_status
        where variable_name = 'Threads_cached'")" -gt 0 ]
}

# Prints the scheduler's counts of all threads of the server. A thread may end while its counts are read.
count_threads() {
    local thread
    for thread in "/proc/$MARIADB_PID/task"/*; do count_tasks "${thread##*/}" 2>/dev/null || true; done
}

@test "mariadb: a session on a reused thread has no time of the thread's previous session" {
    local opened thread
    start_server --thread-cache-size=8
    record_beside run --from "$FROM" --interval 200ms --tier schedstat+SQL
    until_it has_ended_one
    until_it has_cached_thread
    count_threads >"$SERVERS/before"
    opened=$(date +%s%N)
    open_user idler
    more_ticks run 3
    end_recording run "$RECORD_PID"
    opened=$(($(date +%s%N) - opened))
    thread=$(query_mariadb "select tid from information_schema.processlist where user = 'idler'")
    sed -i -n "/^$thread /p" "$SERVERS/before"
    [ -s "$SERVERS/before" ] # the thread is older than its session
    count_tasks "$thread" >"$SERVERS/after"
    adds_up run
    holds run "select count(*) > 0 and sum(idle_client_ns) > 0 and sum(idle_asked_for_ns) = 0
            and sum(elapsed_ns) <= $opened and sum(cpu_ns) <= $(since "$SERVERS/before" "$SERVERS/after" 2)
            and sum(run_queue_ns) <= $(since "$SERVERS/before" "$SERVERS/after" 3)
        from mariadb_every join entity using (entity) where user = 'idler'"
}

@test "mariadb: a note counts the sessions for which performance_schema has no space" {
    start_server "${INSTRUMENTS[@]}" --performance-schema-max-thread-instances=12
    open_user idler
    open_user sleeper
    for i in 1 2 3 4 5 6 7 8; do
        query_mariadb "create user more$i@localhost; grant all on *.* to more$i@localhost"
        open_user "more$i"
    done
    camp_records run --from "$FROM" --count 3 --interval 500ms --tier performance_schema
    # On a busy machine a thread of the server starts late, takes a place, and changes the number.
    grep -q '[1-9][0-9]* sessions are not in performance_schema: raise its max_thread_instances' "$SERVERS/run.err"
    run ! grep -v 'sessions are not in performance_schema' "$SERVERS/run.err"
    holds run "select value like 'performance_schema had no space for %' from camp where key = 'note'"
    camp_records run --from "$FROM" --count 3 --interval 500ms --tier schedstat+SQL
    holds run "select count(distinct entity) >= 10 and sum(reported_idle_ns) > sum(reported_cpu_ns + reported_wait_ns + reported_contention_ns) from mariadb_every"
}

# Starts a server on a free port. If another program takes the port first, tries another port, up to three times.
start_on_port() {
    local port
    for _ in 1 2 3; do
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        start_mariadb --skip-networking=0 --bind-address=127.0.0.1 --port="$port" && break
    done
    query_mariadb "create user camp@'127.0.0.1'; grant process on *.* to camp@'127.0.0.1'"
    FROM="mariadb:host=127.0.0.1 port=$port user=camp"
}

@test "mariadb: camp treats a server with another host name as remote" {
    start_on_port
    camp_records run --from "$FROM" --count 1 --tier schedstat+SQL
    says run tier schedstat+SQL
    says run server_cpus "$(getconf _NPROCESSORS_ONLN)"
    stop_mariadb
    unshare --uts true 2>/dev/null || skip 'the rest needs another name for a server: not permitted'
    MARIADB_WITHIN=(unshare --uts sh -c 'hostname elsewhere; exec "$@"' -)
    start_on_port
    camp_records run --from "$FROM" --count 2
    says run tier SQL
    says run note 'Tier SQL: the server is on another machine'
    holds run "select count(*) = 0 from camp where key = 'server_cpus'"
}

@test "mariadb: camp does not use the thread ids of a server in a container" {
    unshare --pid --fork true 2>/dev/null || skip 'a container of its own is not permitted'
    MARIADB_WITHIN=(unshare --pid --fork)
    start_server
    camp_records run --from "$FROM" --count 2
    says run tier SQL
    says run note 'Tier SQL: its threads are not visible here (a container?)'
}

# fails_with STATUS TEXT CONNINFO [OPTION...]: camp exits with STATUS, and writes one line to stderr, which starts with
# TEXT.
fails_with() {
    local status_wanted=$1 text=$2 conninfo=$3
    shift 3
    run --separate-stderr timeout 120 "$CAMP" record --from "mariadb:$conninfo" --count 1 \
        --output "$SERVERS/no.camp" "$@"
    echo "$status: $stderr"
    [ "$status" -eq "$status_wanted" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp record: $text"* ]]
}

@test "mariadb: camp reports a failure to connect in one line with its cause" {
    start_server --max-connections=10
    query_mariadb "create user secret@localhost identified by 'sesame';
        create user few@localhost with max_user_connections 1; grant all on *.* to few@localhost"
    s=$MARIADB_SOCKET
    fails_with 4 "MariaDB: Access denied for user 'secret'@'localhost'" "socket=$s user=secret"
    MARIADB_PWD=wrong fails_with 4 "MariaDB: Access denied for user 'secret'" "socket=$s user=secret"
    fails_with 2 'mariadb: a password is not for the command line' "socket=$s password=sesame"
    [[ $stderr != *sesame* ]]
    fails_with 1 "MariaDB: Can't connect to local server" "$SERVERS/nothing"
    fails_with 1 "MariaDB: Unknown database 'nothing'" "socket=$s user=root database=nothing"
    fails_with 2 "mariadb: there is no tier 'best'" "socket=$s user=root" --tier best
    open_user few
    fails_with 1 "MariaDB: User 'few' has exceeded the 'max_user_connections'" "socket=$s user=few"
}

@test "mariadb: camp does not record a password from the environment or an option file" {
    start_server
    query_mariadb "create user secret@localhost identified by 'sesame'"
    s=$MARIADB_SOCKET
    MARIADB_PWD=sesame camp_records a --from "mariadb:socket=$s user=secret" --count 1
    MYSQL_PWD=sesame camp_records b --from "mariadb:socket=$s user=secret" --count 1
    printf '[camp]\nuser=secret\npassword=sesame\nsocket=%s\n' "$s" >"$HOME/.my.cnf"
    camp_records c --from mariadb: --count 1
    run ! grep -q sesame "$SERVERS"/[abc].{camp,out,err}
}

own_connection() {
    query_mariadb "select id from information_schema.processlist where user = 'camp'"
}

is_again() {
    local now
    now=$(own_connection)
    [ -n "$now" ] && [ "$now" != "$1" ]
}

# bats test_tags=deep
@test "mariadb: camp record continues with a note after its connection is killed" {
    start_server
    open_user idler
    record_beside run --from "$FROM" --interval 200ms --tier schedstat+SQL
    before=$(own_connection)
    query_mariadb "kill $before"
    until_it is_again "$before"
    told run 'MariaDB: \(Connection was killed\|Server has gone away\|Lost connection.*\); connecting again'
    more_ticks run 3
    end_recording run "$RECORD_PID"
    [ "$(wc -l <"$SERVERS/run.err")" = 1 ]
    adds_up run
}

# bats test_tags=deep
@test "mariadb: camp record continues with a note while the server is stopped" {
    start_server
    open_user idler
    record_beside run --from "$FROM" --interval 200ms --tier schedstat+SQL
    kill -STOP "$MARIADB_PID"
    told run 'MariaDB: no answer for 2 s; is it stopped, or overloaded?'
    more_ticks run 2 # though nobody answers
    kill -CONT "$MARIADB_PID"
    now=$(ask run 'select max(tick) from tick')
    until_it holds run "select count(*) > 2 from mariadb_every join entity using (entity)
        where user = 'idler' and tick > $now + 1"
    end_recording run "$RECORD_PID"
    adds_up run
}

# bats test_tags=deep
@test "mariadb: camp record continues after a server restart that reuses session ids" {
    start_server
    open_user idler
    record_beside run --from "$FROM" --interval 200ms --tier schedstat+SQL
    stop_mariadb
    told run "MariaDB: Can't connect to local server"
    more_ticks run 2
    run_mariadb
    open_user sleeper
    until_it holds run "select count(*) > 2 from mariadb_every join entity using (entity) where user = 'sleeper'"
    end_recording run "$RECORD_PID"
    adds_up run
}

# bats test_tags=deep
@test "mariadb: camp record continues after the server is killed and restarted" {
    start_server
    open_user idler
    record_beside run --from "$FROM" --interval 200ms
    kill -KILL "$MARIADB_PID"
    until_it is_gone "$MARIADB_PID"
    told run "MariaDB: .*; connecting again\|MariaDB: Can't connect to local server"
    run_mariadb
    open_user sleeper
    until_it holds run "select count(*) > 2 from mariadb_every join entity using (entity) where user = 'sleeper'"
    end_recording run "$RECORD_PID"
    adds_up run
    [ "$(wc -l <"$SERVERS/run.err")" -le 3 ]
}
