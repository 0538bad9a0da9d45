# tests/servers/rogue.bash: tests of the attacks of rogue_NAME.py.
#
#   require_attacks NAME              skips the test if camp cannot be attacked here
#   attacks_end_well NAME GROUP...    runs the attacks of these groups, some at the same time, and fails if one failed
#   attacks_of_another_machine NAME   runs the group "remote" in a network namespace of its own
# shellcheck shell=bash

find_camp() {
    export CAMP=${CAMP:-$BATS_TEST_DIRNAME/../../build/gcc/src/camp}
}

require_attacks() {
    find_camp
    ! "$CAMP" top --from "$1:" --count 1 2>&1 | grep -q 'built without' || skip "built without $1"
    [ -z "${CAMP_SANITIZED:-}" ] || skip 'memory is measured, and sanitizers need more'
}

attacks_end_well() {
    "$BATS_TEST_DIRNAME/rogue_$1.py" --jobs 6 "${@:2}"
}

attacks_of_another_machine() {
    [ "$(id -u)" = 0 ] || skip 'network namespaces need root'
    unshare --net ip link set lo up 2>/dev/null || skip 'this machine has no network namespaces'
    command -v openssl >/dev/null || skip 'openssl is not installed'
    unshare --net sh -c 'ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec "$0" remote' \
        "$BATS_TEST_DIRNAME/rogue_$1.py"
}
