#!/usr/bin/env bats
# camp top --columns pea: the columns of the process lister of the papers, with sizes and the CPU time of children.

bats_require_minimum_version 1.5.0
load microstates

setup_file() {
    find_refusal top --tier bpf --count 1 --interval 50ms
}

setup() {
    need_states
    [ "$(id -u)" -eq 0 ] || skip "needs root for microstates"
}

teardown() {
    [ -z "${CHILD:-}" ] || kill "$CHILD"
    wait
}

@test "camp top --columns pea prints the columns of pea.se, with a dash for exited processes" {
    sh -c 'while :; do /bin/true; done' 3>&- &
    CHILD=$!
    run -0 "$CAMP" top --count 1 --interval 300ms --columns pea
    python3 -c '
import sys
names = ("name lwp pid ppid uid usr% sys% wait% chld% size rss pf inblk outblk chario sysc vctx ictx msps").split()
lines = sys.stdin.read().splitlines()
heads = [i for i, line in enumerate(lines) if line.split()[:len(names)] == names]
assert len(heads) == 2 and lines[heads[1]].endswith("(ended)"), lines
ended = lines[heads[1] + 1]
assert " -       - - " in ended, ended # pid, ppid and uid of all that ended
' <<<"$output"
}

# The first thread of a sleeping process changes neither its size nor its pages.
@test "the sizes in camp top --columns pea are those of /proc, and a thread has none" {
    sleep 600 3>&- &
    CHILD=$!
    "$CAMP" top --count 1 --interval 200ms --columns pea --format json --pid "$CHILD" >"$BATS_TEST_TMPDIR/top.json"
    "$CAMP" top --count 1 --interval 200ms --columns pea --format json --pid "$CHILD" --group thread \
        >"$BATS_TEST_TMPDIR/threads.json"
    python3 -c "
import json, os, sys
row, = json.load(open(sys.argv[1]))['entities']
size, pages = map(int, open('/proc/$CHILD/statm').read().split()[:2])
page = os.sysconf('SC_PAGESIZE')
assert row['virtual_bytes'] == size * page, (row, size)
assert abs(row['resident_bytes'] - pages * page) <= 64 * page, (row, pages)
assert row['children_percent'] == 0, row
row, = json.load(open(sys.argv[2]))['entities']
assert row['virtual_bytes'] is row['resident_bytes'] is row['children_percent'] is None, row
" "$BATS_TEST_TMPDIR/top.json" "$BATS_TEST_TMPDIR/threads.json"
    run -0 "$CAMP" top --count 1 --interval 100ms --columns pea --format csv
    [[ ${lines[0]} == *,virtual_bytes,resident_bytes,children_percent ]]
}

# A child of 50 ms of CPU time each round is in the parent's children when it was waited for.
@test "camp top --columns pea shows the CPU time of children that exited" {
    python3 -c '
import os, time
while True:
    if os.fork() == 0:
        while time.process_time() < 0.05:
            pass
        os._exit(0)
    os.wait()' 3>&- &
    CHILD=$!
    "$CAMP" top --count 2 --interval 1s --columns pea --format json --pid "$CHILD" >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json, sys
rows = [json.loads(line)['entities'] for line in open(sys.argv[1])]
row, = [row for row in rows[1] if row['pid'] == $CHILD]
assert 0 < row['children_percent'] <= 120, row
" "$BATS_TEST_TMPDIR/top.json"
}

@test "camp top --columns pea says that a recording has no sizes, and shows them as unknown" {
    "$CAMP" record --output "$BATS_TEST_TMPDIR/run.camp" --count 1 --interval 100ms
    "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --columns pea --format json |
        python3 -c '
import json, sys
rows = json.loads(sys.stdin.readline())["entities"]
assert rows and all(row["virtual_bytes"] is None and row["children_percent"] is None for row in rows), rows'
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --columns pea
    [[ $output == *" chld%  size   rss "* ]]
    [[ $output == *"size, rss and chld% (CPU time of children) are unknown: a recording does not have them"* ]]
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp"
    [[ $output != *"does not have them"* ]]
}
