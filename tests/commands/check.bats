#!/usr/bin/env bats
# camp check: what it prints, what it refuses, how it ends; and its laws under known loads.

bats_require_minimum_version 1.5.0
load ends_with

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    LOAD=
}

teardown() {
    [ -z "$LOAD" ] || kill "$LOAD" 2>/dev/null || true
}

# json EXPRESSION: evaluates Python on `records`, the objects of $output, and on `r`, the last.
json() {
    python3 -c "
import json, sys
records = [json.loads(line) for line in sys.stdin.read().splitlines()]
r = records[-1]
ok = $1
if not ok: print(json.dumps(r, indent=1)[:4000])
sys.exit(0 if ok else 1)" <<<"$output"
}

as_nobody() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# A camp that an ordinary user may run, wherever the tree lies.
public_camp() {
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR/camp"
    for folder in "$BATS_TEST_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do
        [ ! -d "$folder" ] || chmod o+x "$folder"
    done
}

@test "text: a headline, processes, CPUs, what they add up to" {
    run --separate-stderr "$CAMP" check --count 1 --interval 300ms
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output =~ [0-9]{2}:[0-9]{2}:[0-9]{2}"  "0\.[0-9]{2}" s  tier "(taskstats|schedstat)"  "[0-9]+" processes, " ]]
    [[ $output == *"    pid  name              measured %  sampled %   error %"* ]]
    [[ $output == *"    cpu  busy measured %  sampled %   idle %  iowait %  steal %    sum %"* ]]
    [[ $output == *"processes  measured "* ]]
    [[ $output == *"booked to no process: "* ]]
}

@test "text: no line is longer than 80 columns, and no colour goes into a pipe" {
    for tier in auto schedstat; do
        run "$CAMP" check --count 2 --interval 200ms --tier $tier
        [ "$status" -eq 0 ]
        [ "$(awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
        [[ $output != *$'\033'* ]]
    done
}

@test "json: one object a line, with the fields that are promised" {
    run "$CAMP" check --count 2 --interval 300ms --format json
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    json "all(x['schema'] == 'camp.check/1' for x in records)"
    json "set(r) >= {'schema', 'time', 'interval_s', 'tier', 'processes', 'cpus', 'total', 'losses'}"
    json "all(set(p) == {'pid', 'name', 'measured_percent', 'sampled_percent', 'error_percent', 'new', 'ended', 'count'} for p in r['processes'])"
    json "all(set(c) >= {'cpu', 'measured_busy_percent', 'sampled_busy_percent', 'idle_percent', 'sum_percent'} for c in r['cpus'])"
    json "set(r['total']) >= {'processes', 'new', 'ended', 'measured_percent', 'sampled_percent', 'error_percent', 'absolute_error_percent', 'maximum_error_percent'}"
    json "0.29 < r['interval_s'] < 2"
    json "__import__('datetime').datetime.fromisoformat(r['time']).tzinfo is not None"
    json "len(r['cpus']) == int('$(getconf _NPROCESSORS_ONLN)') == r['machine']['cpus']"
}

@test "json: the total is the sum of the rows" {
    run "$CAMP" check --count 1 --interval 300ms --format json
    json "abs(sum(p['measured_percent'] for p in r['processes']) - r['total']['measured_percent']) < 1e-6"
    json "r['tier'] != 'taskstats' or abs(sum(p['sampled_percent'] for p in r['processes']) - r['total']['sampled_percent'] - r['total']['stray_sampled_percent']) < 1e-6"
    json "sum(p['count'] for p in r['processes'] if p['ended']) == r['total']['ended']"
}

@test "csv: a header and as many fields in each row; any table" {
    for table in processes cpus machine total losses; do
        run "$CAMP" check --count 2 --interval 100ms --format csv --table "$table"
        [ "$status" -eq 0 ]
        python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0][0] == 'time' and len(rows) >= 3, rows[:2]
assert all(len(row) == len(rows[0]) for row in rows)
assert sum(row == rows[0] for row in rows) == 1" <<<"$output"
    done
}

@test "classic: the lines of cpuchk, for scripts of that time" {
    run "$CAMP" check --count 1 --interval 300ms --format classic
    [ "$status" -eq 0 ]
    [[ ${lines[0]} =~ ^[0-9:]{8}" cpu time accuracy check  proc "[0-9]+"  new "[0-9]+$ ]]
    [ "$(grep -cE '^pid ([0-9]+|-) meas [0-9.]+ samp ([0-9.]+|-) err ([0-9.]+%|-)$' <<<"$output")" -eq $((${#lines[@]} - 2)) ]
    [[ ${lines[-1]} =~ ^"msac "[0-9]+" meas "[0-9.]+" samp " ]]
    awk '/msac/ {printf("%s %s\n", $4, substr($10, 0, length($10)-1));}' <<<"$output" | grep -q .
}

@test "--filter, --pid, --top, --columns, --no-kernel-threads select rows" {
    sleep 5 &
    LOAD=$!
    run "$CAMP" check --count 1 --interval 200ms --format json --filter '^camp$'
    [ "$status" -eq 0 ]
    json "all(p['name'] == 'camp' for p in r['processes']) and len(r['processes']) > 0"
    run "$CAMP" check --count 1 --interval 200ms --format json --pid "$LOAD"
    [ "$status" -eq 0 ]
    json "[p['pid'] for p in r['processes']] == [$LOAD] and r['total']['processes'] == 1" # asleep
    run "$CAMP" check --count 1 --interval 200ms --format json --top 1
    json "len(r['processes']) == 1"
    run "$CAMP" check --count 1 --interval 100ms --format csv --columns pid,error_percent
    [[ ${lines[0]} == *",pid,error_percent" ]]
    run "$CAMP" check --count 1 --interval 500ms --format json --no-kernel-threads
    json "not any(p['name'].startswith(('ksoftirqd/', 'rcu_', 'migration/')) for p in r['processes'])"
}

@test "text: a filter that matches nothing says so" {
    run "$CAMP" check --count 1 --interval 50ms --filter 'no such name'
    [ "$status" -eq 0 ]
    [[ $output == *$'\n'"--filter   matches no process that ran in this interval"$'\n'* ]]
    run "$CAMP" check --count 1 --interval 50ms --filter camp
    [[ $output != *"matches no process"* ]]
}

@test "--pid ends when the process has ended" {
    ends_with_its_process check --format json
}

@test "--pid of a zombie ends at once" {
    python3 -c '
import os, sys, time
child = os.fork()
if child == 0:
    os._exit(0)
print(child, flush=True)
time.sleep(20)' >"$BATS_TEST_TMPDIR/zombie" &
    LOAD=$!
    until [ -s "$BATS_TEST_TMPDIR/zombie" ]; do sleep 0.1; done
    run timeout 10 "$CAMP" check --interval 100ms --format json --pid "$(cat "$BATS_TEST_TMPDIR/zombie")"
    [ "$status" -eq 0 ]
}

@test "text: rows that are left out are counted" {
    run "$CAMP" check --count 1 --interval 300ms --top 1
    [ "$status" -eq 0 ]
    [[ $output =~ "not shown  "[0-9]+" processes" ]]
    run "$CAMP" check --count 1 --interval 300ms --top 0
    [[ $output != *"not shown"* ]]
}

@test "bad options: one line that says what to do, and status 2" {
    for options in "--interval 0" "--interval -1" "--interval 1e12" "--interval x" "--count 0" \
        "--count -1" "--format xml" "--nonsense" "--columns pid,nonsense" "--top -1" "operand" \
        "--filter [" "--pid 0" "--pid x" "--table cpus" "--tier best" "--interval" \
        "--columns pid --format classic --count 1"; do
        # shellcheck disable=SC2086 # the words of the options
        run --separate-stderr "$CAMP" check $options
        echo "$options: $status $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == "camp check: "* ]]
    done
}

@test "of a column that is not there, those that are there are told" {
    run "$CAMP" check --count 1 --interval 10ms --format csv
    columns=pid,${lines[0]#*,pid,}
    run "$CAMP" check --columns pid,nonsense
    [ "$output" = "camp check: there is no column 'nonsense'; it takes ${columns//,/, }" ]
}

@test "a pid that does not exist is a failure that is named" {
    run --separate-stderr "$CAMP" check --count 1 --pid 4194999
    [ "$status" -eq 1 ]
    [[ $stderr == *"4194999"* ]]
}

@test "SIGINT and SIGTERM end with what was seen" {
    for signal in INT TERM; do
        "$CAMP" check --interval 60 --tier $tier --format json >"$BATS_TEST_TMPDIR/out" &
        LOAD=$!
        # It has set its handlers, and sleeps: bit 1 (SIGINT) and 14 (SIGTERM) of SigCgt.
        for _ in {1..50}; do
            (((0x$(awk '/^SigCgt/ {print $2}' "/proc/$LOAD/status") & 0x4002) == 0x4002)) && break
            sleep 0.1
        done
        sleep 0.5
        kill -s "$signal" "$LOAD"
        wait "$LOAD"
        output=$(cat "$BATS_TEST_TMPDIR/out")
        json "len(records) == 1 and r['interval_s'] < 30"
    done
}

@test "| head ends quietly" {
    run bash -c "set -o pipefail; '$CAMP' check --interval 50ms --format csv 2>&1 | head -3"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
}

@test "a full disk is told, with status 1" {
    run --separate-stderr bash -c "'$CAMP' check --count 1 --interval 50ms >/dev/full"
    [ "$status" -eq 1 ]
    [[ $stderr == *"No space left"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "a name with blanks, brackets and newlines stays one name" {
    cat >"$BATS_TEST_TMPDIR/named.py" <<'EOF'
import ctypes, time
ctypes.CDLL(None).prctl(15, b") R 1\n\x1b[2J \xff", 0, 0, 0)
end = time.monotonic() + 5
while time.monotonic() < end:
    pass
EOF
    python3 "$BATS_TEST_TMPDIR/named.py" &
    LOAD=$!
    for _ in {1..50}; do
        [[ $(cat "/proc/$LOAD/comm") != ")"* ]] || break
        sleep 0.1
    done
    run "$CAMP" check --count 1 --interval 300ms --format json --pid "$LOAD"
    json "r['processes'][0]['name'] == ') R 1\\n\\x1b[2J \\ufffd'"
    run "$CAMP" check --count 1 --interval 300ms --pid "$LOAD"
    [[ $output == *") R 1??[2J ?"* ]]
    [[ $output != *$'\033'* ]]
}

# --------------------------------------------------------------------------- the laws --

needs_taskstats() {
    run "$CAMP" check --count 1 --interval 10ms --tier taskstats
    [ "$status" -ne 4 ] || skip "CAP_NET_ADMIN is not held: sampled time of a process is unknown"
    # Under a sanitizer a program's start and end are a load of their own, which no clock in it sees.
    [ -z "${CAMP_SANITIZED:-}" ] || skip "a sanitizer is part of the load"
}

# checked LOAD-OPTIONS: runs `camp load` inside one interval of `camp check`; the interval's record
# goes to $output, the load's own word to $truth. A load that was disturbed says so (status 3): it
# is run again, three times at most, unless the law holds for it all the same (undisturbed=no).
undisturbed=yes
tier=auto
checked() {
    cp "$CAMP" "$BATS_TEST_TMPDIR/campload" # a name of its own
    for _ in 1 2 3; do
        stolen=$(awk '/^cpu / {print $9}' /proc/stat)
        "$CAMP" check --interval 60 --tier $tier --format json >"$BATS_TEST_TMPDIR/check" &
        LOAD=$!
        for _ in {1..50}; do # until its interval has begun: it sleeps
            sleep 0.1
            [[ $(cat "/proc/$LOAD/wchan") != *nanosleep* ]] || break
        done
        run --separate-stderr "$BATS_TEST_TMPDIR/campload" load "$@" --format json
        kill -INT "$LOAD"
        wait "$LOAD"
        # 1/100 s: what a hypervisor takes is in the wall time of a load, and in no clock of it.
        stolen=$(($(awk '/^cpu / {print $9}' /proc/stat) - stolen))
        [ "$stolen" -gt 3 ] || { [ "$status" -eq 3 ] && [ "$undisturbed" = yes ]; } || break
    done
    [ "$stolen" -le 3 ] || skip "the hypervisor took $stolen hundredths of a second, three times"
    [ "$status" -ne 3 ] || [ "$undisturbed" = no ] || skip "others were in the way three times: $stderr"
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    truth=$(tail -n 1 <<<"$output")
    output=$(cat "$BATS_TEST_TMPDIR/check")
}

# law EXPRESSION: of the load's own word `t`, and of the rows `p` of its processes.
law() {
    python3 -c "
import json, sys
t, r = (json.loads(line) for line in sys.stdin.read().splitlines())
p = [x for x in r['processes'] if x['name'] == 'campload']
measured_ns = sum(x['measured_percent'] for x in p) / 100 * r['interval_s'] * 1e9
sampled_ns = sum(x['sampled_percent'] for x in p) / 100 * r['interval_s'] * 1e9
own_ns = t['own_ns'] + (t.get('search_ns') or 0) # looking for the tick takes time too
ok = $1
if not ok: print(t, p, measured_ns, sampled_ns)
sys.exit(0 if ok else 1)" <<<"$truth"$'\n'"$output" # not as arguments: they may be too long
}

# bats test_tags=law
@test "between ticks: measured is the load's own clock, sampled is far below" {
    needs_taskstats
    checked cpu --percent 80 --phase between-ticks --duration 2s
    law "abs(measured_ns / own_ns - 1) < 0.01"
    law "sampled_ns < 0.2 * measured_ns"
}

# bats test_tags=law
@test "across ticks: sampled is far above measured" {
    needs_taskstats
    checked cpu --percent 5 --phase across-ticks --duration 2s
    law "abs(measured_ns / own_ns - 1) < 0.03" # 100 ms of load, and some ms of start and end
    law "sampled_ns > 5 * measured_ns > 0"
}

# bats test_tags=law
@test "short-lived processes: 99 % of what the children know of themselves is booked" {
    needs_taskstats
    undisturbed=no
    checked fork --rate 200 --burn 2ms --duration 2s
    law "sum(x['count'] for x in p if x['ended']) == t['children'] + 1" # and the load itself
    law "measured_ns >= 0.99 * (t['own_ns'] + t['parent_ns'])"
    law "measured_ns <= 1.01 * (t['whole_ns'] + t['parent_ns']) + 5e6"
    law "r['losses']['lost'] == 0"
}

@test "tasks that tier schedstat did not see are counted, with status 0" {
    "$CAMP" check --tier schedstat --count 1 --interval 1 --format json >"$BATS_TEST_TMPDIR/out" &
    LOAD=$!
    sleep 0.3
    for _ in {1..20}; do /bin/true; done
    status=0
    wait "$LOAD" || status=$?
    [ "$status" -eq 0 ]
    output=$(cat "$BATS_TEST_TMPDIR/out")
    json "r['losses']['unseen'] >= 20 and r['losses']['lost'] == 0"
    run "$CAMP" check --help
    [[ $output == *"What tier schedstat cannot see"*"is counted, status 0."* ]]
}

# bats test_tags=law
@test "what the README shows in ten seconds is seen here" {
    readme=$BATS_TEST_DIRNAME/../../README.md
    run env CAMP="$CAMP" bash -c "$(sed -n 's,^build/release/src/camp,"$CAMP",p' "$readme"); kill \$!"
    [ "$(grep -cE '^ +[0-9]+  camp  ' <<<"$output")" -eq 3 ]
}

@test "an ordinary user gets the schedstat tier, which says what it lacks" {
    public_camp
    run as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --interval 300ms
    [ "$status" -eq 0 ]
    [[ $output == *"tier schedstat"* ]]
    [[ $output == *"Tier schedstat lacks sampled time of processes"* ]]
    [[ $output == *"CAP_NET_ADMIN"* ]]
    run as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --interval 300ms --format json
    json "r['tier'] == 'schedstat' and all(p['sampled_percent'] is None and p['error_percent'] is None for p in r['processes'])"
    json "r['total']['sampled_percent'] is None and r['total']['measured_percent'] > 0"
    json "all(c['sampled_busy_percent'] is not None for c in r['cpus'])"
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --tier taskstats
    [ "$status" -eq 4 ]
    [[ $stderr == *"CAP_NET_ADMIN"* ]]
}

needs_microstates() {
    run "$CAMP" check --tier bpf --count 1 --interval 50ms
    if [ "$status" -eq 4 ] || [[ $output == *"without microstates"* ]]; then skip "$output"; fi
    [ -z "${CAMP_SANITIZED:-}" ] || skip "a sanitizer is part of the load"
    tier=bpf
}

# The bpf tier reads a task at its last switch: all of a child is in it, its exit too.
# bats test_tags=law
@test "tier bpf: short-lived processes are booked whole, as their parent was told by wait" {
    needs_microstates
    undisturbed=no
    checked fork --rate 200 --burn 2ms --duration 2s
    law "sum(x['count'] for x in p if x['ended']) == t['children'] + 1"
    law "measured_ns >= 0.999 * (t['own_ns'] + t['parent_ns'])"
    law "measured_ns >= 0.98 * (t['whole_ns'] + t['parent_ns'])"
    law "measured_ns <= 1.02 * (t['whole_ns'] + t['parent_ns']) + 5e6"
    law "r['tier'] == 'bpf' and r['total']['sampled_percent'] is not None"
}

# bats test_tags=law
@test "tier bpf: between ticks a CPU's busy time is the load's own clock, to a point" {
    needs_microstates
    checked cpu --percent 80 --phase between-ticks --duration 2s
    cpu="[x for x in r['cpus'] if x['cpu'] == t['cpu']][0]"
    ns="/ 100 * r['interval_s'] * 1e9"
    point="(r['interval_s'] * 1e7)"
    others="(r['total']['measured_percent'] $ns - measured_ns)"
    law "${cpu}['measured_busy_percent'] $ns > own_ns - $point"
    law "${cpu}['measured_busy_percent'] $ns < own_ns + $others + $point + 3e7" # 30 ms may be stolen
    law "${cpu}['sampled_busy_percent'] $ns < 0.2 * own_ns + $others"
    law "r['machine']['resolution_percent'] < 1e-4" # 1 ns
}

# bats test_tags=law
@test "tier bpf and tier taskstats say the same of a steady load" {
    needs_taskstats
    run "$CAMP" check --tier bpf --count 1 --interval 50ms
    [ "$status" -eq 0 ] || skip "$output"
    "$CAMP" load cpu --percent 40 --duration 20 >/dev/null &
    LOAD=$!
    sleep 0.3
    "$CAMP" check --tier bpf --count 1 --interval 2 --pid $LOAD --format json >"$BATS_TEST_TMPDIR/bpf" &
    "$CAMP" check --tier taskstats --count 1 --interval 2 --pid $LOAD --format json >"$BATS_TEST_TMPDIR/taskstats"
    wait $!
    output=$(cat "$BATS_TEST_TMPDIR/bpf" "$BATS_TEST_TMPDIR/taskstats")
    json "[x['tier'] for x in records] == ['bpf', 'taskstats']"
    json "abs(records[0]['total']['measured_percent'] - records[1]['total']['measured_percent']) < 10"
    json "records[0]['total']['measured_percent'] > 20"
}

@test "tier bpf: an ordinary user is told which capabilities are missing" {
    public_camp
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --tier bpf
    [ "$status" -eq 4 ] || [[ $stderr == *"without microstates"* ]]
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]] || [[ $stderr == *"without microstates"* ]]
}

@test "check refuses options that would do nothing" {
    run -2 "$CAMP" check --rules x --count 1
    [ "$output" = 'camp check: --rules goes with --from and sessions of a database' ]
    run -2 "$CAMP" check --background --count 1
    run -2 "$CAMP" check --begin 02:00 --count 1
    [ "$output" = 'camp check: --begin goes with --from and a recording' ]
    run -2 "$CAMP" check --from postgres: --detail
    run -2 "$CAMP" check --from postgres: --queries
}
