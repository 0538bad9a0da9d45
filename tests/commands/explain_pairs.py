"""Pairs of processes for the rules of `camp explain` about causes of waits: explain_pairs.py NAME READY.

The process "pair-victim" (or $VICTIM_NAME) waits for "pair-culprit" in the way that NAME says. The file READY gets the pid of
the victim when both run and have their names. They run until the first process, which is the victim, is killed. With $PREFERRED they have the highest priority that is not real-time.
"""
import ctypes
import multiprocessing
import os
import signal
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(None)


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def on_one_cpu():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def be_preferred():
    """Other programs hardly delay these processes. Linux may schedule by session first, whose weight is that of its autogroup."""
    os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    if os.path.exists("/proc/self/autogroup"):
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write("-20")


def start_culprits(work, count=1):
    """Starts processes that repeat work() and end with this one, and waits until they have their name."""
    ready, tell = os.pipe()
    for _ in range(count):
        if os.fork() != 0:
            continue
        LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        LIBC.prctl(15, b"pair-culprit", 0, 0, 0)
        os.write(tell, b"x")
        while True:
            work()
    for _ in range(count):
        os.read(ready, 1)


def be_victim(work):
    LIBC.prctl(15, os.environ.get("VICTIM_NAME", "pair-victim").encode(), 0, 0, 0)
    with open(sys.argv[2] + ".new", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    while True:
        work()


def alone():
    """Nobody makes the victim wait."""
    on_one_cpu()
    be_victim(lambda: burn(1))


def neighbour():
    """Both want the same CPU."""
    on_one_cpu()
    start_culprits(lambda: burn(1), count=3)
    be_victim(lambda: burn(1))


def real_time():
    """The culprit has real-time priority and runs for half of the time."""
    on_one_cpu()

    def work():
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        burn(0.02)
        time.sleep(0.02)

    start_culprits(work)
    be_victim(lambda: burn(1))


def interrupts():
    """Softirqs, which receive the culprit's packets, interrupt both; the culprit is in a system call then."""
    on_one_cpu()
    to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to.bind(("127.0.0.1", 0))
    by = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    by.connect(to.getsockname())
    start_culprits(lambda: by.send(b"x"), count=3)
    be_victim(lambda: burn(1))


def lock():
    """Both have a lock in turn, the culprit four times as long."""
    ours, theirs = multiprocessing.Semaphore(0), multiprocessing.Semaphore(1)

    def hold():
        theirs.acquire()
        burn(0.02)
        ours.release()

    def want():
        ours.acquire()
        burn(0.005)
        theirs.release()

    start_culprits(hold)
    be_victim(want)


def pipe():
    """The culprit needs more time to write a byte than the victim to use it."""
    read, write = os.pipe()

    def produce():
        burn(0.02)
        os.write(write, b"x")

    def consume():
        os.read(read, 1)
        burn(0.005)

    start_culprits(produce)
    be_victim(consume)


def peer():
    """The culprit needs more time to answer than the victim to ask."""
    ours, theirs = socket.socketpair()

    def answer():
        theirs.recv(1)
        burn(0.02)
        theirs.send(b"x")

    def ask():
        burn(0.005)
        ours.send(b"x")
        ours.recv(1)

    start_culprits(answer)
    be_victim(ask)


def timeout():
    """Nobody answers: the victim waits in vain, and tries again."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 20000))

    def ask():
        burn(0.005)
        try:
            ours.recv(1)
        except BlockingIOError:
            pass

    be_victim(ask)
    theirs.close()


if __name__ == "__main__":
    if "PREFERRED" in os.environ:
        be_preferred()
    globals()[sys.argv[1]]()
