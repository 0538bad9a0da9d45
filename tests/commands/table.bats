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

@test "the CSV files of the test fixtures equal the output of make.py" {
    "$TABLES/make.py" "$BATS_TEST_TMPDIR"
    for table in "$TABLES"/*.csv; do cmp "$table" "$BATS_TEST_TMPDIR/${table##*/}"; done
    [ "$(find "$TABLES" -name '*.csv' | wc -l)" = "$(find "$BATS_TEST_TMPDIR" -name '*.csv' | wc -l)" ]
}

@test "camp reads a tab-separated table from .tsv and .txt like a .csv file" {
    run -0 record --from "$TABLES/sessions3.csv"
    expected=$(sqlite3 -readonly "$OUTPUT" 'SELECT * FROM table_every')
    [ -n "$expected" ]
    for ending in tsv txt TSV; do
        tr ',' '\t' <"$TABLES/sessions3.csv" >"$BATS_TEST_TMPDIR/x.$ending"
        run -0 record --force --from "$BATS_TEST_TMPDIR/x.$ending"
        [ "$(sqlite3 -readonly "$OUTPUT" 'SELECT * FROM table_every')" = "$expected" ]
    done
}

@test "camp record stores the unaccounted time of each session of a table" {
    run -0 record --from "$TABLES/sessions3.csv"
    [[ $output == *"120 intervals, 7200 rows"* ]]
    [ "$(ask 'SELECT count(*) FROM entity')" = 60 ]
    [ "$(ask "SELECT DISTINCT unaccounted_ns FROM \"table\" JOIN entity USING (entity)
              WHERE name = 'miss1'")" = 150000000 ]
    [ "$(ask "SELECT DISTINCT datetime(min(wall_clock_ns) / 1000000000, 'unixepoch') FROM tick")" \
        = '2008-11-22 02:00:01' ]
}

@test "camp reads a table from standard input" {
    run -0 record --from - <"$TABLES/sessions4.csv"
    [[ $output == *"120 intervals, 7200 rows"* ]]
    rm "$OUTPUT"
    run -0 bash -c 'tail -n +1 "$1" | "$0" record --from - --output "$2"' "$CAMP" "$TABLES/owi.csv" "$OUTPUT"
    [[ $output == *"210 intervals, 210 rows"* ]]
    run -2 record --from - --begin 02:00 <"$TABLES/sessions4.csv"
    [[ $output == *"--begin does not go with --from -; it goes with demo, FILE.camp, "* ]]
}

@test "camp reads the result of an SQL query on a recording as a table" {
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

@test "--begin and --end select a part of a table" {
    run -0 record --from "$TABLES/sessions3.csv" --begin 2008-11-22T02:01:00 --end +90s
    [[ $output == *"30 intervals, 1800 rows"* ]]
}

@test "a picture of a table has a note about skipped rows or about a guessed unit" {
    sed '7s/.*/1227319201,idle5,abc,0,0/' "$TABLES/sessions3.csv" >"$BATS_TEST_TMPDIR/x.csv"
    "$CAMP" report --from "$BATS_TEST_TMPDIR/x.csv" --picture barry3 \
        --output "$BATS_TEST_TMPDIR/x.svg"
    grep -q "line 7: .*abc.* is no number; 1 of 7200 rows skipped" "$BATS_TEST_TMPDIR/x.svg"
    "$CAMP" report --from "$TABLES/sessions3.csv" --picture barry3 --output "$BATS_TEST_TMPDIR/x.svg"
    grep -q "values taken as ms" "$BATS_TEST_TMPDIR/x.svg"
}

@test "the message about a cell that is not a number names the line and the column" {
    printf 'time,entity,busy,idle\n1,a,5,5\n2,a,x,5\n' >"$BATS_TEST_TMPDIR/x.csv"
    for words in "top --format csv" "record --output $BATS_TEST_TMPDIR/x.camp" \
        "report --output $BATS_TEST_TMPDIR/x.html"; do
        # shellcheck disable=SC2086 # words
        run -0 --separate-stderr "$CAMP" $words --from "$BATS_TEST_TMPDIR/x.csv"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp ${words%% *}: line 3: busy: 'x' is no number; 1 of 2 rows skipped"* ]]
    done
    run -0 --separate-stderr "$CAMP" top --from "$BATS_TEST_TMPDIR/x.csv" --count 1
    [[ ${lines[2]} == *"busy%"*"idle%"* ]]
    [[ $output != *"skipped"* ]] # the message is only on stderr
}

@test "camp reads tables that are separated by semicolons or by tabs" {
    for table in comma-names tabs; do
        run -0 record --from "$TABLES/$table.csv"
        [[ $output == *": 2 intervals, 2 rows"* ]]
        [ "$(ask 'SELECT cpu_ns FROM "table" WHERE tick = 2')" = 500000000 ]
        names+=$(ask 'SELECT name FROM entity')/
        rm "$OUTPUT"
    done
    [ "$names" = $'147,23\n147,24/a, b; c/' ]
}

@test "camp reports in one line that a file is not a table" {
    for bad in empty header-only no-header no-numbers one-column two-separators decimal-comma \
        utf-16; do
        run -1 --separate-stderr record --from "$TABLES/$bad.csv"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp record: "*"$bad.csv"* ]]
    done
    run -1 record --from "$TABLES/none.csv"
    [[ $output == *"none.csv: No such file or directory"* ]]
    run -2 record --from "$TABLES/sessions3.csv" --unit days
    [[ $output == *"there is no unit 'days'; the units are ns, us, ms, s, percent and share"* ]]
}

@test "camp record refuses a wrong --query and writes no file" {
    sqlite3 "$BATS_TEST_TMPDIR/x.db" 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db"
    [[ $output == *"--query"* ]]
    run -2 record --query 'SELECT a FROM t'
    [[ $output == "camp record: --query does not go with --from threads; it goes with sqlite:FILE, odbc:DSN or prometheus:URL" ]]
    run -2 record --from "$TABLES/sessions3.csv" --query 'SELECT a FROM t'
    [[ $output == *"--query does not go with --from $TABLES/sessions3.csv;"* ]]
    run -2 record --from cpus --unit ms --count 1
    [[ $output == "camp record: --unit does not go with --from cpus; it goes with FILE.csv, "* ]]
    [ ! -e "$OUTPUT" ]
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db" --query 'SELECT b FROM t'
    [[ $output == *"SQLite: no such column: b"* ]]
    run -2 record --from "sqlite:$BATS_TEST_TMPDIR/x.db" --query 'DELETE FROM t RETURNING a, a'
    [[ $output == *"takes a statement that reads"* ]]
    [ "$(sqlite3 "$BATS_TEST_TMPDIR/x.db" 'SELECT count(*) FROM t')" = 1 ]
}

@test "the sample data equals the output of make.py --demo" {
    sample=$BATS_TEST_DIRNAME/../../share/camp/demo/sessions.csv
    "$TABLES/make.py" --demo | cmp - "$sample"
}

@test "the sample data is smaller than 300 KB" {
    sample=$BATS_TEST_DIRNAME/../../share/camp/demo/sessions.csv
    [ "$(stat -c %s "$sample")" -lt 300000 ]
}

@test "camp finds the sample data from any folder" {
    cd /
    run -0 --separate-stderr "$CAMP" top --from demo --count 1 --top 4 --sort unaccounted
    [[ ${lines[0]} == *'demo  tier table  60 entities' ]]
    [[ ${lines[3]} == miss1*' 15.0 ' ]]
    [[ ${lines[6]} == over1*'-12.0!' ]]
    [[ $output == *'60 synthetic sessions'*'miss1 to miss3 leave 150 ms'*'over1 accounts 120 ms twice'* ]]
    run -0 record --from demo
    [ "$(ask 'SELECT count(*), sum(unaccounted_ns) / 1000000 FROM table_every')" = "7200|$((120 * (450 - 120)))" ]
}

@test "camp view --demo serves the sample data" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    "$CAMP" view --demo >"$BATS_TEST_TMPDIR/pipe" 3>&- &
    viewer=$!
    read -r address <"$BATS_TEST_TMPDIR/pipe"
    stream=$(mktemp -p "$BATS_TEST_TMPDIR")
    curl --silent --max-time 2 --header "Authorization: Bearer ${address##*#}" \
        "${address%%#*}stream" >"$stream" || true
    kill "$viewer"
    wait "$viewer"
    grep -aq miss1 "$stream"
}

@test "camp view refuses --demo together with --from" {
    run -2 --separate-stderr "$CAMP" view --demo --from cpus
    [ "$stderr" = 'camp view: --demo is the same as --from demo: give either --demo or --from cpus' ]
}

@test "the error about missing sample data names the places that camp searched" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cp "$CAMP" "$BATS_TEST_TMPDIR/bin/camp"
    run -1 --separate-stderr "$BATS_TEST_TMPDIR/bin/camp" top --from demo --count 1
    [[ $stderr == *'the sample data is not installed'*'share/camp/demo/sessions.csv' ]]
    mkdir -p "$BATS_TEST_TMPDIR/share/camp/demo"
    cp "$BATS_TEST_DIRNAME/../../share/camp/demo/sessions.csv" "$BATS_TEST_TMPDIR/share/camp/demo/"
    run -0 "$BATS_TEST_TMPDIR/bin/camp" top --from demo --count 1
}

@test "--tier is refused for the sample data" {
    run -2 --separate-stderr "$CAMP" top --from demo --tier bpf
    [[ $stderr == *'--tier does not go with --from demo; it goes with threads, '* ]]
}
