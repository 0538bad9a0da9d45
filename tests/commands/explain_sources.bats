#!/usr/bin/env bats
# camp explain: recordings, tables, options, and what is shown; what cannot be known has its reason.

bats_require_minimum_version 1.5.0
load explain

@test "E11 and E23: waits and unaccounted time of the sample data are found" {
    run -0 "$CAMP" explain --from demo
    [[ $output == *"E23  time is unaccounted: 570 ms a second, derived"* ]]
    [[ $output == *"miss1 has most of it"* ]]
    [[ $output == *"E11  waits for disks: 17.26 s a second"* ]]
    [[ $output == *"camp top --from demo --sort unaccounted"* ]]
}

@test "the text has no line of more than 80 characters, but for names and commands" {
    need_states
    cp "$RECORDING" a_name_of_some_length.camp
    run -0 "$CAMP" explain --from a_name_of_some_length.camp
    text=$(grep -v '^     camp ' <<<"$output")
    [ "$(wc -L <<<"$text")" -le 80 ]
    [[ ${lines[1]} =~ ^[0-9]+\ CPUs?,\ [0-9.]+\ %\ busy$ ]]
}

@test "E24 and E25: what a recording lost and did not see is found" {
    change "UPDATE tick SET lost = 2, unseen = 1000000, partial = 0; UPDATE tick_beside SET partial = 0"
    ask '
assert found["E24"]["value"] == 4, found
assert "2000000 context switches" in found["E25"]["sentence"], found' --from changed.camp
}

@test "E27 to E33: what sessions of a database wait for is found" {
    cat >sessions.csv <<'CSV'
time,name,cpu_ns,run_queue_ns,contention_ns,wait_ns,idle_ns,idle_in_transaction_ns,wait_client_of_statement_ns,wait_file_read_ns
2026-11-22T02:00:01Z,writer,0,0,1000000000,0,0,0,0,0
2026-11-22T02:00:01Z,holder,0,0,0,0,0,1000000000,0,0
2026-11-22T02:00:01Z,reader,0,0,0,0,0,0,0,1000000000
2026-11-22T02:00:01Z,slow,0,0,0,0,0,0,1000000000,0
2026-11-22T02:00:01Z,busy,1000000000,0,0,0,0,0,0,0
2026-11-22T02:00:01Z,queued,0,1000000000,0,0,0,0,0,0
2026-11-22T02:00:02Z,writer,0,0,1000000000,0,0,0,0,0
2026-11-22T02:00:02Z,holder,0,0,0,0,0,1000000000,0,0
2026-11-22T02:00:02Z,reader,0,0,0,0,0,0,0,1000000000
2026-11-22T02:00:02Z,slow,0,0,0,0,0,0,1000000000,0
2026-11-22T02:00:02Z,busy,1000000000,0,0,0,0,0,0,0
2026-11-22T02:00:02Z,queued,0,1000000000,0,0,0,0,0,0
CSV
    ask '
for rule, name in (("E27", "writer"), ("E28", "holder"), ("E29", "slow"), ("E30", "reader"), ("E31", "queued"),
                   ("E32", "busy")):
    assert name in found[rule]["who"], (rule, found)
    assert abs(found[rule]["value"] - 1) < 0.01, (rule, found)
assert "E33" in unknown, unknown
print(*(row["command"] for row in found.values()), sep="\n")' --from sessions.csv >shown
    [ "$(wc -l <shown)" -ge 6 ]
    while read -r line; do
        bash -c "$CAMP ${line#camp }" >/dev/null
    done <shown
}

@test "the commands of the rules run, live and of a recording" {
    need_states
    local recording=why.camp refusal
    "$CAMP" explain --list --format json >rules.json
    if ! refusal=$("$CAMP" record --why --count 2 --interval 200ms --output why.camp 2>&1); then
        [[ $refusal == *"causes of waits"* ]]
        recording=$RECORDING
        echo "without the commands of camp why: $refusal"
    fi
    # Columns of sessions are not in threads: E27 to E33.
    python3 -c '
import json, sys
rows = [row for row in json.load(open("rules.json"))["rules"] if not "E27" <= row["rule"] <= "E33"]
for command in sorted({row["command"] for row in rows}): print(command)
for command in sorted({row["command_from"] for row in rows}): print(command.replace("SOURCE", sys.argv[1]))
' "$recording" >all
    [ "$recording" = why.camp ] && cp all commands || grep -v "^camp why" all >commands
    [ "$(wc -l <commands)" -gt 30 ]
    while read -r line; do
        case $line in
        *--from* | "camp get"*) ;;
        *) line+=" --count 1 --interval 50ms" ;;
        esac
        [[ $line != "camp top"* ]] || line+=" --format text"
        echo "$line"
        bash -c "$CAMP ${line#camp }" >/dev/null
    done <commands
}

@test "a finding of a recording has a command that runs in a shell, whatever the path" {
    need_states
    local path="it's \$(touch here) & more.camp"
    cp "$RECORDING" "$path"
    python3 -c '
import sqlite3, sys
b = sqlite3.connect(sys.argv[1]); b.execute("UPDATE tick SET lost = 5"); b.commit()' "$path"
    ask 'print(found["E24"]["command"])' --from "$path" --begin -1s >shown
    [[ $(cat shown) == *"--from 'it'\\''s \$(touch here) & more.camp' --begin -1s" ]]
    bash -c "$CAMP $(sed 's/^camp//' shown)" >/dev/null
    [ ! -e here ]
}

@test "names of threads and files cannot move the cursor" {
    need_states
    cp "$RECORDING" $'bad\e[2J\n.camp'
    run -0 "$CAMP" explain --from $'bad\e[2J\n.camp' --color never
    [[ ${lines[0]} == *"bad?[2J?.camp (threads)  tier bpf"* ]]
    [[ $output != *$'\e'* ]]
    change "UPDATE identity SET name = 'bad' || char(27) || '[2J' || char(10) WHERE table_name != 'cpus'"
    run -0 "$CAMP" explain --from changed.camp --color never
    [[ $output != *$'\e'* ]]
}

@test "a line feed in what a recording says of itself makes no line of its own" {
    change "UPDATE camp SET value = 'bpf' || char(10) || 'E99  forged: 1.00 s a second' WHERE key IN ('tier', 'source')"
    run "$CAMP" explain --from changed.camp --color never
    [ "$status" -eq 0 ] || [ "${#lines[@]}" -eq 1 ]
    run -1 grep -q '^E99' <<<"$output"
}

@test "on a terminal only the first lines are bold" {
    run -0 "$CAMP" explain --from demo --color always
    [[ ${lines[0]} == $'\e[1m02:02:00'* ]]
    [[ ${lines[1]} == "2 of 42 rules found something"*$'\e[0m' ]]
    [ "$(grep -c $'\e' <<<"$output")" -eq 2 ]
    [[ $output == *$'\n\nE11  waits for disks: '*$'\nE23 '* ]]
}

@test "no member of the JSON has the key of another" {
    run -0 "$CAMP" explain --from demo --format json
    python3 -c '
import json, sys
def unique(pairs):
    keys = [key for key, value in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)
e = json.loads(sys.argv[1], object_pairs_hook=unique)
assert e["inapplicable"] == len(e["unknown"]) == 40, e' "$output"
}

@test "a recording without states lists the rules that need them with the reason" {
    "$CAMP" record --tier schedstat --count 1 --interval 100ms --output schedstat.camp >/dev/null 2>&1
    ask '
assert unknown["E11"] == "the rows lack states and counts: recorded on tier schedstat", unknown
assert unknown["E04"].startswith("there are no CPUs beside the rows"), unknown
assert "only read live" in unknown["E14"], unknown' --from schedstat.camp
}

@test "without capabilities camp explain applies the rules that CPU time is enough for" {
    if [ "$(id -u)" -eq 0 ]; then
        run -0 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all \
            --inh-caps=-all "$CAMP" explain --format json 200ms
    else
        run -0 --separate-stderr "$CAMP" explain --tier schedstat --format json 200ms
    fi
    echo "$output" >explain.json
    python3 -c '
import json
e = json.load(open("explain.json"))
unknown = {row["rule"]: row["reason"] for row in e["unknown"]}
assert e["tier"] == "schedstat" and e["machine"]["busy_percent"] is not None, e
assert "E01" not in unknown and "E04" not in unknown and "E11" in unknown, unknown'
}

@test "--fail-on ends with status 5 if one of its rules found something" {
    run -5 --separate-stderr "$CAMP" explain --from demo --fail-on E01,e23
    [[ $stderr == "camp explain: --fail-on E01,e23: E23 found something" ]]
    [[ $output == *"E23  time is unaccounted"* ]]
    run -5 --separate-stderr "$CAMP" explain --from demo --fail-on any
    [[ $stderr == "camp explain: --fail-on any: E11 found something" ]]
    run -0 "$CAMP" explain --from demo --fail-on E01,E03
    run -2 --separate-stderr "$CAMP" explain --from demo --fail-on E01,E99
    [[ $stderr == "camp explain: --fail-on: there is no rule 'E99'; camp explain --list lists the rules" ]]
}

@test "--top limits the findings and says how many are left out" {
    run -0 "$CAMP" explain --from demo --top 1
    [[ $output == *"E11 "*"not shown  1 finding (--top 0 shows all)"* ]]
    [[ $output != *"E23  time"* ]]
}

@test "--pid applies the rules to one process" {
    need_states
    ask 'assert "not about those of --pid" not in str(e["findings"]) and "--pid" in unknown["E09"], e' --pid $$ 100ms
    run -1 --separate-stderr "$CAMP" explain --from demo --pid 3
    [[ $stderr == "camp explain: --pid 3: no process of this number is in demo" ]]
}

@test "the intact part of a damaged recording is explained, and the status says that it is damaged" {
    need_states
    cp "$RECORDING" damaged.camp
    python3 - <<'PYTHON'
import sqlite3
b = sqlite3.connect("damaged.camp")
last, = b.execute("SELECT max(tick) FROM tick").fetchone()
b.execute("PRAGMA ignore_check_constraints = ON")
b.execute("UPDATE tick SET end_ns = start_ns - 1 WHERE tick = ?", (last,))
b.commit()
PYTHON
    run -1 --separate-stderr "$CAMP" explain --from damaged.camp --format json
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    python3 -c 'import json, sys; e = json.loads(sys.argv[1]); assert e["intervals"] == 1, e' "$output"
    run -1 --separate-stderr "$CAMP" explain --from damaged.camp --fail-on any
}

@test "an interrupt while a recording is read says so and shows what was read" {
    "$CAMP" record --from cpus --count 2 --interval 50ms --output long.camp >/dev/null
    python3 - <<'PYTHON'
import sqlite3
b = sqlite3.connect("long.camp")
names = ", ".join(f'"{row[1]}"' for row in b.execute("PRAGMA table_info(cpus_rows)") if row[1] != "row_number")
first, rows = b.execute("SELECT first_row, row_count FROM tick WHERE tick = 2").fetchone()
count = "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 400000) "
b.execute(count + """INSERT INTO tick SELECT 2 + n, end_ns + (n - 1) * 50000000, end_ns + n * 50000000,
    wall_clock_ns + n * 50000000, unseen, lost, unread_ns, partial, key, first_row + n * row_count, row_count
    FROM tick, i WHERE tick = 2""")
b.execute(count + f"INSERT INTO cpus_rows SELECT row_number + n * {rows}, {names} FROM i, cpus_rows WHERE row_number >= {first}")
b.commit()
PYTHON
    python3 - "$CAMP" <<'PYTHON'
import json, signal, subprocess, sys, time
# How long it takes to read the first interval, and all of them, is unknown: one of the delays is between the two.
for delay in (0.3, 0.1, 1, 0.05, 3, 0.6, 6):
    run = subprocess.Popen([sys.argv[1], "explain", "--from", "long.camp", "--format", "json"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate()
    if run.returncode == 1 and "interrupted" in errors: break
assert "interrupted before all of long.camp (cpus) was read" in errors, (run.returncode, errors)
assert 0 < json.loads(output)["intervals"] < 400002, output
PYTHON
}

@test "the commands shown for --from check run" {
    need_states
    start "$CAMP" load cpu --percent 80 --phase between-ticks --duration 60
    start "$CAMP" load fork --rate 400 --burn 2ms --duration 60
    ask 'print(*(row["command"] for row in e["findings"]), sep="\n")' --from check 2 >shown
    grep -q "^camp check" shown
    while read -r line; do
        echo "$line"
        bash -c "$CAMP ${line#camp } --count 1 --interval 50ms" >/dev/null || [ $? -eq 3 ]
    done <shown
}

@test "a source without an interval, or that is missing, is refused in one line" {
    run -1 --separate-stderr "$CAMP" explain --from missing.camp
    [ "$(echo "$stderr" | wc -l)" -eq 1 ]
    run -1 --separate-stderr "$CAMP" explain --from demo --begin 2030-01-01 --end 2030-01-02
    [[ $stderr == "camp explain: demo has no rows between --begin and --end" ]]
}

@test "the table of rules in docs/explain.md is that of the program" {
    "$CAMP" explain --list --format json >rules.json
    python3 - "$BATS_TEST_DIRNAME/../../docs/explain.md" <<'PYTHON'
import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
shown = [line for line in text.splitlines() if line.startswith("| E")]
rows = json.load(open("rules.json"))["rules"]
units = {"share": lambda v: f"{v * 100:g} %", "s_per_s": lambda v: f"{v * 1000:g} ms a second",
         "per_s": lambda v: f"{v:g} a second", "count": lambda v: f"{v:g}"}
wanted = [f"| {row['rule']} | {row['name']} | {row['looks_at']} | {units[row['unit']](row['threshold'])} | "
          f"`{row['command']}` |" for row in rows]
for line in wanted:
    if line not in shown: print("missing:", line)
assert shown == wanted
PYTHON
}
