#!/usr/bin/env bats
# bats file_tags=law
# camp why beside the kernel's own trace of the same seconds.

bats_require_minimum_version 1.5.0

@test "the time in the run queue, and the threads that ran meanwhile, are those of perf's trace, to 1 %" {
    export CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp} PYTHONDONTWRITEBYTECODE=1
    local status=0 refusal
    [ "$(id -u)" -eq 0 ] || skip "needs root: only root traces all CPUs"
    refusal=$("$CAMP" why --count 1 --interval 50ms 2>&1 >/dev/null) || status=$?
    [ "$status" -eq 0 ] || skip "$refusal"
    python3 "$BATS_TEST_DIRNAME/why_witness.py" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/said" 2>&1 || status=$?
    cat "$BATS_TEST_TMPDIR/said"
    [ "$status" -ne 77 ] || skip "$(cat "$BATS_TEST_TMPDIR/said")"
    return "$status"
}
