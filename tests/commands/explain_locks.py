"""explain_locks.py KIND FILE: a process that waits for a lock, whose pid is written to FILE once it waits, and another one
that holds it. Kinds: semaphore (of System V), pi (a futex with priority inheritance, shared), mutex (of a thread of the
same process), raw (a futex whose word is no owner, as in other languages), work (a condition variable, and a semaphore that nobody else changes: waits that are for no lock)."""
import ctypes
import mmap
import os
import signal
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
FUTEX = {'x86_64': 202, 'aarch64': 98, 's390x': 238}.get(os.uname().machine)
FUTEX_LOCK_PI, FUTEX_WAIT_PRIVATE = 6, 128
IPC_PRIVATE, IPC_RMID, GETVAL = 0, 0, 12


def name(text):
    LIBC.prctl(15, text, 0, 0, 0)
    LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)


def sleeps_in(pid, word):
    """Whether a thread sleeps in a function of the kernel whose name has one of the words."""
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/wchan', encoding='ascii') as file:
            text = file.read()
            if any(one in text for one in word.split('|')):
                return True
    return False


def fork(text, work):
    """A child with a name, which does the work and then waits for its end."""
    pid = os.fork()
    if pid == 0:
        name(text)
        work()
        while True:
            time.sleep(600)
    return pid


def report(pid, word, file):
    while not sleeps_in(pid, word):
        time.sleep(0.01)
    with open(file + '.new', 'w', encoding='ascii') as new:
        new.write(str(pid))
    os.rename(file + '.new', file)


def until(condition):
    while not condition():
        time.sleep(0.01)


def change(semaphores, by):
    LIBC.semop(semaphores, struct.pack('HhH', 0, by, 0), ctypes.c_size_t(1))


def make_semaphore():
    """A set of one semaphore, which another process removes when this one is killed."""
    semaphores = LIBC.semget(IPC_PRIVATE, 1, 0o600)
    parent = os.getpid()
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        LIBC.prctl(1, signal.SIGTERM, 0, 0, 0)
        if os.getppid() == parent:
            signal.sigwait({signal.SIGTERM})
        LIBC.semctl(semaphores, 0, IPC_RMID)
        os._exit(0)
    return semaphores


def semaphore(file):
    semaphores = make_semaphore()
    change(semaphores, 1)
    fork(b'lock-holder', lambda: change(semaphores, -1))
    until(lambda: LIBC.semctl(semaphores, 0, GETVAL) == 0)
    report(fork(b'lock-waiter', lambda: change(semaphores, -1)), 'sem', file)


def shared_futex(file):
    memory = mmap.mmap(-1, 4096)
    word = ctypes.c_uint32.from_buffer(memory)

    def lock():
        LIBC.syscall(FUTEX, ctypes.byref(word), FUTEX_LOCK_PI, 0, None, None, 0)

    fork(b'lock-holder', lock)
    until(lambda: word.value != 0)
    report(fork(b'lock-waiter', lock), 'futex|mutex', file)


def mutex(file):
    """A thread takes the mutex, and so does the first one after it."""
    lock = ctypes.create_string_buffer(128)

    def block():
        thread = threading.Thread(target=lambda: (LIBC.pthread_mutex_lock(lock), time.sleep(600)), daemon=True)
        thread.start()
        until(lambda: lock.raw[0] != 0)
        LIBC.pthread_mutex_lock(lock)

    report(fork(b'lock-waiter', block), 'futex', file)


def raw(file):
    word = ctypes.c_uint32(2)
    report(fork(b'lock-waiter', lambda: LIBC.syscall(FUTEX, ctypes.byref(word), FUTEX_WAIT_PRIVATE, 2, None, None, 0)), 'futex', file)


def work(file):
    semaphores = make_semaphore()

    def wait():
        change(semaphores, 1)
        change(semaphores, -1)
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        change(semaphores, -1)

    report(fork(b'lock-waiter', wait), 'sem', file)


if __name__ == '__main__':
    {'semaphore': semaphore, 'pi': shared_futex, 'mutex': mutex, 'raw': raw, 'work': work}[sys.argv[1]](sys.argv[2])
    time.sleep(600)
