# shellcheck shell=bash
# For tests of commands that end when the process of --pid ends.

# Runs "$CAMP" "$@" --pid PID, kills process PID after the first output, and waits for the command to
# end. Leaves the output in $BATS_TEST_TMPDIR/shown.
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
