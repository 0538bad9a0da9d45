# podman.bash NAME COMMAND...: runs COMMAND while Podman has a container NAME, whose files are below CAMP_ROOT.
# Runs in a mount namespace of its own (unshare --mount). Ends with status 77, after a line that says why, if Podman
# cannot run a container here.
set -eu
name=$1
shift

cannot() {
    echo "skipped, not passed: $*"
    exit 77
}

for program in podman busybox; do
    command -v "$program" >/dev/null || cannot "there is no $program (tools/setup containers)"
done
busybox=$(command -v busybox)
! ldd "$busybox" >/dev/null 2>&1 || cannot "busybox is not static (tools/setup containers)"
# Where version 1 is mounted, too, runc gets version 2 alone.
if [ "$(stat --file-system --format %T /sys/fs/cgroup)" != cgroup2fs ]; then
    mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || cannot "cgroup2 cannot be mounted"
fi

parent=/camp-podman-$$
folder=$(mktemp -d /tmp/camp-podman-XXXXXX) # Podman takes a path of at most 50 characters
mkdir -p "$folder/rootfs/bin" "$folder/tmp"
cp "$busybox" "$folder/rootfs/bin/busybox"
pod() {
    podman --root "$folder/var/lib/containers/storage" --runroot "$folder/run/containers/storage" \
        --tmpdir "$folder/tmp" --storage-driver vfs --cgroup-manager cgroupfs --events-backend none --runtime runc "$@"
}
finish() {
    pod rm --force --time 0 "$name" >/dev/null 2>&1 || true
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        find "/sys/fs/cgroup$parent" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [ -d "/sys/fs/cgroup$parent" ] || break
        sleep 0.3
    done
    rm -rf "$folder"
}
trap finish EXIT

# The limits are those that also a machine with few rights has.
pod run --detach --name "$name" --network none --cgroup-parent "$parent" --pids-limit 0 \
    --ulimit nofile=512:512 --ulimit nproc=512:512 --rootfs "$folder/rootfs" /bin/busybox sleep 600 \
    >"$folder/started" 2>&1 || cannot "Podman: $(tail -n 1 "$folder/started")"
CAMP_ROOT=$folder "$@"
