#!/usr/bin/env bats
# camp report: the page and its data in one file.

bats_require_minimum_version 1.5.0
load ../waiting

setup() {
    HTML=$BATS_TEST_TMPDIR/out.html
}

blocks() {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/../report_blocks.py" "$1"
}

@test "camp report writes one HTML file that contains the page and all intervals" {
    run --separate-stderr "$CAMP" report --from cpus --count 3 --interval 50ms --output "$HTML" \
        --title 'a <b> & "c"'
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == "$HTML: 3 intervals, "*" entities, "*" MB" ]]
    grep -qF '<title>a &lt;b&gt; &amp; &quot;c&quot;</title>' "$HTML"
    run blocks "$HTML"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == '1 {"schema":"camp.stream/1",'*'"title":"a <b> & \"c\""'*'"live":false,'* ]]
    [[ ${lines[1]} == "7 {\"cpus\":$(getconf _NPROCESSORS_ONLN)"[,\}]* ]] # the CPUs that are full may follow
    [[ ${lines[2]} == '2 [{"n":0,"id":0,'* ]]
    [ "$(grep -c '^3 frame' <<<"$output")" -eq 3 ]
    [[ ${lines[-1]} == '5 {"reason":"this is all there is","open":'[0-2]'}' ]]
    [ "$(compgen -G "$HTML*")" = "$HTML" ]
}

@test "camp report opens at the interval that differs most from the others" {
    printf 'time,name,cpu,io,idle\n' >"$BATS_TEST_TMPDIR/t.csv"
    for second in {1000..1009}; do
        [ "$second" -eq 1007 ] && times=100,800,100 || times=300,100,600
        echo "$second,a,$times" >>"$BATS_TEST_TMPDIR/t.csv"
    done
    "$CAMP" report --from "$BATS_TEST_TMPDIR/t.csv" --unit ms --output "$HTML"
    run blocks "$HTML"
    [ "${lines[-1]}" = '5 {"reason":"this is all there is","open":7}' ]
}

@test "camp report shows each CPU but not the total of all CPUs" {
    cpus=$(getconf _NPROCESSORS_ONLN)
    "$CAMP" record --from cpus --count 2 --interval 50ms --output "$BATS_TEST_TMPDIR/cpus.camp"
    "$CAMP" record --from check --count 2 --interval 50ms --output "$BATS_TEST_TMPDIR/check.camp"
    for from in cpus check "$BATS_TEST_TMPDIR/cpus.camp" "$BATS_TEST_TMPDIR/check.camp"; do
        interval=(--interval 50ms)
        [[ $from != *.camp ]] || interval=()
        run -0 "$CAMP" report --from "$from" --count 2 "${interval[@]}" --output "$HTML"
        [[ $output == "$HTML: 2 intervals, $cpus entit"* ]]
        "$CAMP" report --from "$from" --count 2 "${interval[@]}" --picture stack \
            --output "$BATS_TEST_TMPDIR/x.svg"
        grep -q ": $cpus entit" "$BATS_TEST_TMPDIR/x.svg"
    done
}

@test "the page of camp report contains the note of an interval once" {
    "$CAMP" record --from threads --tier schedstat --count 4 --interval 50ms --output "$BATS_TEST_TMPDIR/x.camp"
    sqlite3 "$BATS_TEST_TMPDIR/x.camp" "INSERT INTO note VALUES(2, 'it is gone'), (4, '')"
    run --separate-stderr "$CAMP" report --from "$BATS_TEST_TMPDIR/x.camp" --output "$HTML"
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ] # the note is about the past
    run blocks "$HTML"
    [ "$(grep -c '^6 ' <<<"$output")" -eq 1 ]
    [[ $output == *$'\n6 {"text":"'*': it is gone"}'$'\n'* ]]
    run -0 --separate-stderr "$CAMP" report --from "$BATS_TEST_TMPDIR/x.camp" --picture barry3 \
        --output "$BATS_TEST_TMPDIR/x.svg"
    [[ $stderr == "camp report: "*" has 1 note, which a picture does not show: --output FILE.html does" ]]
}

@test "camp report writes a page that loads nothing from the network" {
    "$CAMP" report --from cpus --count 1 --interval 50ms --output "$HTML"
    run ! grep -Eo '(src|href|action)="?(https?:|//)[^ ]*' "$HTML"
    grep -q "Content-Security-Policy\" content=\"default-src 'none'" "$HTML"
}

@test "camp report --axes assigns states to the corners of the triangle" {
    "$CAMP" report --from cpus --count 1 --interval 50ms --output "$HTML" \
        --axes 'A=user; B=idle; C=*'
    run blocks "$HTML"
    [[ ${lines[0]} == *'"axes3":[{"name":"A","states":[0]},{"name":"B"'* ]]
}

@test "camp report puts CPU, waits and idle time of a table at three corners" {
    "$CAMP" report --from "$CAMP_FIXTURES/table/sessions4.csv" --output "$HTML"
    run blocks "$HTML"
    [[ ${lines[0]} == *'"axes3":[{"name":"CPU","states":[0]},{"name":"idle","states":[3]},{"name":"waiting","states":[1,2]}],"axes4":[{"name":"CPU","states":[0]},{"name":"idle","states":[3]},{"name":"I/O","states":[1]},{"name":"contention","states":[2]}]'* ]]
}

@test "camp report identifies a row of a table by its name, without a number" {
    "$CAMP" report --from "$CAMP_FIXTURES/table/sessions4.csv" --output "$HTML"
    run blocks "$HTML"
    rows=$(grep '^2 ' <<<"$output")
    [ "$(grep -o '"id":0,"pid":0,' <<<"$rows" | wc -l)" -eq 60 ]
    [ "$(grep -o '"name":"job21"' <<<"$rows" | wc -l)" -eq 1 ]
    run ! grep -E '"id":[^0]' <<<"$rows"
}

@test "camp report writes the report of the intervals so far when SIGINT ends it" {
    "$CAMP" report --from cpus --count 1000 --interval 50ms --output "$HTML" >"$BATS_TEST_TMPDIR/said" 3>&- &
    local pid=$!
    until_it compgen -G "$HTML.*"
    until_it_sleeps "$pid"
    kill -INT "$pid"
    wait "$pid"
    run blocks "$HTML"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^3 frame' <<<"$output")" -ge 1 ]
}

@test "camp report keeps the old file if the disk is full" {
    echo before >"$HTML"
    run --separate-stderr bash -c 'ulimit -f 16; trap "" XFSZ
        exec "$1" report --from cpus --count 1 --interval 50ms --output "$2"' - "$CAMP" "$HTML"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == "camp report: cannot write $HTML: File too large" ]]
    [ "$(cat "$HTML")" = before ]
    [ "$(compgen -G "$HTML*")" = "$HTML" ]
    ln -s /dev/full "$BATS_TEST_TMPDIR/full.html"
    run --separate-stderr "$CAMP" report --from cpus --count 1 --interval 50ms \
        --output "$BATS_TEST_TMPDIR/full.html"
    [ "$status" -eq 1 ]
    [[ $stderr == *"No space left on device" ]]
}

@test "camp report gives its file the permissions that the umask allows" {
    for mask in 002 027 077; do
        rm -f "$BATS_TEST_TMPDIR/real.html"
        (umask "$mask" && "$CAMP" report --from cpus --count 1 --interval 50ms \
            --output "$BATS_TEST_TMPDIR/real.html")
        [ "$(stat -c %a "$BATS_TEST_TMPDIR/real.html")" = "$(printf %o $((0666 & ~mask)))" ]
    done
    ln -s real.html "$HTML"
    "$CAMP" report --from cpus --count 2 --interval 50ms --output "$HTML"
    [ -L "$HTML" ]
    run blocks "$BATS_TEST_TMPDIR/real.html"
    [ "$(grep -c '^3 frame' <<<"$output")" -eq 2 ]
}

@test "camp report keeps the permissions of the file that it replaces" {
    for mode in 600 640 664 444; do
        echo before >"$BATS_TEST_TMPDIR/$mode.html"
        chmod "$mode" "$BATS_TEST_TMPDIR/$mode.html"
        ln -s "$mode.html" "$BATS_TEST_TMPDIR/link$mode.html"
        for name in "$mode" "link$mode"; do
            (umask 022 && "$CAMP" report --from cpus --count 1 --interval 50ms \
                --output "$BATS_TEST_TMPDIR/$name.html")
            [ "$(stat -c %a "$BATS_TEST_TMPDIR/$mode.html")" = "$mode" ]
        done
        [ -L "$BATS_TEST_TMPDIR/link$mode.html" ]
        [[ $(head -1 "$BATS_TEST_TMPDIR/$mode.html") == "<!doctype html>" ]]
    done
}

@test "camp report keeps the owner and the group of the file that it replaces" {
    [ "$(id -u)" = 0 ] || skip "only root may give a file to another user"
    echo before >"$HTML"
    chmod 640 "$HTML"
    chown 65534:12345 "$HTML"
    "$CAMP" report --from cpus --count 1 --interval 50ms --output "$HTML"
    [ "$(stat -c %a:%u:%g "$HTML")" = 640:65534:12345 ]
}

@test "an output file follows no link of another user in a sticky folder for all" {
    [ "$(id -u)" = 0 ] || skip "only root may make a link that belongs to another user"
    cd "$BATS_TEST_TMPDIR"
    mkdir sticky
    chmod 1777 sticky
    echo before >target.html
    echo before >target.txt
    for name in report.html report.txt; do
        ln -s "../target.${name#*.}" "sticky/$name"
        chown -h 65534 "sticky/$name"
    done
    ln -s sticky/report.html own.html
    for name in sticky/report.html own.html; do
        run --separate-stderr "$CAMP" report --from cpus --count 1 --interval 50ms --output "$name"
        [ "$status" -eq 1 ]
        [ "$stderr" = "camp report: cannot write $name: another user made this link, in a folder that everyone may write to" ]
        [ "$(cat target.html)" = before ]
    done
    run --separate-stderr "$CAMP" time --output sticky/report.txt true
    [ "$(cat target.txt)" = before ]
    [[ $stderr == *"sticky/report.txt: another user made this link, "* ]]
    # The links of the user, and those of the owner of the folder, are followed.
    chown -h 0 sticky/report.html
    "$CAMP" report --from cpus --count 1 --interval 50ms --output sticky/report.html
    [[ $(head -1 target.html) == "<!doctype html>" ]]
    chown 65534 sticky
    chown -h 65534 sticky/report.html
    "$CAMP" report --from cpus --count 1 --interval 50ms --output sticky/report.html
    [ -L sticky/report.html ]
}

@test "camp report refuses wrong operands and options in one line" {
    for words in '' '--output x.txt' '--output .html' '--output x.html more' \
        '--output x.html --from nothing' '--output x.html --from cpus --axes A'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" report $words
        echo "$stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run "$CAMP" report --from cpus --count 1 --output /nonexistent/x.html
    [ "$status" -eq 1 ]
}
