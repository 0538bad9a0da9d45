#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# camp load: its options, its formats, and its failures. The live tests check the reported numbers.
load load

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "camp load without the name of a load lists the loads and fails" {
    run --separate-stderr "$CAMP" load
    [ "$status" -eq 2 ]
    [[ $stderr == *"threads"* ]]
    run "$CAMP" load --help
    [ "$status" -eq 0 ]
    for load in cpu fork memory net io lock pipe sleep fault threads; do
        [[ $output == *"  $load "* ]]
    done
    usage nothing
    usage cup
    [ "$stderr" = "camp load: there is no load 'cup'; did you mean 'cpu'?" ]
}

@test "camp load NAME --help prints a help text for every load" {
    for load in cpu fork memory net io lock pipe sleep fault threads; do
        run "$CAMP" load "$load" --help
        [ "$status" -eq 0 ]
        [[ $output == "Usage: camp load $load "* ]]
        [[ $output == *"--format"* ]]
    done
}

@test "camp load reports a bad value as a usage error that names the option" {
    for bad in "cpu --percent 0" "cpu --percent 101" "cpu --percent -5" "cpu --percent nan" \
        "cpu --percent x" "cpu --phase sideways" "cpu --period 0" "cpu --duration 0" \
        "cpu --duration -1" "cpu --duration 99999999h" "cpu --cpu -1" "cpu --cpu 5000" \
        "fork --rate 0" "fork --rate 1e9" "fork --burn 11" "memory --step 0" "memory --steps 0" \
        "memory --steps 1001" "net --packets 0" "net --packets -1" "net --bytes 65508" \
        "io --bytes 0" "io --block 17M" "io --bytes 1x" "threads --threads 0" \
        "threads --threads 1025" "threads --percent 101" "lock --percent 0" "pipe --percent 101" \
        "sleep --period 0" "sleep --period 2" "lock --cpu -1" "pipe --duration 0" \
        "fault --pages 0" "fault --pages 1.5"; do
        # shellcheck disable=SC2086
        usage $bad
        [[ $stderr == *"$(echo "$bad" | cut -d' ' -f2)"* ]]
    done
    usage cpu 30
    [[ $stderr == *"'30'"* ]]
    usage net --packets 3 --duration 3
    [[ $stderr == *"--packets and --duration both set the end of the load"* ]]
    usage io --b 3
    [ "$stderr" = "camp load: --b is ambiguous: --bytes or --block?" ]
    usage io -b 0
    [[ $stderr == *", from 1 to 1T" ]]
}

@test "camp load cpu refuses a between-ticks load above the maximum and names the maximum" {
    usage cpu --percent 99.9 --phase between-ticks
    [[ $stderr == *"at most "*"%"* ]]
    usage cpu --phase across-ticks --period 1.5ms
    [[ $stderr == *"multiple of the tick"* ]]
}

# bats test_tags=law
@test "camp load cpu reports its own times as text, JSON and CSV" {
    run "$CAMP" load cpu --percent 10 --duration 0.2
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    [[ $output == "load cpu, pid "* ]]
    [[ $output == *"used, by its own clock"* ]]
    run --separate-stderr "$CAMP" load cpu --percent 10 --duration 0.2 --format json
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    [[ $output == '{"schema":"camp.load/1","time":"'*'"load":"cpu"'* ]]
    [ "$(field own_ns)" -gt 0 ]
    [ "$(field wall_ns)" -ge 200000000 ]
    [[ $output == *'"ticks_met":null'* ]]
    run --separate-stderr "$CAMP" load cpu --percent 10 --duration 0.2 --format csv
    [ "$(echo "$output" | wc -l)" -eq 2 ]
    [[ $output == "time,load,pid,startup_ns,process_ns,phase,"* ]]
}

@test "camp load cpu reports the times so far when SIGINT or SIGTERM ends it" {
    for signal in INT TERM; do
        "$CAMP" load cpu --percent 5 --duration 60 --format json >truth 2>/dev/null &
        pid=$!
        until_handled "$pid"
        kill -s "$signal" "$pid"
        wait "$pid"
        output=$(cat truth)
        [ "$(field wall_ns)" -gt 0 ]
        [ "$(field wall_ns)" -lt 60000000000 ]
        [ "$(field pid)" -eq "$pid" ]
    done
}

# bats test_tags=law
@test "camp load cpu counts the cycles that missed their phase of the timer tick" {
    "$CAMP" load cpu --percent 5 --phase across-ticks --duration 4 --format json \
        >truth 2>remark &
    pid=$!
    until [[ $(cat "/proc/$pid/wchan") == *nanosleep* ]]; do # until it has found the tick, it uses CPU time
        kill -0 "$pid"
        sleep 0.05
    done
    kill -STOP "$pid"
    until grep -q '^State:.T' "/proc/$pid/status"; do sleep 0.05; done
    stopped=$(date +%s%N)
    sleep 1
    stopped=$(($(date +%s%N) - stopped))
    kill -CONT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 3 ]
    [[ $(cat remark) == "camp load: "*"the load missed its place between ticks "*" times in "*" cycles, "* ]]
    output=$(cat truth)
    # The load misses all periods while it is stopped, except for parts of the first and the last one.
    [ "$(field missed)" -ge $((stopped / $(field period_ns) - 2)) ]
}

# bats test_tags=law
@test "camp load fork: the children use at least the CPU time that was requested" {
    run --separate-stderr "$CAMP" load fork --rate 50 --burn 1ms --duration 0.4 --format json
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    children=$(field children)
    [ "$children" -gt 0 ]
    [ "$children" -le 20 ]
    [ "$(field own_ns)" -ge $((children * 1000000)) ]
    [ "$(field whole_ns)" -ge "$(field own_ns)" ]
}

# At most 256 children exist at a time. Each takes 20 ms, so at most 12,800 children can exit per second.
# bats test_tags=law
@test "camp load fork exits with status 3 if it does not reach the requested rate" {
    run --separate-stderr "$CAMP" load fork --rate 20000 --burn 20ms --duration 0.3 --format json
    [ "$status" -eq 3 ]
    [[ $stderr == "camp load: only "*" of 20000.00 children a second were forked" ]]
    [ "$(field late)" -gt 0 ]
}

@test "the text of camp load aligns all values in one column" {
    for load in "cpu --percent 20 --phase between-ticks" "fork --rate 20" "sleep --percent 50" "io --bytes 2M"; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" load $load --duration 0.1
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
        python3 -c '
import re, sys
lines = [line for line in sys.stdin.read().splitlines() if line.startswith("  ")]
places = {re.search(r"\S {2,}(?=\S)", line).end() for line in lines}
assert len(lines) > 5 and len(places) == 1, (places, lines)' <<<"$output"
    done
    grep -Eq '^  written before, to be read +2\.097152 MB$' <<<"$output"
}

@test "camp load memory by default allocates two steps of 976 KiB" {
    run "$CAMP" load memory --format json
    [ "$status" -eq 0 ]
    [[ $output == *'"bytes":1998848'* ]]
    [[ $output == *'"steps":[{"number":1,"bytes":999424,"held_bytes":999424,'* ]]
}

@test "camp load memory refuses a total size above the maximum" {
    run --separate-stderr "$CAMP" load memory --step 1G --steps 1000
    [ "$status" -eq 2 ]
    [[ $stderr == *"at most "* ]]
}

@test "camp load net receives the packets that it sends" {
    run "$CAMP" load net --packets 1000 --bytes 32 --format json
    [ "$status" -eq 0 ]
    [ "$(field sent_packets)" -eq 1000 ]
    [ "$(field received_packets)" -eq 1000 ]
    [ "$(field received_bytes)" -eq 32000 ]
    [ "$(field lost_packets)" -eq 0 ]
}

@test "every kind of camp load runs until --duration is over" {
    mkdir disk
    for load in "cpu --percent 5" "fork --rate 20" "memory --step 64K" "net" "io --bytes 64K" \
        "lock" "pipe" "sleep" "fault --pages 8" "threads --threads 1"; do
        # shellcheck disable=SC2086
        TMPDIR=$PWD/disk run --separate-stderr "$CAMP" load $load --duration 0.3 --format json
        echo "$load: $status $output $stderr"
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ] # 3: a busy machine, or a file that stays in memory
        [ "$(field wall_ns)" -ge 200000000 ] # load fork waits for its last child
    done
}

@test "camp load net sends only to addresses of this computer" {
    for target in 192.0.2.1 224.0.0.1 255.255.255.255 0.0.0.0 example.org ""; do
        usage net --target "$target"
    done
    fails net --to-namespace no-such-namespace
    run -1 --separate-stderr "$CAMP" load net --to-namespace /dev/null/none
    [[ $stderr == *"give a name from \`ip netns list\`"* ]]
}

@test "camp load net sends packets across a veth pair between two network namespaces" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
    command -v ip >/dev/null || skip "needs ip (package iproute2)"
    a=camp-$$-a b=camp-$$-b
    ip netns add "$a" || skip "no network namespaces can be made here"
    ip netns add "$b"
    ip -n "$a" link add camp0 type veth peer name camp1 netns "$b" || {
        ip netns del "$a"
        ip netns del "$b"
        skip "this kernel has no veth"
    }
    ip -n "$a" address add 10.99.0.1/24 dev camp0
    ip -n "$b" address add 10.99.0.2/24 dev camp1
    ip -n "$a" link set camp0 up
    ip -n "$b" link set camp1 up
    run --separate-stderr "$CAMP" load net --packets 10000 --bytes 32 --target 10.99.0.2 \
        --from-namespace "$a" --to-namespace "$b" --format json
    truth=$status
    sent=$(ip netns exec "$a" cat /sys/class/net/camp0/statistics/tx_packets)
    bytes=$(ip netns exec "$a" cat /sys/class/net/camp0/statistics/tx_bytes)
    ip netns del "$a"
    ip netns del "$b"
    [ "$truth" -eq 0 ]
    [ "$(field received_packets)" -eq 10000 ]
    # ARP and neighbour discovery add a few packets.
    [ "$sent" -ge 10000 ]
    [ "$sent" -le 10100 ]
    [ "$bytes" -ge $((10000 * (32 + 28 + 14))) ]
}

@test "camp load threads reports a row for each thread" {
    run "$CAMP" load threads --threads 3 --percent 5 --duration 0.3 --format json
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    [ "$(field thread_count)" -eq 3 ]
    [ "$(echo "$output" | grep -o '"tid":' | wc -l)" -eq 3 ]
}

@test "no two columns in the CSV of camp load have the same name" {
    for load in "memory" "threads --duration 0.05" "cpu --duration 0.05" "fork --duration 0.05" \
        "net --packets 10" "io --bytes 4K" "lock --duration 0.05" "fault --pages 1"; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" load $load --format csv
        [ -z "$(tr , '\n' <<<"${lines[0]}" | sort | uniq -d)" ]
    done
}

@test "camp load ends quietly when the reader of its output closes the pipe" {
    run bash -c '"$0" load memory | true' "$CAMP"
    [ "$status" -eq 0 ]
}

@test "camp load fails if its output goes to a full disk" {
    run --separate-stderr bash -c '"$0" load memory >/dev/full' "$CAMP"
    [ "$status" -eq 1 ]
    [[ $stderr == "camp load: cannot write"* ]]
}
