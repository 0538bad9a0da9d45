#!/usr/bin/env bats
# bats file_tags=law
# camp why beside the kernel's own trace of the same seconds.

bats_require_minimum_version 1.5.0
load microstates

@test "the time in the run queue, and the threads that ran meanwhile, are those of perf's trace, to 1 %" {
    [ "$(id -u)" -eq 0 ] || skip "needs root: only root traces all CPUs"
    find_refusal why --count 1 --interval 50ms
    need_states
    run_law "$BATS_TEST_DIRNAME/why_witness.py" "$BATS_TEST_TMPDIR"
}
