#!/bin/busybox sh
# shellcheck shell=dash
# Process 1 of a guest: loads the modules, runs the commands from the third disk, and ends the guest.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
while read -r module; do insmod "/modules/$module"; done </modules/order
mount -t ext4 /dev/vda /var/tmp
ip link set lo up
tr -d '\0' </dev/vdc >/tmp/commands
echo "##### start"
sh /tmp/commands
echo "##### end"
sync
poweroff -f
