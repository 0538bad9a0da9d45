#!/usr/bin/env bats
# camp check: relations that its numbers must satisfy under known loads, in each tier.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load check

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
}

teardown() {
    end_children
}

needs_taskstats() {
    run "$CAMP" check --count 1 --interval 10ms --tier taskstats
    [ "$status" -ne 4 ] || skip "CAP_NET_ADMIN is not held: sampled time of a process is unknown"
    tiers=taskstats
}

# columns NAME: copies /proc/stat to the file NAME.
columns() {
    cat /proc/stat >"$BATS_TEST_TMPDIR/$1"
}

# watched LOAD-OPTIONS: runs `camp load` within one interval of `camp check`, for each tier in $tiers. It
# writes the records to files with the names of the tiers, the load's own report to `truth`, the CPU time of
# the exited load to `whole`, and /proc/stat before and after the interval to `outer-1` and `outer-2`, and
# within the interval to `inner-1` and `inner-2`. The interval ends $settle seconds after the load.
watched() {
    local pid checks=()
    name=campload$$ # unique, because other runs of this test may be active
    cp "$CAMP" "$BATS_TEST_TMPDIR/$name"
    columns outer-1
    for tier in $tiers; do
        "$CAMP" check --interval 3600 --tier "$tier" --format json >"$BATS_TEST_TMPDIR/$tier" &
        checks+=($!)
    done
    for pid in "${checks[@]}"; do until_it_sleeps "$pid"; done
    columns inner-1
    status=0
    python3 "$BATS_TEST_DIRNAME/whole_clock.py" "$BATS_TEST_TMPDIR/whole" \
        "$BATS_TEST_TMPDIR/$name" load "$@" --format json >"$BATS_TEST_TMPDIR/truth" || status=$?
    columns inner-2
    sleep "${settle:-0}"
    for pid in "${checks[@]}"; do
        kill -INT "$pid"
        wait "$pid"
    done
    columns outer-2
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] # 3: the load reports that it was smaller than requested
}

# law EXPRESSION: a claim about the load's report `t`, the record `r` of the first tier, and the rows `p` of
# the load's processes in that record. The bounds of measured_ns are two readings of the same clocks: least_ns
# by the processes themselves at their end, and most_ns after their exit. expected_ns is the sampled time that the
# load predicts: the ticks in its bursts of CPU time, and all its CPU time outside of the bursts.
law() {
    python3 - "$BATS_TEST_TMPDIR" "$tiers" "$name" "$1" <<'EOF'
import json, os, sys
folder, tiers, name, expression = sys.argv[1:]
def read(file):
    return open(os.path.join(folder, file)).read()
def near(a, b):  # a record has numbers with 9 digits, so two of them may differ by 1e-8
    return abs(a - b) <= 1e-8 * max(abs(a), abs(b))
def at_least(a, b):
    return a >= b or near(a, b)
t = json.loads(read('truth'))
records = {tier: json.loads(read(tier)) for tier in tiers.split()}
r = records[tiers.split()[0]]
ns = r['interval_s'] * 1e9 / 100  # one percent of the interval
# One percent of the interval of the columns of CPUs, which are read some microseconds after the processes:
# with tier bpf the resolution is 1 ns of that interval.
columns_ns = 1 / r['machine']['resolution_percent'] if r['tier'] == 'bpf' else None
def rows_of(record):
    return [x for x in record['processes'] if x['name'] == name]
def measured_of(record):
    return sum(x['measured_percent'] for x in rows_of(record)) * record['interval_s'] * 1e9 / 100
p = rows_of(r)
measured_ns = measured_of(r)
sampled_ns = sum(x['sampled_percent'] for x in p) * ns
least_ns, most_ns = t['process_ns'], int(read('whole'))
if t['load'] == 'fork':
    least_ns += t['own_ns']
    most_ns += t['whole_ns']
if t.get('ticks_met') is not None:
    expected_ns = t['ticks_met'] * t['tick_ns'] + t['process_ns'] - t['own_ns']
def stat(file, cpu, *columns):  # ns; /proc/stat counts in units that the system names
    values = next(line.split() for line in read(file).splitlines() if line.startswith(f'cpu{cpu} '))
    return sum(int(values[1 + column]) for column in columns) * unit_ns
unit_ns = 1e9 / os.sysconf('SC_CLK_TCK')
def between(first, second, cpu, *columns):
    return stat(second, cpu, *columns) - stat(first, cpu, *columns)
SAMPLED, IDLE = (0, 1, 2, 5, 6), (3, 4)
stolen_ns = between('outer-1', 'outer-2', '', 7)
ok = eval(expression)
if not ok:
    print(expression, t, p, {k: v for k, v in list(globals().items()) if k.endswith('_ns')})
sys.exit(0 if ok else 1)
EOF
}

# shown LOAD-OPTIONS: runs `watched` until the sampled time of the load differs from its CPU time by a factor
# of two and by more than the stolen time. On a busy machine, bursts of the load may not fit between ticks.
shown() {
    for attempt in 1 2 3 4 5; do
        watched "$@"
        ! law "max(expected_ns, least_ns) > 2 * min(expected_ns, least_ns) and abs(expected_ns - least_ns) > 2 * stolen_ns" || break
        [ "$attempt" -lt 5 ] || skip "the load lost its places in the tick five times: $(cat "$BATS_TEST_TMPDIR/truth")"
    done
    echo "# shown at attempt $attempt"
}

# bats test_tags=law
@test "camp check measures the true CPU time of a load that sampling at ticks understates" {
    needs_taskstats
    shown cpu --percent 80 --phase between-ticks --duration 2s
    law "at_least(measured_ns, least_ns) and at_least(most_ns, measured_ns)"
    law "abs(sampled_ns - expected_ns) < abs(sampled_ns - measured_ns) and sampled_ns < measured_ns"
}

# bats test_tags=law
@test "camp check measures the true CPU time of a load that sampling at ticks overstates" {
    needs_taskstats
    shown cpu --percent 5 --phase across-ticks --duration 2s
    law "at_least(measured_ns, least_ns) and at_least(most_ns, measured_ns)"
    law "abs(sampled_ns - expected_ns) < abs(sampled_ns - measured_ns) and sampled_ns > measured_ns"
}

# bats test_tags=law
@test "camp check accounts all the CPU time that short-lived child processes report" {
    needs_taskstats
    watched fork --rate 200 --burn 2ms --duration 2s
    law "sum(x['count'] for x in p if x['ended']) == t['children'] + 1" # the children and the load itself
    law "at_least(measured_ns, least_ns) and at_least(most_ns, measured_ns)"
    law "r['losses']['lost'] == 0"
}

# A final clock arrives after an RCU grace period. The children of the last one are accounted by their records.
# bats test_tags=law
@test "camp check on tier taskstats accounts at least 99 % of short-lived processes' CPU time" {
    needs_microstates # final clocks need the same capabilities
    needs_taskstats
    for rate in 470 1000; do
        settle=1 watched fork --rate $rate --burn 1ms --duration 2s
        law "sum(x['count'] for x in p if x['ended']) == t['children'] + 1"
        # The load cannot see that an exited child waits for a CPU to leave it. Its clock then stands still, too.
        law "at_least(measured_ns, 0.99 * most_ns) and at_least(most_ns + 1000 * t['children'], measured_ns)"
        law "r['losses']['lost'] == 0"
        law "r['tier_lacks'] == 'what a running task did since the last tick' and r['tier_change'] is None"
    done
}

@test "without CAP_BPF, tier taskstats reports that it lacks the last part of each exit" {
    [ "$(id -u)" -eq 0 ] || skip "only root can drop capabilities"
    needs_taskstats
    run setpriv --bounding-set -bpf,-perfmon,-sys_admin "$CAMP" check --count 1 --interval 50ms --tier taskstats --format json
    [ "$status" -eq 0 ]
    json "r['tier_lacks'].endswith('and the last part of an exit') and 'CAP_BPF and CAP_PERFMON' in r['tier_change']"
}

@test "tier schedstat counts processes that start and exit within an interval as unseen" {
    "$CAMP" check --tier schedstat --interval 3600 --format json >"$BATS_TEST_TMPDIR/out" &
    LOAD=$!
    until_it_sleeps "$LOAD"
    for _ in {1..20}; do /bin/true; done
    kill -INT "$LOAD"
    wait "$LOAD"
    output=$(cat "$BATS_TEST_TMPDIR/out")
    json "r['losses']['unseen'] >= 20 and r['losses']['lost'] == 0"
    run "$CAMP" check --help
    [[ $output == *"Tasks that tier schedstat did not see"*"are counted; the status is then 0."* ]]
}

# bats test_tags=law
@test "camp check shows the load of the README's example in each of three intervals" {
    readme=$BATS_TEST_DIRNAME/../../README.md
    run env CAMP="$CAMP" bash -c "$(sed -En 's,^camp (load cpu|check --count 3),"$CAMP" \1,p' "$readme"); kill \$!"
    [ "$(grep -cE '^ +[0-9]+  camp  ' <<<"$output")" -eq 3 ]
}

@test "camp check uses tier schedstat for an ordinary user" {
    public_camp
    run as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --interval 300ms
    [ "$status" -eq 0 ]
    [[ $output == *"tier schedstat"* ]]
    [[ $output == *"Tier schedstat lacks sampled times"* ]]
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
    tiers=bpf
}

# Tier bpf reads a task at its last switch, so its CPU time includes that of its exit.
# bats test_tags=law
@test "camp check on tier bpf accounts all CPU time of short-lived processes" {
    needs_microstates
    watched fork --rate 200 --burn 2ms --duration 2s
    law "sum(x['count'] for x in p if x['ended']) == t['children'] + 1"
    law "near(measured_ns, most_ns)"
    law "r['tier'] == 'bpf' and r['total']['sampled_percent'] is not None"
    law "'measured is the scheduler\'s clock (cpu_ns), not the time between switches' in r['tier_lacks']"
}

# The load was runnable for runnable_ns, so its CPU was not idle in that time. /proc/stat has the sampled time
# within the interval and around it.
# bats test_tags=law
@test "on tier bpf, a CPU is busy for at least as long as the load on that CPU was runnable" {
    needs_microstates
    watched cpu --percent 80 --phase between-ticks --duration 2s
    cpu="[x for x in r['cpus'] if x['cpu'] == t['cpu']][0]"
    law "at_least(${cpu}['measured_busy_percent'] * ns, t['runnable_ns'])"
    law "at_least(${cpu}['sampled_busy_percent'] * columns_ns, between('inner-1', 'inner-2', t['cpu'], *SAMPLED))"
    law "at_least(between('outer-1', 'outer-2', t['cpu'], *SAMPLED), ${cpu}['sampled_busy_percent'] * columns_ns)"
    law "round(r['machine']['resolution_percent'] * ns) == 1" # ns: the unit of the kernel's clock
}

# Skips a law that takes the idle time in /proc/stat as measured. On Linux 7.2 and later it is not.
needs_measured_idle() {
    [[ $("$CAMP" get cpu.idle_ns) != *" sampled" ]] || skip "this kernel samples idle time"
    [ "$("$CAMP" get kernel.short_idle_sampled --value)" != - ] || skip "this kernel may sample idle time"
}

# bats test_tags=law
@test "on tier bpf, a CPU is busy for at most the time that /proc/stat does not report as idle" {
    needs_microstates
    needs_measured_idle
    watched cpu --percent 80 --phase between-ticks --duration 2s
    cpu="[x for x in r['cpus'] if x['cpu'] == t['cpu']][0]"
    # Each reading of the two idle columns is rounded down to a unit.
    law "at_least(100 * ns + 2 * unit_ns - between('inner-1', 'inner-2', t['cpu'], *IDLE), ${cpu}['measured_busy_percent'] * ns)"
}

# bats test_tags=law
@test "tiers bpf and taskstats measure the CPU time that the load's own clock reports" {
    needs_taskstats
    needs_microstates
    tiers="bpf taskstats"
    watched cpu --percent 40 --duration 1s
    law "[x['tier'] for x in records.values()] == ['bpf', 'taskstats']"
    law "all(at_least(measured_of(x), least_ns) and at_least(most_ns, measured_of(x)) for x in records.values())"
}

@test "the error of camp check --tier bpf for an ordinary user names the missing capabilities" {
    public_camp
    run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/camp" check --count 1 --tier bpf
    [ "$status" -eq 4 ] || [[ $stderr == *"without microstates"* ]]
    [[ $stderr == *"CAP_BPF and CAP_PERFMON"* ]] || [[ $stderr == *"without microstates"* ]]
}
