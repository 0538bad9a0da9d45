#!/usr/bin/env bats
# camp compare: two recordings, or two ranges of one.

bats_require_minimum_version 1.5.0
load compare_tables

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "camp compare finds a process that uses more CPU time in the second recording" {
    table a 1 300
    table b 2 450
    compare a.csv b.csv --unit ms
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "A  a.csv"*": 40 intervals from "*", 40.0 s, tier table" ]]
    [[ ${lines[2]} == "2 of "*" rows differ by more than 1 point: 1 more in B, 1 less" ]]
    [[ ${lines[3]} == "name "*"state "*"A % "*"B % "*"points "*"from "*"to  in B" ]]
    [[ ${lines[4]} =~ ^db\ +cpu\ +(29|30)\.[0-9]+\ +(44|45)\.[0-9]+\ +1[45]\.[0-9]+\ +1[34]\.[0-9]+\ +1[56]\.[0-9]+\ +more$ ]]
    compare a.csv b.csv --unit ms --json
    [ "$(field <(echo "$output") 'name == "db" and state == "idle"' verdict)" = less ]
    [ "$(field <(echo "$output") 'name != "db"' verdict | sort -u)" = none ]
}

@test "camp compare finds no difference between two recordings of the same load" {
    table a 1 300
    table b 2 300
    for least in 1 0.1 0; do
        compare a.csv b.csv --unit ms --at-least "$least" --fail-on any
        [ "$status" -eq 0 ]
        [[ ${lines[2]} == "0 of "*" rows differ "* ]]
    done
    [[ $output == *"no difference found"* ]]
}

@test "camp compare a recording with itself finds a difference of 0 in each row" {
    table a 1 300
    compare a.csv a.csv --unit ms --json
    [ "$status" -eq 0 ]
    [ "$(field <(echo "$output") True difference_points | sort -u)" = 0 ]
}

@test "camp compare compares two ranges of one recording" {
    table a 1 300 40
    table b 2 450 40
    { cat a.csv; tail -n +2 b.csv | awk -F, -v OFS=, '{ $1 += 40; print }'; } >both.csv
    "$CAMP" record --from both.csv --unit ms --output both.camp
    compare both.camp --end +40s --begin-b +40s --json
    [ "$status" -eq 0 ]
    [ "$(field <(echo "$output") 'name == "db" and state == "cpu"' verdict)" = more ]
    [[ $output == *'"intervals":40,'*'"intervals":40,'* ]]
    # --begin and --end are of both where B has no range of its own.
    compare both.camp both.camp --end +20s --json
    [[ $output == *'"intervals":20,'*'"intervals":20,'* ]]
    compare both.camp both.camp --end +20s --end-b +30s --json
    [[ $output == *'"intervals":20,'*'"intervals":30,'* ]]
    compare both.camp --end +40s --begin-b +40s --fail-on more
    [ "$status" -eq 5 ]
}

@test "camp compare names the entities that only one recording has" {
    table a 1 300 40 db web old
    table b 2 300 40 db web new
    compare a.csv b.csv --unit ms
    [ "$status" -eq 0 ]
    [[ $output == *$'\nonly in A: old\nonly in B: new' ]]
    [[ $output =~ old\ +cpu\ [^$'\n']*less,\ only\ in\ A ]]
    [[ $output =~ new\ +cpu\ [^$'\n']*more,\ only\ in\ B ]]
    compare a.csv b.csv --unit ms --json
    [[ $output == *'"entities_in_both":2,"entities_only_in_a":1,"entities_only_in_b":1'* ]]
    [ "$(field <(echo "$output") 'name == "new" and state == "cpu"' in)" = b ]
    [ "$(field <(echo "$output") 'name == "new" and state == "cpu"' a_share_percent)" = None ]
    [ "$(field <(echo "$output") 'name == "web" and state == "cpu"' in)" = both ]
}

@test "camp compare --fail-on sets exit status 5 for the differences that it names" {
    table a 1 300
    table b 2 450
    for words in any more cpu idle more,cpu less,idle less,cpu,idle; do
        compare a.csv b.csv --unit ms --fail-on "$words"
        [ "$status" -eq 5 ]
        [ -z "$stderr" ]
        [ -n "$output" ]
    done
    # What became less is idle, and the locks did not change.
    for words in less lock less,cpu more,idle more,lock unaccounted; do
        compare a.csv b.csv --unit ms --fail-on "$words"
        [ "$status" -eq 0 ]
    done
    compare b.csv a.csv --unit ms --fail-on less
    [ "$status" -eq 5 ]
    # The meaning of time in no state, or in a state that camp does not know, is unknown: only its name is enough.
    for file in a b; do
        sed '1s/cpu_ms/huh_ms/' $file.csv >$file.huh.csv
        cut -d, -f1,2,4,5 $file.csv >$file.gap.csv
    done
    for words in more less more,less; do
        compare a.huh.csv b.huh.csv --unit ms --filter db --fail-on "$words"
        [ "$status" -eq 0 ]
        compare a.gap.csv b.gap.csv --unit ms --filter db --fail-on "$words"
        [ "$status" -eq 0 ]
    done
    for words in any huh more,huh; do
        compare a.huh.csv b.huh.csv --unit ms --filter db --fail-on "$words"
        [ "$status" -eq 5 ]
    done
    for words in any unaccounted more,unaccounted; do
        compare a.gap.csv b.gap.csv --unit ms --filter db --fail-on "$words"
        [ "$status" -eq 5 ]
    done
    for words in cp "more," anyway ",any" "" run_queue; do
        compare a.csv b.csv --unit ms --fail-on "$words"
        [ "$status" -eq 2 ]
        [[ $stderr == "camp compare: --fail-on "*": takes any, more, less, causes, cpu, lock, idle, unaccounted" ]]
    done
}

@test "camp compare reports only a difference that is surely larger than --at-least" {
    table a 1 300
    table b 2 450
    compare a.csv b.csv --unit ms --at-least 12 --fail-on any
    [ "$status" -eq 5 ]
    compare a.csv b.csv --unit ms --at-least 20 --fail-on any
    [ "$status" -eq 0 ]
    [[ ${lines[2]} == "0 of "*" rows differ by more than 20 points: "* ]]
    # Rows that cannot differ by 20 points are not compared.
    compare a.csv b.csv --unit ms --at-least 20 --json
    [ "$(field <(echo "$output") 'state == "lock"' name)" = "" ]
}

@test "camp compare writes the same bytes for the same inputs, and another seed changes only the intervals" {
    table a 1 300 200
    table b 2 330 200
    "$CAMP" compare a.csv b.csv --unit ms --json >one
    "$CAMP" compare a.csv b.csv --unit ms --json >two
    "$CAMP" compare a.csv b.csv --unit ms --json --seed 7 >three
    cmp one two
    run -1 cmp one three
    for name in difference_points a_percent b_percent verdict; do
        [ "$(field one True "$name")" = "$(field three True "$name")" ]
    done
    run -1 diff <(field one True low_points) <(field three True low_points)
}

@test "the intervals of camp compare contain the difference, and those of all rows are the wider ones" {
    table a 1 300
    table b 2 330
    "$CAMP" compare a.csv b.csv --unit ms --json >one
    /usr/bin/python3 - one <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "camp.compare/1"
assert document["summary"]["confidence_percent"] == 95
assert document["summary"]["compared"] == len(document["rows"]) == 9
order = [(row["verdict"] == "none", row["state"] == "idle", -abs(row["difference_points"])) for row in document["rows"]]
assert order == sorted(order), order
for row in document["rows"]:
    assert row["wide_low_points"] < row["low_points"] < row["difference_points"], row
    assert row["difference_points"] < row["high_points"] < row["wide_high_points"], row
    assert abs(row["b_percent"] - row["a_percent"] - row["difference_points"]) < 1e-6, row
    assert abs(row["a_ns_per_s"] - 1e7 * row["a_percent"]) < 1, row
    assert abs(row["low_ns_per_s"] - 1e7 * row["low_points"]) < 1, row
    # Each entity is one row all the time, so its share of its own time is that of the interval.
    assert abs(row["a_share_percent"] - row["a_percent"]) < 1e-3, row
END
}

@test "camp compare writes the rows of its JSON as CSV" {
    table a 1 300
    table b 2 450
    "$CAMP" compare a.csv b.csv --unit ms --json >one
    "$CAMP" compare a.csv b.csv --unit ms --csv >two
    [ "$(wc -l <two)" -eq 10 ]
    [[ $(head -n 1 two) == name,labels,state,in,verdict,a_percent,b_percent,difference_points,* ]]
    [ "$(tail -n +2 two | cut -d, -f1,3,5)" = \
        "$(paste -d, <(field one True name) <(field one True state) <(field one True verdict))" ]
}

@test "camp compare gives no verdict if a recording is too short, and says so with status 3" {
    table a 1 300
    table b 2 450 19
    compare a.csv b.csv --unit ms --fail-on any
    [ "$status" -eq 3 ]
    [[ $stderr == "camp compare: b.csv"*" has 19 intervals, and a verdict needs 20: record more, or shorter ones" ]]
    [[ $output == *"too few intervals to say"* ]]
    [[ $output != *"no difference found"* ]]
    table b 2 450 20
    compare a.csv b.csv --unit ms --fail-on any
    [ "$status" -eq 5 ]
}

@test "camp compare adds up rows by a label and matches other rows by name and labels" {
    for name in a b; do
        table "$name" 1 "$([ "$name" = a ] && echo 300 || echo 450)"
        "$CAMP" record --from "$name.csv" --unit ms --output "$name.camp"
        sqlite3 "$name.camp" 'CREATE TABLE label(entity INTEGER NOT NULL, name TEXT NOT NULL, since_tick INTEGER NOT NULL,
                value TEXT NOT NULL, PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;
            CREATE TABLE label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
                PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;'"
            INSERT INTO label_name VALUES('table', 0, 'user');
            INSERT INTO label VALUES(1, 'user', 1, 'bob'), (2, 'user', 1, '$([ "$name" = a ] && echo bob || echo eve)');"
    done
    compare a.camp b.camp
    [ "$status" -eq 0 ]
    [[ $output =~ db\ +user=bob\ +cpu\ [^$'\n']*more$'\n' ]]
    [[ $output =~ web\ +user=bob\ +cpu\ [^$'\n']*only\ in\ A ]]
    [[ $output =~ web\ +user=eve\ +cpu\ [^$'\n']*only\ in\ B ]]
    compare a.camp b.camp --group user --json
    [ "$(field <(echo "$output") 'state == "cpu"' name | sort | tr '\n' ' ')" = "(none) bob eve " ]
    [[ $output == *'"summary":{"group":"user",'* ]]
    compare a.camp b.camp --group host
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp compare: --group host: a.camp (table) can be grouped by user" ]
}

@test "camp compare does not match sessions by their last statements and blockers" {
    for name in a b; do
        table "$name" 1 300
        "$CAMP" record --from "$name.csv" --unit ms --output "$name.camp"
        sqlite3 "$name.camp" 'CREATE TABLE label(entity INTEGER NOT NULL, name TEXT NOT NULL, since_tick INTEGER NOT NULL,
                value TEXT NOT NULL, PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;
            CREATE TABLE label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
                PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;'"
            UPDATE camp SET value = 'sessions' WHERE key = 'kind';
            INSERT INTO label_name VALUES('table', 0, 'user'), ('table', 1, 'last_statement'), ('table', 2, 'blocker');
            INSERT INTO label VALUES(1, 'user', 1, 'bob'), (1, 'last_statement', 1, 'select $name'), (1, 'blocker', 1, '$name');"
    done
    compare a.camp b.camp --json
    [ "$status" -eq 0 ]
    [ "$(field <(echo "$output") 'name == "db"' labels | sort -u)" = user=bob ]
    [[ $output == *'"entities_only_in_a":0,"entities_only_in_b":0,'* ]]
}

@test "camp compare --filter compares only the entities whose name matches" {
    table a 1 300
    table b 2 450
    compare a.csv b.csv --unit ms --filter '^(web|batch)$' --json
    [ "$(field <(echo "$output") True name | sort -u | tr '\n' ' ')" = "batch web " ]
    compare a.csv b.csv --unit ms --filter nobody
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp compare: A and B have no name that matches --filter" ]
    compare a.csv b.csv --unit ms --filter '('
    [ "$status" -eq 2 ]
}

@test "camp compare compares the states that both recordings have and names the others" {
    table a 1 300
    sed '1s/lock_ms/disk_ms/' a.csv >b.csv
    compare a.csv b.csv --unit ms
    [ "$status" -eq 0 ]
    [[ $output == *"only A has these states, which are not compared: lock"* ]]
    [[ $output == *"only B has these states, which are not compared: disk"* ]]
    sed '1s/.*/time,name,x_ms,y_ms,z_ms/' a.csv >c.csv
    compare a.csv c.csv --unit ms
    [ "$status" -eq 2 ]
    [[ $stderr == "camp compare: a.csv"*" and c.csv"*" have no state in common" ]]
}

@test "camp compare refuses sources without an end, and wrong operands, in one line" {
    table a 1 300
    "$CAMP" record --from a.csv --unit ms --output a.camp
    while IFS='|' read -r words wanted message; do
        read -ra arguments <<<"$words"
        compare "${arguments[@]}"
        [ "$status" -eq "$wanted" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ -z "$output" ]
        # shellcheck disable=SC2053 # a pattern
        [[ $stderr == "camp compare: "$message* ]]
    done <<'END'
|2|takes one or two recordings
a.camp|2|takes two recordings, or --begin-b or --end-b
a.camp a.camp a.camp|2|takes one or two recordings
threads a.camp|2|threads is measured now and has no end: record it first
a.camp cpus|2|cpus is measured now and has no end: record it first
a.camp postgres:password=secret|2|postgres:... is measured now
a.camp none.camp|1|none.camp: there is no such recording
none.csv a.camp|1|
a.camp nothing|2|there is no source 'nothing'
- -|2|A and B cannot both be standard input
a.camp a.camp --begin +9h|1|
a.camp a.camp --begin-b tomorrow|2|--begin-b tomorrow: takes a time such as
a.camp a.camp --begin-b +9s --end-b +8s|2|--end-b is not after --begin-b
a.camp a.camp --picture barry3|2|--picture needs --output
a.camp a.camp --output x.svg|2|--output goes with --picture
a.camp a.camp --picture barry3 --output x.txt|2|--output x.txt: a picture ends with
a.camp a.camp --picture barry3 --output /nonexistent/x.svg|1|
a.camp a.camp --picture barry3 --output x.svg --axes A=cpu|2|--axes
a.camp a.camp --at-least -1|2|--at-least -1
a.camp a.camp --seed x|2|--seed x
a.camp a.camp --query x|2|--query does not go with
a.camp a.camp --unit ms|2|--unit does not go with
a.camp a.csv --unit ms --host x|2|--host does not go with
END
    [ -z "$(compgen -G '*.svg*')" ]
}

@test "camp compare reports a recording or table without an interval" {
    table a 1 300
    head -n 1 a.csv >empty.csv
    for files in "a.csv empty.csv" "empty.csv a.csv" "empty.csv empty.csv"; do
        read -ra files <<<"$files"
        compare "${files[@]}" --unit ms
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ -z "$output" ]
    done
}

@test "camp compare compares the intact part of a damaged recording, and ends with status 1" {
    table a 1 300 2000
    "$CAMP" record --from a.csv --unit ms --output a.camp
    cp a.camp b.camp
    truncate -s $(($(stat -c %s b.camp) / 2)) b.camp
    compare a.camp b.camp
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp compare: b.camp"* ]]
    [[ $output == *"A  a.camp (table): 2000 intervals"*"B  b.camp (table): "*" intervals"* ]]
}

@test "camp compare adds up the intervals of a long recording, and says so" {
    table a 1 300 2000
    table b 2 330 1000
    compare a.csv b.csv --unit ms
    [ "$status" -eq 0 ]
    [[ $output == *"A: up to 4 intervals were added up to one"* ]]
    [[ $output == *"B: up to 2 intervals were added up to one"* ]]
    [[ ${lines[4]} =~ ^db\ +cpu\ .*more$ ]]
}

@test "camp compare reads one of its tables from standard input" {
    table a 1 300
    table b 2 450
    run --separate-stderr "$CAMP" compare - b.csv --unit ms --fail-on more <a.csv
    [ "$status" -eq 5 ]
    run --separate-stderr "$CAMP" compare a.csv - --unit ms --fail-on more <b.csv
    [ "$status" -eq 5 ]
}
