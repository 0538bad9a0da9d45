#!/usr/bin/env bats
# camp why: each wait divided by its cause.

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

# Runs camp why with the words, and evaluates Python on the JSON of the last interval, `w`.
ask() {
    local program=$1
    shift
    "$CAMP" why --format json "$@" >"$BATS_TEST_TMPDIR/why.json"
    python3 -c "
import json, sys
intervals = [json.loads(line) for line in open(sys.argv[1])]
w = intervals[-1]
rows = w['tree']
states = [row for row in rows if row['level'] == 'state']
def part(*words):
    return sum(row['percent'] for row in rows if (row['state'], row['cause'], row['who']) == words)
# A share of a group that is told apart. On a machine where more processes cause waits than are told apart, it may be one
# of the other processes: the losses then say so.
def rest(percent):
    return percent + w['losses']['others_percent']
$program" "$BATS_TEST_TMPDIR/why.json"
}

@test "the parts of each row of camp why add up to it, and the states to 100 percent" {
    need_states
    start_victim
    ask '
assert w["schema"] == "camp.why/1" and w["pid"] > 0, w
assert w["subject"].startswith("why-victim ("), w["subject"]
assert abs(sum(row["percent"] for row in states) - 100) < 0.001, states
assert sum(row["time_ns"] for row in states) == w["time_ns"]
above = {}
def close(level):
    for lower in [l for l in above if order[l] >= order[level]]:
        row, parts = above.pop(lower)
        if parts:
            assert sum(p["time_ns"] for p in parts) == row["time_ns"], (row, parts)
            assert abs(sum(p["percent"] for p in parts) - row["percent"]) < 0.001, (row, parts)
order = {"state": 0, "cause": 1, "who": 2}
names = ["state", "cause", "who"]
for row in rows:
    close(row["level"])
    if order[row["level"]] > 0:
        above[names[order[row["level"]] - 1]][1].append(row)
    above[row["level"]] = (row, [])
close("state")
# A busy machine may delay camp between its two readings, but not at the end of each interval.
assert min(i["losses"]["reduced_percent"] for i in intervals) < 1, [i["losses"] for i in intervals]
' "$VICTIM" 0.5 4
}

@test "camp why finds the culprit on the CPU and the waker at the pipe, and follows the chain" {
    need_states
    start_victim
    ask '
assert rest(part("run_queue", "group", "why-hog")) > 1, rows
pipe = sum(row["percent"] for row in states if row["state"] == "pipe")
assert pipe > 1, rows
assert rest(part("pipe", "group", "why-waker")) > 0.8 * pipe, rows
assert w["chain"][0]["who"].startswith("why-victim"), w["chain"]
assert any(call["call"] == "read" and call["object"].startswith("pipe:[") and "] with why-" in call["object"]
           for call in w["calls"]), w["calls"]
assert any(row["who"] in ("why-hog", "other processes") for row in w["inflicted"]), w["inflicted"]
' "$VICTIM" 1 1
}

@test "camp why names the other end of sockets, by the address or by the process" {
    [ "$(id -u)" -eq 0 ] || skip "needs root: only root sees the descriptors of all processes"
    need_states
    python3 -c '
import ctypes, os, signal, socket, sys, time
def name(text):
    ctypes.CDLL(None).prctl(15, text, 0, 0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
here, there = socket.socketpair()
listening = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    name(b"why-peer")
    here.close()
    client = socket.create_connection(listening.getsockname())
    while True:
        time.sleep(0.01)
        there.send(b"x")
        time.sleep(0.01)
        client.send(b"x")
there.close()
name(b"why-server")
server = listening.accept()[0]
with open(sys.argv[1], "w") as file:
    file.write("%d" % server.getpeername()[1])
while True:
    here.recv(1)
    server.recv(1)' "$BATS_TEST_TMPDIR/port" &
    local server=$!
    until_it test -s "$BATS_TEST_TMPDIR/port"
    PORT=$(cat "$BATS_TEST_TMPDIR/port") ask '
import os
objects = {call["object"].split("] ", 1)[-1] for call in w["calls"] if call["call"] == "recvfrom"}
assert "to 127.0.0.1:" + os.environ["PORT"] in objects, w["calls"]
assert any(name.startswith("with why-peer (") for name in objects), w["calls"]
' "$server" 0.5 1
}

@test "camp why shows descriptors that it may not read by their numbers alone" {
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user"
    need_states
    start_victim
    public_camp
    local capabilities='+bpf,+perfmon'
    local words=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$capabilities"
        --ambient-caps="$capabilities" --bounding-set="-all,$capabilities" "$BATS_TEST_TMPDIR/camp" why)
    "${words[@]}" --count 1 --interval 50ms >/dev/null || skip "this kernel wants more than CAP_BPF and CAP_PERFMON"
    "${words[@]}" --format csv --table calls "$VICTIM" 0.5 1 >"$BATS_TEST_TMPDIR/calls.csv"
    python3 -c '
import csv, sys
objects = {row["object"] for row in csv.DictReader(open(sys.argv[1])) if row["call"] == "read"}
assert objects and all(name.startswith("fd ") and name[3:].isdigit() for name in objects), objects
' "$BATS_TEST_TMPDIR/calls.csv"
}

@test "camp why NAME has all processes of the name" {
    need_states
    start_victim
    ask '
assert w["subject"] == "why-waker" and w["pid"] is None, w
assert w["threads"] >= 1, w
assert part("timer", "timer", None) > 1, rows
' why-waker 0.5 1
    ask '
assert w["subject"].startswith("all threads") and w["chain"] == [], w
assert abs(sum(row["percent"] for row in states) - 100) < 0.001, states
' --interval 100ms --count 1
}

@test "camp why --by process divides by process" {
    need_states
    start_victim
    ask '
groups = [row for row in rows if row["level"] == "who" and row["cause"] == "group"]
shared = {"other processes", "kernel threads", "outside of this container"}
assert all((row["pid"] is None) == (row["who"] in shared) for row in groups), groups
assert all(row["who"].endswith(" (%d)" % row["pid"]) for row in groups if row["pid"]), groups
assert rest(sum(row["percent"] for row in groups if (row["who"] or "").startswith("why-hog ("))) > 1, rows
' --by process "$VICTIM" 0.5 1
}

@test "camp why as text has the sentence, the tree and the chain" {
    need_states
    start_victim
    run --separate-stderr "$CAMP" why "$VICTIM" 300ms 1
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[1]} == "why-victim ($VICTIM) was on a CPU "*" %; asleep "* ]] ||
        [[ ${lines[1]} == "why-victim ($VICTIM) was on a CPU "* ]]
    [[ $output == *"state, cause, who"* ]]
    [[ $output == *"  woken by"* ]]
    [[ $output == *"chain      why-victim ($VICTIM) waited "* ]]
}

@test "the tree of camp why has all its columns in a terminal of 80" {
    need_states
    start_victim
    VICTIM=$VICTIM NO_COLOR=1 LC_ALL=C.UTF-8 CAMP=$CAMP script -qec \
        'stty cols 80; "$CAMP" why "$VICTIM" 300ms 1' /dev/null </dev/null >"$BATS_TEST_TMPDIR/terminal" 3>&-
    grep -q '^state, cause, who .* p50 ms *p99 ms *max ms' "$BATS_TEST_TMPDIR/terminal"
}

@test "in a terminal of 40, each process that waited for a CPU behind the subject has its time" {
    need_states
    start_victim
    VICTIM=$VICTIM NO_COLOR=1 LC_ALL=C.UTF-8 CAMP=$CAMP script -qec \
        'stty cols 40; "$CAMP" why "$VICTIM" 1s 1' /dev/null </dev/null >"$BATS_TEST_TMPDIR/terminal" 3>&-
    tr -d '\r' <"$BATS_TEST_TMPDIR/terminal" | sed -n '/^who waited/,/^behind it/p' >"$BATS_TEST_TMPDIR/waited"
    cat "$BATS_TEST_TMPDIR/terminal"
    head -1 "$BATS_TEST_TMPDIR/waited" | grep -q ' ms$'
    grep -qE '^why-hog .* [0-9]+\.[0-9]{3}$' "$BATS_TEST_TMPDIR/waited"
}

@test "camp why ends when its process has ended, and says so in one line" {
    need_states
    sleep 60 &
    local sleeper=$! status=0
    timeout 60 "$CAMP" why "$sleeper" 100ms >"$BATS_TEST_TMPDIR/output" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
    local camp=$!
    until_it test -s "$BATS_TEST_TMPDIR/output"
    kill "$sleeper"
    wait "$camp" || status=$?
    [ "$status" -eq 0 ]
    [ "$(cat "$BATS_TEST_TMPDIR/stderr")" = "camp why: process $sleeper has ended" ]
}

@test "camp why says that its process ended during its only interval, whose causes it shows" {
    need_states
    sleep 60 &
    local sleeper=$! status=0
    "$CAMP" why --json "$sleeper" 3s 1 >"$BATS_TEST_TMPDIR/output" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
    local camp=$!
    until_it_sleeps "$camp"
    kill "$sleeper"
    wait "$camp" || status=$?
    [ "$status" -eq 0 ]
    [ "$(cat "$BATS_TEST_TMPDIR/stderr")" = "camp why: process $sleeper has ended" ]
    grep -q "\"pid\":$sleeper," "$BATS_TEST_TMPDIR/output"
}

@test "the calls of a process that ends are at most the states in which it slept" {
    need_states
    local seconds
    for seconds in 1.55 2.02; do
        sleep "$seconds" &
        ask '
for i in intervals:
    for name in {call["state"] for call in i["calls"]}:
        slept = sum(call["sleep_ns"] for call in i["calls"] if call["state"] == name)
        assert slept <= sum(row["time_ns"] for row in i["tree"] if row["level"] == "state" and row["state"] == name), i
assert any(call["sleep_ns"] > 0 for i in intervals for call in i["calls"]), intervals
' "$!" 100ms
    done
}

@test "a process that does not exist, and a name that no process has, fail in one line" {
    run --separate-stderr "$CAMP" why 99999999 100ms 1
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: there is no process 99999999 "* ]]
    [ -z "$output" ]
    need_states
    run --separate-stderr "$CAMP" why no-such-name 100ms 1
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp why: no process has the name no-such-name" ]
    run --separate-stderr "$CAMP" why 2s 3
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp why: no process has the name 2s: the first operand is the process; for an interval of all threads give -i 2s" ]
    start_victim
    run --separate-stderr "$CAMP" why WHY-VICTIM 100ms 1
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp why: no process has the name WHY-VICTIM: did you mean 'why-victim'?" ]
}

@test "of a thread camp why names the process to give" {
    need_states
    python3 -c '
import ctypes, threading, time
def work():
    ctypes.CDLL(None).prctl(15, b"why-a-thread", 0, 0, 0)
    print(threading.get_native_id(), flush=True)
    time.sleep(60)
threading.Thread(target=work).start()' >"$BATS_TEST_TMPDIR/thread" 3>&- &
    local process=$!
    until_it test -s "$BATS_TEST_TMPDIR/thread"
    local thread
    thread=$(<"$BATS_TEST_TMPDIR/thread")
    run -1 --separate-stderr "$CAMP" why "$thread" 100ms 1
    [ "$stderr" = "camp why: there is no process $thread: it is a thread of the process $process" ]
    run -1 --separate-stderr "$CAMP" why why-a-thread 100ms 1
    [ "$stderr" = "camp why: no process has the name why-a-thread: it is of a thread of the process $process" ]
}

@test "camp why NAME goes on when the last process of the name has ended" {
    need_states
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/why-brief"
    "$BATS_TEST_TMPDIR/why-brief" 600 &
    local brief=$! output=$BATS_TEST_TMPDIR/output camp status=0
    "$CAMP" why --format json why-brief 0.2 >"$output" 2>"$BATS_TEST_TMPDIR/stderr" &
    camp=$!
    until_it test -s "$output"
    kill "$brief"
    until_it grep -q 'had no thread in this interval' "$output"
    kill -INT "$camp"
    wait "$camp" || status=$?
    [ "$status" -eq 0 ]
    [ ! -s "$BATS_TEST_TMPDIR/stderr" ]
    python3 -c '
import json, sys
intervals = [json.loads(line) for line in open(sys.argv[1])]
assert intervals[0]["time_ns"] > 0 and len(intervals[0]["tree"]) > 0, intervals[0]
assert intervals[-1]["subject"] == "why-brief" and intervals[-1]["time_ns"] == 0, intervals[-1]
assert intervals[-1]["tree"] == [], intervals[-1]
' "$output"
}

@test "camp why accounts processes that end within the interval" {
    need_states
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/why-short"
    (while true; do "$BATS_TEST_TMPDIR/why-short" 0.03; done) &
    ask '
assert w["threads"] > 2, w["threads"]
assert part("timer", "timer", None) > 10, rows
assert min(i["losses"]["reduced_percent"] for i in intervals) < 10, [i["losses"] for i in intervals]
' why-short 1 4
}

@test "camp why of a kernel thread says that kernel threads are one group" {
    need_states
    [ "$(ps -o ppid= -p 2 2>/dev/null | tr -d ' ')" = 0 ] || skip "kernel threads are not visible in this container"
    run --separate-stderr "$CAMP" why kthreadd 100ms 1
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: 'kthreadd' is a kernel thread, and all kernel threads are one group: "* ]]
    [ -z "$output" ]
    run --separate-stderr "$CAMP" why 2 100ms 1
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: '2' is a kernel thread, "*"; for an interval give -i 2" ]]
}

@test "wrong operands of camp why are usage errors in one line" {
    run --separate-stderr "$CAMP" why 0
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp why: '0' is not a pid: give a number of at least 1, or a name" ]
    run --separate-stderr "$CAMP" why ''
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp why: the name of the process is empty" ]
    run --separate-stderr "$CAMP" why one two
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp why: 'two' is one operand too many: give one process or name" ]
    run --separate-stderr "$CAMP" why one 1 2 3
    [ "$status" -eq 2 ]
    run --separate-stderr "$CAMP" why one 0
    [ "$status" -eq 2 ]
}

@test "without capabilities camp why says so in one line, with exit status 4" {
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user"
    need_states
    public_camp
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" why --count 1
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [[ $stderr == "camp why: microstates need CAP_BPF and CAP_PERFMON"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}
