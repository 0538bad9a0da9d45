#!/usr/bin/env bats
# camp list: each name that it prints is accepted by camp get.

# shellcheck disable=SC2154 # $stderr and $output are set by run
bats_require_minimum_version 1.5.0
load ../waiting
load children

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LC_ALL=C
}

teardown() {
    end_children
}

# Reads all names with one call of camp get. The names are valid if it exits with 0, or with 3: some
# counters of another user's process may not be read.
all_are_valid() {
    run --separate-stderr "$CAMP" "$@"
    [ "$status" -eq 0 ]
    [ -n "$output" ] || return 0
    mapfile -t names <<<"$output"
    run --separate-stderr "$CAMP" get "${names[@]}"
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    [ "${#lines[@]}" -ge "${#names[@]}" ]
    echo "$stderr"
    ! [[ $stderr == *"there is no"* ]]
}

@test "camp get reads every CPU, network interface, disk and partition that camp list shows" {
    all_are_valid list cpus
    all_are_valid list networks
    all_are_valid list disks
    all_are_valid list partitions
    all_are_valid list memory
    all_are_valid list kernel
}

@test "camp get reads the processes and threads that camp list shows" {
    sleep 600 3>&- &
    CHILD=$!
    all_are_valid list processes --pid $CHILD
    all_are_valid list threads --pid $CHILD
}

@test "camp get reads every counter that camp list counters shows" {
    mapfile -t names < <("$CAMP" list counters --format csv | tail -n +2 | cut -d, -f1 |
        grep -v '^process\|^thread')
    [ "${#names[@]}" -gt 60 ]
    run --separate-stderr "$CAMP" get "${names[@]}" --interval 20ms
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    for kind in process thread; do
        mapfile -t names < <("$CAMP" list counters $kind --format csv | tail -n +2 | cut -d, -f1)
        [ "${#names[@]}" -gt 15 ]
        names=("${names[@]/#process.\*./process.$$.}")
        names=("${names[@]/#thread.\*.\*./thread.$$.$$.}")
        run --separate-stderr "$CAMP" get "${names[@]}" --interval 20ms
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    done
}

@test "camp list processes shows about as many processes as /proc has" {
    run "$CAMP" list processes
    [ "$status" -eq 0 ]
    shown=$(find /proc -maxdepth 1 -name '[1-9]*' | wc -l)
    difference=$((${#lines[@]} - shown))
    [ "${difference#-}" -lt 20 ] # processes start and exit meanwhile
    [[ ${lines[0]} =~ ^process\.1@[0-9]+$ ]]
}

@test "camp list shows each disk of /sys as a disk and each partition as a partition" {
    for folder in /sys/class/block/*; do
        name=${folder##*/}
        kind=disk
        if [ -e "$folder/partition" ]; then kind=partition; fi
        "$CAMP" list ${kind}s | grep -qx "$kind.$name"
    done
}

@test "camp list disks --physical shows only disks with a device of their own" {
    mkdir -p "$BATS_TEST_TMPDIR"/proc "$BATS_TEST_TMPDIR"/sys/{class/block,block}/{loop0,sda,zram0} \
        "$BATS_TEST_TMPDIR/sys/block/sda/device"
    printf ' 7 0 loop0 1 0 8 0 0 0 0 0 0 0 0\n 8 0 sda 1 0 8 0 0 0 0 0 0 0 0\n 252 0 zram0 1 0 8 0 0 0 0 0 0 0 0\n' \
        >"$BATS_TEST_TMPDIR/proc/diskstats"
    known=(--proc "$BATS_TEST_TMPDIR/proc" --sys "$BATS_TEST_TMPDIR/sys")
    run -0 "$CAMP" list disks "${known[@]}"
    [ "${lines[*]}" = 'disk.loop0 disk.sda disk.zram0' ]
    run -0 "$CAMP" list disks --physical "${known[@]}"
    [ "$output" = disk.sda ]
    run -0 "$CAMP" list disks --long "${known[@]}" --format csv
    [ "${lines[*]}" = 'name,physical disk.loop0,no disk.sda,yes disk.zram0,no' ]
    run -0 "$CAMP" list disks --long --physical "${known[@]}" --format json
    [[ $output == *'[{"name":"disk.sda","physical":"yes"}]'* ]]
}

@test "camp list shows how many CPUs, disks and subjects of other kinds exist" {
    run "$CAMP" list
    [ "$status" -eq 0 ]
    for kind in cpu memory network disk partition process thread kernel system; do
        [[ $output == *"$kind "* ]]
    done
    run "$CAMP" list --format json
    [[ $output == '{"schema":"camp.list/1","kinds":[{"kind":"cpu","subjects":'* ]]
    [[ $output == *"\"subjects\":$("$CAMP" list cpus | wc -l),"* ]]
}

@test "each counter in camp list counters has a unit, a resolution, a source and a description" {
    run "$CAMP" list counters --format json
    [ "$status" -eq 0 ]
    for key in unit resolution source help; do
        [[ $output != *"\"$key\":null"* ]]
        [[ $output != *"\"$key\":\"\""* ]]
    done
    [ "$(echo "$output" | grep -o '"help":"[^"]*[^."]"' | wc -l)" -eq 0 ] # sentences end in a dot
}

@test "camp list counters names the sources of this system only" {
    run -0 "$CAMP" list counters --format csv
    [[ $output == *"cpu.user_ns,ns,"*"/proc/stat user - guest"* ]]
    [[ $output != *"kstat "* && $output != *SystemProcessInformation* && $output != *.handles,* ]]
    run -0 "${CAMP%/*}/counters-table"
    [[ $output == *"| /proc/stat user - guest | SystemProcessorPerformanceInformation | kstat cpu:N:sys cpu_nsec_user |"* ]]
    [[ $output == *"| \`handles\` | process |"*"| - | SystemProcessInformation | - |"* ]]
}

@test "the name of each counter in ns, bytes, percent or hz ends in that unit" {
    "$CAMP" list counters --format csv | tail -n +2 | while IFS=, read -r name unit _; do
        case $unit in
        ns | bytes | percent | hz) [[ $name == *_$unit ]] ;;
        *) [[ $name != *_ns && $name != *_bytes && $name != *_percent ]] ;;
        esac || { echo "$name $unit" && false; }
    done
}

@test "the table in docs/counters.md is that of the catalogue" {
    sed -n '/^<!-- counters/,/^<!-- end/p' "$TREE/docs/counters.md" | grep '^|' \
        >"$BATS_TEST_TMPDIR/documented"
    "${CAMP%/*}/counters-table" >"$BATS_TEST_TMPDIR/generated"
    diff "$BATS_TEST_TMPDIR/documented" "$BATS_TEST_TMPDIR/generated"
}

# row NAME KIND: the row of docs/counters.md
row() {
    "${CAMP%/*}/counters-table" | grep -F "| \`$1\` | $2 |"
}

@test "the table in docs/counters.md says how each system obtains a number, where they differ" {
    [[ $(row user_ns cpu) == *' | sampled [1]; illumos: measured | '* ]]
    [[ $(row idle_ns cpu) == *' | measured [2]; Windows: sampled | '* ]]
    [[ $(row irq_ns cpu) == *' | sampled [1] [3] | '* ]] # illumos does not count it
    [[ $(row idle_cycles_ns cpu) == *' | measured | '* ]]
    [[ $(row user_ns 'process, thread') == *' | scaled [5]; Windows: sampled; illumos: measured | '* ]]
    [[ $(row children_ns process) == *' | scaled [5]; illumos: sampled | '* ]]
    [[ $(row cpu_ns 'process, thread') == *' | measured [4] | '* ]]
    [[ $(row state 'process, thread') == *' | a fact | '* ]]
}

@test "a counter that has a row for each of two systems names the system in docs/counters.md" {
    "${CAMP%/*}/counters-table" | grep -F '| `sampled_ns` (' >"$BATS_TEST_TMPDIR/rows"
    [ "$(cut -d'|' -f 2-3 "$BATS_TEST_TMPDIR/rows")" = "$(printf '%s\n' ' `sampled_ns` (Windows) | process, thread ' \
        ' `sampled_ns` (Linux) | process ')" ]
    # Otherwise a name stands once for each kind.
    "${CAMP%/*}/counters-table" | cut -d'|' -f 2-3 | sort | uniq -d >"$BATS_TEST_TMPDIR/twice"
    [ ! -s "$BATS_TEST_TMPDIR/twice" ]
}

@test "the table in docs/options.md equals the output of camp list sources" {
    sed -n '/^<!-- sources/,/^<!-- end/p' "$TREE/docs/options.md" | grep '^|' >"$BATS_TEST_TMPDIR/documented"
    "$CAMP" list sources --format markdown >"$BATS_TEST_TMPDIR/generated"
    diff "$BATS_TEST_TMPDIR/documented" "$BATS_TEST_TMPDIR/generated"
}

@test "camp list sources shows the options of each source" {
    run "$CAMP" list sources --format csv
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = name,help,options,query_options ]
    [ "${lines[1]}" = "threads,of this machine,'--tier --interval," ] # a spreadsheet would take it for a formula
    [[ $output == *$'\nFILE.camp,'*'--begin --end --speed,'* ]]
    run "$CAMP" list sources
    [[ $output == *"prometheus:URL "* ]]
    [[ $output != *mysql* ]]
    run --separate-stderr "$CAMP" list sources --pid 1
    [ "$status" -eq 2 ]
}

@test "camp list counters has every counter of the structs in camp.h and system.h" {
    "$CAMP" list counters --format csv | cut -d, -f1 | sed 's/.*\.//' | sort -u >"$BATS_TEST_TMPDIR/names"
    # Lists the members of the structs. Members for the identity and the provenance are not counters. Only Windows
    # has idle_cycles_ns, handles, other_bytes, cycles and cycles_hz.
    for struct in camp_cpu camp_memory camp_network camp_disk camp_task camp_kernel camp_linux camp_system; do
        cat "$TREE"/include/camp/{camp,linux,system}.h | sed -n "/^struct $struct {/,/^};/p"
    done | tr '\n' ' ' | sed -E 's:/\*([^*]|\*[^/])*\*/::g' | tr ';' '\n' | grep -o '[a-z_0-9]*\(\[[A-Z_]*\]\)\? *$' |
        sed 's/\[.*//; s/ *$//' | grep -v '^$' | sort -u |
        grep -vx 'cpu\|known\|time_ns\|reserved\|kind\|split_provenance\|cpu_provenance\|cpu_resolution_ns' |
        grep -vx 'resolution_ns\|idle_cycles_ns\|handles\|other_bytes\|cycles\|cycles_hz' \
            >"$BATS_TEST_TMPDIR/fields"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/fields")" -gt 60 ]
    run comm -23 "$BATS_TEST_TMPDIR/fields" "$BATS_TEST_TMPDIR/names"
    [ -z "$output" ]
}

@test "camp list threads --long shows the name and the state of a thread" {
    sleep 600 3>&- &
    CHILD=$!
    until_it grep -qx sleep "/proc/$CHILD/comm" # the child has called exec
    run "$CAMP" list threads --pid $CHILD --long
    [[ $output =~ ^thread\.$CHILD\.$CHILD@[0-9]+\ +sleep\ +S$ ]]
}

@test "camp list processes shows the other processes if one process cannot be read" {
    cp -r "$TREE/tests/fixtures/process/bad/16" "$TREE/tests/fixtures/process/tree/2" \
        "$BATS_TEST_TMPDIR/"
    run --separate-stderr "$CAMP" list processes --long --proc "$BATS_TEST_TMPDIR"
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} =~ ^process\.2@[0-9]+\ +kthreadd\ +S$ ]]
    [[ ${lines[1]} =~ ^process\.16@[0-9]+\ +-\ +-$ ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "camp list: process.16@"*": "* ]]
}

@test "camp list --name finds a link by its name and that of its file, and a script by its name" {
    ln -s "$(command -v sleep)" "$BATS_TEST_TMPDIR/linked-name"
    "$BATS_TEST_TMPDIR/linked-name" 600 3>&- &
    CHILD=$!
    until_it grep -qx linked-name "/proc/$CHILD/comm" # the child has called exec
    for name in linked-name "$(basename "$(readlink -f "$(command -v sleep)")")"; do
        "$CAMP" list processes --name "$name" | grep -q "^process\.$CHILD@"
    done
    kill "$CHILD"
    printf '#!/bin/sh -u\nread -r line\n' >"$BATS_TEST_TMPDIR/a-long-name-of-a-script"
    chmod +x "$BATS_TEST_TMPDIR/a-long-name-of-a-script"
    mkfifo "$BATS_TEST_TMPDIR/never"
    "$BATS_TEST_TMPDIR/a-long-name-of-a-script" <>"$BATS_TEST_TMPDIR/never" 3>&- &
    CHILD=$!
    until_it grep -qx a-long-name-of- "/proc/$CHILD/comm"
    run -0 "$CAMP" list processes --name a-long-name-of-a-script
    [[ $output == process.$CHILD@* ]]
    run -1 "$CAMP" list processes --name a-long-name-of-a-scrip
}

@test "camp list --name exits with status 1 if no process runs the executable" {
    run --separate-stderr "$CAMP" list processes --name no-such-program-runs
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == *"no-such-program-runs"* ]]
}

@test "camp list suggests the closest kind for a mistyped kind" {
    run --separate-stderr "$CAMP" list netwroks
    [ "$status" -eq 2 ]
    [[ $stderr == *"did you mean 'networks'?" ]]
}

@test "camp list refuses conflicting options" {
    for words in 'cpus --pid 1' 'networks --name x' 'processes --pid 1 --name x' 'cpus disks' \
        'counters cpu memory' 'cpus --physical' '--physical' 'counters disk --physical' 'sources --physical' 'cpus --format markdown' 'counters --format markdown' '--format xml'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" list $words
        [ "$status" -eq 2 ] || { echo "$words: $status" && false; }
        [ -n "$stderr" ]
    done
}
