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

@test "tools/check-layers accepts the tree" {
    run -0 "$TREE/tools/check-layers" "$TREE"
    [ -z "$output" ]
}

@test "tools/check-layers refuses an empty tree" {
    run -1 "$TREE/tools/check-layers" "$BATS_TEST_TMPDIR"
}

@test "src/ledger may not include a source" {
    copy_of_tree
    plant src/ledger/planted.c '#include "sources/source.h"'
}

@test "src/ledger may not include a view" {
    copy_of_tree
    plant src/ledger/planted.c '#include "../views/view.h"'
}

@test "src/ledger may not include a command" {
    copy_of_tree
    plant src/ledger/planted.c '#include "program/command.h"'
}

@test "src/ledger may not do input or output" {
    copy_of_tree
    plant src/ledger/planted.c '#include <stdio.h>'
}

@test "src/ledger may not include a library" {
    copy_of_tree
    plant src/ledger/planted.c '#include <zlib.h>'
}

@test "src/ledger may not read a clock" {
    copy_of_tree
    plant src/ledger/planted.c '#include <time.h>'
}

@test "a source may not include a view" {
    copy_of_tree
    plant src/sources/planted.c '#include "views/record.h"'
}

@test "a source may not include a command" {
    copy_of_tree
    plant src/sources/planted.c '#include "../commands/command.h"'
}

@test "the source of one database may not include that of another database" {
    copy_of_tree
    plant src/sources/sessions/postgres/planted.c '#include "sources/sessions/mariadb/mariadb.h"'
    rm "$COPY/src/sources/sessions/postgres/planted.c"
    plant src/sources/sessions/mariadb/planted.c '#include "../odbc/odbc.h"'
}

@test "src/sources/fleet may not include tables, or sessions of databases" {
    copy_of_tree
    plant src/sources/fleet/planted.c '#include "sources/sessions/session.h"'
    rm "$COPY/src/sources/fleet/planted.c"
    plant src/sources/fleet/planted.c '#include "sources/tables/rows.h"'
}

@test "src/sources/machine may not include the sources of servers" {
    copy_of_tree
    plant src/sources/machine/planted.c '#include "sources/sessions/session.h"'
}

@test "other rooms may include only the units and errors of src/counters" {
    for room in sources views commands; do
        copy_of_tree
        plant src/$room/planted.c '#include "counters/text.h"'
        printf '#include "counters/units.h"\n#include "counters/error.h"\n' >"$COPY/src/$room/planted.c"
        accepted
        rm "$COPY/src/$room/planted.c"
    done
}

@test "a view may not include a source" {
    copy_of_tree
    plant src/views/planted.c '#include "sources/source.h"'
}

@test "a view may not include a command" {
    copy_of_tree
    plant src/views/planted.c '#include "program/command.h"'
}

@test "libcamp may not include the rooms above it" {
    copy_of_tree
    plant src/counters/planted.c '#include "ledger/frame.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/linux/planted.c '#include "../../views/view.h"'
}

@test "only the folder of a system may include the files of that system" {
    copy_of_tree
    plant src/commands/planted.c '#include "counters/linux/file.h"'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.c '#include "linux/file.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/none/planted.c '#include "../linux/file.h"'
}

@test "the public header may include only stddef.h and stdint.h" {
    copy_of_tree
    plant include/camp/camp.h '#include <stdbool.h>'
}

@test "the public header may not include a file of src" {
    copy_of_tree
    plant include/camp/camp.h '#include "../../src/counters/error.h"'
}

@test "tools/check-layers ignores an include in a comment" {
    copy_of_tree
    printf '/*\n#include "program/command.h"\n*/\n' >"$COPY/src/views/planted.c"
    accepted
}

@test "a shared folder may not test the operating system it is built for" {
    copy_of_tree
    plant src/commands/planted.c '#ifdef __linux__'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.h '#if defined(_WIN32) && 1'
    rm "$COPY/src/counters/planted.h"
    plant include/camp/planted.h '# elif defined(__sun)'
}

@test "the folder of a system may test the operating system" {
    copy_of_tree
    echo '#ifdef __linux__' >"$COPY/src/counters/linux/planted.c"
    accepted
}

@test "tools/check-layers refuses a file in a folder without a row in the table" {
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

@test "tools/check-layers refuses a row of a folder that does not exist" {
    copy_of_tree
    sed -i 's/^| `src\/ledger` /| `src\/attic` | old things | `base` |\n&/' "$COPY/ARCHITECTURE.md"
    refused 'ARCHITECTURE.md:*: there is no folder src/attic'
}

@test "tools/check-layers refuses a room that may include what does not exist" {
    copy_of_tree
    sed -i '/^| `src\/views\/http` /s/`base`/`base` `attic`/' "$COPY/ARCHITECTURE.md"
    refused 'ARCHITECTURE.md:*: src/views/http may include src/attic, which does not exist'
}

@test "tools/check-layers refuses a table without rows" {
    copy_of_tree
    sed -i '/^| `/d' "$COPY/ARCHITECTURE.md"
    run -1 "$TREE/tools/check-layers" "$COPY"
    [[ ${lines[0]} == 'ARCHITECTURE.md:1: there is no table of rooms' ]]
}

@test "a room needs a README.md of at most 15 lines" {
    copy_of_tree
    rm "$COPY/src/ledger/README.md"
    refused 'src/ledger/README.md:1: has 0 lines; each room has a README.md of 1 to 15 lines'
    seq 16 >"$COPY/src/ledger/README.md"
    refused 'src/ledger/README.md:1: has 16 lines; *'
}

@test "a README.md may not name a file that does not exist" {
    copy_of_tree
    plant src/ledger/README.md 'Open first: `attic.h`.' '1: names attic.h, which does not exist'
}

@test "a file may not have more than 450 lines" {
    copy_of_tree
    yes '/**/' | head -450 >"$COPY/src/views/planted.c"
    accepted
    plant src/views/planted.c '/**/' '1: has 451 lines, more than 450'
    rm "$COPY/src/views/planted.c"
    yes '#' | head -450 >"$COPY/tests/commands/planted.bats"
    plant tests/commands/planted.bats '#' '1: has 451 lines, more than 450'
}

@test "a folder may not have more than 40 files" {
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
