#!/usr/bin/env bats
# A command with --why pays for each context switch once: rows and causes come from the programs of one session.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load why

setup_file() {
    find_refusal why --count 1 --interval 50ms
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children
    wait
}

# programs PID: prints how many programs in the kernel a process has attached.
programs() {
    cat /proc/"$1"/fdinfo/* 2>/dev/null | grep -c '^link_id:'
}

has_programs() {
    [ "$(programs "$1")" -gt 0 ] && [ -s "$2" ]
}

# count_programs WORD...: runs camp with the words until it has written something, and sets COUNT to the number of its programs.
count_programs() {
    rm -f out
    "$CAMP" "$@" >out 2>err 3>&- &
    local camp=$!
    until_it has_programs "$camp" out || {
        cat err
        return 1
    }
    COUNT=$(programs "$camp")
    echo "camp $*: $COUNT programs"
    kill -TERM "$camp"
    wait "$camp" || true
}

@test "top, view, export and record with --why attach as many programs as camp why" {
    need_states
    [ -r /proc/self/fdinfo ] && [ "$(id -u)" -eq 0 ] || skip "needs root, to read the descriptors of a process with capabilities"
    count_programs why --json --interval 100ms
    local of_why=$COUNT
    [ "$of_why" -gt 3 ]
    count_programs top --why --format json 100ms
    [ "$COUNT" -eq "$of_why" ]
    if grep -qaF libmicrohttpd.so "$CAMP"; then
        count_programs view --why 100ms
        [ "$COUNT" -eq "$of_why" ]
        count_programs view --why --from cpus 100ms
        [ "$COUNT" -eq "$of_why" ]
        count_programs export --why --port 0
        [ "$COUNT" -eq "$of_why" ]
    fi
    "$CAMP" record --why --output run.camp 100ms 2>err 3>&- &
    local camp=$!
    until_it has_programs "$camp" run.camp
    [ "$(programs "$camp")" -eq "$of_why" ]
}
