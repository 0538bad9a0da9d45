#!/bin/busybox sh
# shellcheck shell=dash
# Process 1 of a guest: loads the modules, runs the commands and ends the guest.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup
while read -r module; do insmod "/modules/$module"; done </modules/order
for disk in /sys/block/vd*; do
    ln -s "/dev/${disk#/sys/block/}" "/dev/$(cat "$disk/serial")"
done
mount -t ext4 /dev/formatted /var/tmp
for cpu in /sys/devices/system/cpu/cpu*/online; do
    [ ! -e "$cpu" ] || echo 1 >"$cpu"
done
ip link set lo up

# Each part of the output starts with "##### NAME", and ends with the exit status.
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

echo "##### start"
. /commands
echo "##### end"
sync
poweroff -f
