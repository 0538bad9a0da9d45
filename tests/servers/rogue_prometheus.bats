#!/usr/bin/env bats
# Attacks of a rogue Prometheus server on camp (rogue_prometheus.py, rogue.py). Each ends in one line or a frame, in
# time, with little memory, and without a question to another server or a control character of the server.

bats_require_minimum_version 1.5.0
load rogue

setup() { require_attacks prometheus; }

@test "prometheus: an answer that is no HTTP, or whose header has no end, is one line" {
    attacks_end_well prometheus http
}

@test "prometheus: camp follows no redirection and answers no demand for another login" {
    attacks_end_well prometheus redirects
}

# bats test_tags=deep
@test "prometheus: a small answer that becomes gigabytes costs little memory" {
    attacks_end_well prometheus bombs sizes
}

@test "prometheus: JSON that is nested, cut, or of another shape than an answer's is refused" {
    attacks_end_well prometheus json
}

@test "prometheus: no text of a server reaches the terminal raw" {
    attacks_end_well prometheus series
}

@test "prometheus: numbers beyond all sense do no harm" {
    attacks_end_well prometheus numbers
}

@test "prometheus: a server that stalls or drips does not delay a frame" {
    attacks_end_well prometheus frames
}

@test "prometheus: SIGINT and SIGTERM end camp at once while a server stalls or drips" {
    attacks_end_well prometheus signals
}

@test "prometheus: a password goes to another machine only through TLS, and never to a proxy if it is for this machine" {
    attacks_of_another_machine prometheus
}

# bats test_tags=deep
@test "prometheus: an answer that stalls or drips ends after the documented limit, and labels that change stay few" {
    "$BATS_TEST_DIRNAME/rogue_prometheus.py" --jobs 24 long
}
