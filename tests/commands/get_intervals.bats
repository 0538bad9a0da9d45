#!/usr/bin/env bats
# camp get: rates, percentages, repeated readings, and interrupts.

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

@test "camp get reports a busy_percent of all CPUs between 0 and 100" {
    run --separate-stderr "$CAMP" get 'cpu.*busy_percent' --value
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    for value in "${lines[@]}"; do
        [[ $value =~ ^[0-9]+\.[0-9]{3}$ ]]
    done
    [ "${lines[0]%.*}" -le 101 ]
}

@test "camp get --rate reports the growth of a counter per second" {
    # A sleeping process uses no CPU time. A spinning process uses at most one CPU.
    a_child
    until_it_sleeps "$CHILD"
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

@test "the interval in the JSON of camp get is the measured one, not the requested one" {
    local started ended
    started=$(date +%s%N)
    run --separate-stderr "$CAMP" get cpu.busy_percent --interval 100ms --format json
    ended=$(date +%s%N)
    python3 -c "import json, sys
interval = json.loads(sys.argv[1])['interval_s']
assert 0 < interval < ($ended - $started) / 1e9 and interval != 0.1, interval" "$output"
}

@test "camp get reports once that an interval is too short for the resolution of a counter" {
    known_system
    known cpu.0.busy_percent --interval 1ms --count 3 --format json
    [ "$status" -eq 0 ]
    [ "$stderr" = "camp get: cpu.0.busy_percent comes in steps of 1000 % of the time: two readings of idle_ns and iowait_ns, in units of 10 ms; take --interval 200ms or longer" ]
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[0]} == '{"schema":"camp.get/1","time":"'* ]]
    for interval in 39ms 55ms 95ms; do
        known cpu.0.busy_percent --interval $interval
        [[ $stderr == *"; take --interval 200ms or longer" ]]
    done
    # The coarsest resolution is reported. Two CPUs together have twice as many units per second.
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

@test "camp get prints no warning if the interval is long enough for the counter" {
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

# All deadlines within the 1.5 s are missed. After the next reading, each further interval takes 100 ms.
@test "camp get skips the intervals that it missed while it was stopped" {
    local out=$BATS_TEST_TMPDIR/out stopped before resumed ended
    "$CAMP" get cpu.busy_percent --interval 100ms --count 12 --format json >"$out" 3>&- &
    CHILD=$!
    until_it test -s "$out"
    kill -STOP $CHILD
    until_it grep -q '^State:.T' "/proc/$CHILD/status"
    stopped=$(date +%s%N)
    before=$(wc -l <"$out") # one more reading may be made, but not printed yet
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

@test "camp get reports busy_percent as unknown, not as 0, if the idle time is unknown" {
    known_system
    sed -i 's/4000/18446744073709551615/' "$ROOT/proc/stat"
    known cpu.busy_percent --interval 10ms --value
    [ "$status" -eq 3 ]
    [ "$output" = - ]
    [[ $stderr == *cpu.busy_percent* ]]
}

@test "camp get refuses --rate for a counter that is not cumulative" {
    run --separate-stderr "$CAMP" get memory.free_bytes --rate
    [ "$status" -eq 2 ]
    [[ $stderr == *"no rate"* ]]
}

@test "camp get --count 3 prints three readings, one after each interval" {
    start=$(date +%s%N)
    run "$CAMP" get cpu.count --value --count 3 --interval 200ms
    elapsed=$(($(date +%s%N) - start))
    [ "${#lines[@]}" -eq 3 ]
    [ "$elapsed" -ge 400000000 ]
}

has_lines() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}

@test "an interrupt ends camp get with status 0 after the readings so far" {
    local out=$BATS_TEST_TMPDIR/out
    "$CAMP" get cpu.count --value --count 1000 --interval 300ms >"$out" 3>&- &
    CHILD=$!
    until_it has_lines "$out" 2
    kill -INT "$CHILD"
    wait "$CHILD"
    [ "$(wc -l <"$out")" -lt 1000 ]
    [ "$(head -1 "$out")" -gt 0 ]
}

@test "an interrupt in the first interval ends camp get with status 3" {
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

@test "camp get refuses an invalid interval or count with status 2" {
    for option in '--interval 0' '--interval -1' '--interval soon' '--count 0' '--count x'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" get cpu.count $option
        [ "$status" -eq 2 ]
    done
}
