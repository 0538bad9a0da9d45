#!/usr/bin/env bats
# What is shipped for Prometheus: its configuration, recording rules and alerts, by its own judge.

bats_require_minimum_version 1.5.0

setup() {
    command -v promtool >/dev/null || skip 'promtool (Prometheus) is not installed'
    SHIPPED=$(cd "$BATS_TEST_DIRNAME/../../packaging/prometheus" && pwd)
}

@test "fleet rules: configuration and rules are what Prometheus takes" {
    promtool check config "$SHIPPED/prometheus.yml"
    promtool check rules "$SHIPPED/camp.rules.yml"
}

@test "fleet rules: known counters become what they should" {
    promtool test rules "$SHIPPED/camp.rules.test.yml"
    # One that must fail does.
    sed 's/vertex="cpu"}., value: 0.5/vertex="cpu"}'"'"', value: 0.6/; s,\[camp.rules.yml\],['"$SHIPPED"'/camp.rules.yml],' \
        "$SHIPPED/camp.rules.test.yml" >"$BATS_TEST_TMPDIR/wrong.yml"
    run ! promtool test rules "$BATS_TEST_TMPDIR/wrong.yml"
}

@test "fleet rules: they ask for metrics that camp export has" {
    local metric
    "$CAMP" export --once --interval 100ms >"$BATS_TEST_TMPDIR/page" 2>/dev/null || skip 'no page here'
    grep -q '^camp_exporter_info{.*tier="bpf"' "$BATS_TEST_TMPDIR/page" || skip 'needs tier bpf'
    for metric in $(grep -oE '\bcamp_[a-z_]+(_total|_cpus)\b|\bcamp_cpus\b' "$SHIPPED/camp.rules.yml" | sort -u); do
        grep -q "^$metric[{ ]" "$BATS_TEST_TMPDIR/page" || { echo "no $metric"; return 1; }
    done
}
