#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# camp report --picture error-over-time and error-by-load, for recordings of check and for other sources.

setup_file() {
    export CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    export RUN=$BATS_FILE_TMPDIR/run.camp
    "$CAMP" load cpu --percent 40 --phase between-ticks --duration 4 >/dev/null 2>&1 &
    "$CAMP" record --from check --interval 150ms --count 12 --output "$RUN" 2>/dev/null || true
    kill $! 2>/dev/null || true
}

setup() {
    if [ ! -e "$RUN" ]; then skip "camp is built without recordings"; fi
    OUT=$BATS_TEST_TMPDIR/out.svg
}

# The data of the papers' plots, computed from the recording by SQL.
QUERY='SELECT 100.0 * sum(measured_ns) / (end_ns - start_ns) AS cpu,
              100.0 * sum(absolute_ns) / sum(measured_ns) AS error
       FROM tick JOIN tasks USING (tick) GROUP BY tick HAVING sum(measured_ns) > 0'

needs_sampled_time() {
    sqlite3 "$RUN" "$QUERY" >/dev/null || skip "CAP_NET_ADMIN is not held: sampled time of a process is unknown"
}

picture() {
    run --separate-stderr "$CAMP" report --from "$RUN" --picture "$1" --output "$OUT" "${@:2}"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$OUT"
}

dots() {
    sed -n '/clip-path/,$p' "$OUT" | grep -c 'circle.*fill="#c7590a"'
}

@test "a picture of the sampling error has a dot for each interval of the recording" {
    needs_sampled_time
    intervals=$(sqlite3 "$RUN" 'SELECT count(*) FROM tick')
    [ "$intervals" -eq 12 ]
    for kind in error-over-time error-by-load; do
        picture $kind
        [ "$(dots)" -eq "$(sqlite3 "$RUN" "SELECT count(*) FROM ($QUERY)")" ]
        grep -q "<desc>.* of run.camp.*: 12 intervals" "$OUT"
    done
}

@test "a picture of the sampling error shows only the selected part of a recording" {
    needs_sampled_time
    picture error-by-load --begin +0.5 --end +1.4
    [ "$(dots)" -lt 12 ]
    [ "$(dots)" -gt 0 ]
}

@test "the dots in a picture of the sampling error have the values that SQL computes" {
    needs_sampled_time
    picture error-by-load
    sqlite3 -csv "$RUN" "$QUERY" >"$BATS_TEST_TMPDIR/data.csv"
    python3 - "$OUT" "$BATS_TEST_TMPDIR/data.csv" <<'EOF'
import csv, re, sys
svg = open(sys.argv[1]).read()
area = [float(x) for x in re.search(r'<clipPath.*?<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg, re.S).groups()]
inside = svg[svg.index('clip-path='):]
dots = [(float(x), float(y)) for x, y in re.findall(r'cx="([-\d.]+)" cy="([-\d.]+)" r="2.5"', inside)]
data = [(float(c), float(e)) for c, e in csv.reader(open(sys.argv[2]))]
def scale(anchor, axis):
    """Computes the pixels per unit from the places of the first tick and the last but one."""
    ticks = [(float(place[axis]), float(place[2])) for place in re.findall(
        rf'<text x="([\d.]+)" y="([\d.]+)" text-anchor="{anchor}" class="tick">([\d.]+)<', svg)]
    return (ticks[-2][0] - ticks[0][0]) / (ticks[-2][1] - ticks[0][1])
across, up = scale("middle", 0), scale("end", 1)
assert len(dots) == len(data), (dots, data)
for (x, y), (cpu, error) in zip(dots, data):
    assert abs(x - (area[0] + across * cpu)) < 0.05, (x, cpu, across)
    assert abs(y - (area[1] + area[3] + up * error)) < 0.05, (y, error, up)
EOF
}

# Runs the R commands of docs/error.md.
@test "camp report fits the same error curve to a recording as the program R" {
    needs_sampled_time
    command -v Rscript >/dev/null || skip "R is not installed"
    picture error-by-load
    sqlite3 -csv -header "$RUN" "$QUERY" >"$BATS_TEST_TMPDIR/data.csv"
    # shellcheck disable=SC2016 # R's dollars
    Rscript -e 'd <- read.csv(commandArgs(TRUE)[1]); l <- summary(glm(error ~ cpu, data = d[d$error > 0, ], family = Gamma())); cat(sprintf("a = %.4g ± %.2g, b = %.4g ± %.2g", coef(l)[1, 1], coef(l)[1, 2], coef(l)[2, 1], coef(l)[2, 2]))' \
        "$BATS_TEST_TMPDIR/data.csv" >"$BATS_TEST_TMPDIR/answer" 2>/dev/null || skip "R refuses these data"
    cat "$BATS_TEST_TMPDIR/answer"
    grep -qF "$(cat "$BATS_TEST_TMPDIR/answer")" "$OUT"
}

@test "camp report draws a picture of the sampling error of a live measurement" {
    needs_sampled_time
    run --separate-stderr "$CAMP" report --from check --count 3 --interval 50ms \
        --picture error-over-time --output "$OUT"
    [ "$status" -eq 0 ]
    grep -q "check, $(uname -n)" "$OUT"
}

@test "camp report writes a picture of the sampling error as PNG and as PDF" {
    needs_sampled_time
    command -v rsvg-convert >/dev/null || skip "rsvg-convert is not installed"
    for kind in png pdf; do
        run "$CAMP" report --from "$RUN" --picture error-by-load --output "$BATS_TEST_TMPDIR/x.$kind"
        [ "$status" -eq 0 ]
    done
    [[ $(head -c 4 "$BATS_TEST_TMPDIR/x.png" | tail -c 3) == PNG ]]
    [[ $(head -c 4 "$BATS_TEST_TMPDIR/x.pdf") == "%PDF" ]]
}

@test "camp report draws a stack picture of a recording of camp check" {
    run --separate-stderr "$CAMP" report --from "$RUN" --picture stack --output "$OUT"
    [ "$status" -eq 0 ]
    grep -q "<desc>" "$OUT"
}

@test "the error about a source without sampled time recommends --from check" {
    for from in "cpus" "check --tier schedstat"; do
        # shellcheck disable=SC2086 # the words of the options
        run --separate-stderr "$CAMP" report --from $from --count 1 --interval 10ms \
            --picture error-by-load --output "$OUT"
        [ "$status" -eq 2 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == *"has no sampled time of processes"*"--from check"* ]]
        [ ! -e "$OUT" ]
    done
}

@test "a picture of the sampling error refuses the options of other pictures" {
    for option in "--only x" "--pin x" "--at mean" "--over entities" "--color-by user" "--axes A=*"; do
        # shellcheck disable=SC2086 # the words of the options
        run --separate-stderr "$CAMP" report --from "$RUN" --picture error-over-time $option \
            --output "$OUT"
        [ "$status" -eq 2 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    run --separate-stderr "$CAMP" report --from "$RUN" --picture error-over-time
    [ "$status" -eq 2 ]
}
