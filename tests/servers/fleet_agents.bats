#!/usr/bin/env bats
# The way behind NAT: an agent scrapes the camp export of its host, and pushes to a server that scrapes nothing there.
# And the shipped recording rules, evaluated by both engines.

bats_require_minimum_version 1.5.0
load lib
load engines

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export CAMP=${CAMP:-$TREE/build/gcc/src/camp} SHIPPED=$TREE/packaging/prometheus
    if [ -n "$(engines_refusal)" ]; then
        skip_file "$(engines_refusal)"
        return
    fi
    servers_begin
    /usr/bin/python3 "$BATS_TEST_DIRNAME/simulated_hosts.py" --hosts 4 --groups 1 >"$SERVERS/port" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    "$CAMP" export --port 0 --tier schedstat >"$SERVERS/exporter" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    until_it test -s "$SERVERS/port"
    until_it grep -q /metrics "$SERVERS/exporter"
    cp "$SHIPPED/camp.rules.yml" "$SERVERS"
    write_configuration >"$SERVERS/scrapes.yml"
    { cat "$SERVERS/scrapes.yml"; echo 'rule_files: [camp.rules.yml]'; } >"$SERVERS/prometheus.yml"
    sed -i 's/^global: {/&evaluation_interval: 1s, /' "$SERVERS/prometheus.yml"
    start_receivers
    save
}

save() { declare -p SERVER_PIDS | sed 's/^declare /declare -g /' >"$SERVERS/known"; }

setup() {
    ! is_file_skipped || skip "$SKIP_FILE"
    # shellcheck source=/dev/null
    source "$SERVERS/known"
}

teardown_file() {
    # shellcheck source=/dev/null
    source "$SERVERS/known" 2>/dev/null || true
    servers_end
}

write_configuration() {
    echo 'global: {scrape_interval: 1s, scrape_timeout: 1s}'
    echo 'scrape_configs:'
    echo '- job_name: simulated'
    echo '  params: {host: [host-0002]}'
    echo "  static_configs: [{targets: ['127.0.0.1:$(cat "$SERVERS/port")'], labels: {instance: 'host:2'}}]"
}

# Prometheus evaluates the rules itself, and vmalert evaluates them for VictoriaMetrics.
start_receivers() {
    ! command -v prometheus >/dev/null ||
        start_engine prometheus "$SERVERS/prometheus.yml" "127.0.0.1:$(free_port)" --web.enable-remote-write-receiver
    command -v victoria-metrics >/dev/null || return 0
    start_engine victoria-metrics "$SERVERS/scrapes.yml" "127.0.0.1:$(free_port)" -search.latencyOffset=1s
    local url
    url=http://$(cat "$SERVERS/victoria-metrics.address")
    vmalert -rule="$SERVERS/camp.rules.yml" -evaluationInterval=1s -datasource.url="$url" -remoteWrite.url="$url" \
        -notifier.url=http://127.0.0.1:1/ -httpListenAddr="127.0.0.1:$(free_port)" >"$SERVERS/vmalert.log" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
}

# start_agent AGENT FILE URL: starts an agent that reads FILE and pushes to URL.
start_agent() {
    local folder=$SERVERS/$1-of-$ENGINE
    case $1 in
    prometheus)
        prometheus --enable-feature=agent --config.file="$2" --storage.agent.path="$folder" \
            --web.listen-address="127.0.0.1:$(free_port)" >"$folder.log" 2>&1 3>&- &
        ;;
    vmagent)
        vmagent -promscrape.config="$2" -promscrape.config.strictParse=false -remoteWrite.url="$3" \
            -remoteWrite.tmpDataPath="$folder" -httpListenAddr="127.0.0.1:$(free_port)" >"$folder.log" 2>&1 3>&- &
        ;;
    esac
    SERVER_PIDS+=("$!")
    save
}

# pushes AGENT: an agent with the shipped configuration, of which only the addresses and the site differ.
pushes() {
    local url exporter file=$SERVERS/$1-of-$ENGINE.yml
    command -v "$1" >/dev/null || skip "$1 is not installed"
    url=http://$PROMETHEUS/api/v1/write
    exporter=$(sed -n 's,.*http://\([^/]*\)/metrics.*,\1,p' "$SERVERS/exporter" | head -1)
    sed -e "s,127.0.0.1:12267,$exporter," -e "s,https://fleet.example.org/api/v1/write,$url," \
        -e "s,berlin,site-of-$1," "$SHIPPED/agent.yml" >"$file"
    start_agent "$1" "$file" "$url"
    until_it has_series "camp_cpus{site=\"site-of-$1\"} offset 4s" 1
    run -0 --separate-stderr timeout 120 "$CAMP" top --from "prometheus:$PROMETHEUS" \
        --query "{site=\"site-of-$1\"}" --count 4 --interval 1s --format json
    echo "$output" "$stderr"
    python3 -c '
import json, sys
frames = [json.loads(line) for line in sys.stdin]
rows = [row for frame in frames for row in frame["entities"]]
assert {row["name"] for row in rows} == {sys.argv[1] + "-1"}, rows
assert all(row["labels"]["site"] == sys.argv[1] and row["labels"]["job"] == "camp" for row in rows), rows
elapsed = sum(row["elapsed_ns"] for row in rows)
assert elapsed > 0 and abs(sum(row["unaccounted_ns"] for row in rows)) < 0.05 * elapsed, rows
' "site-of-$1" <<<"$output"
}

both_agents_push() {
    pushes prometheus
    pushes vmagent
}

@test "fleet: an agent behind NAT pushes its hosts to a server, and camp top shows them" {
    on_each_engine both_agents_push
}

is_rule_right() {
    curl -s "http://$PROMETHEUS/api/v1/query" -d nocache=1 \
        --data-urlencode 'query=instance_vertex:camp_cpu:ratio_rate5s{instance="host:2"}' >"$BATS_TEST_TMPDIR/rule.json"
    python3 -c '
import json, sys
shares = {s["metric"]["vertex"]: float(s["value"][1]) for s in json.load(open(sys.argv[1]))["data"]["result"]}
right = {"cpu": 0.5, "wait": 0.05, "idle": 0.45}
sys.exit(shares.keys() != right.keys() or any(abs(shares[key] - right[key]) > 0.05 for key in right))
' "$BATS_TEST_TMPDIR/rule.json"
}

a_rule_is_right() {
    until_it is_rule_right || { cat "$BATS_TEST_TMPDIR/rule.json" "$SERVERS"/*.log; false; }
    run -0 --separate-stderr timeout 60 "$CAMP" top --from "prometheus:$PROMETHEUS" --count 1 --interval 500ms \
        --query 'instance_vertex:camp_cpu:ratio_rate5s{instance="host:2"}' --format json
    [[ $output == *'"cpu_ns"'* ]]
}

@test "fleet: the shipped recording rules give the load of a simulated host on each engine" {
    on_each_engine a_rule_is_right
}
