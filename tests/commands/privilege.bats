#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Which users get the capabilities that the file of camp grants (src/program/privilege.h). The user nobody
# (65534) executes the file, inside and outside of a group "camp" that exists only for these tests.

setup() {
    CAMP=${CAMP:-$BATS_TEST_DIRNAME/../../build/gcc/src/camp}
    # shellcheck source=tests/waiting.bash
    source "$BATS_TEST_DIRNAME/../waiting.bash"
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

@test "no user gets the file capabilities of the program camp if there is no group camp" {
    sed -i '/^camp:/d' "$BATS_TEST_TMPDIR/group"
    run held_by 64998
    [ "$status" -eq 0 ]
    [ "$output" = '' ]
}

@test "camp keeps the ambient capabilities that a service gives it" {
    run held_by 64998 --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
        --bounding-set=-all,+bpf,+perfmon --no-new-privs
    [ "$output" = 'CAP_BPF CAP_PERFMON' ]
}

# Succeeds if the process has a connected Unix socket to a path of these tests.
is_connected() {
    local inode
    for inode in $(awk '$6 == "03" || $6 == "02" {print $7}' /proc/net/unix); do
        readlink /proc/"$1"/fd/* 2>/dev/null | grep -qx "socket:\[$inode\]" && return 0
    done
    return 1
}

# held_while_serving GROUP WORD...: starts camp WORD..., as root if GROUP is "root", else as a member of GROUP. When
# it has printed its address or a row, or has a file, a connection or a driver, prints the opening capabilities
# (CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF) that are permitted or effective in any of its threads, as a
# hexadecimal number.
held_while_serving() {
    local group=$1 pid i
    local as=(setpriv --reuid=65534 --regid=65534 "--groups=$1")
    shift
    [ "$group" != root ] || as=()
    cd "$BATS_TEST_TMPDIR" || return 1
    chmod 777 .
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount --bind "$1" /etc/group && shift && exec "$@"' - \
        "$BATS_TEST_TMPDIR/group" "${as[@]}" "$BATS_TEST_TMPDIR/camp" "$@" >out 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        [ ! -s out ] && [ ! -s run.camp ] && ! is_connected "$pid" && ! grep -q silent.so "/proc/$pid/maps" || break
        sleep 0.05
    done
    python3 - "$pid" <<'END'
import pathlib, re, sys
held = 0
threads = list(pathlib.Path('/proc', sys.argv[1], 'task').iterdir())
for thread in threads:
    for line in re.findall(r'Cap(?:Eff|Prm):\s*(\w+)', (thread / 'status').read_text()):
        held |= int(line, 16)
assert pathlib.Path('/proc', sys.argv[1], 'comm').read_text() == 'camp\n'
print(f'{held & (1 << 12 | 1 << 21 | 1 << 38 | 1 << 39):x}')
END
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    rm -f out err run.camp*
}

@test "no thread of a command that serves or reads files holds the capabilities that open microstates" {
    local group words
    printf 'time,entity,busy\n1,a,1\n2,a,1\n' >"$BATS_TEST_TMPDIR/base.csv"
    printf '#!/bin/sh\necho started\nexec sleep 20\n' >"$BATS_TEST_TMPDIR/command"
    chmod 755 "$BATS_TEST_TMPDIR/command"
    for group in root 64999; do
        for words in 'view --from base.csv' view 'view --from cpus' 'view --why' 'export --port 0' \
            'export --why --port 0' 'top --why --interval 50ms --format json' \
            'top --interval 50ms --format json' 'top --from cpus --interval 50ms --format json' \
            'record --interval 50ms' 'wait --format json 0.05' 'why --interval 50ms --json' 'wait --tier kernel --format json 0.05' \
            'check --tier schedstat --format json 0.05' 'time -- ./command'; do
            # shellcheck disable=SC2086
            run held_while_serving $group $words
            echo "$group: camp $words: $output"
            [ "$output" = 0 ]
        done
    done
}

@test "no thread of a command that asks a database server holds the capabilities that open microstates" {
    local group words silent
    mkdir -p "$BATS_TEST_TMPDIR/silent"
    # A server that accepts connections and never answers.
    python3 - "$BATS_TEST_TMPDIR/silent" 3>&- <<'END' &
import os, socket, sys, time
servers = []
for name in '.s.PGSQL.5432', 'prometheus', 'mariadb':
    servers.append(socket.socket(socket.AF_UNIX))
    servers[-1].bind(os.path.join(sys.argv[1], name))
    os.chmod(os.path.join(sys.argv[1], name), 0o777)
    servers[-1].listen()
time.sleep(120)
END
    silent=$!
    until_it test -S "$BATS_TEST_TMPDIR/silent/mariadb"
    for group in root 64999; do
        for words in "postgres:host=$BATS_TEST_TMPDIR/silent" "mariadb:socket=$BATS_TEST_TMPDIR/silent/mariadb" \
            "prometheus:unix:$BATS_TEST_TMPDIR/silent/prometheus"; do
            run held_while_serving $group top --from "$words"
            echo "$group: $words: $output"
            [ "$output" = 0 ]
        done
    done
    kill "$silent"
}

@test "no driver of ODBC is loaded with the capabilities that open microstates" {
    local driver group
    driver=$(realpath -e "$(dirname "$CAMP")/../tests/servers/rogue_odbc.so") || skip "without the driver of the tests"
    ldconfig -p | grep -q libodbc.so.2 || skip "unixODBC is not installed"
    cp "$driver" "$BATS_TEST_TMPDIR/silent.so"
    printf '[Silent]\nDriver=%s\n' "$BATS_TEST_TMPDIR/silent.so" >"$BATS_TEST_TMPDIR/odbcinst.ini"
    export ODBCSYSINI=$BATS_TEST_TMPDIR
    for group in root 64999; do
        run held_while_serving $group top --from 'odbc:DRIVER=Silent;LIE=connecting stalls' --query 'select 1'
        echo "$group: $output"
        [ "$output" = 0 ]
    done
}

# unfiltered_threads WORD...: starts camp WORD... as held_while_serving() does, and prints the number of its threads
# that have no filter of system calls.
unfiltered_threads() {
    local pid i
    cd "$BATS_TEST_TMPDIR" || return 1
    "$CAMP" "$@" >out 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        [ ! -s out ] || break
        sleep 0.05
    done
    [ "$(cat "/proc/$pid/comm")" = camp ] && grep -L '^Seccomp:[[:space:]]*2$' "/proc/$pid"/task/*/status | wc -l
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    rm -f out err
}

@test "a filter of system calls confines each thread of a command that serves or reads files" {
    local words
    [ -z "${CAMP_SANITIZED:-}" ] || skip 'a sanitizer makes the calls that the filter refuses'
    printf 'time,entity,busy\n1,a,1\n2,a,1\n' >"$BATS_TEST_TMPDIR/base.csv"
    for words in 'view --from base.csv' view 'view --from cpus' 'view --demo' 'export --port 0' 'export --why --port 0' \
        'top --from demo --speed 1 --format json'; do
        # shellcheck disable=SC2086
        run -0 unfiltered_threads $words
        echo "camp $words: $output"
        [ "$output" = 0 ]
    done
}

@test "a command that asks for taskstats keeps CAP_NET_ADMIN, and no other of the opening capabilities" {
    local group
    for group in root 64999; do
        run held_while_serving $group view --from check
        echo "$output"
        [ "$output" = 1000 ]
        run held_while_serving $group check --format json 0.05
        echo "$output"
        [ "$output" = 1000 ]
        run held_while_serving $group export --port 0 --tier taskstats
        echo "$output"
        [ "$output" = 1000 ]
    done
}
