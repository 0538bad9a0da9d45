#!/usr/bin/env bats
# Attacks of a rogue PostgreSQL server on camp (rogue_postgres.py, rogue.py). Each ends in one line or a frame, in time, with
# little memory, and without the password or a control character of the server.

bats_require_minimum_version 1.5.0
load rogue

setup() { require_attacks postgres; }

@test "postgres: an answer of other columns than the statement's is refused" {
    attacks_end_well postgres columns
}

@test "postgres: no text of a server reaches the terminal raw" {
    attacks_end_well postgres texts
}

@test "postgres: a password goes to another machine only through TLS with a verified certificate" {
    attacks_of_another_machine postgres
}

# bats test_tags=deep
@test "postgres: a server that logs camp in wrongly, or asks for endless computing, ends camp in time" {
    attacks_end_well postgres greeting login
}

# bats test_tags=deep
@test "postgres: rows of another shape than the columns', or with impossible values, are refused" {
    attacks_end_well postgres rows
}

# bats test_tags=deep
@test "postgres: whatever pg_stat_statements answers, camp shows the sessions" {
    attacks_end_well postgres statements
}

# bats test_tags=deep
@test "postgres: answers without end are cut within 64 MB" {
    attacks_end_well postgres sizes
}

# bats test_tags=deep
@test "postgres: a server that stalls or drips at any message delays camp by the documented limits only" {
    attacks_end_well postgres stalls tls
}
