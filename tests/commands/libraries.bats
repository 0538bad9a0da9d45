#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The shared libraries of the programs. There are few, so a command starts quickly, and none is only under
# the GPL. Libraries for databases and for HTTP are loaded when a command needs them.

load ../waiting
load children

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

teardown() {
    end_children
}

# linked PROGRAM: prints the libraries of the program, without the loader and the vDSO.
linked() {
    ldd "$1" | sed -n 's/^[[:space:]]*\(lib[^ ]*\)\.so[. ].*/\1/p'
}

# licence LIBRARY: prints the licence of the library in debian/copyright.
licence() {
    sed -n "s/^  $1: //p" "$TREE/debian/copyright"
}

needs_plain_programs() {
    [ -z "${CAMP_SANITIZED:-}" ] || skip 'linked with the sanitizers'
}

@test "camp and camp-exporter are linked with at most ten libraries" {
    needs_plain_programs
    for program in "$CAMP" "$CAMP-exporter"; do
        linked "$program"
        count=$(linked "$program" | wc -l)
        [ "$count" -ge 1 ]
        [ "$count" -le 10 ]
    done
}

@test "camp is not linked with the client libraries of databases and HTTP" {
    for program in "$CAMP" "$CAMP-exporter"; do
        run ! grep -E '^lib(pq|mariadb|curl.*|microhttpd|ncursesw|odbc)$' <(linked "$program")
    done
}

@test "debian/copyright gives each linked library a licence other than the GPL" {
    needs_plain_programs
    for library in $(linked "$CAMP"); do
        echo "$library: $(licence "$library")"
        licence "$library" | sed 's/ or /\n/g' | grep -qv '^GPL'
    done
}

# without LIBRARY PACKAGE WORD...: if the library cannot be loaded, `camp WORD...` must name the package.
without() {
    local library=$1 package=$2
    shift 2
    : >"$BATS_TEST_TMPDIR/$library"
    LD_LIBRARY_PATH=$BATS_TEST_TMPDIR run "$CAMP" "$@"
    echo "$output"
    [[ $output != *'built without'* ]] || return 0
    [ "$status" -eq 1 ]
    [[ $output == *"is not installed: apt install $package"* ]]
}

@test "the error about a missing client library names the package to install" {
    without libpq.so.5 libpq5 top --count 1 --from postgres:
    without libmariadb.so.3 libmariadb3 top --count 1 --from mariadb:
    : >"$BATS_TEST_TMPDIR/libcurl.so.4"
    without libcurl-gnutls.so.4 libcurl4 top --count 1 --from prometheus:
    without libodbc.so.2 libodbc2 top --count 1 --from odbc:x
    without libmicrohttpd.so.12 libmicrohttpd12 view
    without libmicrohttpd.so.12 libmicrohttpd12 export
}

@test "camp top prints plain lines if the library ncurses is missing" {
    : >"$BATS_TEST_TMPDIR/libncursesw.so.6"
    export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR TERM=xterm
    CAMP=$CAMP script -qec '"$CAMP" top --interval 0.1' /dev/null </dev/null >"$BATS_TEST_TMPDIR/screen" 3>&- &
    until_it grep -q 'apt install libncursesw6' "$BATS_TEST_TMPDIR/screen"
    until_it grep -q 'runq%' "$BATS_TEST_TMPDIR/screen"
}
