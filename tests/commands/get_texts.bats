#!/usr/bin/env bats
# camp get: values that the library returns by functions of their own, such as the command line of a process.

# shellcheck disable=SC2154 # $stderr and $output are set by run
bats_require_minimum_version 1.5.0
load ../waiting
load children
load get

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    FIXTURE=$TREE/tests/fixtures/process/tree
    export LC_ALL=C
}

teardown() {
    end_children
}

# Starts a process whose last argument has a newline, and sets CHILD to its pid.
start_reader() {
    tail -f /dev/null $'/dev/\nnull' 2>/dev/null 3>&- &
    CHILD=$!
    until_it grep -qx tail "/proc/$CHILD/comm" # the child has called exec
}

@test "camp get reads the command line, the executable and the user of a process" {
    start_reader
    run -0 --separate-stderr "$CAMP" get "process.$CHILD.command_line" "process.$CHILD.executable" \
        "process.$CHILD.user_id" --value
    [ "${lines[0]}" = 'tail -f /dev/null /dev/?null' ] # as text, a newline becomes '?'
    [ "${lines[1]}" = "$(readlink "/proc/$CHILD/exe")" ]
    [ "${lines[2]}" = "$(id -u)" ]
    "$CAMP" get "process.$CHILD.command_line" --format json | python3 -c '
import json, sys
row, = json.load(sys.stdin)["counters"]
assert (row["value"], row["unit"], row["provenance"]) == ("tail -f /dev/null /dev/\nnull", "text", None), row'
}

@test "camp get reads the cgroup of a process, or reports that there is none of version 2" {
    run --separate-stderr "$CAMP" get process.$$.cgroup --value
    path=$(sed -n 's/^0:://p' /proc/$$/cgroup)
    if [ -n "$path" ]; then
        [ "$status" -eq 0 ]
        [ "$output" = "$path" ]
    else
        [ "$status" -eq 3 ]
        [[ $stderr == *"process.$$.cgroup is unknown: "* ]]
    fi
}

@test "camp get reads a command line of 100,000 bytes as a whole" {
    bash -c 'exec sleep 600 "$@"' bash $(printf '0%.0s ' {1..50000}) 3>&- &
    CHILD=$!
    until_it grep -qx sleep "/proc/$CHILD/comm"
    run -0 "$CAMP" get "process.$CHILD.command_line" --value
    [ "${#output}" -eq 100009 ] # "sleep 600", and 50,000 times " 0"
}

@test "the proportional_bytes of a process in camp get are those of smaps_rollup" {
    start_reader
    [ -r "/proc/$CHILD/smaps_rollup" ] || skip "the kernel has no smaps_rollup"
    run -0 "$CAMP" get "process.$CHILD.proportional_bytes"
    [[ $output =~ ^process\.$CHILD\.proportional_bytes\ +([0-9]+)\ +bytes\ +derived$ ]]
    least=$(awk '/^Private_/ { sum += $2 } END { print sum * 1024 }' "/proc/$CHILD/smaps_rollup")
    most=$(awk '/^Rss:/ { print $2 * 1024 }' "/proc/$CHILD/smaps_rollup")
    # Other processes share the C library meanwhile, so the value changes.
    [ "${BASH_REMATCH[1]}" -ge "$least" ]
    [ "${BASH_REMATCH[1]}" -le "$most" ]
}

@test "camp get reads the frequency of each CPU, and refuses that of all CPUs together" {
    known_system
    mkdir -p "$ROOT/sys/devices/system/cpu/cpu2/cpufreq"
    echo 1900000 >"$ROOT/sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq"
    known cpu.2.frequency_hz --value
    [ "$status" -eq 0 ]
    [ "$output" = 1900000000 ]
    printf 'processor\t: 2\n' >"$ROOT/proc/cpuinfo"
    known 'cpu.*.frequency_hz'
    [ "$status" -eq 3 ]
    [[ ${lines[0]} =~ ^cpu\.0\.frequency_hz\ +-\ +hz ]]
    [[ $stderr == "camp get: cpu.0.frequency_hz is unknown: "* ]]
    run --separate-stderr "$CAMP" get cpu.frequency_hz
    [ "$status" -eq 2 ]
    [[ $stderr == *"ask for cpu.*.frequency_hz" ]]
}

@test "the word all leaves out what camp get reads only by name" {
    run "$CAMP" get process.$$
    [[ $output == *.executable* ]]
    [[ $output != *proportional_bytes* && $output != *command_line* ]]
    run "$CAMP" get cpu
    [[ $output == *idle_ns* && $output != *frequency_hz* ]]
    run "$CAMP" get "process.$$.command*" "process.$$.*_bytes"
    [[ $output == *command_line* && $output == *proportional_bytes* ]]
}

@test "camp get explains why a kernel thread has no executable" {
    run --separate-stderr "$CAMP" get process.2.executable process.2.command_line --proc "$FIXTURE" --format json
    [ "$status" -eq 3 ]
    [[ $output == *'executable","value":null,'* && $output == *'command_line","value":"",'* ]]
    [[ $stderr == "camp get: process.2.executable is unknown: $FIXTURE/2/exe: "* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "camp get exits with status 4 if the executable of another user is the only wanted value" {
    [ "$(id -u)" -ne 0 ] || skip "root may read it; an ordinary user may not"
    run --separate-stderr "$CAMP" get process.1.executable
    [ "$status" -eq 4 ]
    [[ $stderr == *"process.1.executable is unknown: /proc/1/exe: "* ]]
}

@test "camp get refuses a rate of a value without growth" {
    run --separate-stderr "$CAMP" get process.$$.user_id --rate --interval 10ms
    [ "$status" -eq 2 ]
    [[ $stderr == *"it has no rate" ]]
}
