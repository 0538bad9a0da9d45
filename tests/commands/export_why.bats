#!/usr/bin/env bats
# camp export --why: how long waits lasted, and what caused them (export_why.py is the scraper).

bats_require_minimum_version 1.5.0
load check
load why

setup_file() {
    find_refusal export --once --why --interval 10ms
}

# scrape NAME ARGUMENT...: runs the test NAME of export_why.py, which must pass.
scrape() {
    need_states
    grep -qaF libmicrohttpd.so "$CAMP" || skip "camp was built without libmicrohttpd"
    run timeout 120 /usr/bin/python3 "$BATS_TEST_DIRNAME/export_why.py" "$CAMP" "$@"
    echo "$output"
    [ "$status" -eq 77 ] && skip "$output"
    [ "$status" -eq 0 ]
}

@test "camp export --why: the causes of all groups add up to the states, and no counter falls" {
    scrape causes_add_up_to_the_states_and_no_counter_falls
}

@test "camp export --why has the same series in the Prometheus format and in the OpenMetrics format" {
    scrape both_formats_have_the_same_series
}

# bats test_tags=law
@test "camp export --why: a sleep of 100 ms is between 67 and 268 ms, and a timer ended it" {
    scrape a_sleep_of_100_ms_has_its_length_and_its_cause
}

@test "camp export --why escapes names, and none makes a series twice" {
    scrape names_of_waits_are_escaped_and_different
}

@test "camp export --why --groups 0 names no process" {
    scrape names_that_proc_hides_are_not_in_the_waits
}

@test "camp export without --why has no causes, and keeps no ledger" {
    run --separate-stderr "$CAMP" export --once --interval 10ms
    [ "$status" -eq 0 ]
    [[ $output != *camp_wait_* ]]
}

@test "camp export --why without microstates fails in one line, and needs tier bpf" {
    run --separate-stderr "$CAMP" export --once --why --tier schedstat
    [ "$status" -eq 2 ]
    [ "$stderr" = "camp export: --why needs the states of threads: it goes with --tier bpf" ]
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user"
    public_camp
    run --separate-stderr setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all \
        "$BATS_TEST_TMPDIR/camp" export --once --why --interval 10ms
    [ "$status" -eq 4 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ -z "$output" ]
}
