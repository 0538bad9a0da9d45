#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Which users get the capabilities that the file of camp grants (src/program/privilege.h). The user nobody
# (65534) executes the file, inside and outside of a group "camp" that exists only for these tests.

setup() {
    CAMP=${CAMP:-$BATS_TEST_DIRNAME/../../build/gcc/src/camp}
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    for group in 64998 64999; do
        ! getent group $group >/dev/null || skip "there is a group $group"
    done
    chmod 755 "$BATS_RUN_TMPDIR" "$(dirname "$BATS_FILE_TMPDIR")" "$BATS_FILE_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    setcap cap_net_admin,cap_bpf,cap_perfmon=p "$BATS_TEST_TMPDIR/camp" 2>/dev/null ||
        skip "this file system, or container, takes no capabilities of files"
    grep -v '^camp:' /etc/group >"$BATS_TEST_TMPDIR/group"
    echo 'camp:x:64999:' >>"$BATS_TEST_TMPDIR/group"
}

# held_by GROUP WORD...: prints the capabilities that camp reports for itself; setpriv gets the WORDs.
held_by() {
    local group=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount --bind "$1" /etc/group && shift && exec "$@"' - \
        "$BATS_TEST_TMPDIR/group" setpriv --reuid=65534 --regid=65534 --groups="$group" "$@" \
        "$BATS_TEST_TMPDIR/camp" doctor --format json |
        python3 -c 'import json, sys
print(*(c["name"] for c in json.load(sys.stdin)["capabilities"] if c["held"]))'
}

@test "a member of the group camp gets the file capabilities of the program camp" {
    run held_by 64999
    [ "$output" = 'CAP_NET_ADMIN CAP_BPF CAP_PERFMON' ]
}

@test "a user outside of the group camp runs camp without capabilities" {
    run held_by 64998
    [ "$status" -eq 0 ]
    [ "$output" = '' ]
}

@test "every user gets the file capabilities of the program camp if there is no group camp" {
    sed -i '/^camp:/d' "$BATS_TEST_TMPDIR/group"
    run held_by 64998
    [ "$output" = 'CAP_NET_ADMIN CAP_BPF CAP_PERFMON' ]
}

@test "camp keeps the ambient capabilities that a service gives it" {
    run held_by 64998 --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
        --bounding-set=-all,+bpf,+perfmon --no-new-privs
    [ "$output" = 'CAP_BPF CAP_PERFMON' ]
}
