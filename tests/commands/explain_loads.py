"""Loads for the rules of `camp explain`: explain_loads.py NAME. Each runs until it is killed.

quota and memory make a cgroup, print "ready", and remove the group when standard input ends. They exit with 77,
after a line that says why, if this machine cannot make the load.
"""
import ctypes
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time

SPIN = "while True: pass"


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def spin_threads():
    """Threads that wait for each other: only one at a time holds the interpreter."""
    for _ in range(4):
        threading.Thread(target=exec, args=(SPIN,), daemon=True).start()
    threading.Event().wait()


def faults():
    """Maps memory, touches it and returns it."""
    area = mmap.mmap(-1, 1 << 22)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        area.madvise(mmap.MADV_NOHUGEPAGE)
    while True:
        for at in range(0, 1 << 22, mmap.PAGESIZE):
            area[at] = 1
        area.madvise(mmap.MADV_DONTNEED)


def ping_pong():
    """Two processes on one CPU wake each other by pipes."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    there, back = os.pipe(), os.pipe()
    first = os.fork() == 0
    if first:
        end_with_parent()
    else:
        os.write(there[1], b"x")
    while True:
        os.write(back[1] if first else there[1], os.read(there[0] if first else back[0], 1))


def packets():
    """Sends to itself; the softirq of the sender's CPU receives."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as by:
        to.bind(("127.0.0.1", 0))
        by.connect(to.getsockname())
        while True:
            by.send(b"x")


def polling():
    while True:
        time.sleep(0.0006)  # longer than it waits for a busy CPU: the rule wants half of the time asleep


def sleepers():
    """Twenty threads, for a test that stops them."""
    for _ in range(19):
        threading.Thread(target=signal.pause, daemon=True).start()
    signal.pause()


def reader(path):
    """Reads a file without the page cache."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    block = mmap.mmap(-1, 1 << 20)
    while True:
        for at in range(64):
            os.preadv(file, [block], at << 20)


def cold_code(path):
    """Writes a file of pages that only return, and calls them while they are not in memory."""
    pages, step = 4096, 4
    code = {"x86_64": b"\xc3", "aarch64": b"\xc0\x03\x5f\xd6"}[os.uname().machine]
    file = os.open(path, os.O_RDWR)
    os.write(file, code.ljust(mmap.PAGESIZE, b"\0") * pages)
    os.fsync(file)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    size = pages * mmap.PAGESIZE
    while True:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        area = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE, file, 0)
        libc.madvise(area, size, mmap.MADV_RANDOM)
        for at in range(area, area + size, step * mmap.PAGESIZE):
            ctypes.CFUNCTYPE(None)(at)()
        libc.munmap(area, size)


def quota():
    """Spins in a group that may use a tenth of a CPU."""
    import limits
    top, v2 = limits.cpu_groups()
    with limits.Group(top, f"camp-explain-{os.getpid()}") as group:
        limits.set_quota(group, v2, 10)
        subprocess.Popen([sys.executable, "-c", limits.JOIN + SPIN, group.path],
                         preexec_fn=end_with_parent)
        print("ready", flush=True)
        sys.stdin.read()


def memory(path):
    """Reads a file again and again in a group whose memory is smaller than the file."""
    import limits
    top = limits.unified()
    if top and "memory" in limits.read(top, "cgroup.controllers").split():
        limits.write("+memory", top, "cgroup.subtree_control")
        name = "memory.max"
    elif os.path.isdir(limits.V1.format("memory")):
        top, name = limits.V1.format("memory"), "memory.limit_in_bytes"
    else:
        limits.cannot("no cgroup controller of memory is mounted")
    with open(path, "rb") as file: # A page belongs to the group that reads it first.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with limits.Group(top, f"camp-explain-{os.getpid()}") as group:
        limits.write(24 << 20, group.path, name)
        subprocess.Popen([sys.executable, "-c", limits.JOIN + """
import mmap
with open(sys.argv[2], "rb") as file:
    area = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
while True:
    for at in range(0, len(area), mmap.PAGESIZE): area[at]
""", group.path, path], preexec_fn=end_with_parent)
        print("ready", flush=True)
        sys.stdin.read()


globals()[sys.argv[1]](*sys.argv[2:])
