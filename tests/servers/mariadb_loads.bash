# tests/servers/mariadb_loads.bash: loads of a MariaDB or MySQL server with known statements. Needs lib.bash and
# start_mariadb. Loads end with servers_end, or with end_loads.
#
#   make_tpcb                creates the tables of start_tpcb in the database t
#   start_tpcb USER CLIENTS  starts clients of USER that run transactions like TPC-B: branches has one row, which all
#                            change, tellers ten
#   end_loads                ends them
# shellcheck shell=bash

LOAD_PIDS=()

make_tpcb() {
    query_mariadb "create table t.branches(bid int primary key, bal int) engine=innodb;
        create table t.tellers(tid int primary key, bal int) engine=innodb;
        create table t.accounts(aid int primary key, bal int) engine=innodb;
        create table t.history(tid int, bid int, aid int, delta int) engine=innodb;
        insert into t.branches values (1, 0);
        insert into t.tellers values (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0);
        $(seq -s ' ' -f 'insert into t.accounts values (%.0f, 0);' 1000)"
}

# Prints transactions, until nobody reads them.
print_tpcb() {
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        for (;;) {
            a = 1 + int(rand() * 1000)
            t = 1 + int(rand() * 10)
            d = int(rand() * 10000) - 5000
            printf "begin;\nupdate accounts set bal = bal + %d where aid = %d;\n", d, a
            printf "select bal from accounts where aid = %d;\nupdate tellers set bal = bal + %d where tid = %d;\n", a, d, t
            printf "update branches set bal = bal + %d where bid = 1;\n", d
            printf "insert into history values (%d, 1, %d, %d);\ncommit;\n", t, a, d
        }
    }' 2>/dev/null
}

start_tpcb() {
    local i
    for ((i = 1; i <= $2; i++)); do
        mariadb --no-defaults --socket="$MARIADB_SOCKET" --user="$1" t < <(print_tpcb "$i") >/dev/null 2>&1 3>&- &
        LOAD_PIDS+=($!)
        SERVER_PIDS+=($!)
    done
    until_it eval '[ "$(query_mariadb "select count(*) > 50 from t.history")" = 1 ]'
}

end_loads() {
    local pid
    for pid in "${LOAD_PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done # gone
    for pid in "${LOAD_PIDS[@]}"; do until_it is_gone "$pid"; done
    LOAD_PIDS=()
}
