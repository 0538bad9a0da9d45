"""queueing.py FOLDER: a load for record_when.bats. Threads share one CPU, so that one of them queues.

- the victim burns CPU time, under a name of this run with blanks and quotes, and "hog" does so on the same CPU: for 60 ms as a real-time thread, if that is
  permitted, or else as long as the victim, which then gets about half of the CPU.
- "sleeper" waits for a byte, which "waker" writes every 10 ms.

Writes the pids to FOLDER/pids when all run, as JSON, and ends when FOLDER/stop exists."""
import json
import os
import pathlib
import sys
import time

folder = pathlib.Path(sys.argv[1])
cpu = max(os.sched_getaffinity(0))
parent = os.getpid()


def start(name, act):
    pid = os.fork()
    if pid == 0:
        pathlib.Path('/proc/self/comm').write_text(name)
        try:
            act()
        finally:
            os._exit(0)
    return pid


def goes_on():
    return not (folder / 'stop').exists() and os.getppid() == parent


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def victim():
    os.sched_setaffinity(0, {cpu})
    while goes_on():
        burn(0.05)


def hog():
    os.sched_setaffinity(0, {cpu})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        is_first = True
    except PermissionError:
        is_first = False
    while goes_on():
        burn(0.06)
        if is_first:
            time.sleep(0.2)


def sleeper(end):
    while os.read(end, 1):
        pass


def waker(end):
    while goes_on():
        os.write(end, b'x')
        time.sleep(0.01)


read_end, write_end = os.pipe()
pids = {}
pids['sleeper'] = start('sleeper', lambda: (os.close(write_end), sleeper(read_end)))
os.close(read_end)
pids['waker'] = start('waker', lambda: waker(write_end))
os.close(write_end)
name = f'a "{parent}"'  # another test may run at the same time
pids['victim'] = start(name, victim)
pids['hog'] = start('hog', hog)
(folder / 'pids.part').write_text(json.dumps({**pids, 'name': name}))
(folder / 'pids.part').rename(folder / 'pids')
for pid in pids.values():
    os.waitpid(pid, 0)
