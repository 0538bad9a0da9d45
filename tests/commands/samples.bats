#!/usr/bin/env bats
# Tables of samples of sessions, in the shapes of several servers and tools. tests/fixtures/samples/make.py says what the
# sessions did.

bats_require_minimum_version 1.5.0

setup() {
    SAMPLES=$CAMP_FIXTURES/samples
    export TZ=UTC
}

# sums FILE OPTION...: the seconds of each state of all rows with this label or name, over all intervals.
sums() {
    "$CAMP" top --from "$@" --format json | python3 -c '
import json, sys
sums = {}
for frame in map(json.loads, sys.stdin):
    for row in frame["entities"]:
        states = sums.setdefault(row["name"], {})
        for name, ns in row["states"].items():
            states[name] = states.get(name, 0) + ns
        states["unaccounted_ns"] = states.get("unaccounted_ns", 0) + row["unaccounted_ns"]
for name in sorted(sums):
    print(name, *(f"{state.removesuffix(chr(95) + chr(110) + chr(115))}={ns / 1e9:g}"
                  for state, ns in sums[name].items() if ns))'
}

@test "samples: statements have the times of their samples in each shape" {
    run -0 sums "$SAMPLES/oracle_ash.csv" --group query
    [ "$output" = '(none) idle=29
0ww6v7bqhhvw8 cpu=15 contention=45 wait=30
7h35uxf5uhmm1 cpu=60
8szmwam7fysa3 wait=30' ]
    for shape in pgsentinel pg_ash performance_insights; do
        factor=1
        [ $shape != performance_insights ] || factor=2 # the minute twice
        run -0 sums "$SAMPLES/$shape.csv" --group query
        expected="4001 cpu=$((60 * factor))
4002 cpu=$((15 * factor)) contention=$((45 * factor)) wait=$((30 * factor))
4003 wait=$((30 * factor))"
        [ $shape != pgsentinel ] || expected="(none) idle=29"$'\n'$expected
        echo "$shape: $output"
        [ "$output" = "$expected" ]
    done
}

@test "samples: the history of ten seconds has the times of every tenth sample" {
    run -0 sums "$SAMPLES/oracle_dba_hist.csv" --group application
    [ "$output" = 'late.exe wait=30
load.exe cpu=60
queue.exe cpu=30 contention=30' ]
}

@test "samples: --detail shows the columns of the rules, and --rules reads others" {
    run -0 sums "$SAMPLES/oracle_ash.csv" --group application --detail
    echo "$output"
    [[ $output == *'queue.exe cpu=15 contention_row_lock=45'* ]]
    printf 'idle all event=.*\n' >"$BATS_TEST_TMPDIR/all.rules"
    run -0 sums "$SAMPLES/oracle_ash.csv" --group application --rules "$BATS_TEST_TMPDIR/all.rules"
    [[ $output == *'queue.exe cpu=15 idle=45'* ]]
}

@test "samples: a recording and a query of samples have the same times" {
    "$CAMP" record --from "$SAMPLES/oracle_ash.csv" --output "$BATS_TEST_TMPDIR/ash.camp"
    run -0 sums "$SAMPLES/oracle_ash.csv"
    direct=$output
    run -0 sums "$BATS_TEST_TMPDIR/ash.camp"
    [ "$output" = "$direct" ]
    python3 - "$SAMPLES/oracle_ash.csv" "$BATS_TEST_TMPDIR/ash.sqlite" <<'END'
import csv, sqlite3, sys
rows = list(csv.reader(open(sys.argv[1], encoding='utf-8')))
file = sqlite3.connect(sys.argv[2])
file.execute(f'create table ash ({", ".join(chr(34) + name + chr(34) for name in rows[0])})')
file.executemany(f'insert into ash values ({", ".join("?" * len(rows[0]))})', rows[1:])
file.commit()
END
    run -0 sums "sqlite:$BATS_TEST_TMPDIR/ash.sqlite" --query 'select * from ash'
    [ "$output" = "$direct" ]
}

@test "samples: a picture has a dot for each session of the last moment" {
    "$CAMP" report --from "$SAMPLES/oracle_ash.csv" --picture barry3 --output "$BATS_TEST_TMPDIR/ash.svg"
    cat "$BATS_TEST_TMPDIR/ash.svg"
    for name in load.exe late.exe; do # queue.exe has the place of load.exe there
        grep -q "$name" "$BATS_TEST_TMPDIR/ash.svg"
    done
}

@test "samples: an option without a meaning is refused in one line" {
    run --separate-stderr "$CAMP" top --from "$SAMPLES/pg_ash.csv" --unit ms
    [ "$status" -eq 2 ]
    [[ $stderr == 'camp top: pg_ash.csv has samples of sessions, not times: leave out --unit' ]]
    printf 'time,a,b\n1,2,3\n' >"$BATS_TEST_TMPDIR/plain.csv"
    for option in --detail "--rules $BATS_TEST_TMPDIR/plain.csv"; do
        # shellcheck disable=SC2086  # two words
        run --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/plain.csv" $option
        [ "$status" -eq 2 ]
        [[ $stderr == "camp top: plain.csv has no samples of sessions (docs/tables.md), so ${option%% *} has no meaning" ]]
    done
}

@test "camp why says that recorded samples have no blockers, and what to record" {
    printf '%s\n' 'sample_time,pid,usename,wait_event_type,wait_event,state' '2026-11-30 10:00:00,1,bob,Lock,tuple,active' \
        '2026-11-30 10:00:01,1,bob,,,active' >"$BATS_TEST_TMPDIR/samples.csv"
    "$CAMP" record --from "$BATS_TEST_TMPDIR/samples.csv" --output "$BATS_TEST_TMPDIR/samples.camp"
    run -1 --separate-stderr "$CAMP" why --from "$BATS_TEST_TMPDIR/samples.camp"
    [[ $stderr == "camp why: "*"samples.camp (sessions) has no blockers: record the sessions with camp record --from postgres:CONNINFO or mariadb:CONNINFO" ]]
}
