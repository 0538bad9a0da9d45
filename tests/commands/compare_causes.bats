#!/usr/bin/env bats
# bats file_tags=law
# camp compare: the causes of waits of two recordings of camp record --why.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load compare_tables
load why

setup_file() {
    find_refusal why --count 1 --interval 50ms
    export REFUSAL PAIRS=$BATS_TEST_DIRNAME/explain_pairs.py VICTIM_NAME=compared
    # A recording has all processes with the name, also those of another test.
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children KILL
    wait
}

# record_load NAME FILE [INTERVALS]: records the victim of a load of explain_pairs.py, which runs only during the recording. Its
# processes have the highest priority, so that other programs delay them little.
record_load() {
    rm -f victim
    PREFERRED=1 python3 "$PAIRS" "$1" "$PWD/victim" 3>&- &
    until_it test -e victim
    "$CAMP" record --why --why-of compared --force --output "$2" 50ms "${3:-40}"
    end_children KILL
    wait
}

# asked PROGRAM: evaluates Python on `c`, the JSON of camp compare in `one`: `rows` are those of the victim by state,
# `causes` those of the victim.
asked() {
    python3 -c '
import json, sys
c = json.load(open("one"))
rows = {row["state"]: row for row in c["rows"] if row["name"] == "compared"}
causes = [row for row in c["causes"] if row["name"] == "compared"]
exec(sys.argv[1])' "$1"
}

@test "a victim that waits longer for a CPU is shown with the neighbour that caused it" {
    need_states
    local intervals
    # How sure a difference is depends on what other programs do meanwhile: more intervals make it surer.
    for intervals in 40 80 160; do
        record_load alone a.camp "$intervals"
        record_load neighbour b.camp "$intervals"
        "$CAMP" compare a.camp b.camp --filter '^compared$' --json >one
        if asked 'sys.exit(not any(row["who"] == "pair-culprit" and row["verdict"] == "more" for row in causes))'; then break; fi
    done
    asked '
assert c["schema"] == "camp.compare/1"
# On a busy machine, other programs delay the victim in both recordings.
assert rows["run_queue"]["verdict"] == "more" or rows["run_queue"]["a_percent"] > 20, rows["run_queue"]
# Other programs of a busy machine may delay it more in B, too.
[culprit] = [row for row in causes if row["state"] == "run_queue" and row["who"] == "pair-culprit"]
assert culprit["kind"] == "group" and culprit["verdict"] == "more", causes
assert culprit["a_percent"] == 0 and culprit["difference_points"] > 3 and culprit["wide_low_points"] > 1, culprit
assert c["summary"]["causes_more"] == sum(row["verdict"] == "more" for row in c["causes"]) > 0, c["summary"]
assert c["summary"]["causes_compared"] == len(c["causes"])'
    run -0 --separate-stderr "$CAMP" compare a.camp b.camp --filter '^compared$'
    [ -z "$stderr" ]
    [[ ${lines[3]} =~ ^[0-9]+" of "[0-9]+" causes of waits differ"s?": "[0-9]+" more in B, "[0-9]+" less"$ ]]
    # Below the state are its causes that differ, the largest difference first.
    [[ $output =~ compared\ +run_queue\ [^$'\n']*($'\n'\ +behind\ [^$'\n']+)*$'\n'\ +behind\ pair-culprit\ +0\.00\ [^$'\n']*more ]]
    run -5 "$CAMP" compare a.camp b.camp --filter '^compared$' --fail-on causes
    run -0 "$CAMP" compare a.camp a.camp --filter '^compared$' --fail-on causes
}

@test "the causes of a state, and what has none, add up to it in both recordings" {
    need_states
    record_load neighbour a.camp
    record_load pipe b.camp
    "$CAMP" compare a.camp b.camp --at-least 0 --json >one
    asked '
checked = 0
for side in "ab":
    for state in {row["state"] for row in causes}:
        parts = [row for row in causes if row["state"] == state]
        total = sum(row[side + "_percent"] for row in parts)
        undivided = {row[side + "_undivided_percent"] for row in parts}
        assert len(undivided) == 1, parts
        assert abs(abs(rows[state][side + "_percent"] - total) - undivided.pop()) < 1e-4, (state, rows[state], parts)
        checked += total > 1
    # The name has a group of its own.
    assert max(row[side + "_undivided_percent"] for row in causes) < 0.5, causes
assert checked >= 2, causes
for row in c["causes"]:
    assert row["wide_low_points"] <= row["low_points"] <= row["difference_points"] <= row["high_points"], row
    rounding = 1e-7 * (1 + abs(row["a_percent"]) + abs(row["b_percent"]))
    assert abs(row["b_percent"] - row["a_percent"] - row["difference_points"]) < rounding, row
    assert row["verdict"] in ("more", "less", "none"), row'
}

@test "other culprits of the same waits are found, although the state did not change" {
    need_states
    record_load neighbour a.camp 80
    cp a.camp b.camp
    sqlite3 b.camp "UPDATE cause_group SET name = 'another' WHERE name = 'pair-culprit'"
    "$CAMP" compare a.camp b.camp --filter '^compared$' --json >one
    asked '
assert all(row["verdict"] == "none" and row["difference_points"] == 0 for row in c["rows"]), c["rows"]
found = {row["who"]: row["verdict"] for row in causes if row["verdict"] != "none"}
assert found == {"pair-culprit": "less", "another": "more"}, found'
    run -0 "$CAMP" compare a.camp b.camp --filter "^compared$" --top 1
    [[ ${lines[4]} == "name "* ]]
    [[ $output =~ compared\ +run_queue\ [^$'\n']*no\ difference\ found$'\n'\ +behind\ (another|pair-culprit)\  ]]
    run -0 "$CAMP" compare a.camp b.camp --filter "^compared$" --fail-on any
    run -5 "$CAMP" compare a.camp b.camp --filter "^compared$" --fail-on causes
}

@test "time without a cause may belong to any cause, so the intervals are wider by it" {
    need_states
    record_load neighbour a.camp
    cp a.camp b.camp
    # In B the name lost its group: no cause is known of its time.
    sqlite3 b.camp "DELETE FROM cause WHERE number = (SELECT number FROM cause_group WHERE name = 'compared')"
    "$CAMP" compare a.camp b.camp --json >one
    asked '
queue = [row for row in causes if row["state"] == "run_queue"]
assert queue and all(row["verdict"] == "none" for row in causes), causes
for row in queue:
    assert abs(row["b_undivided_percent"] - rows["run_queue"]["b_percent"]) < 1e-4, row
    assert row["wide_high_points"] > 0 and row["wide_low_points"] < 0, row'
}

@test "a recording has no difference of causes to itself" {
    need_states
    record_load pipe a.camp
    "$CAMP" compare a.camp a.camp --at-least 0 --json >one
    asked '
assert causes and all(row["difference_points"] == 0 and row["verdict"] == "none" for row in c["causes"]), c["causes"]
assert c["summary"]["causes_more"] == c["summary"]["causes_less"] == 0'
}

@test "causes of one recording only, of other rows, or of some intervals are not compared, which a note says" {
    need_states
    "$CAMP" record --why --output a.camp 50ms 20
    "$CAMP" record --output b.camp 50ms 20
    run -0 "$CAMP" compare a.camp b.camp
    [[ $output == *$'\ncauses     B has no causes of waits (camp record --why), so causes are not compared' ]]
    run -0 "$CAMP" compare b.camp b.camp
    [[ $output != *"causes"* ]]
    "$CAMP" compare a.camp b.camp --json >one
    asked 'assert c["causes"] == [] and c["summary"]["causes_compared"] is None, c["summary"]'
    run -0 "$CAMP" compare a.camp a.camp --group thread
    [[ $output == *$'\ncauses     they are those of processes by name, and are not compared with other rows' ]]
    "$CAMP" record --why --output mixed.camp --rotate 1h 50ms 10
    "$CAMP" record --output mixed.camp --rotate 1h 50ms 10
    run -0 "$CAMP" compare a.camp mixed.camp
    [[ $output == *$'\ncauses     B has some intervals that have no causes of waits (camp record --why), so causes are not compared' ]]
}

@test "the causes in recordings of processes and commands are compared" {
    need_states
    for rows in processes commands; do
        "$CAMP" record --why --from "$rows" --output "$rows.camp" 50ms 20
        "$CAMP" compare "$rows.camp" "$rows.camp" --at-least 0 --json >one
        asked 'assert len(c["causes"]) > 0 and c["summary"]["causes_compared"] == len(c["causes"]), c["summary"]'
    done
}

@test "damaged causes end camp compare with status 1 in one line, and the states are compared" {
    need_states
    "$CAMP" record --why --output a.camp 50ms 20
    cp a.camp b.camp
    sqlite3 b.camp "UPDATE cause SET time_ns = -1 WHERE tick = 7"
    run -1 --separate-stderr "$CAMP" compare a.camp b.camp
    [[ $stderr == "camp compare: b.camp is damaged: its causes of waits have "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $output == *"B  b.camp (threads): 20 intervals"*$'\ncauses     those of B are damaged, so causes are not compared' ]]
}
