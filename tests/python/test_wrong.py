"""What callers get wrong, and what they rightly expect: an exception or an answer, never a crash, a
wait without an end, or another's number."""

import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import camp

ORACLE = pathlib.Path(__file__).resolve().parent.parent / 'servers' / 'oracle_file.py'
DRIVER = pathlib.Path('/usr/lib').glob('*/odbc/libsqlite3odbc.so')


def in_child(ask):
    """What it says in a child of a fork: the class of an exception, or "ok"."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ask()
            said = 'ok'
        except Exception as error:  # whatever it is, it is told
            said = type(error).__name__
        os.write(tell, said.encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as file:
        said = file.read()
    os.waitpid(pid, 0)
    return said


class Numbers(unittest.TestCase):
    def test_a_number_that_is_too_large_or_negative_is_refused_and_not_cut(self):
        process = camp.process(os.getpid())
        for ask in (lambda: camp.difference(-1, 2), lambda: camp.difference(1, 2**64),
                    lambda: camp.difference(1, 2, 2**32 + 64), lambda: camp.process(2**32 + process.pid),
                    camp.Process(process.pid, process.start + 2**64).cpu_ns,
                    camp.Process(process.pid, process.start + 2**64).read,
                    camp.Process(process.pid, -1).threads):
            self.assertRaises(OverflowError, ask)

    def test_no_process_has_a_pid_that_none_can_have(self):
        try:
            stats = camp.taskstats()
        except (camp.Permission, camp.NotSupported) as error:
            self.skipTest(str(error))
        with stats:
            self.assertEqual(stats.read([2**32 + os.getpid(), -1, 2**100]), [None] * 3)
            self.assertRaises(TypeError, stats.read, ['1'])
            self.assertRaises(TypeError, stats.read, None)

    def test_a_utilisation_is_of_one_cpu_or_more(self):
        before = camp.cpu()
        time.sleep(0.01)
        for cpus in (0, -1):
            self.assertRaises(camp.Invalid, camp.utilisation, before, camp.cpu(), cpus)

    def test_a_record_that_is_too_short_is_refused(self):
        for items in ((), (1, 2)):
            self.assertRaises(IndexError, camp.utilisation, tuple.__new__(camp.Cpu, items), camp.cpu())

    def test_a_record_is_found_where_one_that_is_equal_was_put(self):
        process = camp.process(os.getpid())
        self.assertEqual({camp.Process(*process): 1}[process], 1)
        self.assertEqual(hash(process), hash(tuple(process)))


class Waits(unittest.TestCase):
    def setUp(self):
        def late(number, frame):
            raise TimeoutError('it waits for ever')
        self.before = signal.signal(signal.SIGALRM, late)
        signal.alarm(10)

    def tearDown(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def test_an_interval_is_finite_and_what_is_due_is_not_waited_for(self):
        for interval in (-1, math.nan, math.inf):
            self.assertRaises(camp.Invalid, camp.frames, 'check', interval=interval)
        with camp.frames('check') as frames:
            frames.read(-10**18)
            frames.read(-2**70)
            self.assertRaises(OverflowError, frames.read, 2**70)

    def test_a_handler_that_reads_frames_leaves_the_wait_that_it_interrupts_as_it_was(self):
        inner = camp.frames('check', interval=0)
        seen = []

        def handler(number, frame):
            seen.append(next(inner))
            if len(seen) == 2:
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, handler)
        with camp.frames('check', interval=5) as frames:
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            self.assertRaises(KeyboardInterrupt, next, frames)
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertLess(time.monotonic() - start, 4)
        self.assertEqual(len(seen), 2)


class Forks(unittest.TestCase):
    def test_a_child_takes_no_answer_of_its_parent(self):
        opened = [camp.frames('check', interval=0)]
        asks = [opened[0].read]
        try:
            stats, exits = camp.taskstats(), camp.taskstats(listen=True)
            asks += [lambda: stats.read([1]), exits.exits]
        except (camp.Permission, camp.NotSupported):
            pass
        for ask in asks:
            self.assertEqual(in_child(ask), 'Invalid')
            ask()  # the parent's goes on
        self.assertEqual(in_child(lambda: camp.frames('check', interval=0).read()), 'ok')

    def test_a_child_shares_microstates_and_a_process_table(self):
        asks = [camp.process_table().read]
        try:
            asks.append(camp.microstates().threads)
        except (camp.Permission, camp.NotSupported):
            pass
        for ask in asks:
            self.assertEqual(in_child(ask), 'ok')
            ask()


class Texts(unittest.TestCase):
    """Whatever bytes a file has, in it or as its name."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def table(self, name, text):
        path = os.path.join(os.fsencode(self.folder.name), name)
        with open(path, 'wb') as file:
            file.write(text)
        return path

    def test_names_that_are_no_utf_8_are_read(self):
        path = self.table(b'latin.csv', 'time,entity,größe_ms\n1,ä,2\n2,ä,3\n'.encode('latin-1'))
        with camp.frames(path, speed=0) as frames:
            frame = list(frames)[-1]
        self.assertEqual([os.fsencode(column.title) for column in frame.columns][:1],
                         ['größe_ms'.encode('latin-1')])
        self.assertEqual([os.fsencode(name) for name in frame.names], ['ä'.encode('latin-1')])
        self.table(b'broken.csv', b'\xff\n')
        self.assertRaises(camp.Error, camp.frames, os.path.join(self.folder.name, 'broken.csv'))

    def test_a_path_may_be_of_any_kind(self):
        path = self.table(b'a\xff.csv', b'time,entity,x_ms\n1,a,2\n2,a,3\n')
        for kind in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
            with camp.frames(kind, speed=0) as frames:
                self.assertEqual(os.fsencode(frames.name)[:2], b'a\xff')
        for wrong in (None, 3, 'a\0b'):
            self.assertRaises((TypeError, ValueError), camp.frames, wrong)

    def test_options_of_a_fleet_are_taken(self):
        self.assertRaisesRegex(camp.Invalid, 'host goes with', camp.frames, 'x.csv', host='a')
        self.assertRaisesRegex(camp.Invalid, 'column goes with', camp.frames, 'x.csv', column='a')

    @unittest.skipUnless(any(DRIVER), 'libsqliteodbc is not installed')
    def test_a_source_needs_nothing_of_its_caller_once_it_is_open(self):
        database = os.path.join(self.folder.name, 'sales.db')
        for name, text in (('odbcinst.ini', '[SQLite3]\nDriver=libsqlite3odbc.so\n'),
                           ('odbc.ini', f'[sales]\nDriver=SQLite3\nDatabase={database}\nTimeout=100\n')):
            (pathlib.Path(self.folder.name) / name).write_text(text, encoding='ascii')
        subprocess.run([sys.executable, str(ORACLE), 'make', database, '--sessions', '5', '--seconds', '20'],
                       check=True)
        script = '''
import camp
frames = camp.frames('odbc:sales', interval=0.1)
for _ in range(30):
    camp.cpus()
print(len(next(frames)), len(next(frames)))
'''
        out = subprocess.run([sys.executable, '-c', script], check=True, timeout=30,
                             stdout=subprocess.PIPE, text=True, env={
                                 **os.environ, 'ODBCSYSINI': self.folder.name,
                                 'ODBCINI': os.path.join(self.folder.name, 'odbc.ini')}).stdout
        self.assertEqual(out, '5 5\n')


if __name__ == '__main__':
    unittest.main()
