#!/usr/bin/env bats
# bats file_tags=law
# camp check --from postgres: the error of the times that a database reports for its sessions.

bats_require_minimum_version 1.5.0
load lib
load witnesses

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "${CAMP%/src/camp}/tests/servers/watch_postgres" ] || { skip_file 'built without libpq'; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() { is_file_skipped || end_sessions; }

# ask PROGRAM ARGUMENT...: runs camp check with these arguments, and then the Python code PROGRAM on its JSON. In
# PROGRAM, `all` has the JSON objects, `t` is the last object, `states` has the rows of `t` by state, and `witness` has
# the numbers in $SERVERS/witness. Seconds are printed with 3 decimals, shares and points with 2. HALF_MS and
# HALF_POINT are the largest rounding errors.
ask() {
    local program=$1
    shift
    "$CAMP" check --format json "$@" >"$SERVERS/check.json"
    python3 -c "
import json, os, sys
all = [json.loads(line) for line in open(sys.argv[1])]
witness = [int(word) for word in open(sys.argv[2]).read().split()] if os.path.exists(sys.argv[2]) else []
HALF_MS, HALF_POINT = 0.0005, 0.005
t = all[-1]
states = {row['state']: row for row in t['states']}
$program" "$SERVERS/check.json" "$SERVERS/witness" || { cat "$SERVERS/check.json"; return 1; }
}

is_active() {
    [ "$(query_postgres "select state from pg_stat_activity where application_name = '$1'")" = active ]
}

# Prints the CPU time and the number of sleeps of the loops so far, and the time of interrupts and stolen time of all
# CPUs. The CPU time of a task by a clock includes interrupts and stolen time. The CPU time by the scheduler does not.
count_burners() {
    local pids
    pids=$(query_postgres "select pid from pg_stat_activity where application_name ~ '^burner'")
    # shellcheck disable=SC2086 # pids
    count_tasks $pids | awk '{ cpu += $2; slept += $5 } END { printf "%.0f %d ", cpu, slept }'
    taken_ns
}

# Three loops together have at most the time of one CPU, but the database reports all of this time for each loop.
@test "camp check shows that PostgreSQL overstates the CPU time of three loops on one CPU" {
    local i
    for i in 1 2 3; do
        start_session "burner$i" 'do $$ begin loop end loop; end $$'
        taskset -cp "$(last_cpu)" "$(backend_of "burner$i")" >/dev/null
        until_it is_active "burner$i"
    done
    run "$CAMP" check --from "postgres:$PG" --count 1 --interval 200ms
    [[ $output != *"nothing to compare" ]] || skip "nothing can be measured here: $output"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *"  tier "*" sessions, "*" session-seconds" ]]
    [[ ${lines[1]} == 'state        measured s  meas. %  reported s  rep. %   points  error %  RMS ms/s' ]]
    count_burners >"$SERVERS/witness"
    ask '
assert t["schema"] == "camp.check.sessions/1" and t["intervals"] == 2 and len(all) == 3, t
assert list(states) == ["cpu", "run_queue", "contention", "wait", "idle", "unaccounted"]
assert t["sessions"] == 3, t
cpu, queue = states["cpu"], states["run_queue"]
for asleep in "contention", "wait", "idle": # a loop never sleeps
    assert states[asleep]["reported_s"] == 0, states
assert cpu["reported_s"] > 0 and queue["reported_s"] == 0, states
assert cpu["measured_percent"] <= 100 / 3 + HALF_POINT, cpu
assert queue["measured_percent"] >= 200 / 3 - HALF_POINT or states["unaccounted"]["measured_s"] > 0, states
assert abs(cpu["error_points"] - (cpu["reported_percent"] - cpu["measured_percent"])) <= 3 * HALF_POINT, cpu
# The root mean square is at least the mean.
assert cpu["rms_ms_per_s"] >= 10 * abs(cpu["error_points"]) - 10 * HALF_POINT - 0.5, cpu
for column in "measured_percent", "reported_percent":
    total = sum(row[column] for row in t["states"])
    assert abs(total - 100) <= 6 * HALF_POINT + 1e-9, (column, total)
' --from "postgres:$PG" --count 2 --interval 600ms
    # The scheduler's counts were read before and after the interval. Each count is as of the last timer tick.
    count_burners >>"$SERVERS/witness"
    python3 -c '
import json, os, sys
measured = {row["state"]: row["measured_s"] for row in json.loads(open(sys.argv[1]).read().splitlines()[-1])["states"]}
cpu, slept, taken, cpu_after, slept_after, taken_after = map(int, open(sys.argv[2]).read().split())
tick = 1 / os.sysconf("SC_CLK_TCK")
counted = (cpu_after - cpu + taken_after - taken) / 1e9
print(measured, counted)
assert 0 < measured["cpu"] <= counted + 2 * tick + 0.0005, measured
assert slept_after > slept or measured["contention"] + measured["wait"] + measured["idle"] == 0, measured
' "$SERVERS/check.json" "$SERVERS/witness"
    rm "$SERVERS/witness"
}

@test "the total of camp check over recorded sessions is the sum of the recorded intervals" {
    start_pgbench 4 60
    "$CAMP" record --from "postgres:$PG" --output "$SERVERS/run.camp" --count 3 --interval 300ms
    ask '
assert t["intervals"] == 3 and len(all) == 4, t
for column in "measured_s", "reported_s":
    for state in range(6):
        parts = sum(one["states"][state][column] for one in all[:3])
        assert abs(parts - t["states"][state][column]) <= 4 * HALF_MS + 1e-9, (column, state)
' --from "$SERVERS/run.camp"
    ask 'assert len(all) == 1 and t["intervals"] is None, t' --from "$SERVERS/run.camp" --end +300ms
    run -0 "$CAMP" check --from "$SERVERS/run.camp" --format csv
    [ "${lines[0]}" = "time,interval_s,source,tier,sessions,session_s,intervals,state,measured_s,measured_percent,reported_s,reported_percent,error_points,error_percent,rms_ms_per_s" ]
    [ "${#lines[@]}" = 25 ]
    run -2 --separate-stderr "$CAMP" check --from "$SERVERS/run.camp" --pid 1
    [ "$stderr" = "camp check: --pid is of processes: it does not go with database sessions" ]
}

@test "camp check fails with one message if the database role may see no session" {
    start_session sleeper 'select pg_sleep(60)'
    run -4 --separate-stderr "$CAMP" check --from "postgres:$PG user=stranger" --count 2 --interval 200ms
    [[ $stderr == "camp check: nothing could be compared: "*" hidden from this role: grant pg_monitor to it" ]]
    [[ $output == *"No session: nothing to compare."* && $output != *contention* ]]
    # Sessions that end before SQL sees them are hidden, too: BPF measures them, and the server reports nothing of them.
    echo 'select 1;' >"$BATS_TEST_TMPDIR/short.sql"
    "$POSTGRES_BIN/pgbench" -n -C -c 1 -T 4 -f "$BATS_TEST_TMPDIR/short.sql" "$PG" >/dev/null 2>&1 3>&- &
    SERVER_PIDS+=($!)
    run -4 --separate-stderr "$CAMP" check --from "postgres:$PG user=stranger" --count 2 --interval 600ms
    [[ $output == *"No session: nothing to compare."* && $output != *contention* ]]
    run -0 "$CAMP" top --from "postgres:$PG user=stranger" --count 1 --interval 200ms
    [ "$(grep -c pg_monitor <<<"$output")" = 1 ]
    # With BPF, the number also includes context switches that were not seen.
    [[ $output =~ "not in these numbers: "[0-9]+" "("session"|"sessions"|"switches or sessions")" unseen" ]]
}

@test "camp check refuses tier SQL, which has no measured times to compare" {
    run -2 --separate-stderr "$CAMP" check --from "postgres:$PG" --tier sql --count 1
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"nothing to compare" ]]
}

@test "camp top groups database sessions by the label application" {
    start_session burner 'do $$ begin loop end loop; end $$'
    start_session sleeper 'select pg_sleep(60)'
    run -0 "$CAMP" top --from "postgres:$PG" --count 1 --interval 300ms
    [[ ${lines[2]} =~ ^name\ +pid\ +application\ +CPU%\ +runq%\ +(thrt%\ +)?cont%\ +wait%\ +idle%\ +un% ]]
    [[ ${lines[3]} == *" $(backend_of burner) "* && ${lines[4]} == *" $(backend_of sleeper) "* ]]
    [[ $output == *"2 sessions, on average "*" CPU"*" idle"* ]]
    "$CAMP" top --from "postgres:$PG" --count 1 --interval 300ms --group application --sort name \
        --format json >"$SERVERS/top.json"
    python3 -c "
import json, sys
t = json.load(open(sys.argv[1]))
assert t['group'] == 'application' and t['kind'] == 'sessions', t
assert [row['name'] for row in t['entities']] == ['burner', 'sleeper'], t
labels = [row['labels'] for row in t['entities']]
assert [of['application'] for of in labels] == ['burner', 'sleeper'], labels
assert all(of['user'] is None and of['last_statement'] is None for of in labels), labels
" "$SERVERS/top.json"
}

is_in_transaction() {
    [ "$(query_postgres "select state from pg_stat_activity where application_name = '$1'")" = 'idle in transaction' ]
}

@test "camp top shows how long sessions are idle in a transaction" {
    mkfifo "$SERVERS/opener.in"
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=camp_super application_name=opener" \
        <"$SERVERS/opener.in" >/dev/null 2>&1 3>&- &
    SERVER_PIDS+=($!)
    exec {opener}>"$SERVERS/opener.in"
    echo 'begin;' >&"$opener"
    until_it is_in_transaction opener
    start_session sleeper 'select pg_sleep(60)'
    run -0 "$CAMP" top --from "postgres:$PG" --tier SQL --count 1 --interval 300ms --group application --sort name
    exec {opener}>&-
    echo "$output"
    grep -q ' un%  in tx%$' <<<"$output"
    grep -q '^opener .* 100\.0$' <<<"$output"
    grep -q '^sleeper .* 0\.0$' <<<"$output"
}
