#!/usr/bin/env bats
# camp get: values, names with dots, patterns, rates, what cannot be had, and the forms of output.

# shellcheck disable=SC2154 # $stderr and $output are set by run
bats_require_minimum_version 1.5.0
load ../waiting
load children

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LC_ALL=C
}

teardown() {
    end_children
}

# A /proc and /sys of known numbers: 2 CPUs (0 and 2), an interface with a dot, a disk with a
# partition.
known_system() {
    ROOT=$BATS_TEST_TMPDIR
    mkdir -p "$ROOT/proc/net" "$ROOT/sys/class/block/sda/sda1"
    cat >"$ROOT/proc/stat" <<'END'
cpu  300 30 70 4000 9 1 2 5 100 10
cpu0 200 20 40 2000 9 1 2 5 100 10
cpu2 100 10 30 2000 0 0 0 0 0 0
intr 0
END
    cat >"$ROOT/proc/net/dev" <<'END'
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0
eth0.100: 18446744073709551615 20 0 0 0 0 0 0 50 60 0 0 0 0 0 0
  eth0: 11 12 0 0 0 0 0 0 15 16 0 0 0 0 0 0
END
    cat >"$ROOT/proc/diskstats" <<'END'
   8       0 sda 10 0 80 3 20 0 160 4 1 5 6
   8       1 sda1 9 0 72 2 19 0 152 3 0 4 5
END
    echo "10 0 80 3 20 0 160 4 1 5 6" >"$ROOT/sys/class/block/sda/stat"
    echo 1 >"$ROOT/sys/class/block/sda/sda1/partition"
    KNOWN="--proc $ROOT/proc --sys $ROOT/sys"
}

known() {
    # shellcheck disable=SC2086
    run --separate-stderr "$CAMP" get $KNOWN "$@"
}

a_child() {
    sleep 600 3>&- &
    CHILD=$!
}

@test "a line is name, value, unit and provenance, without a heading" {
    run "$CAMP" get memory.total_bytes
    [ "$status" -eq 0 ]
    [[ $output =~ ^memory\.total_bytes\ +[0-9]+\ +bytes\ +measured$ ]]
}

@test "guest time is taken out of user time, in every CPU and in the total" {
    known_system
    known --value cpu.user_ns cpu.guest_ns cpu.0.nice_ns cpu.2.idle_ns
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '%s\n' 2000000000 1000000000 100000000 20000000000)" ]
}

@test "a star stands for each CPU, without the total, and ids may have holes" {
    known_system
    known 'cpu.*.system_ns' --value
    [ "$output" = "$(printf '%s\n' 400000000 300000000)" ]
    known 'cpu.*.system_ns'
    [[ ${lines[1]} == cpu.2.system_ns* ]]
}

@test "a counter may be a pattern, and all is all of it" {
    known_system
    known 'network.lo.*_packets' --value
    [ "$output" = "$(printf '2\n6')" ]
    known network.lo.all --value
    [ "${#lines[@]}" -eq 8 ]
    known network
    [ "${#lines[@]}" -eq 24 ]
}

@test "an interface's name may hold a dot, and is not confused with another" {
    known_system
    known network.eth0.100.sent_bytes network.eth0.sent_bytes --value
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '50\n15')" ]
}

@test "all counters of an interface with a dot in its name" {
    known_system
    known network.eth0.100
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 8 ]
    [[ ${lines[0]} == network.eth0.100.received_bytes*18446744073709551615* ]]
}

@test "a disk and its partition are told apart" {
    known_system
    known disk.sda.reads partition.sda1.reads disk.sda.read_bytes --value
    [ "$output" = "$(printf '10\n9\n40960')" ]
    known partition.sda.reads
    [ "$status" -eq 1 ]
    [[ $stderr == *"there is no partition 'sda'"* ]]
}

@test "the provenance of a time is that of this kernel" {
    accounting=$("$CAMP" get kernel.accounting --value)
    run "$CAMP" get cpu.user_ns
    case $accounting in
    tick) [[ $output == *" sampled" ]] ;;
    native) [[ $output == *" measured" ]] ;;
    *) [[ $output == *" sampled" || $output == *" unknown" ]] ;;
    esac
}

@test "of another system the provenance is unknown, not assumed" {
    known_system
    known cpu.user_ns
    [[ $output == *" unknown" ]]
}

@test "JSON holds the exact number, the kind and the subject" {
    known_system
    known network.eth0.100.received_bytes --format json
    [ "$status" -eq 0 ]
    [[ $output == '{"schema":"camp.get/1","time":"'* ]]
    [[ $output == *'"name":"network.eth0.100.received_bytes","value":18446744073709551615,"unit":"bytes","provenance":"measured","kind":"network","subject":"eth0.100","counter":"received_bytes"'* ]]
}

@test "CSV has one header line and one line a counter" {
    known_system
    known disk --format csv
    [ "${lines[0]}" = "time,interval_s,name,value,unit,provenance,kind,subject,counter" ]
    [ "${#lines[@]}" -eq 10 ]
}

@test "a process's measured time grows by what it burns" {
    # shellcheck disable=SC2016
    run bash -c 'a=$("$0" get process.$$.cpu_ns --value)
        end=$((SECONDS + 20)); x=0
        while [ "$x" -lt 150000 ] && [ "$SECONDS" -lt "$end" ]; do x=$((x + 1)); done
        b=$("$0" get process.$$.cpu_ns --value); echo $((b - a))' "$CAMP"
    [ "$status" -eq 0 ]
    [ "$output" -gt 20000000 ]
}

@test "a process read by its identifier is the same process" {
    a_child
    identifier=$("$CAMP" list processes --pid "$CHILD")
    [[ $identifier == process.$CHILD@* ]]
    run "$CAMP" get "$identifier.start" --value
    [ "$status" -eq 0 ]
    [ "$output" = "${identifier#*@}" ]
}

@test "a pid that belongs to another process now is gone, exit 1" {
    a_child
    run --separate-stderr "$CAMP" get "process.$CHILD@1.cpu_ns"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == *"has ended: pid $CHILD belongs to another now"* ]]
}

@test "a process that ended is gone, exit 1" {
    a_child
    kill "$CHILD"
    wait "$CHILD" || true
    run --separate-stderr "$CAMP" get "process.$CHILD.cpu_ns"
    [ "$status" -eq 1 ]
    [[ $stderr == "camp get: there is no process $CHILD now" ]]
}

@test "a process that ends between two readings is told of once, and its value is unknown" {
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

@test "processes are found by their executable, also one with a dot in its name" {
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/my.sleep-3.11"
    "$BATS_TEST_TMPDIR/my.sleep-3.11" 600 3>&- &
    CHILD=$!
    until_it grep -qx my.sleep-3.11 "/proc/$CHILD/comm" # it runs its own program
    until_it_sleeps "$CHILD"
    run "$CAMP" get process.name:my.sleep-3.11.threads --value
    [ "$status" -eq 0 ]
    [ "$output" = 1 ]
    run "$CAMP" get --name my.sleep-3.11 threads
    [[ $output == process.$CHILD@*.threads* ]]
    run "$CAMP" get "thread.name:my.sleep-3.11.*.state" --value
    [ "$output" = S ]
}

@test "a process without a name has null for it, as in camp check and camp list" {
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

@test "a thread is read by its process and its own id" {
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

@test "a CPU that is not there is gone, and shown as unknown" {
    run --separate-stderr "$CAMP" get cpu.99999.user_ns
    [ "$status" -eq 1 ]
    [[ $output =~ ^cpu\.99999\.user_ns\ +-\ +ns ]]
    [[ $stderr == *"cpu.99999"* ]]
}

@test "some had and some not is exit 3" {
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

@test "sampled time without CAP_NET_ADMIN is exit 4, and the capability is named" {
    a_child
    run --separate-stderr without_capability net_admin "$CAMP" get "process.$CHILD.sampled_ns"
    [ "$status" -eq 4 ]
    [[ $output =~ sampled_ns\ +-\ +ns\ +sampled$ ]]
    [[ $stderr == *CAP_NET_ADMIN* ]]
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
}

@test "what taskstats refuses is said once, with the names of the counters" {
    a_child
    run --separate-stderr without_capability net_admin "$CAMP" get "process.$CHILD.sampled_ns" \
        "process.$CHILD.measured_ns" "process.$$.measured_ns" --count 2 --interval 10ms
    [ "$status" -eq 4 ]
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    [[ $stderr == "camp get: "*"sampled_ns"*": "*CAP_NET_ADMIN* ]]
    [[ $stderr == "camp get: "*"measured_ns"*": "*CAP_NET_ADMIN* ]]
}

# As nobody, with CAPABILITIES (as setpriv takes them) and no other: the bytes that $CHILD read.
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

@test "the bytes of another user's process take two capabilities: what is missing is named" {
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

@test "who holds the capabilities and is refused is not told to take them, exit 3" {
    a_child
    [ "$(id -u)" -ne 0 ] || setpriv --reuid 65534 --regid 65534 --clear-groups \
        unshare --map-root-user true || skip "no user namespaces here"
    read_bytes_as_nobody -all unshare --map-root-user
    [ "$status" -eq 3 ]
    [[ $output =~ read_bytes\ +-\ +bytes ]]
    [[ $stderr == *"refused, though CAP_SYS_PTRACE is held: "* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "where the kernel does not count the bytes of processes, no capability is named" {
    run --separate-stderr "$CAMP" get process.2.read_bytes \
        --proc "$TREE/tests/fixtures/process/tree"
    [ "$status" -eq 3 ]
    [[ $stderr == *"process.2.read_bytes is unknown: this system does not say it" ]]
}

@test "sampled and measured time come in one message where they may be read" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for CAP_NET_ADMIN"
    run "$CAMP" get process.$$.sampled_ns process.$$.measured_ns --value
    [ "$status" -eq 0 ]
    [ "${lines[1]}" -gt 0 ]
}

@test "busy is between nothing and everything, measured and sampled" {
    run --separate-stderr "$CAMP" get 'cpu.*busy_percent' --value
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    for value in "${lines[@]}"; do
        [[ $value =~ ^[0-9]+\.[0-9]{3}$ ]]
    done
    [ "${lines[0]%.*}" -le 101 ]
}

@test "a rate is per second of time that passed" {
    # A process that sleeps uses nothing; one that spins uses some of a CPU, and not more than one.
    a_child
    run "$CAMP" get "process.$CHILD.cpu_ns" --rate --interval 300ms --value
    [ "$status" -eq 0 ]
    [ "$output" = 0.000 ]
    bash -c 'end=$((SECONDS + 600)); while [ "$SECONDS" -lt "$end" ]; do :; done' &
    burner=$!
    start=$(date +%s%N)
    run "$CAMP" get "process.$burner.cpu_ns" "process.$burner.cpu_percent" --rate --interval 500ms \
        --value
    elapsed=$(($(date +%s%N) - start))
    kill "$burner"
    [ "$status" -eq 0 ]
    [ "${lines[0]%.*}" -gt 0 ]
    # The interval is at least 500 ms, and one thread runs at most for the time of the whole command.
    [ "${lines[0]%.*}" -le $((2 * elapsed)) ]
    [ "${lines[1]%.*}" -eq $((${lines[0]%.*} / 10000000)) ]
}

@test "the interval that is told is the real one" {
    local started ended
    started=$(date +%s%N)
    run --separate-stderr "$CAMP" get cpu.busy_percent --interval 100ms --format json
    ended=$(date +%s%N)
    python3 -c "import json, sys
interval = json.loads(sys.argv[1])['interval_s']
assert 0 < interval < ($ended - $started) / 1e9 and interval != 0.1, interval" "$output"
}

@test "an interval of little more than a unit of what is read is told so, once, on stderr" {
    known_system # of two CPUs
    known cpu.0.busy_percent --interval 1ms --count 3 --format json
    [ "$status" -eq 0 ]
    [ "$stderr" = "camp get: cpu.0.busy_percent comes in steps of 1000 % of the time: two readings of /proc/stat, in units of 10 ms; take --interval 200ms or longer" ]
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[0]} == '{"schema":"camp.get/1","time":"'* ]]
    for interval in 39ms 55ms 95ms; do
        known cpu.0.busy_percent --interval $interval
        [[ $stderr == *"; take --interval 200ms or longer" ]]
    done
    # The coarsest is told; all CPUs together have twice as many units.
    known 'cpu.*.idle_percent' cpu.busy_percent --interval 25ms
    [[ $stderr == *"cpu.0.idle_percent comes in steps of 40 % "*"--interval 200ms or longer" ]]
    known cpu.busy_percent --interval 25ms
    [[ $stderr == *"cpu.busy_percent comes in steps of 20 % "*"--interval 100ms or longer" ]]
    known cpu.user_ns --rate --interval 100ms
    [[ $stderr == *"cpu.user_ns comes in steps of 10 % "*"/proc/stat user - guest, in units of 10 ms;"* ]]
    known disk.sda.read_ns --rate --interval 10ms
    [[ $stderr == *"disk.sda.read_ns comes in steps of 10 % "*"in units of 1 ms; take --interval 20ms or longer" ]]
    disk=$("$CAMP" list disks | head -1)
    [ -n "$disk" ] || return 0
    run --separate-stderr "$CAMP" get "$disk.busy_percent" --interval 1ms
    [[ $stderr == *"$disk.busy_percent comes in steps of "*", in units of "*" ms; take"* ]]
}

@test "an interval that is long enough, or was not asked for, is not remarked on" {
    known_system
    for words in cpu.busy_percent cpu.0.busy_percent 'cpu.0.busy_percent --interval 200ms' \
        'cpu.user_ns --rate --interval 200ms' 'network.lo.sent_bytes --rate --interval 1ms' \
        'cpu.user_ns --interval 1ms'; do
        # shellcheck disable=SC2086
        known $words
        echo "$words: $status $stderr"
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
    done
    run --separate-stderr "$CAMP" get process.$$.cpu_percent --interval 1ms
    [ -z "$stderr" ]
}

# All intervals are missed in 1.5 s. After the first reading that follows, each other one takes its 100 ms.
@test "intervals missed while stopped are not made up for" {
    local out=$BATS_TEST_TMPDIR/out stopped before resumed ended
    "$CAMP" get cpu.busy_percent --interval 100ms --count 12 --format json >"$out" 3>&- &
    CHILD=$!
    until_it test -s "$out"
    kill -STOP $CHILD
    until_it grep -q '^State:.T' "/proc/$CHILD/status"
    stopped=$(date +%s%N)
    before=$(wc -l <"$out") # and one that was read, but not printed yet
    sleep 1.5
    resumed=$(date +%s%N)
    kill -CONT $CHILD
    wait $CHILD
    ended=$(date +%s%N)
    python3 -c "import json, sys
intervals = [json.loads(line)['interval_s'] for line in sys.stdin]
assert len(intervals) == 12 and max(intervals) >= ($resumed - $stopped) / 1e9, intervals
after = 12 - $before - 1
assert after > 1 and ($ended - $resumed) / 1e9 >= (after - 1) * 0.1, (after, intervals)" <"$out"
}

@test "a percentage without known idle time is unknown, and not 0" {
    known_system
    sed -i 's/4000/18446744073709551615/' "$ROOT/proc/stat"
    known cpu.busy_percent --interval 10ms --value
    [ "$status" -eq 3 ]
    [ "$output" = - ]
    [[ $stderr == *cpu.busy_percent* ]]
}

@test "a level has no rate" {
    run --separate-stderr "$CAMP" get memory.free_bytes --rate
    [ "$status" -eq 2 ]
    [[ $stderr == *"no rate"* ]]
}

@test "a count repeats, an interval apart" {
    start=$(date +%s%N)
    run "$CAMP" get cpu.count --value --count 3 --interval 200ms
    elapsed=$(($(date +%s%N) - start))
    [ "${#lines[@]}" -eq 3 ]
    [ "$elapsed" -ge 400000000 ]
}

has_lines() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}

@test "an interrupt ends it with what was seen" {
    local out=$BATS_TEST_TMPDIR/out
    "$CAMP" get cpu.count --value --count 1000 --interval 300ms >"$out" 3>&- &
    CHILD=$!
    until_it has_lines "$out" 2
    kill -INT "$CHILD"
    wait "$CHILD"
    [ "$(wc -l <"$out")" -lt 1000 ]
    [ "$(head -1 "$out")" -gt 0 ]
}

@test "an interrupt in the first interval prints what it has, exit 3" {
    local started asleep woken ended
    started=$(date +%s%N)
    "$CAMP" get cpu.busy_percent --interval 3600 --format json >"$BATS_TEST_TMPDIR/out" \
        2>"$BATS_TEST_TMPDIR/err" 3>&- &
    CHILD=$!
    until_it_sleeps "$CHILD"
    asleep=$(date +%s%N)
    sleep 0.5
    woken=$(date +%s%N)
    kill -TERM "$CHILD"
    status=0
    wait "$CHILD" || status=$?
    ended=$(date +%s%N)
    [ "$status" -eq 3 ]
    python3 -c "import json, sys
record = json.load(sys.stdin)
assert ($woken - $asleep) / 1e9 <= record['interval_s'] <= ($ended - $started) / 1e9, record
assert record['counters'][0]['value'] is not None" <"$BATS_TEST_TMPDIR/out"
    [[ $(cat "$BATS_TEST_TMPDIR/err") == "camp get: ended early: the interval is "*" s of 3600 s" ]]
}

# near WRONG RIGHT: a mistyped name is a usage error that suggests the right one.
near() {
    run --separate-stderr "$CAMP" get "$1"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ $stderr == *"did you mean '$2'?" ]]
}

@test "a near miss is suggested" {
    near cpu.usr_ns cpu.user_ns
    near cqu.user_ns cpu.user_ns
    near free_bytes memory.free_bytes
    near memory.free memory.free_bytes
    near network.lo.sent_byets network.lo.sent_bytes
    near process.1.cpu process.1.cpu_ns
}

@test "an interface that is nearly there is suggested, exit 1" {
    known_system
    known network.eht0.sent_bytes
    [ "$status" -eq 1 ]
    [[ $stderr == *"did you mean 'eth0'"* ]]
}

@test "names that cannot be are usage errors, whatever they hold" {
    for name in '' . .. cpu. cpu.. .user_ns 'cpu.-1.user_ns' 'process.0.cpu_ns' process.abc \
        'process.1@.cpu_ns' 'process.1@x.cpu_ns' 'process.99999999999.cpu_ns' 'thread.x.y.cpu_ns' \
        'memory.%s%n' $'cpu.\n' "$(printf 'x%.0s' {1..5000})"; do
        run --separate-stderr "$CAMP" get "$name"
        [ "$status" -eq 2 ] || { echo "'$name' gave $status: $stderr" && false; }
        [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    done
}

@test "with --pid or --name operands are counters alone" {
    run --separate-stderr "$CAMP" get --pid 1 process.2.cpu_ns
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp get: 'process.2.cpu_ns': --pid already names the process; give only the counter, such as cpu_ns" ]
    run --separate-stderr "$CAMP" get --name bash cpu.user_ns
    [[ $stderr == *"--name already names the process"* ]]
}

@test "which counter is asked when none is given" {
    run --separate-stderr "$CAMP" get
    [ "$status" -eq 2 ]
    run --separate-stderr "$CAMP" get network.sent_bytes
    [ "$status" -eq 2 ]
    [[ $stderr == *"network.*.sent_bytes for each"* ]]
}

@test "intervals and counts that make no sense are refused" {
    for option in '--interval 0' '--interval -1' '--interval soon' '--count 0' '--count x'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" get cpu.count $option
        [ "$status" -eq 2 ]
    done
}

@test "a reader that goes away is no failure, a full disk is" {
    run bash -c '"$0" get cpu.count --count 50 --interval 1ms --value | head -1; exit ${PIPESTATUS[0]}' "$CAMP"
    [ "$status" -eq 0 ]
    run --separate-stderr bash -c '"$0" get cpu.count >/dev/full' "$CAMP"
    [ "$status" -eq 1 ]
    [[ $stderr == *"cannot write the output"* ]]
}

# ------------------------------------------------------------ docs/paper-names.md --

@test "every camp get and camp list line of docs/paper-names.md works here" {
    interface=$("$CAMP" list networks | head -1)
    disk=$("$CAMP" list disks | head -1)
    partition=$("$CAMP" list partitions | head -1)
    count=0
    # shellcheck disable=SC2016
    while read -r line; do
        case $line in *PARTITION*) [ -n "$partition" ] || continue ;; esac
        case $line in *DISK*) [ -n "$disk" ] || continue ;; esac
        line=${line//INTERFACE/${interface#network.}}
        line=${line//DISK/${disk#disk.}}
        line=${line//PARTITION/${partition#partition.}}
        line=${line//PID/$$}
        line=${line//NAME/bash}
        line=${line//CPU/$("$CAMP" list cpus | head -1 | cut -d. -f2)}
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" ${line#camp }
        [ "$status" -eq 0 ] || { echo "$line: $status $stderr" && false; }
        case $line in *partitions*) ;; *) [ -n "$output" ] ;; esac
        count=$((count + 1))
    done < <(grep -o '`camp [gl][^`]*`' "$TREE/docs/paper-names.md" | tr -d '`')
    [ "$count" -ge 17 ]
}

@test "every function of the paper's Figure 3 is answered" {
    for name in GetPercentProcessorTime GetFreePhysicalMemory GetNetBytesSent GetNetPacketsSent \
        GetNetBytesRecvd GetNetPacketsRecvd GetNumReads_Disk GetNumWrites_Disk \
        GetNumReads_Partition GetNumWrites_Partition GetNumPageFaults GetCPUtime_Total \
        GetCPUtime_User GetCPUtime_Kernel GetWorkingSetKb GetVMSizeKb GetThreadCount \
        EnumDiskPartitions EnumPhysicalDisks EnumNetworkInterfaces GetCPUCount \
        GetProcessIdentifier GetProcessIdentifiers; do
        grep -q "^| \`$name(" "$TREE/docs/paper-names.md"
    done
}

@test "the paper's derived function reports the traffic of the loopback interface" {
    rate=$(dirname "$CAMP")/../docs/examples/transfer-rate
    [ -x "$rate" ]
    run --separate-stderr "$rate" no-such-interface 0.1
    [ "$status" -eq 1 ]
    (for _ in {1..40}; do
        printf '%01000d' 0 >/dev/udp/127.0.0.1/9 || true # no one listens: each is sent all the same
        sleep 0.05
    done 2>/dev/null) &
    CHILD=$!
    run "$rate" lo 1
    [ "$status" -eq 0 ]
    [ "$output" -gt 2000 ]
}
