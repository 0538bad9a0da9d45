#!/usr/bin/env bats
# camp record --when: the switches before a condition held, as a trace for Perfetto.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load record

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    READ=$BATS_TEST_DIRNAME/../perfetto/read
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    touch stop
    end_children KILL
    [ -z "${MOUNT:-}" ] || umount "$MOUNT"
}

# Skips the test if this user or this build has no ring of switches.
needs_ring() {
    run "$CAMP" record --when 'run_queue > 60m' --count 1 --interval 10ms --output can.camp "$@"
    rm -f can.camp*
    echo "$output"
    case $output in
    *CAP_BPF* | *CAP_PERFMON* | *"this kernel"* | *"built without"*) skip "$output" ;;
    esac
    [ "$status" -eq 0 ]
}

# Skips the test in another PID namespace, where the machine's tids are not those of this shell.
needs_machine_ids() {
    [ "$(stat -L -c %i /proc/self/ns/pid)" = $((0xEFFFFFFC)) ] || skip "a trace has the machine's ids, and this is another PID namespace"
}

# ring_of EVENTS: a size with at least this many events for each CPU.
ring_of() {
    echo "$(($1 * 64 * $(getconf _NPROCESSORS_CONF) / 1000 + 1))kB"
}

needs_reader() {
    run "$READ" --prepare
    [ "$status" -ne 77 ] || skip "$output"
    [ "$status" -eq 0 ]
}

# facts EXPRESSION TRACE: evaluates Python on `t`, what the reader of tests/perfetto found in the trace.
facts() {
    "$READ" "$2" "$(cat recorder 2>/dev/null || echo 0)" | python3 -c 'import json, sys
t = json.load(sys.stdin)
p = json.load(open("pids")) if __import__("os").path.exists("pids") else {}
print(eval("(" + sys.argv[1] + ")"))' "$1"
}

traces() {
    compgen -G '*.perfetto-trace' | wc -l
}

start_load() {
    rm -f stop pids
    python3 "$BATS_TEST_DIRNAME/queueing.py" . 3>&- &
    until_it test -s pids
    name=$(python3 -c 'import json; print(json.load(open("pids"))["name"])')
}

# record_the_victim: records until the victim has queued for 20 ms in an interval.
record_the_victim() {
    rm -f ./*.camp* ./*.perfetto-trace
    # shellcheck disable=SC2016 # the inner shell's pid becomes the recorder's
    run -0 --separate-stderr bash -c 'echo $$ >recorder; exec "$@"' - "$CAMP" record --interval 300ms --count 4 \
        --when "run_queue > 20ms of '$name'"
    [ "$(traces)" = 1 ]
}

# The reader takes the waits of a thread from its switches alone. A few switches have no event
# (docs/design.md); if one was of the victim or of the recorder, another trace is taken.
victim_is_seen() {
    record_the_victim
    facts 'next(int(t["recorder_seen"] and not q["unseen"]) for q in t["queued"] if q["tid"] == p["victim"])' ./*.perfetto-trace | grep -qx 1
}

# bats test_tags=law
@test "a trace has the wait that camp measured, and which thread woke which" {
    needs_ring
    needs_machine_ids
    needs_reader
    start_load
    until_it victim_is_seen
    trace=$(echo ./*.perfetto-trace)
    # within the time of the snapshots at both ends, in which other threads may have had the recorder's CPU, and
    # 10 us for each ms, because two programs read the clock at each switch
    facts 't["reading_ns"] / 1e6, [float(m["facts"]["value"].split()[0]) for m in t["marks"]], [q["ns"] / 1e6 for q in t["queued"] if q["tid"] == p["victim"]]' "$trace"
    [ "$(facts 'all(abs(float(m["facts"]["value"].split()[0]) - q["ns"] / 1e6) <= (t["reading_ns"] + 0.01 * q["ns"]) / 1e6
        for m in t["marks"] for q in t["queued"] if q["tid"] == p["victim"])' "$trace")" = True ]
    facts 't["marks"], p' "$trace"
    [ "$(facts 't["marks"][0]["facts"]["row"] == "%s %d" % (p["name"], p["victim"])' "$trace")" = True ]
    [ "$(facts 't["wakers"]["%d %d" % (p["waker"], p["sleeper"])] >= 10' "$trace")" = True ]
    [ "$(facts 'sum(n for pair, n in t["wakers"].items() if pair.endswith(" %d" % p["sleeper"])) ==
        t["wakers"]["%d %d" % (p["waker"], p["sleeper"])]' "$trace")" = True ]
    # the ring reaches back before the interval, and the switches go on until the trace was written
    [ "$(facts 't["first_ns"] <= t["begin_ns"] < t["end_ns"] <= t["boot_ns"]' "$trace")" = True ]
    [ "$(facts 't["breaks"] <= 0.05 * t["switches"]' "$trace")" = True ]
}

@test "a trace has the clock and the interval of the recording" {
    needs_ring
    needs_reader
    start_load
    record_the_victim
    trace=$(echo ./*.perfetto-trace)
    # shellcheck disable=SC2207 # two numbers
    interval=($(facts '"%d %d" % tuple(t[key] - t["boot_ns"] + t["monotonic_ns"] for key in ("begin_ns", "end_ns"))' "$trace"))
    wall_clock_ns=$(ask run.camp "SELECT wall_clock_ns FROM tick WHERE start_ns = ${interval[0]} AND end_ns = ${interval[1]}")
    [ -n "$wall_clock_ns" ]
    # camp may lose its CPU between two clocks, but not for longer than the interval
    [ "$(facts "abs(t['end_ns'] - t['boot_ns'] + t['real_ns'] - $wall_clock_ns) < t['end_ns'] - t['begin_ns']" "$trace")" = True ]
    start_ns=$((wall_clock_ns - (interval[1] - interval[0])))
    [[ $trace == ./run-$(date -u -d "@$((start_ns / 1000000000))" +%Y%m%dT%H%M%SZ).perfetto-trace ]]
    [ "$(facts 'len(t["counters"]["run_queue"])' "$trace")" -ge 1 ]
    [ "$(facts 't["counters"]["run_queue"][-1]["time_ns"] == t["begin_ns"]' "$trace")" = True ]
    [ "$(stat -c %a "$trace")" = 600 ]
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == "camp record: run_queue "*" ms of $name "*": the switches of the last "*" s are in run-"*.perfetto-trace ]]
    [[ $output == *$'\n'"--when: held in "*" of 4 intervals, 1 trace written" ]]
}

@test "a name that nothing has is reported in one line, and is no error" {
    needs_ring
    run -0 --separate-stderr "$CAMP" record --when "run_queue > 60m of no-such-name or disk > 60m of $$" --count 3 --interval 50ms
    [ "$stderr" = "camp record: --when: nothing is called no-such-name now; the condition counts it once it appears" ]
    run -0 --separate-stderr "$CAMP" record --force --when "run_queue > 60m of $$" --count 2 --interval 50ms
    [ -z "$stderr" ]
}

@test "a condition that never holds writes no trace" {
    needs_ring
    run -0 --separate-stderr "$CAMP" record --when 'run_queue > 60m' --count 2 --interval 50ms
    [ -z "$stderr" ]
    [[ $output == *"--when: held in 0 of 2 intervals, 0 traces written" ]]
    [ "$(traces)" = 0 ]
}

@test "traces are as far apart as --when-pause says, and not more than --when-count" {
    needs_ring
    run -0 "$CAMP" record --when 'elapsed.sum >= 0ns' --count 4 --interval 50ms --ring 256kB
    [ "$(traces)" = 1 ]
    rm -f run.camp*
    run -0 "$CAMP" record --when 'elapsed.sum >= 0ns' --when-pause 1s --when-count 3 --count 9 --interval 400ms --ring 256KiB
    [[ $output == *"; no more traces (--when-count)"* ]]
    [[ $output == *"--when: held in 9 of 9 intervals, 3 traces written" ]]
    [ "$(traces)" = 4 ] # none of them replaced another one, although they are of the same second
}

@test "a file that exists is not replaced by a trace" {
    needs_ring
    for later in $(seq 0 40); do
        echo mine >"run-$(date -u -d "@$(($(date +%s) + later))" +%Y%m%dT%H%M%SZ).perfetto-trace"
    done
    run -0 "$CAMP" record --when 'elapsed.sum >= 0ns' --count 1 --interval 50ms
    [ "$(grep -lx mine ./*.perfetto-trace | wc -l)" = 41 ]
    [ "$(traces)" = 42 ]
}

@test "a trace that does not fit is reported, and the recording goes on" {
    needs_ring
    (
        ulimit -f 1024 # in kB; a full ring of one CPU is a larger file
        python3 -c 'import os
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1): os.write(b[1], b"x")
    os._exit(0)
for i in range(20000): os.write(a[1], b"x"); os.read(b[0], 1)' &
        run --separate-stderr "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --when-pause 1s --count 12 --interval 250ms --ring "$(ring_of 65536)"
        [ "$status" -eq 1 ]
        echo "$stderr"
        [[ $stderr == *": cannot write run-"*.perfetto-trace": File too large; recording goes on"* ]]
        [[ $output == *"run.camp: 12 intervals, "*" written, "*" not" ]]
        wait
    )
    run -0 "$CAMP" top --from run.camp
    [ "$(ask run.camp 'PRAGMA integrity_check')" = ok ]
    [ -z "$(find . -name '*.part')" ]
}

@test "a full disk leaves the recording intact, and no part of a trace" {
    needs_ring
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
    mkdir small
    mount -t tmpfs -o size=2m tmpfs small 2>/dev/null || skip "cannot mount a file system"
    MOUNT=$BATS_TEST_TMPDIR/small
    # a second of these switches needs more than half of the disk
    python3 -c 'import os
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1): os.write(b[1], b"x")
    os._exit(0)
while not os.path.exists("stop"): os.write(a[1], b"x"); os.read(b[0], 1)' 3>&- &
    run --separate-stderr "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --when-pause 1s --count 3 --interval 1s --ring "$(ring_of 65536)" --output small/run.camp
    [ "$status" -eq 1 ]
    echo "$stderr"
    [[ $stderr == *": cannot write a trace: No space left on device; recording goes on"* ]]
    [[ $output == *"small/run.camp: 3 intervals, "* ]]
    [ "$(ask small/run.camp 'PRAGMA integrity_check')" = ok ]
    [ "$(ask small/run.camp 'SELECT count(*) FROM tick')" = 3 ]
    [ "$(cd small && traces)" -lt 3 ]
    for trace in small/*.perfetto-trace; do
        [ ! -e "$trace" ] || [ -s "$trace" ]
    done
    [ -z "$(find . -name '*.part')" ]
}

@test "a recorder that is killed leaves complete traces alone" {
    needs_ring
    needs_reader
    probe=$(python3 -c 'import os
try: os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o600))
except OSError as error: print(error)')
    [ -z "$probe" ] || skip "this file system has no files without names: $probe"
    start_load
    for attempt in $(seq 12); do
        "$CAMP" record --when 'elapsed.sum >= 0ns' --when-pause 1s --when-count 1000 --interval 20ms \
            --output "kill$attempt.camp" 2>/dev/null 3>&- &
        recorder=$!
        until_it compgen -G "kill$attempt-*.perfetto-trace"
        # about when the second trace is written
        sleep "$((RANDOM % 2)).$((RANDOM % 9))"
        kill -KILL "$recorder"
        wait "$recorder" || true
    done
    [ -z "$(find . -name '*.part')" ]
    [ "$(traces)" -ge 12 ]
    for trace in ./*.perfetto-trace; do
        "$READ" "$trace" >/dev/null
    done
    run -0 "$CAMP" top --from kill1.camp --count 1
}

@test "--keep removes the traces of the files that it removes" {
    needs_ring
    run -0 "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --when-pause 1s --when-count 100 --ring 256KiB \
        --rotate 2s --keep 2files --interval 200ms --count 40
    files=(run-*.camp) # in the order of their names
    [ "${#files[@]}" = 2 ]
    oldest=${files[0]}
    [ "$(traces)" -ge 1 ]
    echo "$oldest" run-*.perfetto-trace
    for trace in run-*.perfetto-trace; do
        [[ ! ${trace%.perfetto-trace} < ${oldest%.camp} ]]
    done
}

make_recordings() {
    run -0 "$CAMP" record --from commands --rotate 1s --interval 500ms --count 6
    recordings=(run-*.camp)
    [ "${#recordings[@]}" -ge 2 ]
}

@test "--keep SIZE removes the oldest traces before recordings" {
    needs_ring
    make_recordings
    truncate -s 3M "${recordings[0]%.camp}.perfetto-trace"     # of an earlier run
    truncate -s 3M "${recordings[-1]%.camp}.perfetto-trace"
    run -0 --separate-stderr "$CAMP" record --from commands --rotate 1m --keep 5MB --interval 200ms --count 2
    echo "$stderr"
    [[ $stderr == "camp record: --keep: removed ./${recordings[0]%.camp}.perfetto-trace" ]]
    [ -e "${recordings[-1]%.camp}.perfetto-trace" ] # the newest
    for recording in "${recordings[@]}"; do
        [ -e "$recording" ]
    done
    # one that alone is above the limit
    run -0 --separate-stderr "$CAMP" record --from commands --rotate 1m --keep 2MB --interval 200ms --count 2
    [[ $stderr == "camp record: --keep: removed ./${recordings[-1]%.camp}.perfetto-trace" ]]
    for recording in "${recordings[@]}"; do
        [ -e "$recording" ]
    done
}

@test "--keep SIZE removes traces of the open file, but not the newest" {
    needs_ring
    make_recordings
    "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --when-pause 1s --ring 256kB --rotate 1m --keep 3MB \
        --interval 400ms --count 12 2>stderr 3>&- &
    recorder=$!
    until_it compgen -G 'run-*.perfetto-trace'
    own=$(compgen -G 'run-*.perfetto-trace')
    truncate -s 4M "$own"
    wait "$recorder"
    cat stderr
    grep -qF "camp record: --keep: removed ./$own" stderr
    [ ! -e "$own" ]
    [ "$(traces)" -ge 1 ]
    for recording in "${recordings[@]}"; do
        [ -e "$recording" ]
    done
}

@test "the last trace of a file belongs to it" {
    needs_ring
    run -0 "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --when-pause 1s --when-count 100 --ring 256kB --rotate 1s \
        --interval 250ms --count 16
    needs_reader
    for trace in run-*.perfetto-trace; do
        own=$(facts 't["marks"][0]["facts"]["recording"]' "$trace")
        # the last recording whose name is not later
        last=$(for recording in run-*.camp; do [[ ${recording%.camp} > ${trace%.perfetto-trace} ]] || echo "$recording"; done | tail -1)
        echo "$trace $own $last"
        [ "$own" = "$last" ]
    done
}

@test "in a time namespace --when is refused" {
    needs_ring
    unshare --time --fork true || skip "no time namespaces here"
    run -1 unshare --time --boottime 1000 --fork "$CAMP" record --when 'elapsed >= 0ns' --count 1
    [[ $output == "camp record: --when needs the clocks of the machine, and this time namespace has other ones: run camp outside of it" ]]
    [ ! -e run.camp ]
}

@test "in a PID namespace a trace is complete, with the ids of the machine" {
    needs_ring
    needs_reader
    unshare --pid --fork --mount-proc true || skip "no PID namespaces here"
    needs_machine_ids
    start_load # outside of the namespace
    run -0 unshare --pid --fork --mount-proc "$CAMP" record --from commands --when 'elapsed.sum >= 0ns' --count 1 --interval 300ms
    [ "$(facts 't["wakers"]["%d %d" % (p["waker"], p["sleeper"])] >= 1' ./*.perfetto-trace)" = True ]
}

@test "traces are written by a confined recorder, too" {
    needs_ring --containers
    run -0 "$CAMP" record --containers --when 'elapsed.sum >= 0ns' --count 2 --interval 50ms
    [ "$(traces)" = 1 ]
}

@test "any user with CAP_BPF and CAP_PERFMON may run --when" {
    needs_ring
    [ "$(id -u)" -eq 0 ] || skip "needs root to run as another user"
    mkdir open
    cp "$CAMP" camp
    chmod 755 . camp "$BATS_RUN_TMPDIR" "$(dirname "$BATS_FILE_TMPDIR")" "$BATS_FILE_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
    chmod 777 open
    cd open
    run -0 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
        --bounding-set=-all,+bpf,+perfmon ../camp record --when 'elapsed.sum >= 0ns' --count 2 --interval 50ms
    [ "$(traces)" = 1 ]
    rm -f ./*
    # the syntax is checked first
    run -2 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ../camp record --when 'run_queue > fast'
    [[ $output == *'a number is missing before "fast"'* ]]
    run -4 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
        ../camp record --when 'elapsed.sum >= 0ns' --count 2 --interval 50ms
    [[ $output == "camp record: --when keeps the switches of all CPUs in memory: "*"CAP_BPF and CAP_PERFMON"*"; or leave out --when" ]]
    [ -z "$(ls)" ]
}

@test "a wrong condition is one line that says what to write" {
    needs_ring
    while IFS='|' read -r condition message; do
        run --separate-stderr "$CAMP" record --when "$condition" --count 1 --interval 10ms
        echo "$condition: $stderr"
        [ "$status" -eq 2 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp record: --when"*"$message"* ]]
        [ ! -e run.camp ]
    done <<'END'
queue > 20ms|there is no column queue; there are busy, cpu, user, 
run_queue|an operator is missing at its end; give one of > >= < <=
run_queue > 20|a time has a unit at its end; give one of ns us ms s m, or % of the interval
run_queue > fast|a number is missing before "fast"; give a limit such as 20ms or 5%
run_queue.max > 20ms|run_queue.max is how long waits lasted, which needs --why
voluntary_switches > 20ms|this column is not a time, so its limit has no unit before "ms"; leave the unit out
run_queue > 20ms disk > 5%|"and" or "or" is missing before "disk > 5%"
END
    run -2 "$CAMP" record --when '' --count 1
    [[ $output == *"a column is missing at its end"* ]]
}

@test "the options of --when go with --when, and with this machine" {
    for option in '--ring 1MB' '--when-pause 1s' '--when-count 3'; do
        # shellcheck disable=SC2086 # two words
        run -2 "$CAMP" record $option --count 1
        [[ $output == "camp record: ${option% *} goes with --when"* ]]
    done
    run -2 "$CAMP" record --from demo --when 'busy > 1ms' --count 1
    [[ $output == "camp record: --when keeps switches of this machine, which --from demo does not measure" ]]
    run -2 "$CAMP" record --when 'busy > 1ms' --when-pause 0.9s
    [[ $output == "camp record: --when-pause "* ]]
    run -2 "$CAMP" record --when 'busy > 1ms' --ring 1kB
    [[ $output == "camp record: --ring "* ]]
}
