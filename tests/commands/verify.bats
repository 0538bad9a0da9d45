#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# camp verify: right numbers pass, and wrong numbers fail. CAMP_VERIFY_DISTORT multiplies a
# reported number before camp verify checks the number (docs/verify.md).

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

# Under a sanitizer the start and end of a program, and its shadow memory, add to the loads. So the test
# runs the code, but only the plain build checks the numbers.
judged() {
    [ -z "${CAMP_SANITIZED:-}" ] || skip "ran without a finding; a sanitizer is part of the loads"
}

rows() {
    "$CAMP" verify --list --format csv | tail -n +2 | cut -d, -f1 | tr -d '"\r'
}

# Prints each row of the last run in JSON, with its result.
verdicts() {
    echo "$output" | python3 -c '
import json, sys
for line in sys.stdin:
    for row in json.loads(line)["rows"]:
        more = row["allowed_above"] is None and (row["reported"] or 0) > (row["expected"] or 0)
        print(row["row"], *["more-than-expected"] * more, row["verdict"].replace(" ", "-"))'
}

@test "camp verify --list lists every row of the verification once" {
    run -0 "$CAMP" verify --list
    [[ ${lines[0]} == "row "*"camp's number : the truth beside it" ]]
    [ "$(rows | wc -l)" -ge 56 ]
    [ -z "$(rows | sort | uniq -d)" ]
    [ "$("$CAMP" verify --list --format json | python3 -c '
import json, sys
print(sum(len(row["help"]) > 20 for row in json.load(sys.stdin)["rows"]))')" -eq "$(rows | wc -l)" ]
}

# bats test_tags=law
@test "camp verify finds no wrong number on this machine" {
    run "$CAMP" verify --format json
    echo "$output"
    [ "$status" -le 3 ] && [ "$status" -ne 2 ]
    judged
    [ -z "$(verdicts | grep ' FAIL$')" ]
    untested=$(verdicts | grep -c ' not-tested$') || true
    [ "$status" -eq $((untested > 0 ? 3 : 0)) ]
    # Under concurrent load, the rows of CPU time (about 20) may be not tested.
    [ "$(verdicts | grep -c ' pass$')" -ge 20 ]
    # While other processes use the disk, the rows of the disk have only a lower bound: the upper bound is null.
    python3 -c '
import json, re, sys
for row in json.load(sys.stdin)["rows"]:
    if row["verdict"] != "pass":
        continue
    size, inner, outer = abs(row["expected"]), row["allowed_below"], row["allowed_above"]
    if size == 0 or outer is None:
        assert inner < 0.3 * (size or 1) and (outer is None or outer < 0.3), row
    else:
        if row["expected"] < 0:
            inner, outer = outer, inner
        assert 0.7 * (size + outer) < size - inner and 1.3 * (size - inner) > size + outer, row
    # The verdict on the CPUs has the number of switches without an event.
    assert row["row"] != "states-cpus" or re.fullmatch(
        r"\d+ switches, [\d.]+ % unseen; [\d.]+ ms of hidden threads", row["reason"]), row
' <<<"$output"
}

# bats test_tags=law
@test "camp verify fails if the checked numbers are distorted by 30 %" {
    judged
    # Only rows of counts are distorted. For rows of time, the test above compares the allowed error with 30 %.
    CAMP_VERIFY_DISTORT='*:0.7' run -1 "$CAMP" verify --only '[!ceprs]*' --format json
    echo "$output"
    # Other processes may write more than the distortion removes.
    [ -z "$(verdicts | grep -v '^disk-writ.* more-than-expected ' | grep ' pass$')" ]
    [ "$(verdicts | grep -c ' FAIL$')" -ge 20 ]
    [[ $output == *'"distorted":true'* ]]
    # A distortion of one row leaves the other rows right.
    CAMP_VERIFY_DISTORT=list-cpus:0.7 run -1 "$CAMP" verify --only 'list-[cn]*' --format json
    [[ $(verdicts) == "list-cpus FAIL"*" pass"* ]]
    CAMP_VERIFY_DISTORT=list-cpus:1.3 run -1 "$CAMP" verify --only 'list-[cn]*' --format json
    [[ $(verdicts) == "list-cpus FAIL"*" pass"* ]]
}

@test "camp verify states the error of a row that failed" {
    CAMP_VERIFY_DISTORT=list-cpus:2 run -1 "$CAMP" verify --only list-cpus
    [[ ${lines[0]} == *"CAMP_VERIFY_DISTORT IS SET"* ]]
    [[ ${lines[3]} == "list-cpus: FAIL: "*"(allowed: -0 to +0 CPUs)" ]]
    # The distortion reports 2 CPUs as 4, which is an error of +2.
    [[ ${lines[2]} =~ ^list-cpus\ +FAIL\ +([0-9]+)\ +[0-9]+\ +\+([0-9]+)\ +0\ +CPUs$ ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}

@test "camp verify refuses a CAMP_VERIFY_DISTORT that names an unknown row" {
    CAMP_VERIFY_DISTORT=nothing:2 run -2 --separate-stderr "$CAMP" verify --only list-cpus
    [[ $stderr == *"there is no row 'nothing'"* ]]
    CAMP_VERIFY_DISTORT=list-cpus:x run -2 --separate-stderr "$CAMP" verify --only list-cpus
    [[ $stderr == *"'x' is no factor"* ]]
    CAMP_VERIFY_DISTORT=list-cpus run -2 "$CAMP" verify --only list-cpus
}

@test "camp verify --only selects the rows that match a pattern" {
    run -0 "$CAMP" verify --only 'list-[cn]*' --format csv
    [ "${#lines[@]}" -eq 3 ]
}

@test "camp verify --only refuses a pattern that matches no row" {
    run -2 --separate-stderr "$CAMP" verify --only 'nothing*'
    [[ $stderr == *"there is no such row; see --list"* ]]
}

@test "camp verify --count 3 repeats the tests and prints a record for each repetition" {
    run -0 "$CAMP" verify --only 'list-cpus' --count 3 --format json
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[2]} == '{"schema":"camp.verify/1"'* ]]
    run -2 "$CAMP" verify --count 0
    run -2 "$CAMP" verify operand
}

# bats test_tags=law
@test "camp verify gives an ordinary user a reason for each untested row" {
    [ "$(id -u)" -eq 0 ] || skip "to become another user needs root; the other tests ran as one"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod -R a+rX "$BATS_RUN_TMPDIR"
    run setpriv --reuid=65534 --regid=65534 --clear-groups env TMPDIR=/var/tmp \
        "$BATS_TEST_TMPDIR/camp" verify --only '[!cpr]*' --format json
    echo "$output"
    [ "$status" -eq 3 ] || [ -n "${CAMP_SANITIZED:-}" ]
    [ -z "$(verdicts | grep ' FAIL$')" ] || [ -n "${CAMP_SANITIZED:-}" ]
    [[ $(verdicts) == *"exits-count not-tested"* ]]
    [[ $output == *CAP_NET_ADMIN* ]]
    for row in sum cpus on-cpu run-queue system lock pipe timer disk data-fault kernel-fault; do
        [[ $(verdicts) == *"states-$row not-tested"* ]]
    done
    # A build without microstates is also accepted.
    [[ $output == *"CAP_BPF"* ]] || [[ $output == *"without microstates"* ]]
}

# Checks that each line fits, except the sentences below the rows: the reason why a row was not tested, and
# what a failed row compared. The verdict "not tested" makes rows 3 columns wider. A terminal marks what it
# then cuts, and a pipe has no limit.
fits() {
    while read -r line; do
        [[ $line == *": not tested: "* || $line == *": FAIL: "* ]] || [ "${#line}" -le 83 ]
    done
}

@test "camp verify prints the unit of each row within 80 columns" {
    units() { "$CAMP" verify --list --only '[lmn]*' --format json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]: print(row["row"], row["unit"])'; }
    run "$CAMP" verify --only '[lmn]*'
    fits <<<"$output"
    rows=0
    [[ ${lines[1]} =~ ^row\ +verdict\ +expected\ +reported\ +error\ +allowed\ +unit$ ]]
    while read -r row unit; do
        echo "$row: $unit"
        grep -qE "^$row +(pass|FAIL|not tested) +(-|[0-9.]+) +(-|[0-9.]+) +(-|[-+]?[0-9.]+) +(-|[-+]?([0-9.]+|any)) +$unit$" <<<"$output"
        rows=$((rows + 1))
    done < <(units)
    [ "$rows" -ge 14 ]
}

@test "camp verify names the untested rows when SIGTERM ends it" {
    "$CAMP" verify >"$BATS_TEST_TMPDIR/out" 3>&- &
    local pid=$!
    until [ -n "$(cat "/proc/$pid/task/$pid/children")" ]; do # the first load has started
        kill -0 "$pid"
        sleep 0.05
    done
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    cat "$BATS_TEST_TMPDIR/out"
    [ "$status" -eq 3 ]
    grep -q 'exits-count: not tested: stopped' "$BATS_TEST_TMPDIR/out"
    fits <"$BATS_TEST_TMPDIR/out"
}

@test "camp verify fails if its output goes to a full disk" {
    run --separate-stderr bash -c '"$0" verify --only list-cpus >/dev/full' "$CAMP"
    [ "$status" -eq 1 ]
    [[ $stderr == *"cannot write the output"* ]]
}

@test "camp verify --help states the same duration as docs/verify.md" {
    run -0 "$CAMP" verify --help
    takes="about 20 s, and up to three times that under concurrent load"
    [[ $(tr '\n' ' ' <<<"$output") == *"$takes"* ]]
    [[ $(tr '\n' ' ' <"$TREE/docs/verify.md") == *"$takes"* ]]
}

# on_terminal ARGUMENTS...: runs camp verify with a terminal as stderr, and prints what it writes there. stdout is
# $BATS_TEST_TMPDIR/out.
on_terminal() {
    /usr/bin/python3 -c '
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(sys.argv[2], sys.argv[2:])
text = b""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    text += data
sys.stdout.write(text.decode().replace("\r", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$BATS_TEST_TMPDIR/out" "$CAMP" verify "$@"
}

@test "camp verify shows its progress on a terminal and erases it before the result" {
    run -0 on_terminal --only 'list-*' --count 2
    echo "$output"
    wanted=$(rows | grep -c '^list-')
    [[ ${lines[0]} == "camp verify: round 1 of 2, row 1 of $wanted, list-"*"; 0 s so far"* ]]
    [[ $output == *"camp verify: round 2 of 2, row 1 of $wanted, "* ]]
    # The last output to the terminal is a line of blanks, as long as the longest text.
    last=${lines[-1]}
    [[ $last =~ ^\ +$ ]]
    [ "${#last}" -ge "${#lines[0]}" ]
    grep -q '^list-cpus  *pass ' "$BATS_TEST_TMPDIR/out"
    run ! grep -q 'camp verify:' "$BATS_TEST_TMPDIR/out"
}

@test "camp verify shows no progress if stderr is not a terminal" {
    run -0 --separate-stderr "$CAMP" verify --only 'list-*'
    [ -z "$stderr" ]
}
