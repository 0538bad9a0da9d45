#!/usr/bin/env bats
# --group: entities added up by a label, of any source that has labels.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >data.csv <<'END'
time,name,run_ms,sleep_ms
1700000000,p0,100,900
1700000000,p1,200,800
1700000000,p2,300,700
1700000001,p0,0,1000
1700000001,p1,500,500
1700000001,p2,600,400
END
    "$CAMP" record --from data.csv --output plain.camp >/dev/null
}

# Gives the entities p0 and p1 of plain.camp the label database; p2 has no label.
give_labels() {
    sqlite3 plain.camp "
        CREATE TABLE label(entity INTEGER NOT NULL, name TEXT NOT NULL,
            since_tick INTEGER NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;
        CREATE TABLE label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;
        INSERT INTO label_name SELECT value, 0, 'user' FROM camp WHERE key = 'table';
        INSERT INTO label_name SELECT value, 1, 'database' FROM camp WHERE key = 'table';
        INSERT INTO label SELECT entity, 'database', since_tick, 'shop'
            FROM identity WHERE name IN ('p0', 'p1');"
}

@test "a row of --group is the sum of the entities with the same label" {
    give_labels
    "$CAMP" record --from plain.camp --group database --output groups.camp
    table=$(sqlite3 groups.camp "SELECT value FROM camp WHERE key = 'table'")
    run -0 sqlite3 groups.camp "SELECT tick, name, database, count, run_ns / 1000000,
        elapsed_ns / 1000000 FROM \"${table}_every\" JOIN entity USING (entity) ORDER BY tick, name"
    [ "$output" = '1|(none)||1|300|1000
1|shop|shop|2|300|2000
2|(none)||1|600|1000
2|shop|shop|2|500|2000' ]
    "$CAMP" report --from plain.camp --group database --output groups.html
    [ -s groups.html ]
}

@test "the error about an unknown label lists the known labels" {
    run -2 --separate-stderr "$CAMP" record --from plain.camp --group user --output x.camp
    [[ $stderr == *'--group user: '*' has no labels' ]]
    give_labels
    run -2 --separate-stderr "$CAMP" record --from plain.camp --group usr --output x.camp
    [[ $stderr == *'--group usr: '*' has the labels user, database' ]]
    [ ! -e x.camp ]
}

@test "camp refuses a folder of recordings whose labels differ" {
    mkdir set
    cp plain.camp set/run-20231114T221320Z.camp
    give_labels
    cp plain.camp set/run-20231114T221420Z.camp
    run -1 --separate-stderr "$CAMP" record --from set --output x.camp
    [[ $stderr == *'run-20231114T221420Z.camp has other columns or labels than the files before it'* ]]
}
