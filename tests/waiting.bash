# shellcheck shell=bash
# tests/waiting.bash: waits until a condition holds that a test can check. A test that only sleeps for the time
# that this usually takes fails on a busy machine.
#
#   until_it COMMAND...   until the command succeeds
#   until_it_sleeps PID   until a process sleeps for a time: camp then has read its first snapshot

# How many times a condition is tested, every 50 ms, before the wait fails: at least a minute, longer on a busy
# machine. A limit by a clock would also count the time in which the whole machine was stopped.
TRIES=1200

until_it() {
    local tries
    for ((tries = 0; tries < TRIES; tries++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    echo "did not happen in $TRIES tries: $*" >&2
    return 1
}

until_it_sleeps() {
    until [[ $(cat "/proc/$1/wchan") == *nanosleep* ]]; do
        [ -d "/proc/$1" ] && [[ $(cat "/proc/$1/stat") != *") Z "* ]] || return 1 # it ended
        sleep 0.05
    done
}
