#!/usr/bin/env bats
# camp top: where the time of threads goes, by microstate.

bats_require_minimum_version 1.5.0

setup() {
    run "$CAMP" top --count 1 --interval 50ms --top 1
    if [ "$status" -eq 4 ] || [[ $output == *"without microstates"* ]]; then
        skip "$output"
    fi
    [ "$status" -eq 0 ]
}

teardown() {
    if [ -n "${LOAD:-}" ]; then kill "$LOAD" 2>/dev/null || true; fi
}

# One interval as JSON, which goes on in Python as `t`.
ask() {
    local program=$1
    shift
    "$CAMP" top --count 1 --format json "$@" >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json
t = json.load(open('$BATS_TEST_TMPDIR/top.json'))
rows = t['entities']
$program"
}

@test "top: a record is camp.frame/1, and each row's states add up to its time" {
    ask '
assert t["schema"] == "camp.frame/1" and t["source"] == "threads" and t["tier"] == "bpf", t
assert 0.2 <= t["interval_s"] < 2 and len(rows) > 10
names = """user system irq text_fault data_fault kernel_fault lock disk poll socket pipe timer child
other_sleep run_queue stopped""".split()
for row in rows:
    assert list(row["states"]) == names, row
    assert sum(row["states"].values()) + row["unaccounted_ns"] == row["elapsed_ns"], row
    assert abs(row["unaccounted_ns"]) <= 1000 * row["threads"], row
assert "system_calls" in rows[0]["counters"]
' --interval 300ms --group thread
}

@test "top: groups hold the times of all their threads" {
    for group in process user command; do
        ask "
assert t['group'] == '$group'
for row in rows:
    assert sum(row['states'].values()) + row['unaccounted_ns'] == row['elapsed_ns'], row
threads = sum(row['threads'] for row in rows)
assert threads > 20 and sum(row['elapsed_ns'] for row in rows) > 10 * 0.25e9
kernel = [row for row in rows if row['name'].startswith('kworker')]
assert kernel or '$group' == 'user'
" --interval 300ms --group "$group"
    done
}

@test "top: a load is found at the top, with the CPU time of the scheduler's own count" {
    "$CAMP" load cpu --percent 60 --duration 10 >/dev/null &
    LOAD=$!
    sleep 0.5
    ask "
row = rows[0]
assert row['pid'] == $LOAD and row['name'] == 'camp', row
assert len(rows) == 1
on_cpu = sum(row['states'][name] for name in ('user', 'system', 'irq'))
witness = row['counters']['cpu_ns']
assert on_cpu >= 0.95 * witness and on_cpu > 0.3e9, (on_cpu, witness)
assert row['states']['timer'] + row['states']['run_queue'] > 0.1e9, row
" --interval 1 --pid "$LOAD"
}

@test "top: who ended within the interval is there by name" {
    (sleep 0.3; for _ in $(seq 30); do ls / >/dev/null; done) &
    ask '
ended = [row for row in rows if row["name"] == "ls" and row["ended"] and row["new"]]
assert len(ended) == 1 and ended[0]["threads"] == 30, ended
assert ended[0]["id"] is None and ended[0]["elapsed_ns"] > 0
' --interval 2 --group process
}

@test "top: sorted by a state, filtered by name, so many rows" {
    sleep 3 &
    LOAD=$!
    ask '
times = [row["states"]["timer"] for row in rows]
assert times == sorted(times, reverse=True) and len(rows) == 3, times
' --interval 300ms --sort timer --top 3
    ask 'assert {row["name"] for row in rows} == {"sleep"}, rows' --interval 100ms --filter '^sleep$'
}

@test "top: the text fits in 80 columns, that of prstat too" {
    for columns in camp prstat; do
        run -0 "$CAMP" top --count 1 --interval 100ms --columns $columns
        for line in "${lines[@]}"; do [ "${#line}" -le 80 ] || [[ $line == 20* ]]; done
    done
    [[ $output == *"PID  USERNAME"*"USR   SYS"*"LAT"* ]]
}

@test "top: without system calls user and system are one" {
    ask '
assert all(row["states"]["system"] == 0 for row in rows if row["id"] == row["pid"] and row["user_name"] != "root" or row["name"] == "camp"), rows
' --interval 200ms --no-syscalls --no-kernel-threads
}

@test "top: kernel threads are left out when asked" {
    ask 'assert any(row["name"].startswith("kworker") for row in rows)' --interval 100ms
    ask 'assert not any(row["name"].startswith("kworker") for row in rows)' --interval 100ms --no-kernel-threads
}

@test "top: bad input is refused, with what it takes" {
    run -2 "$CAMP" top --interval 0
    run -2 "$CAMP" top --sort nothing
    run -2 "$CAMP" top --group nothing
    run -2 "$CAMP" top --filter '('
    run -2 "$CAMP" top --pid x
    run -2 "$CAMP" top --columns prstat --format json
    run -2 "$CAMP" top operand
}

@test "top: an ordinary user is told which capabilities are missing" {
    [ "$(id -u)" -eq 0 ] || skip "takes root to become somebody else"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/camp"
    run -4 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$BATS_TEST_TMPDIR/camp" top --count 1
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]]
}

@test "top: a closed or full output" {
    "$CAMP" top --interval 50ms | head -n 1 >/dev/null
    run -1 --separate-stderr bash -c "'$CAMP' top --count 1 --interval 50ms >/dev/full"
    [[ $stderr == *"No space left"* ]]
}

@test "top: ends by a signal with what was seen" {
    "$CAMP" top --interval 60 --format json >"$BATS_TEST_TMPDIR/out" &
    LOAD=$!
    sleep 1
    kill -INT "$LOAD"
    wait "$LOAD"
    LOAD=
    python3 -c "import json; json.load(open('$BATS_TEST_TMPDIR/out'))"
}

# A terminal of its own: screen.py COLUMNS LINES KEYS -- COMMAND prints the last screen.
on_screen() {
    local columns=$1 rows=$2 keys=$3
    shift 3
    run /usr/bin/python3 "$BATS_TEST_DIRNAME/screen.py" "$columns" "$rows" "$keys" -- "$CAMP" top \
        --interval 500ms "$@"
    [ "$status" -eq 0 ]
    [[ $output == *"camp top  each "* ]] || skip "camp was built without ncurses"
}

@test "top: live on a terminal of 80 x 24, one of 40 x 8, and one of 0 x 0" {
    on_screen 80 24 q
    [[ ${lines[0]} == "camp top  each process, by cpu  h: help" ]]
    [[ ${lines[1]} == *"tier bpf"* ]]
    [[ ${lines[2]} =~ ^\ +id\ +name ]]
    [ "${#lines[@]}" -gt 10 ] && [ "${#lines[@]}" -le 24 ]
    on_screen 40 8 q
    [ "${#lines[@]}" -le 8 ]
    on_screen 0 0 q
    [[ ${lines[0]} == "camp top"* ]]
}

@test "top: keys group, sort, freeze and filter what is shown" {
    on_screen 80 24 'ggSq'
    [[ ${lines[0]} == "camp top  each command, by stopped  h: help" ]]
    on_screen 80 24 ' q'
    [[ ${lines[0]} == *"FROZEN"* ]]
    on_screen 80 24 $'/^camp$\rq'
    [[ ${lines[0]} == *"only ^camp$"* ]]
    [[ ${lines[3]} == *" camp "* ]]
    on_screen 80 24 $'/(\rq'
    [[ ${lines[0]} == *"is no regular expression"* ]]
    on_screen 80 24 'cq'
    [[ $output == *"USERNAME"* ]]
}

@test "top: on a terminal without a cursor, and with --plain, it prints" {
    run env TERM=dumb script -qec "'$CAMP' top --count 1 --interval 100ms" /dev/null
    [[ $output == *"tier bpf"* ]]
    [[ $output != *"h: help"* ]]
    run env TERM=vt100 script -qec "'$CAMP' top --plain --count 1 --interval 100ms" /dev/null
    [[ $output != *"h: help"* ]]
}
