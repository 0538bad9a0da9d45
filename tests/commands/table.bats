#!/usr/bin/env bats
# --from data.csv, --from - and --from sqlite:FILE: tables of time, entity and numbers.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    TABLES=${CAMP_FIXTURES:-$BATS_TEST_DIRNAME/../fixtures}/table
    OUTPUT=$BATS_TEST_TMPDIR/x.camp
    export TZ=UTC
}

record() {
    "$CAMP" record --output "$OUTPUT" "$@"
}

ask() {
    sqlite3 "$OUTPUT" "$1"
}

@test "the fixtures are what their script makes" {
    "$TABLES/make.py" "$BATS_TEST_TMPDIR"
    for table in "$TABLES"/*.csv; do cmp "$table" "$BATS_TEST_TMPDIR/${table##*/}"; done
    [ "$(find "$TABLES" -name '*.csv' | wc -l)" = "$(find "$BATS_TEST_TMPDIR" -name '*.csv' | wc -l)" ]
}

@test "sessions of a database are recorded, with the time that is missing" {
    run -0 record --from "$TABLES/sessions3.csv"
    [[ $output == *"120 intervals, 7200 rows"* ]]
    [ "$(ask 'SELECT count(*) FROM entity')" = 60 ]
    [ "$(ask "SELECT DISTINCT unaccounted_ns FROM \"table\" JOIN entity USING (entity)
              WHERE name = 'miss1'")" = 150000000 ]
    [ "$(ask "SELECT DISTINCT datetime(min(wall_clock_ns) / 1000000000, 'unixepoch') FROM tick")" \
        = '2008-11-22 02:00:01' ]
}

@test "standard input is a table" {
    run -0 record --from - <"$TABLES/sessions4.csv"
    [[ $output == *"120 intervals, 7200 rows"* ]]
    rm "$OUTPUT"
    run -0 bash -c "tail -n +1 '$TABLES/owi.csv' | '$CAMP' record --from - --output '$OUTPUT'"
    [[ $output == *"210 intervals, 210 rows"* ]]
    run -2 record --from - --begin 02:00 <"$TABLES/sessions4.csv"
    [[ $output == *"standard input is read once"* ]]
}

@test "a query of a recording is a table again" {
    record --from "$TABLES/sessions4.csv"
    mv "$OUTPUT" "$BATS_TEST_TMPDIR/first.camp"
    run -0 record --from "sqlite:$BATS_TEST_TMPDIR/first.camp" --query '
        SELECT wall_clock_ns AS time, name, cpu_ns, io_ns, lock_ns, idle_ns
        FROM "table" JOIN tick USING (tick) JOIN entity USING (entity)
        WHERE name LIKE "drift%" OR name LIKE "miss%" ORDER BY random()'
    [[ $output == *"120 intervals, 1080 rows"* ]]
    [ "$(ask "SELECT DISTINCT unaccounted_ns FROM \"table\" JOIN entity USING (entity)
              WHERE name = 'miss3'")" = 150000000 ]
}

@test "a part of a table is taken" {
    run -0 record --from "$TABLES/sessions3.csv" --begin 2008-11-22T02:01:00 --end +90s
    [[ $output == *"30 intervals, 1800 rows"* ]]
}

@test "what was passed over and what was guessed is told beside a picture" {
    sed '7s/.*/1227319201,idle5,abc,0,0/' "$TABLES/sessions3.csv" >"$BATS_TEST_TMPDIR/x.csv"
    "$CAMP" report --from "$BATS_TEST_TMPDIR/x.csv" --picture barry3 \
        --output "$BATS_TEST_TMPDIR/x.svg"
    grep -q "line 7: .*abc.* is no number; 1 of 7200 rows passed over" "$BATS_TEST_TMPDIR/x.svg"
    "$CAMP" report --from "$TABLES/sessions3.csv" --picture barry3 --output "$BATS_TEST_TMPDIR/x.svg"
    grep -q "values taken as ms" "$BATS_TEST_TMPDIR/x.svg"
}

@test "semicolons and tabs divide columns as commas do" {
    for table in comma-names tabs; do
        run -0 record --from "$TABLES/$table.csv"
        [[ $output == *": 2 intervals, 2 rows"* ]]
        [ "$(ask 'SELECT cpu_ns FROM "table" WHERE tick = 2')" = 500000000 ]
        names+=$(ask 'SELECT name FROM entity')/
        rm "$OUTPUT"
    done
    [ "$names" = $'147,23\n147,24/a, b; c/' ]
}

@test "what is no table is told in one line" {
    for bad in empty header-only no-header no-numbers one-column two-separators decimal-comma \
        utf-16; do
        run -1 --separate-stderr record --from "$TABLES/$bad.csv"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp record: "*"$bad.csv"* ]]
    done
    run -1 record --from "$TABLES/none.csv"
    [[ $output == *"none.csv: No such file or directory"* ]]
    run -2 record --from "$TABLES/sessions3.csv" --unit days
    [[ $output == *"there is no unit 'days'; it takes ns, us, ms, s, percent or share"* ]]
}

@test "what cannot be asked is told, and nothing is written" {
    sqlite3 "$BATS_TEST_TMPDIR/x.db" 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db"
    [[ $output == *"--query"* ]]
    run -2 record --query 'SELECT a FROM t'
    [[ $output == "camp record: --query goes with --from sqlite:FILE, odbc:DSN or prometheus:URL, not with --from threads" ]]
    run -2 record --from "$TABLES/sessions3.csv" --query 'SELECT a FROM t'
    [[ $output == *"--query goes with --from sqlite:FILE"* ]]
    run -2 record --from cpus --unit ms --count 1
    [[ $output == "camp record: --unit is of the numbers in a table; --from cpus says its own" ]]
    [ ! -e "$OUTPUT" ]
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db" --query 'SELECT b FROM t'
    [[ $output == *"SQLite: no such column: b"* ]]
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db" --query 'DELETE FROM t RETURNING a, a'
    [[ $output == *"takes a statement that reads"* ]]
    [ "$(sqlite3 "$BATS_TEST_TMPDIR/x.db" 'SELECT count(*) FROM t')" = 1 ]
}
