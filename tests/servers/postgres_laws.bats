#!/usr/bin/env bats
# bats file_tags=law
# Recordings of a PostgreSQL server, by each measurement tier, of sessions that do one known thing and of pgbench.
# All tiers record the same loads, once for all tests. Each session sleeps before and after its load, so the
# scheduler's counts of its backend and the recording cover the same time.
#
# No test has a tolerance of its own. It compares a recording with the scheduler's counts of the same backends
# (witnesses.bash), with another recording, or with arithmetic. The share p of n samples may be wrong by four
# standard errors, sqrt(p (1 - p) / n).

bats_require_minimum_version 1.5.0
load lib
load recording
load witnesses
load postgres_loads

BURNERS=3 # number of loops on one CPU
# shellcheck disable=SC2034 # used by postgres_loads.bash
QUIET=(idle holder waiter failed sleeper copier)

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    # A backend that waits for a lock wakes up after deadlock_timeout. With 1 h it sleeps until it has the lock.
    start_postgres min_parallel_table_scan_size=0 parallel_setup_cost=0 parallel_tuple_cost=0 \
        compute_query_id=on deadlock_timeout=1h
    make_tables
    begin_recordings
    begin_known_sessions
    open_burners
    open_pgbench
    count_quiet before
    count_by_scheduler burner before
    count_by_scheduler pgbench before
    taken_ns >"$SERVERS/taken.before"
    # Two intervals later, the current interval has started after the first counts.
    all_go_on 2
    phase_begins loads
    all_go_on 1
    count_by_scheduler burner ready
    count_by_scheduler pgbench ready
    begin_burners
    phase_begins known
    begin_and_end_briefly
    all_go_on 4
    phase_ends known
    is_doing leader active || { cat "$SERVERS/leader.log" >&2; return 1; }
    count_quiet after
    end_burners
    run_pgbench
    read_switch_cost
    echo "$SWITCH_NS" >"$SERVERS/switch_ns"
    taken_since "$(cat "$SERVERS/taken.before")" >"$SERVERS/taken"
    all_go_on 4
    end_recordings
    count_by_scheduler burner later
    count_by_scheduler pgbench later
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# always RECORDING APPLICATION COLUMN checks that a sleeping session has all its time in this column, except the
# time that the scheduler counted on a CPU or in the run queue. Each sample rounds scaled times down to whole
# nanoseconds.
always() {
    local awake cut=0
    awake=$(($(since "$SERVERS/$2.before" "$SERVERS/$2.after" 2) + $(since "$SERVERS/$2.before" "$SERVERS/$2.after" 3)))
    case $1 in
    memory | gated) cut='2 * (sum(samples) + count(*))' ;;
    bpf | own | grouped) # These recordings read a clock; see as_the_scheduler.
        cut=$(($(cat "$SERVERS/taken") + $(cat "$SERVERS/switch_ns") * $(since "$SERVERS/$2.before" "$SERVERS/$2.after" 4)))
        ;;
    esac
    during known "$1" "$2" "sum(elapsed_ns) > 0 and sum($3) >= sum(elapsed_ns) - $awake - $cut"
}

# Skips the test if the recording "bpf" is not on tier bpf. It has the best available tier, which is bpf for root.
needs_bpf() {
    [ "$(id -u)" = 0 ] || [ "$(ask bpf "select value from camp where key = 'tier'")" = bpf ] ||
        skip 'the laws of tier bpf need CAP_BPF and CAP_PERFMON; those of the other tiers hold'
}

# never_sleeps APPLICATION checks that the session is on a CPU or in the run queue all the time. It skips the test if
# the kernel counted a sleep, such as a wait for a page of memory.
never_sleeps() {
    local slept
    slept=$(since "$SERVERS/$1.running.before" "$SERVERS/$1.running.after" 5)
    [ "$slept" = 0 ] || skip "$1 had to sleep $slept times here"
    during known bpf "$1" 'sum(elapsed_ns) > 0 and sum(cpu_ns + run_queue_ns) = sum(elapsed_ns)'
}

# as_the_scheduler RECORDING APPLICATION checks that the recorded CPU and run-queue times of each backend are the
# scheduler's counts. They must be equal if the tier reads the same counters. Tier bpf reads a clock, so its times may
# differ by a context switch each time the backend runs. Its CPU time also includes interrupts and stolen time.
as_the_scheduler() {
    local taken=0 switch=0
    if [ "$1" = bpf ]; then
        taken=$(cat "$SERVERS/taken")
        switch=$(cat "$SERVERS/switch_ns")
    fi
    holds_with_counts "$1" "$2" "
        select count(*) = $(wc -l <"$SERVERS/$2.after") and min(cpu_ns) > 0
            and min(cpu_ns - cpu + $taken + $switch * runs) >= 0
            and max(cpu_ns - most_cpu - $taken - $switch * runs) <= 0
            and min(queue_ns - queue + $taken + $switch * runs) >= 0
            and max(queue_ns - most_queue - $taken - $switch * runs) <= 0
        from counted join seen using (id)"
}

# An idle backend wakes up once to write its statistics. So backends are counted at four times: before the first
# interval, at the start of the load, at the end of the load, and after the last interval.
counts_of() {
    awk '{ what = FILENAME; sub(/.*[.]/, "", what); cpu[what, $1] = $2; queue[what, $1] = $3; runs[what, $1] = $4 }
        what == "after" { pids[$1] }
        END { for (pid in pids) { printf "%s(%d, %.0f, %.0f, %.0f, %.0f, %d)", sep, pid,
                cpu["after", pid] - cpu["ready", pid], queue["after", pid] - queue["ready", pid],
                cpu["later", pid] - cpu["before", pid], queue["later", pid] - queue["before", pid],
                runs["later", pid] - runs["before", pid]; sep = "," } }' \
        "$SERVERS/$1.before" "$SERVERS/$1.ready" "$SERVERS/$1.after" "$SERVERS/$1.later"
}

# Checks an SQL condition. It may use the table `counted`, with the scheduler's counts, and the table `seen`, with the
# sums of the recorded intervals that started after the first count. A failure prints both tables.
holds_with_counts() {
    local with
    with="with counted(id, cpu, queue, most_cpu, most_queue, runs) as (values $(counts_of "$2")),
        seen as (select id, sum(cpu_ns) as cpu_ns, sum(run_queue_ns) as queue_ns
            from postgres_every join entity using (entity) join tick using (tick)
            where wall_clock_ns - (end_ns - start_ns) > $(cat "$SERVERS/loads.begin") group by id)"
    holds "$1" "$with $3" || {
        ask "$1" "$with select * from counted left join seen using (id)" >&2
        return 1
    }
}

@test "postgres times: a recording states its tier and the provenance of its times" {
    for each in memory=schedstat+memory gated=schedstat+SQL sql=SQL; do
        holds "${each%=*}" "select value = '${each#*=}' from camp where key = 'tier'"
    done
    for each in memory gated; do
        holds $each "select group_concat(provenance) = 'measured,measured,scaled,scaled,scaled'
            from (select * from column_info where kind = 'state' order by position)"
    done
    holds sql "select max(provenance) = 'sampled' and min(provenance) = 'sampled' from column_info"
    needs_bpf
    holds bpf "select value = 'bpf' from camp where key = 'tier'"
    holds bpf "select min(provenance) = 'measured' from column_info where kind = 'state'"
}

@test "postgres times: measured states add up exactly to the time of each session" {
    needs_bpf
    holds bpf 'select count(*) > 100 and min(unaccounted_ns) = 0 and max(unaccounted_ns) = 0
        from postgres_every'
    holds own 'select count(*) > 100 and min(unaccounted_ns) = 0 and max(unaccounted_ns) = 0
        from postgres_every'
}

# Tier bpf measures events by their numbers, and learns the name of a number from a sample by SQL. An event that is
# in no sample has no name.
@test "postgres times: unnamed wait events take no more time than samples can miss" {
    during pgbench bpf pgbench "sum(wait_unknown_event_ns) <= sum(elapsed_ns)
        * $(by_chance 0 "$(value_during pgbench sql pgbench 'sum(samples)')")"
}

# In an interval without a sample of sleep, the sleep of a session is unaccounted. All eight sessions are sampled
# at the same moments, so the number of independent samples is the number of one session's samples.
@test "postgres times: scaled states add up to the elapsed time if a sample found sleep" {
    local asleep='1.0 * sum(elapsed_ns - cpu_ns - run_queue_ns) / sum(elapsed_ns)'
    for tier in memory gated; do
        during pgbench $tier pgbench 'sum(sampled_asleep_ns > 0) > 0
            and max(iif(sampled_asleep_ns > 0, abs(unaccounted_ns) - 2 * (samples + 1), 0)) <= 0'
        holds $tier 'select min(unaccounted_ns + cpu_ns + run_queue_ns) >= 0 from postgres_every'
        during known $tier waiter 'sum(sampled_asleep_ns) = sum(elapsed_ns)'
        during pgbench $tier pgbench "sum(sampled_asleep_ns) <= sum(elapsed_ns)
            and 1.0 * sum(sampled_asleep_ns) / sum(elapsed_ns) >= $asleep - $(by_chance "$asleep" 'sum(samples) / 8.0')"
    done
}

# A sample reads the wait event in memory before the state of the task. If the session falls asleep in between, the
# sample shows a sleep without an event. Tier bpf reads the event and the state at the same moment.
@test "postgres times: tier bpf leaves no more sleep without a wait event than sampling does" {
    local share='1.0 * sum(wait_without_event_ns) / sum(elapsed_ns)'
    share=$(value_during pgbench memory pgbench "$share + $(by_chance "$share" 'sum(samples) / 8.0')")
    during pgbench bpf pgbench "sum(wait_without_event_ns) <= $share * sum(elapsed_ns)"
}

@test "postgres times: the detail columns of a state, such as idle_client, add up to that state" {
    for state in contention wait idle; do
        columns=$(ask bpf "select group_concat(column_name, ' + ') from column_info
            where kind = 'counter' and name glob '${state}_*'")
        for tier in bpf memory gated sql; do
            holds $tier "select max(abs(${state}_ns - ($columns))) = 0 from postgres_every"
        done
    done
}

@test "postgres times: a session that waits for a lock is in contention on every tier" {
    for tier in bpf memory gated sql; do always $tier waiter contention_table_lock_ns; done
}

@test "postgres times: a session that waits for its client is idle, except in a COPY" {
    for tier in bpf memory gated sql; do
        always $tier idle idle_client_ns
        always $tier holder idle_in_transaction_ns
        always $tier failed idle_in_transaction_ns
        always $tier copier wait_client_of_statement_ns
        always $tier sleeper idle_asked_for_ns
    done
}

@test "postgres times: a waiting session has no unaccounted time on the tiers that sample" {
    for tier in memory gated sql; do
        for who in idle holder waiter sleeper copier; do
            during known $tier $who 'sum(abs(unaccounted_ns)) <= 2 * (sum(samples) + count(*))'
        done
    done
}

# Only one loop runs at a time, so the CPU times of all loops add up to at most the elapsed time.
@test "postgres times: loops that share one CPU wait in the run queue" {
    for tier in memory gated; do as_the_scheduler $tier burner; done
    needs_bpf
    for i in $(seq $BURNERS); do
        never_sleeps "burner$i"
        during known bpf "burner$i" 'sum(reported_contention_ns + reported_wait_ns + reported_idle_ns) = 0 and sum(reported_cpu_ns) > 0'
    done
    holds bpf "select sum(cpu_ns) <= max(wall_clock_ns) - min(wall_clock_ns - (end_ns - start_ns))
            and sum(run_queue_ns) > 0 $(of_phase known "' or application glob 'burner*")"
    as_the_scheduler bpf burner
}

@test "postgres times: parallel workers are children of the session that leads them" {
    leader=$(ask bpf "select distinct id from entity where application = 'leader' and parent = 0")
    # When a sample first shows the query, user or database of a session, the session gets another entity.
    for tier in bpf memory gated sql; do
        holds $tier "select count(distinct id) = 2 and max(user || ' ' || database) = 'camp_super postgres'
            and sum(user not in ('', 'camp_super')) = 0 and sum(database not in ('', 'postgres')) = 0
            from entity where parent = $leader and application = 'leader'" || {
            ask $tier "select * from entity where application = 'leader'" >&2
            return 1
        }
    done
    needs_bpf
    never_sleeps leader # the leader and its two workers
}

# The session lasts at least the 50 ms of pg_sleep(0.05), and at most until its backend is gone.
@test "postgres times: a connection of 50 ms between two samples is accounted" {
    needs_bpf
    while read -r pid ns; do
        holds bpf "select count(*) > 0 and sum(elapsed_ns) between 50000000 and $ns
            and max(flags & 1) = 1 and max(flags & 2) = 2 and sum(idle_asked_for_ns + run_queue_ns + cpu_ns) >= 50000000
            from postgres_every join entity using (entity) where id = $pid" || {
            ask bpf "select * from postgres_every join entity using (entity) where id = $pid" >&2
            return 1
        }
    done <"$SERVERS/brief"
}

@test "postgres times: CPU and run-queue time of pgbench equal the counts of the scheduler" {
    for tier in bpf memory gated; do as_the_scheduler $tier pgbench; done
}

# In the same samples, the database reports more waits and idle time than the operating system reports sleep. The
# difference is run-queue time.
@test "postgres times: the database reports run-queue time as idle or waiting" {
    holds bpf 'select sum(reported_run_queue_ns) = 0 from postgres_every'
    holds sql 'select sum(run_queue_ns) = 0 from postgres_every'
    during pgbench bpf pgbench 'sum(run_queue_ns) > 0'
    during pgbench gated pgbench 'sum(reported_contention_ns + reported_wait_ns + reported_idle_ns) > sum(sampled_asleep_ns)'
}

# A woken session keeps its wait event until it has a CPU, so the sampled waits are not shorter than the measured
# waits. All eight sessions are sampled at the same moments.
@test "postgres times: the database overstates waits and understates CPU time" {
    local samples state
    samples=$(value_during pgbench sql pgbench 'sum(samples) / 8.0')
    for state in contention wait idle; do
        during pgbench bpf pgbench "1.0 * sum(reported_${state}_ns) / sum(elapsed_ns) >= 1.0 * sum(${state}_ns)
            / sum(elapsed_ns) - $(by_chance "1.0 * sum(${state}_ns) / sum(elapsed_ns)" "$samples")"
    done
    during pgbench bpf pgbench "1.0 * sum(reported_cpu_ns) / sum(elapsed_ns) <= 1.0 * sum(cpu_ns + run_queue_ns)
        / sum(elapsed_ns) + $(by_chance "1.0 * sum(cpu_ns + run_queue_ns) / sum(elapsed_ns)" "$samples")"
}

@test "postgres times: a session has the labels user, database, application, client and last_statement" {
    holds bpf "select count(*) = 1 and min(user || database || client) = 'camp_superpostgreslocal'
        and min(cast(last_statement as integer)) <> 0 from entity where application = 'sleeper'"
    holds bpf "select count(*) = 0 from label where value like '%locked%'"
}

@test "postgres times: --group adds up sessions with the same label" {
    during known grouped leader 'min(count) = 3 and max(count) = 3'
    always grouped waiter contention_table_lock_ns
}

@test "postgres times: --detail makes each column of the rules file a state" {
    holds own "select group_concat(column_name) =
            'cpu_ns,run_queue_ns,contention_theirs_ns,idle_mine_ns,idle_rest_ns'
        from (select * from column_info where kind = 'state' and column_name <> 'throttled_ns' order by position)"
    always own waiter contention_theirs_ns
    always own sleeper idle_mine_ns
    always own idle idle_rest_ns
}

@test "postgres times: processes of the server itself have rows only with --background" {
    holds own "select count(*) = 1 from entity where name = 'checkpointer'"
    holds bpf "select count(*) = 0 from entity where name in ('checkpointer', 'walwriter',
        'background_writer', 'autovacuum_launcher', 'logical_replication_launcher')"
}
