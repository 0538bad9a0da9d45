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
while read -r module; do insmod "/modules/$module"; done </modules/order
for disk in /sys/block/vd*; do
    ln -s "/dev/${disk#/sys/block/}" "/dev/$(cat "$disk/serial")"
done
mount -t ext4 /dev/formatted /var/tmp
ip link set lo up
echo "##### start"
sh /commands
echo "##### end"
sync
poweroff -f
