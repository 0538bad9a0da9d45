#!/usr/bin/env bats
# bats file_tags=deep

bats_require_minimum_version 1.5.0
# Tests of tools/check-layers: each rule of the table in ARCHITECTURE.md is broken once in a copy of the tree.

setup_file() {
    "$BATS_TEST_DIRNAME/../../tools/copy-tree" "$BATS_FILE_TMPDIR/tree"
    rm -r "$BATS_FILE_TMPDIR/tree/tests/fixtures" # no rule applies to fixtures
}

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    COPY=$BATS_TEST_TMPDIR/tree
}

copy_of_tree() {
    rm -rf "$COPY"
    cp -r "$BATS_FILE_TMPDIR/tree" "$COPY"
}

# refused PATTERN: the check must fail with one line, which matches the pattern.
refused() {
    run -1 "$TREE/tools/check-layers" "$COPY"
    echo "$output"
    [ "$(echo "$output" | wc -l)" -eq 1 ]
    # shellcheck disable=SC2053
    [[ $output == $1 ]]
}

# plant FILE LINE [PATTERN]: adds the line to the file. The check must then name the file.
plant() {
    mkdir -p "$(dirname "$COPY/$1")"
    echo "$2" >>"$COPY/$1"
    refused "$1:${3:-*}"
}

accepted() {
    run -0 "$TREE/tools/check-layers" "$COPY"
    [ -z "$output" ]
}

@test "tools/check-layers finds no fault in the source tree" {
    run -0 "$TREE/tools/check-layers" "$TREE"
    [ -z "$output" ]
}

@test "tools/check-layers refuses an empty folder as the source tree" {
    run -1 "$TREE/tools/check-layers" "$BATS_TEST_TMPDIR"
}

@test "tools/check-layers refuses an include of src/sources in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include "sources/source.h"'
}

@test "tools/check-layers refuses an include of src/views in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include "../views/view.h"'
}

@test "tools/check-layers refuses an include of src/program in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include "program/command.h"'
}

@test "tools/check-layers refuses an include of stdio.h in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include <stdio.h>'
}

@test "tools/check-layers refuses an include of zlib.h in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include <zlib.h>'
}

@test "tools/check-layers refuses an include of time.h in src/ledger" {
    copy_of_tree
    plant src/ledger/planted.c '#include <time.h>'
}

@test "tools/check-layers refuses an include of src/views in src/sources" {
    copy_of_tree
    plant src/sources/planted.c '#include "views/record.h"'
}

@test "tools/check-layers refuses an include of src/commands in src/sources" {
    copy_of_tree
    plant src/sources/planted.c '#include "../commands/command.h"'
}

@test "tools/check-layers refuses an include between the folders of two databases" {
    copy_of_tree
    plant src/sources/sessions/postgres/planted.c '#include "sources/sessions/mariadb/mariadb.h"'
    rm "$COPY/src/sources/sessions/postgres/planted.c"
    plant src/sources/sessions/mariadb/planted.c '#include "../odbc/odbc.h"'
}

@test "tools/check-layers refuses an include of sessions or tables in src/sources/fleet" {
    copy_of_tree
    plant src/sources/fleet/planted.c '#include "sources/sessions/session.h"'
    rm "$COPY/src/sources/fleet/planted.c"
    plant src/sources/fleet/planted.c '#include "sources/tables/rows.h"'
}

@test "tools/check-layers refuses an include of src/sources/sessions in src/sources/machine" {
    copy_of_tree
    plant src/sources/machine/cpus.c '#include "sources/sessions/session.h"'
}

@test "tools/check-layers accepts only units.h and error.h of src/counters in other folders" {
    for room in sources views commands; do
        copy_of_tree
        plant src/$room/planted.c '#include "counters/text.h"'
        printf '#include "counters/units.h"\n#include "counters/error.h"\n' >"$COPY/src/$room/planted.c"
        accepted
        rm "$COPY/src/$room/planted.c"
    done
}

@test "tools/check-layers refuses an include of src/sources in src/views" {
    copy_of_tree
    plant src/views/planted.c '#include "sources/source.h"'
}

@test "tools/check-layers refuses an include of src/program in src/views" {
    copy_of_tree
    plant src/views/planted.c '#include "program/command.h"'
}

@test "tools/check-layers refuses an include of src/ledger or src/views in src/counters" {
    copy_of_tree
    plant src/counters/planted.c '#include "ledger/frame.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/linux/planted.c '#include "../../views/view.h"'
}

@test "tools/check-layers refuses an include of src/counters/linux outside of that folder" {
    copy_of_tree
    plant src/commands/planted.c '#include "counters/linux/file.h"'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.c '#include "linux/file.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/none/planted.c '#include "../linux/file.h"'
}

@test "tools/check-layers refuses an include of stdbool.h in the public header" {
    copy_of_tree
    plant include/camp/camp.h '#include <stdbool.h>'
}

@test "tools/check-layers refuses an include of a file of src in the public header" {
    copy_of_tree
    plant include/camp/camp.h '#include "../../src/counters/error.h"'
}

@test "tools/check-layers ignores an include in a comment" {
    copy_of_tree
    printf '/*\n#include "program/command.h"\n*/\n' >"$COPY/src/views/planted.c"
    accepted
}

@test "tools/check-layers refuses a preprocessor test of the operating system in a shared folder" {
    copy_of_tree
    plant src/commands/planted.c '#ifdef __linux__'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.h '#if defined(_WIN32) && 1'
    rm "$COPY/src/counters/planted.h"
    plant include/camp/planted.h '# elif defined(__sun)'
}

@test "tools/check-layers accepts a preprocessor test of the system in src/counters/linux" {
    copy_of_tree
    echo '#ifdef __linux__' >"$COPY/src/counters/linux/planted.c"
    accepted
}

@test "tools/check-layers refuses a file whose folder has no row in ARCHITECTURE.md" {
    copy_of_tree
    plant src/utilities/planted.c '#include <stdio.h>' '*: is in no room of ARCHITECTURE.md'
    rm "$COPY/src/utilities/planted.c"
    plant src/ledger/deeper/planted.c '' '*: is in no room of ARCHITECTURE.md'
}

@test "tools/check-layers reads its rules from the table in ARCHITECTURE.md" {
    copy_of_tree
    echo '#include "sources/source.h"' >"$COPY/src/views/planted.c"
    sed -i '/^| `src\/views` /s/`base`/`base` `sources`/' "$COPY/ARCHITECTURE.md"
    accepted
    sed -i '/^| `src\/views` /d' "$COPY/ARCHITECTURE.md"
    run -1 "$TREE/tools/check-layers" "$COPY"
    [[ $output == *'src/views/view.c:1: is in no room'* ]]
}

@test "tools/check-layers refuses a row of ARCHITECTURE.md about a folder that does not exist" {
    copy_of_tree
    sed -i 's/^| `src\/ledger` /| `src\/attic` | old things | `base` |\n&/' "$COPY/ARCHITECTURE.md"
    refused 'ARCHITECTURE.md:*: there is no folder src/attic'
}

@test "tools/check-layers refuses an ARCHITECTURE.md that permits an include of a missing folder" {
    copy_of_tree
    sed -i '/^| `src\/views\/http` /s/`base`/`base` `attic`/' "$COPY/ARCHITECTURE.md"
    refused 'ARCHITECTURE.md:*: src/views/http may include src/attic, which does not exist'
}

@test "tools/check-layers refuses an ARCHITECTURE.md whose table has no rows" {
    copy_of_tree
    sed -i '/^| `/d' "$COPY/ARCHITECTURE.md"
    run -1 "$TREE/tools/check-layers" "$COPY"
    [[ ${lines[0]} == 'ARCHITECTURE.md:1: there is no table of rooms' ]]
}

@test "tools/check-layers requires a README.md of 1 to 15 lines in each folder of the table" {
    copy_of_tree
    rm "$COPY/src/ledger/README.md"
    refused 'src/ledger/README.md:1: has 0 lines; each room has a README.md of 1 to 15 lines'
    seq 16 >"$COPY/src/ledger/README.md"
    refused 'src/ledger/README.md:1: has 16 lines; *'
}

@test "tools/check-layers refuses a README.md that names a missing file" {
    copy_of_tree
    plant src/ledger/README.md 'Open first: `attic.h`.' '1: names attic.h, which does not exist'
}

@test "tools/check-layers refuses a file of more than 450 lines" {
    copy_of_tree
    yes '/**/' | head -450 >"$COPY/src/views/planted.c"
    accepted
    plant src/views/planted.c '/**/' '1: has 451 lines, more than 450'
    rm "$COPY/src/views/planted.c"
    yes '#' | head -450 >"$COPY/tests/commands/planted.bats"
    plant tests/commands/planted.bats '#' '1: has 451 lines, more than 450'
}

@test "tools/check-layers refuses a folder of more than 40 files" {
    copy_of_tree
    for number in $(seq 10 40); do
        touch "$COPY/src/views/http/planted$number.c"
    done
    accepted
    for number in $(seq 41 50); do
        touch "$COPY/src/views/http/planted$number.c"
    done
    refused 'src/views/http:1: has 4[0-9] files, more than 40'
}
