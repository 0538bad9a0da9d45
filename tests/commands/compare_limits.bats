#!/usr/bin/env bats
# camp compare: interrupts, limits, hostile names, pictures, and processes of this machine.

bats_require_minimum_version 1.5.0
load children
load ../waiting
load compare_tables

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children KILL
}

@test "camp compare gives no verdict of a part when it is interrupted" {
    table a 1 300
    mkfifo endless
    { cat a.csv && sleep 60; } >endless 3>&- &
    "$CAMP" compare - a.csv --unit ms --fail-on any <endless >out 2>err 3>&- &
    local camp=$!
    until_it_reads() { # the shell opens the pipe, and camp sleeps in its read
        local name state
        read -r _ name state _ <"/proc/$camp/stat"
        [[ $name != "(bash)" && $state == S ]]
    }
    until_it until_it_reads
    kill -INT "$camp"
    wait "$camp" || status=$?
    [ "$status" -eq 1 ]
    [ ! -s out ]
    [[ $(cat err) == "camp compare: "* ]]
    [ "$(wc -l <err)" -eq 1 ]
}

@test "camp compare reads recordings in two folders, and a rotated one" {
    mkdir one other
    table one/a 1 300
    table other/b 2 450
    "$CAMP" record --from one/a.csv --unit ms --output one/a.camp
    "$CAMP" record --from other/b.csv --unit ms --output other/b.camp --rotate 15s
    compare one/a.camp other --fail-on more
    [ "$status" -eq 5 ]
    [[ ${lines[1]} == "B  "*": 40 intervals"* ]]
}

@test "camp compare shows hostile names harmlessly in each format" {
    table a 1 300 40 'db' $'x\e[31m<b>&"y' '<script>alert(1)</script>'
    sed 's/,300/,450/' a.csv >b.csv
    compare a.csv b.csv --unit ms
    [ "$status" -eq 0 ]
    [[ $output != *$'\e'* ]]
    [[ $output == *'x?[31m<b>&"y'* ]]
    compare a.csv b.csv --unit ms --json
    [ "$(field <(echo "$output") 'state == "cpu" and name[:1] == "x"' name)" = $'x\e[31m<b>&"y' ]
    compare a.csv b.csv --unit ms --at-least 0 --picture barry3 --output x.svg
    [ "$status" -eq 0 ]
    /usr/bin/python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("x.svg")'
    run -1 grep -F '<script>' x.svg
}

@test "the picture of camp compare has an arrow from the place in A to that in B" {
    table a 1 100 40 db web old
    table b 2 900 40 db web new
    compare a.csv b.csv --unit ms --picture barry3 --axes 'CPU=cpu;LOCK=lock;IDLE=idle' --output x.svg
    [ "$status" -eq 0 ]
    [ -n "$output" ]
    /usr/bin/python3 - <<'END'
import re, xml.dom.minidom
text = open("x.svg").read()
xml.dom.minidom.parseString(text)
arrows = text[text.index('<g class="arrows">'):text.index('<g class="labels">')]
number = r'="(-?[\d.]+)"'
lines = [tuple(map(float, line)) for line in
         re.findall(f'<line x1{number} y1{number} x2{number} y2{number}', arrows)]
assert len(lines) == 2, lines  # db and web
db = max(lines, key=lambda line: abs(line[3] - line[1]))
# The triangle is 460 px high, with its upper corner, CPU, at 96 px: 10 % and 90 % of the time.
assert abs(db[1] - (96 + 0.9 * 460)) < 10 and abs(db[3] - (96 + 0.1 * 460)) < 10, db
assert arrows.count('<polygon') == 1, arrows  # web hardly moved
assert 'db; A: CPU 10.' in arrows and '; B: CPU 90.' in arrows, arrows
assert 'old; A: CPU' in arrows and 'new; A: absent; B: CPU' in arrows, arrows
assert '>db</text>' in text
END
}

@test "camp compare names a full disk, and leaves no picture" {
    table a 1 300
    run bash -c '"$CAMP" compare a.csv a.csv --unit ms >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == "camp compare: "*"No space left on device" ]]
    ln -s /dev/full full.svg
    compare a.csv a.csv --unit ms --picture barry3 --output full.svg
    [ "$status" -eq 1 ]
    [ "$stderr" = "camp compare: cannot write full.svg: No space left on device" ]
    [ -L full.svg ]
    [ "$(compgen -G '*.svg*')" = full.svg ]
}

# The two processes have one name: a shell that waits for ever, and one that never waits.
@test "camp compare finds a process of this machine that sleeps less, by its name" {
    cp "$BASH" restless
    mkfifo never
    for script in 'read -r line <never' 'while :; do :; done'; do
        ./restless -c "$script" 3>&- &
        "$CAMP" record --interval 200ms --count 24 --output "${script%% *}.camp" >/dev/null 2>&1
        end_children KILL
    done
    compare read.camp while.camp --filter '^restless$' --json --fail-on any
    [ "$status" -eq 5 ]
    [[ $output == *'"summary":{"group":"process",'* ]]
    # On a busy machine the second one is seldom on a CPU, but never asleep.
    [ "$(field <(echo "$output") 'a_percent > 90' verdict)" = less ]
    [ "$(field <(echo "$output") True name | sort -u)" = restless ]
    for group in command thread user; do
        compare read.camp while.camp --group "$group" --top 0
        [ "$status" -eq 0 ]
        [[ $output == *$'\n'"$([ "$group" = user ] && id -un || echo restless) "* ]]
    done
    # As a thread of another process, it is a part of the time of that process, unless rows are threads.
    for file in read while; do
        sqlite3 "$file.camp" "UPDATE identity SET name = 'worker', id = 999999, pid = $$ WHERE name = 'restless'"
    done
    compare read.camp while.camp --filter '^(restless|worker)$'
    [ "$status" -eq 1 ]
    compare read.camp while.camp --filter '^worker$' --group thread --fail-on any
    [ "$status" -eq 5 ]
    compare read.camp while.camp --group pod
    [ "$status" -eq 2 ]
    [[ $stderr == *"can be grouped by process, command, thread, user"* ]]
}

@test "camp compare compares a table with a recording, each with its own options" {
    table a 1 300
    table b 2 450
    "$CAMP" record --from b.csv --unit ms --output b.camp
    compare a.csv b.camp --unit ms --fail-on more
    [ "$status" -eq 5 ]
    compare b.camp a.csv --unit ms --fail-on less
    [ "$status" -eq 5 ]
    sqlite3 -cmd '.mode csv' t.db '.import a.csv t'
    compare sqlite:t.db b.camp --query 'SELECT time, name, cpu_ms, lock_ms, idle_ms FROM t' --unit ms --fail-on more
    [ "$status" -eq 5 ]
    [ -z "$stderr" ]
}

# Names without end: 600 intervals with 20 names each that never come again.
@test "camp compare counts the rows of names that are too many, and loses no time" {
    local file
    for file in a b; do
        awk -v cpu="$([ $file = a ] && echo 300 || echo 450)" 'BEGIN {
            print "time,name,cpu_ms,lock_ms,idle_ms"
            for (second = 1; second <= 600; second++) {
                printf "%d,db,%d,50,%d\n", 1700000000 + second, cpu + second * 7 % 20, 950 - cpu - second * 7 % 20
                for (i = 0; i < 20; i++)
                    printf "%d,job%d,100,0,900\n", 1700000000 + second, second * 20 + i
            }
        }' >$file.csv
    done
    compare a.csv b.csv --unit ms --json
    [ "$status" -eq 0 ]
    # One of 10,000 names is db. Of 12,000 others, 2,001 rows are over in each recording.
    [[ $output == *'"other_rows_of_a":2001,"other_rows_of_b":2001'* ]]
    [ "$(grep -oE '"wall_ns":[0-9]+' <<<"$output" | sort -u)" = '"wall_ns":600000000000' ]
    [ "$(field <(echo "$output") 'name == "db" and state == "cpu"' verdict)" = more ]
    [ "$(field <(echo "$output") 'name == "db" and state == "cpu"' a_percent | cut -c1-4)" = 30.9 ]
    [[ $(field <(echo "$output") 'name == "(others)" and state == "cpu"' a_percent) == 33.3* ]]
    [ "$(field <(echo "$output") 'name == "(others)" and state == "cpu"' in)" = both ]
    compare a.csv b.csv --unit ms
    [[ $output == *"A: 2001 rows of intervals are added up as (others), because A and B have more than 10000 names"* ]]
    compare a.csv b.csv --unit ms --filter '^db$'
    [[ $output != *others* ]]
}

@test "camp compare ends early when it is interrupted after it has read the recordings" {
    local i entities=()
    for ((i = 0; i < 3000; i++)); do entities+=("e$i"); done
    table a 1 300 40 "${entities[@]}"
    cp a.csv b.csv
    mkfifo gate
    "$CAMP" compare - b.csv --unit ms --at-least 0 --fail-on any <gate >out 2>err 3>&- &
    local camp=$! bytes since
    cat a.csv >gate
    # It reads for less than 0.5 s of CPU time, and then computes for several: nothing more is read.
    it_computes() {
        local now fields
        now=$(sed -n 's/^rchar: //p' "/proc/$camp/io")
        read -ra fields <"/proc/$camp/stat"
        [ "$now" = "$bytes" ] || since=${fields[13]} # user time, in ticks of 10 ms
        bytes=$now
        [ "$now" -gt $((2 * $(stat -c %s b.csv))) ] && [ $((fields[13] - since)) -ge 50 ]
    }
    until_it it_computes
    kill -INT "$camp"
    wait "$camp" || status=$?
    [ "$status" -eq 1 ]
    [ ! -s out ]
    [[ $(cat err) == "camp compare: interrupted before all rows were compared" ]]
}

@test "camp compare matches labels by their whole text, however long" {
    table a 1 300
    "$CAMP" record --from a.csv --unit ms --output a.camp
    local long
    long=$(printf 'x%.0s' {1..100})
    sqlite3 a.camp 'CREATE TABLE label(entity INTEGER NOT NULL, name TEXT NOT NULL, since_tick INTEGER NOT NULL,
            value TEXT NOT NULL, PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;
        CREATE TABLE label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
            PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;'"
        INSERT INTO label_name VALUES('table', 0, 'pod');
        INSERT INTO label VALUES(1, 'pod', 1, '${long}one'), (2, 'pod', 1, '${long}two'), (3, 'pod', 1, '${long}two');"
    compare a.camp a.camp --group pod --json
    [ "$(field <(echo "$output") 'state == "cpu"' name | sort | tr '\n' ' ')" = "${long}one ${long}two " ]
    compare a.camp a.camp --group pod --filter 'one$' --json
    [ "$(field <(echo "$output") 'state == "cpu"' name)" = "${long}one" ]
}

@test "camp compare shows a difference in idle time before what did not differ" {
    table a 1 300
    # db idles 100 ms more, which no other state has.
    awk -F, -v OFS=, 'NR > 1 && $2 == "db" { $5 -= 100 } { print }' a.csv >b.csv
    compare a.csv b.csv --unit ms --filter db --top 2
    [[ ${lines[2]} == "2 of "*": 1 more in B, 1 less" ]]
    [[ ${lines[4]} == "db "*unaccounted*more ]]
    [[ ${lines[5]} == "db "*idle*less ]]
}

@test "the picture of camp compare has the same corners for A and B, or is refused" {
    table a 1 300 40 db
    sed '1s/.*/time,name,x_ms,y_ms,z_ms/' a.csv >x.csv
    # The same numbers, but their columns are in another order.
    awk -F, -v OFS=, '{ print $1, $2, $5, $4, $3 }' x.csv >other.csv
    compare x.csv other.csv --unit ms --picture barry3 --output x.svg
    [ "$status" -eq 0 ]
    title=$(grep -o 'db; A: [^<]*' x.svg | head -n 1)
    [ "$(sed 's/.*A: \(.*\); B: .*/\1/' <<<"$title")" = "$(sed 's/.*B: //' <<<"$title")" ]
    sed '1s/y_ms/w_ms/' other.csv >third.csv
    compare x.csv third.csv --unit ms --picture barry3 --output y.svg
    [ "$status" -eq 2 ]
    [[ $stderr == "camp compare: --picture: A lacks the state w of B"* ]]
    [ ! -e y.svg ]
}

@test "the picture of camp compare has arrows of the rows that --top allows, otherwise of all" {
    table a 1 300 40 db web batch old
    table b 2 450 40 db web batch old
    compare a.csv b.csv --unit ms --top 1 --picture barry3 --output x.svg
    [ "$(grep -oE '[a-z]+; A: ' x.svg | sort -u | wc -l)" -eq 1 ]
    compare a.csv b.csv --unit ms --picture barry3 --output x.svg
    [ "$(grep -oE '[a-z]+; A: ' x.svg | sort -u | wc -l)" -eq 4 ]
}
