#!/usr/bin/env bats
# --group container, pod and unit: processes in cgroups named as runtimes name them, with the files of the fixtures.

bats_require_minimum_version 1.5.0
load microstates

setup() {
    export PYTHONDONTWRITEBYTECODE=1
}

check() {
    run_law "$BATS_TEST_DIRNAME/containers.py" "$1"
}

@test "top names the container, pod and unit of each runtime" {
    need_microstates
    check names
}

@test "tier schedstat names containers by the cgroups of processes" {
    check schedstat
}

@test "a container without a file is shown by its id, and a note counts it" {
    need_microstates
    check unknown
}

# bats test_tags=law
@test "a load at its quota has 100 % of it, and its throttled time is shown" {
    need_microstates
    check quota
}

@test "a recording shows the names on a machine without the files" {
    need_microstates
    check replay
}

@test "export has a group for each container, pod and unit" {
    need_microstates
    check export
}

@test "a served exporter reports once why containers have no names" {
    need_microstates
    check notes
}

@test "a container that ended keeps its name in its last interval" {
    need_microstates
    check ended
}

@test "without the rights to the files, containers are shown by id; CAP_DAC_READ_SEARCH names them" {
    check denied
}

@test "a hostile name of a container changes no terminal, table or metric" {
    need_microstates
    check hostile
}

@test "options of containers that do not fit are refused" {
    run -2 --separate-stderr "$CAMP" top --group user --percent-of quota
    [ "$stderr" = "camp top: --percent-of quota goes with --group container, pod or unit" ]
    run -2 --separate-stderr "$CAMP" record --containers --from cpus
    [ "$stderr" = "camp record: --containers goes with --from threads, processes, users, commands or cgroups" ]
    run -2 --separate-stderr "$CAMP" top --from demo --group container
    [[ $stderr == *"--group container: rows of "* ]]
}

@test "a command that reads names of containers keeps only the capabilities to open files and to measure" {
    [ "$(id -u)" -eq 0 ] || skip "needs root: other users have no capabilities to give up"
    "$CAMP" top --group container --interval 30 >/dev/null 2>&1 &
    pid=$!
    python3 - "$pid" <<'END' || { kill "$pid"; return 1; }
import sys, time
CHOWN, DAC_READ_SEARCH, KILL, SYS_ADMIN, SYS_MODULE, PERFMON = 0, 2, 5, 21, 16, 38
held = -1
for _ in range(600): # it gives them up when the source is open
    lines = open(f"/proc/{sys.argv[1]}/status").read().split("\n")
    held = int(next(line.split()[1] for line in lines if line.startswith("CapEff")), 16)
    if not held >> KILL & 1:
        break
    time.sleep(0.05)
assert held >> DAC_READ_SEARCH & 1, hex(held)
for right in CHOWN, KILL, SYS_ADMIN, SYS_MODULE, PERFMON:
    assert not held >> right & 1, (right, hex(held))
END
    kill "$pid"
}

# bats test_tags=deep
@test "a container that Podman runs is shown by its name" {
    need_microstates
    status=0
    unshare --mount bash "$BATS_TEST_DIRNAME/podman.bash" camp-live \
        "$CAMP" top --count 1 --interval 0.5 --format csv --group container >"$BATS_TEST_TMPDIR/rows" 2>&1 || status=$?
    cat "$BATS_TEST_TMPDIR/rows"
    if [ "$status" -eq 77 ]; then skip "$(cat "$BATS_TEST_TMPDIR/rows")"; fi
    [ "$status" -eq 0 ]
    grep -q ',camp-live,' "$BATS_TEST_TMPDIR/rows"
    ! grep -q 'Containers shown by id' "$BATS_TEST_TMPDIR/rows"
}
