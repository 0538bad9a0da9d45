# shellcheck shell=bash
# What tests need of the machine: microstates, their clocks, and what a program of the tests finds out itself.

# find_refusal WORD...: runs camp with the words, once for a file. Sets REFUSAL to its message if microstates or the
# causes of waits are unavailable, or to "". Fails if camp fails for another reason.
find_refusal() {
    export CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp} REFUSAL
    local status=0
    REFUSAL=$("$CAMP" "$@" 2>&1 >/dev/null) || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || [[ $REFUSAL == *"without microstates"* ]] ||
        [[ $REFUSAL == *"causes of waits"* ]]
    [ "$status" -ne 0 ] || REFUSAL=
}

# Skips the test if find_refusal found that what its file needs is unavailable.
need_states() {
    [ -z "$REFUSAL" ] || skip "$REFUSAL"
}

# Skips the test if camp may not use microstates, for a file in which most tests do not need them.
need_microstates() {
    find_refusal time --no-syscalls --output "$BATS_TEST_TMPDIR/probe" -- true
    need_states
}

# Skips the test if the kernel has no clock of the throttled time of groups.
need_throttled_clock() {
    "$CAMP" doctor --format json | python3 -c '
import json, sys
sys.exit(not any(e["present"] for e in json.load(sys.stdin)["events"] if e["name"] == "throttled clock"))' ||
        skip "this kernel has no clock of throttled time (Linux 6.6)"
}

# run_law PROGRAM ARGUMENT...: runs a Python program and prints its output. Fails if the program fails; skips the test
# if it exits with 77, because this machine cannot make the case.
run_law() {
    local status=0
    python3 -B "$@" >"$BATS_TEST_TMPDIR/law" 2>&1 || status=$?
    cat "$BATS_TEST_TMPDIR/law"
    if [ "$status" -eq 77 ]; then skip "$(cat "$BATS_TEST_TMPDIR/law")"; fi
    return "$status"
}
