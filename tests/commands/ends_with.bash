# shellcheck shell=bash
# What ends when the process it shows has ended: loaded by the tests of those commands.

# Runs "$CAMP" "$@" --pid of a process that is killed once something was shown of it, however long that
# takes; what was shown is left in $BATS_TEST_TMPDIR/shown.
ends_with_its_process() {
    local shown=$BATS_TEST_TMPDIR/shown
    sleep 60 3>&- &
    LOAD=$!
    timeout 60 "$CAMP" "$@" --interval 300ms --pid "$LOAD" >"$shown" 3>&- &
    local watching=$!
    until [ -s "$shown" ]; do
        kill -0 "$watching"
        sleep 0.1
    done
    kill "$LOAD"
    LOAD=
    wait "$watching"
}
