#!/usr/bin/env bats
# What camp reports if a limit or a missing file system of the host is the cause: that cause, and what to do.

bats_require_minimum_version 1.5.0

SESSIONS=("top --tier bpf --count 1 --interval 50ms" "time --no-syscalls -- true"
    "wait --tier bpf --count 1 --interval 50ms" "check --tier bpf --count 1 --interval 50ms"
    "record --tier bpf --count 1 --interval 50ms --output run.camp")

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

needs_microstates() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    run "$CAMP" time -- true
    if [[ $output == "camp time: "* ]]; then skip "$output"; fi
    [ "$status" -eq 0 ]
}

needs_mounts() {
    unshare --mount true || skip "needs root, to mount"
}

limited() { # limited FILES COMMAND...: runs a command with a limit of open files, and only 0, 1 and 2 open
    (exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- && ulimit -n "$1" && shift && exec "$@")
}

covered() { # covered FOLDER COMMAND...: runs a command with an empty file system at the folder
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' - "$@"
}

without() { # without CAPABILITIES COMMAND...: such as -bpf,-sys_admin
    local drop=$1
    shift
    setpriv "--bounding-set=$drop" "--inh-caps=$drop" "$@"
}

hidden_from_nobody() { # runs a copy of camp as user nobody, with a /proc that hides other users' processes
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t proc -o hidepid=2 none /proc && exec "$@"' - \
        setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# says STATUS PART COMMAND...: the command prints one line on stderr that contains the part.
says() {
    local wanted=$1 part=$2
    shift 2
    run --separate-stderr "$@"
    echo "$*: $status $stderr"
    [ "$status" -eq "$wanted" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"$part"* ]]
}

@test "the error about a ulimit -n that is too low names a value that is enough" {
    needs_microstates
    for words in "${SESSIONS[@]}"; do
        for limit in 8 16 32; do
            rm -f run.camp
            # shellcheck disable=SC2086
            run --separate-stderr limited "$limit" "$CAMP" $words
            echo "$words, limit $limit: $status $stderr"
            [[ ${stderr_lines[0]} == *"microstates need "*" open files, and the limit is $limit: run ulimit -n "* ]]
        done
        enough=${stderr_lines[0]##* }
        rm -f run.camp
        # shellcheck disable=SC2086
        run -0 --separate-stderr limited "$enough" "$CAMP" $words
        [[ $stderr != "camp "* ]]
    done
}

@test "camp top and camp record succeed with a note under a ulimit -n that is too low" {
    needs_microstates
    for words in "top --count 1 --interval 50ms" "record --count 1 --interval 50ms --output run.camp"; do
        # shellcheck disable=SC2086
        says 0 "and the limit is 16: run ulimit -n " limited 16 "$CAMP" $words
    done
    run -0 limited 16 "$CAMP" doctor
    [[ $output == *"and the limit is 16: run ulimit -n "* ]]
}

@test "the error about too many open files advises to raise ulimit -n" {
    says 1 "Too many open files; raise the limit of open files (ulimit -n)" limited 4 "$CAMP" time -- true
    says 1 "Too many open files; raise the limit of open files (ulimit -n)" \
        limited 4 "$CAMP" top --tier schedstat --count 1
    run "$CAMP" record --from demo --count 1 --output probe.camp
    if [ "$status" -ne 0 ]; then skip "$output"; fi
    for limit in 4 5; do
        says 1 "Too many open files; raise the limit of open files (ulimit -n)" \
            limited $limit "$CAMP" record --from demo --count 1 --output run.camp
        rm -f run.camp
    done
}

@test "the error about a failed BPF program names the lacking resource: open files or memory" {
    needs_microstates
    refuse=$BATS_TEST_DIRNAME/refuse_programs.py
    /usr/bin/python3 "$refuse" EINVAL true || skip "no filter of system calls here"
    says 1 "raise the limit of open files (ulimit -n)" /usr/bin/python3 "$refuse" EMFILE "$CAMP" time --no-syscalls true
    says 1 "(fs.file-max)" /usr/bin/python3 "$refuse" ENFILE "$CAMP" time --no-syscalls true
    says 1 "free some memory" /usr/bin/python3 "$refuse" ENOMEM "$CAMP" time --no-syscalls true
}

@test "the error about a missing capability does not depend on the errno of the kernel" {
    needs_microstates
    refuse=$BATS_TEST_DIRNAME/refuse_programs.py
    /usr/bin/python3 "$refuse" EINVAL true || skip "no filter of system calls here"
    for errno in EPERM EACCES EINVAL; do
        says 4 "microstates need CAP_PERFMON, too: run as root, or see camp doctor" \
            /usr/bin/python3 "$refuse" $errno setpriv --bounding-set=-perfmon,-sys_admin \
            --inh-caps=-perfmon,-sys_admin "$CAMP" time --no-syscalls true
    done
}

@test "camp time measures thread states with no capability but CAP_BPF and CAP_PERFMON" {
    needs_microstates
    for drop in -sys_admin -bpf -perfmon -bpf,-perfmon -sys_resource,-sys_admin -dac_override,-dac_read_search -sys_ptrace -net_admin; do
        run -0 --separate-stderr without $drop "$CAMP" time --no-syscalls true
        [[ $stderr == *" 1 process, "* ]]
        run -0 without $drop "$CAMP" doctor
        [[ $output == *"Microstates can be measured"* ]]
    done
    for row in "-bpf,-sys_admin CAP_BPF, too" "-perfmon,-sys_admin CAP_PERFMON, too" \
        "-all CAP_BPF and CAP_PERFMON"; do
        says 4 "microstates need ${row#* }: run as root, or see camp doctor" \
            without "${row%% *}" "$CAMP" time --no-syscalls true
        run -0 without "${row%% *}" "$CAMP" doctor
        [[ $output == *": microstates need ${row#* }"$'\n'* ]]
    done
}

@test "the error about an unmounted /sys gives the mount command" {
    needs_microstates
    needs_mounts
    for words in "${SESSIONS[@]}" "check --count 1 --interval 50ms" "export --once"; do
        # shellcheck disable=SC2086
        says 1 "/sys is not mounted: run mount -t sysfs sysfs /sys" covered /sys "$CAMP" $words
    done
    for words in "top --count 1 --interval 50ms" "record --count 1 --interval 50ms --output run.camp"; do
        # shellcheck disable=SC2086
        says 0 "/sys is not mounted: run mount -t sysfs sysfs /sys" covered /sys "$CAMP" $words
    done
    # shellcheck disable=SC2016
    run -0 covered /sys sh -c 'mount -t sysfs sysfs /sys && exec "$@"' - "$CAMP" time --no-syscalls true
    [[ $output == *" 1 process, "* ]]
    run -0 covered /sys "$CAMP" doctor
    [[ $output == *"/sys is not mounted: run mount -t sysfs sysfs /sys"* ]]
    [[ $output != *"no BTF"* ]]
}

@test "the error about an unmounted /proc gives the mount command" {
    [ -z "${CAMP_SANITIZED:-}" ] || skip 'linked with the sanitizers, which read /proc'
    needs_mounts
    for words in "top --count 1" "wait --count 1" "check --count 1" "record --count 1 --output run.camp" \
        "report --count 1 --output run.html" "export --once" "get cpu" "get process.1" "list disks" \
        "list processes" "probe --rate 10 --duration 100ms"; do
        # shellcheck disable=SC2086
        says 1 "/proc is not mounted: run mount -t proc proc /proc" covered /proc "$CAMP" $words
    done
    says 3 "/proc is not mounted: run mount -t proc proc /proc" covered /proc "$CAMP" list
    run -0 --separate-stderr covered /proc "$CAMP" time -- true
    [[ $stderr != *"this kernel"* ]]
    # shellcheck disable=SC2016
    run -0 covered /proc sh -c 'mount -t proc proc /proc && exec "$@"' - "$CAMP" get cpu
}

@test "the commands of camp work in a cgroup namespace" {
    unshare --cgroup true || skip "needs root, for a namespace"
    for words in "top --count 1 --interval 50ms" "time -- true" "wait --count 1 --interval 50ms" \
        "check --count 1 --interval 50ms" "get cpu" "list" "doctor" "export --once" \
        "top --from users --count 1 --interval 50ms"; do
        # shellcheck disable=SC2086
        run -0 unshare --cgroup "$CAMP" $words
    done
}

@test "in a user namespace, commands that need BPF exit with 4 and other commands work" {
    unshare --user --map-root-user true || skip "no user namespaces here"
    run "$CAMP" top --tier bpf --count 1 --interval 50ms
    if [[ $output == *"this camp was built without"* || $output == *"this kernel has no "* ]]; then skip "$output"; fi
    for words in "${SESSIONS[@]:0:4}"; do
        # shellcheck disable=SC2086
        says 4 "microstates need " unshare --user --map-root-user "$CAMP" $words
    done
    for words in "top --count 1 --interval 50ms" "wait --count 1 --interval 50ms" \
        "record --count 1 --interval 50ms --output run.camp" "export --once"; do
        # shellcheck disable=SC2086
        says 0 "microstates need " unshare --user --map-root-user "$CAMP" $words
    done
    for words in "check --count 1 --interval 50ms" "get cpu" "list" "doctor"; do
        # shellcheck disable=SC2086
        run -0 unshare --user --map-root-user "$CAMP" $words
    done
}

@test "the commands of camp print how many threads /proc hides by its mount option hidepid" {
    needs_mounts
    cp "$CAMP" camp
    chmod 755 camp .
    for folder in "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do
        [ ! -d "$folder" ] || chmod o+x "$folder"
    done
    hidden_from_nobody true || skip "needs root, to become another user"
    part=" threads are hidden (/proc is mounted with hidepid): CAP_SYS_PTRACE shows them (root has it)"
    for words in "top --count 1 --interval 50ms" "top --tier schedstat --count 1 --interval 50ms" \
        "top --from check --count 1 --interval 50ms" \
        "list processes" "list threads" "list" "get process" "get process.*.threads" "get thread"; do
        # shellcheck disable=SC2086
        run --separate-stderr hidden_from_nobody "$PWD/camp" $words
        echo "$words: $status $stderr"
        [[ $stderr == *[0-9]" of "*"$part"* ]]
    done
    for words in "check --count 1 --interval 50ms" "doctor"; do
        # shellcheck disable=SC2086
        run -0 hidden_from_nobody "$PWD/camp" $words
        [[ $output == *[0-9]" of "*"$part"* ]]
    done
    for words in "list cpus" "get cpu.user_ns"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr hidden_from_nobody "$PWD/camp" $words
        [ -z "$stderr" ]
    done
    run -0 --separate-stderr "$CAMP" list processes
    [ -z "$stderr" ]
}

# groups_of WORD...: the groups that camp export WORD... names at an address, with a /proc that hides processes.
groups_of() {
    local pid i
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t proc -o hidepid=2 none /proc && exec "$@"' - \
        "$CAMP" export --port 0 "$@" >address 2>note 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        [ ! -s address ] || break
        sleep 0.05
    done
    for i in 1 2; do curl -sS "$(cat address)" >page; done
    kill "$pid"
    wait "$pid"
    grep -o 'groupname="[^"]*"' page | sort -u
    rm address
}

@test "camp export names no command at an address while /proc hides processes, unless --groups asks for names" {
    needs_mounts
    run -0 groups_of
    [ "$output" = 'groupname="other"' ]
    grep -qx 'camp export: no command, user, container or unit is named: /proc hides processes of other users .*; --groups 20 names .*' note
    run -0 groups_of --groups 2
    [ "${#lines[@]}" -eq 3 ]
    [ ! -s note ]
}
