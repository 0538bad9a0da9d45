# tests/servers/lib.bash: real database servers for tests. Each server runs as an unprivileged user, in its own folder
# in $SERVERS, and listens on a Unix socket in that folder.
#
#   servers_begin                 creates a temporary folder, $SERVERS
#   skip_file REASON              called in setup_file() if the tests of the file cannot run
#   is_file_skipped               whether skip_file was called; setup() then calls skip "$SKIP_FILE"
#   servers_end                   ends all processes that were started, and removes $SERVERS
#   start_postgres [NAME=VALUE]   starts a server with these settings of postgresql.conf; skips the test if
#                                 PostgreSQL is not installed; sets PG_FOLDER, PG_PID, PG (a CONNINFO)
#   start_mariadb [--OPTION]      starts a server; skips the test if MariaDB is not installed; sets
#                                 MARIADB_FOLDER, MARIADB_PID, MARIADB_SOCKET. MARIADB_WITHIN has the
#                                 words before the command of the server, such as unshare --uts
#   start_mysql [--OPTION]        starts a server of MySQL from the root $MYSQL_ROOT; sets the same. Its tables are made anew
#   open_session NAME             opens a session of PostgreSQL as the application NAME, which executes the SQL of say()
#   open_mariadb USER [OPTION]    opens a session of USER in the database t, which executes the SQL of say()
#   tiers_here SOURCE             prints the tiers by which this user can measure the source, the best one first
#   say SESSION SQL               sends SQL to an open session; SESSIONS has the input descriptor of each session
#
# Roles of the PostgreSQL server: camp_super (superuser, for the tests), camp (pg_monitor), stranger
# (no rights), locked_out (NOLOGIN), secret (with the password 'sesame'). The database is postgres.
# shellcheck shell=bash disable=SC2034 # the tests use PG_FOLDER and others

# shellcheck source=tests/waiting.bash
source "$(dirname "${BASH_SOURCE[0]}")/../waiting.bash"

POSTGRES_BIN=$(pg_config --bindir 2>/dev/null || true)
if [ ! -x "$POSTGRES_BIN/postgres" ]; then
    POSTGRES_BIN=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -1)")
fi

# The folder of the server's own programs: of another version, in a root, if $POSTGRES_ROOT names one. The clients are
# always those of this computer.
POSTGRES_SERVER_BIN=$POSTGRES_BIN
if [ -n "${POSTGRES_ROOT:-}" ]; then
    POSTGRES_SERVER_BIN=$(cd "$POSTGRES_ROOT" && echo usr/lib/postgresql/*/bin)
    POSTGRES_SERVER_BIN=/$POSTGRES_SERVER_BIN
fi

# Words before the command of a server, because servers refuse to run as root. The user must exist, because initdb
# looks up its name. A function instead of these words would run in a shell with another pid than the server.
AS_USER=()
if [ "$(id -u)" = 0 ]; then
    AS_USER=(setpriv --reuid=nobody "--regid=$(id -g nobody)" --clear-groups)
fi
[ -z "${POSTGRES_ROOT:-}" ] || AS_USER=("$(dirname "${BASH_SOURCE[0]}")/../../tools/root" run "$POSTGRES_ROOT" "${AS_USER[@]}")

# bats 1.8 reports a skip in setup_file() as a failure of the file.
skip_file() { export SKIP_FILE=$1; }
is_file_skipped() { [ -n "${SKIP_FILE:-}" ]; }

servers_begin() {
    export SERVERS
    SERVERS=$(mktemp -d "${TMPDIR:-/tmp}/camp-db-XXXXXX") # short: a socket's path has 107 bytes
    SERVER_PIDS=()
    [ "$(id -u)" != 0 ] || chown nobody "$SERVERS"
    unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGPASSFILE
    export PGPASSFILE=$SERVERS/no-passwords PGSERVICEFILE=$SERVERS/no-services
}

# Succeeds if the pid still belongs to a process of these tests. PostgreSQL overwrites the environment of its
# processes, but their working directory is the folder of the tables.
is_of_servers() {
    [[ $(readlink "/proc/$1/cwd") == "$SERVERS"/* ]] || grep -zqx "SERVERS=$SERVERS" "/proc/$1/environ"
} 2>/dev/null

# Waits until a process ends that already has a signal, and kills the process if it does not end.
end_server() {
    local tries
    for ((tries = 0; tries < TRIES; tries++)); do
        is_of_servers "$1" || return 0
        sleep 0.05
    done
    kill -KILL "$1" 2>/dev/null
}

servers_end() {
    local pid signal
    # QUIT ends a server at once, but clients ignore it like all background jobs of a shell. A process that SIGSTOP
    # stopped must continue before it can end.
    for pid in "${SERVER_PIDS[@]}"; do
        is_of_servers "$pid" || continue
        for signal in CONT QUIT TERM; do kill "-$signal" "$pid" 2>/dev/null || true; done # gone
    done
    for pid in "${SERVER_PIDS[@]}"; do end_server "$pid"; done
    case ${SERVERS:-} in */camp-db-*) ;; *) return 0 ;; esac
    # A busy backend outlives a postmaster that was killed.
    for pid in $(find /proc -maxdepth 2 -name cwd -lname "$SERVERS/*" 2>/dev/null | cut -d/ -f3); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    rm -rf "$SERVERS"
}

tiers_here() {
    local tier
    for tier in bpf schedstat+memory schedstat+SQL performance_schema SQL; do
        ! "$CAMP" top --from "$1" --tier "$tier" --count 1 --interval 100ms >/dev/null 2>&1 || echo "$tier"
    done
}

last_cpu() {
    python3 -c 'import os; print(max(os.sched_getaffinity(0)))'
}

declare -gA SESSIONS
say() {
    echo "$2" >&"${SESSIONS[$1]}"
}

start_postgres() {
    local setting
    [ -x "$POSTGRES_BIN/postgres" ] || skip 'PostgreSQL is not installed'
    PG_FOLDER=$SERVERS/pg${#SERVER_PIDS[@]}
    "${AS_USER[@]}" "$POSTGRES_SERVER_BIN/initdb" --no-sync --no-locale --encoding UTF8 --auth trust \
        --username camp_super "$PG_FOLDER" >"$SERVERS/initdb.log" 2>&1 || {
        cat "$SERVERS/initdb.log" >&2
        return 1
    }
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$PG_FOLDER'"
        echo 'fsync = off'
        echo 'max_connections = 50'
        echo "password_encryption = 'scram-sha-256'" # the default since version 14
        for setting in "$@"; do echo "$setting"; done
    } >>"$PG_FOLDER/postgresql.conf"
    # Only one role needs a password.
    sed -i '1i local all secret scram-sha-256' "$PG_FOLDER/pg_hba.conf"
    run_postgres
    PG="host=$PG_FOLDER dbname=postgres user=camp"
    query_postgres "create role camp login connection limit 3; grant pg_monitor to camp;
        create role stranger login; create role locked_out nologin;
        create role secret login password 'sesame'" >/dev/null
}

# Starts or restarts the server of $PG_FOLDER, and sets PG_PID.
run_postgres() {
    "${AS_USER[@]}" "$POSTGRES_SERVER_BIN/postgres" -D "$PG_FOLDER" >>"$PG_FOLDER.log" 2>&1 3>&- &
    PG_PID=$!
    SERVER_PIDS+=("$PG_PID")
    until_it "$POSTGRES_BIN/pg_isready" -q -h "$PG_FOLDER" || {
        cat "$PG_FOLDER.log" >&2
        return 1
    }
}

# query_postgres SQL: executes SQL as superuser, and prints the values without headings.
query_postgres() {
    "$POSTGRES_BIN/psql" -X -q -A -t -v ON_ERROR_STOP=1 \
        "host=$PG_FOLDER dbname=postgres user=camp_super" -c "$1" 3>&-
}

# Stops the server in the mode "fast", which ends all sessions at once.
stop_postgres() {
    kill -INT "$PG_PID"
    until_it is_gone "$PG_PID"
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

# Kills a server process, so that the server ends all sessions and starts again with new shared memory and the same
# pid.
crash_postgres() {
    kill -KILL "$(query_postgres "select pid from pg_stat_activity where backend_type = 'walwriter'")"
    until_it "$POSTGRES_BIN/pg_isready" -q -h "$PG_FOLDER"
}

# start_session NAME SQL [USER]: starts a psql with the application_name NAME, which executes SQL. Sets SESSION_PID to
# the pid of psql. backend_of NAME prints the pid of the backend.
start_session() {
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=${3:-camp_super} application_name=$1" \
        -c "$2" >"$SERVERS/$1.log" 2>&1 3>&- &
    SESSION_PID=$!
    SERVER_PIDS+=("$SESSION_PID")
    until_it has_backend "$1"
}

# has_backends N: the roles of the tests have N backends of PostgreSQL. A backend ends a moment after its client: that of
# a question to the server, and that of camp's own connection.
has_backends() { [ "$(pgrep --count --parent "$PG_PID" --full '^postgres: camp')" = "$1" ]; }

backend_of() {
    query_postgres "select pid from pg_stat_activity where application_name = '$1'"
}

has_backend() {
    [ -n "$(backend_of "$1")" ]
}

open_session() {
    mkfifo "$SERVERS/$1.in"
    "$POSTGRES_BIN/psql" -X -q "host=$PG_FOLDER dbname=postgres user=camp_super application_name=$1" \
        <"$SERVERS/$1.in" >"$SERVERS/$1.log" 2>&1 3>&- &
    SERVER_PIDS+=($!)
    # shellcheck disable=SC1083,SC2093 # the new descriptor's number goes into an element of an array
    exec {SESSIONS[$1]}>"$SERVERS/$1.in"
    until_it has_backend "$1"
}

# waits_for WAITER BLOCKER: by pg_blocking_pids().
waits_for() {
    [ "$(query_postgres "select count(*) from pg_stat_activity w, pg_stat_activity b where w.application_name = '$1'
        and b.application_name = '$2' and b.pid = any(pg_blocking_pids(w.pid))")" = 1 ]
}

# Ends all sessions, so that the next test on this server starts without sessions.
end_sessions() {
    query_postgres "select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()" >/dev/null
    until_it eval '[ "$(query_postgres "select count(*) from pg_stat_activity
        where backend_type in ('"'client backend', 'parallel worker'"')")" = 1 ]'
}

# start_pgbench CLIENTS SECONDS [OPTION...]: starts pgbench in the background, and sets PGBENCH_PID.
start_pgbench() {
    local clients=$1 seconds=$2
    shift 2
    "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -i -q postgres >"$SERVERS/pgbench.log" 2>&1
    "$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -c "$clients" -T "$seconds" "$@" postgres \
        >"$SERVERS/pgbench.log" 2>&1 3>&- &
    PGBENCH_PID=$!
    SERVER_PIDS+=("$PGBENCH_PID")
}

start_mariadb() {
    command -v mariadbd >/dev/null || skip 'MariaDB is not installed'
    MARIADB_FOLDER=$SERVERS/my${#SERVER_PIDS[@]}
    MARIADB_SOCKET=$MARIADB_FOLDER/socket
    MARIADB_OPTIONS=("$@")
    copy_mariadb_tables
    run_mariadb
}

# Creating the tables of a new server takes seconds. So they are created once in a run of bats, and copied.
copy_mariadb_tables() {
    local tables=${BATS_RUN_TMPDIR:-$SERVERS}/mariadb
    exec {lock}>"$tables.lock"
    flock "$lock"
    if [ ! -d "$tables" ]; then
        "${AS_USER[@]}" mkdir "$SERVERS/new" "$SERVERS/new.tmp"
        "${AS_USER[@]}" mariadb-install-db --no-defaults --datadir="$SERVERS/new" --tmpdir="$SERVERS/new.tmp" --skip-test-db \
            --innodb-log-file-size=4M --auth-root-authentication-method=normal \
            >"$SERVERS/install.log" 2>&1 || {
            cat "$SERVERS/install.log" >&2
            return 1
        }
        mv "$SERVERS/new" "$tables"
    fi
    exec {lock}>&-
    cp -a "$tables" "$MARIADB_FOLDER"
}

MARIADB_WITHIN=()

# Starts or restarts the server of $MARIADB_FOLDER, and sets MARIADB_PID. A starting server removes
# all temporary tables in its tmpdir, so each server has its own tmpdir.
run_mariadb() {
    [ -d "$MARIADB_FOLDER.tmp" ] || "${AS_USER[@]}" mkdir "$MARIADB_FOLDER.tmp"
    "${MARIADB_WITHIN[@]}" "${AS_USER[@]}" "$(command -v mariadbd)" --no-defaults --datadir="$MARIADB_FOLDER" \
        --tmpdir="$MARIADB_FOLDER.tmp" --skip-networking \
        --socket="$MARIADB_SOCKET" --innodb-log-file-size=4M --innodb-flush-log-at-trx-commit=0 "${MARIADB_OPTIONS[@]}" \
        >"$MARIADB_FOLDER.log" 2>&1 3>&- &
    MARIADB_PID=$!
    SERVER_PIDS+=("$MARIADB_PID")
    until_it query_mariadb 'select 1' || {
        cat "$MARIADB_FOLDER.log" >&2
        return 1
    }
}

start_mysql() {
    MARIADB_FOLDER=$SERVERS/my${#SERVER_PIDS[@]}
    MARIADB_SOCKET=$MARIADB_FOLDER/socket
    MYSQL_OPTIONS=("$@")
    AS_MYSQL=("$(dirname "${BASH_SOURCE[0]}")/../../tools/root" run "$MYSQL_ROOT")
    [ "$(id -u)" != 0 ] || AS_MYSQL+=(setpriv --reuid=nobody "--regid=$(id -g nobody)" --clear-groups)
    "${AS_MYSQL[@]}" /usr/sbin/mysqld --no-defaults --initialize-insecure --datadir="$MARIADB_FOLDER" \
        >"$MARIADB_FOLDER.log" 2>&1 3>&- || {
        cat "$MARIADB_FOLDER.log" >&2
        return 1
    }
    run_mysql
}

# Starts or restarts the server of $MARIADB_FOLDER, and sets MARIADB_PID.
run_mysql() {
    "${AS_MYSQL[@]}" /usr/sbin/mysqld --no-defaults --datadir="$MARIADB_FOLDER" --tmpdir="$MARIADB_FOLDER" \
        --socket="$MARIADB_SOCKET" --pid-file="$MARIADB_FOLDER/pid" --mysqlx=OFF --skip-networking --secure-file-priv=NULL \
        --innodb-flush-log-at-trx-commit=0 "${MYSQL_OPTIONS[@]}" >>"$MARIADB_FOLDER.log" 2>&1 3>&- &
    MARIADB_PID=$!
    SERVER_PIDS+=("$MARIADB_PID")
    until_it query_mariadb 'select 1' || {
        cat "$MARIADB_FOLDER.log" >&2
        return 1
    }
}

# prepare_mariadb USER...: creates the database t, each USER with all rights, and the user camp with the rights in
# docs/sessions.md.
prepare_mariadb() {
    local user sql="create database t; create user camp@localhost with max_user_connections 3;
        grant process on *.* to camp@localhost; grant select on performance_schema.* to camp@localhost;"
    for user in "$@"; do
        sql+="create user $user@localhost; grant all on *.* to $user@localhost;"
    done
    query_mariadb "$sql"
}

stop_mariadb() {
    kill -TERM "$MARIADB_PID"
    until_it is_gone "$MARIADB_PID"
}

query_mariadb() {
    mariadb --no-defaults --socket="$MARIADB_SOCKET" --user=root --batch --skip-column-names \
        -e "$1" 3>&-
}

open_mariadb() {
    local user=$1
    shift
    mkfifo "$SERVERS/$user.in"
    mariadb --no-defaults --socket="$MARIADB_SOCKET" --user="$user" "$@" t <"$SERVERS/$user.in" \
        >/dev/null 2>"$SERVERS/$user.log" 3>&- &
    SERVER_PIDS+=($!)
    # shellcheck disable=SC1083,SC2093 # the new descriptor's number goes into an element of an array
    exec {SESSIONS[$user]}>"$SERVERS/$user.in"
}

# thread_of USER: the tid of the server's thread that serves the session of this user.
thread_of() {
    query_mariadb "select tid from information_schema.processlist where user = '$1'"
}

has_mariadb() {
    [ "$(query_mariadb "select count(*) from information_schema.processlist where user = '$1'")" != 0 ]
}

# is_seen USER STATE: the process list has a session of USER in STATE, where % matches any text.
is_seen() {
    [ "$(query_mariadb "select count(*) from information_schema.processlist
        where user = '$1' and state like '$2'")" != 0 ]
}
