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

# A thread under a quota of 20 % of a CPU, by cgroup version 2. It leaves the group before it ends, because the group
# also counts a thread that is throttled after its parent was told of its end. The first line is cpu.stat's own count.
quota() {
    root=/tmp/cgroup group=/tmp/cgroup/quota
    mkdir -p $root && mount -t cgroup2 none $root && echo +cpu >$root/cgroup.subtree_control &&
        mkdir $group && echo "20000 100000" >$group/cpu.max || return
    # shellcheck disable=SC2016 # the inner shell expands them
    camp time --format json --output /tmp/quota -- sh -c '
        echo $$ >$1/cgroup.procs
        read now _ </proc/uptime
        end=$((${now%.*} + 3))
        while [ "${now%.*}" -lt $end ]; do read now _ </proc/uptime; done
        echo $$ >$0/cgroup.procs' $root $group
    sed -n 's/^throttled_usec //p' $group/cpu.stat
    cat /tmp/quota
}

run release uname -r
run doctor camp doctor --json
for tier in bpf taskstats schedstat; do
    run "check $tier" camp check --tier $tier --count 1 --interval 0.5s --json
done
run top camp top --tier bpf --count 1 --interval 0.5s --json
run namespace namespace
run quota quota
run transfers transfers
for law in /bin/test_live_*; do
    [ -x "$law" ] && run "${law#/bin/test_live_}" "$law"
done
