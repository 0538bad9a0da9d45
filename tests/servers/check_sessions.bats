#!/usr/bin/env bats
# bats file_tags=law
# camp check --from postgres: how wrong a database is about its own sessions.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "${CAMP%/src/camp}/tests/servers/watch_postgres" ] || skip 'built without libpq'
    servers_begin
    export SERVERS
    start_postgres
    export PG_FOLDER PG
}

teardown_file() { servers_end; }
teardown() { end_sessions; }

# ask PROGRAM ARGUMENT...: camp check as JSON, which goes on in Python: `all` objects, the last is `t`,
# and `states` of it by their names.
ask() {
    local program=$1
    shift
    "$CAMP" check --format json "$@" >"$SERVERS/check.json"
    python3 -c "
import json
all = [json.loads(line) for line in open('$SERVERS/check.json')]
t = all[-1]
states = {row['state']: row for row in t['states']}
$program" || { cat "$SERVERS/check.json"; return 1; }
}

@test "three that share a CPU are all on one to the database, and a third of the time in fact" {
    local i
    for i in 1 2 3; do
        start_session "burner$i" 'do $$ begin loop end loop; end $$'
        taskset -cp 0 "$(backend_of "burner$i")" >/dev/null
    done
    run "$CAMP" check --from "postgres:$PG" --count 1 --interval 200ms
    [[ $output != *"nothing to compare" ]] || skip "nothing can be measured here: $output"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *"  tier "*" sessions, "*" session-seconds" ]]
    [[ ${lines[1]} == 'state        measured s  meas. %     told s  told %   points   error %  RMS ms/s' ]]
    ask '
assert t["schema"] == "camp.check.sessions/1" and t["intervals"] == 2 and len(all) == 3, t
assert list(states) == ["cpu", "run_queue", "contention", "wait", "idle", "unaccounted"]
assert t["sessions"] == 3, t
cpu, queue = states["cpu"], states["run_queue"]
assert cpu["told_percent"] > 85, cpu
assert 15 < cpu["measured_percent"] < 45, cpu
assert 50 < queue["measured_percent"] < 85 and queue["told_percent"] == 0, queue
assert abs(cpu["error_points"] - (cpu["told_percent"] - cpu["measured_percent"])) < 0.02, cpu
assert cpu["rms_ms_per_s"] > 400, cpu
for column in "measured_percent", "told_percent":
    total = sum(row[column] for row in t["states"])
    assert abs(total - 100) < 0.1, (column, total)
' --from "postgres:$PG" --count 2 --interval 600ms
}

@test "a recording of sessions is checked as they were" {
    start_pgbench 4 60
    "$CAMP" record --from "postgres:$PG" --output "$SERVERS/run.camp" --count 3 --interval 300ms
    ask '
assert t["intervals"] == 3 and len(all) == 4, t
for column in "measured_s", "told_s":
    for state in range(6):
        parts = sum(one["states"][state][column] for one in all[:3])
        assert abs(parts - t["states"][state][column]) < 0.005, (column, state)
' --from "$SERVERS/run.camp"
    ask 'assert len(all) == 1 and t["intervals"] is None, t' --from "$SERVERS/run.camp" --end +300ms
    run -0 "$CAMP" check --from "$SERVERS/run.camp" --format csv
    [ "${lines[0]}" = "time,interval_s,source,tier,sessions,session_s,intervals,state,measured_s,measured_percent,told_s,told_percent,error_points,error_percent,rms_ms_per_s" ]
    [ "${#lines[@]}" = 25 ]
    run -2 --separate-stderr "$CAMP" check --from "$SERVERS/run.camp" --pid 1
    [ "$stderr" = "camp check: --pid is of processes: it does not go with database sessions" ]
}

@test "who may see no session is told so, once, and by the status" {
    start_session sleeper 'select pg_sleep(60)'
    run -4 --separate-stderr "$CAMP" check --from "postgres:$PG user=stranger" --count 2 --interval 200ms
    [[ $stderr == "camp check: nothing could be compared: "*" hidden from this role: grant pg_monitor to it" ]]
    [[ $output == *"No session: nothing to compare."* && $output != *contention* ]]
    run -0 "$CAMP" top --from "postgres:$PG user=stranger" --count 1 --interval 200ms
    [ "$(grep -c pg_monitor <<<"$output")" = 1 ]
    [[ $output == *"not in these numbers: "*"sessions unseen"* ]]
}

@test "where only the database is asked there is nothing to check" {
    run -2 --separate-stderr "$CAMP" check --from "postgres:$PG" --tier sql --count 1
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"nothing to compare" ]]
}

@test "camp top shows sessions with their labels, added up by one, and sorted" {
    start_session burner 'do $$ begin loop end loop; end $$'
    start_session sleeper 'select pg_sleep(60)'
    run -0 "$CAMP" top --from "postgres:$PG" --count 1 --interval 300ms
    [[ ${lines[1]} =~ ^name\ +pid\ +application\ +CPU%\ +runq%\ +cont%\ +wait%\ +idle%\ +un% ]]
    [[ ${lines[2]} == *" $(backend_of burner) "* && ${lines[3]} == *" $(backend_of sleeper) "* ]]
    [[ $output == *"2 sessions: "*" CPU"*" idle"* ]]
    "$CAMP" top --from "postgres:$PG" --count 1 --interval 300ms --group application --sort name \
        --format json >"$SERVERS/top.json"
    python3 -c "
import json
t = json.load(open('$SERVERS/top.json'))
assert t['group'] == 'application' and t['kind'] == 'sessions', t
assert [row['name'] for row in t['entities']] == ['burner', 'sleeper'], t
labels = [row['labels'] for row in t['entities']]
assert [of['application'] for of in labels] == ['burner', 'sleeper'], labels
assert all(of['user'] is None and of['query'] is None for of in labels), labels
"
}
