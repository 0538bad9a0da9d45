#!/usr/bin/env bats
# Throttled and frozen threads: camp's times beside those of the cgroup, or of the thread's own clocks.

bats_require_minimum_version 1.5.0
load microstates

setup() {
    need_microstates
}

# compare CASES: prints the table of these cases, and fails if a row is wrong.
compare() {
    run_law "$BATS_TEST_DIRNAME/limits.py" "$1"
}

# bats test_tags=law
@test "a thread is in state throttled for as long as its cgroup is throttled" {
    need_throttled_clock
    compare quota
}

# bats test_tags=law
@test "two threads on one CPU are in state throttled while their cgroup is throttled" {
    need_throttled_clock
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
