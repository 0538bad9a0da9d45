#!/usr/bin/env bats
# bats file_tags=deep
# camp adds nothing to the log of a PostgreSQL server: not when it starts and ends, nor while the server restarts or
# recovers. The log has the server's default settings, and the role of each line.

bats_require_minimum_version 1.5.0
load lib
load recording

declare -gA TIER_OF=([bpf]=bpf [memory]=schedstat+memory [gated]=schedstat+SQL [sql]=SQL)

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres "log_line_prefix = '[%p] role=%u '"
    export PG_FOLDER PG_PID PG
    query_postgres 'alter role camp connection limit 40'
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    PG_PID=$(head -1 "$PG_FOLDER/postmaster.pid")
    SERVER_PIDS+=("$PG_PID")
    BEFORE=$(wc -l <"$PG_FOLDER.log")
}

# start_all [TIER...]: starts a recording by each tier that this machine has, and waits until it has two intervals.
start_all() {
    local tier
    RECORDINGS=()
    [ $# -gt 0 ] || set -- bpf memory gated sql
    for tier; do
        rm -f "$SERVERS/$tier.camp"
        record_at_once "$tier" --from "postgres:$PG" --tier "${TIER_OF[$tier]}" --interval 200ms
        RECORDINGS+=("$tier $RECORD_PID")
    done
    for tier; do until_it has_ticks "$tier" 2; done
}

# Waits until every recording has measured a session that was started now. A new session is in no recording before camp
# has connected again.
all_measure() {
    local name=session$RANDOM each
    start_session "$name" 'select pg_sleep(3600)'
    for each in "${RECORDINGS[@]}"; do
        until_it eval "[ \"\$(ask ${each% *} \"select count(*) from entity where application = '$name'\")\" != 0 ]"
    done
}

# Prints what the server has logged about the role of camp since the test started.
lines_of_camp() {
    sed "1,${BEFORE}d" "$PG_FOLDER.log" | grep 'role=camp ' || true
}

no_lines_of_camp() {
    local lines
    # A backend may log until it has ended.
    until_it eval "[ -z \"\$(query_postgres \"select pid from pg_stat_activity where usename = 'camp'\")\" ]"
    lines=$(lines_of_camp)
    echo "$lines"
    [ -z "$lines" ]
}

skip_without_bpf() {
    [ "$(id -u)" = 0 ] || skip 'needs root: the tiers bpf and schedstat+memory'
}

# Kills camp while it sleeps between two statements, and no answer waits to be read by it. A server that cannot send an
# answer, or whose answer is not read, logs that, for any client.
kill_between_statements() {
    local wanted now
    while :; do
        until_it_sleeps "$1"
        read -r wanted _ <"/proc/$1/syscall"
        kill -STOP "$1"
        until_it is_stopped "$1"
        sleep 0.2 # the server answers what camp may have asked
        read -r now _ <"/proc/$1/syscall"
        if [ "$now" = "$wanted" ] && [ "$wanted" != running ] && has_read_all "$1"; then break; fi
        kill -CONT "$1"
        sleep 0.01
    done
    kill -KILL "$1"
}

is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# Succeeds if the connections of a process have no bytes that it has not read. Its netlink socket, from which the tiers
# of the scheduler read the exits of processes, does not tell how many bytes it has.
has_read_all() {
    python3 -c '
import array, ctypes, fcntl, os, socket, sys, termios
PIDFD_GETFD = 438
pid = int(sys.argv[1])
process = os.pidfd_open(pid)
for name in os.listdir(f"/proc/{pid}/fd"):
    if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
        unread = array.array("i", [0])
        with socket.socket(fileno=ctypes.CDLL(None).syscall(PIDFD_GETFD, process, int(name), 0)) as connection:
            if connection.family != socket.AF_NETLINK:
                fcntl.ioctl(connection, termios.FIONREAD, unread)
            if unread[0] != 0:
                sys.exit(1)' "$1"
}

@test "postgres log: camp starts and ends without a line in the server's log, on every tier" {
    skip_without_bpf
    for signal in INT TERM; do
        start_all
        for each in "${RECORDINGS[@]}"; do kill -$signal "${each#* }"; done
        for each in "${RECORDINGS[@]}"; do until_it is_gone "${each#* }"; done
    done
    no_lines_of_camp
}

@test "postgres log: tiers that need no rights start and end without a line in the server's log" {
    start_all gated sql
    for each in "${RECORDINGS[@]}"; do kill -TERM "${each#* }"; done
    for each in "${RECORDINGS[@]}"; do until_it is_gone "${each#* }"; done
    no_lines_of_camp
}

# A signal may come while the states are probed, which takes some 0.3 s.
@test "postgres log: camp that is ended during its start leaves no line in the server's log" {
    skip_without_bpf
    for delay in 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4; do
        rm -f "$SERVERS/early.camp"
        record_at_once early --from "postgres:$PG" --tier schedstat+memory --interval 200ms
        sleep $delay
        kill -TERM "$RECORD_PID"
        until_it is_gone "$RECORD_PID"
    done
    no_lines_of_camp
}

@test "postgres log: camp that is killed between two statements leaves no line in the server's log" {
    skip_without_bpf
    start_all
    for each in "${RECORDINGS[@]}"; do
        kill_between_statements "${each#* }"
    done
    no_lines_of_camp
}

# A crash ends all sessions without a line of their own.
@test "postgres log: camp connects again after a crash of the server without a line in its log" {
    skip_without_bpf
    start_all
    crash_postgres
    all_measure
    end_recordings
    no_lines_of_camp
}

# The server writes one line for each session that a fast shutdown ends, such as that of psql.
@test "postgres log: camp connects again after a restart of the server without a line in its log" {
    skip_without_bpf
    start_all
    for _ in 1 2 3; do
        stop_postgres
        run_postgres
        all_measure
    done
    end_recordings
    lines_of_camp | grep -v 'FATAL:  terminating connection due to administrator command$' |
        grep -v 'STATEMENT:  ' >"$SERVERS/other_lines" || true
    cat "$SERVERS/other_lines"
    [ ! -s "$SERVERS/other_lines" ]
    [ "$(lines_of_camp | grep -c FATAL)" = 12 ] # three times four recordings
}

@test "postgres log: camp connects again after its session was terminated" {
    start_all gated sql
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'camp'" >/dev/null
    all_measure
    end_recordings
    [ "$(lines_of_camp | grep -c FATAL)" = 2 ] # one each, of the termination
}
