#!/usr/bin/env bats
# camp top: where the time of threads goes, by microstate.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load cgroups
load microstates
load ends_with

setup_file() {
    find_refusal top --tier bpf --count 1 --interval 50ms --top 1
}

setup() {
    need_states
}

teardown() {
    end_children
    rm -f "$BATS_TEST_TMPDIR/coming"
}

# Starts short-lived processes named ls until the test ends.
come_and_go() {
    touch "$BATS_TEST_TMPDIR/coming"
    while [ -e "$BATS_TEST_TMPDIR/coming" ]; do
        ls / >/dev/null
        sleep 0.03
    done 3>&- &
}

# around OPTIONS -- COMMAND: prints the output of `camp top OPTIONS` for one interval that starts before the command
# and ends after it. The interval contains the time from ASLEEP to WOKEN, and lies between STARTED and ENDED.
around() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    STARTED=$(date +%s%N)
    "$CAMP" top --count 1 --interval 3600 "${options[@]}" >"$BATS_TEST_TMPDIR/top" 3>&- &
    TOP=$!
    until_it_sleeps "$TOP"
    ASLEEP=$(date +%s%N)
    "$@"
    WOKEN=$(date +%s%N)
    kill -INT "$TOP"
    wait "$TOP"
    ENDED=$(date +%s%N)
    output=$(cat "$BATS_TEST_TMPDIR/top")
}

five_programs() {
    for _ in 1 2 3 4 5; do ls / >/dev/null; done
}

# Runs a Python program, in which `t` is the JSON of the last interval. The command took `outer_s` seconds.
ask() {
    local program=$1 started
    shift
    started=$(date +%s%N)
    "$CAMP" top --count 1 --format json "$@" >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json, sys
outer_s = ($(date +%s%N) - $started) / 1e9
t = [json.loads(line) for line in open(sys.argv[1])][-1]
rows = t['entities']
$program" "$BATS_TEST_TMPDIR/top.json"
}

@test "the states of a row in the JSON of camp top add up to the row's elapsed time" {
    ask '
assert t["schema"] == "camp.frame/1" and t["source"] == "threads" and t["tier"] == "bpf", t
measured = set(rows[0]["states"])
assert set(t["losses"]) == {"unseen", "lost", "unread_ns", "partial"}, t["losses"]
assert 0.3 <= t["interval_s"] <= outer_s and len(rows) > 10, (t["interval_s"], outer_s)
names = [name + "_ns" for name in """user system irq text_fault data_fault kernel_fault lock disk poll socket
pipe timer child other_sleep run_queue stopped""".split()]
# Kernels without the tracepoints of page faults do not show these states.
names = [name for name in names if name in measured or name not in ("text_fault_ns", "kernel_fault_ns")]
for row in rows:
    assert list(row["states"])[:len(names)] == names, row
    assert sum(row["states"].values()) + row["unaccounted_ns"] == row["elapsed_ns"], row
    assert row["unaccounted_ns"] == 0, row
assert "system_calls" in rows[0]["counters"]
' --interval 300ms --group thread
}

# bats test_tags=law
@test "camp top --group counts every living thread in a group" {
    for group in process user command; do
        before=$(cd /proc && echo [0-9]*/task/*)
        ask "
import os; os.chdir('/proc')
# Takes threads that lived before and after. In some virtual machines the threads of process 1 are hidden.
alive = os.popen('grep -asL \') [ZX] \' [0-9]*/task/*/stat').read().split()
lived = {x for x in set('$before'.split()) & {x[:-len('/stat')] for x in alive} if x[:2] != '1/'}
assert t['group'] == '$group'
for row in rows:
    assert sum(row['states'].values()) + row['unaccounted_ns'] == row['elapsed_ns'], row
assert sum(row['count'] for row in rows if not row['ended']) >= len(lived) > 0, len(lived)
kernel = [row for row in rows if row['name'].startswith('kworker')]
assert kernel or '$group' == 'user'
kinds = [(row['name'], row['id'], row['ended']) for row in rows]
assert len(set(kinds)) == len(kinds), kinds
" --interval 300ms --group "$group"
    done
}

@test "camp top names a cgroup by its path" {
    enter_cgroup
    "$CAMP" top --count 1 --interval 200ms --group cgroup --format json >"$BATS_TEST_TMPDIR/top.json"
    leave_cgroup
    python3 -c "
import json, sys
rows = json.load(open(sys.argv[1]))['entities']
row = next(row for row in rows if row['name'] == '/${CGROUPS[0]##*/}/inner')
assert row['count'] == 1 and row['pid'] is None and row['states']['timer_ns'] == row['elapsed_ns'] > 0, row
assert any(row['name'] == '/' and row['count'] > 10 for row in rows), rows
" "$BATS_TEST_TMPDIR/top.json"
}

# bats test_tags=law
@test "camp top shows the number of a cgroup that was removed within the interval" {
    come_and_leave() {
        enter_cgroup
        leave_cgroup
    }
    around --group cgroup --format json -- come_and_leave
    tail -n 1 <<<"$output" | grep -Eq '"name":"cgroup [0-9]+"'
}

@test "camp top reports in one line that no cgroup file system is mounted" {
    unshare -m true 2>/dev/null || skip "cannot make a mount namespace"
    run -1 --separate-stderr unshare -m sh -c "
        awk '\$0 ~ / - cgroup2? / { print \$5 }' /proc/self/mountinfo | xargs -r umount -l
        exec \"\$0\" top --group cgroup --count 1" "$CAMP"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"no cgroups here: no cgroup file system is mounted"* ]]
}

@test "camp top --workload groups processes by name, user and command line" {
    cat >"$BATS_TEST_TMPDIR/workloads" <<'END'
naps      line=^sleep 621\.[0-9]+$ .*
naps      line=^sleep 62[12]\.5$
kernel    user=^root$ name=^(kworker|ksoftirqd|rcu_)
brief     name=^ls$
END
    sleep 621.5 3>&- &
    LOAD=$!
    until_it_sleeps "$LOAD"
    come_and_go
    ask '
assert t["group"] == "workload"
found = {row["name"]: row for row in rows if not row["ended"] or row["name"] == "brief"}
brief = next(row for row in rows if row["name"] == "brief" and row["ended"])
assert set(found) == {"naps", "kernel", "brief", "(unmatched)"}, found.keys()
assert found["naps"]["count"] == 1 and found["naps"]["states"]["timer_ns"] == found["naps"]["elapsed_ns"] > 0, found["naps"]
assert found["naps"]["id"] is None and found["naps"]["pid"] is None
assert found["kernel"]["count"] >= 3
assert brief["count"] >= 1, brief
' --interval 1500ms --workload "$BATS_TEST_TMPDIR/workloads"
    run -0 "$CAMP" top --count 1 --interval 100ms --workload "$BATS_TEST_TMPDIR/workloads"
    [[ $output == *"name  "* ]] && [[ $output == *"(unmatched)"* ]]
    [[ $output != *" id "* ]]
}

@test "the error about a wrong rule in a --workload file names the line of the rule" {
    printf '# a\nweb name=(\n' >"$BATS_TEST_TMPDIR/workloads"
    run -1 --separate-stderr "$CAMP" top --workload "$BATS_TEST_TMPDIR/workloads"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp top: $BATS_TEST_TMPDIR/workloads:2: (: "* ]]
    printf '# nothing\n' >"$BATS_TEST_TMPDIR/workloads"
    run -1 --separate-stderr "$CAMP" top --workload "$BATS_TEST_TMPDIR/workloads"
    [[ $stderr == *"the file has no rule"* ]]
    run -1 --separate-stderr "$CAMP" top --workload /nowhere
    [[ $stderr == *"--workload /nowhere: No such file"* ]]
    run -1 --separate-stderr "$CAMP" top --workload /
    [[ $stderr == *"Is a directory"* ]]
    run -2 --separate-stderr "$CAMP" top --group workload
    [[ $stderr == *"takes --workload FILE"* ]]
    run -2 "$CAMP" top --group user --workload "$BATS_TEST_TMPDIR/workloads"
}

@test "camp top --tree shows child processes under their parents" {
    bash -c 'sleep 600 & sleep 600 & trap "kill %1 %2" TERM; wait' 3>&- &
    LOAD=$!
    until_it eval '[ "$(pgrep -P "$LOAD" -x sleep | wc -l)" = 2 ]'
    ask "
at = next(i for i, row in enumerate(rows) if row['pid'] == $LOAD)
assert rows[at]['parent'] == $BASHPID or rows[at]['parent'] > 0
assert [row['name'] for row in rows[at + 1:at + 3]] == ['sleep', 'sleep'], rows[at:at + 3]
assert all(row['parent'] == $LOAD for row in rows[at + 1:at + 3])
seen = {0}
pids = {row['pid'] for row in rows if not row['ended']}
for row in rows:
    assert row['ended'] or row['parent'] in seen or row['parent'] not in pids, row
    seen.add(row['pid'])
" --interval 200ms --tree
    # A process whose parent is not selected is at the top level.
    # shellcheck disable=SC2046
    run -0 "$CAMP" top --tree --count 1 --interval 200ms --pid "$LOAD" \
        $(pgrep -P "$LOAD" | sed 's/^/--pid /')
    grep -q -A1 -E "^ +$LOAD  bash " <<<"$output"
    grep -A1 -E "^ +$LOAD  bash " <<<"$output" | grep -q -E '^ +[0-9]+   sleep '
    run -2 "$CAMP" top --tree --group user
}

# bats test_tags=law
@test "the CPU time of a load in camp top equals the load's own CPU clock" {
    name=campload$$ # unique, because other runs of this test may be active
    cp "$CAMP" "$BATS_TEST_TMPDIR/$name"
    burn() { # Status 3 means that other processes had the CPU, and the report has a smaller CPU time.
        python3 "$BATS_TEST_DIRNAME/whole_clock.py" "$BATS_TEST_TMPDIR/whole" \
            "$BATS_TEST_TMPDIR/$name" load cpu --percent 100 --duration 1 --format json \
            >"$BATS_TEST_TMPDIR/truth" || [ $? -eq 3 ]
    }
    around --group process --format json -- burn
    python3 -c "
import json
folder = '$BATS_TEST_TMPDIR/'
truth = json.load(open(folder + 'truth'))
whole_ns = int(open(folder + 'whole').read())
[row] = [x for x in json.load(open(folder + 'top'))['entities'] if x['name'] == '$name']
states = row['states']
on_cpu = sum(states.get(name, 0) for name in ('user_ns', 'system_ns', 'trap_ns', 'irq_ns'))
faults = sum(states[name] for name in states if name.endswith('_fault_ns'))
assert row['ended'] and row['count'] == 1, row
# The CPU clock of the exited process is the same clock, so the times are exactly equal.
assert row['counters']['cpu_ns'] == whole_ns, (row, whole_ns)
# During wall_ns the load never slept. The load slept before and after that time.
assert truth['wall_ns'] <= on_cpu + states['run_queue_ns'] + faults <= row['elapsed_ns'], (row, truth)
"
}

# bats test_tags=law
@test "camp top lists a program that exited within the interval by name" {
    around --group process --format json -- five_programs
    python3 -c "
import json
rows = json.load(open('$BATS_TEST_TMPDIR/top'))['entities']
ended = [row for row in rows if row['name'] == 'ls' and row['ended']]
assert len(ended) == 1 and ended[0]['count'] >= 5, ended
assert ended[0]['id'] is None and ended[0]['elapsed_ns'] > 0
"
}

# bats test_tags=law
@test "camp top lists exited threads below the living threads" {
    for group in thread process command user; do
        around --group $group --top 100000 -- five_programs
        # There is a heading for live threads, an empty line, and a heading for exited threads.
        [ "$(grep -c ' thr  usr%' <<<"$output")" -eq 2 ]
        grep -q -B1 '^ *\(id  \)\?ended .* thr  usr%' <<<"$output"
        ended=$(sed -n '/ended .* thr  usr%/,$p' <<<"$output")
        [ "$(grep -E ' thr  usr%' <<<"$output" | awk '{ print length }' | sort -u | wc -l)" = 1 ]
        run ! grep -Eq '^ +-  ' <<<"${output%%  ended  *}"
        if [ $group != user ]; then
            grep -Eq '^( +-  )?ls +[0-9]+ ' <<<"$ended"
        fi
    done
}

@test "camp top prints a line for each CPU" {
    ask '
import os
cpus = t["cpus"]
assert [cpu["cpu"] for cpu in cpus] == sorted(cpu["cpu"] for cpu in cpus)
assert 1 <= len(cpus) <= os.cpu_count() * 64
for cpu in cpus:
    assert list(cpu["states"]) == "user_ns system_ns irq_ns softirq_ns iowait_ns idle_ns".split(), cpu
    assert sum(cpu["states"].values()) + cpu["unaccounted_ns"] == cpu["elapsed_ns"], cpu
' --count 2 --interval 100ms
    around --format json -- sleep 0.5
    python3 -c "
import json, sys
t = json.load(sys.stdin)
for cpu in t['cpus']:
    assert $WOKEN - $ASLEEP <= cpu['elapsed_ns'] <= $ENDED - $STARTED, cpu
assert $WOKEN - $ASLEEP <= t['interval_s'] * 1e9 <= $ENDED - $STARTED, t['interval_s']" <<<"$output"
    run -0 "$CAMP" top --count 2 --interval 300ms --top 3
    grep -A1 '^    cpu   usr%   sys%   irq%  soft%   iow%  idle%   stl%$' <<<"$output" |
        grep -Eq '^ +([0-9]+|all [0-9]+)( +[0-9.]+){7}$'
}

@test "camp top --sort sorts rows by a state" {
    ask '
times = [row["states"]["timer_ns"] for row in rows]
assert times == sorted(times, reverse=True) and len(rows) == 3, times
' --interval 300ms --sort timer --top 3
}

@test "camp top --filter selects rows by name" {
    sleep 600 3>&- &
    LOAD=$!
    until_it_sleeps "$LOAD"
    ask 'assert {row["name"] for row in rows} == {"sleep"}, rows' --interval 100ms --filter '^sleep$'
    ask 'assert {row["name"] for row in rows} == {"root"}, rows' --interval 100ms --group user \
        --filter '^root$'
}

@test "camp top prints all columns of threads in a pipe" {
    run -0 "$CAMP" top --count 1 --interval 100ms
    grep -Eq '^     id  name +thr  usr%  sys%  runq%  thrt%  flt%  dsk%  lck%  slp%   un%$' <<<"$output"
    [[ $output =~ tier\ bpf\ \ ([0-9]+)\ threads ]] # above and below, threads that share a row are counted one by one
    grep -Eq "^${BASH_REMATCH[1]} threads, on average [0-9.]+ in [a-z]+, " <<<"$output"
}

@test "camp top --columns prstat prints the columns of the tool prstat" {
    run -0 "$CAMP" top --count 1 --interval 100ms --columns prstat
    [[ $output == *"   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/NLWP"* ]]
}

@test "camp top --no-syscalls has no system time and no system calls, which are then unknown" {
    ask 'assert not any({"system_ns", "trap_ns"} & set(row["states"]) or "system_calls" in row["counters"]
        for row in rows), rows' --interval 200ms --no-syscalls
}

@test "camp top --no-kernel-threads leaves out kernel threads" {
    ask 'assert any(row["name"].startswith("kworker") for row in rows)' --interval 100ms
    ask 'assert not any(row["name"].startswith("kworker") for row in rows)' --interval 100ms --no-kernel-threads
}

# A BPF iterator shows the processes of camp's PID namespace. /proc shows the processes of the PID namespace
# that mounted /proc.
@test "camp top and camp time report that the kernel hides the threads of the --pid process" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for a PID namespace"
    sleep 60 3>&- &
    sleep=$!
    for words in "top --count 1 --interval 50ms" "top --count 2 --interval 50ms --group thread --format json" \
        "time --duration 50ms"; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr unshare --pid --fork "$CAMP" $words --pid "$sleep"
        echo "$words: $output $stderr"
        [ -z "$output" ]
        [[ $stderr == "camp ${words%% *}: process $sleep exists, but the kernel does not show its threads to camp:"* ]]
    done
    kill "$sleep"
}

@test "camp top refuses wrong option values with status 2" {
    run -2 "$CAMP" top --interval 0
    run -2 "$CAMP" top --sort nothing
    run -2 "$CAMP" top --group nothing
    run -2 "$CAMP" top --filter '('
    run -2 "$CAMP" top --pid x
    run -2 "$CAMP" top --columns prstat --format json
    run -2 "$CAMP" top operand
}

@test "the error of camp top --tier bpf for an ordinary user names the missing capabilities" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/camp"
    run -4 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$BATS_TEST_TMPDIR/camp" top --tier bpf --count 1
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]]
}

@test "camp top ends quietly when the reader of its output closes the pipe" {
    "$CAMP" top --interval 50ms | head -n 1 >/dev/null
}

@test "camp top fails if its output goes to a full disk" {
    run -1 --separate-stderr bash -c '"$0" top --count 1 --interval 50ms >/dev/full' "$CAMP"
    [[ $stderr == *"No space left"* ]]
}

@test "camp top prints the unfinished interval when SIGINT ends it" {
    "$CAMP" top --interval 60 --format json >"$BATS_TEST_TMPDIR/out" &
    LOAD=$!
    until_it_sleeps "$LOAD"
    kill -INT "$LOAD"
    wait "$LOAD"
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$BATS_TEST_TMPDIR/out"
}

@test "camp top --pid refuses a pid without a process" {
    run -1 --separate-stderr "$CAMP" top --pid 99999998 --count 1
    [[ $stderr == "camp top: there is no process 99999998"* ]]
}

@test "camp top --pid ends when the process exits" {
    ends_with_its_process top
    grep -q sleep "$BATS_TEST_TMPDIR/shown"
}

@test "camp top shows the recorded threads in each interval of a recording" {
    local recording=$BATS_TEST_TMPDIR/run.camp
    "$CAMP" record --output "$recording" --count 3 --interval 100ms
    run -1 "$CAMP" top --from "$recording" --begin 2001-01-01 --end 2001-01-02
    [[ $output == *"has no interval in that time: nothing to show" ]]
    run -0 "$CAMP" top --from "$recording" --format json --group thread
    [ "${#lines[@]}" = 3 ]
    printf '%s\n' "${lines[@]}" | python3 -c "
import json, sqlite3, sys
file = sqlite3.connect(sys.argv[1])
for tick, line in enumerate(sys.stdin, 1):
    rows = [row for row in json.loads(line)['entities'] if not row['ended']]
    own = dict(file.execute('SELECT id, elapsed_ns FROM threads_every JOIN entity USING (entity)'
                            ' WHERE tick = ? AND flags & 2 = 0', (tick,)))
    assert {row['id'] for row in rows} == set(own) != set(), (tick, rows, own)" "$recording"
}

@test "camp top --pid and --workload select processes of a recording, not living processes" {
    local recording=$BATS_TEST_TMPDIR/run.camp
    sleep 600 3>&- &
    local pid=$!
    until_it_sleeps "$pid"
    "$CAMP" record --output "$recording" --count 2 --interval 100ms
    kill "$pid"
    wait "$pid" || true
    run -0 "$CAMP" top --from "$recording" --pid "$pid" --format csv
    [ "$(grep -c ",$pid,sleep," <<<"$output")" = 2 ]
    [ "${#lines[@]}" = 3 ]
    # This process is not in the recording.
    sleep 600 3>&- &
    pid=$!
    run -1 --separate-stderr "$CAMP" top --from "$recording" --pid "$pid"
    kill "$pid"
    [[ $stderr == "camp top: --pid $pid: no process of this number is in run.camp (threads)" ]]
    echo 'all line=.' >"$BATS_TEST_TMPDIR/rules"
    run -2 "$CAMP" top --from "$recording" --workload "$BATS_TEST_TMPDIR/rules"
    [[ $output == *"does not know command lines (line=)"* ]]
    echo 'naps name=^sleep$' >"$BATS_TEST_TMPDIR/rules"
    run -0 "$CAMP" top --from "$recording" --workload "$BATS_TEST_TMPDIR/rules"
    [[ $output == *naps* ]]
}
