# tests/servers/engines.bash: the servers that answer the HTTP API of Prometheus. Needs lib.bash. A test of a fleet runs
# on each of them, if it does not concern one of them only.
#
#   engines_refusal               prints why no engine can be tested, or nothing
#   start_engine ENGINE FILE ADDRESS [OPTION...]
#                                 starts an engine with the scrape configuration FILE, and waits until it answers. The
#                                 words in WITHIN come before its command, and before curl
#   engine_option ENGINE OPTION   an option of an engine for start_engines
#   start_engines FILE            starts all installed engines on the loopback address
#   each_engine COMMAND...        runs COMMAND with ENGINE and PROMETHEUS (an address) for each engine that was started
#   on_each_engine COMMAND...     the same, in a test, which is skipped afterwards if an engine is not installed
#   engine_pid                    prints the pid of $ENGINE
#   has_series QUERY N            whether the answer of $PROMETHEUS to QUERY has at least N series
#   free_port                     prints a port of the loopback address that nothing listens on
# shellcheck shell=bash disable=SC2034 # the tests use ENGINE

ENGINES=(prometheus victoria-metrics)
WITHIN=()
declare -gA ENGINE_OPTIONS

engines_refusal() {
    if ! command -v "${ENGINES[@]}" >/dev/null; then
        echo 'neither Prometheus nor VictoriaMetrics is installed'
    elif "$CAMP" top --from prometheus: --count 1 2>&1 | grep -q 'built without'; then
        echo 'built without libcurl'
    fi
}

start_engine() {
    local engine=$1 file=$2 address=$3
    shift 3
    case $engine in
    prometheus)
        set -- --config.file="$file" --storage.tsdb.path="$SERVERS/$engine" --web.listen-address="$address" "$@"
        ;;
    victoria-metrics)
        set -- -promscrape.config="$file" -storageDataPath="$SERVERS/$engine" -httpListenAddr="$address" \
            -retentionPeriod=1d -memory.allowedBytes=256MB -promscrape.fileSDCheckInterval=1s "$@"
        ;;
    esac
    "${WITHIN[@]}" "$engine" "$@" >>"$SERVERS/$engine.log" 2>&1 3>&- &
    SERVER_PIDS+=("$!")
    echo "$address" >"$SERVERS/$engine.address"
    echo "$!" >"$SERVERS/$engine.pid"
    until_it is_engine_ready "$address" || cat "$SERVERS/$engine.log" >&2
}

engine_option() { ENGINE_OPTIONS[$1]=$2; }

start_engines() {
    for ENGINE in "${ENGINES[@]}"; do
        ! command -v "$ENGINE" >/dev/null ||
            start_engine "$ENGINE" "$1" "127.0.0.1:$(free_port)" ${ENGINE_OPTIONS[$ENGINE]:+"${ENGINE_OPTIONS[$ENGINE]}"}
    done
}

# Both engines answer it.
is_engine_ready() {
    "${WITHIN[@]}" curl -sf "http://$1/-/healthy" >/dev/null
}

engine_pid() { cat "$SERVERS/$ENGINE.pid"; }

each_engine() {
    for ENGINE in "${ENGINES[@]}"; do
        [ -e "$SERVERS/$ENGINE.address" ] || continue
        PROMETHEUS=$(cat "$SERVERS/$ENGINE.address")
        echo "# on $ENGINE"
        "$@"
    done
}

on_each_engine() {
    each_engine "$@"
    for ENGINE in "${ENGINES[@]}"; do
        command -v "$ENGINE" >/dev/null || skip "$ENGINE is not installed"
    done
}

# Without nocache=1 VictoriaMetrics answers as of 30 s ago.
has_series() {
    [ "$("${WITHIN[@]}" curl -s "http://$PROMETHEUS/api/v1/query" -d nocache=1 --data-urlencode "query=$1" |
        grep -o '"metric"' | wc -l)" -ge "$2" ]
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
