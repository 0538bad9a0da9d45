"""Runs a program in which one allocation or one system call fails (failing.c).

A Fault says which calls are counted and how one fails. run() starts a program, lets the call with one index fail,
and returns what the program did.
"""
import collections
import dataclasses
import errno
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading

READS_OF_FILE = 64  # of a larger file, such as the kernel's types, with thousands of equal reads, the others do not fail
LIMIT_S = 20  # no run takes longer on a busy machine, unless the program hangs
LEAKED = 123  # the exit status that LeakSanitizer gives a program that leaks

# seccomp_unotify(2)
NOTIFICATION = struct.Struct('=QIIiIQ6Q')
ANSWER = struct.Struct('=QqiI')
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1

# fcntl(2), the second argument
DUPLICATES = (0, 1030)
LOCKS = (6, 7, 37, 38)
# epoll_ctl(2), the second argument
EPOLL_ADD = 1


@dataclasses.dataclass(frozen=True)
class Fault:
    """`call` is "allocation" or a system call, `error` its errno. With `on`, only some calls are counted, because
    the kernel returns this error for no others: those on a file, those on a pipe or socket, and those
    of fcntl(2) or epoll_ctl(2) that duplicate, lock or add a descriptor."""
    call: str
    error: str
    on: str = ''

    def __str__(self):
        return self.call if self.call == 'allocation' else f'{self.call} {self.on} {self.error}'.replace('  ', ' ')

    def counts(self, pid, arguments):
        if self.on == 'duplicate':
            return arguments[1] in DUPLICATES
        if self.on == 'lock':
            return arguments[1] in LOCKS
        if self.on == 'add':
            return arguments[1] == EPOLL_ADD
        if self.on in ('file', 'pipe'):
            try:
                name = os.readlink(f'/proc/{pid}/fd/{arguments[0]}')
            except OSError:
                return False
            if arguments[0] == 2:  # the message about the failure must be seen
                return False
            return name.startswith('/' if self.on == 'file' else ('pipe:', 'socket:'))
        return True


def faults_of(call, *errors, on=''):
    return [Fault(call, error, on) for error in errors]


# Each system call with the errors that it can return here. EINTR only where the kernel can return it: a read or a
# write of a regular file is not interrupted.
FAULTS = [
    *faults_of('allocation', 'ENOMEM'),
    *faults_of('openat', 'EMFILE', 'EIO'),
    *faults_of('newfstatat', 'EIO'),
    *faults_of('read', 'EIO', on='file'),
    *faults_of('read', 'EINTR', on='pipe'),
    *faults_of('pread64', 'EIO'),
    *faults_of('getdents64', 'EIO'),
    *faults_of('write', 'ENOSPC', 'EIO', on='file'),
    *faults_of('write', 'EINTR', on='pipe'),
    *faults_of('pwrite64', 'ENOSPC', 'EIO'),
    *faults_of('fsync', 'EIO'),
    *faults_of('fdatasync', 'EIO', 'ENOSPC'),
    *faults_of('ftruncate', 'EIO'),
    *faults_of('rename', 'ENOSPC'),
    *faults_of('renameat', 'ENOSPC', 'EIO'),
    *faults_of('mkdir', 'ENOSPC'),
    *faults_of('mkdirat', 'ENOSPC'),
    *faults_of('mmap', 'ENOMEM'),
    *faults_of('clone', 'EAGAIN'),
    *faults_of('clone3', 'EAGAIN'),
    *faults_of('bpf', 'ENOMEM'),
    *faults_of('socket', 'EMFILE'),
    *faults_of('connect', 'EINTR', 'ETIMEDOUT'),
    *faults_of('accept4', 'EMFILE', 'EINTR', 'ECONNABORTED'),
    *faults_of('recvfrom', 'EINTR', 'ECONNRESET'),
    *faults_of('sendto', 'EINTR', 'ECONNRESET'),
    *faults_of('poll', 'EINTR', 'ENOMEM'),
    *faults_of('ppoll', 'EINTR', 'ENOMEM'),
    *faults_of('epoll_create1', 'EMFILE'),
    *faults_of('epoll_ctl', 'ENOMEM', on='add'),
    *faults_of('epoll_wait', 'EINTR'),
    *faults_of('epoll_pwait', 'EINTR'),
    *faults_of('eventfd2', 'EMFILE'),
    *faults_of('timerfd_create', 'EMFILE'),
    *faults_of('pipe2', 'EMFILE'),
    *faults_of('dup', 'EMFILE'),
    *faults_of('dup2', 'EINTR'),
    *faults_of('dup3', 'EINTR'),
    *faults_of('fcntl', 'EMFILE', on='duplicate'),
    *faults_of('fcntl', 'ENOLCK', on='lock'),
]


LASTING = ('allocation', 'openat', 'newfstatat', 'read', 'pread64', 'getdents64', 'write', 'pwrite64', 'fsync',
           'fdatasync', 'ftruncate', 'rename', 'renameat', 'mmap')


def can_last(fault):
    """A full or broken disk lasts, and so does the lack of memory or of descriptors; an interruption does not. If no
    file can be opened for another reason, no result can be expected. A server that can accept no connection any
    more answers nothing."""
    return fault.call in LASTING and fault.error != 'EINTR' and (fault.call, fault.error) != ('openat', 'EIO')


@dataclasses.dataclass
class Run:
    """What a program did. A negative status is a signal; None: it did not end within LIMIT_S."""
    status: int | None
    output: bytes
    complaints: str
    calls: int
    failed: bool  # whether the call with the index was reached


class Kernel:
    """Answers the kernel's questions about the system calls of a program, in a thread."""

    def __init__(self, fault, index, program, lasting):
        self.fault = fault
        self.index = index
        self.lasting = lasting
        self.program = os.path.realpath(program)
        self.calls = 0
        self.reads = collections.Counter()  # by the name of the file
        self.ours, self.theirs = socket.socketpair()
        self.thread = threading.Thread(target=self.answer, daemon=True)

    def answer(self):
        try:
            _, descriptors, _, _ = socket.recv_fds(self.ours, 1, 1)
        except OSError:
            descriptors = []
        self.ours.close()
        if not descriptors:  # this architecture has no such call, or the program did not start
            return
        listener = descriptors[0]
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while True:
            if waiting.poll()[0][1] & (select.POLLHUP | select.POLLERR):
                break
            self.answer_one(listener)
        os.close(listener)

    def answer_one(self, listener):
        question = bytearray(NOTIFICATION.size)
        try:
            fcntl.ioctl(listener, RECEIVE, question)
            number, pid, _, _, _, _, *arguments = NOTIFICATION.unpack(question)
            error = getattr(errno, self.fault.error) if self.fails(pid, arguments) else 0
            answer = ANSWER.pack(number, 0, -error, 0 if error else CONTINUE)
            fcntl.ioctl(listener, SEND, answer)
        except OSError:  # the thread was killed, or a signal interrupted its call
            pass

    def fails(self, pid, arguments):
        """Another program that camp executes, such as that of camp time, has no faults."""
        try:
            if os.readlink(f'/proc/{pid}/exe') != self.program:
                return False
        except OSError:
            return False
        if not self.fault.counts(pid, arguments) or self.is_one_of_many(pid, arguments[0]):
            return False
        self.calls += 1
        return self.calls == self.index or self.lasting and self.calls > self.index > 0


    def is_one_of_many(self, pid, descriptor):
        if self.fault.call != 'read' or self.fault.on != 'file':
            return False
        try:
            name = os.readlink(f'/proc/{pid}/fd/{descriptor}')
        except OSError:
            return False
        self.reads[name] += 1
        return self.reads[name] > READS_OF_FILE


class Allocations:
    """The count of allocations, which is shared with the program."""

    def __init__(self):
        self.descriptor = os.memfd_create('allocations')
        os.truncate(self.descriptor, 8)
        self.map = mmap.mmap(self.descriptor, 8)

    @property
    def calls(self):
        return int.from_bytes(self.map[:8], 'little')

    def close(self):
        self.map.close()
        os.close(self.descriptor)


def run(words, fault, index, folder, library, drive=None, leaks='', lasting=False, **environment):
    """Runs `words` in `folder`; the call with `index` (from 1; 0: none) fails. `drive` is called with the
    process and a function that returns its output so far; by default the process is only waited for.
    With `lasting`, all later calls fail, too, as on a full disk. `leaks` is the path of liblsan.so: the status of a
    program that leaks is then LEAKED."""
    environment = {**os.environ, **environment, 'LC_ALL': 'C', 'TMPDIR': str(folder), 'LD_PRELOAD': f'{library} {leaks}'.strip()}
    if lasting:
        environment['TORTURE_LASTING'] = '1'
    if leaks:
        environment.update(LSAN_OPTIONS=f'exitcode={LEAKED}', TORTURE_UNCONFINED='1')
    kernel = allocations = None
    if fault.call == 'allocation':
        allocations = Allocations()
        passed = [allocations.descriptor]
        environment.update(TORTURE_ALLOCATION=str(index), TORTURE_COUNT=str(allocations.descriptor))
    else:
        kernel = Kernel(fault, index, words[0], lasting)
        passed = [kernel.theirs.fileno()]
        environment.update(TORTURE_CALL=fault.call, TORTURE_SOCKET=str(passed[0]))
        kernel.thread.start()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=complaints, pass_fds=passed, start_new_session=True)
        if kernel is not None:
            kernel.theirs.close()
        status = ended(process, drive, lambda: os.pread(output.fileno(), 1 << 16, 0))
        if kernel is not None:
            kernel.thread.join(LIMIT_S)
        calls = (kernel or allocations).calls
        if allocations is not None:
            allocations.close()
        return Run(status, os.pread(output.fileno(), 1 << 24, 0),
                   os.pread(complaints.fileno(), 1 << 20, 0).decode('utf-8', 'replace'), calls,
                   0 < index <= calls)


def ended(process, drive, output):
    """The exit status of the process; None after LIMIT_S."""
    try:
        if drive is not None:
            drive(process, output)
        return process.wait() if has_ended(process, LIMIT_S) else None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def has_ended(process, seconds):
    """Waits for the end of a process. Popen.wait() with a limit would sleep in steps of up to 50 ms."""
    descriptor = os.pidfd_open(process.pid)
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    over = bool(waiting.poll(1000 * seconds))
    os.close(descriptor)
    return over
