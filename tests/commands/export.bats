#!/usr/bin/env bats
# camp export: what it tells, to whom, and that it adds up (export.py asks, as a scraper does).

bats_require_minimum_version 1.5.0

# scrape NAME ARGUMENT...: what export.py checks holds.
scrape() {
    run timeout 60 /usr/bin/python3 "$BATS_TEST_DIRNAME/export.py" "$CAMP" "$@"
    echo "$output"
    [ "$status" -eq 77 ] && skip "$output"
    [ "$status" -eq 0 ]
}

@test "export: both formats are read by their parsers, and say the same" {
    scrape formats
}

@test "export: groups and what is retired add up to all threads, and no counter falls" {
    scrape laws
}
