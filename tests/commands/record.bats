#!/usr/bin/env bats
# camp record: any source to a file, and --from FILE back.

bats_require_minimum_version 1.5.0
load ../waiting
load children

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children KILL
    [ -z "${MOUNT:-}" ] || umount "$MOUNT"
}

ask() {
    sqlite3 -readonly "$@"
}

# In the background, until it is killed.
start_recorder() {
    "$CAMP" record --from check "$@" >recorder.out 2>&1 3>&- &
    RECORDER=$!
}

has_ticks() {
    [ "$(ask "$1" 'SELECT count(*) FROM tick')" -ge "$2" ]
}

# wait_for_ticks FILE COUNT
wait_for_ticks() {
    until_it has_ticks "$@" || {
        cat recorder.out
        return 1
    }
}

# data.csv: $1 intervals of $2 ms of three entities.
make_table() {
    seq "$1" | awk -v length_ms="$2" 'BEGIN { print "time,name,run_ms,wait_ms,sleep_ms" }
        { for (i = 0; i < 3; i++)
            printf "%.3f,p%d,%d,1,%d\n", 1700000000 + $1 * length_ms / 1000, i, $1 % length_ms,
                length_ms - $1 % length_ms - 1 }' >data.csv
}

@test "a recording is a database, and a source" {
    run -0 "$CAMP" record --from check --output run.camp --count 4 --interval 50ms
    [[ $output == "run.camp: 4 intervals, "*" bytes a row" ]]
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 4 ]
    [ "$(ask run.camp 'PRAGMA application_id; PRAGMA user_version' | xargs)" = "1667329392 2" ]
    [ "$(ask run.camp "SELECT value FROM camp WHERE key = 'schema'")" = camp.1 ]
    [ ! -e run.camp-wal ]
    [[ $output == *" $(($(ask run.camp 'SELECT count(*) FROM tasks_every') +
        $(ask run.camp 'SELECT count(*) FROM cpus_every'))) rows,"* ]]
    run -0 "$CAMP" record --from run.camp --output again.camp
    for query in 'SELECT * FROM tick' 'SELECT * FROM tasks_every ORDER BY tick, entity' \
        'SELECT * FROM cpus ORDER BY tick, entity' 'SELECT * FROM entity'; do
        diff <(ask run.camp "$query") <(ask again.camp "$query")
    done
}

# The statement behind "Of `--from $1`:" in docs/recording.md.
documented() {
    sed -n "/^Of \`--from $1\`/,/^ *\`\`\`\$/p" "$BATS_TEST_DIRNAME/../../docs/recording.md" |
        sed -n '/^```sql$/,/^```$/{/^```/!p}'
}

# An ordinary user has not all of them.
needs() { # OPTION VALUE of camp record
    run "$CAMP" record --count 1 --interval 10ms --output can.camp "$@"
    [ "$status" -ne 4 ] || skip "$output"
}

documented_question_has_an_answer() { # KIND
    "$CAMP" record --from "$1" --output "$1.camp" --count 1 --interval 50ms
    [ -n "$(documented "$1")" ]
    [ -n "$(ask "$1.camp" "$(documented "$1")")" ]
}

@test "the documented question about check has an answer" {
    needs --from check --tier taskstats # it asks for sampled time
    documented_question_has_an_answer check
}

@test "the documented questions about groups of threads have answers" {
    needs --from processes --tier bpf
    for kind in processes users commands cgroups; do documented_question_has_an_answer "$kind"; done
}

check_shows_a_recording_as_it_was() { # TIER
    local tier=$1
    needs --from check --tier "$tier"
    run -0 "$CAMP" record --from check --tier "$tier" --output "$tier.camp" --count 3 --interval 50ms
    [ "$(ask "$tier.camp" "SELECT value FROM camp WHERE key = 'tier'")" = "$tier" ]
    "$CAMP" check --from "$tier.camp" --format json >"$tier.json"
    python3 - "$tier" <<'END'
import json, sqlite3, sys
tier = sys.argv[1]
records = [json.loads(line) for line in open(tier + '.json')]
file = sqlite3.connect(tier + '.camp')
file.text_factory = lambda name: name.decode('utf-8', 'replace') # a process has any bytes as its name
sampled = 'sampled_ns' if tier != 'schedstat' else 'NULL'
assert len(records) == 3, records
for tick, record in enumerate(records, 1):
    rows = file.execute(f'SELECT id, name, measured_ns, {sampled}, elapsed_ns, count FROM tasks_every'
                        ' JOIN entity USING (entity) WHERE tick = ?', (tick,)).fetchall()
    near = lambda percent, ns, whole: percent is None and ns is None or abs(percent - 100 * ns / whole) < 1e-6 * percent + 1e-6
    shown = sorted((row['pid'] or 0, row['count'], row['measured_percent'], row['sampled_percent'])
                   for row in record['processes'])
    kept = sorted((row[0], row[5], row[2], row[3], row[4]) for row in rows)
    assert record['tier'] == tier and len(shown) == len(kept) > 0, (shown, kept)
    assert [row[:2] for row in shown] == [row[:2] for row in kept]
    for a, b in zip(shown, kept):
        assert near(a[2], b[2], b[4]) and near(a[3], b[3], b[4]), (a, b)
    for cpu in record['cpus']:
        assert 0 <= cpu['measured_busy_percent'] <= 101, cpu
        assert (cpu['sum_percent'] is None) == (tier == 'bpf'), cpu
    assert record['total']['processes'] is None and record['hidden'] is None, record
END
    # The last interval, however long it was on a busy machine.
    last_ms=$(python3 -c 'import json, sys
print(int(json.loads(open(sys.argv[1]).readlines()[-1])["interval_s"] * 1000) + 1)' "$tier.json")
    run -0 --separate-stderr "$CAMP" check --from "$tier.camp" --begin "-${last_ms}ms" --top 1
    [[ $output == *"  tier $tier  "*" processes"* ]]
    [ "$(grep -c ' tier ' <<<"$output")" = 1 ]
}

@test "camp check shows a recording of check as it was: tier taskstats" {
    check_shows_a_recording_as_it_was taskstats
}

@test "camp check shows a recording of check as it was: tier schedstat" {
    check_shows_a_recording_as_it_was schedstat
}

@test "camp check shows a recording of check as it was: tier bpf" {
    check_shows_a_recording_as_it_was bpf
}

@test "camp check --from: what it refuses" {
    "$CAMP" record --from check --output check.camp --count 1 --interval 50ms
    run -2 "$CAMP" check --from check.camp --report x.html
    [[ $output == *"--from goes without --report"* ]]
    run -1 "$CAMP" check --from check.camp --pid 99999998
    [[ $output == *"--pid 99999998: no process of this number is in check.camp (check)"* ]]
    "$CAMP" record --from cpus --tier proc --output cpus.camp --count 1 --interval 50ms
    [ "$(ask cpus.camp "SELECT value FROM camp WHERE key = 'tier'")" = proc ]
    run -2 "$CAMP" check --from cpus.camp
    [[ $output == *"camp check shows a recording of check"* ]]
}

@test "a tier that is not to be had is told" {
    run -2 "$CAMP" record --from check --tier best --output x.camp
    [[ $output == "camp record: --tier best: the tiers of check are taskstats, schedstat, bpf" ]]
    run -2 "$CAMP" record --tier proc --output x.camp
    [[ $output == "camp record: --tier proc: the tiers of threads are bpf, schedstat" ]]
    make_table 2 1000
    run -2 "$CAMP" record --from data.csv --tier bpf --output x.camp
    [[ $output == *"--tier is for live measurements"* ]]
    [ ! -e x.camp ]
}

@test "--info says what a recording is" {
    make_table 45 100
    sed -i '30,50d' data.csv # seven intervals are missing
    "$CAMP" record --from data.csv --output run.camp
    run -0 "$CAMP" record --info run.camp
    [[ ${lines[0]} == "data.csv (table), $(uname -n), Linux $(uname -r), camp.1, camp "*"; view table" ]]
    [[ ${lines[2]} == *run.camp*2023-11-14T*" 0.100 "* ]]
    run -0 "$CAMP" record --info run.camp --format json
    python3 -c "
import json, sys
info = json.loads(sys.argv[1])
file, = info['files']
assert info['schema'] == 'camp.recording/1' and info['source'] == 'data.csv', info
assert info['kind'] == 'table' and info['rotated_files'] == 0 and info['format'] == 'camp.1', info
assert file['intervals'] == info['intervals'] == $(ask run.camp 'SELECT count(*) FROM tick'), info
assert file['entities'] == 3 and file['rows'] == $(ask run.camp 'SELECT count(*) FROM "table"'), file
assert file['interval_s'] == 0.1 and file['damaged'] is False, file
assert file['size_bytes'] == info['size_bytes'] == $(stat -c %s run.camp), file
assert file['gaps'] == info['gaps'] == 1, info
assert file['begin'] < file['end'] == info['end'], info" "$output"
    rm run.camp
    make_table 45 100
    "$CAMP" record --from data.csv --output run.camp --rotate 1s
    files=(run-2*Z.camp)
    rm "${files[2]}"
    for where in run.camp .; do
        run -0 "$CAMP" record --info "$where" --format json
        python3 -c "
import json, sys
info = json.loads(sys.argv[1])
assert len(info['files']) == info['rotated_files'] == 4 and info['gaps'] == 1, info
assert info['intervals'] == sum(file['intervals'] for file in info['files']) == 35, info" "$output"
    done
    run -0 "$CAMP" record --info "${files[0]}"
    [[ $output == *"; one of several that were rotated" ]]
}

@test "--info of what is no recording is told" {
    echo "no database" >text.camp
    run -1 "$CAMP" record --info text.camp
    [[ $output == "camp record: text.camp is not a recording" ]]
    sqlite3 other.camp 'CREATE TABLE t(a)'
    run -1 "$CAMP" record --info other.camp
    [[ $output == "camp record: other.camp is not a recording of camp"* ]]
    sqlite3 empty.camp "PRAGMA application_id = $((0x63616d70)); PRAGMA user_version = 2"
    run -1 "$CAMP" record --info empty.camp
    [[ $output == "camp record: empty.camp is empty: no interval was recorded, or it was copied without its file"* ]]
    run -1 "$CAMP" record --info none.camp
    [[ $output == "camp record: none.camp: "*"no such recording"* ]]
    run -2 "$CAMP" record --info none.camp --output x.camp
    run -2 "$CAMP" record --format json --output x.camp
    [[ $output == *"--format goes with --info"* ]]
    make_table 1000 1000
    "$CAMP" record --from data.csv --output run.camp
    truncate -s $(($(stat -c %s run.camp) * 8 / 10)) run.camp
    run -0 "$CAMP" record --info run.camp --format json
    [[ $output == *'"damaged":true'* ]]
}

@test "a replay keeps the pace it is told" {
    "$CAMP" record --from check --output run.camp --count 10 --interval 50ms
    begin=$(date +%s%N)
    run -0 "$CAMP" record --from run.camp --speed 0.5 --output slow.camp
    [ $(($(date +%s%N) - begin)) -ge 900000000 ]
}

@test "a part of a recording is taken by time" {
    make_table 20 50
    "$CAMP" record --from data.csv --output run.camp
    run -0 "$CAMP" record --from run.camp --begin +200ms --end -200ms --output part.camp
    ticks=$(ask part.camp 'SELECT count(*) FROM tick')
    [ "$ticks" = 12 ]
    run -2 "$CAMP" record --from run.camp --begin yesterday --output x.camp
    # As of the table itself, and of two parts that meet no frame is in both.
    run -0 "$CAMP" record --from data.csv --begin +200ms --end -200ms --output table.camp
    [ "$(ask table.camp 'SELECT count(*) FROM tick')" = 12 ]
    # An interval is in when its middle is: a time just beside a limit adds none.
    for from in run.camp data.csv; do
        for begin in -149ms -150ms -151ms; do
            run -0 "$CAMP" record --from "$from" --begin "$begin" --force --output last.camp
            [[ $output == "last.camp: 3 intervals,"* ]]
        done
        run -0 "$CAMP" record --from "$from" --begin +149ms --end +201ms --force --output one.camp
        [ "$(ask one.camp 'SELECT wall_clock_ns FROM tick')" = 1700000000200000000 ]
    done
    run -2 "$CAMP" record --from run.camp --begin yesterday --output x.camp
    [[ $output == *"--begin yesterday: takes a time such as 2026-11-22T02:00"* ]]
    run -2 "$CAMP" record --from run.camp --begin -900ms --end +1ms --output x.camp
    [[ $output == *"--end is not after --begin"* ]]
    run -2 "$CAMP" record --from check --begin +1s --output x.camp
    [[ $output == *"not with what goes on now"* ]]
    run -1 "$CAMP" record --from run.camp --begin 2001-01-01 --end 2001-01-02 --output x.camp
    [[ $output == *"nothing was recorded"* ]]
}

@test "a recording that the user may not read is reported as such, not as missing" {
    mkdir -m 700 closed
    cp "$CAMP" camp
    chmod -R a+rX . 2>/dev/null
    chmod 700 closed
    [ "$(id -u)" -eq 0 ] || { chmod 000 closed; as=(); }
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    for folder in "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$PWD"; do
        [ ! -d "$folder" ] || chmod o+x "$folder"
    done
    for words in "top --from" "report --output x.html --from" "record --info"; do
        for path in closed/run.camp closed; do
            # shellcheck disable=SC2086 # words
            run "${as[@]}" ./camp $words $path
            [ "$output" = "camp ${words%% *}: $path: Permission denied; run as its owner, or as root" ]
            [ "$status" -eq 4 ]
        done
    done
    chmod 700 closed
}

@test "what is wrong is said in a line" {
    run -2 "$CAMP" record --output run.db
    [[ $output == *"ends in .camp"* ]]
    run -2 "$CAMP" record --output run.camp --keep 24h
    [[ $output == *"--keep goes with --rotate"* ]]
    run -2 "$CAMP" record --output run.camp --rotate 1h --keep much
    [[ $output == *"24files, a time such as 24h, or a size such as 150kB, 20MB or 2GB"* ]]
    run -2 "$CAMP" record --output run.camp --rotate 1h --keep 30m
    [[ $output == *"--keep 30m is shorter than the time of one file (--rotate)"* ]]
    run -2 "$CAMP" record --output ./.camp --rotate 1h --keep 24h
    [[ $output == *"a name is missing before .camp"* ]]
    run -2 "$CAMP" record --output run.camp x
    run -1 "$CAMP" record --from none.camp --output run.camp
    [[ $output == "camp record: none.camp: there is no such recording" ]]
    run -1 "$CAMP" record --from . --output run.camp
    [[ $output == *"no rotated recordings"* ]]
    run -1 "$CAMP" record --from check --count 1 --interval 10ms --output none/run.camp
    [ "$output" = "camp record: cannot write none/run.camp: there is no folder none" ]
    run -1 timeout 60 "$CAMP" record --from check --interval 1h --output /none/run.camp
    [ "$output" = "camp record: cannot write /none/run.camp: there is no folder /none" ]
    echo "no database" >text.camp
    run -1 "$CAMP" record --from text.camp --output run.camp
    [[ $output == *"text.camp is not a recording"* ]]
    [ ! -e run.camp ]
}

@test "a file that is there is not overwritten, unless it is said" {
    "$CAMP" record --from check --output run.camp --count 2 --interval 20ms
    run -1 "$CAMP" record --from check --output run.camp --count 1 --interval 20ms
    [[ $output == *"run.camp already exists: --force replaces it, --output FILE.camp records to another file" ]]
    run -0 "$CAMP" record --from check --output run.camp --count 3 --interval 20ms --force
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 3 ]
}

@test "without --output camp records to run.camp, and does not overwrite it" {
    run -0 "$CAMP" record --from check 20ms 2
    [[ $output == "run.camp: 2 intervals"* ]]
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 2 ]
    run -1 "$CAMP" record --from check 20ms 1
    [[ $output == *"run.camp already exists: --force replaces it"* ]]
    run -0 "$CAMP" record --from check 20ms 3 --force
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 3 ]
}

# bats test_tags=deep
@test "kill -9 loses at most the running interval" {
    for round in $(seq 20); do
        rm -f run.camp*
        start_recorder --output run.camp --interval 10ms
        wait_for_ticks run.camp $((1 + round % 4 * 5))
        before=$(ask run.camp 'SELECT max(tick) FROM tick')
        kill -9 "$RECORDER"
        wait "$RECORDER" || true
        [ "$(ask run.camp 'PRAGMA integrity_check')" = ok ]
        ticks=$(ask run.camp 'SELECT max(tick) FROM tick')
        [ "$ticks" -ge "$before" ]
        [ "$(ask run.camp 'SELECT count(*) FROM tick')" = "$ticks" ]
        "$CAMP" record --from run.camp --output read.camp --force
        [ "$(ask read.camp 'SELECT count(*) FROM tick')" = "$ticks" ]
    done
}

@test "a recording is read while it is written" {
    start_recorder --output run.camp --interval 20ms
    wait_for_ticks run.camp 3
    run -0 "$CAMP" record --from run.camp --output first.camp
    wait_for_ticks run.camp 15
    run -0 "$CAMP" record --from run.camp --output second.camp
    kill -TERM "$RECORDER"
    wait "$RECORDER"
    [ "$(ask second.camp 'SELECT count(*) FROM tick')" -ge 15 ]
    [ "$(ask first.camp 'SELECT count(*) FROM tick')" -lt \
        "$(ask second.camp 'SELECT count(*) FROM tick')" ]
    [ ! -e run.camp-wal ]
}

@test "files are rotated, the oldest are removed, and all are read as one" {
    make_table 1 100
    run -0 "$CAMP" record --from data.csv --output one.camp
    [[ $output == "one.camp: 1 interval, 3 rows, of which 3 say something new; "* ]]
    sed -i 3,4d data.csv
    run -0 "$CAMP" record --from data.csv --output single.camp
    [[ $output == "single.camp: 1 interval, 1 row, of which 1 says something new; "* ]]
    run -0 "$CAMP" report --from single.camp --output one.html
    [[ $output == "one.html: 1 interval, 1 entity, "* ]]
    rm one.camp single.camp
    make_table 5 100
    mkdir other
    run -0 "$CAMP" record --from data.csv --output other/run.camp --rotate 300ms
    [[ $output == "run-*.camp: 2 files in $PWD/other, 5 intervals, 15 rows, "* ]]
    make_table 45 100
    run -0 "$CAMP" record --from data.csv --output run.camp --rotate 1s --keep 2500ms
    [[ $output == "run-*.camp: 5 files in $PWD (4 are there now), 45 intervals, "* ]]
    [ ! -e run.camp ]
    files=(run-2*Z.camp)
    [ "${files[*]#run-20231114T22132}" = "1Z.camp 2Z.camp 3Z.camp 4Z.camp" ]
    sum=0
    for file in "${files[@]}"; do
        [[ $file =~ ^run-[0-9]{8}T[0-9]{6}Z\.camp$ ]]
        [ "$(ask "$file" 'SELECT key FROM tick WHERE tick = 1')" = 1 ]
        sum=$((sum + $(ask "$file" 'SELECT count(*) FROM tick')))
    done
    "$CAMP" record --from run.camp --output all.camp
    "$CAMP" record --from . --output folder.camp
    [ "$(ask all.camp 'SELECT count(*) FROM tick')" = "$sum" ]
    [ "$(ask folder.camp 'SELECT count(*) FROM tick')" = "$sum" ]
    [ "$(ask all.camp 'SELECT count(*) FROM (SELECT end_ns - lead(start_ns) OVER (ORDER BY tick) AS d
        FROM tick) WHERE d <> 0')" = 0 ]
}

@test "what is kept is limited by size, too" {
    "$CAMP" record --from check --output run.camp --interval 50ms --count 60 --rotate 1s --keep 100KB
    files=(run-2*Z.camp)
    [ "${#files[@]}" -le 2 ]
    rm run-*
    make_table 50 50
    "$CAMP" record --from data.csv --output run.camp --rotate 1s --keep 1KB
    files=(run-2*Z.camp)
    [ "${#files[@]}" = 1 ]
    [ "$(ask "${files[0]}" 'SELECT count(*) FROM tick')" = 10 ]
}

# Four recordings of an earlier run, and files with similar names.
make_old_files() {
    for day in 01 02 03 04; do
        echo "of the user" >"run-202601${day}T000000Z.camp"
    done
    touch other-20260101T000000Z.camp run-20260101.camp run-notes.camp 'run- 2026 1 1T000000Z.camp' \
        run-20260101T000000Z.camp.bak
    others=(other-2* run-20260101.camp run-notes.camp run-\ * *.bak)
    [ "${#others[@]}" = 5 ]
    make_table 2 100
}

@test "--keep without a unit is refused with the possible units, and removes nothing" {
    make_old_files
    run -2 "$CAMP" record --from data.csv --output run.camp --rotate 1h --keep 3
    [ "$output" = "camp record: --keep 3 needs a unit: 3files, 3h (a time) or 3GB (of all files together)" ]
    [ "$(ls run-202601??T000000Z.camp | wc -l)" = 4 ]
}

@test "--keep limits the number of files, and removes only files that --rotate named" {
    make_old_files
    run -0 --separate-stderr "$CAMP" record --from data.csv --output run.camp --rotate 1h --keep 3files
    [ "$(ls run-2???????T??????Z.camp | wc -l)" = 3 ]
    [ "$stderr" = "camp record: --keep: removed 2 files of earlier runs, \
./run-20260101T000000Z.camp to ./run-20260102T000000Z.camp" ]
    for file in "${others[@]}"; do
        [ -e "$file" ]
    done
    make_table 45 100
    run -0 "$CAMP" record --from data.csv --output many.camp --rotate 1s --keep 2files
    [[ $output == "many-*.camp: 5 files in $PWD (2 are there now), "* ]]
}

@test "--keep removes nothing from a folder with the output's name" {
    make_old_files
    mkdir run.camp
    mv run-202601* run.camp
    run "$CAMP" record --from data.csv --output run.camp --rotate 1h --keep 1file
    [ "$(ls run.camp/run-202601??T000000Z.camp | wc -l)" = 4 ]
}

@test "a truncated recording is read as far as it goes" {
    make_table 1000 1000
    "$CAMP" record --from data.csv --output run.camp
    truncate -s $(($(stat -c %s run.camp) * 8 / 10)) run.camp
    run -1 "$CAMP" record --from run.camp --output part.camp
    [[ $output == *"run.camp is damaged"* ]]
    whole=$(ask part.camp 'SELECT count(*) FROM tick')
    [ "$whole" -ge 500 ] && [ "$whole" -lt 1000 ]
    # A report and a picture have as much of it, and the same word and status.
    run -1 "$CAMP" report --from run.camp --output part.html
    [[ $output == *"run.camp is damaged"*"part.html: $whole intervals, "* ]]
    run -1 "$CAMP" report --from run.camp --picture lines --output part.svg
    [[ $output == *"run.camp is damaged"* ]]
    grep -q '</svg>' part.svg
}

@test "a damaged file of several does not hide those behind it" {
    make_table 3000 1000
    "$CAMP" record --from data.csv --output run.camp --rotate 1000s
    files=(run-*Z.camp)
    [ "${#files[@]}" = 3 ]
    truncate -s $(($(stat -c %s "${files[1]}") * 8 / 10)) "${files[1]}"
    run -1 "$CAMP" record --from run.camp --output part.camp
    [[ $output == *"${files[1]} is damaged"*"part.camp: "* ]]
    ticks=$(ask part.camp 'SELECT count(*) FROM tick')
    [ "$ticks" -ge 2400 ] && [ "$ticks" -lt 3000 ]
    last='SELECT max(wall_clock_ns) FROM tick'
    [ "$(ask part.camp "$last")" = "$(ask "${files[2]}" "$last")" ]
}

@test "two recordings in a folder are not one" {
    make_table 3 1000
    mkdir both
    "$CAMP" record --from data.csv --output both/a.camp --rotate 1h
    "$CAMP" record --from data.csv --output both/b.camp --rotate 1h
    run -2 "$CAMP" record --from both --output all.camp
    [[ $output == *"both has recordings of more than one name"* ]]
    run -0 "$CAMP" record --from both/a.camp --output all.camp
}

@test "what is read is not written over" {
    "$CAMP" record --from cpus --output run.camp --interval 10ms --count 5
    for file in run.camp ./run.camp; do
        run -2 "$CAMP" record --from run.camp --output "$file" --force
        [[ $output == "camp record: "*"run.camp is what --from reads: give another --output" ]]
    done
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 5 ]
    mkdir other
    mv run.camp other/run-20261122T020000Z.camp
    run -2 "$CAMP" record --from other/run.camp --output other/run.camp --rotate 1h --keep 1kB
    [ "$(ask other/run-20261122T020000Z.camp 'SELECT count(*) FROM tick')" = 5 ]
}

@test "a full disk is told, and the oldest files make room" {
    [ "$(id -u)" = 0 ] || skip "needs root, to mount a small file system"
    mkdir full
    mount -t tmpfs -o size=1500k none full || skip "no file system can be mounted here"
    MOUNT=$PWD/full
    make_table 4000 50
    run -1 timeout 60 "$CAMP" record --from data.csv --output full/run.camp
    [[ $output == *"the disk is full; what was recorded until now is there"* ]]
    [[ $output == *"full/run.camp-wal holds a part of the recording: keep the two files together"* ]]
    # A copy of the first file alone has no tables, and each command says so in one line.
    cp full/run.camp copy.camp
    for words in "record --info" "top --count 1 --from" "report --output x.html --from" "view --from"; do
        # shellcheck disable=SC2086 # words
        run -1 timeout 10 "$CAMP" $words copy.camp
        [ "$output" = "camp ${words%% *}: copy.camp is empty: no interval was recorded, or it was copied without its file copy.camp-wal" ]
    done
    # As the message says, the two files together are the whole recording.
    run -0 "$CAMP" record --from full/run.camp --output whole.camp
    [ "$(ask whole.camp 'SELECT count(*) FROM tick')" = "$(ask full/run.camp 'SELECT count(*) FROM tick')" ]
    [ ! -e whole.camp-wal ]
    [ "$(ask full/run.camp 'PRAGMA integrity_check')" = ok ]
    [ "$(ask full/run.camp 'SELECT count(*) FROM tick')" -gt 5 ]
    rm full/*
    head -c 2000000 /dev/zero >full/other || true # as much as there is room for
    for room in 0 16384; do
        truncate -s -$room full/other
        run -1 timeout 60 "$CAMP" record --from data.csv --output full/run.camp
        [[ $output == *"the disk is full; nothing was recorded" ]]
        [ "$(ls full)" = other ]
    done
    rm full/*
    head -c 300000 /dev/zero >full/other
    run -0 timeout 60 "$CAMP" record --from data.csv --output full/run.camp --rotate 2s --keep 1GB
    [[ $output == *"the disk is full: removed full/run-"*" to free space"* ]]
    for file in full/*.camp; do [ "$(ask "$file" 'PRAGMA integrity_check')" = ok ]; done
}
