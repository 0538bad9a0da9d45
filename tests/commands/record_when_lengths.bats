#!/usr/bin/env bats
# camp record --why --when: conditions on how long waits lasted.

bats_require_minimum_version 1.5.0
load ../waiting
load children

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children
}

# Skips the test if this user or this build has no ring of switches, or no causes of waits.
needs_causes_and_ring() {
    run "$CAMP" record --why --when 'run_queue > 60m' --count 1 --interval 10ms --output can.camp
    rm -f can.camp*
    echo "$output"
    case $output in
    *CAP_BPF* | *CAP_PERFMON* | *"this kernel"* | *"built without"* | *"causes of waits"*) skip "$output" ;;
    esac
    [ "$status" -eq 0 ]
}

# start_sleeper NAME SECONDS: a process that waits for its pipe again and again, each time so long.
start_sleeper() {
    python3 -c '
import ctypes, os, sys, threading, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
asked, ask = os.pipe()
answered, answer = os.pipe()
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    ctypes.CDLL(None).prctl(15, b"answers", 0, 0, 0)
    while True:
        os.read(asked, 1)
        time.sleep(float(sys.argv[2]))
        os.write(answer, b"x")
open(sys.argv[1], "w").close()
while True:
    os.write(ask, b"x")
    os.read(answered, 1)' "$1" "$2" 3>&- &
    until_it test -e "$1"
}

traces() {
    compgen -G '*.perfetto-trace' | wc -l
}

@test "a wait of 60 ms makes a condition on the longest wait hold, and its group is named" {
    needs_causes_and_ring
    start_sleeper slow-60 0.06
    run -0 --separate-stderr "$CAMP" record --why --why-of slow-60 --interval 300ms --count 4 \
        --when 'pipe.max > 55ms of slow-60' --output run.camp
    echo "$stderr"
    [ "$(traces)" -eq 1 ]
    [[ $stderr == "camp record: pipe.max "*" ms of slow-60: the switches of the last "* ]]
    [[ $output == *"--when: held in "[1-4]" of 4 intervals, 1 trace written" ]]
    # The longest wait in the recording is the one of the message, of the first interval in which it held.
    [ "$(sqlite3 run.camp "SELECT max(longest_ns) >= 55000000 FROM cause_lengths JOIN cause_group USING (number)
        WHERE name = 'slow-60' AND state = (SELECT number FROM cause_word WHERE word = 'state' AND name = 'pipe')")" -eq 1 ]
}

@test "many short waits, and the long waits of another group, do not make it hold" {
    needs_causes_and_ring
    start_sleeper quick-1 0.001
    start_sleeper slow-60 0.06
    run -0 --separate-stderr "$CAMP" record --why --why-of quick-1 --interval 200ms --count 4 \
        --when 'pipe.max > 2s of quick-1 or pipe.p50 > 2s of quick-1 or pipe.max > 1ms of nobody' --output run.camp
    [ "$(traces)" -eq 0 ]
    [ "$stderr" = "camp record: --when: nothing is called nobody now; the condition counts it once it appears" ]
    [[ $output == *"--when: held in 0 of 4 intervals, 0 traces written" ]]
    # In all, the same waits are longer than that.
    run -0 --separate-stderr "$CAMP" record --why --why-of quick-1 --interval 200ms --count 4 \
        --when 'pipe > 50ms of quick-1 and pipe.p50 < 50ms of quick-1' --output sum.camp
    [[ $output == *"--when: held in "[1-4]" of 4 intervals, 1 trace written" ]]
}

@test "a condition on lengths of waits needs --why, and a wrong column gets the list" {
    needs_causes_and_ring
    run --separate-stderr "$CAMP" record --when 'run_queue.max > 20ms' --output run.camp
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp record: --when: run_queue.max is how long waits lasted, which needs --why" ]
    run --separate-stderr "$CAMP" record --why --when 'run_queu.max > 20ms' --output run.camp
    [ "$status" -eq 2 ]
    [[ $stderr == "camp record: --when: there is no column run_queu.max; there are "*run_queue* ]]
    # Time on a CPU is no wait, and has no length, with or without --why.
    for why in "" --why; do
        # shellcheck disable=SC2086 # no word, or one
        run --separate-stderr "$CAMP" record $why --when 'user.max > 20ms' --output run.camp
        [ "$status" -eq 2 ]
        [ "$stderr" = "camp record: --when: user.max: only waits, such as run_queue, have .p50, .p99 and .max; of user give the time in an interval: user > 20ms" ]
    done
    run --separate-stderr "$CAMP" record --why --when 'run_queue.p99 > 20' --output run.camp
    [ "$status" -eq 2 ]
    [[ $stderr == *"a time has a unit"* ]]
    [ ! -e run.camp ]
}
