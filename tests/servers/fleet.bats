#!/usr/bin/env bats
# bats file_tags=law
# --from prometheus: four hosts in network namespaces, which the Prometheus and the VictoriaMetrics of Debian scrape.
# Each test runs on both. The hosts share one kernel, so all of them report the same CPU times, and camp top on this machine measures these times, too. A late
# scrape shortens an interval, so no other test runs at the same time.

bats_require_minimum_version 1.5.0
load lib
load engines
load fleet

setup_file() {
    local words=(x command user cgroup command) i
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    fleet_refusal >"$BATS_FILE_TMPDIR/refusal"
    if [ -s "$BATS_FILE_TMPDIR/refusal" ]; then
        skip_file "$(cat "$BATS_FILE_TMPDIR/refusal")"
        return
    fi
    fleet_begin
    for i in 1 2 3 4; do start_exporter "$i" "${words[i]}"; done
    # One test uses a simulated host with hostile labels, another test uses a thousand simulated hosts.
    mkdir "$SERVERS/states"
    nsenter --net="/run/netns/$FLEET"0 /usr/bin/python3 "$BATS_TEST_DIRNAME/simulated_hosts.py" --port 9700 --hosts 1000 --groups 2 \
        --folder "$SERVERS/states" >"$SERVERS/simulated.log" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    write_configuration >"$SERVERS/scrapes.yml"
    for ENGINE in "${ENGINES[@]}"; do
        ! command -v "$ENGINE" >/dev/null || start_in_fleet "$SERVERS/scrapes.yml"
    done
    each_engine until_it has_series 'camp_cpus{job="camp"}' 4
    export FLEET
    remember
}

# Saves what later tests need to know about the running servers.
remember() {
    declare -p HOSTS EXPORTERS SERVER_PIDS WITHIN | sed 's/^declare /declare -g /' >"$SERVERS/known"
}

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    # shellcheck source=/dev/null
    source "$SERVERS/known"
}

teardown_file() {
    ! is_file_skipped || return 0
    # shellcheck source=/dev/null
    source "$SERVERS/known" 2>/dev/null || true
    fleet_end
}

write_configuration() {
    local i
    echo 'global: {scrape_interval: 1s, scrape_timeout: 1s}'
    echo 'scrape_configs:'
    echo '- job_name: camp'
    echo '  scrape_interval: 500ms'
    echo '  scrape_timeout: 500ms'
    echo '  static_configs:'
    for i in 1 2 3 4; do
        echo "  - {targets: ['${HOSTS[$i]}'], labels: {datacenter: dc$((i % 2))}}"
    done
    echo '- job_name: hostile'
    echo '  params: {host: [host-0500]}'
    echo '  static_configs:'
    echo '  - targets: ["127.0.0.1:9700"]'
    # A quote, a newline, an escape sequence, the end of a matcher, and letters beyond ASCII.
    echo '    labels: {instance: "a\"b\n\e[31m{x=~\".*\"} ünï\\d", rack: "r\"\n\e]0;x\a"}'
    echo '- job_name: many'
    echo '  scrape_interval: 3s'
    echo '  scrape_timeout: 3s' # a busy machine answers late, but is not down
    echo "  file_sd_configs: [{files: ['$SERVERS/many.json']}]" # empty until their own test: they need a whole CPU
    echo '  relabel_configs:'
    echo '  - {source_labels: [__address__], target_label: instance}'
    echo "  - {source_labels: [__address__], regex: '(.*):.*', target_label: __param_host}"
    echo '  - {target_label: __address__, replacement: "127.0.0.1:9700"}'
}

# once_answered COMMAND...: runs a command of camp. Runs it again, up to five times in all, if the server does not
# answer within 30 s, because the machine may be busy. Any other failure is final. stderr is in the file err.
once_answered() {
    local tries
    for tries in 1 2 3 4 5; do
        if "$@" 2>"$BATS_TEST_TMPDIR/err"; then return 0; fi
        grep -q 'timed out .*is the server overloaded' "$BATS_TEST_TMPDIR/err" || break
    done
    echo "try $tries failed:" >&2
    cat "$BATS_TEST_TMPDIR/err" >&2
    return 1
}

# camp_json PROGRAM OPTION...: runs camp top with these options, and then the Python code PROGRAM on its JSON. In
# PROGRAM, `frames` has the intervals, `t` is the last interval, and `rows` has the rows of `t` by name.
camp_json() {
    local program=$1
    shift
    once_answered in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --format json "$@" \
        >"$BATS_TEST_TMPDIR/out.json" || return 1
    python3 -c "
import json
frames = [json.loads(line) for line in open('$BATS_TEST_TMPDIR/out.json')]
t = frames[-1]
rows = {row['name']: row for row in t['entities']}
$program" || { tail -c 3000 "$BATS_TEST_TMPDIR/out.json"; cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

is_missing() {
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="camp"}' --count 1 \
        --interval 100ms --format text | grep -q "$1"
}

# is_shown_last PATTERN: the last interval in the file `all` matches. Of text only the line of sums is compared.
is_shown_last() {
    grep -a '^[0-9]* hosts\|^{' "$BATS_TEST_TMPDIR/all" | tail -1 | grep -q "$1"
}

same_times() {
    "$CAMP" load cpu --percent 60 --duration 9 >/dev/null 2>&1 3>&- &
    local load=$!
    in_fleet /usr/bin/python3 "$BATS_TEST_DIRNAME/fleet_law.py" "$CAMP" "$PROMETHEUS" "${HOSTS[1]}" "${HOSTS[2]}" \
        "${HOSTS[3]}" "${HOSTS[4]}"
    wait "$load" || true # it may get less than 60 % under concurrent load
}

@test "fleet: camp top through a server reports the same times as camp top on the host" { on_each_engine same_times; }

groups_of_a_host() {
    camp_json '
assert "root" in rows and rows["root"]["labels"]["job"] == "camp", rows
assert all(row["unaccounted_ns"] == 0 for row in rows.values())
assert t["kind"] == "groups"' --host 10.7.2.2 --count 2 --interval 1s
    run -1 in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --host nobody --count 1
    [[ $output == *"--host nobody: Prometheus scrapes no such host"* ]]
    # An interval of recorded history is as long as the time between two scrapes.
    until_it has_series 'camp_cpus{job="camp"} offset 6s' 4
    in_fleet "$CAMP" record --from "prometheus:$PROMETHEUS" --query '{job="camp"}' --begin -6s --end -4s \
        --output "$BATS_TEST_TMPDIR/$ENGINE.camp"
    "$CAMP" top --from "$BATS_TEST_TMPDIR/$ENGINE.camp" --format text >"$BATS_TEST_TMPDIR/out"
    [ "$(grep -c '^4 hosts, ' "$BATS_TEST_TMPDIR/out")" -ge 2 ] || { cat "$BATS_TEST_TMPDIR/out"; false; }
    # A query for a gauge returns a share of the interval. A query for a counter over a range returns its growth.
    camp_json '
assert len(rows) == 4
for row in rows.values(): assert abs(row["states"]["idle_ns"] / row["elapsed_ns"] - 0.25) < 1e-6, row' \
        --query 'label_replace(camp_cpus{job="camp"} * 0 + 25, "mode", "idle", "", "")' --unit percent \
        --count 1 --interval 500ms
    camp_json '
assert len(rows) == 4
for row in rows.values(): assert 0.9 < sum(row["states"].values()) / row["elapsed_ns"] < 1.1, row' \
        --query 'camp_clock_seconds_total{job="camp"}[3s]' --count 2 --interval 1s
    # With --group datacenter, each datacenter has two hosts.
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="camp"}' --group datacenter \
        --count 1 --interval 1s --format text >"$BATS_TEST_TMPDIR/out"
    grep -Eq '^dc0 +2 ' "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; false; }
}

@test "fleet: camp top --host shows the groups of a host without unaccounted time" { on_each_engine groups_of_a_host; }

keys() {
    local live=("$CAMP" top --interval 300ms --from "prometheus:$PROMETHEUS" --query '{job="camp"}')
    grep -qaF libncursesw.so "$CAMP" || skip 'camp was built without ncurses'
    local screen=(in_fleet /usr/bin/python3 "$BATS_TEST_DIRNAME/../commands/screen.py" 110 20)
    # A busy server answers after some seconds, and not for all hosts at first: screen.py waits for a text of the view
    # before it types the next key.
    local host=$'\x1e'"${HOSTS[2]} "$'\x1e' groups=$'\x1eusr%\x1e' root=$'\x1eroot  \x1e'
    local hosts=$'\x1e'"${HOSTS[1]} "$'\x1e' refusal=$'\x1ethere is no such host\x1e'
    run -0 "${screen[@]}" "$host"$'\r10.7.2\r'"${root}q" -- "${live[@]}"
    [[ ${lines[0]} == "camp top  each group of ${HOSTS[2]}, by busy"*"Esc: back" ]] || { echo "$output"; false; }
    grep -q '^root ' <<<"$output"
    run -0 "${screen[@]}" "$host"$'\r\r'"$groups"$'\177'"${hosts}q" -- "${live[@]}"
    [[ ${lines[0]} == "camp top  each host, by busy  h: help" ]] || { echo "$output"; false; }
    grep -q "^${HOSTS[1]} " <<<"$output"
    run -0 "${screen[@]}" $'\rnobody\r'"${refusal}q" -- "${live[@]}"
    [[ ${lines[0]} == *"there is no such host" ]] || { echo "$output"; false; }
}

@test "fleet: in camp top, Enter shows the groups of a host and Backspace shows all hosts" { on_each_engine keys; }

missing_host() {
    nsenter --net="/run/netns/$FLEET"0 "$CAMP" top --from "prometheus:$PROMETHEUS" \
        --query '{job="camp"}' --interval 500ms --format json >"$BATS_TEST_TMPDIR/all" 3>&- &
    local top=$!
    until_it is_shown_last '10.7.4.2' # after its second scrape
    kill -KILL "${EXPORTERS[4]}"
    until_it is_missing "1 host is missing: ${HOSTS[4]} (down since"
    until_it is_shown_last '"lost":1,'
    sleep 1 # until its last samples are shown
    start_exporter 4 command
    remember
    until_it is_shown_last '10.7.4.2.*"lost":0,.*"partial":0}'
    kill -INT "$top"
    wait "$top"
    python3 -c "
import json
frames = [json.loads(line) for line in open('$BATS_TEST_TMPDIR/all')]
of = [[row for row in f['entities'] if row['name'] == '${HOSTS[4]}'] for f in frames]
of = of[next(i for i, rows in enumerate(of) if rows):]
assert of[-1] and not all(of), [len(x) for x in of]
assert any(f['losses']['lost'] == 1 for f in frames) and frames[-1]['losses']['lost'] == 0
# The counters of the exporter started at 0 again. No time is accounted twice, and no row has the total of a counter.
for rows in of:
    for row in rows:
        assert row['unaccounted_ns'] > -1e6 and row['elapsed_ns'] < 8e9, row
" || { cat "$BATS_TEST_TMPDIR/all"; false; }
}

# bats test_tags=deep
@test "fleet: camp top reports a host as missing until its killed exporter is started again" { on_each_engine missing_host; }

server_down() {
    nsenter --net="/run/netns/$FLEET"0 "$CAMP" top --from "prometheus:$PROMETHEUS" \
        --query '{job="camp"}' --interval 500ms --format text >"$BATS_TEST_TMPDIR/all" 2>&1 3>&- &
    local top=$!
    sleep 1.5
    kill -TERM "$(engine_pid)"
    until_it is_gone "$(engine_pid)"
    sleep 4 # a host without samples for a shorter time is not missing
    run -1 in_fleet timeout 5 "$CAMP" top --from "prometheus:$PROMETHEUS" --count 1
    [[ $output == *"Connection refused; is Prometheus running"* ]]
    until_it grep -q 'Connection refused; is Prometheus running' "$BATS_TEST_TMPDIR/all"
    start_in_fleet "$SERVERS/scrapes.yml"
    remember
    until_it grep -q 'hosts are missing: .* (no samples since' "$BATS_TEST_TMPDIR/all"
    until_it is_shown_last '^4 hosts, '
    kill -INT "$top"
    wait "$top"
}

# bats test_tags=deep
@test "fleet: camp top continues while the server is down" { on_each_engine server_down; }

control_characters() {
    until_it has_series 'camp_cpus{job="hostile"} offset 2s' 1
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="hostile"}' --interval 1s \
        --count 1 --format text >"$BATS_TEST_TMPDIR/out"
    cat -v "$BATS_TEST_TMPDIR/out"
    run ! grep -q $'\e' "$BATS_TEST_TMPDIR/out"
    grep -q 'ünï' "$BATS_TEST_TMPDIR/out"
    grep -Eq '^on a CPU: measured [0-9.]+, sampled [0-9.]+; most off is a"b.*: sampled -' "$BATS_TEST_TMPDIR/out"
    camp_json '
row = t["entities"][0]
assert row["name"].startswith("a\"b??[31m{x=~\".*\"} ünï\\d"), row["name"]
busy = (row["states"]["user_ns"] + row["states"]["system_ns"]) / row["elapsed_ns"]
assert abs(busy - 0.5) < 0.001, busy' --query '{job="hostile"}' --interval 1s --count 1
    # --host accepts a name with hostile characters.
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --host $'a"b\n\e[31m{x=~".*"} ünï\\d' --interval 1s \
        --count 1 --format text | grep -q '^group-0 '
}

@test "fleet: control characters in the labels of a host do not reach the terminal" { on_each_engine control_characters; }

thousand_hosts() {
    rm -f "$SERVERS"/states/*.down
    echo "[{\"targets\": [$(seq -s, -f '"host-%04g:12267"' 0 999)]}]" >"$SERVERS/many.new"
    mv "$SERVERS/many.new" "$SERVERS/many.json"
    until_it has_series 'camp_cpus{job="many"}' 1000
    until_it has_series 'camp_cpus{job="many"} offset 4s' 1000
    # A host that is scraped late is in a later interval, so a busy machine needs more intervals.
    local count
    for count in 2 4 8 16 32; do
        camp_json '
rows = {row["name"]: row for f in frames for row in f["entities"]}
for name, row in rows.items():
    busy = (row["states"]["user_ns"] + row["states"]["system_ns"]) / row["elapsed_ns"]
    assert abs(busy - int(name[5:9]) / 1000) < 0.002, (name, busy)
    assert abs(row["counters"]["sampled_busy_ns"] / row["elapsed_ns"] - busy / 2) < 0.02
    assert row["elapsed_ns"] > 0
print(len(rows), [len(f["entities"]) for f in frames])' --query '{job="many"}' --interval 1s --count "$count" \
            >"$BATS_TEST_TMPDIR/seen" || { cat "$BATS_TEST_TMPDIR/seen"; false; }
        cat "$BATS_TEST_TMPDIR/seen"
        ! grep -q '^1000 ' "$BATS_TEST_TMPDIR/seen" || break
    done
    grep -q '^1000 ' "$BATS_TEST_TMPDIR/seen"
    # The message names only a few of the missing hosts.
    touch "$SERVERS"/states/host-000{1,2,3,4,5,6,7}.down
    until_it has_series 'up{job="many"}==0' 7
    # A busy Prometheus may scrape other hosts late, and then these hosts are missing, too.
    camp_json 'assert t["losses"]["lost"] >= 7, t["losses"]' --query '{job="many"}' --interval 1s --count 1
    once_answered in_fleet "$CAMP" report --from "prometheus:$PROMETHEUS" --query '{job="many"}' --count 2 \
        --output "$BATS_TEST_TMPDIR/fleet.html"
    grep -Eq '[0-9]+ hosts are missing: .* and [0-9]+ more' "$BATS_TEST_TMPDIR/err" ||
        { cat "$BATS_TEST_TMPDIR/err"; false; }
    echo '[]' >"$SERVERS/many.json"
}

# bats test_tags=deep
@test "fleet: camp top shows the correct load of each of a thousand hosts" { on_each_engine thousand_hosts; }
