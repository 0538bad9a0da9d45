#!/usr/bin/env bats
# bats file_tags=deep

bats_require_minimum_version 1.5.0
# The binary interface of libcamp: programs that were compiled with an older version still run.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    [ "$(uname -m)" = x86_64 ] || skip "the description is of x86-64"
}

# changed SED-SCRIPT: runs tools/abi on a library that is compiled with a changed camp.h.
changed() {
    cp -r "$TREE/include" "$BATS_TEST_TMPDIR/"
    sed -i "$1" "$BATS_TEST_TMPDIR/include/camp/camp.h"
    run -1 diff -q "$TREE/include/camp/camp.h" "$BATS_TEST_TMPDIR/include/camp/camp.h"
    cd "$TREE" || return
    cc -g -fPIC -shared -fvisibility=hidden -I"$BATS_TEST_TMPDIR/include" -Isrc/counters \
        src/counters/*.c src/counters/linux/*.c -Wl,-soname,libcamp.so.0 \
        -Wl,--version-script=src/counters/libcamp.map -o "$BATS_TEST_TMPDIR/libcamp.so"
    run tools/abi "$BATS_TEST_TMPDIR/libcamp.so" "$BATS_TEST_TMPDIR/include/camp"
}

@test "the binary interfaces of libcamp.so and libcamp-states.so equal those described in tests/abi" {
    build=$(dirname "$(dirname "${CAMP:-$TREE/build/gcc/src/camp}")")
    for library in "$build"/src/counters/libcamp.so.0.*.[0-9] "$build"/src/microstates/libcamp-states.so.0.*.[0-9]; do
        run "$TREE/tools/abi" "$library"
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "tools/abi refuses a new member in the middle of a struct" {
    changed 's/^    uint64_t free_bytes;/    uint64_t dirty_bytes;\n&/'
    [ "$status" -eq 1 ]
    [[ $output == *"'uint64_t dirty_bytes', at offset 192"* ]]
    [[ $output == *'grow structs at'*'raise soversion'* ]]
}

@test "tools/abi refuses a changed size of struct camp_error" {
    changed 's/^\(#define CAMP_ERROR_SIZE\) .*/\1 8192/'
    [ "$status" -eq 1 ]
    [[ $output == *"'char message"*'raise soversion'* ]]
}

@test "tools/abi refuses a new member at the end of a struct until the member is described" {
    changed 's/^    uint64_t commit_limit_bytes;.*/&\n    uint64_t dirty_bytes;/'
    [ "$status" -eq 1 ]
    [[ $output == *'compatible, but not described'*'--update'* ]]
}
