#!/usr/bin/env bats
# camp why of a cgroup, a container, a pod or a unit.

bats_require_minimum_version 1.5.0
load why

setup_file() {
    export PYTHONDONTWRITEBYTECODE=1
    find_refusal why --count 1 --interval 50ms
}

check() {
    need_states
    run_law "$BATS_TEST_DIRNAME/why_cgroup.py" "$1"
}

# bats test_tags=law
@test "a cgroup of version 2 is charged to the cgroup that had the CPU" {
    check second
}

# bats test_tags=law
@test "a cgroup of version 1 is charged to the cgroup that had the CPU" {
    check first
}

@test "a container and a unit have the threads in all of their cgroups" {
    check label
}

@test "a subject that camp why does not find fails in one line" {
    run -1 --separate-stderr "$CAMP" why /no/such/cgroup 100ms 1
    [[ $stderr == "camp why: there is no cgroup '/no/such/cgroup' in /"* ]] ||
        [[ $stderr == "camp why: no cgroups here: "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    run -1 --separate-stderr "$CAMP" why /../../../etc 100ms 1
    [[ $stderr == "camp why: there is no cgroup '/../../../etc' in /"* ]] ||
        [[ $stderr == "camp why: no cgroups here: "* ]]
    need_states
    run -1 --separate-stderr "$CAMP" why --container no-such-name --count 1
    [[ $stderr == "camp why: no process is in the container 'no-such-name': camp top --group container lists them" ]] ||
        [[ $stderr == "camp why: no cgroups here: "* ]]
    run -1 --separate-stderr "$CAMP" why --unit $'a\e[31mname' --count 1
    [[ $stderr != *$'\e'* ]]
}

@test "camp why takes one subject" {
    run -2 --separate-stderr "$CAMP" why --container web 4711
    [ "$stderr" = "camp why: more than one subject: give a process, a name, a cgroup, a container, a pod or a unit; INTERVAL and COUNT then go as --interval and --count" ]
    run -2 --separate-stderr "$CAMP" why --pod web --unit web
    [[ $stderr == "camp why: more than one subject: "* ]]
    run -2 --separate-stderr "$CAMP" why --cgroup system.slice
    [ "$stderr" = "camp why: 'system.slice' is not the path of a cgroup: it starts with a slash, such as \
/system.slice/cron.service" ]
}
