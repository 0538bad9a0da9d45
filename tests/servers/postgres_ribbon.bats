#!/usr/bin/env bats
# bats file_tags=deep
# The ribbon of sessions: the line of the server's CPUs, and its layers by application and by statement, live and of a
# recording.

bats_require_minimum_version 1.5.0
load lib

SPIN='do $$ begin loop end loop; end $$'

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    servers_begin
    start_postgres compute_query_id=on
    export PG_FOLDER PG_PID PG
    SUPER="host=$PG_FOLDER dbname=postgres user=camp_super"
    for name in busy1 busy2 busy3; do
        PGAPPNAME=$name "$POSTGRES_BIN/psql" -X -q "$SUPER" -c "$SPIN" 3>&- &
        SERVER_PIDS+=($!)
    done
    PGAPPNAME=sleeper "$POSTGRES_BIN/psql" -X -q "$SUPER" -c "select pg_sleep(3600)" 3>&- >/dev/null &
    SERVER_PIDS+=($!)
    for name in busy1 busy2 busy3 sleeper; do
        until_it has_backend $name
    done
}

teardown_file() { servers_end; }
setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    cd "$BATS_TEST_TMPDIR" || return
}

# texts FILE: the texts of a picture, one a line.
texts() {
    python3 -c '
import sys, xml.etree.ElementTree as tree
for text in tree.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}text"):
    print(text.text)' "$1"
}

# has_cpus FILE: the picture has a line of the CPUs of this machine, or its caption has their number.
has_cpus() {
    local cpus
    cpus=$(getconf _NPROCESSORS_ONLN)
    texts "$1" | grep -E "^$cpus CPUs?$|; $cpus CPUs, above the picture" || { texts "$1"; false; }
}

@test 'ribbon of PostgreSQL: a picture of a server and of its recording have its CPUs, and no idle time' {
    "$CAMP" report --from "postgres:$PG" --tier SQL --interval 200ms --count 5 --picture ribbon --output live.svg 3>&-
    "$CAMP" record --from "postgres:$PG" --tier SQL --interval 200ms --count 5 --output run.camp 3>&-
    "$CAMP" report --from run.camp --picture ribbon --output recorded.svg
    for file in live.svg recorded.svg; do
        has_cpus $file
        texts $file | grep -E '^CPU [0-9.]+$'
        run -1 grep -E '>idle [0-9.]+<' $file
    done
    # The server may be elsewhere: a table of the same rows does not say.
    "$CAMP" record --from demo --count 2 --output demo.camp
    "$CAMP" report --from demo.camp --picture ribbon --output demo.svg
    run -1 grep -E 'CPUs?' <(texts demo.svg | grep -E '[0-9]+ CPUs?')
}

# All sessions but the sleeper are always active, which each sample sees, however busy the machine is.
@test 'ribbon of PostgreSQL: by application, the layers are the sessions that are active' {
    "$CAMP" record --from "postgres:$PG" --tier SQL --interval 200ms --count 5 --output run.camp 3>&-
    "$CAMP" report --from run.camp --picture ribbon --color-by application --output by.svg
    for name in busy1 busy2 busy3; do
        texts by.svg | grep -E "^$name (0\.9[0-9]|1\.00)$" || { texts by.svg; false; }
    done
    run -1 grep -E '>sleeper [0-9.]+<' by.svg
    "$CAMP" report --from run.camp --picture ribbon --only 'application=^busy' --output busy.svg
    grep -F 'Only entities whose application matches ^busy are shown.' busy.svg
    texts busy.svg | grep -E '^CPU (2\.[7-9]|3\.0)' || { texts busy.svg; false; }
}

@test 'ribbon of PostgreSQL: by statement, a live server divides time' {
    "$CAMP" report --from "postgres:$PG" --tier SQL --interval 200ms --count 5 --picture ribbon --color-by query \
        --output by.svg 3>&-
    texts by.svg | grep -E '^Active sessions by query$'
    # The three sessions run one statement, whose id is its name.
    [[ $(texts by.svg) =~ (-?[0-9]+)\ (2\.[7-9][0-9]|3\.00) ]] || { texts by.svg; false; }
    "$CAMP" report --from "postgres:$PG" --tier SQL --interval 200ms --count 2 --picture ribbon \
        --only "query=^${BASH_REMATCH[1]}\$" --color-by application --output only.svg 3>&-
    grep -F ': 3 entities, ' only.svg || { texts only.svg; false; }
    run -2 --separate-stderr "$CAMP" report --from demo --picture ribbon --color-by query --output no.svg
    [[ $stderr == *'--color-by query: sample data has no labels' || $stderr == *'has no labels' ]]
}
