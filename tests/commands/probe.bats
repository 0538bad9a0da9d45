#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
load ../waiting
# camp probe: what measuring costs.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

# bats test_tags=law
@test "camp probe prints consistent numbers for each requested rate" {
    run -0 "$CAMP" probe --rate 20,200 --duration 0.5 --format json
    echo "$output" | python3 -c '
import json, os, sys
record = json.load(sys.stdin)
assert record["schema"] == "camp.probe/1"
assert [row["rate"] for row in record["rates"]] == [20, 200]
for row in record["rates"]:
    assert row["failed"] == 0, "calls failed"
    assert row["calls"] <= 9
    assert row["blocks"] + row["missed"] == row["rate"] * 0.5, "blocks that are not counted"
    wall_us = row["blocks"] / row["achieved_rate"] * 1e6
    exact = 1 + 4e-8  # up to four numbers, which are printed with 9 digits
    assert wall_us * exact >= 0.5e6, "not as long as asked for"
    # The same clock measures the blocks and the total. User and system time include all blocks, but
    # getrusage(2) rounds each reading down to 1 us.
    in_blocks = row["block_us"] * row["blocks"]
    assert 0 < in_blocks <= row["cpu_percent"] / 100 * wall_us * exact, "more than the whole"
    assert (row["user_percent"] + row["system_percent"]) / 100 * wall_us * exact >= in_blocks - 4
    assert abs(row["call_us"] * row["calls"] - row["block_us"]) <= 4e-8 * row["block_us"]
    assert row["block_wall_us"] >= row["block_us"] / 1.0005  # NTP changes the speed of the clock by at most 500 ppm
    # Each new page needs a page fault. The kernel counts the resident size in batches for each CPU.
    pages = row["faults"] + 2 * 64 * os.cpu_count()
    assert row["resident_growth_bytes"] <= pages * os.sysconf("SC_PAGESIZE")
    assert row["resident_bytes"] > 0
'
}

# bats test_tags=law
@test "camp probe reports skipped calls at a rate that it cannot keep" {
    run -0 timeout 60 "$CAMP" probe --rate 100000 --duration 0.3 --format json
    python3 -c '
import json, sys
row = json.loads(sys.argv[1])["rates"][0]
assert row["missed"] > 0 and row["late"] > 0
assert row["blocks"] + row["missed"] == 30000
assert row["achieved_rate"] < 100000' "$output"
}

# bats test_tags=law
@test "camp probe refuses a --duration that is shorter than one period of the rate" {
    run -0 "$CAMP" probe --rate 15 --duration 100ms --format json
    python3 -c '
import json, sys
row = json.loads(sys.argv[1])["rates"][0]
assert row["blocks"] == 1 and 0 < row["achieved_rate"] <= 15, row' "$output"
    run -2 --separate-stderr "$CAMP" probe --rate 1 --duration 100ms
    [[ $stderr == "camp probe: --rate 1: a block of it takes --duration 1s or more" ]]
}

@test "camp probe prints lines of at most 80 columns" {
    run -0 "$CAMP" probe --rate 1000,99999 --duration 50ms
    [ "${#lines[@]}" -eq 4 ]
    for line in "${lines[@]:1}"; do
        [ "${#line}" -le 80 ]
    done
}

@test "camp probe prints a CSV line for each rate" {
    run -0 "$CAMP" probe --rate 50,60,70 --duration 20ms --format csv
    [ "${#lines[@]}" -eq 4 ]
    [[ ${lines[0]} == *rate,achieved_rate,cpu_percent,* ]]
}

@test "camp probe refuses an invalid rate" {
    for rate in 0 -1 x 1,x '' ',' 1,,2 '1,' ',1' 1e9 nan inf; do
        run -2 --separate-stderr "$CAMP" probe --rate "$rate" --duration 10ms
        [[ $stderr == *"--rate"* ]]
    done
    run -2 "$CAMP" probe --duration 0
    run -2 "$CAMP" probe operand
}

@test "camp probe prints the results so far when a signal ends it" {
    "$CAMP" probe --rate 100 --duration 600 --format json >"$BATS_TEST_TMPDIR/out" 3>&- &
    local probe=$!
    until_it_sleeps "$probe"
    kill -TERM "$probe"
    wait "$probe"
    [[ $(cat "$BATS_TEST_TMPDIR/out") == '{"schema":"camp.probe/1"'*'"blocks":'[1-9]* ]]
}
