#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Runs each command of the README and the documents as printed, with an installed camp. Checks each link, in the
# tree and in the installed documents, and the rows of each table.

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    ROOT=$BATS_FILE_TMPDIR/root
    meson install -C "$(dirname "$(dirname "$CAMP")")" --no-rebuild --quiet --destdir "$ROOT" >&2
    PROGRAMS=$(dirname "$(find "$ROOT" -path '*/bin/camp' -type f)")
    TEXTS=$(dirname "$PROGRAMS")/share/doc/camp
    export TREE ROOT PROGRAMS TEXTS
}

# run_document DOCUMENT: runs its commands in an empty folder. If a line cannot be tested here, the test is skipped.
run_document() {
    mkdir "$BATS_TEST_TMPDIR/folder"
    run /usr/bin/python3 "$TREE/tests/commands/document_commands.py" "$PROGRAMS" "$1" "$BATS_TEST_TMPDIR/folder"
    echo "$output"
    [ "$status" -eq 0 ]
    skipped=$(sed -n 's/^skip: //p' <<<"$output" | paste -sd ';')
    [ -z "$skipped" ] || skip "${lines[-1]}: $skipped"
}

@test "each command in README.md works as printed" {
    run_document "$TEXTS/README.md"
}

@test "each command in docs/install.md works as printed" {
    run_document "$TEXTS/docs/install.md"
}

# bats test_tags=deep
@test "each command in docs/pictures.md draws the picture that the document shows" {
    run_document "$TEXTS/docs/pictures.md"
    for picture in "$BATS_TEST_TMPDIR"/folder/*.svg; do
        echo "${picture##*/} is not what its command draws"
        cmp "$picture" "$TEXTS/docs/images/${picture##*/}"
    done
}

# bats test_tags=deep
@test "each command in docs/recording.md works as printed" {
    run_document "$TEXTS/docs/recording.md"
}

# bats test_tags=deep
@test "each command in docs/tables.md works as printed" {
    run_document "$TEXTS/docs/tables.md"
}

# bats test_tags=deep
@test "each command in docs/top.md works as printed" {
    run_document "$TEXTS/docs/top.md"
}

# bats test_tags=deep
@test "each command in docs/view.md works as printed" {
    run_document "$TEXTS/docs/view.md"
}

# refused TEXT PATTERN: a document with this text must fail, and the report must match the pattern.
refused() {
    rm -rf "$BATS_TEST_TMPDIR/folder"
    mkdir "$BATS_TEST_TMPDIR/folder"
    printf '%b\n' "$1" >"$BATS_TEST_TMPDIR/planted.md"
    run -1 /usr/bin/python3 "$TREE/tests/commands/document_commands.py" "$PROGRAMS" \
        "$BATS_TEST_TMPDIR/planted.md" "$BATS_TEST_TMPDIR/folder"
    echo "$output"
    # shellcheck disable=SC2053
    [[ $output == $2 ]]
}

# bats test_tags=deep
@test "document_commands.py reports a command that fails or prints other output than shown" {
    refused '```sh\ncamp list cpus\ncamp lisp\n```' "FAIL: planted.md:3: camp lisp: ended in 2: camp: *1 failed"
    refused '```sh\ncamp view --from run.camp\n```' '*FAIL: planted.md:2: *1 failed'
    refused '```sh\nmake coffee\n```' 'FAIL: planted.md:2: make coffee: the Makefile has no target coffee*'
    refused '```sh\ncamp --version\n```\n\n```text output\ncamp 0\n```' '*planted.md:6: the output is:*1 failed'
}

# bats test_tags=deep
@test "document_commands.py reports a code block without a language" {
    refused 'x\n\n```\ncamp lisp\n```' 'FAIL: line 3: the block needs a language*'
    refused 'x\n\n    camp lisp' 'FAIL: line 3: an indented block*'
    refused 'x' '0 lines ran*'
}

# bats test_tags=deep
@test "each link in the documents has a target in the source tree" {
    run -0 /usr/bin/python3 "$TREE/tests/commands/document_links.py" "$TREE"
}

@test "each link in the documents has a target in the installed tree" {
    run /usr/bin/python3 "$TREE/tests/commands/document_links.py" "$TEXTS"
    echo "$output"
    [ "$status" -eq 0 ]
}

# bats test_tags=deep
@test "document_links.py reports a link without a target" {
    mkdir "$BATS_TEST_TMPDIR/docs"
    printf '# Here and there\n[a](gone.md) [b](../../x.md) [c](#here-and-there) [d](#not-here)\n' \
        >"$BATS_TEST_TMPDIR/docs/a.md"
    run -1 /usr/bin/python3 "$TREE/tests/commands/document_links.py" "$BATS_TEST_TMPDIR"
    [ "${#lines[@]}" -eq 4 ]
    [ "${lines[0]}" = 'docs/a.md: gone.md does not exist' ]
    [ "${lines[1]}" = 'docs/a.md: ../../x.md leads out of the folder' ]
    [ "${lines[2]}" = 'docs/a.md: #not-here has no such heading' ]
}

@test "each row of a table in the documents has as many cells as the first row" {
    run -0 /usr/bin/python3 "$TREE/tests/commands/document_tables.py" "$TREE"
}

# bats test_tags=deep
@test "document_tables.py reports a table that GitHub does not show as it is written" {
    mkdir "$BATS_TEST_TMPDIR/docs"
    printf '%s\n' 'a | b |' '|---|---|' '| 1 | 2 |' '' '| a | b |' '|---|---|' '| 1 | 2 \| 3 |' '| 1 |' '| 1 | 2' \
        >"$BATS_TEST_TMPDIR/docs/a.md"
    run -1 /usr/bin/python3 "$TREE/tests/commands/document_tables.py" "$BATS_TEST_TMPDIR"
    echo "$output"
    [ "${#lines[@]}" -eq 4 ]
    [ "${lines[0]}" = 'docs/a.md:2: the first row of a table, and no row of dashes is below it' ]
    [ "${lines[1]}" = 'docs/a.md:8: 1 cells, and the first row of the table has 2' ]
    [ "${lines[2]}" = 'docs/a.md:9: 1 cells, and the first row of the table has 2' ]
    [ "${lines[3]}" = '2 tables' ]
}

# missing_in_security WORD...: prints each word that is not between backquotes in docs/security.md, alone or in a list.
missing_in_security() {
    local word
    for word in "$@"; do
        grep -qF "\`$word\`" "$TREE/docs/security.md" || echo "$word"
    done
}

@test "docs/security.md names each environment variable that camp reads" {
    names=$(grep -rhoE 'getenv\("[A-Za-z_]+|folders\[\] = .*' "$TREE"/src --include='*.c' | grep -oE '"[A-Za-z_]+' | tr -d '"' | sort -u)
    [ "$(wc -w <<<"$names")" -ge 20 ]
    # shellcheck disable=SC2086
    run -0 missing_in_security $names
    [ -z "$output" ] || { echo "not in docs/security.md: $output" && false; }
}

@test "docs/security.md names each file of the system that a confined command may read" {
    files=$(grep -oE '"/[a-z][^"%]*"' "$TREE/src/program/linux/sandbox.c" | tr -d '"' | sort -u)
    [ "$(wc -w <<<"$files")" -ge 25 ]
    # shellcheck disable=SC2086
    run -0 missing_in_security $files
    [ -z "$output" ] || { echo "not in docs/security.md: $output" && false; }
}

@test "docs/security.md names each command, and only tests that exist" {
    # shellcheck disable=SC2046
    run -0 missing_in_security $("$PROGRAMS/camp" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
    [ -z "$output" ] || { echo "not in docs/security.md: $output" && false; }
    named=$(grep -oE '`tests/[a-z/_.]+[*]?`' "$TREE/docs/security.md" | tr -d '`*')
    [ "$(wc -w <<<"$named")" -ge 15 ]
    for name in $named; do
        echo "$name"
        compgen -G "$TREE/$name*" >"$BATS_TEST_TMPDIR/found"
    done
}
