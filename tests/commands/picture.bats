#!/usr/bin/env bats
# camp report --picture: pictures are well-formed and right, and failures are reported.

bats_require_minimum_version 1.5.0

setup() {
    export TZ=UTC0
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here" || return
    sessions=$CAMP_FIXTURES/table/sessions3.csv
    sessions4=$CAMP_FIXTURES/table/sessions4.csv
}

report() {
    "$CAMP" report --from "${from:-$sessions}" "$@"
}

needs_converter() {
    command -v rsvg-convert >/dev/null || skip "needs rsvg-convert (librsvg2-bin)"
}

# ask FILE PYTHON: reads the picture as XML, then runs the Python code with `root`, all() and texts().
ask() {
    python3 -c "
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
def all(name, kind=None):
    return [e for e in root.iter('{http://www.w3.org/2000/svg}' + name)
            if kind is None or e.get('class') == kind]
def texts(name='text'):
    return [e.text for e in all(name)]
$2" "$1"
}

@test "camp report --picture: each kind of picture is well-formed XML with a title" {
    for kind in barry3 barymap stack lines; do
        report --picture $kind --output $kind.svg
    done
    from=$sessions4 report --picture barry4 --output barry4.svg
    report --picture stack --over entities --output entities.svg
    for file in *.svg; do
        ask "$file" '
assert root.get("role") == "img" and root.get("viewBox"), root.attrib
title, description = root[0].text, root[1].text
assert title.startswith("sessions"), title
assert "60 entities" in description and "Unaccounted:" in description, description
assert "Source sessions" in description and "2008-11-22 02:0" in description, description
assert title in texts(), texts()'
    done
    [ "$(echo ./*)" = "./barry3.svg ./barry4.svg ./barymap.svg ./entities.svg ./lines.svg ./stack.svg" ]
}

@test "camp report --picture ribbon and ranking show the active time of any source" {
    report --picture ribbon --output ribbon.svg
    ask ribbon.svg '
assert root[0].text.startswith("Active "), root[0].text
assert root[0].text in texts(), texts()
assert "60 entities, " in root[1].text and " active at one time" in root[1].text, root[1].text
assert "Unaccounted:" in root[1].text and "Source sessions" in root[1].text, root[1].text
assert any(t.startswith("CPU ") for t in texts()) and not any("idle" in t for t in texts()), texts()
assert "2008-11-22, local time (UTC)" in texts(), texts()'
    report --picture ranking --output ranking.svg
    ask ranking.svg '
assert root[0].text.endswith(" by name"), root[0].text
assert "web (20)" in texts() and "1 idle" in texts(), texts()
numbers = [float(t) for t in texts() if t.count(".") == 1 and t.replace(".", "").isdigit()]
assert numbers == sorted(numbers, reverse=True) and len(numbers) >= 5, numbers'
    report --picture ranking --output again.svg
    cmp ranking.svg again.svg
    printf 'time,name,busy\n1000,a,250\n1000,b,500\n' >one.csv
    for kind in ribbon ranking; do
        from=one.csv report --unit ms --picture $kind --output one.svg
        ask one.svg 'assert "0.75 active at one time" in root[1].text, root[1].text'
    done
}

@test "camp report --picture ribbon and ranking of threads know the CPUs and the processes" {
    from=threads run --separate-stderr report --tier bpf --picture ribbon --count 2 --interval 50ms \
        --output now.svg
    [ "$status" -ne 4 ] || skip "$stderr"
    [[ $stderr != *"without microstates"* ]] || skip "$stderr"
    [ "$status" -eq 0 ]
    cpus=$(getconf _NPROCESSORS_ONLN) ask now.svg '
import os
assert root[0].text == "Active threads", root[0].text
cpus = os.environ["cpus"] + " CPU"
assert any(t.startswith(cpus) for t in texts()) or cpus in root[1].text, texts()'
    from=threads report --tier bpf --picture ranking --count 2 --interval 50ms --output now.svg
    ask now.svg 'assert root[0].text == "Active threads by process", root[0].text'
}

@test "camp report --picture ribbon and ranking refuse options that do not concern them" {
    for kind in ribbon ranking; do
        for option in "--axes A=*" "--pin x" "--at mean" "--over entities"; do
            # shellcheck disable=SC2086
            run -2 --separate-stderr report --picture $kind $option --output x.svg
            [ "${#stderr_lines[@]}" -eq 1 ]
        done
    done
    [ ! -e x.svg ]
}

# The last application of a session says nothing of the time before, and neither does its last wait: camp top divides
# each interval.
@test "camp report --picture ribbon --color-by LABEL has the times of camp top --group LABEL" {
    from=$CAMP_FIXTURES/samples/oracle_ash.csv
    for label in application query wait_event; do
        report --picture ribbon --color-by $label --output ribbon.svg
        "$CAMP" top --from "$from" --group $label --format json >top.json
        label=$label ask ribbon.svg '
import collections, json, os
sums, seconds = collections.Counter(), 0
for frame in map(json.loads, open("top.json")):
    seconds += frame["interval_s"]
    for row in frame["entities"]:
        sums[row["name"]] += sum(ns for state, ns in row["states"].items() if state != "idle_ns") / 1e9
wanted = [(f"{sums[name] / seconds:.2f}", name) for name in sums if sums[name] > 0]
assert len(wanted) >= 3, wanted
for average, name in wanted:
    # A long name is cut.
    assert any(t.startswith(name[:20]) and t.endswith(f" {average}") for t in texts()), (name, average, texts())
assert len(all("polygon", "layer")) >= len(wanted)
assert "4 entities, 3.00 active at one time" in root[1].text, root[1].text
assert root[0].text == "Active sessions by " + os.environ["label"], root[0].text'
    done
}

@test "camp report --picture --only LABEL=REGEX shows the entities with such a value" {
    from=$CAMP_FIXTURES/samples/oracle_ash.csv
    report --picture ribbon --only 'query=^0ww' --output only.svg
    ask only.svg '
assert "2 entities, 1.50 active at one time" in root[1].text, root[1].text
assert "Only entities whose query matches ^0ww are shown." in root[1].text, root[1].text
assert {"CPU 0.25", "lock 0.75", "other waits 0.50"} <= set(texts()), texts()'
    report --picture ribbon --only 'query=^0ww' --color-by application --output only.svg
    ask only.svg 'assert {"queue.exe 1.00", "holder.exe 0.50"} <= set(texts()) and "late.exe 0.50" not in texts(), texts()'
    report --picture barry3 --only 'application=late' --output dots.svg
    ask dots.svg 'assert len(all("circle", "dot")) == 1 and "application matches late" in root[1].text, root[1].text'
    run -1 --separate-stderr report --picture ribbon --only 'query=zzz' --output none.svg
    [[ $stderr == "camp report: oracle_ash.csv has no query that matches --only" ]]
    run -2 --separate-stderr report --picture ribbon --only 'query=*(' --output none.svg
    [[ $stderr == *"is no regular expression"* ]]
    run -2 --separate-stderr report --picture ribbon --color-by nix --output none.svg
    [[ $stderr == "camp report: --color-by nix: oracle_ash.csv has the labels user, application, client, "* ]]
    [ ! -e none.svg ]
}

@test "camp report --picture ribbon --color-by name has the sums of the ribbon by class" {
    report --picture ribbon --output class.svg
    report --picture ribbon --color-by name --output name.svg
    for file in class.svg name.svg; do
        ask $file '
numbers = [float(t.split()[-1]) for t in texts() if t.split()[-1].count(".") == 1 and t.split()[-1].replace(".", "").isdigit() and " " in t]
print(f"{sum(numbers):.1f}", root[1].text.split("entities, ")[1].split()[0])' >$file.sums
        [ -s $file.sums ]
    done
    cat ./*.sums
    cmp class.svg.sums name.svg.sums
    ask name.svg 'assert root[0].text == "Active " + root[0].text.split()[1] + " by name" and "1 other " in " ".join(texts()), texts()'
}

@test "camp report --picture: the description names the source of a table once" {
    run "$CAMP" record --from "$sessions" --count 2 --output run.camp
    [[ $output != *"without SQLite"* ]] || skip "camp was built without SQLite"
    [ "$status" -eq 0 ]
    for from in "$sessions" run.camp; do
        report --picture stack --output one.svg
        ask one.svg '
[source] = [line for line in root[1].text.splitlines() if line.startswith("Source ")]
assert source.count("(table)") == 1, source'
    done
}

@test "camp report --picture: dots have the positions of the examples in the CAMP paper" {
    cat >places.csv <<'END'
time,name,a,b,c
1000,centroid,1000,1000,1000
1000,figure,620,280,100
1000,top,10,0,0
END
    from=places.csv report --unit ms --picture barry3 --axes 'A=a;B=b;C=c' --output places.svg
    ask places.svg '
corners = [tuple(map(float, p.split(","))) for p in all("polygon")[0].get("points").split()]
height = corners[1][1] - corners[0][1]
def place(name):
    dot, = [e for e in all("circle", "dot") if e[0].text.startswith(name + ",")]
    return ((float(dot.get("cx")) - corners[1][0]) / height,
            (corners[1][1] - float(dot.get("cy"))) / height)
for name, x, y in ("centroid", 0.577, 0.333), ("figure", 0.473, 0.62), ("top", 0.577, 1):
    found = place(name)
    assert abs(found[0] - x) < 1e-3 and abs(found[1] - y) < 1e-3, (name, found)
assert abs((corners[2][0] - corners[1][0]) / height - 1.1547) < 1e-4, corners'
}

@test "camp report --picture: names of any bytes give well-formed XML" {
    printf 'time,name,a,b,c\n1000,"x<y>&""q""",900,50,50\n1000,"\377\001z",800,100,100\n' >names.csv
    for kind in barry3 barymap; do
        from=names.csv report --picture $kind --output names.svg
        ask names.svg '
assert any("x<y>&\"q\"" in (t or "") for t in texts()), texts()
assert not any("\x01" in (t or "") for t in texts() + texts("title"))'
    done
}

@test "camp report --picture: a note names the states that --axes leaves out of the triangle" {
    from=$sessions4 report --picture barry3 --axes 'CPU=cpu;IO=io;IDLE=idle' --output left.svg
    ask left.svg '
assert "is at no vertex (LOCK)" in root[1].text, root[1].text
assert any("left out" in t for t in texts("title")), texts("title")[:5]'
    from=$sessions4 report --picture stack --axes 'CPU=cpu;IO=io;IDLE=idle' --output left.svg
    ask left.svg 'assert "left out" in texts(), texts()'
}

@test "camp report --picture: --at selects the last interval, an interval by time, or the mean" {
    report --picture barry3 --output last.svg
    ask last.svg 'assert "02:01:59 to 02:02:00 (1 s):" in root[1].text, root[1].text'
    report --picture barry3 --at 02:00:30 --output at.svg
    ask at.svg 'assert "02:00:30 to 02:00:31 (1 s):" in root[1].text, root[1].text'
    report --picture barry3 --at mean --output mean.svg
    ask mean.svg '
assert "02:00:00 to 02:02:00 (120 s, 120 intervals, their mean):" in root[1].text, root[1].text'
    run -2 --separate-stderr report --picture barry3 --at noon --output no.svg
    [[ $stderr == *"--at noon: takes last, mean, or a time"* ]]
    for at in 12:30:45 2020-01-01T00:00 +5m -3m 02:02:01; do
        run -2 --separate-stderr report --picture barry3 --at $at --output no.svg
        [[ $stderr == "camp report: --at $at: "*" goes from "*T02:00:00" to "*T02:02:00 ]]
    done
    report --picture barry3 --at 02:02 --output end.svg
    run -2 --separate-stderr report --picture lines --at mean --output no.svg
    [[ $stderr == *"--begin and --end"* ]]
    [ ! -e no.svg ]
}

@test "camp report --picture: --only selects entities by name" {
    report --picture barry3 --only '^web' --pin '^web20$' --output web.svg
    ask web.svg '
assert len(all("circle", "dot")) == 20 and ": 20 entities" in root[1].text, root[1].text
assert "web20" in texts(), texts()'
    report --picture barry3 --output all.svg
    ask all.svg 'assert "web20" not in texts(), texts()'
    run -1 --separate-stderr report --picture barry3 --only 'no such' --output none.svg
    [[ $stderr == *"has no name that matches --only"* ]]
    run -2 --separate-stderr report --picture barry3 --only '(' --output none.svg
    [[ $stderr == *"is no regular expression"* ]]
    [ ! -e none.svg ]
}

@test "camp report --picture: a dot with unaccounted time has a ring" {
    report --picture barry3 --output rings.svg
    ask rings.svg '
assert len(all("circle", "missing")) == 3 and len(all("circle", "over")) == 1
assert "(red rings)" in root[1].text and "(black rings)" in root[1].text, root[1].text'
}

@test "camp report --picture writes PNG and PDF files" {
    needs_converter
    report --picture barry3 --output x.png
    report --picture barry3 --output x.pdf
    [ "$(head -c 8 x.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]
    [ "$(head -c 5 x.pdf)" = %PDF- ]
    tail -c 8 x.pdf | grep -q EOF
    [ "$(echo ./*)" = "./x.pdf ./x.png" ]
}

@test "camp report --picture names the package to install if rsvg-convert is missing" {
    run -1 --separate-stderr env PATH=/nowhere "$CAMP" report --from "$sessions" --picture barry3 \
        --output x.png
    [[ $stderr == *"needs rsvg-convert: install librsvg2-bin, or give a file that ends with .svg" ]]
    [ ! -e x.png ]
}

@test "camp report --picture leaves no file when rsvg-convert fails" {
    mkdir bin
    printf '#!/bin/sh\nprintf half\necho "out of paint" >&2\nexit 3\n' >bin/rsvg-convert
    chmod +x bin/rsvg-convert
    echo before >x.png
    run -1 --separate-stderr env PATH="$PWD/bin:$PATH" "$CAMP" report --from "$sessions" --picture lines \
        --output x.png
    [[ $stderr == *"rsvg-convert failed: out of paint" ]]
    [ "$(cat x.png)" = before ]
    printf '#!/bin/sh\nkill -9 $$\n' >bin/rsvg-convert
    run -1 --separate-stderr env PATH="$PWD/bin:$PATH" "$CAMP" report --from "$sessions" --picture lines \
        --output y.pdf
    [[ $stderr == *"rsvg-convert was ended by signal 9" ]]
    [ "$(echo ./*)" = "./bin ./x.png" ]
}

@test "camp report --picture reports an output file that cannot be written" {
    run -1 --separate-stderr report --picture barry3 --output /nowhere/x.svg
    [[ $stderr == *"cannot write /nowhere/x.svg: there is no folder /nowhere" ]]
    ln -s /dev/full full.svg
    run -1 --separate-stderr report --picture barry3 --output full.svg
    [[ $stderr == *"cannot write full.svg: No space left on device" ]]
    [ -L full.svg ]
    needs_converter
    ln -s /dev/full full.png
    run -1 --separate-stderr report --picture barry3 --output full.png
    [[ $stderr == "camp report: "* ]]
}

@test "camp report --picture writes to stdout with --output -" {
    report --picture barry3 --output - >x.svg
    ask x.svg 'assert all("circle", "dot")'
}

@test "camp report --picture ends quietly when the reader of its output closes the pipe" {
    report --picture barymap --output - 2>complaint | head -c 1 >/dev/null
    [ ! -s complaint ]
}

@test "camp report --picture refuses wrong options before it reads the source" {
    run -2 --separate-stderr report --picture barry3 --output x.gif
    [[ $stderr == *"ends with .svg, .png or .pdf"* ]]
    run -2 --separate-stderr report --picture barry3
    [[ $stderr == *"--picture needs --output"* ]]
    run -2 --separate-stderr report --picture pie --output x.svg
    [[ $stderr == *"barry3"*"barymap"* ]]
    run -2 --separate-stderr report --picture lines --over entities --output x.svg
    [[ $stderr == *"goes with --picture stack"* ]]
    run -2 --separate-stderr report --picture lines --color-by user --output x.svg
    [[ $stderr == "camp report: --color-by goes with barry3, barry4, ribbon and ranking" ]]
    run -2 --separate-stderr report --picture barry3 --color-by user --output x.svg
    [[ $stderr == "camp report: --color-by user: "*" has no labels" ]]
    run -2 --separate-stderr report --picture barry3 --axes 'A=swap;B=idle;C=db_wait' --output x.svg
    [[ $stderr == *"--axes: there is no such state: 'swap'"* ]]
    from=$sessions4 run -2 --separate-stderr report --picture barry3 \
        --axes 'A=cpu;B=io;C=lock;D=idle' --output x.svg
    [[ $stderr == *"--axes takes 3 vertices, not 4"* ]]
    run -2 --separate-stderr report --picture barry4 --output x.svg
    [[ $stderr == *"has 3 states, too few for 4 vertices"* ]]
    [ ! -e x.svg ]
}

@test "camp report --picture draws a live measurement of the threads of this machine" {
    from=threads run --separate-stderr report --tier bpf --picture barry3 --count 2 --interval 50ms \
        --output now.svg
    [ "$status" -ne 4 ] || skip "$stderr"
    [[ $stderr != *"without microstates"* ]] || skip "$stderr"
    [ "$status" -eq 0 ]
    ask now.svg 'assert "(bpf, " in root[1].text and all("circle", "dot"), root[1].text'
}
