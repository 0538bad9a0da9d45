#!/usr/bin/env bats
# Attacks of a rogue MariaDB server on camp (rogue_mariadb.py, rogue.py). Each ends in one line or a frame, in time, with
# little memory, and without the password, a file of the user or a control character of the server.

bats_require_minimum_version 1.5.0
load rogue

setup() { require_attacks mariadb; }

@test "mariadb: a rogue server gets no password in clear, asks nothing and gets no file" {
    attacks_end_well mariadb greeting login files
}

# bats test_tags=deep
@test "mariadb: an answer of another shape than the statement's is refused" {
    attacks_end_well mariadb columns rows
}

# bats test_tags=deep
@test "mariadb: answers without end are cut within 64 MB" {
    attacks_end_well mariadb sizes
}

@test "mariadb: no text of a server reaches the terminal raw" {
    attacks_end_well mariadb texts
}

# bats test_tags=deep
@test "mariadb: a server that stalls or drips at any packet delays camp by the documented limits only" {
    attacks_end_well mariadb stalls tls
}

@test "mariadb: a password goes to another machine only through TLS with a verified certificate" {
    attacks_of_another_machine mariadb
}
