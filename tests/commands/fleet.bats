#!/usr/bin/env bats
# --from prometheus: which server gets which credentials, and how wrong answers are reported.
# tests/servers/fleet.bats has the tests with a real Prometheus server.

bats_require_minimum_version 1.5.0
load children

setup() {
    "$CAMP" top --from prometheus: --count 1 2>&1 | grep -q 'built without' && skip 'built without libcurl'
    unset CAMP_PROMETHEUS_TOKEN CAMP_PROMETHEUS_TOKEN_FILE CAMP_PROMETHEUS_TENANT CAMP_PROMETHEUS_CA
    unset http_proxy https_proxy HTTPS_PROXY
}

teardown() {
    end_children
}

# start_stub [SOCKET]: starts prometheus_stub.py, and sets URL to its address.
start_stub() {
    python3 "$BATS_TEST_DIRNAME/prometheus_stub.py" "$@" >"$BATS_TEST_TMPDIR/port" 2>"$BATS_TEST_TMPDIR/stub" 3>&- &
    for _ in $(seq 100); do
        [ ! -s "$BATS_TEST_TMPDIR/port" ] || break
        sleep 0.05
    done
    URL=127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")
}

top() { "$CAMP" top --from "prometheus:$1" --count 1 --interval 10ms --format text; }

@test "camp top --from prometheus reports that the server scrapes no camp exporter" {
    start_stub
    run -0 top "$URL/prefix/"
    [[ $output == *"prometheus http://$URL/prefix "* ]]
    [[ $output == *"no camp export is scraped by this Prometheus"* ]]
}

@test "camp logs in to Prometheus by token, password or tenant and prints no secret" {
    start_stub
    run -4 top "$URL/token"
    [[ $output == *"status 401; set CAMP_PROMETHEUS_TOKEN_FILE"* ]]
    CAMP_PROMETHEUS_TOKEN=sesame run -0 top "$URL/token"
    [[ $output != *sesame* ]]
    printf 'sesame\n' >"$BATS_TEST_TMPDIR/token"
    CAMP_PROMETHEUS_TOKEN_FILE=$BATS_TEST_TMPDIR/token run -0 top "$URL/token"
    CAMP_PROMETHEUS_TOKEN_FILE=$BATS_TEST_TMPDIR/none run -1 top "$URL/token"
    CAMP_PROMETHEUS_TENANT=blue run -0 top "$URL/tenant"
    run -0 top "http://camp:ses%40me@$URL/basic"
    [[ $output != *ses* ]]
    run -4 top "http://camp:wr0ng@$URL/basic"
    [[ $output != *wr0ng* ]]
    run -2 top "ftp://camp:wr0ng@$URL/"
    [[ $output == *"give an address such as"* && $output != *wr0ng* ]]
    run -2 "$CAMP" top --from "prometheus:http://camp:wr0ng@$URL/" --unit ms
    [[ $output != *wr0ng* ]]
}

@test "camp reads from a Prometheus server through a Unix socket" {
    start_stub "$BATS_TEST_TMPDIR/s"
    run -0 top "unix:$BATS_TEST_TMPDIR/s"
    [[ $output == *"prometheus unix:$BATS_TEST_TMPDIR/s "* ]] || [[ $output == *"prometheus unix:"* ]]
    run ! top unix:nowhere
    run ! top "unix:$BATS_TEST_TMPDIR/none"
}

@test "the errors about an empty time range and about a future time range differ" {
    start_stub
    run -2 "$CAMP" top --from "prometheus:$URL" --begin 2026-01-01T00:00:00.0001Z --end 2026-01-01T00:00:00.0002Z
    [ "$output" = "camp top: less than 1 ms lies between --begin and --end: give a later --end" ]
    run -2 "$CAMP" top --from "prometheus:$URL" --begin 2199-01-01T00:00:00Z
    [[ $output == *"--begin is in the future"* ]]
}

@test "camp reports that the answer of a server is not an answer of Prometheus" {
    start_stub
    run ! top "$URL/html"
    [[ $output == *"no answer of Prometheus: it is no JSON"* ]]
    run ! top "$URL/away"
    [[ $output == *"status 302; give the address that this one redirects to"* ]]
    run ! top "$URL/large"
    [[ $output == *"longer than 64 MB"* ]]
    run ! top 127.0.0.1:1
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"Connection refused; is Prometheus running"* ]]
}

@test "camp refuses a self-signed TLS certificate unless CAMP_PROMETHEUS_CA names it" {
    command -v openssl >/dev/null || skip 'openssl is not installed'
    cd "$BATS_TEST_TMPDIR"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 2>/dev/null
    sed 's/^print(/import ssl\ntls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\ntls.load_cert_chain("cert", "key")\nserver.socket = tls.wrap_socket(server.socket, server_side=True)\nprint(/' \
        "$BATS_TEST_DIRNAME/prometheus_stub.py" >stub.py
    python3 stub.py >port 2>/dev/null 3>&- &
    for _ in $(seq 100); do [ -s port ] && break; sleep 0.05; done
    run -4 top "https://127.0.0.1:$(cat port)"
    [[ $output == *"set CAMP_PROMETHEUS_CA to a file"* ]]
    CAMP_PROMETHEUS_CA=$PWD/cert run -0 top "https://127.0.0.1:$(cat port)"
}

@test "an interrupt ends camp while a Prometheus server delays its answer" {
    start_stub
    local start=$SECONDS
    run timeout --foreground -s INT 0.5 "$CAMP" top --from "prometheus:$URL/slow" --count 1
    [ $((SECONDS - start)) -lt 5 ]
    [[ $output == *"interrupted while it was asked"* ]]
}
