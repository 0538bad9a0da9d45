# shellcheck shell=bash
# Functions for the tests of the causes of waits.

load microstates

# Starts a process "why-victim" that runs and waits on the last CPU in turn with "why-waker", which answers it
# after a sleep, while "why-hog" uses that CPU. Each has its name before the test goes on.
start_victim() {
    python3 -c '
import ctypes, os, signal, sys, time
def name(text):
    ctypes.CDLL(None).prctl(15, text, 0, 0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
asked, ask = os.pipe()
answered, answer = os.pipe()
ready, tell = os.pipe()
if os.fork() == 0:
    name(b"why-waker")
    os.write(tell, b"x")
    while True:
        os.read(asked, 1)
        time.sleep(0.01)
        os.write(answer, b"x")
if os.fork() == 0:
    name(b"why-hog")
    os.write(tell, b"x")
    while True:
        pass
name(b"why-victim")
os.read(ready, 1)
os.read(ready, 1)
open(sys.argv[1], "w").close()
while True:
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass
    os.write(ask, b"x")
    os.read(answered, 1)' "$BATS_TEST_TMPDIR/ready" &
    VICTIM=$!
    until_it test -e "$BATS_TEST_TMPDIR/ready"
}
