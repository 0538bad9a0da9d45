#!/usr/bin/env bats
# --from prometheus: four hosts in network namespaces, scraped by Debian's Prometheus each second. They
# have one kernel, so that what they say of CPUs is the same, and known by a witness.

bats_require_minimum_version 1.5.0
load lib
load fleet

setup_file() {
    local words=(x command user cgroup command) i
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    "$CAMP" top --count 1 --interval 50ms --top 1 >/dev/null 2>&1 || skip 'no microstates here'
    "$CAMP" top --from prometheus: --count 1 2>&1 | grep -q 'built without' && skip 'built without libcurl'
    fleet_begin
    for i in 1 2 3 4; do start_exporter "$i" "${words[i]}"; done
    # Of pages that are made: a host whose labels are hostile, and many hosts.
    mkdir "$SERVERS/states"
    nsenter --net="/run/netns/$FLEET"0 /usr/bin/python3 "$BATS_TEST_DIRNAME/simulated_hosts.py" --port 9700 --hosts 1000 --groups 2 \
        --folder "$SERVERS/states" >"$SERVERS/simulated.log" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    write_configuration >"$SERVERS/prometheus.yml"
    start_prometheus "$SERVERS/prometheus.yml"
    until_it has_series 'camp_cpus{job="camp"}' 4
    until_it has_series 'camp_cpus{job="many"}' 1000
    export SERVERS FLEET PROMETHEUS
    remember
}

# What tests know of each other's servers.
remember() {
    declare -p HOSTS EXPORTERS SERVER_PIDS PROMETHEUS_PID | sed 's/^declare /declare -g /' >"$SERVERS/known"
}

setup() {
    # shellcheck source=/dev/null
    source "$SERVERS/known"
}

teardown_file() {
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
    # A quote, a newline, an escape sequence, what would end a matcher, and other letters.
    echo '    labels: {instance: "a\"b\n\e[31m{x=~\".*\"} ünï\\d", rack: "r\"\n\e]0;x\a"}'
    echo '- job_name: many'
    echo '  scrape_interval: 5s'
    echo '  static_configs:'
    echo "  - targets: [$(seq -s, -f "'host-%04g:12267'" 0 999)]"
    echo '  relabel_configs:'
    echo '  - {source_labels: [__address__], target_label: instance}'
    echo "  - {source_labels: [__address__], regex: '(.*):.*', target_label: __param_host}"
    echo '  - {target_label: __address__, replacement: "127.0.0.1:9700"}'
}

# camp_json COMMAND...: one object a line; goes on in Python as `frames` and the last, `t`, with its rows by
# name in `rows`.
camp_json() {
    local program=$1
    shift
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --format json "$@" \
        >"$BATS_TEST_TMPDIR/out.json" 2>"$BATS_TEST_TMPDIR/err" ||
        { cat "$BATS_TEST_TMPDIR/err"; return 1; }
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

# bats test_tags=law
@test "fleet: each host is what camp top says of the same interval, within 1 %" {
    "$CAMP" load cpu --percent 60 --duration 10 >/dev/null 2>&1 3>&- &
    local load=$!
    sleep 1
    "$CAMP" top --from cpus --format json --count 1 --interval 7s >"$BATS_TEST_TMPDIR/witness"
    wait "$load" || true # it may be smaller than asked for beside others
    read -r begin end < <(python3 -c "
import datetime, json
w = json.load(open('$BATS_TEST_TMPDIR/witness'))
end = datetime.datetime.fromisoformat(w['time']).astimezone(datetime.timezone.utc)
begin = end - datetime.timedelta(seconds=w['interval_s'])
print(*(t.isoformat().replace('+00:00', 'Z') for t in (begin, end)))")
    camp_json "
w = json.load(open('$BATS_TEST_TMPDIR/witness'))
def shares(lists):
    elapsed = sum(row['elapsed_ns'] for row in lists)
    names = lists[0]['states']
    return elapsed / 1e9, {n: sum(row['states'][n] for row in lists) / elapsed for n in names}
seconds, truth = shares(w['entities'])
for host in rows:
    theirs, told = shares([row for f in frames for row in f['entities'] if row['name'] == host])
    print(host, theirs, seconds, told, truth)
    assert abs(theirs / seconds - 1) < 0.01
    for state in truth:
        assert abs(told[state] - truth[state]) < 0.01, state
    # The modes add up to the exporter's clock, which is another witness.
    off = sum(row['unaccounted_ns'] for f in frames for row in f['entities'] if row['name'] == host)
    assert abs(off) / 1e9 < 0.001 * theirs, off
assert len(rows) == 4" --query '{job="camp"}' --begin "$begin" --end "$end"
}

@test "fleet: a host's groups add up to its threads, with their labels" {
    camp_json '
assert "root" in rows and rows["root"]["labels"]["job"] == "camp", rows
assert all(row["unaccounted_ns"] == 0 for row in rows.values())
assert t["kind"] == "groups"' --host 10.7.2.2 --count 2 --interval 1s
    run -2 in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --host nobody --count 1
    [[ $output == *"--host nobody: no such host is scraped"* ]]
    # By a label: two hosts of each datacenter.
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="camp"}' --group datacenter \
        --count 1 --interval 1s --format text >"$BATS_TEST_TMPDIR/out"
    grep -Eq '^dc0 +2 ' "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; false; }
}

@test "fleet: who is killed is missing, and back with an interval that is not whole" {
    nsenter --net="/run/netns/$FLEET"0 "$CAMP" top --from "prometheus:$PROMETHEUS" \
        --query '{job="camp"}' --interval 500ms \
        --count 16 --format json >"$BATS_TEST_TMPDIR/all" 3>&- &
    local top=$!
    sleep 1
    kill -KILL "${EXPORTERS[4]}"
    until_it is_missing "1 host is missing: ${HOSTS[4]} (down since"
    start_exporter 4 command
    remember
    wait "$top"
    python3 -c "
import json
frames = [json.loads(line) for line in open('$BATS_TEST_TMPDIR/all')]
of = [[row for row in f['entities'] if row['name'] == '${HOSTS[4]}'] for f in frames]
assert of[0] and of[-1] and not all(of), [len(x) for x in of]
assert any(f['losses']['lost'] == 1 for f in frames) and frames[-1]['losses']['lost'] == 0
# Counters began at 0 again: nothing is booked twice, nothing is as long as they have counted.
for rows in of:
    for row in rows:
        assert row['unaccounted_ns'] > -1e6 and row['elapsed_ns'] < 8e9, row
" || { cat "$BATS_TEST_TMPDIR/all"; false; }
}

@test "fleet: Prometheus is down and comes back" {
    nsenter --net="/run/netns/$FLEET"0 "$CAMP" top --from "prometheus:$PROMETHEUS" \
        --query '{job="camp"}' --interval 500ms \
        --count 28 --format text >"$BATS_TEST_TMPDIR/all" 2>&1 3>&- &
    local top=$!
    sleep 1.5
    kill -TERM "$PROMETHEUS_PID"
    until_it is_gone "$PROMETHEUS_PID"
    run -1 in_fleet timeout 5 "$CAMP" top --from "prometheus:$PROMETHEUS" --count 1
    [[ $output == *"Connection refused; is Prometheus running"* ]]
    start_prometheus "$SERVERS/prometheus.yml"
    remember
    wait "$top"
    grep -q 'Connection refused; is Prometheus running' "$BATS_TEST_TMPDIR/all" ||
        { cat "$BATS_TEST_TMPDIR/all"; false; }
    # It ends as it began: four hosts.
    [ "$(grep -c "^4 hosts: " "$BATS_TEST_TMPDIR/all")" -ge 4 ] || { cat "$BATS_TEST_TMPDIR/all"; false; }
    tail -7 "$BATS_TEST_TMPDIR/all" | grep -q '^4 hosts: ' || { cat "$BATS_TEST_TMPDIR/all"; false; }
}

@test "fleet: labels are anybody's texts" {
    until_it has_series 'camp_cpus{job="hostile"}' 1
    sleep 2
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="hostile"}' --interval 1s \
        --count 1 --format text >"$BATS_TEST_TMPDIR/out"
    cat -v "$BATS_TEST_TMPDIR/out"
    ! grep -q $'\e' "$BATS_TEST_TMPDIR/out"
    grep -q 'ünï' "$BATS_TEST_TMPDIR/out"
    camp_json '
row = t["entities"][0]
assert row["name"].startswith("a\"b??[31m{x=~\".*\"} ünï\\d"), row["name"]
busy = (row["states"]["user"] + row["states"]["system"]) / row["elapsed_ns"]
assert abs(busy - 0.5) < 0.001, busy' --query '{job="hostile"}' --interval 1s --count 1
    # Its name is a host that can be asked for, whatever is in it.
    in_fleet "$CAMP" top --from "prometheus:$PROMETHEUS" --host $'a"b\n\e[31m{x=~".*"} ünï\\d' --interval 1s \
        --count 1 --format text | grep -q '^group-0 '
}

@test "fleet: a thousand hosts, each with its own load" {
    until_it has_series 'camp_cpus{job="many"} offset 6s' 1000
    camp_json '
assert len(rows) == 1000, [len(f["entities"]) for f in frames]
for i in range(1000):
    row = rows[f"host-{i:04}:12267"]
    busy = (row["states"]["user"] + row["states"]["system"]) / row["elapsed_ns"]
    assert abs(busy - i / 1000) < 0.002, (i, busy)
    assert abs(row["counters"]["sampled_busy_ns"] / row["elapsed_ns"] - busy / 2) < 0.02
    assert row["elapsed_ns"] > 0' --query '{job="many"}' --interval 1s --count 2
    # Those that refuse are named, not more than a few.
    touch "$SERVERS"/states/host-000{1,2,3,4,5,6,7}.down
    until_it has_series 'up{job="many"}==0' 7
    camp_json 'assert len(rows) >= 993 and t["losses"]["lost"] == 7, t["losses"]' \
        --query '{job="many"}' --interval 1s --count 1
    in_fleet "$CAMP" report --from "prometheus:$PROMETHEUS" --query '{job="many"}' --count 2 \
        --output "$BATS_TEST_TMPDIR/fleet.html" 2>"$BATS_TEST_TMPDIR/err"
    grep -Eq '[0-9]+ hosts are missing: .* and [0-9]+ more' "$BATS_TEST_TMPDIR/err" ||
        { cat "$BATS_TEST_TMPDIR/err"; false; }
}
