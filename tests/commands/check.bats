#!/usr/bin/env bats
# camp check: what it prints, what it refuses, how it ends.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load ends_with
load check

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
}

teardown() {
    end_children
}

@test "camp check prints a headline, a table of processes, a table of CPUs and a line of sums" {
    run --separate-stderr "$CAMP" check --count 1 --interval 300ms
    was_shown
    [ -z "$stderr" ]
    [[ $output =~ [0-9]{2}:[0-9]{2}:[0-9]{2}"  "0\.[0-9]{2}" s  tier "(taskstats|schedstat)"  "[0-9]+" processes, " ]]
    [[ $output =~ "    pid  name "\ +" measured %  sampled %   points   error %" ]]
    [[ $output == *"    cpu  busy measured %  sampled %   idle %  iowait %  steal %    sum %"* ]]
    [[ $output == *"processes  measured "* ]]
    [[ $output =~ " no "(living )?"process: "[+-] ]]
}

@test "the second line of camp check sums up the interval: how busy the CPUs are, losses and names" {
    for tier in auto schedstat; do
        run "$CAMP" check --count 1 --interval 300ms --tier $tier
        was_shown
        grep -A2 -E '^[0-9:]{8}  .* processes' <<<"$output" | tail -n +2 | tr '\n' ' ' |
            grep -Eq '^((The CPU is|Both CPUs are|[0-9]+ CPUs are) [0-9]+ % busy\. )(Nothing lost\.|(At most )?[0-9.]+ (events? unseen|events? lost|not whole|s unread)[,.])'
    done
    run "$CAMP" check --count 1 --interval 300ms --format json
    json "set(r['summary']) == {'text', 'cpus', 'cpu'} and r['summary']['cpus'] == r['machine']['cpus']"
    json "abs(r['summary']['cpu'] - r['machine']['measured_busy_percent'] / 100) < 1e-6"
    json "(' %.0f %% busy. ' % (100 * r['summary']['cpu'] / r['summary']['cpus'])) in r['summary']['text']"
}

@test "the sentence of camp check --pid is of the selected processes only" {
    sleep 600 3>&- &
    LOAD=$!
    run "$CAMP" check --count 1 --interval 200ms --format json --pid "$LOAD"
    was_shown
    json "r['summary'] == {'text': '0.0 processes on a CPU. Nothing lost.', 'cpus': None, 'cpu': 0}"
}

@test "camp check prints lines of at most 80 columns on a terminal of 80 columns" {
    for tier in auto schedstat; do
        run env NO_COLOR=1 LC_ALL=C CAMP="$CAMP" script -qec \
            "stty cols 80; \"\$CAMP\" check --count 2 --interval 200ms --tier $tier" /dev/null </dev/null
        output=${output//$'\r'/}
        was_shown
        [ "$(awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
    done
}

@test "camp check prints no colour to a pipe" {
    for tier in auto schedstat; do
        run "$CAMP" check --count 1 --interval 200ms --tier $tier
        was_shown
        [[ $output != *$'\033'* ]]
    done
}

@test "camp check prints one JSON object with the documented fields for each interval" {
    began=$(date +%s%N)
    run "$CAMP" check --count 2 --interval 300ms --format json
    ended=$(date +%s%N)
    was_shown
    [ "${#lines[@]}" -eq 2 ]
    json "all(x['schema'] == 'camp.check/1' for x in records)"
    json "set(r) >= {'schema', 'time', 'interval_s', 'tier', 'processes', 'cpus', 'total', 'losses'}"
    json "all(set(p) == {'pid', 'name', 'measured_percent', 'sampled_percent', 'error_points', 'error_percent', 'new', 'ended', 'count'} for p in r['processes'])"
    json "all(set(c) >= {'cpu', 'measured_busy_percent', 'sampled_busy_percent', 'idle_percent', 'sum_percent'} for c in r['cpus'])"
    json "set(r['total']) >= {'processes', 'new', 'ended', 'measured_percent', 'sampled_percent', 'error_percent', 'absolute_error_percent', 'maximum_error_percent'}"
    # An interval starts at the end of the previous interval, and ends at its deadline or later. The deadlines
    # are 0.3 s apart, so an interval can be short only after a long interval.
    json "all(x['interval_s'] > 0 for x in records)"
    json "2 * 0.3 <= sum(x['interval_s'] for x in records) + 1e-8 < ($ended - $began) / 1e9"
    json "__import__('datetime').datetime.fromisoformat(r['time']).tzinfo is not None"
    json "len(r['cpus']) == int('$(getconf _NPROCESSORS_ONLN)') == r['machine']['cpus']"
}

@test "the total in the JSON of camp check is the sum over all processes" {
    run "$CAMP" check --count 1 --interval 300ms --format json
    json "abs(sum(p['measured_percent'] for p in r['processes']) - r['total']['measured_percent']) < 1e-6"
    json "r['tier'] != 'taskstats' or abs(sum(p['sampled_percent'] for p in r['processes']) - r['total']['sampled_percent'] - r['total']['stray_sampled_percent']) < 1e-6"
    json "sum(p['count'] for p in r['processes'] if p['ended']) == r['total']['ended']"
    json "r['tier'] != 'taskstats' or all(abs(p['error_points'] - p['sampled_percent'] + p['measured_percent']) < 1e-6 for p in r['processes'])"
    # The column of the order is shown. Without it, tier schedstat has the most CPU time first.
    json "(lambda keys: keys == sorted(keys, reverse=True))([round(abs(p['error_points']) if r['tier'] == 'taskstats' else p['measured_percent'], 6) for p in r['processes']])"
}

@test "all rows of a CSV table of camp check have as many fields as its header" {
    for table in processes cpus machine total losses; do
        run "$CAMP" check --count 2 --interval 100ms --format csv --table "$table"
        was_shown
        python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0][0] == 'time' and len(rows) >= 3, rows[:2]
assert all(len(row) == len(rows[0]) for row in rows)
assert sum(row == rows[0] for row in rows) == 1" <<<"$output"
    done
}

@test "camp check --format classic prints lines in the format of the tool cpuchk" {
    run "$CAMP" check --count 1 --interval 300ms --format classic
    was_shown
    [[ ${lines[0]} =~ ^[0-9:]{8}" cpu time accuracy check  proc "[0-9]+"  new "[0-9]+$ ]]
    [ "$(grep -cE '^pid ([0-9]+|-) meas [0-9.]+ samp ([0-9.]+|-) err ([0-9.]+%|-)$' <<<"$output")" -eq $((${#lines[@]} - 2)) ]
    [[ ${lines[-1]} =~ ^"msac "([0-9]+)" meas "[0-9.]+" samp " ]]
    # Idle processes are in the totals, too: they are all processes, and more than the printed ones.
    [[ ${lines[0]} == *"proc ${BASH_REMATCH[1]}  new"* ]]
    [ "${BASH_REMATCH[1]}" -gt $((${#lines[@]} - 2)) ]
    awk '/msac/ {printf("%s %s\n", $4, substr($10, 0, length($10)-1));}' <<<"$output" | grep -q .
}

@test "--filter, --pid, --top and --no-kernel-threads of camp check select the shown processes" {
    sleep 600 3>&- &
    LOAD=$!
    run "$CAMP" check --count 1 --interval 200ms --format json --filter '^camp$'
    was_shown
    json "all(p['name'] == 'camp' for p in r['processes']) and len(r['processes']) > 0"
    run "$CAMP" check --count 1 --interval 200ms --format json --pid "$LOAD"
    was_shown
    json "[p['pid'] for p in r['processes']] == [$LOAD] and r['total']['processes'] == 1"
    run "$CAMP" check --count 1 --interval 200ms --format json --top 1
    json "len(r['processes']) == 1"
    run "$CAMP" check --count 1 --interval 100ms --format csv --columns pid,error_percent
    [[ ${lines[0]} == *",pid,error_percent" ]]
    run "$CAMP" check --count 1 --interval 500ms --format json --no-kernel-threads
    json "not any((p['name'] or '').startswith(('ksoftirqd/', 'rcu_', 'migration/')) for p in r['processes'])"
}

@test "camp check reports that --filter matches no process" {
    run "$CAMP" check --count 1 --interval 50ms --filter 'no such name'
    was_shown
    [[ $output == *$'\n'"--filter   matches no process that ran in this interval"$'\n'* ]]
    run "$CAMP" check --count 1 --interval 50ms --filter camp
    [[ $output != *"matches no process"* ]]
}

@test "camp check --pid ends when the selected process exits" {
    ends_with_its_process check --format json
}

@test "camp check --pid ends at once if the selected process is a zombie" {
    python3 -c '
import os, sys, time
child = os.fork()
if child == 0:
    os._exit(0)
print(child, flush=True)
time.sleep(600)' >"$BATS_TEST_TMPDIR/zombie" 3>&- &
    LOAD=$!
    until [ -s "$BATS_TEST_TMPDIR/zombie" ]; do
        kill -0 "$LOAD"
        sleep 0.05
    done
    run timeout 120 "$CAMP" check --interval 100ms --format json --pid "$(cat "$BATS_TEST_TMPDIR/zombie")"
    was_shown
}

@test "camp check shows how many processes --top left out" {
    run "$CAMP" check --count 1 --interval 300ms --top 1
    was_shown
    [[ $output =~ "not shown  "[0-9]+" processes" ]]
    run "$CAMP" check --count 1 --interval 300ms --top 0
    [[ $output != *"not shown"* ]]
}

@test "camp check refuses each invalid option or value with one line on stderr and status 2" {
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

@test "the error of camp check about an unknown column lists the known columns" {
    run "$CAMP" check --count 1 --interval 10ms --format csv
    columns=pid,${lines[0]#*,pid,}
    run "$CAMP" check --columns pid,nonsense
    [ "$output" = "camp check: there is no column 'nonsense'; it takes ${columns//,/, }" ]
}

@test "camp check --pid PID fails with an error that names PID if no such process exists" {
    run --separate-stderr "$CAMP" check --count 1 --pid 4194999
    [ "$status" -eq 1 ]
    [[ $stderr == *"4194999"* ]]
}

@test "camp check prints the unfinished interval when SIGINT or SIGTERM ends it" {
    for signal in INT TERM; do
        "$CAMP" check --interval 60 --format json >"$BATS_TEST_TMPDIR/out" &
        LOAD=$!
        until_it_sleeps "$LOAD"
        kill -s "$signal" "$LOAD"
        wait "$LOAD"
        output=$(cat "$BATS_TEST_TMPDIR/out")
        json "len(records) == 1 and 0 < r['interval_s'] < 60"
    done
}

@test "camp check ends quietly when the reader of its output closes the pipe" {
    run bash -c 'set -o pipefail; "$0" check --interval 50ms --format csv 2>&1 | head -3' "$CAMP"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
}

@test "camp check fails with status 1 if its output goes to a full disk" {
    run --separate-stderr bash -c '"$0" check --count 1 --interval 50ms >/dev/full' "$CAMP"
    [ "$status" -eq 1 ]
    [[ $stderr == *"No space left"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "camp check shows the whole name of a process whose name has blanks, brackets and newlines" {
    cat >"$BATS_TEST_TMPDIR/named.py" <<'EOF'
import ctypes
ctypes.CDLL(None).prctl(15, b") R 1\n\x1b[2J \xff", 0, 0, 0)
while True:
    pass
EOF
    python3 "$BATS_TEST_TMPDIR/named.py" &
    LOAD=$!
    until [[ $(cat "/proc/$LOAD/comm") == ")"* ]]; do
        kill -0 "$LOAD"
        sleep 0.05
    done
    run "$CAMP" check --count 1 --interval 300ms --format json --pid "$LOAD"
    json "r['processes'][0]['name'] == ') R 1\\n\\x1b[2J \\ufffd'"
    run "$CAMP" check --count 1 --interval 300ms --pid "$LOAD"
    [[ $output == *") R 1??[2J ?"* ]]
    [[ $output != *$'\033'* ]]
}

@test "camp check refuses options that do not apply to its source" {
    run -2 "$CAMP" check --rules x --count 1
    [ "$output" = 'camp check: --rules does not go with --from check; it goes with FILE.csv, FILE.tsv, FILE.txt, -, sqlite:FILE, postgres:CONNINFO, mariadb:CONNINFO or odbc:DSN' ]
    run -2 "$CAMP" check --background --count 1
    run -2 "$CAMP" check --begin 02:00 --count 1
    [[ $output == 'camp check: --begin does not go with --from check; it goes with demo, FILE.camp, '* ]]
    run -2 "$CAMP" check --from postgres: --detail
    run -2 "$CAMP" check --from postgres: --queries
}
