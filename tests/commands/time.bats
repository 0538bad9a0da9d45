#!/usr/bin/env bats
# camp time: where the wall time of a command and its descendants went.

bats_require_minimum_version 1.5.0

setup() {
    run "$CAMP" time --output "$BATS_TEST_TMPDIR/probe" -- true
    if [ "$status" -eq 4 ] || [[ $output == *"without microstates"* ]]; then
        skip "$output"
    fi
}

# The JSON of a timed command, which goes on in Python as `t`.
ask() {
    local file=$BATS_TEST_TMPDIR/time.json program=$1
    shift
    "$CAMP" time --format json --output "$file" -- "$@" || true
    python3 -c "
import json
t = json.load(open('$file'))
rows = {row['name']: row for row in t['executables']}
$program"
}

@test "time: the exit status is the command's" {
    run -7 "$CAMP" time -- sh -c 'exit 7'
    run -143 "$CAMP" time -- sh -c 'kill -TERM $$'
    run -127 "$CAMP" time -- "$BATS_TEST_TMPDIR/nothing"
    run -126 "$CAMP" time -- "$BATS_TEST_TMPDIR"
}

@test "time: stdout is the command's, the report goes to stderr" {
    run --separate-stderr -0 "$CAMP" time -- echo hello
    [ "$output" = hello ]
    [[ $stderr == *"unaccounted 0.000 s"* ]]
    while read -r line; do [ "${#line}" -le 100 ]; done <<<"$stderr"
}

@test "time: the states of all threads add up to their wall time" {
    ask '
names = [key for key in t["total"] if key.endswith("_ns") and key not in ("unaccounted_ns", "cpu_ns")]
assert len(names) == 16, names
for row in [t["total"], *t["executables"]]:
    assert abs(sum(row[name] for name in names) - row["elapsed_s"] * 1e9) < 2000, row
    assert row["unaccounted_ns"] == 0, row
for name in names + ["processes", "threads", "system_calls"]:
    assert t["total"][name] == sum(row[name] for row in t["executables"]), name
' sh -c 'ls /usr/bin >/dev/null; sleep 0.1; dd if=/dev/zero of=/dev/null bs=1M count=200 2>/dev/null'
}

@test "time: every descendant is there by name, orphans and short ones too" {
    ask '
assert rows["ls"]["processes"] == 40, rows
assert rows["sleep"]["processes"] == 2 and rows["sleep"]["running"] == 0, rows
' sh -c 'for i in $(seq 40); do ls / >/dev/null; done; (sh -c "sleep 0.3 &"); sleep 0.6'
}

# bats test_tags=law
@test "time: a sleep is timer time, a wait for a child child time" {
    ask '
sleep, sh = rows["sleep"], rows["sh"]
assert 0.3e9 <= sleep["timer_ns"] <= 0.3e9 + 0.05e9, sleep
assert 0.28e9 <= sh["child_ns"] <= 0.36e9, sh
' sh -c 'sleep 0.3; true'
}

@test "time: a descendant that still runs is counted so far" {
    ask '
assert rows["sleep"]["running"] == 1, rows
' sh -c 'sleep 2 & sleep 0.05'
}

# bats test_tags=law
@test "time --pid: the microstates of a running process, as the paper prints them" {
    sleep 5 &
    local pid=$!
    run -0 "$CAMP" time --pid $pid --duration 300ms
    kill $pid
    [[ ${lines[0]} == "process $pid (sleep), 1 threads" ]]
    [[ ${lines[1]} =~ ^"Elapsed time"\ +0\.3[0-9]+\ +"Current time" ]]
    [[ $output =~ "Timer sleep"\ +0\.(29|30)[0-9] ]]
    [[ $output == *"unaccounted 0.000 s"* ]]
}

@test "time --pid: ends when the process ends" {
    sleep 2 &
    run -0 "$CAMP" time --pid $!
    [[ $output == *"Elapsed time"* ]]
}

@test "time: what it takes, and what it does not" {
    run -2 --separate-stderr "$CAMP" time
    [[ $stderr == *"pass -- COMMAND, or --pid PID"* ]]
    run -2 "$CAMP" time --pid 1 -- true
    run -2 "$CAMP" time --duration 1s -- true
    run -2 "$CAMP" time --table total -- true
    run -1 --separate-stderr "$CAMP" time --pid 2147483646
    [[ $stderr == *"there is no process 2147483646"* ]]
    run -1 "$CAMP" time --output /nowhere/file -- true
    run -0 "$CAMP" time --no-syscalls -- true
}

@test "time: an ordinary user is told which capabilities are missing" {
    [ "$(id -u)" -eq 0 ] || skip "takes root to become somebody else"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/camp"
    run -4 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$BATS_TEST_TMPDIR/camp" time -- true
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]]
}

@test "time: a full disk on output is a failure" {
    run -1 --separate-stderr "$CAMP" time --output /dev/full -- true
    [[ $stderr == *"No space left"* ]]
}
