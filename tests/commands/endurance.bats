#!/usr/bin/env bats
# bats file_tags=deep
# Recordings over a long time, and when the recorder or the computer stops at any moment.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    UNIT=$(dirname "$(dirname "$CAMP")")/tests/unit
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    [ -z "${MOUNT:-}" ] || umount "$MOUNT"
}

@test "a power failure at any of 1,000 moments loses at most the running interval" {
    "$UNIT/test_power_loss" all >report || { cat report && false; }
    failures=$(grep -o '^[0-9]* power failures at [0-9]* events' report)
    echo "$failures" >&3
    read -r count _ _ _ events _ <<<"$failures"
    [ "$events" -ge 1000 ] && [ "$count" -ge $((5 * events)) ]
}

@test "1,000 kills of a recorder lose no committed interval" {
    /usr/bin/python3 -B "$BATS_TEST_DIRNAME/kills.py" "$CAMP" 1000 >report
    cat report >&3
    read -r _ _ committed _ <report
    [ "$committed" -ge 1000 ]
}

@test "a month is recorded in a few minutes, nothing is lost uncounted, and the memory is flat" {
    [ "$(id -u)" = 0 ] || skip "needs root, to mount a small file system"
    mkdir small
    mount -t tmpfs -o size=160m none small || skip "no file system can be mounted here"
    MOUNT=$PWD/small
    "$UNIT/recorded_month" small >report || { cat report && false; }
    grep '^[0-9]* intervals in 31 days' report >&3
}
