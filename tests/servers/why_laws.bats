#!/usr/bin/env bats
# bats file_tags=law
# Who blocks whom on a hot row: the wakers that camp why names, beside what pg_blocking_pids() says in the same seconds.
#
# Two sessions hold the row in turn, one of them four times as long as the other, and a third one wants it all the time.
# The share p of n samples may be wrong by four standard errors, sqrt(p (1 - p) / n), and the sleeps that nothing had
# ended when camp read them have no waker.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    local status=0 refusal
    refusal=$("$CAMP" why --count 1 --interval 50ms 2>&1 >/dev/null) || status=$?
    [ "$status" -eq 0 ] || { skip_file "$refusal"; return; }
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    # A session that waits for a lock sleeps until it has it, and commits wait for no disk.
    start_postgres deadlock_timeout=1h synchronous_commit=off
    query_postgres 'create table hot (id int primary key, n int); insert into hot values (1, 0);
        create table samples (at timestamptz, by int)'
    start_session long 'do $$ begin loop
        update hot set n = n + 1; perform pg_sleep(0.4); commit; perform pg_sleep(0.05); end loop; end $$'
    start_session short 'do $$ begin loop
        update hot set n = n + 1; perform pg_sleep(0.1); commit; perform pg_sleep(0.05); end loop; end $$'
    start_session talker 'do $$ begin loop perform pg_sleep(0.001); commit; end loop; end $$'
    start_session victim 'do $$ begin loop update hot set n = n + 1; commit; end loop; end $$'
    VICTIM=$(backend_of victim)
    start_session sampler "do \$\$ begin loop insert into samples
        select clock_timestamp(), coalesce(by, 0) from (select 1) one left join unnest(pg_blocking_pids($VICTIM)) by
            on true; commit; perform pg_sleep(0.01); end loop; end \$\$"
    "$CAMP" why --by process --json --top 0 "$VICTIM" 8s 1 >"$SERVERS/why.json"
    query_postgres 'select extract(epoch from at), by from samples' >"$SERVERS/samples"
    printf '%s\n' "$(backend_of long)" "$(backend_of short)" "$(backend_of talker)" >"$SERVERS/pids"
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

# law PROGRAM: evaluates Python on the wakers of camp and on the samples.
law() {
    python3 -c "
import datetime, json, math, sys
folder, program = sys.argv[1:]
report = json.load(open(folder + '/why.json'))
end = datetime.datetime.fromisoformat(report['time']).timestamp()
pids = [int(line) for line in open(folder + '/pids')]
samples = [line.split('|') for line in open(folder + '/samples')]
blockers = [int(by) for at, by in samples if end - report['interval_s'] <= float(at) <= end]
sleeps = {}
for row in report['tree']:
    if row['level'] == 'who' and row['cause'] == 'group' and row['state'] != 'run_queue':
        sleeps[row['pid']] = sleeps.get(row['pid'], 0) + row['time_ns']
open_ns = sum(row['time_ns'] for row in report['tree'] if row['level'] == 'cause' and row['cause'] == 'not_ended')
blocked = [by for by in blockers if by != 0]
asleep_ns = sum(sleeps.values())
def sampled(pid):
    return blocked.count(pid) / len(blocked)
def woken(pid):
    return sleeps.get(pid, 0) / asleep_ns
def tolerance(share):
    return 4 * math.sqrt(share * (1 - share) / len(blocked)) + open_ns / asleep_ns
print(len(blocked), 'samples;', [(pid, sampled(pid), woken(pid), tolerance(sampled(pid))) for pid in pids],
      report['losses'], report['sentence'])
exec(program)" "$SERVERS" "$1"
}

@test "the session that ends most of the sleep is the one that pg_blocking_pids names most" {
    law '
assert len(blocked) > 100, blocked
assert max(sleeps, key=sleeps.get) == pids[0] == max(set(blocked), key=blocked.count), sleeps'
}

@test "each blocker is the waker of its share of the sleep" {
    law '
for pid in pids[:2]:
    assert abs(sampled(pid) - woken(pid)) <= tolerance(sampled(pid)), pid'
}

@test "a session that blocks nobody wakes nobody" {
    law 'assert woken(pids[2]) <= tolerance(0) and pids[2] not in blocked'
}
