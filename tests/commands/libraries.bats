#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The shared libraries of the programs: few, so that a command starts quickly, and none under the
# GPL. Those of databases and of HTTP are loaded when a command needs them.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

# linked PROGRAM: the names of its libraries, without the loader and the kernel's.
linked() {
    ldd "$1" | sed -n 's/^[[:space:]]*\(lib[^ ]*\)\.so[. ].*/\1/p'
}

# licence LIBRARY: as debian/copyright has it.
licence() {
    sed -n "s/^  $1: //p" "$TREE/debian/copyright"
}

needs_plain_programs() {
    ! linked "$CAMP" | grep -qE '^lib(a|ub|t)san$' || skip 'linked with the sanitizers'
}

@test "camp and camp-exporter are linked with at most ten libraries" {
    needs_plain_programs
    for program in "$CAMP" "$CAMP-exporter"; do
        linked "$program"
        count=$(linked "$program" | wc -l)
        [ "$count" -ge 1 ] # ldd has been read
        [ "$count" -le 10 ]
    done
}

@test "clients of databases and of HTTP are not linked" {
    for program in "$CAMP" "$CAMP-exporter"; do
        run ! grep -E '^lib(pq|mariadb|curl.*|microhttpd|ncursesw|odbc)$' <(linked "$program")
    done
}

@test "each library's licence is in debian/copyright, and has an alternative to the GPL" {
    needs_plain_programs
    for library in $(linked "$CAMP"); do
        echo "$library: $(licence "$library")"
        licence "$library" | sed 's/ or /\n/g' | grep -qv '^GPL'
    done
}
