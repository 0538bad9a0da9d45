#!/usr/bin/env bats
# bats file_tags=deep

bats_require_minimum_version 1.5.0
# Tests of tools/: set-up, format and the test suite.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
}

@test "tools/setup prints nothing if all packages are installed" {
    run "$TREE/tools/setup" build test
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "tools/setup prints the apt-get command for a user without sudo" {
    # A machine without any package, where the user is not root and sudo fails.
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/sudo"
    printf '#!/bin/sh\necho 1000\n' >"$BATS_TEST_TMPDIR/bin/id"
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$TREE/tools/setup" build
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == *'apt-get update'*'apt-get install'*' libelf-dev'* ]]
}

# A machine without any package, where sudo only writes its arguments to the file `did`. The command APT
# runs instead of apt-get.
simulated_machine() {
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

@test "tools/setup starts no server that it installs" {
    simulated_machine
    run -0 "$TREE/tools/setup" bench
    for server in nginx prometheus prometheus-node-exporter prometheus-process-exporter prometheus-postgres-exporter; do
        grep -qx "update-rc.d $server disable" "$BATS_TEST_TMPDIR/did"
    done
    [ -e /usr/sbin/policy-rc.d ] || sed -n '/tee .*policy-rc.d/,/rm -f .*policy-rc.d/p' \
        "$BATS_TEST_TMPDIR/did" | grep -q 'apt-get.* install'
}

@test "tools/setup leaves no file behind after SIGTERM" {
    simulated_machine 'kill -TERM $PPID; sleep 0.2'
    run -143 "$TREE/tools/setup" test
    [ -z "$(ls "$TMPDIR")" ]
    [ -e /usr/sbin/policy-rc.d ] || grep -q 'rm -f .*policy-rc.d' "$BATS_TEST_TMPDIR/did"
}

@test "tools/setup refuses an unknown target as a usage error" {
    run "$TREE/tools/setup" cellar
    [ "$status" -eq 2 ]
}

@test "tools/check-format refuses a line that is not formatted" {
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

# suite SCRIPT: runs a suite in a separate tree. The Python code SCRIPT has the steps of the suite.
suite() {
    mkdir -p "$BATS_TEST_TMPDIR/tree/tools"
    cp "$TREE/tools/suite.py" "$BATS_TEST_TMPDIR/tree/tools/"
    run env PYTHONPATH="$BATS_TEST_TMPDIR/tree/tools" python3 -c "
import sys
from suite import Suite, once
passes = lambda *names: lambda _: {name: (1, [], []) for name in names}
def flaky(*names):
    seen = set()
    def run(asked):
        results = {name: (1, [], []) if name in seen else (0, [(name, 'said ' + name)], [])
                   for name in asked or names}
        seen.update(asked or names)
        return results
    return run
broken = lambda asked: {name: (0, [(name, 'said ' + name)], []) for name in asked or ['one']}
suite = Suite('try')
$1
sys.exit(suite.end())"
}

@test "the last line of a test run counts passed, failed, skipped and repeated tests" {
    suite "suite.step('a', passes('one', 'two')); suite.step('b', lambda _: {'c': (0, [], ['c: no c here'])})"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == "2 passed, 0 failed, 1 skipped, 0 asked again, in 0:0"* ]]
    [[ $output == *"skip b: c: no c here"* ]]
}

@test "a test that passes in a second run is counted as repeated" {
    suite "suite.step('a', flaky('one', 'two', 'three'))"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == "3 passed, 0 failed, 0 skipped, 3 asked again, in "* ]]
    grep -qx 'said two' "$BATS_TEST_TMPDIR/tree/build/try-asked-again.log"
}

@test "a test run fails if more than three tests were repeated" {
    suite "suite.step('a', flaky('one', 'two')); suite.step('b', flaky('three', 'four'))"
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == "4 passed, 1 failed, 0 skipped, 4 asked again, in "* ]]
}

@test "a test that fails twice is shown with its output" {
    suite "suite.step('a', broken)"
    [ "$status" -eq 1 ]
    [[ $output == *"FAIL a: one"*"said one"* ]]
    [[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped, 1 asked again, in "* ]]
}

@test "a failed test that does not depend on time is not repeated" {
    suite "suite.step('a', once(flaky('one')))"
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped, 0 asked again, in "* ]]
}

# file_suite SETUP: runs a suite of one bats file, which has two tests and the set-up SETUP.
file_suite() {
    mkdir -p "$BATS_TEST_TMPDIR/tree/tests"
    printf '%s\n' "setup_file() { $1; }" '@test "one" { true; }' '@test "two" { true; }' \
        >"$BATS_TEST_TMPDIR/tree/tests/some.bats"
    suite "
from suite import TREE, of_bats
suite.step('a', of_bats([TREE / 'tests/some.bats'], '!none'))"
}

@test "a test file whose set-up fails once is repeated as a whole" {
    file_suite "[ -e '$BATS_TEST_TMPDIR/seen' ] || { touch '$BATS_TEST_TMPDIR/seen'; false; }"
    [ "$status" -eq 0 ]
    [[ $output == *"asked again: a: tests/some.bats "* ]]
    [[ ${lines[-1]} == "2 passed, 0 failed, 0 skipped, 1 asked again, in "* ]]
}

@test "a test file whose set-up fails twice is reported by name" {
    file_suite false
    [ "$status" -eq 1 ]
    [[ $output == *"FAIL a: tests/some.bats"* ]]
    [[ ${lines[-1]} == "0 passed, 1 failed, 0 skipped, 1 asked again, in "* ]]
}

# bats_suite STATUS...: runs a suite whose bats passes its one test, and ends with each STATUS in turn.
bats_suite() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/statuses"
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' 'echo 1..1; echo ok 1 one' "cd '$BATS_TEST_TMPDIR'" \
        'status=$(head -1 statuses); sed -i 1d statuses; exit "$status"' >"$BATS_TEST_TMPDIR/bin/bats"
    chmod +x "$BATS_TEST_TMPDIR/bin/bats"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH suite "
from suite import of_bats
suite.step('a', of_bats([], '!none'))"
}

@test "all tests are repeated if bats fails and no test of it does" {
    bats_suite 1 0
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == "1 passed, 0 failed, 0 skipped, 1 asked again, in "* ]]
    bats_suite 1 1
    [ "$status" -eq 1 ]
    [[ $output == *"FAIL a: bats ended with status 1"* ]]
}

@test "a test run fails if no test passed" {
    suite "suite.step('a', lambda _: {'c': (0, [], ['c: no c here'])})"
    [ "$status" -eq 1 ]
}

@test "each fuzzer has a kept corpus" {
    for fuzzer in "$TREE"/tests/fuzz/fuzz_*.*; do
        name=$(basename "${fuzzer%.*}")
        [ -s "$TREE/tests/fuzz/corpus/$name.txt" ] || {
            echo "run: tools/fuzz 60 $name && tools/fuzz --merge $name"
            false
        }
    done
}

@test "each fuzzer names the parsers that it is for" {
    for fuzzer in "$TREE"/tests/fuzz/fuzz_*.*; do
        run sed -nE 's,^(/\*|//) Parser: ([^ ]+).*,\2,p' "$fuzzer"
        echo "$fuzzer: $output"
        [ -n "$output" ]
        for parser in "${lines[@]}"; do [ -f "$TREE/$parser" ]; done
    done
}

@test "tools/fuzz lists the fuzzers if there is none of a name" {
    run -2 --separate-stderr "$TREE/tools/fuzz" 5 fuzz_nothing
    [ -z "$output" ]
    [[ $stderr == "tools/fuzz: there is no fuzzer 'fuzz_nothing'; the fuzzers are fuzz_axes, "* ]]
}
