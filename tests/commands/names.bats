#!/usr/bin/env bats
# Names that processes, files and servers choose, through every command and format.

bats_require_minimum_version 1.5.0

setup() {
    CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
    export CAMP LC_ALL=C.UTF-8 TZ=UTC
}

# names.py prints a line with the number of combinations, so that a loop that shrank is found.
@test "no name reaches an output raw, and each name is in each JSON, CSV and page of metrics" {
    run --separate-stderr /usr/bin/python3 -B "$BATS_TEST_DIRNAME/names.py" "$BATS_TEST_TMPDIR"
    echo "$output $stderr"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} =~ ^([0-9]+)\ combinations,\ 0\ problems$ ]]
    least=3500
    [[ $output != *"without "* ]] || least=3400
    [ "${BASH_REMATCH[1]}" -ge "$least" ]
}

@test "a name that CSV marks as a formula is read back as it was" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'time,entity,run_ms' "2026-01-01 00:00:01,'=1+1,5" "2026-01-01 00:00:01,''@x,5" \
        '2026-01-01 00:00:01,"a,""b;",5' "2026-01-01 00:00:01,'plain,5" >first.csv
    "$CAMP" top --from first.csv --csv >rows.csv
    names() { /usr/bin/python3 -c 'import csv, sys; print(sorted(row["name"] for row in csv.DictReader(sys.stdin)))'; }
    run names <rows.csv
    [ "$output" = "[\"''@x\", \"'=1+1\", \"'plain\", 'a,\"b;']" ]
    cut -d, -f1,9- rows.csv | sed 's/,,,,1,false,false,/,/; 1s/,pid,parent,user_name,count,new,ended,/,/' >second.csv
    "$CAMP" top --from second.csv --json | grep -o '"name":"[^,]*","pid"' >again
    "$CAMP" top --from first.csv --json | grep -o '"name":"[^,]*","pid"' | diff - again
    grep -qF '"name":"=1+1"' again
    grep -qF "\"name\":\"'@x\"" again
}
