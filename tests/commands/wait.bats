#!/usr/bin/env bats
# camp wait: five definitions of I/O wait, and which tasks waited for which disk.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load microstates
load ends_with

setup_file() {
    find_refusal wait --count 1 --interval 50ms --tier bpf
}

teardown() {
    end_children
    wait
    [ -z "${FILE:-}" ] || rm -f "$FILE"
}

# Runs Python code on the JSON of the intervals: `w` is the last interval, and `cpus` has its CPUs by id.
ask() {
    local program=$1
    shift
    "$CAMP" wait --format json "$@" >"$BATS_TEST_TMPDIR/wait.json"
    python3 -c "
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
w = records[-1]
cpus = {row['cpu']: row for row in w['cpus']}
tasks = w['tasks']
$program" "$BATS_TEST_TMPDIR/wait.json"
}

# Reads a file of a disk without the page cache, only on the last CPU, until the end of the test.
start_reader() {
    FILE=$(mktemp /var/tmp/camp-wait-XXXXXX)
    dd if=/dev/zero of="$FILE" bs=1M count=64 conv=fsync status=none
    dd if="$FILE" of=/dev/null bs=64K count=1 iflag=direct status=none ||
        skip "/var/tmp is on no disk that can be read past the page cache"
    READER_CPU=$(($(getconf _NPROCESSORS_ONLN) - 1))
    taskset -c "$READER_CPU" python3 -c '
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block = mmap.mmap(-1, 1 << 20)
while True:
    for i in range(64):
        os.preadv(file, [block], i << 20)' "$FILE" &
    READER=$!
}

@test "camp wait prints JSON with a row for each CPU" {
    need_states
    ask '
assert len(records) == 2
for r in records:
    assert r["schema"] == "camp.wait/1" and r["tier"] == "bpf" and r["tier_lacks"] is None, r
    assert r["interval_s"] > 0
assert len(cpus) == w["machine"]["cpus"] > 0
near = 1e-6 # numbers are printed with 9 digits
for row in [*w["cpus"], w["machine"]]:
    assert set(row) >= {"any_percent", "any_divided_percent", "own_percent", "kernel_percent",
                        "idle_percent", "user_percent", "steal_percent"}, row
    busy = sum(row[n + "_percent"] for n in ("user", "system", "irq", "softirq"))
    assert abs(busy + row["idle_percent"] - 100) < near, row
    for part in ("any", "own"):
        assert 0 <= row[part + "_percent"] <= row["idle_percent"] + near, row
    assert abs(row["any_divided_percent"] * len(cpus) - row["any_percent"]) < near, row
assert set(w["losses"]) == {"unseen", "lost", "partial"}
for task in tasks:
    assert set(task) == {"pid", "tid", "name", "disk", "wait_ns"} and task["wait_ns"] > 0, task
' --count 2 --interval 200ms
}

# bats test_tags=law
@test "the waits of the tasks in camp wait add up to the total of the machine" {
    need_states
    start_reader
    ask '
waits = [task["wait_ns"] for task in tasks]
assert waits and waits == sorted(waits, reverse=True), waits
whole = w["interval_s"] * 1e9
assert abs(100 * sum(waits) / whole - w["machine"]["tasks_percent"]) < 1e-3, w
nowhere = sum(task["wait_ns"] for task in tasks if task["disk"] is None)
assert abs(100 * nowhere / whole - w["machine"]["unattributed_percent"]) < 1e-3, w
' --count 2 --interval 500ms
}

# If a CPU is idle for a share I of an interval, and a task waits for a share W, both are true at the same time for
# at least I + W - 1. Tasks and CPUs are read one after the other, both before `asleep` and after `woken`, so a wait
# between these two moments is in both intervals.
# bats test_tags=law
@test "camp wait shows a disk wait in the column 'any' of every idle CPU" {
    need_states
    start_reader
    [ "$READER_CPU" -gt 0 ] || skip "takes two CPUs"
    local started asleep woken ended camp
    started=$(date +%s%N)
    "$CAMP" wait --interval 3600 --format json >"$BATS_TEST_TMPDIR/wait.json" &
    camp=$!
    until_it_sleeps "$camp"
    asleep=$(date +%s%N)
    sleep 2
    woken=$(date +%s%N)
    kill -INT "$camp"
    wait "$camp"
    ended=$(date +%s%N)
    python3 -c "
import json, sys
w = json.load(sys.stdin)
inner, outer, whole = $woken - $asleep, $ended - $started, w['interval_s'] * 1e9
reader = sum(task['wait_ns'] for task in w['tasks'] if task['pid'] == $READER)
others = w['machine']['tasks_percent'] * whole / 100 - reader
assert reader > 0, w
waited = 100 * (reader - (whole - inner)) / outer # at least, of any interval around the inner one
near = 1e-6 # numbers are printed with 9 digits
for row in w['cpus']:
    least = row['idle_percent'] + waited - 100
    assert least <= row['any_percent'] + near, (row, waited)
    assert row['own_percent'] <= row['any_percent'] + near <= row['idle_percent'] + 2 * near, row
    if row['cpu'] == $READER_CPU:
        assert least <= row['own_percent'] + near, (row, waited)
    else:
        assert row['own_percent'] <= 100 * (others + outer - inner) / inner, (row, others)
print('# waited', waited, [(row['idle_percent'], row['any_percent'], row['own_percent']) for row in w['cpus']])
" <"$BATS_TEST_TMPDIR/wait.json"
}

# bats test_tags=law
@test "camp wait names the disk for which a process with direct I/O waits" {
    need_states
    start_reader
    local number
    number=$(stat -c '%Hd:%Ld' "$FILE")
    [ -e "/sys/dev/block/$number" ] || skip "$FILE lies on no block device of its own"
    DISK=$(basename "$(readlink "/sys/dev/block/$number")")
    [[ $DISK != dm-* && $DISK != md* ]] || skip "$DISK hands on to others"
    ask "
reader = [task for task in tasks if task['pid'] == $READER]
assert [task['disk'] for task in reader] == ['$DISK'], reader
" --count 2 --interval 500ms
}

@test "camp wait selects rows by --pid and --top without changing the sums" {
    need_states
    start_reader
    ask "
assert {task['pid'] for task in tasks} == {$READER} and w['machine']['tasks_percent'] > 1, w
" --count 1 --interval 1s --pid "$READER"
    ask 'assert len(tasks) == 1' --count 1 --interval 300ms --top 1
    ask 'assert tasks == [] and w["machine"]["tasks_percent"] > 1, w' --count 1 --interval 1s --pid $$
}

@test "the text of camp wait explains its columns and fits 80 columns" {
    need_states
    start_reader
    run -0 "$CAMP" wait --count 2 --interval 300ms
    [[ $output == *"    cpu    idle %     any %  any/CPUs %     own %  kernel %"* ]]
    [[ $output == *"    pid      tid  name             disk             wait ms   wait %"* ]]
    [[ $output =~ [0-9]{2}:[0-9]{2}:[0-9]{2}"  0."[0-9]{2}" s  tier bpf  "[0-9]+" CPU" ]]
    [[ $output =~ "CPUs idle "[0-9.]+" % of their time because their threads waited for a disk (own)." ]]
    [[ $output == *"any, any/CPUs and kernel are older definitions of the same."* ]]
    [[ $output == *$'\n'"all CPUs   any "* ]]
    [[ $output == *$'\n'"tasks      "* ]]
    [ "$(awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
    [[ $output != *$'\033'* ]]
}

@test "camp wait --format classic prints the columns of mpstat" {
    need_states
    run -0 "$CAMP" wait --count 2 --interval 300ms --format classic
    python3 -c '
import re, sys
blocks = sys.stdin.read().rstrip("\n").split("\n\n")
assert len(blocks) == 2, blocks
lines = blocks[1].splitlines()
names = "CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle".split()
assert lines[0].split()[1:] == names, lines
assert lines[1].split()[1] == "all" and lines[2].split()[1] == "0", lines
for line in lines:
    assert re.match(r"\d\d:\d\d:\d\d   ", line) and len(line) == len(lines[0]) == 96, line
for line in lines[1:]:
    row = dict(zip(names, line.split()[1:]))
    printed = [float(row[n]) for n in names[1:] if row[n] != "-" and n != "%steal"]
    # Each percentage is rounded to two digits after the point.
    assert len(printed) == 6 and abs(sum(printed) - 100) < len(printed) * 0.005 + 1e-9, line
' <<<"$output"
}

@test "camp wait --format mpstat prints the columns of Solaris, whose times add up to 100" {
    run -0 --separate-stderr "$CAMP" wait --count 2 --interval 300ms --format mpstat
    python3 -c '
import sys
names = "CPU minf mjf xcal intr ithr csw icsw migr smtx srw syscl usr sys wt idl".split()
rows = [line.split() for line in sys.stdin]
assert rows[0] == names and rows[1][0] == "all" and rows[2][0] == "0", rows
assert [row[0] for row in rows].count("CPU") == 2, rows
for row in rows:
    assert len(row) == len(names), row
    if row[0] != "CPU":
        assert {row[names.index(name)] for name in ("ithr", "migr", "smtx", "srw")} == {"-"}, row
        assert abs(sum(map(int, row[-4:])) - 100) <= 2, row  # four rounded numbers
        assert int(row[names.index("intr")]) >= 0, row
' <<<"$output"
}

@test "camp wait --format vmstat prints the columns of Solaris, with one heading" {
    run -0 --separate-stderr "$CAMP" wait --count 3 --interval 200ms --format vmstat
    [ "${#lines[@]}" -eq 5 ]
    python3 -c '
import sys
rows = [line.split() for line in sys.stdin][1:]
names = rows[0]
assert names[:12] == "r b w swap free re mf pi po fr de sr".split(), names
assert names[-6:] == "in sy cs us sy id".split(), names
for row in rows[1:]:
    assert len(row) == len(names), row
    assert row[2] == row[5] == row[10] == "-", row
    assert abs(sum(map(int, row[-3:])) - 100) <= 2, row
    assert int(row[3]) >= int(row[4]) > 0, row
' <<<"$output"
}

# The counts of camp wait lie between those of /proc around its run.
# bats test_tags=law
@test "the rates of camp wait are those of the counters in /proc" {
    counter() { awk -v name="$2" '$1 == name { print $2 }' "/proc/$1"; }
    local switches faults
    switches=$(counter stat ctxt) faults=$(counter vmstat pgfault)
    "$CAMP" wait --count 1 --interval 500ms --format json 2>/dev/null >"$BATS_TEST_TMPDIR/wait.json"
    switches=$(($(counter stat ctxt) - switches)) faults=$(($(counter vmstat pgfault) - faults))
    python3 -c "
import json, sys
w = json.load(sys.stdin)
system, seconds = w['system'], w['interval_s']
assert 0 < system['context_switches_per_s'] * seconds <= $switches * 1.01, (system, $switches)
assert 0 <= system['minor_faults_per_s'] * seconds <= $faults * 1.01, (system, $faults)
total = sum(cpu['interrupts_per_s'] for cpu in w['cpus'])
assert 0.9 < total / system['interrupts_per_s'] < 1.1, (total, system)
assert system['available_bytes'] > 0, system
" <"$BATS_TEST_TMPDIR/wait.json"
}

@test "all rows of a CSV table of camp wait have as many fields as its header" {
    for table in cpus tasks machine system disks losses; do
        run -0 --separate-stderr "$CAMP" wait --count 2 --interval 100ms --format csv --table $table
        python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0][0] == 'time' and all(len(row) == len(rows[0]) for row in rows), rows
assert len(rows) >= 2 or '$table' == 'tasks'" <<<"$output"
    done
}

@test "camp wait on tier kernel shows only the kernel's definition of iowait" {
    ask '
assert w["tier"] == "kernel" and w["tier_lacks"], w
for row in [*w["cpus"], w["machine"]]:
    assert row["any_percent"] is row["any_divided_percent"] is row["own_percent"] is None, row
    assert row["kernel_percent"] is not None and row["idle_percent"] is not None, row
assert tasks == [] and w["machine"]["tasks_percent"] is None
' --count 1 --interval 300ms --tier kernel
    run -0 --separate-stderr "$CAMP" wait --count 1 --interval 100ms --tier kernel
    [ -z "$stderr" ]
    [[ $output == *"tier kernel"* ]]
    run -0 "$CAMP" wait --count 1 --interval 100ms --tier kernel --format classic
    [[ ${lines[1]} == *" all "* ]]
}

@test "camp wait falls back to tier kernel for an ordinary user" {
    [ "$(id -u)" -eq 0 ] || skip "takes root to become somebody else"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/camp"
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/camp" "$@"; }
    run -0 --separate-stderr as_nobody wait --count 1 --interval 100ms --format json
    [[ $output == *'"tier":"kernel"'* ]]
    [[ $stderr == "camp wait: "*"CAP_BPF and CAP_PERFMON"*"tier kernel"* || $stderr == "camp wait: "*"without microstates"*"tier kernel"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    need_states
    run -4 --separate-stderr as_nobody wait --count 1 --tier bpf
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]]
    [ -z "$output" ]
}

@test "camp wait refuses wrong option values with status 2" {
    run -2 "$CAMP" wait --interval 0
    run -2 "$CAMP" wait --count x
    run -2 "$CAMP" wait --format xml
    [[ $output == *"classic"* ]]
    run -2 "$CAMP" wait --tier taskstats
    [[ $output == *"kernel"* ]]
    run -2 "$CAMP" wait --pid 1,2
    [[ $output == *"--pid 1,2: takes the number of one process; give --pid again for another" ]]
    run -2 "$CAMP" wait --table cpus
    [[ $output == *"--format csv"* ]]
    run -2 "$CAMP" wait --format csv --table sessions
    run -2 "$CAMP" wait operand
    run -2 "$CAMP" wait --top -1
}

@test "camp wait ends quietly when the reader of its output closes the pipe" {
    "$CAMP" wait --interval 50ms --tier kernel | head -n 1 >/dev/null
}

@test "camp wait fails if its output goes to a full disk" {
    run -1 --separate-stderr bash -c '"$0" wait --count 1 --interval 50ms --tier kernel >/dev/full' "$CAMP"
    [[ $stderr == *"No space left"* ]]
}

@test "camp wait prints the unfinished interval when SIGINT ends it" {
    need_states
    "$CAMP" wait --interval 60 --format json >"$BATS_TEST_TMPDIR/out" &
    local camp=$!
    until_it_sleeps "$camp"
    kill -INT "$camp"
    wait "$camp"
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$BATS_TEST_TMPDIR/out"
}

@test "camp wait --pid refuses a pid without a process" {
    run -1 --separate-stderr "$CAMP" wait --pid 99999998 --count 1
    [[ $stderr == "camp wait: there is no process 99999998"* ]]
}

@test "camp wait --pid ends when the process exits" {
    ends_with_its_process wait
}
