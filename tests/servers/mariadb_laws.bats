#!/usr/bin/env bats
# bats file_tags=law
# camp record --from mariadb: the times of sessions that do one known thing each, and of sessions that update one hot
# row. One server has instruments of conditions; the other server has no performance_schema. Both servers have the same
# load, and three tiers record each server, once for all tests.
#
# The tests compare the recordings with the counters of the kernel for the same threads (witnesses.bash), or with the
# counters of InnoDB for its locks. The counters are read while the threads sleep. Samples may be wrong by chance, by at
# most four standard errors (by_chance in recording.bash).

bats_require_minimum_version 1.5.0
load lib
load recording
load witnesses

INSTRUMENTS=(--performance-schema=ON '--performance-schema-instrument=wait/synch/cond/%=ON'
    '--performance-schema-instrument=wait/io/socket/%=ON' --performance-schema-consumer-events-waits-current=ON)
QUIET=(idler sleeper burner keeper locker waiter asker reader)
HOT=(hot1 hot2 hot3 hot4 hot5 hot6 hot7 hot8)
ROUNDS=38 # of each hot session, which holds the row for 20 ms in one: 6 s together
# At the end of an interval camp waits for an answer at most this long (ANSWER_NS in mariadb.c). So the interval of the
# server ends at most this long after the interval of camp.
ANSWER_NS=300000000
declare -A SOCKETS PIDS

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    command -v mariadbd >/dev/null || { skip_file 'MariaDB is not installed'; return; }
    servers_begin
    "$CAMP" record --from threads --tier bpf --count 1 --interval 100ms --output "$SERVERS/can.camp" \
        >/dev/null 2>&1 || {
        skip_file 'microstates need CAP_BPF and CAP_PERFMON'
        return
    }
    begin_server plain
    begin_server instrumented "${INSTRUMENTS[@]}"
    begin_recordings
    on_each open_sessions
    on_each await_quiet
    on_each count_quiet idle.before burner
    taken_ns >"$SERVERS/taken.before"
    # After two more intervals, the current interval started after the counters were first read.
    all_go_on 2
    phase_begins loads
    all_go_on 1
    on_each begin_known_loads
    on_each await_quiet
    on_each count_quiet before "${QUIET[@]}"
    all_go_on 1
    phase_begins known
    all_go_on 3
    phase_ends known
    on_each count_quiet after "${QUIET[@]}"
    on_each end_burner
    on_each count_quiet idle.after burner
    on_each count_row_locks before
    phase_begins hot
    all_go_on 1
    on_each begin_hot_row
    on_each until_it hot_row_is_done
    on_each count_row_locks after
    read_switch_cost
    echo "$SWITCH_NS" >"$SERVERS/switch_ns"
    taken_since "$(cat "$SERVERS/taken.before")" >"$SERVERS/taken"
    all_go_on 2
    end_recordings
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

begin_server() {
    local name=$1
    shift
    # The server drops a client that does not read for net-write-timeout seconds. The client of `reader` never reads.
    start_mariadb --net-write-timeout=3600 "$@"
    SOCKETS[$name]=$MARIADB_SOCKET
    PIDS[$name]=$MARIADB_PID
    prepare_mariadb "${QUIET[@]}" "${HOT[@]}"
    query_mariadb 'create table t.hot(id int primary key, n int) engine=innodb;
        insert into t.hot values(1, 0), (2, 0); create table t.m(a int)'
}

# Runs a command for each server, with the name of the server in $SERVER.
on_each() {
    for SERVER in plain instrumented; do
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
    SERVER=instrumented record bpf 1s # the instruments are asked once in it
    SERVER=instrumented record gated 1s --tier schedstat+SQL
    SERVER=instrumented record instruments 1s --tier performance_schema
    for each in "${RECORDINGS[@]}"; do has_begun "${each% *}"; done
}

# record NAME INTERVAL OPTION...: starts the recording $SERVER.NAME.
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
    say "$SERVER.sleeper" 'select sleep(3600);'
    say "$SERVER.burner" "select benchmark(100000000000, md5('x'));"
    say "$SERVER.keeper" 'begin; update hot set n = 7 where id = 1;'
    say "$SERVER.locker" "lock tables m write; select get_lock('a', 0);"
    say "$SERVER.reader" 'select seq from seq_1_to_1000000000;'
    until_it has_locked
    say "$SERVER.waiter" 'insert into m values(1);'
    say "$SERVER.asker" "select get_lock('a', 3600);"
    until_it is_seen waiter 'Waiting for table metadata lock'
    until_it is_seen asker 'User lock'
    until_it is_seen sleeper 'User sleep'
    stop_reader
}

has_locked() {
    [ "$(query_mariadb "select is_used_lock('a') is not null")" = 1 ]
}

# Stops the client, so that the server waits for it to read.
stop_reader() {
    local pid
    for pid in "${SERVER_PIDS[@]}"; do
        if grep -zqx -- "--socket=$MARIADB_SOCKET" "/proc/$pid/cmdline" &&
            grep -zqx -- '--user=reader' "/proc/$pid/cmdline"; then
            kill -STOP "$pid"
        fi
    done
}

# all_go_on N: waits until every recording has N more intervals.
all_go_on() { more_ticks_of_each "$1" "${TIERS[@]}"; }

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

# count_row_locks WHEN: saves how long all sessions together waited for row locks, as InnoDB counts it, in ns.
count_row_locks() {
    query_mariadb "select variable_value * 1000000 from information_schema.global_status
        where variable_name = 'Innodb_row_lock_time'" | cut -d. -f1 >"$SERVERS/$SERVER.row_locks.$1"
}

# `waiter` and `asker` are left out: the server repeats a wait for a lock every second, so their threads wake up.
# count_quiet() waits until these threads are asleep.
await_quiet() {
    local user tids=()
    for user in "${QUIET[@]}"; do
        case $user in
        waiter | asker) continue ;;
        burner) is_idle burner || continue ;;
        esac
        tids+=("$(thread_of "$user")")
    done
    until_still "${tids[@]}"
}

# count_quiet WHEN USER...: saves the counters of the scheduler for the thread of each user.
count_quiet() {
    local when=$1 user tid
    shift
    for user; do
        tid=$(thread_of "$user")
        [ "$user" = burner ] || STILL_S=0 until_still "$tid"
        count_tasks "$tid" >"$SERVERS/$SERVER.$user.$when"
    done
}

# during NAME USER CONDITION: CONDITION holds for the sums over the intervals of USER that are completely within the
# known load.
during() {
    local from
    from="from mariadb_every join entity using (entity) join tick using (tick) where user = '$2'
        and wall_clock_ns - (end_ns - start_ns) > $(cat "$SERVERS/known.begin")
        and wall_clock_ns < $(cat "$SERVERS/known.end")"
    holds "$1" "select count(*) > 0 and sum(elapsed_ns) > 0 and ($3) $from" || {
        ask "$1" "select count(*), sum(elapsed_ns), sum(cpu_ns), sum(run_queue_ns), sum(unaccounted_ns) $from" >&2
        return 1
    }
}

# after PHASE NAME USERS CONDITION: CONDITION holds for the sums over all intervals since the start of PHASE, of all
# users that match the pattern USERS.
after() {
    local from
    from="from mariadb_every join entity using (entity) join tick using (tick) where user glob '$3'
        and wall_clock_ns - (end_ns - start_ns) > $(cat "$SERVERS/$1.begin")"
    holds "$2" "select count(*) > 0 and sum(elapsed_ns) > 0 and ($4) $from" || {
        ask "$2" "select count(*), sum(elapsed_ns), sum(cpu_ns), sum(run_queue_ns), sum(contention_ns),
            sum(idle_ns), sum(unaccounted_ns) $from" >&2
        return 1
    }
}

# awake_ns SERVER USER: prints how long the thread of USER was on a CPU or in the run queue during the known load.
awake_ns() {
    local file=$SERVERS/$1.$2
    echo $(($(since "$file.before" "$file.after" 2) + $(since "$file.before" "$file.after" 3)))
}

# always NAME USER COLUMN: a session that only sleeps has all its time in COLUMN, except the time that the scheduler
# counted on a CPU or in the run queue. Scaled times are rounded down to whole nanoseconds at each sample. Instruments
# use the clock of the server.
always() {
    local room='2 * (sum(samples) + count(*))'
    [[ $1 == plain.* ]] || room=$((2 * ANSWER_NS))
    during "$1" "$2" "sum($3) >= sum(elapsed_ns) - $(awake_ns "${1%%.*}" "$2") - $room"
}

# row_locks_ns SERVER: prints how long all sessions together waited for row locks during the load on the hot row.
# InnoDB counts a wait until the waiting thread runs again.
row_locks_ns() {
    echo $(($(cat "$SERVERS/$1.row_locks.after") - $(cat "$SERVERS/$1.row_locks.before")))
}

TIERS=(plain.bpf plain.gated plain.sql instrumented.bpf instrumented.gated instrumented.instruments)

@test "mariadb times: a recording states the tier and the provenance of its times" {
    for each in plain.bpf=bpf plain.gated=schedstat+SQL plain.sql=SQL instrumented.bpf=bpf \
        instrumented.gated=schedstat+SQL instrumented.instruments=performance_schema; do
        holds "${each%=*}" "select value = '${each#*=}' from camp where key = 'tier'"
    done
    # Throttled time, which some kernels do not tell from the run queue, is measured, too.
    holds plain.bpf "select group_concat(provenance) = 'measured,measured,scaled,scaled,scaled'
        from (select * from column_info where kind = 'state' and column_name <> 'throttled_ns' order by position)"
    holds plain.bpf "select count(*) = 0 from column_info where column_name = 'throttled_ns' and provenance <> 'measured'"
    holds plain.sql "select min(provenance) = 'sampled' and max(provenance) = 'sampled' from column_info
        where kind = 'state'"
    holds instrumented.instruments "select min(provenance) = 'measured' and max(provenance) = 'measured'
        from column_info where kind = 'state'"
}

@test "mariadb times: a session between statements or in SLEEP() is idle" {
    for tier in "${TIERS[@]}"; do
        always "$tier" idler idle_client_ns
        always "$tier" sleeper idle_asked_for_ns
        always "$tier" keeper idle_ns
    done
    for tier in plain.bpf plain.gated plain.sql instrumented.bpf instrumented.gated; do
        always "$tier" keeper idle_in_transaction_ns
    done
}

@test "mariadb times: a session that waits for a lock is in contention on every tier" {
    for tier in "${TIERS[@]}"; do
        always "$tier" waiter contention_metadata_lock_ns
        always "$tier" asker contention_ns
        always "$tier" locker idle_client_ns
    done
    # Tier performance_schema cannot tell the locks of waiter and asker apart, because both sessions wait for the same
    # condition variable.
    for tier in plain.bpf plain.gated plain.sql; do always "$tier" asker contention_user_lock_ns; done
}

# The last interval has no sample, so its sleep is accounted to the state of the last sample.
@test "mariadb times: an interval without a sample keeps the state of the last sample" {
    for tier in plain.bpf plain.gated instrumented.bpf instrumented.gated; do
        holds $tier "select count(*) = 1 and sum(contention_ns) = sum(elapsed_ns - run_queue_ns - cpu_ns)
            from mariadb_every join entity using (entity)
            where user = 'waiter' and tick = (select max(tick) from tick)"
    done
}

@test "mariadb times: a session whose client does not read is in the state wait" {
    for tier in "${TIERS[@]}"; do always "$tier" reader wait_client_of_statement_ns; done
}

@test "mariadb times: a session in an endless loop is always on a CPU or in the run queue" {
    local server slept
    for server in plain instrumented; do
        slept=$(since "$SERVERS/$server.burner.before" "$SERVERS/$server.burner.after" 5)
        [ "$slept" = 0 ] || skip "the loop had to sleep $slept times here"
        during $server.bpf burner 'sum(cpu_ns + run_queue_ns) = sum(elapsed_ns)'
    done
    during plain.sql burner 'sum(cpu_ns) >= sum(elapsed_ns) - 2 * (sum(samples) + count(*))'
}

# Tier schedstat+SQL reads the counters of the scheduler, so its times are equal. Tier bpf reads a clock at each context
# switch. Its CPU time may differ by the duration of each context switch, and includes interrupts and stolen time. A
# switch under concurrent load took up to 1.7 times as long as the one that was measured alone.
@test "mariadb times: CPU and run-queue time of a loop equal the counts of the scheduler" {
    local server before after room
    for server in plain instrumented; do
        before=$SERVERS/$server.burner.idle.before after=$SERVERS/$server.burner.idle.after
        room=$(($(cat "$SERVERS/taken") + 3 * $(cat "$SERVERS/switch_ns") * $(since "$before" "$after" 4)))
        for tier in bpf=$room gated=0; do
            after loads "$server.${tier%=*}" burner \
                "abs(sum(cpu_ns) - $(since "$before" "$after" 2)) <= ${tier#*=}
                and abs(sum(run_queue_ns) - $(since "$before" "$after" 3)) <= ${tier#*=} and sum(cpu_ns) > 0"
        done
    done
}

@test "mariadb times: the states of a session add up to the session's elapsed time" {
    for tier in plain.bpf plain.gated instrumented.bpf instrumented.gated; do
        holds $tier 'select count(*) > 50 and max(abs(unaccounted_ns)) = 0 from mariadb_every'
    done
}

@test "mariadb times: the detail columns of a state, such as idle_client, add up to that state" {
    for tier in "${TIERS[@]}"; do
        for state in contention wait idle; do
            columns=$(ask "$tier" "select group_concat(column_name, ' + ') from column_info
                where kind = 'counter' and name glob '${state}_*'")
            holds "$tier" "select max(abs(${state}_ns - ($columns))) = 0 from mariadb_every"
        done
    done
}

# The time of the waits is unaccounted, except the time in which a thread that was woken waits for a CPU and runs.
@test "mariadb times: tier performance_schema leaves waits for a row lock unaccounted" {
    after hot instrumented.instruments 'hot*' "sum(unaccounted_ns + cpu_ns + run_queue_ns)
        >= $(row_locks_ns instrumented) - 16 * $ANSWER_NS and sum(unaccounted_ns) > sum(contention_ns)"
}

# SLEEP() also sleeps in futex(2). Samples divide the sleep of a session between the row lock and SLEEP().
@test "mariadb times: a session that waits for a row lock is in contention" {
    local tier ns chance
    for tier in plain.bpf plain.gated instrumented.bpf instrumented.gated; do
        ns=$(row_locks_ns "${tier%%.*}")
        chance="sum(elapsed_ns) * $(by_chance 0.5 'sum(samples) / 8.0')"
        after hot $tier 'hot*' "sum(abs(unaccounted_ns)) = 0
            and sum(contention_ns + idle_asked_for_ns + cpu_ns + run_queue_ns) >= $ns
            and sum(contention_row_lock_ns) > 0
            and sum(contention_row_lock_ns + cpu_ns + run_queue_ns) >= $ns - $chance
            and sum(contention_row_lock_ns) <= $ns + $chance"
    done
}

# InnoDB updates its list of transactions only if the list was not read for a while. Without an update, one of the
# eight sessions would appear to hold the row all the time, and never to wait for it.
@test "mariadb times: three simultaneous recordings all show the waits for a row lock" {
    for tier in plain.bpf plain.gated plain.sql; do
        holds $tier "select count(*) = 8 and min(row_ns) > 0 and max(row_ns - busy_ns) < 0 from (
            select sum(contention_row_lock_ns) as row_ns, sum(elapsed_ns - idle_client_ns) as busy_ns
            from mariadb_every join entity using (entity) where user glob 'hot*' group by user)"
    done
}

@test "mariadb times: performance_schema reports waits for a row lock as CPU time" {
    after hot instrumented.bpf 'hot*' "sum(reported_cpu_ns) >= $(row_locks_ns instrumented) - 16 * $ANSWER_NS
        and sum(reported_cpu_ns) > sum(reported_contention_ns)"
    run "$CAMP" check --from "$SERVERS/instrumented.bpf.camp" --format json
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *camp.check.sessions/1* ]]
}
