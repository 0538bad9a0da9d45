#!/usr/bin/env bats
# Recordings and SQLite files that somebody made to do harm: each ends in one line and the right
# status, within seconds. hostile_recordings.py has the files.

bats_require_minimum_version 1.5.0
load children
load record

setup_file() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    export CAMP FILES=$BATS_FILE_TMPDIR/files
    cd "$BATS_FILE_TMPDIR" || return 1
    make_table 5 100
    "$CAMP" record --from data.csv --output good.camp
    mkdir "$FILES"
    /usr/bin/python3 -B "$BATS_TEST_DIRNAME/hostile_recordings.py" good.camp "$FILES"
}

setup() {
    cd "$FILES" || return 1
}

teardown() {
    end_children KILL
    rm -f "$BATS_TEST_TMPDIR"/*.html "$BATS_TEST_TMPDIR"/*.camp
}

# Runs a command, which must end by itself: 124 is the status of a command that did not.
limited() {
    local memory=(prlimit --as=2000000000)
    [ -z "${CAMP_SANITIZED:-}" ] || memory=() # shadow memory takes terabytes of addresses
    run --separate-stderr timeout --kill-after=1 60 "${memory[@]}" "$CAMP" "$@"
    echo "$*: status $status, stdout '${output:0:300}', stderr '${stderr:0:300}'"
    [ "$status" -ne 124 ]
    [ "$status" -lt 128 ]
}

is_harmless() {
    /usr/bin/python3 -B "$BATS_TEST_DIRNAME/hostile_recordings.py" harmless | grep -x "${1%.camp}" >/dev/null
}

@test "each hostile recording is refused by each command in one line" {
    files=0
    for file in *.camp; do
        ! is_harmless "$file" || continue
        files=$((files + 1))
        rm -f "$BATS_TEST_TMPDIR"/x.*
        limited top --from "$file" --speed 0
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp top: "*"${file}"* ]]
        limited record --from "$file" --output "$BATS_TEST_TMPDIR/x.camp"
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        limited report --from "$file" --output "$BATS_TEST_TMPDIR/x.html"
        [ "$status" -eq 1 ]
        limited check --from "$file"
        [[ $status == [12] ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
        limited compare ../good.camp "$file"
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp compare: "*"${file}"* ]]
        limited why --from "$file"
        [ "$status" -eq 1 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp why: "*"${file}"* ]]
    done
    [ "$files" -ge 32 ]
}

@test "camp record --info ends on each hostile recording" {
    for file in *.camp; do
        limited record --info "$file"
        [[ $status == [01] ]]
        [ "${#stderr_lines[@]}" -le 1 ]
        [ "$status" -eq 0 ] || [ "${#stderr_lines[@]}" -eq 1 ]
    done
    for file in a_view_without_end rows_of_a_view a_virtual_table a_computed_column a_tree_without_end \
        an_empty_file a_pipe a_folder a_socket; do
        limited record --info "$file.camp"
        [ "$status" -eq 1 ]
    done
}

@test "a strange recording that can be shown is shown by each command" {
    files=0
    while read -r name; do
        files=$((files + 1))
        rm -f "$BATS_TEST_TMPDIR"/x.*
        for format in text json csv; do
            limited top --from "$name.camp" --speed 0 --sort unaccounted --format "$format"
            [ "$status" -eq 0 ]
            [ -n "$output" ]
        done
        limited report --from "$name.camp" --output "$BATS_TEST_TMPDIR/x.html"
        [ "$status" -eq 0 ]
        limited record --from "$name.camp" --output "$BATS_TEST_TMPDIR/x.camp"
        [ "$status" -eq 0 ]
        limited record --info "$name.camp"
        [ "$status" -eq 0 ]
        limited compare "$name.camp" "$name.camp"
        [[ $status == [03] ]]
        [[ $output != *$'\e'* ]]
        [[ $(sed -n 3p <<<"$output") == +([0-9])" of "+([0-9])" row"* ]]
    done < <(/usr/bin/python3 -B "$BATS_TEST_DIRNAME/hostile_recordings.py" harmless)
    [ "$files" -ge 7 ]
}

@test "camp check refuses a recording whose CPUs have other columns than those of check" {
    cd "$BATS_TEST_TMPDIR"
    "$CAMP" record --from check --tier schedstat --interval 50ms --count 2 --output check.camp
    limited check --from check.camp
    [ "$status" -eq 0 ]
    cp check.camp named.camp
    sqlite3 named.camp "UPDATE column_info SET name = 'other_ns'
        WHERE table_name = 'cpus' AND position = 7"
    sqlite3 check.camp "DELETE FROM column_info WHERE table_name = 'cpus' AND position >= 6"
    for file in check.camp named.camp; do
        limited check --from "$file"
        [ "$status" -eq 2 ]
        [[ $stderr == "camp check: --from $file: camp check shows a recording of check "* ]]
    done
}

# Starts a command, waits until it has used CPU time, and sends it a signal. It must end.
ends_by_signal() {
    local signal=$1 used
    shift
    timeout --foreground --kill-after=1 60 "$CAMP" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    LOAD=$!
    local child=
    until [ -n "$child" ]; do child=$(pgrep -P "$LOAD") || sleep 0.02; done
    until used=$(cut -d' ' -f14 "/proc/$child/stat"); [ "$used" -ge 20 ]; do sleep 0.05; done
    kill "-$signal" "$child"
    wait "$LOAD" || status=$?
    LOAD=
    cat "$BATS_TEST_TMPDIR/err"
    [ "${status:-0}" -lt 124 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -le 1 ]
}

@test "a query of a view without end is ended by SIGINT and SIGTERM" {
    cd "$BATS_TEST_TMPDIR"
    sqlite3 endless.db "CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
        SELECT i + 1 FROM n) SELECT i AS time, 'a' AS entity, 1 AS busy FROM n WHERE i < 0"
    ends_by_signal INT top --from sqlite:endless.db --query 'SELECT * FROM t'
    ends_by_signal TERM top --from sqlite:endless.db --query 'SELECT * FROM t'
}

@test "a query reads only files, and attaches and loads nothing" {
    cd "$BATS_TEST_TMPDIR"
    mkfifo pipe.db
    limited top --from sqlite:pipe.db --query 'SELECT 1'
    [ "$status" -eq 1 ]
    [[ $stderr == "camp top: pipe.db is a pipe, not a file" ]]
    sqlite3 some.db "CREATE TABLE t(time, entity, busy)"
    limited top --from sqlite:some.db --query "SELECT load_extension('x')"
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp top: SQLite: not authorized" ]
    limited top --from sqlite:some.db --query "ATTACH 'other.db' AS other"
    [ "$status" -eq 2 ]
    [ ! -e other.db ]
}
