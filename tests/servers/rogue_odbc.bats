#!/usr/bin/env bats
# Attacks on camp by an ODBC driver that lies (rogue_odbc.c, rogue_odbc.py, rogue.py). Each ends in one line or a frame, with
# little memory, and without a control character of the driver.

bats_require_minimum_version 1.5.0
load rogue

setup() {
    require_attacks odbc
    ldconfig -p | grep -q libodbc.so.2 || skip 'unixODBC is not installed'
}

@test "odbc: columns, lengths and texts that a driver only pretends are not believed" {
    attacks_end_well odbc columns values errors
}

# bats test_tags=deep
@test "odbc: rows without end are cut, and a driver that stalls delays camp by the documented limit or to a signal" {
    attacks_end_well odbc rows stalls
}
