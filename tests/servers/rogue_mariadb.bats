#!/usr/bin/env bats
# Attacks of a rogue MariaDB server on camp (rogue_mariadb.py, rogue.py). Each ends in one line or a frame, in time, with
# little memory, and without the password, a file of the user or a control character of the server.

bats_require_minimum_version 1.5.0
load rogue

setup_file() { run_attacks mariadb; }
setup() { require_attacks mariadb; }

@test "mariadb: a rogue server gets no password in clear, asks nothing and gets no file" {
    all_ended_well greeting login files
}

@test "mariadb: an answer of another shape than the statement's is refused" {
    all_ended_well columns rows
}

@test "mariadb: answers without end are cut within 64 MB" {
    all_ended_well sizes
}

@test "mariadb: no text of a server reaches the terminal raw" {
    all_ended_well texts
}

@test "mariadb: a server that stalls or drips at any packet delays camp by the documented limits only" {
    all_ended_well stalls tls
}

@test "mariadb: a password goes to another machine only through TLS with a verified certificate" {
    attacks_of_another_machine mariadb
}
