#!/usr/bin/env bats
# camp in a PID namespace of its own: the ids of that namespace, and one row for all threads outside of it.

bats_require_minimum_version 1.5.0

setup() {
    run unshare --pid --fork --mount-proc true
    if [ "$status" -ne 0 ]; then
        skip "no PID namespace can be made: $output"
    fi
    run "$CAMP" top --tier bpf --count 1 --interval 50ms --top 1
    if [ "$status" -eq 4 ] || [[ $output == *"without microstates"* ]]; then
        skip "$output"
    fi
}

teardown() {
    if [ -n "${OUTSIDE:-}" ]; then
        kill "$OUTSIDE"
        wait "$OUTSIDE" || true
    fi
}

inside() {
    unshare --pid --fork --mount-proc --kill-child "$@"
}

# check PROGRAM: runs a Python program that has the JSON output of camp as `it`.
check() {
    python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
'"$1" "$BATS_TEST_TMPDIR/output"
}

# bats test_tags=law
@test "camp time in a PID namespace reports each process with the scheduler's CPU time" {
    inside "$CAMP" time --format json --output "$BATS_TEST_TMPDIR/output" -- \
        sh -c '"$1" load cpu --duration 1s --format json >"$2"; true' sh "$CAMP" "$BATS_TEST_TMPDIR/load"
    check '
load = json.load(open(sys.argv[1].replace("output", "load")))
print(it, load)
by_name = {row["name"]: row for row in it["executables"]}
assert sorted(by_name) == ["camp", "sh"]
assert all(row["processes"] == 1 and row["unaccounted_ns"] == 0 for row in by_name.values())
on_cpu = sum(by_name["camp"].get(state, 0) for state in ("user_ns", "system_ns", "trap_ns", "irq_ns"))
scheduler = by_name["camp"]["cpu_ns"]
assert load["process_ns"] <= scheduler, (load, scheduler) # read before the load exits
# Stolen time is in the states, and not in the clock of the scheduler. The kernel counts it in units of 10 ms.
stolen = it["losses"]["stolen_ns"] + 10e6
assert abs(on_cpu - scheduler) <= scheduler * 0.02 + stolen, (scheduler, on_cpu)
'
}

@test "camp top in a PID namespace shows the process ids of that namespace" {
    inside sh -c '"$1" load cpu --duration 60s >"$3" & child=$!
        "$1" top --json --count 1 --interval 500ms --group thread >"$2"
        "$1" top --json --count 1 --interval 500ms --pid "$child" >"$2.pid"
        echo "$child" >"$2.child"
        kill "$child"' sh "$CAMP" "$BATS_TEST_TMPDIR/output" /dev/null
    check '
child = int(open(sys.argv[1] + ".child").read())
ids = {row["id"]: row for row in it["entities"] if not row["ended"]}
print(child, sorted(map(str, ids)))
assert ids[child]["name"] == "camp" and ids[child]["parent"] == 1
assert 1 in ids and all(number is None or number < 100 for number in ids)
of_pid = json.load(open(sys.argv[1] + ".pid"))["entities"]
assert [row["id"] for row in of_pid] == [child], of_pid
'
}

@test "camp top in a PID namespace shows all threads outside of that namespace as one row" {
    "$CAMP" load cpu --percent 90 --duration 60s >/dev/null 3>&- &
    OUTSIDE=$!
    inside "$CAMP" top --json --count 1 --group process >"$BATS_TEST_TMPDIR/output"
    check '
rows = [row for row in it["entities"] if row["name"] == "outside"]
print(rows)
assert len(rows) == 1 and rows[0]["id"] is None
whole = sum(rows[0]["states"].values())
assert whole == rows[0]["elapsed_ns"] > 0
assert whole == sum(cpu["counters"]["outside_ns"] for cpu in it["cpus"])
'
}

# bats test_tags=law
@test "in a PID namespace, the times of inside and outside threads add up to the busy CPU time" {
    inside "$CAMP" verify --only states-cpus --json >"$BATS_TEST_TMPDIR/output"
    check '
verdicts = {row["row"]: (row["verdict"], row["reason"]) for row in it["rows"]}
print(verdicts)
assert verdicts["states-cpus"][0] == "pass"
'
}

@test "camp top reports that /proc belongs to another PID namespace" {
    run --separate-stderr unshare --pid --fork --kill-child "$CAMP" top --count 1 --interval 100ms
    [ "$status" -eq 0 ]
    [[ $output == *"/proc is of another PID namespace"* ]]
    run --separate-stderr inside "$CAMP" top --count 1 --interval 100ms
    [[ $output != *"/proc is of another PID namespace"* ]]
}
