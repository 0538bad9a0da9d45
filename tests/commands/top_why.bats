#!/usr/bin/env bats
# camp top --why: how long the waits of each name of processes lasted, and the cause of the largest.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load check
load why

setup_file() {
    find_refusal top --why --count 1 --interval 10ms
}

setup() {
    # Other tests of this file may run at the same time, and processes of one name are one row.
    export NAPS=naps-$BASHPID
}

teardown() {
    end_children
    wait
}

# top WORD...: runs camp top --why with the words, and evaluates the Python program of standard input on its intervals,
# `frames`, of which `rows` are those of the last one.
top() {
    "$CAMP" top --why --format json "$@" >"$BATS_TEST_TMPDIR/top.json"
    {
        echo '
import json, os, sys
naps = os.environ["NAPS"]
frames = [json.loads(line) for line in open(sys.argv[1])]
rows = frames[-1]["entities"]
def row_of(name):
    found = [row for row in rows if row["name"] == name]
    # A machine with more names than are told apart has the other ones in one row.
    return found[0] if found or len(rows) < 50 else next(row for row in rows if row["name"] == "other processes")'
        cat
    } >"$BATS_TEST_TMPDIR/program.py"
    python3 "$BATS_TEST_TMPDIR/program.py" "$BATS_TEST_TMPDIR/top.json"
}

# a_process NAME PROGRAM: starts a Python program as a process of this name, and waits until it has the name.
a_process() {
    python3 -c "
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(15, b'$1', 0, 0, 0)
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
$2" &
    until_it grep -qx "$1" "/proc/$!/comm"
}

# bats test_tags=law
@test "--filter selects names, not the words of the largest cause" {
    need_states
    a_process "$NAPS" '
while True: time.sleep(0.1)'
    top --interval 1s --count 1 --filter '^(timer|not_ended|poll)$' <<'END'
assert rows == [], rows
END
    top --interval 1s --count 1 --top 0 --filter "^($NAPS|other processes)\$" <<'END'
assert row_of(naps)['labels']['wait'], rows
assert all(row['name'] in (naps, 'other processes') for row in rows), rows
END
}

@test "camp top --why: sleeps of 100 ms have a p99 between 64 and 256 ms, and a timer ended them" {
    need_states
    a_process "$NAPS" '
while True: time.sleep(0.1)'
    top --interval 3s --count 1 <<'END'
row = row_of(naps)
of = row['counters']
print(row['name'], {key: of[key] for key in of if key.startswith('timer_')}, row['labels'])
assert of['timer_waits'] >= 10, of
assert of['timer_max_ns'] >= 100000000 and of['timer_max_tid'] > 0, of
if row['name'] == naps:
    assert 64000000 <= of['timer_p50_ns'] <= 256000000, of
    assert 64000000 <= of['timer_p99_ns'] <= 256000000, of
    # On a busy machine its waits for a CPU say more.
    assert (row['labels']['wait'], row['labels']['cause']) in (('timer', 'timer'), ('timer', 'not_ended')) or \
        row['states']['run_queue_ns'] > 30000000, row
END
}

# The victim runs on the last CPU with the lowest priority, and a program with a higher one takes the CPU away for 80 ms
# at a time. How long the victim waited the kernel's own count says, which the victim reads in a loop. On a busy machine it
# may have had the CPU twice between two readings: what grew meanwhile is then no wait of its own.
# bats test_tags=law
@test "camp top --why: the longest wait for a CPU is the one that the waiting thread has measured" {
    need_states
    local result=$BATS_TEST_TMPDIR/longest
    [ "$(id -u)" -eq 0 ] || skip "needs root, to raise a priority"
    a_process why-hog '
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.nice(-20)
while True:
    end = time.monotonic() + 0.08
    while time.monotonic() < end: pass
    time.sleep(0.02)'
    "$CAMP" top --why --format json --interval 60s --count 1 >"$BATS_TEST_TMPDIR/top.json" 3>&- &
    local camp=$!
    until_it grep -q nanosleep "/proc/$camp/wchan"
    a_process why-late '
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.nice(19)
file, longest, end = os.open("/proc/thread-self/schedstat", os.O_RDONLY), 0, time.monotonic() + 3
def waited(): return [int(field) for field in os.pread(file, 99, 0).split()[1:3]]
before, turns = waited()
while time.monotonic() < end or longest < 60000000:
    now, turn = waited()
    if turn <= turns + 1: longest = max(longest, now - before)
    before, turns = now, turn
with open("'"$result"'.part", "w") as output: output.write(str(longest))
os.rename("'"$result"'.part", "'"$result"'")
time.sleep(600)'
    until_it test -e "$result"
    kill -INT "$camp"
    wait "$camp"
    python3 - "$BATS_TEST_TMPDIR/top.json" "$(cat "$result")" "$(getconf CLK_TCK)" <<'END'
import json, sys
rows, measured, tick = json.load(open(sys.argv[1]))['entities'], int(sys.argv[2]), 1000000000 // int(sys.argv[3])
row = next(row for name in ('why-late', 'other processes') for row in rows if row['name'] == name)
longest = row['counters']['run_queue_max_ns']
print(row['name'], longest, 'by the kernel', measured)
assert longest >= measured - tick, (longest, measured)
END
}

@test "of a recording camp top --why gives a command that a shell can run" {
    need_states
    "$CAMP" record --why --output "$BATS_TEST_TMPDIR/my rec.camp" 50ms 2
    run -2 --separate-stderr "$CAMP" top --why --from "$BATS_TEST_TMPDIR/my rec.camp"
    [[ $stderr == *" is a recording: give camp why --from '$BATS_TEST_TMPDIR/my rec.camp'; if it is of sessions, leave out --why to see how long their waits were" ]]
}

@test "camp top --why knows no lengths of waits that have not ended" {
    need_states
    a_process "$NAPS" '
while True: time.sleep(0.01)'
    top --interval 300ms --count 2 <<'END'
for frame in frames:
    for row in frame['entities']:
        of = row['counters']
        waits = [key[:-len('_waits')] for key in of if key.endswith('_waits')]
        assert 'run_queue' in waits and 'user' not in waits, waits
        for wait in waits:
            lengths = [of[wait + end] for end in ('_p50_ns', '_p99_ns', '_max_ns', '_max_tid')]
            if of[wait + '_waits'] == 0:
                assert lengths == [None] * 4, (row['name'], wait, lengths)
            else:
                assert lengths[0] <= lengths[1] <= lengths[2], (row['name'], wait, lengths)
assert row_of(naps)['counters']['timer_waits'] > 5, row_of(naps)
assert row_of(naps)['counters']['child_max_ns'] is None or row_of(naps)['name'] != naps
END
}

@test "the rows of camp top --why are sorted by a length of waits, and the states add up to the time" {
    need_states
    top --interval 300ms --count 2 --sort run_queue_max_ns <<'END'
lengths = [row['counters']['run_queue_max_ns'] or 0 for row in rows]
assert lengths == sorted(lengths, reverse=True) and lengths[0] > 0, lengths
for row in rows:
    assert sum(row['states'].values()) + row['unaccounted_ns'] == row['elapsed_ns'], row
    assert row['unaccounted_ns'] == 0, row
# A process of another test may have the name of the groups that are no process.
names = [row['name'] for row in rows if row['name'] not in ('other processes', 'kernel threads')]
assert len(set(names)) == len(names), names
assert frames[-1]['kind'] == 'commands' and frames[-1]['tier'] == 'bpf'
END
    top --interval 300ms --count 1 --group process <<'END'
processes = [row for row in rows if row['name'] not in ('other processes', 'kernel threads', 'outside of this container')]
assert processes and all(row['name'].endswith(f' ({row["id"]})') for row in processes), rows
END
}

@test "camp top --why as text has the lengths of the waits for a CPU, or of the state of --sort, and a cause" {
    need_states
    a_process "$NAPS" '
while True: time.sleep(0.01)'
    run --separate-stderr "$CAMP" top --why --interval 500ms --count 1 --top 0
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"runq p50 ms"*"p99 ms"*"max ms"*"largest cause"* ]]
    [[ $output == *"timer by a timer"* ]] || [[ $output == *" behind "* ]]
    run --separate-stderr "$CAMP" top --why --interval 500ms --count 1 --sort timer_p99_ns
    [ "$status" -eq 0 ]
    [[ $output == *"timer p50 ms"* ]]
}

@test "camp top --why refuses what its rows do not have" {
    local words
    for words in '--pid 1' '--tree' '--workload /dev/null' '--columns pea' '--no-kernel-threads' '--group thread' \
        '--group cgroup' '--from cpus' '--from commands --group process' '--tier schedstat' '--percent-of quota' \
        '--sort no_such_column'; do
        [[ $words != --sort* ]] || [ -z "$REFUSAL" ] || continue
        # shellcheck disable=SC2086
        run timeout 60 "$CAMP" top --why --count 1 --interval 10ms $words
        echo "$words: $status $output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "camp top --why without microstates ends with status 4 and names what is missing" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to take capabilities away"
    public_camp
    run --separate-stderr setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all \
        "$BATS_TEST_TMPDIR/camp" top --why --count 1 --interval 10ms
    [ "$status" -eq 4 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *CAP_BPF* ]]
    [ -z "$output" ]
}
