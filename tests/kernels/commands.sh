# shellcheck shell=dash
# The commands that a guest runs. Each part of the output starts with "##### NAME", and ends with the exit status.
run() { # NAME COMMAND...
    name=$1
    shift
    echo "##### $name"
    "$@" 2>/tmp/stderr
    status=$?
    echo
    sed 's/^/stderr: /' /tmp/stderr
    echo "##### status $status"
}

counters() { camp get "disk.vdb.read_bytes" "disk.vdb.written_bytes" "network.lo.sent_bytes" "network.lo.sent_packets" --value; }

transfers() {
    counters
    cat /dev/vdb >/dev/null
    dd if=/dev/zero of=/dev/vdb bs=1M count=16 conv=fsync 2>/dev/null
    ping -c 20 -i 0.05 -s 1000 127.0.0.1 >/dev/null
    counters
}

run release uname -r
run doctor camp doctor --json
for tier in bpf taskstats schedstat; do
    run "check $tier" camp check --tier $tier --count 1 --interval 0.5s --json
done
run top camp top --tier bpf --count 1 --interval 0.5s --json
run transfers transfers
run verify camp verify --json
