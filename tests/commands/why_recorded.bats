#!/usr/bin/env bats
# camp record --why, and camp why --from: the causes of waits in a recording.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load check
load why

setup_file() {
    find_refusal why --count 1 --interval 50ms
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children
    wait
}

# Records the victim, whose name and process are groups of their own.
record_victim() {
    need_states
    start_victim
    run --separate-stderr "$CAMP" record --why --why-of why-victim --output run.camp "$@"
    echo "$stderr"
    [ "$status" -eq 0 ]
}

# why EXPRESSION WORDS: evaluates Python on `parts`, the JSON of camp why --from with these words,
# and on `w`, the last of them; sql(QUERY) returns the rows of run.camp.
why() {
    local expression=$1
    shift
    "$CAMP" why --format json --from "$@" >why.json
    python3 -c '
import json, sqlite3, sys
parts = [json.loads(line) for line in open("why.json")]
w = parts[-1] if parts else None
def sql(query, *values):
    return sqlite3.connect("run.camp").execute(query, values).fetchall()
states = [row for row in w["tree"] if row["level"] == "state"] if w else []
exec(sys.argv[1])' "$expression"
}

# The times of the victim's process in a state: of its rows in each interval, and of its causes.
TIMES='
def times(state):
    rows = dict(sql(f"""SELECT tick, sum({state}_ns) FROM threads JOIN entity USING (entity)
                        WHERE pid = ? AND id = pid GROUP BY tick""", int(open("pid").read())))
    causes = dict(sql("""SELECT tick, sum(time_ns) FROM cause WHERE number IN (SELECT number FROM cause_group WHERE pid = ?)
                         AND state = (SELECT number FROM cause_word WHERE word = ? AND name = ?) GROUP BY tick""",
                      int(open("pid").read()), "state", state))
    # In a very short interval the thread may be idle, and have no row.
    return rows, {tick: causes.get(tick, 0) for tick in rows}
'

@test "the recorded causes of a thread add up to the states in its rows, in each interval to the nanosecond" {
    need_states
    start_victim
    echo "$VICTIM" >pid
    "$CAMP" record --why --why-of "$VICTIM" --output run.camp 200ms 5
    why "$TIMES"'
for state in ("run_queue", "pipe", "user", "system"):
    rows, causes = times(state)
    assert len(rows) >= 3 and sum(rows.values()) > 0, (state, rows)
    assert rows == causes, (state, rows, causes)
' run.camp
}

@test "a name that comes after sixty others that ended has a group of its own" {
    need_states
    "$CAMP" record --why --output run.camp --interval 100ms 3>&- &
    local camp=$!
    until_it test -s run.camp
    python3 -c '
import ctypes, time
for i in range(60):
    ctypes.CDLL(None).prctl(15, b"why-early-%d" % i, 0, 0, 0)
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass
    time.sleep(0.001)'
    python3 -c '
import ctypes, signal, time
ctypes.CDLL(None).prctl(15, b"why-late", 0, 0, 0)
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
while True:
    time.sleep(0.01)' &
    until_it eval '[ "$(sqlite3 run.camp "SELECT count(*) FROM cause_group WHERE name = '"'why-late'"'")" -gt 0 ]'
    kill "$camp"
    wait "$camp"
    [ "$(sqlite3 run.camp "SELECT count(*) FROM cause_group WHERE name LIKE 'why-early-%'")" -gt 20 ]
    [ "$("$CAMP" why --from run.camp --json why-late | grep -c camp.why/1)" -eq 1 ]
}

@test "camp why --from adds up all intervals: percents to 100, times to those of the file" {
    record_victim --interval 200ms --count 5
    why '
assert w["schema"] == "camp.why/1" and w["subject"] == "why-victim" and w["pid"] is None, w
assert len(parts) == 1 and 0.9 < w["interval_s"], w["interval_s"]
assert abs(sum(row["percent"] for row in states) - 100) < 0.001, states
(total,), = sql("SELECT sum(time_ns) FROM causes WHERE waiter = ?", "why-victim")
assert w["time_ns"] == total == sum(row["time_ns"] for row in states), (w["time_ns"], total)
(hog,), = sql("""SELECT sum(time_ns) FROM causes WHERE waiter = ? AND state = ? AND cause = ?
                 AND who IN (?, ?)""", "why-victim", "run_queue", "group", "why-hog", "other processes")
shown = sum(row["time_ns"] for row in w["tree"] if row["level"] == "who" and row["state"] == "run_queue"
            and row["who"] in ("why-hog", "other processes"))
(groups,), = sql("SELECT count(*) FROM cause_group")
# Of more than 64 groups in all intervals the later ones are other processes.
assert hog == shown > 0 or groups > 60 and shown > hog, (hog, shown, groups)
queue, = [row for row in states if row["state"] == "run_queue"]
(waits,), = sql("""SELECT sum(value) FROM cause_lengths, json_each(counts), cause_group USING (number)
                   WHERE name = ? AND state = (SELECT number FROM cause_word
                   WHERE word = ? AND name = ?)""", "why-victim", "state", "run_queue")
assert queue["waits"] == waits > 0, (queue, waits)
assert queue["p50_ns"] <= queue["p99_ns"] <= queue["longest_ns"], queue
assert len(w["chain"]) >= 1 and w["chain"][0]["who"] == "why-victim", w["chain"]
assert any(row["who"] in ("why-hog", "other processes") for row in w["inflicted"]), w["inflicted"]
' run.camp why-victim
}

@test "the parts of a recording add up to the whole, and --begin and --end select" {
    record_victim --interval 200ms --count 6
    why 'print(w["time_ns"])' run.camp why-victim >whole
    # A busy machine delays camp, so that one interval is longer and the next one shorter.
    why '
lengths, expected = [], []
for length, in sql("SELECT end_ns - start_ns FROM tick ORDER BY tick"):
    lengths.append(length)
    if sum(lengths) >= 1e8:
        expected.append(sum(lengths))
        lengths = []
expected += [sum(lengths)] if lengths else []
assert len(expected) >= 3 and [round(part["interval_s"] * 1e9) for part in parts] == expected, (parts, expected)
assert sum(part["time_ns"] for part in parts) == int(open("whole").read())
' run.camp why-victim 0.1
    why '
ticks = sql("SELECT wall_clock_ns, end_ns - start_ns FROM tick ORDER BY tick")
begin, end = ticks[0][0] - ticks[0][1] + 3e8, ticks[-1][0] - 3e8
chosen = sum(length for wall, length in ticks if begin <= wall - length // 2 < end)
assert len(parts) == 1 and abs(w["interval_s"] * 1e9 - chosen) < 1e3, (w["interval_s"], chosen)
' run.camp --begin +300ms --end -300ms why-victim
    why 'assert len(parts) == 2, len(parts)' run.camp why-victim 0.1 2
    run --separate-stderr "$CAMP" why --from run.camp --format csv --table tree why-victim
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *"state"*"percent"*"time_ns"* ]]
    run --separate-stderr "$CAMP" why --from run.camp why-victim
    [[ ${lines[1]} == "why-victim was on a CPU "*" %; asleep "* ]] || [[ ${lines[1]} == "why-victim was on a CPU "* ]]
    [[ $output == *"chain      why-victim waited "* ]]
}

@test "camp record --why-of PID has the system calls and objects of the process, by name" {
    need_states
    start_victim
    "$CAMP" record --why --why-of "$VICTIM" --output run.camp 200ms 3
    end_children
    wait
    why '
assert w["pid"] == int(open("pid").read()) and w["subject"].startswith("why-victim ("), w["subject"]
assert any(call["call"] == "read" and call["object"].startswith("pipe:[") for call in w["calls"]), w["calls"]
assert all(call["count"] > 0 for call in w["calls"])
names = sql("SELECT call, name FROM cause_object")
assert len(names) == len(set(names)), names
' run.camp "$(tee pid <<<"$VICTIM")"
}

@test "camp record --why-by process divides by process" {
    need_states
    start_victim
    "$CAMP" record --why --why-by process --why-of "$VICTIM" --output run.camp 200ms 2
    why '
who = [row for row in w["tree"] if row["level"] == "who" and row["cause"] == "group"]
shared = {"other processes", "kernel threads", "outside of this container", None}
assert all((row["pid"] is None) == (row["who"] in shared) for row in who), who
' run.camp "$VICTIM"
}

@test "the errors about a recording that is divided by process do not advise to record it so" {
    need_states
    start_victim
    sleep 600 3>&- &
    local asleep=$!
    "$CAMP" record --why --why-by process --output run.camp 100ms 3
    run -1 --separate-stderr "$CAMP" why --from run.camp "$asleep"
    [[ $stderr == "camp why: run.camp (threads) has no causes of process $asleep (sleep) by itself: it is one of the other processes, "*"; record with --why-of $asleep" ]]
    [[ $stderr != *"--why-by process"* ]]
    run -1 --separate-stderr "$CAMP" why --from run.camp why-victim
    [[ $stderr == "camp why: run.camp (threads) is divided by process, so give a pid in place of why-victim: it has "*"why-victim ($VICTIM)"* ]]
    run -0 "$CAMP" explain --from run.camp --pid "$asleep"
    [[ $(tr -s ' \n' ' ' <<<"$output") != *"the causes are those of names"* ]]
}

@test "the rows of processes have the same causes" {
    need_states
    start_victim
    echo "$VICTIM" >pid
    "$CAMP" record --why --why-of "$VICTIM" --from processes --output run.camp 200ms 3
    why "$TIMES"'
for state in ("run_queue", "user", "system"):
    rows, causes = times(state)
    assert len(rows) >= 2 and sum(rows.values()) > 0 and rows == causes, (state, rows, causes)
' run.camp
    "$CAMP" record --why --from commands --output commands.camp 50ms 2
    [ "$(sqlite3 commands.camp 'SELECT count(DISTINCT tick) FROM cause')" -eq 2 ]
}

@test "a copy of a recording has its causes, and so have the files of a rotated one" {
    record_victim --interval 100ms --count 6 --rotate 200ms
    "$CAMP" record --from run.camp --output whole.camp
    [ "$(compgen -G 'run-*.camp' | wc -l)" -ge 2 ]
    "$CAMP" why --json --from run.camp why-victim >rotated.json
    "$CAMP" why --json --from whole.camp why-victim >whole.json
    cmp rotated.json whole.json
    python3 -c 'import json; w = json.load(open("whole.json")); assert w["interval_s"] > 0.5, w'
}

@test "a recorder that is killed loses no causes of a whole interval" {
    need_states
    start_victim
    "$CAMP" record --why --why-of why-victim --output run.camp 50ms 3>&- &
    local recorder=$!
    until_it test -s run.camp-wal
    until_it sh -c '[ "$(sqlite3 run.camp "SELECT count(*) FROM tick" 2>/dev/null || echo 0)" -ge 5 ]'
    kill -9 "$recorder"
    wait "$recorder" || true
    why '
(ticks, first, last), = sql("SELECT count(*), min(tick), max(tick) FROM tick")
assert first == 1 and last == ticks >= 5, (ticks, first, last)
(with_causes,), = sql("SELECT count(DISTINCT tick) FROM cause")
assert with_causes == ticks, (with_causes, ticks)
(total,), = sql("SELECT sum(time_ns) FROM causes WHERE waiter = ?", "why-victim")
assert w["time_ns"] == total, (w["time_ns"], total)
' run.camp why-victim
}

@test "commands that do not show causes read such a recording as any other" {
    record_victim --interval 100ms --count 4
    for words in "top --speed 0" "explain" "record --info run.camp"; do
        # shellcheck disable=SC2086 # words of a command
        case $words in
        record*) run --separate-stderr "$CAMP" $words ;;
        *) run --separate-stderr "$CAMP" $words --from run.camp ;;
        esac
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [ -n "$output" ]
    done
    run --separate-stderr "$CAMP" compare run.camp run.camp
    [ "$status" -eq 3 ] # too few intervals for a verdict
    run --separate-stderr "$CAMP" report --from run.camp --output x.html
    [ "$status" -eq 0 ]
    "$CAMP" record --output without.camp 50ms 2
    [ -z "$(sqlite3 without.camp "SELECT name FROM sqlite_schema WHERE name LIKE 'cause%'")" ]
}

@test "camp record --info says whether a recording has causes, and which labels its rows have" {
    need_states
    "$CAMP" record --why --containers --output with.camp 50ms 2
    "$CAMP" record --output without.camp 50ms 2
    run -0 "$CAMP" record --info with.camp
    [[ $output == *$'\nwith causes of waits; labels: container pod unit '* ]]
    run -0 "$CAMP" record --info without.camp
    [[ $output == *$'\nwithout causes of waits (camp record --why); no labels'* ]]
    for name in with without; do
        "$CAMP" record --info $name.camp --format json
    done | python3 -c "
import json, sys
has, lacks = map(json.loads, sys.stdin)
assert has['causes'] is True and has['labels'][:3] == ['container', 'pod', 'unit'], has
assert lacks['causes'] is False and lacks['labels'] is None, lacks"
}

@test "a recording without causes, an unknown name and an unknown pid fail in one line" {
    "$CAMP" record --from demo --output demo.camp
    run --separate-stderr "$CAMP" why --from demo.camp
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == "camp why: demo.camp ("*") has no causes of waits: record them with camp record --why" ]]
    for source in demo nofile; do
        run --separate-stderr "$CAMP" why --from "$source"
        [ "$status" -eq 2 ]
        [[ $stderr == "camp why: --from $source is neither a recording nor a database: "* ]]
    done
    run --separate-stderr "$CAMP" why --from no.camp
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: no.camp: "* ]]
    record_victim --interval 100ms --count 2
    run --separate-stderr "$CAMP" why --from run.camp why-victin
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == "camp why: run.camp (threads) has no processes named why-victin by themselves; it has "*why-victim* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    # Of many names, the nearest five are listed, and the line says where all are.
    sqlite3 run.camp "WITH RECURSIVE i(n) AS (SELECT 40 UNION ALL SELECT n + 1 FROM i WHERE n < 62)
        INSERT OR REPLACE INTO cause_group SELECT n, 2, $(sqlite3 run.camp "SELECT kind FROM cause_group WHERE name = 'why-victim' LIMIT 1"), 0, 'name-' || n FROM i"
    run -1 --separate-stderr "$CAMP" why --from run.camp why-victin
    [[ $stderr =~ "by themselves; it has "[0-9]+", the nearest are why-victim, "[^,]+", "[^,]+", "[^,]+", "[^,]+" (camp top --from the recording shows all); one that only slept is by itself only with --why-of "[^\ ]+$ ]]
    run --separate-stderr "$CAMP" why --from run.camp "$VICTIM"
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: run.camp (threads) has no causes of process $VICTIM by itself: it was why-victim, so give that, or record with --why-of $VICTIM "* ]]
    # A pid that the recording does not have is not like any name.
    run -1 --separate-stderr "$CAMP" why --from run.camp 4194303
    [[ $stderr == "camp why: run.camp (threads) has no process 4194303 in that time ("*"), and is divided by name" ]]
    run --separate-stderr "$CAMP" why --from run.camp --begin +1h
    [ "$status" -eq 1 ]
    [[ $stderr == "camp why: run.camp (threads) has no interval in that time" ]]
}

@test "damaged causes end camp why in one line, after what is whole, and other commands do not read them" {
    record_victim --interval 100ms --count 4
    local damages=(
        "UPDATE cause SET time_ns = -1 WHERE tick = 3" "UPDATE cause SET number = 64 + number WHERE tick = 3"
        "UPDATE cause SET time_ns = 4611686018427387904 WHERE tick = 3" "UPDATE cause SET who = 64 + who WHERE kind = 0 AND tick = 3"
        "UPDATE cause_lengths SET counts = '{\"99\":1}' WHERE tick = 3" "DELETE FROM cause_word WHERE word = 'kind'"
        "DROP VIEW causes; DROP TABLE cause_threads" "DROP VIEW causes; ALTER TABLE cause DROP COLUMN time_ns"
    )
    for damage in "${damages[@]}"; do
        cp run.camp damaged.camp
        sqlite3 damaged.camp "$damage"
        run --separate-stderr "$CAMP" why --from damaged.camp --json --interval 0.01
        echo "$damage: $status, $stderr"
        [ "$status" -eq 1 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == "camp why: damaged.camp "* ]]
        [[ $damage != *"tick = 3"* ]] || [ "${#lines[@]}" -eq 2 ]
        run --separate-stderr "$CAMP" top --from damaged.camp --speed 0
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
    done
}

@test "a truncated recording shows the causes of its whole intervals" {
    record_victim --interval 100ms --count 20
    truncate -s "$(($(stat -c %s run.camp) * 9 / 10))" run.camp
    run --separate-stderr "$CAMP" why --from run.camp why-victim
    printf '%s\n' "$stderr" "$status"
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr == "camp why: run.camp is damaged: "* ]]
}

@test "a kernel thread has no group of its own, which camp record says in one line" {
    need_states
    [ "$(ps -o ppid= -p 2 2>/dev/null | tr -d ' ')" = 0 ] || skip "kernel threads are not visible in this container"
    run --separate-stderr "$CAMP" record --why --why-of 2 --output run.camp 50ms 2
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp record: --why-of '2' is a kernel thread, and all kernel threads are one group" ]
    [ ! -e run.camp ]
}

@test "camp record --why-of NAME says in one line that no process has the name yet" {
    need_states
    run -0 --separate-stderr "$CAMP" record --why --why-of no-such-name --output run.camp 50ms 3
    [ "$stderr" = "camp record: --why-of: no process is called no-such-name now; its causes are recorded once there is one" ]
    record_victim --interval 50ms --count 3 --force
    [ -z "$stderr" ]
}

@test "camp record --why-of NAME records the processes with the name of a kernel thread" {
    need_states
    [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || skip "kernel threads are not visible in this container"
    run --separate-stderr "$CAMP" record --why --why-of kthreadd --output run.camp 50ms 2
    [ "$status" -eq 1 ]
    python3 -c '
import ctypes, time
ctypes.CDLL(None).prctl(15, b"kthreadd", 0, 0, 0)
open("named", "w").close()
time.sleep(60)' 3>&- &
    until_it test -e named
    "$CAMP" record --why --why-of kthreadd --output run.camp 50ms 4
    why 'assert w["subject"] == "kthreadd" and w["threads"] == 1, w' run.camp kthreadd
}

@test "options of camp record --why and camp why --from that do not go together are usage errors" {
    run --separate-stderr "$CAMP" record --why-of me
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp record: --why-of goes with --why" ]
    run --separate-stderr "$CAMP" record --why-by process
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp record: --why-by goes with --why" ]
    run --separate-stderr "$CAMP" record --why --from check
    [ "$status" -eq 2 ]
    [[ $stderr == "camp record: --why goes with --from threads, processes, users, commands, cgroups and postgres:; "* ]]
    run --separate-stderr "$CAMP" record --why --why-of 0
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp record: --why-of '0' is not a pid: give a number of at least 1, or a name" ]
    run --separate-stderr "$CAMP" record --why --why-of 99999999
    [ "$status" -eq 1 ]
    [[ $stderr == "camp record: there is no process 99999999 "* ]]
    run --separate-stderr "$CAMP" record --why --tier schedstat --output x.camp
    [ "$status" -ne 0 ]
    [ "$stderr" = "camp record: the causes of waits are known only on the tier bpf" ]
    run --separate-stderr "$CAMP" why --begin +1s
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp why: --begin goes with --from" ]
    run --separate-stderr "$CAMP" why --from x.camp --by process
    [ "$status" -eq 2 ]
    [[ $stderr == "camp why: --by goes without --from: "* ]]
}

@test "a user with CAP_BPF and CAP_PERFMON records causes, and one without is refused in one line" {
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user"
    need_states
    public_camp
    chmod 777 .
    local capabilities='+bpf,+perfmon'
    local words=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$capabilities"
        --ambient-caps="$capabilities" --bounding-set="-all,$capabilities" "$BATS_TEST_TMPDIR/camp")
    "${words[@]}" why --count 1 --interval 50ms >/dev/null || skip "this kernel wants more than CAP_BPF and CAP_PERFMON"
    "${words[@]}" record --why --when 'run_queue > 60m' --output own.camp 100ms 2
    [ "$(sqlite3 own.camp 'SELECT count(DISTINCT tick) FROM cause')" -eq 2 ]
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" record --why --output none.camp 100ms 2
    [ "$status" -eq 4 ]
    [[ $stderr == *"CAP_BPF"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ ! -e none.camp ]
}
