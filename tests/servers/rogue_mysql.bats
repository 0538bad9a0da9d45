#!/usr/bin/env bats
# Attacks of a rogue MySQL server on camp, and of rogue servers of MySQL and MariaDB on --group query (rogue_mysql.py,
# rogue.py). Each ends in one line or a frame, in time, with little memory, and without the password or a control
# character of the server.

bats_require_minimum_version 1.5.0
load rogue

setup() { require_attacks mysql; }

@test "mysql: a rogue server gets no password in clear, and no login goes on without end" {
    attacks_end_well mysql login
}

@test "mysql: an answer of another shape, without end or out of order is refused" {
    attacks_end_well mysql answers
}

# bats test_tags=deep
@test "mysql and mariadb: a rogue answer to what --group query asks is refused" {
    attacks_end_well mysql query
}
