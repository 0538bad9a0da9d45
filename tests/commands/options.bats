#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The common command line of all commands: operands, letters, --json, --color, -V.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    cd "$BATS_TEST_TMPDIR" || return
}

commands() {
    "$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | grep -v '^load$'
    "$CAMP" load --help | sed -n 's/^  \([a-z]\{1,\}\) .*/load \1/p'
}

# Checks the interval and count of a command by its output: the number of records is exact, and the
# command ends no earlier than its last interval.
counted() { # COUNT MS COMMAND...
    local count=$1 least_us=$(($1 * $2 * 1000)) began=${EPOCHREALTIME//[.,]/} had
    shift 2
    had=$("$CAMP" "$@" --json | wc -l)
    echo "camp $*: $had records in $((${EPOCHREALTIME//[.,]/} - began)) us"
    [ "$had" -eq "$count" ] && [ $((${EPOCHREALTIME//[.,]/} - began)) -ge "$least_us" ]
}

recorded_interval_ns() { # prints the interval with which run.camp was recorded
    sqlite3 -readonly run.camp "SELECT value FROM camp WHERE key = 'interval_ns'"
}

refused() { # TEXT COMMAND...: the command must exit with 2, and print one line with TEXT on stderr
    local text=$1
    shift
    run -2 --separate-stderr timeout 20 "$CAMP" "$@"
    echo "camp $*: $stderr"
    [[ $stderr == *"$text"* ]]
    [ "$(printf '%s\n' "$stderr" | wc -l)" -eq 1 ]
    [ -z "$output" ]
}

@test "the two operands of a command are its interval and its count" {
    counted 1 1500 check 1500ms 1
    counted 2 600 top --from check 600ms 2
    counted 3 400 wait --tier kernel .4 3
    counted 2 600 get cpu.busy_percent 600ms 2
    run -0 "$CAMP" record --from check 20ms 2
    [[ $output == "run.camp: 2 intervals"* ]]
    [ "$(recorded_interval_ns)" = 20000000 ]
    run -0 "$CAMP" report --from check --output page.html 20ms 2
    [ -s page.html ]
    run -0 "$CAMP" export --once 20ms
}

@test "an interval without a unit is in seconds" {
    "$CAMP" record --from check 1 1
    [ "$(recorded_interval_ns)" = 1000000000 ]
}

@test "options may stand before and after the operands" {
    counted 2 30 check 30ms --count 2
    counted 2 30 check --top 1 30ms 2 --tier schedstat
}

@test "an interval that is given both as an operand and as an option is refused" {
    for command in check 'top --from check' wait 'get cpu' 'record --from check' \
        'report --from check --output x.html'; do
        # shellcheck disable=SC2086
        refused 'the operand 1 and --interval set the same value' $command --interval 2 1
        # shellcheck disable=SC2086
        refused 'the operand 2 and --count set the same value' $command --count 2 1 2
    done
    refused 'the operand 1 and --interval set the same value' view --interval 2 1
}

@test "an operand that is not a time is refused in one line" {
    for command in check top wait record report; do
        refused "'fast' is not a time: the operands of camp $command are [INTERVAL [COUNT]], such as 1 or 500ms" \
            $command fast
        refused 'the operand 0 is the value of --interval: give a time' $command 0
        refused 'the operand 1.5 is the value of --count: give a whole number' $command 1 1.5
        refused "'3' is one operand too many" $command 1 2 3
    done
    refused "'2' is one operand too many: the operands are [INTERVAL]" view 1 2
    refused "'x': camp doctor takes no operands; see camp doctor --help" doctor x
}

@test "the error about a file name as an operand suggests --from" {
    refused "'run.camp' is not a time; to read it as a source, give --from run.camp" report run.camp
    refused "'./table.csv' is not a time; to read it as a source, give --from ./table.csv" view ./table.csv
}

@test "docs/options.md lists the one-letter options of all commands" {
    commands | while read -r command; do
        # shellcheck disable=SC2086
        "$CAMP" $command --help | sed -n 's/^ *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p'
    done | LC_ALL=C sort -u >taken
    sed -n 's/^| `\(-[a-zA-Z]\)` | `\(--[a-z-]*\)` .*/\1 \2/p' "$TREE/docs/options.md" | LC_ALL=C sort >documented
    [ -s documented ]
    diff documented taken
}

@test "-n means --count and -p means --pid in every command that has these options" {
    run -0 "$CAMP" get cpu.count -n 2 -i 10ms --value
    [ "${#lines[@]}" -eq 2 ]
    run -0 "$CAMP" verify --only list-cpus -n 2 --json
    [ "${#lines[@]}" -eq 2 ]
    run -0 "$CAMP" get -p $$ threads --value
    [ "$output" = 1 ]
    run -0 "$CAMP" list processes -p $$
    [[ $output == *"$$"* ]]
}

@test "the error about a removed one-letter option names the option that replaced it" {
    refused 'there is no option -c here; --count N (-n)' get -c 2 cpu.count
    refused 'there is no option -v here; --value' get -v cpu.count
    refused 'takes a whole number, from 1 to 1000000000; --name names an executable' \
        get -n bash cpu_ns
    refused 'there is no option -n here; --name EXECUTABLE' list processes -n bash
    refused 'there is no option -p here; --percent N' load cpu -p 3
    refused 'there is no option -p here; --percent N' load lock -p 3
    refused 'there is no option -b here; --burn TIME' load fork -b 1ms
    refused 'there is no option -s here; --step SIZE' load memory -s 1M
    refused 'there is no option -n here; --steps N' load memory -n 1
    refused 'there is no option -n here; --packets N' load net -n 1
    refused 'there is no option -t here; --target ADDRESS' load net -t ::1
    refused 'there is no option -n here; --threads N' load threads -n 1
    refused 'there is no option -n here; --pages N' load fault -n 1
    refused 'there is no option -w here; --write' load io -w
    refused 'there is no option --repeat here; --count N (-n)' verify --repeat 2
}

@test "the error about an option of another tool, such as top, names the option of camp" {
    refused 'there is no option -d here; --interval TIME (-i)' top -d 1
    refused 'there is no option --delay here; --interval TIME (-i)' top --delay=1
    refused 'there is no option -b here; --format text' top -b -n 1
    refused 'there is no option -o here; --sort STATE (-s)' top -o cpu
    refused 'there is no option -u here; --group user (-g user)' top -u root
    refused 'there is no option -H here; --group thread (-g thread)' top -H
    refused 'there is no option -C here; --filter REGEX' check -C bash
    refused 'there is no option -c here; --count N (-n)' wait -c 3
    refused 'there is no option -I here; --interval TIME (-i)' check -I 100
    refused 'there is no option -p here; a recording has all threads' record -p 1
    refused '--pid make: takes a whole number, from 1 to 2147483647; --format csv --table total has the real' \
        time -p make
    # The long name is not that of another tool.
    run -2 "$CAMP" time --pid make
    [ "$output" = "camp time: --pid make: takes a whole number, from 1 to 2147483647" ]
}

@test "the error about any other unknown one-letter option suggests --help" {
    refused 'there is no option -z; see camp record --help' record -z
    refused 'there is no option -z; see camp report --help' report -z
}

@test "--json means --format json, and --csv means --format csv" {
    commands | while read -r command; do
        # shellcheck disable=SC2086
        help=$("$CAMP" $command --help)
        formats=$(sed -n '/ --format /,/^ *-.*--[a-eg-z]/p' <<<"$help")
        case $command in
        export | view | report) [[ $help != *" --json "* ]] ;;
        *) [[ $help == *" --json "*" --csv "* ]] ;;
        esac || {
            echo "camp $command: $formats"
            false
        }
    done
    "$CAMP" get cpu.count --json >json
    python3 -c 'import json; assert json.load(open("json"))["schema"] == "camp.get/1"'
    [ "$("$CAMP" doctor --table tiers --csv | head -n 1)" = "$("$CAMP" doctor --table tiers -f csv | head -n 1)" ]
    refused 'there is no option --json' export --once --json
}

@test "a command refuses two of --json, --csv and --format together" {
    commands | while read -r command; do
        case $command in
        export | view | report) continue ;;
        esac
        for words in "--json --csv" "--csv --json" "--json --format csv" "--format text --csv" "-f json --json"; do
            # shellcheck disable=SC2086
            refused '--json, --csv and --format set the same value: give only one of them' $command $words
        done
    done
}

@test "camp and every command print the version with --version and -V" {
    version=$("$CAMP" --version)
    [[ $version == "camp "[0-9]* ]]
    [ "$("$CAMP" -V)" = "$version" ]
    [ "$("$CAMP" load --version)" = "$version" ]
    [ "$("$CAMP" load -V)" = "$version" ]
    commands | while read -r command; do
        # shellcheck disable=SC2086
        [ "$("$CAMP" $command -V)" = "$version" ] && [ "$("$CAMP" $command --version)" = "$version" ]
    done
    [ "$("$(dirname "$CAMP")/camp-exporter" -V)" = "camp-exporter ${version#camp }" ]
}

is_colored() {
    [[ $1 == *$'\033['* ]]
}

@test "--color=always uses colors in a pipe, --color=never uses none on a terminal" {
    is_colored "$("$CAMP" doctor --color always)"
    is_colored "$("$CAMP" doctor --colour=always)"
    run ! is_colored "$("$CAMP" doctor)"
    run ! is_colored "$("$CAMP" doctor --color auto)"
    run ! is_colored "$("$CAMP" doctor --color always --json)"
    is_colored "$(TERM=xterm NO_COLOR='' CAMP="$CAMP" script -qec '"$CAMP" doctor' /dev/null)"
    run ! is_colored "$(TERM=xterm NO_COLOR='' CAMP="$CAMP" script -qec '"$CAMP" doctor --color never' /dev/null)"
    refused '--color sometimes: takes one of auto, always, never' doctor --colour sometimes
}

@test "--color=always overrides NO_COLOR" {
    run ! is_colored "$(TERM=xterm NO_COLOR=1 CAMP="$CAMP" script -qec '"$CAMP" doctor' /dev/null)"
    is_colored "$(TERM=xterm NO_COLOR=1 CAMP="$CAMP" script -qec '"$CAMP" doctor --color always' /dev/null)"
}

@test "the error about --color explains that the output of the command has no colors" {
    refused 'there is no option --color here; the output of this command has no colors' list --color never
    refused 'there is no option --colour here; the output of this command has no colors' get --colour never
}

@test "--interval is refused for tables and recordings, whose rows have their own intervals" {
    cd "$BATS_TEST_TMPDIR"
    "$CAMP" record --from check --count 1 --interval 50ms --output run.camp
    for words in "top --from demo --interval 5" "top --from demo 5 1" "top --from run.camp -i 5" \
        "check --from run.camp -i 5" "report --from demo --output x.html -i 5" \
        "record --from demo --output x.camp -i 5" "view --from demo -i 5"; do
        # shellcheck disable=SC2086 # words
        run -2 timeout 20 "$CAMP" $words
        echo "$words: $output"
        [[ $output == "camp ${words%% *}: --interval does not go with --from "*", whose rows have their intervals (--speed N sets the pace); it goes with threads, "* ]]
    done
    [ ! -e x.html ] && [ ! -e x.camp ]
}

# refused_with MESSAGE WORD...: camp refuses the words with exactly this line.
refused_with() {
    local message=$1
    shift
    run -2 timeout 20 "$CAMP" "$@"
    echo "$*: $output"
    [ "$output" = "camp $1: $message" ]
}

@test "the error about a common mistake names the right option" {
    refused_with "'demo' is not a time; to read it as a source, give --from demo" view demo
    refused_with "'demo' is not a time; to read it as a source, give --from demo" top demo
    refused_with "'foo.camp' is not a time; to record to this file, give --output foo.camp, to read it as a source, --from foo.camp" \
        record foo.camp
    for command in top check record report; do
        refused_with "there is no option --demo here; --from demo reads the sample data" $command --demo
    done
    refused_with "--output x.svg: a page ends with .html; a picture takes --picture KIND, one of barry3, barry4, barymap, stack, lines, ribbon, ranking, error-over-time, error-by-load" \
        report --from demo --output x.svg
    refused_with "there is no option -x here; camp list disks --long has the counters of each disk" wait -x
    [[ $("$CAMP" check -t 2>&1) == "camp check: there is no option -t here; "*"--format json"* ]]
    [[ $("$CAMP" check -a 2>&1) == "camp check: there is no option -a here; "*"--top 0"* ]]
    [[ $("$CAMP" top -c 2>&1) == "camp top: there is no option -c here; "*"--workload"*"--count N (-n)"* ]]
    run -1 --separate-stderr "$CAMP" get cpu.1023.user_ns
    [ "$stderr" = "camp get: cpu.1023: there is no CPU 1023 online; see camp list cpus" ]
}
