# shellcheck shell=bash
# A cgroup with a process in it.

# Makes a cgroup with one process, LOAD: in version 2 and, where it has the CPU controller, in version 1. camp shows one
# of them.
enter_cgroup() {
    local mount group
    CGROUPS=()
    sleep 600 3>&- &
    LOAD=$!
    until_it_sleeps "$LOAD"
    for mount in $(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo) \
        $(awk '/ - cgroup .*[ ,]cpu(,|$)/ { print $5; exit }' /proc/self/mountinfo); do
        group=$mount/camp-test-$BASHPID
        mkdir "$group" 2>/dev/null || skip "cannot make a cgroup here"
        CGROUPS+=("$group")
        mkdir "$group/inner"
        echo "$LOAD" >"$group/inner/cgroup.procs"
    done
    [ "${#CGROUPS[@]}" -gt 0 ] || skip "no cgroups are mounted here"
}

leave_cgroup() {
    local group
    kill "$LOAD"
    wait "$LOAD" || true
    for group in "${CGROUPS[@]}"; do
        until_it rmdir "$group/inner"
        rmdir "$group"
    done
}
