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
    promtool check rules "$SHIPPED/camp.rules.yml"
}

@test "VictoriaMetrics accepts the configuration, the agent's configuration and the rules that camp installs" {
    command -v victoria-metrics >/dev/null || skip 'VictoriaMetrics is not installed'
    victoria-metrics -promscrape.config="$SHIPPED/prometheus.yml" -promscrape.config.strictParse=false \
        -promscrape.config.dryRun
    vmagent -promscrape.config="$SHIPPED/agent.yml" -promscrape.config.strictParse=false -dryRun \
        -remoteWrite.url=http://127.0.0.1:1/
    vmalert -rule="$SHIPPED/camp.rules.yml" -dryRun -datasource.url=http://127.0.0.1:1/ \
        -notifier.url=http://127.0.0.1:1/
    # vmalert refuses a wrong rule. So the test above can fail.
    sed 's/sum without (mode)/sum witout (mode)/' "$SHIPPED/camp.rules.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    run ! vmalert -rule="$BATS_TEST_TMPDIR/wrong.yml" -dryRun -datasource.url=http://127.0.0.1:1/ \
        -notifier.url=http://127.0.0.1:1/
}

@test "the installed Prometheus rules compute the expected results from known counters" {
    promtool test rules "$SHIPPED/camp.rules.test.yml"
    # promtool refuses a wrong expectation. So the test above can fail.
    sed 's/vertex="cpu"}., value: 0.5/vertex="cpu"}'"'"', value: 0.6/' \
        "$SHIPPED/camp.rules.test.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    cp "$SHIPPED/camp.rules.yml" "$BATS_TEST_TMPDIR"
    run ! promtool test rules "$BATS_TEST_TMPDIR/wrong.yml"
}

@test "the installed Prometheus rules query only metrics that camp export has" {
    local metric
    "$CAMP" export --why --once --interval 100ms >"$BATS_TEST_TMPDIR/page" 2>/dev/null || skip 'no page here'
    grep -q '^camp_exporter_info{.*tier="bpf"' "$BATS_TEST_TMPDIR/page" || skip 'needs tier bpf'
    for metric in $(grep -oE '\bcamp_[a-z_]+(_total|_cpus|_bucket|_sum)\b|\bcamp_cpus\b' "$SHIPPED/camp.rules.yml" | sort -u); do
        grep -q "^${metric}[{ ]" "$BATS_TEST_TMPDIR/page" || { echo "no $metric"; return 1; }
    done
}

@test "the test file of the Prometheus rules contains each query of docs/export.md" {
    python3 - "$SHIPPED/../../docs/export.md" "$SHIPPED/camp.rules.test.yml" <<'END'
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
    python3 - "$SHIPPED/../../docs/export.md" "$BATS_TEST_TMPDIR/page" <<'END'
import re, sys
texts, page = (open(path, encoding='utf-8').read() for path in sys.argv[1:])
known = set()
for row in texts.splitlines():
    names = re.findall(r'`(camp_\w+|_\w+)`', row.split('|')[1]) if row.startswith('| `camp_') else []
    family = '_'.join(names[0].split('_')[:2]) if names else ''  # "camp_disk", of which _bytes_total is
    known.update((family, name) if name.startswith('_') else name for name in names)
for metric in re.findall(r'^# TYPE (\S+)', page, re.M):
    assert metric in known or any(metric.startswith(name[0]) and metric.endswith(name[1])
                                  for name in known if isinstance(name, tuple)), metric
END
}
