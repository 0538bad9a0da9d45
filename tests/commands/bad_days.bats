#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# What camp reports if microstates cannot be measured, and which commands work without microstates.

setup() {
    HERE=$BATS_TEST_DIRNAME
    CAMP=${CAMP:-$(cd "$HERE/../.." && pwd)/build/gcc/src/camp}
}

needs_microstates() {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to take it away"
    run "$CAMP" time -- true
    if [[ $output == "camp time: "* ]]; then skip "$output"; fi
    [ "$status" -eq 0 ]
}

# refused STATUS PART [COMMAND...]: runs each command that needs microstates by COMMAND. Each of them must
# print the same line, and nothing else.
refused() {
    expected=$1 part=$2
    shift 2
    for words in "top --tier bpf --count 1 --interval 50ms" \
        "top --from processes --tier bpf --count 1 --interval 50ms --format json" \
        "time --no-syscalls -- true" "wait --tier bpf --count 1 --interval 50ms" \
        "why --count 1 --interval 50ms" \
        "check --tier bpf --count 1 --interval 50ms"; do
        # shellcheck disable=SC2086 # the words of the command
        run --separate-stderr "$@" "$CAMP" $words
        echo "$words: $status $output $stderr"
        [ "$status" -eq "$expected" ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == "camp ${words%% *}: "*"$part"* ]]
        [ "$expected" -eq 4 ] || [[ $stderr == *"; camp check works without microstates"* ]]
    done
    run --separate-stderr "$@" "$CAMP" check --count 1 --interval 50ms
    [ "$status" -eq 0 ]
    [[ $output == *"  tier "* ]]
    run --separate-stderr "$@" "$CAMP" doctor
    [ "$status" -eq 0 ]
    [[ $output == *"; camp wait uses its tier kernel: "*"${part%: run as root, or see camp doctor}"* ]]
    [[ $output != *"see camp doctor"* ]]
}

@test "camp check without --tier bpf still works on a kernel without BTF" {
    needs_microstates
    [ ! -e "/boot/vmlinux-$(uname -r)" ] || skip "a BTF lies in /boot"
    # shellcheck disable=SC2016
    refused 1 "no BTF (/sys/kernel/btf/vmlinux)" \
        unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' -
    # shellcheck disable=SC2016
    run unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' - \
        "$CAMP" doctor --format csv --table events
    [ "${#lines[@]}" -eq 1 ]
}

@test "camp top and camp time succeed on a kernel without BTF and report that BTF is missing" {
    needs_microstates
    [ ! -e "/boot/vmlinux-$(uname -r)" ] || skip "a BTF lies in /boot"
    for words in "top --count 1 --interval 50ms --format json" "time -- true"; do
        # shellcheck disable=SC2016,SC2086
        run -0 --separate-stderr unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' - \
            "$CAMP" $words
        [[ $output$stderr == *"no BTF (/sys/kernel/btf/vmlinux)"* ]]
    done
}

without() { # without CAPABILITY...: prints the words that run a command without the capabilities
    local drop
    drop=$(printf ',-%s' "$@")
    echo setpriv "--bounding-set=${drop#,}" "--inh-caps=${drop#,}"
}

@test "the error about missing BPF capabilities names each missing capability" {
    needs_microstates
    # shellcheck disable=SC2046 # words
    refused 4 "microstates need CAP_BPF, too: run as root, or see camp doctor" $(without bpf sys_admin)
    # shellcheck disable=SC2046
    refused 4 "microstates need CAP_PERFMON, too: run as root, or see camp doctor" $(without perfmon sys_admin)
    # shellcheck disable=SC2046
    refused 4 "microstates need CAP_BPF and CAP_PERFMON: run as root, or see camp doctor" $(without bpf perfmon sys_admin)
}

@test "the error about BPF in a user namespace advises to run camp outside of the container" {
    needs_microstates
    unshare --user --map-root-user true || skip "no user namespaces here"
    refused 4 "of the machine: run camp outside of this container" unshare --user --map-root-user
}

@test "camp check without CAP_NET_ADMIN falls back to tier schedstat" {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to drop it"
    # shellcheck disable=SC2046
    run --separate-stderr $(without net_admin) "$CAMP" check --count 1 --interval 50ms
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "Tier schedstat lacks "* ]]
    [[ $output == *"CAP_NET_ADMIN gives both"* ]]
}

@test "the error about a BPF program that the kernel refuses recommends --verbose" {
    needs_microstates
    /usr/bin/python3 "$HERE/refuse_programs.py" EINVAL true || skip "no filter of system calls here"
    for errno in EINVAL EACCES; do
        refused 1 "refuses the programs of microstates" /usr/bin/python3 "$HERE/refuse_programs.py" $errno
        [[ $output == *"camp top --verbose shows why"* ]]
    done
# In a container, the filter of system calls refuses with EPERM.
    refused 4 "of the machine" /usr/bin/python3 "$HERE/refuse_programs.py" EPERM
}

@test "--verbose prints what libbpf reports about a BPF program that the kernel refuses" {
    needs_microstates
    /usr/bin/python3 "$HERE/refuse_programs.py" EINVAL true || skip "no filter of system calls here"
    for words in "top --count 1" "time -- true" "wait --tier bpf --count 1" "why --count 1"; do
        # shellcheck disable=SC2086
        run --separate-stderr /usr/bin/python3 "$HERE/refuse_programs.py" EINVAL "$CAMP" ${words%% *} --verbose ${words#* }
        [ "$status" -eq 1 ]
        [[ $stderr == *"libbpf: "*"load"* ]]
        [[ ${stderr_lines[-1]} == "camp ${words%% *}: this kernel refuses "* ]]
    done
}

@test "camp top draws its screen on a terminal that reports a size of 0 x 0" {
    /usr/bin/python3 -c 'import pyte' || skip "no pyte"
    needs_microstates
    run /usr/bin/python3 "$HERE/screen.py" 0 0 q -- "$CAMP" top
    [ "$status" -eq 0 ]
    [[ $output == *"tier bpf"* ]]
    run /usr/bin/python3 "$HERE/screen.py" 0 0 q -- "$CAMP" check --count 1
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] # 3: the kernel dropped records of exits, on a busy machine
}
