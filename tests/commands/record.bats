#!/usr/bin/env bats
# camp record writes any source to a file, and --from FILE reads the file.

bats_require_minimum_version 1.5.0
load ../waiting
load children
load record

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    end_children KILL
    [ -z "${MOUNT:-}" ] || umount "$MOUNT"
}

@test "a recording is an SQLite database that camp can read as a source" {
    run -0 "$CAMP" record --from check --output run.camp --count 4 --interval 50ms
    [[ $output == "run.camp: 4 intervals, "*" rows ("*" stored), "*" MB" ]]
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 4 ]
    [ "$(ask run.camp 'PRAGMA application_id; PRAGMA user_version' | xargs)" = "1667329392 4" ]
    [ "$(ask run.camp "SELECT value FROM camp WHERE key = 'schema'")" = camp.1 ]
    [ ! -e run.camp-wal ]
    [[ $output == *" $(ask run.camp 'SELECT count(*) FROM tasks_every') rows ("* ]]
    run -0 "$CAMP" record --from run.camp --output again.camp
    for query in 'SELECT * FROM tick' 'SELECT * FROM tasks_every ORDER BY tick, entity' \
        'SELECT * FROM cpus ORDER BY tick, entity' 'SELECT * FROM entity'; do
        diff <(ask run.camp "$query") <(ask again.camp "$query")
    done
}

# Prints the SQL statement after "Of `--from $1`:" in docs/recording.md.
documented() {
    sed -n "/^Of \`--from $1\`/,/^ *\`\`\`\$/p" "$BATS_TEST_DIRNAME/../../docs/recording.md" |
        sed -n '/^```sql$/,/^```$/{/^```/!p}'
}

# Skips the test if the user may not measure what the option selects.
needs() { # OPTION VALUE of camp record
    run "$CAMP" record --count 1 --interval 10ms --output can.camp "$@"
    [ "$status" -ne 4 ] || skip "$output"
}

documented_question_has_an_answer() { # KIND
    "$CAMP" record --from "$1" --output "$1.camp" --count 1 --interval 50ms
    [ -n "$(documented "$1")" ]
    [ -n "$(ask "$1.camp" "$(documented "$1")")" ]
}

@test "the SQL query of docs/recording.md about a recording of camp check returns rows" {
    needs --from check --tier taskstats # the query uses sampled time
    documented_question_has_an_answer check
}

@test "the SQL queries of docs/recording.md about groups of threads return rows" {
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
file.text_factory = lambda name: name.decode('utf-8', 'replace') # the name of a process may have any bytes
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
    # Compares the last interval, which may be long on a busy machine.
    last_ms=$(python3 -c 'import json, sys
print(int(json.loads(open(sys.argv[1]).readlines()[-1])["interval_s"] * 1000) + 1)' "$tier.json")
    run -0 --separate-stderr "$CAMP" check --from "$tier.camp" --begin "-${last_ms}ms" --top 1
    [[ $output == *"  tier $tier  "*" processes"* ]]
    [ "$(grep -c ' tier ' <<<"$output")" = 1 ]
}

@test "camp check shows the numbers and the tier of a recording made on tier taskstats" {
    check_shows_a_recording_as_it_was taskstats
}

@test "camp check shows the numbers and the tier of a recording made on tier schedstat" {
    check_shows_a_recording_as_it_was schedstat
}

@test "camp check shows the numbers and the tier of a recording made on tier bpf" {
    check_shows_a_recording_as_it_was bpf
}

@test "a recording has all threads in each interval, also those that sleep on" {
    needs --from threads --tier bpf
    python3 "$BATS_TEST_DIRNAME/sleeping_threads.py" "$CAMP" run.camp
}

@test "camp check refuses a --pid that the recording does not contain" {
    "$CAMP" record --from check --output check.camp --count 1 --interval 50ms
    run -1 "$CAMP" check --from check.camp --pid 99999998
    [[ $output == *"--pid 99999998: no process of this number is in check.camp (check)"* ]]
}

@test "camp check refuses a recording of CPU states" {
    "$CAMP" record --from cpus --tier proc --output cpus.camp --count 1 --interval 50ms
    [ "$(ask cpus.camp "SELECT value FROM camp WHERE key = 'tier'")" = proc ]
    run -2 "$CAMP" check --from cpus.camp
    [[ $output == *"camp check shows a recording of check"* ]]
}

@test "the error of camp record about an unknown tier lists the tiers of the source" {
    run -2 "$CAMP" record --from check --tier best --output x.camp
    [[ $output == "camp record: --tier best: the tiers of check are taskstats, schedstat, bpf" ]]
    run -2 "$CAMP" record --tier proc --output x.camp
    [[ $output == "camp record: --tier proc: the tiers of threads are bpf, schedstat" ]]
    make_table 2 1000
    run -2 "$CAMP" record --from data.csv --tier bpf --output x.camp
    [[ $output == *"--tier does not go with --from data.csv; it goes with threads, "* ]]
    [ ! -e x.camp ]
}

@test "camp record --info reports the source, size, intervals and gaps of a recording" {
    make_table 45 100
    sed -i '30,50d' data.csv # seven intervals are missing
    "$CAMP" record --from data.csv --output run.camp
    run -0 "$CAMP" record --info run.camp
    [[ ${lines[0]} == "data.csv (table), $(uname -n), Linux $(uname -r), camp.1, camp "*"; view table" ]]
    [[ ${lines[2]} == *run.camp*2023-11-14T*" 0.100 "* ]]
    [ "${lines[3]}" = "no labels" ]
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

# counts_agree NAME OUTPUT: in the output of camp record and of --info, and in SQL, NAME.camp has the same rows.
counts_agree() {
    local view rows stored
    [[ $2 =~ ", "([0-9]+)" rows ("([0-9]+)" stored)" ]]
    rows=${BASH_REMATCH[1]} stored=${BASH_REMATCH[2]}
    view=$(ask "$1.camp" "SELECT value FROM camp WHERE key = 'table'")
    [ "$rows" -eq "$(ask "$1.camp" "SELECT count(*) FROM ${view}_every")" ]
    [ "$stored" -eq "$(ask "$1.camp" "SELECT count(*) FROM $view")" ]
    run -0 "$CAMP" record --info "$1.camp" --json
    [ "$stored" -eq "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["files"][0]["rows"])' "$output")" ]
}

@test "camp record and --info count the same rows, without those of the CPUs and of processes that are gone" {
    run -0 "$CAMP" record --from check --output check.camp 50ms 4
    counts_agree check "$output"
    needs --from processes --tier bpf
    for _ in 1 2 3 4 5 6; do sleep 600 3>&- & done
    "$CAMP" record --from processes --output processes.camp 100ms 10 >said 3>&- &
    local camp=$!
    until_it eval '[ "$(ask processes.camp "SELECT count(*) FROM tick" 2>/dev/null)" -gt 2 ]'
    # shellcheck disable=SC2046 # words
    kill $(jobs -p | grep -vx "$camp")
    wait "$camp"
    counts_agree processes "$(<said)"
}

@test "camp record --info refuses a file that is not a recording" {
    echo "no database" >text.camp
    run -1 "$CAMP" record --info text.camp
    [[ $output == "camp record: text.camp is not a recording" ]]
    sqlite3 other.camp 'CREATE TABLE t(a)'
    run -1 "$CAMP" record --info other.camp
    [[ $output == "camp record: other.camp is not a recording of camp (camp top --from sqlite:FILE reads another database)" ]]
    sqlite3 empty.camp "PRAGMA application_id = $((0x63616d70)); PRAGMA user_version = 2"
    run -1 "$CAMP" record --info empty.camp
    [[ $output == "camp record: empty.camp is empty: no interval was recorded, or it was copied without its file"* ]]
    run -1 "$CAMP" record --info none.camp
    [[ $output == "camp record: none.camp: "*"no such recording"* ]]
    run -2 "$CAMP" record --info none.camp --output x.camp
    run -2 "$CAMP" record --format json --output x.camp
    [[ $output == *"--format goes with --info"* ]]
}

@test "camp record --info of a damaged recording fails and counts the readable intervals" {
    make_table 1000 1000
    "$CAMP" record --from data.csv --output whole.camp
    run -0 "$CAMP" record --info whole.camp --format json
    [[ $output == *'"intervals":1000,"readable":1000,'*'"damaged":false'* ]]
    size=$(stat -c %s whole.camp)
    for damage in truncated overwritten; do
        cp whole.camp run.camp
        if [ "$damage" = truncated ]; then
            truncate -s $((size * 8 / 10)) run.camp
        else
            yes | dd of=run.camp bs=4096 seek=$((size / 8192)) count=5 iflag=fullblock conv=notrunc status=none
        fi
        run -1 "$CAMP" record --from run.camp --output part.camp --force
        [[ $output == *"run.camp is damaged"* ]]
        whole=$(ask part.camp 'SELECT count(*) FROM tick')
        run -1 --separate-stderr "$CAMP" record --info run.camp --format json
        python3 -c "
import json, sys
info = json.loads(sys.argv[1])
file, = info['files']
assert file['damaged'] is True and file['intervals'] in (1000, None), file
assert file['readable'] == info['readable'] == $whole < 1000, info" "$output"
        [[ $stderr == "camp record: run.camp is damaged: $whole "*"intervals can be read" ]]
    done
    # Here the table of intervals is intact.
    "$CAMP" record --from demo --count 60 --output run.camp --force
    truncate -s 100000 run.camp
    run -1 "$CAMP" record --from run.camp --output part.camp --force
    whole=$(ask part.camp 'SELECT count(*) FROM tick')
    run -1 "$CAMP" record --info run.camp
    [ "$whole" -gt 20 ]
    [[ $output == *"60 intervals, of which $whole can be read, "* ]]
    [[ $output == "camp record: run.camp is damaged: $whole of 60 intervals can be read"* ]]
}

@test "a recording is replayed at the speed that --speed gives" {
    "$CAMP" record --from check --output run.camp --count 10 --interval 50ms
    begin=$(date +%s%N)
    run -0 "$CAMP" record --from run.camp --speed 0.5 --output slow.camp
    [ $(($(date +%s%N) - begin)) -ge 900000000 ]
}

@test "--begin and --end select a part of a recording" {
    make_table 20 50
    "$CAMP" record --from data.csv --output run.camp
    run -0 "$CAMP" record --from run.camp --begin +200ms --end -200ms --output part.camp
    ticks=$(ask part.camp 'SELECT count(*) FROM tick')
    [ "$ticks" = 12 ]
    run -2 "$CAMP" record --from run.camp --begin yesterday --output x.camp
    # The same parts as of the table itself. If two parts meet, no frame is in both.
    run -0 "$CAMP" record --from data.csv --begin +200ms --end -200ms --output table.camp
    [ "$(ask table.camp 'SELECT count(*) FROM tick')" = 12 ]
    # An interval belongs to a part if the middle of the interval does. So a limit that is slightly beyond
        # the end of an interval adds no interval.
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
    [[ $output == *"--begin does not go with --from check; it goes with demo, FILE.camp, "* ]]
    run -1 "$CAMP" record --from run.camp --begin 2001-01-01 --end 2001-01-02 --output x.camp
    [[ $output == *"nothing was recorded"* ]]
}

@test "on a terminal, camp record prints from which source to which file it records" {
    script -qec "'$CAMP' record --from check --count 1 --interval 100ms --output run.camp" /dev/null | tr -d '\r' >shown
    cat shown
    grep -Eq '^camp record: recording check \([a-z]+\) to run.camp, an interval each 0.1 s; Ctrl-C ends$' shown
    [ "$(wc -l <shown)" -eq 2 ]
    script -qec "'$CAMP' record --from check --count 1 --interval 100ms --rotate 1h" /dev/null | grep -q ' to run-\*.camp, '
    run -0 --separate-stderr "$CAMP" record --from check --count 1 --interval 100ms --force --output run.camp
    [ -z "$stderr" ]
}

@test "the error about a --begin outside of a recording states the recording's start and end" {
    TZ=UTC "$CAMP" record --from demo --output run.camp
    covers='run.camp (table), which goes from 2008-11-22T02:00:00 to 2008-11-22T02:02:00 (UTC)'
    for command in 'top' 'report --output x.html'; do
        for part in '--begin 10:02' '--begin 10:02 --end 10:03' '--end 10:03' '--end 01:00' '--begin +1s --end 10:03' \
            '--begin 00:10 --end 01:10'; do
            # shellcheck disable=SC2086
            TZ=UTC run -1 "$CAMP" $command --from run.camp $part
            [[ $output == "camp ${command%% *}: --"*"is not in $covers" ]]
        done
    done
    [[ $output == *": --begin 00:10 is not in "* ]]
    TZ=XYZ+5 run -1 "$CAMP" record --from run.camp --begin 02:01 --output part.camp
    [[ $output == *"--begin 02:01 is not in run.camp (table), which goes from 2008-11-21T21:00:00 to 2008-11-21T21:02:00 (XYZ)" ]]
    TZ=XYZ+5 run -0 "$CAMP" record --from run.camp --begin 21:01 --output part.camp
    [[ $output == "part.camp: 60 intervals,"* ]]
    # Two times of day that enclose a part of the recording select that part, also across midnight.
    while read -r begin end count; do
        TZ=UTC run -0 "$CAMP" record --from run.camp --begin "$begin" --end "$end" --force --output part.camp
        [[ $output == "part.camp: $count intervals,"* ]]
    done <<<$'00:00 23:59 120\n02:01 10:03 60\n23:00 02:01 60\n10:03 10:02 120'
    # A time without seconds may name the minute in which the recording starts.
    TZ=UTC "$CAMP" record --from run.camp --begin 02:00:20 --output late.camp
    TZ=UTC run -0 "$CAMP" record --from late.camp --begin 02:00 --force --output part.camp
    [[ $output == "part.camp: 100 intervals,"* ]]
}

@test "camp reports Permission denied, not a missing file, for an unreadable recording" {
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

@test "camp record reports each error in its options in one line" {
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
    for words in "--why" "--format=json" "--output run.camp"; do
        # shellcheck disable=SC2086 # words of a command
        run -2 "$CAMP" record --info $words
        [ "$output" = "camp record: --info takes FILE, and ${words%% *} is an option: give FILE first, or --info=${words%% *}" ]
    done
    run -1 "$CAMP" record --info=--why
    [[ $output == "camp record: --why: no such recording, "* ]]
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

@test "camp record overwrites an existing file only with --force" {
    "$CAMP" record --from check --output run.camp --count 2 --interval 20ms
    run -1 "$CAMP" record --from check --output run.camp --count 1 --interval 20ms
    [[ $output == *"run.camp already exists: --force replaces it, --output FILE.camp records to another file" ]]
    run -0 "$CAMP" record --from check --output run.camp --count 3 --interval 20ms --force
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 3 ]
}

@test "camp record without --output writes to the file run.camp" {
    run -0 "$CAMP" record --from check 20ms 2
    [[ $output == "run.camp: 2 intervals"* ]]
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 2 ]
    run -1 "$CAMP" record --from check 20ms 1
    [[ $output == *"run.camp already exists: --force replaces it"* ]]
    run -0 "$CAMP" record --from check 20ms 3 --force
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 3 ]
}

@test "a recording can be read while it is written" {
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
