#!/usr/bin/env bats
# --from prometheus: history, queries, and messages about missing hosts. A Prometheus and a VictoriaMetrics on the
# loopback address scrape four simulated hosts each second.

bats_require_minimum_version 1.5.0
load lib
load engines

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    if [ -n "$(engines_refusal)" ]; then
        skip_file "$(engines_refusal)"
        return
    fi
    servers_begin
    /usr/bin/python3 "$BATS_TEST_DIRNAME/simulated_hosts.py" --hosts 4 --groups 2 >"$SERVERS/port" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    until_it test -s "$SERVERS/port"
    start_exporter
    write_configuration >"$SERVERS/scrapes.yml"
    # In a past range VictoriaMetrics leaves out the values of this last time, 30 s by default (docs/fleet.md).
    engine_option victoria-metrics -search.latencyOffset=1s
    start_engines "$SERVERS/scrapes.yml"
    declare -p SERVER_PIDS | sed 's/^declare /declare -g /' >"$SERVERS/known"
    # The tests query the last 8 s, and rates over 3 s, so at least 11 s of samples are needed.
    each_engine until_it has_series 'camp_cpus offset 12s' 4
}

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
}

teardown_file() {
    # shellcheck source=/dev/null
    source "$SERVERS/known" 2>/dev/null || true
    servers_end
}

# Starts camp export on tier schedstat, which exports no states of groups.
start_exporter() {
    "$CAMP" export --port 0 --tier schedstat >"$SERVERS/exporter" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    until_it grep -q /metrics "$SERVERS/exporter"
    EXPORTER=$(sed -n 's,.*http://\([^/]*\)/metrics.*,\1,p' "$SERVERS/exporter" | head -1)
}

write_configuration() {
    echo 'global: {scrape_interval: 1s, scrape_timeout: 1s}'
    echo 'scrape_configs:'
    echo '- job_name: simulated'
    echo '  static_configs:'
    echo '  - targets: ["host:1", "host:2", "host:3"]'
    echo '  relabel_configs:'
    echo '  - {source_labels: [__address__], target_label: instance}'
    echo "  - {source_labels: [__address__], regex: '.*:(.*)', replacement: 'host-000\$1', target_label: __param_host}"
    echo "  - {target_label: __address__, replacement: '127.0.0.1:$(cat "$SERVERS/port")'}"
    echo '- job_name: further'
    echo "  static_configs: [{targets: ['$EXPORTER', '127.0.0.1:$(free_port)']}]"
    echo "  relabel_configs: [{source_labels: [__address__], regex: '$EXPORTER', target_label: instance, replacement: plain}]"
}

top() {
    run --separate-stderr timeout 120 "$CAMP" top --from "prometheus:$PROMETHEUS" "$@"
    echo "$output" "$stderr"
}

# lengths SECONDS N: the output has N intervals of SECONDS, each with rows.
lengths() {
    python3 -c '
import json, sys
frames = [json.loads(line) for line in sys.stdin]
print([(f["interval_s"], len(f["entities"])) for f in frames])
assert len(frames) == int(sys.argv[2]) and all(f["entities"] for f in frames)
assert all(abs(f["interval_s"] - float(sys.argv[1])) < 1e-6 for f in frames)' "$@" <<<"$output"
}

intervals_of_history() {
    top --query '{job="simulated"}' --begin -8s --end -2s --format json
    lengths 1 6
    top --query '{job="simulated"}' --begin -8s --end -2s --interval 2s --format json
    lengths 2 3
}

@test "fleet history: an interval is as long as the scrape interval, or as --interval" { on_each_engine intervals_of_history; }

past_values() {
    top --query up --begin -8s --end -2s --format json
    lengths 1 6
    top --query 'rate(camp_cpu_seconds_total[3s])' --begin -8s --end -2s --interval 1500ms --format json
    lengths 1.5 4
}

@test "fleet history: camp top --begin shows the past values of a --query" { on_each_engine past_values; }

elapsed_of_a_row() {
    # Each host has four CPUs, but the query does not return the number of CPUs.
    top --query 'rate(camp_cpu_measured_seconds_total{job="simulated"}[5s])' --count 1 --interval 500ms --format json
    python3 -c '
import json, sys
rows = json.loads(sys.stdin.read())["entities"]
assert len(rows) == 3 and all(abs(row["unaccounted_ns"]) < 1e6 and row["elapsed_ns"] > 1.5e9 for row in rows), rows
' <<<"$output"
}

@test "fleet: the elapsed time of a row is at least the sum of the row's states" { on_each_engine elapsed_of_a_row; }

# says STATUS TEXT: the last command ended with STATUS, and its output contains TEXT.
says() {
    [ "$status" -eq "$1" ] && [[ $output$stderr == *"$2"* ]]
}

errors_about_hosts() {
    top --host 127.0.0.1 --count 1
    says 1 'Prometheus cannot reach this host'
    top --host nobody --count 1
    says 1 'Prometheus scrapes no such host'
    top --host host --count 1
    says 2 'matches several hosts: give one of host:1, host:2, host:3'
    top --host plain --count 1 --interval 100ms --format text
    says 0 'is of tier schedstat'
    top --query '{instance="nosuch"}' --count 1
    says 1 'no host matches now'
    top --begin 2020-01-01 --end 2020-01-02
    says 1 'has no samples in this time'
    top --begin +1h
    says 2 'counts from the start of a recording, and a fleet has none'
    top --query up --column nosuch --count 1
    says 2 'the labels of its series are instance, job'
    PROMETHEUS=$(sed -n 's,.*http://\([^/]*\)/metrics.*,\1,p' "$SERVERS/exporter" | head -1)
    top --count 1
    says 1 'this is not a Prometheus'
}

@test "fleet: the error distinguishes an unknown host from a host that is down" { on_each_engine errors_about_hosts; }

an_engine_ends() {
    "$CAMP" top --from "prometheus:$PROMETHEUS" --query '{job="simulated"}' --interval 500ms \
        --format json >"$BATS_TEST_TMPDIR/all" 2>&1 3>&- &
    local top=$!
    until_it grep -q entities "$BATS_TEST_TMPDIR/all"
    kill -TERM "$(engine_pid)"
    until_it grep -q '"entities":\[\]' "$BATS_TEST_TMPDIR/all"
    kill -INT "$top"
    wait "$top"
    python3 -c "
import json
frames = [json.loads(line) for line in open('$BATS_TEST_TMPDIR/all') if line[0] == '{']
for f in frames:
    for row in f['entities']:
        short = row['elapsed_ns'] < 4e9 * f['interval_s'] * 0.9
        assert not short or f['losses']['partial'], f
assert any(f['losses']['partial'] for f in frames)" || { cat "$BATS_TEST_TMPDIR/all"; false; }
}

# bats test_tags=deep
@test "fleet: an interval that ends early because the server ends is counted as partial" { on_each_engine an_engine_ends; }
