#!/usr/bin/env bats
# camp why of a process that hangs: what it waits for, and which process is at the other end.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load check
load why

setup_file() {
    find_refusal why --count 1 --interval 50ms
}

teardown() {
    end_children
    wait
}

# Returns whether a process sleeps in a function of the kernel whose name has the word.
is_asleep_in() {
    [[ $(cat "/proc/$2/wchan") == *"$1"* ]]
}

# Runs camp why with the words, and evaluates Python on the JSON of the last interval, `w`.
ask() {
    local program=$1
    shift
    "$CAMP" why --format json "$@" >"$BATS_TEST_TMPDIR/why.json"
    python3 -c "
import json, os, sys
w = [json.loads(line) for line in open(sys.argv[1])][-1]
opened = [call for call in w['calls'] if call['open']]
$program" "$BATS_TEST_TMPDIR/why.json"
}

@test "of a process that hangs camp why shows the call, the file and the process at the other end" {
    need_states
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    sleep 600 >"$BATS_TEST_TMPDIR/fifo" &
    local holder=$!
    cat "$BATS_TEST_TMPDIR/fifo" &
    local reader=$!
    until_it is_asleep_in read "$reader"
    until_it is_asleep_in nanosleep "$holder"
    FIFO="$BATS_TEST_TMPDIR/fifo" HOLDER=$holder ask '
end = "%s with sleep (%s)" % (os.environ["FIFO"], os.environ["HOLDER"])
assert [(call["state"], call["call"], call["count"]) for call in opened] == [("pipe", "read", 1)], opened
assert opened[0]["object"] == end, opened
slept = sum(row["time_ns"] for row in w["tree"] if (row["level"], row["cause"]) == ("cause", "not_ended"))
assert sum(call["sleep_ns"] for call in opened) == slept, (opened, w["tree"])
assert [step["state"] for step in w["chain"]] == ["pipe", "timer"], w["chain"]
assert w["chain"][0]["by"] == w["chain"][1]["who"] == "sleep (%s)" % os.environ["HOLDER"], w["chain"]
assert w["chain"][0]["call"] == "read" and w["chain"][1]["call"] == "clock_nanosleep", w["chain"]
assert w["sentence"].endswith("in pipe, and nothing has woken 100 % of it yet."), w["sentence"]
' "$reader" 0.3 1
    run --separate-stderr "$CAMP" why "$reader" 300ms 1
    [ "$status" -eq 0 ]
    [[ $output == *" 1 open"* ]]
    [[ $output == *" in read of "*" for sleep ($holder), which waits in clock_nanosleep."* ]]
}

@test "camp why names the process that holds the lock of a file for which another one waits" {
    need_states
    local file="$BATS_TEST_TMPDIR/lock"
    python3 -c '
import fcntl, sys, time
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    open(sys.argv[1] + ".taken", "w").close()
    time.sleep(600)' "$file" &
    local holder=$!
    until_it test -e "$file.taken"
    python3 -c '
import fcntl, sys
fcntl.flock(open(sys.argv[1], "w"), fcntl.LOCK_EX)' "$file" &
    local waiter=$!
    until_it grep -q "FLOCK .* $waiter " /proc/locks
    HOLDER=$holder ask '
holder = "(%s)" % os.environ["HOLDER"]
assert [(call["state"], call["call"]) for call in opened] == [("lock", "flock")], opened
assert " held by " in opened[0]["object"] and opened[0]["object"].endswith(holder), opened
assert w["chain"][1]["who"].endswith(holder) and w["chain"][1]["state"] in ("timer", "poll"), w["chain"]
' "$waiter" 0.3 1
}

@test "camp why shows the call of a sleep that began while it watched, and of a stopped process" {
    need_states
    : >"$BATS_TEST_TMPDIR/go"
    python3 -c '
import socket, sys, time
here, there = socket.socketpair()
while not open(sys.argv[1]).read():
    pass
here.recv(1)' "$BATS_TEST_TMPDIR/go" &
    local sleeper=$!
    "$CAMP" why --format json "$sleeper" 0.3 >"$BATS_TEST_TMPDIR/intervals" &
    local camp=$!
    until_it test -s "$BATS_TEST_TMPDIR/intervals"
    echo go >"$BATS_TEST_TMPDIR/go"
    until_it grep -q '"call":"recvfrom"' "$BATS_TEST_TMPDIR/intervals"
    kill -INT "$camp"
    wait "$camp"
    kill -STOP "$sleeper"
    ask '
assert [(call["state"], call["call"]) for call in opened] in ([("stopped", "recvfrom")], [("stopped", "no system call")]), opened
assert "100 % of it stopped" in w["sentence"], w["sentence"]
assert w["chain_text"].endswith(" was stopped 100.0 %, and nothing has continued it yet."), w["chain_text"]
' "$sleeper" 0.3 1
    kill -CONT "$sleeper"
}

@test "the waits for children that have ended are one row of camp why" {
    need_states
    python3 -c '
import os, sys, time
open(sys.argv[1], "w").close()
while True:
    child = os.fork()
    if child == 0:
        time.sleep(0.005)
        os._exit(0)
    os.waitpid(child, 0)' "$BATS_TEST_TMPDIR/started" &
    local parent=$!
    until_it test -e "$BATS_TEST_TMPDIR/started"
    ask '
ended = [call for call in w["calls"] if call["object"] == "children that have ended"]
assert len(ended) == 1 and ended[0]["count"] > 2, w["calls"]
' "$parent" 1 1
}

@test "a recording answers for a process that hangs as camp why does live, by its pid and by its name" {
    need_states
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    sleep 600 >"$BATS_TEST_TMPDIR/fifo" &
    local holder=$! name=hung-$BASHPID
    bash -c 'printf %s "$0" >/proc/self/comm; read -r line <"$1"' "$name" "$BATS_TEST_TMPDIR/fifo" &
    local reader=$!
    until_it is_asleep_in read "$reader"
    until_it is_asleep_in nanosleep "$holder"
    for who in "$reader" "$name"; do
        "$CAMP" record --why --why-of "$who" --force --output "$BATS_TEST_TMPDIR/run.camp" 100ms 3
        FIFO="$BATS_TEST_TMPDIR/fifo" HOLDER=$holder ask '
end = "%s with sleep (%s)" % (os.environ["FIFO"], os.environ["HOLDER"])
assert [(call["state"], call["call"], call["object"]) for call in opened] == [("pipe", "read", end)], opened
slept = sum(row["time_ns"] for row in w["tree"] if (row["level"], row["cause"]) == ("cause", "not_ended"))
assert sum(call["sleep_ns"] for call in opened) == slept, (opened, w["tree"])
assert [step["state"] for step in w["chain"]] == ["pipe", "timer"], w["chain"]
assert w["chain"][1]["who"] == "sleep (%s)" % os.environ["HOLDER"], w["chain"]
assert w["chain"][1]["call"] == "clock_nanosleep", w["chain"]' --from "$BATS_TEST_TMPDIR/run.camp" "$who"
    done
    # A copy has them, too; a file of an earlier camp does not, and is read.
    "$CAMP" record --from "$BATS_TEST_TMPDIR/run.camp" --output "$BATS_TEST_TMPDIR/copy.camp"
    run -0 "$CAMP" why --from "$BATS_TEST_TMPDIR/copy.camp" "$name"
    [[ $output == *" for sleep ($holder), which waits in clock_nanosleep."* ]]
    sqlite3 "$BATS_TEST_TMPDIR/copy.camp" "DROP TABLE cause_open"
    run -0 "$CAMP" why --from "$BATS_TEST_TMPDIR/copy.camp" "$name"
    [[ $output == *"and nothing has woken it yet."* && $output != *" open"* ]]
}

@test "on a terminal of 80 or 60 columns the sentences are wrapped at words, and the answer is not cut" {
    need_states
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    sleep 600 >"$BATS_TEST_TMPDIR/fifo" &
    local holder=$!
    cat "$BATS_TEST_TMPDIR/fifo" &
    local reader=$! columns
    until_it is_asleep_in read "$reader"
    for columns in 80 60; do
        run -0 script -qec "stty cols $columns; '$CAMP' why --color never $reader 200ms 1" /dev/null </dev/null
        output=${output//$'\r'/}
        echo "$output"
        # A word, such as a path, may be longer than a line.
        [ -z "$(awk -v most="$columns" 'length > most && NF > 2' <<<"$output")" ]
        [[ $output != *"…"* && $output == *" 1 open"* && $output == *"($holder)"* ]]
        [[ $(tr -s ' \n' ' ' <<<"$output") == *"for sleep ($holder), which waits in clock_nanosleep."* ]]
    done
    [[ $output == *"(too narrow for p50 ms, p99 ms)"* ]]
}

@test "the chain of a name is the lock for which most of its processes wait, while another one runs" {
    need_states
    local file="$BATS_TEST_TMPDIR/lock" name=chain-$BASHPID
    python3 -c '
import fcntl, sys, time
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    open(sys.argv[1] + ".taken", "w").close()
    time.sleep(600)' "$file" &
    local holder=$!
    until_it test -e "$file.taken"
    for _ in 1 2 3; do
        python3 -c '
import fcntl, sys
open("/proc/self/comm", "w").write(sys.argv[2])
fcntl.flock(open(sys.argv[1], "w"), fcntl.LOCK_EX)' "$file" "$name" &
        until_it grep -q -- "-> FLOCK .* $! " /proc/locks
    done
    # The other one sleeps and wakes up all the time.
    python3 -c '
import sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
open(sys.argv[2], "w").close()
while True:
    time.sleep(0.01)' "$name" "$file.awake" &
    until_it test -e "$file.awake"
    "$CAMP" record --why --why-of "$name" --output "$BATS_TEST_TMPDIR/run.camp" 100ms 5
    for source in "" "--from $BATS_TEST_TMPDIR/run.camp"; do
        # shellcheck disable=SC2046,SC2086 # words of a command
        HOLDER=$holder NAME=$name ask '
end = "(%s)" % os.environ["HOLDER"]
print(w["chain_text"])
assert w["chain_text"].startswith(os.environ["NAME"] + " waited in lock 75."), w["chain_text"]
assert " in flock of " in w["chain_text"] and end + ", which waits in clock_nanosleep." in w["chain_text"], w["chain_text"]
assert w["chain"][0]["state"] == "lock" and w["chain"][1]["who"].endswith(end), w["chain"]
assert sorted(call["who"] for call in opened if call["call"] == "flock") == sorted(
    "%s (%d)" % (os.environ["NAME"], call["pid"]) for call in opened if call["call"] == "flock"), opened
assert len({call["pid"] for call in opened if call["call"] == "flock"}) == 3, opened
' $source "$name" $([ -n "$source" ] || echo 0.4 1)
    done
}
