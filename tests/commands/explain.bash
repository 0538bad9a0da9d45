# shellcheck shell=bash
# What the tests of camp explain share.

load ../waiting
load children
load microstates

setup_file() {
    export LOADS=$BATS_TEST_DIRNAME/explain_loads.py
    find_refusal wait --count 1 --interval 50ms --tier bpf
    RECORDING=$BATS_FILE_TMPDIR/threads.camp
    export RECORDING
    [ -n "$REFUSAL" ] || "$CAMP" record --count 2 --interval 200ms --output "$RECORDING" >/dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    [ -z "${GROUP[1]:-}" ] || end_group || true
    end_children KILL
    wait
    rm -f "${FILE:-$BATS_TEST_TMPDIR/none}"
}

# Runs Python code on the JSON of `camp explain ARGUMENTS`: `e` is all of it, `found` has the findings by rule, and
# `unknown` the reasons by rule.
ask() {
    local program=$1
    shift
    "$CAMP" explain --format json "$@" >explain.json
    python3 -c "
import json, os
e = json.load(open('explain.json'))
found = {row['rule']: row for row in e['findings']}
unknown = {row['rule']: row['reason'] for row in e['unknown']}
$program"
}

# change SQL: makes changed.camp, a copy of the recording of two intervals with a change.
change() {
    need_states
    cp "$RECORDING" changed.camp
    python3 -c 'import sqlite3, sys; b = sqlite3.connect("changed.camp"); b.executescript(sys.argv[1]); b.commit()' "$1"
}

start() {
    "$@" 3>&- &
    CHILD=$!
}

# Ends the load of start_in_group, and removes its group.
end_group() {
    local pid=$GROUP_PID
    eval "exec ${GROUP[1]}>&-"
    wait "$pid"
}
