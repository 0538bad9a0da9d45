#!/usr/bin/env bats
# camp load io, fault, lock, pipe and sleep: loads that wait.

bats_require_minimum_version 1.5.0
load load

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "camp load io, net and fault repeat their work until --duration is over" {
    TMPDIR=$PWD run "$CAMP" load io --bytes 4K --duration 0.3 --format json
    [ "$(field bytes)" -gt 4096 ]
    TMPDIR=$PWD run --separate-stderr "$CAMP" load fault --pages 1 --duration 0.3 --format json
    [ "$(field pages)" -gt 1 ]
    run "$CAMP" load net --duration 0.3 --format json
    [ "$(field sent_packets)" -ge 1 ]
    [ "$(field received_packets)" -eq "$(field sent_packets)" ]
}

@test "camp load io reports the number of operations and of bytes" {
    mkdir disk
    TMPDIR=$PWD/disk run "$CAMP" load io --bytes 1M --block 4K --format json
    [ "$status" -eq 0 ]
    [ "$(field operations)" -eq 256 ]
    [ "$(field bytes)" -eq 1048576 ]
}

@test "camp load io leaves no file behind" {
    mkdir disk
    TMPDIR=$PWD/disk run "$CAMP" load io --bytes 1M --block 4K
    [ "$status" -eq 0 ]
    run "$CAMP" load io --file disk/new --bytes 1M --write
    [ "$status" -eq 0 ]
    [ -z "$(ls -A disk)" ]
}

@test "camp load io leaves no file behind after a signal" {
    mkdir disk
    TMPDIR=$PWD/disk "$CAMP" load io --bytes 512G --write --format json >truth 2>/dev/null &
    pid=$!
    until_it_writes "$pid"
    kill -s TERM "$pid"
    wait "$pid"
    output=$(cat truth)
    [ "$(field bytes)" -gt 0 ]
    [ "$(field bytes)" -lt $((512 << 30)) ]
    TMPDIR=$PWD/disk "$CAMP" load io --bytes 512G --write >/dev/null 2>&1 &
    pid=$!
    until_it_writes "$pid"
    kill -s KILL "$pid"
    wait "$pid" || true
    [ -z "$(ls -A disk)" ]
}

@test "camp load io never writes to an existing file" {
    head -c 100000 /dev/zero >file
    before=$(sha256sum file)
    run "$CAMP" load io --file file --bytes 200000 --format json
    [ "$status" -eq 0 ]
    [ "$(field bytes)" -eq 200000 ]
    fails io --file file --write
    [ "$(sha256sum file)" = "$before" ]
    : >empty
    fails io --file empty
    fails io --file /dev/null
    run --separate-stderr "$CAMP" load io --file no/such/folder/file
    [ "$status" -eq 1 ]
}

@test "camp load io on a full disk reports the bytes that it wrote so far" {
    (
        ulimit -f 100
        run --separate-stderr "$CAMP" load io --bytes 4M --write --format json
        [ "$status" -eq 1 ]
        [[ $stderr == *"the disk is full"* ]]
        [ "$(field bytes)" -eq $((100 * 1024)) ]
    )
}

@test "camp load io refuses --cold with --direct or --write" {
    usage io --cold --direct
    [[ $stderr == *"--cold needs reads through the page cache"* ]]
    usage io --cold --write
}

# bats test_tags=law
@test "camp load io --cold reads from storage, not from the page cache" {
    head -c 1M /dev/zero >file
    sync file
    run --separate-stderr "$CAMP" load io --file file --bytes 2M --cold --format json
    [ "$(field bytes)" -eq $((2 << 20)) ]
    if [ "$status" -eq 3 ]; then
        [[ $stderr == *"bytes came from storage: this file stays in memory" ]]
        skip "${stderr#camp load: }"
    fi
    [ "$status" -eq 0 ]
    [ "$(field storage_bytes)" -ge $((2 << 20)) ]
    [ "$(field waited_ns)" -eq $(($(field wall_ns) - $(field own_ns))) ]
}

# bats test_tags=law
@test "camp load lock, pipe and sleep are asleep for the requested share of the time" {
    for load in lock pipe sleep; do
        run --separate-stderr "$CAMP" load "$load" --percent 60 --duration 0.5 --format json
        echo "$output"
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
        [[ $output == *'"load":"'"$load"'"'* ]]
        [ "$(field wall_ns)" -ge 500000000 ]
        # The load sleeps for at least 98 % of the requested share, or exits with 3 and reports the smaller share.
        if [ "$status" -eq 0 ]; then
            [ "$(field asleep_ns)" -ge $(($(field wall_ns) / 100 * 60 / 100 * 98)) ]
        else
            [[ $stderr == "camp load: only "*" of 60.00% was spent asleep"* ]]
        fi
        [ "$(field tid)" -eq "$(field pid)" ]
        # The times do not overlap, except call_own_ns: the CPU time for falling asleep and for waking.
        [ $(($(field asleep_ns) + $(field late_ns) + $(field own_ns) - $(field call_own_ns))) -le \
            "$(field wall_ns)" ]
    done
}

@test "camp load lock, pipe and sleep report the numbers so far when SIGTERM ends them" {
    for load in lock pipe sleep; do
        "$CAMP" load "$load" --percent 90 --period 1 --duration 60 --format json >truth &
        pid=$!
        started=$(date +%s%N)
        until_asleep "$pid" "$load"
        kill -s TERM "$pid"
        wait "$pid"
        output=$(cat truth)
        [ "$(field wall_ns)" -lt $(($(date +%s%N) - started)) ]
        [ "$(field asleep_ns)" -gt 0 ]
        [ "$(field asleep_ns)" -le "$(field wall_ns)" ]
        [ "$(field missed)" -eq 0 ] # the signal came during a sleep
    done
}

@test "camp load lock reports that the CPU of --cpu does not exist" {
    run --separate-stderr "$CAMP" load lock --cpu 1023
    [ "$status" -eq 1 ]
    [[ $stderr == "camp load: CPU 1023 is unavailable: "* ]]
}

# bats test_tags=law
@test "camp load fault waits for storage at each page" {
    for how in "" --in-call; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" load fault --pages 300 $how --format json
        [ "$(field pages)" -eq 300 ]
        if [ "$status" -eq 3 ]; then
            [[ $stderr == *"this file stays in memory" ]]
            skip "${stderr#camp load: }"
        fi
        [ "$status" -eq 0 ]
        [ "$(field major_faults)" -ge 294 ] # status 0 means at least 98 % of the pages
        [ "$(field touch_ns)" -le "$(field wall_ns)" ]
        [ "$(field waited_ns)" -gt 0 ]
    done
}

@test "camp load fault does not change its file" {
    head -c 10000 /dev/urandom >file
    before=$(sha256sum file)
    run "$CAMP" load fault --file file --pages 7 --format json
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    [ "$(field pages)" -eq 7 ]
    [ "$(sha256sum file)" = "$before" ]
}

@test "camp load fault refuses an empty file, a folder and a missing file" {
    : >empty
    fails fault --file empty
    fails fault --file .
    run --separate-stderr "$CAMP" load fault --file no/such/file
    [ "$status" -eq 1 ]
    [[ $stderr == "camp load: no/such/file: "* ]]
}
