#!/usr/bin/env bats
# A message about a file has the complete path, even the longest possible one.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
    FOLDER=$PWD/$(printf 'a%.0s' {1..150})/$(printf 'b%.0s' {1..150})
    mkdir -p "$FOLDER"
}

# complains STATUS FILE COMMAND...: the command prints one line on stderr, with the complete path FILE.
complains() {
    local wanted=$1 file=$2
    shift 2
    run --separate-stderr "$@"
    echo "status $status: $stderr"
    [ "$status" -eq "$wanted" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"$file"* ]]
}

@test "the error about a missing or damaged recording shows even a long path completely" {
    complains 1 "$FOLDER/none.camp" "$CAMP" top --from "$FOLDER/none.camp" --count 1
    echo "no database" >"$FOLDER/text.camp"
    complains 1 "$FOLDER/text.camp is not a recording" "$CAMP" top --from "$FOLDER/text.camp"
    sqlite3 "$FOLDER/other.camp" 'CREATE TABLE a(b)'
    complains 1 "$FOLDER/other.camp is not a recording of camp" \
        "$CAMP" record --info "$FOLDER/other.camp"
    complains 1 "$FOLDER: this folder has no rotated recordings" "$CAMP" report --from "$FOLDER" --output x.html
}

@test "the error about a missing table file shows even a long path completely" {
    complains 1 "$FOLDER/none.csv" "$CAMP" top --from "$FOLDER/none.csv"
    printf 'time,name\n1,a\n' >"$FOLDER/text.csv"
    complains 1 "text.csv has no column of numbers" "$CAMP" top --from "$FOLDER/text.csv"
    : >"$FOLDER/empty.csv"
    complains 1 "empty.csv is empty" "$CAMP" report --from "$FOLDER/empty.csv" --output x.html
}

@test "the error about a missing SQLite database shows even a long path completely" {
    complains 1 "$FOLDER/none.db" \
        "$CAMP" top --from "sqlite:$FOLDER/none.db" --query 'select 1'
    complains 2 "sqlite:$FOLDER/some.db" "$CAMP" top --from "sqlite:$FOLDER/some.db"
    complains 2 "--from $FOLDER/none.csv" "$CAMP" top --from "$FOLDER/none.csv" --query 'select 1'
    complains 2 "there is no source '$FOLDER/none.xyz'" "$CAMP" top --from "$FOLDER/none.xyz"
}

@test "the error about a wrong or missing file of rules shows even a long path completely" {
    echo "rest nothing" >"$FOLDER/bad.rules"
    complains 1 "$FOLDER/bad.rules:1:" "$CAMP" export --workload "$FOLDER/bad.rules"
    complains 1 "$FOLDER/none.rules" "$CAMP" export --workload "$FOLDER/none.rules"
}

@test "the error about an unwritable output file shows even a long path completely" {
    missing=$FOLDER/missing
    printf 'time,name,run_ms,wait_ms,idle_ms\n1,a,1,1,1\n2,a,1,1,1\n' >data.csv
    complains 1 "$missing" "$CAMP" record --from data.csv --output "$missing/run.camp"
    complains 1 "$missing" "$CAMP" report --from data.csv --output "$missing/run.html"
    complains 1 "$missing" "$CAMP" report --from data.csv --picture stack --output "$missing/a.svg"
    complains 1 "$missing" "$CAMP" check --count 1 --interval 10ms --report "$missing/a.html"
}

@test "the error about a wrong socket shows even a long path completely" {
    complains 1 "$FOLDER/none.sock" "$CAMP" top --from "prometheus:unix:$FOLDER/none.sock"
    complains 2 "$FOLDER/view.sock" "$CAMP" view --from cpus --socket "$FOLDER/view.sock"
}

@test "a recording stores a long note completely" {
    printf 'time,name,run_ms,%s\n1,a,1,x\n2,a,1,y\n' "$(printf 'c%.0s' {1..60})" >"$FOLDER/data.csv"
    run -0 "$CAMP" record --from "$FOLDER/data.csv" --output run.camp
    note=$(sqlite3 run.camp "SELECT value FROM camp WHERE key = 'note'")
    [[ $note == *"$(printf 'c%.0s' {1..60}) is ignored"* ]]
    run -0 "$CAMP" record --info run.camp
    [[ $output == *"$note"* ]]
}
