"""CPU time of processes that are kept open: identity, number of descriptors, forks and threads."""

import contextlib
import copy
import os
import pickle
import resource
import subprocess
import threading
import time
import unittest

import camp
from camp import _camp
from subjects import Sleeper, no_descriptors

LAST_PID = '/proc/sys/kernel/ns_last_pid'
PATIENCE_S = 30
TICK_S = 1 / os.sysconf('SC_CLK_TCK')
# The module keeps a sixteenth of the permitted descriptors as processes, of which each has up to two.
PER_PROCESS = 2
SHARE = 16


def count_descriptors():
    return len(os.listdir('/proc/self/fd'))


def is_reuse_possible():
    """Returns whether this process may choose the pid of the next one."""
    try:
        with open(LAST_PID, 'r+', encoding='ascii') as file:
            file.write(file.read())
    except OSError:
        return False
    return True


def start_with_pid(pid):
    """Starts a process that sleeps and has this pid, which must be free. Returns None if other programs always
    got the pid first."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with open(LAST_PID, 'w', encoding='ascii') as file:
            file.write(str(pid - 1))
        child = subprocess.Popen(['sleep', '60'])
        if child.pid == pid:
            return child
        child.kill()
        child.wait()
    return None


def forked(ask):
    """Returns the exit status of a forked child that calls ask()."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(ask())
        finally:
            os._exit(99)
    return os.WEXITSTATUS(os.waitpid(pid, 0)[1])


@contextlib.contextmanager
def sleepers(count):
    with contextlib.ExitStack() as stack:
        yield [camp.process(stack.enter_context(Sleeper()).pid) for _ in range(count)]


@contextlib.contextmanager
def permitted_descriptors(count):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class Kept(unittest.TestCase):
    def setUp(self):
        _camp.process_forget()  # what earlier tests have kept

    def test_each_call_returns_the_time_of_the_cpu_clock(self):
        own = camp.process(os.getpid())
        for _ in range(3):
            before = time.process_time_ns()
            ours = own.cpu_ns()
            self.assertLessEqual(before, ours)
            self.assertLessEqual(ours, time.process_time_ns())

    @unittest.skipUnless(is_reuse_possible(), f'a pid is given out again by writing {LAST_PID}, as root')
    def test_the_time_of_a_later_process_with_the_same_pid_is_never_returned(self):
        with Sleeper() as first:
            process = camp.process(first.pid)
            process.cpu_ns()
        time.sleep(2 * TICK_S)  # the start of the next process must be later
        second = start_with_pid(first.pid)
        if second is None:
            self.skipTest(f'other programs got pid {first.pid} first, for {PATIENCE_S} s')
        self.addCleanup(second.wait)
        self.addCleanup(second.kill)
        later = camp.process(second.pid)
        while camp.pid_cpu_ns(second.pid) == 0:  # It has not yet run.
            time.sleep(0.001)
        for _ in range(2):
            self.assertGreater(camp.pid_cpu_ns(process.pid), 0)
            self.assertRaises(camp.Gone, process.cpu_ns)
            self.assertGreater(later.cpu_ns(), 0)
        self.assertEqual(process.pid, later.pid)

    def test_a_process_with_another_start_is_gone_while_its_pid_is_kept(self):
        own = camp.process(os.getpid())
        own.cpu_ns()
        self.assertRaises(camp.Gone, own._replace(start=own.start + 1).cpu_ns)
        self.assertGreater(own.cpu_ns(), 0)

    def test_a_zombie_has_its_last_time_until_it_is_reaped(self):
        child = subprocess.Popen(['sleep', '60'])
        process = camp.process(child.pid)
        process.cpu_ns()
        child.kill()
        while process.read('state').state != 'Z':
            time.sleep(0.001)
        self.assertEqual(process.cpu_ns(), camp.pid_cpu_ns(child.pid))
        child.wait()
        self.assertRaises(camp.Gone, process.cpu_ns)

    def test_an_exited_process_keeps_no_descriptors_after_it_was_read(self):
        before = count_descriptors()
        with Sleeper() as child:
            process = camp.process(child.pid)
            process.cpu_ns()
            self.assertGreater(count_descriptors(), before)
        self.assertRaises(camp.Gone, process.cpu_ns)
        self.assertEqual(count_descriptors(), before)

    def test_many_processes_share_a_limited_number_of_descriptors(self):
        with sleepers(30) as processes, permitted_descriptors(5 * SHARE):
            before = count_descriptors()
            for _ in range(20):
                for process in processes:
                    self.assertEqual(process.cpu_ns(), camp.pid_cpu_ns(process.pid))
                self.assertLessEqual(count_descriptors(), before + 5 * PER_PROCESS)
            kept = count_descriptors()
            for process in processes[-2:] * 20:  # both replace others, as all places are in use
                process.cpu_ns()
            with no_descriptors():
                processes[-1].cpu_ns()
                processes[-2].cpu_ns()
                self.assertRaises(camp.ReadError, processes[0].cpu_ns)
            self.assertEqual(count_descriptors(), kept)

    def test_few_permitted_descriptors_are_left_to_the_program(self):
        own = camp.process(os.getpid())
        before = count_descriptors()
        with permitted_descriptors(SHARE - 1):
            for _ in range(20):
                self.assertGreater(own.cpu_ns(), 0)
            self.assertEqual(count_descriptors(), before)

    def test_a_forked_child_closes_what_its_parent_kept_and_can_read(self):
        with Sleeper() as child:
            before = count_descriptors()
            process = camp.process(child.pid)
            expected = process.cpu_ns()
            self.assertGreater(count_descriptors(), before)
            self.assertEqual(forked(lambda: 0 if count_descriptors() == before else 1), 0)
            self.assertEqual(forked(lambda: 0 if process.cpu_ns() == expected else 1), 0)
            self.assertEqual(process.cpu_ns(), expected)

    def test_threads_read_the_same_processes_at_once(self):
        failures = []

        def read(processes):
            try:
                for _ in range(50):
                    for process in processes:
                        if process.cpu_ns() != camp.pid_cpu_ns(process.pid):
                            failures.append(process)
            except camp.Error as error:
                failures.append(error)

        with sleepers(12) as processes, permitted_descriptors(8 * SHARE):
            before = count_descriptors()
            threads = [threading.Thread(target=read, args=(processes,)) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            self.assertLessEqual(count_descriptors(), before + 8 * PER_PROCESS)

    def test_copies_of_a_process_are_the_same_process(self):
        own = camp.process(os.getpid())
        own.cpu_ns()
        before = count_descriptors()
        for same in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own), camp.Process(*own)):
            self.assertEqual(same, own)
            self.assertGreater(same.cpu_ns(), 0)
        self.assertEqual(count_descriptors(), before)

    def test_wrong_processes_are_refused(self):
        self.assertRaises(camp.Invalid, camp.Process(0, 1).cpu_ns)
        self.assertRaises(camp.Invalid, camp.Process(1, -1).cpu_ns)
        self.assertRaises(TypeError, camp.Process('1', 1).cpu_ns)
        self.assertRaises(TypeError, _camp.process_kept_cpu_ns, 1)
        self.assertRaises(TypeError, _camp.process_kept_cpu_ns, (1,))
