#!/usr/bin/env bats
# --from odbc: with the driver of PostgreSQL (psqlodbc) and a real server: user and password, refusals, and statements
# that write.

bats_require_minimum_version 1.5.0
load lib

QUERY="select extract(epoch from now())::int as time, 'shop' as entity, a from t"

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # All tests use one server.
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    [ -x "$POSTGRES_BIN/postgres" ] || { skip_file 'PostgreSQL is not installed'; return; }
    ldconfig -p | grep -q libodbc.so.2 || { skip_file 'unixODBC is not installed'; return; }
    DRIVER=$(find /usr/lib -name psqlodbcw.so 2>/dev/null | head -1)
    [ -n "$DRIVER" ] || { skip_file 'odbc-postgresql is not installed'; return; }
    servers_begin
    start_postgres
    query_postgres "create table t(a int); insert into t values (7); grant all on t to public;
        create role \"two words\" login password 'a;b}c'; create function writes() returns int language sql
        as 'delete from t returning a'"
    sed -i '1i local all "two words" scram-sha-256' "$PG_FOLDER/pg_hba.conf"
    query_postgres 'select pg_reload_conf()' >/dev/null
    export PG_FOLDER PG_PID ODBCSYSINI=$SERVERS ODBCINI=$SERVERS/odbc.ini
    printf '[PostgreSQL]\nDriver=%s\n' "$DRIVER" >"$SERVERS/odbcinst.ini"
    printf '[shop]\nDriver=PostgreSQL\nServername=%s\nDatabase=postgres\n' "$PG_FOLDER" >"$ODBCINI"
}

teardown_file() { servers_end; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    unset CAMP_ODBC_USER CAMP_ODBC_PASSWORD
}

query() {
    timeout 120 "$CAMP" record --force --output "$BATS_TEST_TMPDIR/x.camp" --from "odbc:${1-shop}" --query "${2-$QUERY}" 3>&-
}

rows() {
    query_postgres 'select count(*) from t'
}

@test "odbc postgres: user and password come from the environment" {
    CAMP_ODBC_USER=stranger run -0 query
    [[ $output == *'1 row'* ]]
    CAMP_ODBC_USER=secret CAMP_ODBC_PASSWORD=sesame run -0 query
    CAMP_ODBC_USER='two words' CAMP_ODBC_PASSWORD='a;b}c' run -0 query
    CAMP_ODBC_PASSWORD=sesame run -0 query "DSN=shop;UID=secret"
    CAMP_ODBC_USER=secret CAMP_ODBC_PASSWORD=sesame run -0 query \
        "DRIVER=PostgreSQL;SERVERNAME=$PG_FOLDER;DATABASE=postgres"
}

# refuses TEXT SQLSTATE: camp ends with one line that has the whole message, and with the status of a refusal.
refuses() {
    run -4 --separate-stderr query
    echo "$stderr"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"$1"*"(SQLSTATE $2)"*'CAMP_ODBC_USER, CAMP_ODBC_PASSWORD' && $stderr != *sesame* ]]
}

@test "odbc postgres: the error about a wrong password or user is whole, and has the server's SQLSTATE" {
    CAMP_ODBC_USER=secret CAMP_ODBC_PASSWORD=no_sesame \
        refuses 'FATAL:  password authentication failed for user "secret"' 28P01
    CAMP_ODBC_USER=secret refuses 'no password supplied' 28P01
    CAMP_ODBC_USER=nobody_known refuses 'FATAL:  role "nobody_known" does not exist' 28000
    CAMP_ODBC_USER=locked_out refuses 'FATAL:  role "locked_out" is not permitted to log in' 28000
}

@test "odbc postgres: a server that is not there has the SQLSTATE of a lost connection" {
    run -1 --separate-stderr query "DRIVER=PostgreSQL;SERVERNAME=$SERVERS/missing;DATABASE=postgres;UID=camp"
    echo "$stderr"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *'No such file or directory'*'(SQLSTATE 08001)'* ]]
}

@test "odbc postgres: no query writes" {
    export CAMP_ODBC_USER=camp_super
    for text in 'delete from t' 'insert into t values (1)' 'truncate t' 'select 1; delete from t' \
        'explain analyze delete from t' "$QUERY; delete from t"; do
        run -2 --separate-stderr query shop "$text"
        echo "$text: $stderr"
        [[ $stderr == *'--query takes '* ]]
        [ "$(rows)" = 1 ]
    done
    for text in 'with gone as (delete from t returning a) select 1 as time, a from gone' \
        'select 1 as time, writes() as a' 'select a into u from t'; do
        run --separate-stderr query shop "$text"
        echo "$text: $stderr"
        [ "$status" -ne 0 ]
        [[ $stderr == *'in a read-only transaction'*'(SQLSTATE 25006)'* ]]
        [ "$(rows)" = 1 ]
    done
}

@test "odbc postgres: a driver that connects as its own ReadOnly=0 says still cannot write" {
    run --separate-stderr query 'DSN=shop;UID=camp_super;ReadOnly=0' \
        'with gone as (delete from t returning a) select 1 as time, a from gone'
    [ "$status" -ne 0 ]
    [[ $stderr == *'SQLSTATE 25006'* ]]
    [ "$(rows)" = 1 ]
}
