#!/usr/bin/env bats
# camp why --stacks: where long sleeps were, as text, JSON, folded stacks and a profile.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load check
load why

setup_file() {
    find_refusal why --stacks --count 1 --interval 50ms
    cat >"$BATS_FILE_TMPDIR/sleeper.c" <<'PROGRAM'
#include <stdio.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static volatile int sum;
#define FRAME __attribute__((noinline))
/* The caller of a function of libc is missing in the stack, because such functions have no frame. */
static FRAME void sleep_for(long ns) { const struct timespec time = { 0, ns }; nanosleep(&time, NULL); sum++; }
FRAME void sleep_long(void) { sleep_for(6000000); sum++; }
FRAME void sleep_longer(void) { sleep_for(18000000); sum++; }
FRAME void sleep_short(void) { sleep_for(50000); sum++; }
int main(int count, char **words)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count < 2 || fopen(words[1], "w") == NULL)
        return 1;
    for (;;) {
        sleep_long();
        sleep_longer();
        sleep_short();
    }
}
PROGRAM
    cc -O1 -g0 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$BATS_FILE_TMPDIR/stacks-sleeper" \
        "$BATS_FILE_TMPDIR/sleeper.c"
}

teardown() {
    end_children
    wait
}

# Starts the program that sleeps in sleep_long() 6 ms and in sleep_longer() 18 ms in turn.
start_sleeper() {
    "$BATS_FILE_TMPDIR/stacks-sleeper" "$BATS_TEST_TMPDIR/ready" &
    SLEEPER=$!
    until_it test -e "$BATS_TEST_TMPDIR/ready"
}

@test "the stacks of camp why add up to the sleeps of the tree, and have the functions in proportion" {
    need_states
    start_sleeper
    "$CAMP" why --stacks --json "$SLEEPER" 1 2 >"$BATS_TEST_TMPDIR/why.json"
    python3 -c '
import json, sys
for w in map(json.loads, open(sys.argv[1])):
    stacks = w["stacks"]
    assert all(list(s) == ["state", "frames", "ms", "sleeps"] for s in stacks), stacks
    assert stacks == sorted(stacks, key=lambda s: -s["ms"])
    for row in w["tree"]:
        if row["level"] == "state" and row["state"] not in ("on_cpu", "run_queue", "throttled"):
            ms = sum(s["ms"] for s in stacks if s["state"] == row["state"])
            assert abs(ms - row["time_ns"] / 1e6) < 1e-4, (row, ms)
    def of(name):
        return sum(s["ms"] for s in stacks if name in s["frames"])
    asleep = of("sleep_long") + of("sleep_longer")
    print(asleep, of("sleep_longer"))
    assert asleep > 0.8 * sum(s["ms"] for s in stacks if s["state"] == "timer"), stacks
    # 3/4 of the time, but of the sleeps at both ends of the interval it has only a part.
    assert abs(of("sleep_longer") / asleep - 0.75) < 0.01 + 2 * 18 / asleep, stacks
    assert of("sleep_short") == 0 and any(s["frames"] == ["no stack"] for s in stacks), stacks
    deep = next(s["frames"] for s in stacks if "sleep_longer" in s["frames"])
    assert deep.index("main") < deep.index("sleep_longer"), deep
' "$BATS_TEST_TMPDIR/why.json"
}

@test "folded stacks have the name, the state and the frames, and their times add up to the sleep" {
    need_states
    start_sleeper
    "$CAMP" why --format folded "$SLEEPER" 0.5 3 >"$BATS_TEST_TMPDIR/folded"
    python3 -c '
import re, sys
lines = open(sys.argv[1]).read().splitlines()
assert lines and len({l.rsplit(" ", 1)[0] for l in lines}) == len(lines), lines
times = {}
for line in lines:
    stack, ns = re.fullmatch(r"(\S.*) (\d+)", line).groups()
    name, state, *frames = stack.split(";")
    assert name == f"stacks-sleeper ({sys.argv[2]})" and frames, line
    times[state] = times.get(state, 0) + int(ns)
assert 0.1e9 < times["timer"] < 60e9, times
' "$BATS_TEST_TMPDIR/folded" "$SLEEPER"
}

@test "another program reads the profile for pprof, which has the sleeps of the folded stacks" {
    need_states
    reason=$("$BATS_TEST_DIRNAME/../perfetto/read" --prepare) || skip "$reason"
    start_sleeper
    "$CAMP" why --format pprof "$SLEEPER" 1 1 >"$BATS_TEST_TMPDIR/profile"
    "$BATS_TEST_DIRNAME/../perfetto/read" --profile "$BATS_TEST_TMPDIR/profile" >"$BATS_TEST_TMPDIR/profile.json"
    python3 -c '
import json, sys, time
p = json.load(open(sys.argv[1]))
assert p["types"] == [["sleeps", "count"], ["asleep", "nanoseconds"]] and p["shown"] == "asleep", p
assert 0.9e9 < p["duration_ns"] < 60e9 and abs(p["start_ns"] / 1e9 - time.time()) < 300, p
long = [s for s in p["samples"] if "sleep_longer" in s["frames"]]
assert long and all(s["labels"] == {"process": s["frames"][0], "state": "timer"} for s in long), p["samples"]
count, ns = (sum(s["values"][i] for s in long) for i in (0, 1))
assert 17e6 * (count - 1) < ns and count > 1, long # of the first sleep it may have only a part
assert long[0]["frames"][-1].endswith("_[k]"), long
' "$BATS_TEST_TMPDIR/profile.json"
}

@test "a shorter sleep has a stack when it is asked for, and rows are in CSV and text" {
    need_states
    start_sleeper
    "$CAMP" why --stacks --stacks-above 10us --format csv --table stacks "$SLEEPER" 1 1 >"$BATS_TEST_TMPDIR/csv"
    head -1 "$BATS_TEST_TMPDIR/csv" | grep -qx 'time.*,state,frames,ms,sleeps\|state,frames,ms,sleeps'
    grep -q 'main;sleep_short;' "$BATS_TEST_TMPDIR/csv"
    "$CAMP" why --stacks --top 1 "$SLEEPER" 1 1 >"$BATS_TEST_TMPDIR/text"
    grep -q '^timer .*sleep_longer > .* | ' "$BATS_TEST_TMPDIR/text"
    run ! grep -q 'sleep_long >' "$BATS_TEST_TMPDIR/text"
}

@test "without an operand the first frame is the process, and without --stacks there are none" {
    need_states
    start_sleeper
    "$CAMP" why --stacks --json --interval 1 --count 1 >"$BATS_TEST_TMPDIR/all"
    python3 -c '
import json, sys
stacks = json.load(open(sys.argv[1]))["stacks"]
named = [s for s in stacks if "sleep_longer" in s["frames"]]
# The sleeper of another test, in a container, has the name true.
assert all(s["frames"][0] in ("stacks-sleeper", "true", "other processes") for s in named) and named, stacks
assert any(f.endswith("_[k]") for s in stacks for f in s["frames"])
' "$BATS_TEST_TMPDIR/all"
    "$CAMP" why --json "$SLEEPER" 0.2 1 | grep -q '"stacks":\[\]'
}

@test "the functions of a process in a container are those of its own files" {
    need_states
    unshare --mount mount -t tmpfs none /mnt 2>/dev/null || skip "only root can make a mount namespace, and not everywhere"
    local root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root"
    # In the container, the path of the program is that of another program outside.
    unshare --mount bash -c '
        set -e
        mount -t tmpfs none "$1"
        cp "$2" "$1/program"
        mount --bind "$1/program" /bin/true
        exec /bin/true "$3"' bash "$root" "$BATS_FILE_TMPDIR/stacks-sleeper" "$BATS_TEST_TMPDIR/ready" &
    SLEEPER=$!
    until_it test -e "$BATS_TEST_TMPDIR/ready"
    "$CAMP" why --format folded "$SLEEPER" 1 1 | grep -q ';main;sleep_longer;'
}

@test "a profile is not written to a terminal, and the threshold goes with stacks" {
    run "$CAMP" why --stacks-above 2ms
    [ "$status" -eq 2 ]
    [[ $output == *"--stacks-above goes with"* ]]
    run script -qec "'$CAMP' why --format pprof 1 1" /dev/null
    [[ $output == *"add '> FILE'"* ]]
}
