#!/usr/bin/env bats
# bats file_tags=law
# camp record --from mariadb: what it says of sessions that are known to do one thing, and of a hot
# row. Two servers, one with instruments of conditions and one without performance_schema, have the
# same loads; three tiers record each of them, once for all tests.

bats_require_minimum_version 1.5.0
load lib
load recording

INSTRUMENTS=(--performance-schema=ON '--performance-schema-instrument=wait/synch/cond/%=ON'
    '--performance-schema-instrument=wait/io/socket/%=ON' --performance-schema-consumer-events-waits-current=ON)
QUIET=(idler sleeper burner keeper locker waiter asker reader)
HOT=(hot1 hot2 hot3 hot4 hot5 hot6 hot7 hot8)
ROUNDS=38 # of each hot session, which holds the row for 20 ms in one: 6 s together
declare -A SOCKETS PIDS

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    servers_begin
    export SERVERS
    "$CAMP" record --from threads --count 1 --interval 100ms --output "$SERVERS/can.camp" \
        >/dev/null 2>&1 || skip 'microstates need CAP_BPF and CAP_PERFMON'
    begin_server plain
    begin_server told "${INSTRUMENTS[@]}"
    begin_recordings
    on_each open_sessions
    more_ticks told.bpf 2
    stolen_ns >"$SERVERS/stolen.before"
    on_each count_by_scheduler before
    on_each begin_known_loads
    hold_phase known
    on_each end_burner
    on_each count_row_locks before
    on_each begin_hot_row
    hold_phase hot
    on_each until_it hot_row_is_done
    on_each count_row_locks after
    on_each count_by_scheduler after
    stolen_ns >"$SERVERS/stolen.after"
    more_ticks told.bpf 2
    end_recordings
}

teardown_file() { servers_end; }

# ------------------------------------------------------------------------------- loads --

begin_server() {
    local name=$1
    shift
    start_mariadb "$@"
    SOCKETS[$name]=$MARIADB_SOCKET
    PIDS[$name]=$MARIADB_PID
    prepare_mariadb "${QUIET[@]}" "${HOT[@]}"
    query_mariadb 'create table t.hot(id int primary key, n int) engine=innodb;
        insert into t.hot values(1, 0), (2, 0); create table t.m(a int)'
}

# A command for each server, whose name is $SERVER.
on_each() {
    for SERVER in plain told; do
        MARIADB_SOCKET=${SOCKETS[$SERVER]}
        MARIADB_PID=${PIDS[$SERVER]}
        "$@"
    done
}

begin_recordings() {
    RECORDINGS=()
    SERVER=plain record bpf 500ms
    SERVER=plain record gated 500ms --tier schedstat+SQL
    SERVER=plain record sql 500ms --tier SQL
    SERVER=told record bpf 1s # the instruments are asked once in it
    SERVER=told record gated 1s --tier schedstat+SQL
    SERVER=told record instruments 1s --tier performance_schema
    for each in "${RECORDINGS[@]}"; do has_begun "${each% *}"; done
}

# record NAME INTERVAL OPTION...
record() {
    local name=$SERVER.$1 interval=$2
    shift 2
    record_at_once "$name" --from "mariadb:socket=${SOCKETS[$SERVER]} user=camp" --interval "$interval" "$@"
    RECORDINGS+=("$name $RECORD_PID")
}

open_sessions() {
    local user
    for user in "${QUIET[@]}" "${HOT[@]}"; do open_mariadb "$user" --quick; done
    for user in "${QUIET[@]}" "${HOT[@]}"; do
        rm "$SERVERS/$user.in"
        SESSIONS[$SERVER.$user]=${SESSIONS[$user]}
    done
    until_it eval '[ "$(query_mariadb "select count(*) from information_schema.processlist where db = '"'t'"'")" = 16 ]'
}

begin_known_loads() {
    say "$SERVER.sleeper" 'select sleep(100);'
    say "$SERVER.burner" "select benchmark(100000000000, md5('x'));"
    say "$SERVER.keeper" 'begin; update hot set n = 7 where id = 1;'
    say "$SERVER.locker" "lock tables m write; select get_lock('a', 0);"
    say "$SERVER.reader" 'select seq from seq_1_to_1000000000;'
    until_it has_locked
    say "$SERVER.waiter" 'insert into m values(1);'
    say "$SERVER.asker" "select get_lock('a', 100);"
    until_it is_seen waiter 'Waiting for table metadata lock'
    until_it is_seen asker 'User lock'
    until_it is_seen sleeper 'User sleep'
    stop_reader
}

has_locked() {
    [ "$(query_mariadb "select is_used_lock('a') is not null")" = 1 ]
}

# Its client, so that the server waits for it to read.
stop_reader() {
    local pid
    for pid in "${SERVER_PIDS[@]}"; do
        if grep -zqx -- "--socket=$MARIADB_SOCKET" "/proc/$pid/cmdline" &&
            grep -zqx -- '--user=reader' "/proc/$pid/cmdline"; then
            kill -STOP "$pid"
        fi
    done
}

# Begins once all have looked at what began before it, however late.
hold_phase() {
    more_ticks plain.sql 1
    more_ticks told.bpf 1
    phase_begins "$1"
    more_ticks told.bpf 3 # two whole intervals, however long they take, and more of the others
    more_ticks told.instruments 1
    phase_ends "$1"
}

end_burner() {
    query_mariadb "kill query user burner"
    until_it is_idle burner
}

is_idle() {
    [ "$(query_mariadb "select command from information_schema.processlist where user = '$1'")" = Sleep ]
}

begin_hot_row() {
    local user round='begin; update hot set n = n + 1 where id = 2; do sleep(0.02); commit;'
    for user in "${HOT[@]}"; do say "$SERVER.$user" "$(yes "$round" | head -$ROUNDS)"; done
}

hot_row_is_done() {
    [ "$(query_mariadb 'select n from t.hot where id = 2')" = $((8 * ROUNDS)) ]
}

# ---------------------------------------------------------------------------- witnesses --

# count_row_locks WHEN: InnoDB's own clock of waits for locks of rows, of all sessions together.
count_row_locks() {
    query_mariadb "select variable_value * 1000000 from information_schema.global_status
        where variable_name = 'Innodb_row_lock_time'" >"$SERVERS/$SERVER.row_locks.$1"
}

# count_by_scheduler WHEN: "CPU_NS RUN_QUEUE_NS" of the burner's thread.
count_by_scheduler() {
    local tid
    tid=$(query_mariadb "select tid from information_schema.processlist where user = 'burner'")
    cut -d' ' -f1,2 "/proc/$MARIADB_PID/task/$tid/schedstat" >"$SERVERS/$SERVER.burner.$1"
}

stolen_ns() {
    awk -v unit="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", $9 * 1e9 / unit }' /proc/stat
}

# ---------------------------------------------------------------------------- questions --

# during PHASE NAME USERS CONDITION: it holds of the sums of the whole intervals of these users.
during() {
    holds "$2" "select count(*) > 0 and sum(elapsed_ns) > 0 and ($4) from mariadb_every
        join entity using (entity) join tick using (tick) where user glob '$3'
        and wall_clock_ns - (end_ns - start_ns) > $(cat "$SERVERS/$1.begin")
        and wall_clock_ns < $(cat "$SERVERS/$1.end")"
}

# mostly NAME USER COLUMNS: 95 % of its time, while it was known. Who wakes up now and then (the wait
# for a metadata lock is one of a second, and again) may have to wait for a CPU.
mostly() {
    during known "$1" "$2" "sum($3) >= 0.95 * sum(elapsed_ns - run_queue_ns)"
}

TIERS=(plain.bpf plain.gated plain.sql told.bpf told.gated told.instruments)

# ------------------------------------------------------------------------------- tests --

@test "mariadb laws: every tier says which it is, and which of its times are measured" {
    for each in plain.bpf=bpf plain.gated=schedstat+SQL plain.sql=SQL told.bpf=bpf \
        told.gated=schedstat+SQL told.instruments=performance_schema; do
        holds "${each%=*}" "select value = '${each#*=}' from camp where key = 'tier'"
    done
    holds plain.bpf "select group_concat(provenance) = 'measured,measured,scaled,scaled,scaled'
        from (select * from column_info where kind = 'state' order by position)"
    holds plain.sql "select min(provenance) = 'sampled' and max(provenance) = 'sampled' from column_info
        where kind = 'state'"
    holds told.instruments "select min(provenance) = 'measured' and max(provenance) = 'measured'
        from column_info where kind = 'state'"
}

@test "mariadb laws: idle sessions are idle, in a transaction that is marked, and asked to sleep" {
    for tier in "${TIERS[@]}"; do
        mostly "$tier" idler idle_client_ns
        mostly "$tier" sleeper idle_asked_for_ns
        mostly "$tier" keeper idle_ns
    done
    for tier in plain.bpf plain.gated plain.sql told.bpf told.gated; do
        mostly "$tier" keeper idle_in_transaction_ns
    done
}

@test "mariadb laws: who waits for a lock that another holds is in contention, by every tier" {
    for tier in "${TIERS[@]}"; do
        mostly "$tier" waiter contention_metadata_lock_ns
        mostly "$tier" asker contention_ns
        mostly "$tier" locker idle_client_ns
    done
    # To the instruments both are the same condition.
    for tier in plain.bpf plain.gated plain.sql; do mostly "$tier" asker contention_user_lock_ns; done
}

@test "mariadb laws: the last interval, which is cut short, is as those before" {
    for tier in plain.bpf plain.gated told.bpf told.gated; do
        holds $tier "select sum(contention_metadata_lock_ns) >= 0.95 * sum(elapsed_ns - run_queue_ns)
            from mariadb_every join entity using (entity)
            where user = 'waiter' and tick = (select max(tick) from tick)"
    done
}

@test "mariadb laws: who waits for a client that does not read waits" {
    for tier in "${TIERS[@]}"; do mostly "$tier" reader wait_client_of_statement_ns; done
}

@test "mariadb laws: a loop is on a CPU, or waits for one, as the scheduler says" {
    for tier in "${TIERS[@]}"; do mostly "$tier" burner cpu_ns+run_queue_ns; done
    local stolen=$(($(cat "$SERVERS/stolen.after") - $(cat "$SERVERS/stolen.before"))) cpu queue cpu0 queue0
    for server in plain told; do
        read -r cpu0 queue0 <"$SERVERS/$server.burner.before"
        read -r cpu queue <"$SERVERS/$server.burner.after"
        for tier in bpf gated; do
            holds $server.$tier "select abs(sum(cpu_ns) - $((cpu - cpu0))) - 0.01 * sum(cpu_ns + run_queue_ns) <= $stolen
                and abs(sum(run_queue_ns) - $((queue - queue0))) - 0.01 * sum(cpu_ns + run_queue_ns) <= $stolen
                and sum(cpu_ns) > 0 from mariadb_every join entity using (entity) where user = 'burner'"
        done
    done
}

@test "mariadb laws: with the operating system states add up to each session's time" {
    for tier in plain.bpf plain.gated told.bpf told.gated; do
        holds $tier 'select count(*) > 50 and max(abs(unaccounted_ns)) <= 1000 from mariadb_every'
    done
}

@test "mariadb laws: what a session is made of adds up to its state" {
    for tier in "${TIERS[@]}"; do
        for state in contention wait idle; do
            columns=$(ask "$tier" "select group_concat(column_name, ' + ') from column_info
                where kind = 'counter' and name glob '${state}_*'")
            holds "$tier" "select max(abs(${state}_ns - ($columns))) = 0 from mariadb_every"
        done
    done
}

@test "mariadb laws: a hot row is missing from the server's own instruments" {
    during hot told.instruments 'hot*' 'sum(unaccounted_ns) >= 0.6 * sum(elapsed_ns)
        and sum(contention_ns) <= 0.05 * sum(elapsed_ns)'
}

@test "mariadb laws: a hot row is found in futex: nothing is unaccounted, most is contention" {
    for tier in plain.bpf plain.gated told.bpf told.gated; do
        during hot $tier 'hot*' 'sum(abs(unaccounted_ns)) <= 0.05 * sum(elapsed_ns)
            and sum(contention_row_lock_ns) >= 0.6 * sum(elapsed_ns)'
    done
    during hot plain.sql 'hot*' 'sum(contention_row_lock_ns) >= 0.6 * sum(elapsed_ns)'
}

# InnoDB shows transactions as they were as long as somebody reads them all the time: then one of the
# sessions would hold the row for good.
@test "mariadb laws: three recordings do not keep each other from seeing transactions" {
    for tier in plain.bpf plain.gated plain.sql; do
        holds $tier "select count(*) = 8 and min(part) >= 0.4 from (
            select 1.0 * sum(contention_row_lock_ns) / sum(elapsed_ns - idle_client_ns) as part
            from mariadb_every join entity using (entity) where user glob 'hot*' group by user)"
    done
}

@test "mariadb laws: beside it stands what the instruments say: all CPU time" {
    during hot told.bpf 'hot*' 'sum(told_cpu_ns) >= 0.6 * sum(elapsed_ns)
        and sum(told_contention_ns) <= 0.05 * sum(elapsed_ns)'
    run "$CAMP" check --from "$SERVERS/told.bpf.camp" --format json
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *camp.check.sessions/1* ]]
}

# InnoDB's clock runs until the thread has a CPU again.
@test "mariadb laws: who waits for the row waits as long as InnoDB itself says, less the run queue" {
    for server in plain told; do
        innodb=$(($(cut -d. -f1 "$SERVERS/$server.row_locks.after") - $(cut -d. -f1 "$SERVERS/$server.row_locks.before")))
        holds $server.bpf "select sum(contention_ns) between
                $innodb - sum(run_queue_ns) - 0.05 * sum(elapsed_ns - idle_client_ns) and 1.05 * $innodb
            from mariadb_every join entity using (entity) where user glob 'hot*'"
    done
}
