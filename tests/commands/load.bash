# shellcheck shell=bash
# Functions for the tests of camp load.

# usage ARGUMENTS...: camp load must fail with a usage error of one line that starts with "camp load:".
usage() {
    complains_with 2 "$@"
}

# fails ARGUMENTS...: camp load must fail in one line, although the command line is correct.
fails() {
    complains_with 1 "$@"
}

complains_with() {
    local wanted=$1
    shift
    run --separate-stderr "$CAMP" load "$@"
    [ "$status" -eq "$wanted" ]
    [ -z "$output" ]
    [[ $stderr == "camp load: "* ]]
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
}

# until_handled PID: waits until the process has signal handlers: bit 1 (SIGINT) and 14 (SIGTERM).
until_handled() {
    # Before exec, the process is a shell, which may also handle signals.
    until [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$CAMP")" ]; do
        kill -0 "$1"
        sleep 0.05
    done
    until (((0x$(awk '/^SigCgt/ {print $2}' "/proc/$1/status") & 0x4002) == 0x4002)); do
        kill -0 "$1"
        sleep 0.05
    done
}

# until_asleep PID LOAD: waits until the load sleeps in the system call that it measures.
until_asleep() {
    local call
    case $2 in
    lock) call=futex ;;
    pipe) call=pipe ;;
    sleep) call=nanosleep ;;
    esac
    until_handled "$1"
    until [[ $(cat "/proc/$1/wchan") == *$call* ]]; do
        kill -0 "$1"
        sleep 0.05
    done
}

# until_it_writes PID: waits until the load has signal handlers and has written to its file.
until_it_writes() {
    until_handled "$1"
    until (($(awk '/^wchar/ {print $2}' "/proc/$1/io") > 0)); do
        kill -0 "$1"
        sleep 0.05
    done
}

# field NAME: prints the number of this name in the JSON in $output.
field() {
    echo "$output" | sed -n "s/.*\"$1\":\([-0-9.]*\).*/\1/p"
}
