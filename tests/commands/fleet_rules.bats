#!/usr/bin/env bats
# The shipped configuration, recording rules and alerts for Prometheus, checked by its promtool.

bats_require_minimum_version 1.5.0

setup() {
    command -v promtool >/dev/null || skip 'promtool (Prometheus) is not installed'
    SHIPPED=$(cd "$BATS_TEST_DIRNAME/../../packaging/prometheus" && pwd)
}

@test "promtool accepts the Prometheus configuration and rules that camp installs" {
    promtool check config "$SHIPPED/prometheus.yml"
    promtool check config --agent "$SHIPPED/agent.yml"
    promtool check rules "$SHIPPED/camp.rules.yml" "$SHIPPED/camp.sessions.rules.yml"
}

@test "VictoriaMetrics accepts the configuration, the agent's configuration and the rules that camp installs" {
    command -v victoria-metrics >/dev/null || skip 'VictoriaMetrics is not installed'
    victoria-metrics -promscrape.config="$SHIPPED/prometheus.yml" -promscrape.config.strictParse=false \
        -promscrape.config.dryRun
    vmagent -promscrape.config="$SHIPPED/agent.yml" -promscrape.config.strictParse=false -dryRun \
        -remoteWrite.url=http://127.0.0.1:1/
    vmalert -rule="$SHIPPED/camp.rules.yml" -rule="$SHIPPED/camp.sessions.rules.yml" -dryRun -datasource.url=http://127.0.0.1:1/ \
        -notifier.url=http://127.0.0.1:1/
    # vmalert refuses a wrong rule. So the test above can fail.
    sed 's/sum without (mode)/sum witout (mode)/' "$SHIPPED/camp.rules.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    run ! vmalert -rule="$BATS_TEST_TMPDIR/wrong.yml" -dryRun -datasource.url=http://127.0.0.1:1/ \
        -notifier.url=http://127.0.0.1:1/
}

@test "the installed Prometheus rules compute the expected results from known counters" {
    promtool test rules "$SHIPPED/camp.rules.test.yml" "$SHIPPED/camp.sessions.rules.test.yml"
    # promtool refuses a wrong expectation. So the test above can fail.
    sed 's/vertex="cpu"}., value: 0.5/vertex="cpu"}'"'"', value: 0.6/' \
        "$SHIPPED/camp.rules.test.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    cp "$SHIPPED/camp.rules.yml" "$BATS_TEST_TMPDIR"
    run ! promtool test rules "$BATS_TEST_TMPDIR/wrong.yml"
}

@test "the installed Prometheus rules query only metrics that camp export has" {
    "$CAMP" export --why --once --interval 100ms >"$BATS_TEST_TMPDIR/page" 2>/dev/null || skip 'no page here'
    grep -q '^camp_exporter_info{.*tier="bpf"' "$BATS_TEST_TMPDIR/page" || skip 'needs tier bpf'
    python3 "$BATS_TEST_DIRNAME/metric_names.py" used "$BATS_TEST_TMPDIR/page" "$SHIPPED/camp.rules.yml"
    # A label that the metric does not have is found. So the test above can fail.
    sed 's/{state="run_queue"}/{stat="run_queue"}/' "$SHIPPED/camp.rules.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    run ! python3 "$BATS_TEST_DIRNAME/metric_names.py" used "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/wrong.yml"
}

@test "the test files of the Prometheus rules contain each query of docs/export.md" {
    cat "$SHIPPED/camp.rules.test.yml" "$SHIPPED/camp.sessions.rules.test.yml" >"$BATS_TEST_TMPDIR/tests"
    python3 - "$SHIPPED/../../docs/export.md" "$BATS_TEST_TMPDIR/tests" <<'END'
import re, sys
texts, tests = (open(path, encoding='utf-8').read() for path in sys.argv[1:])
asked = re.findall(r'^```promql\n(.*?)^```', texts, re.S | re.M)
assert len(asked) >= 4, asked
for expression in asked:
    assert ' '.join(expression.split()) in ' '.join(tests.split()), expression
END
}

@test "docs/export.md describes each metric of camp export" {
    "$CAMP" export --why --once --interval 100ms >"$BATS_TEST_TMPDIR/page" 2>/dev/null ||
        "$CAMP" export --once --interval 100ms >"$BATS_TEST_TMPDIR/page" 2>/dev/null || skip 'no page here'
    python3 "$BATS_TEST_DIRNAME/metric_names.py" documented "$BATS_TEST_TMPDIR/page" "$SHIPPED/../../docs/export.md"
}
