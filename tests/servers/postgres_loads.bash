# shellcheck shell=bash
# The loads of postgres_laws.bats on a PostgreSQL server, the recordings, and the scheduler's counts of the loads.

make_tables() {
    query_postgres 'create table locked(a int); create table copied(a int);
        create table large as select generate_series(1, 20000) a;
        alter table large set (parallel_workers = 2); analyze large;
        create function burn(int) returns int parallel safe language plpgsql
            as $$begin for i in 1..1000000000 loop end loop; return 0; end$$' >/dev/null
    "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -i -q postgres >"$SERVERS/init.log" 2>&1
}

# Only the first recording connects as the role camp, because that role may have only three connections. The
# recordings start at the same time, because each one takes a second to start.
begin_recordings() {
    local super="postgres:host=$PG_FOLDER dbname=postgres user=camp_super" name
    printf '%s\n' 'idle mine class=Timeout event=PgSleep' 'contention theirs class=Lock' \
        'idle rest class=.*' >"$SERVERS/own.rules"
    RECORDINGS=()
    record bpf --from "postgres:$PG"
    record memory --from "$super" --tier schedstat+memory
    record gated --from "$super" --tier schedstat+SQL
    record sql --from "$super" --tier SQL
    record own --from "$super" --rules "$SERVERS/own.rules" --detail --background
    record grouped --from "$super" --group application
    for name in bpf memory gated sql own grouped; do has_begun "$name"; done
}

record() {
    record_at_once "$@" --interval 500ms
    RECORDINGS+=("$1 $RECORD_PID")
}

begin_known_sessions() {
    local name
    for name in "${QUIET[@]}" leader; do open_session "$name"; done
    say holder 'begin; lock table locked;'
    until_it is_doing holder 'idle in transaction'
    say waiter 'select * from locked;'
    say failed 'begin; select 1/0;'
    say sleeper 'select pg_sleep(1000);'
    say copier 'copy copied from stdin;'
    say leader 'select sum(burn(a)) from large;'
    until_it is_doing failed 'idle in transaction (aborted)'
    until_it eval '[ "$(backend_of leader | wc -l)" = 3 ]'
    # shellcheck disable=SC2046 # pids
    until_still $(backends_of "$(quiet_names)")
}

quiet_names() {
    local IFS='|'
    echo "(${QUIET[*]})"
}

# Opens three short sessions one after another. For each session, saves the pid of its backend and the time until the
# backend was gone, in ns. On a busy machine it may wait for a CPU after its client has ended.
begin_and_end_briefly() {
    local i pid before
    for i in 1 2 3; do
        before=$(date +%s%N)
        pid=$(query_postgres 'select pg_backend_pid(), pg_sleep(0.05)')
        pid=${pid%%|*}
        until_it test ! -e "/proc/$pid"
        echo "$pid $(($(date +%s%N) - before))"
    done >"$SERVERS/brief"
}

is_doing() {
    query_postgres "select state from pg_stat_activity where application_name = '$1'" | grep -qxF "$2"
}

open_burners() {
    local i
    for i in $(seq $BURNERS); do
        open_session "burner$i"
        taskset -cp "$(last_cpu)" "$(backend_of "burner$i")" >/dev/null
    done
}

begin_burners() {
    local i
    for i in $(seq $BURNERS); do say "burner$i" 'do $$ begin loop end loop; end $$;'; done
    for i in $(seq $BURNERS); do until_it is_doing "burner$i" active; done
    count_leader before
}

end_burners() {
    local i
    count_leader after
    query_postgres "select pg_cancel_backend(pid) from pg_stat_activity
        where application_name ~ '^burner' or application_name = 'leader' and leader_pid is null" >/dev/null
    for i in $(seq $BURNERS); do until_it is_doing "burner$i" idle; done
    count_by_scheduler burner after
}

# Starts pgbench and its backends on two CPUs of the machine. Then stops pgbench, so that its sessions sleep.
open_pgbench() {
    local pid
    taskset -c "$(first_cpus 2)" "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -n -c 8 -T 600 \
        postgres >"$SERVERS/pgbench.log" 2>&1 3>&- &
    PGBENCH_PID=$!
    SERVER_PIDS+=("$PGBENCH_PID")
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    for pid in $(backend_of pgbench); do taskset -cp "$(first_cpus 2)" "$pid" >/dev/null; done
    kill -STOP "$PGBENCH_PID"
}

run_pgbench() {
    kill -CONT "$PGBENCH_PID"
    phase_begins pgbench
    all_go_on 7
    phase_ends pgbench
    kill -STOP "$PGBENCH_PID"
    count_by_scheduler pgbench after
}

first_cpus() {
    taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
        while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | head -"$1" | paste -sd,
}

# all_go_on N waits until each recording has N more intervals.
all_go_on() { more_ticks_of_each "$1" bpf memory gated sql own grouped; }

# Prints the pids of the backends whose whole application name matches the pattern.
backends_of() {
    query_postgres "select pid from pg_stat_activity where application_name ~ '^($1)\$'"
}

# count_by_scheduler NAME WHEN waits until the backends NAME[0-9]* sleep, and saves the scheduler's counts of them.
count_by_scheduler() {
    local pids
    pids=$(backends_of "$1[0-9]*")
    # shellcheck disable=SC2086 # pids
    until_still $pids
    # shellcheck disable=SC2086
    count_tasks $pids >"$SERVERS/$1.$2"
}

# count_quiet WHEN saves the counts of the sessions that sleep all the time.
count_quiet() {
    local name
    for name in "${QUIET[@]}"; do count_by_scheduler "$name" "$1"; done
}

# count_leader WHEN saves the counts of the leader, its workers and the loops. The loops and workers run meanwhile, so
# only their number of sleeps is exact.
count_leader() {
    local name
    for name in leader $(seq -f 'burner%g' $BURNERS); do
        # shellcheck disable=SC2046 # pids
        count_tasks $(backends_of "$name") >"$SERVERS/$name.running.$1"
    done
}

# clients NAME COUNT SQL [OPTION...]: COUNT clients of the server execute SQL again and again.
clients() {
    echo "$3" >"$SERVERS/$1.sql"
    PGAPPNAME=$1 "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -n -c "$2" -j 2 -T 40 -f "$SERVERS/$1.sql" \
        "${@:4}" postgres >"$SERVERS/$1.log" 2>&1 &
    SERVER_PIDS+=("$!")
}
