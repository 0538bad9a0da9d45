#!/usr/bin/env bats
# camp record: rotated files, limits of number and size, damaged files, a full disk.

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

@test "the remaining files of a rotated recording are read as one recording" {
    make_table 1 100
    run -0 "$CAMP" record --from data.csv --output one.camp
    [[ $output == "one.camp: 1 interval, 3 rows (3 stored), "* ]]
    sed -i 3,4d data.csv
    run -0 "$CAMP" record --from data.csv --output single.camp
    [[ $output == "single.camp: 1 interval, 1 row (1 stored), "* ]]
    run -0 "$CAMP" report --from single.camp --output one.html
    [[ $output == "one.html: 1 interval, 1 entity, "* ]]
    rm one.camp single.camp
    make_table 5 100
    mkdir other
    run -0 "$CAMP" record --from data.csv --output other/run.camp --rotate 300ms
    [[ $output == "run-*.camp: 2 files in $PWD/other, 5 intervals, 15 rows ("* ]]
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

@test "a file of --rotate 2s has two intervals that are a little longer than a second" {
    make_table 6 1001
    run -0 "$CAMP" record --from data.csv --output run.camp --rotate 2s
    [[ $output == "run-*.camp: 3 files in $PWD, 6 intervals, "* ]]
    for file in run-2*Z.camp; do
        [ "$(ask "$file" 'SELECT count(*) FROM tick')" = 2 ]
    done
}

@test "camp record --keep can limit the total size of the files" {
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

@test "camp record --keep TIME removes old files whose names lie in the future" {
    make_old_files
    cp run-20260101T000000Z.camp run-20991231T000000Z.camp
    cp run-20260101T000000Z.camp run-20991231T000001Z.camp
    cp run-20260101T000000Z.camp run-20991231T000002Z.camp
    rm run-202601*
    touch run-20991231T000000Z.camp # the first one claims to be newer than the one after it
    touch -d '2 hours ago' run-20991231T000001Z.camp
    run -0 "$CAMP" record --from cpus --output run.camp --interval 50ms --count 2 --rotate 1h --keep 1h
    echo "$output"
    [ ! -e run-20991231T000000Z.camp ]
    [ ! -e run-20991231T000001Z.camp ]
    [ -e run-20991231T000002Z.camp ]
    [ -e run-20991231T000003Z.camp ]
}

@test "camp record --keep without a unit is refused and removes nothing" {
    make_old_files
    run -2 "$CAMP" record --from data.csv --output run.camp --rotate 1h --keep 3
    [ "$output" = "camp record: --keep 3 needs a unit: 3files, 3h (a time) or 3GB (of all files together)" ]
    [ "$(ls run-202601??T000000Z.camp | wc -l)" = 4 ]
}

@test "camp record --keep removes only files whose names have the form of --rotate" {
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

@test "camp record --keep removes nothing from a folder named like the output" {
    make_old_files
    mkdir run.camp
    mv run-202601* run.camp
    run "$CAMP" record --from data.csv --output run.camp --rotate 1h --keep 1file
    [ "$(ls run.camp/run-202601??T000000Z.camp | wc -l)" = 4 ]
}

@test "a truncated recording is read up to its last complete interval" {
    make_table 1000 1000
    "$CAMP" record --from data.csv --output run.camp
    truncate -s $(($(stat -c %s run.camp) * 8 / 10)) run.camp
    run -1 "$CAMP" record --from run.camp --output part.camp
    whole=$(ask part.camp 'SELECT count(*) FROM tick')
    [ "$whole" -ge 500 ] && [ "$whole" -lt 1000 ]
    [[ $output == *"run.camp is damaged: it ends too early"*"; $whole intervals before that are whole"* ]]
    # A report and a picture have the same intervals, message and status.
    run -1 "$CAMP" report --from run.camp --output part.html
    [[ $output == *"run.camp is damaged"*"part.html: $whole intervals, "* ]]
    run -1 "$CAMP" report --from run.camp --picture lines --output part.svg
    [[ $output == *"run.camp is damaged"* ]]
    grep -q '</svg>' part.svg
}

@test "the message about a truncated recording says how many intervals are whole, and never that some were shown" {
    make_table 1000 1000
    "$CAMP" record --from data.csv --output run.camp
    size=$(stat -c %s run.camp)
    for part in 2 4 6 8; do
        truncate -s $((size * (10 - part) / 10)) run.camp
        rm -f part.camp
        run -1 --separate-stderr "$CAMP" record --from run.camp --output part.camp
        echo "$stderr"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp record: run.camp"* ]] && [[ $stderr != *shown* ]]
        if [ -e part.camp ]; then
            [[ $stderr == *"; $(ask part.camp 'SELECT count(*) FROM tick') intervals before that are whole" ]]
        else
            [[ $stderr != *"are whole"* ]]
        fi
    done
}

@test "the files of a rotated recording after a damaged file are still read" {
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

@test "the files of a rotated recording beside a file that cannot be opened are read" {
    make_table 30 100
    "$CAMP" record --from data.csv --output run.camp --rotate 1s
    files=(run-*Z.camp)
    [ "${#files[@]}" = 3 ]
    ln -s loop loop
    seq 2000 >numbers
    for replace in 'ln -s loop' 'mkfifo' 'cp numbers'; do
        rm "${files[1]}"
        # shellcheck disable=SC2086 # a command and its options
        $replace "${files[1]}"
        run "$CAMP" top --from run.camp --format csv
        [[ $status -ne 0 && ${lines[-1]} == "camp top: "*"${files[1]}"* ]]
        [ "$(grep -c ',p0,' <<<"$output")" = 20 ]
    done
}

@test "a rotated recording is read after a power failure that left no -shm file" {
    mkdir set
    start_recorder --interval 20ms --output set/run.camp --rotate 1h
    until_it eval 'has_ticks set/run-*.camp 5'
    kill -9 "$RECORDER"
    wait "$RECORDER" || true
    file=$(echo set/run-*.camp)
    ticks=$(ask "$file" 'SELECT count(*) FROM tick')
    for recording in set set/run.camp "$file"; do
        rm -f "$file-shm"
        "$CAMP" record --info "$recording" --format json | grep -F "\"readable\":$ticks,"
    done
}

@test "a folder with two recordings is refused as a source" {
    make_table 3 1000
    mkdir both
    "$CAMP" record --from data.csv --output both/a.camp --rotate 1h
    "$CAMP" record --from data.csv --output both/b.camp --rotate 1h
    run -2 "$CAMP" record --from both --output all.camp
    [[ $output == *"both has recordings of more than one name"* ]]
    run -0 "$CAMP" record --from both/a.camp --output all.camp
}

@test "camp record does not overwrite the recording that it reads" {
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

is_empty() { # whether a file system has no used block
    [ "$(stat -f -c %f "$1")" = "$(stat -f -c %b "$1")" ]
}

@test "camp record --rotate removes the oldest files when the disk is full" {
    [ "$(id -u)" = 0 ] || skip "needs root, to mount a small file system"
    mkdir full
    mount -t tmpfs -o size=1500k none full || skip "no file system can be mounted here"
    MOUNT=$PWD/full
    make_table 4000 50
    run -1 timeout 60 "$CAMP" record --from data.csv --output full/run.camp
    [[ $output == *"the disk is full; what was recorded until now is there"* ]]
    [[ $output == *"full/run.camp-wal holds a part of the recording: keep the two files together"* ]]
    # Without the -wal file, a copy of the first file has no interval. Each command reports that in one line.
    cp full/run.camp copy.camp
    for words in "record --info" "top --count 1 --from" "report --output x.html --from" "view --from"; do
        # shellcheck disable=SC2086 # words
        run -1 timeout 10 "$CAMP" $words copy.camp
        [ "$output" = "camp ${words%% *}: copy.camp is damaged: it ends too early, or was overwritten, or copied without its file copy.camp-wal" ]
    done
    # The message is right: the two files together are the complete recording.
    run -0 "$CAMP" record --from full/run.camp --output whole.camp
    [ "$(ask whole.camp 'SELECT count(*) FROM tick')" = "$(ask full/run.camp 'SELECT count(*) FROM tick')" ]
    [ ! -e whole.camp-wal ]
    [ "$(ask full/run.camp 'PRAGMA integrity_check')" = ok ]
    [ "$(ask full/run.camp 'SELECT count(*) FROM tick')" -gt 5 ]
    rm full/*
    # The kernel releases what camp was confined to a moment after its exit.
    until_it is_empty full
    head -c 2000000 /dev/zero >full/other || true # until the disk is full
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

@test "only the owner may read a recording and its -wal and -shm files" {
    umask 022
    make_table 20 100
    "$CAMP" record --from data.csv --output run.camp
    [ "$(stat -c %a run.camp)" = 600 ]
    "$CAMP" record --from data.csv --output many.camp --rotate 1s
    [ "$(stat -c %a many-*.camp | sort -u)" = 600 ]
    start_recorder --interval 50ms --output live.camp
    wait_for_ticks live.camp 2
    [ "$(stat -c %a live.camp live.camp-wal live.camp-shm | sort -u)" = 600 ]
    kill "$RECORDER"
}

@test "a recording that replaces another with --force keeps its permissions" {
    make_table 2 100
    for mode in 600 640 644; do
        (umask 077 && "$CAMP" record --from data.csv --output run.camp --force)
        chmod "$mode" run.camp
        (umask 022 && "$CAMP" record --from data.csv --output run.camp --force)
        [ "$(stat -c %a run.camp)" = "$mode" ]
        rm run.camp
    done
}

@test "camp record follows no link at the name of a recording" {
    make_table 2 100
    echo before >target
    ln -s target run.camp
    run -1 "$CAMP" record --from data.csv --output run.camp
    [ "$output" = "camp record: run.camp is a link, which is not followed: --force replaces it, --output FILE.camp records to another file" ]
    [ "$(cat target)" = before ]
    "$CAMP" record --from data.csv --output run.camp --force
    [ ! -L run.camp ]
    [ "$(cat target)" = before ]
    rm run.camp
    ln -s missing run.camp
    run -1 "$CAMP" record --from data.csv --output run.camp
    [[ $output == "camp record: run.camp is a link, which is not followed: --force replaces it,"* ]]
    "$CAMP" record --from data.csv --output run.camp --force
    [ ! -L run.camp ]
    [ ! -e missing ]
}

# The command that holds a write lock on run.camp for so many seconds.
LOCK=(/usr/bin/python3 -c 'import sqlite3, sys, time
database = sqlite3.connect("run.camp", timeout=60, isolation_level=None)
database.execute("BEGIN IMMEDIATE")
time.sleep(float(sys.argv[1]))
database.execute("ROLLBACK")')

@test "camp record waits while another program holds a lock, and loses no time" {
    start_recorder --interval 50ms --output run.camp
    wait_for_ticks run.camp 3
    "${LOCK[@]}" 4
    last=$(ask run.camp 'SELECT max(tick) FROM tick')
    wait_for_ticks run.camp $((last + 4))
    kill -INT "$RECORDER"
    wait "$RECORDER"
    cat recorder.out
    [[ $(<recorder.out) == *"camp record: run.camp: another program holds a lock on the file: recording goes on when the lock is released"* ]]
    [ "$(ask run.camp 'SELECT count(*) FROM (SELECT start_ns - lag(end_ns) OVER (ORDER BY tick) AS gap FROM tick)
        WHERE gap <> 0')" = 0 ]
    [ "$(ask run.camp 'SELECT max(end_ns - start_ns) >= 1500000000 FROM tick')" = 1 ]
    [ "$("$CAMP" record --info run.camp --format json | grep -o '"gaps":[0-9]*')" != '"gaps":0' ]
}

@test "camp record with nohup outlives its terminal" {
    (trap '' HUP && start_recorder --interval 20ms --output run.camp && echo "$RECORDER" >pid)
    RECORDER=$(<pid)
    wait_for_ticks run.camp 3
    kill -HUP "$RECORDER"
    last=$(ask run.camp 'SELECT max(tick) FROM tick')
    wait_for_ticks run.camp $((last + 3))
    kill "$RECORDER"
    until_it eval '! kill -0 "$RECORDER" 2>/dev/null'
}

@test "camp record that is stopped while it waits for a lock reports the lock" {
    start_recorder --interval 50ms --output run.camp
    wait_for_ticks run.camp 3
    "${LOCK[@]}" 60 3>&- &
    until_it grep -q 'another program holds a lock' recorder.out
    kill -INT "$RECORDER"
    status=0
    wait "$RECORDER" || status=$?
    [ "$status" = 1 ]
    grep -qx "camp record: run.camp: another program holds a lock on the file" recorder.out
}

@test "a recording of mode WAL without its -wal file is read in a folder of any name" {
    mkdir 'mü?#%'
    make_table 3 1000
    "$CAMP" record --from data.csv --output 'mü?#%/run.camp' --count 3
    printf '\002\002' | dd of='mü?#%/run.camp' bs=1 seek=18 conv=notrunc 2>/dev/null
    chmod 555 'mü?#%'
    "$CAMP" record --info 'mü?#%/run.camp' --format json | grep '"readable":3,'
    run -0 "$CAMP" top --from 'mü?#%/run.camp' --count 1
    chmod 755 'mü?#%'
}

@test "camp record does not replace a recording that another camp record writes" {
    start_recorder --output run.camp --interval 20ms
    wait_for_ticks run.camp 2
    for force in '' --force; do
        # shellcheck disable=SC2086
        run -1 "$CAMP" record --from check --output run.camp --count 1 --interval 20ms $force
        [ "$output" = "camp record: another camp record writes run.camp: stop it first, or give another --output" ]
    done
    wait_for_ticks run.camp $(($(ask run.camp 'SELECT count(*) FROM tick') + 2))
    kill -TERM "$RECORDER"
    wait "$RECORDER"
    run -0 "$CAMP" record --from check --output run.camp --count 1 --interval 20ms --force
}

@test "camp record ends with status 1 when its file is deleted or replaced" {
    for loss in 'rm run.camp' 'cp run.camp new && mv new run.camp'; do
        start_recorder --output run.camp --interval 20ms --count 200 --force
        wait_for_ticks run.camp 2
        eval "$loss"
        status=0
        wait "$RECORDER" || status=$?
        [ "$status" = 1 ]
        [ "$(<recorder.out)" = "camp record: run.camp was deleted or replaced while it was recorded" ]
    done
}

@test "a recorder whose file was deleted does no harm to the next recording of that name" {
    start_recorder --output run.camp --interval 500ms
    wait_for_ticks run.camp 2
    rm run.camp
    "$CAMP" record --from check --output run.camp --interval 20ms --count 100
    wait "$RECORDER" || [ $? = 1 ]
    [ "$(ask run.camp 'SELECT count(*) FROM tick')" = 100 ]
    [ "$(ask run.camp 'PRAGMA integrity_check')" = ok ]
}

@test "a recording that is renamed while it is written is complete" {
    start_recorder --output run.camp --interval 20ms
    wait_for_ticks run.camp 2
    before=$(ask run.camp 'SELECT count(*) FROM tick')
    mv run.camp new.camp
    sleep 1
    kill -TERM "$RECORDER"
    wait "$RECORDER"
    [ "$(ask new.camp 'SELECT count(*) FROM tick')" -gt "$before" ]
    [ ! -e run.camp-wal ]
}

@test "camp reports the limit of a file's size in one line, with status 1" {
    run -1 bash -c 'ulimit -f 200; "$0" record --from check --output run.camp --interval 20ms --count 2000' "$CAMP"
    [ "${lines[0]}" = "camp record: cannot write run.camp: File too large" ]
    [ "$(ask run.camp 'PRAGMA integrity_check')" = ok ]
    make_table 20 100
    run -1 bash -c 'ulimit -f 1; "$0" report --from data.csv --output run.html' "$CAMP"
    [[ $output == *"run.html: File too large" ]]
    run -1 bash -c 'ulimit -f 1; "$0" --once >metrics' "$(dirname "$CAMP")/camp-exporter"
    [[ $output == *"File too large" ]]
}
