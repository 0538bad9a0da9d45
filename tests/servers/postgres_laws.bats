#!/usr/bin/env bats
# bats file_tags=law
# camp record --from postgres: what it says of sessions that are known to do one thing, and of
# pgbench beside the scheduler's own counts. Every tier records the same loads, once for all tests:
# sessions begin after camp and are quiet (idle, cancelled, or their client stopped) before it ends,
# so that what the scheduler counted of a backend is that of the recording, to the nanosecond.

bats_require_minimum_version 1.5.0
load lib
load recording

BURNERS=3 # on one CPU: each has it for a third of the time

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    servers_begin
    export SERVERS
    start_postgres min_parallel_table_scan_size=0 parallel_setup_cost=0 parallel_tuple_cost=0 \
        compute_query_id=on
    make_tables
    stolen_ns >"$SERVERS/stolen.before"
    begin_recordings
    begin_known_sessions
    begin_burners
    phase_begins known
    begin_and_end_briefly
    sleep 2
    phase_ends known
    end_burners
    run_pgbench
    end_recordings
}

teardown_file() { servers_end; }

# ------------------------------------------------------------------------------- loads --

make_tables() {
    query_postgres 'create table locked(a int); create table copied(a int);
        create table large as select generate_series(1, 20000) a;
        alter table large set (parallel_workers = 2); analyze large;
        create function burn(int) returns int parallel safe language plpgsql
            as $$begin for i in 1..1000000 loop end loop; return 0; end$$' >/dev/null
    "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -i -q postgres >"$SERVERS/init.log" 2>&1
}

# The role camp may have three connections; these are more. All at once: each takes a second to begin.
begin_recordings() {
    local super="postgres:host=$PG_FOLDER dbname=postgres user=camp_super" name
    printf '%s\n' 'idle mine class=Timeout event=PgSleep' 'contention theirs class=Lock' \
        'idle rest class=.*' >"$SERVERS/own.rules"
    RECORDINGS=()
    record bpf --from "postgres:$PG"
    record memory --from "$super" --tier schedstat+memory
    record gated --from "$super" --tier schedstat+SQL
    record sql --from "$super" --tier SQL
    record own --from "$super" --rules "$SERVERS/own.rules" --detail --queries --background
    record grouped --from "$super" --group application
    for name in bpf memory gated sql own grouped; do has_begun "$name"; done
}

record() {
    record_at_once "$@" --interval 500ms
    RECORDINGS+=("$1 $RECORD_PID")
}

# A session that runs what say() gives it, and then waits for more: open_session NAME.
open_session() {
    mkfifo "$SERVERS/$1.in"
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=camp_super application_name=$1" \
        <"$SERVERS/$1.in" >"$SERVERS/$1.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    exec {SESSIONS[$1]}>"$SERVERS/$1.in"
    until_it has_backend "$1"
}

begin_known_sessions() {
    local name
    for name in idle holder waiter failed sleeper copier leader; do open_session "$name"; done
    say holder 'begin; lock table locked;'
    until_it is_doing holder 'idle in transaction'
    say waiter 'select * from locked;'
    say failed 'begin; select 1/0;'
    say sleeper 'select pg_sleep(100);'
    say copier 'copy copied from stdin;'
    say leader 'select sum(burn(a)) from large;'
    until_it eval '[ "$(backend_of leader | wc -l)" = 3 ]'
}

# "PID NS": the backend's, and for how long there was a client.
begin_and_end_briefly() {
    local i pid before
    for i in 1 2 3; do
        before=$(date +%s%N)
        pid=$(query_postgres 'select pg_backend_pid(), pg_sleep(0.05)')
        echo "${pid%%|*} $(($(date +%s%N) - before))"
    done >"$SERVERS/brief"
}

is_doing() {
    query_postgres "select state from pg_stat_activity where application_name = '$1'" | grep -qx "$2"
}

begin_burners() {
    local i
    for i in $(seq $BURNERS); do
        open_session "burner$i"
        taskset -cp "$(last_cpu)" "$(backend_of "burner$i")" >/dev/null
        say "burner$i" 'do $$ begin loop end loop; end $$;'
    done
}

last_cpu() {
    taskset -cp $$ | sed 's/.*[^0-9]//'
}

# What the scheduler counted of them stands still once they are idle.
end_burners() {
    query_postgres "select pg_cancel_backend(pid) from pg_stat_activity
        where application_name ~ '^(burner|leader)'" >/dev/null
    until_it is_doing "burner$BURNERS" idle
    sleep 0.2
    count_by_scheduler burner >"$SERVERS/burner.scheduler"
}

# On two CPUs, however many there are. A client that is stopped leaves its sessions idle.
run_pgbench() {
    taskset -acp "$(first_cpus 2)" "$PG_PID" >/dev/null
    taskset -c "$(first_cpus 2)" "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -n -c 8 -T 60 \
        postgres >"$SERVERS/pgbench.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    phase_begins pgbench
    sleep 3
    phase_ends pgbench
    kill -STOP $!
    sleep 0.3
    count_by_scheduler pgbench >"$SERVERS/pgbench.scheduler"
    stolen_ns >"$SERVERS/stolen.after"
    more_ticks bpf 2 # and all others, which began before it ended
}

first_cpus() {
    taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
        while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | head -"$1" | paste -sd,
}

stolen_ns() {
    awk -v unit="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", $9 * 1e9 / unit }' /proc/stat
}

# "PID CPU_NS RUN_QUEUE_NS" of each backend of this application.
count_by_scheduler() {
    local pid
    for pid in $(query_postgres "select pid from pg_stat_activity where application_name ~ '^$1'"); do
        echo "$pid $(cut -d' ' -f1,2 "/proc/$pid/schedstat")"
    done
}

# ---------------------------------------------------------------------------- questions --

# mostly RECORDING APPLICATION COLUMN...: 95 % of its time.
mostly() {
    local recording=$1 application=$2
    shift 2
    during known "$recording" "$application" \
        "sum($(printf '%s + ' "$@")0) >= 0.95 * sum(elapsed_ns) and sum(elapsed_ns) > 0"
}

# as_the_scheduler RECORDING APPLICATION: CPU time and run queue of each backend, to 1 % of its time.
# What a hypervisor takes from who runs is CPU time to a clock, and not to the scheduler.
as_the_scheduler() {
    local stolen=$(($(cat "$SERVERS/stolen.after") - $(cat "$SERVERS/stolen.before")))
    holds "$1" "with counted(id, cpu, queue) as (values
            $(awk '{ print sep "(" $1 "," $2 "," $3 ")"; sep = "," }' "$SERVERS/$2.scheduler")),
        seen as (select id, sum(cpu_ns) as cpu_ns, sum(run_queue_ns) as queue_ns,
                sum(elapsed_ns - idle_ns) as busy_ns from postgres_every join entity using (entity)
            group by id)
        select count(*) = $(wc -l <"$SERVERS/$2.scheduler")
            and max(abs(cpu - cpu_ns) - 0.01 * busy_ns) <= $stolen
            and max(abs(queue - queue_ns) - 0.01 * busy_ns) <= $stolen
            and min(cpu_ns) > 0 from counted join seen using (id)"
}

# ------------------------------------------------------------------------------- tests --

@test "laws: every tier says which it is, and which of its times are measured" {
    for each in bpf=bpf memory=schedstat+memory gated=schedstat+SQL sql=SQL; do
        holds "${each%=*}" "select value = '${each#*=}' from camp where key = 'tier'"
    done
    holds bpf "select min(provenance) = 'measured' from column_info where kind = 'state'"
    for each in memory gated; do
        holds $each "select group_concat(provenance) = 'measured,measured,scaled,scaled,scaled'
            from (select * from column_info where kind = 'state' order by position)"
    done
    holds sql "select max(provenance) = 'sampled' and min(provenance) = 'sampled' from column_info"
}

@test "laws: measured states add up to the time of each session, without a rest" {
    holds bpf 'select count(*) > 100 and min(unaccounted_ns) = 0 and max(unaccounted_ns) = 0
        from postgres_every'
    holds bpf 'select sum(wait_unknown_event_ns) <= 0.001 * sum(elapsed_ns) from postgres_every'
    holds own 'select count(*) > 100 and min(unaccounted_ns) = 0 and max(unaccounted_ns) = 0
        from postgres_every'
}

# Who was not seen asleep in an interval has its sleep in it unaccounted: of five looks that is often.
@test "laws: what is scaled adds up, and what samples alone say stands beside it" {
    during pgbench memory pgbench 'sum(abs(unaccounted_ns)) <= 0.01 * sum(elapsed_ns)'
    during pgbench gated pgbench 'sum(abs(unaccounted_ns)) <= 0.15 * sum(elapsed_ns)'
    for tier in memory gated; do
        holds $tier 'select min(unaccounted_ns + cpu_ns + run_queue_ns) >= 0 from postgres_every'
        during pgbench $tier pgbench 'sum(sampled_asleep_ns)
            between 0.5 * sum(elapsed_ns - cpu_ns - run_queue_ns) and sum(elapsed_ns)'
        during known $tier waiter 'sum(sampled_asleep_ns) >= 0.95 * sum(elapsed_ns)'
    done
}

# Between a look at its event and one at its state a session falls asleep: 3 to 5 % of the time.
@test "laws: pgbench: nobody sleeps without an event, also when it is only looked at" {
    for tier in bpf memory; do
        during pgbench $tier pgbench 'sum(wait_without_event_ns) <= 0.01 * sum(elapsed_ns)'
    done
}

@test "laws: what a session is made of adds up to its state" {
    for state in contention wait idle; do
        columns=$(ask bpf "select group_concat(column_name, ' + ') from column_info
            where kind = 'counter' and name glob '${state}_*'")
        for tier in bpf memory gated sql; do
            holds $tier "select max(abs(${state}_ns - ($columns))) = 0 from postgres_every"
        done
    done
}

@test "laws: who waits for a lock is in contention, by every tier" {
    for tier in bpf memory gated sql; do mostly $tier waiter contention_table_lock_ns; done
}

@test "laws: who waits for its client is idle, in a transaction that is marked, in a COPY it waits" {
    for tier in bpf memory gated sql; do
        mostly $tier idle idle_client_ns
        mostly $tier holder idle_in_transaction_ns
        mostly $tier failed idle_in_transaction_ns
        mostly $tier copier wait_client_of_statement_ns
        mostly $tier sleeper idle_asked_for_ns
    done
}

@test "laws: a session that waits has no unaccounted time, also when it is only looked at" {
    for tier in memory gated sql; do
        for who in idle holder waiter sleeper copier; do
            during known $tier $who 'sum(abs(unaccounted_ns)) <= 0.01 * sum(elapsed_ns)'
        done
    done
}

@test "laws: of three loops on one CPU each waits for it two thirds of the time" {
    for i in $(seq $BURNERS); do
        mostly bpf "burner$i" cpu_ns run_queue_ns
        during known bpf "burner$i" 'sum(told_cpu_ns) >= 0.95 * sum(elapsed_ns)'
    done
    # Others on that CPU make it more; that it is no more than that, the scheduler knows.
    holds bpf "select sum(run_queue_ns) >= 0.66 * sum(cpu_ns + run_queue_ns) from postgres_every
        join entity using (entity) where application glob 'burner*'"
    for tier in bpf memory gated; do as_the_scheduler $tier burner; done
}

@test "laws: parallel workers are linked to their leader, and run as it does" {
    leader=$(ask bpf "select id from entity where application = 'leader' and parent = 0")
    for tier in bpf memory gated sql; do
        holds $tier "select count(*) = 2 and min(user || database) = 'camp_superpostgres'
            from entity where parent = $leader and application = 'leader'"
    done
    mostly bpf leader cpu_ns run_queue_ns # all three of them
}

@test "laws: a connection of 50 ms is booked, though two looks are 100 ms apart" {
    while read -r pid ns; do
        holds bpf "select count(*) > 0 and sum(elapsed_ns) between 50000000 and $ns
            and max(flags & 1) = 1 and max(flags & 2) = 2 and sum(idle_asked_for_ns) >= 49900000
            from postgres_every join entity using (entity) where id = $pid"
    done <"$SERVERS/brief"
}

@test "laws: pgbench: CPU time and run queue are the scheduler's, to 1 %" {
    for tier in bpf memory gated; do as_the_scheduler $tier pgbench; done
}

@test "laws: pgbench: looks alone call the run queue idle, or waiting" {
    during pgbench bpf pgbench 'sum(run_queue_ns) >= 0.1 * sum(elapsed_ns)' ||
        skip 'two CPUs are enough for eight sessions here'
    during pgbench bpf pgbench 'sum(told_run_queue_ns) = 0 and sum(told_idle_ns) > sum(idle_ns)'
    during pgbench bpf pgbench 'sum(told_contention_ns + told_wait_ns + told_idle_ns)
        > sum(contention_ns + wait_ns + idle_ns) + 0.5 * sum(run_queue_ns)'
    during pgbench sql pgbench 'sum(run_queue_ns) = 0'
}

# Who was woken keeps its wait event until it has a CPU, so that looks see each wait as long as it is,
# or longer; four standard deviations of so many looks, ten a second at each session, may be missing.
@test "laws: pgbench: no state is longer than the database says" {
    for state in contention wait idle; do
        during pgbench bpf pgbench "sum(told_${state}_ns) >= sum(${state}_ns)
            - 4 * sqrt(1.0 * sum(${state}_ns) * (sum(elapsed_ns) - sum(${state}_ns)) * 1e8 / sum(elapsed_ns))"
    done
    during pgbench bpf pgbench "sum(told_cpu_ns) <= sum(cpu_ns + run_queue_ns)
        + 4 * sqrt(1.0 * sum(cpu_ns + run_queue_ns) * sum(elapsed_ns - cpu_ns - run_queue_ns) * 1e8
            / sum(elapsed_ns))"
}

@test "laws: labels are user, database, application, client and the query's number" {
    holds bpf "select count(*) = 1 and min(user || database || client) = 'camp_superpostgreslocal'
        and min(cast(query as integer)) <> 0 from entity where application = 'sleeper'"
    holds bpf "select count(*) = 0 from label where value like '%locked%'"
    holds own "select query = 'select * from locked;' from entity where application = 'waiter'"
}

@test "laws: --group adds up what has the same label" {
    during known grouped leader 'min(count) = 3 and max(count) = 3'
    mostly grouped waiter contention_table_lock_ns
}

@test "laws: --rules with --detail makes the columns of that file the states" {
    holds own "select group_concat(column_name) =
            'cpu_ns,run_queue_ns,contention_theirs_ns,idle_mine_ns,idle_rest_ns'
        from (select * from column_info where kind = 'state' order by position)"
    mostly own waiter contention_theirs_ns
    mostly own sleeper idle_mine_ns
    mostly own idle idle_rest_ns
}

@test "laws: the server's own processes are there with --background, and not without" {
    holds own "select count(*) = 1 from entity where name = 'checkpointer'"
    holds bpf "select count(*) = 0 from entity where name in ('checkpointer', 'walwriter',
        'background_writer', 'autovacuum_launcher', 'logical_replication_launcher')"
}
