#!/usr/bin/env bats
# camp get: values, names with dots, patterns, missing values, and the forms of output.

# shellcheck disable=SC2154 # $stderr and $output are set by run
bats_require_minimum_version 1.5.0
load ../waiting
load children
load get

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LC_ALL=C
}

teardown() {
    end_children
}

@test "camp get prints the name, value, unit and provenance of a counter on one line" {
    run "$CAMP" get memory.total_bytes
    [ "$status" -eq 0 ]
    [[ $output =~ ^memory\.total_bytes\ +[0-9]+\ +bytes\ +measured$ ]]
}

@test "camp get subtracts guest time from user time" {
    known_system
    known --value cpu.user_ns cpu.guest_ns cpu.0.nice_ns cpu.2.idle_ns
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '%s\n' 2000000000 1000000000 100000000 20000000000)" ]
}

@test "a star in a counter name matches every CPU but not the total of all CPUs" {
    known_system
    known 'cpu.*.system_ns' --value
    [ "$output" = "$(printf '%s\n' 400000000 300000000)" ]
    known 'cpu.*.system_ns'
    [[ ${lines[1]} == cpu.2.system_ns* ]]
}

@test "camp get accepts a pattern, or the word all, in place of a counter name" {
    known_system
    known 'network.lo.*_packets' --value
    [ "$output" = "$(printf '2\n6')" ]
    known network.lo.all --value
    [ "${#lines[@]}" -eq 8 ]
    known network
    [ "${#lines[@]}" -eq 24 ]
}

@test "camp get distinguishes the network interfaces eth0 and eth0.100" {
    known_system
    known network.eth0.100.sent_bytes network.eth0.sent_bytes --value
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '50\n15')" ]
}

@test "camp get network.eth0.100 shows all counters of the interface eth0.100" {
    known_system
    known network.eth0.100
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 8 ]
    [[ ${lines[0]} == network.eth0.100.received_bytes*18446744073709551615* ]]
}

@test "camp get distinguishes a disk and its partition" {
    known_system
    known disk.sda.reads partition.sda1.reads disk.sda.read_bytes --value
    [ "$output" = "$(printf '10\n9\n40960')" ]
    known partition.sda.reads
    [ "$status" -eq 1 ]
    [[ $stderr == *"there is no partition 'sda'"* ]]
}

@test "camp get marks CPU time as measured or sampled according to the kernel's accounting" {
    accounting=$("$CAMP" get kernel.accounting --value)
    run "$CAMP" get cpu.user_ns
    case $accounting in
    tick) [[ $output == *" sampled" ]] ;;
    native) [[ $output == *" measured" ]] ;;
    *) [[ $output == *" sampled" || $output == *" unknown" ]] ;;
    esac
}

@test "camp get marks idle time of Linux 7.2 as sampled" {
    files=$TREE/tests/fixtures/kernel/short-idle
    run "$CAMP" get kernel.short_idle_sampled --value --proc "$files/proc" --sys "$files/sys"
    [ "$output" = yes ]
    run "$CAMP" get cpu.idle_ns cpu.iowait_ns --proc "$files/proc" --sys "$files/sys"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} =~ ^cpu\.idle_ns\ .*\ sampled$ ]]
    [[ ${lines[1]} =~ ^cpu\.iowait_ns\ .*\ sampled$ ]]
}

@test "camp get marks CPU time from another system's files with the provenance unknown" {
    known_system
    known cpu.user_ns
    [[ $output == *" unknown" ]]
}

@test "the JSON of camp get has the exact 64-bit number, the kind and the subject of a counter" {
    known_system
    known network.eth0.100.received_bytes --format json
    [ "$status" -eq 0 ]
    [[ $output == '{"schema":"camp.get/1","time":"'* ]]
    [[ $output == *'"name":"network.eth0.100.received_bytes","value":18446744073709551615,"unit":"bytes","provenance":"measured","kind":"network","subject":"eth0.100","counter":"received_bytes"'* ]]
}

@test "camp get prints CSV with a header and one line for each counter" {
    known_system
    known disk --format csv
    [ "${lines[0]}" = "time,interval_s,name,value,unit,provenance,kind,subject,counter" ]
    [ "${#lines[@]}" -eq 10 ]
}

@test "the CPU time of a process in camp get grows while the process computes" {
    # shellcheck disable=SC2016
    run bash -c 'a=$("$0" get process.$$.cpu_ns --value)
        end=$((SECONDS + 20)); x=0
        while [ "$x" -lt 150000 ] && [ "$SECONDS" -lt "$end" ]; do x=$((x + 1)); done
        b=$("$0" get process.$$.cpu_ns --value); echo $((b - a))' "$CAMP"
    [ "$status" -eq 0 ]
    [ "$output" -gt 20000000 ]
}

@test "an identifier from camp list names the same process in camp get" {
    a_child
    identifier=$("$CAMP" list processes --pid "$CHILD")
    [[ $identifier == process.$CHILD@* ]]
    run "$CAMP" get "$identifier.start" --value
    [ "$status" -eq 0 ]
    [ "$output" = "${identifier#*@}" ]
}

@test "camp get reports that a process has ended if another process has its pid now" {
    a_child
    run --separate-stderr "$CAMP" get "process.$CHILD@1.cpu_ns"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == *"has ended: pid $CHILD belongs to another now"* ]]
}

@test "camp get reports that an exited process does not exist" {
    a_child
    kill "$CHILD"
    wait "$CHILD" || true
    run --separate-stderr "$CAMP" get "process.$CHILD.cpu_ns"
    [ "$status" -eq 1 ]
    [[ $stderr == "camp get: there is no process $CHILD now" ]]
}

@test "camp get reports only once that a process exited between two readings" {
    a_child
    cd "$BATS_TEST_TMPDIR"
    : >out
    "$CAMP" get "process.$CHILD.cpu_ns" memory.free_bytes --count 1000 --interval 100ms >out 2>err 3>&- &
    reader=$!
    until grep -q "process.$CHILD.cpu_ns" out; do sleep 0.05; done
    kill "$CHILD"
    until grep -Eq "process[.]${CHILD}[.]cpu_ns +- +ns" out; do sleep 0.05; done
    kill -INT "$reader"
    status=0
    wait "$reader" || status=$?
    [ "$status" -eq 3 ]
    [ "$(grep -c "process.$CHILD" err)" -eq 1 ]
}

@test "camp get selects processes by the name of their executable" {
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/my.sleep-3.11"
    "$BATS_TEST_TMPDIR/my.sleep-3.11" 600 3>&- &
    CHILD=$!
    until_it grep -qx my.sleep-3.11 "/proc/$CHILD/comm" # the child has called exec
    until_it_sleeps "$CHILD"
    run "$CAMP" get process.name:my.sleep-3.11.threads --value
    [ "$status" -eq 0 ]
    [ "$output" = 1 ]
    run "$CAMP" get --name my.sleep-3.11 threads
    [[ $output == process.$CHILD@*.threads* ]]
    run "$CAMP" get "thread.name:my.sleep-3.11.*.state" --value
    [ "$output" = S ]
}

@test "the JSON of camp get has null as the name of a process with an empty name" {
    python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(15, b"", 0, 0, 0)
time.sleep(600)' 3>&- &
    CHILD=$!
    until_it grep -qx '' "/proc/$CHILD/comm"
    until_it_sleeps "$CHILD"
    run --separate-stderr "$CAMP" get "process.$CHILD.name" --format json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *'"value":null'* ]]
    run "$CAMP" list processes --long --pid "$CHILD" --format json
    [[ $output == *'"process.'$CHILD'@'*'":null,'*'"state":"S"'* ]]
    run "$CAMP" check --count 1 --interval 50ms --pid "$CHILD" --format json
    [[ $output == *'"name":null'* ]]
}

@test "camp get selects a thread by its process id and its thread id" {
    a_child
    run "$CAMP" get "thread.$CHILD.$CHILD.cpu_ns" --value
    [ "$status" -eq 0 ]
    [ "$output" -gt 0 ]
    run --separate-stderr "$CAMP" get "thread.$CHILD.1.cpu_ns"
    [ "$status" -eq 1 ]
    [[ $stderr == *"process $CHILD has no thread 1"* ]]
    run --separate-stderr "$CAMP" get "thread.$CHILD.$CHILD*.state" --value
    [ "$status" -eq 0 ]
    run --separate-stderr "$CAMP" get "thread.$CHILD.${CHILD}0*.state" --value
    [ "$status" -eq 1 ]
    [[ $stderr == *"no thread that matches"* ]]
}

@test "camp get reports that the requested CPU does not exist" {
    run --separate-stderr "$CAMP" get cpu.99999.user_ns
    [ "$status" -eq 1 ]
    [[ $output =~ ^cpu\.99999\.user_ns\ +-\ +ns ]]
    [[ $stderr == *"cpu.99999"* ]]
}

@test "camp get exits with status 3 if some of the requested values are unknown" {
    run --separate-stderr "$CAMP" get memory.free_bytes process.2147483647.cpu_ns
    [ "$status" -eq 3 ]
    [[ $output == memory.free_bytes* ]]
}

without_capability() { # CAPABILITY COMMAND...
    local capability=$1
    shift
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --bounding-set="-$capability" --inh-caps="-$capability" "$@"
    else
        "$@"
    fi
}

@test "the error about sampled time names the missing capability CAP_NET_ADMIN" {
    a_child
    run --separate-stderr without_capability net_admin "$CAMP" get "process.$CHILD.sampled_ns"
    [ "$status" -eq 4 ]
    [[ $output =~ sampled_ns\ +-\ +ns\ +-$ ]] # an unknown number was not sampled
    [[ $stderr == *CAP_NET_ADMIN* ]]
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
}

@test "a single error line of camp get names all counters that taskstats refuses" {
    a_child
    run --separate-stderr without_capability net_admin "$CAMP" get "process.$CHILD.sampled_ns" \
        "process.$CHILD.measured_ns" "process.$$.measured_ns" --count 2 --interval 10ms
    [ "$status" -eq 4 ]
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    [[ $stderr == "camp get: "*"sampled_ns"*": "*CAP_NET_ADMIN* ]]
    [[ $stderr == "camp get: "*"measured_ns"*": "*CAP_NET_ADMIN* ]]
}

# Runs camp get for the read bytes of $CHILD as nobody with only CAPABILITIES (in the syntax of setpriv).
read_bytes_as_nobody() { # CAPABILITIES [COMMAND...]
    local capabilities=$1
    shift
    [ "$(id -u)" -eq 0 ] || skip "takes root, to become another"
    FOLDER=$(mktemp -d) # nobody may not enter the folder of the build
    cp "$CAMP" "$FOLDER/camp"
    chmod 755 "$FOLDER" "$FOLDER/camp"
    run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
        --inh-caps="$capabilities" --ambient-caps="$capabilities" "$@" \
        "$FOLDER/camp" get "process.$CHILD.read_bytes"
    rm -r "$FOLDER"
    echo "$capabilities: $status $output $stderr"
}

@test "the error about another user's read_bytes names the capabilities that are missing" {
    a_child
    read_bytes_as_nobody -all
    [ "$status" -eq 4 ]
    [[ $stderr == *"it takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH for "* ]]
    for opens in +dac_read_search +dac_override; do
        read_bytes_as_nobody "-all,$opens"
        [ "$status" -eq 4 ]
        [[ $stderr == *"it takes CAP_SYS_PTRACE for "* ]]
        read_bytes_as_nobody "-all,+sys_ptrace,$opens"
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
    done
    read_bytes_as_nobody -all,+sys_ptrace
    [ "$status" -eq 4 ]
    [[ $stderr == *"it takes CAP_DAC_READ_SEARCH for "* ]]
}

@test "the error about a refused counter advises no capability that the user already holds" {
    a_child
    [ "$(id -u)" -ne 0 ] || setpriv --reuid 65534 --regid 65534 --clear-groups \
        unshare --map-root-user true || skip "no user namespaces here"
    read_bytes_as_nobody -all unshare --map-root-user
    [ "$status" -eq 3 ]
    [[ $output =~ read_bytes\ +-\ +bytes ]]
    [[ $stderr == *"refused, though CAP_SYS_PTRACE is held: "* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "the error of camp get names no capability if the kernel does not count I/O bytes" {
    run --separate-stderr "$CAMP" get process.2.read_bytes \
        --proc "$TREE/tests/fixtures/process/tree"
    [ "$status" -eq 3 ]
    [[ $stderr == *"process.2.read_bytes is unknown: this system does not say it" ]]
}

@test "camp get reads the sampled and the measured time of a process in one command" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for CAP_NET_ADMIN"
    run "$CAMP" get process.$$.sampled_ns process.$$.measured_ns --value
    [ "$status" -eq 0 ]
    [ "${lines[1]}" -gt 0 ]
}

# near WRONG RIGHT: a mistyped name is a usage error that suggests the right one.
near() {
    run --separate-stderr "$CAMP" get "$1"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ $stderr == *"did you mean '$2'?" ]]
}

@test "camp get suggests the closest name for a mistyped counter" {
    near cpu.usr_ns cpu.user_ns
    near cqu.user_ns cpu.user_ns
    near free_bytes memory.free_bytes
    near memory.free memory.free_bytes
    near network.lo.sent_byets network.lo.sent_bytes
    near process.1.cpu process.1.cpu_ns
}

@test "camp get suggests the closest name for a mistyped interface" {
    known_system
    known network.eht0.sent_bytes
    [ "$status" -eq 1 ]
    [[ $stderr == *"did you mean 'eth0'"* ]]
}

@test "camp get refuses an invalid counter name with a one-line usage error" {
    for name in '' . .. cpu. cpu.. .user_ns 'cpu.-1.user_ns' 'process.0.cpu_ns' process.abc \
        'process.1@.cpu_ns' 'process.1@x.cpu_ns' 'process.99999999999.cpu_ns' 'thread.x.y.cpu_ns' \
        'memory.%s%n' $'cpu.\n' "$(printf 'x%.0s' {1..5000})"; do
        run --separate-stderr "$CAMP" get "$name"
        [ "$status" -eq 2 ] || { echo "'$name' gave $status: $stderr" && false; }
        [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    done
}

@test "with --pid or --name, camp get accepts only the counter name as an operand" {
    run --separate-stderr "$CAMP" get --pid 1 process.2.cpu_ns
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp get: 'process.2.cpu_ns': --pid already names the process; give only the counter, such as cpu_ns" ]
    run --separate-stderr "$CAMP" get --name bash cpu.user_ns
    [[ $stderr == *"--name already names the process"* ]]
}

@test "camp get without a counter is a usage error" {
    run --separate-stderr "$CAMP" get
    [ "$status" -eq 2 ]
    run --separate-stderr "$CAMP" get network.sent_bytes
    [ "$status" -eq 2 ]
    [[ $stderr == *"network.*.sent_bytes for each"* ]]
}

@test "camp get ends quietly when the reader of its output closes the pipe" {
    run bash -c '"$0" get cpu.count --count 50 --interval 1ms --value | head -1; exit ${PIPESTATUS[0]}' "$CAMP"
    [ "$status" -eq 0 ]
}

@test "camp get fails if its output goes to a full disk" {
    run --separate-stderr bash -c '"$0" get cpu.count >/dev/full' "$CAMP"
    [ "$status" -eq 1 ]
    [[ $stderr == *"cannot write the output"* ]]
}
