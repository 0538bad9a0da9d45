# shellcheck shell=bash
# For tests of camp compare: tables to compare, and the rows of the result.

# table NAME SEED CPU [INTERVALS [ENTITIES...]]: writes NAME.csv, intervals of 1 s of entities (db, web and batch)
# with about 100 ms on a CPU, and 50 ms in locks; but db has CPU ms on a CPU. The noise depends on SEED alone.
table() {
    local name=$1 seed=$2 cpu=$3 intervals=${4:-40}
    shift $(($# < 4 ? $# : 4))
    awk -v seed="$seed" -v cpu="$cpu" -v intervals="$intervals" -v entities="${*:-db web batch}" '
        function noise() { seed = (seed * 1103 + 12345) % 65536; return seed % 41 - 20 }
        BEGIN {
            count = split(entities, names, " ")
            print "time,name,cpu_ms,lock_ms,idle_ms"
            for (second = 1; second <= intervals; second++)
                for (i = 1; i <= count; i++) {
                    run = (names[i] == "db" ? cpu : 100) + noise()
                    lock = 50 + noise()
                    printf "%d,%s,%d,%d,%d\n", 1700000000 + second, names[i], run, lock, 1000 - run - lock
                }
        }' >"$name.csv"
}

# of JSON ROW-FILTER FIELD: a field of the rows of a comparison.
field() {
    /usr/bin/python3 -c '
import json, sys
for row in json.load(open(sys.argv[1]))["rows"]:
    if eval(sys.argv[2], {}, row):
        print(row[sys.argv[3]])' "$@"
}

compare() {
    run --separate-stderr "$CAMP" compare "$@"
    echo "$*: status $status, stdout '$output', stderr '$stderr'"
}
