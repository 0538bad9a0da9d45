#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
load ../waiting
load children
# camp check --report: the page has the same values as the records of the same run.

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    PAGE=$BATS_TEST_TMPDIR/out.html
}

teardown() {
    end_children
}

# page EXPRESSION: evaluates Python on `p`, the page (report_page.py), and on `records`, the JSON
# objects in $output, which the same run printed.
page() {
    PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 python3 -c "
import json, math, sys
from report_page import page
p = page(sys.argv[1])
records = [json.loads(line) for line in sys.stdin.read().splitlines() if line.startswith('{')]
def near(a, b): return a is None and b is None or abs(a - b) <= 1e-6 * abs(b) + 1e-9
ok = $1
if not ok: print(p.tables, [dict(x, text=x['text'][-6:]) for x in p.pictures], records, sep='\n')
sys.exit(0 if ok else 1)" "$PAGE" <<<"$output"
}

@test "camp check --report refuses a file name without .html before it measures anything" {
    cd "$BATS_TEST_TMPDIR"
    for name in '' x.txt .html .; do
        run -2 --separate-stderr timeout 60 "$CAMP" check --report "$name"
        [[ $stderr == "camp check: --report '$name': a page ends with .html" ]]
        [ -z "$output" ]
        [ ! -e x.txt ]
    done
}

# reported COUNT [OPTION...]: measures COUNT intervals while a load runs between ticks.
reported() {
    "$CAMP" load cpu --percent 50 --phase between-ticks --duration 600 >/dev/null 2>&1 &
    LOAD=$!
    run --separate-stderr "$CAMP" check --count "$1" --interval 150ms --format json \
        --report "$PAGE" "${@:2}"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "the report of camp check contains no script and loads no other file" {
    reported 3
    page "'script' not in p.tags and not {'src', 'href', 'style'} & {n for _, n, _ in p.attributes}"
    page "not any(n.startswith('on') for _, n, _ in p.attributes)"
    page "not any('http' in (v or '') for _, n, v in p.attributes if n not in ('http-equiv', 'xmlns'))"
    page "p.policy.startswith(\"default-src 'none'; style-src \")"
    # If a style has changed, copy the printed hashes to html.c and svg.c.
    page "print('the styles are', p.hashes()) or set(p.policy.split('style-src ')[1].split(';')[0].split()) == p.hashes()"
    [[ $(head -1 "$PAGE") == "<!doctype html>" ]]
}

@test "the report of camp check has the same numbers as the JSON of the same run" {
    reported 6
    page "len(p.tables['intervals']) == len(records) == 6"
    page "[x['time'] for x in p.tables['intervals']] == [r['time'] for r in records]"
    page "all(x['interval_s'] == r['interval_s'] for x, r in zip(p.tables['intervals'], records))"
    for column in processes ended measured_percent sampled_percent error_percent \
        absolute_error_percent maximum_error_percent stray_sampled_percent; do
        page "all(x['$column'] == r['total']['$column'] for x, r in zip(p.tables['intervals'], records))"
    done
    for column in measured_busy_percent sampled_busy_percent steal_percent unaccounted_percent; do
        page "all(x['$column'] == r['machine']['$column'] for x, r in zip(p.tables['intervals'], records))"
    done
    for column in unseen lost partial unread_percent; do
        page "all(x['$column'] == r['losses']['$column'] for x, r in zip(p.tables['intervals'], records))"
    done
}

# The report of a recording names it, and says nothing of the machine that writes the report.
report_of_a_recording() { # TIER
    cd "$BATS_TEST_TMPDIR" || return
    run "$CAMP" record --from check --tier "$1" --output run.camp --count 3 --interval 50ms
    [[ $output != *"without SQLite"* ]] || skip "camp was built without SQLite"
    [ "$status" -ne 4 ] || skip "no tier $1 here: $output"
    [ "$status" -eq 0 ]
    run -0 --separate-stderr "$CAMP" check --from run.camp --format json --report "$PAGE"
    page "[x['time'] for x in p.tables['intervals']] == [r['time'] for r in records] and len(records) == 3"
    page "all(x['measured_percent'] == r['total']['measured_percent'] for x, r in zip(p.tables['intervals'], records))"
    page "all(x['measured_busy_percent'] == r['machine']['measured_busy_percent'] for x, r in zip(p.tables['intervals'], records))"
    page "[f['is'] for f in p.tables['facts'] if f['what'] == 'source'] == ['run.camp (check)']"
    page "[f['is'] for f in p.tables['facts'] if f['what'] == 'tier'] == ['$1']"
    page "not {f['what'] for f in p.tables['facts']} & {'machine', 'kernel', 'processes of other users'}"
    grep -q 'run.camp (check)</h1>' "$PAGE"
    run ! grep -qw nan "$PAGE"
}

@test "the report of a recording made on tier schedstat has the numbers of that recording" {
    report_of_a_recording schedstat
}

@test "the report of a recording made on tier bpf has the numbers of that recording" {
    report_of_a_recording bpf
}

@test "the report of camp check lists only the last 300 intervals" {
    run --separate-stderr "$CAMP" check --count 310 --interval 10ms --format json --filter . --report "$PAGE"
    [ "$status" -eq 0 ]
    page "[x['time'] for x in p.tables['intervals']] == [r['time'] for r in records[-300:]]"
    page "[x['measured_percent'] for x in p.tables['intervals']] == [r['total']['measured_percent'] for r in records[-300:]]"
    page "{'what': 'first interval ended', 'is': records[0]['time']} in p.tables['facts']"
    page "{'what': 'last interval ended', 'is': records[-1]['time']} in p.tables['facts']"
    page "p.pictures[0]['dots'] == sum(r['total']['absolute_error_percent'] is not None for r in records)"
    page "any(t == 'caption' and 'The last 300 of 310' in x for t, x in p.texts)"
}

@test "both pictures in the report have a dot for each interval whose sampling error is known" {
    reported 5
    page "len(p.pictures) == 2 and all(x['title'] and x['desc'] for x in p.pictures)"
    page "'over time' in p.pictures[0]['title'] and 'by load' in p.pictures[1]['title']"
    page "[x['dots'] for x in p.pictures] == 2 * [sum(r['total']['absolute_error_percent'] is not None for r in records)]"
    page "p.pictures[0]['lines'] == 1"
}

@test "each row of a process or CPU in the report of camp check covers all intervals" {
    reported 4
    page "all(near(x['measured_s'], sum(y['measured_percent'] * r['interval_s'] / 100 for r in records for y in r['processes'] if y['pid'] == x['pid'])) for x in p.tables['processes'] if x['pid'])"
    page "any(x['pid'] == $LOAD for x in p.tables['processes'])"
    page "all(near(x['absolute_s'], sum(abs(y['sampled_percent'] - y['measured_percent']) * r['interval_s'] / 100 for r in records for y in r['processes'] if y['pid'] == x['pid'])) for x in p.tables['processes'] if x['pid'] and x['absolute_s'] is not None)"
    seconds="sum(r['interval_s'] for r in records)"
    page "len(p.tables['cpus']) == len(records[0]['cpus'])"
    page "all(near(x['measured_busy_percent'], sum(c['measured_busy_percent'] * r['interval_s'] for r in records for c in r['cpus'] if c['cpu'] == x['cpu']) / $seconds) for x in p.tables['cpus'])"
    page "all(near(x['sampled_busy_percent'], sum(c['sampled_busy_percent'] * r['interval_s'] for r in records for c in r['cpus'] if c['cpu'] == x['cpu']) / $seconds) for x in p.tables['cpus'])"
}

@test "the report of camp check states whether one error curve fits all intervals" {
    reported 12
    page "records[0]['tier'] == 'schedstat' or sum(p.tables['fit'][0][x] for x in ('used', 'left_out')) == sum(r['total']['absolute_error_percent'] is not None for r in records)"
    page "any(t == 'p' and ('explains' in x or 'No single curve fits' in x or 'The load hardly varied' in x or 'Too few intervals' in x or 'No curve could be fitted' in x) for t, x in p.texts)"
    page "p.pictures[1]['lines'] == any(t == 'p' and 'The inverse curve explains' in x for t, x in p.texts)"
}

@test "the report of camp check lists all selected processes even if --top limits the text" {
    sleep 600 3>&- &
    LOAD=$!
    run --separate-stderr "$CAMP" check --count 2 --interval 100ms --format json --pid $LOAD --report "$PAGE"
    [ "$status" -eq 0 ]
    page "[x['measured_percent'] for x in p.tables['intervals']] == [0, 0]"
    page "{'what': 'processes', 'is': 'a selection'} in p.tables['facts']"
    page "[x['dots'] for x in p.pictures] == [0, 0] and 'fit' not in p.tables"
    kill $LOAD
    run --separate-stderr "$CAMP" check --count 1 --interval 400ms --format text --top 1 --report "$PAGE"
    [ "$status" -eq 0 ]
    page "len(p.tables['processes']) > 1 and {'what': 'processes', 'is': 'all'} in p.tables['facts']"
}

@test "the report of camp check names its command line, machine, tier and what the tier lacks" {
    run "$CAMP" check --count 1 --interval 50ms --tier schedstat --filter "it's <b>&" --report "$PAGE"
    [ "$status" -eq 0 ]
    page "{'what': 'machine', 'is': '$(uname -n)'} in p.tables['facts']"
    page "{'what': 'tier', 'is': 'schedstat'} in p.tables['facts']"
    page "any(x['what'] == 'which cannot see' and 'sampled time' in x['is'] for x in p.tables['facts'])"
    page "__import__('shlex').split(p.tables['facts'][0]['is']) == ['camp', 'check', '--count', '1', '--interval', '50ms', '--tier', 'schedstat', '--filter', 'it\'s <b>&', '--report', '$PAGE']"
    page "'b' not in p.tags"
}

@test "a report without sampled time explains in a note why it shows no sampling error" {
    run --separate-stderr "$CAMP" check --count 3 --interval 100ms --tier schedstat --format json --report "$PAGE"
    [ "$status" -eq 0 ]
    page "all(x['sampled_percent'] is None and x['absolute_error_percent'] is None for x in p.tables['intervals'])"
    page "[x['dots'] for x in p.pictures] == [0, 0]"
    page "any(t == 'p' and 'Sampled time of processes is not known' in x for t, x in p.texts)"
    page "all(x['sampled_s'] is None for x in p.tables['processes'])"
}

@test "the report of camp check escapes special characters in the name of a process" {
    cat >"$BATS_TEST_TMPDIR/named.py" <<'EOP'
import ctypes, time
ctypes.CDLL(None).prctl(15, b"</td><b>\n\x1b\xff\"&", 0, 0, 0)
end = time.monotonic() + 600
while time.monotonic() < end:
    pass
EOP
    python3 "$BATS_TEST_TMPDIR/named.py" 3>&- &
    LOAD=$!
    until_it grep -q '^</td>' "/proc/$LOAD/comm"
    run "$CAMP" check --count 1 --interval 300ms --pid $LOAD --report "$PAGE"
    [ "$status" -eq 0 ]
    page "p.tables['processes'][0]['name'].startswith('</td><b>')"
    page "'b' not in p.tags"
}

@test "camp check --report writes its report when SIGINT ends it" {
    "$CAMP" check --interval 60 --report "$PAGE" >/dev/null &
    LOAD=$!
    until_it_sleeps "$LOAD"
    [ ! -e "$PAGE" ]
    kill -INT "$LOAD"
    wait "$LOAD"
    output=
    page "len(p.tables['intervals']) == 1 and p.tables['intervals'][0]['interval_s'] < 30"
    [ "$(find "$BATS_TEST_TMPDIR" -name 'out.html*' | wc -l)" -eq 1 ]
}

@test "camp check --report writes a complete page even if the reader of stdout closes the pipe" {
    run bash -c 'set -o pipefail; "$0" check --interval 50ms --count 20 --format csv --report "$1" | head -1' "$CAMP" "$PAGE"
    [ "$status" -eq 0 ]
    output=
    page "0 < len(p.tables['intervals']) < 20"
}

@test "camp check refuses an unwritable --report file before it measures anything" {
    run --separate-stderr timeout 60 "$CAMP" check --interval 1h --report "$BATS_TEST_TMPDIR/none/out.html"
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr == "camp check: cannot write $BATS_TEST_TMPDIR/none/out.html: there is no folder $BATS_TEST_TMPDIR/none" ]]
    mkdir "$PAGE"
    run --separate-stderr timeout 60 "$CAMP" check --interval 1h --report "$PAGE"
    [ "$status" -eq 1 ]
    [[ $stderr == *"Is a directory" ]]
    [ -z "$output" ]
}

@test "camp check --report fails with status 1 if the report goes to a full disk" {
    run --separate-stderr "$CAMP" check --count 1 --interval 50ms --report /dev/full
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"cannot write /dev/full: No space left on device" ]]
    [ -c /dev/full ]
}

@test "camp check keeps an existing report file until the new report is complete" {
    echo old >"$BATS_TEST_TMPDIR/real.html"
    ln -s real.html "$PAGE"
    "$CAMP" check --interval 60 --report "$PAGE" >/dev/null &
    LOAD=$!
    until_it_sleeps "$LOAD"
    [ "$(cat "$PAGE")" = old ]
    kill -KILL "$LOAD"
    wait "$LOAD" || true
    [ "$(cat "$PAGE")" = old ]
    run "$CAMP" check --count 1 --interval 50ms --report "$PAGE"
    [ "$status" -eq 0 ]
    [ -L "$PAGE" ]
    [[ $(head -1 "$PAGE") == "<!doctype html>" ]]
}

@test "camp check can write its report to a pipe" {
    run bash -c '"$0" check --count 1 --interval 50ms --format json --report /dev/fd/3 3>&1 >/dev/null | tail -1' "$CAMP"
    [ "$output" = "</html>" ]
}
