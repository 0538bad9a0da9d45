# tests/servers/fleet.bash: a fleet of hosts for tests. Each host is a network namespace with a camp export, which the
# Prometheus and the VictoriaMetrics of Debian scrape. Needs lib.bash and engines.bash.
#
#   fleet_refusal           prints why this machine cannot run a fleet, or nothing if it can
#   fleet_begin             creates the namespaces ${FLEET}0 (of the engines) and ${FLEET}1 to ${FLEET}4
#   fleet_end               ends all programs in the namespaces, and removes the namespaces
#   start_exporter N WORD   starts camp export --group WORD in namespace N; the address is ${HOSTS[N]}
#   start_in_fleet FILE     starts $ENGINE with the configuration FILE in namespace 0; sets PROMETHEUS to its address
#   in_fleet COMMAND        runs COMMAND in namespace 0
# shellcheck shell=bash disable=SC2034 # the tests use HOSTS and others

EXPORTER_PORT=12267
declare -gA ENGINE_ADDRESSES=([prometheus]=127.0.0.1:9090 [victoria-metrics]=127.0.0.1:8428)

# For a background job, use nsenter instead: a function in the background runs in a shell with another pid than the
# command. Only the network namespace changes, because BPF needs the sysfs of the machine.
in_fleet() { nsenter --net="/run/netns/$FLEET"0 "$@"; }

link_host() {
    ip netns add "$FLEET$1" || return 1
    ip -n "$FLEET$1" link set lo up
    [ "$1" != 0 ] || return 0
    ip -n "$FLEET"0 link add "host$1" type veth peer name wire netns "$FLEET$1"
    ip -n "$FLEET"0 address add "10.7.$1.1/24" dev "host$1"
    ip -n "$FLEET$1" address add "10.7.$1.2/24" dev wire
    ip -n "$FLEET"0 link set "host$1" up
    ip -n "$FLEET$1" link set wire up
}

fleet_refusal() {
    if [ "$(id -u)" != 0 ]; then
        echo 'network namespaces need root'
    elif [ -n "$(engines_refusal)" ]; then
        engines_refusal
    elif ! unshare --net ip link set lo up 2>/dev/null; then
        echo 'this machine has no network namespaces'
    elif ! "$CAMP" top --count 1 --interval 50ms --top 1 >/dev/null 2>&1; then
        echo 'no microstates here'
    fi
}

fleet_begin() {
    local i
    servers_begin
    FLEET=camp$$n
    declare -gA HOSTS EXPORTERS
    for i in 0 1 2 3 4; do
        link_host "$i"
        HOSTS[$i]=10.7.$i.2:$EXPORTER_PORT
    done
}

fleet_end() {
    local i
    servers_end
    for i in 0 1 2 3 4; do ip netns del "$FLEET$i" 2>/dev/null || true; done
}

start_exporter() {
    nsenter --net="/run/netns/$FLEET$1" "$CAMP" export --host "10.7.$1.2" --allow-remote --port $EXPORTER_PORT \
        --group "$2" >"$SERVERS/exporter$1.log" 2>&1 3>&- &
    EXPORTERS[$1]=$!
    SERVER_PIDS+=("$!")
    until_it in_fleet curl -sf "http://${HOSTS[$1]}/metrics" || cat "$SERVERS/exporter$1.log" >&2
}

start_in_fleet() {
    WITHIN=(nsenter --net="/run/netns/$FLEET"0)
    start_engine "$ENGINE" "$1" "${ENGINE_ADDRESSES[$ENGINE]}"
    PROMETHEUS=${ENGINE_ADDRESSES[$ENGINE]}
}
