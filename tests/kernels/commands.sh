# shellcheck shell=dash
# What a guest of two CPUs runs, with run() of guest.sh.

plain=$(readlink /dev/plain)
counters() {
    camp get "disk.${plain#/dev/}.read_bytes" "disk.${plain#/dev/}.written_bytes" \
        network.lo.sent_bytes network.lo.sent_packets --value
}

transfers() {
    counters
    cat /dev/plain >/dev/null
    dd if=/dev/zero of=/dev/plain bs=1M count=16 conv=fsync 2>/dev/null
    ping -c 20 -i 0.05 -s 1000 127.0.0.1 >/dev/null
    counters
}

namespace() {
    unshare -p -f --mount-proc camp time --format json --output /tmp/namespace -- \
        sh -c 'sleep 0.1; sleep 0.1; true' && cat /tmp/namespace
}

run release uname -r
run doctor camp doctor --json
for tier in bpf taskstats schedstat; do
    run "check $tier" camp check --tier $tier --count 1 --interval 0.5s --json
done
run top camp top --tier bpf --count 1 --interval 0.5s --json
run namespace namespace
run transfers transfers
for law in /bin/test_live_*; do
    [ -x "$law" ] && run "${law#/bin/test_live_}" "$law"
done
