#!/usr/bin/env bats
# Throttled and frozen threads: camp's times beside those of the cgroup, or of the thread's own clocks.

bats_require_minimum_version 1.5.0

setup() {
    run "$CAMP" time --no-syscalls --output "$BATS_TEST_TMPDIR/probe" -- true
    if [ "$status" -eq 4 ] || [[ $output == *"without microstates"* ]]; then
        skip "$output"
    fi
}

# compare CASES: prints the table of these cases, and fails if a row is wrong.
compare() {
    local status=0
    python3 "$BATS_TEST_DIRNAME/limits.py" "$1" >"$BATS_TEST_TMPDIR/table" || status=$?
    cat "$BATS_TEST_TMPDIR/table"
    if [ "$status" -eq 77 ]; then skip "$(cat "$BATS_TEST_TMPDIR/table")"; fi
    return "$status"
}

# Skips the test if the kernel has no clock of the throttled time of groups.
need_clock() {
    "$CAMP" doctor --format json | python3 -c '
import json, sys
sys.exit(not any(e["present"] for e in json.load(sys.stdin)["events"] if e["name"] == "throttled clock"))' ||
        skip "this kernel has no clock of throttled time (Linux 6.6)"
}

# bats test_tags=law
@test "a thread is in state throttled for as long as its cgroup is throttled" {
    need_clock
    compare quota
}

# bats test_tags=law
@test "two threads on one CPU are in state throttled while their cgroup is throttled" {
    need_clock
    compare threads
}

# bats test_tags=law
@test "a SCHED_DEADLINE thread is in state throttled after its CPU budget is used up" {
    compare deadline
}

# bats test_tags=law
@test "a real-time thread is in state throttled after the budget of its cgroup is used up" {
    compare real-time
}

# bats test_tags=law
@test "a thread in a frozen cgroup is in state stopped" {
    compare freeze
}

# bats test_tags=law
@test "a killed process that waits for its child is in state other sleep" {
    compare dying
}
