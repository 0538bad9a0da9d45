"""Unusual callers: forked children, signal handlers that read frames, and file names that are not UTF-8."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import camp
from camp import paper

ORACLE = pathlib.Path(__file__).resolve().parent.parent / 'servers' / 'oracle_file.py'
DRIVER = pathlib.Path('/usr/lib').glob('*/odbc/libsqlite3odbc.so')


def in_child(ask):
    """Calls ask() in a forked child. Returns the name of the class of its exception, or "ok"."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ask()
            said = 'ok'
        except Exception as error:
            said = type(error).__name__
        os.write(tell, said.encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as file:
        said = file.read()
    os.waitpid(pid, 0)
    return said


class Records(unittest.TestCase):
    def test_equal_records_are_the_same_dictionary_key(self):
        process = camp.process(os.getpid())
        self.assertEqual({camp.Process(*process): 1}[process], 1)
        self.assertEqual(hash(process), hash(tuple(process)))


class Waits(unittest.TestCase):
    def setUp(self):
        def late(number, frame):
            raise TimeoutError('it waits for ever')
        self.before = signal.signal(signal.SIGALRM, late)
        signal.alarm(120)

    def tearDown(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def test_a_signal_handler_can_read_frames_during_the_wait_for_a_frame(self):
        inner = camp.frames('check', interval=0)
        seen = []

        def handler(number, frame):
            if len(seen) == 2:  # a third signal may already be pending
                return
            seen.append(next(inner))
            if len(seen) == 2:
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, handler)
        with camp.frames('check', interval=5) as frames:
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            self.assertRaises(KeyboardInterrupt, next, frames)
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(len(seen), 2)


    def test_a_signal_handler_runs_at_once_during_each_wait_and_its_exception_ends_the_wait(self):
        me = camp.process(os.getpid())
        frames = camp.frames('check', interval=60)
        for wait in (lambda: camp.cpu_utilisation(interval=60), lambda: me.utilisation(60), lambda: next(frames),
                     lambda: paper.GetPercentProcessorTime(0, 60_000), lambda: paper.GetCPUtime_Total(me.pid, 60_000),
                     lambda: paper.GetCPUtime_User(me.pid, 60_000), lambda: paper.GetCPUtime_Kernel(me.pid, 60_000)):
            seen = []

            def handler(number, frame):
                seen.append(time.monotonic())
                if len(seen) == 2:
                    raise KeyError('by the handler')
            signal.signal(signal.SIGALRM, handler)
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            with self.assertRaisesRegex(KeyError, 'by the handler'):
                wait()
            signal.setitimer(signal.ITIMER_REAL, 0)
            # The first signal, after which the wait goes on, ran its handler during the wait.
            self.assertEqual(len(seen), 2)
            self.assertLess(time.monotonic() - start, 60)


class Forks(unittest.TestCase):
    def test_a_forked_child_cannot_read_the_sources_of_its_parent(self):
        opened = [camp.frames('check', interval=0)]
        asks = [opened[0].read]
        try:
            stats, exits = camp.taskstats(), camp.taskstats(listen=True)
            asks += [lambda: stats.read([1]), exits.exits]
        except (camp.Permission, camp.NotSupported):
            pass
        for ask in asks:
            self.assertEqual(in_child(ask), 'Invalid')
            ask()  # the parent can still read it
        self.assertEqual(in_child(lambda: camp.frames('check', interval=0).read()), 'ok')

    def test_a_forked_child_can_read_microstates_opened_by_its_parent(self):
        asks = [camp.process_table().read]
        try:
            asks.append(camp.microstates().threads)
        except (camp.Permission, camp.NotSupported):
            pass
        for ask in asks:
            self.assertEqual(in_child(ask), 'ok')
            ask()


class Texts(unittest.TestCase):
    """Files whose names or contents are not UTF-8."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def table(self, name, text):
        path = os.path.join(os.fsencode(self.folder.name), name)
        with open(path, 'wb') as file:
            file.write(text)
        return path

    def test_a_name_that_is_not_valid_utf_8_is_read(self):
        path = self.table(b'latin.csv', 'time,entity,größe_ms\n1,ä,2\n2,ä,3\n'.encode('latin-1'))
        with camp.frames(path, speed=0) as frames:
            frame = list(frames)[-1]
        self.assertEqual([os.fsencode(column.title) for column in frame.columns][:1],
                         ['größe_ms'.encode('latin-1')])
        self.assertEqual([os.fsencode(name) for name in frame.names], ['ä'.encode('latin-1')])
        self.table(b'broken.csv', b'\xff\n')
        self.assertRaises(camp.Error, camp.frames, os.path.join(self.folder.name, 'broken.csv'))

    def test_a_path_may_be_bytes_str_or_a_path_object(self):
        path = self.table(b'a\xff.csv', b'time,entity,x_ms\n1,a,2\n2,a,3\n')
        for kind in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
            with camp.frames(kind, speed=0) as frames:
                self.assertEqual(os.fsencode(frames.name)[:2], b'a\xff')
        for wrong, error in ((None, TypeError), (3, TypeError), ('a\0b', camp.Invalid)):
            self.assertRaises(error, camp.frames, wrong)

    @unittest.skipUnless(any(DRIVER), 'libsqliteodbc is not installed')
    def test_a_source_can_be_read_after_its_arguments_are_freed(self):
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
for _ in range(600): # within 100 ms a sample may miss one
    count = len(next(frames))
    if count == 5:
        break
print(count)
'''
        out = subprocess.run([sys.executable, '-c', script], check=True, timeout=300,
                             stdout=subprocess.PIPE, text=True, env={
                                 **os.environ, 'ODBCSYSINI': self.folder.name,
                                 'ODBCINI': os.path.join(self.folder.name, 'odbc.ini')}).stdout
        self.assertEqual(out, '5\n')


if __name__ == '__main__':
    unittest.main()
