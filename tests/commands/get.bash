# shellcheck shell=bash
# Functions for the tests of camp get.

# Makes a /proc and /sys with known values: 2 CPUs (0 and 2), an interface with a dot in its name, a
# disk with a partition.
known_system() {
    ROOT=$BATS_TEST_TMPDIR
    mkdir -p "$ROOT/proc/net" "$ROOT/sys/class/block/sda/sda1"
    cat >"$ROOT/proc/stat" <<'END'
cpu  300 30 70 4000 9 1 2 5 100 10
cpu0 200 20 40 2000 9 1 2 5 100 10
cpu2 100 10 30 2000 0 0 0 0 0 0
intr 0
END
    cat >"$ROOT/proc/net/dev" <<'END'
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0
eth0.100: 18446744073709551615 20 0 0 0 0 0 0 50 60 0 0 0 0 0 0
  eth0: 11 12 0 0 0 0 0 0 15 16 0 0 0 0 0 0
END
    cat >"$ROOT/proc/diskstats" <<'END'
   8       0 sda 10 0 80 3 20 0 160 4 1 5 6
   8       1 sda1 9 0 72 2 19 0 152 3 0 4 5
END
    echo "10 0 80 3 20 0 160 4 1 5 6" >"$ROOT/sys/class/block/sda/stat"
    echo 1 >"$ROOT/sys/class/block/sda/sda1/partition"
    KNOWN="--proc $ROOT/proc --sys $ROOT/sys"
}

known() {
    # shellcheck disable=SC2086
    run --separate-stderr "$CAMP" get $KNOWN "$@"
}

# A signal before exec(2) may be lost, because the shell then still has a handler for it.
a_child() {
    sleep 600 3>&- &
    CHILD=$!
    until_it grep -qx sleep "/proc/$CHILD/comm"
}
