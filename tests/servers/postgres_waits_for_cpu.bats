#!/usr/bin/env bats
# bats file_tags=law
# A session that waits long for a CPU: the scheduler counts such a wait only when it ends.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

# total_ms FILE COLUMN: prints the sum of a column over all intervals of the session, in ms.
total_ms() {
    python3 -c '
import json, sys
rows = [row for line in open(sys.argv[1]) for row in json.loads(line)["entities"] if row["labels"]["application"] == "starved"]
column = sys.argv[2]
print(sum(abs(row["states"].get(column, row.get(column, 0))) for row in rows) // 1000000)' "$1" "$2"
}

# The session is on one CPU with a loop of a much larger weight, in the group of each session (/proc/PID/autogroup) or in
# a common one. So it waits longer than an interval.
@test 'postgres: a long wait for a CPU is run queue on each schedstat tier' {
    start_session starved 'do $$ begin loop end loop; end $$' camp_super
    starved=$(backend_of starved)
    cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
    taskset -p -c "$cpu" "$starved" >/dev/null && chrt --idle -p 0 "$starved" || skip 'the backend belongs to another user'
    echo 19 2>/dev/null >"/proc/$starved/autogroup" || true # absent without sched_autogroup
    taskset -c "$cpu" "$CAMP" load cpu --percent 100 --duration 60 >/dev/null 2>&1 3>&- &
    for tier in schedstat+memory schedstat+SQL; do
        "$CAMP" top --from "postgres:host=$PG_FOLDER dbname=postgres user=camp_super" --tier "$tier" --count 40 --interval 100ms \
            --format json >"$BATS_TEST_TMPDIR/$tier" 3>&- &
        runs+=($!)
    done
    for run in "${runs[@]}"; do wait "$run"; done
    for tier in schedstat+memory schedstat+SQL; do
        elapsed=$(total_ms "$BATS_TEST_TMPDIR/$tier" elapsed_ns)
        cpu=$(total_ms "$BATS_TEST_TMPDIR/$tier" cpu_ns)
        run_queue=$(total_ms "$BATS_TEST_TMPDIR/$tier" run_queue_ns)
        lost=$(total_ms "$BATS_TEST_TMPDIR/$tier" unaccounted_ns)
        echo "$tier: of $elapsed ms on a CPU $cpu, run queue $run_queue, unaccounted $lost"
        [ "$elapsed" -ge 2000 ]
        # It never sleeps, so all of its time is one or the other. A wait is seen from the first sample in it on.
        [ $((lost * 10)) -le "$elapsed" ]
        [ $(((cpu + run_queue) * 10)) -ge $((elapsed * 9)) ]
    done
}
