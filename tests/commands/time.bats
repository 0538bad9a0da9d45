#!/usr/bin/env bats
# camp time: where the wall time of a command and its descendants went.

bats_require_minimum_version 1.5.0
load microstates

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_microstates
}

# Runs a Python program, in which `t` is the JSON of a timed command.
ask() {
    local file=$BATS_TEST_TMPDIR/time.json program=$1
    shift
    "$CAMP" time --format json --output "$file" -- "$@" || true
    python3 -c "
import json, sys
t = json.load(open(sys.argv[1]))
rows = {row['name']: row for row in t['executables']}
$program" "$file"
}

@test "camp time exits with the status of its command" {
    run -7 "$CAMP" time -- sh -c 'exit 7'
    run -143 "$CAMP" time -- sh -c 'kill -TERM $$'
    run -127 "$CAMP" time -- "$BATS_TEST_TMPDIR/nothing"
    run -126 "$CAMP" time -- "$BATS_TEST_TMPDIR"
}

@test "camp time starts its command with the SIGPIPE setting that it inherited" {
    # Bit 12 is SIGPIPE. Other signals may be ignored here, such as SIGINT in a background job.
    # shellcheck disable=SC2016
    for before in true "trap '' PIPE"; do
        run -0 sh -c "$before"'; grep SigIgn /proc/self/status'
        expected=$((16#${output##*[[:space:]]} >> 12 & 1))
        run -0 --separate-stderr sh -c "$before"'; exec "$0" time -- grep SigIgn /proc/self/status' "$CAMP"
        [ $((16#${output##*[[:space:]]} >> 12 & 1)) -eq "$expected" ]
    done
}

@test "camp time gives its command the signals, limits and descriptors that it inherited" {
    cd "$BATS_TEST_TMPDIR"
    inherited='grep -E "^Sig(Ign|Blk|Cgt)" /proc/self/status; cat /proc/self/limits; ls /proc/self/fd'
    for ignored in '' INT 'INT QUIT PIPE TERM HUP XFSZ'; do
        # shellcheck disable=SC2086 # a word for each signal
        (
            ulimit -S -n 200
            [ -z "$ignored" ] || trap '' $ignored
            sh -c "$inherited" >plain 7</dev/null
            "$CAMP" time -- sh -c "$inherited" >under_camp 7</dev/null
        )
        grep -q '^Max open files  *200 ' plain
        grep -qx 7 plain
        diff plain under_camp
    done
    # The program that runs the tests may ignore others, too.
    [ $((16#$(awk '/^SigIgn/ { print $2 }' plain) & 0x1005007)) -eq $((0x1005007)) ]
}

@test "camp time writes its report to stderr" {
    run --separate-stderr -0 "$CAMP" time -- echo hello
    [ "$output" = hello ]
    [[ $stderr == *"unaccounted 0.000 s"* ]]
    while read -r line; do [ "${#line}" -le 100 ]; done <<<"$stderr"
}

# Prints the percentages of states, with their headings, on a terminal of $1 columns.
percentages_on_terminal() {
    NO_COLOR=1 script -qec "stty cols $1 rows 24; '$CAMP' time -- sh -c 'sleep 0.1; true'" /dev/null |
        tr -d '\r' | grep -A2 -E '^[a-z]+ +proc +time s  '
}

@test "the percentages of camp time, including sleep, add up to 100 in a pipe and on a terminal" {
    run --separate-stderr -0 "$CAMP" time -- sh -c 'sleep 0.1; true'
    grep -A2 -E '^[a-z]+ +proc +time s   usr%   sys%  runq%  thrt%   flt%   dsk%   lck%   slp%$' <<<"$stderr" >pipe
    percentages_on_terminal 80 >terminal80
    percentages_on_terminal 50 >terminal50
    head -n 1 terminal50 | grep -E 'usr% .*slp%'
    for shown in pipe terminal80 terminal50; do
        cat $shown
        [ "$(wc -l <$shown)" -eq 3 ]
        head -n 1 $shown | grep 'slp%'
        # A mark (… or ..) is in place of a number that does not fit.
        tail -n 2 $shown | awk '{ sum = 0; for (i = 4; i <= NF; i++) sum += $i; if (sum > 100.5 || sum < 99.5 && $NF ~ /^[0-9]/) exit 1 }'
    done
    [ "$(awk '{ if (length > most) most = length } END { print most }' terminal80)" -le 80 ]
}

@test "camp time prints the mean number of threads on a CPU and on the run queue" {
    run --separate-stderr -0 "$CAMP" time -- sh -c 'sleep 0.1; true'
    python3 - "$stderr" <<'END'
import re, sys
text = sys.argv[1]
real, cpu, cpus, queue, threads = map(float, re.search(
    r'real (\S+) s, .*\non CPUs (\S+) s \((\S+) CPUs on average\), on the run queue (\S+) s \((\S+) threads\)\n',
    text).groups())
assert abs(cpu / real - cpus) < 0.02 and abs(queue / real - threads) < 0.02, text
whole, = re.findall(r'^state +time s +% of (\S+) s of threads$', text, re.M)
assert re.search(rf"^threads' wall time {whole} s, ", text, re.M), text
END
}

@test "the states in camp time add up to the wall time of all threads" {
    ask '
names = [key for key in t["total"] if key.endswith("_ns") and key not in ("unaccounted_ns", "cpu_ns")]
assert len(names) >= 16, names
for row in [t["total"], *t["executables"]]:
    assert abs(sum(row[name] for name in names) - row["elapsed_s"] * 1e9) < 2000, row
    assert row["unaccounted_ns"] == 0, row
for name in names + ["processes", "threads", "system_calls"]:
    assert t["total"][name] == sum(row[name] for row in t["executables"]), name
' sh -c 'ls /usr/bin >/dev/null; sleep 0.1; dd if=/dev/zero of=/dev/null bs=1M count=200 2>/dev/null'
}

@test "camp time reports every descendant by name, even if short-lived" {
    ask '
assert rows["ls"]["processes"] == 40, rows
assert rows["sleep"]["processes"] == 2 and rows["sleep"]["running"] == 0, rows
' sh -c 'for i in $(seq 40); do ls / >/dev/null; done; (sh -c "sleep 0.3 &"); sleep 0.6'
}

# bats test_tags=law
@test "camp time reports the name that a process gave itself" {
    # shellcheck disable=SC2016
    ask '
assert rows["renamed"]["processes"] == 1, rows' sh -c 'printf renamed >/proc/$$/comm; true'
    run "$CAMP" time -- true
    [[ $output == *$'\nname  '* ]]
}

@test "camp time reports a sleep as state timer and a wait for a child as state child" {
    ask '
import time
sleep, sh = rows["sleep"], rows["sh"]
whole_ns = time.time_ns() - '"$(date +%s%N)"'
# The child sleeps for 0.3 s. The shell waits for the whole life of the child, except for its own CPU time.
assert 0.3e9 <= sleep["timer_ns"] <= whole_ns, (sleep, whole_ns)
own_ns = sum(sh[key] for key in sh if key.endswith("_fault_ns")) + sh.get("trap_ns", 0) + sum(
    sh[key] for key in ("user_ns", "system_ns", "irq_ns", "disk_ns", "run_queue_ns"))
assert sleep["elapsed_s"] * 1e9 - own_ns <= sh["child_ns"] <= whole_ns, (sleep, sh)
assert max(sh, key=lambda key: sh[key] if key.endswith("_ns") and key != "run_queue_ns" else 0) == "child_ns", sh
' sh -c 'sleep 0.3; true'
}

@test "camp time reports a descendant that still runs as running" {
    ask '
assert rows["sleep"]["running"] == 1, rows
' sh -c 'sleep 2 & sleep 0.05'
}

# bats test_tags=law
@test "camp time --pid prints the states of a process in the layout of the CAMP paper" {
    sleep 600 3>&- &
    local pid=$!
    until [[ $(cat "/proc/$pid/wchan") == *nanosleep* ]]; do sleep 0.05; done
    run -0 "$CAMP" time --pid $pid --duration 50ms
    [[ ${lines[0]} == "process $pid (sleep), 1 thread" ]]
    [[ ${lines[1]} =~ ^"Elapsed time"\ +([0-9.]+)\ +"Current time" ]]
    [[ $output =~ "Timer sleep"\ +([0-9.]+) ]]
    [[ $output == *"unaccounted 0.000 s"* ]]
    local before_ns after_ns
    before_ns=$(date +%s%N)
    "$CAMP" time --pid $pid --duration 300ms --format json >"$BATS_TEST_TMPDIR/times"
    after_ns=$(date +%s%N)
    kill $pid
    # The process slept all the time. The first snapshot may be late, and the last is after the duration.
    python3 - "$((after_ns - before_ns))" "$BATS_TEST_TMPDIR/times" <<'END'
import json, sys
most, times = int(sys.argv[1]), json.load(open(sys.argv[2]))
process = times['total']
assert process['timer_ns'] == round(process['elapsed_s'] * 1e9) <= most, (process, most)
assert 0.3 <= times['real_s'] <= most / 1e9, (times, most)
END
}

@test "camp time --pid ends when the process ends" {
    sleep 600 3>&- &
    local pid=$! camp
    "$CAMP" time --pid $pid >"$BATS_TEST_TMPDIR/out" 3>&- &
    camp=$!
    until find "/proc/$camp/fd" -lname '*bpf_link*' | grep -q . &&
        [[ $(cat "/proc/$camp/wchan") =~ poll|nanosleep ]]; do # camp waits for the process
        kill -0 $camp
        sleep 0.1
    done
    kill $pid
    wait $camp
    output=$(cat "$BATS_TEST_TMPDIR/out")
    [[ $output == *"Elapsed time"* ]]
}

@test "camp time --pid ends even if the process ends before the measurement starts" {
    local file="$BATS_TEST_TMPDIR/camp" pid camp
    bash -c 'until [[ -s $0 ]] && find "/proc/$(<"$0")/fd" -lname "*bpf-map*" | grep -q .; do
        :
    done' "$file" 3>&- &
    pid=$!
    "$CAMP" time --pid $pid >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    camp=$!
    echo $camp >"$file"
    wait $pid
    for ((i = 0; i < 150; i++)); do
        kill -0 $camp || return 0
        sleep 0.1
    done
    kill $camp
    false
}

@test "camp time refuses wrong combinations of arguments" {
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

@test "camp time fails if its report goes to a full disk" {
    run -1 --separate-stderr "$CAMP" time --output /dev/full -- true
    [[ $stderr == *"No space left"* ]]
}

@test "camp time exits with 127 or 126, like a shell, if its command cannot be run" {
    run -127 --separate-stderr "$CAMP" time -- ./no_such_command
    [ "$stderr" = "camp time: ./no_such_command: No such file or directory" ] && [ -z "$output" ]
    touch "$BATS_TEST_TMPDIR/plain"
    run -126 --separate-stderr "$CAMP" time --format json --output "$BATS_TEST_TMPDIR/out" -- "$BATS_TEST_TMPDIR/plain"
    [ "$stderr" = "camp time: $BATS_TEST_TMPDIR/plain: Permission denied" ]
    [ ! -s "$BATS_TEST_TMPDIR/out" ]
}

@test "options after the command of camp time belong to that command" {
    run -7 --separate-stderr "$CAMP" time sh -c 'echo "$@"; exit 7' - -la --format
    [ "$output" = "-la --format" ]
}
