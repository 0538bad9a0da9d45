#!/usr/bin/env bats
# camp top of other sources than threads: tables, recordings, groups, CPUs.

bats_require_minimum_version 1.5.0

setup() {
    export TZ=UTC TABLE=$CAMP_FIXTURES/table/sessions3.csv
}

# Runs a command in a new terminal: screen.py COLUMNS LINES KEYS -- COMMAND prints the last screen.
on_screen() {
    local columns=$1 rows=$2 keys=$3
    shift 3
    grep -qaF libncursesw.so "$CAMP" || skip "camp was built without ncurses"
    run /usr/bin/python3 "$BATS_TEST_DIRNAME/screen.py" "$columns" "$rows" "$keys" -- "$CAMP" top "$@"
    [ "$status" -eq 0 ]
    echo "$output"
}

# Skips the test if microstates are unavailable.
needs_microstates() {
    local refusal
    refusal=$("$CAMP" top --tier bpf --count 1 --interval 50ms --top 1 2>&1 >/dev/null) || skip "$refusal"
}

@test "camp top shows the busy rows of a table first" {
    run -0 "$CAMP" top --from "$TABLE" --count 1 --top 3
    diff - <(printf '%s\n' "$output") <<'END'
2008-11-22T02:00:01.000+00:00  1.00 s  sessions3.csv  tier table  60 entities
26.0 entities are in other waits, 18.9 on a CPU. 0.45 unaccounted (1 %). Mostly web and job.
name             CPU_USAGE%  IDLE%  DB_WAIT%    un% 
wait1                   0.0    0.0       100    0.0 
wait2                   0.0    0.0       100    0.0 
drift1                 85.9    0.0      14.1    0.0 
60 entities, on average 18.87 in CPU_USAGE, 14.80 IDLE, 26.00 DB_WAIT, 0.33 unaccounted
! the states of over1 add up to 112.0 % of its time
values taken as ms: the median row adds up to 1000 ms of 1 s; --unit says otherwise
END
    run -0 "$CAMP" top --from "$TABLE" --count 1 --top 5 --sort unaccounted
    diff - <(printf '%s\n' "${lines[@]:3:5}") <<'END'
miss1                  18.3   32.5      34.2   15.0 
miss2                  33.5   20.6      30.9   15.0 
miss3                  45.7   12.4      26.9   15.0 
over1                  17.2   45.6      49.2  -12.0!
idle1                   0.0    100       0.0    0.0 
END
}

@test "camp top sorts the rows of a table by a state or by name" {
    run -0 "$CAMP" top --from "$TABLE" --count 1 --top 2 --sort cpu_usage
    [[ ${lines[3]} == "drift1 "* && ${lines[4]} == "drift2 "* ]]
    run -0 "$CAMP" top --from "$TABLE" --count 1 --sort name --filter '^(web|half)[12]$'
    diff - <(printf '%s\n' "${lines[@]:3:4}" | cut -d' ' -f1) <<<$'half1\nhalf2\nweb1\nweb2'
    run -0 "$CAMP" top --from - --count 1 --top 0 <"$TABLE"
    [ "${#lines[@]}" = 66 ]
    run -0 "$CAMP" top --from "$TABLE" --begin 02:00:05 --end 02:00:07 --top 1
    [ "$(grep -c 'tier table' <<<"$output")" = 2 ]
}

@test "camp top prints a table as JSON and CSV with all states of the table" {
    "$CAMP" top --from "$TABLE" --count 2 --format json >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json, sys
for line in open(sys.argv[1]):
    t = json.loads(line)
    assert t['schema'] == 'camp.frame/1' and t['tier'] == 'table', t
    assert t['source'] == 'sessions3.csv' and t['kind'] == 'table' and t['group'] is None, t
    assert set(t['losses']) == {'unseen', 'lost', 'unread_ns', 'partial'}
    assert len(t['entities']) == 60
    for row in t['entities']:
        assert list(row['states']) == ['cpu_usage_ns', 'idle_ns', 'db_wait_ns'], row
        assert sum(row['states'].values()) + row['unaccounted_ns'] == row['elapsed_ns'] == 1e9, row
" "$BATS_TEST_TMPDIR/top.json"
    run -0 "$CAMP" top --from "$TABLE" --count 1 --format csv --top 1
    [ "${lines[0]}" = "time,interval_s,source,tier,kind,group,rows_cut,id,name,pid,parent,user_name,count,new,ended,elapsed_ns,cpu_usage_ns,idle_ns,db_wait_ns,unaccounted_ns" ]
    [[ ${lines[1]} == 2008-11-22T02:00:01.000+00:00,1,sessions3.csv,table,table,,59,*,wait1,,,,*,1000000000,0,0,1000000000,0 ]]
}

@test "camp top shows a recording of a table like the table itself" {
    "$CAMP" record --from "$TABLE" --output "$BATS_TEST_TMPDIR/run.camp" 2>/dev/null ||
        skip "camp was built without SQLite"
    "$CAMP" top --from "$TABLE" --count 5 --top 10 | grep -Ev '  tier |^values ' >"$BATS_TEST_TMPDIR/table"
    "$CAMP" top --from "$BATS_TEST_TMPDIR/run.camp" --count 5 --top 10 |
        grep -Ev '  tier |^values ' |
        diff "$BATS_TEST_TMPDIR/table" -
}

@test "camp top --from TABLE refuses options that apply only to threads" {
    local option
    for option in '--pid 1' --tree '--columns prstat' --no-kernel-threads \
        '--workload /dev/null'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$CAMP" top --from "$TABLE" $option
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp top: ${option%% *}"*" is for threads: it does not go with --from $TABLE" ]]
    done
    run -2 --separate-stderr "$CAMP" top --from "$TABLE" --group process
    [[ $stderr == "camp top: --group process: rows of sessions3.csv have no labels"* ]]
    run -2 --separate-stderr "$CAMP" top --from "$TABLE" --sort cpu
    [ "$stderr" = "camp top: --sort cpu: takes one of busy, cpu_usage, idle, db_wait, unaccounted, name, elapsed" ]
    run -2 --separate-stderr "$CAMP" top --from nothing
    [[ $stderr == *"there is no source 'nothing'"* ]]
    run -2 --separate-stderr "$CAMP" top --from "$(printf 'a%.0s' {1..50})"
    [[ $stderr == *", odbc:, prometheus:" ]]
}

@test "camp top --percent-of row shows percentages of the time of each row" {
    run -0 "$CAMP" top --from "$TABLE" --count 1 --top 1 --percent-of row
    interval=$("$CAMP" top --from "$TABLE" --count 1 --top 1 --percent-of interval)
    [ "$output" = "$interval" ] # each row has the time of the interval
    run -2 "$CAMP" top --from "$TABLE" --percent-of nothing
    needs_microstates
    "$CAMP" record --from threads --output "$BATS_TEST_TMPDIR/p.camp" --count 1 --interval 200ms ||
        skip "camp was built without SQLite"
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/p.camp" --group user --filter '^root$' --percent-of row
    of_row=$output
    [[ $(grep '^ *id  name' <<<"$of_row") != *irq%* ]] # the columns are the same as for threads
    [ "$(awk '$2 == "root" { print int($9); exit }' <<<"$of_row")" -le 100 ]
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/p.camp" --group user --filter '^root$'
    [ "$output" != "$of_row" ]
}

@test "keys of camp top can sort, freeze and filter the rows of a table" {
    on_screen 80 24 'q' --from "$TABLE" --speed 2
    [[ ${lines[0]} == "camp top  each entity, by busy  h: help" ]]
    [[ ${lines[1]} == *"sessions3.csv  tier table  60 entities" ]]
    [ "${#lines[@]}" -le 24 ]
    [[ $output == *"! the states of over1 add up to 112.0 % of its time"* ]]
    on_screen 80 24 'sq' --from "$TABLE" --speed 2
    [[ ${lines[0]} == "camp top  each entity, by cpu_usage  h: help" ]]
    on_screen 80 24 'SS q' --from "$TABLE" --speed 2
    [[ ${lines[0]} == "camp top  each entity, by unaccounted  FROZEN  h: help" ]]
    on_screen 80 24 $'/miss\rq' --from "$TABLE" --speed 2
    [[ ${lines[0]} == *"only miss"* && $output != *wait1* && $output == *miss3* ]]
    on_screen 80 24 'hq' --from "$TABLE" --speed 2 --count 6 # q leaves the help; the command ends after 6 intervals
    [[ $output == *"un%"*"more than 100 %"*"any key goes back"* ]]
    on_screen 80 24 'bq' --from "$TABLE" --speed 2
    [[ $output == *CPU* && $output == *waiting* && $output == *"dots"* ]]
    on_screen 30 6 'q' --from "$TABLE" --speed 2
    for line in "${lines[@]}"; do [ "${#line}" -le 30 ]; done
}

@test "camp top --from processes prints the same columns as camp top of threads" {
    needs_microstates
    run -0 "$CAMP" top --from processes --count 1 --interval 200ms
    [[ ${lines[0]} == *"  processes  tier bpf  "*" processes"* ]]
    grep -Eq '^     id  name +thr  usr%  sys%  runq%  thrt%  flt%  dsk%  lck%  slp%   un%$' <<<"$output"
    "$CAMP" top --count 1 --interval 200ms --format json >"$BATS_TEST_TMPDIR/grouped.json"
    "$CAMP" top --from processes --count 1 --interval 200ms --format json >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json, sys
grouped, source = [json.load(open(name)) for name in sys.argv[1:]]
assert list(grouped) == list(source), (list(grouped), list(source))
assert list(grouped['entities'][0]) == list(source['entities'][0])
assert list(grouped['losses']) == list(source['losses'])
" "$BATS_TEST_TMPDIR/grouped.json" "$BATS_TEST_TMPDIR/top.json"
    "$CAMP" top --from cpus --count 1 --interval 200ms --format json >"$BATS_TEST_TMPDIR/top.json"
    python3 -c "
import json, os, sys
t = json.load(open(sys.argv[1]))
assert t['kind'] == 'cpus' and {row['name'] for row in t['entities']} >= {'cpu0'}, t
assert not any(row['name'] == 'total' for row in t['entities']), t
" "$BATS_TEST_TMPDIR/top.json"
    "$CAMP" record --from users --output "$BATS_TEST_TMPDIR/u.camp" --count 2 --interval 100ms ||
        skip "camp was built without SQLite"
    run -0 "$CAMP" top --from "$BATS_TEST_TMPDIR/u.camp" --format csv
    grep -q ',root,' <<<"$output"
}

@test "camp top refuses the options of database sessions with any other source" {
    local option tables
    for option in '--rules x' --detail --queries --background; do
        # A table may have samples of sessions, which have rules.
        tables='FILE.csv, FILE.tsv, FILE.txt, -, sqlite:FILE, '
        [[ $option == --rules* || $option == --detail ]] || tables=
        # shellcheck disable=SC2086 # two words
        run -2 "$CAMP" top $option --count 1
        [ "$output" = "camp top: ${option% x} does not go with --from threads; it goes with ${tables}postgres:CONNINFO, mariadb:CONNINFO or odbc:DSN" ]
        # shellcheck disable=SC2086
        run -2 "$CAMP" top --from "$TABLE" $option --count 1
        if [ -n "$tables" ]; then
            [ "$output" = "camp top: sessions3.csv has no samples of sessions (docs/tables.md), so ${option% x} has no meaning" ]
        else
            [[ $output == *" does not go with --from "*"sessions3.csv; it goes with postgres:CONNINFO, "* ]]
        fi
    done
}

@test "a server of MySQL has a source of its own" {
    run "$CAMP" top --from mysql:/nowhere/mysql.sock
    [ "$status" -ne 0 ]
    [[ $output != *'no source'* ]]
}

@test "camp top reports that no name matches --filter" {
    run -0 "$CAMP" top --from "$TABLE" --count 1 --filter no_such_name
    [[ $output == *"no row: no name matches --filter"* ]]
    run -0 "$CAMP" top --from "$TABLE" --count 1 --filter '^miss'
    [[ $output != *"no name matches"* ]]
    needs_microstates
    run -0 "$CAMP" top --count 1 --interval 100ms --filter no_such_name
    [[ $output == *"no row: no name matches --filter"* ]]
}

@test "camp top --speed 0 shows the last interval of a recording at once" {
    TZ=UTC "$CAMP" record --from demo --output "$BATS_TEST_TMPDIR/run.camp"
    on_screen 80 24 q --from "$BATS_TEST_TMPDIR/run.camp" --speed 0
    [[ ${lines[0]} == *"the recording ends here"* ]]
    [[ ${lines[1]} == "2008-11-22T02:02:00.000+00:00 "* ]]
    on_screen 80 24 q --from "$BATS_TEST_TMPDIR/run.camp" --speed 0 --count 3
    [[ ${lines[1]} == "2008-11-22T02:00:03.000+00:00 "* ]]
}

@test "camp top draws no progress bar over the screen of a recording" {
    TZ=UTC "$CAMP" record --from demo --output "$BATS_TEST_TMPDIR/run.camp"
    on_screen 80 24 ZZZZZZZZZZq --from "$BATS_TEST_TMPDIR/run.camp" --speed 4
    [[ ${lines[0]} == "camp top  each "* ]]
    [[ $output != *[[]['#.']* ]]
}

@test "camp top --pid reports that the process ended, even before the first interval" {
    needs_microstates
    # The process ends when camp has opened its maps, and so after camp has found the process.
    local file=$BATS_TEST_TMPDIR/camp pid camp status=0
    bash -c 'until [[ -s $0 ]] && find "/proc/$(<"$0")/fd" -lname "*bpf-map*" 2>/dev/null | grep -q .; do :; done' "$file" 3>&- &
    pid=$!
    "$CAMP" top --pid $pid --count 3 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    camp=$!
    echo $camp >"$file"
    wait $pid
    wait $camp || status=$?
    cat "$BATS_TEST_TMPDIR/err"
    if [ -s "$BATS_TEST_TMPDIR/out" ]; then # its last instructions were still seen
        [ $status -eq 0 ]
        grep -q '^camp top: all processes of --pid have ended$' "$BATS_TEST_TMPDIR/err"
        grep -q ' ended$' "$BATS_TEST_TMPDIR/out"
    else
        [ $status -eq 1 ]
        grep -q "^camp top: process $pid ended before the first interval$" "$BATS_TEST_TMPDIR/err"
    fi
    run -1 "$CAMP" top --pid $pid
    [[ $output == "camp top: there is no process $pid "* ]]
}

@test "in JSON a row of a table has no id, and CPU 0 has the id 0" {
    run -0 "$CAMP" top --from "$CAMP_FIXTURES/table/sessions4.csv" --count 1 --format json
    [ "$(grep -o '"id":null,"name":"' <<<"$output" | wc -l)" -eq 60 ]
    for from in cpus check; do
        run -0 "$CAMP" top --from "$from" --count 1 --interval 50ms --format json
        [[ $output == *'"id":0,"name":"cpu0"'* ]]
    done
}

@test "camp top --from users shows the same ids and names of users as camp top --group user" {
    needs_microstates
    while :; do /bin/true; done 3>&- &
    local load=$!
    for rows in '--from users' '--group user'; do
        # shellcheck disable=SC2086
        until run -0 "$CAMP" top $rows --count 1 --interval 300ms && grep -q '^ *id  ended' <<<"$output"; do
            kill -0 $load
        done
        living=$(sed '/^ *id  ended/,$d' <<<"$output")
        ended=$(sed -n '/^ *id  ended/,/^[0-9]/p' <<<"$output" | sed '1d;$d')
        grep -Eq '^ +0  root +[0-9]' <<<"$living"
        [[ $ended == *" -  "* && $ended != *"(ended)"* ]]
        run ! grep -Ev '^      -  [a-z]' <<<"$ended"
    done
    kill $load
}

@test "camp top --sort accepts a heading of one state, and lists the states of another heading" {
    needs_microstates
    run -0 --separate-stderr "$CAMP" top --count 1 --interval 50ms --sort runq
    run -2 --separate-stderr "$CAMP" top --count 1 --interval 50ms --sort slp
    [ "$stderr" = "camp top: --sort slp: takes one of poll, socket, pipe, timer, child, other_sleep, stopped" ]
}
