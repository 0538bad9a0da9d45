#!/usr/bin/env bats
# Sessions of PostgreSQL and MariaDB by wait event: time belongs to the event in which it passed.

bats_require_minimum_version 1.5.0
load lib
load ../commands/children

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on deadlock_timeout=600s # which would divide a wait for a lock in two sleeps
    query_postgres 'create table t (a int primary key, b int); insert into t values (1, 1)'
    export PG_FOLDER PG_PID PG
}

teardown_file() { servers_end; }
setup() { ! is_file_skipped || skip "$SKIP_FILE"; }
teardown() {
    is_file_skipped || end_sessions
    end_children KILL
}

waits_for_lock() {
    [ "$(query_postgres "select wait_event_type from pg_stat_activity where application_name = '$1'")" = Lock ]
}

# A session that holds the lock of a row, and sleeps; one that waits for the lock; and one that is idle.
start_sessions() {
    start_session holder 'begin; update t set b = 2 where a = 1; select pg_sleep(600)'
    until_it eval '[ "$(query_postgres "select wait_event from pg_stat_activity where application_name = '"'holder'"'")" = PgSleep ]'
    start_session waiter 'update t set b = 3 where a = 1'
    until_it waits_for_lock waiter
}

@test 'wait events: the rows of --group wait_event have the time in each event, on each tier, and add up' {
    start_sessions
    for tier in $(tiers_here "postgres:$PG"); do
        until_it has_backends 2
        run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --tier "$tier" --group wait_event --count 1 --interval 1s --format json
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1])
wall = 1e9 * frame["interval_s"]
assert frame["summary"]["entities"] == 2, frame["summary"]
rows = {row["name"]: row for row in frame["entities"]}
assert 1.8 * wall < sum(row["elapsed_ns"] for row in rows.values()) < 2.2 * wall, rows
for name, state in ("Lock/transactionid", "contention_ns"), ("Timeout/PgSleep", "idle_ns"):
    row = rows[name]
    assert row["labels"]["wait_event"] == name and row["count"] == 1, row
    assert row["states"][state] == row["elapsed_ns"] > 0.8 * wall, row
for row in rows.values():
    assert abs(row["unaccounted_ns"]) < 0.2 * wall, row' "$output"
    done
}

@test 'wait events: a row has the other labels of its session, and a lock its blocker' {
    start_sessions
    run -0 --separate-stderr "$CAMP" record --from "postgres:$PG" --group wait_event --count 2 --interval 500ms \
        --output "$BATS_TEST_TMPDIR/events.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/events.camp" --count 1 --format json --speed 0
    [[ $output == *'"name":"Lock/transactionid"'* ]]
    # A row of a group by another label has no event.
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --group application --count 1 --interval 500ms --format json
    [[ $output != *transactionid* ]]
    run -0 --separate-stderr "$CAMP" report --from "postgres:$PG" --picture ribbon --color-by wait_event --only application=waiter \
        --count 2 --interval 500ms --output "$BATS_TEST_TMPDIR/ribbon.svg"
    [ -s "$BATS_TEST_TMPDIR/ribbon.svg" ]
    run -0 --separate-stderr "$CAMP" report --from "postgres:$PG" --picture ribbon --color-by wait_event \
        --count 2 --interval 500ms --output "$BATS_TEST_TMPDIR/ribbon.svg"
    grep -q 'Lock/transactionid' "$BATS_TEST_TMPDIR/ribbon.svg"
}

@test 'wait events: a recording of whole sessions has none, and says so' {
    start_sessions
    run -0 --separate-stderr "$CAMP" record --from "postgres:$PG" --count 2 --interval 200ms --output "$BATS_TEST_TMPDIR/whole.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --group wait_event --count 1 --speed 0
    [[ $stderr == 'camp top: --group wait_event: this has whole sessions, without their wait events: record them with camp record --group wait_event' ]]
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --filter no_such_name --count 1 --speed 0
    [[ $output == *'no row: no name matches --filter, and no value of a label: user, database, application, '* ]]
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --filter '^client_backend$' --count 1 --speed 0
    [[ $output != *'no row'* ]]
}

has_bpf() { [[ " $(tiers_here "postgres:$PG" | tr '\n' ' ') " == *' bpf '* ]]; }

# start_camp [OPTION...]: reads how long waits last, all the time. The frames are lines of $FRAMES.
start_camp() {
    FRAMES=$BATS_TEST_TMPDIR/frames
    "$CAMP" top --from "postgres:$PG" --why --interval 500ms --format json "$@" >"$FRAMES" 3>&- &
    CAMP_PID=$!
    until_it has_frames 1
}

has_frames() { [ "$(wc -l <"$FRAMES")" -ge "$1" ]; }

# Two more frames have all that has happened.
end_camp() {
    until_it has_frames $(($(wc -l <"$FRAMES") + 2))
    kill -TERM "$CAMP_PID"
    wait "$CAMP_PID"
}

# bats test_tags=law
@test 'lengths of waits: a hundred sleeps of 10 ms are that, by event, application and statement' {
    has_bpf || skip 'needs tier bpf'
    for group in wait_event application query; do
        start_camp --group "$group" --background
        start_session sleeper "do \$\$ begin for i in 1..100 loop perform pg_sleep(0.01); end loop; end \$\$"
        wait "$SESSION_PID"
        end_camp
        python3 -c '
import json, sys
group, counts, longest, ns, time = sys.argv[2], {}, 0, 0, 0
named = {"wait_event": "Timeout/PgSleep", "application": "sleeper"}
for line in open(sys.argv[1]):
    for row in json.loads(line)["entities"]:
        counters = row["counters"]
        if counters["waits"] == 0:
            assert counters["waits_max_ns"] is None and row["waits_p50_ns"] is None, row
        if group == "query" and row["name"].startswith("("):
            continue
        if row["name"] != named.get(group, row["name"]):
            continue
        for n in range(10, 41):
            counts[n] = counts.get(n, 0) + counters[f"waits_log2_{n}"]
        longest = max(longest, counters["waits_max_ns"] or 0)
        ns += counters["waits_ns"]
        time += row["elapsed_ns"]
print(group, {n: count for n, count in counts.items() if count}, longest)
if group == "wait_event": # pg_sleep() is idle, so only its own rows have its lengths
    assert sum(counts.values()) == 100, counts
    below, bucket = 0, 10
    while below + counts[bucket] < 50:
        below, bucket = below + counts[bucket], bucket + 1
    assert bucket == 23, (bucket, counts) # 8.4 to 16.8 ms
    assert abs(ns - time) < 0.01 * time, (ns, time)
    assert 10e6 <= longest <= ns, (longest, ns)
else:
    assert counts.get(23, 0) < 50, counts' "$FRAMES" "$group"
    done
}

# bats test_tags=law
@test 'lengths of waits: a lock that is held for a time known to both sides is one wait of that length' {
    has_bpf || skip 'needs tier bpf'
    for group in wait_event application query; do
        start_camp --group "$group"
        start_session holder "begin; update t set b = 2 where a = 1; select pg_sleep(600)"
        until_it eval '[ "$(query_postgres "select wait_event from pg_stat_activity where application_name = '"'holder'"'")" = PgSleep ]'
        started=$(date +%s%N)
        start_session waiter 'update t set b = 3 where a = 1'
        until_it waits_for_lock waiter
        seen=$(date +%s%N)
        sleep 0.3
        freed=$(date +%s%N)
        query_postgres "select pg_cancel_backend($(backend_of holder))"
        wait "$SESSION_PID"
        ended=$(date +%s%N)
        end_camp
        end_sessions
        python3 -c '
import json, sys
group, started, seen, freed, ended = sys.argv[2], *map(int, sys.argv[3:])
waits = ns = contention = 0
for line in open(sys.argv[1]):
    for row in json.loads(line)["entities"]:
        counters = row["counters"]
        contention += row["states"]["contention_ns"]
        if row["name"] == {"wait_event": "Lock/transactionid", "application": "waiter"}.get(group, row["name"]) \
                and row["states"]["contention_ns"] + counters["waits"] > 0 and (counters["waits_max_ns"] or 0) > 2e8:
            waits, ns, longest = waits + 1, ns + counters["waits_max_ns"], counters
print(group, waits, ns)
assert waits == 1, waits
assert freed - seen <= ns <= ended - started, (freed - seen, ns, ended - started)
assert abs(ns - contention) < 0.01 * contention, (ns, contention)
n = ns.bit_length() - 1
assert longest[f"waits_log2_{n}"] == 1, (n, longest)
assert freed <= longest["waits_max_wall_clock_ns"] + 5e6 and longest["waits_max_wall_clock_ns"] <= ended + 5e6, (freed, longest, ended)
assert longest["waits_max_id"] > 0' "$FRAMES" "$group" "$started" "$seen" "$freed" "$ended"
    done
}

# bats test_tags=law
@test 'lengths of waits: those of TPC-B add up to the time in each event' {
    has_bpf || skip 'needs tier bpf'
    start_pgbench 8 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 8 ]'
    start_camp --group wait_event
    until_it has_frames 12
    end_camp
    python3 -c '
import collections, json, sys
time, ns, count, longest = (collections.Counter() for _ in range(4))
for line in open(sys.argv[1]):
    for row in json.loads(line)["entities"]:
        name, counters = row["name"], row["counters"]
        time[name] += row["elapsed_ns"]
        ns[name] += counters["waits_ns"]
        count[name] += counters["waits"]
        longest[name] = max(longest[name], counters["waits_max_ns"] or 0)
for name in time:
    print(name, count[name], f"{ns[name] / 1e9:.3f} of {time[name] / 1e9:.3f} s, longest {longest[name] / 1e6:.3f} ms")
assert count["Lock/transactionid"] > 20 and count["Client/ClientRead"] > 20, count
for name in "Lock/transactionid", "Client/ClientRead":
    # Each session may be in a sleep at the beginning and at the end.
    assert abs(ns[name] - time[name]) <= 0.01 * time[name] + 16 * longest[name], (name, ns[name], time[name])
assert abs(sum(ns[name] for name in time if name != "(none)") - sum(time[name] for name in time if name != "(none)")) \
    <= 0.01 * sum(time.values()), (ns, time)' "$FRAMES"
}

@test 'lengths of waits: a recording has them, and adds them up by any label' {
    has_bpf || skip 'needs tier bpf'
    start_pgbench 4 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 4 ]'
    run -0 "$CAMP" record --from "postgres:$PG" --why --count 4 --interval 500ms --output "$BATS_TEST_TMPDIR/run.camp"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --group application --count 1 --format json --speed 0
    whole=$output
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --count 1 --format json --speed 0
    python3 -c '
import json, sys
whole = [row for row in json.loads(sys.argv[1])["entities"] if row["name"] == "pgbench"]
rows = [row for row in json.loads(sys.argv[2])["entities"] if row["labels"]["application"] == "pgbench"]
assert len(whole) == 1 and len(rows) == 4, (whole, rows)
for name in ["waits", "waits_ns"] + [f"waits_log2_{n}" for n in range(10, 41)]:
    assert whole[0]["counters"][name] == sum(row["counters"][name] for row in rows), name
longest = max(row["counters"]["waits_max_ns"] or 0 for row in rows)
assert whole[0]["counters"]["waits_max_ns"] == longest > 0, whole
assert whole[0]["counters"]["waits_max_id"] in [row["id"] for row in rows if row["counters"]["waits_max_ns"] == longest]
assert 0 < whole[0]["waits_p50_ns"] <= whole[0]["waits_p99_ns"] <= longest, whole' "$whole" "$output"
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --group application --count 1 --speed 0
    [[ $output == *' waits    p50 ms    p99 ms     max ms   max id'* ]]
}

@test 'lengths of waits: camp why has them by event, live and from a recording' {
    has_bpf || skip 'needs tier bpf'
    start_pgbench 4 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 4 ]'
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 2s --format json
    live=$output
    run -0 --separate-stderr "$CAMP" why --from "postgres:$PG" --count 1 --interval 2s --format csv --table waits
    [[ ${lines[0]} == *,wait_event,state,time_ns,waits,waits_ns,p50_ns,p99_ns,max_ns,max_pid ]]
    run -0 "$CAMP" record --from "postgres:$PG" --why --group wait_event --count 4 --interval 500ms --output "$BATS_TEST_TMPDIR/events.camp"
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/events.camp" --format json
    by_event=$output
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/events.camp" --format json --speed 0
    frames=$output
    python3 -c '
import collections, json, sys
live, by_event, frames = sys.argv[1:]
for record in json.loads(live), json.loads(by_event):
    [row] = [row for row in record["waits"] if row["wait_event"] == "Client/ClientRead"]
    assert row["waits"] > 0 and 0 < row["p50_ns"] <= row["p99_ns"] <= row["max_ns"] <= row["waits_ns"], row
    assert row["max_pid"] > 0, row
# A recording by event adds up to its rows.
waits, ns = collections.Counter(), collections.Counter()
for line in frames.splitlines():
    for row in json.loads(line)["entities"]:
        name = None if row["name"] == "(none)" else row["name"]
        waits[name] += row["counters"]["waits"]
        ns[name] += row["elapsed_ns"]
for row in json.loads(by_event)["waits"]:
    assert (row["waits"], row["time_ns"]) == (waits[row["wait_event"]], ns[row["wait_event"]]), (row, waits, ns)
assert json.loads(by_event)["known_ns"] is None' "$live" "$by_event" "$frames"
    run -0 --separate-stderr "$CAMP" top --from "postgres:$PG" --why --group root_blocker --count 1 --interval 1s --format json
    python3 -c '
import json, sys
for row in json.loads(sys.argv[1])["entities"]:
    assert row["counters"]["waits"] is None and row["waits_p50_ns"] is None, row' "$output"
    run -2 "$CAMP" top --why --from "$BATS_TEST_TMPDIR/events.camp"
    [[ $output == 'camp top: --why measures now, and '*' is a recording: give camp why --from '*'; if it is of sessions, leave out --why to see '* ]]
}

# frames_of FILE [OPTION...]: prints all intervals of a recording.
frames_of() {
    run -0 --separate-stderr "$CAMP" top --from "$@" --format json --speed 0
    [ -z "$stderr" ]
}

@test 'lengths of waits: a recording of whole sessions has their blockers, and their waits by event beside them' {
    has_bpf || skip 'needs tier bpf'
    start_sessions
    start_pgbench 4 600
    until_it eval '[ "$(backend_of pgbench | wc -l)" = 4 ]'
    run -0 "$CAMP" record --from "postgres:$PG" --why --count 6 --interval 500ms --output "$BATS_TEST_TMPDIR/whole.camp"
    frames_of "$BATS_TEST_TMPDIR/whole.camp"
    whole=$output
    frames_of "$BATS_TEST_TMPDIR/whole.camp" --group application,wait_event
    by_event=$output
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/whole.camp" --format json
    python3 -c '
import collections, json, sys
whole, by_event = ([json.loads(line) for line in text.splitlines()] for text in sys.argv[1:3])
why, time, waits = json.loads(sys.argv[3]), collections.Counter(), collections.Counter()
assert len(whole) == len(by_event) == 6
for sessions, events in zip(whole, by_event):
    assert events["summary"]["entities"] == sessions["summary"]["entities"] == len(sessions["entities"])
    of, in_states = collections.Counter(), collections.Counter()
    for sign, frame in (1, sessions), (-1, events):
        for row in frame["entities"]:
            application = row["labels"]["application"]
            of[application] += sign * row["elapsed_ns"]
            for name, ns in row["states"].items():
                in_states[application, name] += sign * ns
    # The parts of each application add up to its sessions, in each state: exactly, but for idle rows that are restored.
    assert of["pgbench"] == 0 and not any(in_states["pgbench", name] for name in row["states"]), (of, in_states)
    assert max(map(abs, [*of.values(), *in_states.values()])) < 1e6, (of, in_states)
    for row in events["entities"]:
        time[row["labels"].get("wait_event") or None] += row["elapsed_ns"]
        waits[row["labels"].get("wait_event") or None] += row["counters"]["waits"]
    [waiter] = [row for row in sessions["entities"] if row["labels"]["application"] == "waiter"]
    [holder] = [row for row in sessions["entities"] if row["labels"]["application"] == "holder"]
    assert waiter["labels"]["blocker"] == str(holder["id"]), waiter
    names = {row["labels"].get("wait_event") for row in events["entities"] if row["labels"]["application"] == "waiter"}
    assert "Lock/transactionid" in names, names
assert waits["Client/ClientRead"] > 20, waits
# camp why has both.
assert why["tree"][0]["application"] == "holder" and why["tree"][1]["application"] == "waiter", why["tree"]
for row in why["waits"]:
    assert (row["time_ns"], row["waits"]) == (time[row["wait_event"]], waits[row["wait_event"]]), (row, time, waits)
[row] = [row for row in why["waits"] if row["wait_event"] == "Client/ClientRead"]
assert 0 < row["p50_ns"] <= row["p99_ns"] <= row["max_ns"] and row["max_pid"] > 0, row' "$whole" "$by_event" "$output"
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --group wait_event --count 1 --speed 0
    [[ ${lines[0]} == *' 6 sessions' ]]
    # A copy has both, too, and so has a set of files.
    run -0 "$CAMP" record --from "$BATS_TEST_TMPDIR/whole.camp" --output "$BATS_TEST_TMPDIR/copy.camp"
    frames_of "$BATS_TEST_TMPDIR/copy.camp" --group application,wait_event
    [ "$output" = "${by_event//whole.camp/copy.camp}" ]
    run -0 "$CAMP" record --from "$BATS_TEST_TMPDIR/whole.camp" --rotate 1s --output "$BATS_TEST_TMPDIR/set.camp"
    [ "$(ls "$BATS_TEST_TMPDIR"/set-*.camp | wc -l)" -gt 1 ]
    frames_of "$BATS_TEST_TMPDIR/set.camp" --group application,wait_event
    [ "$output" = "${by_event//whole.camp/set.camp}" ]
    frames_of "$BATS_TEST_TMPDIR/set.camp"
    [ "$output" = "${whole//whole.camp/set.camp}" ]
}

@test 'lengths of waits: a recording of whole sessions has those of one session of all events together' {
    has_bpf || skip 'needs tier bpf'
    start_sessions
    run -0 "$CAMP" record --from "postgres:$PG" --why --count 2 --interval 500ms --output "$BATS_TEST_TMPDIR/whole.camp"
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/whole.camp" waiter --format json
    [[ $output == *'"wait_event":"Lock/transactionid"'* && $output != *PgSleep* ]]
    run -0 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/whole.camp" "$(backend_of waiter)"
    [[ $output == *'(all events)'* && $output == *'a recording has those of each event by application, not by session.'* ]]
    run -2 "$CAMP" top --from "$BATS_TEST_TMPDIR/whole.camp" --group wait_event,blocker --speed 0
    [ "$output" = "camp top: --group wait_event,blocker: a recording of whole sessions has their wait events without blocker; group by one of the two" ]
}

@test 'lengths of waits: where a tier cannot know them, one line says so' {
    for tier in schedstat+memory schedstat+SQL SQL; do
        run --separate-stderr "$CAMP" top --from "postgres:$PG" --why --tier "$tier" --count 1
        [ "$status" -ne 0 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run "$CAMP" top --from "postgres:$PG" --why --tier SQL --count 1
    [[ $output == 'camp top: --why: how long a wait lasts is seen only on tier bpf'* ]]
    run -2 "$CAMP" top --from mariadb:socket=/nowhere --why --count 1
    [ "$output" = 'camp top: --why is for the threads of this machine and sessions of PostgreSQL: it does not go with --from mariadb:...' ]
    run -2 "$CAMP" record --from mariadb:socket=/nowhere --why --output "$BATS_TEST_TMPDIR/no.camp"
    [[ $output == 'camp record: --why goes with --from '*' and postgres:; '* ]]
    run -2 "$CAMP" record --from "postgres:$PG" --why --why-of web --output "$BATS_TEST_TMPDIR/no.camp"
    [ "$output" = 'camp record: --why-of and --why-by are for threads: sessions are divided by --group' ]
}

@test 'wait events: sessions of MariaDB are divided by their events, too' {
    start_mariadb
    prepare_mariadb sleeper
    open_mariadb sleeper
    until_it has_mariadb sleeper
    say sleeper 'select sleep(600);'
    until_it is_seen sleeper 'User sleep'
    for tier in bpf schedstat+SQL SQL; do
        run "$CAMP" top --from "mariadb:socket=$MARIADB_SOCKET user=camp" --tier "$tier" --group wait_event --count 2 --interval 1s --format json
        [ "$status" = 0 ] || continue
        python3 -c '
import json, sys
frame = json.loads(sys.argv[1].splitlines()[-1])
wall = 1e9 * frame["interval_s"]
[row] = [row for row in frame["entities"] if row["name"].endswith("User_sleep")]
assert row["labels"]["wait_event"] == row["name"], row
assert 0.8 * wall < row["states"]["idle_ns"] == row["elapsed_ns"] < 1.2 * wall, row' "$output"
        tried=$tier
    done
    [ "$tried" = SQL ]
}
