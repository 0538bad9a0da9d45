#!/usr/bin/env bats
# camp get: the names of docs/paper-names.md.

# shellcheck disable=SC2154 # $stderr and $output are set by run
bats_require_minimum_version 1.5.0
load ../waiting
load children

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    export LC_ALL=C
}

teardown() {
    end_children
}

@test "every camp command in docs/paper-names.md succeeds" {
    interface=$("$CAMP" list networks | head -1)
    disk=$("$CAMP" list disks | head -1)
    partition=$("$CAMP" list partitions | head -1)
    count=0
    # shellcheck disable=SC2016
    while read -r line; do
        case $line in *PARTITION*) [ -n "$partition" ] || continue ;; esac
        case $line in *DISK*) [ -n "$disk" ] || continue ;; esac
        line=${line//INTERFACE/${interface#network.}}
        line=${line//DISK/${disk#disk.}}
        line=${line//PARTITION/${partition#partition.}}
        line=${line//PID/$$}
        line=${line//NAME/bash}
        line=${line//CPU/$("$CAMP" list cpus | head -1 | cut -d. -f2)}
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" ${line#camp }
        [ "$status" -eq 0 ] || { echo "$line: $status $stderr" && false; }
        case $line in *partitions*) ;; *) [ -n "$output" ] ;; esac
        count=$((count + 1))
    done < <(grep -o '`camp [gl][^`]*`' "$TREE/docs/paper-names.md" | tr -d '`')
    [ "$count" -ge 17 ]
}

@test "every function in Figure 3 of the CAMP paper has a row in docs/paper-names.md" {
    for name in GetPercentProcessorTime GetFreePhysicalMemory GetNetBytesSent GetNetPacketsSent \
        GetNetBytesRecvd GetNetPacketsRecvd GetNumReads_Disk GetNumWrites_Disk \
        GetNumReads_Partition GetNumWrites_Partition GetNumPageFaults GetCPUtime_Total \
        GetCPUtime_User GetCPUtime_Kernel GetWorkingSetKb GetVMSizeKb GetThreadCount \
        EnumDiskPartitions EnumPhysicalDisks EnumNetworkInterfaces GetCPUCount \
        GetProcessIdentifier GetProcessIdentifiers; do
        grep -q "^| \`$name(" "$TREE/docs/paper-names.md"
    done
}

@test "the example program transfer-rate reports the traffic of the loopback interface" {
    rate=$(dirname "$CAMP")/../docs/examples/transfer-rate
    [ -x "$rate" ]
    run --separate-stderr "$rate" no-such-interface 0.1
    [ "$status" -eq 1 ]
    (for _ in {1..40}; do
        printf '%01000d' 0 >/dev/udp/127.0.0.1/9 || true # each packet is sent, although no process receives it
        sleep 0.05
    done 2>/dev/null) &
    run "$rate" lo 1
    [ "$status" -eq 0 ]
    [ "$output" -gt 2000 ]
}
