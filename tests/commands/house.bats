#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The house itself: its layers, its recipes; and what holds for every command.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

# ---------------------------------------------------------------------------- layers --

copy_of_tree() {
    COPY=$BATS_TEST_TMPDIR/tree
    mkdir -p "$COPY"
    cp -r "$TREE/include" "$TREE/src" "$COPY/"
}

# plant FILE LINE: the layer check must now fail, and name the file.
plant() {
    mkdir -p "$(dirname "$COPY/$1")"
    echo "$2" >>"$COPY/$1"
    run "$TREE/tools/check-layers" "$COPY"
    [ "$status" -eq 1 ]
    [[ $output == *"$1:"* ]]
    [ "$(echo "$output" | wc -l)" -eq 1 ]
}

@test "layers: the tree as it is is in order" {
    run "$TREE/tools/check-layers" "$TREE"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "layers: an empty tree is not in order" {
    run "$TREE/tools/check-layers" "$BATS_TEST_TMPDIR"
    [ "$status" -eq 1 ]
}

@test "layers: the ledger may not include a source" {
    copy_of_tree
    plant src/ledger/planted.c '#include "sources/source.h"'
}

@test "layers: the ledger may not include a view" {
    copy_of_tree
    plant src/ledger/planted.c '#include "../views/view.h"'
}

@test "layers: the ledger may not include a command" {
    copy_of_tree
    plant src/ledger/planted.c '#include "commands/command.h"'
}

@test "layers: the ledger may not do input or output" {
    copy_of_tree
    plant src/ledger/planted.c '#include <stdio.h>'
}

@test "layers: the ledger calculates with a library where that is named only" {
    copy_of_tree
    plant src/ledger/planted.c '#include <gsl/gsl_linalg.h>'
}

@test "layers: the ledger may not read a clock" {
    copy_of_tree
    plant src/ledger/planted.c '#include <time.h>'
}

@test "layers: a source may not include a view" {
    copy_of_tree
    plant src/sources/planted.c '#include "views/record.h"'
}

@test "layers: a source may not include a command" {
    copy_of_tree
    plant src/sources/planted.c '#include "../commands/command.h"'
}

@test "layers: of libcamp's inner headers others know the units and errors only" {
    for room in sources views commands; do
        copy_of_tree
        plant src/$room/planted.c '#include "counters/text.h"'
        printf '#include "counters/units.h"\n#include "counters/error.h"\n' \
            >"$COPY/src/$room/planted.c"
        run "$TREE/tools/check-layers" "$COPY"
        [ "$status" -eq 0 ]
    done
}

@test "layers: a view may not include a source" {
    copy_of_tree
    plant src/views/planted.c '#include "sources/source.h"'
}

@test "layers: a view may not include a command" {
    copy_of_tree
    plant src/views/planted.c '#include "commands/command.h"'
}

@test "layers: counters may not include the rooms above them" {
    copy_of_tree
    plant src/counters/planted.c '#include "ledger/frame.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/linux/planted.c '#include "../../views/view.h"'
}

@test "layers: a system's folder is included from nowhere else" {
    copy_of_tree
    plant src/commands/planted.c '#include "counters/linux/file.h"'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.c '#include "linux/file.h"'
    rm "$COPY/src/counters/planted.c"
    plant src/counters/none/planted.c '#include "../linux/file.h"'
}

@test "layers: no room asks which system it is" {
    copy_of_tree
    plant src/commands/planted.c '#ifdef __linux__'
    rm "$COPY/src/commands/planted.c"
    plant src/counters/planted.h '#if defined(_WIN32) && 1'
    rm "$COPY/src/counters/planted.h"
    plant include/camp/planted.h '# elif defined(__sun)'
}

@test "layers: a system's own folder may ask" {
    copy_of_tree
    echo '#ifdef __linux__' >"$COPY/src/counters/linux/planted.c"
    run "$TREE/tools/check-layers" "$COPY"
    [ "$status" -eq 0 ]
}

@test "layers: the public header includes stddef.h and stdint.h only" {
    copy_of_tree
    plant include/camp/camp.h '#include <stdbool.h>'
}

@test "layers: the public header includes nothing of src" {
    copy_of_tree
    plant include/camp/camp.h '#include "../../src/counters/error.h"'
}

@test "layers: an include in a comment is none" {
    copy_of_tree
    printf '/*\n#include "commands/command.h"\n*/\n' >"$COPY/src/views/planted.c"
    run "$TREE/tools/check-layers" "$COPY"
    [ "$status" -eq 0 ]
}

@test "layers: a folder that is no room is refused" {
    copy_of_tree
    plant src/utilities/planted.c '#include <stdio.h>'
}

# ---------------------------------------------------------------------------- recipes --

@test "set-up: what is there already is left alone, silently" {
    run "$TREE/tools/setup" build test
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "set-up: an ordinary user without sudo is told the one line to run" {
    # A machine on which no package is installed, and nobody may be root.
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/sudo"
    printf '#!/bin/sh\necho 1000\n' >"$BATS_TEST_TMPDIR/bin/id"
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$TREE/tools/setup" build
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == *'apt-get update'*'apt-get install'*' libmnl-dev'* ]]
}

# A machine on which no package is installed, and on which sudo does nothing but write down in `did` what
# it was asked for. APT: a command that apt-get stands for.
machine_that_does_nothing() {
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/tmp"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
    printf '#!/bin/sh\necho 1000\n' >"$BATS_TEST_TMPDIR/bin/id"
    cat >"$BATS_TEST_TMPDIR/bin/sudo" <<END
#!/bin/sh
shift
echo "\$*" >>"$BATS_TEST_TMPDIR/did"
case \$* in *'apt-get'*' install '*) ${1:-true} ;; esac
END
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    export TMPDIR=$BATS_TEST_TMPDIR/tmp PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "set-up: no server of the packages that it installs is started, now or with the machine" {
    machine_that_does_nothing
    run -0 "$TREE/tools/setup" bench
    for server in nginx prometheus prometheus-node-exporter prometheus-process-exporter; do
        grep -qx "update-rc.d $server disable" "$BATS_TEST_TMPDIR/did"
    done
    [ -e /usr/sbin/policy-rc.d ] || sed -n '/tee .*policy-rc.d/,/rm -f .*policy-rc.d/p' \
        "$BATS_TEST_TMPDIR/did" | grep -q 'apt-get.* install'
}

@test "set-up: when it is ended it leaves no policy and no file behind" {
    machine_that_does_nothing 'kill -TERM $PPID; sleep 0.2'
    run -143 "$TREE/tools/setup" test
    [ -z "$(ls "$TMPDIR")" ]
    [ -e /usr/sbin/policy-rc.d ] || grep -q 'rm -f .*policy-rc.d' "$BATS_TEST_TMPDIR/did"
}

@test "set-up: a room that does not exist is a usage error" {
    run "$TREE/tools/setup" cellar
    [ "$status" -eq 2 ]
}

@test "format: a line that is not formatted is refused" {
    mkdir -p "$BATS_TEST_TMPDIR/tree/tools"
    cp "$TREE/.clang-format" "$BATS_TEST_TMPDIR/tree/"
    cp "$TREE/tools/check-format" "$BATS_TEST_TMPDIR/tree/tools/"
    cd "$BATS_TEST_TMPDIR/tree"
    printf 'int   a;\n' >a.c
    run tools/check-format
    [ "$status" -ne 0 ]
    tools/check-format --fix
    [ "$(cat a.c)" = 'int a;' ]
    run tools/check-format
    [ "$status" -eq 0 ]
}

# -------------------------------------------------------------------------- commands --

# All that there are, by camp's own word.
commands() {
    "$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

@test "camp alone is a usage error and names the commands" {
    run "$CAMP"
    [ "$status" -eq 2 ]
    [[ $output == *check* ]]
}

@test "camp --help names every command and exits 0" {
    run "$CAMP" --help
    [ "$status" -eq 0 ]
    for command in check top time wait view record report get list doctor load verify probe; do
        [[ $output == *$command* ]]
    done
}

@test "--help of each command exits 0 and says its usage" {
    for command in $(commands); do
        run --separate-stderr "$CAMP" "$command" --help
        [ "$status" -eq 0 ]
        [[ $output == *"camp $command"* ]]
        [ -z "$stderr" ]
    done
}

@test "--help of each command and load fits a terminal of 80 columns" {
    for words in '' $(commands) 'load cpu' 'load fork' 'load memory' \
        'load net' 'load io' 'load threads'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" $words --help
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -gt 3 ]
        for line in "${lines[@]}"; do
            echo "camp $words --help: $line"
            [ "${#line}" -le 80 ]
        done
    done
}

@test "--version prints the version and exits 0" {
    run "$CAMP" --version
    [ "$status" -eq 0 ]
    [[ $output =~ [0-9]+\.[0-9]+\.[0-9]+ ]]
}

@test "help COMMAND is what COMMAND --help is, and help alone what --help is" {
    for words in '' $(commands) 'load cpu'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" help $words
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        # shellcheck disable=SC2086
        [ "$output" = "$("$CAMP" $words --help)" ]
    done
    run --separate-stderr "$CAMP" help chekc
    [ "$status" -eq 2 ]
    [[ $stderr == "camp: there is no command 'chekc'; did you mean 'check'?" ]]
}

@test "an unknown command is a usage error, on stderr, and a near one is suggested" {
    run --separate-stderr "$CAMP" chekc
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ $stderr == "camp: there is no command 'chekc'; did you mean 'check'?" ]]
    run --separate-stderr "$CAMP" hlep
    [[ $stderr == *"did you mean 'help'?" ]]
    run --separate-stderr "$CAMP" measure
    [ "$status" -eq 2 ]
    [[ $stderr == "camp: there is no command 'measure'; see camp --help" ]]
}

@test "an option that is nearly there is suggested" {
    for command in check get list doctor verify probe; do
        run --separate-stderr "$CAMP" "$command" --fromat json
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ $stderr == "camp $command: there is no option --fromat; did you mean --format?" ]]
    done
}

@test "an unknown option of each command is a usage error, in one line on stderr" {
    for command in $(commands); do
        run --separate-stderr "$CAMP" "$command" --no-such-option
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ $stderr == *"camp $command: "*no-such-option* ]]
    done
}

@test "a reader that goes away early ends camp quietly" {
    run --separate-stderr bash -c '
        "$1" check --interval 0.1 --count 3 | head -1; echo "${PIPESTATUS[0]}"' - "$CAMP"
    [ "${#lines[@]}" -eq 2 ]
    [ "${lines[1]}" = 0 ]
    [ -z "$stderr" ]
}

@test "a full disk is one line on stderr and exit 1" {
    for words in 'check --interval 0.1 --count 1' 'list cpus' doctor --help 'check --help' --version; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$@" >/dev/full' - "$CAMP" $words
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == camp*'No space left'* ]]
    done
}

@test "a closed stdout is one line on stderr and exit 1" {
    run --separate-stderr bash -c '"$1" check --interval 0.1 --count 1 >&-' - "$CAMP"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
}
