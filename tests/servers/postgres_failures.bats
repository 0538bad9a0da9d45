#!/usr/bin/env bats
# bats file_tags=deep
# Failures of a PostgreSQL server during camp record. Each measurement tier makes one recording of the same
# failures. camp must report each failure and continue, and its times must add up.

bats_require_minimum_version 1.5.0
load lib
load recording

TIERS='bpf memory gated sql'

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG PG_PID
    query_postgres 'alter role camp connection limit 40'
    begin_recordings
    start_session stays 'select pg_sleep(3600)'
    start_session goes 'select pg_sleep(0.7)'
    use_a_pid_again
    terminate_own_backends
    stop_own_backends
    crash
    restart
    take_the_connections_away
    end_recordings
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }

begin_recordings() {
    local tier
    RECORDINGS=()
    for tier in bpf=bpf memory=schedstat+memory gated=schedstat+SQL sql=SQL; do
        record_at_once "${tier%=*}" --from "postgres:$PG" --tier "${tier#*=}" --interval 200ms
        RECORDINGS+=("${tier%=*} $RECORD_PID")
    done
    # In the test of a reused pid, two sessions with the same pid must be in the same interval, so it is long.
    record_at_once slow --from "postgres:$PG" --tier bpf --interval 4s
    RECORDINGS+=("slow $RECORD_PID")
    for tier in $TIERS; do has_begun "$tier"; done
}

own_backends() {
    query_postgres "select pid from pg_stat_activity where application_name = 'camp'"
}

all_report() {
    local tier
    for tier in $TIERS; do told "$tier" "$1"; done
}

# Waits until every recording has two more intervals.
go_on() {
    # shellcheck disable=SC2086 # names
    more_ticks_of_each 2 $TIERS
}

terminate_own_backends() {
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'camp'" >/dev/null
    all_report 'PostgreSQL: terminating connection due to administrator command; connecting again'
    go_on
}

stop_own_backends() {
    local stopped
    stopped=$(own_backends)
    phase_begins stopped
    # shellcheck disable=SC2086 # pids
    kill -STOP $stopped
    all_report 'PostgreSQL: no answer for 2 s'
    phase_ends stopped
    # shellcheck disable=SC2086
    kill -CONT $stopped
    go_on
}

# All sessions end in the crash, including `stays`.
crash() {
    crash_postgres
    all_report 'PostgreSQL: the server crashed and starts again; connecting again'
    start_session after_crash 'select pg_sleep(3600)'
    go_on
    phase_begins after_crash
    go_on
    go_on
    phase_ends after_crash
}

restart() {
    stop_postgres
    go_on
    run_postgres
    start_session after_restart 'select pg_sleep(3600)'
    until_it eval '[ "$(own_backends | wc -l)" = 5 ]'
    go_on
    go_on
    phase_begins after_restart
    go_on
    go_on
    phase_ends after_restart
}

# This is the last failure, because camp connects again only every ten seconds after the refusal.
take_the_connections_away() {
    query_postgres 'alter role camp connection limit 0'
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'camp'" >/dev/null
    all_report 'too many connections for role "camp"; close some, or raise the limit'
    go_on
}

# Starts a second session with the pid of the first session, by setting the kernel's last pid. Another process may
# take that pid before the server does, so it is tried five times.
use_a_pid_again() {
    local first second=none begin
    for _ in 1 2 3 4 5; do
        begin=$(date +%s%N)
        first=$(nap_as first true)
        until_it is_gone "$first"
        [ -w /proc/sys/kernel/ns_last_pid ] || break
        # No process of this script starts between these two commands.
        second=$(
            echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
            nap_as second "pg_backend_pid() = $first"
        )
        [ "$second" != "$first" ] || break
    done
    # The third number is the longest possible time from a session's start to its end.
    echo "$first $second $(($(date +%s%N) - begin))" >"$SERVERS/pids"
}

# nap_as APPLICATION CONDITION opens a session and prints its pid. The session sleeps 0.4 s if the SQL condition is
# true. psql replaces the calling shell, so this function must be called as $(nap_as ...).
nap_as() {
    exec "$POSTGRES_BIN/psql" -XqAt "host=$PG_FOLDER dbname=postgres user=camp_super application_name=$1" \
        -c "select pg_backend_pid() from pg_sleep(case when $2 then 0.4 else 0 end)" 3>&-
}

# cut_of TIER prints the maximum rounding error as an SQL expression. Each snapshot rounds scaled times down to whole
# nanoseconds.
cut_of() {
    case $1 in
    memory | gated) echo '2 * (sum(samples) + count(*))' ;;
    *) echo 0 ;;
    esac
}

# all_hold SQL checks that the query's result is 1 for the recording of each tier.
all_hold() {
    local tier
    for tier in $TIERS; do holds "$tier" "$1"; done
}

# fails_with STATUS TEXT CONNINFO checks that camp exits with STATUS, and writes one line to stderr that starts with
# TEXT.
fails_with() {
    run --separate-stderr "$CAMP" record --output "$SERVERS/refused.camp" --from "postgres:$3" 3>&-
    echo "$stderr"
    [ "$status" -eq "$1" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp record: PostgreSQL: $2"* ]]
}

@test "postgres failures: camp record reports a refused connection in one line with its cause" {
    fails_with 4 'role "nobody_known" does not exist' "$PG user=nobody_known"
    fails_with 4 'role "locked_out" is not permitted to log in' "$PG user=locked_out"
    fails_with 1 'database "nowhere" does not exist' "$PG user=camp_super dbname=nowhere"
    fails_with 4 'it asks for a password; set PGPASSWORD' "$PG user=secret"
    fails_with 4 'password authentication failed for user "secret"' "$PG user=secret password=no"
    fails_with 1 'No such file or directory; is the server running' "host=$SERVERS/missing"
    fails_with 1 'too many connections for role "camp"' "$PG"
    [ ! -e "$SERVERS/refused.camp" ]
}

@test "postgres failures: every tier reports each failure of the server once" {
    for tier in $TIERS; do
        for text in 'terminating connection due to administrator command' 'no answer for 2 s' \
            'the server crashed and starts again' 'too many connections for role'; do
            grep -q "PostgreSQL: $text" "$SERVERS/$tier.err"
        done
        # A lasting failure must not be reported again.
        cut -d: -f5- "$SERVERS/$tier.err" | uniq -d | tee "$SERVERS/repeated"
        [ ! -s "$SERVERS/repeated" ]
    done
}

@test "postgres failures: a recording over a server restart neither loses nor repeats time" {
    holds bpf 'select count(*) > 50 and max(abs(unaccounted_ns)) = 0 from postgres_every'
    # On tiers without bpf, all snapshots may find a session in its wait, although it also used a CPU.
    all_hold 'select min(unaccounted_ns + cpu_ns + run_queue_ns) >= 0
        and max(unaccounted_ns - elapsed_ns) <= 0 from postgres_every'
    # A lost or repeated interval would change the sum by the length of a whole interval.
    all_hold "select count(*) = max(tick) - min(tick) + 1
            and abs(sum(elapsed_ns) - sum(end_ns - start_ns)) < min(end_ns - start_ns)
        from postgres_every join entity using (entity) join tick using (tick)
        where application = 'stays' and flags & 3 = 0"
    all_hold "select count(*) = max(tick) from tick"
}

# If an interval waited for the answer, it would be at least as long as the backend was stopped.
@test "postgres failures: no interval waits for a server that does not answer" {
    all_hold "select max(end_ns - start_ns) < $(($(cat "$SERVERS/stopped.end") - $(cat "$SERVERS/stopped.begin")))
        from tick"
}

@test "postgres failures: while camp's backend is stopped, time is measured or unaccounted" {
    for tier in bpf memory; do
        during stopped $tier stays "sum(idle_asked_for_ns + cpu_ns + run_queue_ns) >= sum(elapsed_ns) - $(cut_of $tier)"
    done
    for tier in gated sql; do
        during stopped $tier stays "sum(unaccounted_ns) > 0 and sum(unaccounted_ns + idle_ns + cpu_ns + run_queue_ns)
            >= sum(elapsed_ns) - $(cut_of $tier)"
    done
}

@test "postgres failures: every tier measures again after a crash or restart of the server" {
    for when in after_crash after_restart; do
        for tier in $TIERS; do
            during $when $tier $when "sum(idle_asked_for_ns) > 0
                and sum(idle_asked_for_ns + cpu_ns + run_queue_ns) >= sum(elapsed_ns) - $(cut_of $tier)"
        done
    done
    all_hold "select count(*) = 1 and max(flags & 2) = 2 from postgres_every
        join entity using (entity) where application = 'stays' and flags & 2"
}

@test "postgres failures: the time of a session is accounted until the session ends" {
    holds bpf "select sum(elapsed_ns) >= 700000000 and sum(idle_asked_for_ns + cpu_ns + run_queue_ns)
            between 700000000 and sum(elapsed_ns) and max(flags & 2) = 2
        from postgres_every join entity using (entity) where application = 'goes'"
    all_hold "select sum(flags & 2) = 2 and max(tick) = max(iif(flags & 2, tick, 0))
        from postgres_every join entity using (entity) where application = 'goes'"
}

@test "postgres failures: two sessions with the same pid have different rows" {
    read -r first second lasted <"$SERVERS/pids"
    [ "$first" = "$second" ] || skip "no session got the pid $first again: $second"
    for each in $TIERS slow; do
        holds "$each" "select group_concat(application) = 'first,second' from
            (select application from entity where id = $first order by application)"
    done
    for who in first second; do
        holds bpf "select sum(elapsed_ns) between 400000000 and $lasted
                and sum(idle_asked_for_ns + cpu_ns + run_queue_ns) between 400000000 and sum(elapsed_ns)
            from postgres_every join entity using (entity)
            where application = '$who' and id = $first"
    done
}

@test "postgres failures: a note counts the sessions that a role may not see" {
    for tier in bpf schedstat+memory schedstat+SQL SQL; do
        "$CAMP" record --output "$SERVERS/stranger-$tier.camp" --count 2 --interval 200ms --tier $tier \
            --from "postgres:$PG user=stranger" 3>&- 2>"$SERVERS/stranger-$tier.err" >/dev/null
        # Rows named camp are allowed, because a connection of postgres_layout_probe() may still be ending.
        holds "stranger-$tier" "select count(*) = 0 from postgres_every join entity using (entity)
            where application <> 'camp'"
        holds "stranger-$tier" 'select min(unseen) >= 1 from tick'
        told "stranger-$tier" 'hidden from this role: grant pg_monitor to it'
    done
}

@test "postgres failures: a note says that reading memory needs a second connection" {
    query_postgres 'alter role camp connection limit 1'
    "$CAMP" record --output "$SERVERS/one.camp" --count 1 --interval 200ms --from "postgres:$PG" 3>&-
    holds one "select value = 'schedstat+SQL' from camp where key = 'tier'"
    holds one "select value glob 'Not measured: a second connection*' from camp where key = 'note'"
}

# This is the last test, because it starts the server again in another pid namespace, as in a container.
@test "postgres failures: camp uses only tier SQL for a server in another PID namespace" {
    [ "$(id -u)" = 0 ] || skip 'needs root: a pid namespace'
    query_postgres 'alter role camp connection limit 3'
    stop_postgres
    AS_USER=(unshare --pid --fork "${AS_USER[@]}")
    run_postgres
    CONTAINED=$(cat "/proc/$PG_PID/task/$PG_PID/children")
    start_session there 'select pg_sleep(3600)'
    "$CAMP" record --output "$SERVERS/there.camp" --count 2 --interval 200ms --from "postgres:$PG" 3>&-
    holds there "select value = 'SQL' from camp where key = 'tier'"
    holds there "select value glob 'Not measured: *in another container*' from camp where key = 'note'"
    holds there "select count(*) = 2 and min(idle_asked_for_ns = elapsed_ns) = 1 from postgres_every
        join entity using (entity) where application = 'there' and pid = 0"
    for tier in bpf schedstat+memory schedstat+SQL; do
        run -1 --separate-stderr "$CAMP" record --output "$SERVERS/refused.camp" --count 1 --tier $tier \
            --from "postgres:$PG" 3>&-
        [[ $stderr == *"the server runs on another machine, or in another container" ]]
    done
}

teardown() {
    local pid
    for pid in ${CONTAINED:-}; do
        kill -QUIT "$pid"
        end_server "$pid"
    done
}
