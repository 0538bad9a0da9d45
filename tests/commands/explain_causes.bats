#!/usr/bin/env bats
# bats file_tags=law
# camp explain: rules about the causes of waits, in recordings of camp record --why and with --why. What a finding
# says is what its command of camp why shows.

bats_require_minimum_version 1.5.0
load explain
load why

setup_file() {
    find_refusal why --count 1 --interval 50ms
    export CAMP REFUSAL PAIRS=$BATS_TEST_DIRNAME/explain_pairs.py
}

# Starts two processes of explain_pairs.py, and sets VICTIM to the pid of the one that waits. Both have priority, so that
# they wait for each other on a busy machine, too. Users who may not do that get a line on stderr.
start_pair() {
    need_states
    start nice -n -5 python3 "$PAIRS" "$1" "$PWD/victim"
    until_it test -e victim
    VICTIM=$(<victim)
}

# asked PROGRAM: evaluates Python on the JSON of camp explain in explain.json, as ask() does.
asked() {
    python3 -c "
import json, os, sys
e = json.load(open('explain.json'))
found = {row['rule']: row for row in e['findings']}
unknown = {row['rule']: row['reason'] for row in e['unknown']}
$1"
}

# until_a_recording RULE PROGRAM: the rule must find something in a recording of the victim, for which PROGRAM holds;
# `c` is its cause. The load may be late on a busy machine, so a second and a third recording are tried.
until_a_recording() {
    local seconds
    for seconds in 1 2 4; do
        "$CAMP" record --why --why-of "$VICTIM" --force --output run.camp "0.1s" $((seconds * 10)) 2>record.err
        if ask "
row = found['$1']
c = row['cause']
assert row['value'] >= row['threshold'] and row['provenance'] == c['cause_provenance'] == 'measured', row
assert c['waiter'] == 'pair-victim ($VICTIM)' and c['waiter_pid'] == row['pid'] == $VICTIM, row
assert ' a second, {:.1f} % of '.format(c['percent']) in row['sentence'], row
assert c['cause_command'] == row['command'] == 'camp why --from run.camp $VICTIM', row
$2" --from run.camp --pid "$VICTIM"; then
            the_commands_show_the_same run.camp
            return
        fi
    done
    cat explain.json record.err
    return 1
}

# Each finding in explain.json with a cause: its command must show that cause with the same time and share. Fails if
# there is none.
the_commands_show_the_same() {
    asked '
import subprocess, shlex
causes = [row["cause"] for row in e["findings"] if row["cause"]["cause_command"]]
assert causes, e
for c in causes:
    command = shlex.split(c["cause_command"])
    assert command[:2] == ["camp", "why"], command
    w = json.loads(subprocess.run([os.environ["CAMP"], *command[1:], "--format", "json"], check=True,
                                  stdout=subprocess.PIPE).stdout)
    by = {"threads of its own": w["subject"], "own quota": None}.get(c["by"], c["by"])
    rows = [row for row in w["tree"] if row["state"] == c["state"] and row["cause"] == c["kind"] and
            (row["level"] == "who" and row["who"] == by or
             row["level"] == "cause" and c["kind"] not in ("group", "device"))]
    assert [row["time_ns"] for row in rows] == [c["wait_ns"]], (c, rows)
    assert abs(rows[0]["percent"] - c["percent"]) < 0.011, (c, rows)
    assert abs(w["interval_s"] - e["elapsed_s"]) < 1e-6, (w["interval_s"], e["elapsed_s"])
print(len(causes), "causes")'
}

# On a busy machine another program may have the victim's CPU for longer than the culprit, or none for long enough. So
# the sums of the table of causes are the witness.
@test "E34: the process for which another waits longest on its CPU is named" {
    export VICTIM_NAME=pair-$BASHPID
    start_pair neighbour
    "$CAMP" record --why --why-of "$VICTIM" --output run.camp 100ms 10
    ask '
import sqlite3
name = os.environ["VICTIM_NAME"]
rows = dict(sqlite3.connect("run.camp").execute("""SELECT who, sum(time_ns) FROM causes
    WHERE waiter = ? AND state = ? AND cause = ? AND who NOT IN (?, ?, ?, ?) GROUP BY who""",
    (name, "run_queue", "group", "other processes", "kernel threads", "outside of this container", name)))
most = max(rows, key=rows.get)
share = rows[most] / (e["elapsed_s"] * 1e9)
print(rows, found.get("E34"))
assert rows["pair-culprit"] > 0 and ("E34" in found) == (share >= 0.2), (rows, found)
if "E34" in found:
    row, c = found["E34"], found["E34"]["cause"]
    assert abs(row["value"] - share) < 1e-6 and c["wait_ns"] == rows[most] and c["by"] == most, row
    assert c["waiter_pid"] == row["pid"] == int(open("victim").read()), row
    assert f" a second for a CPU on which {most} ran. " in row["sentence"], row
    assert row["command"] == "camp why --from run.camp " + open("victim").read(), row
' --from run.camp --pid "$VICTIM"
    asked 'sys.exit("E34" not in found)' || skip "no program had the CPU of the victim for a fifth of the time"
    the_commands_show_the_same
}

@test "--why reads the causes of the interval that is explained" {
    start_pair real_time
    ask '
assert not [rule for rule in unknown if rule >= "E34"], unknown
for row in found.values():
    if row["cause"]["cause_command"]:
        assert row["cause"]["cause_command"] == "camp why " + str(row["cause"]["waiter_pid"]), row
        assert row["cause"]["waiter_pid"] == int(open("victim").read()), row' --why --pid "$VICTIM" 1
    run -0 "$CAMP" explain --why 200ms
    [[ $output != *"the causes of waits were not read"* ]]
}

@test "E01 names the process that a thread waited behind, with the command that shows it" {
    start_pair neighbour
    "$CAMP" record --why --why-of "$VICTIM" --output run.camp 100ms 10
    python3 - <<'PYTHON'
import sqlite3
b = sqlite3.connect("run.camp")
# The CPUs are full, whatever other programs left of them.
for table in ("cpus_rows", "cpus_seldom"):
    columns = {row[1] for row in b.execute(f"PRAGMA table_info({table})")}
    for name in columns & {"user_ns", "system_ns", "irq_ns", "softirq_ns", "idle_ns", "iowait_ns"}:
        value = f"(SELECT end_ns - start_ns FROM tick_beside WHERE first_row <= {table}.row_number ORDER BY tick DESC LIMIT 1)"
        b.execute(f"UPDATE {table} SET {name} = " + (value if name == "user_ns" else "0"))
b.commit()
PYTHON
    ask '
row = found["E01"]
assert row["cause"]["waiter_pid"] == int(open("victim").read()), row
assert " was behind " + row["cause"]["by"] + " for " in row["sentence"], row
assert row["command"] == "camp top --from run.camp --begin +300ms --sort run_queue", row
' --from run.camp --begin +300ms --pid "$VICTIM"
    the_commands_show_the_same
    run -0 "$CAMP" explain --from run.camp --pid "$VICTIM"
    [[ $output == *"     camp top --from run.camp --sort run_queue"$'\n'"     camp why --from run.camp $VICTIM"* ]]
}

@test "E35: a thread with real-time priority that has the CPU of another is found" {
    [ "$(id -u)" -eq 0 ] || skip "real-time priority needs root"
    chrt --fifo 1 true 2>/dev/null || skip "this machine permits no real-time priority"
    start_pair real_time
    until_a_recording E35 'assert c["kind"] == "real_time" and c["by"] == "real-time threads", row'
}

@test "E36: interrupts that have the CPU of threads that are ready are found" {
    start_pair interrupts
    until_a_recording E36 'assert c["kind"] == "interrupts" and c["by"] == "interrupts", row'
}

@test "E37: the time from a wakeup until an idle CPU runs the thread is found" {
    start_pair neighbour
    "$CAMP" record --why --why-of "$VICTIM" --output run.camp 100ms 10
    # No load makes the CPUs of each machine late: so another cause is changed to this one.
    sqlite3 run.camp "UPDATE OR REPLACE cause SET kind = (SELECT number FROM cause_word WHERE word = 'kind' AND name = 'idle_cpu'), who = 0
        WHERE kind = (SELECT number FROM cause_word WHERE word = 'kind' AND name = 'group') AND state =
        (SELECT number FROM cause_word WHERE word = 'state' AND name = 'run_queue')"
    ask '
row = found["E37"]
assert row["cause"]["kind"] == "idle_cpu" and "for CPUs that were idle" in row["sentence"], row' --from run.camp
    the_commands_show_the_same
}

@test "E38: the holder of a lock for which another process waits is found, and what it did meanwhile" {
    start_pair lock
    until_a_recording E38 '
assert c["state"] == "lock" and c["by"] == "pair-culprit", row
assert c["by_meanwhile"].startswith("which "), row'
}

@test "E39: the other end of a pipe is found, if it is busy meanwhile" {
    start_pair pipe
    until_a_recording E39 'assert c["state"] == "pipe" and c["by"] == "pair-culprit", row'
}

@test "E40: the peer of a socket is found, if it is busy meanwhile, and not the one that waits for an answer" {
    start_pair peer
    until_a_recording E40 'assert c["state"] == "socket" and c["by"] == "pair-culprit", row'
    ask 'assert found["E40"]["cause"]["waiter"] == "pair-victim ('"$VICTIM"')", e' --from run.camp
}

@test "E41: waits that end by a timeout are found" {
    start_pair timeout
    until_a_recording E41 'assert c["state"] == "socket" and c["kind"] == "timer" and c["by"] == "a timer", row'
}

@test "E42: a process that waits for the lock of a file is found with its holder, live and in a recording" {
    need_states
    touch db.lock
    start python3 -c '
import fcntl, time
lock = open("db.lock")
fcntl.flock(lock, fcntl.LOCK_EX)
open("taken", "w").close()
time.sleep(600)'
    until_it test -e taken
    export holder="python3 ($CHILD)" waiter
    start python3 -c '
import fcntl
fcntl.flock(open("db.lock"), fcntl.LOCK_EX)'
    waiter=$CHILD
    until_it grep -q -- "-> FLOCK .* $waiter " /proc/locks
    "$CAMP" record --why --output run.camp 100ms 5
    for source in "--why 300ms" "--from run.camp"; do
        # shellcheck disable=SC2086 # words of a command
        ask '
row = found["E42"]
pid = os.environ["waiter"]
assert row["pid"] == int(pid) and row["who"] == "python3 (" + pid + ")", row
assert row["sentence"].endswith("db.lock, held by " + os.environ["holder"] + "."), row
assert 0.9 < row["value"] < 1.01 and row["cause"]["waiter"] is None, row
if "from" not in row["command"]:
    assert row["command"] == "camp why " + pid, row' $source --pid "$waiter"
    done
}

# the_command_shows_the_locks RECORDING: the waits for locks of the command of E42 in explain.json must add up to what it
# says, and its process must be among them.
the_command_shows_the_locks() {
    asked '
import re, shlex, subprocess
row = found["E42"]
command = shlex.split(row["command"])
assert command[:2] == ["camp", "why"], row
w = json.loads(subprocess.run([os.environ["CAMP"], *command[1:], "--format", "json"], check=True,
                              stdout=subprocess.PIPE).stdout)
def time_of(call):
    return call["state_ns"] if call["call"] in ("flock", "fcntl") else call["sleep_ns"]
waits = [call for call in w["calls"] if call["open"] and call["state"] == "lock" and call["object"] and
         (call["call"] in ("flock", "fcntl") or re.search(" (held|last changed) by ", call["object"]))]
own = max((call for call in waits if call["pid"] == row["pid"]), key=time_of)
print(row, waits)
assert own["who"] == row["who"] and re.split(" (?:held by|last changed by|open in) ", own["object"])[0] in row["sentence"], row
figure, unit = re.search(r" waited ([0-9.]+) (s|ms) a second for locks", row["sentence"]).groups()
said = float(figure) / (1 if unit == "s" else 1e3)
assert abs(time_of(own) / 1e9 / e["elapsed_s"] - said) < 0.006 * max(said, 1), (row, own)
# The command of all processes has all waits of the finding.
if str(row["pid"]) not in command and "WAITER" not in os.environ:
    assert abs(sum(map(time_of, waits)) / 1e9 / e["elapsed_s"] - row["value"]) < 1e-6, (row, waits)
text = subprocess.run([os.environ["CAMP"], *command[1:]], check=True, stdout=subprocess.PIPE).stdout.decode()
assert own["object"] in text and ("%.3f" % (time_of(own) / 1e6)) in text, text'
}

@test "E42: the command shows the waits with its figures, of all processes, of one and divided by process" {
    need_states
    touch db.lock
    start python3 -c '
import fcntl, time
lock = open("db.lock")
fcntl.flock(lock, fcntl.LOCK_EX)
open("taken", "w").close()
time.sleep(600)'
    until_it test -e taken
    local waiters=() words
    for _ in 1 2; do
        start python3 -c '
import fcntl
fcntl.flock(open("db.lock"), fcntl.LOCK_EX)'
        waiters+=("$CHILD")
        until_it grep -q -- "-> FLOCK .* $CHILD " /proc/locks
    done
    for words in "" "--why-by process" "--why-of ${waiters[0]}"; do
        # shellcheck disable=SC2086 # words of a command
        "$CAMP" record --why $words --force --output run.camp 100ms 5
        ask 'assert "E42" in found and found["E42"]["value"] > 1.8, e' --from run.camp
        the_command_shows_the_locks
    done
}

# Starts a process of explain_locks.py, and sets WAITER to the pid of the process that waits.
start_lock() {
    need_states
    start python3 "$BATS_TEST_DIRNAME/explain_locks.py" "$1" "$PWD/waiter"
    until_it test -e waiter
    WAITER=$(<waiter)
}

# until_it_is_blocked CALL OBJECT: E42 must say that WAITER waits in the call for the object, live and in a recording.
until_it_is_blocked() {
    export WAITER CALL=$1 OBJECT=$2
    local program='
import re
row = found["E42"]
assert row["pid"] == int(os.environ["WAITER"]) and 0.8 < row["value"] < 1.05, row
assert re.search("and at the end in " + os.environ["CALL"] + " for " + os.environ["OBJECT"] + r"\.$", row["sentence"]), row'
    waits() {
        ask "$program" --why 300ms --pid "$WAITER"
    }
    until_it waits
    asked 'assert found["E42"]["command"] == "camp why " + os.environ["WAITER"], found'
    "$CAMP" why --json "$WAITER" 0.3 1 >why.json
    python3 -c '
import json, os, re
w = json.load(open("why.json"))
assert any(call["open"] and re.fullmatch(os.environ["OBJECT"].replace(",", ""), call["object"] or "") for call in w["calls"]), w["calls"]'
    "$CAMP" record --why --output run.camp 100ms 8
    ask "$program" --from run.camp --pid "$WAITER"
    the_command_shows_the_locks
}

@test "E42: a process that waits for a semaphore of System V is found with the process that changed it last" {
    start_lock semaphore
    until_it_is_blocked "sem(timed)?op" "semaphores [0-9]+, last changed by lock-holder \\([0-9]+\\)"
}

@test "E42: a process that waits for a futex with priority inheritance of another process is found with its owner" {
    start_lock pi
    until_it_is_blocked futex "futex 0x[0-9a-f]+, held by lock-holder \\([0-9]+\\)"
}

@test "E42: a thread that waits for a mutex of its own process is found with the thread that holds it" {
    start_lock mutex
    until_it_is_blocked futex "futex 0x[0-9a-f]+, held by its thread lock-waiter \\([0-9]+\\)"
}

@test "of a futex without an owner in its memory, it is said that the owner is unknown" {
    start_lock raw
    waits() {
        ask '
assert "E42" not in found, found
reasons = [row["reason"] for row in e["unknown"] if row["rule"] is None]
print(reasons)
assert any("1 thread waited " in one and "lock-waiter (" + os.environ["WAITER"] + ") most." in one for one in reasons), reasons' \
            --why 300ms --pid "$WAITER"
    }
    export WAITER
    until_it waits
    run -0 --separate-stderr "$CAMP" why "$WAITER" 0.3 1
    [[ $output == *"owner      it is unknown who holds the futex in 100.00 % of the time: "* ]]
    # Of all processes, those that wait so are in the sum.
    ask '
assert any("Who holds a futex whose memory does not say it" in row["reason"] for row in e["unknown"] if row["rule"] is None), e' --why 300ms
}

@test "E42: a wait for work, in futex(2) or for a semaphore that nobody else changed, is not found" {
    start_lock work
    "$CAMP" record --why --output run.camp 100ms 5
    ask 'assert "E42" not in found and "E42" not in unknown, e' --from run.camp --pid "$WAITER"
    ask 'assert "E42" not in found and "E42" not in unknown, e' --why 300ms --pid "$WAITER"
}

@test "findings about all processes of a range have the figures that camp why shows of the range" {
    start_pair neighbour
    "$CAMP" record --why --output run.camp 100ms 20
    "$CAMP" explain --format json --from run.camp --begin +500ms --end -500ms >explain.json
    asked 'assert "E34" in found and " --begin +500ms --end -500ms " in found["E34"]["command"], e'
    the_commands_show_the_same
    the_commands_show_the_sums
}

# The command of E34 to E37 in explain.json must show the sum that the finding is named for, as JSON and as text.
the_commands_show_the_sums() {
    asked '
import shlex, subprocess
kinds = {"E35": "real_time", "E36": "interrupts", "E37": "idle_cpu"}
for rule in sorted(set(found) & ({"E34"} | set(kinds))):
    row = found[rule]
    command = [os.environ["CAMP"], *shlex.split(row["command"])[1:]]
    w = json.loads(subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    sum_ns = w["inflicted_ns"] if rule == "E34" else sum(
        one["time_ns"] for one in w["tree"] if one["state"] == "run_queue" and one["level"] == "cause" and one["cause"] == kinds[rule])
    print(rule, row["value"], row["command"], sum_ns)
    assert abs(sum_ns / 1e9 / e["elapsed_s"] - row["value"]) < 1e-6, row
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
    assert "%.3f" % (sum_ns / 1e6) in text, text
    assert row["cause"]["cause_command"] != row["command"], row'
}

@test "without causes their rules are unknown, and the reason says how to get them" {
    need_states
    "$CAMP" record --output without.camp 50ms 2
    for words in "100ms" "--from without.camp" "--from demo"; do
        # shellcheck disable=SC2086 # words of a command
        ask '
for number in range(34, 43):
    assert "camp record --why" in unknown[f"E{number}"], unknown
assert all(row["cause"]["waiter"] is None for row in e["findings"]), e' $words
    done
    ask 'assert "camp explain --why reads them" in unknown["E34"], unknown' 100ms
    # Of names, no process of --pid has causes by itself.
    "$CAMP" record --why --output names.camp 50ms 2
    ask 'assert unknown["E34"].endswith("camp record --why-of PID has those of a process"), unknown' \
        --from names.camp --pid "$(sqlite3 names.camp 'SELECT pid FROM identity WHERE pid > 0 LIMIT 1')"
}

@test "damaged causes leave the other rules, and end in one line with status 1" {
    need_states
    "$CAMP" record --why --output run.camp 50ms 4
    sqlite3 run.camp "UPDATE cause SET time_ns = -1 WHERE tick = 3"
    run -1 --separate-stderr "$CAMP" explain --from run.camp --format json
    [[ $stderr == "camp explain: run.camp is damaged: its causes of waits have "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    echo "$output" >explain.json
    asked 'assert e["intervals"] == 4 and "damaged" in unknown["E34"] and "E11" not in unknown, e'
}

@test "a rotated recording of which one file has no causes says so" {
    need_states
    "$CAMP" record --why --output run.camp --rotate 1h 50ms 2
    "$CAMP" record --output run.camp --rotate 1h 50ms 2
    ask 'assert unknown["E34"].startswith("some intervals of the recording have no causes"), unknown' --from run.camp
}

@test "--why goes with the threads of this machine only" {
    for source in demo check cpus; do
        run -2 --separate-stderr "$CAMP" explain --why --from "$source" 100ms
        [[ $stderr == "camp explain: --why goes with the threads of this machine: "* ]]
    done
}
