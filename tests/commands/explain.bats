#!/usr/bin/env bats
# camp explain: each rule that a load can prove finds the load.

bats_require_minimum_version 1.5.0
load explain

# until_it_finds RULE WORDS ARGUMENTS...: camp explain must find the load by this rule, and name it in its sentence.
# The load may be late on a busy machine, so a second and a third interval are tried.
until_it_finds() {
    local rule=$1 words=$2 try
    shift 2
    for try in 1 2 3; do
        if ask "
row = found['$rule']
assert '$words' in row['sentence'], row
assert row['value'] >= row['threshold'] and row['lost_ns_per_s'] >= 0, row
assert row['command'].startswith('camp '), row" --interval "${try}s" "$@"; then return 0; fi
    done
    cat explain.json
    return 1
}

# Starts a load of one thread that needs a share of a CPU on a busy machine, too. It runs on one CPU only, so that it
# does not stop the others. Users who may not do that get a line on stderr.
start_urgent() {
    start nice -n -10 taskset -c "$(last_cpu)" "$@"
}

start_load() {
    start python3 "$LOADS" "$@"
}

# Starts a load in a cgroup that explain_loads.py makes, and removes when its standard input is closed.
start_in_group() {
    coproc GROUP { PYTHONPATH=$BATS_TEST_DIRNAME python3 "$LOADS" "$@" 3>&-; }
    local line
    read -r -u "${GROUP[0]}" line
    [ "$line" = ready ] || skip "$line"
}

# Makes a file on a disk that can be read past the page cache.
make_file() {
    FILE=$(mktemp /var/tmp/camp-explain-XXXXXX)
    [[ $(stat -f -c %T "$FILE") != @(tmpfs|ramfs) ]] || skip "/var/tmp is on no disk"
    dd if=/dev/zero of="$FILE" bs=1M count=64 conv=fsync status=none
    dd if="$FILE" of=/dev/null bs=64K count=1 iflag=direct status=none ||
        skip "/var/tmp is on no disk that can be read past the page cache"
}

last_cpu() {
    python3 -c 'import os; print(max(os.sched_getaffinity(0)))'
}

@test "camp explain prints JSON with the machine, findings, unknown rules and losses" {
    need_states
    ask '
assert e["schema"] == "camp.explain/1" and e["kind"] == "threads" and e["tier"] == "bpf", e
assert e["intervals"] == 1 and 0.2 <= e["elapsed_s"] < 20, e
assert e["rules"] == 42 and e["fired"] == len(found) and e["unknown"], e
assert 0 <= e["machine"]["busy_percent"] <= 100 and e["machine"]["cpus"] == os.cpu_count(), e
assert set(e["losses"]) == {"unseen", "lost", "unread_ns", "partial"}, e
lost = [row["lost_ns_per_s"] for row in e["findings"]]
assert lost == sorted(lost, reverse=True), lost
assert "no sessions of a database" in unknown["E27"], unknown' 200ms
}

@test "E01: threads that wait for full CPUs are found" {
    need_states
    start "$CAMP" load threads --threads $((4 * $(nproc))) --percent 100 --duration 60
    until_it_finds E01 "(pid $CHILD)" --pid "$CHILD"
}

@test "E02 and E05: a load bound to one CPU is found if another CPU is idle" {
    need_states
    local cpu
    cpu=$(last_cpu)
    start taskset -c "$cpu" "$CAMP" load threads --threads 4 --percent 100 --duration 60
    local queued=$CHILD
    ask '
m = e["machine"]
uneven = m["fullest_busy_percent"] >= 90 and m["emptiest_idle_percent"] >= 50
queued = found.get("E02")
assert (queued is not None) == uneven, (m, found)
print("idle beside full" if uneven else "no CPU was idle", queued)' --pid "$queued" 1
    kill "$queued"
    wait "$queued" || true
    start python3 -c 'while True: pass'
    SPINNER=$CHILD SINCE=$(date +%s%N)
    USED=$(cut -d " " -f 1 "/proc/$CHILD/schedstat")
    export SPINNER SINCE USED
    # The witness is read before and after: at least its time without a CPU is that of the interval, and at most its
    # CPU time.
    ask '
import time
used_ns = int(open("/proc/" + os.environ["SPINNER"] + "/schedstat").read().split()[0]) - int(os.environ["USED"])
waited_ns = time.time_ns() - int(os.environ["SINCE"]) - used_ns
interval_ns = e["elapsed_s"] * 1e9
idle = e["machine"]["cpus"] * (1 - e["machine"]["busy_percent"] / 100)
row = found.get("E05")
print(idle, used_ns / 1e9, waited_ns / 1e9, row)
if row: assert idle >= 0.49 and used_ns >= 0.89 * interval_ns and "(pid " + os.environ["SPINNER"] in row["who"], e
elif idle >= 0.51: assert waited_ns > 0.08 * interval_ns, e' --pid "$SPINNER" 2
}

@test "E03: a cgroup whose quota is used up is found" {
    need_states
    "$CAMP" doctor --format json | python3 -c '
import json, sys
sys.exit(not any(e["present"] for e in json.load(sys.stdin)["events"] if e["name"] == "throttled clock"))' ||
        skip "this kernel has no clock of throttled time (Linux 6.6)"
    start_in_group quota
    until_it_finds E03 "throttled"
    # Its command shows the cgroup, also where version 1 has the CPU controller.
    [ "$(python3 -c 'import json; print(*[row["command"] for row in json.load(open("explain.json"))["findings"] if row["rule"] == "E03"])')" = \
        "camp top --group cgroup --sort throttled" ]
    shows_the_cgroup() {
        "$CAMP" top --group cgroup --sort throttled --count 1 --interval 500ms --format json |
            python3 -c 'import json, sys
row = json.load(sys.stdin)["entities"][0]
print(row)
sys.exit(row["name"] in ("/", "outside") or row["states"]["throttled_ns"] == 0)'
    }
    until_it shows_the_cgroup
    end_group
}

@test "E06: processes that live for less than an interval are found" {
    need_states
    start "$CAMP" load fork --rate 400 --burn 5ms --duration 60
    until_it_finds E06 "started and ended within an interval"
}

@test "E07: a thread that others starve is found" {
    need_states
    local cpu
    cpu=$(last_cpu)
    chrt --idle 0 taskset -c "$cpu" python3 -c 'while True: pass' 3>&- &
    local victim=$!
    for _ in 1 2; do
        taskset -c "$cpu" python3 -c 'while True: pass' 3>&- &
    done
    until_it_finds E07 "(pid $victim)"
}

@test "E08: a load that ticks do not see is found" {
    need_states
    start "$CAMP" load cpu --percent 80 --phase between-ticks --duration 60
    until_it_finds E08 "(pid $CHILD)" --pid "$CHILD"
}

@test "E09 and E11: waits for a disk are found, and that iowait hides them while CPUs are busy" {
    need_states
    make_file
    local reader
    for _ in $(seq $((2 * $(nproc)))); do
        nice -n 19 python3 -c 'while True: pass' 3>&- &
    done
    start_load reader "$FILE"
    reader=$CHILD
    until_it_finds E11 "(pid $reader)" --pid "$reader"
    ask 'assert " % of all of them were for " in found["E11"]["sentence"], found' --pid "$reader" 1
    start_load reader "$FILE"
    until_it_finds E09 "iowait of /proc/stat"
}

@test "E12: waits for pages of data are found" {
    need_states
    start "$CAMP" load fault --pages 4096 --duration 60
    until_it_finds E12 "(pid $CHILD)" --pid "$CHILD"
}

@test "E13: waits for pages of program code are found" {
    need_states
    [[ $(uname -m) == x86_64 || $(uname -m) == aarch64 ]] || skip "no code of this processor here"
    make_file
    start_load cold_code "$FILE"
    until_it_finds E13 "(pid $CHILD)" --pid "$CHILD"
}

@test "E14: a lack of memory is found" {
    need_states
    grep -q some /proc/pressure/memory 2>/dev/null || skip "this kernel does not count pressure (PSI)"
    make_file
    start_in_group memory "$FILE"
    until_it_finds E14 "lack of memory"
    end_group
}

@test "E15: a process that maps and returns memory again and again is found" {
    need_states
    start_load faults
    until_it_finds E15 "(pid $CHILD)" --pid "$CHILD"
}

@test "E16: two processes that wake each other are found" {
    need_states
    start_load ping_pong
    until_it_finds E16 "(pid $CHILD)" --pid "$CHILD"
}

@test "E17 and E18: a process of many system calls is found, and one of mostly system time" {
    need_states
    start_urgent dd if=/dev/zero of=/dev/null bs=1 status=none
    until_it_finds E17 "(pid $CHILD)" --pid "$CHILD"
    kill "$CHILD"
    start_urgent dd if=/dev/zero of=/dev/null bs=1M status=none
    until_it_finds E18 "(pid $CHILD)" --pid "$CHILD"
}

@test "E19: a CPU that serves many packets is found" {
    need_states
    start_urgent python3 "$LOADS" packets
    until_it_finds E19 "served interrupts"
}

@test "E20: threads that wait for one lock are found" {
    need_states
    start_load spin_threads
    until_it_finds E20 "(pid $CHILD)" --pid "$CHILD"
}

@test "E21: a thread that polls is found" {
    need_states
    start_load polling
    until_it_finds E21 "(pid $CHILD)" --pid "$CHILD"
}

@test "E22: a process that is stopped again and again is found, and a suspended one is not" {
    need_states
    start_load sleepers
    local stopped=$CHILD
    until_it bash -c "((\$(find /proc/$stopped/task -mindepth 1 -maxdepth 1 | wc -l) > 10))"
    kill -STOP "$stopped"
    ask 'assert "E22" not in found and "E22" not in unknown, e' --pid "$stopped" 200ms
    start bash -c "while kill -CONT $stopped; do sleep 0.05; kill -STOP $stopped; sleep 0.05; done"
    until_it_finds E22 "(pid $stopped" --pid "$stopped"
}
