#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# bench/paper/run: the report of the CAMP paper's evaluations, made from the recorded data of a short run.
# Three parts of the data are invented: the text in place of Table 3, a category of Figure 5, and an interval
# that starts below 0 %.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    DATA=${CAMP_FIXTURES:-$TREE/tests/fixtures}/evaluation.json
    REPORT=$BATS_TEST_TMPDIR/report.html
    export PYTHONDONTWRITEBYTECODE=1
}

check() {
    run -3 "$TREE/bench/paper/run" --from "$DATA" --output "$REPORT"
    run -0 /usr/bin/python3 "$TREE/tests/commands/evaluation_report.py" "$1" "$DATA" "$REPORT"
}

@test "paper evaluation: the report gives the reason for each missing part" {
    check parts
}

@test "paper evaluation: every plot shows its axes with their units, its series and categories" {
    check plots
}

@test "paper evaluation: every mark of a plot lies within its picture" {
    check places
}

@test "paper evaluation: the report contains all its data and loads nothing from the network" {
    check data
}

@test "paper evaluation: bench/paper/run exits with 0 if no part is missing" {
    sed 's/"missing":/"was_missing":/; s/"needs <root>.*own"/"", "setting": "", "verdicts": [], "tables": [], "plots": [], "disturbance": {"seconds": 1, "steal_percent": 0, "load": 0}/' \
        "$DATA" >"$BATS_TEST_TMPDIR/whole.json"
    run -0 "$TREE/bench/paper/run" --from "$BATS_TEST_TMPDIR/whole.json" --output "$REPORT"
}

@test "paper evaluation: a one-line error of bench/paper/run refuses JSON of another schema" {
    echo '{"schema": "camp.check/1"}' >"$BATS_TEST_TMPDIR/other.json"
    run -1 --separate-stderr "$TREE/bench/paper/run" --from "$BATS_TEST_TMPDIR/other.json" --output "$REPORT"
    [[ ${stderr_lines[0]} == *"not a report's data"* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "paper evaluation: a one-line error of bench/paper/run refuses a missing output folder" {
    run -1 --separate-stderr "$TREE/bench/paper/run" --from "$DATA" --output /nowhere/report.html
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "paper evaluation: the error about missing programs recommends the command make paper" {
    run -1 --separate-stderr "$TREE/bench/paper/run" --build /nowhere --output "$REPORT"
    [[ ${stderr_lines[0]} == *'make paper'* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "paper evaluation: SIGTERM ends the program and the children that it started" {
    # shellcheck disable=SC2016
    PYTHONPATH=$TREE/bench/paper timeout 20 /usr/bin/python3 -c '
import time, setting
setting.end_when_told()
with setting.child(["sleep", "100"], start_new_session=True) as process:
    print(process.pid, flush=True)
    time.sleep(100)
' >"$BATS_TEST_TMPDIR/pid" 3>&- &
    until [ -s "$BATS_TEST_TMPDIR/pid" ]; do sleep 0.05; done
    kill "$!"
    wait "$!" || [ $? -eq 143 ]
    ! kill -0 "$(cat "$BATS_TEST_TMPDIR/pid")"
}

@test "paper evaluation: confidence intervals agree with printed statistical tables" {
    cd "$TREE/bench/paper"
    run -0 /usr/bin/python3 -c '
import estimates
for freedom, t in ((3, 3.182), (5, 2.571), (19, 2.093), (199, 1.972)):
    assert abs(estimates.student_t(freedom) / t - 1) < 0.01, freedom
found = estimates.mean([1, 2, 3, 4, 5])
assert found["mean"] == 3 and abs(found["high"] - 3 - 2.776 * 1.5811 / 5**0.5) < 0.02
assert [estimates.outside(n) for n in (5, 6, 9, 12, 20)] == [None, 0, 1, 2, 5]
ratio = estimates.ratio([(2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (9000, 1), (1, 1), (4, 1), (4, 1)])
assert (ratio["low"], ratio["median"], ratio["high"]) == (2, 4, 6)'
}
