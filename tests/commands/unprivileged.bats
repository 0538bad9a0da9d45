#!/usr/bin/env bats
# The output for an ordinary user of commands whose default source needs a capability.

bats_require_minimum_version 1.5.0

NOTE="Only the scheduler"

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR/camp"
    for folder in "$BATS_TEST_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do
        [ ! -d "$folder" ] || chmod o+x "$folder"
    done
    mkdir -m 777 "$BATS_TEST_TMPDIR/open"
    cd "$BATS_TEST_TMPDIR/open" || return 1
    user --tier bpf --count 1 && skip "this user may read microstates"
    [ "$status" -eq 4 ] || skip "this kernel has no microstates: $stderr"
}

as_nobody() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# user OPTIONS...: runs camp top as an ordinary user.
user() {
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" top --interval 200ms "$@"
    [ "$status" -eq 0 ]
}

# The note is the only line on stderr, and names the capabilities for all states.
one_note() {
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp $1: $NOTE"*"CAP_BPF and CAP_PERFMON: run as root"* ]]
}

@test "camp top shows an ordinary user the scheduler's times of each thread" {
    user --count 2 --format json
    one_note top
    tail -n 1 <<<"$output" >last.json
    python3 -c "
import json
record = json.load(open('last.json'))
assert record['tier'] == 'schedstat', record['tier']
assert len(record['entities']) > 1
for row in record['entities']:
    assert set(row['states']) == {'cpu_ns', 'run_queue_ns', 'off_cpu_ns'}, row
    assert sum(row['states'].values()) == row['elapsed_ns'] and row['unaccounted_ns'] == 0, row
cpu = [row['states']['cpu_ns'] for row in record['entities']]
assert cpu[0] == max(cpu) > 0, cpu"
    user --count 1
    one_note top
}

# Compares with the scheduler's count of CPU time and of time on the run queue, read before and after.
@test "for an ordinary user, camp record stores the scheduler's CPU time of each thread" {
    while :; do :; done 3>&- &
    busy=$!
    read -r cpu_before queue_before _ <"/proc/$busy/schedstat"
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" record --count 3 --interval 500ms \
        --output run.camp
    read -r cpu_after queue_after _ <"/proc/$busy/schedstat"
    kill "$busy"
    [ "$status" -eq 0 ]
    one_note record
    [ "$(sqlite3 run.camp "SELECT count(*) FROM camp WHERE key = 'note' AND value LIKE '$NOTE%'")" = 1 ]
    read -r cpu queue rest < <(sqlite3 -separator ' ' run.camp "SELECT sum(cpu_ns), sum(run_queue_ns),
        sum(elapsed_ns) - sum(cpu_ns) - sum(run_queue_ns) - sum(off_cpu_ns)
        FROM threads_every WHERE entity = (SELECT entity FROM entity WHERE pid = $busy)")
    echo "CPU $cpu of $((cpu_after - cpu_before)), queue $queue of $((queue_after - queue_before))"
    [ "$cpu" -gt 0 ] && [ "$cpu" -le $((cpu_after - cpu_before)) ]
    [ "$queue" -le $((queue_after - queue_before)) ]
    [ "$rest" -eq 0 ]
}

@test "the error about missing capabilities lists the sources that work without them" {
    for options in "--tier bpf" "--from processes --tier bpf" "--from cgroups" "--group cgroup" "--tree" \
        "--sort disk" "--columns prstat" "--no-syscalls"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" top --count 1 $options
        echo "$options: $status $stderr"
        [ "$status" -eq 4 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *CAP_BPF*"camp doctor; without them: --from threads, processes, users, commands, cpus or check" ]]
    done
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" time --no-syscalls -- true
    [ "$status" -eq 4 ]
    [[ $stderr == *"CAP_BPF and CAP_PERFMON: run as root, or see camp doctor" ]]
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" time --pid $$
    [ "$status" -eq 4 ]
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"*"; camp top --pid $$ shows its CPU time and run queue" ]]
}

@test "camp top --from falls back to tier schedstat with a note for an ordinary user" {
    for source in threads processes users commands; do
        user --from $source --count 1
        one_note top
        [[ ${lines[0]} == *"  $source  tier schedstat  "* ]]
        [[ $output != *"$NOTE"* ]] # the note is only on stderr
    done
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" report --from threads --count 1 --interval 100ms \
        --output named.html
    [ "$status" -eq 0 ]
    one_note report
}

@test "camp top --pid shows an ordinary user only the threads of that process" {
    sleep 60 3>&- &
    sleep=$!
    user --pid "$sleep" --count 1 --format json
    kill "$sleep"
    one_note top
    python3 -c "
import json, sys
rows = json.loads(sys.argv[1])['entities']
assert [(row['name'], row['pid']) for row in rows] == [('sleep', $sleep)], rows" "$output"
}

@test "camp top groups threads by user, process and command for an ordinary user" {
    for words in "user users" "process processes" "command commands" "thread threads"; do
        user --group "${words% *}" --sort run_queue --count 1
        [[ ${lines[0]} == *"  ${words#* }  tier schedstat  "* ]]
    done
    user --format json --count 1
    [ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] || [[ $output == *'"name":"kthreadd"'* ]]
    user --format json --no-kernel-threads --count 1
    [[ $output != *'"name":"kthreadd"'* ]]
}

@test "camp reports to an ordinary user that the process of --pid does not exist" {
    for words in "top --count 1" time; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" $words --pid 4194305
        [ "$status" -eq 1 ]
        [[ $stderr == "camp ${words%% *}: there is no process 4194305"* ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
}

@test "the error about an unknown state for --sort lists the states of tier schedstat" {
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" top --count 1 --sort nothing
    [ "$status" -eq 2 ]
    [[ ${stderr_lines[-1]} == "camp top: --sort nothing: takes one of busy, cpu, run_queue, off_cpu, unaccounted, name, elapsed" ]]
}

# timed OPTIONS -- COMMAND...: runs camp time as an ordinary user, with JSON to time.json.
timed() {
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" time --format json --output time.json "$@"
    echo "status $status, stderr $stderr, $(cat time.json)"
}

asked() {
    python3 -c "
import json
record = json.load(open('time.json'))
usage = {row['usage']: row['time_s'] for row in record['usage']}
$1"
}

@test "camp time shows an ordinary user the wall time and the CPU time with one note" {
    timed -- sh -c 'sleep 0.2; exit 7'
    [ "$status" -eq 7 ] && [ -z "$output" ] && [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp time: Only wall time and CPU time are shown, no states"*"CAP_BPF and CAP_PERFMON: run as root"* ]]
    asked '
assert record["status"] == 7 and record["real_s"] > 0.2, record
assert 0 < usage["on_cpu"] < record["real_s"], record
assert abs(usage["on_cpu"] + usage["off_cpu_least"] - record["real_s"]) < 2e-6, record
assert abs(record["counts"]["user_s"] + record["counts"]["system_s"] - usage["on_cpu"]) < 2e-6
assert not record["counts"]["some_running"], record'
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" time -- echo hello
    [ "$output" = hello ]
    [[ ${stderr_lines[1]} == *" real "* && ${stderr_lines[3]} == on_cpu* ]]
    run -127 as_nobody "$BATS_TEST_TMPDIR/camp" time -- ./nothing
}

# A child, a grandchild and an orphan each print their own CPU time. The parent of the orphan exited before
# the orphan, so camp time has to wait for the orphan.
@test "for an ordinary user, camp time accounts the CPU time of all descendants" {
    cat >burn.py <<'END'
import os, sys, time
while time.process_time() < 0.2:
    pass
open(sys.argv[1], 'w').write(f'{os.getpid()} {time.process_time()}\n')
END
    timed -- sh -c 'python3 burn.py child; sh -c "python3 burn.py grandchild; true"
        sh -c "python3 burn.py orphan &"
        while ! [ -s orphan ] || kill -0 "$(cut -d " " -f 1 orphan)" 2>/dev/null; do sleep 0.02; done'
    [ "$status" -eq 0 ]
    asked '
import os
own = sum(float(open(name).read().split()[1]) for name in ("child", "grandchild", "orphan"))
print(own, usage)
assert own > 0.6 and usage["on_cpu"] >= own, (own, usage)
assert usage["on_cpu"] <= record["real_s"] * os.cpu_count(), usage
assert not record["counts"]["some_running"], record'
}

@test "camp time leaves out the CPU time of children that exited before it started" {
    run -0 as_nobody sh -c 'python3 -c "
import time
while time.process_time() < 0.2:
    pass"
        exec "$0" time --format json --output time.json -- true' "$BATS_TEST_TMPDIR/camp"
    asked 'assert 0 < usage["on_cpu"] < 0.2, usage'
}

@test "camp time reports to an ordinary user that a descendant still runs" {
    timed -- sh -c 'sleep 1 >/dev/null 2>&1 3>&- &'
    asked 'assert record["counts"]["some_running"], record'
}

@test "camp report and camp view print a note about missing capabilities for an ordinary user" {
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" report --count 2 --interval 200ms \
        --output run.html
    [ "$status" -eq 0 ]
    one_note report
    as_nobody bash -c 'echo $$ >view.pid; exec "$1" view' - "$BATS_TEST_TMPDIR/camp" >view.out 2>view.err 3>&- &
    view=$!
    for _ in $(seq 100); do
        [ ! -s view.out ] || break
        sleep 0.1
    done
    kill "$(cat view.pid)" # view.pid is the server; $! only started the server as another user
    wait "$view" || true
    [ -s view.out ]
    [ "$(wc -l <view.err)" -eq 1 ]
    grep -q "$NOTE" view.err
}

@test "camp top --tier schedstat prints no note for an ordinary user" {
    user --from threads --tier schedstat --count 1 --format json
    [ -z "$stderr" ]
    [[ $output == *'"tier":"schedstat"'* ]]
}

@test "tier schedstat refuses options that need the states of threads" {
    for options in "--tree" "--columns prstat" "--group cgroup"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" top --count 1 --tier schedstat $options
        [ "$status" -eq 2 ]
        [ "$stderr" = "camp top: $options needs the states of threads: it goes with --tier bpf" ]
    done
    user --tier schedstat --count 1 --pid $$ --no-kernel-threads
    [ -z "$stderr" ]
    [[ ${lines[0]} == *"  threads  tier schedstat  1 thread" ]]
}
